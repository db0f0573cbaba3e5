// SPDX-License-Identifier: BSD-3-Clause
#include "cli/balance.h"

#include "io/source_entries.h"

static bool read_entries(Session *session, const Tensor *tensor, const SourceSpec *source, Entries *entries) {
    const int64_t *params = session->pipeline->params;
    const int64_t limit = session->options->memory_limit > 0 ? session->options->memory_limit : INT64_MAX;
    int64_t extents[MAX_ORDER];
    for (int m = 0; m < tensor->order; m++)
        if (!int_eval(tensor->extents[m], params, NULL, &extents[m]))
            return false; // the program has been checked
    return source_entries(source, tensor->name, tensor->type, tensor->order, extents, limit, entries,
                          session->diagnostics);
}

bool session_balance(Session *session, const Bindings *bindings, BalanceGiven is_given, BalanceDivide divide,
                     void *context) {
    Pipeline *pipeline = session->pipeline;
    BalanceTaskArray tasks = {0};
    BoundariesArray *known = arena_new(session->arena, BoundariesArray);
    pipeline_balance_tasks(pipeline, session->arena, &tasks);
    Entries entries = {0};
    const Tensor *read = NULL;
    bool ok = true;
    for (int64_t i = 0; ok && i < tasks.count; i++) {
        const BalanceTask *task = &tasks.items[i];
        const Boundaries *boundaries = NULL;
        if (!is_given(session, task->tensor))
            continue;
        if (task->tensor != read) {
            entries_free(&entries);
            entries = (Entries){0};
            ok = read_entries(session, task->tensor, &bindings->sources[task->tensor->id], &entries);
            read = task->tensor;
        }
        ok = divide(context, task, ok ? &entries : NULL, &boundaries);
        if (ok)
            array_push(session->arena, *known, boundaries);
    }
    entries_free(&entries);
    pipeline->plan_options.boundaries = known;
    // A plan from before the launch has assumed other ones.
    if (known->count > 0 && pipeline->next > PASS_PLAN)
        pipeline->next = PASS_PLAN;
    return ok;
}
