// SPDX-License-Identifier: BSD-3-Clause
#include "model.h"

#include "base/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MARKS = 1 << 27 };

typedef struct {
    const StatementPlan *plan;
    const Transfer *transfer;
    const SpmdNest *nest;
    const char *why;
    Arena *arena;
    int64_t extents[MAX_VARS];
    bool known[MAX_VARS]; // variables that the nest has
    int64_t value[MAX_VARS];
    int64_t length[MAX_VARS];  // of the part that the value is in
    int64_t longest[MAX_VARS]; // of parts of different lengths, by the variable that stands for it
    int64_t iterations, steps, elements;
    bool *marks; // by rank, step and element: touched
    bool *home;  // by element, of one rank
} Model;

// A nest has the variables of its accesses, and those around the row workspaces that it reads.
static void name_vars(Model *model, VarSet vars) {
    for (int v = 0; v < MAX_VARS; v++)
        if (vars >> v & 1)
            model->known[v] = true;
}

static void name_access(void *context, const Access *access) {
    name_vars(context, access_vars(access));
}

static bool is_determined(const Cin *cin, VarSet loops, int var) {
    const Relation *relation = cin_replaced_by(cin, var);
    bool all = relation && relation->kind->children > 0;
    for (int c = 0; all && c < relation->kind->children; c++)
        all = is_determined(cin, loops, relation->child[c]);
    return all || loops >> var & 1;
}

// A nest that fills a row workspace is inside of loops of those that read it.
static void name_outer(Model *model, int nest) {
    const Cin *cin = model->plan->spmd->cin;
    const VarSet loops = cin_loops_around(cin, nest, NULL);
    for (int v = 0; v < cin->var_count; v++)
        model->known[v] = model->known[v] || (cin->vars[v].source && is_determined(cin, loops, v));
}

// The value of an index of variables that the nest has; false where it is outside of its mode.
static bool find_index(Model *model, const Relation *relation) {
    const AffineIndex *index = relation->affine;
    const int parent = relation->parent[0];
    int64_t value = 0, coefficient;
    bool ok = int_eval(index->constant, model->plan->params, NULL, &value);
    for (int i = 0; i < index->count; i++) {
        if (!model->known[index->vars[i]])
            return true; // of another nest
        ok = ok && int_eval(index->coefficients[i], model->plan->params, NULL, &coefficient);
        value += ok ? coefficient * model->value[index->vars[i]] : 0;
    }
    model->value[parent] = value;
    return ok && value >= 0 && value < model->extents[parent];
}

static int64_t start_of(const Model *model, const BalancedLevel *balanced, int64_t part) {
    int64_t start = 0;
    int_eval(balanced->starts[part], model->plan->params, NULL, &start);
    return start;
}

// The part that the value of the parent is in, and the place there: of boundaries that are listed, or of
// lengths that differ by one at most, the longer ones first.
static void find_part(Model *model, const Relation *relation) {
    const BalancedLevel *balanced = relation->balanced;
    const int64_t parts = model->extents[relation->child[0]], at = model->value[relation->parent[0]];
    const int64_t all = model->length[relation->parent[0]], each = all / parts, longer = all % parts;
    int64_t part = 0, start = 0, length = 0;
    for (int64_t p = 0; p < parts; p++) {
        const bool listed = balanced->division.levels[balanced->level].balance == BALANCE_LISTED;
        const int64_t from = listed ? start_of(model, balanced, p) : start + length;
        const int64_t count = listed ? start_of(model, balanced, p + 1) - from : each + (p < longer);
        if (from > at)
            break;
        part = p;
        start = from;
        length = count;
    }
    model->value[relation->child[0]] = part;
    model->value[relation->child[1]] = at - start;
    model->length[relation->child[1]] = length;
}

// The length of the longest part.
static int64_t longest_part(const Model *model, const Relation *relation) {
    const BalancedLevel *balanced = relation->balanced;
    int64_t parts = 1, most = 0;
    int_eval(relation->numbers[0], model->plan->params, NULL, &parts);
    if (balanced->division.levels[balanced->level].balance != BALANCE_LISTED)
        return ceil_div(model->extents[relation->parent[0]], parts);
    for (int64_t p = 0; p < parts; p++)
        most = max_i64(most, start_of(model, balanced, p + 1) - start_of(model, balanced, p));
    return most;
}

// The values of all derived variables, from those of the source variables. False where there is no iteration.
static bool derive(Model *model) {
    const Cin *cin = model->plan->spmd->cin;
    int64_t *value = model->value;
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        const int parent = relation->parent[0], *child = relation->child;
        if (relation->affine) {
            if (!find_index(model, relation))
                return false;
            continue;
        }
        if (!model->known[parent])
            continue;
        for (int c = 0; c < relation->kind->children; c++)
            model->known[child[c]] = true;
        if (relation->kind == &relation_collapse) {
            value[child[0]] =
                value[parent] * model->extents[relation->parent[1]] + value[relation->parent[1]];
        } else if (relation->kind == &relation_rotate) {
            int64_t rotated = value[parent];
            for (int i = 0; i < relation->operand_count; i++)
                rotated -= value[relation->operands[i]];
            value[child[0]] = floor_mod(rotated, model->extents[parent]);
        } else if (relation->kind == &relation_cyclic) {
            const int64_t size = model->extents[child[0]];
            int64_t block = 1;
            int_eval(relation->numbers[0], model->plan->params, NULL, &block);
            value[child[0]] = value[parent] / block % size;
            value[child[1]] = value[parent] / block / size * block + value[parent] % block;
        } else if (relation->kind == &relation_balance) {
            find_part(model, relation);
        } else {
            const int64_t block = model->extents[child[1]];
            value[child[0]] = value[parent] / block;
            value[child[1]] = value[parent] % block;
            model->length[child[1]] = min_i64(block, model->length[parent] - value[parent] / block * block);
        }
    }
    return true;
}

// The processor that executes the point; -1 where none does.
static int64_t find_processor(const Model *model) {
    const StatementPlan *plan = model->plan;
    int64_t coordinates[MAX_MACHINE_ORDER] = {0};
    for (int d = 0; d < plan->spmd->dim_count; d++) {
        int var = model->nest->coordinates[d];
        if (var >= 0)
            coordinates[d] = model->value[var];
        else if (!int_eval(model->nest->fixed[d], plan->params, NULL, &coordinates[d]))
            return -1;
        if (coordinates[d] < 0 || coordinates[d] >= plan->grid.extents[d])
            return -1;
    }
    return grid_index(&plan->grid, coordinates);
}

static int64_t element_of(const Home *home, const int64_t *coordinates) {
    int64_t element = 0;
    for (int m = 0; m < home->order; m++)
        element = element * home->extents[m] + coordinates[m];
    return element;
}

static void mark_point(Model *model) {
    if (!derive(model))
        return;
    const Transfer *transfer = model->transfer;
    const Home *home = &model->plan->homes[transfer->access->tensor->id];
    int64_t processor = find_processor(model), iteration = 0, coordinates[MAX_ORDER];
    if (processor < 0) {
        model->why = "an iteration is executed by no processor";
        return;
    }
    for (int l = 0; l < transfer->loop_count; l++)
        iteration = iteration * model->extents[transfer->loops[l]] + model->value[transfer->loops[l]];
    int64_t rank = processor / model->plan->per_rank;
    int64_t step = processor % model->plan->per_rank * model->iterations + iteration;
    for (int i = -1; i < transfer->near_count; i++) {
        const Access *access = i < 0 ? transfer->statement_access : transfer->near[i];
        for (int m = 0; m < home->order; m++)
            coordinates[m] = model->value[access->vars[m]];
        model->marks[(rank * model->steps + step) * model->elements + element_of(home, coordinates)] = true;
    }
}

// All points of the variables from `var` on.
static void mark_points(Model *model, int var) {
    const Cin *cin = model->plan->spmd->cin;
    while (var < cin->var_count && (!cin->vars[var].source || !model->known[var]))
        var++;
    if (var == cin->var_count) {
        mark_point(model);
        return;
    }
    for (int64_t i = 0; i < model->extents[var] && !model->why; i++) {
        model->value[var] = i;
        model->length[var] = model->extents[var];
        mark_points(model, var + 1);
    }
}

static void mark_rect(Model *model, const Home *home, const Rect *rect, int mode, int64_t *coordinates) {
    if (mode == home->order) {
        model->home[element_of(home, coordinates)] = true;
        return;
    }
    for (int64_t position = 0; position < rect_count(rect, mode); position++) {
        coordinates[mode] = positions_at(rect_mode(rect, mode), position);
        mark_rect(model, home, rect, mode + 1, coordinates);
    }
}

static void mark_home(Model *model, int64_t rank) {
    const Home *home = &model->plan->homes[model->transfer->access->tensor->id];
    const Region own = home_pieces(home, rank, model->arena);
    const RectArray *rects = &own.rects;
    int64_t coordinates[MAX_ORDER];
    memset(model->home, 0, (size_t)model->elements);
    for (int64_t i = 0; i < rects->count; i++)
        mark_rect(model, home, &rects->items[i], 0, coordinates);
}

// How many ranks have each element at home.
static int64_t *count_owners(Model *model) {
    int64_t *owners = arena_array(model->arena, int64_t, model->elements + 1);
    for (int64_t rank = 0; rank < model->plan->ranks; rank++) {
        mark_home(model, rank);
        for (int64_t e = 0; e < model->elements; e++)
            owners[e] += model->home[e];
    }
    return owners;
}

// What a rank reads and lacks; what it still has from the step before is not brought again.
static int64_t fetched(const Model *model, int64_t rank) {
    int64_t count = 0;
    for (int64_t step = 0; step < model->steps; step++) {
        const bool *marks = model->marks + (rank * model->steps + step) * model->elements;
        if (step > 0 && memcmp(marks, marks - model->elements, (size_t)model->elements) == 0)
            continue;
        for (int64_t e = 0; e < model->elements; e++)
            count += marks[e] && !model->home[e];
    }
    return count;
}

// Partial results that have an owner other than the rank.
static int64_t reduced(const Model *model, int64_t rank, const int64_t *owners) {
    int64_t count = 0;
    for (int64_t step = 0; step < model->steps; step++)
        for (int64_t e = 0; e < model->elements; e++)
            count += model->marks[(rank * model->steps + step) * model->elements + e] &&
                     !(owners[e] == 1 && model->home[e]);
    return count;
}

// Whether the plan may bring more than what is read: where two indices of several variables limit these
// together; and of a tensor without a placement, the box around a diagonal or what one index limits. What
// takes the place of what is there is neither.
static bool is_bounded(const Model *model) {
    if (model->transfer->replaces)
        return false;
    const Cin *cin = model->plan->spmd->cin;
    const Access *access = model->transfer->statement_access;
    int several = access->tensor->placement ? 0 : access_is_diagonal(access) ? 2 : 1;
    for (int64_t r = 0; r < cin->relations.count; r++)
        several += cin->relations.items[r]->affine && cin->relations.items[r]->operand_count > 1;
    return several > 1;
}

static void compare(Model *model, const TransferFigures *planned) {
    const Tensor *tensor = model->transfer->access->tensor;
    const int64_t *owners = count_owners(model);
    for (int64_t rank = 0; rank < model->plan->ranks && !model->why; rank++) {
        mark_home(model, rank);
        int64_t count =
            model->transfer->kind == TRANSFER_FETCH ? fetched(model, rank) : reduced(model, rank, owners);
        int64_t bytes = count * (int64_t)type_info(tensor->type)->size, plan = planned->bytes[rank];
        if ((is_bounded(model) || tensor_is_sparse(tensor)) ? plan >= bytes : plan == bytes)
            continue;
        model->why = arena_printf(
            model->arena,
            "transfer %d of %s: rank %" PRId64 " %s %" PRId64 " bytes, counted by elements %" PRId64,
            model->transfer->id, tensor->name, rank,
            model->transfer->kind == TRANSFER_FETCH ? "receives" : "sends", plan, bytes);
    }
}

// The extents of all variables; those of parts of different lengths follow from the variables before them.
static void find_extents(Model *model) {
    const StatementPlan *plan = model->plan;
    const Cin *cin = plan->spmd->cin;
    for (int v = 0; v < cin->var_count; v++) {
        for (int64_t r = 0; r < cin->relations.count; r++)
            if (cin->relations.items[r]->kind == &relation_balance && cin->relations.items[r]->longest == v)
                model->longest[v] = longest_part(model, cin->relations.items[r]);
        if (!int_eval(cin->vars[v].extent, plan->params, model->longest, &model->extents[v]))
            model->why = "an extent cannot be evaluated";
    }
}

static void check_transfer(Model *model, const TransferFigures *planned) {
    const StatementPlan *plan = model->plan;
    model->transfer = planned->transfer;
    model->nest = &plan->spmd->nests[planned->transfer->nest];
    memset(model->known, 0, sizeof model->known);
    name_vars(model, access_vars(model->nest->assign->lhs));
    expr_accesses(model->nest->assign->rhs, name_access, model);
    name_outer(model, planned->transfer->nest);
    find_extents(model);
    model->iterations = 1;
    for (int l = 0; l < planned->transfer->loop_count; l++)
        model->iterations *= model->extents[planned->transfer->loops[l]];
    const Home *home = &plan->homes[planned->transfer->access->tensor->id];
    Rect whole = rect_whole(home->order, home->extents);
    model->steps = model->iterations * plan->per_rank;
    model->elements = rect_volume(&whole);
    int64_t count = model->steps * model->elements * plan->ranks;
    if (model->why || count == 0 || count > MAX_MARKS)
        return;
    model->marks = calloc((size_t)count, sizeof(bool));
    model->home = calloc((size_t)model->elements, sizeof(bool));
    if (model->marks && model->home) {
        mark_points(model, 0);
        if (!model->why)
            compare(model, planned);
    }
    free(model->marks);
    free(model->home);
}

const char *model_check(const StatementPlan *plan, Arena *arena) {
    Model *model = arena_new(arena, Model);
    model->plan = plan;
    model->arena = arena;
    for (int t = 0; t < plan->spmd->transfer_count && !model->why; t++)
        check_transfer(model, &plan_figures(plan)->transfers[t]);
    return model->why;
}
