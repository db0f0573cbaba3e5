// SPDX-License-Identifier: BSD-3-Clause
// For unit tests: drawn statements with drawn relations, made by hand so that they may be wilder than what
// the commands allow, and their variables by definition.
#ifndef DISTAL_TESTS_UNIT_DRAWN_H
#define DISTAL_TESTS_UNIT_DRAWN_H

#include "index/provenance.h"

#include <string.h>

typedef struct {
    uint64_t state;
} Random;

static inline int64_t draw(Random *random, int64_t count) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)count);
}

// Statements over at most four variables, as tables: the left side, then the factors or addends.
typedef struct {
    char op; // between the operands: '*', '+'; 'm': first + second * third
    int operand_count;
    const char *accesses[4]; // the left side first; a letter a mode
} Form;

static const Form forms[] = {
    {'*', 2, {"ij", "ik", "kj"}},
    {'*', 2, {"ijl", "ijk", "kl"}},
    {'*', 3, {"il", "ijk", "jl", "kl"}},
    {'*', 2, {"ij", "ijk", "k"}},
    {'*', 2, {"", "ij", "ij"}},
    {'+', 2, {"ij", "ij", "ji"}},
    {'*', 2, {"ij", "i", "j"}},
    {'m', 3, {"i", "i", "ij", "j"}},
    {'*', 2, {"i", "ii", "i"}},
    {'+', 3, {"ijk", "jik", "kij", "i"}},
    {'*', 1, {"i", "ijkl"}},
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

static inline const Access *make_access(Arena *arena, Assignment *assignment, const char *letters,
                                        const int64_t *extents, int id) {
    static const char *const names[] = {"A", "B", "C", "D"};
    Tensor *tensor = arena_new(arena, Tensor);
    Access *access = arena_new(arena, Access);
    tensor->id = id;
    tensor->name = names[id];
    tensor->type = TYPE_F64;
    tensor->order = (int)strlen(letters);
    for (int m = 0; m < tensor->order; m++) {
        const char *name = arena_string(arena, &letters[m], 1);
        int var = 0;
        while (var < assignment->var_count && strcmp(assignment->vars[var].name, name) != 0)
            var++;
        const IntExpr *extent = int_const(arena, extents[var]);
        if (var == assignment->var_count)
            assignment->vars[assignment->var_count++] = (SourceVar){.name = name, .extent = extent};
        tensor->extents[m] = extent;
        tensor->levels[m] = level_format_dense();
        tensor->mode_order[m] = m;
        access->vars[m] = var;
    }
    access->tensor = tensor;
    return access;
}

static inline const Expr *make_expr(Arena *arena, ExprKind kind, const Expr *left, const Expr *right) {
    Expr *expr = arena_new(arena, Expr);
    *expr = (Expr){.kind = kind, .left = left, .right = right};
    return expr;
}

static inline const Assignment *make_assignment(Arena *arena, const Form *form, const int64_t *extents) {
    Assignment *assignment = arena_new(arena, Assignment);
    const Expr *operands[3] = {0};
    assignment->lhs = make_access(arena, assignment, form->accesses[0], extents, 0);
    for (int i = 0; i < form->operand_count; i++) {
        Expr *operand = arena_new(arena, Expr);
        *operand = (Expr){.kind = EXPR_ACCESS,
                          .access = make_access(arena, assignment, form->accesses[i + 1], extents, i + 1)};
        operands[i] = operand;
    }
    if (form->op == 'm') {
        assignment->rhs =
            make_expr(arena, EXPR_ADD, operands[0], make_expr(arena, EXPR_MUL, operands[1], operands[2]));
        return assignment;
    }
    assignment->rhs = operands[0];
    for (int i = 1; i < form->operand_count; i++)
        assignment->rhs =
            make_expr(arena, form->op == '+' ? EXPR_ADD : EXPR_MUL, assignment->rhs, operands[i]);
    return assignment;
}

static inline const char *fresh_name(const Cin *cin) {
    return arena_printf(cin->arena, "v%d", cin->var_count);
}

// In every nest, puts `with` in the place of loop `var`.
static inline void replace_loop(Cin *cin, int var, const int *with, int with_count) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n), result = {.assign = nest.assign};
        for (int i = 0; i < nest.loop_count; i++)
            for (int w = 0; w < (nest.loops[i] == var ? with_count : 1); w++)
                result.loops[result.loop_count++] = nest.loops[i] == var ? with[w] : nest.loops[i];
        cin_set_nest(cin, n, &result);
    }
}

static inline void apply_split(Cin *cin, int var, RelationKind kind, int64_t factor) {
    Arena *arena = cin->arena;
    const IntExpr *by = int_const(arena, factor);
    const IntExpr *rest = int_op(arena, INT_CEIL_DIV, cin->vars[var].extent, by);
    int children[2];
    children[0] = cin_add_var(cin, fresh_name(cin), (Span){0}, kind == REL_SPLIT ? rest : by);
    children[1] = cin_add_var(cin, fresh_name(cin), (Span){0}, kind == REL_SPLIT ? by : rest);
    cin_add_relation(
        cin,
        (Relation){.kind = kind, .parent = {var, -1}, .child = {children[0], children[1]}, .factor = by});
    replace_loop(cin, var, children, 2);
}

static inline void apply_cyclic(Cin *cin, int var, int64_t size, int64_t block) {
    Arena *arena = cin->arena;
    const IntExpr *length = int_const(arena, block), *round = int_const(arena, size * block);
    const IntExpr *rounds = int_op(arena, INT_CEIL_DIV, cin->vars[var].extent, round);
    int children[2];
    children[0] = cin_add_var(cin, fresh_name(cin), (Span){0}, int_const(arena, size));
    children[1] = cin_add_var(cin, fresh_name(cin), (Span){0}, int_op(arena, INT_MUL, rounds, length));
    cin_add_relation(cin, (Relation){.kind = REL_CYCLIC,
                                     .parent = {var, -1},
                                     .child = {children[0], children[1]},
                                     .factor = length});
    replace_loop(cin, var, children, 2);
}

static inline void apply_collapse(Cin *cin, int first, int second) {
    const IntExpr *extent = int_op(cin->arena, INT_MUL, cin->vars[first].extent, cin->vars[second].extent);
    int fused = cin_add_var(cin, fresh_name(cin), (Span){0}, extent);
    cin_add_relation(cin, (Relation){.kind = REL_COLLAPSE, .parent = {first, second}, .child = {fused, -1}});
    replace_loop(cin, first, &fused, 1);
    replace_loop(cin, second, NULL, 0);
}

static inline void apply_rotate(Cin *cin, int var, const int *shifts, int shift_count) {
    int rotated = cin_add_var(cin, fresh_name(cin), (Span){0}, cin->vars[var].extent);
    Relation relation = {
        .kind = REL_ROTATE, .parent = {var, -1}, .child = {rotated, -1}, .var_count = shift_count};
    memcpy(relation.vars, shifts, sizeof *shifts * (size_t)shift_count);
    cin_add_relation(cin, relation);
    replace_loop(cin, var, &rotated, 1);
}

static inline bool every_nest_has(const Cin *cin, int var) {
    bool all = true;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        bool has = false;
        for (int i = 0; i < nest.loop_count; i++)
            has = has || nest.loops[i] == var;
        all = all && has;
    }
    return all;
}

static inline void draw_transform(Random *random, Cin *cin) {
    // The last nest has the most loops.
    Nest nest = cin_nest(cin, cin_nest_count(cin) - 1);
    if (nest.loop_count == 0)
        return;
    int at = (int)draw(random, nest.loop_count), var = nest.loops[at];
    switch (draw(random, 6)) {
    case 0:
        apply_split(cin, var, REL_SPLIT, 1 + draw(random, 4));
        return;
    case 1:
        apply_split(cin, var, REL_DIVIDE, 1 + draw(random, 4));
        return;
    case 4:
        apply_cyclic(cin, var, 1 + draw(random, 3), 1 + draw(random, 3));
        return;
    case 2:
        if (at + 1 < nest.loop_count && every_nest_has(cin, var) == every_nest_has(cin, nest.loops[at + 1]))
            apply_collapse(cin, var, nest.loops[at + 1]);
        return;
    case 3: {
        int shifts[MAX_VARS], count = 0;
        for (int i = 0; i < nest.loop_count; i++)
            if (i != at && (every_nest_has(cin, nest.loops[i]) || !every_nest_has(cin, var)) &&
                draw(random, 2))
                shifts[count++] = nest.loops[i];
        if (count > 0)
            apply_rotate(cin, var, shifts, count);
        return;
    }
    default: {
        Nest other = nest;
        int with = (int)draw(random, nest.loop_count);
        other.loops[at] = nest.loops[with];
        other.loops[with] = var;
        cin_set_nest(cin, cin_nest_count(cin) - 1, &other);
    }
    }
}

static inline const Cin *draw_statement(Random *random, Arena *arena) {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 0};
    int64_t extents[4];
    for (int v = 0; v < 4; v++)
        extents[v] = sizes[draw(random, draw(random, 20) ? 5 : 6)];
    const Form *form = &forms[draw(random, FORM_COUNT)];
    return cin_create(arena, make_assignment(arena, form, extents));
}

static inline void draw_transforms(Random *random, Cin *cin) {
    for (int64_t i = draw(random, 9); i > 0 && cin->var_count < MAX_VARS / 2; i--)
        draw_transform(random, cin);
}

// The value of a variable by the definitions of its relations, from those of the loops.
static inline int64_t recover(const Cin *cin, const Provenance *provenance, const bool *loops,
                              const int64_t *values, int var) {
    const Relation *relation = loops[var] ? NULL : cin_replaced_by(cin, var);
    if (!relation)
        return values[var];
    int64_t first = recover(cin, provenance, loops, values, relation->child[0]);
    if (relation->kind == REL_SPLIT || relation->kind == REL_DIVIDE)
        return first * provenance_extent(provenance, relation->child[1]) +
               recover(cin, provenance, loops, values, relation->child[1]);
    if (relation->kind == REL_CYCLIC) {
        int64_t block = relation->factor->value,
                position = recover(cin, provenance, loops, values, relation->child[1]);
        return (position / block * provenance_extent(provenance, relation->child[0]) + first) * block +
               position % block;
    }
    if (relation->kind == REL_COLLAPSE) {
        int64_t inner = provenance_extent(provenance, relation->parent[1]);
        return var == relation->parent[0] ? first / inner : first % inner;
    }
    for (int i = 0; i < relation->var_count; i++)
        first += recover(cin, provenance, loops, values, relation->vars[i]);
    return first % provenance_extent(provenance, var);
}

#endif
