// SPDX-License-Identifier: BSD-3-Clause
// Integer expressions over params. Each is kept symbolic and evaluated while it is parsed, so that overflows
// and divisions by zero are diagnosed at their operators.
#include "lang/parser.h"

#include "base/integer.h"

#include <inttypes.h>

static Integer apply(Parser *parser, IntOp op, Span span, Integer left, Integer right) {
    Integer result = {.expr = int_op(parser->arena, op, left.expr, right.expr),
                      .known = left.known && right.known,
                      .span = span_join(left.span, right.span)};
    if (!result.known)
        return result;
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
        return expected(parser, "an integer or a param");
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
