// SPDX-License-Identifier: BSD-3-Clause
// Checks of indices that are more than a variable, with the current values of params.
#include "lang/check.h"

#include "base/integer.h"

#include <inttypes.h>

// Coordinates and what they are computed from stay below this.
static const int64_t most = INT64_C(1) << 61;

// |a| + |b| * c, at most `most`, where c is not negative.
static int64_t grown(int64_t a, int64_t b, int64_t c) {
    if (b < -most || b > most)
        return most;
    return min_i64(most, saturated_add(a, saturated_mul(b < 0 ? -b : b, c)));
}

static const char *text_of(const ProgramBuilder *builder, const IntExpr *expr) {
    Text text = text_create(builder->arena);
    int_print(expr, (IntNames){.params = build_param_names(builder)}, &text);
    return text_string(&text);
}

static bool check_constant(ProgramBuilder *builder, const Access *access, int mode) {
    const AffineIndex *index = access->indices[mode];
    const int64_t value = build_value(builder, index->constant),
                  extent = build_value(builder, access->tensor->extents[mode]);
    if (value >= 0 && value < extent)
        return true;
    const bool is_number = index->constant->op == INT_CONST;
    diagnostics_error(builder->diagnostics, access->var_spans[mode],
                      "index %s%s%s lies outside of mode %d of '%s' (extent %" PRId64 ")",
                      text_of(builder, index->constant), is_number ? "" : ", which is ",
                      is_number ? "" : arena_printf(builder->arena, "%" PRId64 ",", value), mode,
                      access->tensor->name, extent);
    if (index->constant->op == INT_PARAM)
        diagnostics_note(
            builder->diagnostics, (Span){0},
            "'%s' is a param, so this index is one coordinate; an index variable has a name of its own",
            text_of(builder, index->constant));
    return false;
}

// Numbers that computing with the index needs.
static bool check_numbers(ProgramBuilder *builder, const Assignment *assignment, const Access *access,
                          int mode) {
    const AffineIndex *index = access->indices[mode];
    const int64_t constant = build_value(builder, index->constant);
    int64_t size = grown(0, constant, 1);
    for (int i = 0; i < index->count; i++) {
        const SourceVar *var = &assignment->vars[index->vars[i]];
        const int64_t coefficient = build_value(builder, index->coefficients[i]);
        if (coefficient == 0)
            return diagnostics_error(builder->diagnostics, access->var_spans[mode],
                                     "'%s' is multiplied by 0 in this index", var->name);
        size = grown(size, coefficient, build_value(builder, var->extent));
    }
    return size < most || diagnostics_error(builder->diagnostics, access->var_spans[mode],
                                            "the values of this index do not fit into 62 bits");
}

typedef struct {
    ProgramBuilder *builder;
    const Assignment *assignment;
    bool ok;
} IndexCheck;

static void check_access(void *context, const Access *access) {
    IndexCheck *check = context;
    const Assignment *assignment = check->assignment;
    for (int m = 0; m < access->tensor->order && check->ok; m++) {
        const AffineIndex *index = access->indices[m];
        if (!index)
            continue;
        if (index->count == 0)
            check->ok = check_constant(check->builder, access, m);
        else if (index->count > 1 && access == assignment->lhs)
            check->ok =
                diagnostics_error(check->builder->diagnostics, access->var_spans[m],
                                  "an index of the left side has one variable, so that an iteration writes "
                                  "an element of its own");
        else
            check->ok = check_numbers(check->builder, assignment, access, m);
    }
}

// A variable runs from 0; where indices allow less than that, more would be meant than is computed.
static bool check_start(ProgramBuilder *builder, const Assignment *assignment, int v) {
    int64_t least = INT64_MIN;
    for (int k = 0; k < assignment->var_count; k++) {
        const AffineIndex *index = assignment->vars[k].index;
        if (!index || !(index_vars(index) >> v & 1))
            continue;
        if (index->count > 1)
            return true;
        const int64_t coefficient = build_value(builder, index->coefficients[0]),
                      constant = build_value(builder, index->constant);
        const int64_t lowest =
            coefficient > 0
                ? ceil_div(-constant, coefficient)
                : floor_div(constant - build_value(builder, assignment->vars[k].extent), -coefficient) + 1;
        least = max_i64(least, lowest);
    }
    return least >= 0 ||
           diagnostics_error(
               builder->diagnostics, assignment->vars[v].span,
               "the values of '%s' that keep all indices inside of their tensors begin at %" PRId64
               ", and variables begin at 0: write '%s - %" PRId64 "' in place of '%s'",
               assignment->vars[v].name, least, assignment->vars[v].name, -least, assignment->vars[v].name);
}

// Adds the variables that index a mode alone.
static void add_plain(void *context, const Access *access) {
    VarSet *vars = context;
    for (int m = 0; m < access->tensor->order; m++)
        if (!access->indices[m])
            *vars |= (VarSet)1 << access->vars[m];
}

bool check_indices(ProgramBuilder *builder, const Assignment *assignment) {
    const Access *affine = assignment_affine(assignment), *sparse;
    if (!affine)
        return true;
    if (!assignment->lhs)
        return diagnostics_error(
            builder->diagnostics, affine->span,
            "an index of '%s' is more than a variable; such parts are not computed ahead",
            affine->tensor->name);
    sparse = assignment_sparse(assignment);
    if (sparse)
        return diagnostics_error(
            builder->diagnostics, affine->span,
            "an index of '%s' is more than a variable, which statements with sparse tensors "
            "such as '%s' do not support",
            affine->tensor->name, sparse->tensor->name);
    for (int v = 0; v < assignment->var_count; v++)
        if (!assignment->vars[v].extent)
            return diagnostics_error(
                builder->diagnostics, assignment->vars[v].span,
                "how far '%s' runs does not follow from the indices: index a mode by '%s' alone",
                assignment->vars[v].name, assignment->vars[v].name);
    IndexCheck check = {builder, assignment, true};
    check_access(&check, assignment->lhs);
    expr_accesses(assignment->rhs, check_access, &check);
    VarSet plain = 0;
    add_plain(&plain, assignment->lhs);
    expr_accesses(assignment->rhs, add_plain, &plain);
    for (int v = 0; v < assignment->var_count && check.ok; v++)
        check.ok = assignment->vars[v].index || plain >> v & 1 || check_start(builder, assignment, v);
    return check.ok;
}
