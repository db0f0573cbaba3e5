// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

#include <string.h>

const char *const kernel_names[] = {"gemm", "gemv", "ger", "dot", "axpy", "blas", "loops"};
const char *const parallel_unit_names[] = {"cpu_thread", "cpu_vector"};
const char *const race_names[] = {"none", "atomic", "reduction", "temporary"};

Cin *cin_copy(const Cin *cin) {
    Cin *copy = arena_new(cin->arena, Cin);
    *copy = *cin;
    // Relations of its own: the array is replaced and appended to in place.
    copy->relations.capacity = cin->relations.count;
    copy->relations.items =
        arena_copy(cin->arena, cin->relations.items, sizeof(Relation *) * (size_t)cin->relations.count);
    return copy;
}

// Of the kinds that derive variables.
static const struct {
    int parents, children;
} arity[] = {[REL_SPLIT] = {1, 2},
             [REL_DIVIDE] = {1, 2},
             [REL_CYCLIC] = {1, 2},
             [REL_COLLAPSE] = {2, 1},
             [REL_ROTATE] = {1, 1}};

int relation_parents(const Relation *relation) {
    return relation->kind <= REL_ROTATE ? arity[relation->kind].parents : 0;
}

int relation_children(const Relation *relation) {
    return relation->kind <= REL_ROTATE ? arity[relation->kind].children : 0;
}

static VarSet set_of(const int *vars, int count) {
    VarSet set = 0;
    for (int i = 0; i < count; i++)
        set |= (VarSet)1 << vars[i];
    return set;
}

VarSet relation_parent_vars(const Relation *relation) {
    return set_of(relation->parent, relation_parents(relation));
}

VarSet relation_child_vars(const Relation *relation) {
    return set_of(relation->child, relation_children(relation));
}

VarSet relation_shift_vars(const Relation *relation) {
    return set_of(relation->vars, relation->kind == REL_ROTATE ? relation->var_count : 0);
}

bool relation_is_blocks(const Relation *relation) {
    return relation->kind == REL_SPLIT || relation->kind == REL_DIVIDE;
}

bool relation_is_partition(const Relation *relation) {
    return relation_is_blocks(relation) || relation->kind == REL_CYCLIC;
}

void cin_add_relation(Cin *cin, Relation relation) {
    bool ordered = false;
    for (int p = 0; p < relation_parents(&relation); p++)
        ordered = ordered || cin->ordered[relation.parent[p]];
    for (int c = 0; c < relation_children(&relation); c++)
        cin->ordered[relation.child[c]] = ordered;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(cin->arena, cin->relations, arena_copy(cin->arena, &relation, sizeof relation));
}

int cin_add_var(Cin *cin, const char *name, Span span, const IntExpr *extent) {
    cin->vars[cin->var_count] = (IndexVar){.name = name, .span = span, .extent = extent};
    return cin->var_count++;
}

int stmt_nest_count(const Stmt *stmt) {
    return stmt->kind == STMT_SEQUENCE || stmt->kind == STMT_WHERE ? stmt->nest_count : 1;
}

int cin_nest_count(const Cin *cin) {
    return stmt_nest_count(cin->body);
}

// A where statement executes its second part, which fills the workspace, first.
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

bool nest_sums_over(const Nest *nest, int var) {
    return !(access_vars(nest->assign->lhs) >> var & 1);
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

const Relation *cin_relation(const Cin *cin, RelationKind kind, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind != kind)
            continue;
        int count = kind == REL_SUBSTITUTE ? relation->var_count : relation->var_count > 0;
        for (int i = 0; i < count; i++)
            if (relation->vars[i] == var)
                return relation;
    }
    return NULL;
}

const Relation *cin_made_by(const Cin *cin, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        for (int c = 0; c < relation_children(cin->relations.items[r]); c++)
            if (cin->relations.items[r]->child[c] == var)
                return cin->relations.items[r];
    return NULL;
}

const Relation *cin_replaced_by(const Cin *cin, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        for (int p = 0; p < relation_parents(cin->relations.items[r]); p++)
            if (cin->relations.items[r]->parent[p] == var)
                return cin->relations.items[r];
    return NULL;
}

const char *const *cin_names(const Cin *cin) {
    const char **names = arena_array(cin->arena, const char *, MAX_VARS);
    for (int v = 0; v < cin->var_count; v++)
        names[v] = cin->vars[v].name;
    return names;
}
