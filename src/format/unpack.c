// SPDX-License-Identifier: BSD-3-Clause
// Unpacking of stored tensors: threads read blocks of positions of the last level, and from there the levels
// above. Where some positions store nothing, a pass before counts the entries of each thread.
#include "format/stored.h"

#include "base/integer.h"
#include "format/entry_reader.h"

#include <string.h>

enum { PARTS = 256 };

// The entries before each part of the positions, and all of them.
static int64_t count_parts(const EntryReader *reader, int64_t starts[PARTS]) {
#pragma omp parallel for num_threads(entries_team(reader->places))
    for (int p = 0; p < PARTS; p++) {
        const int64_t begin = part_begin(reader->places, PARTS, p),
                      end = part_begin(reader->places, PARTS, p + 1);
        EntryBlock block;
        starts[p] = reader->compact ? end - begin : 0;
        for (int64_t at = begin; at < end && !reader->compact; at += ENTRY_BLOCK) {
            reader_read(reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
            starts[p] += block.count;
        }
    }
    int64_t count = 0;
    for (int p = 0; p < PARTS; p++) {
        const int64_t own = starts[p];
        starts[p] = count;
        count += own;
    }
    return count;
}

int64_t stored_count(const StoredTensor *tensor) {
    const EntryReader reader = reader_of_stored(tensor, tensor->mode_order);
    int64_t starts[PARTS];
    return reader.compact ? reader.places : count_parts(&reader, starts);
}

// The entries of a part, from entry `next` on.
static void unpack_part(const EntryReader *reader, int64_t begin, int64_t end, Entries *entries,
                        int64_t next) {
    const size_t size = type_info(entries->type)->size;
    EntryBlock block;
    for (int64_t at = begin; at < end; at += ENTRY_BLOCK) {
        reader_read(reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
        for (int l = 0; l < entries->order; l++)
            memcpy(entries->coordinates[reader->modes[l]] + next, block.coordinates[l],
                   (size_t)block.count * sizeof(int64_t));
        for (int i = 0; i < block.count; i++)
            memcpy((char *)entries->values + (size_t)(next + i) * size,
                   (const char *)reader->stored->values + (size_t)block.numbers[i] * size, size);
        next += block.count;
    }
}

const char *stored_unpack(const StoredTensor *tensor, Entries *entries, int64_t limit, Arena *arena) {
    const EntryReader reader = reader_of_stored(tensor, tensor->mode_order);
    int64_t starts[PARTS];
    *entries = (Entries){.type = tensor->type, .order = tensor->order};
    memcpy(entries->extents, tensor->extents, sizeof entries->extents);
    entries->count = count_parts(&reader, starts);
    const char *why = entries_allocate_within(entries, limit, arena);
    if (why)
        return why;
#pragma omp parallel for num_threads(entries_team(reader.places))
    for (int p = 0; p < PARTS; p++)
        unpack_part(&reader, part_begin(reader.places, PARTS, p), part_begin(reader.places, PARTS, p + 1),
                    entries, starts[p]);
    return NULL;
}
