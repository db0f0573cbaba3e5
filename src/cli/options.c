// SPDX-License-Identifier: BSD-3-Clause
#include "cli/options.h"

#include "cli/commands.h"

#include <getopt.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Options *options;
    Diagnostics *diagnostics;
} Parsing;

static void list_commands(Parsing *parsing) {
    diagnostics_note(parsing->diagnostics, (Span){0}, "commands: %s", subcommand_list(parsing->arena));
}

static bool is_help(const char *word) {
    const Option *help = &options_table[OPTION_HELP];
    return strcmp(word, help->long_name) == 0 || strcmp(word, help->short_name) == 0;
}

static bool parse_command(Parsing *parsing, const char *word) {
    const Subcommand *command = is_help(word) ? &subcommand_help : subcommand_named(word);
    parsing->options->command = command;
    if (command)
        return true;
    Array(const char *) names = {0};
    for (int i = 0; subcommands[i]; i++)
        array_push(parsing->arena, names, subcommands[i]->name);
    diagnostics_error(parsing->diagnostics, (Span){0}, "unknown command '%s'%s", word,
                      did_you_mean(parsing->arena, word, NULL, names.items, names.count));
    list_commands(parsing);
    return false;
}

static bool takes_program(const Subcommand *command) {
    return command->options & 1u << OPTION_TEXT;
}

static void take_file(Parsing *parsing, const char *argument) {
    Options *options = parsing->options;
    if (options->command == &subcommand_help && !options->topic)
        options->topic = argument;
    else if (takes_program(options->command) && !options->file)
        options->file = argument;
    else
        diagnostics_error(parsing->diagnostics, (Span){0}, "unexpected argument '%s'", argument);
}

static void check_together(Parsing *parsing) {
    const Options *options = parsing->options;
    if (options->verbose && options->quiet)
        diagnostics_error(parsing->diagnostics, (Span){0}, "both -v and -q are given");
    if (!takes_program(options->command))
        return;
    if (options->file && options->text)
        diagnostics_error(parsing->diagnostics, (Span){0}, "both a FILE ('%s') and -e TEXT are given",
                          options->file);
    if (!options->file && !options->text)
        diagnostics_error(
            parsing->diagnostics, (Span){0},
            "no program given: write distal %s FILE, where - is standard input, or distal %s -e TEXT",
            options->command->name, options->command->name);
}

// getopt_long returns FIRST_LONG + index in the table for a long name, and the letter for a short one.
enum { FIRST_LONG = 256 };

// The table in the form that getopt_long takes.
typedef struct {
    char short_names[2 * OPTION_COUNT + 3];
    struct option long_names[OPTION_COUNT + 1];
} Grammar;

static Grammar grammar_create(void) {
    // "-": arguments in order, files included; ":": missing values are distinguished from unknown options.
    Grammar grammar = {.short_names = "-:"};
    char *letter = grammar.short_names + 2;
    struct option *name = grammar.long_names;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *option = &options_table[i];
        const int takes = !option->value              ? no_argument
                          : option->value_is_optional ? optional_argument
                                                      : required_argument;
        if (option->short_name) {
            *letter++ = option->short_name[1];
            if (takes == required_argument)
                *letter++ = ':';
        }
        if (option->long_name)
            *name++ = (struct option){option->long_name + 2, takes, NULL, FIRST_LONG + i};
    }
    return grammar;
}

// The option that getopt_long has returned; NULL where it is none.
static const Option *option_of(int code) {
    if (code >= FIRST_LONG)
        return &options_table[code - FIRST_LONG];
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].short_name && options_table[i].short_name[1] == code)
            return &options_table[i];
    return NULL;
}

// Reports that `argument` is no option, or an ambiguous abbreviation.
static bool unknown_option(Parsing *parsing, const char *argument) {
    const bool is_long = strncmp(argument, "--", 2) == 0;
    const size_t length = strcspn(argument, "=");
    const char *name = arena_string(parsing->arena, argument, length), *names[OPTION_COUNT];
    Text begins = text_create(parsing->arena);
    for (int i = 0; i < OPTION_COUNT; i++) {
        names[i] = option_spelling(&options_table[i]);
        if (is_long && strncmp(name, names[i], length) == 0)
            text_printf(&begins, "%s%s", begins.length ? " or " : "", names[i]);
    }
    if (begins.length)
        return diagnostics_error(parsing->diagnostics, (Span){0}, "'%s' is ambiguous: it could be %s", name,
                                 text_string(&begins));
    // Any letter is close to any other one.
    return diagnostics_error(parsing->diagnostics, (Span){0}, "unknown option '%s'%s", name,
                             did_you_mean(parsing->arena, name, NULL, names, length > 2 ? OPTION_COUNT : 0));
}

// The commands that take `option`.
static const char *takers(const Parsing *parsing, const Option *option) {
    Array(const char *) names = {0};
    for (int i = 0; subcommands[i]; i++)
        if (subcommands[i]->options & 1u << (option - options_table))
            array_push(parsing->arena, names, arena_printf(parsing->arena, "'%s'", subcommands[i]->name));
    return enumeration(parsing->arena, names.items, (int)names.count);
}

static bool set_option(Parsing *parsing, const Option *option, const char *value) {
    const Subcommand *command = parsing->options->command;
    const OptionUse use = {parsing->arena, option, parsing->options, parsing->diagnostics};
    if (option != &options_table[OPTION_HELP] && !(command->options & 1u << (option - options_table)))
        return diagnostics_error(parsing->diagnostics, (Span){0}, "'%s' does not take %s, an option of %s",
                                 command->name, option_spelling(option), takers(parsing, option));
    return option->set(&use, value);
}

// Handles the result of getopt_long for `argument`. False if `argument` is a wrong option.
static bool take(Parsing *parsing, int code, const char *argument) {
    const Option *option = option_of(code == '?' || code == ':' ? optopt : code);
    if (code == 1)
        take_file(parsing, optarg);
    else if (!option)
        return unknown_option(parsing, argument);
    else if (code == ':')
        return diagnostics_error(parsing->diagnostics, (Span){0}, "%s needs a value: %s %s",
                                 option_spelling(option), option_spelling(option), option->value);
    else if (code == '?')
        return diagnostics_error(parsing->diagnostics, (Span){0}, "%s takes no value",
                                 option_spelling(option));
    else
        set_option(parsing, option, optarg);
    return true;
}

bool options_parse(Arena *arena, int count, char **arguments, Options *options, Diagnostics *diagnostics) {
    *options = (Options){.repeat = 1};
    Parsing parsing = {arena, options, diagnostics};
    if (count == 0) {
        diagnostics_error(diagnostics, (Span){0}, "no command given");
        list_commands(&parsing);
        return false;
    }
    if (!parse_command(&parsing, arguments[0]))
        return false;
    const Grammar grammar = grammar_create();
    const char *wrong = NULL; // letters after an unknown one are not reported
    opterr = 0;
    optind = 0; // restart getopt_long, also for a second command line
    while (!options->help) {
        const int at = optind > 0 ? optind : 1;
        const char *argument = at < count ? arguments[at] : NULL;
        const int code = getopt_long(count, arguments, grammar.short_names, grammar.long_names, NULL);
        if (code == -1)
            break;
        if (argument != wrong && !take(&parsing, code, argument))
            wrong = argument;
    }
    if (options->help) {
        options->topic = options->command->name;
        options->command = &subcommand_help;
        return diagnostics->errors == 0;
    }
    for (int i = optind; i < count; i++) // after --
        take_file(&parsing, arguments[i]);
    check_together(&parsing);
    return diagnostics->errors == 0;
}
