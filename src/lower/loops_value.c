// SPDX-License-Identifier: BSD-3-Clause
// The right side of a leaf's assignment and its library call, as values of the loop IR.
#include "lower/builder.h"
#include "lower/leaf.h"

static const Value *converted(const LeafBuilder *leaf, const Value *value) {
    // A real factor of a complex number stays real.
    const ElementType type = leaf->builder->type;
    return value_convert(leaf->builder->arena, value,
                         (int)(value_is_complex(value) ? type : type_component(type)));
}

static const Value *build_access(const LeafBuilder *leaf, const Access *access) {
    return converted(leaf, value_element(leaf->builder->arena, VALUE_LOAD, (int)access->tensor->type,
                                         build_view(leaf->builder, access, TRANSFER_FETCH)->array,
                                         build_position(leaf, access, TRANSFER_FETCH)));
}

// The value of an expression where it is present, else zero.
static const Value *build_present(const LeafBuilder *leaf, const Expr *expr) {
    Arena *arena = leaf->builder->arena;
    const Value *value = build_expr(leaf, expr), *presence = build_presence(leaf, expr);
    // Sums and functions of what is zero are zero where they are not present.
    if (!presence || expr->kind == EXPR_ADD || expr->kind == EXPR_SUB || expr->kind == EXPR_CALL)
        return value;
    return value_select(arena, presence, value, value_zero(arena, value->type));
}

static const Value *build_function(const LeafBuilder *leaf, const Expr *expr) {
    const ElementType type = leaf->builder->type, component = type_component(type);
    const Value *operands[2] = {build_present(leaf, expr->left)};
    bool is_complex = value_is_complex(operands[0]);
    if (expr->right) {
        operands[1] = build_present(leaf, expr->right);
        is_complex = is_complex || value_is_complex(operands[1]);
    }
    const Function *function = expr->function;
    const bool gives_complex = is_complex && !function->gives_real;
    return value_list(leaf->builder->arena, VALUE_CALL, (int)(gives_complex ? type : component),
                      function->c_names[is_complex ? type : component], expr->right ? 2 : 1, operands);
}

const Value *build_expr(const LeafBuilder *leaf, const Expr *expr) {
    static const ValueKind kinds[] = {[EXPR_ADD] = VALUE_ADD,
                                      [EXPR_SUB] = VALUE_SUB,
                                      [EXPR_MUL] = VALUE_MUL,
                                      [EXPR_DIV] = VALUE_DIV,
                                      [EXPR_NEG] = VALUE_NEG};
    if (expr->kind == EXPR_CALL)
        return build_function(leaf, expr);
    if (expr->kind == EXPR_ACCESS)
        return build_access(leaf, expr->access);
    if (expr->kind == EXPR_NUMBER && expr->param)
        return value_convert(leaf->builder->arena, value_index(leaf->builder->arena, expr->param),
                             (int)type_component(leaf->builder->type));
    if (expr->kind == EXPR_NUMBER)
        return value_number(
            leaf->builder->arena,
            (int)(expr->number_is_imaginary ? leaf->builder->type : type_component(leaf->builder->type)),
            expr->number, expr->integer, expr->number_is_integer);
    // A product is absent where a factor is, so the condition of the product covers its factors.
    const bool factor = expr->kind == EXPR_MUL || expr->kind == EXPR_NEG;
    const Value *left = (factor ? build_expr : build_present)(leaf, expr->left),
                *right = expr->right ? (factor ? build_expr : build_present)(leaf, expr->right) : NULL;
    const bool is_complex = value_is_complex(left) || (right && value_is_complex(right));
    const ElementType type = leaf->builder->type;
    return value_op(leaf->builder->arena, kinds[expr->kind], (int)(is_complex ? type : type_component(type)),
                    left, right);
}

// Operands of a call.

typedef struct {
    const LeafBuilder *leaf;
    const Value *operands[16];
    int count;
} Operands;

static void add(Operands *operands, const Value *value) {
    operands->operands[operands->count++] = value;
}

static void add_index(Operands *operands, const IntExpr *index) {
    add(operands, value_index(operands->leaf->builder->arena, index));
}

static TransferKind kind_of(const LeafBuilder *leaf, const Access *access) {
    return access == leaf->leaf->assign->lhs ? TRANSFER_REDUCE : TRANSFER_FETCH;
}

static void add_address(Operands *operands, const Access *access) {
    const LeafBuilder *leaf = operands->leaf;
    const TransferKind kind = kind_of(leaf, access);
    const int array =
        kind == TRANSFER_REDUCE ? leaf->written : build_view(leaf->builder, access, kind)->array;
    add(operands, value_element(leaf->builder->arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, array,
                                build_position(leaf, access, kind)));
}

static void add_stride(Operands *operands, const Access *access, int source) {
    add_index(operands, build_stride(operands->leaf, access, kind_of(operands->leaf, access), source));
}

// Where it begins and how far its elements are apart, in one dimension or two.
static void add_operand(Operands *operands, const Access *access, const CallDim *row, const CallDim *column) {
    add_address(operands, access);
    add_stride(operands, access, row->sources[0]);
    if (column)
        add_stride(operands, access, column->sources[0]);
}

static const IntExpr *extent_of(const LeafBuilder *leaf, int var) {
    for (int l = leaf->plain_count; l < leaf->leaf->loop_count; l++)
        if (leaf->leaf->loops[l].var == var)
            return leaf->uppers[l];
    return NULL;
}

static const Value *alpha_of(const LeafBuilder *leaf) {
    const BlasCall *call = leaf->leaf->call;
    return call->alpha ? build_expr(leaf, call->alpha)
                       : value_index(leaf->builder->arena, int_const(leaf->builder->arena, 1));
}

static const char *function_name(const LeafBuilder *leaf, const char *kernel) {
    return arena_printf(leaf->builder->arena, "distal_%s%s_%s", leaf->builder->spmd->on_gpu ? "gpu_" : "",
                        kernel, type_info(leaf->builder->type)->name);
}

static const Value *build_contraction(const LeafBuilder *leaf) {
    Arena *arena = leaf->builder->arena;
    const BlasCall *call = leaf->leaf->call;
    const Access *const accesses[] = {call->a, call->b, leaf->leaf->assign->lhs};
    const Value **rows = arena_array(arena, const Value *, 4 * blas_call_loops(call));
    int count = 0;
    Operands operands = {.leaf = leaf};
    for (int d = 0; d < CALL_DIMS; d++) {
        const CallDim *dim = call_dim(call, d);
        add_index(&operands, int_const(arena, dim->count));
        for (int i = 0; i < dim->count; i++) {
            rows[count++] = value_index(arena, extent_of(leaf, dim->loops[i]));
            for (int a = 0; a < 3; a++)
                rows[count++] = value_index(
                    arena, build_stride(leaf, accesses[a], kind_of(leaf, accesses[a]), dim->sources[i]));
        }
    }
    add(&operands, value_list(arena, VALUE_ROWS, VALUE_TYPE_NONE, NULL, count, rows));
    add(&operands, value_list(arena, VALUE_SPACE, VALUE_TYPE_NONE, NULL, 0, NULL));
    add_index(&operands, int_const(arena, leaf->builder->nest->zero_depth == 0));
    add(&operands, alpha_of(leaf));
    for (int a = 0; a < 3; a++)
        add_address(&operands, accesses[a]);
    return value_list(arena, VALUE_CALL, VALUE_TYPE_NONE, function_name(leaf, "contract"), operands.count,
                      operands.operands);
}

const Value *build_call(const LeafBuilder *leaf) {
    Arena *arena = leaf->builder->arena;
    const BlasCall *call = leaf->leaf->call;
    const Access *c = leaf->leaf->assign->lhs;
    if (call->contraction || (leaf->builder->spmd->on_gpu && call->kernel != KERNEL_AXPY))
        return build_contraction(leaf);
    const CallDim *m = &call->m, *n = &call->n, *k = &call->k, *const dims[] = {m, n, k};
    const bool is_dot = call->kernel == KERNEL_DOT;
    Operands operands = {.leaf = leaf};
    for (int d = 0; d < 3; d++)
        if (dims[d]->count)
            add_index(&operands, extent_of(leaf, dims[d]->loops[0]));
    if (!is_dot)
        add(&operands, alpha_of(leaf));
    // Matrices and vectors: each operand is indexed by those of the dimensions that it has.
    add_operand(&operands, call->a, m->count ? m : k, m->count && k->count ? k : NULL);
    if (call->b)
        add_operand(&operands, call->b, k->count ? k : n, k->count && n->count ? n : NULL);
    if (!is_dot)
        add_operand(&operands, c, m, n->count ? n : NULL);
    const Value *value =
        value_list(arena, VALUE_CALL, is_dot ? (int)leaf->builder->type : VALUE_TYPE_NONE,
                   function_name(leaf, kernel_names[call->kernel]), operands.count, operands.operands);
    return is_dot && call->alpha ? value_op(arena, VALUE_MUL, (int)leaf->builder->type, alpha_of(leaf), value)
                                 : value;
}
