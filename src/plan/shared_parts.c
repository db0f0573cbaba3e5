// SPDX-License-Identifier: BSD-3-Clause
#include "plan/shared_parts.h"

#include "base/integer.h"
#include "plan/neighbours.h"

#include <stdlib.h>
#include <string.h>

bool transfer_shares_parts(const StatementPlan *plan, int transfer) {
    return neighbours_gather(plan, transfer) && plan->plan->nodes->several;
}

int64_t nodes_receiver(const Nodes *nodes, int64_t rank, int64_t owner) {
    const int64_t members = nodes_count_members(nodes, rank);
    return members == 1 || nodes->nodes[rank] == nodes->nodes[owner] ? -1 : nodes->numbers[owner] % members;
}

// A part of what is asked for.
typedef struct {
    const Selection *asked;
    const SelectedPart *part;
    int64_t first; // the index of its first rectangle among those of all parts
    Rect across;   // its rectangle, which is empty in the modes of runs
} AskedPart;

// The runs of one part, while they are visited in order.
typedef struct {
    const AskedPart *of;
    int64_t next, count;
    const int64_t *run; // that with the number `next`
} RunVisit;

typedef struct {
    const Selection *asked;
    Arena *arena;
    Selection *received;
    SharedRun *runs;
    Array(int64_t) ends; // by run that is received, where it ends
    int64_t elements;    // of the block so far
} Sharing;

static int compare_periodic(const Periodic *a, const Periodic *b) {
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    if (a->period != b->period)
        return a->period < b->period ? -1 : 1;
    return positions_compare(positions_clip((PositionSet){0, a->period, a}, 0, a->period),
                             positions_clip((PositionSet){0, b->period, b}, 0, b->period));
}

// By owner, and by what parts have at each coordinate of runs. Where both are equal, so are elements of runs
// with equal coordinates.
static int compare_asked(const void *left, const void *right) {
    const AskedPart *a = left, *b = right;
    int order = part_order(a->part->peer, &a->across, b->part->peer, &b->across);
    for (int i = 0; i < a->asked->mode_count && order == 0; i++) {
        const int mode = a->asked->modes[i];
        order = compare_periodic(a->part->rect.periodic[mode], b->part->rect.periodic[mode]);
    }
    return order;
}

static AskedPart *list_parts(const Sharing *sharing) {
    const Selection *asked = sharing->asked;
    AskedPart *list = arena_array(sharing->arena, AskedPart, asked->parts.count);
    int64_t first = 0;
    for (int64_t p = 0; p < asked->parts.count; p++) {
        const SelectedPart *part = &asked->parts.items[p];
        list[p] = (AskedPart){asked, part, first, part->rect};
        for (int i = 0; i < asked->mode_count; i++)
            rect_set_mode(&list[p].across, asked->modes[i], (PositionSet){0, 0, NULL});
        first += part_rect_count(part);
    }
    qsort(list, (size_t)asked->parts.count, sizeof *list, compare_asked);
    return list;
}

// A part without runs has one, all of its rectangle.
static RunVisit begin_visit(const Sharing *sharing, const AskedPart *of) {
    const Selection *asked = sharing->asked;
    const SelectedPart *part = of->part;
    if (part->count > 0)
        return (RunVisit){of, 0, part->count, selection_run(asked, part->first)};
    int64_t *run = arena_array(sharing->arena, int64_t, run_length(asked->mode_count));
    for (int i = 0; i < asked->mode_count; i++) {
        run[i] = part->rect.lo[asked->modes[i]];
        run[i + 1] = part->rect.hi[asked->modes[i]];
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

static RunVisit *first_in_order(RunVisit *visits, int64_t count, int mode_count) {
    RunVisit *first = NULL;
    for (int64_t v = 0; v < count; v++)
        if (visits[v].next < visits[v].count &&
            (!first || compare_coordinates(visits[v].run, first->run, mode_count) < 0))
            first = &visits[v];
    return first;
}

// Of a run of one of these parts.
static int64_t elements_of(const Selection *asked, const AskedPart *of, const int64_t *run) {
    const int last = asked->mode_count - 1, mode = asked->modes[last];
    Rect rect = of->across;
    for (int i = 0; i < last; i++)
        rect_set_mode(&rect, asked->modes[i], (PositionSet){0, 1, NULL});
    rect_set_mode(&rect, mode, (PositionSet){run[last], run[last + 1], of->part->rect.periodic[mode]});
    return rect_volume(&rect);
}

static void end_run(Sharing *sharing, const AskedPart *of, const int64_t *run) {
    selection_add_run(sharing->received, run, sharing->arena);
    sharing->elements += elements_of(sharing->asked, of, run);
    array_push(sharing->arena, sharing->ends, run[sharing->asked->mode_count]);
}

// Joins the runs of parts that have the same elements at the same coordinates, and appends them as one part.
// Returns the elements that are asked for several times, each as often as it is asked for again.
static int64_t join_runs(Sharing *sharing, const AskedPart *parts, int64_t count) {
    const Selection *asked = sharing->asked;
    Selection *received = sharing->received;
    const int modes = asked->mode_count, last = modes - 1;
    RunVisit *visits = arena_array(sharing->arena, RunVisit, count), *visit;
    const int64_t before = sharing->elements;
    int64_t run[MAX_ORDER + 1] = {0}, sum = 0;
    bool any = false;
    for (int64_t v = 0; v < count; v++)
        visits[v] = begin_visit(sharing, &parts[v]);
    selection_add_part(received, &parts[0].part->rect, parts[0].part->peer, sharing->arena);
    while ((visit = first_in_order(visits, count, modes))) {
        if (!any || compare_coordinates(visit->run, run, last) != 0 || visit->run[last] > run[last + 1]) {
            if (any)
                end_run(sharing, parts, run);
            memcpy(run, visit->run, sizeof *run * (size_t)run_length(modes));
            any = true;
        }
        run[last + 1] = max_i64(run[last + 1], visit->run[last + 1]);
        // Where it ends is known later.
        sharing->runs[visit->of->first + visit->next] =
            (SharedRun){sharing->elements, run[last], sharing->ends.count};
        sum += elements_of(asked, parts, visit->run);
        advance(visit, modes);
    }
    end_run(sharing, parts, run);
    selection_end_runs(received);
    return sum - (sharing->elements - before);
}

// The parts of one owner. Where nothing is asked for twice, the ranks request it themselves.
static void join_parts(Sharing *sharing, const AskedPart *parts, int64_t count) {
    const int64_t part_count = sharing->received->parts.count, numbers = sharing->received->numbers.count;
    const int64_t elements = sharing->elements;
    int64_t again = 0;
    for (int64_t p = 0, end; p < count; p = end) {
        for (end = p + 1; end < count && compare_asked(&parts[p], &parts[end]) == 0;)
            end++;
        again += join_runs(sharing, &parts[p], end - p);
    }
    for (int64_t p = 0; p < count; p++)
        for (int64_t r = 0; r < part_rect_count(parts[p].part); r++) {
            SharedRun *run = &sharing->runs[parts[p].first + r];
            *run = again > 0 ? (SharedRun){run->offset, run->lo, sharing->ends.items[run->hi]}
                             : (SharedRun){.offset = -1};
        }
    if (again > 0)
        return;
    sharing->received->parts.count = part_count;
    sharing->received->numbers.count = numbers;
    sharing->elements = elements;
}

int64_t shared_parts_find(const Selection *asked, Arena *arena, Selection *received, SharedRun *runs) {
    Sharing sharing = {.asked = asked, .arena = arena, .received = received, .runs = runs};
    const int64_t count = asked->parts.count;
    const AskedPart *parts = list_parts(&sharing);
    received->mode_count = asked->mode_count;
    memcpy(received->modes, asked->modes, sizeof received->modes);
    for (int64_t p = 0, end; p < count; p = end) {
        for (end = p + 1; end < count && parts[end].part->peer == parts[p].part->peer;)
            end++;
        join_parts(&sharing, &parts[p], end - p);
    }
    return sharing.elements;
}

Rect shared_run_rect(const Selection *asked, const SelectedPart *part, int64_t index, const SharedRun *run) {
    const int last = asked->modes[asked->mode_count - 1];
    Rect rect = part_rect(asked, part, index);
    rect_set_mode(&rect, last, (PositionSet){run->lo, run->hi, part->rect.periodic[last]});
    return rect;
}
