// SPDX-License-Identifier: BSD-3-Clause
// From index notation to concrete index notation: terms that are summed over the same variables share a loop
// nest.
#include "index/cin.h"
#include "index/summation.h"

// A signed part of a sum: all additive terms that are summed over the same variables.
typedef struct {
    const Expr *expr;
    bool negative;
    VarSet reduced; // variables that it is summed over
} Term;

// No two terms have the same reduced variables.
typedef Array(Term) TermArray;

static const Expr *operation(Arena *arena, ExprKind kind, Span span, const Expr *left, const Expr *right) {
    Expr *expr = arena_new(arena, Expr);
    expr->kind = kind;
    expr->span = span;
    expr->left = left;
    expr->right = right;
    return expr;
}

// Adds a term to the sum, to the term with the same reduced variables where there is one. -a + b is b - a.
static void add_term(Arena *arena, TermArray *terms, Span span, Term term) {
    for (int64_t i = 0; i < terms->count; i++) {
        Term *old = &terms->items[i];
        if (old->reduced != term.reduced)
            continue;
        bool swap = old->negative && !term.negative;
        ExprKind kind = old->negative == term.negative ? EXPR_ADD : EXPR_SUB;
        old->expr = operation(arena, kind, span, swap ? term.expr : old->expr, swap ? old->expr : term.expr);
        old->negative = old->negative && term.negative;
        return;
    }
    array_push(arena, *terms, term);
}

// `expr` as a sum with one term for each set of reduced variables. If there is only one set, the term is
// `expr` as it was written. `reducible`: variables that the left side lacks.
static TermArray terms_of(Arena *arena, const Expr *expr, VarSet reducible) {
    TermArray terms = {0};
    if (!expr_is_sum(expr) && expr->kind != EXPR_NEG) {
        array_push(arena, terms, (Term){expr, false, expr_vars(expr) & reducible});
        return terms;
    }
    const TermArray left = terms_of(arena, expr->left, reducible);
    TermArray right = {0};
    if (expr->right)
        right = terms_of(arena, expr->right, reducible);
    for (int64_t i = 0; i < left.count; i++) {
        left.items[i].negative ^= expr->kind == EXPR_NEG;
        add_term(arena, &terms, expr->span, left.items[i]);
    }
    for (int64_t i = 0; i < right.count; i++) {
        right.items[i].negative ^= expr->kind == EXPR_SUB;
        add_term(arena, &terms, expr->span, right.items[i]);
    }
    if (terms.count == 1) {
        terms.items[0].expr = expr;
        terms.items[0].negative = false;
    }
    return terms;
}

static void add_loops(void *context, const Access *access) {
    Nest *nest = context;
    for (int m = 0; m < access->tensor->order; m++) {
        int i = 0;
        while (i < nest->loop_count && nest->loops[i] != access->vars[m])
            i++;
        if (i == nest->loop_count)
            nest->loops[nest->loop_count++] = access->vars[m];
    }
}

static void find_sparse(void *context, const Access *access) {
    bool *sparse = context;
    *sparse = *sparse || tensor_is_sparse(access->tensor);
}

// Whether its loops may leave out elements, which are then zero.
static bool is_sparse(const Expr *expr) {
    bool sparse = false;
    expr_accesses(expr, find_sparse, &sparse);
    return sparse;
}

static Nest make_nest(Arena *arena, const Assignment *assignment, const Term *term, bool first) {
    Stmt *assign = arena_new(arena, Stmt);
    assign->kind = STMT_ASSIGN;
    assign->lhs = assignment->lhs;
    assign->rhs =
        term->negative ? operation(arena, EXPR_NEG, term->expr->span, term->expr, NULL) : term->expr;
    assign->accumulate = assignment->accumulate || term->reduced || !first || is_sparse(term->expr);
    Nest nest = {.assign = assign};
    add_loops(&nest, assignment->lhs);
    expr_accesses(assign->rhs, add_loops, &nest);
    return nest;
}

// The term without reduced variables comes first, as it stores and the others add.
static void put_unreduced_first(TermArray *terms) {
    for (int64_t i = 1; i < terms->count; i++) {
        if (terms->items[i].reduced)
            continue;
        Term unreduced = terms->items[i];
        for (; i > 0; i--)
            terms->items[i] = terms->items[i - 1];
        terms->items[0] = unreduced;
        return;
    }
}

static const Stmt *both(Arena *arena, StmtKind kind, const Stmt *first, const Stmt *second) {
    Stmt *stmt = arena_new(arena, Stmt);
    stmt->kind = kind;
    stmt->first = first;
    stmt->second = second;
    stmt->nest_count = stmt_nest_count(first) + stmt_nest_count(second);
    return stmt;
}

// `count` assignments in sequence, to be filled in.
static const Stmt *sequence_of(Arena *arena, int64_t count) {
    Stmt *assigns = arena_array(arena, Stmt, count);
    const Stmt *body = assigns;
    for (int64_t i = 0; i < count; i++) {
        assigns[i].kind = STMT_ASSIGN;
        if (i > 0)
            body = both(arena, STMT_SEQUENCE, body, &assigns[i]);
    }
    return body;
}

// Appends the nests of one part, which are executed after those of earlier parts.
static void add_part(Cin *cin, const Assignment *part) {
    TermArray terms = terms_of(cin->arena, part->rhs, ~access_vars(part->lhs));
    put_unreduced_first(&terms);
    const Stmt *nests = sequence_of(cin->arena, terms.count);
    int index = cin->body ? cin_nest_count(cin) : 0;
    cin->body = cin->body ? both(cin->arena, STMT_WHERE, nests, cin->body) : nests;
    for (int64_t i = 0; i < terms.count; i++) {
        Nest nest = make_nest(cin->arena, part, &terms.items[i], i == 0);
        cin_set_nest(cin, index++, &nest);
    }
}

const Cin *cin_create_parts(Arena *arena, const Assignment *assignment, const Assignment *const *parts,
                            int part_count) {
    Cin *cin = arena_new(arena, Cin);
    cin->arena = arena;
    cin->assignment = assignment;
    cin->part_count = part_count;
    cin->parts = parts;
    cin->var_count = parts[0]->var_count;
    for (int v = 0; v < cin->var_count; v++) {
        const SourceVar *var = &parts[0]->vars[v];
        cin->vars[v] = (IndexVar){var->name, var->span, var->extent, true};
    }
    for (int p = 0; p < part_count; p++)
        add_part(cin, parts[p]);
    return cin;
}

const Cin *cin_create(Arena *arena, const Assignment *assignment) {
    const Assignment *const *parts = arena_copy(arena, &assignment, sizeof(const Assignment *));
    return cin_create_parts(arena, assignment, parts, 1);
}
