// SPDX-License-Identifier: BSD-3-Clause
// A list of entries that grows as entries are appended.
#ifndef DISTAL_FORMAT_ENTRY_LIST_H
#define DISTAL_FORMAT_ENTRY_LIST_H

#include "format/entries.h"

typedef struct {
    Entries entries; // with type, order and extents set; freed with entries_free
    int64_t capacity;
    int64_t limit; // bytes that the list takes at most
} EntryList;

// Appends an entry with these coordinates, by mode, and this value (NULL: zero). False: it does not fit into
// the limit, or there is no memory; then the list is as it was.
bool entry_list_append(EntryList *list, const int64_t *coordinates, const void *value);

#endif
