// SPDX-License-Identifier: BSD-3-Clause
#include "emit/emitter.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// Loop variables, and what is made of them without subtraction, are never negative; params may be.
static bool is_never_negative(const IntExpr *expr) {
    switch (expr->op) {
    case INT_CONST:
        return expr->value >= 0;
    case INT_VAR:
        return true;
    case INT_PARAM:
    case INT_SUB:
        return false;
    default:
        return is_never_negative(expr->left) && is_never_negative(expr->right);
    }
}

static bool is_quotient(const IntExpr *expr) {
    return (expr->op == INT_CEIL_DIV || expr->op == INT_FLOOR_DIV) && int_is_closed(expr);
}

static Binding int_binding(const IntExpr *expr) {
    if (is_quotient(expr))
        return BIND_PRIMARY;
    switch (expr->op) {
    case INT_CONST:
        return expr->value < 0 ? BIND_UNARY : BIND_PRIMARY;
    case INT_ADD:
    case INT_SUB:
        return BIND_SUM;
    case INT_MUL:
    case INT_MOD:
        return BIND_PRODUCT;
    case INT_FLOOR_DIV:
        return is_never_negative(expr->left) ? BIND_PRODUCT : BIND_PRIMARY;
    default:
        return BIND_PRIMARY;
    }
}

static const char *int_bound(Emitter *emitter, const IntExpr *expr, Binding least) {
    const char *text = emit_int(emitter, expr);
    return int_binding(expr) < least ? arena_printf(emitter->arena, "(%s)", text) : text;
}

const char *emit_int_operand(Emitter *emitter, const IntExpr *expr) {
    return int_bound(emitter, expr, BIND_UNARY);
}

static const char *int_infix(Emitter *emitter, const IntExpr *expr, const char *symbol) {
    Binding own = int_binding(expr);
    return arena_printf(emitter->arena, "%s %s %s", int_bound(emitter, expr->left, own), symbol,
                        int_bound(emitter, expr->right, (Binding)(own + 1)));
}

static const char *int_call(Emitter *emitter, const IntExpr *expr, const char *function) {
    return arena_printf(emitter->arena, "%s(%s, %s)", function, emit_int(emitter, expr->left),
                        emit_int(emitter, expr->right));
}

static bool is_word(const char *text) {
    return text[strspn(text, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

// "n_per_gx"
static const char *quotient_name(Emitter *emitter, const IntExpr *expr) {
    for (int64_t i = 0; i < emitter->quotients.count; i++)
        if (int_equal(emitter->quotients.items[i].expr, expr))
            return emitter->quotients.items[i].name;
    const char *left = emit_int(emitter, expr->left), *right = emit_int(emitter, expr->right);
    Quotient quotient = {.expr = expr};
    quotient.text = arena_printf(emitter->arena, "%s(%s, %s)",
                                 expr->op == INT_CEIL_DIV ? "ceil_div" : "floor_div", left, right);
    const char *name = is_word(left) && is_word(right) && !(left[0] >= '0' && left[0] <= '9')
                           ? arena_printf(emitter->arena, "%s_per_%s", left, right)
                           : "quotient";
    quotient.name = names_take(&emitter->names, name, false);
    array_push(emitter->arena, emitter->quotients, quotient);
    return quotient.name;
}

void emit_forget_names(Emitter *emitter, Names before) {
    emitter->names = before;
    for (int64_t i = 0; i < emitter->quotients.count; i++)
        array_push(emitter->arena, emitter->names.taken, emitter->quotients.items[i].name);
}

const char *emit_int(Emitter *emitter, const IntExpr *expr) {
    if (is_quotient(expr))
        return quotient_name(emitter, expr);
    switch (expr->op) {
    case INT_CONST:
        return arena_printf(emitter->arena, "%" PRId64, expr->value);
    case INT_PARAM:
        emitter->param_used[expr->value] = true;
        return emitter->params[expr->value];
    case INT_VAR:
        emitter->var_used[expr->value] = true;
        return emitter->vars[expr->value];
    case INT_ADD:
        return int_infix(emitter, expr, "+");
    case INT_SUB:
        return int_infix(emitter, expr, "-");
    case INT_MUL:
        return int_infix(emitter, expr, "*");
    case INT_MOD:
        return int_infix(emitter, expr, "%");
    case INT_FLOOR_DIV:
        return is_never_negative(expr->left) ? int_infix(emitter, expr, "/")
                                             : int_call(emitter, expr, "floor_div");
    case INT_CEIL_DIV:
        return int_call(emitter, expr, "ceil_div");
    case INT_MIN:
        return int_call(emitter, expr, "min");
    default:
        return int_call(emitter, expr, "max");
    }
}

static const char *real_text(Emitter *emitter, double number, bool is_float) {
    if (isinf(number) || (is_float && fabs(number) > FLT_MAX))
        return is_float ? "__builtin_inff()" : "__builtin_inf()";
    Text text = text_create(emitter->arena);
    text_append_real(&text, number, false);
    text_append(&text, strpbrk(text_string(&text), ".e") ? "" : ".0");
    text_append(&text, is_float ? "F" : "");
    return text_string(&text);
}

static Value number_value(Emitter *emitter, const Expr *expr) {
    ElementType type = type_component(emitter->type);
    Value value = {.binding = BIND_PRIMARY};
    if (type_info(type)->is_integer) {
        // Of the full width, so that a product of numbers is not one of ints.
        value.text =
            arena_printf(emitter->arena, type == TYPE_I64 ? "%" PRId64 "L" : "%" PRId64, expr->integer);
        if (type == TYPE_I32 && (expr->integer > INT32_MAX || expr->integer < INT32_MIN))
            value.text = arena_printf(emitter->arena, "(int32_t)%s", value.text);
        return value;
    }
    double number = expr->number_is_integer ? (double)expr->integer : expr->number;
    value.text = real_text(emitter, number, type == TYPE_F32);
    return value;
}

static const char *bound(Emitter *emitter, Value value, Binding least) {
    return value.binding < least ? arena_printf(emitter->arena, "(%s)", value.text) : value.text;
}

static Value access_value(Emitter *emitter, const Expr *expr, ElementText element, void *context) {
    ElementType own = expr->access->tensor->type;
    bool is_complex = type_info(own)->is_complex;
    // A real factor of a complex number stays real.
    ElementType wanted = is_complex ? emitter->type : type_component(emitter->type);
    const char *text = element(context, expr->access);
    if (own == wanted)
        return (Value){text, BIND_PRIMARY, is_complex};
    return (Value){arena_printf(emitter->arena, "(%s)%s", type_info(wanted)->c_name, text), BIND_UNARY,
                   is_complex};
}

Value emit_product(Emitter *emitter, Value left, Value right) {
    bool is_complex = left.is_complex || right.is_complex;
    // C's own product looks for infinities and so is not vectorized.
    if (left.is_complex && right.is_complex)
        return (Value){arena_printf(emitter->arena, "distal_mul_%s(%s, %s)", type_info(emitter->type)->name,
                                    left.text, right.text),
                       BIND_PRIMARY, true};
    return (Value){arena_printf(emitter->arena, "%s * %s", bound(emitter, left, BIND_PRODUCT),
                                bound(emitter, right, BIND_UNARY)),
                   BIND_PRODUCT, is_complex};
}

static Value quotient(Emitter *emitter, Value left, Value right) {
    if (type_info(emitter->type)->is_integer)
        return (Value){arena_printf(emitter->arena, "distal_div_%s(%s, %s)", type_info(emitter->type)->name,
                                    left.text, right.text),
                       BIND_PRIMARY, false};
    return (Value){arena_printf(emitter->arena, "%s / %s", bound(emitter, left, BIND_PRODUCT),
                                bound(emitter, right, BIND_UNARY)),
                   BIND_PRODUCT, left.is_complex || right.is_complex};
}

static Value call(Emitter *emitter, const Expr *expr, ElementText element, void *context) {
    const Function *function = expr->function;
    Value left = emit_expr(emitter, expr->left, element, context), right = {.is_complex = false};
    if (expr->right)
        right = emit_expr(emitter, expr->right, element, context);
    bool is_complex = left.is_complex || right.is_complex;
    const char *name = function->c_names[is_complex ? emitter->type : type_component(emitter->type)];
    return (Value){expr->right ? arena_printf(emitter->arena, "%s(%s, %s)", name, left.text, right.text)
                               : arena_printf(emitter->arena, "%s(%s)", name, left.text),
                   BIND_PRIMARY, is_complex && !function->gives_real};
}

Value emit_expr(Emitter *emitter, const Expr *expr, ElementText element, void *context) {
    if (expr->kind == EXPR_CALL)
        return call(emitter, expr, element, context);
    if (expr->kind == EXPR_ACCESS)
        return access_value(emitter, expr, element, context);
    if (expr->kind == EXPR_NUMBER)
        return number_value(emitter, expr);
    Value left = emit_expr(emitter, expr->left, element, context);
    if (expr->kind == EXPR_NEG) // not --x
        return (Value){arena_printf(emitter->arena, "-%s", bound(emitter, left, BIND_PRIMARY)), BIND_UNARY,
                       left.is_complex};
    Value right = emit_expr(emitter, expr->right, element, context);
    if (expr->kind == EXPR_MUL)
        return emit_product(emitter, left, right);
    if (expr->kind == EXPR_DIV)
        return quotient(emitter, left, right);
    return (Value){arena_printf(emitter->arena, "%s %s %s", left.text, expr->kind == EXPR_ADD ? "+" : "-",
                                bound(emitter, right, BIND_PRODUCT)),
                   BIND_SUM, left.is_complex || right.is_complex};
}

const char *emit_stored(Emitter *emitter, Value value, ElementType to) {
    ElementType from = value.is_complex ? emitter->type : type_component(emitter->type);
    if (from == to || (from == type_component(to) && !value.is_complex))
        return value.text;
    return arena_printf(emitter->arena, "(%s)%s", type_info(to)->c_name, bound(emitter, value, BIND_UNARY));
}
