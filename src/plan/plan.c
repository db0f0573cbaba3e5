// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.h"

#include "base/clock.h"
#include "base/integer.h"
#include "plan/induced.h"

#include <inttypes.h>
#include <string.h>

static int64_t *zeros(Arena *arena, int64_t count) {
    return arena_array(arena, int64_t, count);
}

static bool machine_grid(const Machine *machine, const int64_t *params, Grid *grid) {
    grid->order = machine->order;
    for (int d = 0; d < machine->order; d++)
        if (!int_eval(machine->extents[d], params, NULL, &grid->extents[d]) || grid->extents[d] < 1)
            return false;
    return true;
}

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

// Every machine fits the ranks: as many processors, or a multiple; a smaller machine than another of the
// program uses the first ranks only.
static bool check_machine(const Machine *machine, const int64_t *params, const Plan *plan,
                          Diagnostics *diagnostics, Grid *grid) {
    if (!machine_grid(machine, params, grid))
        return diagnostics_error(diagnostics, machine->span, "machine %s has a dimension smaller than 1",
                                 machine->name);
    const int64_t size = grid_size(grid), ranks = plan->options.ranks;
    int64_t pairs;
    if (!checked_mul(size, processors_per_rank(size, ranks), &pairs) || pairs > plan->options.work_limit)
        return diagnostics_error(diagnostics, machine->span,
                                 "machine %s has %" PRId64 " processors, which are too many for %" PRId64
                                 " rank%s",
                                 machine->name, size, ranks, ranks == 1 ? "" : "s");
    if (size % ranks == 0 || (size < ranks && size < plan->largest))
        return true;
    return diagnostics_error(diagnostics, machine->span,
                             "machine %s has %" PRId64 " processor%s, which is not a multiple of %" PRId64
                             " ranks: run on %" PRId64 " ranks or a divisor of that",
                             machine->name, size, size == 1 ? "" : "s", ranks, size);
}

static void find_largest(Plan *plan, const Tensor *const *tensors, const Spmd *const *spmds,
                         const int64_t *params) {
    Grid grid;
    plan->largest = plan->options.largest;
    for (int t = 0; t < plan->tensor_count; t++)
        if (tensors[t]->placement && machine_grid(tensors[t]->placement->machine, params, &grid))
            plan->largest = max_i64(plan->largest, grid_size(&grid));
    for (int s = 0; s < plan->statement_count; s++)
        if (execution_grid(spmds[s], params, &grid))
            plan->largest = max_i64(plan->largest, grid_size(&grid));
}

static bool bad_entry(const Placement *placement, int dim, const Grid *grid, Diagnostics *diagnostics) {
    const PlaceEntry *entry = &placement->entries[dim];
    if (entry->kind == PLACE_PARTITION)
        return diagnostics_error(diagnostics, entry->span, "blocks have 1 to %d coordinates", MAX_CYCLE);
    return diagnostics_error(diagnostics, entry->span,
                             "coordinate %" PRId64 " lies outside of this dimension of %s (0 .. %" PRId64 ")",
                             entry->coordinate, placement->machine->name, grid->extents[dim] - 1);
}

static bool place_tensors(Plan *plan, int tensor_count, const Tensor *const *tensors, int64_t *const *extents,
                          const int64_t *params, Diagnostics *diagnostics) {
    for (int t = 0; t < tensor_count; t++) {
        const Tensor *tensor = tensors[t];
        Grid grid;
        Layout layout;
        int bad_dim;
        if (!tensor->placement) {
            if (plan->options.homes && plan->options.homes[t].known)
                plan->homes[t] = plan->options.homes[t];
            plan->homes[t].tensor = tensor;
            continue;
        }
        if (!check_machine(tensor->placement->machine, params, plan, diagnostics, &grid))
            return false;
        if (!layout_create(tensor->placement, &grid, params, tensor->order, extents[t], plan->arena, &layout,
                           &bad_dim))
            return bad_entry(tensor->placement, bad_dim, &grid, diagnostics);
        home_from_layout(&plan->homes[t], tensor, extents[t], &layout, plan->options.ranks, plan->arena);
    }
    return true;
}

static int64_t operations(const Expr *expr) {
    if (!expr || expr->kind == EXPR_ACCESS || expr->kind == EXPR_NUMBER)
        return 0;
    return (expr->kind != EXPR_NEG) + operations(expr->left) + operations(expr->right);
}

// Additions, subtractions, multiplications, divisions and calls of functions of all iterations; a sum counts
// one addition a summand.
static int64_t count_flop(const StatementPlan *plan) {
    const Cin *cin = plan->spmd->cin;
    int64_t total = 0;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        bool active[MAX_VARS];
        provenance_active(plan->provenance, nest.loops, nest.loop_count, active);
        int64_t count = operations(nest.assign->rhs) + nest.assign->accumulate;
        for (int v = 0; v < cin->var_count; v++)
            if (cin->vars[v].source && active[v] &&
                !checked_mul(count, provenance_extent(plan->provenance, v), &count))
                count = INT64_MAX;
        if (!checked_add(total, count, &total))
            total = INT64_MAX;
    }
    return total;
}

// The figures of one transfer, summed over the steps of its walk.
typedef struct {
    int64_t size; // of an element
    int64_t *bytes, *messages, *buffer, *scratch, *step_scratch;
    int64_t *copy; // what each thread but the first adds to: elements of the largest view
} Sums;

// Adds to a figure, of which only that it is too large matters where it is.
static void increase(int64_t *figure, int64_t by) {
    *figure = saturated_add(*figure, by);
}

// A copy of a view has the strides of what the view is in.
static int64_t copied_elements(const Walk *walk, int64_t rank) {
    const Need *need = &walk->needs[rank];
    if (need->piece < 0)
        return need->demand->volume;
    const Home *home = &walk->plan->homes[walk->transfer->access->tensor->id];
    return rect_volume(&home->pieces[rank].rects.items[need->piece]);
}

static void add_needs(const Walk *walk, Sums *sums, TransferPlan *figures) {
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++) {
        const Need *need = &walk->needs[rank];
        if (need->demand->region.rects.count == 0)
            continue;
        if (walk->transfer->thread_copies)
            sums->copy[rank] = max_i64(sums->copy[rank], copied_elements(walk, rank));
        if (need->piece >= 0)
            continue;
        sums->buffer[rank] = max_i64(sums->buffer[rank], need->demand->volume);
        figures->in_place = false;
    }
}

static void add_deliveries(const Walk *walk, Sums *sums, TransferPlan *figures) {
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        const Delivery *delivery = &walk->deliveries.items[i];
        const int64_t bytes = rect_volume(&delivery->rect) * sums->size;
        for (int64_t k = 0; k < delivery->targets.count; k++) {
            increase(&sums->bytes[delivery->targets.items[k]], bytes);
            sums->messages[delivery->targets.items[k]]++;
        }
        figures->double_buffered = figures->double_buffered || delivery->from_view;
    }
}

static void add_combinations(const Walk *walk, Sums *sums) {
    memset(sums->step_scratch, 0, sizeof(int64_t) * (size_t)walk->plan->ranks);
    for (int64_t i = 0; i < walk->combinations.count; i++) {
        const Combination *combination = &walk->combinations.items[i];
        int64_t volume = rect_volume(&combination->rect);
        const int64_t *owners = combination->owners;
        int64_t remote = 0;
        for (int64_t k = 0; k < combination->contributor_count; k++) {
            int64_t rank = combination->contributors[k];
            if (combination->owner_count == 1 && owners[0] == rank)
                continue;
            remote++;
            increase(&sums->bytes[rank], volume * sums->size);
            sums->messages[rank]++;
        }
        if (combination->group >= 0) {
            const Group *group = &walk->plan->groups.items[combination->group];
            for (int64_t k = 0; k < group->count; k++)
                increase(&sums->step_scratch[group->ranks[k]], volume);
        } else if (remote > 0) {
            increase(&sums->step_scratch[owners[0]], volume);
        }
    }
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++)
        sums->scratch[rank] = max_i64(sums->scratch[rank], sums->step_scratch[rank]);
}

static void sum_transfer(StatementPlan *plan, int transfer) {
    TransferPlan *figures = &plan->transfers[transfer];
    *figures = (TransferPlan){
        .transfer = &plan->spmd->transfers[transfer], .pattern = PATTERN_LOCAL, .in_place = true};
    const int64_t ranks = plan->ranks;
    Sums sums = {(int64_t)type_info(figures->transfer->access->tensor->type)->size,
                 zeros(plan->arena, ranks),
                 zeros(plan->arena, ranks),
                 zeros(plan->arena, ranks),
                 zeros(plan->arena, ranks),
                 zeros(plan->arena, ranks),
                 zeros(plan->arena, ranks)};
    Walk *walk = walk_create(plan, transfer);
    while (walk_next(walk)) {
        PatternName pattern = walk_pattern(walk);
        if (pattern > figures->pattern)
            figures->pattern = pattern;
        add_needs(walk, &sums, figures);
        add_deliveries(walk, &sums, figures);
        if (figures->transfer->kind == TRANSFER_REDUCE)
            add_combinations(walk, &sums);
    }
    walk_free(walk);
    for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t elements = saturated_mul(sums.buffer[rank], figures->double_buffered ? 2 : 1);
        increase(&elements, sums.scratch[rank]);
        sums.buffer[rank] = saturated_mul(elements, sums.size);
        // Copies begin at a line of the cache.
        sums.copy[rank] = saturated_mul(ceil_div(saturated_mul(sums.copy[rank], sums.size), 64), 64);
    }
    figures->steps = walk_steps(plan, figures->transfer);
    figures->bytes = sums.bytes;
    figures->messages = sums.messages;
    figures->buffer_bytes = sums.buffer;
    figures->copy_bytes = sums.copy;
}

static TensorFigures sum_tensor(const StatementPlan *plan, const Tensor *tensor) {
    Arena *arena = plan->arena;
    int64_t *bytes = zeros(arena, plan->ranks), *messages = zeros(arena, plan->ranks);
    int64_t *home = zeros(arena, plan->ranks), *buffer = zeros(arena, plan->ranks);
    TensorFigures figures = {tensor, PATTERN_NONE, "", 0, bytes, messages, home, buffer};
    bool first = true;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const TransferPlan *own = &plan->transfers[t];
        if (own->transfer->access->tensor != tensor)
            continue;
        if (first && own->transfer->at >= 0)
            figures.at = plan->spmd->cin->vars[own->transfer->at].name;
        first = false;
        figures.steps = max_i64(figures.steps, own->steps);
        if (own->pattern > figures.pattern)
            figures.pattern = own->pattern;
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            increase(&bytes[rank], own->bytes[rank]);
            messages[rank] += own->messages[rank];
            increase(&buffer[rank], own->buffer_bytes[rank]);
            increase(&buffer[rank], saturated_mul(own->copy_bytes[rank], plan->options.threads - 1));
        }
    }
    const Home *own = &plan->homes[tensor->id];
    for (int64_t rank = 0; rank < plan->ranks && own->known; rank++)
        home[rank] = home_bytes(own, rank);
    return figures;
}

// Homes need not be cleared where the first nest that writes the tensor stores every element in place.
static bool needs_zeros(const StatementPlan *plan, int first_nest) {
    if (plan->spmd->nests[first_nest].assign->accumulate)
        return true;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const TransferPlan *transfer = &plan->transfers[t];
        if (transfer->transfer->kind == TRANSFER_REDUCE && transfer->transfer->nest == first_nest &&
            !transfer->in_place)
            return true;
    }
    return false;
}

static bool is_written_before(const Spmd *spmd, int nest) {
    for (int n = 0; n < nest; n++)
        if (spmd->nests[n].assign->lhs->tensor == spmd->nests[nest].assign->lhs->tensor)
            return true;
    return false;
}

static void find_zeroed(StatementPlan *plan) {
    const Spmd *spmd = plan->spmd;
    plan->zeroed = arena_array(plan->arena, const Tensor *, spmd->nest_count);
    for (int n = 0; n < spmd->nest_count; n++) {
        const Tensor *tensor = spmd->nests[n].assign->lhs->tensor;
        const bool adds = tensor == plan->target && spmd->cin->assignment->accumulate;
        if (!adds && !is_written_before(spmd, n) && needs_zeros(plan, n))
            plan->zeroed[plan->zeroed_count++] = tensor;
    }
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
    const int64_t limit = plan->options.work_limit;
    int64_t work;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Access *access = plan->spmd->transfers[t].access;
        const int64_t steps = walk_steps(plan, &plan->spmd->transfers[t]);
        if (!checked_mul(steps, plan->ranks, &work) || work > limit)
            return diagnostics_error(
                diagnostics, access->span,
                "the loops around the communication of '%s' have more than %" PRId64 " turns%s",
                access->tensor->name, limit, plan->ranks > 1 ? " on all ranks together" : "");
    }
    return true;
}

static bool plan_statement(Plan *plan, StatementPlan *statement, int64_t *const *extents,
                           Diagnostics *diagnostics) {
    const double start = clock_seconds();
    const Spmd *spmd = statement->spmd;
    statement->target = spmd->cin->assignment->lhs->tensor;
    statement->provenance = provenance_create(spmd->cin, statement->params, plan->arena, diagnostics);
    if (!statement->provenance || !plan_grid(plan, statement, diagnostics) ||
        !check_work(statement, diagnostics))
        return false;
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Tensor *tensor = spmd->transfers[t].access->tensor;
        if (!plan->homes[tensor->id].known)
            induce_home(statement, &plan->homes[tensor->id], tensor, extents[tensor->id], plan->arena);
    }
    statement->transfers = arena_array(plan->arena, TransferPlan, spmd->transfer_count);
    for (int t = 0; t < spmd->transfer_count; t++)
        sum_transfer(statement, t);
    find_zeroed(statement);
    statement->flop = count_flop(statement);
    statement->seconds = clock_seconds() - start;
    return true;
}

// All homes are known: each tensor is at home while any statement is executed, so all of them count.
static void sum_statement(const Plan *plan, StatementPlan *statement) {
    TensorFigures *figures = arena_array(plan->arena, TensorFigures, plan->tensor_count);
    int64_t *peak = zeros(plan->arena, statement->ranks);
    for (int t = 0; t < plan->tensor_count; t++) {
        figures[t] = sum_tensor(statement, plan->tensors[t]);
        for (int64_t rank = 0; rank < statement->ranks; rank++) {
            increase(&peak[rank], figures[t].home_bytes[rank]);
            increase(&peak[rank], figures[t].buffer_bytes[rank]);
        }
    }
    statement->tensor_count = plan->tensor_count;
    statement->tensors = figures;
    statement->peak_bytes = peak;
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
                   .tensors = arena_copy(arena, tensors, sizeof *tensors * (size_t)tensor_count),
                   .homes = arena_array(arena, Home, tensor_count),
                   .statement_count = statement_count,
                   .statements = arena_array(arena, StatementPlan *, statement_count)};
    int64_t **extents = arena_array(arena, int64_t *, tensor_count);
    for (int t = 0; t < tensor_count; t++) {
        plan->homes[t].tensor = tensors[t];
        extents[t] = tensor_extents(arena, tensors[t], params, diagnostics);
        if (!extents[t])
            return NULL;
    }
    find_largest(plan, tensors, spmds, params);
    if (!place_tensors(plan, tensor_count, tensors, extents, params, diagnostics))
        return NULL;
    for (int s = 0; s < statement_count; s++) {
        StatementPlan *statement = plan->statements[s] = arena_new(arena, StatementPlan);
        *statement = (StatementPlan){.spmd = spmds[s],
                                     .ranks = options.ranks,
                                     .params = params,
                                     .options = options,
                                     .homes = plan->homes,
                                     .arena = arena};
        if (!plan_statement(plan, statement, extents, diagnostics))
            return NULL;
    }
    for (int s = 0; s < statement_count; s++)
        sum_statement(plan, plan->statements[s]);
    return plan;
}

void plan_count_threads(Plan *plan, int64_t threads) {
    plan->options.threads = threads;
    for (int s = 0; s < plan->statement_count; s++) {
        plan->statements[s]->options.threads = threads;
        sum_statement(plan, plan->statements[s]);
    }
}
