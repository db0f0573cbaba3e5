// SPDX-License-Identifier: BSD-3-Clause
// From index notation to concrete index notation: terms that are summed over the same variables share a loop
// nest.
#include "index/cin.h"
#include "index/summation.h"

#include <string.h>

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

static void add_loop(Nest *nest, int var) {
    if (!nest_has(nest, var))
        nest->loops[nest->loop_count++] = var;
}

// Those around a row last, as nothing shows them.
static void add_loops(void *context, const Access *access) {
    Nest *nest = context;
    for (int m = 0; m < access->tensor->order; m++)
        if (!access->indices[m])
            add_loop(nest, access->vars[m]);
        else
            for (int i = 0; i < access->indices[m]->count; i++)
                add_loop(nest, access->indices[m]->vars[i]);
    for (int v = 0; v < MAX_VARS; v++)
        if (access->tensor->around >> v & 1)
            add_loop(nest, v);
}

typedef struct {
    const Cin *cin;
    bool sparse;
} Reading;

static void find_sparse(void *context, const Access *access) {
    Reading *reading = context;
    if (access->tensor->around)
        expr_accesses(cin_part(reading->cin, access->tensor)->rhs, find_sparse, reading);
    reading->sparse = reading->sparse || tensor_is_sparse(access->tensor);
}

// Whether loops around the expression iterate over entries, as it reads a sparse tensor or a row that is
// filled from one.
static bool reads_entries(const Cin *cin, const Expr *expr) {
    Reading reading = {cin, false};
    expr_accesses(expr, find_sparse, &reading);
    return reading.sparse;
}

// Whether a tensor stores nothing but entries: loops over what the right side stores have all of them.
static bool stores_entries(const Tensor *tensor) {
    const LevelFormat *last = tensor->order ? tensor->levels[tensor->order - 1].format : NULL;
    return last && last->compact && !last->full;
}

// Whether the first term stores all elements of a tensor, also where it reads entries: where the tensor has
// no others; or in an update, as schedule_update leaves no sparse operands in terms that are not summed, so
// that one of their addends has no entries, or they are those of the tensor.
static bool stores_all(const Cin *cin, const Tensor *tensor, bool alone) {
    return (alone && stores_entries(tensor)) ||
           (tensor == cin->assignment->lhs->tensor && assignment_is_update(cin->assignment));
}

// Inside of the loops `around`. `alone`: it is the only term.
static Nest make_nest(const Cin *cin, const Assignment *assignment, const Term *term, bool first, bool alone,
                      const Nest *around) {
    Arena *arena = cin->arena;
    Stmt *assign = arena_new(arena, Stmt);
    assign->kind = STMT_ASSIGN;
    assign->nest_count = 1;
    assign->lhs = assignment->lhs;
    assign->reducer = assignment->reducer;
    assign->rhs =
        term->negative ? operation(arena, EXPR_NEG, term->expr->span, term->expr, NULL) : term->expr;
    // Loops over sparse operands leave out elements, which are zero before.
    assign->accumulate = assignment->accumulate || term->reduced || !first ||
                         (reads_entries(cin, term->expr) && !stores_all(cin, assignment->lhs->tensor, alone));
    Nest nest = *around;
    nest.assign = assign;
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

static Stmt *both(Arena *arena, StmtKind kind, const Stmt *first, const Stmt *second) {
    Stmt *stmt = arena_new(arena, Stmt);
    *stmt = (Stmt){
        .kind = kind, .first = first, .second = second, .nest_count = first->nest_count + second->nest_count};
    return stmt;
}

// The rows that a nest reads, those inside of fewer loops first, and how many loops, from the outermost, are
// around each.
typedef struct {
    int count;
    const Tensor *rows[MAX_VARS];
    int depths[MAX_VARS];
} RowsRead;

static void add_row(void *context, const Access *access) {
    RowsRead *rows = context;
    const Tensor *row = access->tensor;
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i] == row)
            return;
    if (!row->around)
        return;
    int at = rows->count++;
    for (; at > 0 && __builtin_popcountll(rows->rows[at - 1]->around) > __builtin_popcountll(row->around);
         at--)
        rows->rows[at] = rows->rows[at - 1];
    rows->rows[at] = row;
}

// Puts loops around rows outside of the others, the first `count` of which stay.
static void put_rows_inside(Nest *nest, int count, RowsRead *rows) {
    const Nest old = *nest;
    nest->loop_count = count;
    for (int r = 0; r < rows->count; r++) {
        for (int i = 0; i < old.loop_count; i++)
            if (rows->rows[r]->around >> old.loops[i] & 1)
                add_loop(nest, old.loops[i]);
        rows->depths[r] = nest->loop_count;
    }
    for (int i = 0; i < old.loop_count; i++)
        add_loop(nest, old.loops[i]);
}

static const Stmt *make_part(const Cin *cin, const Assignment *part, const Nest *around);

// The nest from loop `depth` on, and what fills the rows that it reads from number `first` on.
static const Stmt *make_stmt(const Cin *cin, const Nest *nest, const RowsRead *rows, int first, int depth) {
    if (first == rows->count)
        return stmt_inside(cin->arena, nest, depth, nest->loop_count, nest->assign);
    Nest around = *nest;
    around.loop_count = rows->depths[first];
    Stmt *where = both(cin->arena, STMT_WHERE, make_stmt(cin, nest, rows, first + 1, around.loop_count),
                       make_part(cin, cin_part(cin, rows->rows[first]), &around));
    where->row = rows->rows[first];
    return stmt_inside(cin->arena, nest, depth, around.loop_count, where);
}

// The terms of a part in the order of their nests.
static TermArray part_terms(Arena *arena, const Assignment *part) {
    const VarSet reducible = ~access_vars(part->lhs);
    TermArray terms = {0};
    if (part->whole) {
        array_push(arena, terms, (Term){part->rhs, false, expr_vars(part->rhs) & reducible});
        return terms;
    }
    terms = terms_of(arena, part->rhs, reducible);
    put_unreduced_first(&terms);
    return terms;
}

// The nests of one part, inside of the loops `around`.
static const Stmt *make_part(const Cin *cin, const Assignment *part, const Nest *around) {
    const TermArray terms = part_terms(cin->arena, part);
    const Stmt *stmts = NULL;
    for (int64_t i = 0; i < terms.count; i++) {
        Nest nest = make_nest(cin, part, &terms.items[i], i == 0, terms.count == 1, around);
        RowsRead rows = {0};
        expr_accesses(nest.assign->rhs, add_row, &rows);
        put_rows_inside(&nest, around->loop_count, &rows);
        const Stmt *stmt = make_stmt(cin, &nest, &rows, 0, around->loop_count);
        stmts = stmts ? both(cin->arena, STMT_SEQUENCE, stmts, stmt) : stmt;
    }
    return stmts;
}

// The index determines the variable.
static void add_index(Cin *cin, int var, const SourceVar *source) {
    Relation relation = {&relation_affine,
                         source->span,
                         .parent = {var, -1},
                         .child = {-1, -1},
                         .operand_count = source->index->count,
                         .affine = source->index};
    memcpy(relation.operands, source->index->vars, sizeof source->index->vars);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(cin->arena, cin->relations, arena_copy(cin->arena, &relation, sizeof relation));
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
        if (var->index)
            add_index(cin, v, var);
    }
    const Nest outside = {0};
    for (int p = 0; p < part_count; p++) {
        if (parts[p]->lhs->tensor->around)
            continue; // inside of what reads it
        const Stmt *part = make_part(cin, parts[p], &outside);
        cin->body = cin->body ? both(arena, STMT_WHERE, part, cin->body) : part;
    }
    return cin;
}

const Cin *cin_create(Arena *arena, const Assignment *assignment) {
    const Assignment *const *parts = arena_copy(arena, &assignment, sizeof(const Assignment *));
    return cin_create_parts(arena, assignment, parts, 1);
}
