// SPDX-License-Identifier: BSD-3-Clause
#include "cli/balance.h"

#include "io/source_entries.h"

#include <string.h>

bool session_balance(Session *session, BalanceFind find, void *context) {
    Pipeline *pipeline = session->pipeline;
    BalanceTaskArray tasks = {0};
    BoundariesArray *known = arena_new(session->arena, BoundariesArray);
    pipeline_balance_tasks(pipeline, session->arena, &tasks);
    for (int64_t i = 0; i < tasks.count; i++) {
        const Boundaries *boundaries = NULL;
        session->failed = !find(context, &tasks.items[i], known, &boundaries);
        if (session->failed)
            return false;
        if (boundaries)
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(session->arena, *known, boundaries);
    }
    pipeline->plan_options.boundaries = known;
    // A plan from before the launch has assumed other ones.
    if (known->count > 0 && pipeline->next > PASS_PLAN)
        pipeline->next = PASS_PLAN;
    return true;
}

Entries session_no_entries(const Session *session, const Tensor *tensor) {
    Entries entries = {.type = tensor->type, .order = tensor->order};
    for (int m = 0; m < tensor->order; m++)
        if (!int_eval(tensor->extents[m], session->pipeline->params, NULL, &entries.extents[m]))
            entries.extents[m] = 0; // which the plan refuses
    return entries;
}

bool session_given_entries(Session *session, const Bindings *bindings, const Tensor *tensor, int64_t limit,
                           Entries *entries) {
    *entries = (Entries){0};
    bool given = false;
    for (int64_t i = 0; i < session->options->inputs.count; i++)
        given = given || strcmp(tensor->name, session->options->inputs.items[i].tensor) == 0;
    if (!given || !tensor_is_sparse(tensor))
        return true;
    const Entries none = session_no_entries(session, tensor);
    return source_entries(&bindings->sources[tensor->id], tensor->name, tensor->type, tensor->order,
                          none.extents, limit, entries, session->diagnostics);
}
