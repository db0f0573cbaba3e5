// SPDX-License-Identifier: BSD-3-Clause
// Sorting of entries as records. A record has the coordinates of an entry by level, packed into as few words
// as hold their bits, and the number of the entry or its value. Records move to buckets that fit into a
// cache, by the leading bits of their coordinates (record_buckets.h), and each bucket is sorted there
// (record_digits.h). Both are stable.
#ifndef DISTAL_FORMAT_RECORDS_H
#define DISTAL_FORMAT_RECORDS_H

#include "format/budget.h"
#include "machine/rect.h"

typedef struct {
    int word, shift;
    uint64_t mask;
} RecordField;

typedef struct {
    int words; // of a record
    int64_t count;
    uint64_t *items;
    RecordField fields[MAX_ORDER]; // by level
    RecordField number;            // of the entry, unless records have values
    int value;                     // the word that the value begins in; 0: records have numbers
} Records;

typedef struct EntryReader EntryReader;

// What the values of entries are, by number; NULL: records have numbers.
typedef struct {
    const void *values;
    int64_t size; // of each, in bytes
} RecordValues;

// Makes records of all entries, sorted by the first `levels` > 0 levels; those that agree there stay in their
// order. False: no memory; records_free follows in any case, with the same budget.
bool records_sort(Records *records, const EntryReader *reader, int levels, RecordValues values,
                  Budget *budget);
void records_free(Records *records, Budget *budget);

#endif
