// SPDX-License-Identifier: BSD-3-Clause
// Progress of long work: one line on the terminal that is rewritten; nothing where there is no terminal.
#ifndef DISTAL_CLI_PROGRESS_H
#define DISTAL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

// Shows "what: 35%", at most a few times a second and not in the first second.
typedef struct {
    bool shown, on;
    double start, last;
} Progress;

// `on`: this process shows it, and -q is not given.
Progress progress_start(bool on);
void progress_show(Progress *progress, const char *what, int64_t done, int64_t all);
// Removes the line.
void progress_end(Progress *progress);

#endif
