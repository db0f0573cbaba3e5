// SPDX-License-Identifier: BSD-3-Clause
// Entry copies: what the kernel of a rank uses of a sparse operand, where that is not what the rank has at
// home as it is stored there: other levels, in whose order the kernel iterates, or entries that are at home
// on other ranks. A copy is made when the structure of the operand is new; executions copy and move values
// only.
#ifndef DISTAL_RUNTIME_ENTRY_COPY_H
#define DISTAL_RUNTIME_ENTRY_COPY_H

#include "plan/plan.h"
#include "runtime/entry_move.h"

typedef struct EntryCopy EntryCopy;

// Of the operand of a transfer, whose home is `from`. Where entries move, the plan has to stay; elsewhere it
// may be NULL. `computed`: runs write the operand, so that its values are not known when the structure is.
// Local; NULL: no memory.
EntryCopy *entry_copy_create(const StatementPlan *plan, int transfer, const Tensor *tensor, Storage *from,
                             bool computed);
void entry_copy_free(EntryCopy *copy); // which may be NULL
// What the kernel uses.
Storage *entry_copy_storage(const EntryCopy *copy);
// The entries at the coordinates of those of `by` are needed; NULL: all of the footprint are.
void entry_copy_set_index(EntryCopy *copy, const Storage *by);
bool entry_copy_is_indexed(const EntryCopy *copy);
// Where the ranks of a node receive parts together (plan/shared_parts.h), as `part` says of this rank.
void entry_copy_share(EntryCopy *copy, const RankTransfer *part, Reading *reading);
// Its values are put into `result`, which will share its structure, and not into what the kernel uses. Those
// that come with the structure stay there until the result takes them.
void entry_copy_put_values(EntryCopy *copy, Storage *result);

// Whether the copy has the structure that the operand has now, and what the next run needs to copy values.
bool entry_copy_is_known(const EntryCopy *copy);
// Gives it that structure, or what is missing, in the memory that the operand may take but for `taken` bytes.
// Collective over `comm`, with the same outcome on all ranks.
bool entry_copy_make(EntryCopy *copy, int64_t taken, MPI_Comm comm, Diagnostics *diagnostics);
// Copies the values, unless they came with the structure since the last time. Collective where entries move.
void entry_copy_refresh(EntryCopy *copy);
// The next refresh copies the values, also where they came with the structure. Local.
void entry_copy_invalidate(EntryCopy *copy);

// How entries move; its exchange is empty where they do not.
const EntryMove *entry_copy_move(const EntryCopy *copy);
// All that the copy takes.
int64_t entry_copy_bytes(const EntryCopy *copy);

#endif
