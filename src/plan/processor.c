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

// The transfer of the access whose positions are distributed. Another access of the same tensor, with other
// variables, has a copy of its own.
static int transfer_of(const StatementPlan *plan, const StoredAccess *access) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Access *own = plan->spmd->transfers[t].statement_access;
        if (plan->spmd->transfers[t].kind == TRANSFER_FETCH && own->tensor->id == access->tensor &&
            memcmp(own->vars, access->vars, sizeof *own->vars * (size_t)access->order) == 0)
            return t;
    }
    return -1;
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

// The number of parts of a cell; of all where there are no cells.
static int64_t parts_of_cell(const Boundaries *boundaries) {
    return boundaries->count / (boundaries->division.cell_levels > 0 ? boundaries->extents[0] : 1);
}

const Relation *processor_cells_mixed(const StatementPlan *plan) {
    const Cin *cin = plan->spmd->cin;
    for (int64_t r = 0; r < cin->relations.count && plan->per_rank > 1; r++) {
        const NumericRelation *relation = provenance_relation(plan->provenance, r);
        if (!cin_positions_are_distributed(cin, &relation->relation) ||
            relation->boundaries->division.cell_levels == 0)
            continue;
        int64_t cell = 0;
        for (int64_t processor = 0; processor < plan->processors; processor++) {
            int64_t coordinates[MAX_MACHINE_ORDER];
            grid_coordinates(&plan->grid, processor, coordinates);
            const int64_t own = part_of(plan, relation, coordinates) / parts_of_cell(relation->boundaries);
            if (processor % plan->per_rank > 0 && own != cell)
                return cin->relations.items[r];
            cell = own;
        }
    }
    return NULL;
}

static void add_position_part(const StatementPlan *plan, const NumericRelation *relation,
                              const int64_t *coordinates, int value, PositionPartArray *parts) {
    const Boundaries *boundaries = relation->boundaries;
    const int cells = boundaries->division.cell_levels > 0, modes = boundaries->division.mode_count - cells;
    const int64_t part = part_of(plan, relation, coordinates), next = part + 1;
    PositionPart found = {.transfer = transfer_of(plan, relation->relation.access),
                          .value = value,
                          .level = relation->relation.access->last_level,
                          .position = boundaries->positions[part],
                          .last = next % parts_of_cell(boundaries) == 0};
    memcpy(found.first, boundaries_first(boundaries, part) + cells, sizeof *found.first * (size_t)modes);
    if (!found.last)
        memcpy(found.next, boundaries_first(boundaries, next) + cells, sizeof *found.next * (size_t)modes);
    array_push(plan->arena, *parts, found);
}

PositionPartArray processor_values(const StatementPlan *plan, int64_t rank, int64_t *values) {
    const Spmd *spmd = plan->spmd;
    PositionPartArray parts = {0};
    const int value_count = processor_value_count(plan);
    const int64_t first = rank * plan->per_rank, last = min_i64(first + plan->per_rank, plan->processors);
    for (int64_t processor = first; processor < last; processor++)
        grid_coordinates(&plan->grid, processor, &values[(processor - first) * value_count]);
    int next = spmd->dim_count;
    for (int64_t r = 0; r < spmd->cin->relations.count; r++) {
        const NumericRelation *relation = provenance_relation(plan->provenance, r);
        const bool positions = cin_positions_are_distributed(spmd->cin, &relation->relation);
        const int64_t longest = relation->relation.kind->balanced ? balance_longest(relation) : 0;
        for (int64_t processor = first; processor < last; processor++) {
            const int64_t *coordinates = &values[(processor - first) * value_count];
            const int64_t at = (processor - first) * value_count + next;
            if (relation->relation.kind->balanced) {
                const PositionSet part = balanced_part(plan, relation, coordinates);
                values[at] = longest;
                values[at + 1] = part.lo;
                values[at + 2] = part.hi - part.lo;
            }
            if (positions) {
                values[at] = relation->boundaries->total;
                add_position_part(plan, relation, coordinates, (int)at + 1, &parts);
            }
        }
        next += 3 * ((relation->relation.kind->balanced ? 1 : 0) + (positions ? 1 : 0));
    }
    return parts;
}

void position_part_set(const PositionPart *part, const StoredTensor *stored, int64_t *values) {
    const int64_t begin = stored ? stored_before(stored, part->level, part->first) : 0;
    values[part->value] = begin - part->position;
    values[part->value + 1] = !stored      ? 0
                              : part->last ? stored->arrays[part->level].position_count
                                           : stored_before(stored, part->level, part->next);
}
