// SPDX-License-Identifier: BSD-3-Clause
#include "cli/options.h"

#include "base/integer.h"
#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// More threads than any node has; a team of many times more does not fit onto the stack of OpenMP.
enum { MAX_THREADS = 4096 };

typedef struct {
    Arena *arena;
    Options *options;
    Diagnostics *diagnostics;
    const Option *option; // being set
} Parsing;

static bool wrong(Parsing *parsing, const char *value, const char *expected) {
    return diagnostics_error(parsing->diagnostics, (Span){0}, "'%s' of %s is not %s", value,
                             option_spelling(parsing->option), expected);
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *value = number;
    return errno == 0 && end != text && *end == '\0' && text[0] != ' ' && text[0] != '+';
}

// NAME=VALUE with a name.
static bool split_binding(Parsing *parsing, const char *value, const char *form, Binding *binding) {
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || equals[1] == '\0') {
        wrong(parsing, value, arena_printf(parsing->arena, "of the form %s", form));
        return false;
    }
    binding->tensor = arena_string(parsing->arena, value, (size_t)(equals - value));
    binding->value = equals + 1;
    return true;
}

static bool set_param(Parsing *parsing, const char *value) {
    Binding binding;
    ParamOverride override;
    if (!split_binding(parsing, value, "NAME=INT", &binding))
        return false;
    if (!parse_integer(binding.value, &override.value))
        return wrong(parsing, value, "of the form NAME=INT: what is set is not a 64-bit integer");
    override.name = binding.tensor;
    array_push(parsing->arena, parsing->options->params, override);
    return true;
}

static bool set_count(Parsing *parsing, const char *value, int64_t least, int64_t most, int64_t *count) {
    if (parse_integer(value, count) && *count >= least && *count <= most)
        return true;
    if (*count > most)
        return wrong(parsing, value,
                     arena_printf(parsing->arena, "an integer from %" PRId64 " to %" PRId64, least, most));
    return wrong(parsing, value, least > 0 ? "a positive integer" : "an integer that is not negative");
}

static bool set_ranks(Parsing *parsing, const char *value) {
    return set_count(parsing, value, 1, INT_MAX, &parsing->options->ranks);
}

static bool set_threads(Parsing *parsing, const char *value) {
    return set_count(parsing, value, 1, MAX_THREADS, &parsing->options->threads);
}

static bool set_repeat(Parsing *parsing, const char *value) {
    return set_count(parsing, value, 1, INT_MAX, &parsing->options->repeat);
}

static bool set_warmup(Parsing *parsing, const char *value) {
    return set_count(parsing, value, 0, INT_MAX, &parsing->options->warmup);
}

// A number of bytes, or of 1024, 1024^2, ... bytes.
static bool set_memory_limit(Parsing *parsing, const char *value) {
    static const char suffixes[] = "KMGT";
    const size_t length = strlen(value);
    const char *suffix = length > 0 ? strchr(suffixes, value[length - 1]) : NULL;
    const char *number = suffix ? arena_string(parsing->arena, value, length - 1) : value;
    int64_t bytes, unit = suffix ? (int64_t)1 << 10 * (suffix - suffixes + 1) : 1;
    if (!parse_integer(number, &bytes) || bytes < 1 || !checked_mul(bytes, unit, &bytes))
        return wrong(parsing, value, "a number of bytes, such as 800000, 512M or 2G");
    parsing->options->memory_limit = bytes;
    return true;
}

static bool set_input(Parsing *parsing, const char *value) {
    Binding binding;
    if (!split_binding(parsing, value, "TENSOR=SOURCE", &binding))
        return false;
    array_push(parsing->arena, parsing->options->inputs, binding);
    return true;
}

static bool set_output(Parsing *parsing, const char *value) {
    Binding binding;
    if (!split_binding(parsing, value, "TENSOR=PATH", &binding))
        return false;
    array_push(parsing->arena, parsing->options->outputs, binding);
    return true;
}

static bool set_check(Parsing *parsing, const char *value) {
    (void)value;
    return parsing->options->check = true;
}

static bool set_oversubscribe(Parsing *parsing, const char *value) {
    (void)value;
    return parsing->options->oversubscribe = true;
}

static bool set_verbose(Parsing *parsing, const char *value) {
    (void)value;
    return parsing->options->verbose = true;
}

static bool set_quiet(Parsing *parsing, const char *value) {
    (void)value;
    return parsing->options->quiet = true;
}

static bool set_stats(Parsing *parsing, const char *value) {
    if (!value || strcmp(value, "text") == 0)
        parsing->options->stats = STATS_TEXT;
    else if (strcmp(value, "json") == 0)
        parsing->options->stats = STATS_JSON;
    else
        return wrong(parsing, value, "'text' or 'json'");
    return true;
}

static bool set_file(Parsing *parsing, const char *value) {
    parsing->options->output = value;
    return true;
}

static bool set_text(Parsing *parsing, const char *value) {
    if (parsing->options->text)
        return diagnostics_error(parsing->diagnostics, (Span){0}, "-e is given twice");
    parsing->options->text = value;
    return true;
}

static bool set_stop_after(Parsing *parsing, const char *value) {
    for (int pass = 0; pass < PASS_COUNT; pass++) {
        if (strcmp(pass_names[pass], value) == 0) {
            parsing->options->stop_after = (Pass)pass;
            return parsing->options->has_stop_after = true;
        }
    }
    return wrong(parsing, value, "one of program, cin, schedule, spmd, c, plan");
}

// How each option of the table is set; `value` is NULL for a flag.
static bool (*const setters[OPTION_COUNT])(Parsing *parsing, const char *value) = {
    [OPTION_TEXT] = set_text,
    [OPTION_PARAM] = set_param,
    [OPTION_RANKS] = set_ranks,
    [OPTION_THREADS] = set_threads,
    [OPTION_IN] = set_input,
    [OPTION_OUT] = set_output,
    [OPTION_CHECK] = set_check,
    [OPTION_REPEAT] = set_repeat,
    [OPTION_WARMUP] = set_warmup,
    [OPTION_OVERSUBSCRIBE] = set_oversubscribe,
    [OPTION_STATS] = set_stats,
    [OPTION_OUTPUT] = set_file,
    [OPTION_STOP_AFTER] = set_stop_after,
    [OPTION_MEMORY_LIMIT] = set_memory_limit,
    [OPTION_VERBOSE] = set_verbose,
    [OPTION_QUIET] = set_quiet,
};

static const Option *find_option(const char *name, size_t length) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *const spellings[] = {options_table[i].long_name, options_table[i].short_name};
        for (int s = 0; s < 2; s++)
            if (spellings[s] && strlen(spellings[s]) == length && strncmp(spellings[s], name, length) == 0)
                return &options_table[i];
    }
    return NULL;
}

static bool unknown_option(Parsing *parsing, const char *name) {
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = option_spelling(&options_table[i]);
    return diagnostics_error(parsing->diagnostics, (Span){0}, "unknown option '%s'%s", name,
                             did_you_mean(parsing->arena, name, names, OPTION_COUNT));
}

// Sets the option that starts at arguments[*at], and moves *at past its value.
static bool parse_option(Parsing *parsing, int count, char **arguments, int *at) {
    const char *argument = arguments[(*at)++];
    const bool is_long = argument[1] == '-';
    const char *equals = is_long ? strchr(argument, '=') : NULL;
    // -n4 is -n 4.
    size_t length = equals ? (size_t)(equals - argument) : is_long ? strlen(argument) : 2;
    const Option *option = find_option(argument, length);
    if (!option)
        return unknown_option(parsing,
                              arena_string(parsing->arena, argument, is_long ? length : strlen(argument)));
    parsing->option = option;
    const char *value = equals ? equals + 1 : !is_long && argument[2] ? argument + 2 : NULL;
    if (value && !option->value)
        return diagnostics_error(parsing->diagnostics, (Span){0}, "%s takes no value",
                                 option_spelling(option));
    if (!value && option->value && !option->value_is_optional) {
        if (*at == count)
            return diagnostics_error(parsing->diagnostics, (Span){0}, "%s needs a value: %s %s",
                                     option_spelling(option), option_spelling(option), option->value);
        value = arguments[(*at)++];
    }
    if (!(parsing->options->command->options & 1u << (option - options_table)))
        return diagnostics_error(parsing->diagnostics, (Span){0}, "%s does not belong to '%s'",
                                 option_spelling(option), parsing->options->command->name);
    return setters[option - options_table](parsing, value);
}

static void list_commands(Parsing *parsing) {
    diagnostics_note(parsing->diagnostics, (Span){0}, "commands: %s", subcommand_list(parsing->arena));
}

static bool is_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
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
                      did_you_mean(parsing->arena, word, names.items, names.count));
    list_commands(parsing);
    return false;
}

static void take_file(Parsing *parsing, const char *argument) {
    Options *options = parsing->options;
    if (options->command == &subcommand_help && !options->topic)
        options->topic = argument;
    else if (options->command->options && !options->file)
        options->file = argument;
    else
        diagnostics_error(parsing->diagnostics, (Span){0}, "'%s' is one argument too many", argument);
}

static void check_together(Parsing *parsing) {
    const Options *options = parsing->options;
    if (!options->command->options)
        return;
    if (options->file && options->text)
        diagnostics_error(parsing->diagnostics, (Span){0}, "both a FILE ('%s') and -e TEXT are given",
                          options->file);
    if (!options->file && !options->text)
        diagnostics_error(parsing->diagnostics, (Span){0},
                          "no program: distal %s FILE, where - is standard input, or distal %s -e TEXT",
                          options->command->name, options->command->name);
    if (options->verbose && options->quiet)
        diagnostics_error(parsing->diagnostics, (Span){0}, "both -v and -q are given");
}

bool options_parse(Arena *arena, int count, char **arguments, Options *options, Diagnostics *diagnostics) {
    *options = (Options){.repeat = 1};
    Parsing parsing = {arena, options, diagnostics, NULL};
    if (count == 0) {
        diagnostics_error(diagnostics, (Span){0}, "no command");
        list_commands(&parsing);
        return false;
    }
    if (!parse_command(&parsing, arguments[0]))
        return false;
    bool only_files = false;
    for (int at = 1; at < count;) {
        const char *argument = arguments[at];
        if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
            at++;
        } else if (!only_files && is_help(argument)) {
            options->topic = options->command->name;
            options->command = &subcommand_help;
            return diagnostics->errors == 0;
        } else if (!only_files && argument[0] == '-' && argument[1] != '\0') {
            parse_option(&parsing, count, arguments, &at);
        } else {
            take_file(&parsing, argument);
            at++;
        }
    }
    check_together(&parsing);
    return diagnostics->errors == 0;
}
