// SPDX-License-Identifier: BSD-3-Clause
#include "plan/indexed.h"

#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

static bool has_periodic(const Layout *layout) {
    for (int m = 0; m < layout->order; m++)
        if (layout->cyclic_parts[m])
            return true;
    return false;
}

// The transfer of the operand that indexes this one.
static int indexing_transfer(const StatementPlan *plan, int transfer) {
    const Spmd *spmd = plan->spmd;
    int t = 0;
    while (spmd->transfers[t].nest != spmd->transfers[transfer].nest ||
           spmd->transfers[t].kind != TRANSFER_FETCH ||
           !access_equal(spmd->transfers[t].statement_access, spmd->transfers[transfer].indexed_by))
        t++;
    return t;
}

int transfer_indexed_by(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Tensor *tensor = of->statement_access->tensor;
    if (!of->indexed_by || plan->ranks == 1)
        return -1;
    const int by = indexing_transfer(plan, transfer);
    // Of two sparse operands that index each other, the one that stays at home does, or else the first.
    if (tensor_is_sparse(tensor))
        return plan->moves[transfer] && (!plan->moves[by] || by < transfer) &&
                       transfer_indexed_by(plan, by) < 0
                   ? by
                   : -1;
    const Home *home = &plan->homes[tensor->id];
    return of->access == of->statement_access && plan->footprints[transfer]->steps == 1 &&
                   home->kind == HOME_LAYOUT && !has_periodic(&home->layout)
               ? by
               : -1;
}

// The modes of the operand that have a variable of the one that indexes it, and its modes with these.
typedef struct {
    int count;
    int modes[MAX_ORDER], of[MAX_ORDER];
} Shared;

static Shared shared_modes(const Transfer *transfer) {
    const Access *access = transfer->statement_access, *by = transfer->indexed_by;
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

static int compare_parts(const void *left, const void *right) {
    const Part *a = left, *b = right;
    return a->peer != b->peer ? (a->peer < b->peer ? -1 : 1) : rect_compare(&a->rect, &b->rect);
}

typedef struct {
    const Home *home;
    int64_t rank, choice;
    bool with_own;  // parts that the rank has at home are listed, too
    Region own;     // pieces of the rank
    Region last;    // pieces of the rank that had the part before
    int64_t holder; // that rank; -1
    Arena *arena, *scratch;
    IndexedUse *use;
} Search;

static void add_part(Search *search, const Rect *rect, int64_t peer) {
    const Part part = {.rect = rect_copy(rect, search->arena), .peer = peer, .piece = -1};
    array_push(search->arena, search->use->parts, part);
}

// Finds the owners of a part that the rank lacks; most have the owner of the part before.
static void find_holders(Search *search, const Rect *rect) {
    if (pieces_with(&search->last, rect) >= 0) {
        add_part(search, rect, search->holder);
        return;
    }
    HoldingArray found = {0};
    home_find(search->home, rect, search->choice, search->scratch, &found);
    for (int64_t i = 0; i < found.count; i++)
        add_part(search, &found.items[i].rect, found.items[i].rank);
    // Of replicas, the next part may have another one that is nearer.
    if (found.count == 1 && !search->home->replicated) {
        search->holder = found.items[0].rank;
        search->last = home_pieces(search->home, search->holder, search->arena);
    }
}

// Makes a box that contains `rect` as well.
static void extend(Rect *box, const Rect *rect) {
    const bool first = rect_is_empty(box);
    box->order = rect->order;
    for (int m = 0; m < rect->order; m++) {
        box->lo[m] = first ? rect->lo[m] : min_i64(box->lo[m], rect->lo[m]);
        box->hi[m] = first ? rect->hi[m] : max_i64(box->hi[m], rect->hi[m]);
    }
}

static void find_parts(Search *search, const Rect *rect) {
    Region missing = {0};
    Rect common;
    extend(&search->use->view, rect);
    if (!search->with_own && pieces_with(&search->own, rect) >= 0)
        return;
    arena_reset(search->scratch);
    array_push(search->scratch, missing.rects, *rect);
    for (int64_t i = 0; i < search->own.rects.count && missing.rects.count > 0; i++) {
        const Rect *own = &search->own.rects.items[i];
        if (search->with_own && rect_intersect(own, rect, search->scratch, &common))
            add_part(search, &common, search->rank);
        region_subtract(&missing, own, search->scratch);
    }
    for (int64_t i = 0; i < missing.rects.count; i++)
        find_holders(search, &missing.rects.items[i]);
}

// The points from `p` on that are neighbours in the last shared mode, and equal in the others: their number.
static int64_t count_run(const Shared *shared, const Entries *points, int64_t p) {
    const int last = shared->count - 1;
    int64_t run = 1;
    for (bool next = true; next && p + run < points->count; run += next) {
        next = points->coordinates[last][p + run] == points->coordinates[last][p] + run;
        for (int i = 0; i < last && next; i++)
            next = points->coordinates[i][p + run] == points->coordinates[i][p];
    }
    return run;
}

// The part of a footprint at a run of points of the shared modes; false where that is nothing.
static bool rect_at_points(const Rect *footprint, const Shared *shared, const Entries *points, int64_t p,
                           int64_t run, Rect *rect) {
    *rect = *footprint;
    for (int i = 0; i < shared->count; i++) {
        const int mode = shared->modes[i];
        const int64_t x = points->coordinates[i][p], count = i + 1 < shared->count ? 1 : run;
        const PositionSet at = positions_clip(rect_mode(footprint, mode), x, x + count);
        if (positions_count(at) == 0)
            return false;
        rect_set_mode(rect, mode, at);
    }
    return true;
}

static const char *find_indexed(Search *search, const Region *footprint, const Shared *shared,
                                Entries *entries, const Region *used) {
    Entries points = {0};
    Rect rect;
    const char *why = entries_keep_within(entries, used);
    if (!why)
        why = entries_distinct(entries, shared->count, shared->of, &points);
    for (int64_t p = 0, run; !why && p < points.count; p += run) {
        run = count_run(shared, &points, p);
        for (int64_t r = 0; r < footprint->rects.count; r++)
            if (rect_at_points(&footprint->rects.items[r], shared, &points, p, run, &rect))
                find_parts(search, &rect);
    }
    entries_free(&points);
    return why;
}

const char *indexed_use(const StatementPlan *plan, int transfer, int64_t rank, Entries *entries, Arena *arena,
                        IndexedUse *use) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Home *home = &plan->homes[of->statement_access->tensor->id];
    const int by = transfer_indexed_by(plan, transfer);
    const Region footprint = footprint_of_steps(plan->footprints[transfer], rank, arena);
    const char *why = NULL;
    *use = (IndexedUse){.view = {.order = 1}, .piece = -1};
    Search search = {.home = home,
                     .rank = rank,
                     .choice = home_choice(home, rank),
                     .with_own = tensor_is_sparse(home->tensor),
                     .own = home_pieces(home, rank, arena),
                     .holder = -1,
                     .arena = arena,
                     .scratch = arena_create_within(arena),
                     .use = use};
    if (by >= 0) {
        const Shared shared = shared_modes(of);
        const Region used = footprint_of_steps(plan->footprints[by], rank, arena);
        why = find_indexed(&search, &footprint, &shared, entries, &used);
    } else {
        for (int64_t i = 0; i < footprint.rects.count; i++)
            find_parts(&search, &footprint.rects.items[i]);
    }
    if (use->parts.count > 0)
        qsort(use->parts.items, (size_t)use->parts.count, sizeof(Part), compare_parts);
    if (!rect_is_empty(&use->view))
        use->piece = pieces_with(&search.own, &use->view);
    arena_free(search.scratch);
    return why;
}

Cost indexed_cost(const StatementPlan *plan, int transfer, int64_t rank, const int64_t *elements) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    const int64_t limit = max_i64(1, plan->options.message_limit / (int64_t)type_info(tensor->type)->size);
    Cost cost = {0};
    for (int64_t peer = 0; peer < plan->ranks; peer++) {
        if (peer == rank)
            continue;
        cost.elements += elements[peer];
        cost.messages += ceil_div(elements[peer], limit);
    }
    return cost;
}
