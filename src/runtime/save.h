// SPDX-License-Identifier: BSD-3-Clause
// Tensors out: all ranks together write one to a file. Collective over `comm`; a failure on one rank is the
// same diagnostic on all.
#ifndef DISTAL_RUNTIME_SAVE_H
#define DISTAL_RUNTIME_SAVE_H

#include "io/output.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"

// Writes `path` in the format that its ending says: whole under this name, or not at all. The bytes are the
// same for any number of ranks and any home. `token` names the draft; the first rank's counts.
bool storage_save(const Storage *storage, const char *path, DraftToken token, MPI_Comm comm,
                  Diagnostics *diagnostics);

#endif
