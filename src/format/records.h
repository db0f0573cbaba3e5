// SPDX-License-Identifier: BSD-3-Clause
// Sorting of entries: a stable parallel counting sort of records, from the levels that vary fastest to the
// first, in digits as wide as the number of entries is worth; or by the first level, and then those with the
// same coordinate there by themselves, where these are few. A record has the coordinates of an entry and its
// number, packed into as few words as hold their bits.
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
    RecordField number, fields[MAX_ORDER]; // by level
    // Where one pass sorted by the whole first level, alone or before the others: its coordinates follow from
    // the number of records before each, of which there are start_count and their end. Records lack it then.
    // Else NULL.
    int64_t *starts, start_count;
} Records;

typedef struct EntryReader EntryReader;

// Makes records of all entries, sorted by the first `levels` > 0 levels; those that agree there stay in their
// order. False: no memory; records_free follows in any case, with the same budget.
bool records_sort(Records *records, const EntryReader *reader, int levels, Budget *budget);
void records_free(Records *records, Budget *budget);

#endif
