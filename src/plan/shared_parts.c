// SPDX-License-Identifier: BSD-3-Clause
#include "plan/shared_parts.h"

#include "base/integer.h"
#include "machine/union.h"
#include "plan/neighbours.h"

#include <stdlib.h>
#include <string.h>

// Whether entries of a sparse operand move from their homes to the ranks that use them.
static bool fetches_entries(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    return of->kind == TRANSFER_FETCH && plan->moves[transfer] &&
           plan->homes[of->statement_access->tensor->id].memory == MEMORY_HOST;
}

bool transfer_shares_parts(const StatementPlan *plan, int transfer) {
    return plan->options.nodes && plan->plan->nodes->several &&
           (neighbours_gather(plan, transfer) || fetches_entries(plan, transfer));
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
    bool sparse; // the tensor: what is received has to be disjoint, so that its entries can be cut
    Arena *arena;
    SharedParts shared;
    double requested, received; // elements of one owner: all that ranks request; each once
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
        if (part->peer != owner && requests->mode_count > 0)
            pieces = home_pieces(home, owner = part->peer, arena);
        const int64_t piece = pieces_with(&pieces, &part->rect);
        list[p] = requested_part(requests, part, first, piece < 0 ? &part->rect : &pieces.rects.items[piece],
                                 arena);
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

// The elements of a rectangle, and of a run, of which there may be more than an integer has.
static double volume_of(const Rect *rect) {
    double volume = 1;
    for (int m = 0; m < rect->order; m++)
        volume *= (double)rect_count(rect, m);
    return volume;
}

static double elements_of(const RequestedPart *part, const int64_t *run) {
    Rect each = part->part->rect;
    for (int i = 0; i < part->requests->mode_count; i++)
        rect_set_mode(&each, part->requests->modes[i], (PositionSet){0, 1, NULL});
    return volume_of(&each) * (double)positions_count(coordinates_of(part, run));
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
    shared->elements = saturated_add(
        shared->elements, saturated_mul(part_each(part->requests, part->part), positions_count(all)));
    sharing->received += elements_of(part, run);
}

// Joins the runs of parts that are equal in compare_requested, and appends them as one part.
static void join_runs(Sharing *sharing, const RequestedPart *parts, int64_t count) {
    Selection *received = &sharing->shared.parts;
    const int modes = received->mode_count, last = modes - 1;
    RequestedRunArray runs = {0};
    int64_t run[MAX_ORDER + 1];
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
        sharing->requested += elements_of(parts, next->run);
    }
    end_run(sharing, parts, run, first, end);
    selection_end_runs(received);
}

// The parts that are equal to part `p` in compare_requested end here.
static int64_t equal_end(const RequestedPart *parts, int64_t count, int64_t p) {
    int64_t end = p + 1;
    while (end < count && compare_requested(&parts[p], &parts[end]) == 0)
        end++;
    return end;
}

// Whether parts that are not equal may have elements in common.
static bool may_overlap(const RequestedPart *parts, int64_t count, Arena *arena) {
    enum { FEW = 64 };
    int64_t different = 0;
    Rect common;
    for (int64_t p = 0; p < count; p = equal_end(parts, count, p)) {
        if (++different > FEW)
            return true;
        for (int64_t q = 0; q < p; q = equal_end(parts, count, q))
            if (rect_intersect(&parts[p].within, &parts[q].within, arena, &common))
                return true;
    }
    return false;
}

// Appends the union of parts, as parts without runs. Where in it those are that are requested is not known.
static void unite_parts(Sharing *sharing, const RequestedPart *parts, int64_t count) {
    RectArray rects = {0};
    for (int64_t p = 0; p < count; p++)
        for (int64_t r = 0; r < part_rect_count(parts[p].part); r++) {
            const Rect rect = part_rect(sharing->requests, parts[p].part, r);
            sharing->requested += volume_of(&rect);
            sharing->shared.runs[parts[p].first + r] = (SharedRun){0};
            array_push(sharing->arena, rects, rect);
        }
    const Region all = region_union(&rects, sharing->arena);
    for (int64_t r = 0; r < all.rects.count; r++) {
        sharing->received += volume_of(&all.rects.items[r]);
        selection_add_part(&sharing->shared.parts, &all.rects.items[r], parts->part->peer, sharing->arena);
    }
}

// The parts of one owner. Where nothing is requested twice, but for rounding, the ranks request it
// themselves.
static void join_parts(Sharing *sharing, const RequestedPart *parts, int64_t count) {
    static const double rounding = 1e-9;
    SharedParts *shared = &sharing->shared;
    const SharedParts before = *shared;
    sharing->requested = sharing->received = 0;
    if (sharing->requests->mode_count == 0 || (sharing->sparse && may_overlap(parts, count, sharing->arena)))
        unite_parts(sharing, parts, count);
    else
        for (int64_t p = 0, end; p < count; p = end) {
            end = equal_end(parts, count, p);
            join_runs(sharing, &parts[p], end - p);
        }
    if (sharing->requested > sharing->received * (1 + rounding))
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
                       .sparse = tensor_is_sparse(home->tensor),
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
