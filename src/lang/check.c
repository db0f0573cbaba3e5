// SPDX-License-Identifier: BSD-3-Clause
#include "lang/check.h"

#include "base/integer.h"
#include "index/summation.h"
#include "lang/readings.h"

#include <inttypes.h>
#include <string.h>

bool check_machine(Parser *parser, const Machine *machine) {
    bool ok = true;
    int64_t processors = 1;
    for (int d = 0; d < machine->order; d++) {
        int64_t size = value_of(parser, machine->extents[d]);
        if (size < 1)
            ok = diagnostics_error(parser->diagnostics, machine->extent_spans[d],
                                   "dimension %d of machine '%s' has size %" PRId64 "; a size is at least 1",
                                   d, machine->name, size);
        else if (ok && (!checked_mul(processors, size, &processors) || processors > MAX_PROCESSORS))
            ok = diagnostics_error(parser->diagnostics, machine->span,
                                   "machine '%s' has more than %d processors", machine->name, MAX_PROCESSORS);
    }
    return ok;
}

// An empty mode counts as 1, so that strides fit as well.
bool check_tensor(Parser *parser, const Tensor *tensor) {
    bool ok = true;
    int64_t bytes = (int64_t)type_info(tensor->type)->size;
    for (int d = 0; d < tensor->order; d++) {
        int64_t extent = value_of(parser, tensor->extents[d]);
        if (extent < 0)
            ok = diagnostics_error(parser->diagnostics, tensor->extent_spans[d],
                                   "mode %d of '%s' has extent %" PRId64 "; an extent is not negative", d,
                                   tensor->name, extent);
        else if (ok && !checked_mul(bytes, max_i64(extent, 1), &bytes))
            ok = diagnostics_error(parser->diagnostics, tensor->span,
                                   "tensor '%s' has more bytes than fit into a 64-bit number", tensor->name);
    }
    return ok;
}

bool check_coordinate(Parser *parser, const Machine *machine, int dim, int64_t coordinate, Span span) {
    int64_t size = value_of(parser, machine->extents[dim]);
    if (coordinate >= 0 && coordinate < size)
        return true;
    return diagnostics_error(parser->diagnostics, span,
                             "coordinate %" PRId64
                             " is outside dimension %d of machine '%s', which has size %" PRId64
                             " (coordinates 0 to %" PRId64 ")",
                             coordinate, dim, machine->name, size, size - 1);
}

bool check_block(Parser *parser, int64_t block, Span span) {
    if (block >= 1 && block <= MAX_CYCLE)
        return true;
    return diagnostics_error(parser->diagnostics, span,
                             "a block of %" PRId64 " coordinates; a block has 1 to %d", block, MAX_CYCLE);
}

// Functions stand on numbers that they are defined on.
static bool check_calls(Parser *parser, const Expr *expr) {
    if (expr->left && !check_calls(parser, expr->left))
        return false;
    if (expr->right && !check_calls(parser, expr->right))
        return false;
    if (expr->kind != EXPR_CALL || function_takes_complex(expr->function))
        return true;
    for (int a = 0; a < expr->function->arity; a++) {
        const Expr *argument = a == 0 ? expr->left : expr->right;
        if (argument && type_info(expr_type(argument))->is_complex)
            return diagnostics_error(parser->diagnostics, argument->span,
                                     "'%s' is not defined on complex numbers, and this argument is %s",
                                     expr->function->name, type_info(expr_type(argument))->name);
    }
    return true;
}

bool check_type(Parser *parser, const Assignment *assignment) {
    if (!check_calls(parser, assignment->rhs))
        return false;
    if (!assignment->lhs)
        return true;
    const Tensor *target = assignment->lhs->tensor;
    ElementType type = expr_type(assignment->rhs);
    if (type_storable(type, target->type))
        return true;
    return diagnostics_error(parser->diagnostics, assignment->lhs->span,
                             "the right side is %s, which cannot be stored in '%s' of type %s",
                             type_info(type)->name, target->name, type_info(target->type)->name);
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

// Whether no name of the program is this one.
static bool is_free_name(void *context, const char *name) {
    const Parser *parser = context;
    for (int64_t i = 0; i < parser->tokens.count; i++)
        if (parser->tokens.items[i].kind == TOKEN_NAME && strcmp(parser->tokens.items[i].text, name) == 0)
            return false;
    return true;
}

bool check_sums(Parser *parser, const Assignment *assignment) {
    const VarSet left = access_vars(assignment->lhs);
    const Expr *sum = expr_mixed_sum(assignment->rhs, left);
    if (!sum)
        return true;
    Unlike unlike = {.assignment = assignment, .summed = ~left, .text = text_create(parser->arena)};
    sum_addends(sum, show_addend, &unlike);
    diagnostics_error(parser->diagnostics, sum->span,
                      "the addends of this sum, which is part of a product, a quotient or a call, are summed "
                      "over different variables: %s",
                      text_string(&unlike.text));
    const ReadingScope scope = {parser->arena, {.params = parser->param_names.items}, is_free_name, parser};
    static const char *const readings[] = {
        [READ_TERM_SUMMED] = "to sum the whole term",
        [READ_ADDENDS_SUMMED] = "to sum each addend before adding",
    };
    for (int reading = READ_TERM_SUMMED; reading <= READ_ADDENDS_SUMMED; reading++) {
        const char *text = reading_print(&scope, assignment, (Reading)reading);
        if (text)
            diagnostics_note(parser->diagnostics, (Span){0}, "%s, write: %s", readings[reading], text);
    }
    return false;
}

void check_overrides(Parser *parser) {
    for (int i = 0; i < parser->override_count; i++) {
        const char *name = parser->overrides[i].name;
        const Name *found = find_name(parser, name);
        if (found && found->kind == NAME_PARAM && found->index == 0)
            diagnostics_error(parser->diagnostics, (Span){0},
                              "param 'ranks' is the number of processes; give it with --ranks");
        else if (!found || (found->kind != NAME_PARAM && !found->failed))
            diagnostics_error(parser->diagnostics, (Span){0}, "the program has no param '%s'%s", name,
                              suggestion(parser, name, "params", parser->param_names.items + 1,
                                         parser->param_names.count - 1));
    }
}
