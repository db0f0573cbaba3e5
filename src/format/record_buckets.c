// SPDX-License-Identifier: BSD-3-Clause
#include "format/record_buckets.h"

#include "base/integer.h"
#include "distal_kernel.h"

#include <omp.h>
#include <string.h>

// A bucket and a copy of it, in which it is sorted, should fit into the second cache, and what a thread
// collects for all buckets too. Digits are finer than buckets, which are made of several values where these
// are rare.
enum { BUCKET_BYTES = 1 << 19, MOST_BUCKETS = 1 << 10, FINER_BITS = 4, MOST_BITS = 16 };
// Records that are collected for a bucket: as many lines as a record has words.
enum { GROUP = 8 };
// What is written fits into no cache.
enum { STREAM_BYTES = 1 << 25 };

#define INLINE static inline __attribute__((always_inline))

static int bits_of(uint64_t most) {
    return most == 0 ? 0 : 64 - __builtin_clzll(most);
}

static int64_t digit_count(const RecordPass *pass) {
    return INT64_C(1) << pass->bits;
}

static int64_t bucket_records(const RecordPass *pass) {
    return max_i64(BUCKET_BYTES / 8 / pass->records->words, ceil_div(pass->whole.count, MOST_BUCKETS / 2));
}

static void choose_digit(RecordPass *pass) {
    const int64_t buckets = pass->whole.count / bucket_records(pass);
    const int bits = buckets == 0 ? 0 : bits_of((uint64_t)buckets) + FINER_BITS;
    if (pass->whole.part == pass->key->count)
        return; // there is one digit
    const KeyPart part = pass->key->parts[pass->whole.part];
    pass->bits = (int)min_i64(min_i64(bits, MOST_BITS), pass->whole.bits);
    pass->word = part.word;
    pass->low = part.shift;
    pass->shift = part.shift + pass->whole.bits - pass->bits;
}

// The digits of the entries of a block, of which coordinates are read as far as they matter.
static void read_digits(const RecordPass *pass, int64_t first, int64_t count, EntryBlock *block,
                        uint64_t *digits) {
    const Records *records = pass->records;
    int levels = 0, last = -1;
    bool matters[MAX_ORDER] = {false};
    for (int l = 0; l < pass->reader->order; l++) {
        const RecordField field = records->fields[l];
        matters[l] =
            pass->bits > 0 && field.word == pass->word && bits_of(field.mask) + field.shift > pass->shift;
        levels += matters[l];
        last = matters[l] ? l : last;
    }
    if (levels < 2)
        reader_read_level(pass->reader, last < 0 ? 0 : last, first, count, block);
    else
        reader_read(pass->reader, first, count, block);
    memset(digits, 0, sizeof *digits * (size_t)block->count);
    for (int l = 0; l < pass->reader->order; l++)
        for (int i = 0; matters[l] && i < block->count; i++)
            digits[i] |= (uint64_t)block->coordinates[l][i] << records->fields[l].shift;
    for (int i = 0; pass->bits > 0 && i < block->count; i++)
        digits[i] >>= pass->shift;
}

// One of no bits may be after all bits of a word.
INLINE uint64_t digit_of(const RecordPass *pass, const uint64_t *record) {
    return pass->bits == 0
               ? 0
               : (record[pass->word] - pass->whole.base) >> pass->shift & ((UINT64_C(1) << pass->bits) - 1);
}

static void count_part(const RecordPass *pass, int t) {
    int64_t *own = pass->counts + t * digit_count(pass);
    const int64_t end = part_begin(pass->whole.count, pass->team, t + 1);
    int64_t at = part_begin(pass->whole.count, pass->team, t);
    memset(own, 0, sizeof *own * (size_t)digit_count(pass));
    if (!pass->reader) {
        for (; at < end; at++)
            own[digit_of(pass, pass->from + at * pass->records->words)]++;
        return;
    }
    EntryBlock block;
    uint64_t digits[ENTRY_BLOCK];
    for (; at < end; at += ENTRY_BLOCK) {
        read_digits(pass, at, min_i64(ENTRY_BLOCK, end - at), &block, digits);
        for (int i = 0; i < block.count; i++)
            own[digits[i]]++;
    }
}

// Ends a bucket of digits from `first` to before `last`, if it has records.
static void add_bucket(RecordPass *pass, int64_t first, int64_t last, int64_t count) {
    if (count == 0)
        return;
    RecordBucket bucket = {.first = pass->count,
                           .count = count,
                           .part = pass->whole.part,
                           .bits = pass->shift - pass->low + bits_of((uint64_t)(last - first - 1)),
                           .base = pass->whole.base + (pass->bits > 0 ? (uint64_t)first << pass->shift : 0)};
    while (bucket.bits == 0 && bucket.part < pass->key->count) {
        bucket.base = 0;
        bucket.part++;
        bucket.bits = bucket.part < pass->key->count ? pass->key->parts[bucket.part].bits : 0;
    }
    pass->count += count;
    pass->buckets[pass->bucket_count++] = bucket;
}

// Divides the digits, of which totals[d] records have digit d. Each two neighbours have more records together
// than one bucket should have.
static void make_buckets(RecordPass *pass, const int64_t *totals) {
    const int64_t most = bucket_records(pass), digits = digit_count(pass);
    int64_t first = 0, last = 0, count = 0;
    for (int64_t d = 0; d < digits; d++) {
        if (totals[d] == 0) {
            pass->bucket_of[d] = 0;
            continue;
        }
        if (count > 0 && count + totals[d] > most) {
            add_bucket(pass, first, last, count);
            count = 0;
        }
        first = count == 0 ? d : first;
        last = d + 1;
        count += totals[d];
        pass->bucket_of[d] = (uint16_t)pass->bucket_count;
    }
    add_bucket(pass, first, last, count);
}

static void sum_counts(const RecordPass *pass, int64_t *totals) {
    const int64_t digits = digit_count(pass);
#pragma omp parallel for num_threads(pass->team)
    for (int64_t d = 0; d < digits; d++) {
        totals[d] = 0;
        for (int t = 0; t < pass->team; t++)
            totals[d] += pass->counts[t * digits + d];
    }
}

bool record_pass_count(RecordPass *pass, Budget *budget) {
    choose_digit(pass);
    const int64_t digits = digit_count(pass);
    int64_t *totals = budget_take(budget, digits, sizeof *totals, false);
    pass->counts = budget_take(budget, pass->team * digits, sizeof *pass->counts, false);
    pass->bucket_of = budget_take(budget, digits, sizeof *pass->bucket_of, false);
    pass->buckets = budget_take(budget, MOST_BUCKETS + 1, sizeof *pass->buckets, false);
    const bool ok = totals && pass->counts && pass->bucket_of && pass->buckets;
    if (ok) {
#pragma omp parallel num_threads(pass->team)
        for (int t = omp_get_thread_num(); t < pass->team; t += omp_get_num_threads())
            count_part(pass, t);
        sum_counts(pass, totals);
        make_buckets(pass, totals);
    }
    budget_release(budget, totals, digits, sizeof *totals);
    return ok;
}

// Where the records of each thread begin in each bucket.
static void place_records(const RecordPass *pass) {
    const int64_t digits = digit_count(pass), buckets = pass->bucket_count;
#pragma omp parallel for num_threads(pass->team)
    for (int t = 0; t < pass->team; t++) {
        memset(pass->next + t * buckets, 0, sizeof *pass->next * (size_t)buckets);
        for (int64_t d = 0; d < digits; d++)
            pass->next[t * buckets + pass->bucket_of[d]] += pass->counts[t * digits + d];
    }
    for (int64_t b = 0; b < buckets; b++) {
        int64_t at = pass->buckets[b].first;
        for (int t = 0; t < pass->team; t++) {
            const int64_t own = pass->next[t * buckets + b];
            pass->begins[t * buckets + b] = pass->next[t * buckets + b] = at;
            at += own;
        }
    }
}

// The records of the entries of a block, one after the other.
INLINE void make_records(const RecordPass *pass, const EntryBlock *block, uint64_t *to, int words) {
    const Records *records = pass->records;
    memset(to, 0, sizeof *to * (size_t)(block->count * words));
    for (int l = 0; l <= pass->reader->order; l++) {
        const bool coordinate = l < pass->reader->order;
        const RecordField field = coordinate ? records->fields[l] : records->number;
        const int64_t *from = coordinate ? block->coordinates[l] : block->numbers;
        for (int i = 0; field.mask != 0 && i < block->count; i++)
            to[i * words + field.word] |= (uint64_t)from[i] << field.shift;
    }
    const char *values = pass->values.values;
    const int64_t size = values ? pass->values.size : 0;
    if (size == 8)
        for (int i = 0; i < block->count; i++)
            memcpy(&to[i * words + records->value], values + block->numbers[i] * 8, 8);
    else if (size > 0)
        for (int i = 0; i < block->count; i++)
            memcpy(&to[i * words + records->value], values + block->numbers[i] * size, (size_t)size);
}

INLINE void copy_record(uint64_t *to, const uint64_t *from, int words) {
    for (int w = 0; w < words; w++)
        to[w] = from[w];
}

// Writes the records of a group that have been collected: from position `first` to before `last`.
static void write_group(const uint64_t *group, uint64_t *to, int64_t first, int64_t last, int words,
                        bool stream) {
    const size_t size = sizeof *to * (size_t)((last - first) * words);
    const uint64_t *from = group + first % GROUP * words;
    if (stream)
        distal_stream(to + first * words, from, (int64_t)size);
    else
        memcpy(to + first * words, from, size);
}

INLINE void move_records(const RecordPass *pass, int t, const uint64_t *from, int64_t count, uint64_t *to,
                         int words, bool stream) {
    const int64_t offset = (int64_t)t * pass->bucket_count;
    const int64_t *begins = pass->begins + offset;
    int64_t *next = pass->next + offset;
    uint64_t *groups = pass->groups + offset * GROUP * words;
    for (int64_t i = 0; i < count; i++) {
        const int b = pass->bucket_of[digit_of(pass, from + i * words)];
        const int64_t at = next[b]++;
        uint64_t *group = groups + (int64_t)b * GROUP * words;
        copy_record(group + at % GROUP * words, from + i * words, words);
        if (at % GROUP == GROUP - 1)
            write_group(group, to, max_i64(at + 1 - GROUP, begins[b]), at + 1, words, stream);
    }
}

static void write_rest(const RecordPass *pass, int t, uint64_t *to) {
    const int words = pass->records->words;
    for (int64_t b = 0, at = (int64_t)t * pass->bucket_count; b < pass->bucket_count; b++, at++) {
        const int64_t last = pass->next[at];
        write_group(pass->groups + at * GROUP * words, to, max_i64(last - last % GROUP, pass->begins[at]),
                    last, words, false);
    }
}

INLINE void move_part(const RecordPass *pass, int t, uint64_t *to, int words, bool stream) {
    const int64_t end = part_begin(pass->whole.count, pass->team, t + 1);
    int64_t at = part_begin(pass->whole.count, pass->team, t);
    if (!pass->reader) {
        move_records(pass, t, pass->from + at * words, end - at, to, words, stream);
        return;
    }
    EntryBlock block;
    uint64_t made[ENTRY_BLOCK * (MAX_ORDER + 3)];
    for (; at < end; at += ENTRY_BLOCK) {
        reader_read(pass->reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
        make_records(pass, &block, made, words);
        move_records(pass, t, made, block.count, to, words, stream);
    }
}

static void move_all(const RecordPass *pass, int t, uint64_t *to) {
    const int words = pass->records->words;
    const bool stream = saturated_mul(pass->count, words * (int64_t)sizeof *to) > STREAM_BYTES;
    if (words == 1)
        move_part(pass, t, to, 1, stream);
    else if (words == 2)
        move_part(pass, t, to, 2, stream);
    else
        move_part(pass, t, to, words, stream);
    write_rest(pass, t, to);
}

static int64_t place_count(const RecordPass *pass) {
    return (int64_t)pass->team * pass->bucket_count;
}

static int64_t group_words(const RecordPass *pass) {
    return place_count(pass) * GROUP * pass->records->words;
}

bool record_pass_move(RecordPass *pass, uint64_t *to, Budget *budget) {
    pass->begins = budget_take(budget, place_count(pass), sizeof *pass->begins, false);
    pass->next = budget_take(budget, place_count(pass), sizeof *pass->next, false);
    pass->groups = budget_take(budget, group_words(pass), sizeof *pass->groups, false);
    if (!pass->begins || !pass->next || !pass->groups)
        return false;
    place_records(pass);
#pragma omp parallel num_threads(pass->team)
    for (int t = omp_get_thread_num(); t < pass->team; t += omp_get_num_threads())
        move_all(pass, t, to);
    return true;
}

void record_pass_free(RecordPass *pass, Budget *budget) {
    budget_release(budget, pass->groups, group_words(pass), sizeof *pass->groups);
    budget_release(budget, pass->next, place_count(pass), sizeof *pass->next);
    budget_release(budget, pass->begins, place_count(pass), sizeof *pass->begins);
    budget_release(budget, pass->buckets, MOST_BUCKETS + 1, sizeof *pass->buckets);
    budget_release(budget, pass->bucket_of, digit_count(pass), sizeof *pass->bucket_of);
    budget_release(budget, pass->counts, pass->team * digit_count(pass), sizeof *pass->counts);
}
