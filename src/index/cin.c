// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

#include <string.h>

const char *const kernel_names[] = {"gemm", "gemv", "ger", "dot", "axpy", "blas", "loops"};
const char *const parallel_unit_names[] = {"cpu_thread", "cpu_vector"};
const char *const race_names[] = {"none", "atomic", "reduction", "temporary"};

Cin *cin_copy(const Cin *cin) {
    Cin *copy = arena_new(cin->arena, Cin);
    *copy = *cin;
    // The lists are copied, as commands change them in place and append to them.
    copy->relations.capacity = cin->relations.count;
    copy->relations.items =
        arena_copy(cin->arena, cin->relations.items, sizeof(Relation *) * (size_t)cin->relations.count);
    copy->directives.capacity = cin->directives.count;
    copy->directives.items =
        arena_copy(cin->arena, cin->directives.items, sizeof(Directive *) * (size_t)cin->directives.count);
    return copy;
}

void cin_derive(Cin *cin, Relation *relation, const NewVar *children) {
    const RelationKind *kind = relation->kind;
    const IntExpr *parents[2], *extents[2];
    bool ordered = false;
    for (int p = 0; p < kind->parents; p++) {
        parents[p] = cin->vars[relation->parent[p]].extent;
        ordered = ordered || cin->ordered[relation->parent[p]];
    }
    kind->extents(cin->arena, parents, relation->numbers, extents);
    for (int c = 0; c < kind->children; c++) {
        relation->child[c] = cin->var_count++;
        cin->vars[relation->child[c]] =
            (IndexVar){.name = children[c].name, .span = children[c].span, .extent = extents[c]};
        cin->ordered[relation->child[c]] = ordered;
    }
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(cin->arena, cin->relations, arena_copy(cin->arena, relation, sizeof *relation));
}

void cin_add_directive(Cin *cin, Directive directive) {
    directive.at_relations = cin->relations.count;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(cin->arena, cin->directives, arena_copy(cin->arena, &directive, sizeof directive));
}

int stmt_nest_count(const Stmt *stmt) {
    return stmt->kind == STMT_SEQUENCE || stmt->kind == STMT_WHERE ? stmt->nest_count : 1;
}

int cin_nest_count(const Cin *cin) {
    return stmt_nest_count(cin->body);
}

// The second part of a where statement, which fills the workspace, is executed first.
static const Stmt *executed_first(const Stmt *stmt) {
    return stmt->kind == STMT_WHERE ? stmt->second : stmt->first;
}

static const Stmt *executed_last(const Stmt *stmt) {
    return stmt->kind == STMT_WHERE ? stmt->first : stmt->second;
}

Nest cin_nest(const Cin *cin, int index) {
    const Stmt *stmt = cin->body;
    while (stmt->kind == STMT_SEQUENCE || stmt->kind == STMT_WHERE) {
        int before = stmt_nest_count(executed_first(stmt));
        stmt = index < before ? executed_first(stmt) : executed_last(stmt);
        index -= index < before ? 0 : before;
    }
    Nest nest = {0};
    for (; stmt->kind == STMT_FORALL; stmt = stmt->body)
        nest.loops[nest.loop_count++] = stmt->var;
    nest.assign = stmt;
    return nest;
}

static const Stmt *nest_stmt(Arena *arena, const Nest *nest) {
    const Stmt *stmt = nest->assign;
    for (int i = nest->loop_count - 1; i >= 0; i--) {
        Stmt *forall = arena_new(arena, Stmt);
        forall->kind = STMT_FORALL;
        forall->var = nest->loops[i];
        forall->body = stmt;
        stmt = forall;
    }
    return stmt;
}

static const Stmt *with_nest(Arena *arena, const Stmt *stmt, int index, const Nest *nest) {
    if (stmt->kind != STMT_SEQUENCE && stmt->kind != STMT_WHERE)
        return nest_stmt(arena, nest);
    Stmt *copy = arena_copy(arena, stmt, sizeof *stmt);
    int before = stmt_nest_count(executed_first(stmt));
    bool in_first = (index < before) == (stmt->kind == STMT_SEQUENCE);
    const Stmt **part = in_first ? &copy->first : &copy->second;
    *part = with_nest(arena, *part, index < before ? index : index - before, nest);
    return copy;
}

void cin_set_nest(Cin *cin, int index, const Nest *nest) {
    cin->body = with_nest(cin->arena, cin->body, index, nest);
}

int nest_position(const Nest *nest, int var) {
    for (int i = 0; i < nest->loop_count; i++)
        if (nest->loops[i] == var)
            return i;
    return -1;
}

bool nest_has(const Nest *nest, int var) {
    return nest_position(nest, var) >= 0;
}

bool cin_share_nest(const Cin *cin, int a, int b) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        if (nest_has(&nest, a) && nest_has(&nest, b))
            return true;
    }
    return false;
}

int cin_var(const Cin *cin, const char *name) {
    for (int v = 0; v < cin->var_count; v++)
        if (strcmp(cin->vars[v].name, name) == 0)
            return v;
    return -1;
}

static bool stmt_binds(const Stmt *stmt, int var) {
    switch (stmt->kind) {
    case STMT_FORALL:
        return stmt->var == var || stmt_binds(stmt->body, var);
    case STMT_ASSIGN:
        return false;
    default:
        return stmt_binds(stmt->first, var) || stmt_binds(stmt->second, var);
    }
}

bool cin_is_loop(const Cin *cin, int var) {
    return stmt_binds(cin->body, var);
}

bool directive_is_about(const Directive *directive, int loop) {
    for (int i = 0; i < directive->loop_count; i++)
        if (directive->loops[i] == loop)
            return true;
    return false;
}

const Directive *cin_directive(const Cin *cin, DirectiveKind kind, int var) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->kind == kind && directive_is_about(cin->directives.items[d], var))
            return cin->directives.items[d];
    return NULL;
}

const Relation *cin_made_by(const Cin *cin, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (relation_children(cin->relations.items[r]) >> var & 1)
            return cin->relations.items[r];
    return NULL;
}

const Relation *cin_replaced_by(const Cin *cin, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (relation_parents(cin->relations.items[r]) >> var & 1)
            return cin->relations.items[r];
    return NULL;
}

RelationTerms cin_relation_terms(const Cin *cin, const Relation *relation) {
    RelationTerms terms = {.arena = cin->arena, .relation = relation};
    for (int p = 0; p < relation->kind->parents; p++)
        terms.parent[p] = cin->vars[relation->parent[p]].extent;
    for (int c = 0; c < relation->kind->children; c++)
        terms.child[c] = cin->vars[relation->child[c]].extent;
    return terms;
}

const char *const *cin_names(const Cin *cin) {
    const char **names = arena_array(cin->arena, const char *, MAX_VARS);
    for (int v = 0; v < cin->var_count; v++)
        names[v] = cin->vars[v].name;
    return names;
}
