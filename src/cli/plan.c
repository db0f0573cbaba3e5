// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/run.h"
#include "io/source_entries.h"

#include <string.h>

// What a sparse tensor stores when it is read from this source; its values are not kept.
static bool count_stored(Session *session, const Home *home, const SourceSpec *source) {
    const Tensor *tensor = home->tensor;
    StoredTensor stored = {.type = tensor->type, .order = tensor->order};
    memcpy(stored.extents, home->extents, sizeof stored.extents);
    memcpy(stored.levels, tensor->levels, sizeof stored.levels);
    memcpy(stored.mode_order, tensor->mode_order, sizeof stored.mode_order);
    Entries entries = {0};
    const int64_t limit = session->options->memory_limit > 0 ? session->options->memory_limit : INT64_MAX;
    bool ok = source_entries(source, tensor->name, tensor->type, tensor->order, home->extents, limit,
                             &entries, session->diagnostics);
    const char *why =
        ok ? stored_pack(&stored, &entries, limit - entries_bytes(&entries, entries.count), session->arena)
           : NULL;
    if (why)
        ok = diagnostics_error(session->diagnostics, (Span){0}, "tensor %s cannot be stored: %s",
                               tensor->name, why);
    if (ok)
        plan_count_stored(session->pipeline->plan, tensor->id, stored_count(&stored), stored_bytes(&stored));
    entries_free(&entries);
    stored_free(&stored);
    return ok;
}

// Reads the sparse inputs that --in gives; dense ones say nothing that a plan depends on.
static bool read_structures(Session *session) {
    Bindings bindings;
    if (!bindings_create(session, &bindings))
        return false;
    const Plan *plan = session->pipeline->plan;
    for (int64_t i = 0; i < session->options->inputs.count; i++)
        for (int t = 0; t < session->pipeline->program->tensor_count; t++)
            if (tensor_is_sparse(plan->tensors[t]) &&
                strcmp(plan->tensors[t]->name, session->options->inputs.items[i].tensor) == 0 &&
                !count_stored(session, &plan->homes[t], &bindings.sources[t]))
                return false;
    return true;
}

static ExitStatus plan(Session *session) {
    if (!session_compile(session, PASS_PLAN) || !read_structures(session))
        return session_failure(session);
    Text text = text_create(session->arena);
    if (session->options->stats == STATS_JSON)
        report_json(session->pipeline, NULL, &text);
    else
        report_table(session->pipeline, NULL, &text);
    const ExitStatus status = session_print(session, &text);
    return status == EXIT_FINE && !memory_within_limit(session, true) ? EXIT_FAILED : status;
}

const Subcommand subcommand_plan = {
    .name = "plan",
    .arguments = "FILE",
    .summary = "print messages and memory of each rank, without data and without MPI",
    .text =
        "Lists for each tensor the pattern of its communication, the loop at which it is communicated, the "
        "number of steps, the bytes and messages that a rank receives (for reductions: sends), and the bytes "
        "at home and in buffers; for each statement, flop and the peak memory of a rank. With --threads N "
        "the "
        "memory includes the copies of results that N threads add to (`parallelize` with `reduction`). What "
        "a sparse tensor stores is known where --in gives it; inputs of dense tensors are not read.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_IN | 1u << OPTION_STATS |
               1u << OPTION_MEMORY_LIMIT,
    .run = plan,
};
