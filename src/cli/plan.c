// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/report.h"

static ExitStatus plan(Session *session) {
    if (!session_compile(session, PASS_PLAN))
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
        "memory includes the copies of results that N threads add to (`parallelize` with `reduction`).",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_STATS | 1u << OPTION_MEMORY_LIMIT,
    .run = plan,
};
