// SPDX-License-Identifier: BSD-3-Clause
// Values and index arithmetic as C: how tightly operators bind, how numbers of each type are written, and
// what C has no operator for.
#include "loop/names.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

typedef enum {
    BIND_SELECTION,
    BIND_ALTERNATIVE,
    BIND_CONDITION,
    BIND_COMPARISON,
    BIND_SUM,
    BIND_PRODUCT,
    BIND_UNARY,
    BIND_PRIMARY
} Binding;

typedef struct {
    const LoopKernel *kernel;
    const LoopNames *names;
} Printer;

static void print_int(const Printer *printer, const IntExpr *expr, Text *to) {
    int_print(expr, (IntNames){printer->names->params, printer->names->vars, true}, to);
}

static void print_real(double number, bool is_float, Text *to) {
    if (isinf(number) || (is_float && fabs(number) > FLT_MAX)) {
        text_append(to, is_float ? "__builtin_inff()" : "__builtin_inf()");
        return;
    }
    text_append_real_literal(to, number);
    text_append(to, is_float ? "F" : "");
}

const char *loop_element_type(const LoopKernel *kernel, ElementType type) {
    const TypeInfo *info = type_info(type);
    return kernel->gpu && info->is_complex ? arena_printf(kernel->arena, "distal_%s", info->name)
                                           : info->c_name;
}

static void print_number(const Printer *printer, const Value *value, Text *to) {
    const ElementType type = (ElementType)value->type;
    if (type_info(type)->is_complex) {
        const bool is_float = type == TYPE_C64;
        if (printer->kernel->gpu)
            text_printf(to, "distal_complex_%s(", type_info(type)->name);
        else
            text_append(to, "__builtin_complex(");
        text_append(to, is_float ? "0.0F, " : "0.0, ");
        print_real(value->number, is_float, to);
        text_append(to, ")");
        return;
    }
    if (!type_info(type)->is_integer) {
        print_real(value->is_integer ? (double)value->integer : value->number, type == TYPE_F32, to);
        return;
    }
    // Of the full width, so that a product of numbers is not one of ints.
    const bool wide = type == TYPE_I32 && (value->integer > INT32_MAX || value->integer < INT32_MIN);
    text_printf(to,
                type == TYPE_I64 ? "%" PRId64 "L"
                : wide           ? "(int32_t)%" PRId64
                                 : "%" PRId64,
                value->integer);
}

// Operations that are functions in C: products of complex numbers, as C's own look for infinities and so are
// not vectorized; quotients of integers, as those by zero would end the program; and, on a GPU, of complex
// numbers.
static const char *as_function(const Printer *printer, const Value *value) {
    if (value->kind == VALUE_MUL && value_is_complex(value->operands[0]) &&
        value_is_complex(value->operands[1]))
        return "mul";
    if (value->kind == VALUE_DIV && (type_info((ElementType)value->type)->is_integer ||
                                     (printer->kernel->gpu && value_is_complex(value->operands[1]))))
        return "div";
    return NULL;
}

// Conversions that need no cast in C: coordinates and conditions are assigned or compared before anything is
// added to them.
static bool is_silent(const Value *value) {
    return value->kind == VALUE_CONVERT && value->type == VALUE_TYPE_INDEX;
}

static Binding value_binding(const Printer *printer, const Value *value) {
    switch (value->kind) {
    case VALUE_INDEX:
        return int_is_primary(value->index) ? BIND_PRIMARY : BIND_SUM;
    case VALUE_CONVERT:
        return is_silent(value) ? value_binding(printer, value->operands[0]) : BIND_UNARY;
    case VALUE_NEG:
    case VALUE_ADDRESS:
        return BIND_UNARY;
    case VALUE_ADD:
    case VALUE_SUB:
        return BIND_SUM;
    case VALUE_MUL:
    case VALUE_DIV:
        return as_function(printer, value) ? BIND_PRIMARY : BIND_PRODUCT;
    case VALUE_LESS:
    case VALUE_EQUAL:
        return BIND_COMPARISON;
    case VALUE_AND:
        return BIND_CONDITION;
    case VALUE_OR:
        return BIND_ALTERNATIVE;
    case VALUE_SELECT:
        return BIND_SELECTION;
    default:
        return BIND_PRIMARY;
    }
}

static void print_value(const Printer *printer, const Value *value, Text *to);

static void print_bound(const Printer *printer, const Value *value, Binding least, Text *to) {
    const bool brackets = value_binding(printer, value) < least;
    text_append(to, brackets ? "(" : "");
    print_value(printer, value, to);
    text_append(to, brackets ? ")" : "");
}

static void print_operands(const Printer *printer, const Value *value, const char *separator, Binding least,
                           Text *to) {
    for (int i = 0; i < value->operand_count; i++) {
        text_append(to, i ? separator : "");
        print_bound(printer, value->operands[i], least, to);
    }
}

static void print_element(const Printer *printer, int array, const IntExpr *position, Text *to) {
    text_append(to, printer->names->arrays[array]);
    if (!position)
        return;
    text_append(to, "[");
    print_int(printer, position, to);
    text_append(to, "]");
}

static void print_operation(const Printer *printer, const Value *value, Text *to) {
    static const struct {
        const char *symbol;
        Binding left, right;
    } operations[] = {
        [VALUE_ADD] = {" + ", BIND_SUM, BIND_PRODUCT},   [VALUE_SUB] = {" - ", BIND_SUM, BIND_PRODUCT},
        [VALUE_MUL] = {" * ", BIND_PRODUCT, BIND_UNARY}, [VALUE_DIV] = {" / ", BIND_PRODUCT, BIND_UNARY},
        [VALUE_LESS] = {" < ", BIND_SUM, BIND_SUM},      [VALUE_EQUAL] = {" == ", BIND_SUM, BIND_SUM}};
    if (as_function(printer, value)) {
        text_printf(to, "distal_%s_%s(", as_function(printer, value),
                    type_info((ElementType)value->type)->name);
        print_operands(printer, value, ", ", BIND_SELECTION, to);
        text_append(to, ")");
        return;
    }
    const Value *left = value->operands[0];
    if (value->kind == VALUE_LESS && left->kind == VALUE_INDEX && left->index->op == INT_CONST) {
        print_bound(printer, value->operands[1], BIND_SUM, to);
        text_append(to, " > ");
        print_value(printer, left, to);
        return;
    }
    print_bound(printer, left, operations[value->kind].left, to);
    text_append(to, operations[value->kind].symbol);
    print_bound(printer, value->operands[1], operations[value->kind].right, to);
}

// Of functions on lists and sets.
static const char *growth_suffix(const LoopKernel *kernel, int array) {
    const LoopArray *list = &kernel->arrays.items[array];
    return list->growth == LOOP_SET ? "set" : type_info(list->type)->name;
}

static void print_value(const Printer *printer, const Value *value, Text *to) {
    switch (value->kind) {
    case VALUE_INDEX:
        print_int(printer, value->index, to);
        return;
    case VALUE_NUMBER:
        print_number(printer, value, to);
        return;
    case VALUE_VAR:
        text_append(to, printer->names->vars[value->var]);
        return;
    case VALUE_ADDRESS:
        text_append(to, "&");
        print_element(printer, value->array, value->index, to);
        return;
    case VALUE_LOAD:
    case VALUE_PRESENT:
        print_element(printer, value->array, value->index, to);
        return;
    case VALUE_COUNT:
        text_printf(to, "distal_count_%s(%s)", growth_suffix(printer->kernel, value->array),
                    printer->names->arrays[value->array]);
        return;
    case VALUE_UNITS:
    case VALUE_SPAN: {
        const LoopArray *array = &printer->kernel->arrays.items[value->array];
        if (array->partials)
            text_printf(to, "distal_gpu_partial_%s(%s, %s)", value->kind == VALUE_SPAN ? "elements" : "count",
                        printer->names->execution, printer->names->transfers[array->number]);
        else
            text_printf(to, "distal_gpu_row_count(%s, %d)", printer->names->execution, array->number);
        return;
    }
    case VALUE_SET:
        text_append(to, printer->names->arrays[value->array]);
        return;
    case VALUE_SPACE:
        text_printf(to,
                    printer->kernel->gpu ? "distal_gpu_space(%s)"
                                         : "distal_space(%s, distal_thread_number(), distal_team_size())",
                    printer->names->execution);
        return;
    case VALUE_ROWS:
        text_append(to, printer->names->loops);
        return;
    case VALUE_COORDINATES:
        text_append(to, "(int64_t[]){");
        print_operands(printer, value, ", ", BIND_SELECTION, to);
        text_append(to, "}");
        return;
    case VALUE_NEG: // not --x
        text_append(to, "-");
        print_bound(printer, value->operands[0], BIND_PRIMARY, to);
        return;
    case VALUE_CONVERT:
        if (is_silent(value)) {
            print_value(printer, value->operands[0], to);
            return;
        }
        text_printf(to, "(%s)",
                    value->type < TYPE_COUNT ? loop_element_type(printer->kernel, (ElementType)value->type)
                                             : "int64_t");
        print_bound(printer, value->operands[0], BIND_UNARY, to);
        return;
    case VALUE_AND:
        print_operands(printer, value, " && ", BIND_COMPARISON, to);
        return;
    case VALUE_OR: // compilers warn about && inside of || without parentheses
        print_operands(printer, value, " || ", BIND_COMPARISON, to);
        return;
    case VALUE_SELECT:
        print_bound(printer, value->operands[0], BIND_ALTERNATIVE, to);
        text_append(to, " ? ");
        print_bound(printer, value->operands[1], BIND_ALTERNATIVE, to);
        text_append(to, " : ");
        print_bound(printer, value->operands[2], BIND_ALTERNATIVE, to);
        return;
    case VALUE_CALL:
        text_printf(to, "%s(", value->name);
        print_operands(printer, value, ", ", BIND_SELECTION, to);
        text_append(to, ")");
        return;
    default:
        print_operation(printer, value, to);
        return;
    }
}

void loop_print_int(const LoopKernel *kernel, const LoopNames *names, const IntExpr *expr, Text *to) {
    const Printer printer = {kernel, names};
    print_int(&printer, expr, to);
}

const char *loop_int_text(const LoopKernel *kernel, const LoopNames *names, const IntExpr *expr) {
    Text text = text_create(kernel->arena);
    loop_print_int(kernel, names, expr, &text);
    return text_string(&text);
}

const char *loop_value_text(const LoopKernel *kernel, const LoopNames *names, const Value *value) {
    const Printer printer = {kernel, names};
    Text text = text_create(kernel->arena);
    print_value(&printer, value, &text);
    return text_string(&text);
}

const char *loop_element_text(const LoopKernel *kernel, const LoopNames *names, int array,
                              const IntExpr *position) {
    const Printer printer = {kernel, names};
    Text text = text_create(kernel->arena);
    print_element(&printer, array, position, &text);
    return text_string(&text);
}
