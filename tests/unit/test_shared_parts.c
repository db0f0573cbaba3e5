// SPDX-License-Identifier: BSD-3-Clause
// What ranks of a node receive together of the ranks of another one (plan/shared_parts.h), element by
// element.
#include "plan/shared_parts.h"

#include "planned.h"

// Requests of ranks to an aggregator, at drawn coordinates of a mode of a matrix of which two ranks have
// parts.
enum { SIDE = 12, OWNERS = 2 };

typedef struct {
    Arena *arena;
    const Home *home;
    int mode;
    Rect footprint; // of all ranks
    Selection parts;
    int counts[SIDE * SIDE]; // by element: how often it is requested
} Requests;

static bool has_element(const Rect *rect, int element) {
    return rect_has(rect, 0, element / SIDE) && rect_has(rect, 1, element % SIDE);
}

static int64_t coordinate(const Requests *requests, int element) {
    return requests->mode ? element % SIDE : element / SIDE;
}

static void request_of_piece(Requests *requests, const Rect *piece, int64_t owner, const bool *points) {
    Rect rect;
    bool any = false;
    if (!rect_intersect(piece, &requests->footprint, requests->arena, &rect))
        return;
    for (int64_t x = 0, end; x < SIDE; x = end + 1) {
        for (end = x; end < SIDE && points[end];)
            end++;
        const PositionSet at = positions_clip(rect_mode(&rect, requests->mode), x, end);
        if (at.lo >= at.hi)
            continue;
        if (!any)
            selection_add_part(&requests->parts, &rect, owner, requests->arena);
        any = true;
        selection_add_run(&requests->parts, (int64_t[]){at.lo, at.hi}, requests->arena);
        for (int e = 0; e < SIDE * SIDE; e++)
            requests->counts[e] +=
                has_element(&rect, e) && coordinate(requests, e) >= at.lo && coordinate(requests, e) < at.hi;
    }
    if (any)
        selection_end_runs(&requests->parts);
}

static void request_drawn(Requests *requests, unsigned *drawn, unsigned percent) {
    bool points[SIDE];
    for (int x = 0; x < SIDE; x++) {
        *drawn = *drawn * 1664525U + 1013904223U;
        points[x] = (*drawn >> 16) % 100 < percent;
    }
    for (int64_t owner = 0; owner < OWNERS; owner++) {
        const Region pieces = home_pieces(requests->home, owner, requests->arena);
        for (int64_t p = 0; p < pieces.rects.count; p++)
            request_of_piece(requests, &pieces.rects.items[p], owner, points);
    }
}

// Whether some element of an owner is requested twice.
static bool is_shared(const Requests *requests, int64_t owner) {
    const Region pieces = home_pieces(requests->home, owner, requests->arena);
    for (int64_t p = 0; p < pieces.rects.count; p++)
        for (int e = 0; e < SIDE * SIDE; e++)
            if (requests->counts[e] > 1 && has_element(&pieces.rects.items[p], e))
                return true;
    return false;
}

// Each element of owners of which one is requested twice is received once, and is where the replies say.
static void check_shared(const Requests *requests) {
    const SharedParts shared = shared_parts_find(&requests->parts, requests->home, requests->arena);
    const RectArray received = selection_rects(&shared.parts, requests->arena),
                    requested = selection_rects(&requests->parts, requests->arena);
    int buffer[SIDE * SIDE], times[SIDE * SIDE] = {0};
    int64_t count = 0, expected = 0, rect = 0;
    for (int64_t r = 0; r < received.count; r++)
        for (int e = 0; e < SIDE * SIDE; e++)
            if (has_element(&received.items[r], e)) {
                assert_int_equal(++times[e], 1);
                buffer[count++] = e;
            }
    for (int64_t owner = 0; owner < OWNERS; owner++) {
        const Region pieces = home_pieces(requests->home, owner, requests->arena);
        for (int64_t p = 0; p < pieces.rects.count && is_shared(requests, owner); p++)
            for (int e = 0; e < SIDE * SIDE; e++)
                expected += requests->counts[e] > 0 && has_element(&pieces.rects.items[p], e);
    }
    assert_int_equal(count, expected);
    assert_int_equal(shared.elements, expected);
    for (int64_t p = 0; p < requests->parts.parts.count; p++) {
        const SelectedPart *part = &requests->parts.parts.items[p];
        for (int64_t end = rect + part_rect_count(part); rect < end; rect++) {
            const SharedRun *run = &shared.runs[rect];
            const int64_t columns = requests->mode ? run->count : rect_count(&part->rect, 1);
            int64_t row = requests->mode ? 0 : run->first, column = requests->mode ? run->first : 0, next = 0;
            assert_int_equal(run->offset >= 0, is_shared(requests, part->peer));
            for (int e = 0; e < SIDE * SIDE && run->offset >= 0; e++) {
                if (!has_element(&requested.items[rect], e))
                    continue;
                assert_int_equal(buffer[run->offset + row * columns + column + next], e);
                if (++next == rect_count(&requested.items[rect], 1)) {
                    next = 0;
                    row++;
                }
            }
        }
    }
}

// Requests a drawn interval of the rows of the footprint as a whole.
static void request_box(Requests *requests, unsigned *drawn) {
    *drawn = *drawn * 1664525U + 1013904223U;
    const int64_t lo = (*drawn >> 16) % SIDE, hi = lo + 1 + (*drawn >> 24) % (SIDE - lo);
    Rect box = requests->footprint, part;
    rect_set_mode(&box, 0, (PositionSet){lo, hi, NULL});
    for (int64_t owner = 0; owner < OWNERS; owner++) {
        const Region pieces = home_pieces(requests->home, owner, requests->arena);
        if (!rect_intersect(&pieces.rects.items[0], &box, requests->arena, &part))
            continue;
        selection_add_part(&requests->parts, &part, owner, requests->arena);
        for (int e = 0; e < SIDE * SIDE; e++)
            requests->counts[e] += has_element(&part, e);
    }
}

// Each element of owners of which one is requested twice is received once, and no others are.
static void check_disjoint(const Requests *requests) {
    const SharedParts shared = shared_parts_find(&requests->parts, requests->home, requests->arena);
    const RectArray received = selection_rects(&shared.parts, requests->arena);
    int times[SIDE * SIDE] = {0};
    int64_t rect = 0;
    for (int64_t r = 0; r < received.count; r++)
        for (int e = 0; e < SIDE * SIDE; e++)
            times[e] += has_element(&received.items[r], e);
    for (int64_t owner = 0; owner < OWNERS; owner++) {
        const Rect *piece = &home_pieces(requests->home, owner, requests->arena).rects.items[0];
        for (int e = 0; e < SIDE * SIDE; e++)
            if (has_element(piece, e))
                assert_int_equal(times[e], requests->counts[e] > 0 && is_shared(requests, owner));
    }
    for (int64_t p = 0; p < requests->parts.parts.count; p++) {
        const SelectedPart *part = &requests->parts.parts.items[p];
        for (const int64_t end = rect + part_rect_count(part); rect < end; rect++)
            assert_int_equal(shared.runs[rect].offset >= 0, is_shared(requests, part->peer));
    }
    for (int64_t p = 1; p < shared.parts.parts.count; p++)
        assert_true(shared.parts.parts.items[p - 1].peer <= shared.parts.parts.items[p].peer);
}

static void parts_of_a_node(void **state) {
    (void)state;
    static const char *const places[] = {"M(x)", "M(cyclic(x, 2))", "M(cyclic(y, 3))", "L(x, y)",
                                         "L(cyclic(y, 1), cyclic(x, 2))"};
    for (size_t place = 0; place < sizeof places / sizeof *places; place++)
        for (unsigned seed = 0; seed < 64; seed++) {
            Arena *arena = arena_create();
            const char *text = arena_printf(arena,
                                            "machine M = grid(2)\nmachine L = grid(4, 3)\n"
                                            "tensor A(12, 12): f64; tensor C(12, 12): f64\n"
                                            "place A(x, y) -> M(x); place C(x, y) -> %s\nA(i, j) = C(i, j)\n",
                                            places[place]);
            const StatementPlan *plan = planned(arena, text, (PlanOptions){.ranks = OWNERS});
            const int64_t extents[] = {SIDE, SIDE};
            Requests requests = {.arena = arena,
                                 .home = &plan->homes[1],
                                 .mode = (int)seed % 2,
                                 .footprint = rect_whole(2, extents),
                                 .parts = {.mode_count = 1, .modes = {(int)seed % 2}}};
            if (seed % 4 > 1)
                rect_set_mode(&requests.footprint, requests.mode,
                              positions_every((PositionSet){0, SIDE, NULL}, 2, arena));
            unsigned drawn = seed;
            for (int rank = 0; rank < 3; rank++)
                request_drawn(&requests, &drawn, seed < 16 ? 10 : seed);
            check_shared(&requests);
            arena_free(arena);
        }
}

// Of a sparse matrix, ranks request boxes, as of a footprint, or the rows at drawn coordinates in an interval
// of columns. All that is received is disjoint.
static void parts_of_a_sparse_tensor(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < 256; seed++) {
        Arena *arena = arena_create();
        const StatementPlan *plan =
            planned(arena,
                    "machine M = grid(2)\ntensor A(12, 12): f64, csr; tensor C(12, 12): f64, csr\n"
                    "place A(x, y) -> M(x); place C(x, y) -> M(x)\nA(i, j) = C(i, j)\n",
                    (PlanOptions){.ranks = OWNERS});
        const int64_t extents[] = {SIDE, SIDE};
        Requests requests = {.arena = arena,
                             .home = &plan->homes[1],
                             .footprint = rect_whole(2, extents),
                             .parts = {.mode_count = (int)seed % 2}};
        unsigned drawn = seed;
        for (int rank = 0; rank < 3; rank++) {
            // From the same column on, with the same ones, or any.
            const int64_t lo = seed % 8 < 4 ? 3 : 1 + (int64_t)(drawn >> 8) % 5;
            rect_set_mode(&requests.footprint, 1,
                          (PositionSet){lo, lo + 2 + rank % (1 + (int)seed % 3), NULL});
            if (requests.parts.mode_count > 0)
                request_drawn(&requests, &drawn, 20 + seed % 60);
            else
                request_box(&requests, &drawn);
        }
        check_disjoint(&requests);
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_a_node),
                                       cmocka_unit_test(parts_of_a_sparse_tensor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
