// SPDX-License-Identifier: BSD-3-Clause
// Element types of tensors, as one table.
#ifndef DISTAL_BASE_TYPE_H
#define DISTAL_BASE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

// In order of promotion: an operation on two types computes in the later one, except that an integer with f32
// gives f64, and an integer or f64 with c64 gives c128 (see type_promote).
typedef enum { TYPE_I32, TYPE_I64, TYPE_F32, TYPE_F64, TYPE_C64, TYPE_C128 } ElementType;
enum { TYPE_COUNT = 6 };

typedef struct {
    const char *name;   // "f64"
    const char *c_name; // "double"
    size_t size;        // bytes
    bool is_integer, is_complex;
    double epsilon; // unit roundoff; 0 for integers
} TypeInfo;

const TypeInfo *type_info(ElementType type);
// False where no type has this name.
bool type_by_name(const char *name, ElementType *type);
// The type that an operation on both computes in (NumPy's rules).
ElementType type_promote(ElementType a, ElementType b);
// The type of the parts of a complex type; any other type itself.
ElementType type_component(ElementType type);
// Whether a value of `from` may be stored in `to` (integer to any; real to real and complex; complex to
// complex).
bool type_storable(ElementType from, ElementType to);

#endif
