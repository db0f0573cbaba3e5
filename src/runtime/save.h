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
typedef struct InPlaceOutput InPlaceOutput;
// Creates the draft of `path` in its full size, with zeros, and opens it on all ranks, as the storage of a
// home of FILE_SHARED_WRITTEN. NULL with the same diagnostic on all ranks. `number`: of those with the token
// that are there together, another one for each, from 1 on; 0: the token is of this one alone. It is in the
// arena.
InPlaceOutput *output_in_place(const Home *home, int64_t rank, const char *path, DraftToken token,
                               int64_t number, Arena *arena, MPI_Comm comm, Storage **storage,
                               Diagnostics *diagnostics);
// Closes the file, so that the storage has no elements any more, and gives it its name. False where that
// fails, or something could not be written before; then nothing remains.
bool output_in_place_end(InPlaceOutput *output, MPI_Comm comm, Diagnostics *diagnostics);
// Frees it with its storage, in any case; where it has not ended, nothing remains of it. Local.
void output_in_place_drop(InPlaceOutput *output);

#endif
