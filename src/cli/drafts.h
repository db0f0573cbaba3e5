// SPDX-License-Identifier: BSD-3-Clause
// Drafts of the outputs of a run (io/output.h): what is left of them when the run is interrupted is removed,
// by the launching process, which outlives its ranks, and by a rank that gets a signal.
#ifndef DISTAL_CLI_DRAFTS_H
#define DISTAL_CLI_DRAFTS_H

#include "cli/options.h"
#include "io/output.h"

// What the drafts of this run are named by: chosen here, or by the launching process. The same in every call.
DraftToken drafts_token(void);

// In the launching process, before and after its ranks run: makes the token known to them; removes what they
// have left.
void drafts_share_token(void);
void drafts_remove(const Options *options, Arena *arena);

// On the rank that makes the drafts: SIGINT, SIGTERM and SIGHUP remove them and then end the process as they
// do elsewhere. `arena` has to stay.
void drafts_remove_on_signals(const Options *options, Arena *arena);

#endif
