// SPDX-License-Identifier: BSD-3-Clause
// The schedule commands, one a file; table.c puts them in order.
#ifndef DISTAL_SCHEDULE_COMMANDS_H
#define DISTAL_SCHEDULE_COMMANDS_H

#include "schedule/schedule.h"

extern const ScheduleCommand command_split, command_divide, command_collapse, command_reorder,
    command_distribute, command_communicate, command_rotate, command_substitute, command_parallelize,
    command_precompute, command_unroll, command_pos;

#endif
