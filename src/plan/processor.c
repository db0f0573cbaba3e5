// SPDX-License-Identifier: BSD-3-Clause
#include "plan/processor.h"

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

// What kernels have of the tensor whose positions are distributed: what is at home, or a copy of what is
// used.
static Region entries_in_use(const StatementPlan *plan, int tensor, int64_t rank, Arena *arena) {
    Region used = {0};
    bool moves = false;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Footprints *footprints = plan->footprints[t];
        if (plan->spmd->transfers[t].statement_access->tensor->id != tensor || !plan->moves[t])
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
    return moves ? used : home_pieces(&plan->homes[tensor], rank, arena);
}

// How many positions are before those that the rank has, which begin where a part of the division does.
static int64_t positions_before(const StatementPlan *plan, const NumericRelation *relation, int64_t rank) {
    const Boundaries *boundaries = relation->boundaries;
    const int count = boundaries->division.mode_count;
    Arena *scratch = arena_create_within(plan->arena);
    const Region used = entries_in_use(plan, relation->relation.access->tensor, rank, scratch);
    int64_t first[MAX_ORDER], start[MAX_ORDER];
    for (int64_t i = 0; i < used.rects.count; i++) {
        for (int m = 0; m < count; m++)
            start[m] = used.rects.items[i].lo[boundaries->division.modes[m]];
        if (i == 0 || boundaries_compare(boundaries, start, first) < 0)
            memcpy(first, start, sizeof first);
    }
    const bool any = used.rects.count > 0;
    arena_free(scratch);
    return any ? boundaries->positions[boundaries_part(boundaries, first)] : 0;
}

void processor_values(const StatementPlan *plan, int64_t rank, int64_t local, int64_t *values) {
    const Spmd *spmd = plan->spmd;
    const int64_t processor = rank * plan->per_rank + local;
    if (processor >= plan->processors)
        return;
    grid_coordinates(&plan->grid, processor, values);
    int64_t *next = values + spmd->dim_count;
    for (int64_t r = 0; r < spmd->cin->relations.count; r++) {
        const NumericRelation *relation = provenance_relation(plan->provenance, r);
        if (relation->relation.kind->balanced) {
            const int64_t part = coordinate_of(plan, relation->relation.child[0], values);
            const int64_t *starts = &relation->boundaries->starts[part];
            *next++ = boundaries_longest(relation->boundaries);
            *next++ = starts[0];
            *next++ = starts[1] - starts[0];
        }
        if (cin_positions_are_distributed(spmd->cin, &relation->relation)) {
            *next++ = relation->boundaries->total;
            *next++ = -positions_before(plan, relation, rank);
        }
    }
}
