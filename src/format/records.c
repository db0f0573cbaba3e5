// SPDX-License-Identifier: BSD-3-Clause
#include "format/records.h"

#include "base/integer.h"
#include "format/entry_reader.h"
#include "format/record_buckets.h"
#include "format/record_digits.h"

#include <omp.h>
#include <string.h>

static int bits_of(int64_t extent) {
    return extent <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)extent - 1);
}

// Fields are in the order of the levels from the highest bits of the first word on, so that records compare
// as their words do.
typedef struct {
    int used[MAX_ORDER + 1]; // by word: bits
    Records *records;
} Layout;

static RecordField add_field(Layout *layout, int bits) {
    Records *records = layout->records;
    if (bits == 0)
        return (RecordField){0};
    if (layout->used[records->words - 1] + bits > 64)
        records->words++;
    const int word = records->words - 1, above = layout->used[word];
    layout->used[word] += bits;
    return (RecordField){word, above, UINT64_MAX >> (64 - bits)};
}

// `shift` has the number of bits above the field.
static void place_field(const Layout *layout, RecordField *field) {
    if (field->mask != 0)
        field->shift = layout->used[field->word] - field->shift - (64 - __builtin_clzll(field->mask));
}

static void choose_fields(Records *records, const EntryReader *reader, const RecordValues *values) {
    Layout layout = {.records = records};
    *records = (Records){.words = 1};
    for (int l = 0; l < reader->order; l++)
        records->fields[l] = add_field(&layout, bits_of(reader->extents[l]));
    if (!values->values)
        records->number = add_field(&layout, bits_of(reader->places));
    for (int l = 0; l < reader->order; l++)
        place_field(&layout, &records->fields[l]);
    place_field(&layout, &records->number);
    if (values->values) {
        records->value = records->words;
        records->words += (int)ceil_div(values->size, (int64_t)sizeof *records->items);
    }
}

// The fields of the first levels, those of each word together.
static RecordKey key_of(const Records *records, int levels) {
    RecordKey key = {0};
    for (int l = 0; l < levels; l++) {
        const RecordField field = records->fields[l];
        const int bits = field.mask == 0 ? 0 : 64 - __builtin_clzll(field.mask);
        KeyPart *last = key.count > 0 ? &key.parts[key.count - 1] : NULL;
        if (bits == 0)
            continue;
        if (last && last->word == field.word)
            *last = (KeyPart){field.word, field.shift, last->bits + bits};
        else
            key.parts[key.count++] = (KeyPart){field.word, field.shift, bits};
    }
    return key;
}

static int64_t item_words(const Records *records) {
    return max_i64(records->count, 1) * records->words;
}

static bool sort_buckets(const RecordPass *pass, uint64_t *items, Budget *budget);

// Sorts the records of a bucket with all threads: a few have most of the records, and would keep one thread
// busy while the others wait.
static bool sort_large(const RecordPass *of, const RecordBucket *bucket, uint64_t *items, Budget *budget) {
    const int words = of->records->words;
    RecordPass pass = {.records = of->records,
                       .key = of->key,
                       .whole = *bucket,
                       .large = of->large,
                       .from = items + bucket->first * words,
                       .team = of->team};
    const int64_t size = bucket->count * words;
    uint64_t *room = budget_take(budget, size, sizeof *room, false);
    const bool ok = room && record_pass_count(&pass, budget) && record_pass_move(&pass, room, budget);
    uint64_t *own = items + bucket->first * words;
#pragma omp parallel num_threads(pass.team)
    for (int t = omp_get_thread_num(); ok && t < pass.team; t += omp_get_num_threads()) {
        const int64_t begin = part_begin(size, pass.team, t);
        memcpy(own + begin, room + begin, sizeof *own * (size_t)(part_begin(size, pass.team, t + 1) - begin));
    }
    budget_release(budget, room, size, sizeof *room);
    const bool sorted = ok && sort_buckets(&pass, own, budget);
    record_pass_free(&pass, budget);
    return sorted;
}

static bool is_large(const RecordPass *pass, const RecordBucket *bucket) {
    return bucket->count > pass->large && bucket->part < pass->key->count;
}

// Sorts the records of each bucket.
static bool sort_buckets(const RecordPass *pass, uint64_t *items, Budget *budget) {
    const int words = pass->records->words;
    int64_t longest = 0;
    bool ok = true;
    for (int b = 0; b < pass->bucket_count && ok; b++)
        if (is_large(pass, &pass->buckets[b]))
            ok = sort_large(pass, &pass->buckets[b], items, budget);
        else
            longest = max_i64(longest, pass->buckets[b].count);
    const int64_t room_words = saturated_mul(pass->team, longest * words);
    uint64_t *room = ok ? budget_take(budget, room_words, sizeof *room, false) : NULL;
    if (!room)
        return false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(pass->team)
    for (int b = 0; b < pass->bucket_count; b++) {
        const RecordBucket *bucket = &pass->buckets[b];
        if (!is_large(pass, bucket))
            record_digits_sort(items + bucket->first * words, room + omp_get_thread_num() * longest * words,
                               words, pass->key, bucket);
    }
    budget_release(budget, room, room_words, sizeof *room);
    return true;
}

// The records above which all threads sort a bucket: a quarter of what one of them sorts of all, and more
// than they are worth starting for.
static int64_t large_bucket(const EntryReader *reader, int team) {
    enum { SHARES = 4, LEAST = 1 << 17 };
    return team == 1 ? INT64_MAX : max_i64(reader->places / (team * SHARES), LEAST);
}

bool records_sort(Records *records, const EntryReader *reader, int levels, RecordValues values,
                  Budget *budget) {
    const int team = entries_team(reader->places);
    choose_fields(records, reader, &values);
    const RecordKey key = key_of(records, levels);
    RecordPass pass = {.records = records,
                       .key = &key,
                       .whole = {.count = reader->places, .bits = key.count > 0 ? key.parts[0].bits : 0},
                       .reader = reader,
                       .values = values,
                       .team = team,
                       .large = large_bucket(reader, team)};
    bool ok = record_pass_count(&pass, budget);
    if (ok) {
        records->count = pass.count;
        records->items = budget_take(budget, item_words(records), sizeof *records->items, false);
    }
    ok = ok && records->items && record_pass_move(&pass, records->items, budget) &&
         sort_buckets(&pass, records->items, budget);
    record_pass_free(&pass, budget);
    return ok;
}

void records_free(Records *records, Budget *budget) {
    budget_release(budget, records->items, item_words(records), sizeof *records->items);
    *records = (Records){0};
}
