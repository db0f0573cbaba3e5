// SPDX-License-Identifier: BSD-3-Clause
#include "lower/leaf.h"

#include "lower/bounds.h"
#include "relation/balance.h"

#include <string.h>

typedef Array(Definition) DefinitionArray;
typedef Array(Guard) GuardArray;

// What bounds are made from, from the outermost loop inwards, and what they need, outwards.
typedef struct {
    const LeafSite *site;
    bool known[MAX_VARS];   // at the current depth; a variable once defined is known by its own name
    bool clamped[MAX_VARS]; // kept below their extents by the bounds so far
    bool used[MAX_VARS];    // by something further inside
    DefinitionArray definitions[MAX_VARS + 1]; // by number of loops around
    GuardArray guards[MAX_VARS + 1];
} LeafBuilder;

// `expr` with divisors of at least one: definitions precede the guard that checks whether a coordinate lies
// within a variable whose extent may be 0.
static const IntExpr *without_zero_divisors(Arena *arena, const IntExpr *expr) {
    if (!expr->left)
        return expr;
    const IntExpr *left = without_zero_divisors(arena, expr->left);
    const IntExpr *right = without_zero_divisors(arena, expr->right);
    if (expr->op == INT_MOD || expr->op == INT_FLOOR_DIV)
        right = int_at_least_one(arena, right);
    return int_op(arena, expr->op, left, right);
}

static bool has_unbounded(const LeafSite *site) {
    for (int v = 0; v < site->cin->var_count; v++)
        if (site->unbounded[v])
            return true;
    return false;
}

// Whether the value of the variable is loaded with the coordinates that a tensor stores, once those of its
// children are known.
static bool is_loaded(const LeafBuilder *builder, int var, const bool *loaded) {
    const Relation *relation = cin_replaced_by(builder->site->cin, var);
    return relation && !relation->kind->window &&
           (relation->kind->stored ? builder->known[relation->child[0]] : loaded[relation->child[0]]);
}

static void define(LeafBuilder *builder, int var, DefinitionArray *definitions) {
    const Cin *cin = builder->site->cin;
    const IntExpr *value = builder->known[var] ? NULL : bounds_recover(cin, var, builder->known);
    if (!value)
        return;
    if (has_unbounded(builder->site))
        value = without_zero_divisors(cin->arena, value);
    array_push(cin->arena, *definitions, (Definition){var, value});
    builder->known[var] = true;
}

// Variables whose values follow now are defined, children before parents; indices of what is loaded last.
static DefinitionArray define_known(LeafBuilder *builder) {
    const Cin *cin = builder->site->cin;
    DefinitionArray definitions = {0};
    bool loaded[MAX_VARS] = {false}, loads = false;
    // A parent that is no index is always older than its children.
    for (int v = cin->var_count - 1; v >= 0; v--) {
        loaded[v] = !builder->known[v] && is_loaded(builder, v, loaded);
        builder->known[v] |= loaded[v];
        loads |= loaded[v];
        if (!loads || !cin_is_index(cin, v))
            define(builder, v, &definitions);
    }
    for (int v = 0; v < cin->var_count; v++)
        define(builder, v, &definitions);
    return definitions;
}

// Adds what keeps the indices that are known now, and not kept by bounds of loops, within their modes.
static void guard_indices(LeafBuilder *builder, GuardArray *guards) {
    const Cin *cin = builder->site->cin;
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        const int parent = relation->parent[0];
        if (!relation->kind->window || !builder->known[parent] || builder->clamped[parent])
            continue;
        if (!bounds_index_starts(cin, relation))
            array_push(cin->arena, *guards, (Guard){int_const(cin->arena, -1), int_var(cin->arena, parent)});
        if (!bounds_index_ends(cin, relation))
            array_push(cin->arena, *guards, (Guard){int_var(cin->arena, parent), cin->vars[parent].extent});
        builder->clamped[parent] = true;
    }
}

// What keeps the parent of a relation within its extent, or, where parts differ in length, within the part.
static Guard guard_of(const Cin *cin, const Relation *relation) {
    const int parent = relation->parent[0];
    return relation->kind->balanced
               ? (Guard){int_var(cin->arena, relation->child[1]), balance_length(cin->arena, relation)}
               : (Guard){int_var(cin->arena, parent), cin->vars[parent].extent};
}

// Parents that became known and may lie beyond their extents.
static GuardArray guard_known(LeafBuilder *builder) {
    const Cin *cin = builder->site->cin;
    GuardArray guards = {0};
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        int parent = relation->parent[0];
        if (!relation->kind->partitions || !builder->known[parent] || builder->clamped[parent])
            continue;
        array_push(cin->arena, guards, guard_of(cin, relation));
        builder->clamped[parent] = true;
    }
    guard_indices(builder, &guards);
    return guards;
}

// Narrows the bounds of a loop to where the indices that it is the last to determine are within their modes.
// Loops over entries have other bounds; there guards keep the indices.
static void bound_indices(LeafBuilder *builder, LeafLoop *loop) {
    const Cin *cin = builder->site->cin;
    bool inside[MAX_VARS];
    if (leaf_sparse_tensor(builder->site))
        return;
    memcpy(inside, builder->known, sizeof inside);
    inside[loop->var] = true;
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        const int parent = relation->parent[0];
        if (relation->kind->window && !builder->known[parent] && bounds_is_recovered(cin, parent, inside) &&
            bounds_of_index(cin, relation, loop->var, builder->known, &loop->lower, &loop->upper))
            builder->clamped[parent] = true;
    }
}

// The parents that the bound of `var` clamps, before `var` is known.
static void mark_clamped(LeafBuilder *builder, int var) {
    const Cin *cin = builder->site->cin;
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (relation->kind->partitions && bounds_clamps(cin, relation->parent[0], var, builder->known))
            builder->clamped[relation->parent[0]] = true;
    }
}

static void use(LeafBuilder *builder, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        builder->used[expr->value] = true;
    if (expr->left)
        use(builder, expr->left);
    if (expr->right)
        use(builder, expr->right);
}

static void use_access(void *context, const Access *access) {
    LeafBuilder *builder = context;
    for (int m = 0; m < access->tensor->order; m++)
        builder->used[access->vars[m]] = true;
}

// Drops the definitions that nothing uses. Called from the innermost depth outwards.
static void keep_used(LeafBuilder *builder, DefinitionArray *definitions, const GuardArray *guards) {
    for (int64_t i = 0; i < guards->count; i++) {
        use(builder, guards->items[i].less);
        use(builder, guards->items[i].than);
    }
    bool keep[MAX_VARS] = {false};
    for (int64_t i = definitions->count - 1; i >= 0; i--) {
        keep[i] = builder->used[definitions->items[i].var];
        if (keep[i])
            use(builder, definitions->items[i].value);
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < definitions->count; i++)
        if (keep[i])
            definitions->items[kept++] = definitions->items[i];
    definitions->count = kept;
}

// Bounds, definitions and guards of the loops in this order, for what is inside of all of them.
static void bound_loops(LeafBuilder *builder, const Leaf *leaf, LeafLoop *loops) {
    const Cin *cin = builder->site->cin;
    builder->definitions[0] = define_known(builder);
    builder->guards[0] = guard_known(builder);
    for (int v = 0; v < cin->var_count; v++)
        if (builder->site->unbounded[v])
            array_push(cin->arena, builder->guards[0], (Guard){int_var(cin->arena, v), cin->vars[v].extent});
    for (int i = 0; i < leaf->loop_count; i++) {
        loops[i].lower = int_const(cin->arena, 0);
        loops[i].upper = bounds_upper(cin, loops[i].var, builder->known);
        bound_indices(builder, &loops[i]);
        mark_clamped(builder, loops[i].var);
        builder->known[loops[i].var] = true;
        builder->definitions[i + 1] = define_known(builder);
        builder->guards[i + 1] = guard_known(builder);
    }
}

// Once it is known what is used inside.
static void keep_bounds(LeafBuilder *builder, Leaf *leaf, LeafLoop *loops) {
    DefinitionArray *definitions = builder->definitions;
    const GuardArray *guards = builder->guards;
    for (int i = leaf->loop_count - 1; i >= 0; i--) {
        keep_used(builder, &definitions[i + 1], &guards[i + 1]);
        loops[i].definitions = definitions[i + 1].items;
        loops[i].definition_count = (int)definitions[i + 1].count;
        loops[i].guards = guards[i + 1].items;
        loops[i].guard_count = (int)guards[i + 1].count;
        use(builder, loops[i].lower);
        use(builder, loops[i].upper);
    }
    keep_used(builder, &definitions[0], &guards[0]);
    leaf->definitions = definitions[0].items;
    leaf->definition_count = (int)definitions[0].count;
    leaf->guards = guards[0].items;
    leaf->guard_count = (int)guards[0].count;
}

// The loops of the leaf in the order of execution: all of them commute, as they add to or store elements
// independently, so those of the call go innermost.
static int order_loops(const LeafSite *site, const BlasCall *call, LeafLoop *loops) {
    int order[MAX_VARS], count = 0, replaced = 0;
    VarSet of_call = 0;
    memcpy(order, site->loops, sizeof order);
    if (leaf_sparse_tensor(site) && !leaf_is_ordered(site))
        leaf_order_sparse(site, order);
    else if (!site->row && leaf_is_open(site))
        leaf_order(site, order);
    for (int d = 0; call && d < CALL_DIMS; d++)
        for (int i = 0; i < call_dim(call, d)->count; i++)
            of_call |= (VarSet)1 << call_dim(call, d)->loops[i];
    for (int i = 0; i < site->loop_count; i++)
        if (!(of_call >> order[i] & 1))
            loops[count++].var = order[i];
    for (int d = 0; call && d < CALL_DIMS; d++)
        for (int i = 0; i < call_dim(call, d)->count; i++, replaced++)
            loops[count + replaced].var = call_dim(call, d)->loops[i];
    return replaced;
}

static const Leaf *create_leaf(LeafBuilder *builder, const LeafSite *outer, const Stmt *stmt);

// Creates the leaves inside of this one, which have its loops around them.
static bool create_inside(LeafBuilder *builder, const Leaf *leaf, const Stmt *stmt, int nest,
                          const Leaf **to) {
    LeafSite site = *builder->site;
    site.nest = nest;
    site.inner = true;
    for (int l = 0; l < leaf->loop_count; l++) {
        site.outside[leaf->loops[l].var] = site.enclosing[leaf->loops[l].var] = true;
        site.atomic = site.atomic || leaf->loops[l].atomic;
    }
    // A row workspace is a thread's own, so updates of it need not be atomic.
    site.atomic = site.atomic && !site.assigns[nest + stmt->nest_count - 1]->lhs->tensor->around;
    memset(site.unbounded, 0, sizeof site.unbounded);
    LeafBuilder *inner = arena_copy(site.cin->arena, builder, sizeof *builder);
    *to = create_leaf(inner, &site, stmt);
    for (int v = 0; v < MAX_VARS; v++)
        builder->used[v] = builder->used[v] || inner->used[v];
    return *to != NULL;
}

static bool create_with_row(LeafBuilder *builder, Leaf *leaf, const Stmt *where, int nest) {
    const LeafSite *site = builder->site;
    const Leaf **fills = arena_array(site->cin->arena, const Leaf *, where->second->nest_count);
    const Stmt **parts = arena_array(site->cin->arena, const Stmt *, where->second->nest_count);
    int count = 0;
    // A sequence has its first statements on the left.
    const Stmt *stmt = where->second;
    for (; stmt->kind == STMT_SEQUENCE; stmt = stmt->first)
        parts[count++] = stmt->second;
    parts[count++] = stmt;
    for (leaf->row = 0; site->rows->items[leaf->row].where != where;)
        leaf->row++;
    leaf->fills = fills;
    while (count > 0) {
        stmt = parts[--count];
        if (!create_inside(builder, leaf, stmt, nest, &fills[leaf->fill_count++]))
            return false;
        nest += stmt->nest_count;
    }
    return create_inside(builder, leaf, where->first, nest, &leaf->reader);
}

static const Expr *with_row(Arena *arena, const Expr *expr, const Tensor *row, const Expr *by) {
    if (expr->kind == EXPR_ACCESS)
        return expr->access->tensor == row ? by : expr;
    Expr *copy = arena_copy(arena, expr, sizeof *expr);
    copy->left = expr->left ? with_row(arena, expr->left, row, by) : NULL;
    copy->right = expr->right ? with_row(arena, expr->right, row, by) : NULL;
    return copy;
}

// What is read in `stmt`, whose first nest is `nest`, with what fills rows in their place: loops around rows
// iterate over what that needs. Inside of these loops, variables may have other names than where it is read.
static const Expr *read_inside(const LeafSite *site, const Stmt *stmt, int nest) {
    while (stmt->kind == STMT_FORALL)
        stmt = stmt->body;
    if (stmt->kind == STMT_ASSIGN)
        return site->assigns[nest]->rhs;
    const bool where = stmt->kind == STMT_WHERE;
    const Stmt *before = where ? stmt->second : stmt->first, *after = where ? stmt->first : stmt->second;
    const Expr *filled = read_inside(site, before, nest);
    const Expr *expr = read_inside(site, after, nest + before->nest_count);
    if (where)
        return with_row(site->cin->arena, expr, stmt->row, filled);
    Expr *both = arena_new(site->cin->arena, Expr);
    *both = (Expr){.kind = EXPR_ADD, .span = filled->span, .left = filled, .right = expr};
    return both;
}

// Moves the loops of `stmt` that are not outside of the leaf into its site.
static const Stmt *take_loops(LeafSite *site, const Stmt *stmt) {
    site->loop_count = 0;
    site->row = NULL;
    for (; stmt->kind == STMT_FORALL; stmt = stmt->body)
        if (!site->outside[stmt->var])
            site->loops[site->loop_count++] = stmt->var;
    site->assign = site->assigns[site->nest + stmt->nest_count - 1];
    if (stmt->kind == STMT_WHERE) {
        Stmt *assign = arena_copy(site->cin->arena, site->assign, sizeof *site->assign);
        assign->rhs = read_inside(site, stmt, site->nest);
        site->assign = assign;
        site->row = stmt->row;
    }
    return stmt;
}

// An operand that is stored across the result: the variable along its stored elements indexes other elements
// of the result, and the other way round.
typedef struct {
    const Access *result, *found;
} AcrossSearch;

static void find_across(void *context, const Access *access) {
    AcrossSearch *search = context;
    const int along = access_contiguous_var(search->result), across = access_contiguous_var(access);
    if (!search->found && along >= 0 && across >= 0 && along != across &&
        access_vars(search->result) >> across & 1 && access_vars(access) >> along & 1)
        search->found = access;
}

// What is said of such an operand: that pass `transposes` copies it in blocks; "" where there is none.
static const char *describe_across(const LeafSite *site, const Leaf *leaf) {
    AcrossSearch search = {.result = site->assign->lhs};
    expr_accesses(site->assign->rhs, find_across, &search);
    for (int l = 0; l < leaf->loop_count; l++)
        if (!leaf->loops[l].distinct || !leaf->loops[l].permutable)
            return "";
    return search.found && leaf->loop_count > 1
               ? arena_printf(site->cin->arena, "; '%s' is stored across '%s': blocks are transposed",
                              search.found->tensor->name, site->assign->lhs->tensor->name)
               : "";
}

static const Leaf *create_leaf(LeafBuilder *builder, const LeafSite *outer, const Stmt *stmt) {
    const Cin *cin = outer->cin;
    LeafSite *site = arena_copy(cin->arena, outer, sizeof *outer);
    stmt = take_loops(site, stmt);
    builder->site = site;
    const BlasCall *call;
    const char *why;
    if (!leaf_choose_call(site, &call, &why))
        return NULL;
    Leaf *leaf = arena_new(cin->arena, Leaf);
    LeafLoop *loops = arena_array(cin->arena, LeafLoop, site->loop_count + 1);
    leaf->nest = site->nest + stmt->nest_count - 1;
    leaf->assign = site->assign;
    leaf->row = -1;
    leaf->loop_count = site->loop_count;
    leaf->loops = loops;
    leaf->call = call;
    leaf->why = why;
    leaf->sparse = leaf_sparse_tensor(site) != NULL;
    leaf->call_loops = order_loops(site, call, loops);
    if (leaf->sparse) {
        int order[MAX_VARS];
        for (int i = 0; i < leaf->loop_count; i++)
            order[i] = loops[i].var;
        if (leaf_is_ordered(site) && !leaf_check_order(site, order))
            return NULL;
        leaf->why = arena_printf(cin->arena, "%s%s", leaf->why, leaf_order_text(site));
        if (site->converted)
            leaf->why = arena_printf(cin->arena, "%s%s", leaf->why, site->converted);
        const Tensor *searched = leaf_searched(site, order);
        if (searched)
            leaf->why =
                arena_printf(cin->arena, "%s; '%s' is searched, as no order of the loops follows all tensors",
                             leaf->why, searched->name);
    }
    bound_loops(builder, leaf, loops);
    if (!leaf_parallelize(site, loops, leaf->loop_count, leaf->call))
        return NULL;
    if (!leaf->call && !leaf->sparse && !site->row)
        leaf->why = arena_printf(cin->arena, "%s%s", leaf->why, describe_across(site, leaf));
    if (site->row) {
        if (!create_with_row(builder, leaf, stmt, site->nest))
            return NULL;
    } else {
        use_access(builder, site->assign->lhs);
        expr_accesses(site->assign->rhs, use_access, builder);
        for (int64_t r = 0; r < cin->relations.count; r++)
            if (cin->relations.items[r]->kind->stored)
                builder->used[cin->relations.items[r]->child[0]] = true;
    }
    keep_bounds(builder, leaf, loops);
    return leaf;
}

const Leaf *leaf_create(const LeafSite *site, const Stmt *stmt) {
    LeafBuilder *builder = arena_new(site->cin->arena, LeafBuilder);
    memcpy(builder->known, site->outside, sizeof builder->known);
    return create_leaf(builder, site, stmt);
}

// The loop whose iterations are shared by threads, or units, with partial results; NULL where none is.
static const LeafLoop *loop_with_partials(const Leaf *leaf) {
    for (int l = 0; l < leaf->loop_count; l++)
        if (leaf->loops[l].partials)
            return &leaf->loops[l];
    return NULL;
}

bool leaf_has_partials(const Leaf *leaf) {
    return loop_with_partials(leaf);
}

int64_t leaf_copy_limit(const Leaf *leaf) {
    const LeafLoop *loop = loop_with_partials(leaf);
    return loop ? loop->copy_limit : 0;
}

void leaf_partial_loops(const Leaf *leaf, Transfer *transfer, Arena *arena) {
    PartialLoop *loops = arena_array(arena, PartialLoop, leaf->loop_count);
    int count = 0, inside = 0;
    bool warps = false;
    for (int l = 0; l < leaf->loop_count; l++) {
        inside += leaf->loops[l].unit == GPU_THREAD;
        warps = warps || leaf->loops[l].unit == GPU_WARP;
    }
    const int dims = warps ? 2 : inside;
    for (int l = 0; l < leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->loops[l];
        inside -= loop->unit == GPU_THREAD;
        const int dim = loop->unit == GPU_WARP ? 1 : inside;
        if (loop->partials && loop->unit != GPU_NONE)
            loops[count++] = (PartialLoop){loop->var, loop->unit,
                                           loop->unit == GPU_BLOCK ? 0 : loop_gpu_threads(dims, dim)};
    }
    transfer->partial_loop_count = count;
    transfer->partial_loops = loops;
}
