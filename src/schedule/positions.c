// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/positions.h"

#include "index/presence.h"
#include "schedule/transform.h"

#include <string.h>

bool positions_collapsed_from(const Cin *cin, int var, int *vars, int *count) {
    if (cin->vars[var].source) {
        vars[(*count)++] = var;
        return true;
    }
    const Relation *relation = cin_made_by(cin, var);
    return relation->kind == &relation_collapse &&
           positions_collapsed_from(cin, relation->parent[0], vars, count) &&
           positions_collapsed_from(cin, relation->parent[1], vars, count);
}

PositionsFit positions_fit(const Access *access, const int *vars, int count, StoredAccess *stored,
                           int *level) {
    const Tensor *tensor = access->tensor;
    int first = 0;
    while (first < tensor->order && access->vars[tensor->mode_order[first]] != vars[0])
        first++;
    for (int v = 0; v < count; v++)
        if (first + v >= tensor->order || access->vars[tensor->mode_order[first + v]] != vars[v])
            return POSITIONS_IN_ANOTHER_ORDER;
    *stored = (StoredAccess){.name = tensor->name,
                             .tensor = tensor->id,
                             .order = tensor->order,
                             .first_level = first,
                             .last_level = first + count - 1,
                             .outermost = vars[0]};
    memcpy(stored->vars, access->vars, sizeof stored->vars);
    memcpy(stored->modes, tensor->mode_order, sizeof(int) * (size_t)tensor->order);
    stored->repeats = tensor->levels[stored->last_level].nonunique;
    for (*level = first; *level <= stored->last_level; ++*level) {
        const LevelFormat *format = tensor->levels[*level].format;
        if (*level == stored->last_level && format->full)
            return POSITIONS_ARE_COORDINATES;
        if (!format->search_above)
            return POSITIONS_WITHOUT_LIST;
    }
    return POSITIONS_FIT;
}

bool positions_required(const Expr *expr, ElementType type, const Access *access) {
    switch (expr_presence(expr, type)) {
    case PRESENT_STORED:
        return access_equal(expr->access, access);
    case PRESENT_LEFT:
        return positions_required(expr->left, type, access);
    case PRESENT_RIGHT:
        return positions_required(expr->right, type, access);
    case PRESENT_BOTH:
        return positions_required(expr->left, type, access) || positions_required(expr->right, type, access);
    case PRESENT_EITHER:
        return positions_required(expr->left, type, access) && positions_required(expr->right, type, access);
    default:
        return false;
    }
}

typedef struct {
    const Cin *cin;
    Nest nest;
    int loop;
    int vars[MAX_VARS], count;
    StoredAccess *found;
} Search;

// Whether the loops over the levels above are outside of the loop.
static bool is_inside(const Search *search, const Access *access, int first_level) {
    VarSet above = 0;
    for (int l = 0; l < first_level; l++)
        above |= (VarSet)1 << access->vars[access->tensor->mode_order[l]];
    above = cin_derived(search->cin, above);
    for (int i = nest_position(&search->nest, search->loop); i < search->nest.loop_count; i++)
        if (above >> search->nest.loops[i] & 1)
            return false;
    return true;
}

static void find_access(void *context, const Access *access) {
    Search *search = context;
    StoredAccess stored;
    int level;
    if (search->found ||
        positions_fit(access, search->vars, search->count, &stored, &level) != POSITIONS_FIT ||
        stored.repeats || !is_inside(search, access, stored.first_level) ||
        !positions_required(search->nest.assign->rhs, assignment_type(search->cin->assignment), access))
        return;
    search->found = arena_copy(search->cin->arena, &stored, sizeof stored);
}

// Directives about one loop are about another in its place.
static void rename_loop(Cin *cin, int old, int new) {
    for (int64_t d = 0; d < cin->directives.count; d++) {
        Directive *copy = arena_copy(cin->arena, cin->directives.items[d], sizeof *copy);
        for (int i = 0; i < copy->loop_count; i++)
            copy->loops[i] = copy->loops[i] == old ? new : copy->loops[i];
        cin->directives.items[d] = copy;
    }
}

static const Cin *iterate_positions(const Cin *cin, const Relation *collapsed) {
    Search search = {.cin = cin, .nest = cin_nest(cin, 0), .loop = collapsed->child[0]};
    if (!nest_has(&search.nest, search.loop) || cin->var_count + POSITION_VARS > MAX_VARS ||
        cin_directive(cin, DIRECTIVE_DISTRIBUTE, search.loop) ||
        cin_directive(cin, DIRECTIVE_COMMUNICATE, search.loop) ||
        !positions_collapsed_from(cin, search.loop, search.vars, &search.count))
        return cin;
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (relation_operands(cin->relations.items[r]) >> search.loop & 1)
            return cin;
    expr_accesses(search.nest.assign->rhs, find_access, &search);
    if (!search.found)
        return cin;
    Cin *result = cin_copy(cin);
    Relation relation = {
        .kind = &relation_pos, .span = collapsed->span, .parent = {search.loop}, .access = search.found};
    const NewVar name = transform_fresh_var(cin, cin->vars[search.loop].name, 'p', collapsed->span);
    transform_derive(result, &relation, &name);
    rename_loop(result, search.loop, relation.child[0]);
    return result;
}

const Cin *schedule_positions(const Cin *cin) {
    const int64_t count = cin->relations.count;
    for (int64_t r = 0; r < count && cin_nest_count(cin) == 1; r++)
        if (cin->relations.items[r]->kind == &relation_collapse)
            cin = iterate_positions(cin, cin->relations.items[r]);
    return cin;
}
