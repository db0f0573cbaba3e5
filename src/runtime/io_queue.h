// SPDX-License-Identifier: BSD-3-Clause
// Reading ahead and writing behind: what executions ask of tensors in disk is done by one thread of the
// process, in the order in which it was asked for, so that what is read is what was written before.
#ifndef DISTAL_RUNTIME_IO_QUEUE_H
#define DISTAL_RUNTIME_IO_QUEUE_H

#include "io/piece.h"

typedef struct IoQueue IoQueue;

// A queue with its thread; NULL: there is no memory, or no thread.
IoQueue *io_queue_create(void);
// After all that was asked for is done. NULL is fine.
void io_queue_free(IoQueue *queue);

// Asks for piece_copy(to, from, rect), or piece_reduce with `reducer`, where one of the pieces is in disk.
// `rect` has to stay until that is done, and so have the elements. Waits where the queue is full.
typedef struct {
    Piece to, from;
    const Rect *rect;
    bool reduces;
    Reducer reducer;
} IoRequest;
// Returns its number; numbers increase by 1.
int64_t io_queue_add(IoQueue *queue, const IoRequest *request);
// Waits until all requests up to this number are done. 0: nothing to wait for.
void io_queue_wait(IoQueue *queue, int64_t number);
void io_queue_wait_all(IoQueue *queue);

#endif
