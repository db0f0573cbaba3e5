// SPDX-License-Identifier: BSD-3-Clause
// Operation calls: one operation of one step of a transfer on one rank, with its messages described as MPI
// takes them, so that carrying it out allocates nothing. The files of operation/ prepare, start and finish
// them with the functions below.
#ifndef DISTAL_RUNTIME_CALL_H
#define DISTAL_RUNTIME_CALL_H

#include "plan/rank_plan.h"
#include "runtime/message.h"
#include "runtime/reducer_op.h"
#include "runtime/storage.h"

// Elements that one MPI call counts at most: more go by several calls, the same ones on all ranks.
enum { CALL_ELEMENTS = 1 << 30 };

// What the calls of one transfer share.
typedef struct {
    const RankTransfer *plan;
    const Storage *storage;
    Arena *arena; // memory of the execution
    MessageTypes *types;
    void *scratch;
    const Piece *stages;  // of a home in disk, as the stages of the plan
    Piece view, previous; // of the current step, and, while it is prepared, of the step before
    // Of a leaf on a GPU: the view that it uses, in memory of the GPU. `view` is then the same piece, or a
    // buffer on the host, as MPI has no addresses in other memory. Else `view`.
    Piece leaf_view;
    MPI_Request *requests; // of the step in progress
    int request_count;
    // Whether nothing happens between start and finish of the step, and no rank sleeps while it waits: then
    // collective operations block, for which MPI libraries have the better algorithms. The same on all ranks,
    // as MPI does not match blocking with nonblocking operations.
    bool blocking;
    int64_t bytes, messages; // counted since the execution began
    DeviceCounts copied;
} CallScope;

struct OperationCall {
    CallScope *scope;
    const RankOperation *plan;
    const Group *group;        // NULL: none
    MPI_Comm comm;             // of the group, or of all ranks
    void *gpus;                // of the group, where they add up what its members have (DeviceSums)
    int root;                  // in `comm`; -1: none
    int64_t scratch;           // offset in the scratch memory, in elements
    Operand *sends, *receives; // peers are ranks in `comm`
    void *details;             // of the operation's own
};

// Which memory a part is in, while its step is prepared or in progress. Of a local part that is a piece in
// disk.
const Piece *call_piece(const OperationCall *call, const Part *part);
// Describes all parts, or those that are sent, as single messages. False: no memory.
bool call_describe(OperationCall *call);
bool call_describe_sends(OperationCall *call);
// An element of a piece as MPI takes its address, also in memory of a GPU.
void *call_address(const Piece *piece, void *element);

// Rank `rank` of all ranks in the communicator of the call.
int call_member(const OperationCall *call, int64_t rank);
// Finds parts of the call, while its step is prepared or in progress.
Locator call_locator(const OperationCall *call);
// Elements of scratch memory that it needs: more than planned where home pieces are a caller's, with gaps.
int64_t call_scratch_elements(const OperationCall *call);

// How a reduction combines partial results.
Reducer call_reducer(const OperationCall *call);
// A part of the owner's elements with what has been computed of it: combined, or in their place.
void call_take(const OperationCall *call, const Part *part, const Piece *computed);

// Before MPI uses what the call has begun to compute in memory of a GPU.
void call_settle(const OperationCall *call);
// Counts what the plan says that the call moves.
void call_count(const OperationCall *call);
// The place for the next request of the step.
MPI_Request *call_request(const OperationCall *call);

// A packed piece for `rect` in the scratch memory of the call, `offset` elements into it.
Piece call_scratch(const OperationCall *call, const Rect *rect, int64_t offset);

#endif
