// SPDX-License-Identifier: BSD-3-Clause
#include "plan/search.h"

#include "base/integer.h"

typedef struct {
    const Footprints *footprints;
    SearchKind kind;
    const Footprint *target;
    SearchVisit visit;
    void *context;
    Arena *scratch; // of one leaf
    // Loops from the outermost on, then the related dimensions.
    int var_count;
    int vars[MAX_VARS];
    LoopRanges ranges;
} Search;

static bool overlaps(const Search *search, const BoundingBox *bounds, const Rect *rect) {
    for (int m = 0; m < rect->order; m++) {
        const PositionSet reached = footprints_reached(search->footprints, &bounds->box, m);
        if (reached.lo >= rect->hi[m] || rect->lo[m] >= reached.hi ||
            ((reached.periodic || rect->periodic[m]) && positions_common(reached, rect_mode(rect, m)) == 0))
            return false;
    }
    return true;
}

// A footprint that is equal to `rect` cannot reach less.
static bool covers(const Search *search, const BoundingBox *bounds, const Rect *rect) {
    for (int m = 0; m < rect->order; m++)
        if (!positions_contain(footprints_reached(search->footprints, &bounds->box, m), rect_mode(rect, m)))
            return false;
    return true;
}

static bool is_possible(const Search *search) {
    BoundingBox bounds;
    if (!provenance_bounding_box(search->footprints->provenance, search->footprints->related, &search->ranges,
                                 &bounds))
        return false;
    const RectArray *rects = &search->target->region.rects;
    for (int64_t i = 0; i < rects->count; i++) {
        if (search->kind == SEARCH_OVERLAPPING && overlaps(search, &bounds, &rects->items[i]))
            return true;
        if (search->kind == SEARCH_EQUAL && !covers(search, &bounds, &rects->items[i]))
            return false;
    }
    return search->kind == SEARCH_EQUAL;
}

static bool is_found(const Search *search, const Footprint *footprint) {
    if (search->kind == SEARCH_EQUAL)
        return footprint_equal(footprint, search->target);
    const RectArray *found = &footprint->region.rects, *target = &search->target->region.rects;
    for (int64_t i = 0; i < found->count; i++)
        for (int64_t k = 0; k < target->count; k++)
            if (rect_common(&found->items[i], &target->items[k]) > 0)
                return true;
    return false;
}

static bool visit_leaf(Search *search) {
    const Footprints *footprints = search->footprints;
    Worker worker = {0};
    int64_t iteration = 0;
    for (int i = 0; i < footprints->loop_count; i++)
        iteration = iteration * provenance_extent(footprints->provenance, footprints->loops[i]) +
                    search->ranges.lo[footprints->loops[i]];
    for (int d = 0; d < footprints->grid.order; d++)
        worker.coordinates[d] = footprints->related_dims[d] ? search->ranges.lo[footprints->vars[d]]
                                : footprints->vars[d] < 0   ? footprints->fixed[d]
                                                            : 0;
    worker_locate(footprints, &worker);
    Footprint footprint;
    arena_reset(search->scratch);
    footprint_find(footprints, worker.coordinates, iteration, search->scratch, &footprint);
    return !is_found(search, &footprint) || search->visit(search->context, &worker, iteration, &footprint);
}

// The variable to bisect: the outermost loop that has several values, else the coordinate that has most, as
// the target often restricts one of several; -1: each has one value.
static int next_variable(const Search *search) {
    int widest = -1;
    int64_t most = 1;
    for (int i = 0; i < search->var_count; i++) {
        const int var = search->vars[i];
        const int64_t count = search->ranges.hi[var] - search->ranges.lo[var];
        if (i < search->footprints->loop_count && count > 1)
            return var;
        if (count > most) {
            widest = var;
            most = count;
        }
    }
    return widest;
}

static bool bisect(Search *search) {
    if (!is_possible(search))
        return true;
    LoopRanges *ranges = &search->ranges;
    const int var = next_variable(search);
    if (var < 0)
        return visit_leaf(search);
    const int64_t lo = ranges->lo[var], hi = ranges->hi[var], middle = lo + (hi - lo) / 2;
    ranges->hi[var] = middle;
    bool goes_on = bisect(search);
    ranges->lo[var] = middle;
    ranges->hi[var] = hi;
    goes_on = goes_on && bisect(search);
    ranges->lo[var] = lo;
    return goes_on;
}

// Iterations [first, last) of the loops from `depth` on, while those before have one value, as ranges: all
// iterations of one value of this loop, between two values in which only a part is meant.
static bool search_iterations(Search *search, int depth, int64_t first, int64_t last) {
    const Footprints *footprints = search->footprints;
    if (first >= last)
        return true;
    int64_t inner = 1; // iterations of the loops below this one
    for (int i = depth + 1; i < footprints->loop_count; i++)
        inner *= provenance_extent(footprints->provenance, footprints->loops[i]);
    if (depth == footprints->loop_count)
        return bisect(search);
    const int var = footprints->loops[depth];
    const LoopRanges saved = search->ranges;
    const int64_t whole_lo = ceil_div(first, inner), whole_hi = last / inner;
    bool goes_on = true;
    if (whole_lo > whole_hi) { // within one value
        ranges_fix(&search->ranges, var, whole_hi);
        goes_on = search_iterations(search, depth + 1, first - whole_hi * inner, last - whole_hi * inner);
        search->ranges = saved;
        return goes_on;
    }
    if (first < whole_lo * inner) {
        ranges_fix(&search->ranges, var, whole_lo - 1);
        goes_on = search_iterations(search, depth + 1, first - (whole_lo - 1) * inner, inner);
        search->ranges = saved;
    }
    if (goes_on && whole_lo < whole_hi) {
        ranges_restrict(&search->ranges, var, whole_lo, whole_hi);
        goes_on = bisect(search);
        search->ranges = saved;
    }
    if (goes_on && whole_hi * inner < last) {
        ranges_fix(&search->ranges, var, whole_hi);
        goes_on = search_iterations(search, depth + 1, 0, last - whole_hi * inner);
        search->ranges = saved;
    }
    return goes_on;
}

static int64_t grid_extent(const Footprints *footprints, int var) {
    int d = 0;
    while (footprints->vars[d] != var)
        d++;
    return footprints->grid.extents[d];
}

bool search_classes(const Footprints *footprints, int64_t first, int64_t last, SearchKind kind,
                    const Footprint *target, Arena *scratch, SearchVisit visit, void *context) {
    Search search = {.footprints = footprints,
                     .kind = kind,
                     .target = target,
                     .visit = visit,
                     .context = context,
                     .scratch = arena_create_within(scratch)};
    for (int i = 0; i < footprints->loop_count; i++)
        search.vars[search.var_count++] = footprints->loops[i];
    bool takes_part = target->region.rects.count > 0;
    for (int d = 0; d < footprints->grid.order; d++) {
        if (footprints->related_dims[d])
            search.vars[search.var_count++] = footprints->vars[d];
        takes_part =
            takes_part && (footprints->vars[d] >= 0 ||
                           (footprints->fixed[d] >= 0 && footprints->fixed[d] < footprints->grid.extents[d]));
    }
    provenance_ranges(footprints->provenance, &search.ranges);
    for (int i = footprints->loop_count; i < search.var_count; i++)
        search.ranges.hi[search.vars[i]] =
            min_i64(search.ranges.hi[search.vars[i]], grid_extent(footprints, search.vars[i]));
    const bool goes_on = !takes_part || search_iterations(&search, 0, first, last);
    arena_free(search.scratch);
    return goes_on;
}

// A worker with coordinate 0 in the dimensions that are not related.
static Worker representative(const Footprints *footprints, const Worker *member) {
    Worker worker = *member;
    for (int d = 0; d < footprints->grid.order; d++)
        if (!footprints->related_dims[d])
            worker.coordinates[d] = footprints->vars[d] < 0 ? footprints->fixed[d] : 0;
    worker_locate(footprints, &worker);
    return worker;
}

bool search_step(const Footprints *footprints, int64_t step, SearchKind kind, const Footprint *target,
                 Arena *scratch, SearchVisit visit, void *context) {
    const int64_t iteration = step_iteration(footprints, step), local = step_local(footprints, step);
    // A home of that many processors intersects the footprints of more classes than ranks have in a step.
    if (footprints->per_rank <= footprints->ranks)
        return search_classes(footprints, iteration, iteration + 1, kind, target, scratch, visit, context);
    const Search search = {.footprints = footprints, .kind = kind, .target = target};
    Arena *listed = arena_create_within(scratch), *found = arena_create_within(scratch);
    int64_t *seen = arena_array(listed, int64_t, footprints->ranks), count = 0;
    bool goes_on = true;
    for (int64_t rank = 0; rank < footprints->ranks && goes_on && target->region.rects.count > 0; rank++) {
        Worker worker;
        Footprint footprint;
        if (!footprints_worker(footprints, rank, local, &worker))
            continue;
        worker = representative(footprints, &worker);
        bool is_new = true;
        for (int64_t i = 0; i < count && is_new; i++)
            is_new = seen[i] != worker.class_key;
        if (!is_new)
            continue;
        seen[count++] = worker.class_key;
        arena_reset(found);
        footprint_find(footprints, worker.coordinates, iteration, found, &footprint);
        goes_on = !is_found(&search, &footprint) || visit(context, &worker, iteration, &footprint);
    }
    arena_free(found);
    arena_free(listed);
    return goes_on;
}
