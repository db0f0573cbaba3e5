// SPDX-License-Identifier: BSD-3-Clause
// The plan of one rank in one transfer: for each step the view through which its leaf reads or writes, and
// the operations that it takes part in, with what it sends and receives. It is all that an execution needs.
#ifndef DISTAL_PLAN_RANK_PLAN_H
#define DISTAL_PLAN_RANK_PLAN_H

#include "machine/rect.h"
#include "memory/device.h"
#include "memory/disk.h"
#include "plan/operation.h"
#include "spmd/spmd.h"

// A set of ranks that take part in one collective operation, in increasing order.
typedef struct {
    int64_t count;
    const int64_t *ranks;
} Group;

// Elements at one end of a message.
struct Part {
    Rect rect;
    int64_t peer;  // rank at the other end; the own rank where nothing is sent
    int64_t piece; // home piece of this rank that contains them; -1: they are in a view
    bool previous; // the view of the step before, else that of this step
    // Of a home in disk: STAGE_FILE, from where or to where an operation moves them itself (local); the
    // number of the stage of the transfer that has them in memory, from 1 on; or STAGE_VIEW, the view of this
    // step, which has them as well.
    int64_t stage;
    // In disk: what is there before counts for nothing, so it is not read to be added to.
    bool fresh;
};
enum { STAGE_FILE = 0, STAGE_VIEW = -1 };
// Elements of a home in disk that are in memory while a step is in progress: read before its operations
// start, for what is reduced unless it is fresh, and for this written when they have finished.
typedef struct {
    Rect rect;
    int64_t piece;  // home piece that contains it
    int64_t offset; // in the memory of stages, in elements
    bool reads;
} DiskStage;
// What the rank reads where it is, of a neighbour, or beside those its own: a home piece or, of a reduction,
// the view that has partial results in a step, which is piece 0.
typedef struct {
    int64_t rank, piece;
    Rect rect;
} NeighbourPiece;
// What is copied from there into the view or, of a reduction, added to a home piece.
typedef struct {
    Rect rect;
    int64_t from;  // index of the pieces of neighbours
    int64_t piece; // of a reduction: the home piece
} NeighbourCopy;
// For qsort: part_order.
int part_compare(const void *left, const void *right);

// The share of one rank in an operation. What its sends and receives are depends on the operation:
//
// local: receives only. Of a fetch, parts that are copied from home pieces into the view; of a reduction,
//   parts of the view that are added to home pieces.
// shift, gather, exchange: messages. Sends from home pieces or the previous view, receives into the view.
//   Parts are sorted by peer, and those of one peer by rect_compare, so that both ends agree. With a
//   group, the messages are one collective operation of its members (MPI_Alltoallw).
// broadcast: at the root one send, from its home piece; at the other members one receive, into the view.
// all-gather: one send, the part that this rank owns, from its home piece; one receive for each member of the
//   group, in its order, into the view, the own part too.
// accumulate: messages. Sends of parts of the view to owners, receives from other ranks, which are added to
//   home pieces.
// reduce: one send where `contributes` is set, from the view; at the root one receive, in a home piece.
// all-reduce: one send where `contributes` is set; one receive where this rank is an owner. The root is the
//   first owner.
// replicate: the same, but the root is the only rank that contributes, one of the owners.
// reduce-scatter: one send for each member of the group, in its order, the part that this member owns; one
//   receive, the own part. Every member contributes.
//
// Rectangles of an operation with a group are the same on all of its members. What home pieces hold before a
// reduction is part of the sum, once.
struct RankOperation {
    const Operation *operation;
    int64_t group;    // index of the groups of the plan; -1: messages between two ranks
    int64_t root;     // rank; -1: none
    bool contributes; // reductions: this rank has a partial result in its view
    // Reductions with a group: no other operation of the step adds to its elements, so the sum can be formed
    // in home pieces. The same on all members.
    bool exclusive;
    bool read; // all of it is read from neighbours (plan/neighbours.h): it is counted, and nothing is sent
    int64_t send_count, receive_count;
    Part *sends, *receives;
    // Counted on this rank: what it receives from other ranks or, of a reduction, contributes to them.
    int64_t bytes, messages;
};

typedef struct {
    bool empty;               // nothing needed: the view has no data
    Rect view;                // rectangle that the view covers, when not empty
    int64_t first[MAX_ORDER]; // what the variables of the transfer's access count from, in the first element
                              // of the view
    int64_t piece;            // in place in this home piece; -1: in the buffer, or else
    int64_t neighbour;        // in place in this piece of a neighbour, from 1 on; 0: it is not
    bool kept;                // the buffer holds it from the step before
    int64_t first_operation, operation_count;
    int64_t first_stage, stage_count;
    int64_t first_copy, copy_count; // from neighbours
    int64_t first_owner, owner_count;
} RankStep;

typedef struct {
    int64_t rank;
    const Transfer *transfer;
    int64_t step_count;
    const RankStep *steps;
    int64_t operation_count; // of all steps
    const RankOperation *operations;
    bool pipelined;           // a step starts before the one before has been used, or written
    int64_t buffer_count;     // 0, 1, or 2 where the step before is still being used or sent
    int64_t buffer_elements;  // of each
    int64_t scratch_elements; // of the step that needs most
    // Of a leaf on a GPU: how many partial results its blocks, warps or threads have, and the elements of
    // each.
    int64_t gpu_partial_count, gpu_partial_elements;
    // Of a home in disk; covers: also of one in memory of the host, of a leaf on a GPU.
    int64_t stage_count; // of all steps
    const DiskStage *stages;
    int64_t stage_elements; // of the step that needs most
    bool covers;            // what is written first, and not read before, is all that the rank has at home
    bool clears;            // the home is set to the identity of the reducer before the first step
    IoCounts io;            // of all steps, and of that
    // The memory that messages are sent from and received in, and that scratch memory is part of. A leaf on a
    // GPU has buffers in GPU memory. With MEMORY_HOST it has buffers on the host as well; with MEMORY_GPU it
    // has none there, as GPU-aware MPI sends what moves, or nothing is sent.
    MemoryId message_memory;
    // Of a leaf on a GPU, and MEMORY_HOST: local operations use the view on the host, too, as it may be sent
    // on from there in the next step, or is of a home that is not on the GPU.
    bool through_host;
    DeviceCounts copied; // between both memories, in all steps
    bool reads;          // operations are those that are left where the rank reads from neighbours
    int64_t neighbour_count;
    const NeighbourPiece *neighbours;
    const NeighbourCopy *copies;
    const int64_t *owners; // of a reduction: other ranks that read the view of a step
    bool shares;           // it receives parts with its neighbours (plan/shared_parts.h)
} RankTransfer;

// Whether the rank synchronizes with its neighbours in the transfer, as it reads from them or they from it.
static inline bool transfer_needs_neighbours(const RankTransfer *transfer) {
    return transfer->reads || transfer->shares;
}

// Whether the view of a step is in the buffer.
static inline bool step_is_buffered(const RankStep *step) {
    return step->piece < 0 && step->neighbour == 0;
}

#endif
