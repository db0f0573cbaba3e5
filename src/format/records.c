// SPDX-License-Identifier: BSD-3-Clause
#include "format/records.h"

#include "base/integer.h"
#include "format/entry_reader.h"
#include "format/record_runs.h"

#include <omp.h>
#include <string.h>

// One pass: by `bits` bits of the coordinate of `level`.
typedef struct {
    int level, shift, bits;
} Digit;

enum { LEAST_BITS = 6, MOST_BITS = 22, MOST_DIGITS = MAX_ORDER * (64 / LEAST_BITS + 1) };

typedef struct {
    const EntryReader *reader;
    Records *records;
    int digit_count;
    Digit digits[MOST_DIGITS]; // in the order of the passes
    int team;
    // Of the pass that is made:
    Digit digit;
    const uint64_t *from; // NULL: the first pass, which reads entries
    uint64_t *to;
    int64_t *counts; // by thread and digit: records, then where the next one is put
    int64_t *sums;   // by thread: records of its share of the digits
    int64_t *most;   // by thread: the most that one of these digits has
} Sort;

static int bits_of(int64_t extent) {
    return extent <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)extent - 1);
}

// Each thread counts all values of a digit. More counts than records would cost more than the passes that
// they save; where there are many records, a mode is one digit.
static void choose_digits(Sort *sort, int levels) {
    const int own = bits_of(sort->reader->places / sort->team) - 1;
    const int most = (int)min_i64(max_i64(own, LEAST_BITS), MOST_BITS);
    for (int l = levels - 1; l >= 0; l--) {
        const int bits = bits_of(sort->reader->extents[l]), passes = (bits + most - 1) / most;
        for (int p = 0, shift = 0; p < passes; p++) {
            const int width = (bits - shift + passes - p - 1) / (passes - p);
            sort->digits[sort->digit_count++] = (Digit){l, shift, width};
            shift += width;
        }
    }
}

static RecordField add_field(Records *records, int *used, int bits) {
    if (bits == 0)
        return (RecordField){0};
    if (*used + bits > 64) {
        records->words++;
        *used = 0;
    }
    const RecordField field = {records->words - 1, *used, UINT64_MAX >> (64 - bits)};
    *used += bits;
    return field;
}

// Whether one pass by the first level and then sorting of each run of records that agree there is worth it
// (record_runs.h): of more levels than one, where runs are short.
static bool has_runs(const Sort *sort) {
    enum { MOST_MEAN = 4096 };
    const int last = sort->digit_count - 1;
    return last > 0 && sort->digits[last].level == 0 && sort->digits[last - 1].level != 0 &&
           sort->reader->extents[0] >= sort->reader->places / MOST_MEAN;
}

// `implied`: the coordinates of the first level follow from where records are in the end.
static void choose_fields(Sort *sort, bool implied) {
    Records *records = sort->records;
    const EntryReader *reader = sort->reader;
    int used = 0;
    *records = (Records){.words = 1};
    records->number = add_field(records, &used, bits_of(reader->places));
    for (int l = reader->order - 1; l >= implied; l--)
        records->fields[l] = add_field(records, &used, bits_of(reader->extents[l]));
    records->start_count = implied ? reader->extents[0] : 0;
}

static int64_t source_count(const Sort *sort) {
    return sort->from ? sort->records->count : sort->reader->places;
}

// The counts of records by digit in part t.
static void count_part(const Sort *sort, int t) {
    const Digit digit = sort->digit;
    const uint64_t mask = (UINT64_C(1) << digit.bits) - 1;
    int64_t *own = sort->counts + ((int64_t)t << digit.bits);
    const int64_t end = part_begin(source_count(sort), sort->team, t + 1);
    int64_t at = part_begin(source_count(sort), sort->team, t);
    memset(own, 0, sizeof *own << digit.bits);
    if (sort->from) {
        const RecordField field = sort->records->fields[digit.level];
        const int words = sort->records->words, shift = field.shift + digit.shift;
        for (; at < end; at++)
            own[sort->from[at * words + field.word] >> shift & mask]++;
        return;
    }
    EntryBlock block;
    for (; at < end; at += ENTRY_BLOCK) {
        reader_read_level(sort->reader, digit.level, at, min_i64(ENTRY_BLOCK, end - at), &block);
        for (int i = 0; i < block.count; i++)
            own[(uint64_t)block.coordinates[digit.level][i] >> digit.shift & mask]++;
    }
}

// The sum of the counts of a share of the digits.
static void sum_share(const Sort *sort, int t) {
    const int64_t digits = INT64_C(1) << sort->digit.bits, end = part_begin(digits, sort->team, t + 1);
    int64_t all = 0, most = 0;
    for (int64_t d = part_begin(digits, sort->team, t); d < end; d++) {
        int64_t sum = 0;
        for (int p = 0; p < sort->team; p++)
            sum += sort->counts[((int64_t)p << sort->digit.bits) + d];
        all += sum;
        most = max_i64(most, sum);
    }
    sort->sums[t] = all;
    sort->most[t] = most;
}

// Makes of the counts of a share of the digits where the records of each part begin.
static void place_share(const Sort *sort, int t) {
    const int64_t digits = INT64_C(1) << sort->digit.bits, end = part_begin(digits, sort->team, t + 1);
    Records *records = sort->records;
    int64_t before = 0;
    for (int p = 0; p < t; p++)
        before += sort->sums[p];
    for (int64_t d = part_begin(digits, sort->team, t); d < end; d++) {
        if (d < records->start_count)
            records->starts[d] = before;
        for (int p = 0; p < sort->team; p++) {
            int64_t *count = &sort->counts[((int64_t)p << sort->digit.bits) + d];
            const int64_t own = *count;
            *count = before;
            before += own;
        }
    }
}

// The records of the entries of a block, one after the other.
static void make_records(const Records *records, int order, const EntryBlock *block, uint64_t *to) {
    const int words = records->words;
    memset(to, 0, sizeof *to * (size_t)(block->count * words));
    for (int l = -1; l < order; l++) {
        const RecordField field = l < 0 ? records->number : records->fields[l];
        const int64_t *from = l < 0 ? block->numbers : block->coordinates[l];
        if (field.mask == 0)
            continue;
        if (words == 1)
            for (int i = 0; i < block->count; i++)
                to[i] |= (uint64_t)from[i] << field.shift;
        else
            for (int i = 0; i < block->count; i++)
                to[i * words + field.word] |= (uint64_t)from[i] << field.shift;
    }
}

static void move_part(const Sort *sort, int t) {
    const Digit digit = sort->digit;
    const uint64_t mask = (UINT64_C(1) << digit.bits) - 1;
    const RecordField field = sort->records->fields[digit.level];
    const int words = sort->records->words, shift = field.shift + digit.shift;
    int64_t *next = sort->counts + ((int64_t)t << digit.bits);
    uint64_t *to = sort->to;
    const uint64_t *from = sort->from;
    const int64_t end = part_begin(sort->records->count, sort->team, t + 1);
    int64_t at = part_begin(sort->records->count, sort->team, t);
    if (words == 1)
        for (; at < end; at++)
            to[next[from[at] >> shift & mask]++] = from[at];
    else
        for (; at < end; at++) {
            uint64_t *record = to + next[from[at * words + field.word] >> shift & mask]++ * words;
            for (int w = 0; w < words; w++)
                record[w] = from[at * words + w];
        }
}

enum { PREFETCH_DISTANCE = 16 }; // in entries

// The same, of the entries of part t.
static void move_entries(const Sort *sort, int t) {
    const Digit digit = sort->digit;
    const uint64_t mask = (UINT64_C(1) << digit.bits) - 1;
    const int words = sort->records->words;
    int64_t *next = sort->counts + ((int64_t)t << digit.bits);
    uint64_t made[ENTRY_BLOCK * (MAX_ORDER + 1)], *to = sort->to;
    const int64_t end = part_begin(sort->reader->places, sort->team, t + 1);
    EntryBlock block;
    for (int64_t at = part_begin(sort->reader->places, sort->team, t); at < end; at += ENTRY_BLOCK) {
        reader_read(sort->reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
        make_records(sort->records, sort->reader->order, &block, made);
        const int64_t *coordinates = block.coordinates[digit.level];
        if (words == 1)
            for (int i = 0; i < block.count; i++) {
                // Each record may go to a cache line of its own.
                const int far = i + 2 * PREFETCH_DISTANCE < block.count ? i + 2 * PREFETCH_DISTANCE : i,
                          ahead = i + PREFETCH_DISTANCE < block.count ? i + PREFETCH_DISTANCE : i;
                __builtin_prefetch(&next[(uint64_t)coordinates[far] >> digit.shift & mask], 1);
                __builtin_prefetch(&to[next[(uint64_t)coordinates[ahead] >> digit.shift & mask]], 1);
                to[next[(uint64_t)coordinates[i] >> digit.shift & mask]++] = made[i];
            }
        else
            for (int i = 0; i < block.count; i++) {
                uint64_t *record = to + next[(uint64_t)coordinates[i] >> digit.shift & mask]++ * words;
                for (int w = 0; w < words; w++)
                    record[w] = made[i * words + w];
            }
    }
}

static void count_all(Sort *sort) {
#pragma omp parallel num_threads(sort->team)
    {
        for (int t = omp_get_thread_num(); t < sort->team; t += omp_get_num_threads())
            count_part(sort, t);
#pragma omp barrier
        for (int t = omp_get_thread_num(); t < sort->team; t += omp_get_num_threads())
            sum_share(sort, t);
    }
}

static void move_all(Sort *sort) {
#pragma omp parallel num_threads(sort->team)
    {
        for (int t = omp_get_thread_num(); t < sort->team; t += omp_get_num_threads())
            place_share(sort, t);
#pragma omp barrier
        for (int t = omp_get_thread_num(); t < sort->team; t += omp_get_num_threads())
            if (sort->from)
                move_part(sort, t);
            else
                move_entries(sort, t);
    }
}

static int64_t item_words(const Records *records) {
    return max_i64(records->count, 1) * records->words;
}

static void release_items(const Records *records, uint64_t *items, Budget *budget) {
    budget_release(budget, items, item_words(records), sizeof *items);
}

// Makes all passes. Places without entries, which only the first pass reads, are known after it has counted.
static bool sort_digits(Sort *sort, Budget *budget) {
    Records *records = sort->records;
    uint64_t *other = NULL;
    bool ok = true;
    for (int d = 0; d < sort->digit_count && ok; d++) {
        sort->digit = sort->digits[d];
        sort->from = d ? records->items : NULL;
        count_all(sort);
        if (d == 0)
            for (int t = 0; t < sort->team; t++)
                records->count += sort->sums[t];
        if (!other)
            other = budget_take(budget, item_words(records), sizeof *other, false);
        ok = other != NULL;
        if (!ok)
            break;
        sort->to = other;
        move_all(sort);
        other = records->items;
        records->items = sort->to;
    }
    release_items(records, other, budget);
    return ok;
}

// Memory for what follows from the digits and fields.
static bool make_counts(Sort *sort, int64_t counts, Budget *budget) {
    Records *records = sort->records;
    sort->counts = budget_take(budget, counts, sizeof(int64_t), false);
    sort->sums = budget_take(budget, sort->team, sizeof(int64_t), true);
    sort->most = budget_take(budget, sort->team, sizeof(int64_t), true);
    if (records->start_count)
        records->starts = budget_take(budget, records->start_count + 1, sizeof(int64_t), false);
    return sort->counts && sort->sums && sort->most && (!records->start_count || records->starts);
}

static int64_t bits_of_levels(const EntryReader *reader, int first, int end) {
    int64_t bits = 0;
    for (int l = first; l < end; l++)
        bits += bits_of(reader->extents[l]);
    return bits;
}

// By the first level, and then each run by itself. Sets *done unless one run has more than a thread's share
// of the records: one thread would sort it while the others wait.
static bool sort_runs(Sort *sort, int levels, Budget *budget, bool *done) {
    Records *records = sort->records;
    const EntryReader *reader = sort->reader;
    int64_t longest = 0;
    sort->digit = sort->digits[sort->digit_count - 1];
    sort->from = NULL;
    count_all(sort);
    for (int t = 0; t < sort->team; t++) {
        records->count += sort->sums[t];
        longest = max_i64(longest, sort->most[t]);
    }
    *done = longest <= max_i64(records->count / sort->team, 1);
    if (!*done)
        return true;
    records->items = sort->to = budget_take(budget, item_words(records), sizeof *sort->to, false);
    if (!records->items)
        return false;
    move_all(sort);
    records->starts[records->start_count] = records->count;
    const int64_t shift = bits_of(reader->places) + bits_of_levels(reader, levels, reader->order);
    return record_runs_sort(records, (int)shift, (int)bits_of_levels(reader, 1, levels), longest, sort->team,
                            budget);
}

bool records_sort(Records *records, const EntryReader *reader, int levels, Budget *budget) {
    Sort sort = {.reader = reader, .records = records, .team = entries_team(reader->places)};
    choose_digits(&sort, levels);
    if (sort.digit_count == 0) { // at most one entry, or the first levels have one coordinate: a pass to copy
        sort.digits[sort.digit_count++] = (Digit){.level = 0, .bits = 0};
    }
    const bool one = levels == 1 && sort.digit_count == 1;
    bool runs = has_runs(&sort), done = false;
    choose_fields(&sort, one || runs);
    if (runs && records->words > 1) {
        runs = false;
        choose_fields(&sort, one);
    }
    int widest = 0;
    for (int d = 0; d < sort.digit_count; d++)
        widest = sort.digits[d].bits > widest ? sort.digits[d].bits : widest;
    const int64_t counts = (int64_t)sort.team << widest;
    bool ok = make_counts(&sort, counts, budget);
    if (ok && runs) {
        ok = sort_runs(&sort, levels, budget, &done);
        if (ok && !done) {
            records_free(records, budget);
            choose_fields(&sort, false);
        }
    }
    ok = ok && (done || sort_digits(&sort, budget));
    if (ok && records->starts)
        records->starts[records->start_count] = records->count;
    budget_release(budget, sort.counts, counts, sizeof(int64_t));
    budget_release(budget, sort.sums, sort.team, sizeof(int64_t));
    budget_release(budget, sort.most, sort.team, sizeof(int64_t));
    return ok;
}

void records_free(Records *records, Budget *budget) {
    release_items(records, records->items, budget);
    budget_release(budget, records->starts, records->start_count + 1, sizeof(int64_t));
    *records = (Records){0};
}
