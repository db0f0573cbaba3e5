// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate_sparse.h"

#include "base/integer.h"
#include "index/evaluate_join.h"
#include "index/evaluate_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Adds each element of a dense left side as it was: the last term of a statement with indices that leave some
// out.
static bool add_old_values(const Evaluator *evaluator, const Term *term, const EvaluatorInput *inputs,
                           Totals *totals) {
    const Tensor *tensor = evaluator->assignment->lhs->tensor;
    const size_t size = type_info(tensor->type)->size;
    bool present[BLOCK], ok;
    Register *stack = malloc(sizeof *stack * (size_t)(evaluator->max_steps + 1));
    memset(present, true, sizeof present);
    ok = stack != NULL;
    for (int64_t first = 0; ok && first < evaluator->count; first += BLOCK) {
        const int count = (int)min_i64(BLOCK, evaluator->count - first);
        const Lanes lanes = {.type = tensor->type,
                             .data = (const char *)inputs[tensor->id].values + size * (size_t)first,
                             .present = present,
                             .stride = 1};
        block_run(&term->program, &lanes, count, stack);
        for (int i = 0; ok && i < count; i++) {
            int64_t coordinates[MAX_ORDER], rest = first + i;
            for (int d = tensor->order - 1; d >= 0; d--) {
                const int64_t extent = evaluator->extents[evaluator->assignment->lhs->vars[d]];
                coordinates[d] = rest % extent;
                rest /= extent;
            }
            ok = totals_add(totals, coordinates, stack, i);
        }
    }
    free(stack);
    return ok;
}

static bool evaluate_term(const Evaluator *evaluator, const Term *term, const EvaluatorInput *inputs,
                          const Evaluated *reductions, Totals *totals) {
    const bool last = term == &evaluator->terms[evaluator->term_count - 1];
    const bool every_element = last && evaluator->index_count > 0 && addends_keep_old(evaluator->assignment);
    return every_element && !totals->sparse
               ? add_old_values(evaluator, term, inputs, totals)
               : evaluate_join(evaluator, term, inputs, reductions, every_element, totals);
}

// The modes that the last levels store, as far as each of these stores every coordinate; the others first.
static int split_modes(const Tensor *tensor, int *modes) {
    int others = tensor->order;
    while (others > 0 && tensor->levels[others - 1].format->full)
        others--;
    for (int l = 0; l < tensor->order; l++)
        modes[l] = tensor->mode_order[l];
    return others;
}

// Adds every point with the given coordinates of the first `given` modes.
static bool add_all_below(const Evaluator *evaluator, const int *modes, int given, int64_t *point,
                          Totals *totals) {
    const Access *lhs = evaluator->assignment->lhs;
    if (given == lhs->tensor->order)
        return totals_add(totals, point, NULL, 0);
    int64_t *at = &point[modes[given]];
    bool ok = true;
    for (*at = 0; ok && *at < evaluator->extents[lhs->vars[modes[given]]]; ++*at)
        ok = add_all_below(evaluator, modes, given + 1, point, totals);
    return ok;
}

// Adds what levels store because they store every coordinate below one that is stored.
static bool fill_last_levels(const Evaluator *evaluator, Totals *totals) {
    const Tensor *tensor = evaluator->assignment->lhs->tensor;
    int modes[MAX_ORDER];
    const int others = split_modes(tensor, modes);
    if (!totals_compact(totals))
        return false;
    if (others == tensor->order)
        return true;
    Totals entries = *totals;
    int64_t *keys[MAX_ORDER], point[MAX_ORDER] = {0};
    for (int k = 0; k < others; k++)
        keys[k] = entries.keys[modes[k]];
    int64_t *order = entries_order(entries.count, others, keys);
    bool ok = order && totals_create(evaluator, totals) && totals_append(totals, &entries);
    for (int64_t e = 0; ok && e < entries.count; e++) {
        bool is_new = e == 0;
        for (int k = 0; k < others; k++) {
            is_new = is_new || keys[k][order[e]] != keys[k][order[e - 1]];
            point[modes[k]] = keys[k][order[e]];
        }
        if (is_new)
            ok = add_all_below(evaluator, modes, others, point, totals);
    }
    free(order);
    totals_free(&entries);
    return ok && totals_compact(totals);
}

static bool take_totals(Totals *totals, Evaluated *result) {
    const Evaluator *evaluator = totals->evaluator;
    const size_t count = (size_t)totals->count + 1;
    *result = (Evaluated){.count = totals->count};
    result->values = malloc(evaluator_value_size(evaluator) * count);
    result->magnitudes = malloc(sizeof(double) * count);
    if (!result->values || !result->magnitudes)
        return false;
    for (int64_t e = 0; e < totals->count; e++) {
        const Sum *sum = &totals->sums[e];
        result->summands = fmax(result->summands, (double)sum->summands);
        result->magnitudes[e] = sum->value.magnitude;
        sum_value(evaluator, sum, (char *)result->values + evaluator_value_size(evaluator) * (size_t)e);
    }
    for (int d = 0; totals->sparse && d < totals->order; d++) {
        result->coordinates[d] = totals->keys[d];
        totals->keys[d] = NULL;
    }
    return true;
}

void evaluator_set_progress(Evaluator *evaluator, EvaluatorProgress progress, void *context) {
    evaluator->progress = progress;
    evaluator->progress_context = context;
}

// What each explicit reduction gives, all elements of a dense tensor.
static bool run_reductions(const Evaluator *evaluator, const EvaluatorInput *inputs, Evaluated *results) {
    const void **arrays = calloc((size_t)evaluator->tensor_count + 1, sizeof *arrays);
    bool ok = arrays != NULL;
    for (int t = 0; ok && t < evaluator->tensor_count; t++)
        arrays[t] = inputs[t].values;
    for (int r = 0; ok && r < evaluator->reduction_evaluator_count; r++) {
        const Evaluator *reduction = evaluator->reduction_evaluators[r];
        ok = reduction->sparse ? evaluator_run_sparse(reduction, inputs, &results[r])
                               : evaluator_run_whole(reduction, arrays, &results[r]);
    }
    free(arrays);
    return ok;
}

bool evaluator_run_sparse(const Evaluator *evaluator, const EvaluatorInput *inputs, Evaluated *result) {
    Totals totals;
    *result = (Evaluated){0};
    Evaluated *reductions = calloc((size_t)evaluator->reduction_evaluator_count + 1, sizeof *reductions);
    bool ok = totals_create(evaluator, &totals) && reductions;
    ok = ok && run_reductions(evaluator, inputs, reductions);
    for (int t = 0; ok && t < evaluator->term_count; t++)
        ok = evaluate_term(evaluator, &evaluator->terms[t], inputs, reductions, &totals);
    evaluator_free_reductions(evaluator, reductions);
    ok = ok && (!totals.sparse || fill_last_levels(evaluator, &totals)) && take_totals(&totals, result);
    totals_free(&totals);
    if (!ok)
        evaluated_free(result);
    return ok;
}
