// SPDX-License-Identifier: BSD-3-Clause
// Planned programs: what plans of a statement share as long as nothing that they depend on changes, the plan
// with the values of params and the part of this rank. A statement keeps the latest, so that a plan like one
// before is made without planning.
#ifndef DISTAL_API_PLANNED_H
#define DISTAL_API_PLANNED_H

#include "api/context.h"
#include "runtime/execution.h"

typedef struct PlannedProgram PlannedProgram;
struct PlannedProgram {
    int64_t references;          // of plans and of the statement
    Arena *arena;                // everything, this too
    distal_statement *statement; // kept for it, with the results of the passes
    const Spmd *spmd;
    const char *c_source;
    int64_t param_count, machine_count;
    const int64_t *params; // values by index
    Plan *plan;
    distal_kernel_function function; // NULL: not provided yet
    bool has_parts;
    ExecutionParts parts; // of this rank, without storages
    // What it was made for.
    int64_t own_threads, threads; // of this rank, and of the rank with most
    int tensor_count;
    struct {
        distal_tensor *tensor;
        int64_t home_changes;
    } * tensors;
};

// The latest of the statement where that still holds, else a new one. It is the caller's to release, also
// after a failure; NULL where the statement is wrong. Local.
distal_status planned_take(distal_statement *statement, PlannedProgram **program);
// The same with figures for `threads`, of the rank with most, in place of *program. Local.
distal_status planned_count_threads(distal_statement *statement, int64_t threads, PlannedProgram **program);
// Makes it the latest of the statement, once homes of all of its tensors are known.
void planned_keep(distal_statement *statement, PlannedProgram *program);
void planned_release(PlannedProgram *program); // which may be NULL

#endif
