// SPDX-License-Identifier: BSD-3-Clause
// Element-wise functions of right sides, as one table: the types that each is defined on, its C name for each
// type, and the function that the reference evaluator calls. A new function is a row of that table.
#ifndef DISTAL_BASE_FUNCTION_H
#define DISTAL_BASE_FUNCTION_H

#include "base/type.h"

#include <stdint.h>

typedef struct {
    const char *name;
    const char *arguments; // "a, b", for messages
    int arity;             // 1 or 2
    bool gives_real;       // also for complex arguments
    // The C name by type of the arguments. NULL: not defined for it; integers are then converted to f64.
    const char *c_names[TYPE_COUNT];
    // The same for the wide types of the evaluator, by arity; NULL where it is not defined.
    double (*real)(double);
    double (*real_of_two)(double, double);
    double _Complex (*complex_value)(double _Complex);
    double _Complex (*complex_of_two)(double _Complex, double _Complex);
    int64_t (*integer)(int64_t);
    int64_t (*integer_of_two)(int64_t, int64_t);
} Function;

const Function *function_by_name(const char *name); // NULL where there is none
// All of them, in the order of the documentation.
int function_count(void);
const Function *function_at(int index);

// Whether it is defined on complex numbers.
bool function_takes_complex(const Function *function);
// The type that the function computes in for arguments of `type`: f64 for integers that it is not defined on.
// The result has this type as well, unless gives_real says otherwise.
ElementType function_type(const Function *function, ElementType type);

#endif
