// SPDX-License-Identifier: BSD-3-Clause
// The part of --check that evaluates elements of dense statements: all of them, or some that are drawn.
#ifndef DISTAL_CLI_RUN_CHECK_H
#define DISTAL_CLI_RUN_CHECK_H

#include "cli/run.h"
#include "index/evaluate.h"

enum { CHECK_SEED = 1 };

// What is compared: `inputs` by tensor id, and the result, all whole.
typedef struct {
    const char *name; // of the result
    Evaluator *evaluator;
    const void *const *inputs;
    const char *result;
    size_t element_size; // of the result
    int64_t executions;  // of a repeated statement, all of which are checked: at most
    bool is_first;       // of these
} CheckedElements;

// Evaluates this rank's share of the elements, or of those that are drawn, and compares them with the result;
// sets the error of this rank, and how many elements are looked at on all ranks, in the report. On a
// terminal rank 0 says how long it takes where that is more than 10 s. False with a diagnostic. Collective.
bool check_elements(Run *run, const CheckedElements *checked, StatementReport *report);

// Says that checking `name` takes this long, where it is long and progress is shown; `hint` follows.
void check_announce(const Progress *progress, const char *name, double seconds, const char *hint);

#endif
