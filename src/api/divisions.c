// SPDX-License-Identifier: BSD-3-Clause
#include "api/divisions.h"

#include "api/balance.h"
#include "api/plan.h"

// Those around it first.
static void add_division(const Division *division, Arena *arena, DivisionArray *list) {
    Division base;
    for (int64_t i = 0; i < list->count; i++)
        if (division_equal(&list->items[i], division))
            return;
    if (division_base(division, &base))
        add_division(&base, arena, list);
    array_push(arena, *list, *division);
}

void divisions_of_placement(const distal_context *context, const distal_tensor *tensor,
                            const distal_tensor *by, Arena *arena, DivisionArray *list) {
    const Placement *placement = tensor->tensor->placement;
    Grid grid;
    if (!placement || !machine_grid(placement->machine, context->build.param_values.items, &grid))
        return;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (!balance_is_by_entries(entry->balance) || balance_tensor(context, tensor, entry) != by)
            continue;
        Division division =
            placement_division(placement, tensor->name, &grid, context->build.param_values.items, d);
        division.tensor = by->name;
        add_division(&division, arena, list);
    }
}

// What a statement divides by the entries of `by`.
static void statement_divisions(const distal_statement *statement, const distal_tensor *by, Arena *arena,
                                DivisionArray *list) {
    for (int64_t i = 0; i < statement->required.count; i++) {
        Division division = statement->required.items[i].division;
        division.tensor = by->name; // boundaries outlive the statement
        if (statement->required.items[i].serial == by->serial)
            add_division(&division, arena, list);
    }
}

DivisionArray divisions_by(const distal_context *context, const distal_tensor *tensor, Arena *arena) {
    DivisionArray list = {0};
    for (const distal_tensor *other = context->tensors; other; other = other->next)
        divisions_of_placement(context, other, tensor, arena, &list);
    for (const distal_statement *statement = context->statements; statement; statement = statement->next)
        statement_divisions(statement, tensor, arena, &list);
    for (const distal_plan *plan = context->plans; plan; plan = plan->next)
        if (plan->program)
            statement_divisions(plan->program->statement, tensor, arena, &list);
    return list;
}
