// SPDX-License-Identifier: BSD-3-Clause
// The data of plans, shared by the files that make them (plan.c), execute them (execute.c) and say what they
// cost (plan_figures.c).
#ifndef DISTAL_API_PLAN_H
#define DISTAL_API_PLAN_H

#include "api/planned.h"

// Figures of all ranks that depend on the entries of sparse tensors, as of the latest execution.
typedef struct {
    Structure **structures;     // by tensor id: those for which they were gathered; NULL: no tensor is sparse
    int64_t **moved_arrays;     // by transfer: memory of the arrays in moved[t]
    EntryFigures *moved;        // the same
    const EntryFigures **known; // the same; NULL where it depends on no entries, or on none that are known
    int sparse_count;
    int *sparse;     // the sparse tensors, by id
    int64_t *counts; // memory of what they store
    StoredFigures *stored;
} PlanEntries;

// A tensor of a plan.
typedef struct {
    distal_tensor *tensor; // NULL: a workspace, which belongs to the plan, or a tensor without transfers
    int64_t memory;        // the value of tensor->memory when the plan was made
    bool placed_here;      // the plan has determined the home of the tensor
    bool allocated_here;   // the plan has allocated its memory
    Storage *copy;         // for kernels, if the tensor is spread; else NULL
} Use;

struct distal_plan {
    distal_plan *next;
    distal_context *context;
    Arena *arena;
    PlannedProgram *program; // which other plans of the statement may share
    const StatementPlan *statement;
    distal_kernel_function function, structure; // structure: of an assembled result
    int tensor_count;                           // workspaces included
    Use *uses;                                  // by id in the program of the statement
    Storage **storages;                         // for kernels, by the same id
    ExecutionParts parts;
    distal_execution *execution;
    int64_t missing; // bytes that it needs beyond the memory that tensors have
    double compile_seconds;
    distal_figures *figures; // made on demand, in an arena of their own
    Arena *figures_arena;
    PlanEntries entries;
};

// Where a placement or a loop is balanced by entries that have changed since the plan was made, tensors move
// to their new homes and the plan is made again; so it is where that has failed before. Collective then.
distal_status plan_follow_entries(distal_plan *plan);
// The body of a call, which says what has happened to `tensor` of a plan: it is freed, or has other memory.
distal_status plan_refuse(distal_context *context, void *tensor);

// Of `entries`. Allocates them, without values.
void plan_prepare_entries(distal_plan *plan);
// Whether no structure has changed since they were gathered, which is so on all ranks or on none.
bool plan_entries_are_current(const distal_plan *plan);
// Gathers them: 8 bytes from each rank for each figure. Collective; false with a diagnostic.
bool plan_find_entries(distal_plan *plan);
// Releases the structures for which they were gathered, so they are no longer current.
void plan_forget_entries(distal_plan *plan);
void plan_release_entries(distal_plan *plan);

#endif
