// SPDX-License-Identifier: BSD-3-Clause
// Integer expressions over params. Each is kept symbolic and evaluated while it is parsed, so that overflows
// and divisions by zero are diagnosed at their operators.
#include "lang/parser.h"

#include "base/integer.h"

#include <inttypes.h>
#include <string.h>

// The coefficient times `factor`, added to that of the same variable in `to`.
static bool add_term(Parser *parser, Integer *to, IndexTerm term, const IntExpr *factor, int64_t value) {
    int at = 0;
    while (at < to->term_count && strcmp(to->terms[at].name->text, term.name->text) != 0)
        at++;
    if (at == MAX_INDEX_TERMS)
        return diagnostics_error(parser->diagnostics, term.name->span, "an index has at most %d variables",
                                 MAX_INDEX_TERMS);
    IndexTerm *sum = &to->terms[at];
    if (at == to->term_count)
        *sum = (IndexTerm){term.name, int_const(parser->arena, 0), 0};
    to->term_count += at == to->term_count;
    sum->coefficient = int_op(parser->arena, INT_ADD, sum->coefficient,
                              int_op(parser->arena, INT_MUL, factor, term.coefficient));
    int64_t product;
    return (checked_mul(term.value, value, &product) && checked_add(sum->value, product, &sum->value)) ||
           diagnostics_error(parser->diagnostics, to->span, "the factor of '%s' does not fit into 64 bits",
                             term.name->text);
}

// The variables of the result.
static bool apply_to_terms(Parser *parser, IntOp op, Integer left, Integer right, Integer *result) {
    const IntExpr *one = int_const(parser->arena, 1), *minus = int_const(parser->arena, -1);
    if (op == INT_FLOOR_DIV && left.term_count + right.term_count > 0)
        return diagnostics_error(
            parser->diagnostics, result->span,
            "an index is a sum of variables times integers, without divisions of variables");
    if (op == INT_MUL && left.term_count > 0 && right.term_count > 0)
        return diagnostics_error(
            parser->diagnostics, result->span,
            "an index is a sum of variables times integers, without products of variables");
    const bool product = op == INT_MUL;
    bool ok = true;
    for (int i = 0; i < left.term_count && ok; i++)
        ok = add_term(parser, result, left.terms[i], product ? right.expr : one, product ? right.value : 1);
    for (int i = 0; i < right.term_count && ok; i++)
        ok = add_term(parser, result, right.terms[i],
                      product         ? left.expr
                      : op == INT_SUB ? minus
                                      : one,
                      product         ? left.value
                      : op == INT_SUB ? -1
                                      : 1);
    return ok;
}

static Integer apply(Parser *parser, IntOp op, Span span, Integer left, Integer right) {
    Integer result = {.expr = int_op(parser->arena, op, left.expr, right.expr),
                      .known = left.known && right.known,
                      .span = span_join(left.span, right.span)};
    if (!result.known)
        return result;
    if (!apply_to_terms(parser, op, left, right, &result)) {
        result.known = false;
        return result;
    }
    int64_t a = left.value, b = right.value;
    if (op == INT_FLOOR_DIV && b <= 0)
        result.known =
            diagnostics_error(parser->diagnostics, span, "division by %" PRId64 "; a divisor is positive", b);
    else if (op == INT_FLOOR_DIV)
        result.value = floor_div(a, b);
    else if (op == INT_MUL
                 ? !checked_mul(a, b, &result.value)
                 : (op == INT_ADD ? !checked_add(a, b, &result.value) : !checked_sub(a, b, &result.value)))
        result.known = diagnostics_error(parser->diagnostics, span,
                                         "%" PRId64 " %c %" PRId64 " does not fit into 64 bits", a,
                                         op == INT_MUL   ? '*'
                                         : op == INT_ADD ? '+'
                                                         : '-',
                                         b);
    return result;
}

static bool parse_sum(Parser *parser, Integer *integer);

static bool parse_operand(Parser *parser, Integer *integer) {
    const Token *token = peek(parser);
    *integer = (Integer){.expr = int_const(parser->arena, 0), .span = token->span};
    switch (token->kind) {
    case TOKEN_INTEGER:
        take(parser);
        integer->expr = int_const(parser->arena, token->integer);
        integer->value = token->integer;
        integer->known = true;
        return true;
    case TOKEN_NAME: {
        take(parser);
        Name param;
        if (parser->in_index &&
            !(build_find(parser->build, token->text, &param) && param.kind == NAME_PARAM)) {
            integer->known = true;
            integer->term_count = 1;
            integer->terms[0] = (IndexTerm){token, int_const(parser->arena, 1), 1};
            return true;
        }
        if (!resolve_name(parser, token, NAME_PARAM, &param))
            return true;
        integer->expr = int_param(parser->arena, param.param);
        integer->value = build_param_values(parser->build)[param.param];
        integer->known = true;
        return true;
    }
    case TOKEN_REAL:
        return diagnostics_error(parser->diagnostics, token->span, "%s is not an integer", token->text);
    case TOKEN_OPEN_PAREN: {
        bool outside;
        enter_brackets(parser, &outside);
        return parse_sum(parser, integer) &&
               leave_brackets(parser, outside, TOKEN_CLOSE_PAREN, "')' or an operator");
    }
    case TOKEN_MINUS: {
        Integer operand, zero = {.expr = int_const(parser->arena, 0), .known = true, .span = token->span};
        if (!count_nesting(parser))
            return false;
        take(parser);
        bool ok = parse_operand(parser, &operand);
        parser->nesting--;
        if (ok)
            *integer = apply(parser, INT_SUB, token->span, zero, operand);
        return ok;
    }
    default:
        return expected(parser, parser->in_index ? "an index: a variable, an integer or a param"
                                                 : "an integer or a param");
    }
}

static bool parse_product(Parser *parser, Integer *integer) {
    if (!parse_operand(parser, integer))
        return false;
    for (;;) {
        const Token *mark = peek(parser);
        if (mark->kind != TOKEN_STAR && mark->kind != TOKEN_SLASH)
            return true;
        take(parser);
        Integer right;
        if (!count_operation(parser, mark->span) || !parse_operand(parser, &right))
            return false;
        *integer =
            apply(parser, mark->kind == TOKEN_STAR ? INT_MUL : INT_FLOOR_DIV, mark->span, *integer, right);
    }
}

static bool parse_sum(Parser *parser, Integer *integer) {
    if (!count_nesting(parser))
        return false;
    bool ok = parse_product(parser, integer);
    while (ok && (peek(parser)->kind == TOKEN_PLUS || peek(parser)->kind == TOKEN_MINUS)) {
        const Token *mark = take(parser);
        Integer right;
        ok = count_operation(parser, mark->span) && parse_product(parser, &right);
        if (ok)
            *integer =
                apply(parser, mark->kind == TOKEN_PLUS ? INT_ADD : INT_SUB, mark->span, *integer, right);
    }
    parser->nesting--;
    return ok;
}

bool parse_integer(Parser *parser, Integer *integer) {
    parser->nesting = parser->operations = 0;
    return parse_sum(parser, integer);
}

bool parse_index(Parser *parser, Integer *index) {
    parser->in_index = true;
    const bool ok = parse_sum(parser, index);
    parser->in_index = false;
    return ok;
}
