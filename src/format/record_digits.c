// SPDX-License-Identifier: BSD-3-Clause
#include "format/record_digits.h"

#include <string.h>

// Of the difference of a word to `base`.
typedef struct {
    int word, shift, bits;
    uint64_t base;
} Digit;

// Digits of most bits have as many counts as fit into the first cache with the lines that are written; those
// of few records have no more counts than records.
enum { MOST_BITS = 11, SHORT = 4096, SHORT_BITS = 8, MOST_DIGITS = MAX_ORDER * (64 / SHORT_BITS) };

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t digit_of(const uint64_t *record, Digit digit) {
    return (record[digit.word] - digit.base) >> digit.shift & ((UINT64_C(1) << digit.bits) - 1);
}

// False: the digit is the same in all records, which are not moved.
INLINE bool sort_digit(const uint64_t *from, uint64_t *to, int64_t count, int words, Digit digit) {
    int64_t next[1 << MOST_BITS], before = 0;
    memset(next, 0, sizeof *next << digit.bits);
    for (int64_t i = 0; i < count; i++)
        next[digit_of(from + i * words, digit)]++;
    if (next[digit_of(from, digit)] == count)
        return false;
    for (int64_t d = 0; d < INT64_C(1) << digit.bits; d++) {
        const int64_t own = next[d];
        next[d] = before;
        before += own;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t *record = to + next[digit_of(from + i * words, digit)]++ * words;
        for (int w = 0; w < words; w++)
            record[w] = from[i * words + w];
    }
    return true;
}

INLINE void sort(uint64_t *items, uint64_t *room, int64_t count, int words, int digits, const Digit *digit) {
    uint64_t *from = items, *to = room;
    for (int d = 0; d < digits; d++) {
        if (!sort_digit(from, to, count, words, digit[d]))
            continue;
        uint64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, sizeof *items * (size_t)(count * words));
}

void record_digits_sort(uint64_t *items, uint64_t *room, int words, const RecordKey *key,
                        const RecordBucket *bucket) {
    const int most = bucket->count < SHORT ? SHORT_BITS : MOST_BITS;
    Digit digits[MOST_DIGITS];
    int count = 0;
    for (int p = key->count - 1; p >= bucket->part && bucket->count > 1; p--) {
        const KeyPart part = key->parts[p];
        const int bits = p == bucket->part ? bucket->bits : part.bits, passes = (bits + most - 1) / most;
        for (int pass = 0, shift = 0; pass < passes; pass++) {
            const int width = (bits - shift + passes - pass - 1) / (passes - pass);
            digits[count++] =
                (Digit){part.word, part.shift + shift, width, p == bucket->part ? bucket->base : 0};
            shift += width;
        }
    }
    if (words == 1)
        sort(items, room, bucket->count, 1, count, digits);
    else if (words == 2)
        sort(items, room, bucket->count, 2, count, digits);
    else
        sort(items, room, bucket->count, words, count, digits);
}
