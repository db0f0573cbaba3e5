// SPDX-License-Identifier: BSD-3-Clause
// Shared buffer: what a rank receives as aggregator of a transfer (plan/shared_parts.h) in shared memory, in
// each execution, and the buffers of other aggregators of its node that it copies from.
#ifndef DISTAL_RUNTIME_SHARED_BUFFER_H
#define DISTAL_RUNTIME_SHARED_BUFFER_H

#include "plan/plan.h"
#include "runtime/reading.h"

// The buffer of a member of the node; without memory: nothing is copied from it.
typedef struct {
    int64_t rank, bytes;
    char *memory;
} SharedMapping;

// All zero: neither has this rank one nor copies it from any.
typedef struct {
    Reading *reading;
    int transfer;
    char *memory; // NULL: this rank receives nothing as aggregator
    int64_t bytes;
    int64_t *places; // by member, where its buffer is in its shared memory, and its bytes
    int mapped_count;
    SharedMapping *mapped; // by member
} SharedBuffer;

// Makes the buffer of this rank, of so many bytes. Local; false: no memory. shared_buffer_free follows in any
// case.
bool shared_buffer_create(SharedBuffer *buffer, Reading *reading, int transfer, int64_t bytes);
// Tells the other ranks of the node where it is. Collective over the neighbours, which have all made theirs.
void shared_buffer_exchange(const SharedBuffer *buffer);
// The buffer of a member, which this rank will copy from. Local, after that; NULL: no memory.
const char *shared_buffer_map(SharedBuffer *buffer, const StatementPlan *plan, int64_t member);
void shared_buffer_free(SharedBuffer *buffer);

// In an execution: all that this rank receives as aggregator has arrived; it waits until all is there that it
// copies.
void shared_buffer_received(const SharedBuffer *buffer);
void shared_buffer_wait(const SharedBuffer *buffer);

#endif
