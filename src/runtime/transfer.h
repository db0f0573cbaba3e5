// SPDX-License-Identifier: BSD-3-Clause
// One transfer of an execution on one rank: its place in the steps of the plan, its buffers, and the messages
// of every step, described ahead. The same walk over the steps prepares it and runs it.
#ifndef DISTAL_RUNTIME_TRANSFER_H
#define DISTAL_RUNTIME_TRANSFER_H

#include "distal_kernel.h"
#include "plan/plan.h"
#include "runtime/copies.h"
#include "runtime/message.h"
#include "runtime/storage.h"

// What an action hands to MPI.
typedef struct {
    void *data;
    MessageType message;
    MPI_Comm comm;
    int peer; // rank in comm
} Operand;

typedef struct {
    const RankTransfer *plan;
    Storage *storage;
    int64_t size; // bytes of an element
    void *buffers[2], *scratch;
    Copies copies; // of what a leaf adds to, where its threads need them
    MessageTypes *types;
    Operand *operands;     // by action
    MPI_Request *requests; // of the step in progress
    int request_count;

    int64_t step; // the next one
    int buffer;   // the one used last
    Piece view;   // of the step last begun; no data where nothing was needed
    distal_view exposed;
    int64_t bytes, messages; // counted since transfer_reset
} TransferState;

// Local: buffers and everything else that takes memory. False with a diagnostic. In any case transfer_free
// has to follow.
bool transfer_allocate(TransferState *state, const RankTransfer *plan, Storage *storage,
                       Diagnostics *diagnostics);
// Local: describes all messages. `groups` and `group_comms` are by group.
bool transfer_prepare(TransferState *state, MPI_Comm comm, const Group *groups, const MPI_Comm *group_comms,
                      Diagnostics *diagnostics);
void transfer_free(TransferState *state);

// Back to the first step, counters to zero.
void transfer_reset(TransferState *state);

// As the calls of distal_kernel.h.
void transfer_start(TransferState *state);
void transfer_wait(TransferState *state);
void transfer_accumulate(TransferState *state);
void transfer_reduce(TransferState *state);

#endif
