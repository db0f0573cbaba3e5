// SPDX-License-Identifier: BSD-3-Clause
// Searches for classes of ranks against going through all processors: drawn placements, schedules, grids and
// extents; wanted are drawn rectangles, homes, and footprints; elements are compared one by one.
#include "pipeline/pipeline.h"
#include "plan/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 400, SEARCHES = 12 };

typedef struct {
    uint64_t state;
} Random;

static int64_t draw(Random *random, int64_t below) {
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random->state >> 33) % (uint64_t)below);
}

// Of the first two modes, in a placement.
static const char *const entries[][2] = {
    {"x", "y"}, {"cyclic(x, 2)", "y"}, {"x", "cyclic(y, 3)"}, {"y", "x"}};

static const char *const schedules[] = {
    "distribute({i, j}, {io, jo}, {ii, ji}, N); communicate({A, B, C}, jo)",
    "distribute({i, j}, {io, jo}, {ii, ji}, A); communicate({A, B, C}, jo)",
    "distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M); communicate({A, B, C}, ko)",
    "distribute({i, j}, {io, jo}, {ii, ji}, N); split(k, ko, ki, c); reorder({ko, ii, ji, ki})\n"
    "communicate(A, jo); communicate({B, C}, ko)",
    "distribute({i, j}, {io, jo}, {ii, ji}, N); divide(k, ko, ki, c); reorder({ko, ii, ji, ki})\n"
    "rotate(ko, {io, jo}, kos); communicate(A, jo); communicate({B, C}, kos)",
    "distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M); divide(ki, kio, kii, c)\n"
    "reorder({kio, ii, ji, kii}); rotate(kio, {io, jo}, kios); communicate(A, ko); communicate({B, C}, kios)",
    "distribute({i, j}, {io, jo}, {ii, ji}, N); divide(k, ko, ki, 2); split(ki, kio, kii, c)\n"
    "reorder({ko, kio, ii, ji, kii}); communicate(A, jo); communicate({B, C}, kio)",
    "distribute({i}, {io}, {ii}, P); split(ii, is, it, 2); split(k, ko, ki, c); split(j, js, jt, 3)\n"
    "reorder({is, js, ko, it, jt, ki}); communicate({A, B, C}, ko)",
    "collapse(i, j, f); divide(f, fo, fi, gx); distribute(fo); communicate({A, B, C}, fo)",
    "divide(i, io, ii, gx); rotate(ii, {io}, iis); divide(k, ko, ki, gy); reorder({io, ko, iis, j, ki})\n"
    "distribute({io, ko}); communicate({A, B, C}, ko)",
    "split(j, jo, ji, c); reorder({jo, i, ji, k}); divide(i, io, ii, gx); reorder({jo, io, ii, ji, k})\n"
    "distribute(io); communicate({A, B, C}, io)",
};
enum { SCHEDULE_COUNT = sizeof schedules / sizeof *schedules };

static const char *draw_program(Random *random, Arena *arena) {
    Text text = text_create(arena);
    static const int64_t extents[] = {1, 2, 5, 7, 8, 12, 13};
    text_printf(&text, "param m = %d, n = %d, q = %d, gx = %d, gy = %d, gz = %d, c = %d\n",
                (int)extents[draw(random, 7)], (int)extents[draw(random, 7)], (int)extents[draw(random, 7)],
                (int)draw(random, 4) + 1, (int)draw(random, 4) + 1, (int)draw(random, 2) + 1,
                (int)draw(random, 4) + 1);
    text_append(&text, "machine M = grid(gx, gy, gz)\nmachine N = grid(gx, gy); machine P = grid(gx)\n"
                       "tensor A(m, n): f64; tensor B(m, q): f64; tensor C(q, n): f64\n");
    const char *const *of[3];
    for (int t = 0; t < 3; t++)
        of[t] = entries[draw(random, 4)];
    text_printf(
        &text,
        "place A(x, y) -> M(%s, %s, 0); place B(x, y) -> M(%s, %s, *); place C(x, y) -> M(%s, %s, 0)\n",
        of[0][0], of[0][1], of[1][0], of[1][1], of[2][0], of[2][1]);
    text_printf(&text, "A(i, j) = B(i, k) * C(k, j)\nschedule A { %s }\n",
                schedules[draw(random, SCHEDULE_COUNT)]);
    return text_string(&text);
}

static StatementPlan *draw_plan(Random *random, Arena *arena, const char **text) {
    *text = draw_program(random, arena);
    Pipeline *pipeline = pipeline_create(arena, (Source){"drawn", *text}, NULL, 0, 0);
    return pipeline_run(pipeline, PASS_PLAN) ? pipeline->plan->statements[0] : NULL;
}

static bool has_element(const Region *region, const int64_t *x) {
    for (int64_t i = 0; i < region->rects.count; i++) {
        const Rect *rect = &region->rects.items[i];
        bool inside = true;
        for (int m = 0; m < rect->order && inside; m++) {
            const PositionSet set = rect_mode(rect, m);
            const PositionSet one = positions_clip(set, x[m], x[m] + 1);
            inside = one.lo < one.hi;
        }
        if (inside)
            return true;
    }
    return false;
}

#define EACH_ELEMENT(tensor_extents, x)                                                                      \
    for (int64_t x[2] = {0}; x[0] < (tensor_extents)[0]; x[0]++)                                             \
        for (x[1] = 0; x[1] < (tensor_extents)[1]; x[1]++)

static bool have_common(const Home *home, const Region *a, const Region *b) {
    EACH_ELEMENT(home->extents, x)
    if (has_element(a, x) && has_element(b, x))
        return true;
    return false;
}

// What a search is expected to find, and what it has found: [iteration][class].
typedef struct {
    const Footprints *footprints;
    int64_t classes;
    char *expected, *found;
    int64_t last_iteration;
    int64_t visits, most_visits;
    Footprint *shrinking; // NULL, or the region wanted, which gets smaller
    Arena *arena;
} Check;

static bool visit(void *context, const Worker *worker, int64_t iteration, const Footprint *footprint) {
    Check *check = context;
    Footprint again;
    assert_true(iteration >= check->last_iteration);
    check->last_iteration = iteration;
    footprint_find(check->footprints, worker->coordinates, iteration, check->arena, &again);
    assert_true(footprint_equal(footprint, &again));
    for (int d = 0; d < check->footprints->grid.order; d++)
        if (check->footprints->vars[d] >= 0 && !check->footprints->related_dims[d])
            assert_int_equal(worker->coordinates[d], 0);
    char *found = &check->found[iteration * check->classes + worker->class_key];
    assert_false(*found); // once
    *found = 1;
    for (int64_t i = 0; check->shrinking && i < footprint->region.rects.count; i++) {
        const Rect rect = rect_copy(&footprint->region.rects.items[i], check->arena);
        region_subtract(&check->shrinking->region, &rect, check->arena);
    }
    return ++check->visits < check->most_visits;
}

// By the footprints of all processors in all iterations. Returns how many classes have it, over all
// iterations.
static int64_t expect(Check *check, const Home *home, SearchKind kind, const Footprint *wanted, int64_t first,
                      int64_t last) {
    const Footprints *footprints = check->footprints;
    int64_t count = 0;
    for (int64_t processor = 0; processor < footprints->processors; processor++) {
        Worker worker;
        if (!footprints_worker(footprints, processor / footprints->per_rank, processor % footprints->per_rank,
                               &worker))
            continue;
        for (int64_t iteration = first; iteration < last; iteration++) {
            Footprint footprint;
            char *expected = &check->expected[iteration * check->classes + worker.class_key];
            footprint_find(footprints, worker.coordinates, iteration, check->arena, &footprint);
            const bool has = kind == SEARCH_EQUAL ? footprint_equal(&footprint, wanted)
                                                  : have_common(home, &footprint.region, &wanted->region);
            count += has && !*expected;
            *expected = (char)has;
        }
    }
    return count;
}

static PositionSet draw_positions(Random *random, int64_t extent, Arena *arena) {
    const int64_t lo = draw(random, extent), hi = lo + 1 + draw(random, extent - lo);
    const PositionSet interval = {lo, hi, NULL};
    return draw(random, 3) ? interval : positions_every(interval, 2 + draw(random, 3), arena);
}

// A footprint, a home, or two rectangles, which may be the same.
static Footprint draw_wanted(Random *random, const Footprints *footprints, const Home *home, Arena *arena) {
    Footprint wanted = {0};
    Worker worker;
    const int64_t processor = draw(random, footprints->processors), choice = draw(random, 3);
    if (choice == 0 && footprints_worker(footprints, processor / footprints->per_rank,
                                         processor % footprints->per_rank, &worker)) {
        footprint_find(footprints, worker.coordinates, draw(random, footprints->iterations), arena, &wanted);
    } else if (choice == 1) {
        wanted.region = home_pieces(home, draw(random, home->ranks), arena);
    } else {
        Rect rect = {.order = home->order};
        for (int m = 0; m < home->order; m++)
            rect_set_mode(&rect, m, draw_positions(random, home->extents[m], arena));
        array_push(arena, wanted.region.rects, rect);
    }
    return wanted;
}

static void search_once(Random *random, const Footprints *footprints, const Home *home, Arena *arena,
                        int64_t *found, const char *text) {
    Check check = {.footprints = footprints, .classes = 1, .arena = arena, .most_visits = INT64_MAX};
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->related_dims[d])
            check.classes *= footprints->grid.extents[d];
    Footprint wanted = draw_wanted(random, footprints, home, arena);
    const SearchKind kind = wanted.hash && draw(random, 2) ? SEARCH_EQUAL : SEARCH_OVERLAPPING;
    const int64_t first = draw(random, footprints->iterations),
                  last = first + draw(random, footprints->iterations - first + 1);
    const int64_t cells = footprints->iterations * check.classes;
    check.expected = arena_array(arena, char, cells);
    check.found = arena_array(arena, char, cells);
    const int64_t count = expect(&check, home, kind, &wanted, first, last);
    Arena *scratch = arena_create_within(arena);
    assert_true(search_classes(footprints, first, last, kind, &wanted, scratch, visit, &check));
    if (memcmp(check.expected, check.found, (size_t)cells) != 0)
        fail_msg("%s: %s of iterations %d .. %d: other classes than there are", text,
                 kind == SEARCH_EQUAL ? "equal" : "meeting", (int)first, (int)last);
    assert_int_equal(check.visits, count);
    *found += count;
    // Stopped after some.
    check.visits = check.last_iteration = 0;
    check.most_visits = 1 + draw(random, count + 1);
    memset(check.found, 0, (size_t)cells);
    assert_int_equal(search_classes(footprints, first, last, kind, &wanted, scratch, visit, &check),
                     check.most_visits > count);
    assert_int_equal(check.visits, check.most_visits < count ? check.most_visits : count);
    if (kind == SEARCH_EQUAL)
        return;
    // What was found is taken out of what is wanted: nothing is left that any footprint has.
    Footprint rest = wanted;
    rest.region = (Region){0};
    for (int64_t i = 0; i < wanted.region.rects.count; i++)
        array_push(arena, rest.region.rects, wanted.region.rects.items[i]);
    check.shrinking = &rest;
    check.visits = check.last_iteration = 0;
    check.most_visits = INT64_MAX;
    memset(check.found, 0, (size_t)cells);
    search_classes(footprints, first, last, kind, &rest, scratch, visit, &check);
    for (int64_t i = 0; i < cells; i++)
        assert_true(check.expected[i] >= check.found[i]);
    memset(check.expected, 0, (size_t)cells);
    assert_int_equal(expect(&check, home, SEARCH_OVERLAPPING, &rest, first, last), 0);
}

static void against_enumeration(void **state) {
    (void)state;
    Random random = {1};
    int64_t planned = 0, found = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        Arena *arena = arena_create();
        const char *text;
        StatementPlan *plan = draw_plan(&random, arena, &text);
        for (int t = 0; plan && t < plan->spmd->transfer_count; t++) {
            const Footprints *footprints = plan->footprints[t];
            const Home *home = &plan->homes[plan->spmd->transfers[t].access->tensor->id];
            for (int i = 0; i < SEARCHES && footprints->steps > 0; i++)
                search_once(&random, footprints, home, arena, &found, text);
        }
        planned += plan != NULL;
        arena_free(arena);
    }
    print_message("%d of %d programs, %d classes found\n", (int)planned, PROGRAMS, (int)found);
    assert_in_range(planned, PROGRAMS / 2, PROGRAMS);
    assert_in_range(found, PROGRAMS * SEARCHES, INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_enumeration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
