// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/place.h"

#include "base/integer.h"
#include "lower/lower.h"

#include <string.h>

enum { LEAST_GAIN = 10, MOST_PLACES = 8, WORK_LIMIT = 20000, MOST_RANKS = 256 };

static void find_unfit(void *context, const Access *access) {
    const Tensor *tensor = access->tensor;
    if (tensor_is_sparse(tensor) || (tensor->order > 0 && !tensor->placement))
        *(bool *)context = true;
}

static bool is_distributed(const Cin *cin) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->kind == DIRECTIVE_DISTRIBUTE)
            return true;
    return false;
}

static bool is_known(const Cin *cin) {
    bool unfit = false;
    find_unfit(&unfit, cin->assignment->lhs);
    expr_accesses(cin->assignment->rhs, find_unfit, &unfit);
    return !unfit && !is_distributed(cin);
}

static bool is_same(const DefaultPlace *a, const DefaultPlace *b) {
    const size_t bytes = sizeof(int) * (size_t)a->count;
    return a->count == b->count && memcmp(a->vars, b->vars, bytes) == 0 &&
           memcmp(a->dims, b->dims, bytes) == 0 &&
           placement_equal(a->access->tensor->placement, b->access->tensor->placement);
}

// The processors that have iterations.
static int64_t processors(const DefaultPlace *place, const Cin *cin, const int64_t *params) {
    int64_t count = 1;
    for (int i = 0; i < place->count; i++) {
        int64_t size = 1, extent = 1;
        int_eval(place->access->tensor->placement->machine->extents[place->dims[i]], params, NULL, &size);
        int_eval(cin->vars[place->vars[i]].extent, params, NULL, &extent);
        count = saturated_mul(count, min_i64(size, extent));
    }
    return count;
}

// A plan without statements, for the homes of all tensors with the current params. NULL where it cannot be
// made, and for more than MOST_RANKS ranks, whose figures would take most of the time of planning.
static const Plan *find_homes(Pipeline *pipeline, Diagnostics *diagnostics) {
    const Program *program = pipeline->program;
    const size_t size = sizeof(int64_t) * (size_t)max_i64(program->param_count, 1);
    const int64_t natural =
        plan_natural_ranks(program->machine_count, program->machines, 0, NULL, pipeline->params);
    const int64_t ranks = pipeline->ranks > 0 ? pipeline->ranks : natural;
    HomesPlan *homes = &pipeline->homes;
    if (ranks > MOST_RANKS)
        return NULL;
    if (homes->params && homes->workspaces == pipeline->scheduler.workspaces.count &&
        homes->params[0] == ranks &&
        memcmp(homes->params + 1, pipeline->params + 1, size - sizeof(int64_t)) == 0)
        return homes->plan;
    arena_free(homes->arena);
    *homes = (HomesPlan){0};
    Arena *arena = homes->arena = arena_create_within(pipeline->arena);
    int count;
    const Tensor *const *tensors = pipeline_tensors(pipeline, arena, &count);
    int64_t *params = arena_copy(arena, pipeline->params, size);
    params[0] = ranks;
    const PlanOptions options = {
        .ranks = ranks, .work_limit = WORK_LIMIT, .untiled = true, .largest = natural};
    const Plan *plan = plan_create(arena, count, tensors, 0, NULL, params, options, diagnostics);
    // Last, as memory may run out before.
    *homes = (HomesPlan){
        .arena = arena, .plan = plan, .params = params, .workspaces = pipeline->scheduler.workspaces.count};
    return plan;
}

// What moves in an execution; -1: not known.
static int64_t moved_bytes(Pipeline *pipeline, const Cin *cin, Arena *arena) {
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){0});
    const Plan *homes = find_homes(pipeline, diagnostics);
    const int64_t *params = pipeline->homes.params;
    const Spmd *spmd = homes ? lower(cin, params, diagnostics) : NULL;
    const StatementPlan *plan = spmd ? plan_with_homes(homes, spmd, params, arena, diagnostics) : NULL;
    if (!plan)
        return -1;
    const TransferFigures *figures = plan_transfer_figures(plan);
    int64_t bytes = 0;
    for (int t = 0; t < spmd->transfer_count; t++)
        for (int64_t rank = 0; rank < plan->ranks; rank++)
            bytes = saturated_add(bytes, figures[t].bytes[rank]);
    return bytes;
}

PlaceChoice place_choose(Pipeline *pipeline, const Cin *cin) {
    PlaceChoice choice = {0};
    DefaultPlace places[MOST_PLACES];
    int count = 0;
    if (!is_known(cin))
        return choice;
    for (int index = 0; count < MOST_PLACES; index++) {
        places[count] = schedule_place(cin->assignment, index);
        if (!places[count].access)
            break;
        bool is_new = true;
        for (int i = 0; i < count; i++)
            is_new = is_new && !is_same(&places[i], &places[count]);
        count += is_new;
    }
    if (count < 2)
        return choice;
    // On copies, of which nothing is kept.
    Arena *arena = arena_create_within(pipeline->arena);
    Cin copy = *cin;
    copy.arena = arena;
    const Cin *first = schedule_defaults(&copy);
    choice.first = places[0].access;
    choice.first_bytes = choice.best_bytes = is_distributed(first) ? moved_bytes(pipeline, first, arena) : -1;
    const int64_t least = processors(&places[0], cin, pipeline->params);
    for (int i = 1; i < count && choice.first_bytes > pipeline->least_bytes; i++) {
        if (processors(&places[i], cin, pipeline->params) < least)
            continue;
        const Cin *other = schedule_at(&copy, places[i].access);
        const int64_t bytes = other ? moved_bytes(pipeline, other, arena) : -1;
        if (bytes < 0 || bytes >= choice.best_bytes || bytes > choice.first_bytes / LEAST_GAIN)
            continue;
        choice.best = places[i].access;
        choice.best_bytes = bytes;
    }
    arena_free(arena);
    return choice;
}
