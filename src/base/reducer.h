// SPDX-License-Identifier: BSD-3-Clause
// Reducers: the operators that combine values of several iterations into one element, as one table. Each is
// associative and commutative, and has an identity for every type that it is defined on.
#ifndef DISTAL_BASE_REDUCER_H
#define DISTAL_BASE_REDUCER_H

#include "base/type.h"

#include <stdint.h>

// The name of explicit reductions, and the mark of assignments.
#define REDUCERS(ENTRY)                                                                                      \
    ENTRY(SUM, "sum", "+=")                                                                                  \
    ENTRY(PROD, "prod", "*=")                                                                                \
    ENTRY(MAX, "max", "max=")                                                                                \
    ENTRY(MIN, "min", "min=")

#define REDUCER_ID(NAME, name, mark) REDUCER_##NAME,
typedef enum { REDUCERS(REDUCER_ID) REDUCER_COUNT } Reducer;
#undef REDUCER_ID

extern const char *const reducer_names[REDUCER_COUNT]; // "sum"
extern const char *const reducer_marks[REDUCER_COUNT]; // "+="

// By name; false where there is none.
bool reducer_by_name(const char *name, Reducer *reducer);
// Whether it is defined on the type: a maximum and a minimum are not on complex numbers, which have no order.
bool reducer_takes(Reducer reducer, ElementType type);

// The value that changes nothing: 0 of sums, 1 of products, and of a maximum the least value of the type,
// -infinity for real numbers. `real` for real and complex types, `integer` for integers.
typedef struct {
    double real;
    int64_t integer;
} Identity;
Identity reducer_identity(Reducer reducer, ElementType type);
// The C function of two values of the type (a maximum with NaN is NaN); NULL where an operator of C does.
const char *reducer_c_name(Reducer reducer, ElementType type);

#endif
