// SPDX-License-Identifier: BSD-3-Clause
// The schedule commands, one a file: a new one is a new file and a line in the list below.
#ifndef DISTAL_SCHEDULE_COMMANDS_H
#define DISTAL_SCHEDULE_COMMANDS_H

#include "schedule/schedule.h"

// In the order of the documentation.
#define SCHEDULE_COMMANDS(ENTRY)                                                                             \
    ENTRY(split)                                                                                             \
    ENTRY(divide)                                                                                            \
    ENTRY(collapse)                                                                                          \
    ENTRY(reorder)                                                                                           \
    ENTRY(distribute)                                                                                        \
    ENTRY(communicate)                                                                                       \
    ENTRY(rotate)                                                                                            \
    ENTRY(substitute)                                                                                        \
    ENTRY(parallelize)                                                                                       \
    ENTRY(precompute)                                                                                        \
    ENTRY(unroll)                                                                                            \
    ENTRY(pos)

#define DECLARE_COMMAND(name) extern const ScheduleCommand command_##name;
SCHEDULE_COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

#endif
