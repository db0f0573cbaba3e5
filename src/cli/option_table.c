// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_table.h"

const char *const command_names[] = {"check", "explain", "emit", "plan", "run", "help", "version"};

enum {
    CHECK = 1 << COMMAND_CHECK,
    EXPLAIN = 1 << COMMAND_EXPLAIN,
    EMIT = 1 << COMMAND_EMIT,
    PLAN = 1 << COMMAND_PLAN,
    RUN = 1 << COMMAND_RUN,
    ALL = CHECK | EXPLAIN | EMIT | PLAN | RUN,
};

const Option options_table[OPTION_COUNT] = {
    [OPTION_TEXT] = {"-e", NULL, "TEXT", false, ALL, "the program itself, in place of FILE"},
    [OPTION_PARAM] = {"-p", "--param", "NAME=INT", false, ALL, "set a param of the program; repeatable"},
    [OPTION_RANKS] = {"-n", "--ranks", "N", false, ALL,
                      "number of processes (default: as many as the machine of the program needs)"},
    [OPTION_THREADS] = {NULL, "--threads", "N", false, RUN,
                        "threads of each process (default: the cores, shared among the processes of a node)"},
    [OPTION_IN] = {NULL, "--in", "TENSOR=SOURCE", false, RUN,
                   "where an input comes from: PATH.npy, zeros, ones, iota, const:V or random:SEED (default: "
                   "random:1, random:2, ... in order of declaration)"},
    [OPTION_OUT] = {NULL, "--out", "TENSOR=PATH", false, RUN, "write a tensor to PATH.npy after the run"},
    [OPTION_CHECK] = {NULL, "--check", NULL, false, RUN,
                      "compare with the reference evaluator; exit status 1 above the tolerance"},
    [OPTION_REPEAT] = {NULL, "--repeat", "K", false, RUN, "timed executions (default: 1)"},
    [OPTION_WARMUP] = {NULL, "--warmup", "K", false, RUN, "executions before the timed ones (default: 0)"},
    [OPTION_STATS] = {NULL, "--stats", "text|json", true, PLAN | RUN,
                      "figures, as a table (default) or as one JSON object on standard output"},
    [OPTION_OUTPUT] = {"-o", NULL, "FILE", false, EMIT, "write to FILE instead of standard output"},
    [OPTION_STOP_AFTER] = {NULL, "--stop-after", "PASS", false, EXPLAIN,
                           "print one representation: program, cin, schedule, spmd, c or plan"},
    [OPTION_VERBOSE] = {"-v", "--verbose", NULL, false, ALL, "say more on standard error"},
    [OPTION_QUIET] = {"-q", "--quiet", NULL, false, ALL, "say nothing but errors on standard error"},
};

bool command_takes_program(CommandName command) {
    return ALL & (1 << command);
}

const char *option_spelling(const Option *option) {
    return option->long_name ? option->long_name : option->short_name;
}
