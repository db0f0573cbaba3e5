// SPDX-License-Identifier: BSD-3-Clause
// Provenance against enumeration: for drawn relations and drawn ranges of the loops, boxes hold the source
// coordinates that are reached and no others, and the bounding box contains them, whatever is left out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/integer.h"
#include "drawn.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_POINTS = 7 * 7 * 7 * 7 };

typedef struct {
    const Cin *cin;
    const Provenance *provenance;
    Nest nest;
    bool active[MAX_VARS], loops[MAX_VARS];
    bool requested[MAX_VARS]; // active variables whose values are compared
    int sources;              // variables of the statement as written
    int64_t values[MAX_VARS];
    bool reached[MAX_POINTS];
    const char *wrong;
} Check;

static bool is_in(PositionSet set, int64_t value) {
    const PositionSet run = positions_run(set, value);
    return run.lo == value && run.lo < run.hi;
}

static int64_t point_index(const Check *check, const int64_t *values) {
    int64_t index = 0;
    for (int v = 0; v < check->sources; v++)
        index = check->requested[v] ? index * provenance_extent(check->provenance, v) + values[v] : index;
    return index;
}

static void mark_point(Check *check) {
    int64_t values[MAX_VARS];
    for (int v = 0; v < check->cin->var_count; v++) {
        if (!check->active[v])
            continue;
        values[v] = recover(check->cin, check->provenance, check->loops, check->values, v);
        if (values[v] >= provenance_extent(check->provenance, v))
            return;
    }
    check->reached[point_index(check, values)] = true;
}

static void enumerate(Check *check, const LoopRanges *ranges, int depth) {
    if (depth == check->nest.loop_count) {
        mark_point(check);
        return;
    }
    const int var = check->nest.loops[depth];
    const int64_t end = min_i64(ranges->hi[var], provenance_extent(check->provenance, var));
    for (check->values[var] = ranges->lo[var]; check->values[var] < end; check->values[var]++)
        enumerate(check, ranges, depth + 1);
}

static bool all_asked(const Check *check) {
    return memcmp(check->requested, check->active, sizeof *check->requested * (size_t)check->sources) == 0;
}

static void compare_point(Check *check, const BoxArray *boxes, const Box *bounds, const int64_t *values) {
    int64_t inside = 0;
    bool bounded = bounds != NULL;
    for (int64_t b = 0; b < boxes->count; b++) {
        bool in_box = true;
        for (int v = 0; v < check->sources; v++)
            in_box = in_box && (!check->requested[v] || is_in(boxes->items[b].values[v], values[v]));
        inside += in_box;
    }
    for (int v = 0; v < check->sources; v++)
        bounded = bounded && (!check->requested[v] || is_in(bounds->values[v], values[v]));
    const bool reached = check->reached[point_index(check, values)];
    if (inside > 1 && all_asked(check))
        check->wrong = "boxes are not disjoint";
    if (reached != (inside > 0))
        check->wrong = reached ? "a point is in no box" : "a point in a box is not reached";
    if (reached && !bounded)
        check->wrong = "a point is beyond the bounding box";
}

static void compare_points(Check *check, const BoxArray *boxes, const Box *bounds, int64_t *values, int var) {
    if (var == check->sources) {
        compare_point(check, boxes, bounds, values);
        return;
    }
    const int64_t extent = check->requested[var] ? provenance_extent(check->provenance, var) : 1;
    for (values[var] = 0; values[var] < extent && !check->wrong; values[var]++)
        compare_points(check, boxes, bounds, values, var + 1);
}

// Ranges of one value, of some, and of all; from time to time beyond the extent.
static void draw_ranges(Random *random, const Check *check, LoopRanges *ranges) {
    provenance_ranges(check->provenance, ranges);
    for (int i = 0; i < check->nest.loop_count; i++) {
        const int var = check->nest.loops[i];
        const int64_t extent = provenance_extent(check->provenance, var);
        const int64_t lo = draw(random, extent + (draw(random, 16) == 0) + (extent == 0));
        if (draw(random, 3) == 0)
            ranges_fix(ranges, var, lo);
        else if (draw(random, 2) == 0)
            ranges_restrict(ranges, var, lo, lo + 1 + draw(random, extent + 1));
    }
}

// Whatever smaller ranges give lies within `bounds`; one value of each loop gives one of each variable.
static void check_smaller(Random *random, Check *check, LoopRanges ranges, const BoundingBox *bounds) {
    static BoundingBox smaller;
    const bool single = draw(random, 2);
    for (int i = 0; i < check->nest.loop_count; i++) {
        const int var = check->nest.loops[i];
        const int64_t count = ranges.hi[var] - ranges.lo[var];
        const int64_t lo = ranges.lo[var] + draw(random, count);
        if (single || draw(random, 2))
            ranges_restrict(&ranges, var, lo, single ? lo + 1 : lo + 1 + draw(random, ranges.hi[var] - lo));
    }
    if (!provenance_bounding_box(check->provenance, check->active, &ranges, &smaller))
        return;
    for (int v = 0; v < check->sources; v++) {
        const PositionSet values = smaller.box.values[v];
        if (!check->active[v])
            continue;
        if (!positions_contain(bounds->box.values[v], values))
            check->wrong = "smaller ranges reach more";
        if (single && values.hi - values.lo != 1)
            check->wrong = "one value of each loop gives several";
    }
}

// All variables of the nest, or some.
static void draw_asked(Random *random, Check *check, LoopRanges *ranges) {
    const bool all = draw(random, 2);
    ranges->requested = 0;
    for (int v = 0; v < check->sources; v++) {
        check->requested[v] = check->active[v] && (all || draw(random, 2));
        ranges->requested |= (VarSet)check->requested[v] << v;
    }
}

static void check_ranges(Random *random, Check *check, Arena *arena) {
    static BoundingBox bounds;
    LoopRanges ranges;
    BoxArray boxes = {0};
    int64_t values[MAX_VARS] = {0};
    draw_ranges(random, check, &ranges);
    draw_asked(random, check, &ranges);
    memset(check->reached, 0, sizeof check->reached);
    enumerate(check, &ranges, 0);
    provenance_boxes(check->provenance, check->active, &ranges, arena, &boxes);
    const bool any = provenance_bounding_box(check->provenance, check->active, &ranges, &bounds);
    compare_points(check, &boxes, any ? &bounds.box : NULL, values, 0);
    for (int i = 0; any && i < 4 && !check->wrong; i++)
        check_smaller(random, check, ranges, &bounds);
}

// What an access needs to know: its related variables give its coordinates, and the others whether there is
// an iteration.
static void check_access(Random *random, Check *check, Arena *arena) {
    const Access *access = check->nest.assign->lhs;
    static BoundingBox bounds;
    bool related[MAX_VARS], others[MAX_VARS];
    LoopRanges ranges;
    BoxArray boxes = {0}, existence = {0};
    int64_t values[MAX_VARS] = {0};
    provenance_related(check->provenance, check->active, access, related);
    for (int v = 0; v < MAX_VARS; v++) {
        others[v] = check->active[v] && !related[v];
        check->requested[v] = access_vars(access) >> v & 1;
    }
    draw_ranges(random, check, &ranges);
    memset(check->reached, 0, sizeof check->reached);
    enumerate(check, &ranges, 0);
    ranges.requested = 0;
    provenance_boxes(check->provenance, others, &ranges, arena, &existence);
    ranges.requested = access_vars(access);
    if (existence.count > 0)
        provenance_boxes(check->provenance, related, &ranges, arena, &boxes);
    const bool any = provenance_bounding_box(check->provenance, related, &ranges, &bounds);
    compare_points(check, &boxes, any ? &bounds.box : NULL, values, 0);
}

static const char *check_seed(Arena *arena, uint64_t seed, Text *shown) {
    Random random = {seed};
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"drawn", ""});
    Cin *cin = cin_copy(draw_statement(&random, arena));
    draw_transforms(&random, cin, true);
    cin_print(cin, NULL, shown);
    const Provenance *provenance = provenance_create(cin, NULL, NULL, arena, diagnostics);
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Check *check = arena_new(arena, Check);
        *check = (Check){.cin = cin,
                         .provenance = provenance,
                         .nest = cin_nest(cin, n),
                         .sources = cin->assignment->var_count};
        provenance_active(provenance, check->nest.loops, check->nest.loop_count, check->active);
        for (int i = 0; i < check->nest.loop_count; i++)
            check->loops[check->nest.loops[i]] = true;
        for (int i = 0; i < 4 && !check->wrong; i++)
            check_ranges(&random, check, arena);
        for (int i = 0; i < 2 && !check->wrong; i++)
            check_access(&random, check, arena);
        if (check->wrong)
            return check->wrong;
    }
    return NULL;
}

static void test_drawn_relations(void **state) {
    (void)state;
    const char *first = getenv("SEED"), *count = getenv("COUNT");
    uint64_t start = first ? strtoull(first, NULL, 10) : 1;
    uint64_t end = start + (count ? strtoull(count, NULL, 10) : 2000);
    Arena *arena = arena_create();
    for (uint64_t seed = start; seed < end; seed++) {
        Text shown = text_create(arena);
        const char *wrong = check_seed(arena, seed, &shown);
        if (wrong) {
            fprintf(stderr, "%s", text_string(&shown));
            fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
        }
        arena_reset(arena);
    }
    arena_free(arena);
}

// A(i, j) = B(i, j) + C(j, i) with these extents, to be given relations.
static Cin *addition(Arena *arena, int64_t rows, int64_t columns) {
    static const Form form = {'+', 2, {"ij", "ij", "ij"}};
    const int64_t extents[] = {rows, columns};
    return cin_copy(cin_create(arena, make_assignment(arena, &form, extents)));
}

// The bounding box where `loop` is restricted and `fixed`, unless it is -1, is 2.
static void bound(const Cin *cin, int loop, int64_t lo, int64_t hi, int fixed, BoundingBox *bounds) {
    const Provenance *provenance = provenance_create(cin, NULL, NULL, cin->arena, NULL);
    const Nest nest = cin_nest(cin, 0);
    LoopRanges ranges;
    bool active[MAX_VARS];
    provenance_active(provenance, nest.loops, nest.loop_count, active);
    provenance_ranges(provenance, &ranges);
    ranges_restrict(&ranges, loop, lo, hi);
    if (fixed >= 0)
        ranges_fix(&ranges, fixed, 2);
    assert_true(provenance_bounding_box(provenance, active, &ranges, bounds));
}

static void assert_values(PositionSet values, const char *expected) {
    Text text = text_create(arena_create());
    for (PositionSet run = positions_run(values, values.lo); run.lo < run.hi;
         run = positions_run(values, run.hi))
        text_printf(&text, "%s%d-%d", run.lo == values.lo ? "" : " ", (int)run.lo, (int)run.hi - 1);
    assert_string_equal(text_string(&text), expected);
    arena_free(text.arena);
}

static void test_bounding_boxes(void **state) {
    (void)state;
    enum { I, J, OUTER, INNER, NEXT };
    static BoundingBox bounds;
    Arena *arena = arena_create();

    Cin *cin = addition(arena, 20, 10); // blocks: of a range, an interval; parts of blocks repeat
    derive_with(cin, &relation_divide, I, 4, 0);
    bound(cin, OUTER, 1, 3, -1, &bounds);
    assert_values(bounds.box.values[I], "5-14");
    assert_values(bounds.box.values[J], "0-9");
    bound(cin, OUTER, 3, 4, INNER, &bounds);
    assert_values(bounds.box.values[I], "17-17");
    bound(cin, INNER, 1, 3, -1, &bounds);
    assert_values(bounds.box.values[I], "1-2 6-7 11-12 16-17");

    cin = addition(arena, 20, 10); // block-cyclic
    derive_with(cin, &relation_cyclic, I, 2, 4);
    bound(cin, OUTER, 1, 3, -1, &bounds);
    assert_values(bounds.box.values[I], "2-5 10-13 18-19");
    bound(cin, OUTER, 0, 4, -1, &bounds);
    assert_values(bounds.box.values[I], "0-19");
    bound(cin, OUTER, 3, 4, INNER, &bounds);
    assert_values(bounds.box.values[I], "14-14");

    cin = addition(arena, 20, 10); // block-cyclic, in blocks
    derive_with(cin, &relation_divide, I, 10, 0);
    derive_with(cin, &relation_cyclic, OUTER, 1, 3);
    bound(cin, NEXT, 0, 2, -1, &bounds);
    assert_values(bounds.box.values[I], "0-3 6-9 12-15 18-19");

    cin = addition(arena, 20, 10); // rotated: past the end, and in blocks
    derive_with(cin, &relation_divide, I, 5, 0);
    derive(cin, (Relation){.kind = &relation_rotate, .parent = {OUTER}, .operand_count = 1, .operands = {J}});
    bound(cin, NEXT, 1, 4, J, &bounds);
    assert_values(bounds.box.values[I], "0-3 12-19");
    bound(cin, NEXT, 0, 2, J, &bounds);
    assert_values(bounds.box.values[I], "8-15");
    bound(cin, NEXT, 0, 2, -1, &bounds);
    assert_values(bounds.box.values[I], "0-19");

    cin = addition(arena, 20, 10); // collapsed: within a row, past its end, more than a row
    derive(cin, (Relation){.kind = &relation_collapse, .parent = {I, J}});
    bound(cin, OUTER, 23, 26, -1, &bounds);
    assert_values(bounds.box.values[I], "2-2");
    assert_values(bounds.box.values[J], "3-5");
    bound(cin, OUTER, 28, 33, -1, &bounds);
    assert_values(bounds.box.values[I], "2-3");
    assert_values(bounds.box.values[J], "0-2 8-9");
    bound(cin, OUTER, 28, 38, -1, &bounds);
    assert_values(bounds.box.values[J], "0-9");
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn_relations),
                                       cmocka_unit_test(test_bounding_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
