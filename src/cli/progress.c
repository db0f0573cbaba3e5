// SPDX-License-Identifier: BSD-3-Clause
#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Progress progress_start(bool on) {
    // A rank's standard error is a pipe to the launcher; the launching process has looked for a terminal.
    on = on && (isatty(STDERR_FILENO) || getenv("DISTAL_STDERR_IS_TERMINAL"));
    return (Progress){.on = on, .start = clock_seconds()};
}

void progress_show(Progress *progress, const char *what, int64_t done, int64_t all) {
    if (!progress->on)
        return;
    const double time = clock_seconds();
    if (time - progress->start < 1 || time - progress->last < 0.2)
        return;
    progress->last = time;
    progress->shown = true;
    fprintf(stderr, "\r\033[K%s: %d%%", what, all > 0 ? (int)(100.0 * (double)done / (double)all) : 100);
    fflush(stderr);
}

void progress_end(Progress *progress) {
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
