// SPDX-License-Identifier: BSD-3-Clause
// Cuts of tensors into many tiles: each has the entries that are in it, and the work does not grow with the
// number of tiles times that of entries.
#include "format/cut.h"
#include "format/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 1;

static int64_t draw(int64_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)count);
}

// `count` entries in rows first_row .. first_row + rows - 1, by row.
static StoredTensor pack_rows(int64_t extent, int64_t first_row, int64_t rows, int64_t count, Arena *arena) {
    StoredTensor tensor = {.type = TYPE_F64,
                           .order = 2,
                           .extents = {extent, extent},
                           .levels = {{.format = &dense_level}, {.format = &compressed_level}},
                           .mode_order = {0, 1}};
    Entries entries = {.type = TYPE_F64, .order = 2, .extents = {extent, extent}, .count = count};
    assert_null(entries_allocate(&entries));
    for (int64_t e = 0; e < count; e++) {
        entries.coordinates[0][e] = first_row + draw(rows);
        entries.coordinates[1][e] = draw(extent);
        ((double *)entries.values)[e] = 1;
    }
    assert_null(stored_pack(&tensor, &entries, INT64_MAX, arena));
    entries_free(&entries);
    return tensor;
}

// Cuts some rows into `count` tiles of columns, where these are all, or every `period`-th one from one of the
// first columns on, and compares with the list of entries.
static void check_tiles(const StoredTensor *tensor, PositionSet rows, int64_t count, int64_t period,
                        bool often) {
    Arena *arena = arena_create();
    const int64_t extent = tensor->extents[1], width = (extent + count - 1) / count;
    const Rect **rects = arena_array(arena, const Rect *, count);
    int64_t *expected = arena_array(arena, int64_t, count);
    Cutter cutter = {.tensor = tensor, .often = often};
    Entries all;
    for (int64_t t = 0; t < count; t++) {
        Rect *rect = arena_new(arena, Rect);
        *rect = (Rect){.order = 2};
        rect_set_mode(rect, 0, rows);
        const PositionSet columns =
            period ? positions_every((PositionSet){t % period, extent, NULL}, period, arena)
                   : (PositionSet){0, extent, NULL};
        const int64_t tile = period ? t / period : t, tiles = period ? count / period : count;
        const int64_t wide = (extent + tiles - 1) / tiles;
        rect_set_mode(rect, 1, positions_clip(columns, tile * wide, tile * wide + wide));
        rects[t] = rect;
    }
    assert_null(stored_unpack(tensor, &all, INT64_MAX, arena));
    for (int64_t e = 0; e < all.count; e++) {
        const int64_t column = all.coordinates[1][e];
        const int64_t wide = period ? (extent + count / period - 1) / (count / period) : width;
        const int64_t tile = period ? column / wide * period + column % period : column / wide;
        expected[tile] += entries_is_within(&all, e, rects[tile]);
    }
    assert_null(cutter_prepare(&cutter, count, rects, INT64_MAX, arena));
    for (int64_t t = 0; t < count; t++) {
        SliceArray slices = {0};
        Entries cut;
        assert_int_equal(cutter_cut(&cutter, 1, &rects[t], arena, &slices), expected[t]);
        assert_null(stored_unpack_slices(tensor, &slices, &cut));
        for (int64_t e = 0; e < cut.count; e++) {
            assert_true(entries_is_within(&cut, e, rects[t]));
            assert_true(e == 0 || cut.coordinates[0][e - 1] < cut.coordinates[0][e] ||
                        cut.coordinates[1][e - 1] < cut.coordinates[1][e]);
        }
        entries_free(&cut);
    }
    cutter_free(&cutter);
    entries_free(&all);
    arena_free(arena);
}

static void tiles_of_rows(void **unused) {
    (void)unused;
    for (int round = 0; round < 200; round++) {
        Arena *arena = arena_create();
        const int64_t extent = 200 + draw(200), lo = draw(extent), period = draw(2) ? 0 : 1 + draw(5);
        StoredTensor tensor = pack_rows(extent, 0, extent, draw(2000), arena);
        PositionSet rows = {lo, lo + 1 + draw(extent - lo), NULL};
        if (draw(3) == 0)
            rows = positions_every(rows, 1 + draw(4), arena);
        const int64_t tiles = 1 + draw(60);
        check_tiles(&tensor, rows, period ? tiles * period : tiles, period, draw(2));
        stored_free(&tensor);
        arena_free(arena);
    }
}

// The rows of one rank of many, as each of the others has a part of them: to look at each entry for each part
// would take 10^11 steps.
static void parts_of_many_ranks(void **unused) {
    (void)unused;
    Arena *arena = arena_create();
    enum { EXTENT = 1 << 18, ROWS = 64, ENTRIES = 2000000, RANKS = 1 << 16 };
    StoredTensor tensor = pack_rows(EXTENT, 1000, ROWS, ENTRIES, arena);
    check_tiles(&tensor, (PositionSet){1000, 1000 + ROWS, NULL}, RANKS, 0, true);
    check_tiles(&tensor, (PositionSet){1000, 1000 + ROWS, NULL}, RANKS, 0, false);
    stored_free(&tensor);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_rows),
        cmocka_unit_test(parts_of_many_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
