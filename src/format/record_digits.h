// SPDX-License-Identifier: BSD-3-Clause
// Sorting of the records of one bucket by one thread: a stable counting sort, digit by digit from the last
// one.
#ifndef DISTAL_FORMAT_RECORD_DIGITS_H
#define DISTAL_FORMAT_RECORD_DIGITS_H

#include "format/record_key.h"

// Of bucket->count records at `items`; `room` has memory for as many.
void record_digits_sort(uint64_t *items, uint64_t *room, int words, const RecordKey *key,
                        const RecordBucket *bucket);

#endif
