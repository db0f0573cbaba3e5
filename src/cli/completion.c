// SPDX-License-Identifier: BSD-3-Clause
#include "cli/help.h"
#include "cli/topics.h"
#include "pipeline/pipeline.h"

#include <string.h>

static void put_command_names(Text *to) {
    for (int i = 0; subcommands[i]; i++)
        text_printf(to, "%s%s", i == 0 ? "" : " ", subcommands[i]->name);
}

static void put_option_names(unsigned options, Text *to) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *option = &options_table[i];
        if (!(options & 1u << i))
            continue;
        if (option->short_name)
            text_printf(to, "%s ", option->short_name);
        if (option->long_name)
            text_printf(to, "%s ", option->long_name);
    }
}

// The words after `distal help`.
static void put_words(Text *to) {
    int count;
    const ScheduleCommand *const *commands = schedule_commands(&count);
    for (int i = 0; subcommands[i]; i++)
        if (help_is_word(subcommands[i]))
            text_printf(to, "%s ", subcommands[i]->name);
    for (int i = 0; i < count; i++)
        text_printf(to, "%s ", commands[i]->name);
    for (int i = 0; i < help_topic_count; i++)
        text_printf(to, "%s ", help_topics[i].name);
    for (int i = 0; help_outputs[i].name; i++)
        text_printf(to, "%s ", help_outputs[i].name);
}

// What can follow an option, where that is one of a few words: "text|json", or the passes.
static const char *values_of(int option, Arena *arena) {
    Text values = text_create(arena);
    if (option == OPTION_STOP_AFTER) {
        for (int pass = 0; pass < PASS_COUNT; pass++)
            text_printf(&values, "%s ", pass_names[pass]);
    } else if (options_table[option].value && strchr(options_table[option].value, '|')) {
        for (const char *at = options_table[option].value; *at; at++)
            text_append_n(&values, *at == '|' ? " " : at, 1);
    }
    return text_string(&values);
}

// A case of each option that takes a value, by its names.
static void put_values(Text *to) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *option = &options_table[i];
        if (!option->value || option->value_is_optional)
            continue;
        const char *values = values_of(i, to->arena);
        text_printf(to, "        %s%s%s)\n", option->short_name ? option->short_name : "",
                    option->short_name && option->long_name ? "|" : "",
                    option->long_name ? option->long_name : "");
        if (values[0])
            text_printf(to, "            COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n", values);
        else
            text_append(to, "            COMPREPLY=($(compgen -f -- \"$word\"))\n");
        text_append(to, "            return ;;\n");
    }
}

void completion_print(Text *to) {
    text_append(to, "# Completion of distal in bash.\n"
                    "_distal() {\n"
                    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                    "        COMPREPLY=($(compgen -W '");
    put_command_names(to);
    text_append(to, "' -- \"$word\"))\n        return\n    fi\n    case $before in\n");
    put_values(to);
    text_append(to, "    esac\n    local options=\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; subcommands[i]; i++) {
        if (!subcommands[i]->options)
            continue;
        text_printf(to, "        %s) options='", subcommands[i]->name);
        put_option_names(subcommands[i]->options, to);
        text_append(to, "' ;;\n");
    }
    text_append(to, "        help)\n            COMPREPLY=($(compgen -W '");
    put_words(to);
    text_append(to,
                "' -- \"$word\"))\n            return ;;\n    esac\n"
                "    if [[ $word == -* ]]; then\n"
                "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                "    else\n"
                "        COMPREPLY=($(compgen -f -X '!*.distal' -- \"$word\") $(compgen -d -- \"$word\"))\n"
                "    fi\n"
                "}\n"
                "complete -o filenames -F _distal distal\n");
}
