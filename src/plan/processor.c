// SPDX-License-Identifier: BSD-3-Clause
#include "plan/processor.h"

#include "base/integer.h"
#include "relation/balance.h"

#include <string.h>

int processor_value_count(const StatementPlan *plan) {
    int vars[MAX_VARS];
    return plan->spmd->dim_count + spmd_processor_numbers(plan->spmd, vars);
}

// The coordinate of the processor along a distributed loop.
static int64_t coordinate_of(const StatementPlan *plan, int var, const int64_t *coordinates) {
    for (int n = 0; n < plan->spmd->nest_count; n++)
        for (int d = 0; d < plan->spmd->dim_count; d++)
            if (plan->spmd->nests[n].coordinates[d] == var)
                return coordinates[d];
    return 0;
}

// Whether a transfer is of the access whose positions are distributed. Another one of the same tensor, with
// other variables, has a copy of its own.
static bool is_of(const Transfer *transfer, const StoredAccess *access) {
    const Access *own = transfer->statement_access;
    return own->tensor->id == access->tensor &&
           memcmp(own->vars, access->vars, sizeof *own->vars * (size_t)access->order) == 0;
}

// What kernels have of the tensor whose positions are distributed: what is at home, or a copy of what is
// used.
static Region entries_in_use(const StatementPlan *plan, const StoredAccess *access, int64_t rank,
                             Arena *arena) {
    Region used = {0};
    bool moves = false;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Footprints *footprints = plan->footprints[t];
        if (!is_of(&plan->spmd->transfers[t], access) || !plan->moves[t])
            continue;
        moves = true;
        for (int64_t step = 0; step < footprints->steps; step++) {
            Worker worker;
            Footprint footprint;
            if (footprint_of_rank(footprints, rank, step, arena, &worker, &footprint))
                for (int64_t i = 0; i < footprint.region.rects.count; i++)
                    array_push(arena, used.rects, footprint.region.rects.items[i]);
        }
    }
    return moves ? used : home_pieces(&plan->homes[access->tensor], rank, arena);
}

// The first part whose first coordinates are at or behind these.
static int64_t first_part_from(const Boundaries *boundaries, const int64_t *coordinates) {
    int64_t first = 0, last = boundaries->count;
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        const bool before =
            boundaries_compare(boundaries, boundaries_first(boundaries, middle), coordinates) < 0;
        *(before ? &first : &last) = before ? middle + 1 : middle;
    }
    return first;
}

static bool rect_has_first(const Boundaries *boundaries, int64_t part, const Rect *rect) {
    const int64_t *first = boundaries_first(boundaries, part);
    for (int m = 0; m < boundaries->division.mode_count; m++)
        if (!rect_has(rect, boundaries->division.modes[m], first[m]))
            return false;
    return true;
}

// By part of the division, and behind the last one: how many of the positions that the rank has are before
// it. A rank has whole parts, not always successive ones: where it executes the last processor of one row of
// the grid and the first one of the next, the first part and the last one.
static const int64_t *positions_before(const StatementPlan *plan, const NumericRelation *relation,
                                       int64_t rank, Arena *arena) {
    const Boundaries *boundaries = relation->boundaries;
    const int count = boundaries->division.mode_count, *modes = boundaries->division.modes;
    int64_t *before = arena_array(arena, int64_t, boundaries->count + 1);
    bool *used = arena_array(arena, bool, boundaries->count);
    const Region region = entries_in_use(plan, relation->relation.access, rank, arena);
    for (int64_t i = 0; i < region.rects.count && boundaries->total > 0; i++) {
        const Rect *rect = &region.rects.items[i];
        int64_t lo[MAX_ORDER], hi[MAX_ORDER];
        for (int m = 0; m < count; m++) {
            lo[m] = rect->lo[modes[m]];
            hi[m] = rect->hi[modes[m]] - (m < count - 1);
        }
        const int64_t last = first_part_from(boundaries, hi);
        for (int64_t part = first_part_from(boundaries, lo); part < last; part++)
            used[part] = used[part] || rect_has_first(boundaries, part, rect);
    }
    for (int64_t part = 0; part < boundaries->count; part++) {
        const int64_t size = boundaries->positions[part + 1] - boundaries->positions[part];
        before[part + 1] = before[part] + (used[part] ? size : 0);
    }
    return before;
}

// Whether a rank has all positions of the parts that it uses, and not only those with some coordinates of
// modes that are not divided by positions.
static bool has_whole_parts(const StatementPlan *plan, const NumericRelation *relation, int64_t rank,
                            Arena *scratch) {
    const Division *division = &relation->boundaries->division;
    const Home *home = &plan->homes[relation->relation.access->tensor];
    const Region used = entries_in_use(plan, relation->relation.access, rank, scratch);
    for (int64_t i = 0; i < used.rects.count; i++) {
        Rect whole = rect_whole(home->order, home->extents);
        for (int m = 0; m < division->mode_count; m++)
            rect_set_mode(&whole, division->modes[m], rect_mode(&used.rects.items[i], division->modes[m]));
        Region missing = {0};
        array_push(scratch, missing.rects, whole);
        region_subtract_all(&missing, &used, scratch);
        if (missing.rects.count > 0)
            return false;
    }
    return true;
}

static bool has_one_part(const StatementPlan *plan, const NumericRelation *relation, int64_t rank,
                         Arena *scratch) {
    const int64_t *before = positions_before(plan, relation, rank, scratch);
    int64_t parts = 0;
    for (int64_t part = 0; part < relation->boundaries->count; part++)
        parts += before[part] < before[part + 1];
    return parts <= 1;
}

const Relation *processor_positions_unknown(const StatementPlan *plan) {
    const Cin *cin = plan->spmd->cin;
    const Relation *unknown = NULL;
    Arena *scratch = arena_create_within(plan->arena);
    for (int64_t r = 0; r < cin->relations.count && plan->per_rank > 1 && !unknown; r++) {
        const NumericRelation *relation = provenance_relation(plan->provenance, r);
        if (!cin_positions_are_distributed(cin, &relation->relation) ||
            relation->boundaries->division.mode_count == plan->homes[relation->relation.access->tensor].order)
            continue;
        for (int64_t rank = 0; rank < plan->ranks && !unknown; rank++) {
            arena_reset(scratch);
            if (!has_one_part(plan, relation, rank, scratch) &&
                !has_whole_parts(plan, relation, rank, scratch))
                unknown = cin->relations.items[r];
        }
    }
    arena_free(scratch);
    return unknown;
}

// The part that a processor iterates over.
static int64_t part_of(const StatementPlan *plan, const NumericRelation *relation,
                       const int64_t *coordinates) {
    const Division *division = &relation->boundaries->division;
    int var = relation->relation.child[0];
    int64_t part = 0;
    for (int d = 0; d < division->depth; d++) {
        const Relation *by = cin_replaced_by(plan->spmd->cin, var);
        part = part * division->levels[d].parts + coordinate_of(plan, by->child[0], coordinates);
        var = by->child[1];
    }
    return part;
}

// The values of the parent of a balanced relation that a processor iterates over.
static PositionSet balanced_part(const StatementPlan *plan, const NumericRelation *relation,
                                 const int64_t *coordinates) {
    const Relation *own = &relation->relation;
    const int64_t part = coordinate_of(plan, own->child[0], coordinates);
    int64_t around[MAX_DEPTH] = {0};
    for (int i = 0; i < own->operand_count; i++)
        around[i] = coordinate_of(plan, own->operands[i], coordinates);
    return balance_parts(relation, around, part, part + 1);
}

void processor_values(const StatementPlan *plan, int64_t rank, int64_t *values) {
    const Spmd *spmd = plan->spmd;
    const int value_count = processor_value_count(plan);
    const int64_t first = rank * plan->per_rank, last = min_i64(first + plan->per_rank, plan->processors);
    for (int64_t processor = first; processor < last; processor++)
        grid_coordinates(&plan->grid, processor, &values[(processor - first) * value_count]);
    Arena *scratch = arena_create_within(plan->arena);
    int next = spmd->dim_count;
    for (int64_t r = 0; r < spmd->cin->relations.count; r++) {
        const NumericRelation *relation = provenance_relation(plan->provenance, r);
        const bool positions = cin_positions_are_distributed(spmd->cin, &relation->relation);
        const int64_t longest = relation->relation.kind->balanced ? balance_longest(relation) : 0;
        const int64_t *before = positions ? positions_before(plan, relation, rank, scratch) : NULL;
        for (int64_t processor = first; processor < last; processor++) {
            const int64_t *coordinates = &values[(processor - first) * value_count];
            int64_t *numbers = &values[(processor - first) * value_count + next];
            if (relation->relation.kind->balanced) {
                const PositionSet part = balanced_part(plan, relation, coordinates);
                *numbers++ = longest;
                *numbers++ = part.lo;
                *numbers++ = part.hi - part.lo;
            }
            if (positions) {
                const int64_t part = part_of(plan, relation, coordinates);
                *numbers++ = relation->boundaries->total;
                *numbers++ = before[part] - relation->boundaries->positions[part];
            }
        }
        next += (relation->relation.kind->balanced ? 3 : 0) + (positions ? 2 : 0);
    }
    arena_free(scratch);
}
