// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_table.h"
#include "cli/session.h"

#include <string.h>

static const struct {
    CommandName command;
    const char *arguments, *summary, *text;
} topics[] = {
    {COMMAND_CHECK, "FILE", "parse, check and schedule a program; silent when all is well",
     "Every mistake is reported with its place, and the exit status is then 2."},
    {COMMAND_EXPLAIN, "FILE", "print what becomes of a program",
     "Prints concrete index notation as written and after each schedule command, then the SPMD program of "
     "one\n"
     "process as pseudo-code. --stop-after prints one representation instead."},
    {COMMAND_EMIT, "FILE", "print the C that is generated",
     "The same text serves all sizes and rank counts."},
    {COMMAND_PLAN, "FILE", "print who sends what to whom, without data and without MPI",
     "For each tensor: the pattern of its communication, the loop where that happens, steps, bytes and "
     "messages\n"
     "that a rank receives (for `reduce`: sends), bytes at home and in buffers; and the peak of each rank."},
    {COMMAND_RUN, "FILE", "compile, launch, read inputs, compute, write outputs",
     "Starts its own processes through `mpirun`, or through what DISTAL_MPIRUN names (a launcher with its\n"
     "options, to which -n N is added), unless it is running under an MPI launcher already. A scalar output\n"
     "that --out does not name is printed.\n"
     "Other environment: DISTAL_CC and DISTAL_CFLAGS (the C compiler, its flags), XDG_CACHE_HOME (compiled\n"
     "kernels are kept there, under distal/)."},
    {COMMAND_HELP, "[TOPIC]", "this text, or more about a command or a schedule command", ""},
};
enum { TOPIC_COUNT = sizeof topics / sizeof *topics };

// `text` word by word from column `indent` on, in lines of 100 characters.
static void wrap(const char *text, size_t indent, Text *to) {
    size_t column = indent;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column + length > 100 && column > indent) {
            text_printf(to, "\n%*s", (int)indent, "");
            column = indent;
        }
        text_append_n(to, text, length);
        text += length;
        column += length + 1;
        if (*text) {
            text_append(to, " ");
            text++;
        }
    }
    text_append(to, "\n");
}

static void print_row(const char *what, const char *summary, Text *to) {
    enum { COLUMN = 26 };
    text_printf(to, "  %-*s", COLUMN - 2, what);
    if (strlen(what) > COLUMN - 4)
        text_printf(to, "\n%*s", COLUMN, "");
    wrap(summary, COLUMN, to);
}

static void print_options(unsigned commands, Text *to) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *option = &options_table[i];
        if (!(option->commands & commands))
            continue;
        Text what = text_create(to->arena);
        text_append(&what, option->short_name ? option->short_name : "");
        text_append(&what, option->short_name && option->long_name ? ", " : "");
        text_append(&what, option->long_name ? option->long_name : "");
        if (option->value)
            text_printf(&what, option->value_is_optional ? "[=%s]" : " %s", option->value);
        print_row(text_string(&what), option->summary, to);
    }
}

static void print_everything(Text *to) {
    text_append(to, "distal compiles and runs distributed tensor algebra.\n\n"
                    "usage: distal COMMAND FILE [options]    (FILE: a program, - for standard input)\n"
                    "       distal COMMAND -e TEXT [options]\n"
                    "       distal --version\n\ncommands:\n");
    for (int i = 0; i < TOPIC_COUNT; i++)
        print_row(arena_printf(to->arena, "%s %s", command_names[topics[i].command], topics[i].arguments),
                  topics[i].summary, to);
    text_append(to, "\noptions:\n");
    print_options(~0u, to);
    text_append(to, "\nschedule commands:\n");
    int count;
    const ScheduleCommand *const *commands = schedule_commands(&count);
    for (int i = 0; i < count; i++)
        print_row(commands[i]->synopsis, commands[i]->summary, to);
    text_append(
        to, "\nexit status: 0 fine; 1 the computation failed; 2 the program or the command line is wrong\n");
}

static bool print_topic(const char *topic, Text *to) {
    for (int i = 0; i < TOPIC_COUNT; i++) {
        if (strcmp(command_names[topics[i].command], topic) != 0)
            continue;
        text_printf(to, "usage: distal %s %s%s\n\n%s\n", topic, topics[i].arguments,
                    command_takes_program(topics[i].command) ? " [options]" : "", topics[i].summary);
        text_printf(to, topics[i].text[0] ? "%s\n" : "%s", topics[i].text);
        if (command_takes_program(topics[i].command)) {
            text_append(to, "\noptions:\n");
            print_options(1u << topics[i].command, to);
        }
        return true;
    }
    const ScheduleCommand *command = schedule_command(topic);
    if (command)
        text_printf(to, "%s\n  %s\n", command->synopsis, command->summary);
    return command != NULL;
}

static const char *const *topic_names(Arena *arena, int64_t *count) {
    int schedule_count;
    const ScheduleCommand *const *commands = schedule_commands(&schedule_count);
    const char **names = arena_array(arena, const char *, TOPIC_COUNT + schedule_count);
    *count = 0;
    for (int i = 0; i < TOPIC_COUNT; i++)
        names[(*count)++] = command_names[topics[i].command];
    for (int i = 0; i < schedule_count; i++)
        names[(*count)++] = commands[i]->name;
    return names;
}

ExitStatus command_help(Session *session) {
    Text text = text_create(session->arena);
    const char *topic = session->options->topic;
    if (!topic) {
        print_everything(&text);
    } else if (!print_topic(topic, &text)) {
        int64_t count;
        const char *const *names = topic_names(session->arena, &count);
        const char *closest = closest_name(topic, names, count);
        diagnostics_error(session->diagnostics, (Span){0}, "no help about '%s'%s", topic,
                          closest ? arena_printf(session->arena, "; did you mean '%s'?", closest) : "");
        return EXIT_WRONG;
    }
    return session_print(session, &text);
}

ExitStatus command_version(Session *session) {
    Text text = text_create(session->arena);
    text_append(&text, "distal " DISTAL_VERSION "\n");
    return session_print(session, &text);
}
