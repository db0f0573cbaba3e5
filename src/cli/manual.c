// SPDX-License-Identifier: BSD-3-Clause
#include "cli/help.h"
#include "cli/topics.h"

// Text of a line or a word: characters that roff would interpret are escaped.
static void put(const char *text, Text *to) {
    for (const char *at = text; *at; at++) {
        if (*at == '\\')
            text_append(to, "\\e");
        else if (*at == '-')
            text_append(to, "\\-");
        else if (*at == '~')
            text_append(to, "\\(ti");
        else if (*at == '^')
            text_append(to, "\\(ha");
        else if (*at == '\'')
            text_append(to, "\\(aq");
        else if (*at == '.' && at > text && at[-1] == '\n')
            text_append(to, "\\&.");
        else
            text_append_n(to, at, 1);
    }
}

// Text that begins a line.
static void put_line(const char *text, Text *to) {
    if (*text == '.')
        text_append(to, "\\&");
    put(text, to);
    text_append(to, "\n");
}

static void put_item(const char *what, const char *about, Text *to) {
    text_append(to, ".TP\n.B ");
    put_line(what, to);
    put_line(about, to);
}

static void put_block(const char *text, Text *to) {
    text_append(to, ".RS\n.nf\n");
    put(text, to);
    text_append(to, ".fi\n.RE\n");
}

static void put_commands(Text *to) {
    text_append(to, ".SH COMMANDS\n");
    for (int i = 0; subcommands[i]; i++) {
        const Subcommand *command = subcommands[i];
        put_item(arena_printf(to->arena, "%s %s", command->name, command->arguments), command->summary, to);
        if (command->text) {
            text_append(to, ".IP\n");
            put_line(command->text, to);
        }
    }
}

static void put_options(Text *to) {
    text_append(to, ".SH OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        put_item(help_option(&options_table[i], to->arena), option_summary(&options_table[i], to->arena), to);
}

static void put_topics(Text *to) {
    for (int i = 0; i < help_topic_count; i++) {
        const HelpTopic *topic = &help_topics[i];
        Text text = text_create(to->arena);
        help_topic_text(topic, &text);
        text_printf(to, ".SS %s: %s\n.nf\n", topic->name, topic->summary);
        put(text_string(&text), to);
        text_append(to, ".fi\n");
        if (topic->example) {
            text_append(to, ".PP\n");
            put_block(topic->example, to);
        }
    }
}

static void put_schedule_commands(Text *to) {
    text_append(to, ".SH SCHEDULE COMMANDS\n");
    int count;
    const ScheduleCommand *const *commands = schedule_commands(&count);
    for (int i = 0; i < count; i++) {
        put_item(commands[i]->synopsis, commands[i]->summary, to);
        if (commands[i]->example)
            put_block(commands[i]->example, to);
    }
}

void manual_print(Text *to) {
    text_append(
        to,
        ".TH DISTAL 1 \"\" \"distal " DISTAL_VERSION "\"\n"
        ".SH NAME\ndistal \\- compile and run distributed tensor algebra\n"
        ".SH SYNOPSIS\n.B distal\n.I COMMAND FILE\n[options]\n.br\n.B distal\n.I COMMAND\n.B \\-e\n.I TEXT\n"
        "[options]\n.br\n.B distal help\n[\\fIWORD\\fR]\n");
    put_commands(to);
    put_options(to);
    text_append(to, ".SH LANGUAGE\n");
    put_topics(to);
    put_schedule_commands(to);
    text_append(
        to,
        ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nthe computation failed\n.TP\n.B 2\nan error in the "
        "program or on the command line\n");
}
