// SPDX-License-Identifier: BSD-3-Clause
// Statements compiled for the reference evaluator: a program for each additive term, and the number of
// operations and of roundings that follow from it.
#include "index/evaluate_terms.h"
#include "index/evaluator.h"

#include <math.h>

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
        step.integer = expr->param ? compilation->params[expr->param->value] : expr->integer;
        step.imaginary = expr->number_is_imaginary;
        step.number = expr->number_is_integer ? (double)step.integer : expr->number;
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

static void count_tensors(Evaluator *evaluator) {
    for (int t = 0; t < evaluator->term_count; t++)
        for (int o = 0; o < evaluator->terms[t].operand_count; o++) {
            const Operand *operand = &evaluator->terms[t].operands[o];
            if (operand->reduction < 0 && operand->access->tensor->id >= evaluator->tensor_count)
                evaluator->tensor_count = operand->access->tensor->id + 1;
        }
    for (int r = 0; r < evaluator->reduction_evaluator_count; r++)
        if (evaluator->reduction_evaluators[r]->tensor_count > evaluator->tensor_count)
            evaluator->tensor_count = evaluator->reduction_evaluators[r]->tensor_count;
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
    count_tensors(evaluator);
    return evaluator;
}

int64_t evaluator_count(const Evaluator *evaluator) {
    return evaluator->count;
}

WideKind evaluator_kind(const Evaluator *evaluator) {
    return evaluator->kind;
}

ElementType evaluator_type(const Evaluator *evaluator) {
    static const ElementType types[] = {
        [WIDE_REAL] = TYPE_F64, [WIDE_COMPLEX] = TYPE_C128, [WIDE_INTEGER] = TYPE_I64};
    return types[evaluator->kind];
}

size_t evaluator_value_size(const Evaluator *evaluator) {
    return type_info(evaluator_type(evaluator))->size;
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
