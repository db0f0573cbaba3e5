// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "format/entry_reader.h"
#include "memory/memory.h"

#include <string.h>

// Writes the coordinates, and the values to `values`; the records have both.
static void reorder(const EntryReader *sorted, Entries *entries, char *values) {
    const size_t size = type_info(entries->type)->size;
    const Records *records = sorted->records;
#pragma omp parallel for num_threads(entries_team(entries->count))
    for (int64_t at = 0; at < entries->count; at += ENTRY_BLOCK) {
        EntryBlock block;
        reader_read(sorted, at, min_i64(ENTRY_BLOCK, entries->count - at), &block);
        for (int l = 0; l < entries->order; l++)
            memcpy(entries->coordinates[sorted->modes[l]] + at, block.coordinates[l],
                   (size_t)block.count * sizeof(int64_t));
        for (int i = 0; i < block.count; i++)
            memcpy(values + (size_t)(at + i) * size,
                   &records->items[block.numbers[i] * records->words + records->value], size);
    }
}

// The first entry that is not before the key, or, with `equal` 1, that is after it.
static int64_t bound(const Entries *entries, const int *mode_order, const int64_t *key, int equal) {
    int64_t first = 0, last = entries->count;
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        int order = 0; // of the entry and the key
        for (int l = 0; l < entries->order && order == 0; l++) {
            const int64_t x = entries->coordinates[mode_order ? mode_order[l] : l][middle];
            order = (x > key[l]) - (x < key[l]);
        }
        if (order < equal)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

int64_t entries_lower_bound(const Entries *entries, const int *mode_order, const int64_t *key) {
    return bound(entries, mode_order, key, 0);
}

int64_t entries_upper_bound(const Entries *entries, const int *mode_order, const int64_t *key) {
    return bound(entries, mode_order, key, 1);
}

const char *entries_sort(Entries *entries, const int *mode_order) {
    const EntryReader reader = reader_of_entries(entries, mode_order);
    const int unsorted = reader_unsorted_levels(&reader);
    Budget budget = {INT64_MAX};
    Records records = {0};
    const RecordValues own = {entries->values, (int64_t)type_info(entries->type)->size};
    if (unsorted == 0)
        return NULL;
    void *values = memory_allocate(MEMORY_HOST, entries->count, entries->type);
    const bool ok = values && records_sort(&records, &reader, unsorted, own, &budget);
    if (ok) {
        const EntryReader sorted = reader_of_records(&reader, &records);
        reorder(&sorted, entries, values);
        memory_release(MEMORY_HOST, entries->values);
        entries->values = values;
    } else {
        memory_release(MEMORY_HOST, values);
    }
    records_free(&records, &budget);
    return ok ? NULL : "not enough memory to sort its entries";
}
