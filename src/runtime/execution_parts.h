// SPDX-License-Identifier: BSD-3-Clause
// What an execution on one rank is made from: the parts of its plan, and the storages that the statement
// uses. Callers without a plan, as tests, fill in the type themselves.
#ifndef DISTAL_RUNTIME_EXECUTION_PARTS_H
#define DISTAL_RUNTIME_EXECUTION_PARTS_H

#include "plan/processor.h"
#include "runtime/storage.h"

// What a stage writes.
typedef struct {
    ResultKind result;
    bool adds; // to what the tensor has
    const Tensor *target_tensor, *shared_tensor;
    Storage *target; // at home
} StageParts;

typedef struct {
    int transfer_count;
    const RankTransfer *const *transfers;
    Storage *const *storages; // by transfer
    int64_t group_count;
    const Group *groups;
    int64_t processors, per_rank; // processors: 0 where the result has no elements
    const int64_t *values;        // of the processors of the rank, one after the other (plan/processor.h)
    int value_count;              // of each
    int64_t position_part_count;  // values that are set when structures are known
    const PositionPart *position_parts;
    bool calls_library; // the BLAS
    bool contracts;     // needs space for contractions
    int row_count;
    const int64_t *row_bytes;  // on each thread
    const int64_t *row_counts; // of them on the GPU; NULL: on the host, for each thread
    bool converts;             // no kernel runs
    int cleared_count;
    const ClearedTensor *cleared_tensors;
    const ClearedStorage *cleared; // set to an identity before each run; has to stay
    int stage_count;               // 0: one that writes a dense tensor
    const StageParts *stages;
    // Of a sparse left side that gets other entries and is read: the workspace that has what it has before,
    // and both storages. NULL: there is none.
    const Tensor *old_tensor;
    Storage *old, *updated;
    const StatementPlan *plan; // of traffic that depends on structures; has to stay. NULL: there is none
} ExecutionParts;
// From a plan, in its arena, but for storages. Local: memory that runs out does so before others wait.
ExecutionParts execution_parts(StatementPlan *plan, int64_t rank);
// Adds the storages, given by tensor id, in `arena`.
void execution_bind(ExecutionParts *parts, const StatementPlan *plan, Storage *const *storages, Arena *arena);

#endif
