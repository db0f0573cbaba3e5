// SPDX-License-Identifier: BSD-3-Clause
// Sets of coordinates of one mode, made by random chains of operations, against the same sets as bits; what
// block-cyclic layouts hold, against the definition; and patches of rectangles with periodic sets, element by
// element.
#include "base/integer.h"
#include "format/patch.h"
#include "io/piece.h"
#include "machine/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UNIVERSE = 160, CHAINS = 20000, MOST_COORDINATES = 120 };

typedef struct {
    uint64_t state;
} Random;

static int64_t draw(Random *random, int64_t below) {
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random->state >> 33) % (uint64_t)below);
}

typedef struct {
    PositionSet set;
    bool has[UNIVERSE];
} Both;

static void check(const Both *both) {
    int64_t count = 0, first = -1, last = -1;
    for (int64_t x = 0; x < UNIVERSE; x++) {
        if (!both->has[x])
            continue;
        first = first < 0 ? x : first;
        last = x;
        assert_int_equal(positions_index(both->set, x), count);
        assert_int_equal(positions_at(both->set, count), x);
        count++;
    }
    assert_int_equal(positions_count(both->set), count);
    if (count == 0)
        return;
    assert_int_equal(both->set.lo, first);
    assert_int_equal(both->set.hi, last + 1);
    int64_t x = 0;
    for (PositionSet run = positions_run(both->set, 0); run.lo < run.hi;
         run = positions_run(both->set, run.hi)) {
        assert_null(run.periodic);
        for (; x < run.lo; x++)
            assert_false(both->has[x]);
        for (; x < run.hi; x++)
            assert_true(both->has[x]);
        assert_true(x == UNIVERSE || !both->has[x]);
    }
    assert_int_equal(x, last + 1);
}

static Both draw_interval(Random *random) {
    Both both = {.set = {draw(random, 40), 0, NULL}};
    both.set.hi = both.set.lo + 1 + draw(random, 40);
    for (int64_t x = both.set.lo; x < both.set.hi; x++)
        both.has[x] = true;
    return both;
}

static Both cyclic(Both of, Random *random, Arena *arena) {
    const int64_t block = 1 + draw(random, 5), size = 1 + draw(random, 4), which = draw(random, size);
    Both both = {.set = positions_cyclic(of.set, block, size, which, arena)};
    for (int64_t x = 0; x < UNIVERSE; x++) {
        const int64_t image = (x / block * size + which) * block + x % block;
        if (of.has[x] && image < UNIVERSE)
            both.has[image] = true;
    }
    both.set = positions_clip(both.set, 0, UNIVERSE);
    return both;
}

static Both shift(Both of, Random *random, Arena *arena) {
    const int64_t by = draw(random, 20);
    Both both = {.set = positions_clip(positions_shift(of.set, by, arena), 0, UNIVERSE)};
    for (int64_t x = 0; x + by < UNIVERSE; x++)
        both.has[x + by] = of.has[x];
    return both;
}

static Both reflect(Both of, Random *random, Arena *arena) {
    const int64_t from = UNIVERSE - 1 + draw(random, 20);
    Both both = {.set = positions_clip(positions_reflect(of.set, from, arena), 0, UNIVERSE)};
    for (int64_t x = 0; x < UNIVERSE; x++)
        both.has[x] = from - x < UNIVERSE && of.has[from - x];
    return both;
}

static Both blocks(Both of, Random *random, Arena *arena) {
    const int64_t block = 1 + draw(random, 6), step = 1 + draw(random, 3);
    const PositionSet window = positions_every((PositionSet){draw(random, block), block, NULL}, step, arena);
    const PositionSet inner = draw(random, 2) ? window : (PositionSet){0, block, NULL};
    Both both = {.set = positions_clip(positions_blocks(of.set, block, inner, arena), 0, UNIVERSE)};
    for (int64_t x = 0; x < UNIVERSE; x++)
        both.has[x] = of.has[x / block] && positions_run(inner, x % block).lo == x % block &&
                      positions_run(inner, x % block).hi > x % block;
    return both;
}

static void check_rows(const Both *of, Random *random, Arena *arena) {
    const int64_t width = 1 + draw(random, 9);
    RowsArray rows = {0};
    positions_rows(of->set, width, arena, &rows);
    for (int64_t x = 0; x < UNIVERSE; x++) {
        const PositionSet row = {x / width, x / width + 1, NULL}, column = {x % width, x % width + 1, NULL};
        int holders = 0;
        for (int64_t i = 0; i < rows.count; i++)
            holders += positions_common(rows.items[i].rows, row) > 0 &&
                       positions_common(rows.items[i].columns, column) > 0;
        assert_int_equal(holders, of->has[x]);
    }
}

static Both clip(Both of, Random *random) {
    const int64_t lo = draw(random, UNIVERSE), hi = lo + draw(random, UNIVERSE);
    of.set = positions_clip(of.set, lo, hi);
    for (int64_t x = 0; x < UNIVERSE; x++)
        of.has[x] = of.has[x] && x >= lo && x < hi;
    return of;
}

static Both take(Both of, Random *random) {
    const int64_t count = positions_count(of.set), first = draw(random, count + 1);
    const int64_t end = first + draw(random, count - first + 1);
    of.set = positions_slice(of.set, first, end);
    int64_t position = 0;
    for (int64_t x = 0; x < UNIVERSE; x++) {
        position += of.has[x];
        of.has[x] = of.has[x] && position > first && position <= end;
    }
    return of;
}

static Both combine(Both a, Both b, bool subtract, Arena *arena) {
    Both both = {.set = positions_intersect(a.set, b.set, arena)};
    for (int64_t x = 0; x < UNIVERSE; x++)
        both.has[x] = a.has[x] && b.has[x];
    check(&both);
    if (!subtract)
        return both;
    // One of the parts of the difference.
    PositionSet parts[3];
    const int count = positions_subtract(a.set, b.set, arena, parts);
    for (int64_t x = 0; x < UNIVERSE; x++) {
        int holders = 0;
        for (int i = 0; i < count; i++)
            holders += positions_common(parts[i], (PositionSet){x, x + 1, NULL}) > 0;
        assert_int_equal(holders, a.has[x] && !b.has[x]);
    }
    Both part = {.set = count > 0 ? parts[count / 2] : (PositionSet){0}};
    for (int64_t x = 0; x < UNIVERSE; x++)
        part.has[x] = positions_common(part.set, (PositionSet){x, x + 1, NULL}) > 0;
    return part;
}

static void compare(const Both *a, const Both *b) {
    int64_t common = 0, others = 0;
    bool contains = true;
    for (int64_t x = 0; x < UNIVERSE; x++) {
        common += a->has[x] && b->has[x];
        others += a->has[x] != b->has[x];
        contains = contains && (a->has[x] || !b->has[x]);
    }
    assert_int_equal(positions_common(a->set, b->set), common);
    assert_int_equal(positions_contain(a->set, b->set), contains);
    assert_int_equal(positions_equal(a->set, b->set), others == 0);
    const int order = positions_compare(a->set, b->set), back = positions_compare(b->set, a->set);
    assert_true((order == 0) == (others == 0) && (order < 0) == (back > 0));
}

static Both draw_set(Random *random, Arena *arena) {
    Both both = draw_interval(random);
    for (int64_t steps = draw(random, 5); steps > 0; steps--) {
        switch (draw(random, 7)) {
        case 0:
            both = shift(both, random, arena);
            break;
        case 6:
            both = reflect(both, random, arena);
            break;
        case 1:
            both = blocks(both, random, arena);
            break;
        case 2:
            both = clip(both, random);
            break;
        case 3:
            both = take(both, random);
            break;
        default:
            both = cyclic(both, random, arena);
        }
        check(&both);
        check_rows(&both, random, arena);
    }
    return both;
}

static void test_chains(void **state) {
    (void)state;
    Random random = {42};
    Arena *arena = arena_create();
    for (int chain = 0; chain < CHAINS; chain++) {
        Both a = draw_set(&random, arena), b = draw_set(&random, arena), c = draw_set(&random, arena);
        compare(&a, &b);
        Both both = combine(a, b, draw(&random, 2), arena);
        check(&both);
        both = combine(both, c, draw(&random, 2), arena);
        check(&both);
        compare(&both, &a);
        compare(&a, &both);
        arena_reset(arena);
    }
    arena_free(arena);
}

// The processor of one level that has a position, and the position that it has there.
static int64_t split(int64_t *position, int64_t length, int64_t size, int64_t cycle) {
    const int64_t block = cycle > 0 ? cycle : ceil_div(length, size), at = *position;
    if (cycle > 0) {
        *position = at / block / size * block + at % block;
        return at / block % size;
    }
    *position = at % block;
    return at / block;
}

// Part of a mode: an interval, or blocks at equal distances in one.
static PositionSet draw_target(Random *random, int64_t extent, Arena *arena) {
    const int64_t lo = draw(random, extent), hi = lo + 1 + draw(random, extent - lo);
    if (draw(random, 2))
        return (PositionSet){lo, hi, NULL};
    const int64_t size = 2 + draw(random, draw(random, 4) ? 6 : extent), block = 1 + draw(random, 5);
    const PositionSet all = {0, extent, NULL};
    return positions_clip(positions_cyclic(all, block, size, draw(random, size), arena), lo, hi);
}

typedef struct {
    const Layout *layout;
    PositionSet target;
    bool *visited; // by processor
    int64_t count;
} Visits;

static bool note_visit(void *context, int64_t processor, const Rect *part) {
    Visits *visits = context;
    assert_false(visits->visited[processor]);
    assert_true(positions_common(rect_mode(part, 0), visits->target) > 0);
    visits->visited[processor] = true;
    visits->count++;
    return true;
}

// The processors that hold some of a target are found, and only these.
static void check_holders(const Layout *layout, const int64_t *holders, Random *random, Arena *arena) {
    const int64_t extent = layout->extents[0];
    if (extent == 0)
        return;
    const int64_t replica[3] = {0};
    Visits visits = {.layout = layout,
                     .target = draw_target(random, extent, arena),
                     .visited = arena_array(arena, bool, grid_size(&layout->grid))};
    if (positions_count(visits.target) == 0)
        return;
    Rect rect = rect_whole(1, &extent);
    rect_set_mode(&rect, 0, visits.target);
    layout_holders(layout, &rect, replica, arena, note_visit, &visits);
    for (int64_t i = 0; i < positions_count(visits.target); i++)
        assert_true(visits.visited[holders[positions_at(visits.target, i)]]);
    assert_int_equal(layout_part_count(layout, &rect, arena), visits.count);
}

// One mode over three dimensions, each contiguous or cyclic out.
static void test_layouts(void **state) {
    (void)state;
    Random random = {44};
    Arena *arena = arena_create();
    for (int round = 0; round < 20000; round++) {
        Machine machine = {.name = "M", .order = 3};
        Placement placement = {.machine = &machine};
        Grid grid = {.order = 3};
        const int64_t extent = draw(&random, MOST_COORDINATES);
        int64_t cycles[3] = {0}, length = extent;
        for (int d = 0; d < 3; d++) {
            grid.extents[d] = 1 + draw(&random, 3);
            placement.entries[d].kind = PLACE_PARTITION;
            cycles[d] = draw(&random, 2) ? 1 + draw(&random, 6) : 0;
            if (cycles[d] > 0)
                placement.entries[d].cycle = int_const(arena, cycles[d]);
        }
        Layout layout;
        int bad_dim;
        assert_true(layout_create(&placement, "A", &grid, NULL, 1, &extent, NULL, arena, &layout, &bad_dim));
        int64_t holders[MOST_COORDINATES] = {0};
        for (int64_t x = 0; x < extent; x++) {
            int64_t position = x, coordinates[3];
            length = extent;
            for (int d = 0; d < 3; d++) {
                coordinates[d] = split(&position, length, grid.extents[d], cycles[d]);
                length = cycles[d] > 0 ? ceil_div(ceil_div(length, cycles[d]), grid.extents[d]) * cycles[d]
                                       : ceil_div(length, grid.extents[d]);
            }
            holders[x] = grid_index(&grid, coordinates);
        }
        for (int64_t processor = 0; processor < grid_size(&grid); processor++) {
            int64_t coordinates[3], count = 0;
            grid_coordinates(&grid, processor, coordinates);
            RectArray rects = {0};
            layout_rects(&layout, coordinates, arena, &rects);
            const bool any = rects.count > 0;
            const Rect rect = any ? rects.items[0] : (Rect){0};
            for (int64_t x = 0; x < extent; x++) {
                if (holders[x] != processor)
                    continue;
                assert_true(any && positions_at(rect_mode(&rect, 0), count) == x);
                count++;
            }
            assert_int_equal(any ? rect_count(&rect, 0) : 0, count);
        }
        check_holders(&layout, holders, &random, arena);
        arena_reset(arena);
    }
    arena_free(arena);
}

typedef struct {
    const int64_t *a, *b;
    int64_t visited;
} Comparison;

static void compare_patch(void *context, const Patch *patch) {
    Comparison *comparison = context;
    int64_t index[MAX_LEVELS] = {0};
    for (int l = 0; l < patch->levels;) {
        int64_t a = patch->a, b = patch->b;
        for (int k = 0; k < patch->levels; k++) {
            a += index[k] * patch->a_stride[k];
            b += index[k] * patch->b_stride[k];
        }
        assert_int_equal(comparison->a[a], comparison->b[b]);
        assert_true(comparison->a[a] >= 0);
        comparison->visited++;
        for (l = 0; l < patch->levels && ++index[l] == patch->extent[l]; l++)
            index[l] = 0;
    }
}

// Elements by position in the frame: the coordinates that they have.
static int64_t *label(const Rect *rect, Arena *arena) {
    int64_t *elements = arena_array(arena, int64_t, rect_volume(rect));
    const int64_t columns = rect_count(rect, 1);
    for (int64_t i = 0; i < rect_count(rect, 0); i++)
        for (int64_t j = 0; j < columns; j++)
            elements[i * columns + j] =
                positions_at(rect_mode(rect, 0), i) * UNIVERSE + positions_at(rect_mode(rect, 1), j);
    return elements;
}

static void test_patches(void **state) {
    (void)state;
    Random random = {45};
    Arena *arena = arena_create();
    for (int round = 0; round < 3000; round++) {
        Rect frames[2] = {{.order = 2}, {.order = 2}}, part;
        for (int f = 0; f < 2; f++)
            for (int m = 0; m < 2; m++)
                rect_set_mode(&frames[f], m, draw_set(&random, arena).set);
        if (rect_is_empty(&frames[0]) || rect_is_empty(&frames[1]) ||
            !rect_intersect(&frames[0], &frames[1], arena, &part))
            continue;
        int64_t strides[2][2] = {0};
        for (int f = 0; f < 2; f++)
            packed_strides(&frames[f], (LevelList){0}, strides[f]);
        Comparison comparison = {label(&frames[0], arena), label(&frames[1], arena), 0};
        const Frame a = {&frames[0], strides[0]}, b = {&frames[1], strides[1]};
        patches_visit(&part, &a, &b, compare_patch, &comparison);
        assert_int_equal(comparison.visited, rect_volume(&part));
        arena_reset(arena);
    }
    arena_free(arena);
}

// A strip has all equal runs that follow each other at one distance.
static void test_strips(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const PositionSet whole = {0, 1000, NULL};
    const PositionSet cyclic =
        positions_clip(positions_cyclic((PositionSet){0, 250, NULL}, 3, 4, 1, arena), 4, 1000);
    Strip strip;
    int64_t at = 0, strips = 0, count = 0;
    while (strip_next(cyclic, whole, cyclic, at, &strip, &at)) {
        count += strip.length * strip.repeat;
        strips++;
    }
    assert_int_equal(count, positions_count(cyclic));
    assert_true(strips <= 3);
    at = 0;
    assert_true(strip_next(cyclic, cyclic, cyclic, at, &strip, &at));
    assert_int_equal(strip.length, positions_count(cyclic));
    arena_free(arena);
}

// Elements of sparse tensors may be more than fit into a number.
static void regions_of_any_volume(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t extents[] = {INT64_C(1) << 62, INT64_C(1) << 62}, sides[] = {3037000500, 3037000500};
    const Rect cases[] = {rect_whole(2, extents), rect_whole(2, sides)};
    for (int i = 0; i < 2; i++) {
        Region region = {0};
        array_push(arena, region.rects, cases[i]);
        assert_int_equal(rect_common(&cases[i], &cases[i]), INT64_MAX);
        assert_true(region_contains(&region, &cases[i]));
        region_subtract(&region, &cases[i], arena);
        assert_int_equal(region.rects.count, 0);
    }
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_of_any_volume), cmocka_unit_test(test_chains),
        cmocka_unit_test(test_layouts),          cmocka_unit_test(test_patches),
        cmocka_unit_test(test_strips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
