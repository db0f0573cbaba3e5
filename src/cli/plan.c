// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report.h"
#include "cli/session.h"

ExitStatus command_plan(Session *session) {
    if (!session_compile(session, PASS_PLAN))
        return session_failure(session);
    Text text = text_create(session->arena);
    if (session->options->stats == STATS_JSON)
        report_json(session->pipeline, NULL, &text);
    else
        report_table(session->pipeline, NULL, &text);
    return session_print(session, &text);
}
