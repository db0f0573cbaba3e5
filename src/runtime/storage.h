// SPDX-License-Identifier: BSD-3-Clause
// Storage: the home pieces of one tensor on one rank, in the memory that its placement names. Each piece is
// one allocation, stored in the tensor's mode order with stride 1 in the mode that is stored last.
#ifndef DISTAL_RUNTIME_STORAGE_H
#define DISTAL_RUNTIME_STORAGE_H

#include "io/piece.h"
#include "plan/home.h"

typedef struct {
    const Home *home;
    ElementType type;
    int64_t rank;
    int64_t piece_count;
    Piece *pieces; // as home_pieces gives them
    bool owned;    // whether the elements are released with the storage
} Storage;

// Memory for what `rank` holds at home, set to zero or left as it comes. NULL with a diagnostic that names
// rank, tensor and size where there is not enough. `home` has to stay. Freed with storage_free.
Storage *storage_create(const Home *home, int64_t rank, bool zero, Diagnostics *diagnostics);
void storage_free(Storage *storage);

// The same over memory of the caller: `pieces` have the rectangles of the home pieces of `rank`, in their
// order. They are copied. Kernels take strides of 1 in the mode that is stored last only. NULL: no memory for
// that.
Storage *storage_wrap(const Home *home, int64_t rank, const Piece *pieces);

void storage_zero(Storage *storage);

#endif
