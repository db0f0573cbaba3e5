// SPDX-License-Identifier: BSD-3-Clause
#include "plan/figures.h"

#include "base/integer.h"
#include "plan/walk.h"

#include <string.h>

static int64_t operation_count(const Expr *expr) {
    if (!expr || expr->kind == EXPR_ACCESS || expr->kind == EXPR_NUMBER)
        return 0;
    return (expr->kind != EXPR_NEG) + operation_count(expr->left) + operation_count(expr->right);
}

int64_t count_flop(const StatementPlan *plan) {
    const Cin *cin = plan->spmd->cin;
    int64_t total = 0;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        bool active[MAX_VARS];
        provenance_active(plan->provenance, nest.loops, nest.loop_count, active);
        int64_t count = operation_count(nest.assign->rhs) + nest.assign->accumulate;
        for (int v = 0; v < cin->var_count; v++)
            if (cin->vars[v].source && active[v])
                count = saturated_mul(count, provenance_extent(plan->provenance, v));
        total = saturated_add(total, count);
    }
    return total;
}

static int64_t *zeros(Arena *arena, int64_t count) {
    return arena_array(arena, int64_t, count);
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

void sum_transfer(StatementPlan *plan, int transfer) {
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

// All homes are known: each tensor is at home while any statement is executed, so all of them count.
void sum_statement(const Plan *plan, StatementPlan *statement) {
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

void plan_count_threads(Plan *plan, int64_t threads) {
    plan->options.threads = threads;
    for (int s = 0; s < plan->statement_count; s++) {
        plan->statements[s]->options.threads = threads;
        sum_statement(plan, plan->statements[s]);
    }
}
