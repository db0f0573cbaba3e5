// SPDX-License-Identifier: BSD-3-Clause
// Figures of one transfer, by classes of ranks.
#ifndef DISTAL_PLAN_TRANSFER_FIGURES_H
#define DISTAL_PLAN_TRANSFER_FIGURES_H

#include "plan/figures.h"
#include "plan/situation.h"

// Figures by rank while they are summed, in elements and messages.
typedef struct {
    int64_t *elements, *messages;
    int64_t *buffer;          // of the largest view
    int64_t *scratch;         // of the step that needs most
    int64_t *copy;            // what each thread but the first adds to: elements of the largest view
    unsigned char *passes_on; // sends what it used in the step before: two buffers
} Sums;

// The members of one class in one step of a transfer. Figures of all members are added to the first of them
// and copied to the others at the end (shared), where the members of a class are the same in all steps.
typedef struct {
    int64_t key;     // class
    Worker worker;   // of the class
    RankArray ranks; // that have iterations, in increasing order
    Cost shared;
    // Largest view of all steps, and of those steps in which not `in_place` has it in its home; that is -1
    // where the largest view is in no home.
    int64_t largest, in_place, largest_of_others;
} FigureClass;

// All ranks in one transfer, while its figures are made.
typedef struct {
    Planner planner;
    Sums sums;
    OperationId pattern;
    int64_t step;
    int64_t *scratch_step, *step_scratch; // elements of scratch memory in the step that is noted beside them
    Arena *class_arena;                   // of one class in one step
} TransferFigurer;

// Adds what the ranks of a class receive in the step; or what they contribute. `all_the_same`: members did
// the same in the step before.
void fetch_figures(TransferFigurer *figurer, FigureClass *class, const Footprint *footprint,
                   const Reuse *reuse, bool all_the_same);
void reduce_figures(TransferFigurer *figurer, FigureClass *class, const Footprint *footprint);

// Adds the figures of a transfer in a loop that coordinates rotate (plan/rotated_figures.c); false where it
// is not in such a loop, or not in a form that this can count.
bool rotated_figures(TransferFigurer *figurer, Arena *arena);

// The footprints that figures of a transfer are made from, at most.
int64_t transfer_work(const StatementPlan *plan, int transfer);

void figurer_add(TransferFigurer *figurer, int64_t rank, Cost cost);

TransferFigures transfer_figures(const StatementPlan *plan, int transfer);

#endif
