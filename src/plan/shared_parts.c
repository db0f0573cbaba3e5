// SPDX-License-Identifier: BSD-3-Clause
#include "plan/shared_parts.h"

#include "base/integer.h"
#include "plan/neighbours.h"

#include <stdlib.h>
#include <string.h>

bool transfer_shares_parts(const StatementPlan *plan, int transfer) {
    return neighbours_gather(plan, transfer) && plan->plan->nodes->several;
}

int64_t nodes_aggregator(const Nodes *nodes, int64_t rank, int64_t owner) {
    const int64_t members = nodes_count_members(nodes, rank);
    return members == 1 || nodes->nodes[rank] == nodes->nodes[owner] ? -1 : nodes->numbers[owner] % members;
}

// A part of the requests.
typedef struct {
    const Selection *requests;
    const SelectedPart *part;
    int64_t piece; // of its owner's home that contains it
    int64_t first; // the index of its first rectangle among those of all parts
    Rect across;   // its rectangle, with one coordinate in each mode of runs
    int64_t each;  // elements of that
} RequestedPart;

// The runs of one part, while they are visited in order.
typedef struct {
    const RequestedPart *of;
    int64_t next, count;
    const int64_t *run; // that with the number `next`
} RunVisit;

typedef struct {
    const Selection *requests;
    Arena *arena;
    SharedParts shared;
    Array(SharedRun) joined; // runs of the parts that are received, in order
    int64_t *joined_with;    // by rectangle of the requests: the index of its run in `joined`
} Sharing;

static int compare_periodic(const Periodic *a, const Periodic *b) {
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    if (a->period != b->period)
        return a->period < b->period ? -1 : 1;
    return positions_compare(positions_clip((PositionSet){0, a->period, a}, 0, a->period),
                             positions_clip((PositionSet){0, b->period, b}, 0, b->period));
}

// By owner, by what parts have at each coordinate of runs, and by piece. Where these are equal, so are
// elements of runs with equal coordinates, and a piece contains all of them.
static int compare_requested(const void *left, const void *right) {
    const RequestedPart *a = left, *b = right;
    int order = part_order(a->part->peer, &a->across, b->part->peer, &b->across);
    for (int i = 0; i < a->requests->mode_count && order == 0; i++) {
        const int mode = a->requests->modes[i];
        order = compare_periodic(a->part->rect.periodic[mode], b->part->rect.periodic[mode]);
    }
    return order != 0 ? order : (a->piece > b->piece) - (a->piece < b->piece);
}

static RequestedPart *list_parts(const Selection *requests, const Home *home, Arena *arena) {
    RequestedPart *list = arena_array(arena, RequestedPart, requests->parts.count);
    int64_t first = 0, owner = -1;
    Region pieces = {0};
    for (int64_t p = 0; p < requests->parts.count; p++) {
        const SelectedPart *part = &requests->parts.items[p];
        if (part->peer != owner)
            pieces = home_pieces(home, owner = part->peer, arena);
        list[p] = (RequestedPart){requests, part, pieces_with(&pieces, &part->rect), first, part->rect, 0};
        for (int i = 0; i < requests->mode_count; i++)
            rect_set_mode(&list[p].across, requests->modes[i], (PositionSet){0, 1, NULL});
        list[p].each = rect_volume(&list[p].across);
        first += part_rect_count(part);
    }
    qsort(list, (size_t)requests->parts.count, sizeof *list, compare_requested);
    return list;
}

// A part without runs has one, all of its rectangle.
static RunVisit begin_visit(const Sharing *sharing, const RequestedPart *of) {
    const Selection *requests = sharing->requests;
    const SelectedPart *part = of->part;
    if (part->count > 0)
        return (RunVisit){of, 0, part->count, selection_run(requests, part->first)};
    int64_t *run = arena_array(sharing->arena, int64_t, run_length(requests->mode_count));
    for (int i = 0; i < requests->mode_count; i++) {
        run[i] = part->rect.lo[requests->modes[i]];
        run[i + 1] = part->rect.hi[requests->modes[i]];
    }
    return (RunVisit){of, 0, 1, run};
}

static void advance(RunVisit *visit, int mode_count) {
    visit->run += ++visit->next < visit->count ? run_length(mode_count) : 0;
}

static int compare_coordinates(const int64_t *a, const int64_t *b, int count) {
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

// NULL: all have been visited.
static RunVisit *first_in_order(RunVisit *visits, int64_t count, int mode_count) {
    RunVisit *first = NULL;
    for (int64_t v = 0; v < count; v++)
        if (visits[v].next < visits[v].count &&
            (!first || compare_coordinates(visits[v].run, first->run, mode_count) < 0))
            first = &visits[v];
    return first;
}

// Of a run of a part with the coordinates from lo to before hi in the last mode.
static int64_t elements_in(const RequestedPart *of, int64_t lo, int64_t hi) {
    const int last = of->requests->modes[of->requests->mode_count - 1];
    return saturated_mul(of->each, positions_count((PositionSet){lo, hi, of->part->rect.periodic[last]}));
}

// Appends a run, which has all its elements now, to the part that is being received.
static void end_run(Sharing *sharing, const int64_t *run, int64_t elements) {
    const int last = sharing->requests->mode_count - 1;
    const SharedRun joined = {sharing->shared.elements, run[last], run[last + 1]};
    selection_add_run(&sharing->shared.parts, run, sharing->arena);
    array_push(sharing->arena, sharing->joined, joined);
    sharing->shared.elements += elements;
}

// Joins the runs of parts that have the same elements at the same coordinates, and appends them as one part.
// Returns the elements that are requested several times, each as often as it is requested again.
static int64_t join_runs(Sharing *sharing, const RequestedPart *parts, int64_t count) {
    Selection *received = &sharing->shared.parts;
    const int modes = received->mode_count, last = modes - 1;
    const int64_t before = sharing->shared.elements;
    RunVisit *visits = arena_array(sharing->arena, RunVisit, count);
    int64_t run[MAX_ORDER + 1], requested = 0;
    for (int64_t v = 0; v < count; v++)
        visits[v] = begin_visit(sharing, &parts[v]);
    selection_add_part(received, &parts->part->rect, parts->part->peer, sharing->arena);
    RunVisit *visit = first_in_order(visits, count, modes);
    memcpy(run, visit->run, sizeof *run * (size_t)run_length(modes));
    do {
        if (compare_coordinates(visit->run, run, last) != 0 || visit->run[last] > run[last + 1]) {
            end_run(sharing, run, elements_in(parts, run[last], run[last + 1]));
            memcpy(run, visit->run, sizeof *run * (size_t)run_length(modes));
        }
        run[last + 1] = max_i64(run[last + 1], visit->run[last + 1]);
        sharing->joined_with[visit->of->first + visit->next] = sharing->joined.count;
        requested += elements_in(parts, visit->run[last], visit->run[last + 1]);
        advance(visit, modes);
    } while ((visit = first_in_order(visits, count, modes)));
    end_run(sharing, run, elements_in(parts, run[last], run[last + 1]));
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
    for (int64_t p = 0; p < count; p++)
        for (int64_t r = parts[p].first; r < parts[p].first + part_rect_count(parts[p].part); r++)
            shared->runs[r] =
                again > 0 ? sharing->joined.items[sharing->joined_with[r]] : (SharedRun){.offset = -1};
    if (again > 0)
        return;
    shared->parts.parts.count = before.parts.parts.count;
    shared->parts.numbers.count = before.parts.numbers.count;
    shared->elements = before.elements;
}

SharedParts shared_parts_find(const Selection *requests, const Home *home, Arena *arena) {
    const int64_t count = requests->parts.count, rects = selection_rect_count(requests);
    Sharing sharing = {.requests = requests,
                       .arena = arena,
                       .shared = {selection_like(requests), 0, arena_array(arena, SharedRun, rects)},
                       .joined_with = arena_array(arena, int64_t, rects)};
    const RequestedPart *parts = list_parts(requests, home, arena);
    for (int64_t p = 0, end; p < count; p = end) {
        for (end = p + 1; end < count && parts[end].part->peer == parts[p].part->peer;)
            end++;
        join_parts(&sharing, &parts[p], end - p);
    }
    return sharing.shared;
}

Rect shared_run_rect(const Selection *requests, const SelectedPart *part, int64_t index,
                     const SharedRun *run) {
    const int last = requests->modes[requests->mode_count - 1];
    Rect rect = part_rect(requests, part, index);
    rect_set_mode(&rect, last, (PositionSet){run->lo, run->hi, part->rect.periodic[last]});
    return rect;
}
