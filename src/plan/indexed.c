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

int transfer_indexed_by(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Tensor *tensor = of->statement_access->tensor;
    if (!of->indexed_by || plan->ranks == 1)
        return -1;
    const int by = of->indexing;
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
    bool sparse;    // the operand
    Arena *arena, *scratch;
    IndexedUse *use;
} Search;

static void add_part(Search *search, const Rect *rect, int64_t peer) {
    if (peer == search->rank && !search->with_own)
        return;
    const Part part = {.rect = rect_copy(rect, search->arena), .peer = peer, .piece = -1};
    IndexedParts *to = peer == search->rank && !search->sparse ? &search->use->own : &search->use->parts;
    array_push(search->arena, *to, part);
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

// Makes a box of all parts.
static void extend_bounds(Search *search, const Rect *rect) {
    Rect *box = &search->use->bounds;
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
    if (pieces_with(&search->own, rect) >= 0) {
        add_part(search, rect, search->rank);
        return;
    }
    arena_reset(search->scratch);
    array_push(search->scratch, missing.rects, *rect);
    for (int64_t i = 0; i < search->own.rects.count && missing.rects.count > 0; i++) {
        const Rect *own = &search->own.rects.items[i];
        if (rect_intersect(own, rect, search->scratch, &common))
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

// Calls `visit` for each part of the footprint at runs of points.
static void visit_points(Search *search, const Region *footprint, const Shared *shared, const Entries *points,
                         void (*visit)(Search *search, const Rect *rect)) {
    Rect rect;
    for (int64_t p = 0, run; p < points->count; p += run) {
        run = count_run(shared, points, p);
        for (int64_t r = 0; r < footprint->rects.count; r++)
            if (rect_at_points(&footprint->rects.items[r], shared, points, p, run, &rect))
                visit(search, &rect);
    }
}

// The distinct coordinates of the entries in mode `of`, as an array in the arena.
static const char *list_coordinates(const Entries *entries, int of, Arena *arena, int64_t *count,
                                    const int64_t **list) {
    Entries points;
    const char *why = entries_distinct(entries, 1, &of, &points);
    *count = points.count;
    if (!why)
        *list = arena_copy(arena, points.coordinates[0], sizeof(int64_t) * (size_t)points.count);
    entries_free(&points);
    return why;
}

static int64_t number_size(const StatementPlan *plan, int transfer, int mode) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Tensor *by = plan->spmd->transfers[of->indexing].access->tensor;
    return by->levels[of->index_levels[mode]].wide ? sizeof(int64_t) : sizeof(int32_t);
}

static bool is_interval(const Region *footprint, int mode) {
    for (int64_t r = 0; r < footprint->rects.count; r++)
        if (footprint->rects.items[r].periodic[mode])
            return false;
    return true;
}

// Chooses the modes whose coordinates are numbered in the view: each, as if those before it were as chosen
// and those after it had all coordinates of the box.
static const char *choose_view(const StatementPlan *plan, int transfer, const Region *footprint,
                               const Shared *shared, const Entries *entries, Arena *arena, IndexedUse *use) {
    const int64_t size = (int64_t)type_info(plan->spmd->transfers[transfer].access->tensor->type)->size;
    const char *why = NULL;
    for (int i = 0; i < shared->count && !why; i++) {
        const int mode = shared->modes[i];
        const int64_t *list = NULL;
        int64_t count;
        if (plan->spmd->transfers[transfer].index_levels[mode] < 0 || !is_interval(footprint, mode))
            continue;
        why = list_coordinates(entries, shared->of[i], arena, &count, &list);
        const int64_t before = saturated_mul(rect_volume(&use->view), size);
        Rect view = use->view;
        rect_set_mode(&view, mode, (PositionSet){0, count, NULL});
        const int64_t after = saturated_add(saturated_mul(rect_volume(&view), size),
                                            saturated_mul(use->entries, number_size(plan, transfer, mode)));
        if (why || before <= after)
            continue;
        use->view = view;
        use->coordinates[mode] = list;
    }
    return why;
}

int64_t coordinate_index(const int64_t *list, int64_t count, int64_t x) {
    int64_t first = 0;
    while (count > 0) {
        const int64_t half = count / 2;
        if (list[first + half] < x) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

Rect indexed_in_view(const IndexedUse *use, const Rect *part) {
    Rect rect = *part;
    for (int m = 0; m < part->order; m++)
        if (use->coordinates[m]) {
            const int64_t first = coordinate_index(use->coordinates[m], use->view.hi[m], part->lo[m]);
            rect_set_mode(&rect, m, (PositionSet){first, first + part->hi[m] - part->lo[m], NULL});
        }
    return rect;
}

int64_t indexed_buffer(const IndexedUse *use) {
    return use->piece >= 0 || rect_is_empty(&use->view) ? 0 : rect_volume(&use->view);
}

int64_t indexed_number_bytes(const StatementPlan *plan, int transfer, const IndexedUse *use) {
    int64_t bytes = 0;
    for (int m = 0; m < use->view.order; m++)
        if (use->coordinates[m])
            bytes = saturated_add(bytes, saturated_mul(use->entries, number_size(plan, transfer, m)));
    return bytes;
}

// Without numbered coordinates, all that is at home of the box is copied, as that needs no list of parts.
static void find_own(const Region *own, Arena *arena, IndexedUse *use) {
    Rect common;
    for (int64_t i = 0; i < own->rects.count; i++)
        if (rect_intersect(&own->rects.items[i], &use->bounds, arena, &common))
            array_push(arena, use->own, (Part){.rect = common});
}

// What a rank uses of a dense operand at these points.
static const char *find_dense(Search *search, const StatementPlan *plan, int transfer,
                              const Region *footprint, const Shared *shared, const Entries *entries,
                              const Entries *points) {
    IndexedUse *use = search->use;
    visit_points(search, footprint, shared, points, extend_bounds);
    use->view = use->bounds;
    if (rect_is_empty(&use->bounds))
        return NULL;
    use->piece = pieces_with(&search->own, &use->bounds);
    if (use->piece >= 0)
        return NULL;
    const char *why = choose_view(plan, transfer, footprint, shared, entries, search->arena, use);
    for (int m = 0; m < use->view.order; m++)
        search->with_own = search->with_own || use->coordinates[m];
    if (!search->with_own)
        find_own(&search->own, search->arena, use);
    visit_points(search, footprint, shared, points, find_parts);
    return why;
}

static const char *find_indexed(Search *search, const StatementPlan *plan, int transfer, int by,
                                const Region *footprint, Entries *entries) {
    const Shared shared = shared_modes(&plan->spmd->transfers[transfer]);
    const Region used = footprint_of_steps(plan->footprints[by], search->rank, search->arena);
    Entries points = {0};
    const char *why = entries_keep_within(entries, &used);
    search->use->entries = entries->count;
    if (!why)
        why = entries_distinct(entries, shared.count, shared.of, &points);
    if (!why && search->sparse)
        visit_points(search, footprint, &shared, &points, find_parts);
    else if (!why)
        why = find_dense(search, plan, transfer, footprint, &shared, entries, &points);
    entries_free(&points);
    return why;
}

const char *indexed_use(const StatementPlan *plan, int transfer, int64_t rank, Entries *entries, Arena *arena,
                        IndexedUse *use) {
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].statement_access->tensor->id];
    const int by = transfer_indexed_by(plan, transfer);
    const Region footprint = footprint_of_steps(plan->footprints[transfer], rank, arena);
    const bool sparse = tensor_is_sparse(home->tensor);
    const char *why = NULL;
    *use = (IndexedUse){.bounds = {.order = 1}, .view = {.order = 1}, .piece = -1};
    Search search = {.home = home,
                     .rank = rank,
                     .choice = home_choice(home, rank),
                     .with_own = sparse,
                     .sparse = sparse,
                     .own = home_pieces(home, rank, arena),
                     .holder = -1,
                     .arena = arena,
                     .scratch = arena_create_within(arena),
                     .use = use};
    if (by >= 0)
        why = find_indexed(&search, plan, transfer, by, &footprint, entries);
    else
        for (int64_t i = 0; i < footprint.rects.count; i++)
            find_parts(&search, &footprint.rects.items[i]);
    if (use->parts.count > 0)
        qsort(use->parts.items, (size_t)use->parts.count, sizeof(Part), compare_parts);
    arena_free(search.scratch);
    return why;
}

// The largest home piece of a rank, in the modes of the entries: those in it need nothing of other ranks.
// False where this follows from no piece alone.
static bool find_largest(const StatementPlan *plan, int transfer, int64_t rank, const Shared *shared,
                         Rect *piece, Arena *arena) {
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].statement_access->tensor->id];
    const Region own = home_pieces(home, rank, arena);
    const Region footprint = footprint_of_steps(plan->footprints[transfer], rank, arena);
    int64_t largest = -1;
    for (int64_t i = 0; i < own.rects.count; i++)
        if (largest < 0 || rect_volume(&own.rects.items[i]) > rect_volume(&own.rects.items[largest]))
            largest = i;
    if (largest < 0)
        return false;
    *piece = own.rects.items[largest];
    for (int64_t r = 0; r < footprint.rects.count; r++) {
        Rect rect = footprint.rects.items[r];
        for (int i = 0; i < shared->count; i++)
            rect_set_mode(&rect, shared->modes[i], rect_mode(piece, shared->modes[i]));
        if (!rect_contains(piece, &rect))
            return false;
    }
    return true;
}

IndexedRows indexed_rows(const StatementPlan *plan, int transfer, int64_t rank, const Entries *entries,
                         const IndexedUse *use, Arena *arena) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Shared shared = shared_modes(of);
    const int64_t *rows =
        entries->coordinates[plan->spmd->transfers[of->indexing].access->tensor->mode_order[0]];
    IndexedRows found = {.end = INT64_MAX, .entries = entries->count};
    Rect own;
    if (entries->count == 0)
        return found;
    found.first = rows[0];
    found.after = rows[entries->count - 1] + 1;
    if (use->parts.count == 0)
        return found;
    found.end = found.entries = 0;
    if (!find_largest(plan, transfer, rank, &shared, &own, arena))
        return found;
    // Rows from `begin` on need nothing so far; `before`: entries before those of the row.
    int64_t begin = 0, begin_entry = 0, before = 0;
    for (int64_t e = 0; e <= entries->count; e++) {
        const bool end = e == entries->count;
        if (!end && e > 0 && rows[e] != rows[e - 1])
            before = e;
        bool needs = end;
        for (int i = 0; i < shared.count && !needs; i++) {
            const int64_t x = entries->coordinates[shared.of[i]][e];
            needs = x < own.lo[shared.modes[i]] || x >= own.hi[shared.modes[i]];
        }
        if (!needs)
            continue;
        const int64_t run = (end ? e : before) - begin_entry;
        if (run > found.entries) {
            found.begin = begin;
            found.end = end ? INT64_MAX : rows[e];
            found.entries = run;
        }
        while (!end && e + 1 < entries->count && rows[e + 1] == rows[e])
            e++;
        begin = end ? 0 : rows[e] + 1;
        begin_entry = e + 1;
    }
    return found;
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
