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

// The distinct coordinates of the points in mode `i` of theirs, as an array in the arena.
static const char *list_coordinates(const Entries *points, int i, Arena *arena, int64_t *count,
                                    const int64_t **list) {
    Entries distinct = {0};
    const Entries *of = points->order == 1 ? points : &distinct;
    const char *why = points->order == 1 ? NULL : entries_distinct(points, 1, &i, &distinct);
    *count = of->count;
    if (!why)
        *list = arena_copy(arena, of->coordinates[0], sizeof(int64_t) * (size_t)of->count);
    entries_free(&distinct);
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
                               const Shared *shared, const Entries *points, Arena *arena, IndexedUse *use) {
    const int64_t size = (int64_t)type_info(plan->spmd->transfers[transfer].access->tensor->type)->size;
    const char *why = NULL;
    for (int i = 0; i < shared->count && !why; i++) {
        const int mode = shared->modes[i];
        const int64_t *list = NULL;
        int64_t count;
        if (plan->spmd->transfers[transfer].index_levels[mode] < 0 || !is_interval(footprint, mode))
            continue;
        why = list_coordinates(points, i, arena, &count, &list);
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
                              const Region *footprint, const Shared *shared, const Entries *points) {
    IndexedUse *use = search->use;
    visit_points(search, footprint, shared, points, extend_bounds);
    use->view = use->bounds;
    if (rect_is_empty(&use->bounds))
        return NULL;
    use->piece = pieces_with(&search->own, &use->bounds);
    if (use->piece >= 0)
        return NULL;
    const char *why = choose_view(plan, transfer, footprint, shared, points, search->arena, use);
    for (int m = 0; m < use->view.order; m++)
        search->with_own = search->with_own || use->coordinates[m];
    if (!search->with_own)
        find_own(&search->own, search->arena, use);
    visit_points(search, footprint, shared, points, find_parts);
    return why;
}

int indexed_level(const StatementPlan *plan, int transfer, int64_t rank) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const int by = transfer_indexed_by(plan, transfer);
    if (by < 0 || tensor_is_sparse(of->access->tensor))
        return -1;
    const Shared shared = shared_modes(of);
    const int level = shared.count == 1 ? of->index_levels[shared.modes[0]] : -1;
    Arena *scratch = arena_create_within(plan->arena);
    const Region used = footprint_of_steps(plan->footprints[by], rank, scratch);
    const Region own = home_pieces(&plan->homes[plan->spmd->transfers[by].access->tensor->id], rank, scratch);
    bool all = level >= 0;
    for (int64_t i = 0; i < own.rects.count && !plan->moves[by]; i++)
        all = all && region_contains(&used, &own.rects.items[i]);
    arena_free(scratch);
    return all ? level : -1;
}

const char *indexed_points(const StatementPlan *plan, int transfer, int64_t rank, Entries *entries,
                           IndexedPoints *points) {
    const Shared shared = shared_modes(&plan->spmd->transfers[transfer]);
    const int by = transfer_indexed_by(plan, transfer);
    Arena *scratch = arena_create_within(plan->arena);
    const Region used = footprint_of_steps(plan->footprints[by], rank, scratch);
    const char *why = entries_keep_within(entries, &used);
    arena_free(scratch);
    *points = (IndexedPoints){.entries = entries->count};
    return why ? why : entries_distinct(entries, shared.count, shared.of, &points->points);
}

const char *indexed_use(const StatementPlan *plan, int transfer, int64_t rank, const IndexedPoints *points,
                        Arena *arena, IndexedUse *use) {
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].statement_access->tensor->id];
    const Region footprint = footprint_of_steps(plan->footprints[transfer], rank, arena);
    const bool sparse = tensor_is_sparse(home->tensor);
    const Shared shared = points ? shared_modes(&plan->spmd->transfers[transfer]) : (Shared){0};
    const char *why = NULL;
    *use = (IndexedUse){
        .bounds = {.order = 1}, .view = {.order = 1}, .piece = -1, .entries = points ? points->entries : 0};
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
    if (points && sparse)
        visit_points(&search, &footprint, &shared, &points->points, find_parts);
    else if (points)
        why = find_dense(&search, plan, transfer, &footprint, &shared, &points->points);
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

// Of rows that are added one after the other, the consecutive ones with most entries that need nothing.
typedef struct {
    IndexedRows found;
    int64_t begin, entries; // of those before the current one
} RowRun;

static void end_run(RowRun *run, int64_t row) {
    if (run->entries > run->found.entries) {
        run->found.begin = run->begin;
        run->found.end = row;
        run->found.entries = run->entries;
    }
    run->entries = 0;
    run->begin = row == INT64_MAX ? row : row + 1;
}

// Whether coordinates at consecutive positions of a list are within an interval.
static bool all_within(const LevelArrays *level, int array, Slice positions, int64_t lo, int64_t hi) {
    int64_t outside = 0;
    for (int64_t p = positions.first; p < positions.first + positions.count; p++) {
        const int64_t x = level_coordinate(level, array, p);
        outside += x < lo || x >= hi;
    }
    return outside == 0;
}

IndexedRows indexed_rows(const StatementPlan *plan, int transfer, int64_t rank, const StoredTensor *by,
                         const IndexedUse *use, Arena *arena) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Shared shared = shared_modes(of);
    const int mode = shared.modes[0], level = of->index_levels[mode];
    const int array = level_array(by->levels[level].format, LEVEL_ARRAY_COORDINATES);
    const bool all = use->parts.count == 0;
    RowRun run = {.found = {.first = INT64_MAX}};
    Rect own;
    if (!all && !find_largest(plan, transfer, rank, &shared, &own, arena))
        return (IndexedRows){0};
    for (int64_t p = 0; p < by->arrays[0].extent; p++) {
        const int64_t row = by->arrays[0].first + p;
        Slice positions = {p, 1};
        for (int l = 1; l <= level; l++)
            positions =
                by->levels[l].format->image(&by->arrays[l], positions, 0, by->extents[by->mode_order[l]]);
        if (positions.count == 0)
            continue;
        run.found.first = min_i64(run.found.first, row);
        run.found.after = row + 1;
        if (all || all_within(&by->arrays[level], array, positions, own.lo[mode], own.hi[mode]))
            run.entries += positions.count;
        else
            end_run(&run, row);
    }
    end_run(&run, INT64_MAX);
    return run.found;
}

int64_t part_numbers(const Rect *rect) {
    int64_t count = 3 * (int64_t)rect->order;
    for (int d = 0; d < rect->order; d++)
        if (rect->periodic[d])
            count += 3 + 3 * rect->periodic[d]->count;
    return count;
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
