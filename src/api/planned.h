// SPDX-License-Identifier: BSD-3-Clause
// Planned programs: the part of a plan that all plans of a statement share while nothing that it depends on
// changes. A statement keeps the latest one, so that a plan like the one before is made without planning.
#ifndef DISTAL_API_PLANNED_H
#define DISTAL_API_PLANNED_H

#include "api/balance.h"
#include "runtime/execution.h"

typedef struct PlannedProgram PlannedProgram;
struct PlannedProgram {
    int64_t references;          // by plans and by the statement
    Arena *arena;                // of this struct and all that belongs to it
    distal_statement *statement; // with the results of its passes
    const Spmd *spmd;
    const char *c_source;
    int64_t param_count, machine_count;
    const int64_t *params; // values by index
    Plan *plan;
    const KernelFunctions *functions; // NULL: not provided yet
    bool has_parts;
    ExecutionParts parts; // of this rank, without storages
    // It is valid for these.
    int64_t own_threads, threads; // of this rank, and the largest number of a rank
    TensorArray balancing;        // by their entries, homes and loops are divided
    int64_t balance_version;
    int tensor_count;
    struct {
        distal_tensor *tensor;
        int64_t home_changes;
        bool shared; // neighbours read its home
    } * tensors;
};

// For these values of params, by index, of a compiled statement; as planned_take.
distal_status planned_create(distal_context *context, distal_statement *statement, const int64_t *params,
                             PlannedProgram **result);
// The latest one of the statement if it is still valid, else a new one. The caller has to release it, also
// after a failure; NULL if the statement is wrong. Local.
distal_status planned_take(distal_statement *statement, PlannedProgram **program);
// Replaces *program by one whose figures are for `threads`, the largest number of a rank. Local.
distal_status planned_count_threads(distal_statement *statement, int64_t threads, PlannedProgram **program);
// Replaces *program by one in which no fetch starts a step ahead. Local.
distal_status planned_stop_pipelining(distal_statement *statement, PlannedProgram **program);
// Makes it the latest one of the statement, when the homes of all of its tensors are known.
void planned_keep(distal_statement *statement, PlannedProgram *program);
void planned_release(PlannedProgram *program); // which may be NULL

#endif
