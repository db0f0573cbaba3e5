// SPDX-License-Identifier: BSD-3-Clause
// Chooses placements and schedules for a program. Which variables are distributed over which
// grid, where tensors lie and where data moves are looked for by formula (choose/estimate.h); sequences of
// statements by dynamic programming over the placements of the tensors that they share; the best of these are
// planned, so that figures are those of `plan`. The result depends on nothing but its arguments.
#ifndef DISTAL_CHOOSE_CHOOSE_H
#define DISTAL_CHOOSE_CHOOSE_H

#include "cost/machine_model.h"
#include "format/entries.h"
#include "lang/program.h"

typedef struct {
    int64_t ranks;        // 0: as many as the program's machine has processors, else `processes`
    int64_t processes;    // where the program has no machine
    int64_t memory_limit; // bytes of a rank; 0: none
    int64_t threads;      // of each rank, as the program is executed; 0: as many as it has cores
    double least_steps;   // of products that are divided by default; 0: as in the pipeline
    const MachineModel *model;
    // By tensor id: what sparse inputs store, as far as it is known (order > 0); NULL: of none.
    const Entries *entries;
    bool keeps_statements; // none are added for parts of products
    bool model_limits;     // where there is no limit, the memory of a rank of the model is one
} ChooseOptions;

// One way to compute a statement, planned.
typedef struct {
    const char *where;       // "grid(2, 2) over i, j", or "" without a schedule
    const char *how;         // "B, C at once", "B, C by 64 of k", ...
    double seconds;          // of one execution, predicted
    int64_t bytes, messages; // that the busiest rank receives, or sends of results
    int64_t disk_bytes;      // that a rank reads and writes of tensors in disk, at most
    int64_t peak_bytes;      // the most that a rank has in memory, homes of all tensors included
    bool fits;               // in the limit
    bool pinned;             // the order of its loops is given, and no library call makes up for that
} Alternative;
typedef Array(Alternative) AlternativeArray;

typedef struct {
    const Program *program; // with the placements and schedules found
    int64_t ranks;
    const AlternativeArray *alternatives; // by statement, the chosen one first; none where it was not chosen
    const int *copies; // by statement: how many before it copy its operands, which its alternatives count
    double seconds;    // of all statements in all their executions, at most
    int64_t peak_bytes;
    // By tensor id: entries of a sparse tensor that are not known, but assumed; -1: they are known. And
    // whether that number is an estimate of how many its statement gives it.
    const int64_t *assumed;
    const bool *estimated;
    const char *const *why; // by statement: why it is not distributed, where no other way could be planned
    bool spilled;           // tensors without a placement are in disk, as the limit demands
} Chosen;

// Statements that have a schedule keep it, and tensors their placements. A machine with one level and several
// dimensions is the grid of all statements that have as many variables. NULL with diagnostics: ranks that do
// not fit the machine, no schedule that fits the limit (*fits is false then). Lives in the arena.
const Chosen *choose(Arena *arena, const Program *program, const ChooseOptions *options, bool *fits,
                     Diagnostics *diagnostics);

#endif
