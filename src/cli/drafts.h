// SPDX-License-Identifier: BSD-3-Clause
// Drafts of the outputs of a run (io/output.h). When a run is interrupted, its drafts are removed: by the
// launching process, which outlives its ranks, or by the rank that has created them, when it gets a signal.
#ifndef DISTAL_CLI_DRAFTS_H
#define DISTAL_CLI_DRAFTS_H

#include "cli/options.h"
#include "io/output.h"

// The token in the names of this run's drafts: from the launching process, or chosen here. Always the same.
DraftToken drafts_token(void);

// In the launching process: before ranks are started, passes the token on to them; after they have ended,
// removes the drafts that they have left.
void drafts_share_token(void);
void drafts_remove(const Options *options, Arena *arena);

// On the rank that creates drafts: from now on SIGINT, SIGTERM and SIGHUP remove them before they end the
// process. `arena` must not be freed.
void drafts_remove_on_signals(const Options *options, Arena *arena);

#endif
