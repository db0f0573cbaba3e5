// SPDX-License-Identifier: BSD-3-Clause
// Launching: `distal run` starts its own processes through the system's mpirun, each of which is the same
// command again.
#ifndef DISTAL_CLI_LAUNCH_H
#define DISTAL_CLI_LAUNCH_H

#include "cli/session.h"

// Whether this process is one of several that a launcher (ours or the user's) has started.
bool launch_is_inside(void);

// Whether this process is to be bound to cores of its own: distal's launcher has started it, and nothing in
// the environment says how ranks or their threads are bound.
bool launch_binds(void);

// What to end with: where our own launcher has started us, our parent says what became of us, and wants to
// know whether we have said why. `status` itself elsewhere.
int launch_exit_status(ExitStatus status);

// Whether the cores that this process may use take the processes of the program, 16 on each at most, or the
// user wants more (--oversubscribe). Else false with a diagnostic that names what would run. After PASS_C.
bool launch_fits(Session *session);

// Runs this command again on `ranks` processes, with the program text on their standard input where it came
// from there. Returns when all have ended.
ExitStatus launch(Session *session, int64_t ranks);

#endif
