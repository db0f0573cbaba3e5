// SPDX-License-Identifier: BSD-3-Clause
// Sorted lists of entries for the reference evaluator: those of operands, which are searched one variable
// after the other, and those of results, which are added up.
#ifndef DISTAL_INDEX_EVALUATE_ENTRIES_H
#define DISTAL_INDEX_EVALUATE_ENTRIES_H

#include "index/evaluate_sparse.h"
#include "index/evaluator.h"

// The order of `count` points: by keys[0], of equal ones by keys[1], and so on; equal points stay in their
// order. NULL when memory runs out; freed by the caller.
int64_t *entries_order(int64_t count, int key_count, int64_t *const *keys);

// The entries that an access reads, sorted by the variables that index it, in the order of the loops.
typedef struct {
    int64_t count;
    int key_count;
    int vars[MAX_ORDER];      // by key
    int64_t *keys[MAX_ORDER]; // by key, then by entry
    int64_t *positions;       // of the entries in the input
} SortedEntries;

// `loops`: the variables, outermost first. Entries that are not on the diagonals which the access names are
// left out. False when memory runs out; freed with sorted_entries_free all the same.
bool sorted_entries_create(const Access *access, const EvaluatorInput *input, const int *loops,
                           int loop_count, SortedEntries *sorted);
void sorted_entries_free(SortedEntries *sorted);
// The first of entries lo to hi - 1, which increase by `key` there, that has at least `value`; hi if none.
int64_t sorted_entries_find(const SortedEntries *sorted, int key, int64_t lo, int64_t hi, int64_t value);

// A sum, with what rounding lost of it; or what another reducer makes, of a dense left side.
typedef struct {
    WideValue value;
    double lost_re, lost_im;
    int64_t summands;
} Sum;

// As a value of the evaluator's kind.
void sum_value(const Evaluator *evaluator, const Sum *sum, void *value);

// The left side while it is added up. Dense: a sum for each element. Sparse: a list of points with their
// sums, in which points repeat until it is compacted.
typedef struct {
    const Evaluator *evaluator;
    bool sparse;
    int order;
    int64_t count, capacity;
    int64_t *keys[MAX_ORDER]; // by mode; of a sparse left side
    Sum *sums;
} Totals;

// Each but the last returns false when memory runs out; freed with totals_free all the same.
bool totals_create(const Evaluator *evaluator, Totals *totals);
// Adds lane `lane` of a register, NULL to add nothing, to the element with these coordinates, by mode.
bool totals_add(Totals *totals, const int64_t *coordinates, const Register *from, int lane);
// Appends the list of `from`, of a sparse left side.
bool totals_append(Totals *totals, const Totals *from);
// Sorts the list by mode, each point once.
bool totals_compact(Totals *totals);
void totals_free(Totals *totals);

#endif
