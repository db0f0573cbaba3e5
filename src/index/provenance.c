// SPDX-License-Identifier: BSD-3-Clause
#include "index/provenance.h"

#include "base/integer.h"

#include <string.h>

struct Provenance {
    int var_count;
    int64_t extents[MAX_VARS];
    bool derives[MAX_VARS]; // a parent: it is no loop any more
    int relation_count;
    NumericRelation *relations; // in order of derivation
};

static bool find_extents(Provenance *provenance, const Cin *cin, const int64_t *params,
                         Diagnostics *diagnostics) {
    for (int v = 0; v < cin->var_count; v++) {
        const IndexVar *var = &cin->vars[v];
        if (!int_eval(var->extent, params, NULL, &provenance->extents[v]) || provenance->extents[v] < 0)
            return diagnostics_error(diagnostics, var->span,
                                     "the extent of '%s' is negative, overflows 64 bits, or divides by zero",
                                     var->name);
    }
    return true;
}

static bool put_in_numbers(Provenance *provenance, const Cin *cin, const int64_t *params,
                           NumericRelation *numeric, Arena *arena, Diagnostics *diagnostics) {
    const Relation *relation = &numeric->relation;
    for (int p = 0; p < relation->kind->parents; p++)
        numeric->parent[p] = provenance->extents[relation->parent[p]];
    for (int c = 0; c < relation->kind->children; c++)
        numeric->child[c] = provenance->extents[relation->child[c]];
    for (int n = 0; n < relation->kind->numbers; n++)
        if (!int_eval(relation->numbers[n], params, NULL, &numeric->numbers[n]))
            numeric->numbers[n] = 0; // the extents have refused it, or the relation does
    numeric->child_may_be_periodic = provenance->derives[relation->child[0]];
    const char *wrong = relation->kind->invalid ? relation->kind->invalid(numeric, arena) : NULL;
    if (wrong)
        return diagnostics_error(diagnostics, relation->span, "%s", wrong);
    int64_t end; // of whole blocks, which may reach beyond the parent
    if (relation->kind->partitions && !checked_mul(numeric->child[0], numeric->child[1], &end))
        return diagnostics_error(diagnostics, relation->span, "the blocks of '%s' reach beyond 64 bits",
                                 cin->vars[relation->parent[0]].name);
    return true;
}

Provenance *provenance_create(const Cin *cin, const int64_t *params, Arena *arena, Diagnostics *diagnostics) {
    Provenance *provenance = arena_new(arena, Provenance);
    provenance->var_count = cin->var_count;
    provenance->relation_count = (int)cin->relations.count;
    provenance->relations = arena_array(arena, NumericRelation, cin->relations.count);
    if (!find_extents(provenance, cin, params, diagnostics))
        return NULL;
    for (int i = 0; i < provenance->relation_count; i++)
        for (int v = 0; v < cin->var_count; v++)
            provenance->derives[v] |= relation_parents(cin->relations.items[i]) >> v & 1;
    for (int i = 0; i < provenance->relation_count; i++) {
        provenance->relations[i].relation = *cin->relations.items[i];
        if (!put_in_numbers(provenance, cin, params, &provenance->relations[i], arena, diagnostics))
            return NULL;
    }
    return provenance;
}

Provenance *provenance_copy(const Provenance *provenance, Arena *arena) {
    Provenance *copy = arena_copy(arena, provenance, sizeof *provenance);
    copy->relations = arena_copy(arena, provenance->relations,
                                 sizeof *copy->relations * (size_t)provenance->relation_count);
    return copy;
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
        const Relation *relation = &provenance->relations[i].relation;
        for (int p = 0; active[relation->child[0]] && p < relation->kind->parents; p++)
            active[relation->parent[p]] = true;
    }
}

void provenance_related(const Provenance *provenance, const bool *active, const Access *access,
                        bool *related) {
    VarSet found = access_vars(access);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < provenance->relation_count; i++) {
            const Relation *relation = &provenance->relations[i].relation;
            const VarSet vars =
                relation_parents(relation) | relation_children(relation) | relation_operands(relation);
            if (!active[relation->child[0]] || !(vars & found) || !(vars & ~found))
                continue;
            found |= vars;
            grown = true;
        }
    }
    for (int v = 0; v < MAX_VARS; v++)
        related[v] = found >> v & 1;
}

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
    const int64_t first = boxes->count;
    array_push(arena, *boxes, (Box){0});
    if (!start(provenance, active, ranges, &boxes->items[first])) {
        boxes->count = first;
        return;
    }
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const NumericRelation *relation = &provenance->relations[i];
        if (!active[relation->relation.child[0]])
            continue;
        int64_t count = boxes->count; // boxes that the relation itself adds have their values already
        for (int64_t at = first; at < count;) {
            if (relation->relation.kind->boxes(relation, arena, boxes, at)) {
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

bool provenance_bounding_box(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                             BoundingBox *bounds) {
    if (!start(provenance, active, ranges, &bounds->box))
        return false;
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const NumericRelation *relation = &provenance->relations[i];
        if (active[relation->relation.child[0]] && !relation->relation.kind->bound(relation, bounds))
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
    const NumericRelation *relation = provenance->relations;
    while (relation->relation.parent[0] != var)
        relation++;
    const Relation *own = &relation->relation;
    const PositionSet part = provenance_image(provenance, box, own->child[1], inner, values, arena);
    return positions_clip(own->kind->part(relation, box->values[own->child[0]].lo, part, arena), 0,
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
