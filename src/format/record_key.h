// SPDX-License-Identifier: BSD-3-Clause
// The keys by which records are sorted: the leading bits of their first words.
#ifndef DISTAL_FORMAT_RECORD_KEY_H
#define DISTAL_FORMAT_RECORD_KEY_H

#include "machine/rect.h"

// The part of a key in one word: what is left of it after a shift, which has `bits` bits. Keys are compared
// part by part.
typedef struct {
    int word, shift, bits;
} KeyPart;

typedef struct {
    int count;
    KeyPart parts[MAX_ORDER];
} RecordKey;

// Records that follow each other, with the same parts of keys before `part`, and in that, in the difference
// of the word to `base`, at most `bits` bits. Where `part` is the number of parts, they agree in all.
typedef struct {
    int64_t first, count;
    int part, bits;
    uint64_t base;
} RecordBucket;

#endif
