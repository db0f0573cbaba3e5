// SPDX-License-Identifier: BSD-3-Clause
// Checks of indices that are more than a variable, with the current values of params.
#include "lang/check.h"

#include "base/integer.h"

#include <inttypes.h>

// Coordinates and what they are computed from stay below this.
static const int64_t limit = INT64_C(1) << 61;

// |a| + |b| * c, at most `limit`, where c is not negative.
static int64_t grown(int64_t a, int64_t b, int64_t c) {
    if (b < -limit || b > limit)
        return limit;
    return min_i64(limit, saturated_add(a, saturated_mul(b < 0 ? -b : b, c)));
}

static const char *text_of(const ProgramBuilder *builder, const IntExpr *expr) {
    Text text = text_create(builder->arena);
    int_print(expr, (IntNames){.params = build_param_names(builder)}, &text);
    return text_string(&text);
}

// The range of a variable, NULL where it has none.
static const SourceVar *range_of(const Assignment *assignment, int var) {
    for (int v = 0; v < assignment->var_count; v++)
        if (assignment->vars[v].first && assignment->vars[v].index->vars[0] == var)
            return &assignment->vars[v];
    return NULL;
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
    return size < limit || diagnostics_error(builder->diagnostics, access->var_spans[mode],
                                             "the values of this index do not fit into 62 bits");
}

// The least and the greatest value of an index where all of its variables have ranges; false where one has
// none, or one is empty.
static bool find_values(ProgramBuilder *builder, const Assignment *assignment, const Access *access, int mode,
                        int64_t *least, int64_t *most) {
    const AffineIndex *index = access->indices[mode];
    const int count = index ? index->count : 1;
    *least = *most = index ? build_value(builder, index->constant) : 0;
    for (int i = 0; i < count; i++) {
        const int v = index ? index->vars[i] : access->vars[mode];
        const SourceVar *range = range_of(assignment, v);
        const IntExpr *start = assignment->vars[v].start;
        if (!range)
            return false;
        const int64_t from = start ? build_value(builder, start) : 0,
                      coefficient = index ? build_value(builder, index->coefficients[i]) : 1,
                      first = build_value(builder, range->first) - from,
                      last = build_value(builder, range->last) - from - 1;
        if (first > last)
            return false;
        *least += coefficient * (coefficient < 0 ? last : first);
        *most += coefficient * (coefficient < 0 ? first : last);
    }
    return count > 0;
}

// A range that leaves a tensor is a mistake; what has none is kept inside.
static bool check_ranges(ProgramBuilder *builder, const Assignment *assignment, const Access *access,
                         int mode) {
    int64_t least, most;
    const int64_t extent = build_value(builder, access->tensor->extents[mode]);
    if (!find_values(builder, assignment, access, mode, &least, &most) || (least >= 0 && most < extent))
        return true;
    return diagnostics_error(builder->diagnostics, access->var_spans[mode],
                             "'%s' runs from %" PRId64 " to %" PRId64
                             " with these ranges, outside of mode %d of '%s' (extent %" PRId64 ")",
                             assignment->vars[access->vars[mode]].name, least, most, mode,
                             access->tensor->name, extent);
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
            check->ok = check_ranges(check->builder, assignment, access, m);
        else if (access == assignment->lhs && tensor_is_sparse(access->tensor))
            check->ok = diagnostics_error(
                check->builder->diagnostics, access->var_spans[m],
                "'%s' is sparse, and its indices on the left side are variables: write it "
                "as a sum over entries of a dense tensor, or move the index to the right side",
                access->tensor->name);
        else if (index->count == 0)
            check->ok = check_constant(check->builder, access, m);
        else if (index->count > 1 && access == assignment->lhs)
            check->ok =
                diagnostics_error(check->builder->diagnostics, access->var_spans[m],
                                  "an index of the left side has one variable, so that an iteration writes "
                                  "an element of its own");
        else
            check->ok = check_numbers(check->builder, assignment, access, m) &&
                        check_ranges(check->builder, assignment, access, m);
    }
}

bool check_indices(ProgramBuilder *builder, const Assignment *assignment) {
    const SourceVar *window = assignment_window(assignment);
    if (!window)
        return true;
    if (!assignment->lhs)
        return diagnostics_error(builder->diagnostics, window->span,
                                 "the index '%s' is not a variable, so this part cannot be computed ahead",
                                 window->name);
    const Access *sparse = assignment_sparse(assignment);
    const bool combines = assignment->reducer != REDUCER_SUM && tensor_is_sparse(assignment->lhs->tensor);
    if (sparse && (combines || assignment_is_update(assignment)))
        return diagnostics_error(
            builder->diagnostics, window->span,
            "a statement that has sparse tensors, such as '%s', and reads what it writes "
            "takes no %s such as '%s': write the result to a second tensor",
            sparse->tensor->name, window->first ? "range" : "index", window->name);
    for (int v = 0; v < assignment->var_count; v++)
        if (!assignment->vars[v].extent)
            return diagnostics_error(builder->diagnostics, assignment->vars[v].span,
                                     "how far '%s' runs does not follow from the indices: index a mode by "
                                     "'%s' alone, or give a range, as in 'for %s in 0 : n'",
                                     assignment->vars[v].name, assignment->vars[v].name,
                                     assignment->vars[v].name);
    for (int v = 0; v < assignment->var_count; v++) {
        const SourceVar *var = &assignment->vars[v];
        if (var->first && (grown(0, build_value(builder, var->first), 1) >= limit ||
                           grown(0, build_value(builder, var->last), 1) >= limit))
            return diagnostics_error(builder->diagnostics, var->span,
                                     "the ends of this range do not fit into 62 bits");
    }
    IndexCheck check = {builder, assignment, true};
    check_access(&check, assignment->lhs);
    expr_accesses(assignment->rhs, check_access, &check);
    return check.ok;
}
