// SPDX-License-Identifier: BSD-3-Clause
// Entry sharing: of an entry move (entry_move.h), what the ranks of a node receive together
// (plan/shared_parts.h). An aggregator has the entries of each owner that it receives in the order of
// storage. Of these it finds those that each rank of the node uses, as slices, and sends it their sub-trees
// once; in each execution the ranks copy the values in these slices from its buffer.
#ifndef DISTAL_RUNTIME_ENTRY_SHARING_H
#define DISTAL_RUNTIME_ENTRY_SHARING_H

#include "runtime/entry_move.h"

// After the structure has moved to the ranks that requested it: `received` has what came to this rank, of
// which the messages had `words` words of 4 bytes, by rank, and gets all that the rank uses, in the order of
// the owners. The values have memory then. All of this takes at most `limit` bytes. Collective over `comm`,
// the ranks of the plan; false with the same diagnostic on all of them.
bool entry_sharing_find(EntryMove *move, const PartSharing *sharing, const int64_t *words, int64_t limit,
                        Entries *received, MPI_Comm comm, Diagnostics *diagnostics);
void entry_sharing_free(EntrySharing *sharing);

#endif
