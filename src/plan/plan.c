// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.h"

#include "base/clock.h"
#include "base/integer.h"
#include "memory/device.h"
#include "plan/balance.h"
#include "plan/diagonals.h"
#include "plan/indexed.h"
#include "plan/processor.h"
#include "plan/rank_entries.h"
#include "plan/tiles.h"
#include "plan/transfer_figures.h"

#include <inttypes.h>
#include <string.h>

// False where the grid has more processors than there can be.
static bool execution_grid(const Spmd *spmd, const int64_t *params, Grid *grid) {
    int64_t processors = 1;
    grid->order = spmd->dim_count;
    for (int d = 0; d < spmd->dim_count; d++)
        if (!int_eval(spmd->dims[d].extent, params, NULL, &grid->extents[d]) || grid->extents[d] < 0 ||
            !checked_mul(processors, grid->extents[d], &processors) || processors > MAX_PROCESSORS)
            return false;
    return true;
}

int64_t plan_natural_ranks(int machine_count, const Machine *const *machines, int statement_count,
                           const Spmd *const *spmds, const int64_t *params) {
    int64_t ranks = 1;
    Grid grid;
    for (int i = 0; i < machine_count; i++)
        if (machine_grid(machines[i], params, &grid))
            ranks = max_i64(ranks, grid_size(&grid));
    for (int i = 0; i < statement_count; i++)
        if (execution_grid(spmds[i], params, &grid))
            ranks = max_i64(ranks, grid_size(&grid));
    return ranks;
}

// Whether each machine has a multiple of `ranks` processors, or fewer.
static bool divides(int64_t ranks, int machine_count, const Machine *const *machines, const int64_t *params) {
    Grid grid;
    for (int i = 0; i < machine_count; i++)
        if (machine_grid(machines[i], params, &grid) && grid_size(&grid) > ranks &&
            grid_size(&grid) % ranks != 0)
            return false;
    return true;
}

int64_t plan_fewer_ranks(int64_t most, int machine_count, const Machine *const *machines,
                         const int64_t *params) {
    while (!divides(most, machine_count, machines, params))
        most--;
    return most;
}

static int64_t operation_count(const Expr *expr) {
    if (!expr || expr->kind == EXPR_ACCESS || expr->kind == EXPR_NUMBER)
        return 0;
    return (expr->kind != EXPR_NEG) + operation_count(expr->left) + operation_count(expr->right);
}

int64_t plan_point_flop(const Stmt *assign) {
    return operation_count(assign->rhs) + assign->accumulate;
}

bool plan_is_index(const Cin *cin, int var) {
    return var < cin->assignment->var_count && cin->assignment->vars[var].index;
}

int64_t plan_points(const StatementPlan *plan, const Nest *nest) {
    const Cin *cin = plan->spmd->cin;
    bool active[MAX_VARS];
    int64_t count = 1;
    provenance_active(plan->provenance, nest->loops, nest->loop_count, active);
    for (int v = 0; v < cin->var_count; v++)
        if (cin->vars[v].source && active[v] && !plan_is_index(cin, v))
            count = saturated_mul(count, positions_count(provenance_window(plan->provenance, v)));
    return count;
}

// Floating-point operations of the statement: one for each operation of its nests and each point of their
// loops. INT64_MAX: more.
static int64_t count_flop(const StatementPlan *plan) {
    const Cin *cin = plan->spmd->cin;
    int64_t total = 0;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        total = saturated_add(total, saturated_mul(plan_point_flop(nest.assign), plan_points(plan, &nest)));
    }
    return total;
}

// Every machine fits the ranks: as many processors, or a multiple; a smaller machine than another of the
// program uses the first ranks only.
static bool check_machine(const Machine *machine, const int64_t *params, const Plan *plan,
                          Diagnostics *diagnostics, Grid *grid) {
    if (!machine_grid(machine, params, grid))
        return diagnostics_error(diagnostics, machine->span, "machine '%s' has a dimension smaller than 1",
                                 machine->name);
    const int64_t size = grid_size(grid), ranks = plan->options.ranks;
    int64_t pairs;
    if (!checked_mul(size, processors_per_rank(size, ranks), &pairs) || pairs > plan->options.work_limit)
        return diagnostics_error(diagnostics, machine->span,
                                 "machine '%s' has %" PRId64 " processors, which are too many for %" PRId64
                                 " rank%s",
                                 machine->name, size, ranks, ranks == 1 ? "" : "s");
    if (size % ranks == 0 || (size < ranks && size < plan->largest))
        return true;
    return diagnostics_error(diagnostics, machine->span,
                             size == 1 ? "machine '%s' has %" PRId64
                                         " processor, which does not run on %" PRId64 " ranks: run on 1 rank"
                                       : "machine '%s' has %" PRId64
                                         " processors, which is not a multiple of %" PRId64
                                         " ranks: run on %" PRId64 " ranks or a divisor of that",
                             machine->name, size, ranks, size);
}

// Of the machines in use: those of placements and of statements.
static int64_t largest_machine(const Plan *plan, const Spmd *const *spmds, const int64_t *params) {
    const Machine **machines = arena_array(plan->arena, const Machine *, plan->tensor_count);
    int count = 0;
    for (int t = 0; t < plan->tensor_count; t++)
        if (plan->tensors[t]->placement)
            machines[count++] = plan->tensors[t]->placement->machine;
    return plan_natural_ranks(count, machines, plan->statement_count, spmds, params);
}

static bool bad_entry(const Placement *placement, int dim, const Grid *grid, Diagnostics *diagnostics) {
    const PlaceEntry *entry = &placement->entries[dim];
    if (entry->balance == BALANCE_LISTED)
        return diagnostics_error(diagnostics, entry->span,
                                 "expected %" PRId64
                                 " boundaries from 0 to the extent, where each of %" PRId64
                                 " blocks begins and where the last one ends, not %" PRId64,
                                 grid->extents[dim] + 1, grid->extents[dim], entry->start_count);
    if (entry->kind == PLACE_PARTITION)
        return diagnostics_error(diagnostics, entry->span, "expected a block of 1 to %d coordinates",
                                 MAX_CYCLE);
    return diagnostics_error(diagnostics, entry->span,
                             "coordinate %" PRId64 " lies outside of this dimension of %s (0 .. %" PRId64 ")",
                             entry->coordinate, placement->machine->name, grid->extents[dim] - 1);
}

// Modes have the extents of those by whose entries they are balanced.
static bool check_extents(const Plan *plan, int tensor, Diagnostics *diagnostics) {
    int64_t *const *extents = plan->extents;
    const Placement *placement = plan->tensors[tensor]->placement;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        for (int t = 0; entry->by && t < plan->tensor_count; t++)
            if (strcmp(plan->tensors[t]->name, entry->by) == 0 &&
                extents[t][entry->modes[0]] != extents[tensor][entry->mode])
                return diagnostics_error(
                    diagnostics, entry->span,
                    "the mode has %" PRId64
                    " coordinates, but that of '%s', whose blocks it is to have, %" PRId64,
                    extents[tensor][entry->mode], entry->by, extents[t][entry->modes[0]]);
    }
    return true;
}

static bool check_memory(const Tensor *tensor, Diagnostics *diagnostics) {
    return tensor->placement->memory == MEMORY_HOST || !tensor_is_sparse(tensor) ||
           diagnostics_error(
               diagnostics, tensor->placement->span,
               "sparse tensor '%s' is in %s, where only dense tensors can be: leave out 'in %s'",
               tensor->name, memory_kind(tensor->placement->memory)->name,
               memory_kind(tensor->placement->memory)->name);
}

static bool place_tensors(Plan *plan, const int64_t *params, Diagnostics *diagnostics) {
    for (int t = 0; t < plan->tensor_count; t++) {
        const Tensor *tensor = plan->tensors[t];
        Grid grid;
        Layout layout;
        int bad_dim;
        if (!tensor->placement) {
            if (plan->options.homes && plan->options.homes[t].known)
                plan->homes[t] = plan->options.homes[t];
            plan->homes[t].tensor = tensor;
            continue;
        }
        if (!check_memory(tensor, diagnostics) ||
            !check_machine(tensor->placement->machine, params, plan, diagnostics, &grid) ||
            !check_extents(plan, t, diagnostics))
            return false;
        if (!layout_create(tensor->placement, tensor->name, &grid, params, tensor->order, plan->extents[t],
                           plan->options.boundaries, plan->arena, &layout, &bad_dim))
            return bad_entry(tensor->placement, bad_dim, &grid, diagnostics);
        home_from_layout(&plan->homes[t], tensor, plan->extents[t], &layout, plan->options.ranks,
                         plan->arena);
        if (plan->options.files && plan->homes[t].memory == MEMORY_DISK)
            home_put_in_file(&plan->homes[t], plan->options.files[t]);
    }
    return true;
}

static bool plan_grid(const Plan *whole, StatementPlan *plan, Diagnostics *diagnostics) {
    const Spmd *spmd = plan->spmd;
    const Machine *machine = spmd->dim_count ? spmd->dims[0].machine : NULL;
    if (machine && !check_machine(machine, plan->params, whole, diagnostics, &plan->grid))
        return false;
    if (!execution_grid(spmd, plan->params, &plan->grid))
        return diagnostics_error(diagnostics, spmd->cin->assignment->span,
                                 "the distributed loops need more than %d processors", MAX_PROCESSORS);
    plan->processors = grid_size(&plan->grid);
    plan->per_rank = max_i64(1, processors_per_rank(plan->processors, plan->ranks));
    return true;
}

// What the plan takes is known before it is made.
static bool check_work(const StatementPlan *plan, Diagnostics *diagnostics) {
    const int64_t limit = plan->options.work_limit, most_steps = min_i64(limit, PLAN_MAX_STEPS);
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Access *access = plan->spmd->transfers[t].access;
        const Footprints *footprints = plan->footprints[t];
        const int64_t classes = min_i64(footprints->class_keys, footprints->ranks);
        if (footprints->steps > most_steps)
            return diagnostics_error(
                diagnostics, access->span,
                "the loops around the communication of '%s' have more than %" PRId64
                " iterations, which is too many for a plan; communicate it at a loop further outside",
                access->tensor->name, most_steps);
        if (transfer_work(plan, t) > limit)
            return diagnostics_error(diagnostics, access->span,
                                     "the communication of '%s' has %" PRId64 " steps on %" PRId64
                                     " ranks that differ in it, and a plan has at most %" PRId64
                                     " on all ranks; communicate it at a loop further outside",
                                     access->tensor->name, footprints->steps, classes, limit);
    }
    return true;
}

// So are the parts that the footprint of one step is in.
static bool check_parts(const StatementPlan *plan, Diagnostics *diagnostics) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        const Nest nest = cin_nest(plan->spmd->cin, transfer->nest);
        VarSet fixed = 0;
        for (int l = 0; l < transfer->loop_count; l++)
            fixed |= (VarSet)1 << transfer->loops[l];
        for (int d = 0; d < plan->spmd->dim_count; d++)
            if (plan->spmd->nests[transfer->nest].coordinates[d] >= 0)
                fixed |= (VarSet)1 << plan->spmd->nests[transfer->nest].coordinates[d];
        if (!provenance_check(plan->footprints[t]->provenance, plan->spmd->cin, &nest,
                              transfer->statement_access, fixed, diagnostics))
            return false;
    }
    return true;
}

// A tensor without a placement is where the first statement that uses it needs it; a workspace of a statement
// on a GPU is in its memory.
static void induce_home(Plan *plan, const StatementPlan *statement, const Tensor *tensor) {
    const int64_t *extents = plan->extents[tensor->id];
    Home *home = &plan->homes[tensor->id];
    const bool is_workspace = tensor != statement->target && cin_part(statement->spmd->cin, tensor);
    const MemoryId memory = statement->spmd->on_gpu && is_workspace ? MEMORY_GPU : MEMORY_HOST;
    if (tensor->order == 0 || statement->ranks == 1) {
        home_everywhere(home, tensor, extents, statement->ranks, plan->arena);
        home->memory = memory;
        return;
    }
    Array(const Footprints *) uses = {0};
    for (int t = 0; t < statement->spmd->transfer_count; t++)
        if (statement->spmd->transfers[t].statement_access->tensor == tensor)
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(plan->arena, uses, footprints_of_home(statement->footprints[t], plan->arena));
    home_induced(home, tensor, extents, (int)uses.count, uses.items, statement->ranks, plan->arena);
    home->memory = memory;
}

// What has the entries of the result before the statement lies where these do.
static void find_homes(Plan *plan, const StatementPlan *statement) {
    const Spmd *spmd = statement->spmd;
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Tensor *tensor = spmd->transfers[t].statement_access->tensor;
        if (!plan->homes[tensor->id].known && !tensor->old_of)
            induce_home(plan, statement, tensor);
    }
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Tensor *tensor = spmd->transfers[t].statement_access->tensor;
        if (!plan->homes[tensor->id].known && tensor->old_of)
            plan->homes[tensor->id] = home_copy(&plan->homes[tensor->old_of->id], tensor, plan->arena);
    }
}

// Which entries of sparse tensors are used or computed elsewhere than at home. All that computes a tensor
// does so in the same place. Where ranks have parts of fibers, those of a result that is assembled follow
// from what all ranks have computed, so that entries move there as well.
static void find_moves(StatementPlan *statement) {
    const Spmd *spmd = statement->spmd;
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Transfer *transfer = &spmd->transfers[t];
        statement->moves[t] =
            tensor_is_sparse(transfer->statement_access->tensor) && entries_move(statement, t);
    }
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Transfer *transfer = &spmd->transfers[t];
        const Home *home = &statement->homes[transfer->statement_access->tensor->id];
        if (transfer->kind == TRANSFER_REDUCE && tensor_is_sparse(home->tensor) && !statement->moves[t])
            statement->moves[t] =
                spmd->stages[transfer->stage].result == RESULT_ASSEMBLED && home_cuts_fibers(home);
    }
    for (int t = 0; t < spmd->transfer_count; t++)
        for (int other = 0; other < spmd->transfer_count; other++)
            if (spmd->transfers[t].kind == TRANSFER_REDUCE &&
                spmd->transfers[other].kind == TRANSFER_REDUCE &&
                spmd->transfers[t].access->tensor == spmd->transfers[other].access->tensor)
                statement->moves[t] |= statement->moves[other];
}

static bool check_cells(const StatementPlan *plan, Diagnostics *diagnostics) {
    const Relation *mixed = processor_cells_mixed(plan);
    return !mixed ||
           diagnostics_error(
               diagnostics, mixed->span,
               "on %" PRId64 " ranks, one of them has entries of '%s' in several blocks of the other levels "
               "of its placement, which is not supported yet: run on %" PRId64
               " ranks, one for each processor, or on enough ranks that each has parts of one block only",
               plan->ranks, mixed->access->name, plan->processors);
}

// Single elements are requested from memory.
static bool check_indexed(const StatementPlan *plan, Diagnostics *diagnostics) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        const Tensor *tensor = transfer->statement_access->tensor;
        if (plan->homes[tensor->id].memory == MEMORY_DISK && transfer_indexed_by(plan, t) >= 0)
            return diagnostics_error(
                diagnostics, transfer->statement_access->span,
                "'%s' is in disk, and the entries of sparse tensor '%s' say which of its "
                "elements are used: place it in host",
                tensor->name, transfer->indexed_by->tensor->name);
    }
    return true;
}

// What determines the entries that a transfer moves, or what it reads and writes of a dense tensor.
static const Cin *moved_by(const Spmd *spmd, int transfer) {
    const Transfer *of = &spmd->transfers[transfer];
    return tensor_is_sparse(of->statement_access->tensor) ? spmd->nests[of->nest].entries : spmd->cin;
}

static bool find_footprints(StatementPlan *statement, Diagnostics *diagnostics) {
    const Spmd *spmd = statement->spmd;
    const Cin *other = NULL; // the latest one that is not that of the statement
    const Provenance *of_other = NULL;
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Cin *cin = moved_by(spmd, t);
        if (cin != spmd->cin && cin != other)
            of_other = provenance_create(other = cin, statement->params, statement->options.boundaries,
                                         statement->arena, diagnostics);
        const Provenance *provenance = cin == spmd->cin ? statement->provenance : of_other;
        if (!provenance)
            return false;
        statement->footprints[t] = footprints_create(spmd, t, provenance, &statement->grid, statement->ranks,
                                                     statement->params, statement->arena);
    }
    return true;
}

static bool plan_statement(Plan *plan, StatementPlan *statement, Diagnostics *diagnostics) {
    const double start = clock_seconds();
    const Spmd *spmd = statement->spmd;
    statement->target = spmd->cin->assignment->lhs->tensor;
    if (!cin_check_numbers(spmd->cin, plan->options.param_names, statement->params, diagnostics))
        return false;
    statement->provenance =
        provenance_create(spmd->cin, statement->params, plan->options.boundaries, plan->arena, diagnostics);
    if (!statement->provenance || !plan_grid(plan, statement, diagnostics) ||
        !check_cells(statement, diagnostics))
        return false;
    statement->footprints = arena_array(plan->arena, const Footprints *, spmd->transfer_count);
    statement->moves = arena_array(plan->arena, bool, spmd->transfer_count);
    statement->entries = arena_array(plan->arena, const EntryFigures *, spmd->transfer_count);
    if (!find_footprints(statement, diagnostics) || !check_work(statement, diagnostics) ||
        !check_parts(statement, diagnostics))
        return false;
    find_homes(plan, statement);
    find_moves(statement);
    if (!diagonals_settle(statement, diagnostics) || !check_indexed(statement, diagnostics))
        return false;
    statement->flop = assignment_sparse(spmd->cin->assignment) ? -1 : count_flop(statement);
    statement->seconds = clock_seconds() - start;
    return true;
}

static bool add_statement(Plan *plan, int index, const Spmd *spmd, const int64_t *params,
                          Diagnostics *diagnostics) {
    StatementPlan *statement = plan->statements[index] = arena_new(plan->arena, StatementPlan);
    *statement = (StatementPlan){.spmd = spmd,
                                 .ranks = plan->options.ranks,
                                 .params = params,
                                 .options = plan->options,
                                 .homes = plan->homes,
                                 .plan = plan,
                                 .figures = arena_new(plan->arena, StatementFigures),
                                 .own_rank = -1,
                                 .arena = plan->arena};
    return plan_statement(plan, statement, diagnostics);
}

static int64_t *tensor_extents(Arena *arena, const Tensor *tensor, const int64_t *params,
                               Diagnostics *diagnostics) {
    int64_t *extents = arena_array(arena, int64_t, MAX_ORDER);
    for (int mode = 0; mode < tensor->order; mode++)
        if (!int_eval(tensor->extents[mode], params, NULL, &extents[mode]) || extents[mode] < 0) {
            diagnostics_error(diagnostics, tensor->extent_spans[mode],
                              "the extent of mode %d of %s is negative", mode, tensor->name);
            return NULL;
        }
    return extents;
}

Plan *plan_create(Arena *arena, int tensor_count, const Tensor *const *tensors, int statement_count,
                  const Spmd *const *spmds, const int64_t *params, PlanOptions options,
                  Diagnostics *diagnostics) {
    if (options.message_limit == 0)
        options.message_limit = PLAN_MESSAGE_LIMIT;
    if (options.row_limit == 0)
        options.row_limit = DEVICE_ROWS;
    if (options.partial_limit == 0)
        options.partial_limit = INT64_MAX;
    if (options.threads == 0)
        options.threads = 1;
    if (options.work_limit == 0)
        options.work_limit = PLAN_WORK_LIMIT;
    const int64_t most = min_i64(PLAN_MAX_RANKS, options.work_limit);
    if (options.ranks > most) {
        diagnostics_error(diagnostics, (Span){0},
                          "%" PRId64 " ranks are more than a plan can be made for (%" PRId64 ")",
                          options.ranks, most);
        return NULL;
    }
    Plan *plan = arena_new(arena, Plan);
    *plan = (Plan){.arena = arena,
                   .options = options,
                   .tensor_count = tensor_count,
                   // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
                   .tensors = arena_copy(arena, tensors, sizeof *tensors * (size_t)tensor_count),
                   .homes = arena_array(arena, Home, tensor_count),
                   .extents = arena_array(arena, int64_t *, tensor_count),
                   .home_figures = arena_new(arena, HomeFigures),
                   .statement_count = statement_count,
                   .statements = arena_array(arena, StatementPlan *, statement_count)};
    for (int t = 0; t < tensor_count; t++) {
        plan->homes[t].tensor = tensors[t];
        plan->extents[t] = tensor_extents(arena, tensors[t], params, diagnostics);
        if (!plan->extents[t])
            return NULL;
    }
    if (!balance_check(tensor_count, tensors, statement_count, spmds, diagnostics))
        return NULL;
    if (options.nodes)
        plan->nodes = nodes_create(arena, options.ranks, options.nodes);
    plan->largest = max_i64(options.largest, largest_machine(plan, spmds, params));
    if (!place_tensors(plan, params, diagnostics))
        return NULL;
    for (int s = 0; s < statement_count; s++)
        if (!add_statement(plan, s, spmds[s], params, diagnostics))
            return NULL;
    if (!options.untiled)
        tiles_choose(plan);
    return plan;
}

const StatementPlan *plan_with_homes(const Plan *homes, const Spmd *spmd, const int64_t *params, Arena *arena,
                                     Diagnostics *diagnostics) {
    Plan *plan = arena_copy(arena, homes, sizeof *homes);
    bool known = true;
    for (int t = 0; t < spmd->transfer_count; t++)
        known = known && homes->homes[spmd->transfers[t].statement_access->tensor->id].known;
    plan->arena = arena;
    plan->home_figures = arena_new(arena, HomeFigures);
    if (!known) // add_statement sets the home of a workspace, not that of the given plan
        plan->homes = arena_copy(arena, homes->homes, sizeof(Home) * (size_t)homes->tensor_count);
    plan->statement_count = 1;
    plan->statements = arena_array(arena, StatementPlan *, 1);
    return add_statement(plan, 0, spmd, params, diagnostics) ? plan->statements[0] : NULL;
}
