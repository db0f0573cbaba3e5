// SPDX-License-Identifier: BSD-3-Clause
#include "io/symmetry.h"

#include <string.h>

static void mirror_value(Symmetry symmetry, ElementType type, void *values, int64_t from, int64_t to) {
    const int64_t size = (int64_t)type_info(type)->size;
    void *value = (char *)values + to * size;
    memcpy(value, (char *)values + from * size, (size_t)size);
    const double sign = symmetry == SKEW_SYMMETRIC ? -1 : 1, imaginary = symmetry == SYMMETRIC ? 1 : -1;
    if (type == TYPE_I32)
        *(int32_t *)value =
            symmetry == SKEW_SYMMETRIC ? (int32_t)(0 - *(uint32_t *)value) : *(int32_t *)value;
    else if (type == TYPE_I64)
        *(int64_t *)value =
            symmetry == SKEW_SYMMETRIC ? (int64_t)(0 - *(uint64_t *)value) : *(int64_t *)value;
    else if (type == TYPE_F32 || type == TYPE_C64)
        *(float *)value *= (float)sign;
    else
        *(double *)value *= sign;
    if (type == TYPE_C64)
        ((float *)value)[1] *= (float)imaginary;
    if (type == TYPE_C128)
        ((double *)value)[1] *= imaginary;
}

const char *symmetry_mirror(Symmetry symmetry, int64_t limit, Entries *entries, Arena *arena) {
    const int64_t *rows = entries->coordinates[0], *columns = entries->coordinates[1];
    int64_t more = 0;
    for (int64_t e = 0; e < entries->count; e++)
        more += rows[e] != columns[e];
    Entries both = {.type = entries->type, .order = entries->order, .count = entries->count + more};
    memcpy(both.extents, entries->extents, sizeof both.extents);
    const char *why = entries_allocate_within(&both, limit - entries_bytes(entries, entries->count), arena);
    if (why) {
        entries_free(&both);
        return why;
    }
    for (int d = 0; d < 2; d++)
        memcpy(both.coordinates[d], entries->coordinates[d], (size_t)entries->count * sizeof(int64_t));
    memcpy(both.values, entries->values, (size_t)entries->count * type_info(entries->type)->size);
    int64_t to = entries->count;
    for (int64_t e = 0; e < entries->count; e++)
        if (rows[e] != columns[e]) {
            both.coordinates[0][to] = columns[e];
            both.coordinates[1][to] = rows[e];
            mirror_value(symmetry, both.type, both.values, e, to++);
        }
    entries_free(entries);
    *entries = both;
    return NULL;
}
