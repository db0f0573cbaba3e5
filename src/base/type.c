// SPDX-License-Identifier: BSD-3-Clause
#include "base/type.h"

#include <string.h>

static const TypeInfo types[TYPE_COUNT] = {
    [TYPE_I32] = {"i32", "int32_t", 4, true, false, 0},
    [TYPE_I64] = {"i64", "int64_t", 8, true, false, 0},
    [TYPE_F32] = {"f32", "float", 4, false, false, 0x1p-24},
    [TYPE_F64] = {"f64", "double", 8, false, false, 0x1p-53},
    [TYPE_C64] = {"c64", "float _Complex", 8, false, true, 0x1p-24},
    [TYPE_C128] = {"c128", "double _Complex", 16, false, true, 0x1p-53},
};

const TypeInfo *type_info(ElementType type) {
    return &types[type];
}

bool type_by_name(const char *name, ElementType *type) {
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *type = (ElementType)i;
            return true;
        }
    }
    return false;
}

ElementType type_promote(ElementType a, ElementType b) {
    ElementType low = a < b ? a : b, high = a < b ? b : a;
    // 24 bits of mantissa hold neither a 32-bit integer nor a double.
    if (high == TYPE_F32 && types[low].is_integer)
        return TYPE_F64;
    if (high == TYPE_C64 && (types[low].is_integer || low == TYPE_F64))
        return TYPE_C128;
    return high;
}

ElementType type_component(ElementType type) {
    return type == TYPE_C64 ? TYPE_F32 : type == TYPE_C128 ? TYPE_F64 : type;
}

bool type_storable(ElementType from, ElementType to) {
    if (types[from].is_complex)
        return types[to].is_complex;
    return types[from].is_integer || !types[to].is_integer;
}
