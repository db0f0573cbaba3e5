// SPDX-License-Identifier: BSD-3-Clause
// Drafts of the outputs of a run that have names (io/output.h). When a run is interrupted, they are removed:
// by the process that supervises its ranks (cli/supervise.h), and by the rank that has created them, when it
// gets a signal.
#ifndef DISTAL_CLI_DRAFTS_H
#define DISTAL_CLI_DRAFTS_H

#include "cli/options.h"
#include "io/output.h"

// The token in the names of this run's drafts: from the launching process, or chosen here at the first call.
DraftToken drafts_token(void);

// In the launching process, before ranks are started: passes the token on to them.
void drafts_share_token(void);
// The names of all drafts that this run may create, NULL at the end.
const char *const *drafts_names(const Options *options, Arena *arena);

// On the rank that creates drafts: from now on SIGINT, SIGTERM and SIGHUP remove them before they end the
// process. `arena` must not be freed.
void drafts_remove_on_signals(const Options *options, Arena *arena);

#endif
