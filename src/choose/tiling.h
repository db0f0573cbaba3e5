// SPDX-License-Identifier: BSD-3-Clause
// Loops over tiles of a statement with tensors in disk, by formula. Variables that index the same accesses
// are a group; a tile has a part of each group, and the loops of a group stand together. An access moves in
// the innermost loop whose variable it has, so that it is brought again for each iteration of loops outside
// of that whose variable it has not. Looked at are all orders of the groups, with numbers of tiles that are
// integers and keep the buffers within the memory.
#ifndef DISTAL_CHOOSE_TILING_H
#define DISTAL_CHOOSE_TILING_H

#include "choose/search.h"

// The best, each in another order of loops, the fastest first; at most `most` of them. Returns how many. With
// `places` (of tensors, by id) for these; without, roughly, for tensors that lie where they are used.
// `memory`: bytes for buffers; where nothing fits, the one that needs least. `rotated`: a variable that is
// not distributed, whose parts are shifted in as many steps; -1: none.
// `outside`: the accesses whose tensors are copied in disk to where they are used, before.
int tiling_find(Search *search, const SearchStatement *statement, const Candidate *candidate,
                const unsigned char *places, double memory, int rotated, int64_t steps, uint64_t outside,
                Tiling *found, int most);

// The best in the order of loops of another one, for as many bytes of buffers.
Tiling tiling_resize(Search *search, const SearchStatement *statement, const Candidate *candidate,
                     const unsigned char *places, double memory, const Tiling *like);

// Bytes for buffers of a rank with these places (NULL: before they are known); without a limit, infinite.
double tiling_memory(const Search *search, const unsigned char *places);

#endif
