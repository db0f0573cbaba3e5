// SPDX-License-Identifier: BSD-3-Clause
// Entries in blocks, wherever they are: in a list, in a stored tensor, or in sorted records. A block has
// their coordinates by level of the tensor that is made of them, and fits into a cache, so that what is done
// with entries, step by step, reads memory once.
#ifndef DISTAL_FORMAT_ENTRY_READER_H
#define DISTAL_FORMAT_ENTRY_READER_H

#include "format/records.h"
#include "format/stored.h"

enum { ENTRY_BLOCK = 512 };

typedef struct {
    int count;
    int64_t coordinates[MAX_ORDER][ENTRY_BLOCK]; // by level
    // Where the value is: the entry of the list, the position in the tensor, or the record that has it.
    int64_t numbers[ENTRY_BLOCK];
} EntryBlock;

struct EntryReader {
    int order;
    int64_t extents[MAX_ORDER]; // by level
    int modes[MAX_ORDER];       // of what is read, by level
    int levels[MAX_ORDER];      // of a stored tensor: by its own levels, the level that has the same mode
    // Entries are at places 0 .. places - 1. Some places of a stored tensor have none, unless it is compact.
    int64_t places;
    bool compact;
    const Entries *entries; // one of these three
    const StoredTensor *stored;
    const Records *records;
};

// Level l has mode modes[l] of what is read; NULL: mode l.
EntryReader reader_of_entries(const Entries *entries, const int *modes);
EntryReader reader_of_stored(const StoredTensor *stored, const int *modes);
// The records that were made with `reader`, in their order.
EntryReader reader_of_records(const EntryReader *reader, const Records *records);

// Reads the entries at `count` <= ENTRY_BLOCK places from `first` on.
void reader_read(const EntryReader *reader, int64_t first, int64_t count, EntryBlock *block);
// Sets only their coordinates in one level, or more.
void reader_read_level(const EntryReader *reader, int level, int64_t first, int64_t count, EntryBlock *block);

// The coordinates of a level by place, where they are in memory so, in 32 bits: those of the last level of a
// stored tensor. NULL elsewhere.
const int32_t *reader_list(const EntryReader *reader, int level);

// Slices of the positions of a stored tensor, in increasing order, and how many positions of the first are
// read.
typedef struct {
    const Slice *slices;
    int64_t count, read;
} SliceCursor;

// Reads the next entries of a stored tensor that are in slices; none at their end.
void reader_read_slices(const EntryReader *reader, SliceCursor *cursor, EntryBlock *block);

// The least number of levels, from the first on, by which a stable sort brings the entries into the order of
// the levels: 0 where they are in this order.
int reader_unsorted_levels(const EntryReader *reader);

#endif
