// SPDX-License-Identifier: BSD-3-Clause
// The data of an execution, shared by the files that create it (execution.c), find the structures of its
// sparse tensors (execution_structure.c) and run it (execution_run.c).
#ifndef DISTAL_RUNTIME_EXECUTION_DATA_H
#define DISTAL_RUNTIME_EXECUTION_DATA_H

#include "runtime/entry_copy.h"
#include "runtime/execution.h"
#include "runtime/progress.h"
#include "runtime/result.h"
#include "runtime/result_home.h"
#include "runtime/transfer.h"

// The rows of a leaf in the order in which it computes them: those from `begin` to before `end` in blocks,
// between which transfers make progress, and when these have ended, those before and after.
typedef struct {
    int next; // range of rows
    int blocks;
    IndexedRows rows;
    int64_t range[2];
} RowOrder;

typedef struct {
    Result result;
    ResultHome *result_home; // of a sparse result that is computed on other ranks than its owners; or NULL
    int result_transfer;     // its transfer; -1: there is none
    const Storage *target;   // of the result at home
} ExecutionStage;

// Positions of a processor, and what they are of; `of`: the structure for which its values are set.
typedef struct {
    PositionPart part;
    Storage *storage;
    Structure *of;
} ProcessorPositions;

struct distal_execution {
    Arena *arena; // everything but memory of elements
    int stage_count;
    ExecutionStage *stages;
    int stage; // the current one
    int transfer_count;
    TransferState *transfers;
    int copy_count;
    EntryCopy **copies;   // by transfer; NULL: the kernel uses what is at home
    int64_t taken_bytes;  // by the structures made up to now, while execution_structure makes them
    int64_t per_rank;     // processors of each rank
    int64_t processors;   // that there are from the first one of this rank on
    int64_t first, count; // those of this rank that the kernel executes, by index
    int value_count;      // of each
    int64_t *values;      // of all, one after the other (plan/processor.h)
    int64_t position_part_count;
    ProcessorPositions *positions;
    void *space; // for contractions; NULL where there are none
    int threads; // for which there is workspace memory
    char **rows; // by number, that of one thread after the other
    const int64_t *row_bytes;
    const int64_t *row_counts; // in memory of the GPU; NULL: on the host, for each thread
    int row_count;
    RowOrder row_order; // of the current leaf
    bool converts;      // the values of the copy are put into the result, and no kernel runs
    int cleared_count;
    const ClearedStorage *cleared;
    // What has the entries of a result before the statement, and the result; NULL: there is none.
    Storage *old, *updated;
    IoCounts *io; // by transfer: those of its storage before the last run, then what it has read and written
    Reading *reading;         // of what neighbours read of each other's homes; NULL: nothing is
    IoQueue *queue;           // of what is read ahead and written behind; NULL: nothing is
    ProgressThread *progress; // of messages while leaves compute; NULL: there is no thread for them
    bool in_disk;             // some tensor is, the same on all ranks
    bool in_host;             // some tensor is not in memory of GPUs
    bool set_aside;           // `old` has the entries of the result, for the next run
    DeviceTicket begun;       // on a GPU, of the latest run
    void *gpu_scratch;        // DEVICE_SCRATCH bytes for blocks of a launch; NULL where no leaf is on a GPU
    void *gpu_space;          // DEVICE_SPACE bytes for contractions; NULL where there are none
    MPI_Comm all;
};

// The current stage, and whether a transfer is in it.
static inline ExecutionStage *execution_stage(const distal_execution *execution) {
    return &execution->stages[execution->stage];
}

static inline bool execution_is_current(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.plan->transfer->stage == execution->stage;
}

// What one rank receives in a transfer of entries, or sends as partial results, and the memory that this
// takes.
typedef struct {
    Cost cost;               // of values, in each run
    int64_t structure_bytes; // of coordinates, once for a structure
    int64_t memory_bytes;    // of copies and buffers
} EntryTraffic;
// False for a transfer that does not depend on structures.
bool execution_entry_traffic(const distal_execution *execution, int transfer, EntryTraffic *traffic);

// What processors of this rank have of the positions that the current stage distributes, of structures that
// it was not set for: before a function of the kernel runs. Local, as ranks without a processor have none.
void execution_set_positions(const distal_execution *execution);

// All transfers back to their first steps, and what they have counted to zero.
void execution_reset(distal_execution *execution);

#endif
