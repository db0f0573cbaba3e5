// SPDX-License-Identifier: BSD-3-Clause
// From index notation to concrete index notation: which terms are summed over which variables, hence into
// which loop nests the statement falls apart.
#include "index/cin.h"

// A signed part of a sum: all that is summed over the same variables.
typedef struct {
    const Expr *expr;
    bool negative;
    VarSet reduced; // variables that it is summed over
    int64_t size;   // operands and operations in `expr`
} Term;

// No two terms with the same reduced variables.
typedef Array(Term) TermArray;

typedef struct {
    Arena *arena;
    const Assignment *assignment;
    VarSet reducible; // variables that the left side lacks
    Diagnostics *diagnostics;
} Normalizer;

// Multiplying out can grow exponentially; no statement that a person writes comes near these.
enum { MAX_TERMS = 256, MAX_SIZE = 65536 };

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
        old->size += term.size + 1;
        return;
    }
    array_push(arena, *terms, term);
}

static bool terms_of(Normalizer *normalizer, const Expr *expr, TermArray *terms);

static bool terms_of_sum(Normalizer *normalizer, const Expr *expr, TermArray *terms) {
    TermArray left = {0}, right = {0};
    if (!terms_of(normalizer, expr->left, &left) ||
        (expr->right && !terms_of(normalizer, expr->right, &right)))
        return false;
    bool flip_left = expr->kind == EXPR_NEG, flip_right = expr->kind == EXPR_SUB;
    for (int64_t i = 0; i < left.count; i++) {
        left.items[i].negative ^= flip_left;
        add_term(normalizer->arena, terms, expr->span, left.items[i]);
    }
    for (int64_t i = 0; i < right.count; i++) {
        right.items[i].negative ^= flip_right;
        add_term(normalizer->arena, terms, expr->span, right.items[i]);
    }
    return true;
}

static bool terms_of_product(Normalizer *normalizer, const Expr *expr, TermArray *terms) {
    TermArray left = {0}, right = {0};
    if (!terms_of(normalizer, expr->left, &left) || !terms_of(normalizer, expr->right, &right))
        return false;
    if (expr->kind == EXPR_DIV && right.count > 1)
        return diagnostics_error(normalizer->diagnostics, expr->right->span,
                                 "the terms of this divisor are summed over different variables: compute the "
                                 "divisor in a statement of its own first");
    for (int64_t i = 0; i < left.count && terms->count <= MAX_TERMS; i++) {
        for (int64_t k = 0; k < right.count; k++) {
            const Term *a = &left.items[i], *b = &right.items[k];
            Term product = {operation(normalizer->arena, expr->kind, expr->span, a->expr, b->expr),
                            a->negative != b->negative, a->reduced | b->reduced, a->size + b->size + 1};
            add_term(normalizer->arena, terms, expr->span, product);
        }
    }
    return true;
}

static int64_t size_of(const Expr *expr) {
    return expr ? 1 + size_of(expr->left) + size_of(expr->right) : 0;
}

// The sum that `expr` is, one term for each set of reduced variables. Where there is one set only, the term
// is `expr` as it was written: nothing is multiplied out.
static bool terms_of(Normalizer *normalizer, const Expr *expr, TermArray *terms) {
    switch (expr->kind) {
    case EXPR_NUMBER:
    case EXPR_ACCESS:
    case EXPR_CALL: // a factor, whatever its arguments are: they are not terms of the statement
        array_push(normalizer->arena, *terms,
                   (Term){expr, false, expr_vars(expr) & normalizer->reducible, size_of(expr)});
        return true;
    case EXPR_MUL:
    case EXPR_DIV:
        if (!terms_of_product(normalizer, expr, terms))
            return false;
        break;
    default:
        if (!terms_of_sum(normalizer, expr, terms))
            return false;
        break;
    }
    if (terms->count == 1) {
        terms->items[0].expr = expr;
        terms->items[0].negative = false;
    }
    int64_t size = 0;
    for (int64_t i = 0; i < terms->count; i++)
        size += terms->items[i].size;
    if (terms->count > MAX_TERMS || size > MAX_SIZE)
        return diagnostics_error(normalizer->diagnostics, expr->span,
                                 "this product of sums is too large when multiplied out, and its terms are "
                                 "summed over different variables: compute parts of it in statements of "
                                 "their own");
    return true;
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

static Nest make_nest(Normalizer *normalizer, const Term *term, bool first) {
    const Assignment *assignment = normalizer->assignment;
    Stmt *assign = arena_new(normalizer->arena, Stmt);
    assign->kind = STMT_ASSIGN;
    assign->lhs = assignment->lhs;
    assign->rhs = term->negative ? operation(normalizer->arena, EXPR_NEG, term->expr->span, term->expr, NULL)
                                 : term->expr;
    assign->accumulate = assignment->accumulate || term->reduced || !first;
    Nest nest = {.assign = assign};
    add_loops(&nest, assignment->lhs);
    expr_accesses(assign->rhs, add_loops, &nest);
    return nest;
}

// What is not reduced comes first: it stores where the others add.
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

// Appends the nests of one part, which are executed after those of the parts before it.
static bool add_part(Cin *cin, const Assignment *part, Diagnostics *diagnostics) {
    Normalizer normalizer = {cin->arena, part, ~access_vars(part->lhs), diagnostics};
    TermArray terms = {0};
    if (!terms_of(&normalizer, part->rhs, &terms))
        return false;
    put_unreduced_first(&terms);
    const Stmt *nests = sequence_of(cin->arena, terms.count);
    int index = cin->body ? cin_nest_count(cin) : 0;
    cin->body = cin->body ? both(cin->arena, STMT_WHERE, nests, cin->body) : nests;
    for (int64_t i = 0; i < terms.count; i++) {
        Nest nest = make_nest(&normalizer, &terms.items[i], i == 0);
        cin_set_nest(cin, index++, &nest);
    }
    return true;
}

const Cin *cin_create_parts(Arena *arena, const Assignment *assignment, const Assignment *const *parts,
                            int part_count, Diagnostics *diagnostics) {
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
        if (!add_part(cin, parts[p], diagnostics))
            return NULL;
    return cin;
}

const Cin *cin_create(Arena *arena, const Assignment *assignment, Diagnostics *diagnostics) {
    const Assignment *const *parts = arena_copy(arena, &assignment, sizeof(const Assignment *));
    return cin_create_parts(arena, assignment, parts, 1, diagnostics);
}
