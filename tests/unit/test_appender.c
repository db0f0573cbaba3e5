// SPDX-License-Identifier: BSD-3-Clause
// Entries that several threads append in the order of storage, in portions, against the same entries packed;
// sets of the coordinates of a row, with bits for all coordinates and hashed; what would take too much
// memory.
#include "base/integer.h"
#include "format/formats.h"
#include "format/level_list.h"
#include "runtime/appender.h"
#include "runtime/row_set.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 1500, MOST_ENTRIES = 1000, ROWS = 300 };

static uint64_t state = 1;

static int64_t draw(int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

// Of any levels that can be appended to; dense ones have few coordinates.
static StoredTensor draw_tensor(void) {
    static const char *const formats[] = {"dense", "compressed", "compressed", "singleton"};
    StoredTensor tensor = {.type = TYPE_F64, .order = (int)draw(4) + 1};
    do {
        for (int l = 0; l < tensor.order; l++)
            tensor.levels[l] = (LevelType){.format = level_format(formats[draw(4)])};
        level_list_mend(tensor.order, tensor.levels);
    } while (!level_list_is_sparse(tensor.order, tensor.levels));
    const int shift = (int)draw(tensor.order);
    for (int l = 0; l < tensor.order; l++) {
        const int mode = tensor.mode_order[l] = (l + shift) % tensor.order;
        const bool full = tensor.levels[l].format->full;
        tensor.extents[mode] = full ? draw(4) + 1 : draw(4) ? draw(40) + 1 : (INT64_C(1) << 40) + draw(9);
    }
    level_list_set_widths(tensor.order, tensor.levels, tensor.mode_order, tensor.extents);
    return tensor;
}

static Entries draw_entries(const StoredTensor *tensor) {
    Entries entries = {
        .type = tensor->type, .order = tensor->order, .count = draw(2) ? draw(MOST_ENTRIES) : draw(5)};
    memcpy(entries.extents, tensor->extents, sizeof entries.extents);
    assert_null(entries_allocate(&entries));
    for (int d = 0; d < entries.order; d++)
        for (int64_t e = 0; e < entries.count; e++)
            entries.coordinates[d][e] = draw(entries.extents[d]);
    memset(entries.values, 0, sizeof(double) * (size_t)entries.count);
    return entries;
}

static int64_t coordinate(const StoredTensor *tensor, const Entries *entries, int64_t e, int level) {
    return entries->coordinates[tensor->mode_order[level]][e];
}

static int64_t count_of(const AppendLists *lists, const distal_list *all, int list) {
    return lists->lists[list].wide ? distal_count_i64(all[list]) : distal_count_i32(all[list]);
}

static void push(const AppendLists *lists, distal_list *all, int list, int64_t element) {
    all[list] = lists->lists[list].wide ? distal_push_i64(all[list], element)
                                        : distal_push_i32(all[list], (int32_t)element);
}

// Appends entry e by definition: what is new after the entry before it in the portion.
static void append(const StoredTensor *tensor, const Entries *entries, int64_t first, int64_t e,
                   const AppendLists *lists, distal_list *all) {
    int differs = 0; // the first level with another coordinate
    while (e > first &&
           coordinate(tensor, entries, e, differs) == coordinate(tensor, entries, e - 1, differs))
        differs++;
    int64_t above = 0; // the position above, of the levels with coordinates before it
    for (int l = 0; l < tensor->order; l++) {
        const int list = append_list(lists, l, APPEND_COORDINATES),
                  begins = append_list(lists, l, APPEND_BEGINS);
        const int parents = append_list(lists, l, APPEND_PARENTS);
        if (list < 0) {
            above = above * tensor->extents[tensor->mode_order[l]] + coordinate(tensor, entries, e, l);
            continue;
        }
        int end = l; // the last level that shares positions with this one
        while (tensor->levels[end].nonunique)
            end++;
        if (differs < l && begins >= 0) {
            if (parents >= 0)
                push(lists, all, parents, above);
            push(lists, all, begins, count_of(lists, all, list));
        }
        if (differs <= end)
            push(lists, all, list, coordinate(tensor, entries, e, l));
        above = count_of(lists, all, list) - 1;
    }
}

static void check_same(const StoredTensor *a, const StoredTensor *b) {
    assert_int_equal(a->value_count, b->value_count);
    for (int l = 0; l < a->order; l++) {
        const LevelFormat *format = a->levels[l].format;
        assert_int_equal(a->arrays[l].position_count, b->arrays[l].position_count);
        for (int i = 0; i < LEVEL_ARRAY_COUNT; i++) {
            if (format->arrays[i].kind == LEVEL_ARRAY_NONE)
                continue;
            const bool narrow = format->arrays[i].kind == LEVEL_ARRAY_COORDINATES && !a->arrays[l].wide;
            assert_int_equal(a->arrays[l].lengths[i], b->arrays[l].lengths[i]);
            assert_memory_equal(a->arrays[l].arrays[i], b->arrays[l].arrays[i],
                                (size_t)a->arrays[l].lengths[i] * (narrow ? 4 : 8));
        }
    }
}

// Portions end where the first coordinate changes.
static int draw_portions(const StoredTensor *tensor, const Entries *entries, int64_t *begins) {
    int count = 0;
    const int64_t step = draw(20) + 1;
    for (int64_t e = 0; e < entries->count && count < 60; e++)
        if (e == 0 ||
            (draw(step) == 0 && coordinate(tensor, entries, e, 0) != coordinate(tensor, entries, e - 1, 0)))
            begins[count++] = e;
    begins[count] = entries->count;
    return count;
}

static void test_joined(void **unused) {
    (void)unused;
    Arena *arena = arena_create();
    enum { THREADS = 3 };
    for (int i = 0; i < DRAWS; i++) {
        StoredTensor packed = draw_tensor(), joined = packed;
        Entries entries = draw_entries(&packed);
        assert_null(stored_pack(&packed, &entries, INT64_MAX, arena));
        entries_free(&entries);
        assert_null(stored_unpack(&packed, &entries, INT64_MAX, arena)); // in order
        const AppendLists lists = append_lists(joined.order, joined.levels);
        Appender *appender = appender_create(&joined, THREADS, INT64_MAX);
        assert_non_null(appender);
        int64_t begins[64];
        const int count = draw_portions(&joined, &entries, begins);
#pragma omp parallel for num_threads(THREADS) schedule(dynamic, 1)
        for (int p = 0; p < count; p++) {
            distal_list *all = appender_begin(appender, p);
            for (int64_t e = begins[p]; e < begins[p + 1]; e++)
                append(&joined, &entries, begins[p], e, &lists, all);
            appender_end(appender, p);
        }
        assert_int_equal(appender_is_used(appender), count > 0);
        assert_null(appender_join(appender, &joined, arena));
        check_same(&joined, &packed);
        appender_free(appender);
        entries_free(&entries);
        stored_free(&packed);
        stored_free(&joined);
    }
    arena_free(arena);
}

// More than a block of each list, and limits that any part of it goes beyond.
static void test_limits(void **unused) {
    (void)unused;
    enum { ENTRIES = 10000 };
    Arena *arena = arena_create();
    const int64_t whole = 8 * (ENTRIES + 1) + 4 * ENTRIES + 8 * ENTRIES;
    int failed = 0, joined = 0;
    for (int64_t limit = 0; limit < 4 * whole; limit += whole / 7) {
        StoredTensor csr = {.type = TYPE_F64, .order = 2, .extents = {ENTRIES, 5}, .mode_order = {0, 1}};
        csr.levels[0] = (LevelType){.format = level_format("dense")};
        csr.levels[1] = (LevelType){.format = level_format("compressed")};
        const AppendLists lists = append_lists(csr.order, csr.levels);
        Appender *appender = appender_create(&csr, 1, limit);
        distal_list *all = appender_begin(appender, 0);
        for (int64_t i = 0; i < ENTRIES; i++) {
            push(&lists, all, append_list(&lists, 1, APPEND_PARENTS), i);
            push(&lists, all, append_list(&lists, 1, APPEND_BEGINS), i);
            push(&lists, all, append_list(&lists, 1, APPEND_COORDINATES), i % 5);
        }
        appender_end(appender, 0);
        const char *why = appender_join(appender, &csr, arena);
        if (why) {
            assert_non_null(strstr(why, "memory"));
            failed++;
        } else {
            assert_true(stored_bytes(&csr) == whole && limit >= whole);
            joined++;
        }
        appender_free(appender);
        stored_free(&csr);
    }
    assert_true(failed > 6 && joined > 3);
    arena_free(arena);
}

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t sorted_without_duplicates(int64_t *items, int64_t count) {
    int64_t kept = 0;
    qsort(items, (size_t)count, sizeof *items, compare);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || items[i] != items[i - 1])
            items[kept++] = items[i];
    return kept;
}

static void check_set(int64_t extent, int64_t most, bool wide) {
    RowSet set;
    assert_true(row_set_make(&set, extent));
    int64_t *drawn = malloc(sizeof *drawn * (size_t)most);
    int64_t elements[1 << 12];
    for (int row = 0; row < ROWS; row++) {
        const int64_t count = draw(5) ? draw(min_i64(30, most)) : draw(most);
        const int64_t base = draw(extent), range = draw(2) ? extent : min_i64(extent, 5000);
        for (int64_t i = 0; i < count; i++) {
            drawn[i] = (base + draw(range)) % extent;
            distal_insert(&set.set, drawn[i]);
        }
        assert_int_equal(distal_count_set(&set.set) > 0, count > 0);
        // In one block that has room for all.
        distal_list list = {.next = elements, .begin = elements, .end = elements + (1 << 12)};
        list = row_set_append(list, &set.set, wide);
        assert_int_equal(distal_count_set(&set.set), 0);
        const int64_t expected = sorted_without_duplicates(drawn, count);
        assert_int_equal(wide ? distal_count_i64(list) : distal_count_i32(list), expected);
        for (int64_t i = 0; i < expected; i++)
            assert_int_equal(wide ? elements[i] : ((const int32_t *)(const void *)elements)[i], drawn[i]);
    }
    free(drawn);
    row_set_free(&set);
}

static void test_sets(void **unused) {
    (void)unused;
    check_set(1, 10, false);
    check_set(64, 200, false);
    check_set(1000, 3000, false);
    check_set(1 << 20, 3000, false);
    check_set(INT64_C(1) << 31, 3000, false);
    check_set(INT64_C(1) << 62, 4000, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_joined), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
