// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"
#include "base/integer.h"
#include "plan/transfer_figures.h"

// Adds to a figure, of which only that it is too large matters where it is.
static void increase(int64_t *figure, int64_t by) {
    *figure = saturated_add(*figure, by);
}

static TensorFigures sum_tensor(const StatementPlan *plan, const TransferFigures *transfers,
                                const Tensor *tensor) {
    Arena *arena = plan->arena;
    int64_t *bytes = arena_array(arena, int64_t, plan->ranks);
    int64_t *messages = arena_array(arena, int64_t, plan->ranks);
    int64_t *home = arena_array(arena, int64_t, plan->ranks);
    int64_t *buffer = arena_array(arena, int64_t, plan->ranks);
    TensorFigures figures = {tensor, false, "none", "", 0, bytes, messages, home, buffer};
    OperationId pattern = OPERATION_LOCAL;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const TransferFigures *own = &transfers[t];
        if (own->transfer->access->tensor != tensor)
            continue;
        if (!figures.used && own->transfer->at >= 0)
            figures.at = plan->spmd->cin->vars[own->transfer->at].name;
        figures.used = true;
        figures.steps = max_i64(figures.steps, own->steps);
        pattern = operation_stronger(pattern, own->pattern);
        figures.pattern = operations[pattern]->name;
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

// Each tensor is at home while any statement is executed, so all of them count.
static void sum_statement(const StatementPlan *plan, StatementFigures *figures) {
    const Plan *whole = plan->plan;
    TensorFigures *tensors = arena_array(plan->arena, TensorFigures, whole->tensor_count);
    int64_t *peak = arena_array(plan->arena, int64_t, plan->ranks);
    for (int t = 0; t < whole->tensor_count; t++) {
        tensors[t] = sum_tensor(plan, figures->transfers, whole->tensors[t]);
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            increase(&peak[rank], tensors[t].home_bytes[rank]);
            increase(&peak[rank], tensors[t].buffer_bytes[rank]);
        }
    }
    figures->tensor_count = whole->tensor_count;
    figures->tensors = tensors;
    figures->peak_bytes = peak;
}

const StatementFigures *plan_figures(const StatementPlan *plan) {
    StatementFigures *figures = plan->figures;
    if (figures->made)
        return figures;
    const double start = clock_seconds();
    const int count = plan->spmd->transfer_count;
    TransferFigures *transfers = arena_array(plan->arena, TransferFigures, count);
    for (int t = 0; t < count; t++)
        transfers[t] = transfer_figures(plan, t);
    figures->transfers = transfers;
    sum_statement(plan, figures);
    figures->seconds = clock_seconds() - start;
    figures->made = true;
    return figures;
}

void plan_count_threads(Plan *plan, int64_t threads) {
    plan->options.threads = threads;
    for (int s = 0; s < plan->statement_count; s++) {
        plan->statements[s]->options.threads = threads;
        if (plan->statements[s]->figures->made)
            sum_statement(plan->statements[s], plan->statements[s]->figures);
    }
}
