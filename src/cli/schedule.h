// SPDX-License-Identifier: BSD-3-Clause
// Placements and schedules that are chosen: printed by `schedule`, executed by `run --auto`.
#ifndef DISTAL_CLI_SCHEDULE_H
#define DISTAL_CLI_SCHEDULE_H

#include "choose/choose.h"
#include "cli/session.h"

// With --auto: the program of the session becomes the one that is chosen, as `schedule` prints it. False with
// diagnostics.
bool schedule_take(Session *session, int64_t ranks);

#endif
