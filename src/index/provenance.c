// SPDX-License-Identifier: BSD-3-Clause
#include "index/provenance.h"

#include "base/integer.h"

#include <string.h>

struct Provenance {
    const Cin *cin;
    int var_count;
    int64_t extents[MAX_VARS];
    bool derives[MAX_VARS]; // a parent: it is no loop any more
    int relation_count;
    const Relation **relations; // those of provenance, in order of derivation
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
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (relation_parents(relation) == 0)
            continue;
        provenance->relations[provenance->relation_count++] = relation;
        for (int p = 0; p < relation_parents(relation); p++)
            provenance->derives[relation->parent[p]] = true;
    }
    return provenance;
}

int64_t provenance_extent(const Provenance *provenance, int var) {
    return provenance->extents[var];
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
    memset(related, 0, sizeof(bool) * MAX_VARS);
    for (int m = 0; m < access->tensor->order; m++)
        related[access->vars[m]] = true;
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < provenance->relation_count; i++) {
            const Relation *relation = provenance->relations[i];
            int vars[MAX_VARS + 4], count = 0, known = 0;
            for (int p = 0; p < relation_parents(relation); p++)
                vars[count++] = relation->parent[p];
            for (int c = 0; c < relation_children(relation); c++)
                vars[count++] = relation->child[c];
            for (int k = 0; k < relation->var_count; k++)
                vars[count++] = relation->vars[k];
            for (int k = 0; k < count; k++)
                known += related[vars[k]];
            if (!active[relation->child[0]] || known == 0 || known == count)
                continue;
            for (int k = 0; k < count; k++)
                related[vars[k]] = true;
            grown = true;
        }
    }
}

static void set_interval(Box *box, int var, int64_t lo, int64_t hi) {
    box->lo[var] = lo;
    box->hi[var] = hi;
}

// Each recover_* replaces box `at` by the boxes that the parents' values form, clamped to the parents'
// extents; further boxes go to the end of the list. False when nothing of the box is left.

// Strided sets, and loops that are rotated by variables that are not fixed, make several boxes of one. Where
// that would be more than so many in all, the whole range between the first and the last coordinate is taken:
// it has more elements, and takes no more memory, as buffers hold the hull.
enum { MAX_BOXES = 1 << 14 };

static bool recover_split(const Provenance *provenance, const Relation *relation, Arena *arena,
                          BoxArray *boxes, int64_t at) {
    int parent = relation->parent[0], outer = relation->child[0], inner = relation->child[1];
    int64_t block = provenance->extents[inner], end = provenance->extents[parent];
    Box *box = &boxes->items[at];
    int64_t inner_lo = box->lo[inner], inner_hi = box->hi[inner];
    int64_t outer_lo = box->lo[outer], outer_hi = box->hi[outer];
    if (outer_hi - outer_lo == 1 || (inner_lo == 0 && inner_hi == block) ||
        boxes->count + outer_hi - outer_lo > MAX_BOXES) {
        set_interval(box, parent, outer_lo * block + inner_lo,
                     min_i64((outer_hi - 1) * block + inner_hi, end));
        return box->lo[parent] < box->hi[parent];
    }
    // A strided set: one interval for each value of the outer variable.
    bool first = true;
    for (int64_t o = outer_lo; o < outer_hi; o++) {
        Box one = boxes->items[at];
        set_interval(&one, parent, o * block + inner_lo, min_i64(o * block + inner_hi, end));
        if (one.lo[parent] >= one.hi[parent])
            break;
        if (first)
            boxes->items[at] = one;
        else
            array_push(arena, *boxes, one);
        first = false;
    }
    return !first;
}

static bool recover_collapse(const Provenance *provenance, const Relation *relation, Arena *arena,
                             BoxArray *boxes, int64_t at) {
    int outer = relation->parent[0], inner = relation->parent[1], fused = relation->child[0];
    int64_t width = provenance->extents[inner];
    Box box = boxes->items[at];
    int64_t first_row = box.lo[fused] / width, first_column = box.lo[fused] % width;
    int64_t last_row = (box.hi[fused] - 1) / width, end_column = (box.hi[fused] - 1) % width + 1;
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
        set_interval(&box, outer, parts[i].row_lo, parts[i].row_hi);
        set_interval(&box, inner, parts[i].column_lo, parts[i].column_hi);
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
        const int64_t lo = box.lo[var], hi = box.hi[var];
        for (int64_t value = lo; value < hi; value++) {
            set_interval(&box, var, value, value + 1);
            rotate_boxes(rotation, box, next + 1, (shift + value) % extent);
        }
        return;
    }
    const int64_t length = box.hi[result] - box.lo[result], first = (box.lo[result] + shift) % extent;
    set_interval(&box, target, first, min_i64(first + length, extent));
    add_rotated(rotation, &box);
    if (first + length > extent) {
        set_interval(&box, target, 0, first + length - extent);
        add_rotated(rotation, &box);
    }
}

static bool recover_rotate(const Provenance *provenance, const Relation *relation, Arena *arena,
                           BoxArray *boxes, int64_t at) {
    const int target = relation->parent[0], result = relation->child[0];
    Box *box = &boxes->items[at];
    int64_t rotations = 1;
    for (int i = 0; i < relation->var_count && rotations <= MAX_BOXES; i++) {
        const int64_t length = box->hi[relation->vars[i]] - box->lo[relation->vars[i]];
        rotations = length <= MAX_BOXES ? rotations * length : length;
    }
    if (box->hi[result] - box->lo[result] >= provenance->extents[target] ||
        boxes->count + rotations > MAX_BOXES) {
        set_interval(box, target, 0, provenance->extents[target]);
        return true;
    }
    Rotation rotation = {provenance, relation, arena, boxes, at, false};
    rotate_boxes(&rotation, *box, 0, 0);
    return rotation.any;
}

typedef bool (*Recover)(const Provenance *, const Relation *, Arena *, BoxArray *, int64_t);
static const Recover recover[] = {
    [REL_SPLIT] = recover_split,
    [REL_DIVIDE] = recover_split,
    [REL_COLLAPSE] = recover_collapse,
    [REL_ROTATE] = recover_rotate,
};

void provenance_boxes(const Provenance *provenance, const bool *active, const bool *fixed,
                      const int64_t *value, Arena *arena, BoxArray *boxes) {
    int64_t first = boxes->count;
    array_push(arena, *boxes, (Box){0});
    Box *box = &boxes->items[first];
    for (int v = 0; v < provenance->var_count; v++) {
        if (!active[v] || provenance->derives[v])
            continue;
        set_interval(box, v, fixed[v] ? value[v] : 0, fixed[v] ? value[v] + 1 : provenance->extents[v]);
        if (box->lo[v] >= box->hi[v] || box->hi[v] > provenance->extents[v]) {
            boxes->count = first;
            return;
        }
    }
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const Relation *relation = provenance->relations[i];
        if (!active[relation->child[0]])
            continue;
        int64_t count = boxes->count; // boxes that the relation itself adds are recovered already
        for (int64_t at = first; at < count;) {
            if (recover[relation->kind](provenance, relation, arena, boxes, at)) {
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

static Rect access_rect(const Box *box, const Access *access) {
    Rect rect = {.order = access->tensor->order};
    for (int d = 0; d < rect.order; d++) {
        rect.lo[d] = box->lo[access->vars[d]];
        rect.hi[d] = box->hi[access->vars[d]];
    }
    return rect;
}

void provenance_region(const BoxArray *boxes, const Access *access, Arena *arena, Region *region) {
    if (boxes->count == 0)
        return;
    array_push(arena, region->rects, access_rect(&boxes->items[0], access));
    if (boxes->count == 1)
        return;
    // Boxes are disjoint, their images need not be: each adds what the ones before it lack. Those of a
    // strided set come in order, outside of the hull of the ones before.
    Rect hull = region->rects.items[0];
    for (int64_t i = 1; i < boxes->count; i++) {
        Rect rect = access_rect(&boxes->items[i], access), common;
        if (!rect_intersect(&hull, &rect, &common)) {
            array_push(arena, region->rects, rect);
            hull = rect_hull(&hull, &rect);
            continue;
        }
        hull = rect_hull(&hull, &rect);
        Region fresh = {0};
        array_push(arena, fresh.rects, rect);
        for (int64_t k = 0; k < region->rects.count && fresh.rects.count; k++)
            region_subtract(&fresh, &region->rects.items[k], arena);
        for (int64_t k = 0; k < fresh.rects.count; k++)
            array_push(arena, region->rects, fresh.rects.items[k]);
    }
    region_coalesce(region);
}
