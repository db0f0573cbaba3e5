// SPDX-License-Identifier: BSD-3-Clause
// One transfer of an execution on one rank: its place in the steps of the plan, its buffers, and the
// operations of every step, prepared ahead. The same walk over the steps prepares it and runs it.
#ifndef DISTAL_RUNTIME_TRANSFER_H
#define DISTAL_RUNTIME_TRANSFER_H

#include "distal_kernel.h"
#include "runtime/call.h"
#include "runtime/communicators.h"
#include "runtime/copies.h"
#include "runtime/indexed_fetch.h"
#include "runtime/io_queue.h"
#include "runtime/reading.h"

// A result that is copied to the host, and is to be added to what is at home there.
typedef struct {
    const RankStep *step; // NULL: there is none
    Piece view;
    DeviceTicket ticket;
} LeftResult;

typedef struct {
    CallScope scope;
    void *buffers[2];
    void *gpu_buffers[2]; // of a leaf on a GPU: of the same sizes
    bool streams;         // what is copied between these, and homes, is in streams of its own (gpu_copies.h):
    DeviceTicket sent[2]; // latest copy from each buffer on the host
    DeviceTicket taken[2]; // latest copy from each buffer on the GPU
    DeviceTicket arrived;  // copies of the step that was started last
    LeftResult left;
    const Storage *by;     // of the operand that lists coordinates of this one, which kernels use; or NULL
    IndexedFetch *indexed; // of a dense tensor indexed by a sparse one; NULL: as planned
    int leaf;              // the nest that has it, of a transfer that overlaps with rows; -1
    void *stage_memory;    // of stages
    Copies copies;         // of what a leaf adds to, where its threads need them
    void *gpu_partials;    // partial results of blocks, warps and threads: as many as planned, then their sum
    int64_t gpu_partial_span; // elements of each
    OperationCall *calls; // as the operations of the plan; those of one step in the order in which they start
    Reading *reading;     // of what is read from neighbours; NULL: nothing is
    Piece *neighbours;    // their pieces, as those of the plan
    SharedBlock partial;  // of partial results that neighbours read: the buffer
    const RankStep *given; // whose partial results in it their owners may not have taken yet; NULL: none
    IoQueue *queue;        // of what is read ahead and written behind; NULL: nothing is
    int64_t submitted;     // the latest request of the step that was started last
    int64_t written[2];    // the latest request that writes from each buffer
    bool blocks;           // whether operations with which nothing overlaps block
    int64_t step;          // the next one that starts
    bool ahead;            // the latest step was started before the kernel uses it
    int buffer;            // the one used last
    distal_view exposed;
} TransferState;

// `storage` has what the kernel uses of a sparse tensor; `on_gpu`: its leaves are on a GPU. Local: buffers
// and everything else that takes memory, `arena` included. False with a diagnostic. In any case transfer_free
// has to follow.
bool transfer_allocate(TransferState *state, const RankTransfer *plan, Storage *storage, bool on_gpu,
                       Arena *arena, Diagnostics *diagnostics);
// Local: describes all messages. The groups have their communicators.
bool transfer_prepare(TransferState *state, const Group *groups, const Communicators *communicators,
                      Diagnostics *diagnostics);
void transfer_free(TransferState *state);
// Local: gives threads that need copies those that are large enough, as a result may have got more entries.
// False with a diagnostic.
bool transfer_allocate_copies(TransferState *state, Diagnostics *diagnostics);

// Back to the first step, counters to zero.
void transfer_reset(TransferState *state);

// Begins the next step: its view, and which buffer is in use.
const RankStep *transfer_advance(TransferState *state);

// As the calls of distal_kernel.h.
void transfer_start(TransferState *state);
void transfer_start_next(TransferState *state);
void transfer_wait(TransferState *state);
void transfer_fetch(TransferState *state);
void transfer_accumulate(TransferState *state);
void transfer_reduce(TransferState *state);

#endif
