// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate.h"

#include "base/integer.h"
#include "index/evaluate_terms.h"
#include "index/evaluator.h"

#include <stdlib.h>
#include <string.h>

// The memory of one thread.
typedef struct {
    const Evaluated *reductions;
    Sums sums, partial;
    Lanes *lanes;    // an operand of the term
    bool visited;    // some term has had an iteration since this was reset
    Register *stack; // a register a step of the term
} Scratch;

static bool scratch_create(const Evaluator *evaluator, Scratch *scratch) {
    scratch->lanes = calloc((size_t)evaluator->max_operands + 1, sizeof(Lanes));
    scratch->stack = malloc(sizeof(Register) * (size_t)(evaluator->max_steps + 1));
    return scratch->lanes && scratch->stack;
}

static void scratch_free(Scratch *scratch) {
    free(scratch->lanes);
    free(scratch->stack);
}

// Sums over all values of the term's reduction variables. If `lane_var` is one of them, lanes are BLOCK
// values of it at a time; else they are `width` neighbouring elements of the result.
static void sum_term(const Evaluator *evaluator, const Term *term, const void *const *arrays, int64_t *at,
                     int lane_var, int64_t width, Scratch *scratch, Sums *sums) {
    for (int i = 0; i < term->reduction_count; i++) {
        if (evaluator->extents[term->reductions[i]] == 0)
            return;
        at[term->reductions[i]] = 0;
    }
    memset(scratch->lanes, 0, sizeof(Lanes) * (size_t)term->operand_count);
    for (int a = 0; a < term->operand_count; a++) {
        const Operand *operand = &term->operands[a];
        Lanes *lanes = &scratch->lanes[a];
        lanes->stride = lane_var < 0 ? 0 : operand->strides[lane_var];
        if (operand->reduction < 0) {
            lanes->type = operand->access->tensor->type;
            lanes->data = arrays[operand->access->tensor->id];
            continue;
        }
        lanes->type = evaluator_type(evaluator->reduction_evaluators[operand->reduction]);
        lanes->data = scratch->reductions[operand->reduction].values;
        lanes->magnitudes = scratch->reductions[operand->reduction].magnitudes;
    }
    while (true) {
        const bool exists = evaluator->index_count == 0 || evaluator_has_iteration(evaluator, term->vars, at);
        scratch->visited = scratch->visited || exists;
        for (int a = 0; a < term->operand_count; a++) {
            int64_t offset = term->operands[a].offset;
            for (int v = 0; v < evaluator->assignment->var_count; v++)
                offset += at[v] * term->operands[a].strides[v];
            scratch->lanes[a].offset = offset;
        }
        for (int64_t done = 0; done < width && exists; done += BLOCK) {
            block_add(&term->program, scratch->lanes, (int)min_i64(BLOCK, width - done), scratch->stack,
                      sums);
            for (int a = 0; a < term->operand_count; a++)
                scratch->lanes[a].offset += BLOCK * scratch->lanes[a].stride;
        }
        int i = term->reduction_count - 1;
        for (; i >= 0; i--) {
            int var = term->reductions[i];
            if (var == lane_var)
                continue;
            if (++at[var] < evaluator->extents[var])
                break;
            at[var] = 0;
        }
        if (i < 0)
            return;
    }
}

// The reduction variable with the largest extent, -1 where there is none.
static int longest_reduction(const Evaluator *evaluator, const Term *term) {
    int longest = -1;
    for (int i = 0; i < term->reduction_count; i++) {
        int var = term->reductions[i];
        if (longest < 0 || evaluator->extents[var] > evaluator->extents[longest])
            longest = var;
    }
    return longest;
}

// Element number `element` of a statement with indices that are more than variables, added to lane `lane`.
static void evaluate_element(const Evaluator *evaluator, const void *const *arrays, int64_t element,
                             const int64_t *coordinates, int lane, Scratch *scratch) {
    int64_t at[MAX_VARS] = {0};
    const Assignment *assignment = evaluator->assignment;
    const bool updates = addends_keep_old(assignment);
    const int count = evaluator->term_count - updates;
    scratch->visited = false;
    const bool is_reached = evaluator_solve(evaluator, coordinates, at);
    for (int t = 0; t < count && is_reached; t++) {
        const Term *term = &evaluator->terms[t];
        block_clear(&term->program, &scratch->partial, 1);
        sum_term(evaluator, term, arrays, at, -1, 1, scratch, &scratch->partial);
        block_join(&term->program, &scratch->partial, &scratch->sums, lane);
    }
    if (!updates || (!assignment->accumulate && scratch->visited))
        return;
    // The last term is the element as it was.
    const Tensor *tensor = assignment->lhs->tensor;
    scratch->lanes[0] = (Lanes){.type = tensor->type, .data = arrays[tensor->id], .offset = element};
    block_clear(&evaluator->terms[count].program, &scratch->partial, 1);
    block_add(&evaluator->terms[count].program, scratch->lanes, 1, scratch->stack, &scratch->partial);
    block_join(&evaluator->terms[count].program, &scratch->partial, &scratch->sums, lane);
}

// Elements first .. first + count - 1, which lie in one row of the result and are at most BLOCK.
static void evaluate_chunk(const Evaluator *evaluator, const void *const *arrays, int64_t first, int count,
                           char *values, double *magnitudes, Scratch *scratch) {
    const Access *lhs = evaluator->assignment->lhs;
    const int order = lhs->tensor->order;
    const int64_t element = first;
    int64_t start[MAX_VARS] = {0}, at[MAX_VARS], coordinates[MAX_ORDER] = {0};
    for (int mode = order - 1; mode >= 0; mode--) {
        int64_t extent = evaluator->extents[lhs->vars[mode]];
        start[lhs->vars[mode]] = coordinates[mode] = first % extent;
        first /= extent;
    }
    const int row_var = order > 0 ? lhs->vars[order - 1] : -1;
    block_clear(&evaluator->terms[0].program, &scratch->sums, count);
    for (int i = 0; i < count && evaluator->index_count > 0; i++) {
        evaluate_element(evaluator, arrays, element + i, coordinates, i, scratch);
        coordinates[order > 0 ? order - 1 : 0]++;
    }
    for (int t = 0; t < evaluator->term_count && evaluator->index_count == 0; t++) {
        const Term *term = &evaluator->terms[t];
        const int longest = longest_reduction(evaluator, term);
        memcpy(at, start, sizeof at);
        if (longest < 0 || count >= min_i64(BLOCK / 16, evaluator->extents[longest])) {
            sum_term(evaluator, term, arrays, at, row_var, count, scratch, &scratch->sums);
            continue;
        }
        const int lanes = (int)min_i64(BLOCK, evaluator->extents[longest]);
        for (int i = 0; i < count; i++) {
            memcpy(at, start, sizeof at);
            if (row_var >= 0)
                at[row_var] += i;
            block_clear(&term->program, &scratch->partial, lanes);
            sum_term(evaluator, term, arrays, at, longest, evaluator->extents[longest], scratch,
                     &scratch->partial);
            block_fold(&term->program, &scratch->partial, lanes);
            block_join(&term->program, &scratch->partial, &scratch->sums, i);
        }
    }
    for (int i = 0; i < count; i++) {
        block_value(&evaluator->terms[0].program, &scratch->sums, i,
                    values + evaluator_value_size(evaluator) * (size_t)i);
        if (magnitudes)
            magnitudes[i] = scratch->sums.sum.magnitude[i];
    }
}

// As evaluator_run, with what the reductions give.
static bool run(const Evaluator *evaluator, const void *const *arrays, const Evaluated *reductions,
                int64_t first, int64_t last, void *values, double *magnitudes) {
    const int64_t row = evaluator->row_length, chunks = ceil_div(row, BLOCK);
    const int64_t first_row = first / row, last_row = (last - 1) / row;
    bool out_of_memory = false;
#pragma omp parallel if ((last_row - first_row + 1) * chunks > 1)
    {
        Scratch *scratch = malloc(sizeof *scratch);
        if (!scratch || !scratch_create(evaluator, scratch)) {
#pragma omp atomic write
            out_of_memory = true;
        }
#pragma omp barrier
        bool stop;
#pragma omp atomic read
        stop = out_of_memory;
        if (!stop) {
            scratch->reductions = reductions;
            scratch->visited = false;
#pragma omp for schedule(dynamic)
            for (int64_t chunk = 0; chunk < (last_row - first_row + 1) * chunks; chunk++) {
                const int64_t row_start = (first_row + chunk / chunks) * row;
                const int64_t start = row_start + chunk % chunks * BLOCK;
                const int64_t from = max_i64(start, first);
                const int64_t to = min_i64(min_i64(start + BLOCK, row_start + row), last);
                if (from < to)
                    evaluate_chunk(evaluator, arrays, from, (int)(to - from),
                                   (char *)values + evaluator_value_size(evaluator) * (size_t)(from - first),
                                   magnitudes ? magnitudes + (from - first) : NULL, scratch);
            }
        }
        if (scratch)
            scratch_free(scratch);
        free(scratch);
    }
    return !out_of_memory;
}

void evaluated_free(Evaluated *result) {
    for (int d = 0; d < MAX_ORDER; d++)
        free(result->coordinates[d]);
    free(result->values);
    free(result->magnitudes);
    *result = (Evaluated){0};
}

void evaluator_free_reductions(const Evaluator *evaluator, Evaluated *results) {
    for (int r = 0; results && r < evaluator->reduction_evaluator_count; r++)
        evaluated_free(&results[r]);
    free(results);
}

bool evaluator_run_whole(const Evaluator *evaluator, const void *const *arrays, Evaluated *result) {
    const size_t count = (size_t)evaluator->count + 1;
    *result = (Evaluated){.count = evaluator->count,
                          .values = calloc(count, evaluator_value_size(evaluator)),
                          .magnitudes = calloc(count, sizeof(double))};
    return result->values && result->magnitudes &&
           evaluator_run(evaluator, arrays, 0, evaluator->count, result->values, result->magnitudes);
}

// NULL: no memory.
static Evaluated *run_reductions(const Evaluator *evaluator, const void *const *arrays) {
    Evaluated *all = calloc((size_t)evaluator->reduction_evaluator_count + 1, sizeof *all);
    bool ok = all != NULL;
    for (int r = 0; ok && r < evaluator->reduction_evaluator_count; r++)
        ok = evaluator_run_whole(evaluator->reduction_evaluators[r], arrays, &all[r]);
    if (ok)
        return all;
    evaluator_free_reductions(evaluator, all);
    return NULL;
}

bool evaluator_begin(Evaluator *evaluator, const void *const *arrays) {
    evaluator->reduction_values = run_reductions(evaluator, arrays);
    return evaluator->reduction_values != NULL;
}

void evaluator_end(Evaluator *evaluator) {
    evaluator_free_reductions(evaluator, evaluator->reduction_values);
    evaluator->reduction_values = NULL;
}

bool evaluator_run(const Evaluator *evaluator, const void *const *arrays, int64_t first, int64_t last,
                   void *values, double *magnitudes) {
    if (first >= last)
        return true;
    if (evaluator->reduction_values)
        return run(evaluator, arrays, evaluator->reduction_values, first, last, values, magnitudes);
    Evaluated *reductions = run_reductions(evaluator, arrays);
    const bool ok = reductions && run(evaluator, arrays, reductions, first, last, values, magnitudes);
    evaluator_free_reductions(evaluator, reductions);
    return ok;
}
