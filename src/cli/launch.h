// SPDX-License-Identifier: BSD-3-Clause
// Launching: `distal run` starts its processes through the system's mpirun; each runs the same command again.
#ifndef DISTAL_CLI_LAUNCH_H
#define DISTAL_CLI_LAUNCH_H

#include "cli/session.h"

// A path by which the kernel executes this command again, `name` being its arguments[0].
const char *launch_executable(const char *name);

// Whether this process is one of several that a launcher (ours or the user's) has started.
bool launch_is_inside(void);
// Whether it was ours: the process that has launched this one compiles the same program, and says what is
// wrong with it.
bool launch_is_ours(void);

// Whether this process binds itself to cores: distal has launched it, and the environment does not say how
// ranks or their threads are bound.
bool launch_binds(void);

// The exit status of the process: in a rank that distal has launched, a code by which the launching process
// knows that this rank has printed why it failed; else `status` itself.
int launch_exit_status(ExitStatus status);

// Whether there are at most 16 processes for each core that this process may use, or --oversubscribe is
// given. Else false with a diagnostic that says what would be possible. The first one is for the ranks of a
// program, after PASS_C.
bool launch_fits(Session *session);
bool launch_fits_ranks(Session *session, int64_t ranks);

// Runs this command again as `ranks` processes, which read the program text from standard input if this one
// did. Returns when all have ended.
ExitStatus launch(Session *session, int64_t ranks);

#endif
