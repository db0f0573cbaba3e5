// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_table.h"

const Option options_table[OPTION_COUNT] = {
    [OPTION_TEXT] = {"-e", NULL, "TEXT", false, "the program itself, in place of FILE"},
    [OPTION_PARAM] = {"-p", "--param", "NAME=INT", false, "set a param of the program; repeatable"},
    [OPTION_RANKS] = {"-n", "--ranks", "N", false,
                      "number of processes (default: as many as the machine of the program needs)"},
    [OPTION_THREADS] = {NULL, "--threads", "N", false,
                        "threads of each process (default: the cores, shared among the processes of a node)"},
    [OPTION_IN] = {NULL, "--in", "TENSOR=SOURCE", false,
                   "where an input comes from: PATH.npy, zeros, ones, iota, const:V or random:SEED (default: "
                   "random:1, random:2, ... in order of declaration)"},
    [OPTION_OUT] = {NULL, "--out", "TENSOR=PATH", false, "write a tensor to PATH.npy after the run"},
    [OPTION_CHECK] = {NULL, "--check", NULL, false,
                      "compare with the reference evaluator; exit status 1 above the tolerance"},
    [OPTION_REPEAT] = {NULL, "--repeat", "K", false, "timed executions (default: 1)"},
    [OPTION_WARMUP] = {NULL, "--warmup", "K", false, "executions before the timed ones (default: 0)"},
    [OPTION_MEMORY_LIMIT] =
        {NULL, "--memory-limit", "BYTES", false,
         "refuse what takes more memory of a process; K, M, G or T may follow (default: what is "
         "free on a node, shared by its processes)"},
    [OPTION_OVERSUBSCRIBE] = {NULL, "--oversubscribe", NULL, false,
                              "start more than 16 processes a core, which are refused otherwise"},
    [OPTION_STATS] = {NULL, "--stats", "text|json", true,
                      "figures, as a table (default) or as one JSON object on standard output"},
    [OPTION_OUTPUT] = {"-o", NULL, "FILE", false, "write to FILE instead of standard output"},
    [OPTION_STOP_AFTER] = {NULL, "--stop-after", "PASS", false,
                           "print one representation: program, cin, schedule, spmd, c or plan"},
    [OPTION_VERBOSE] = {"-v", "--verbose", NULL, false, "say more on standard error"},
    [OPTION_QUIET] = {"-q", "--quiet", NULL, false, "say nothing but errors on standard error"},
};

const char *option_spelling(const Option *option) {
    return option->long_name ? option->long_name : option->short_name;
}
