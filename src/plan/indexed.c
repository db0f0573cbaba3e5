// SPDX-License-Identifier: BSD-3-Clause
#include "plan/indexed.h"

#include "base/integer.h"
#include "format/cut.h"

#include <string.h>

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
                   home->kind == HOME_LAYOUT
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

typedef struct {
    const Home *home;
    int64_t rank, choice;
    bool with_own; // parts that the rank has at home are listed, too
    Region own;    // pieces of the rank
    bool sparse;   // the operand
    Shared shared;
    const Entries *points; // NULL: all of the footprint is used
    int64_t begin, end;    // those of the points that are looked at
    Arena *arena, *scratch;
    IndexedUse *use;
} Search;

// The first point from `p` on, in lexicographic order, within the intervals of a rectangle, or the end.
static int64_t next_point(const Search *search, const Rect *rect, int64_t p) {
    const Entries *points = search->points;
    for (int i = 0; p < search->end && i < search->shared.count;) {
        const int mode = search->shared.modes[i];
        const int64_t x = points->coordinates[i][p];
        if (x >= rect->lo[mode] && x < rect->hi[mode]) {
            i++;
            continue;
        }
        const bool beyond = x >= rect->hi[mode];
        if (beyond && i == 0)
            return search->end;
        int64_t key[MAX_ORDER] = {0};
        for (int k = 0; k < points->order; k++)
            key[k] = k < i ? points->coordinates[k][p] : rect->lo[search->shared.modes[k]];
        if (beyond)
            key[i - 1]++;
        p = entries_lower_bound(points, NULL, key);
        i = 0;
    }
    return min_i64(p, search->end);
}

// The points from `p` on that are neighbours in the last shared mode, before `hi`, and equal in the others:
// their number.
static int64_t count_run(const Search *search, int64_t p, int64_t hi) {
    const Entries *points = search->points;
    const int last = search->shared.count - 1;
    const int64_t *x = points->coordinates[last] + p;
    const int64_t most = min_i64(search->end - p, hi - x[0]);
    int64_t run = 1;
    for (bool next = true; next && run < most; run += next) {
        next = x[run] == x[0] + run;
        for (int i = 0; i < last && next; i++)
            next = points->coordinates[i][p + run] == points->coordinates[i][p];
    }
    return run;
}

// The next run of points from *p on that is in the rectangle, and *p after it; false: there is none.
static bool next_run(const Search *search, const Rect *rect, int64_t *p, int64_t *run) {
    const int last = search->shared.count - 1, mode = search->shared.modes[last];
    while ((*p = next_point(search, rect, *p)) < search->end) {
        const int64_t x = search->points->coordinates[last][*p];
        const int64_t count = count_run(search, *p, rect->hi[mode]);
        bool any = true;
        for (int i = 0; i < last; i++) {
            run[i] = search->points->coordinates[i][*p];
            any = any && rect_has(rect, search->shared.modes[i], run[i]);
        }
        const PositionSet at = positions_clip(rect_mode(rect, mode), x, x + count);
        run[last] = at.lo;
        run[last + 1] = at.hi;
        *p += count;
        if (any && at.lo < at.hi)
            return true;
    }
    return false;
}

// Makes a box of all that is used of a footprint.
static void extend_bounds(Search *search, const Rect *footprint) {
    Rect *box = &search->use->bounds;
    int64_t run[MAX_ORDER + 1];
    const int last = search->shared.count - 1;
    for (int64_t p = 0; next_run(search, footprint, &p, run);) {
        const bool first = rect_is_empty(box);
        if (first)
            *box = (Rect){.order = footprint->order};
        for (int m = 0; m < footprint->order; m++) {
            int64_t lo = footprint->lo[m], hi = footprint->hi[m];
            for (int i = 0; i <= last; i++)
                if (search->shared.modes[i] == m) {
                    const PositionSet at = run_interval(search->shared.count, run, i);
                    lo = at.lo;
                    hi = at.hi;
                }
            box->lo[m] = first ? lo : min_i64(box->lo[m], lo);
            box->hi[m] = first ? hi : max_i64(box->hi[m], hi);
        }
    }
}

// Adds what is used of a rectangle that a rank has at home.
static void add_part(Search *search, const Rect *rect, int64_t peer) {
    if (peer == search->rank && !search->with_own)
        return;
    Selection *to = peer == search->rank && !search->sparse ? &search->use->own : &search->use->parts;
    int64_t run[MAX_ORDER + 1], p = search->begin;
    if (!search->points) {
        selection_add_part(to, rect, peer, search->arena);
        return;
    }
    bool any = false;
    for (; next_run(search, rect, &p, run); any = true) {
        if (!any)
            selection_add_part(to, rect, peer, search->arena);
        selection_add_run(to, run, search->arena);
    }
    if (any)
        selection_end_runs(to);
}

// The part of the footprint that the points looked at can be in; false where there is none.
static bool narrow(const Search *search, const Rect *footprint, Rect *box) {
    *box = *footprint;
    bool equal = true;
    for (int i = 0; search->points && equal && i < search->shared.count; i++) {
        const int mode = search->shared.modes[i];
        const int64_t *x = search->points->coordinates[i];
        const PositionSet at = positions_clip(rect_mode(box, mode), x[search->begin], x[search->end - 1] + 1);
        if (at.lo >= at.hi)
            return false;
        rect_set_mode(box, mode, at);
        equal = x[search->begin] == x[search->end - 1];
    }
    return true;
}

// Whether looking for the points of each of these parts would take much longer than looking for the part of
// each point: where there are fewer points than parts, or parts are periodic, each of which has points
// everywhere among all of them. The search is then divided in halves.
static bool are_many(const Search *search, const HoldingArray *found) {
    enum { FEW = 16 };
    const int64_t points = search->points ? search->end - search->begin : 1;
    bool periodic = false;
    for (int i = 0; i < search->shared.count && found->count > FEW; i++)
        periodic = periodic || found->items[0].rect.periodic[search->shared.modes[i]];
    return points > 1 && (periodic || found->count > points);
}

// Finds who has what is used of a footprint at the points looked at: of all of them at the same time, or of
// one half after the other.
static void find_parts(Search *search, const Rect *footprint) {
    Region missing = {0};
    HoldingArray found = {0};
    Rect box, common;
    if ((search->points && search->begin == search->end) || !narrow(search, footprint, &box))
        return;
    arena_reset(search->scratch);
    array_push(search->scratch, missing.rects, box);
    region_subtract_all(&missing, &search->own, search->scratch);
    for (int64_t i = 0; i < missing.rects.count; i++)
        home_find(search->home, &missing.rects.items[i], search->choice, search->scratch, &found);
    if (are_many(search, &found)) {
        const int64_t begin = search->begin, end = search->end, middle = begin + (end - begin) / 2;
        search->end = middle;
        find_parts(search, footprint);
        search->begin = middle;
        search->end = end;
        find_parts(search, footprint);
        search->begin = begin;
        return;
    }
    for (int64_t i = 0; i < search->own.rects.count; i++)
        if (rect_intersect(&search->own.rects.items[i], &box, search->scratch, &common))
            add_part(search, &common, search->rank);
    for (int64_t i = 0; i < found.count; i++)
        add_part(search, &found.items[i].rect, found.items[i].rank);
}

static void find_all_parts(Search *search, const Region *footprint) {
    for (int64_t r = 0; r < footprint->rects.count; r++)
        find_parts(search, &footprint->rects.items[r]);
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

static bool is_periodic(const Rect *rect) {
    for (int m = 0; m < rect->order; m++)
        if (rect->periodic[m])
            return true;
    return false;
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

int64_t indexed_number_bytes(const StatementPlan *plan, int transfer, const IndexedUse *use) {
    int64_t bytes = 0;
    for (int m = 0; m < use->view.order; m++)
        if (use->coordinates[m])
            bytes = saturated_add(bytes, saturated_mul(use->entries, number_size(plan, transfer, m)));
    return bytes;
}

// Without numbered coordinates, all that is at home of the box is copied, as that needs no list of parts.
static void find_own(Search *search) {
    IndexedUse *use = search->use;
    Rect common;
    for (int64_t i = 0; i < search->own.rects.count; i++)
        if (rect_intersect(&search->own.rects.items[i], &use->bounds, search->arena, &common))
            selection_add_part(&use->own, &common, search->rank, search->arena);
}

// What a rank uses of a dense operand at these points.
static const char *find_dense(Search *search, const StatementPlan *plan, int transfer,
                              const Region *footprint) {
    IndexedUse *use = search->use;
    for (int64_t r = 0; r < footprint->rects.count; r++)
        extend_bounds(search, &footprint->rects.items[r]);
    use->view = use->bounds;
    if (rect_is_empty(&use->bounds))
        return NULL;
    // Leaves expect all coordinates from the first to the last one.
    use->piece = pieces_with(&search->own, &use->bounds);
    if (use->piece >= 0 && is_periodic(&search->own.rects.items[use->piece]))
        use->piece = -1;
    if (use->piece >= 0)
        return NULL;
    const char *why =
        choose_view(plan, transfer, footprint, &search->shared, search->points, search->arena, use);
    for (int m = 0; m < use->view.order; m++)
        search->with_own = search->with_own || use->coordinates[m];
    if (!search->with_own)
        find_own(search);
    find_all_parts(search, footprint);
    return why;
}

// Whether all entries are in the region, as those of a part of positions are, which is less than what lies
// between it and the next one.
static bool has_all(const Region *region, const StoredTensor *stored, Arena *scratch) {
    enum { FEW = 64 };
    const int64_t count = region->rects.count;
    const Rect **rects = arena_array(scratch, const Rect *, count);
    SliceArray slices = {0};
    for (int64_t i = 0; i < count; i++)
        rects[i] = &region->rects.items[i];
    return count <= FEW &&
           cutter_cut(&(Cutter){.tensor = stored}, count, rects, scratch, &slices) == stored->value_count;
}

int indexed_level(const StatementPlan *plan, int transfer, int64_t rank, const StoredTensor *by_stored) {
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
    all = all || (level >= 0 && by_stored && has_all(&used, by_stored, scratch));
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
    const char *why = NULL;
    *use = (IndexedUse){
        .bounds = {.order = 1}, .view = {.order = 1}, .piece = -1, .entries = points ? points->entries : 0};
    Search search = {.home = home,
                     .rank = rank,
                     .choice = home_choice(home, rank),
                     .with_own = sparse,
                     .sparse = sparse,
                     .own = home_pieces(home, rank, arena),
                     .points = points ? &points->points : NULL,
                     .end = points ? points->points.count : 0,
                     .arena = arena,
                     .scratch = arena_create_within(arena),
                     .use = use};
    if (points)
        search.shared = shared_modes(&plan->spmd->transfers[transfer]);
    use->parts.mode_count = search.shared.count;
    memcpy(use->parts.modes, search.shared.modes, sizeof search.shared.modes);
    use->own = selection_like(&use->parts);
    if (points && !sparse)
        why = find_dense(&search, plan, transfer, &footprint);
    else
        find_all_parts(&search, &footprint);
    selection_sort(&use->parts);
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
    if (is_periodic(piece))
        return false;
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
    const bool all = use->parts.parts.count == 0;
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
