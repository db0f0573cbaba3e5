// SPDX-License-Identifier: BSD-3-Clause
#include "index/provenance.h"

#include "base/integer.h"

#include <string.h>

struct Provenance {
    const Cin *cin;
    int var_count;
    int64_t extents[MAX_VARS];
    bool derives[MAX_VARS];         // a parent: it is no loop any more
    bool may_be_periodic[MAX_VARS]; // in a bounding box, whatever the ranges
    int relation_count;
    const Relation **relations; // those of provenance, in order of derivation
    int64_t *blocks;            // of REL_CYCLIC, by relation
};

Provenance *provenance_create(const Cin *cin, const int64_t *params, Arena *arena, Diagnostics *diagnostics) {
    Provenance *provenance = arena_new(arena, Provenance);
    provenance->cin = cin;
    provenance->var_count = cin->var_count;
    for (int v = 0; v < cin->var_count; v++) {
        const IndexVar *var = &cin->vars[v];
        if (!int_eval(var->extent, params, NULL, &provenance->extents[v]) || provenance->extents[v] < 0) {
            diagnostics_error(diagnostics, var->span,
                              "the extent of '%s' is negative, overflows 64 bits, or divides by zero",
                              var->name);
            return NULL;
        }
    }
    provenance->relations = arena_array(arena, const Relation *, cin->relations.count);
    provenance->blocks = arena_array(arena, int64_t, cin->relations.count);
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (relation_parents(relation) == 0)
            continue;
        int64_t *block = &provenance->blocks[provenance->relation_count];
        if (relation->kind == REL_CYCLIC &&
            (!int_eval(relation->factor, params, NULL, block) || *block < 1 || *block > MAX_CYCLE)) {
            diagnostics_error(diagnostics, relation->span, "blocks have 1 to %d coordinates", MAX_CYCLE);
            return NULL;
        }
        int64_t end; // of whole blocks, which may reach beyond the parent
        if (relation_is_partition(relation) && !checked_mul(provenance->extents[relation->child[0]],
                                                            provenance->extents[relation->child[1]], &end)) {
            diagnostics_error(diagnostics, relation->span, "the blocks of '%s' reach beyond 64 bits",
                              cin->vars[relation->parent[0]].name);
            return NULL;
        }
        provenance->relations[provenance->relation_count++] = relation;
        for (int p = 0; p < relation_parents(relation); p++) {
            provenance->derives[relation->parent[p]] = true;
            provenance->may_be_periodic[relation->parent[p]] = true;
        }
    }
    return provenance;
}

int64_t provenance_extent(const Provenance *provenance, int var) {
    return provenance->extents[var];
}

void provenance_ranges(const Provenance *provenance, LoopRanges *ranges) {
    for (int v = 0; v < provenance->var_count; v++)
        ranges_restrict(ranges, v, 0, provenance->extents[v]);
}

void provenance_active(const Provenance *provenance, const int *loops, int loop_count, bool *active) {
    memset(active, 0, sizeof(bool) * MAX_VARS);
    for (int i = 0; i < loop_count; i++)
        active[loops[i]] = true;
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const Relation *relation = provenance->relations[i];
        if (!active[relation->child[0]])
            continue;
        for (int p = 0; p < relation_parents(relation); p++)
            active[relation->parent[p]] = true;
    }
}

void provenance_related(const Provenance *provenance, const bool *active, const Access *access,
                        bool *related) {
    VarSet found = access_vars(access);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < provenance->relation_count; i++) {
            const Relation *relation = provenance->relations[i];
            const VarSet vars = relation_parent_vars(relation) | relation_child_vars(relation) |
                                relation_shift_vars(relation);
            if (!active[relation->child[0]] || !(vars & found) || !(vars & ~found))
                continue;
            found |= vars;
            grown = true;
        }
    }
    for (int v = 0; v < MAX_VARS; v++)
        related[v] = found >> v & 1;
}

static PositionSet interval(int64_t lo, int64_t hi) {
    return (PositionSet){lo, hi, NULL};
}

static bool is_full(PositionSet values, int64_t extent) {
    return !values.periodic && values.lo == 0 && values.hi == extent;
}

// Each recover_* replaces box `at` by the boxes that the parents' values form, clamped to the parents'
// extents; further boxes go to the end of the list. False when nothing of the box is left.

// Several boxes are made of one where values have gaps that no periodic describes, and where loops are
// rotated by variables that are not fixed. Where that would be more than so many in all, the gaps are taken
// as well: these are more elements, and take no more memory, as buffers hold the bounding box.
enum { MAX_BOXES = 1 << 10 };

// The part of a parent under one value of the outer variable.
typedef PositionSet (*PartOf)(const Provenance *provenance, int relation, PositionSet inner, int64_t outer,
                              Arena *arena);

static PositionSet part_of_blocks(const Provenance *provenance, int relation, PositionSet inner,
                                  int64_t outer, Arena *arena) {
    const int64_t block = provenance->extents[provenance->relations[relation]->child[1]];
    return positions_shift(inner, outer * block, arena);
}

static PositionSet part_of_cyclic(const Provenance *provenance, int relation, PositionSet inner,
                                  int64_t outer, Arena *arena) {
    const int64_t size = provenance->extents[provenance->relations[relation]->child[0]];
    return positions_cyclic(inner, provenance->blocks[relation], size, outer, arena);
}

// One box for each value of the outer variable. Where there is one value no box is added, and the part is
// exact whatever the other variables do: buffers of what a processor has of a REL_CYCLIC have no room for
// gaps.
static bool recover_parts(const Provenance *provenance, int relation, PartOf part_of, Arena *arena,
                          BoxArray *boxes, int64_t at) {
    const Relation *own = provenance->relations[relation];
    const int parent = own->parent[0];
    const PositionSet outer = boxes->items[at].values[own->child[0]];
    const PositionSet inner = boxes->items[at].values[own->child[1]];
    const int64_t count = positions_count(outer);
    bool any = false;
    if (count > 1 && boxes->count + count > MAX_BOXES) {
        boxes->items[at].values[parent] = interval(0, provenance->extents[parent]);
        return provenance->extents[parent] > 0;
    }
    for (int64_t i = 0; i < count; i++) {
        PositionSet part = part_of(provenance, relation, inner, positions_at(outer, i), arena);
        part = positions_clip(part, 0, provenance->extents[parent]);
        if (part.lo >= part.hi)
            continue;
        // The first takes the place of the box, and the others differ from it in the parent only.
        if (any)
            array_push(arena, *boxes, boxes->items[at]);
        boxes->items[any ? boxes->count - 1 : at].values[parent] = part;
        any = true;
    }
    return any;
}

static bool recover_blocks(const Provenance *provenance, int relation, Arena *arena, BoxArray *boxes,
                           int64_t at) {
    const Relation *own = provenance->relations[relation];
    const int64_t block = provenance->extents[own->child[1]], end = provenance->extents[own->parent[0]];
    Box *box = &boxes->items[at];
    const PositionSet outer = box->values[own->child[0]], inner = box->values[own->child[1]];
    const bool full = is_full(inner, block);
    if (outer.hi - outer.lo == 1 || (!full && (outer.periodic || inner.periodic)))
        return recover_parts(provenance, relation, part_of_blocks, arena, boxes, at);
    // Whole blocks lie side by side; parts of them repeat.
    const PositionSet values =
        full ? positions_scale(outer, block, arena) : positions_repeat(inner, block, outer, arena);
    box->values[own->parent[0]] = positions_clip(values, 0, end);
    return box->values[own->parent[0]].lo < box->values[own->parent[0]].hi;
}

static bool recover_cyclic(const Provenance *provenance, int relation, Arena *arena, BoxArray *boxes,
                           int64_t at) {
    const Relation *own = provenance->relations[relation];
    Box *box = &boxes->items[at];
    if (is_full(box->values[own->child[0]], provenance->extents[own->child[0]]) &&
        is_full(box->values[own->child[1]], provenance->extents[own->child[1]])) {
        box->values[own->parent[0]] = interval(0, provenance->extents[own->parent[0]]);
        return provenance->extents[own->parent[0]] > 0;
    }
    return recover_parts(provenance, relation, part_of_cyclic, arena, boxes, at);
}

static bool recover_collapse(const Provenance *provenance, int index, Arena *arena, BoxArray *boxes,
                             int64_t at) {
    const Relation *relation = provenance->relations[index];
    int outer = relation->parent[0], inner = relation->parent[1], fused = relation->child[0];
    int64_t width = provenance->extents[inner];
    Box box = boxes->items[at];
    int64_t first_row = box.values[fused].lo / width, first_column = box.values[fused].lo % width;
    int64_t last_row = (box.values[fused].hi - 1) / width,
            end_column = (box.values[fused].hi - 1) % width + 1;
    // At most three boxes: a partial first row, whole rows, a partial last row.
    struct {
        int64_t row_lo, row_hi, column_lo, column_hi;
    } parts[3];
    int count = 0;
    if (first_row == last_row) {
        parts[count++] = (__typeof__(parts[0])){first_row, first_row + 1, first_column, end_column};
    } else {
        int64_t whole_lo = first_row + (first_column > 0), whole_hi = last_row + (end_column == width);
        if (first_column > 0)
            parts[count++] = (__typeof__(parts[0])){first_row, first_row + 1, first_column, width};
        if (whole_lo < whole_hi)
            parts[count++] = (__typeof__(parts[0])){whole_lo, whole_hi, 0, width};
        if (end_column < width)
            parts[count++] = (__typeof__(parts[0])){last_row, last_row + 1, 0, end_column};
    }
    for (int i = 0; i < count; i++) {
        box.values[outer] = interval(parts[i].row_lo, parts[i].row_hi);
        box.values[inner] = interval(parts[i].column_lo, parts[i].column_hi);
        if (i == 0)
            boxes->items[at] = box;
        else
            array_push(arena, *boxes, box);
    }
    return true;
}

// The first box takes the place of box `at`, the others go to the end.
typedef struct {
    const Provenance *provenance;
    const Relation *relation;
    Arena *arena;
    BoxArray *boxes;
    int64_t at;
    bool any;
} Rotation;

static void add_rotated(Rotation *rotation, const Box *box) {
    if (rotation->any)
        array_push(rotation->arena, *rotation->boxes, *box);
    else
        rotation->boxes->items[rotation->at] = *box;
    rotation->any = true;
}

// The boxes for each value of the variables from `next` on that the loop is rotated by.
static void rotate_boxes(Rotation *rotation, Box box, int next, int64_t shift) {
    const Relation *relation = rotation->relation;
    const int target = relation->parent[0], result = relation->child[0];
    const int64_t extent = rotation->provenance->extents[target];
    if (next < relation->var_count) {
        const int var = relation->vars[next];
        const int64_t lo = box.values[var].lo, hi = box.values[var].hi;
        for (int64_t value = lo; value < hi; value++) {
            box.values[var] = (PositionSet){value, value + 1, box.values[var].periodic};
            rotate_boxes(rotation, box, next + 1, (shift + value) % extent);
        }
        return;
    }
    const int64_t length = box.values[result].hi - box.values[result].lo,
                  first = (box.values[result].lo + shift) % extent;
    box.values[target] = interval(first, min_i64(first + length, extent));
    add_rotated(rotation, &box);
    if (first + length > extent) {
        box.values[target] = interval(0, first + length - extent);
        add_rotated(rotation, &box);
    }
}

static bool recover_rotate(const Provenance *provenance, int index, Arena *arena, BoxArray *boxes,
                           int64_t at) {
    const Relation *relation = provenance->relations[index];
    const int target = relation->parent[0], result = relation->child[0];
    Box *box = &boxes->items[at];
    int64_t rotations = 1;
    for (int i = 0; i < relation->var_count && rotations <= MAX_BOXES; i++) {
        const int64_t length = box->values[relation->vars[i]].hi - box->values[relation->vars[i]].lo;
        rotations = length <= MAX_BOXES ? rotations * length : length;
    }
    if (box->values[result].hi - box->values[result].lo >= provenance->extents[target] ||
        boxes->count + rotations > MAX_BOXES) {
        box->values[target] = interval(0, provenance->extents[target]);
        return true;
    }
    Rotation rotation = {provenance, relation, arena, boxes, at, false};
    rotate_boxes(&rotation, *box, 0, 0);
    return rotation.any;
}

// A box for each run of a variable that has a periodic set, which still numbers it, among those from `first`
// on.
static void take_runs(int var, Arena *arena, BoxArray *boxes, int64_t first) {
    const int64_t count = boxes->count;
    for (int64_t at = first; at < count; at++) {
        const PositionSet values = boxes->items[at].values[var];
        if (!values.periodic)
            continue;
        if (boxes->count + positions_count(values) > MAX_BOXES) {
            boxes->items[at].values[var] = interval(values.lo, values.hi);
            continue;
        }
        PositionSet run = positions_run(values, values.lo);
        boxes->items[at].values[var] = (PositionSet){run.lo, run.hi, values.periodic};
        for (run = positions_run(values, run.hi); run.lo < run.hi; run = positions_run(values, run.hi)) {
            Box box = boxes->items[at];
            box.values[var] = (PositionSet){run.lo, run.hi, values.periodic};
            array_push(arena, *boxes, box);
        }
    }
}

typedef bool (*Recover)(const Provenance *, int, Arena *, BoxArray *, int64_t);
static const Recover recover[] = {
    [REL_SPLIT] = recover_blocks,      [REL_DIVIDE] = recover_blocks, [REL_CYCLIC] = recover_cyclic,
    [REL_COLLAPSE] = recover_collapse, [REL_ROTATE] = recover_rotate,
};

// Puts in the values of the loops; false where one has none.
static bool start(const Provenance *provenance, const bool *active, const LoopRanges *ranges, Box *box) {
    for (int v = 0; v < provenance->var_count; v++) {
        if (!active[v] || provenance->derives[v])
            continue;
        box->values[v] = interval(ranges->lo[v], min_i64(ranges->hi[v], provenance->extents[v]));
        if (box->values[v].lo >= box->values[v].hi)
            return false;
    }
    return true;
}

void provenance_boxes(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                      Arena *arena, BoxArray *boxes) {
    int64_t first = boxes->count;
    array_push(arena, *boxes, (Box){0});
    if (!start(provenance, active, ranges, &boxes->items[first])) {
        boxes->count = first;
        return;
    }
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const Relation *relation = provenance->relations[i];
        if (!active[relation->child[0]])
            continue;
        if (!relation_is_partition(relation)) {
            take_runs(relation->child[0], arena, boxes, first);
            for (int k = 0; k < relation->var_count; k++)
                take_runs(relation->vars[k], arena, boxes, first);
        }
        int64_t count = boxes->count; // boxes that the relation itself adds are recovered already
        for (int64_t at = first; at < count;) {
            if (recover[relation->kind](provenance, i, arena, boxes, at)) {
                at++;
                continue;
            }
            boxes->items[at] = boxes->items[count - 1];
            boxes->items[count - 1] = boxes->items[boxes->count - 1];
            boxes->count--;
            count--;
        }
    }
}

// Each bound_* puts in a set around the values of the parents, clamped to their extents; false where that is
// empty. What keeps the whole monotone: a set that has a period has the same one whatever the ranges, and
// where two could be had, the relations alone decide which.

static bool bound(const Provenance *provenance, BoundingBox *bounds, int var, PositionSet values) {
    bounds->box.values[var] = positions_clip(values, 0, provenance->extents[var]);
    return bounds->box.values[var].lo < bounds->box.values[var].hi;
}

// From lo to hi what lies in the first `length` of each `period` positions, counted from `origin`.
static bool bound_periodic(const Provenance *provenance, BoundingBox *bounds, int var, int64_t lo, int64_t hi,
                           int64_t origin, int64_t period, int64_t length) {
    if (length >= period)
        return bound(provenance, bounds, var, interval(lo, hi));
    bounds->segments[var] = (Segment){0, length, 0};
    bounds->periodic[var] = (Periodic){origin, period, length, 1, &bounds->segments[var]};
    return bound(provenance, bounds, var, (PositionSet){lo, hi, &bounds->periodic[var]});
}

// `length` positions of a circle of the extent of `var`, from `first` on: where they pass its end, a period
// of that extent.
static bool bound_circular(const Provenance *provenance, BoundingBox *bounds, int var, int64_t first,
                           int64_t length) {
    const int64_t extent = provenance->extents[var];
    if (length <= extent - first)
        return bound(provenance, bounds, var, interval(first, first + length));
    return bound_periodic(provenance, bounds, var, 0, extent, first, extent, length);
}

static bool bound_blocks(const Provenance *provenance, int index, BoundingBox *bounds) {
    const Relation *relation = provenance->relations[index];
    const int parent = relation->parent[0];
    const int64_t block = provenance->extents[relation->child[1]];
    const PositionSet outer = bounds->box.values[relation->child[0]],
                      inner = bounds->box.values[relation->child[1]];
    const int64_t lo = outer.lo * block + inner.lo, hi = (outer.hi - 1) * block + inner.hi;
    if (outer.hi - outer.lo == 1 && inner.periodic) {
        const Periodic *periodic = inner.periodic;
        return bound_periodic(provenance, bounds, parent, lo, hi,
                              periodic->origin + periodic->segments[0].lo + outer.lo * block,
                              periodic->period, periodic->size);
    }
    if (outer.periodic)
        return bound_periodic(provenance, bounds, parent, lo, hi,
                              (outer.periodic->origin + outer.periodic->segments[0].lo) * block + inner.lo,
                              outer.periodic->period * block,
                              (outer.periodic->size - 1) * block + inner.hi - inner.lo);
    if (outer.hi - outer.lo == 1 || provenance->may_be_periodic[relation->child[0]])
        return bound(provenance, bounds, parent, interval(lo, hi));
    return bound_periodic(provenance, bounds, parent, lo, hi, inner.lo, block, inner.hi - inner.lo);
}

static bool bound_cyclic(const Provenance *provenance, int index, BoundingBox *bounds) {
    const Relation *relation = provenance->relations[index];
    const int64_t block = provenance->blocks[index], size = provenance->extents[relation->child[0]];
    const PositionSet which = bounds->box.values[relation->child[0]],
                      local = bounds->box.values[relation->child[1]];
    const int64_t last = local.hi - 1;
    return bound_periodic(provenance, bounds, relation->parent[0],
                          (local.lo / block * size + which.lo) * block + local.lo % block,
                          (last / block * size + which.hi - 1) * block + last % block + 1, which.lo * block,
                          size * block, (which.hi - which.lo) * block);
}

static bool bound_collapse(const Provenance *provenance, int index, BoundingBox *bounds) {
    const Relation *relation = provenance->relations[index];
    const PositionSet fused = bounds->box.values[relation->child[0]];
    const int64_t width = provenance->extents[relation->parent[1]];
    return bound(provenance, bounds, relation->parent[0],
                 interval(fused.lo / width, (fused.hi - 1) / width + 1)) &&
           bound_circular(provenance, bounds, relation->parent[1], fused.lo % width, fused.hi - fused.lo);
}

static bool bound_rotate(const Provenance *provenance, int index, BoundingBox *bounds) {
    const Relation *relation = provenance->relations[index];
    const int64_t extent = provenance->extents[relation->parent[0]];
    const PositionSet rotated = bounds->box.values[relation->child[0]];
    int64_t first = rotated.lo, length = rotated.hi - rotated.lo;
    for (int i = 0; i < relation->var_count; i++) {
        const PositionSet by = bounds->box.values[relation->vars[i]];
        first = (first + by.lo % extent) % extent;
        length = saturated_add(length, by.hi - by.lo - 1);
    }
    return bound_circular(provenance, bounds, relation->parent[0], first, min_i64(length, extent));
}

typedef bool (*Bound)(const Provenance *, int, BoundingBox *);
static const Bound bound_parents[] = {
    [REL_SPLIT] = bound_blocks,      [REL_DIVIDE] = bound_blocks, [REL_CYCLIC] = bound_cyclic,
    [REL_COLLAPSE] = bound_collapse, [REL_ROTATE] = bound_rotate,
};

bool provenance_bounding_box(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                             BoundingBox *bounds) {
    if (!start(provenance, active, ranges, &bounds->box))
        return false;
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const Relation *relation = provenance->relations[i];
        if (active[relation->child[0]] && !bound_parents[relation->kind](provenance, i, bounds))
            return false;
    }
    return true;
}

static Rect access_rect(const Box *box, const Access *access) {
    Rect rect = {.order = access->tensor->order};
    for (int d = 0; d < rect.order; d++)
        rect_set_mode(&rect, d, box->values[access->vars[d]]);
    return rect;
}

PositionSet provenance_image(const Provenance *provenance, const Box *box, int var, int inner,
                             PositionSet values, Arena *arena) {
    if (var == inner)
        return values;
    int relation = 0;
    while (provenance->relations[relation]->parent[0] != var)
        relation++;
    const Relation *own = provenance->relations[relation];
    const PositionSet part = provenance_image(provenance, box, own->child[1], inner, values, arena);
    const PartOf part_of = own->kind == REL_CYCLIC ? part_of_cyclic : part_of_blocks;
    return positions_clip(part_of(provenance, relation, part, box->values[own->child[0]].lo, arena), 0,
                          provenance->extents[var]);
}

void provenance_region(const BoxArray *boxes, const Access *access, Arena *arena, Region *region) {
    if (boxes->count == 0)
        return;
    array_push(arena, region->rects, access_rect(&boxes->items[0], access));
    if (boxes->count == 1)
        return;
    // Boxes are disjoint, their images need not be: each adds what the ones before it lack. Those of a
    // strided set come in order, outside of the bounding box of the ones before.
    Rect bounds = region->rects.items[0];
    for (int64_t i = 1; i < boxes->count; i++) {
        Rect rect = access_rect(&boxes->items[i], access);
        if (rect_common(&bounds, &rect) == 0) {
            array_push(arena, region->rects, rect);
            bounds = rect_bounding_box(&bounds, &rect);
            continue;
        }
        bounds = rect_bounding_box(&bounds, &rect);
        Region fresh = {0};
        array_push(arena, fresh.rects, rect);
        for (int64_t k = 0; k < region->rects.count && fresh.rects.count; k++)
            region_subtract(&fresh, &region->rects.items[k], arena);
        for (int64_t k = 0; k < fresh.rects.count; k++)
            array_push(arena, region->rects, fresh.rects.items[k]);
    }
    region_coalesce(region);
}
