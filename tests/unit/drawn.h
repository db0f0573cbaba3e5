// SPDX-License-Identifier: BSD-3-Clause
// For unit tests: drawn statements with drawn relations, made by hand so that they go beyond what the
// commands allow, and their variables by definition.
#ifndef DISTAL_TESTS_UNIT_DRAWN_H
#define DISTAL_TESTS_UNIT_DRAWN_H

#include "index/provenance.h"
#include "schedule/positions.h"

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
        tensor->levels[m] = level_type_dense();
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

// In every nest, puts `with` in the place of loop `var`.
static inline void replace_loop(Cin *cin, int var, const int *with, int with_count) {
    Nest *nests = cin_nests(cin);
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = nests[n];
        Nest result = {.assign = nest.assign};
        for (int i = 0; i < nest.loop_count; i++)
            for (int w = 0; w < (nest.loops[i] == var ? with_count : 1); w++)
                result.loops[result.loop_count++] = nest.loops[i] == var ? with[w] : nest.loops[i];
        nests[n] = result;
    }
    cin_set_nests(cin, nests);
}

// Puts the children of the relation in the place of its parents.
static inline void derive(Cin *cin, Relation relation) {
    NewVar children[2];
    for (int c = 0; c < relation.kind->children; c++)
        children[c] = (NewVar){.name = arena_printf(cin->arena, "v%d", cin->var_count + c)};
    cin_derive(cin, &relation, children);
    replace_loop(cin, relation.parent[0], relation.child, relation.kind->children);
    for (int p = 1; p < relation.kind->parents; p++)
        replace_loop(cin, relation.parent[p], NULL, 0);
}

static inline void derive_with(Cin *cin, const RelationKind *kind, int var, int64_t first, int64_t second) {
    derive(cin, (Relation){.kind = kind,
                           .parent = {var},
                           .numbers = {int_const(cin->arena, first), int_const(cin->arena, second)}});
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

static inline void swap_loops(Random *random, Cin *cin, Nest nest) {
    const int a = (int)draw(random, nest.loop_count), b = (int)draw(random, nest.loop_count);
    const int var = nest.loops[a];
    nest.loops[a] = nest.loops[b];
    nest.loops[b] = var;
    Nest *nests = cin_nests(cin);
    nests[cin_nest_count(cin) - 1] = nest;
    cin_set_nests(cin, nests);
}

// Positions of the coordinates that a loop has, where no relation but collapse has made it or uses it: some
// of them, each a part of its own. False where there are too many.
enum { MAX_STORED = 64 };
static inline bool draw_stored(Random *random, const Cin *cin, Relation *relation) {
    StoredAccess *access = arena_new(cin->arena, StoredAccess);
    const Provenance *provenance = provenance_create(cin, NULL, NULL, cin->arena, NULL);
    int count = 0, vars[MAX_VARS];
    if (!provenance || provenance_extent(provenance, relation->parent[0]) > MAX_STORED ||
        !positions_collapsed_from(cin, relation->parent[0], vars, &count))
        return false;
    VarSet collapsed = (VarSet)1 << relation->parent[0];
    for (int64_t r = cin->relations.count - 1; r >= 0; r--) {
        const Relation *other = cin->relations.items[r];
        if (relation_operands(other) & collapsed)
            return false;
        if (relation_children(other) & collapsed)
            collapsed |= relation_parents(other);
    }
    *access = (StoredAccess){.name = "T", .order = count, .last_level = count - 1, .outermost = vars[0]};
    Boundaries *drawn = arena_new(cin->arena, Boundaries);
    int64_t *positions = arena_array(cin->arena, int64_t, MAX_STORED + 1);
    int64_t *coordinates = arena_array(cin->arena, int64_t, (MAX_STORED + 1) * count);
    const int64_t share = 1 + draw(random, 4);
    for (int m = 0; m < count; m++)
        access->vars[m] = vars[m], access->modes[m] = m;
    for (int64_t x = 0; x < provenance_extent(provenance, relation->parent[0]); x++) {
        int64_t rest = x;
        if (draw(random, 4) >= share)
            continue;
        for (int m = count - 1; m >= 0; m--) {
            coordinates[drawn->count * count + m] = rest % provenance_extent(provenance, vars[m]);
            rest /= provenance_extent(provenance, vars[m]);
        }
        drawn->count++;
        positions[drawn->count] = drawn->count;
    }
    drawn->division = (Division){.tensor = "T", .mode_count = count};
    memcpy(drawn->division.modes, access->modes, sizeof access->modes);
    drawn->total = drawn->count;
    drawn->positions = positions;
    drawn->starts = drawn->lasts = drawn->firsts = coordinates;
    relation->access = access;
    relation->stored = drawn;
    return true;
}

// A relation of any kind that commands make, where the loops allow it; not of stored kinds where `structures`
// is false.
static inline void draw_relation(Random *random, Cin *cin, Nest nest, const RelationKind *kind,
                                 bool structures) {
    const int at = (int)draw(random, nest.loop_count), var = nest.loops[at];
    Relation relation = {.kind = kind, .parent = {var}};
    if (kind->balanced || kind->children == 0 ||
        (kind->stored && (!structures || !draw_stored(random, cin, &relation))))
        return;
    if (kind->parents == 2) {
        if (at + 1 == nest.loop_count || every_nest_has(cin, var) != every_nest_has(cin, nest.loops[at + 1]))
            return;
        relation.parent[1] = nest.loops[at + 1];
    }
    for (int i = 0; kind->has_operands && i < nest.loop_count; i++)
        if (i != at && (every_nest_has(cin, nest.loops[i]) || !every_nest_has(cin, var)) && draw(random, 2))
            relation.operands[relation.operand_count++] = nest.loops[i];
    for (int n = 0; n < kind->numbers; n++)
        relation.numbers[n] = int_const(cin->arena, 1 + draw(random, 4));
    if (!kind->has_operands || relation.operand_count > 0)
        derive(cin, relation);
}

static inline void draw_transform(Random *random, Cin *cin, bool structures) {
    // The last nest has the most loops.
    const Nest nest = cin_nest(cin, cin_nest_count(cin) - 1);
    int count;
    const RelationKind *const *kinds = relation_kinds(&count);
    const int64_t choice = draw(random, count + 1);
    if (nest.loop_count == 0)
        return;
    if (choice == count)
        swap_loops(random, cin, nest);
    else
        draw_relation(random, cin, nest, kinds[choice], structures);
}

static inline const Cin *draw_statement(Random *random, Arena *arena) {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 0};
    int64_t extents[4];
    for (int v = 0; v < 4; v++)
        extents[v] = sizes[draw(random, draw(random, 20) ? 5 : 6)];
    const Form *form = &forms[draw(random, FORM_COUNT)];
    return cin_create(arena, make_assignment(arena, form, extents));
}

static inline void draw_transforms(Random *random, Cin *cin, bool structures) {
    for (int64_t i = draw(random, 9); i > 0 && cin->var_count < MAX_VARS / 2; i--)
        draw_transform(random, cin, structures);
}

// Of a relation that has no definition below: what generated code would compute. `operands` are their values.
static inline int64_t recover_by_symbols(const Cin *cin, const Provenance *provenance,
                                         const Relation *relation, const int64_t children[2],
                                         const int64_t *operands, int var) {
    RelationTerms terms = {.arena = cin->arena, .relation = relation};
    int64_t value = -1;
    for (int p = 0; p < relation->kind->parents; p++)
        terms.parent[p] = int_const(cin->arena, provenance_extent(provenance, relation->parent[p]));
    for (int c = 0; c < relation->kind->children; c++) {
        terms.child[c] = int_const(cin->arena, provenance_extent(provenance, relation->child[c]));
        terms.value[c] = int_const(cin->arena, children[c]);
    }
    for (int i = 0; i < relation->operand_count; i++)
        terms.operands[i] = int_const(cin->arena, operands[i]);
    int_eval(relation->kind->recover(&terms, var == relation->parent[0] ? 0 : 1), NULL, NULL, &value);
    return value;
}

// The value of a variable by the definitions of its relations, from those of the loops.
static inline int64_t recover(const Cin *cin, const Provenance *provenance, const bool *loops,
                              const int64_t *values, int var) {
    const Relation *relation = loops[var] ? NULL : cin_replaced_by(cin, var);
    if (!relation)
        return values[var];
    const RelationKind *kind = relation->kind;
    const int64_t first = recover(cin, provenance, loops, values, relation->child[0]);
    const int64_t second =
        kind->children == 2 ? recover(cin, provenance, loops, values, relation->child[1]) : 0;
    if (kind == &relation_split || kind == &relation_divide)
        return first * provenance_extent(provenance, relation->child[1]) + second;
    if (kind == &relation_cyclic) {
        const int64_t block = relation->numbers[0]->value, size = relation->numbers[1]->value;
        return (second / block * size + first) * block + second % block;
    }
    if (kind == &relation_collapse) {
        const int64_t inner = provenance_extent(provenance, relation->parent[1]);
        return var == relation->parent[0] ? first / inner : first % inner;
    }
    if (kind == &relation_pos) { // a position beyond those that there are is beyond the coordinates
        const int count = relation->stored->division.mode_count;
        int64_t value = 0;
        for (int m = 0; m < count; m++)
            value = value * provenance_extent(provenance, relation->access->vars[m]) +
                    relation->stored->starts[first * count + m];
        return first < relation->stored->count ? value : provenance_extent(provenance, var);
    }
    int64_t operands[MAX_VARS], sum = first;
    for (int i = 0; i < relation->operand_count; i++) {
        operands[i] = recover(cin, provenance, loops, values, relation->operands[i]);
        sum += operands[i];
    }
    if (kind == &relation_rotate)
        return sum % provenance_extent(provenance, var);
    return recover_by_symbols(cin, provenance, relation, (const int64_t[]){first, second}, operands, var);
}

#endif
