// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate.h"

#include "base/integer.h"
#include "index/evaluate_terms.h"
#include "index/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef Array(Evaluator *) EvaluatorArray;

typedef struct {
    Arena *arena;
    const Evaluator *evaluator;
    const Assignment *assignment;
    bool reordered;
    const int64_t *params;
    ElementType type; // that the statement computes in
    Array(Step) steps;
    Array(Operand) operands;
    EvaluatorArray *reductions; // of all terms
} Compilation;

static int64_t extent_of(const IntExpr *extent, const int64_t *params) {
    int64_t value = 0;
    return int_eval(extent, params, NULL, &value) ? value : 0;
}

static const IndexNumbers *index_numbers(Arena *arena, const SourceVar *var, const int64_t *params) {
    IndexNumbers *numbers = arena_new(arena, IndexNumbers);
    *numbers = (IndexNumbers){.constant = extent_of(var->index->constant, params),
                              .extent = extent_of(var->extent, params),
                              .count = var->index->count};
    for (int i = 0; i < numbers->count; i++) {
        numbers->vars[i] = var->index->vars[i];
        numbers->coefficients[i] = extent_of(var->index->coefficients[i], params);
    }
    return numbers;
}

static Operand operand_of(const Evaluator *evaluator, const Access *access, const int64_t *params) {
    Operand operand = {.access = access, .reduction = -1};
    int64_t stride = 1;
    if (tensor_is_sparse(access->tensor))
        return operand;
    for (int mode = access->tensor->order - 1; mode >= 0; mode--) {
        const IndexNumbers *index = evaluator->indices[access->vars[mode]];
        if (!index)
            operand.strides[access->vars[mode]] += stride;
        else
            operand.offset += stride * index->constant;
        for (int i = 0; index && i < index->count; i++)
            operand.strides[index->vars[i]] += stride * index->coefficients[i];
        stride *= extent_of(access->tensor->extents[mode], params);
    }
    return operand;
}

// Whether the expression calls a function with complex numbers.
static bool is_complex(const Expr *call) {
    return type_info(expr_type(call->left))->is_complex ||
           (call->right && type_info(expr_type(call->right))->is_complex);
}

// A reduction is an assignment of its own to a tensor over its other variables, of the type of the statement,
// but real if its values are.
static Operand operand_of_reduction(Compilation *compilation, const Expr *reduction) {
    Arena *arena = compilation->arena;
    Tensor *tensor = arena_new(arena, Tensor);
    Access *access = arena_new(arena, Access);
    Assignment *assignment = arena_copy(arena, compilation->assignment, sizeof *assignment);
    tensor->type =
        type_info(expr_type(reduction))->is_complex ? compilation->type : type_component(compilation->type);
    access->tensor = tensor;
    for (int v = 0; v < assignment->var_count; v++) {
        if (!(expr_vars(reduction) >> v & 1))
            continue;
        access->vars[tensor->order] = v;
        tensor->levels[tensor->order] = level_type_dense();
        tensor->mode_order[tensor->order] = tensor->order;
        tensor->extents[tensor->order++] = assignment->vars[v].extent;
    }
    assignment->lhs = access;
    assignment->accumulate = false;
    assignment->reducer = reduction->reducer;
    assignment->whole = true;
    assignment->rhs = reduction->left;
    Operand operand = operand_of(compilation->evaluator, access, compilation->params);
    operand.reduction = (int)compilation->reductions->count;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, *compilation->reductions,
               evaluator_create(arena, assignment, compilation->reordered, compilation->params));
    return operand;
}

static const PresenceNode *compile(Compilation *compilation, const Expr *expr) {
    PresenceNode *node = arena_new(compilation->arena, PresenceNode);
    Step step = {.kind = expr->kind, .presence = expr_presence(expr, compilation->type)};
    if (expr->kind == EXPR_ACCESS) {
        step.access = (int)compilation->operands.count;
        array_push(compilation->arena, compilation->operands,
                   operand_of(compilation->evaluator, expr->access, compilation->params));
    } else if (expr->kind == EXPR_REDUCE) {
        const Operand operand = operand_of_reduction(compilation, expr);
        step.kind = EXPR_ACCESS;
        step.access = (int)compilation->operands.count;
        array_push(compilation->arena, compilation->operands, operand);
    } else if (expr->kind == EXPR_NUMBER) {
        step.integer = expr->integer;
        step.imaginary = expr->number_is_imaginary;
        step.number = expr->number_is_integer ? (double)expr->integer : expr->number;
    } else {
        node->left = compile(compilation, expr->left);
        node->right = expr->right ? compile(compilation, expr->right) : NULL;
        step.function = expr->function;
        step.complex_arguments = expr->kind == EXPR_CALL && is_complex(expr);
    }
    node->presence = step.presence;
    node->operand = step.access;
    array_push(compilation->arena, compilation->steps, step);
    return node;
}

static bool is_plain(const Expr *expr) {
    return expr->kind != EXPR_ADD && expr->kind != EXPR_SUB && expr->kind != EXPR_CALL &&
           expr->kind != EXPR_REDUCE && (!expr->left || is_plain(expr->left)) &&
           (!expr->right || is_plain(expr->right));
}

static Term term_of(Arena *arena, const Evaluator *evaluator, Addend addend, const int64_t *params,
                    EvaluatorArray *reductions) {
    const ElementType type = assignment_type(evaluator->assignment);
    Compilation compilation = {.arena = arena,
                               .evaluator = evaluator,
                               .assignment = evaluator->assignment,
                               .reordered = evaluator->reordered,
                               .params = params,
                               .type = type,
                               .reductions = reductions};
    const PresenceNode *presence = compile(&compilation, addend.expr);
    Term term = {
        .program = {.kind = evaluator->kind,
                    .reducer = evaluator->assignment->reducer,
                    .sparse = evaluator->sparse,
                    .narrow = type == TYPE_I32,
                    .step_count = (int)compilation.steps.count,
                    .steps = compilation.steps.items,
                    .negative = addend.negative,
                    .plain = is_plain(addend.expr)},
        .operand_count = (int)compilation.operands.count,
        .operands = compilation.operands.items,
        .presence = presence,
        .vars = addend.summed | access_vars(evaluator->assignment->lhs),
    };
    for (int v = 0; v < evaluator->assignment->var_count; v++)
        if (addend.summed >> v & 1)
            term.reductions[term.reduction_count++] = v;
    return term;
}

// Functions of the C library are exact to a few units in the last place.
static double rounding_count(const Term *term) {
    double count = 0;
    for (int s = 0; s < term->program.step_count; s++)
        count += term->program.steps[s].kind == EXPR_CALL ? 4 : 1;
    return count;
}

// A rounding of a complex number is several roundings of its parts.
static void count_work(Evaluator *evaluator) {
    for (int t = 0; t < evaluator->term_count; t++) {
        const Term *term = &evaluator->terms[t];
        double summands = 1;
        for (int i = 0; i < term->reduction_count; i++)
            summands *= (double)evaluator->extents[term->reductions[i]];
        evaluator->summands += summands;
        evaluator->operations += rounding_count(term) * (evaluator->kind == WIDE_COMPLEX ? 4 : 1);
        evaluator->max_steps =
            evaluator->max_steps > term->program.step_count ? evaluator->max_steps : term->program.step_count;
        evaluator->max_operands =
            evaluator->max_operands > term->operand_count ? evaluator->max_operands : term->operand_count;
    }
}

// The number of summands whose errors add up: those of long sums cancel.
static double likely_summands(double summands) {
    return fmin(summands, 64 * sqrt(summands));
}

// Errors of the reductions come before those of the terms, relative to magnitudes of their own.
static void count_reductions(Evaluator *evaluator) {
    for (int r = 0; r < evaluator->reduction_evaluator_count; r++) {
        const Evaluator *reduction = evaluator->reduction_evaluators[r];
        evaluator->operations += reduction->operations + likely_summands(reduction->summands);
    }
}

static WideKind kind_of(ElementType type) {
    const TypeInfo *info = type_info(type);
    return info->is_integer ? WIDE_INTEGER : info->is_complex ? WIDE_COMPLEX : WIDE_REAL;
}

Evaluator *evaluator_create(Arena *arena, const Assignment *assignment, bool reordered,
                            const int64_t *params) {
    Evaluator *evaluator = arena_new(arena, Evaluator);
    const Access *lhs = assignment->lhs;
    ElementType type = assignment_type(assignment);
    evaluator->assignment = assignment;
    evaluator->reordered = reordered;
    evaluator->kind = kind_of(type);
    evaluator->epsilon = fmax(type_info(type)->epsilon, type_info(lhs->tensor->type)->epsilon);
    for (int v = 0; v < assignment->var_count; v++)
        evaluator->extents[v] = extent_of(assignment->vars[v].extent, params);
    for (int v = 0; v < assignment->var_count; v++)
        if (assignment->vars[v].index) {
            evaluator->indices[v] = index_numbers(arena, &assignment->vars[v], params);
            evaluator->index_count++;
        }
    evaluator->sparse = assignment_sparse(assignment) != NULL;
    evaluator->count = evaluator->row_length = 1;
    for (int mode = 0; !tensor_is_sparse(lhs->tensor) && mode < lhs->tensor->order; mode++) {
        evaluator->row_length = evaluator->extents[lhs->vars[mode]];
        evaluator->count *= evaluator->row_length;
    }

    const Addends addends = evaluate_terms(arena, assignment);
    Term *terms = arena_array(arena, Term, addends.count);
    EvaluatorArray reductions = {0};
    for (int64_t i = 0; i < addends.count; i++)
        terms[i] = term_of(arena, evaluator, addends.items[i], params, &reductions);
    evaluator->terms = terms;
    evaluator->term_count = (int)addends.count;
    evaluator->reduction_evaluator_count = (int)reductions.count;
    evaluator->reduction_evaluators = reductions.items;
    count_work(evaluator);
    count_reductions(evaluator);
    return evaluator;
}

int64_t evaluator_count(const Evaluator *evaluator) {
    return evaluator->count;
}

WideKind evaluator_kind(const Evaluator *evaluator) {
    return evaluator->kind;
}

size_t evaluator_value_size(const Evaluator *evaluator) {
    return evaluator->kind == WIDE_COMPLEX ? 2 * sizeof(double) : sizeof(double);
}

double evaluator_operations(const Evaluator *evaluator) {
    double operations = 0;
    for (int t = 0; t < evaluator->term_count; t++) {
        double each = evaluator->terms[t].program.step_count;
        for (int i = 0; i < evaluator->terms[t].reduction_count; i++)
            each *= (double)evaluator->extents[evaluator->terms[t].reductions[i]];
        operations += each;
    }
    double all = (double)evaluator->count * operations;
    for (int r = 0; r < evaluator->reduction_evaluator_count; r++)
        all += evaluator_operations(evaluator->reduction_evaluators[r]);
    return all;
}

bool evaluator_is_sparse(const Evaluator *evaluator) {
    return evaluator->sparse;
}

double evaluator_tolerance_of(const Evaluator *evaluator, double summands) {
    return evaluator->epsilon * (likely_summands(summands) + evaluator->operations + 4);
}

double evaluator_tolerance(const Evaluator *evaluator) {
    return evaluator_tolerance_of(evaluator, evaluator->summands);
}

// The memory of one thread.
typedef struct {
    const ReductionValues *reductions;
    Sums sums, partial;
    Lanes *lanes;    // an operand of the term
    bool visited;    // some term has had an iteration since this was reset
    Register *stack; // a register a step of the term
} Scratch;

// The element type of values of a kind.
static ElementType wide_type(WideKind kind) {
    static const ElementType types[] = {
        [WIDE_REAL] = TYPE_F64, [WIDE_COMPLEX] = TYPE_C128, [WIDE_INTEGER] = TYPE_I64};
    return types[kind];
}

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
        lanes->type = wide_type(evaluator->reduction_evaluators[operand->reduction]->kind);
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
static bool run(const Evaluator *evaluator, const void *const *arrays, const ReductionValues *reductions,
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

static void free_reductions(const Evaluator *evaluator, ReductionValues *reductions) {
    for (int r = 0; reductions && r < evaluator->reduction_evaluator_count; r++) {
        free(reductions[r].values);
        free(reductions[r].magnitudes);
    }
    free(reductions);
}

// NULL: no memory.
static ReductionValues *run_reductions(const Evaluator *evaluator, const void *const *arrays) {
    ReductionValues *all = calloc((size_t)evaluator->reduction_evaluator_count + 1, sizeof *all);
    bool ok = all != NULL;
    for (int r = 0; ok && r < evaluator->reduction_evaluator_count; r++) {
        const Evaluator *reduction = evaluator->reduction_evaluators[r];
        const size_t count = (size_t)reduction->count;
        all[r].values = calloc(count + 1, evaluator_value_size(reduction));
        all[r].magnitudes = calloc(count + 1, sizeof(double));
        ok = all[r].values && all[r].magnitudes &&
             evaluator_run(reduction, arrays, 0, reduction->count, all[r].values, all[r].magnitudes);
    }
    if (ok)
        return all;
    free_reductions(evaluator, all);
    return NULL;
}

bool evaluator_begin(Evaluator *evaluator, const void *const *arrays) {
    evaluator->reduction_values = run_reductions(evaluator, arrays);
    return evaluator->reduction_values != NULL;
}

void evaluator_end(Evaluator *evaluator) {
    free_reductions(evaluator, evaluator->reduction_values);
    evaluator->reduction_values = NULL;
}

bool evaluator_run(const Evaluator *evaluator, const void *const *arrays, int64_t first, int64_t last,
                   void *values, double *magnitudes) {
    if (first >= last)
        return true;
    if (evaluator->reduction_values)
        return run(evaluator, arrays, evaluator->reduction_values, first, last, values, magnitudes);
    ReductionValues *reductions = run_reductions(evaluator, arrays);
    const bool ok = reductions && run(evaluator, arrays, reductions, first, last, values, magnitudes);
    free_reductions(evaluator, reductions);
    return ok;
}

static bool is_single(ElementType type) {
    return type == TYPE_F32 || type == TYPE_C64;
}

// A real value as the left side's type can hold it.
static double as_stored(double value, ElementType type) {
    return is_single(type) ? (double)(float)value : value;
}

static int64_t got_integer(const void *got, ElementType type, int64_t i) {
    return type == TYPE_I32 ? ((const int32_t *)got)[i] : ((const int64_t *)got)[i];
}

// Number `i` of an array of reals of the left side's type; a complex number is two.
static double got_real(const void *got, ElementType type, int64_t i) {
    return is_single(type) ? (double)((const float *)got)[i] : ((const double *)got)[i];
}

static double relative_error(double difference, double magnitude) {
    if (difference == 0)
        return 0;
    return magnitude > 0 ? difference / magnitude : INFINITY;
}

// Summands b(k) * c that are infinite with both signs add up to NaN, but (b(1) + b(2)) * c, as products are
// formed with workspaces and by calls of the BLAS, is infinite then.
static double real_error(bool reordered, double got, double value, double magnitude) {
    if (got == value || (isnan(value) && (isnan(got) || (reordered && isinf(got)))))
        return 0;
    return isfinite(got) && isfinite(value) ? relative_error(fabs(got - value), magnitude) : INFINITY;
}

// The C standard does not define which parts of complex products are infinite or NaN: all such values are
// equal here.
static double complex_error(const double *got, const double *value, double magnitude) {
    bool finite = isfinite(value[0]) && isfinite(value[1]);
    if (finite != (isfinite(got[0]) && isfinite(got[1])))
        return INFINITY;
    return finite ? relative_error(hypot(got[0] - value[0], got[1] - value[1]), magnitude) : 0;
}

double evaluator_error(const Evaluator *evaluator, const void *got, const void *values,
                       const double *magnitudes, int64_t count) {
    const ElementType type = evaluator->assignment->lhs->tensor->type;
    const int numbers = evaluator->kind == WIDE_COMPLEX ? 2 : 1;
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        double error;
        if (type_info(type)->is_integer) {
            int64_t value = ((const int64_t *)values)[i];
            error = got_integer(got, type, i) == (type == TYPE_I32 ? (int32_t)(uint32_t)value : value)
                        ? 0
                        : INFINITY;
        } else if (!type_info(type)->is_complex) {
            double value = as_stored(((const double *)values)[numbers * i], type);
            error = real_error(evaluator->reordered, got_real(got, type, i), value, magnitudes[i]);
        } else {
            const double *value = (const double *)values + 2 * i;
            double parts[2] = {got_real(got, type, 2 * i), got_real(got, type, 2 * i + 1)};
            double stored[2] = {as_stored(value[0], type), as_stored(value[1], type)};
            error = complex_error(parts, stored, magnitudes[i]);
        }
        largest = fmax(largest, error);
    }
    return largest;
}
