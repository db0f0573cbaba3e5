// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"

static const Cin *precompute(Scheduler *scheduler, const Command *command, const Cin *cin) {
    (void)cin;
    diagnostics_error(scheduler->diagnostics, command->span, "precompute is not supported yet");
    return NULL;
}

const ScheduleCommand command_precompute = {
    .name = "precompute",
    .synopsis = "precompute(EXPR, {i, ...}, {w, ...}, W)",
    .summary = "hoist a subexpression into workspace W (not supported yet)",
    .min_args = 4,
    .max_args = 4,
    .apply = precompute,
};
