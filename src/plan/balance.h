// SPDX-License-Identifier: BSD-3-Clause
// Where parts that entries balance begin and end (machine/boundaries.h). Which of them a program needs
// follows from its placements and loops; then they are found in the coordinates of the entries, in order, of
// which each rank may have a contiguous part: ranks add up numbers, and none has all entries.
#ifndef DISTAL_PLAN_BALANCE_H
#define DISTAL_PLAN_BALANCE_H

#include "format/entries.h"
#include "machine/divide.h"
#include "plan/plan.h"

typedef struct {
    Division division;
    const Tensor *tensor; // whose entries decide: another one where a result has its structure
    const Tensor *divided;
} BalanceTask;
typedef Array(BalanceTask) BalanceTaskArray;

// Appends what the placements of these tensors and the loops of the statements need: of a division inside of
// another one, that before it.
void balance_tasks(int tensor_count, const Tensor *const *tensors, int statement_count,
                   const Spmd *const *spmds, const int64_t *params, Arena *arena, BalanceTaskArray *tasks);
// Whether the entries are known before anything is computed. False with a diagnostic.
bool balance_check(int tensor_count, const Tensor *const *tensors, int statement_count,
                   const Spmd *const *spmds, Diagnostics *diagnostics);

// What is divided: the distinct coordinates that entries have in the modes by which they are sorted for the
// last level of a division, those of the division first, and all of them where each entry counts. How many
// these modes are, of a tensor of this order; and the coordinates, freed with entries_free in any case. NULL,
// or why not.
int balance_key_count(const Division *division, int order);
const char *balance_points(const Division *division, const Entries *entries, Entries *points);

// Coordinates of what is divided, in order: those that this rank has, and where they are among all.
typedef struct {
    int64_t count;
    const int64_t *coordinates[MAX_ORDER]; // by mode of the division
    int64_t before, total;
    void (*add)(void *context, int64_t *numbers, int64_t count); // up over all ranks; NULL: there is one
    void *context;
} BalanceKeys;
// Finds what is planned. Collective over the ranks that have the keys; allocates nothing.
void balance_find(DividePlan *plan, const BalanceKeys *keys);

// Those of the levels around, which are found first; NULL where there are none.
const Boundaries *balance_base(const Division *division, const BoundariesArray *known);

// The same from entries that are all here; `known` has the boundaries of the levels around. NULL, or why not.
const char *balance_whole(const Division *division, const BoundariesArray *known, const Entries *entries,
                          Arena *arena, const Boundaries **boundaries);

#endif
