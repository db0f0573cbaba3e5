// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

#include <string.h>

const char *const kernel_names[] = {"gemm", "gemv", "ger", "dot", "axpy", "blas", "loops"};
const char *const parallel_unit_names[] = {"cpu_thread", "cpu_vector", "gpu_block", "gpu_warp", "gpu_thread"};
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

// A variable that no loop has, for a number that is known with entries.
static int add_number(Cin *cin, const NewVar *of, const char *what) {
    const int var = cin->var_count++;
    cin->vars[var] = (IndexVar){.name = arena_printf(cin->arena, "%s_%s", of->name, what), .span = of->span};
    return var;
}

void cin_set_extents(Cin *cin, const Relation *relation) {
    const RelationKind *kind = relation->kind;
    const IntExpr *parents[2], *extents[2];
    for (int p = 0; p < kind->parents; p++)
        parents[p] = cin->vars[relation->parent[p]].extent;
    kind->extents(cin->arena, parents, relation->numbers, extents);
    if (kind->stored) {
        cin->vars[relation->count].extent = cin->vars[relation->begin].extent =
            cin->vars[relation->end].extent = extents[0];
        extents[0] = int_var(cin->arena, relation->count);
    }
    if (kind->balanced) {
        cin->vars[relation->longest].extent = cin->vars[relation->begin].extent =
            cin->vars[relation->length].extent = parents[0];
        extents[1] = int_var(cin->arena, relation->longest);
        if (relation->added)
            extents[1] = int_op(cin->arena, INT_ADD, extents[1], relation->added);
    }
    for (int c = 0; c < kind->children; c++)
        cin->vars[relation->child[c]].extent = extents[c];
}

void cin_derive(Cin *cin, Relation *relation, const NewVar *children) {
    const RelationKind *kind = relation->kind;
    bool ordered = false;
    for (int p = 0; p < kind->parents; p++)
        ordered = ordered || cin->ordered[relation->parent[p]];
    if (kind->stored) {
        relation->count = add_number(cin, &children[0], "count");
        relation->begin = add_number(cin, &children[0], "begin");
        relation->end = add_number(cin, &children[0], "end");
    }
    if (kind->balanced) {
        relation->longest = add_number(cin, &children[1], "longest");
        relation->begin = add_number(cin, &children[1], "begin");
        relation->length = add_number(cin, &children[1], "length");
    }
    for (int c = 0; c < kind->children; c++) {
        relation->child[c] = cin->var_count++;
        cin->vars[relation->child[c]] = (IndexVar){.name = children[c].name, .span = children[c].span};
        cin->ordered[relation->child[c]] = ordered;
    }
    cin_set_extents(cin, relation);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(cin->arena, cin->relations, arena_copy(cin->arena, relation, sizeof *relation));
}

void cin_add_directive(Cin *cin, Directive directive) {
    directive.at_relations = cin->relations.count;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(cin->arena, cin->directives, arena_copy(cin->arena, &directive, sizeof directive));
}

int cin_nest_count(const Cin *cin) {
    return cin->body->nest_count;
}

const Stmt *stmt_executed_first(const Stmt *stmt) {
    return stmt->kind == STMT_WHERE ? stmt->second : stmt->first;
}

const Stmt *stmt_executed_last(const Stmt *stmt) {
    return stmt->kind == STMT_WHERE ? stmt->first : stmt->second;
}

// The loops around the assignment with this number, or around the row workspace that it fills or reads.
static Nest path_to(const Cin *cin, int index, const Tensor *row) {
    const Stmt *stmt = cin->body;
    Nest nest = {0};
    while (stmt->kind != STMT_ASSIGN && !(row && stmt->row == row)) {
        if (stmt->kind == STMT_FORALL) {
            nest.loops[nest.loop_count++] = stmt->var;
            stmt = stmt->body;
            continue;
        }
        const int before = stmt_executed_first(stmt)->nest_count;
        stmt = index < before ? stmt_executed_first(stmt) : stmt_executed_last(stmt);
        index -= index < before ? 0 : before;
    }
    nest.assign = stmt;
    return nest;
}

Nest cin_nest(const Cin *cin, int index) {
    return path_to(cin, index, NULL);
}

VarSet cin_loops_around(const Cin *cin, int index, const Tensor *row) {
    const Nest nest = path_to(cin, index, row);
    VarSet loops = 0;
    for (int i = 0; i < nest.loop_count; i++)
        loops |= (VarSet)1 << nest.loops[i];
    return loops;
}

Nest *cin_nests(const Cin *cin) {
    Nest *nests = arena_array(cin->arena, Nest, cin_nest_count(cin));
    for (int n = 0; n < cin_nest_count(cin); n++)
        nests[n] = cin_nest(cin, n);
    return nests;
}

const Stmt *stmt_inside(Arena *arena, const Nest *nest, int first, int end, const Stmt *stmt) {
    for (int i = end - 1; i >= first; i--) {
        Stmt *forall = arena_new(arena, Stmt);
        *forall =
            (Stmt){.kind = STMT_FORALL, .var = nest->loops[i], .body = stmt, .nest_count = stmt->nest_count};
        stmt = forall;
    }
    return stmt;
}

// State of cin_set_nests: nests get new loops.
typedef struct {
    const Cin *cin;
    const Nest *nests;
    const char *why; // NULL while they fit the rows
} Rebuilding;

// Whether a row workspace with `around` is filled anew in each iteration of the loop, however far outside it
// is.
static bool must_be_around(const Cin *cin, VarSet around, int loop) {
    return around >> loop & 1 || cin_directive(cin, DIRECTIVE_DISTRIBUTE, loop) ||
           cin_directive(cin, DIRECTIVE_COMMUNICATE, loop);
}

// How many loops, from the outermost, are around the row workspace that the nests first ... first + count - 1
// fill and read.
static int loops_around(Rebuilding *rebuilding, const Tensor *row, int first, int count) {
    const Cin *cin = rebuilding->cin;
    const VarSet around = cin_derived(cin, row->around);
    const Nest *reader = &rebuilding->nests[first + count - 1];
    int end = 0, innermost = -1;
    for (int n = first; n < first + count; n++)
        for (int i = end; i < rebuilding->nests[n].loop_count; i++)
            if (must_be_around(cin, around, rebuilding->nests[n].loops[i])) {
                end = i + 1;
                innermost = rebuilding->nests[n].loops[i];
            }
    for (int n = first; n < first + count && !rebuilding->why; n++)
        for (int i = 0; i < end && !rebuilding->why; i++) {
            const Nest *nest = &rebuilding->nests[n];
            if (i < nest->loop_count && i < reader->loop_count && nest->loops[i] == reader->loops[i])
                continue;
            int loop = innermost;
            if (i < nest->loop_count && !must_be_around(cin, around, nest->loops[i]))
                loop = nest->loops[i];
            else if (i < reader->loop_count)
                loop = reader->loops[i];
            const char *name = cin->vars[loop].name;
            rebuilding->why =
                loop == innermost
                    ? arena_printf(
                          cin->arena,
                          "'%s' would be around the workspace '%s', but not all nests that fill and read it "
                          "have that loop",
                          name, row->name)
                    : arena_printf(
                          cin->arena,
                          "'%s' cannot be outside of '%s', around the workspace '%s': not all nests that "
                          "fill and read it have '%s'",
                          name, cin->vars[innermost].name, row->name, name);
        }
    return end;
}

// `stmt` with the loops of its nests, of which `index` is the first, from number `depth` on.
static const Stmt *rebuild(Rebuilding *rebuilding, const Stmt *stmt, int index, int depth) {
    while (stmt->kind == STMT_FORALL)
        stmt = stmt->body;
    const Nest *last = &rebuilding->nests[index + stmt->nest_count - 1];
    if (stmt->kind == STMT_ASSIGN)
        return stmt_inside(rebuilding->cin->arena, last, depth, last->loop_count, last->assign);
    const int around = stmt->row ? loops_around(rebuilding, stmt->row, index, stmt->nest_count) : depth;
    if (rebuilding->why)
        return stmt;
    const int inner = around > depth ? around : depth, second = index + stmt_executed_first(stmt)->nest_count;
    Stmt *copy = arena_copy(rebuilding->cin->arena, stmt, sizeof *stmt);
    const bool swapped = stmt->kind == STMT_WHERE;
    copy->first = rebuild(rebuilding, stmt->first, swapped ? second : index, inner);
    copy->second = rebuild(rebuilding, stmt->second, swapped ? index : second, inner);
    return stmt_inside(rebuilding->cin->arena, last, depth, inner, copy);
}

const char *cin_set_nests(Cin *cin, const Nest *nests) {
    Rebuilding rebuilding = {.cin = cin, .nests = nests};
    const Stmt *body = rebuild(&rebuilding, cin->body, 0, 0);
    if (!rebuilding.why)
        cin->body = body;
    return rebuilding.why;
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

VarSet cin_derived(const Cin *cin, VarSet vars) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (relation_parents(cin->relations.items[r]) & vars)
            vars |= relation_children(cin->relations.items[r]);
    return vars;
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

bool cin_is_index(const Cin *cin, int var) {
    const Relation *relation = cin_replaced_by(cin, var);
    return relation && relation->kind->window;
}

bool cin_positions_are_distributed(const Cin *cin, const Relation *relation) {
    const Relation *by = relation->kind->stored ? cin_replaced_by(cin, relation->child[0]) : NULL;
    return by && relation->access->first_level == 0 && (by->kind->divides || by->kind->balanced) &&
           cin_directive(cin, DIRECTIVE_DISTRIBUTE, by->child[0]);
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

static void find_gpu(void *context, const Access *access) {
    bool *found = context;
    *found = *found || (access->tensor->placement && access->tensor->placement->memory == MEMORY_GPU);
}

// Whether it distributes a loop onto a level of GPUs, or parallelizes one onto a part of a GPU.
static bool names_gpu(const Directive *directive) {
    if (directive->kind == DIRECTIVE_PARALLELIZE)
        return unit_is_of_gpu(directive->unit);
    return directive->kind == DIRECTIVE_DISTRIBUTE && directive->machine &&
           strcmp(machine_level_of(directive->machine, directive->dim)->name, "gpu") == 0;
}

const Assignment *cin_part(const Cin *cin, const Tensor *tensor) {
    int p = 0;
    while (p < cin->part_count && cin->parts[p]->lhs->tensor != tensor)
        p++;
    return p < cin->part_count ? cin->parts[p] : NULL;
}

bool cin_is_on_gpu(const Cin *cin) {
    bool found = false;
    find_gpu(&found, cin->assignment->lhs);
    expr_accesses(cin->assignment->rhs, find_gpu, &found);
    for (int64_t d = 0; d < cin->directives.count; d++)
        found = found || names_gpu(cin->directives.items[d]);
    return found;
}
