// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

typedef struct {
    const Cin *cin;
    const char *why;  // NULL while all is well
    VarSet named;     // by accesses of the current nest
    VarSet recovered; // from its loops
} Verifier;

static void fail(Verifier *verifier, const char *what, int var) {
    if (!verifier->why)
        verifier->why = arena_printf(verifier->cin->arena, "%s: '%s'", what, verifier->cin->vars[var].name);
}

static void verify_access(void *context, const Access *access) {
    Verifier *verifier = context;
    const VarSet vars = access_vars(access), lost = vars & ~verifier->recovered;
    verifier->named |= vars;
    if (lost)
        fail(verifier, "a variable of an access cannot be recovered from the loops around it",
             __builtin_ctzll(lost));
}

// What is derived from loops that are bound here can be recovered.
static VarSet recovered_from(const Cin *cin, VarSet vars) {
    for (int64_t i = cin->relations.count - 1; i >= 0; i--) {
        const Relation *relation = cin->relations.items[i];
        if (!((relation_children(relation) | relation_operands(relation)) & ~vars))
            vars |= relation_parents(relation);
    }
    return vars;
}

static void verify_nest(Verifier *verifier, const Nest *nest) {
    const Cin *cin = verifier->cin;
    VarSet bound = 0;
    for (int i = 0; i < nest->loop_count; i++) {
        int var = nest->loops[i];
        if (bound >> var & 1)
            fail(verifier, "two loops of one nest bind the same variable", var);
        if (cin_replaced_by(cin, var))
            fail(verifier, "a loop over a variable that others were derived from", var);
        bound |= (VarSet)1 << var;
    }
    VarSet behind = bound; // the loops and the variables that they are derived from
    verifier->recovered = recovered_from(cin, bound);
    verifier->named = 0;
    for (int64_t i = cin->relations.count - 1; i >= 0; i--)
        if (relation_children(cin->relations.items[i]) & behind)
            behind |= relation_parents(cin->relations.items[i]);
    verify_access(verifier, nest->assign->lhs);
    expr_accesses(nest->assign->rhs, verify_access, verifier);
    // A loop that no access depends on would repeat its body. One around a row may be there for another row
    // that is read with it.
    for (int v = 0; v < cin->var_count && !nest->assign->lhs->tensor->around; v++)
        if (behind >> v & 1 && !cin_made_by(cin, v) && !(verifier->named >> v & 1))
            fail(verifier, "a loop over a variable that its nest does not use", v);
}

typedef struct {
    Verifier *verifier;
    const Tensor *rows[MAX_VARS]; // that are filled here, by the number of loops around them
    int count;
    VarSet bound;
} Scope;

static void verify_row(void *context, const Access *access) {
    const Scope *scope = context;
    const Tensor *row = access->tensor;
    bool filled = !row->around;
    for (int i = 0; i < scope->count; i++)
        filled = filled || scope->rows[i] == row;
    if (!filled && !scope->verifier->why)
        scope->verifier->why = arena_printf(scope->verifier->cin->arena,
                                            "a row is used where it is not filled: '%s'", row->name);
}

// Rows are filled and read inside of the loops around them.
static void verify_rows(Scope scope, const Stmt *stmt) {
    for (; stmt->kind == STMT_FORALL; stmt = stmt->body)
        scope.bound |= (VarSet)1 << stmt->var;
    if (stmt->kind == STMT_ASSIGN) {
        verify_row(&scope, stmt->lhs);
        expr_accesses(stmt->rhs, verify_row, &scope);
        return;
    }
    if (stmt->row) {
        const VarSet missing = stmt->row->around & ~recovered_from(scope.verifier->cin, scope.bound);
        if (missing)
            fail(scope.verifier, "a row outside of a loop that it should be inside of",
                 __builtin_ctzll(missing));
        scope.rows[scope.count++] = stmt->row;
    }
    verify_rows(scope, stmt->first);
    verify_rows(scope, stmt->second);
}

static void verify_relation(Verifier *verifier, const Relation *relation) {
    const VarSet vars =
        relation_parents(relation) | relation_children(relation) | relation_operands(relation);
    if (vars >> (verifier->cin->var_count - 1) > 1)
        verifier->why = "a relation about a variable that does not exist";
    for (int n = 0; n < relation->kind->numbers; n++)
        if (!int_is_closed(relation->numbers[n]))
            verifier->why = "a number of a relation mentions an index variable";
}

static void verify_directive(Verifier *verifier, const Directive *directive) {
    for (int i = 0; i < directive->loop_count; i++) {
        const int var = directive->loops[i];
        if (var < 0 || var >= verifier->cin->var_count)
            verifier->why = "a directive about a variable that does not exist";
        else if (!cin_is_loop(verifier->cin, var))
            fail(verifier, "a directive about a variable that is not a loop", var);
    }
    if (directive->number && !int_is_closed(directive->number))
        verifier->why = "the number of a directive mentions an index variable";
    if (directive->machine && (directive->dim < 0 || directive->dim >= directive->machine->order))
        verifier->why = "a directive about a dimension that its machine does not have";
}

// One variable of a nest is distributed along one dimension of the machine, and all variables along
// dimensions of one machine.
static void verify_distribution(Verifier *verifier) {
    const Cin *cin = verifier->cin;
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *a = cin->directives.items[d];
        for (int64_t e = 0; e < d && a->kind == DIRECTIVE_DISTRIBUTE; e++) {
            const Directive *b = cin->directives.items[e];
            if (b->kind != DIRECTIVE_DISTRIBUTE && b->kind != DIRECTIVE_FIX)
                continue;
            if (a->machine != b->machine)
                fail(verifier, "a variable is distributed onto another machine than the others", a->loops[0]);
            else if (a->machine && a->dim == b->dim &&
                     (b->kind == DIRECTIVE_FIX || cin_share_nest(cin, a->loops[0], b->loops[0])))
                fail(verifier, "a variable is distributed along a dimension that is taken", a->loops[0]);
        }
    }
}

// Whether an extent mentions no variables but numbers that follow from entries.
static bool is_extent(const IntExpr *expr, VarSet counts) {
    if (expr->op == INT_VAR)
        return counts >> expr->value & 1;
    return (!expr->left || is_extent(expr->left, counts)) && (!expr->right || is_extent(expr->right, counts));
}

bool cin_verify(const Cin *cin, const char **why) {
    Verifier verifier = {.cin = cin};
    VarSet counts = 0;
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        counts |= (VarSet)relation->kind->stored << relation->count;
        counts |= (VarSet)relation->kind->balanced << relation->longest;
    }
    for (int v = 0; v < cin->var_count; v++)
        if (!is_extent(cin->vars[v].extent, counts))
            fail(&verifier, "the extent of a variable mentions an index variable", v);
    for (int64_t r = 0; r < cin->relations.count; r++)
        verify_relation(&verifier, cin->relations.items[r]);
    for (int64_t d = 0; d < cin->directives.count; d++)
        verify_directive(&verifier, cin->directives.items[d]);
    if (!verifier.why) {
        for (int n = 0; n < cin_nest_count(cin); n++) {
            Nest nest = cin_nest(cin, n);
            verify_nest(&verifier, &nest);
        }
        verify_distribution(&verifier);
        verify_rows((Scope){.verifier = &verifier}, cin->body);
    }
    *why = verifier.why;
    return !verifier.why;
}
