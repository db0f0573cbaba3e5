// SPDX-License-Identifier: BSD-3-Clause
// Copies: where threads add to the same elements of a piece, the first one adds to the piece itself and every
// other one to a copy of its own (array privatization). Then the copies are added to the piece, in the order
// of the threads, so that the sum depends on their number only.
#ifndef DISTAL_RUNTIME_COPIES_H
#define DISTAL_RUNTIME_COPIES_H

#include "io/piece.h"

typedef struct {
    int64_t count; // of copies, one less than threads at most
    int64_t pitch; // elements from one copy to the next
    char *data;
    bool *used; // by copy, since the last merge
} Copies;

// Memory for copies of pieces whose span is at most `span`. False where there is not enough. In any case
// copies_free has to follow.
bool copies_allocate(Copies *copies, int64_t count, int64_t span, ElementType type);
void copies_free(Copies *copies);

// What thread number `thread` adds to: the elements of the piece, or a copy that has the identity
// everywhere and the strides of the piece. Threads may call it at the same time.
void *copies_take(Copies *copies, Reducer reducer, const Piece *piece, int thread);
// Combines the copies that were taken with the piece, after the threads are done.
void copies_merge(Copies *copies, Reducer reducer, const Piece *piece);

#endif
