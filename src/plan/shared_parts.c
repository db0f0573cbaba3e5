// SPDX-License-Identifier: BSD-3-Clause
#include "plan/shared_parts.h"

#include "base/integer.h"
#include "plan/neighbours.h"

#include <stdlib.h>
#include <string.h>

bool transfer_shares_parts(const StatementPlan *plan, int transfer) {
    return neighbours_gather(plan, transfer) && plan->plan->nodes->several;
}

// A part of the requests.
typedef struct {
    const Selection *requests;
    const SelectedPart *part;
    int64_t first; // the index of its first rectangle among those of all parts
    Rect within;   // in modes of runs, the coordinates that it may be joined with
} RequestedPart;

// A run of a part.
typedef struct {
    const RequestedPart *of;
    const int64_t *run;
    int64_t rect; // the index of its rectangle among those of all parts
} RequestedRun;
typedef Array(RequestedRun) RequestedRunArray;

typedef struct {
    const Selection *requests;
    Arena *arena;
    SharedParts shared;
} Sharing;

// In a mode of runs: all that the piece has of what is periodic as the request is, so that requests of other
// intervals can be joined.
static PositionSet joined_coordinates(PositionSet requested, PositionSet piece, Arena *arena) {
    const PositionSet all =
        positions_intersect(piece, (PositionSet){piece.lo, piece.hi, requested.periodic}, arena);
    return positions_equal(requested, positions_clip(all, requested.lo, requested.hi)) ? all : requested;
}

static RequestedPart requested_part(const Selection *requests, const SelectedPart *part, int64_t first,
                                    const Rect *piece, Arena *arena) {
    RequestedPart requested = {requests, part, first, part->rect};
    for (int i = 0; i < requests->mode_count; i++) {
        const int mode = requests->modes[i];
        rect_set_mode(&requested.within, mode,
                      joined_coordinates(rect_mode(&part->rect, mode), rect_mode(piece, mode), arena));
    }
    return requested;
}

// Parts that are equal here are joined. As pieces are disjoint, one piece contains all of these.
static int compare_requested(const void *left, const void *right) {
    const RequestedPart *a = left, *b = right;
    return part_order(a->part->peer, &a->within, b->part->peer, &b->within);
}

static RequestedPart *list_parts(const Selection *requests, const Home *home, Arena *arena) {
    RequestedPart *list = arena_array(arena, RequestedPart, requests->parts.count);
    int64_t first = 0, owner = -1;
    Region pieces = {0};
    for (int64_t p = 0; p < requests->parts.count; p++) {
        const SelectedPart *part = &requests->parts.items[p];
        if (part->peer != owner)
            pieces = home_pieces(home, owner = part->peer, arena);
        list[p] = requested_part(requests, part, first,
                                 &pieces.rects.items[pieces_with(&pieces, &part->rect)], arena);
        first += part_rect_count(part);
    }
    qsort(list, (size_t)requests->parts.count, sizeof *list, compare_requested);
    return list;
}

// A part without runs has one, all of its rectangle.
static void add_runs(const RequestedPart *of, RequestedRunArray *runs, Arena *arena) {
    const Selection *requests = of->requests;
    const SelectedPart *part = of->part;
    for (int64_t r = 0; r < part->count; r++)
        array_push(arena, *runs,
                   ((RequestedRun){of, selection_run(requests, part->first + r), of->first + r}));
    if (part->count > 0)
        return;
    int64_t *run = arena_array(arena, int64_t, run_length(requests->mode_count));
    for (int i = 0; i < requests->mode_count; i++) {
        run[i] = part->rect.lo[requests->modes[i]];
        run[i + 1] = part->rect.hi[requests->modes[i]];
    }
    array_push(arena, *runs, ((RequestedRun){of, run, of->first}));
}

static int compare_coordinates(const int64_t *a, const int64_t *b, int count) {
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_runs(const void *left, const void *right) {
    const RequestedRun *a = left, *b = right;
    return compare_coordinates(a->run, b->run, a->of->requests->mode_count);
}

// Those of a run, in the last mode of runs.
static PositionSet coordinates_of(const RequestedPart *part, const int64_t *run) {
    const int last = part->requests->mode_count - 1, mode = part->requests->modes[last];
    return (PositionSet){run[last], run[last + 1], part->within.periodic[mode]};
}

static int64_t elements_of(const RequestedPart *part, const int64_t *run) {
    return saturated_mul(part_each(part->requests, part->part), positions_count(coordinates_of(part, run)));
}

// Appends a run, which has all its elements now, to the part that is being received, and says where in it
// those of `first` to before `end` are.
static void end_run(Sharing *sharing, const RequestedPart *part, const int64_t *run,
                    const RequestedRun *first, const RequestedRun *end) {
    SharedParts *shared = &sharing->shared;
    const PositionSet all = coordinates_of(part, run);
    const int last = part->requests->mode_count - 1;
    selection_add_run(&shared->parts, run, sharing->arena);
    for (; first < end; first++)
        shared->runs[first->rect] =
            (SharedRun){shared->elements, positions_index(all, first->run[last]), positions_count(all)};
    shared->elements = saturated_add(shared->elements, elements_of(part, run));
}

// Joins the runs of parts that are equal in compare_requested, and appends them as one part. Returns the
// elements that are requested several times, each as often as it is requested again.
static int64_t join_runs(Sharing *sharing, const RequestedPart *parts, int64_t count) {
    Selection *received = &sharing->shared.parts;
    const int modes = received->mode_count, last = modes - 1;
    const int64_t before = sharing->shared.elements;
    RequestedRunArray runs = {0};
    int64_t run[MAX_ORDER + 1], requested = 0;
    for (int64_t p = 0; p < count; p++)
        add_runs(&parts[p], &runs, sharing->arena);
    qsort(runs.items, (size_t)runs.count, sizeof *runs.items, compare_runs);
    selection_add_part(received, &parts->within, parts->part->peer, sharing->arena);
    const RequestedRun *first = runs.items, *const end = first + runs.count;
    memcpy(run, first->run, sizeof run[0] * (size_t)run_length(modes));
    for (const RequestedRun *next = first; next < end; next++) {
        if (compare_coordinates(next->run, run, last) != 0 || next->run[last] > run[last + 1]) {
            end_run(sharing, parts, run, first, next);
            memcpy(run, next->run, sizeof run[0] * (size_t)run_length(modes));
            first = next;
        }
        run[last + 1] = max_i64(run[last + 1], next->run[last + 1]);
        requested = saturated_add(requested, elements_of(parts, next->run));
    }
    end_run(sharing, parts, run, first, end);
    selection_end_runs(received);
    return requested - (sharing->shared.elements - before);
}

// The parts of one owner. Where nothing is requested twice, the ranks request it themselves.
static void join_parts(Sharing *sharing, const RequestedPart *parts, int64_t count) {
    SharedParts *shared = &sharing->shared;
    const SharedParts before = *shared;
    int64_t again = 0;
    for (int64_t p = 0, end; p < count; p = end) {
        for (end = p + 1; end < count && compare_requested(&parts[p], &parts[end]) == 0;)
            end++;
        again += join_runs(sharing, &parts[p], end - p);
    }
    if (again > 0)
        return;
    for (int64_t p = 0; p < count; p++)
        for (int64_t r = 0; r < part_rect_count(parts[p].part); r++)
            shared->runs[parts[p].first + r].offset = -1;
    shared->parts.parts.count = before.parts.parts.count;
    shared->parts.numbers.count = before.parts.numbers.count;
    shared->elements = before.elements;
}

SharedParts shared_parts_find(const Selection *requests, const Home *home, Arena *arena) {
    const int64_t count = requests->parts.count, rects = selection_rect_count(requests);
    Sharing sharing = {.requests = requests,
                       .arena = arena,
                       .shared = {selection_like(requests), 0, arena_array(arena, SharedRun, rects)}};
    const RequestedPart *parts = list_parts(requests, home, arena);
    for (int64_t p = 0, end; p < count; p = end) {
        for (end = p + 1; end < count && parts[end].part->peer == parts[p].part->peer;)
            end++;
        join_parts(&sharing, &parts[p], end - p);
    }
    return sharing.shared;
}
