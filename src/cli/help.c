// SPDX-License-Identifier: BSD-3-Clause
#include "cli/help.h"

#include "cli/topics.h"

#include <string.h>

// Appends `text` in lines of at most 100 characters, of which all but the first are indented by `indent`.
static void help_wrap(const char *text, size_t indent, Text *to) {
    for (size_t column = indent; *text;) {
        const size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > 100) {
            text_printf(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            text_append(to, " ");
            column++;
        }
        text_append_n(to, text, length);
        column += length;
        text += length + (text[length] == ' ');
    }
    text_append(to, "\n");
}

void help_row(const char *what, const char *summary, Text *to) {
    enum { COLUMN = 26 };
    text_printf(to, "  %-*s", COLUMN - 2, what);
    if (strlen(what) > COLUMN - 4)
        text_printf(to, "\n%*s", COLUMN, "");
    help_wrap(summary, COLUMN, to);
}

const char *help_option(const Option *option, Arena *arena) {
    Text text = text_create(arena);
    text_append(&text, option->short_name ? option->short_name : "");
    text_append(&text, option->short_name && option->long_name ? ", " : "");
    text_append(&text, option->long_name ? option->long_name : "");
    if (option->value)
        text_printf(&text, option->value_is_optional ? "[=%s]" : " %s", option->value);
    return text_string(&text);
}

static void print_options(unsigned options, Text *to) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options & 1u << i)
            help_row(help_option(&options_table[i], to->arena), option_summary(&options_table[i], to->arena),
                     to);
}

bool help_is_word(const Subcommand *command) {
    return command->name[0] != '-';
}

static void print_everything(Text *to) {
    text_append(to, "distal compiles and runs distributed tensor algebra.\n\n"
                    "usage: distal COMMAND FILE [options]    (FILE: a program, - for standard input)\n"
                    "       distal COMMAND -e TEXT [options]\n"
                    "       distal --version\n\ncommands:\n");
    for (int i = 0; subcommands[i]; i++)
        if (help_is_word(subcommands[i]))
            help_row(arena_printf(to->arena, "%s %s", subcommands[i]->name, subcommands[i]->arguments),
                     subcommands[i]->summary, to);
    text_append(to, "\noptions:\n");
    print_options(~0u, to);
    text_append(to, "\nschedule commands:\n");
    int count;
    const ScheduleCommand *const *commands = schedule_commands(&count);
    for (int i = 0; i < count; i++)
        help_row(commands[i]->synopsis, commands[i]->summary, to);
    text_append(to, "\ntopics:\n");
    for (int i = 0; i < help_topic_count; i++)
        help_row(help_topics[i].name, help_topics[i].summary, to);
    for (int i = 0; help_outputs[i].name; i++)
        help_row(help_outputs[i].name, help_outputs[i].summary, to);
    text_append(to, "'distal help WORD' explains any word of the language, as 'distal help csr'.\n"
                    "\nexit status: 0 success; 1 the computation failed; 2 an error in the program or on the "
                    "command line\n");
}

static void print_subcommand(const Subcommand *command, Text *to) {
    text_printf(to, "usage: distal %s %s%s\n\n%s\n", command->name, command->arguments,
                command->options ? " [options]" : "", command->summary);
    if (command->text)
        help_wrap(command->text, 0, to);
    if (command->options) {
        text_append(to, "\noptions:\n");
        print_options(command->options, to);
    }
}

// Indented by two columns.
static void print_indented(const char *text, Text *to) {
    while (*text) {
        const size_t length = strcspn(text, "\n");
        text_append(to, length ? "  " : "");
        text_append_n(to, text, length);
        text_append(to, "\n");
        text += length + (text[length] == '\n');
    }
}

static void print_loops(const char *title, const Cin *cin, const char *const *params, Text *to) {
    Text loops = text_create(to->arena);
    cin_print(cin, params, &loops);
    text_printf(to, "\n%s\n", title);
    print_indented(text_string(&loops), to);
}

// With the loops of its example before and after the command.
static void print_schedule_command(const ScheduleCommand *command, Text *to) {
    text_printf(to, "%s\n  ", command->synopsis);
    help_wrap(command->summary, 2, to);
    if (!command->example)
        return;
    text_append(to, "\nexample:\n");
    print_indented(command->example, to);
    Pipeline *pipeline = pipeline_create(to->arena, (Source){"example", command->example}, NULL, 0, 0);
    if (!pipeline_run(pipeline, PASS_SCHEDULE))
        return;
    const StatementPasses *passes = &pipeline->statements[0];
    print_loops("loops before:", passes->cin, pipeline->program->param_names, to);
    print_loops("loops after:", passes->stages.items[passes->statement->command_count - 1],
                pipeline->program->param_names, to);
}

static void print_topic(const HelpTopic *topic, Text *to) {
    text_printf(to, "%s: %s\n\n", topic->name, topic->summary);
    help_topic_text(topic, to);
    if (topic->example) {
        text_append(to, "\nexample:\n");
        print_indented(topic->example, to);
    }
}

const HelpOutput help_outputs[] = {
    {"man-page", "this and all topics as a page for man(1)", manual_print},
    {"bash-completion", "a script that completes this command in bash", completion_print},
    {NULL, NULL, NULL},
};

// False where nothing explains the word.
static bool explain(const char *word, Text *to) {
    const Subcommand *subcommand = subcommand_named(word);
    const ScheduleCommand *command = schedule_command(word);
    for (int i = 0; help_outputs[i].name; i++) {
        if (strcmp(help_outputs[i].name, word) == 0) {
            help_outputs[i].print(to);
            return true;
        }
    }
    const HelpTopic *topic = help_topic(word, to->arena);
    if (subcommand)
        print_subcommand(subcommand, to);
    else if (command)
        print_schedule_command(command, to);
    else if (topic)
        print_topic(topic, to);
    return subcommand || command || topic;
}

static const char *near_topics(const char *topic, Arena *arena) {
    Array(const char *) names = {0};
    int count;
    const ScheduleCommand *const *commands = schedule_commands(&count);
    for (int i = 0; subcommands[i]; i++)
        array_push(arena, names, subcommands[i]->name);
    for (int i = 0; i < count; i++)
        array_push(arena, names, commands[i]->name);
    for (int i = 0; i < help_topic_count; i++)
        array_push(arena, names, help_topics[i].name);
    return did_you_mean(arena, topic, NULL, names.items, names.count);
}

static ExitStatus help(Session *session) {
    Text text = text_create(session->arena);
    const char *topic = session->options->topic;
    if (!topic) {
        print_everything(&text);
    } else if (!explain(topic, &text)) {
        const char *near = near_topics(topic, session->arena);
        diagnostics_error(session->diagnostics, (Span){0}, "no help about '%s'%s", topic, near);
        if (!*near)
            diagnostics_note(session->diagnostics, (Span){0}, "'distal help' lists what there is help about");
        return EXIT_WRONG;
    }
    return session_print(session, &text);
}

const Subcommand subcommand_help = {
    .name = "help",
    .arguments = "[TOPIC]",
    .summary = "this text, or help on a command, a schedule command or any word of the language",
    .run = help,
};
