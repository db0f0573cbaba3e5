// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/arguments.h"
#include "schedule/commands.h"
#include "schedule/constraints.h"

#include <string.h>

#define POINTER(name) &command_##name,
static const ScheduleCommand *const commands[] = {SCHEDULE_COMMANDS(POINTER)};
// NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const ScheduleCommand *const *schedule_commands(int *count) {
    *count = COMMAND_COUNT;
    return commands;
}

const ScheduleCommand *schedule_command(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0 ||
            (commands[i]->alias && strcmp(commands[i]->alias, name) == 0))
            return commands[i];
    return NULL;
}

const ScheduleCommand *schedule_command_of_call(const char *call, const CommandForm **form) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        for (int f = 0; f < 2; f++) {
            *form = &commands[i]->forms[f];
            if ((*form)->call && strcmp((*form)->call, call) == 0)
                return commands[i];
        }
    return NULL;
}

static void unknown_command(Scheduler *scheduler, const Command *command) {
    const char *names[2 * COMMAND_COUNT];
    int count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[count++] = commands[i]->name;
        if (commands[i]->alias)
            names[count++] = commands[i]->alias;
    }
    diagnostics_error(scheduler->diagnostics, command->name_span, "unknown command '%s'%s", command->name,
                      did_you_mean(scheduler->arena, command->name, "commands", names, count));
}

// The least number of arguments of a form: the last may be optional.
static int fewest(const CommandForm *form) {
    return form->count - form->arguments[form->count - 1].optional;
}

static bool has_right_count(Scheduler *scheduler, const Command *command, const ScheduleCommand *row) {
    int least = row->forms[0].count, most = 0;
    for (int f = 0; f < 2 && row->forms[f].count; f++) {
        const CommandForm *form = &row->forms[f];
        if (command->arg_count >= fewest(form) && command->arg_count <= form->count)
            return true;
        least = fewest(form) < least ? fewest(form) : least;
        most = form->count > most ? form->count : most;
    }
    const char *number = least == most ? arena_printf(scheduler->arena, "%d", most)
                                       : arena_printf(scheduler->arena, "%d or %d", least, most);
    return diagnostics_error(scheduler->diagnostics, command->span, "%s takes %s argument%s, %s, not %d",
                             command->name, number, most == 1 ? "" : "s", row->synopsis, command->arg_count);
}

static const Tensor *old_of(void *context, const Tensor *tensor) {
    const Tensor *old = context;
    return tensor == old->old_of ? old : tensor;
}

// On the right side, the tensor that the statement assigns is what it was before.
static const Command *on_right_side(const Scheduler *scheduler, const Command *command, const Cin *cin) {
    const Tensor *old = assignment_old(cin->assignment);
    Command *copy = arena_copy(scheduler->arena, command, sizeof *command);
    if (old)
        *copy = command_copy(scheduler->arena, command, old_of, (void *)old);
    return copy;
}

const Cin *schedule_apply(Scheduler *scheduler, const Command *command, const Cin *cin) {
    const ScheduleCommand *row = schedule_command(command->name);
    if (!row) {
        unknown_command(scheduler, command);
        return NULL;
    }
    if (!has_right_count(scheduler, command, row))
        return NULL;
    const Cin *result = row->apply(scheduler, on_right_side(scheduler, command, cin), cin);
    const char *broken = result ? broken_constraint(result) : NULL;
    if (broken) {
        Application application = {scheduler, command, cin};
        refuse(&application, command->span, "%s", broken);
        return NULL;
    }
    return result;
}
