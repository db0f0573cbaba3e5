// SPDX-License-Identifier: BSD-3-Clause
#include "format/entry_list.h"

#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

static bool grow_array(void **array, int64_t count, int64_t size) {
    int64_t bytes;
    void *grown = checked_mul(count, size, &bytes) ? realloc(*array, (size_t)bytes) : NULL;
    if (grown)
        *array = grown;
    return grown != NULL;
}

static bool grow(EntryList *list) {
    enum { FIRST = 1 << 10 };
    Entries *entries = &list->entries;
    const int64_t size = (int64_t)type_info(entries->type)->size;
    const int64_t most = list->limit / max_i64(entries_bytes(entries, 1), 1);
    const int64_t capacity = min_i64(max_i64(FIRST, saturated_mul(list->capacity, 2)), most);
    if (capacity <= list->capacity)
        return false;
    for (int d = 0; d < entries->order; d++) {
        void *coordinates = entries->coordinates[d];
        if (!grow_array(&coordinates, capacity, (int64_t)sizeof(int64_t)))
            return false;
        entries->coordinates[d] = coordinates;
    }
    if (!grow_array(&entries->values, capacity, size))
        return false;
    list->capacity = capacity;
    return true;
}

bool entry_list_append(EntryList *list, const int64_t *coordinates, const void *value) {
    Entries *entries = &list->entries;
    const size_t size = type_info(entries->type)->size;
    if (entries->count == list->capacity && !grow(list))
        return false;
    for (int d = 0; d < entries->order; d++)
        entries->coordinates[d][entries->count] = coordinates[d];
    char *at = (char *)entries->values + (size_t)entries->count * size;
    if (value)
        memcpy(at, value, size);
    else
        memset(at, 0, size);
    entries->count++;
    return true;
}
