// SPDX-License-Identifier: BSD-3-Clause
// Where data moves: the transfers of a nest and the loops that they stand in (DISTAL, section 3.3,
// communicate).
#ifndef DISTAL_LOWER_TRANSFERS_H
#define DISTAL_LOWER_TRANSFERS_H

#include "spmd/spmd.h"

typedef Array(Transfer) TransferArray;

// The loops of a nest that are executed one after the other, outermost first; their number.
int sequential_loops(const Cin *cin, const Nest *nest, int *loops);

// How many of these, from the outermost, have transfers inside: the others are loops of the leaf.
int leaf_depth(const Cin *cin, const Nest *nest);

typedef Array(RowWorkspace) RowWorkspaceArray;

// Appends the transfers of nest `index`, of all that it accesses but row workspaces: the reduction of its
// left side first, then a fetch for each access that it reads, in order of occurrence. An access moves at the
// loop that `communicate` names for its tensor, where the nest has that loop, else at the innermost
// distributed loop.
void transfers_of_nest(const Cin *cin, const Nest *nest, int index, TransferArray *transfers);

// Appends the row workspaces of `stmt`, which has no loops around it, outermost first.
void rows_of_stmt(const Cin *cin, const Stmt *stmt, RowWorkspaceArray *rows);

// The assignment of nest `index` as the leaf makes it: with the accesses of its transfers, and row workspaces
// by the variables that locate elements in them.
const Stmt *leaf_assign(const Cin *cin, const Nest *nest, int index, const TransferArray *transfers);

// Sets `indexing` and index_levels, when all transfers of `spmd` have the accesses of its leaves.
void transfers_find_levels(const Spmd *spmd, TransferArray *transfers);
// Sets `rows` of the transfers of a leaf, when those before are set.
void transfers_find_rows(const Spmd *spmd, const Leaf *leaf, TransferArray *transfers);
// Sets `ahead`, when `rows` of all transfers are set.
void transfers_find_ahead(const Spmd *spmd, TransferArray *transfers);
// Sets indexed_by of the fetches of a nest.
void transfers_find_indices(const Cin *cin, const Nest *nest, int index, TransferArray *transfers);

#endif
