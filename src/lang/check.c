// SPDX-License-Identifier: BSD-3-Clause
#include "lang/check.h"

#include "base/integer.h"
#include "index/presence.h"
#include "index/summation.h"
#include "lang/readings.h"

#include <inttypes.h>
#include <string.h>

bool check_machine(ProgramBuilder *builder, const Machine *machine) {
    bool ok = true;
    int64_t processors = 1;
    for (int d = 0; d < machine->order; d++) {
        int64_t size = build_value(builder, machine->extents[d]);
        if (size < 1)
            ok = diagnostics_error(builder->diagnostics, machine->extent_spans[d],
                                   "dimension %d of machine '%s' has size %" PRId64 "; a size is at least 1",
                                   d, machine->name, size);
        else if (ok && (!checked_mul(processors, size, &processors) || processors > MAX_PROCESSORS))
            ok = diagnostics_error(builder->diagnostics, machine->span,
                                   "machine '%s' has more than %d processors", machine->name, MAX_PROCESSORS);
    }
    return ok;
}

enum { EXTENT_BITS = 62 }; // so that the sum of two coordinates is a coordinate

// Levels that store every coordinate, one below the other, take room for their product, and where none of the
// levels does not, that is the number of elements. An empty mode counts as 1, so that strides fit as well.
static bool check_size(ProgramBuilder *builder, const Tensor *tensor, const int64_t *extents) {
    const bool sparse = tensor_is_sparse(tensor);
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    int64_t bytes = size;
    for (int l = 0; l < tensor->order; l++) {
        if (!tensor->levels[l].format->full)
            bytes = max_i64(size, (int64_t)sizeof(int64_t));
        else if (!checked_mul(bytes, max_i64(extents[tensor->mode_order[l]], 1), &bytes))
            return diagnostics_error(builder->diagnostics, tensor->span,
                                     "%s '%s' has more bytes than fit into a 64-bit number",
                                     sparse ? "what dense levels store of" : "tensor", tensor->name);
    }
    return true;
}

bool check_tensor(ProgramBuilder *builder, const Tensor *tensor) {
    bool ok = true;
    int64_t extents[MAX_ORDER];
    for (int d = 0; d < tensor->order; d++) {
        extents[d] = build_value(builder, tensor->extents[d]);
        if (extents[d] < 0)
            ok = diagnostics_error(builder->diagnostics, tensor->extent_spans[d],
                                   "mode %d of '%s' has extent %" PRId64 "; an extent is not negative", d,
                                   tensor->name, extents[d]);
        else if (extents[d] > (int64_t)1 << EXTENT_BITS)
            ok = diagnostics_error(builder->diagnostics, tensor->extent_spans[d],
                                   "mode %d of '%s' has extent %" PRId64 "; an extent is at most 2^%d", d,
                                   tensor->name, extents[d], EXTENT_BITS);
    }
    return ok && check_size(builder, tensor, extents);
}

bool check_extent(ProgramBuilder *builder, const char *var, const Access *first, int first_mode,
                  const Access *access, int mode) {
    const int64_t extent = build_value(builder, access->tensor->extents[mode]);
    const int64_t first_extent = build_value(builder, first->tensor->extents[first_mode]);
    return extent == first_extent ||
           diagnostics_error(builder->diagnostics, access->var_spans[mode],
                             "'%s' indexes mode %d of '%s' (extent %" PRId64
                             ") and mode %d of '%s' (extent %" PRId64 "); these extents must be equal",
                             var, first_mode, first->tensor->name, first_extent, mode, access->tensor->name,
                             extent);
}

bool check_coordinate(ProgramBuilder *builder, const Machine *machine, int dim, int64_t coordinate,
                      Span span) {
    int64_t size = build_value(builder, machine->extents[dim]);
    if (coordinate >= 0 && coordinate < size)
        return true;
    return diagnostics_error(builder->diagnostics, span,
                             "coordinate %" PRId64
                             " is outside dimension %d of machine '%s', which has size %" PRId64
                             " (coordinates 0 to %" PRId64 ")",
                             coordinate, dim, machine->name, size, size - 1);
}

bool check_boundaries(ProgramBuilder *builder, const Tensor *tensor, const Machine *machine, int dim,
                      const PlaceEntry *entry, const char *mode, const BoundaryList *boundaries) {
    const int64_t parts = build_value(builder, machine->extents[dim]), count = boundaries->count;
    const int64_t extent = build_value(builder, tensor->extents[entry->mode]);
    const Boundary *items = boundaries->items;
    if (count != parts + 1)
        return diagnostics_error(builder->diagnostics, entry->span,
                                 "expected %" PRId64
                                 " boundaries from 0 to the extent, where each of %" PRId64
                                 " blocks begins and where the last one ends, not %" PRId64,
                                 parts + 1, parts, count);
    if (items[0].value != 0)
        return diagnostics_error(builder->diagnostics, items[0].span,
                                 "the first block begins at 0, not at %" PRId64, items[0].value);
    for (int64_t i = 1; i < count; i++)
        if (items[i].value < items[i - 1].value)
            return diagnostics_error(builder->diagnostics, items[i].span,
                                     "boundaries do not decrease: %" PRId64 " stands behind %" PRId64
                                     " (of an empty block, both are equal)",
                                     items[i].value, items[i - 1].value);
    return items[count - 1].value == extent ||
           diagnostics_error(builder->diagnostics, items[count - 1].span,
                             "the last block ends at the extent of mode '%s' of '%s', %" PRId64
                             ", not at %" PRId64,
                             mode, tensor->name, extent, items[count - 1].value);
}

bool check_block(ProgramBuilder *builder, int64_t block, Span span) {
    if (block >= 1 && block <= MAX_CYCLE)
        return true;
    return diagnostics_error(builder->diagnostics, span,
                             "expected a block of 1 to %d coordinates, not %" PRId64, MAX_CYCLE, block);
}

// Functions are defined on the types of their arguments.
static bool check_calls(ProgramBuilder *builder, const Expr *expr) {
    if (expr->left && !check_calls(builder, expr->left))
        return false;
    if (expr->right && !check_calls(builder, expr->right))
        return false;
    if (expr->kind != EXPR_CALL || function_takes_complex(expr->function))
        return true;
    for (int a = 0; a < expr->function->arity; a++) {
        const Expr *argument = a == 0 ? expr->left : expr->right;
        if (argument && type_info(expr_type(argument))->is_complex)
            return diagnostics_error(builder->diagnostics, argument->span,
                                     "'%s' is not defined on complex numbers, and this argument is %s",
                                     expr->function->name, type_info(expr_type(argument))->name);
    }
    return true;
}

static bool check_type(ProgramBuilder *builder, const Assignment *assignment) {
    if (!check_calls(builder, assignment->rhs))
        return false;
    if (!assignment->lhs)
        return true;
    const Tensor *target = assignment->lhs->tensor;
    ElementType type = expr_type(assignment->rhs);
    if (type_storable(type, target->type))
        return true;
    return diagnostics_error(
        builder->diagnostics, assignment->lhs->span,
        "the right side is %s, which cannot be stored in '%s' of type %s; declare '%s' as %s%s",
        type_info(type)->name, target->name, type_info(target->type)->name, target->name,
        type_info(type)->name,
        type_storable(type_component(type), target->type) ? ", or store real(...)" : "");
}

// `x(i)` over i
typedef struct {
    const Assignment *assignment;
    VarSet summed, shown; // variables that the left side lacks; those of the first addend
    int count;
    Text text;
} Unlike;

// The first addend, and the first that differs from it.
static void show_addend(void *context, const Expr *addend) {
    Unlike *it = context;
    const VarSet vars = expr_vars(addend) & it->summed;
    if (it->count == 2 || (it->count == 1 && vars == it->shown))
        return;
    const char *names[MAX_VARS];
    for (int v = 0; v < it->assignment->var_count; v++)
        names[v] = it->assignment->vars[v].name;
    Text expr = text_create(it->text.arena);
    expr_print(addend, names, &expr);
    const bool is_long = expr.length > 40;
    text_printf(&it->text, "%s'%.40s%s' over ", it->count ? ", " : "", text_string(&expr),
                is_long ? "..." : "");
    const char *between = "";
    for (int v = 0; v < it->assignment->var_count; v++) {
        if (vars >> v & 1) {
            text_printf(&it->text, "%s%s", between, names[v]);
            between = " and ";
        }
    }
    text_append(&it->text, vars ? "" : "none");
    it->shown = vars;
    it->count++;
}

static bool check_sums(ProgramBuilder *builder, const Assignment *assignment) {
    const VarSet left = access_vars(assignment->lhs);
    VarSet summed;
    const Expr *sum = assignment->whole ? NULL : expr_mixed_sum(assignment->rhs, left, &summed);
    if (!sum)
        return true;
    Unlike unlike = {.assignment = assignment, .summed = summed, .text = text_create(builder->arena)};
    sum_addends(sum, show_addend, &unlike);
    diagnostics_error(builder->diagnostics, sum->span,
                      "the addends of this sum, which is part of a product, a quotient or a call, are summed "
                      "over different variables: %s",
                      text_string(&unlike.text));
    static const char *const readings[] = {
        [READ_TERM_SUMMED] = "to sum the whole term",
        [READ_ADDENDS_SUMMED] = "to sum each addend before adding",
    };
    for (int reading = READ_TERM_SUMMED; reading <= READ_ADDENDS_SUMMED; reading++)
        diagnostics_note(builder->diagnostics, (Span){0}, "%s, write: %s", readings[reading],
                         reading_print(builder->arena, assignment, (Reading)reading));
    return false;
}

// Maxima and minima need an order.
static bool check_reducer(ProgramBuilder *builder, Reducer reducer, ElementType type, Span span) {
    return reducer_takes(reducer, type) ||
           diagnostics_error(builder->diagnostics, span,
                             "'%s' is not defined on complex numbers, and this is %s", reducer_names[reducer],
                             type_info(type)->name);
}

static bool check_reductions_in(ProgramBuilder *builder, const Expr *expr) {
    if (!expr)
        return true;
    if (!check_reductions_in(builder, expr->left) || !check_reductions_in(builder, expr->right))
        return false;
    return expr->kind != EXPR_REDUCE ||
           check_reducer(builder, expr->reducer, expr_type(expr->left), expr->left->span);
}

static const char *left_side(const ProgramBuilder *builder, const Assignment *assignment) {
    const char *names[MAX_VARS];
    for (int v = 0; v < assignment->var_count; v++)
        names[v] = assignment->vars[v].name;
    Text text = text_create(builder->arena);
    access_print(assignment->lhs, names, &text);
    return text_string(&text);
}

static bool check_reductions(ProgramBuilder *builder, const Assignment *assignment) {
    return check_reductions_in(builder, assignment->rhs) &&
           check_reducer(builder, assignment->reducer, assignment->lhs->tensor->type, assignment->span);
}

// Outside of explicit reductions, which are computed before anything is written, an element is read where it
// is computed.
static const Access *read_elsewhere(const Assignment *assignment, const Expr *expr) {
    if (!expr || expr->kind == EXPR_REDUCE)
        return NULL;
    if (expr->kind == EXPR_ACCESS)
        return expr->access->tensor == assignment->lhs->tensor && !access_equal(expr->access, assignment->lhs)
                   ? expr->access
                   : NULL;
    const Access *left = read_elsewhere(assignment, expr->left);
    return left ? left : read_elsewhere(assignment, expr->right);
}

static bool check_update(ProgramBuilder *builder, const Assignment *assignment) {
    const Access *access = read_elsewhere(assignment, assignment->rhs);
    if (!access)
        return true;
    const char *target = assignment->lhs->tensor->name, *left = left_side(builder, assignment),
               *indices = left + strlen(target);
    diagnostics_error(builder->diagnostics, access->span,
                      "'%s' is assigned by this statement, which may read only the element of it that it "
                      "computes, '%s'",
                      target, left);
    diagnostics_note(
        builder->diagnostics, (Span){0},
        "to read others, compute into a second tensor, %s_new%s = ..., and copy it, %s = %s_new%s", target,
        indices, left, target, indices);
    return false;
}

// A sparse result cannot have a value everywhere.
static bool check_sparse_result(ProgramBuilder *builder, const Assignment *assignment) {
    const Tensor *target = assignment->lhs->tensor;
    const ElementType type = assignment_type(assignment);
    const Expr *summand = assignment->reducer == REDUCER_SUM
                              ? assignment_summand(assignment)
                              : assignment_stored(builder->arena, assignment)->rhs;
    if (!tensor_is_sparse(target) || !expr_is_always_present(summand, type))
        return true;
    const Expr *part = expr_always_present_part(summand, type);
    const char *names[MAX_VARS];
    for (int v = 0; v < assignment->var_count; v++)
        names[v] = assignment->vars[v].name;
    Text text = text_create(builder->arena);
    expr_print(part, names, &text);
    diagnostics_error(builder->diagnostics, part->span,
                      "'%.40s%s' %s, so the result is not zero there and cannot be stored in '%s', which is "
                      "sparse; store the result in a dense tensor",
                      text_string(&text), text.length > 40 ? "..." : "",
                      part->kind == EXPR_DIV    ? "divides by zero where the divisor has no entries"
                      : part->kind == EXPR_CALL ? "is not zero where its arguments are"
                                                : "has a value everywhere",
                      target->name);
    const Expr *reduction = expr_reduction(part);
    if (reduction && reduction->reducer == REDUCER_SUM)
        diagnostics_note(builder->diagnostics, (Span){0},
                         "an implicit sum, without 'sum', has entries only where its operands have");
    return false;
}

bool check_assignment(ProgramBuilder *builder, const Assignment *assignment) {
    return check_indices(builder, assignment) && check_type(builder, assignment) &&
           (!assignment->lhs ||
            (check_update(builder, assignment) && check_reductions(builder, assignment) &&
             check_sums(builder, assignment) && check_sparse_result(builder, assignment)));
}

// Where each variable was seen first.
typedef struct {
    ProgramBuilder *builder;
    const Assignment *assignment;
    const Access *first[MAX_VARS];
    int first_mode[MAX_VARS];
    bool ok;
} Extents;

static void check_access(void *context, const Access *access) {
    Extents *it = context;
    for (int mode = 0; mode < access->tensor->order; mode++) {
        const int v = access->vars[mode];
        if (!it->first[v]) {
            it->first[v] = access;
            it->first_mode[v] = mode;
        }
        it->ok &= check_extent(it->builder, it->assignment->vars[v].name, it->first[v], it->first_mode[v],
                               access, mode);
    }
}

bool check_extents(ProgramBuilder *builder, const Assignment *assignment) {
    Extents extents = {.builder = builder, .assignment = assignment, .ok = true};
    check_access(&extents, assignment->lhs);
    expr_accesses(assignment->rhs, check_access, &extents);
    return extents.ok && check_indices(builder, assignment);
}

void check_overrides(ProgramBuilder *builder) {
    const char *const *params = builder->param_names.items + 1; // but for `ranks`
    for (int i = 0; i < builder->override_count; i++) {
        const char *name = builder->overrides[i].name;
        Name found;
        const bool is_there = build_find(builder, name, &found);
        if (is_there && found.kind == NAME_PARAM && found.param == 0)
            diagnostics_error(builder->diagnostics, (Span){0},
                              "param 'ranks' is the number of processes; give it with --ranks");
        else if (!is_there || (found.kind != NAME_PARAM && !found.failed))
            diagnostics_error(
                builder->diagnostics, (Span){0}, "the program has no param '%s'%s", name,
                did_you_mean(builder->arena, name, "params", params, builder->param_names.count - 1));
    }
}
