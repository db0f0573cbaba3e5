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
    .summary = "print who sends what to whom, without data and without MPI",
    .text =
        "For each tensor: the pattern of its communication, the loop where that happens, steps, bytes and "
        "messages\n"
        "that a rank receives (for `reduce`: sends), bytes at home and in buffers; and the peak of each "
        "rank.\n"
        "Threads that add to copies of their own (`parallelize` with `reduction`) count as --threads says, "
        "without it\n"
        "as one.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_STATS | 1u << OPTION_MEMORY_LIMIT,
    .run = plan,
};
