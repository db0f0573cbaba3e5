// SPDX-License-Identifier: BSD-3-Clause
// Splits the position of an element into what the innermost loop changes and what it does not, which becomes
// a definition outside of the loops that do not change it.
#include "loop/passes.h"

typedef struct {
    int array;
    const IntExpr *value;
    int var;
    const LoopBody *body; // that it is defined in
} Base;

typedef struct {
    LoopKernel *kernel;
    int *depths;            // by variable: of the scope that it is bound in
    const LoopScope *scope; // of the node in hand
    Array(Base) bases;
} Addresses;

// A position as a sum of terms.
typedef struct {
    const IntExpr *sum; // NULL while empty
    int terms;
    bool computes; // some term is more than a number or a variable
} Part;

static void add_term(const Addresses *addresses, Part *part, const IntExpr *term, bool negative) {
    Arena *arena = addresses->kernel->arena;
    const IntExpr *before = part->sum ? part->sum : int_const(arena, 0);
    part->sum = int_op(arena, negative ? INT_SUB : INT_ADD, before, term);
    part->terms++;
    part->computes = part->computes || term->left;
}

static void split(const Addresses *addresses, const IntExpr *expr, bool negative, Part *fixed, Part *moving) {
    if (expr->op == INT_ADD || expr->op == INT_SUB) {
        split(addresses, expr->left, negative, fixed, moving);
        split(addresses, expr->right, negative != (expr->op == INT_SUB), fixed, moving);
    } else if (expr->op != INT_CONST || expr->value != 0) {
        const bool is_fixed = loop_depth_of(expr, addresses->depths) < addresses->scope->depth;
        add_term(addresses, is_fixed ? fixed : moving, expr, negative);
    }
}

static int base_var(Addresses *addresses, int array, const IntExpr *value) {
    LoopKernel *kernel = addresses->kernel;
    const int depth = loop_depth_of(value, addresses->depths);
    LoopBody *body = loop_scope_at(addresses->scope, depth)->body;
    for (int64_t i = 0; i < addresses->bases.count; i++) {
        const Base *base = &addresses->bases.items[i];
        if (base->array == array && base->body == body && int_equal(base->value, value))
            return base->var;
    }
    const Base base = {
        array, value,
        loop_add_var(kernel,
                     (LoopVar){.name = "at", .type = VALUE_TYPE_INDEX, .stem_array = array, .stem_var = -1}),
        body};
    array_push(kernel->arena, addresses->bases, base);
    loop_append(kernel->arena, body, loop_let(kernel->arena, base.var, value_index(kernel->arena, value)));
    return base.var;
}

static const IntExpr *split_position(Addresses *addresses, int array, const IntExpr *position) {
    Arena *arena = addresses->kernel->arena;
    if (!position || addresses->scope->depth == 0)
        return position;
    Part fixed = {0}, moving = {0};
    split(addresses, position, false, &fixed, &moving);
    // The difference of two variables costs as little as a sum of two.
    if (!fixed.computes && (moving.sum || fixed.terms < 2))
        return position;
    const IntExpr *base = int_var(arena, base_var(addresses, array, fixed.sum));
    return moving.sum ? int_op(arena, INT_ADD, base, moving.sum) : base;
}

static const Value *split_value(void *context, const Value *value) {
    Addresses *addresses = context;
    if (value->kind != VALUE_LOAD && value->kind != VALUE_ADDRESS)
        return value;
    Value *copy = arena_copy(addresses->kernel->arena, value, sizeof *value);
    copy->index = split_position(addresses, value->array, value->index);
    return copy;
}

static void split_body(Addresses *addresses, const LoopBody *body, const LoopScope *scope) {
    Arena *arena = addresses->kernel->arena;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        addresses->scope = scope;
        LoopNode *copy =
            arena_copy(arena, loop_map_values(arena, node, split_value, addresses), sizeof *node);
        if (node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE)
            copy->position = split_position(addresses, node->array, node->position);
        copy->body = (LoopBody){0};
        const LoopScope inside = {scope, scope->depth + loop_is_deeper(node), &copy->body};
        if (node->var >= 0)
            addresses->depths[node->var] =
                node->kind == LOOP_LET ? scope->depth : loop_bound_depth(node, inside.depth);
        split_body(addresses, &node->body, &inside);
        loop_append(arena, scope->body, copy);
    }
}

static void split_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Addresses *addresses = context;
    Arena *arena = addresses->kernel->arena;
    if (node->kind != LOOP_LEAF) {
        loop_append(arena, to, node);
        return;
    }
    LoopBody body = {0};
    const LoopScope scope = {NULL, 0, &body};
    addresses->bases.count = 0;
    split_body(addresses, &node->body, &scope);
    loop_append(arena, to, loop_with_body(arena, node, body));
}

const LoopKernel *loop_pass_addresses(const LoopKernel *before) {
    Addresses addresses = {.kernel = loop_kernel_copy(before)};
    addresses.depths = arena_array(before->arena, int, before->vars.count + 1);
    addresses.kernel->body = loop_rewrite(before->arena, &before->body, split_leaf, &addresses);
    return addresses.kernel;
}
