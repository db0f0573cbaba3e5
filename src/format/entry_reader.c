// SPDX-License-Identifier: BSD-3-Clause
#include "format/entry_reader.h"

#include "base/integer.h"

#include <string.h>

EntryReader reader_of_entries(const Entries *entries, const int *modes) {
    EntryReader reader = {
        .order = entries->order, .places = entries->count, .compact = true, .entries = entries};
    for (int l = 0; l < reader.order; l++) {
        reader.modes[l] = modes ? modes[l] : l;
        reader.extents[l] = entries->extents[reader.modes[l]];
    }
    return reader;
}

EntryReader reader_of_stored(const StoredTensor *stored, const int *modes) {
    EntryReader reader = {
        .order = stored->order, .places = stored->value_count, .compact = true, .stored = stored};
    for (int l = 0; l < reader.order; l++) {
        reader.modes[l] = modes[l];
        reader.extents[l] = stored->extents[modes[l]];
        reader.compact = reader.compact && stored->levels[l].format->compact;
        for (int s = 0; s < reader.order; s++)
            if (stored->mode_order[s] == modes[l])
                reader.levels[s] = l;
    }
    return reader;
}

EntryReader reader_of_records(const EntryReader *reader, const Records *records) {
    EntryReader sorted = *reader;
    sorted.places = records->count;
    sorted.compact = true;
    sorted.entries = NULL;
    sorted.stored = NULL;
    sorted.records = records;
    return sorted;
}

static void read_entries(const EntryReader *reader, int level, int64_t first, int64_t count,
                         EntryBlock *block) {
    for (int l = 0; l < reader->order; l++)
        if (level < 0 || l == level)
            memcpy(block->coordinates[l], reader->entries->coordinates[reader->modes[l]] + first,
                   (size_t)count * sizeof(int64_t));
    for (int64_t i = 0; i < count; i++)
        block->numbers[i] = first + i;
}

// Removes the places at which some level stores nothing.
static void drop_absent(int order, EntryBlock *block) {
    int kept = 0;
    for (int i = 0; i < block->count; i++) {
        bool present = true;
        for (int l = 0; l < order; l++) {
            block->coordinates[l][kept] = block->coordinates[l][i];
            present = present && block->coordinates[l][i] >= 0;
        }
        block->numbers[kept] = block->numbers[i];
        kept += present;
    }
    block->count = kept;
}

// The entries at the positions that the block has in `numbers`, which increase: from the last level upwards,
// until the coordinates of `level` are there; -1: of all levels.
static void read_positions(const EntryReader *reader, int level, EntryBlock *block) {
    const StoredTensor *stored = reader->stored;
    int64_t positions[ENTRY_BLOCK];
    memcpy(positions, block->numbers, (size_t)block->count * sizeof *positions);
    for (int s = reader->order - 1; s >= 0; s--) {
        const LevelFormat *format = stored->levels[s].format;
        if (level < 0 || reader->levels[s] == level || !reader->compact)
            format->coordinates(&stored->arrays[s], block->count, positions,
                                block->coordinates[reader->levels[s]]);
        if (reader->levels[s] == level && reader->compact)
            return;
        if (s > 0)
            format->above(&stored->arrays[s], block->count, positions);
    }
    if (!reader->compact)
        drop_absent(reader->order, block);
}

static void read_stored(const EntryReader *reader, int level, int64_t first, EntryBlock *block) {
#pragma omp simd
    for (int64_t i = 0; i < block->count; i++)
        block->numbers[i] = first + i;
    read_positions(reader, level, block);
}

void reader_read_slices(const EntryReader *reader, SliceCursor *cursor, EntryBlock *block) {
    block->count = 0;
    while (cursor->count > 0 && block->count < ENTRY_BLOCK) {
        const int64_t left = cursor->slices->count - cursor->read,
                      count = min_i64(left, ENTRY_BLOCK - block->count);
        for (int64_t i = 0; i < count; i++)
            block->numbers[block->count++] = cursor->slices->first + cursor->read + i;
        cursor->read += count;
        if (count == left)
            *cursor = (SliceCursor){cursor->slices + 1, cursor->count - 1, 0};
    }
    read_positions(reader, -1, block);
}

static void read_field(const Records *records, RecordField field, int64_t first, int64_t count, int64_t *to) {
    const uint64_t *from = records->items + first * records->words + field.word;
    if (records->words == 1)
        for (int64_t i = 0; i < count; i++)
            to[i] = (int64_t)(from[i] >> field.shift & field.mask);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = (int64_t)(from[i * records->words] >> field.shift & field.mask);
}

static void read_records(const EntryReader *reader, int level, int64_t first, int64_t count,
                         EntryBlock *block) {
    const Records *records = reader->records;
    for (int l = 0; l < reader->order; l++)
        if (level < 0 || l == level)
            read_field(records, records->fields[l], first, count, block->coordinates[l]);
    if (records->value == 0)
        read_field(records, records->number, first, count, block->numbers);
    else
        for (int64_t i = 0; i < count; i++)
            block->numbers[i] = first + i;
}

void reader_read_level(const EntryReader *reader, int level, int64_t first, int64_t count,
                       EntryBlock *block) {
    block->count = (int)count;
    if (reader->stored)
        read_stored(reader, level, first, block);
    else if (reader->entries)
        read_entries(reader, level, first, count, block);
    else
        read_records(reader, level, first, count, block);
}

void reader_read(const EntryReader *reader, int64_t first, int64_t count, EntryBlock *block) {
    reader_read_level(reader, -1, first, count, block);
}

const int32_t *reader_list(const EntryReader *reader, int level) {
    const int last = reader->order - 1;
    if (!reader->stored || !reader->compact || reader->levels[last] != level)
        return NULL;
    const LevelArrays *arrays = &reader->stored->arrays[last];
    const int array = level_array(reader->stored->levels[last].format, LEVEL_ARRAY_COORDINATES);
    return array < 0 || arrays->wide ? NULL : arrays->arrays[array];
}

// Whether a list is sorted by levels `first` to the last one and, where all of these agree, by those before.
static bool is_sorted_from(const EntryReader *reader, int first) {
    enum { CHUNK = 1 << 14 };
    const Entries *entries = reader->entries;
    const int64_t *columns[MAX_ORDER] = {NULL};
    for (int i = 0; i < reader->order; i++)
        columns[i] = entries->coordinates[reader->modes[(first + i) % reader->order]];
    int wrong = 0;
#pragma omp parallel for num_threads(entries_team(entries->count)) reduction(| : wrong)
    for (int64_t chunk = 0; chunk < entries->count; chunk += CHUNK) {
        const int64_t end = min_i64(chunk + CHUNK, entries->count);
        for (int64_t e = max_i64(chunk, 1); e < end && !wrong; e++) {
            int i = 0;
            while (i < reader->order - 1 && columns[i][e] == columns[i][e - 1])
                i++;
            wrong |= columns[i][e] < columns[i][e - 1];
        }
    }
    return !wrong;
}

int reader_unsorted_levels(const EntryReader *reader) {
    int first = 0;
    if (reader->entries) {
        while (first < reader->order && !is_sorted_from(reader, first))
            first++;
        return first;
    }
    // Without the levels before `first`, those of the tensor have to be in the order of the levels.
    for (; first < reader->order; first++) {
        int next = first;
        for (int s = 0; s < reader->order; s++)
            next += reader->levels[s] == next;
        if (next == reader->order)
            break;
    }
    return first;
}
