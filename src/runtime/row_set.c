// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/row_set.h"

#include "base/integer.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, FIRST_CAPACITY = 64 };
// Bits for all coordinates take 8 MiB of a thread at most, which still has most accesses in its caches.
static const int64_t most_bits = 1 << 26;

static bool make_hashed(RowSet *set) {
    set->capacity = FIRST_CAPACITY;
    set->hashed = malloc(sizeof *set->hashed * FIRST_CAPACITY);
    set->slots = malloc(sizeof *set->slots * 2 * FIRST_CAPACITY);
    set->set.touched = malloc(sizeof *set->set.touched * FIRST_CAPACITY);
    if (!set->hashed || !set->slots || !set->set.touched)
        return false;
    memset(set->slots, -1, sizeof *set->slots * 2 * FIRST_CAPACITY);
    return true;
}

static bool make_bits(RowSet *set, int64_t extent) {
    const size_t words = (size_t)ceil_div(extent, WORD);
    set->set.words = calloc(words + 1, sizeof *set->set.words);
    set->set.touched = malloc((words + 1) * sizeof *set->set.touched);
    set->summary = calloc(words / WORD + 1, sizeof *set->summary);
    return set->set.words && set->set.touched && set->summary;
}

bool row_set_make(RowSet *set, int64_t extent) {
    *set = (RowSet){.is_made = true, .set.memory = set};
    set->failed = !(extent <= most_bits ? make_bits(set, extent) : make_hashed(set));
    if (set->failed) {
        row_set_free(set);
        set->is_made = set->failed = true;
    }
    set->set.next = set->set.touched;
    return !set->failed;
}

void row_set_free(RowSet *set) {
    free(set->set.words);
    free(set->set.touched);
    free(set->summary);
    free(set->hashed);
    free(set->slots);
    *set = (RowSet){.set.memory = set};
}

static uint64_t slot_of(const RowSet *set, int64_t key) {
    const uint64_t mask = 2 * (uint64_t)set->capacity - 1;
    uint64_t slot = (uint64_t)key * 0x9E3779B97F4A7C15 >> 20 & mask;
    while (set->slots[slot] >= 0 && set->hashed[set->slots[slot]].key != key)
        slot = (slot + 1) & mask;
    return slot;
}

// Twice as much room. False: no memory.
static bool grow(RowSet *set) {
    const int64_t count = set->set.next - set->set.touched, capacity = 2 * set->capacity;
    if (capacity > INT32_MAX / 4)
        return false;
    RowWord *hashed = realloc(set->hashed, sizeof *hashed * (size_t)capacity);
    if (hashed)
        set->hashed = hashed;
    int32_t *touched = realloc(set->set.touched, sizeof *touched * (size_t)capacity);
    if (touched) {
        set->set.touched = touched;
        set->set.next = touched + count;
    }
    int32_t *slots = malloc(sizeof *slots * 2 * (size_t)capacity);
    if (!hashed || !touched || !slots) {
        free(slots);
        return false;
    }
    free(set->slots);
    set->slots = slots;
    set->capacity = capacity;
    memset(slots, -1, sizeof *slots * 2 * (size_t)capacity);
    for (int32_t e = 0; e < count; e++) {
        touched[e] = (int32_t)slot_of(set, hashed[e].key);
        slots[touched[e]] = e;
    }
    return true;
}

void distal_insert_hashed(distal_index_set *set, int64_t coordinate) {
    RowSet *own = set->memory;
    if (own->failed)
        return;
    if (set->next - set->touched == own->capacity && !grow(own)) {
        own->failed = true;
        return;
    }
    const int64_t key = coordinate / WORD;
    const uint64_t slot = slot_of(own, key);
    if (own->slots[slot] < 0) {
        own->slots[slot] = (int32_t)(set->next - set->touched);
        own->hashed[own->slots[slot]] = (RowWord){key, 0};
        *set->next++ = (int32_t)slot;
    }
    own->hashed[own->slots[slot]].bits |= UINT64_C(1) << coordinate % WORD;
}

// Appends the coordinates of a word.
static inline void append_word(distal_list *list, int64_t word, uint64_t bits, bool wide) {
    const int64_t first = word * WORD;
    const bool fits = (char *)list->end - (char *)list->next >= WORD * (ptrdiff_t)sizeof(int64_t);
    if (fits && wide) {
        int64_t *to = list->next;
        for (; bits; bits &= bits - 1)
            *to++ = first + __builtin_ctzll(bits);
        list->next = to;
    } else if (fits) {
        int32_t *to = list->next;
        for (; bits; bits &= bits - 1)
            *to++ = (int32_t)(first + __builtin_ctzll(bits));
        list->next = to;
    }
    for (; !fits && bits; bits &= bits - 1) {
        const int64_t coordinate = first + __builtin_ctzll(bits);
        *list = wide ? distal_push_i64(*list, coordinate) : distal_push_i32(*list, (int32_t)coordinate);
    }
}

static inline void append_bits(distal_list *list, distal_index_set *set, int64_t word, bool wide) {
    append_word(list, word, set->words[word], wide);
    set->words[word] = 0;
}

static void sort_few(int32_t *words, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const int32_t word = words[i];
        int64_t at = i;
        for (; at > 0 && words[at - 1] > word; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
}

// Few words are sorted; of more, the summary is made, and what it has between its first and last one is read.
static void append_all_bits(distal_list *list, distal_index_set *set, bool wide) {
    enum { FEW = 24 };
    const RowSet *own = set->memory;
    const int64_t count = set->next - set->touched;
    if (count <= FEW) {
        sort_few(set->touched, count);
        for (int64_t i = 0; i < count; i++)
            append_bits(list, set, set->touched[i], wide);
        return;
    }
    int32_t first = INT32_MAX, last = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t word = set->touched[i];
        own->summary[word / WORD] |= UINT64_C(1) << word % WORD;
        first = word < first ? word : first;
        last = word > last ? word : last;
    }
    for (int64_t s = first / WORD; s <= last / WORD; s++) {
        for (uint64_t bits = own->summary[s]; bits; bits &= bits - 1)
            append_bits(list, set, s * WORD + __builtin_ctzll(bits), wide);
        own->summary[s] = 0;
    }
}

static int compare_words(const void *a, const void *b) {
    const int64_t x = ((const RowWord *)a)->key, y = ((const RowWord *)b)->key;
    return (x > y) - (x < y);
}

static void append_all_hashed(distal_list *list, distal_index_set *set, bool wide) {
    const RowSet *own = set->memory;
    const int64_t count = set->next - set->touched;
    for (int64_t e = 0; e < count; e++)
        own->slots[set->touched[e]] = -1;
    if (count > 1)
        qsort(own->hashed, (size_t)count, sizeof *own->hashed, compare_words);
    for (int64_t e = 0; e < count; e++)
        append_word(list, own->hashed[e].key, own->hashed[e].bits, wide);
}

distal_list row_set_append(distal_list list, distal_index_set *set, bool wide) {
    if (set->words)
        append_all_bits(&list, set, wide);
    else
        append_all_hashed(&list, set, wide);
    set->next = set->touched;
    return list;
}
