// SPDX-License-Identifier: BSD-3-Clause
// Reading ahead and writing behind: requests of executions for tensors in disk, which one thread of the
// process completes in the order in which they were submitted, so that what is read is what was written
// before.
#ifndef DISTAL_RUNTIME_IO_QUEUE_H
#define DISTAL_RUNTIME_IO_QUEUE_H

#include "io/piece.h"

typedef struct IoQueue IoQueue;

// A queue with its thread; NULL: there is no memory, or no thread.
IoQueue *io_queue_create(void);
// After all requests are completed. NULL is fine.
void io_queue_free(IoQueue *queue);

// piece_copy(to, from, rect), or piece_reduce with `reducer`, where one of the pieces is in disk. `rect` has
// to stay until that is completed, and so have the elements.
typedef struct {
    Piece to, from;
    const Rect *rect;
    bool reduces;
    Reducer reducer;
} IoRequest;
// Waits where the queue is at its capacity. Returns the number of the request; numbers increase by 1.
int64_t io_queue_submit(IoQueue *queue, const IoRequest *request);
// Waits until all requests up to this number are completed. 0: nothing to wait for.
void io_queue_wait(IoQueue *queue, int64_t number);
void io_queue_wait_all(IoQueue *queue);

#endif
