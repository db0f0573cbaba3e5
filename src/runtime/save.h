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

// An output that is the home of a tensor while it is computed, written in place. Like others, it appears
// under its name when it is complete.
// Creates the draft of `path` in its full size, with zeros, and opens it on all ranks: the storage of a home
// of FILE_SHARED_WRITTEN. NULL with the same diagnostic on all ranks. What `output` refers to is in `arena`,
// which agreements (runtime/agreement.h) have to cover. `number`: of those with the token that are there
// together, another one for each, from 1 on; 0: the token is of this one alone. Unless it becomes complete,
// output_finish removes it.
Storage *storage_create_in_output(const Home *home, int64_t rank, const char *path, DraftToken token,
                                  int64_t number, Arena *arena, MPI_Comm comm, Output *output,
                                  Diagnostics *diagnostics);
// Gives it its name; from then on the storage must only be read. False where that fails, or something could
// not be written before; then nothing remains of the output.
bool storage_complete_output(const Storage *storage, Output *output, MPI_Comm comm, Diagnostics *diagnostics);

#endif
