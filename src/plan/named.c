// SPDX-License-Identifier: BSD-3-Clause
#include "plan/named.h"

#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

static bool has_periodic(const Layout *layout) {
    for (int m = 0; m < layout->order; m++)
        if (layout->cyclic_parts[m])
            return true;
    return false;
}

bool transfer_is_named(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Home *home = &plan->homes[of->statement_access->tensor->id];
    return of->named_by && of->access == of->statement_access && plan->ranks > 1 &&
           plan->footprints[transfer]->steps == 1 && home->kind == HOME_LAYOUT &&
           !has_periodic(&home->layout);
}

// The modes of the dense operand whose variables index the sparse one, and where they are there.
typedef struct {
    int count;
    int modes[MAX_ORDER], of[MAX_ORDER];
} Shared;

static Shared shared_modes(const Transfer *transfer) {
    const Access *access = transfer->statement_access, *by = transfer->named_by;
    Shared shared = {0};
    for (int m = 0; m < access->tensor->order; m++)
        for (int k = 0; k < by->tensor->order; k++)
            if (access->vars[m] == by->vars[k]) {
                shared.modes[shared.count] = m;
                shared.of[shared.count++] = k;
                break;
            }
    return shared;
}

static int sparse_transfer(const StatementPlan *plan, int transfer) {
    const Spmd *spmd = plan->spmd;
    for (int t = 0; t < spmd->transfer_count; t++)
        if (spmd->transfers[t].nest == spmd->transfers[transfer].nest &&
            spmd->transfers[t].kind == TRANSFER_FETCH &&
            access_equal(spmd->transfers[t].statement_access, spmd->transfers[transfer].named_by))
            return t;
    return -1;
}

// The distinct coordinates in shared modes, in order. `points` gets them instead of modes of the tensor.
static const char *find_points(const Entries *entries, const Shared *shared, Entries *points) {
    static const int natural[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    *points = (Entries){.type = TYPE_I32, .order = shared->count, .count = entries->count};
    for (int i = 0; i < shared->count; i++)
        points->extents[i] = entries->extents[shared->of[i]];
    const char *why = entries_allocate(points);
    if (why || entries->count == 0)
        return why;
    for (int i = 0; i < shared->count; i++)
        memcpy(points->coordinates[i], entries->coordinates[shared->of[i]],
               (size_t)entries->count * sizeof(int64_t));
    memset(points->values, 0, (size_t)entries->count * sizeof(int32_t));
    why = entries_sort(points, natural);
    return why ? why : entries_sum_duplicates(points);
}

static bool contains(const Rect *outer, const Rect *inner) {
    for (int d = 0; d < outer->order; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}

static int compare_parts(const void *left, const void *right) {
    const Part *a = left, *b = right;
    return a->peer != b->peer ? (a->peer < b->peer ? -1 : 1) : rect_compare(&a->rect, &b->rect);
}

typedef struct {
    const StatementPlan *plan;
    const Home *home;
    int64_t rank, choice;
    Region own;     // pieces of the rank
    Region last;    // pieces of the rank that had the element before
    int64_t holder; // that rank; -1
    Arena *arena, *scratch;
    NamedParts *parts;
} Search;

// Where a part is that the rank lacks; most are where the one before was.
static void find_holders(Search *search, const Rect *rect) {
    for (int64_t i = 0; i < search->last.rects.count; i++)
        if (contains(&search->last.rects.items[i], rect)) {
            array_push(search->arena, *search->parts,
                       (Part){.rect = *rect, .peer = search->holder, .piece = -1});
            return;
        }
    HoldingArray found = {0};
    arena_reset(search->scratch);
    home_find(search->home, rect, search->choice, search->scratch, &found);
    for (int64_t i = 0; i < found.count; i++)
        array_push(search->arena, *search->parts,
                   (Part){.rect = found.items[i].rect, .peer = found.items[i].rank, .piece = -1});
    // Of replicas, another one may be nearer to what comes next.
    if (found.count == 1 && !search->home->replicated) {
        search->holder = found.items[0].rank;
        search->last = home_pieces(search->home, search->holder, search->arena);
    }
}

static void find_missing(Search *search, const Rect *rect) {
    Region missing = {0};
    for (int64_t i = 0; i < search->own.rects.count; i++)
        if (contains(&search->own.rects.items[i], rect))
            return;
    array_push(search->scratch, missing.rects, *rect);
    for (int64_t i = 0; i < search->own.rects.count; i++)
        region_subtract(&missing, &search->own.rects.items[i], search->arena);
    for (int64_t i = 0; i < missing.rects.count; i++) {
        const Rect part = missing.rects.items[i];
        find_holders(search, &part);
    }
}

const char *named_parts(const StatementPlan *plan, int transfer, int64_t rank, Entries *entries, Arena *arena,
                        NamedParts *parts) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Shared shared = shared_modes(of);
    const Home *home = &plan->homes[of->statement_access->tensor->id];
    Footprint used, footprint;
    Worker worker;
    *parts = (NamedParts){0};
    if (!footprint_of_rank(plan->footprints[sparse_transfer(plan, transfer)], rank, 0, arena, &worker,
                           &used) ||
        !footprint_of_rank(plan->footprints[transfer], rank, 0, arena, &worker, &footprint))
        return NULL;
    Entries points = {0};
    const char *why = entries_keep_within(entries, &used.region);
    if (!why)
        why = find_points(entries, &shared, &points);
    Search search = {.plan = plan,
                     .home = home,
                     .rank = rank,
                     .choice = home_choice(home, rank),
                     .own = home_pieces(home, rank, arena),
                     .holder = -1,
                     .arena = arena,
                     .scratch = arena_create_within(arena),
                     .parts = parts};
    for (int64_t p = 0; !why && p < points.count; p++)
        for (int64_t r = 0; r < footprint.region.rects.count; r++) {
            Rect rect = footprint.region.rects.items[r];
            bool inside = true;
            for (int i = 0; i < shared.count; i++) {
                const int64_t x = points.coordinates[i][p];
                inside = inside && rect.lo[shared.modes[i]] <= x && x < rect.hi[shared.modes[i]];
                rect.lo[shared.modes[i]] = x;
                rect.hi[shared.modes[i]] = x + 1;
            }
            if (inside)
                find_missing(&search, &rect);
        }
    if (parts->count > 0)
        qsort(parts->items, (size_t)parts->count, sizeof(Part), compare_parts);
    entries_free(&points);
    arena_free(search.scratch);
    return why;
}

Cost named_cost(const StatementPlan *plan, int transfer, const NamedParts *parts, int64_t *sent) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    const int64_t limit = max_i64(1, plan->options.message_limit / (int64_t)type_info(tensor->type)->size);
    Cost cost = {0};
    for (int64_t i = 0; i < parts->count;) {
        int64_t elements = 0;
        const int64_t peer = parts->items[i].peer;
        for (; i < parts->count && parts->items[i].peer == peer; i++)
            elements += rect_volume(&parts->items[i].rect);
        cost.elements += elements;
        cost.messages += ceil_div(elements, limit);
        if (sent)
            sent[peer] += elements;
    }
    return cost;
}
