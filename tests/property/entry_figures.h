// SPDX-License-Identifier: BSD-3-Clause
// Figures that follow from entries, planned by the first rank from the entries of whole tensors, and compared
// with those that the execution has: what ranks store, what transfers move, and the memory that this takes.
#ifndef DISTAL_TESTS_ENTRY_FIGURES_H
#define DISTAL_TESTS_ENTRY_FIGURES_H

#include "plan/structures.h"
#include "reference.h"
#include "runtime/execution.h"

typedef struct {
    Trial *trial;
    const char *way;
    const Plan *plan;
    Storage *const *storages;
    const Whole *whole; // on the first rank
    MPI_Comm comm;
    Structures *structures; // on the first rank; NULL elsewhere
} EntryFiguresCheck;

// With the sparse inputs that the tensors have now. Freed with entry_figures_end.
EntryFiguresCheck entry_figures_begin(Trial *trial, const char *way, const Plan *plan,
                                      Storage *const *storages, const Whole *whole, MPI_Comm comm);
// Once a statement has its structures; and when its result is known. Collective.
void entry_figures_compare(const EntryFiguresCheck *check, int statement, const distal_execution *execution);
void entry_figures_finish(const EntryFiguresCheck *check, int statement);
// When all statements have been executed: before, results may have structures of an earlier execution.
// Collective.
void entry_figures_end(const EntryFiguresCheck *check);

#endif
