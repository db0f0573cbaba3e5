// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"

static const Cin *pos(Scheduler *scheduler, const Command *command, const Cin *cin) {
    (void)cin;
    diagnostics_error(scheduler->diagnostics, command->span, "pos is not supported yet");
    return NULL;
}

const ScheduleCommand command_pos = {
    .name = "pos",
    .synopsis = "pos(i, p, B(i, ...))",
    .summary = "iterate the stored positions of B instead of the coordinates i (not supported yet)",
    .forms = {{"distal_pos",
               3,
               {{"the loop", TAKES_LOOP, false},
                {"the new loop", TAKES_NEW_LOOP, false},
                {"the access", TAKES_ACCESS, false}}}},
    .apply = pos,
};
