// SPDX-License-Identifier: BSD-3-Clause
// Figures: what all ranks do together, bytes, messages and memory by rank. They are made on demand, in one
// process, by classes of ranks that do the same: a step of a class is counted once, with corrections for the
// ranks that own part of what the class uses.
#ifndef DISTAL_PLAN_FIGURES_H
#define DISTAL_PLAN_FIGURES_H

#include "memory/device.h"
#include "memory/disk.h"
#include "plan/operation.h"
#include "spmd/spmd.h"

typedef struct Plan Plan;
typedef struct StatementPlan StatementPlan;

// Figures of one transfer; arrays by rank.
typedef struct {
    const Transfer *transfer;
    bool unknown;                   // how much moves depends on entries of sparse tensors that are not known
    OperationId pattern;            // the one that says most about the transfer
    int64_t steps;                  // iterations of its loops on one rank, all its processors together
    const int64_t *bytes;           // TRANSFER_FETCH: received; TRANSFER_REDUCE: partial results sent
    const int64_t *messages;        // the same, counted
    const int64_t *structure_bytes; // of sub-trees of entries, once for a structure; NULL: of dense tensors
    const int64_t *buffer_bytes;    // beyond the homes: buffers and scratch
    const int64_t *gpu_bytes;       // buffers in memory of a GPU; NULL: leaves are not on one
    const int64_t *copy_bytes;      // of one of the copies that threads add to
    const IoCounts *io;             // of a tensor in disk: what is read and written; else NULL
    const DeviceCounts *copied;     // between memory of the host and of a GPU; NULL: leaves are not on one
    bool depends_on_entries;        // buffer_bytes are those of the whole footprint, but entries that are not
                                    // known index the tensor
} TransferFigures;

// Figures of one tensor in one statement, over its transfers; arrays by rank.
typedef struct {
    const Tensor *tensor;
    const char *pattern; // name: "none", "local", "broadcast", ...
    const char *at;      // loop variable of its transfer, "" where it is outside of all loops
    int64_t steps;
    bool unknown; // whether what moves depends on entries that are not known: the next two say nothing then
    const int64_t *bytes_received, *messages_received, *home_bytes;
    const int64_t *buffer_bytes;       // copies of threads included
    const int64_t *known_buffer_bytes; // the same, without those that depend on entries that are not known
    const int64_t *gpu_buffer_bytes;   // in memory of a GPU; zeros: leaves are not on one
    const int64_t *structure_received; // bytes of sub-trees of entries, once for a structure
    const IoCounts *io;                // NULL: it is not in disk
    const DeviceCounts *copied;        // between memory of the host and of a GPU; NULL: leaves are not on one
    const int64_t *stored; // entries of a sparse tensor, -1 where they are not known; NULL: it is dense
} TensorFigures;

// What tensors take at rest, by rank; the same in all statements of a plan.
typedef struct {
    int64_t **bytes;      // by tensor id
    int64_t **stored;     // the same, NULL of dense ones
    const int64_t *total; // over all tensors in memory of the host; NULL: not made yet
    const int64_t *gpu;   // over all in memory of a GPU; NULL: there are none
    const int64_t *none;  // zeros: of tensors that a statement does not use
    bool has_rank;        // before the total is made, that on one rank may be known
    int64_t rank, rank_bytes;
} HomeFigures;

typedef struct {
    bool made, summed;                // those of transfers; those of tensors and the peaks
    double seconds;                   // that it took
    const TransferFigures *transfers; // by transfer
    int tensor_count;                 // of those that the statement uses
    const TensorFigures *tensors;     // by tensor id: in order of declaration, then workspaces
    const int64_t *peak_bytes;        // by rank, at most
    const int64_t *known_peak_bytes;  // the same, without buffers that depend on entries that are not known
    const int64_t *gpu_peak_bytes;    // in memory of a GPU; NULL: nothing is there
} StatementFigures;

// Of a statement of a plan; made by the first call. Lives as long as the plan.
const StatementFigures *plan_figures(const StatementPlan *plan);
// The figures of its transfers alone, by transfer; plan_figures also sums them over tensors.
const TransferFigures *plan_transfer_figures(const StatementPlan *plan);
// Of any tensor of the program in the statement.
TensorFigures plan_tensor_figures(const StatementPlan *plan, int tensor);

#endif
