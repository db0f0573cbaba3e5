// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_table.h"

#include "base/integer.h"
#include "io/source.h"
#include "loop/passes.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// More threads than any node has; many times more do not fit onto the stack of the OpenMP runtime.
enum { MAX_THREADS = 4096 };

static bool invalid(const OptionUse *use, const char *value, const char *expected) {
    return diagnostics_error(use->diagnostics, (Span){0}, "invalid value '%s' for %s: expected %s", value,
                             option_spelling(use->option), expected);
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *value = number;
    return errno == 0 && end != text && *end == '\0' && text[0] != ' ' && text[0] != '+';
}

static void *field_of(const OptionUse *use) {
    return (char *)use->options + use->option->field;
}

static bool set_flag(const OptionUse *use, const char *value) {
    (void)value;
    *(bool *)field_of(use) = true;
    return true;
}

static bool set_count(const OptionUse *use, const char *value) {
    const Option *option = use->option;
    int64_t *count = field_of(use);
    return (parse_integer(value, count) && *count >= option->least && *count <= option->most) ||
           invalid(use, value,
                   arena_printf(use->arena, "an integer from %" PRId64 " to %" PRId64, option->least,
                                option->most));
}

// Splits NAME=VALUE, neither of which is empty.
static bool split_binding(const OptionUse *use, const char *value, Binding *binding) {
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || equals[1] == '\0') {
        invalid(use, value, use->option->value);
        return false;
    }
    binding->tensor = arena_string(use->arena, value, (size_t)(equals - value));
    binding->value = equals + 1;
    return true;
}

static bool set_param(const OptionUse *use, const char *value) {
    Binding binding;
    ParamOverride override;
    if (!split_binding(use, value, &binding))
        return false;
    if (!parse_integer(binding.value, &override.value))
        return invalid(use, value, "NAME=INT, where INT is a 64-bit integer");
    override.name = binding.tensor;
    array_push(use->arena, use->options->params, override);
    return true;
}

// A number of bytes, or of 1024, 1024^2, ... bytes.
static bool set_bytes(const OptionUse *use, const char *value, int64_t *result) {
    static const char suffixes[] = "KMGT";
    const size_t length = strlen(value);
    const char *suffix = length > 0 ? strchr(suffixes, value[length - 1]) : NULL;
    const char *number = suffix ? arena_string(use->arena, value, length - 1) : value;
    int64_t bytes, unit = suffix ? (int64_t)1 << 10 * (suffix - suffixes + 1) : 1;
    if (!parse_integer(number, &bytes) || bytes < 1 || !checked_mul(bytes, unit, &bytes))
        return invalid(use, value, "a number of bytes, such as 800000, 512M or 2G");
    *result = bytes;
    return true;
}

static bool set_memory_limit(const OptionUse *use, const char *value) {
    return set_bytes(use, value, &use->options->memory_limit);
}

static bool set_gpu_memory_limit(const OptionUse *use, const char *value) {
    return set_bytes(use, value, &use->options->gpu_memory_limit);
}

static bool set_scratch(const OptionUse *use, const char *value) {
    use->options->scratch = value;
    return true;
}

static bool set_pipeline(const OptionUse *use, const char *value) {
    const bool is_on = strcmp(value, "on") == 0;
    use->options->pipelined = is_on ? PIPELINE_ON : PIPELINE_OFF;
    return is_on || strcmp(value, "off") == 0 || invalid(use, value, "on or off");
}

static bool set_shared_memory(const OptionUse *use, const char *value) {
    Options *options = use->options;
    options->shared_memory = strcmp(value, "off") == 0 ? SHARED_MEMORY_OFF : SHARED_MEMORY_ON;
    return strcmp(value, "on") == 0 || strcmp(value, "off") == 0 ||
           (parse_integer(value, &options->node_ranks) && options->node_ranks >= 1) ||
           invalid(use, value, "on, off or a number of ranks");
}

static bool set_input(const OptionUse *use, const char *value) {
    Binding binding;
    if (!split_binding(use, value, &binding))
        return false;
    array_push(use->arena, use->options->inputs, binding);
    return true;
}

static bool set_output(const OptionUse *use, const char *value) {
    Binding binding;
    if (!split_binding(use, value, &binding))
        return false;
    array_push(use->arena, use->options->outputs, binding);
    return true;
}

static bool set_in_place(const OptionUse *use, const char *value) {
    array_push(use->arena, use->options->in_place, value);
    return true;
}

static bool set_printed(const OptionUse *use, const char *value) {
    array_push(use->arena, use->options->printed, value);
    return true;
}

static const char *output_list(Arena *arena) {
    return file_endings(FILE_WRITE, "PATH", arena);
}

static bool set_stats(const OptionUse *use, const char *value) {
    if (!value || strcmp(value, "text") == 0)
        use->options->stats = STATS_TEXT;
    else if (strcmp(value, "json") == 0)
        use->options->stats = STATS_JSON;
    else
        return invalid(use, value, "text or json");
    return true;
}

static bool set_check(const OptionUse *use, const char *value) {
    static const char *const names[] = {[CHECK_ALL] = "all", [CHECK_SAMPLE] = "sample"};
    use->options->check = CHECK_DEFAULT;
    for (int mode = CHECK_ALL; value && mode <= CHECK_SAMPLE; mode++)
        if (strcmp(value, names[mode]) == 0)
            use->options->check = (CheckMode)mode;
    return !value || use->options->check != CHECK_DEFAULT || invalid(use, value, "all or sample");
}

static bool set_file(const OptionUse *use, const char *value) {
    use->options->output = value;
    return true;
}

static bool set_machine(const OptionUse *use, const char *value) {
    use->options->machine = value;
    return true;
}

static bool set_text(const OptionUse *use, const char *value) {
    if (use->options->text)
        return diagnostics_error(use->diagnostics, (Span){0}, "-e is given twice");
    use->options->text = value;
    return true;
}

// The passes over loops, of which the first are the loops as lowered.
static const char *loop_pass_at(int pass) {
    return pass < 0 ? "lowered" : loop_pass_name(pass);
}

// "program, cin, ... or plan; loops:PASS for one pass over loops: lowered, ..."
static const char *pass_list(Arena *arena) {
    Text list = text_create(arena);
    for (int pass = 0; pass < PASS_COUNT; pass++)
        text_printf(&list, "%s%s", pass == 0 ? "" : pass < PASS_COUNT - 1 ? ", " : " or ", pass_names[pass]);
    text_append(&list, "; or loops:PASS for the loops after one pass:");
    for (int pass = -1; pass < loop_pass_count(); pass++)
        text_printf(&list, "%s %s",
                    pass < 0                       ? ""
                    : pass + 1 < loop_pass_count() ? ","
                                                   : " or",
                    loop_pass_at(pass));
    return text_string(&list);
}

static bool set_stop_after(const OptionUse *use, const char *value) {
    for (int pass = 0; pass < PASS_COUNT; pass++) {
        if (strcmp(pass_names[pass], value) == 0) {
            use->options->stop_after = (Pass)pass;
            use->options->loop_passes = loop_pass_count();
            return use->options->has_stop_after = true;
        }
    }
    for (int pass = -1; pass < loop_pass_count(); pass++) {
        if (strncmp(value, "loops:", 6) == 0 && strcmp(value + 6, loop_pass_at(pass)) == 0) {
            use->options->stop_after = PASS_LOOPS;
            use->options->loop_passes = pass + 1;
            return use->options->has_stop_after = true;
        }
    }
    return invalid(use, value, pass_list(use->arena));
}

// "error, ..., fused-product or no-fused-product, ..."
static const char *warning_list(Arena *arena) {
    Text list = text_create(arena);
    for (int warning = 0; warning < WARNING_COUNT; warning++)
        text_printf(&list, "%s%s", warning ? ", " : "", warning_table[warning].name);
    return text_string(&list);
}

static bool set_warning(const OptionUse *use, const char *value) {
    return warning_choose(&use->options->warnings, value) ||
           invalid(use, value,
                   arena_printf(use->arena,
                                "error, error=NAME, no-error=NAME, NAME or no-NAME, where NAME is one of %s",
                                warning_list(use->arena)));
}

static bool set_help(const OptionUse *use, const char *value) {
    (void)value;
    return use->options->help = true;
}

#define FLAG(name) .set = set_flag, .field = offsetof(Options, name)
#define COUNT(name, lowest, highest)                                                                         \
    .set = set_count, .field = offsetof(Options, name), .least = (lowest), .most = (highest)

const Option options_table[OPTION_COUNT] = {
    [OPTION_TEXT] = {"-e", NULL, "TEXT", .summary = "the text of the program, instead of FILE",
                     .set = set_text},
    [OPTION_PARAM] = {"-p", "--param", "NAME=INT", .summary = "set a param of the program; repeatable",
                      .set = set_param},
    [OPTION_RANKS] = {"-n", "--ranks", "N",
                      .summary = "number of processes (default: as many as the machine of the program needs)",
                      COUNT(ranks, 1, INT_MAX)},
    [OPTION_THREADS] =
        {NULL, "--threads", "N",
         .summary = "threads of each process (default: the cores, shared among the processes of a node)",
         COUNT(threads, 1, MAX_THREADS)},
    [OPTION_IN] =
        {NULL, "--in", "TENSOR=SOURCE",
         .summary =
             "where an input comes from: {} (default: random:1, random:2, ... in order of declaration)",
         .list = source_list, .set = set_input},
    [OPTION_OUT] = {NULL, "--out", "TENSOR=PATH",
                    .summary = "write a tensor to {} after the run; TENSOR=- prints it", .list = output_list,
                    .set = set_output},
    [OPTION_IN_PLACE] = {NULL, "--in-place", "TENSOR",
                         .summary = "the home of a tensor in disk is the file of its --in, or of its --out "
                                    "where the program computes it; repeatable",
                         .set = set_in_place},
    [OPTION_PRINT] = {NULL, "--print", "TENSOR",
                      .summary =
                          "print a tensor after the run, without the middle of a large one; repeatable",
                      .set = set_printed},
    [OPTION_CHECK] = {NULL, "--check", "all|sample", .value_is_optional = true,
                      .summary = "compare with the reference evaluator, all elements or some thousand "
                                 "(default: those above 10^11 operations); exit status 1 above the tolerance",
                      .set = set_check},
    [OPTION_REPEAT] = {NULL, "--repeat", "K", .summary = "timed executions (default: 1)",
                       COUNT(repeat, 1, INT_MAX)},
    [OPTION_WARMUP] = {NULL, "--warmup", "K", .summary = "executions before the timed ones (default: 0)",
                       COUNT(warmup, 0, INT_MAX)},
    [OPTION_MEMORY_LIMIT] = {NULL, "--memory-limit", "BYTES",
                             .summary =
                                 "refuse to run if a process needs more memory; K, M, G or T may follow "
                                 "(default: the free memory of a node, shared by its processes)",
                             .set = set_memory_limit},
    [OPTION_GPU_MEMORY_LIMIT] = {NULL, "--gpu-memory-limit", "BYTES",
                                 .summary = "the same for the GPU memory of a process (default: what is free "
                                            "there)",
                                 .set = set_gpu_memory_limit},
    [OPTION_SCRATCH] = {NULL, "--scratch", "FOLDER",
                        .summary =
                            "where tensors in disk are kept while a program runs, on each node, or the disk "
                            "is measured; nothing remains (default: TMPDIR, or /tmp)",
                        .set = set_scratch},
    [OPTION_DIRECT] =
        {NULL, "--direct", NULL,
         .summary =
             "read and write files in --scratch with direct I/O (O_DIRECT), which bypasses the page cache",
         FLAG(direct)},
    [OPTION_PIPELINE] = {NULL, "--pipeline", "on|off",
                         .summary =
                             "whether fetches in loops start a step ahead, which takes a second buffer "
                             "each, where memory allows it (default: those from memory of the host to a "
                             "GPU)",
                         .set = set_pipeline},
    [OPTION_SHARED_MEMORY] = {NULL, "--shared-memory", "on|off|N",
                              .summary =
                                  "whether ranks of a node read what others have at home in place of getting "
                                  "it in messages; N: of nodes of N ranks (default: on for `run`, off for "
                                  "`plan`)",
                              .set = set_shared_memory},
    [OPTION_MACHINE] = {NULL, "--machine", "FILE",
                        .summary = "predict times for the machine that FILE describes", .set = set_machine},
    [OPTION_AUTO] = {NULL, "--auto", NULL,
                     .summary = "with the placements and schedules that `distal schedule` finds",
                     FLAG(automatic)},
    [OPTION_OVERSUBSCRIBE] = {NULL, "--oversubscribe", NULL,
                              .summary = "allow more than 16 processes per core", FLAG(oversubscribe)},
    [OPTION_STATS] = {NULL, "--stats", "text|json", .value_is_optional = true,
                      .summary = "figures, as a table (default) or as one JSON object on standard output",
                      .set = set_stats},
    [OPTION_OUTPUT] = {"-o", NULL, "FILE", .summary = "write to FILE instead of standard output",
                       .set = set_file},
    [OPTION_STOP_AFTER] = {NULL, "--stop-after", "PASS", .summary = "print one representation: {}",
                           .list = pass_list, .set = set_stop_after},
    [OPTION_WARNING] = {"-W", NULL, "WARNING",
                        .summary =
                            "error makes errors of warnings, error=NAME of one; no-NAME switches it off: {}",
                        .list = warning_list, .set = set_warning},
    [OPTION_VERBOSE] = {"-v", "--verbose", NULL, .summary = "print more on standard error", FLAG(verbose)},
    [OPTION_QUIET] = {"-q", "--quiet", NULL, .summary = "print only errors on standard error", FLAG(quiet)},
    [OPTION_HELP] = {"-h", "--help", NULL, .summary = "print help on the command", .set = set_help},
};

const char *option_spelling(const Option *option) {
    return option->long_name ? option->long_name : option->short_name;
}

const char *option_summary(const Option *option, Arena *arena) {
    const char *hole = option->list ? strstr(option->summary, "{}") : NULL;
    if (!hole)
        return option->summary;
    return arena_printf(arena, "%.*s%s%s", (int)(hole - option->summary), option->summary,
                        option->list(arena), hole + 2);
}
