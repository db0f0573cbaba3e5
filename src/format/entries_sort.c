// SPDX-License-Identifier: BSD-3-Clause
// Sorting of entries: a parallel stable radix sort of keys, each with the index of its entry. A key is the
// row-major position in as many modes as fit into 64 bits; where not all fit, the sort is repeated, from the
// modes that are stored last to those that are stored first.
#include "format/entries.h"

#include "base/integer.h"
#include "memory/memory.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef struct {
    uint64_t key;
    int64_t entry;
} Key;

// One pass, by the digit at `shift`. `counts`: DIGITS numbers a thread.
static void sort_by_digit(const Key *from, Key *to, int64_t count, int shift, int team, int64_t *counts) {
#pragma omp parallel num_threads(team)
    {
        for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
            int64_t *own = counts + (int64_t)t * DIGITS;
            memset(own, 0, DIGITS * sizeof *own);
            const int64_t end = part_begin(count, team, t + 1);
            for (int64_t i = part_begin(count, team, t); i < end; i++)
                own[(from[i].key >> shift) % DIGITS]++;
        }
#pragma omp barrier
#pragma omp single
        {
            int64_t before = 0;
            for (int digit = 0; digit < DIGITS; digit++)
                for (int t = 0; t < team; t++) {
                    const int64_t own = counts[(int64_t)t * DIGITS + digit];
                    counts[(int64_t)t * DIGITS + digit] = before;
                    before += own;
                }
        }
        for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
            int64_t *next = counts + (int64_t)t * DIGITS;
            const int64_t end = part_begin(count, team, t + 1);
            for (int64_t i = part_begin(count, team, t); i < end; i++)
                to[next[(from[i].key >> shift) % DIGITS]++] = from[i];
        }
    }
}

// Where the sort takes its digits from: modes with their strides in a key.
typedef struct {
    int count;
    int modes[MAX_ORDER];
    uint64_t strides[MAX_ORDER];
    uint64_t greatest; // key
} Word;

// The modes from storage level *level downwards that fit into one key; *level is moved before them.
static Word word_take(const Entries *entries, const int *mode_order, int *level) {
    Word word = {0};
    uint64_t size = 1, next;
    for (; *level >= 0; --*level) {
        const int mode = mode_order[*level];
        const uint64_t extent = (uint64_t)entries->extents[mode];
        if (__builtin_mul_overflow(size, extent, &next))
            break;
        if (extent > 1) {
            word.modes[word.count] = mode;
            word.strides[word.count++] = size;
        }
        size = next;
    }
    word.greatest = size - 1;
    return word;
}

static uint64_t word_key(const Word *word, const Entries *entries, int64_t e) {
    uint64_t key = 0;
    for (int i = 0; i < word->count; i++)
        key += (uint64_t)entries->coordinates[word->modes[i]][e] * word->strides[i];
    return key;
}

// Sorts the keys, which are in the order found so far, by one more word. Returns the one of the two arrays
// that has the result.
static Key *sort_by_word(const Entries *entries, const Word *word, Key *keys, Key *other, int team,
                         int64_t *counts) {
#pragma omp parallel for num_threads(team)
    for (int64_t i = 0; i < entries->count; i++)
        keys[i].key = word_key(word, entries, keys[i].entry);
    for (int shift = 0; shift < 64 && word->greatest >> shift != 0; shift += DIGIT_BITS) {
        sort_by_digit(keys, other, entries->count, shift, team, counts);
        Key *const sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

// Permutes a column into sorted order.
#define DEFINE_GATHER(size, type)                                                                            \
    static void gather_##size(void *to, const void *from, const Key *keys, int64_t count, int team) {        \
        type *x = to;                                                                                        \
        const type *y = from;                                                                                \
        _Pragma("omp parallel for num_threads(team)") for (int64_t i = 0; i < count; i++) x[i] =             \
            y[keys[i].entry];                                                                                \
    }
typedef struct {
    double parts[2];
} Wide;
DEFINE_GATHER(4, int32_t)
DEFINE_GATHER(8, int64_t)
DEFINE_GATHER(16, Wide)

static bool gather(void **column, ElementType type, const Key *keys, int64_t count, int team) {
    void *to = memory_allocate(MEMORY_HOST, count, type);
    if (!to)
        return false;
    const size_t size = type_info(type)->size;
    (size == 4 ? gather_4 : size == 8 ? gather_8 : gather_16)(to, *column, keys, count, team);
    memory_release(MEMORY_HOST, *column);
    *column = to;
    return true;
}

static bool reorder(Entries *entries, const Key *keys, int team) {
    for (int d = 0; d < entries->order; d++) {
        void *column = entries->coordinates[d];
        if (!gather(&column, TYPE_I64, keys, entries->count, team))
            return false;
        entries->coordinates[d] = column;
    }
    return gather(&entries->values, entries->type, keys, entries->count, team);
}

static bool is_sorted(const Entries *entries, const int *mode_order) {
    int64_t wrong = 0;
#pragma omp parallel for num_threads(entries_team(entries->count)) reduction(+ : wrong)
    for (int64_t e = 1; e < entries->count; e++) {
        int64_t difference = 0;
        for (int l = 0; l < entries->order && difference == 0; l++) {
            const int64_t *x = entries->coordinates[mode_order[l]];
            difference = x[e] - x[e - 1];
        }
        wrong += difference < 0;
    }
    return wrong == 0;
}

const char *entries_sort(Entries *entries, const int *mode_order) {
    static const char no_memory[] = "not enough memory to sort its entries";
    if (is_sorted(entries, mode_order))
        return NULL;
    const int64_t count = entries->count;
    const int team = entries_team(count);
    int64_t bytes;
    if (!checked_mul(count, sizeof(Key), &bytes))
        return no_memory;
    Key *a = malloc((size_t)bytes), *b = malloc((size_t)bytes);
    int64_t *counts = malloc((size_t)team * DIGITS * sizeof *counts);
    bool ok = a && b && counts;
    if (ok) {
#pragma omp parallel for num_threads(team)
        for (int64_t e = 0; e < count; e++)
            a[e].entry = e;
        Key *sorted = a;
        for (int level = entries->order - 1; level >= 0;) {
            const Word word = word_take(entries, mode_order, &level);
            sorted = sort_by_word(entries, &word, sorted, sorted == a ? b : a, team, counts);
        }
        ok = reorder(entries, sorted, team);
    }
    free(a);
    free(b);
    free(counts);
    return ok ? NULL : no_memory;
}
