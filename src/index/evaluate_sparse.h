// SPDX-License-Identifier: BSD-3-Clause
// The reference evaluator on entries: statements with sparse tensors are evaluated at the points at which
// they are present, one variable after the other, by searching in sorted lists of entries. Nothing is as
// large as the product of extents, unless the statement has a value everywhere there.
#ifndef DISTAL_INDEX_EVALUATE_SPARSE_H
#define DISTAL_INDEX_EVALUATE_SPARSE_H

#include "index/evaluate.h"

// A tensor that is read. Dense: all its elements, row-major in the order of its modes. Sparse: its entries,
// in any order, none twice.
typedef struct {
    const void *values;
    int64_t count;                         // of the entries
    const int64_t *coordinates[MAX_ORDER]; // of the entries, by mode
} EvaluatorInput;

// The function that evaluator_run_sparse calls; NULL: none.
void evaluator_set_progress(Evaluator *evaluator, EvaluatorProgress progress, void *context);

// Evaluates a statement with sparse tensors. `inputs`: by tensor id; of the left side only where the
// statement accumulates, with its old values. False when memory runs out. Free the result with
// evaluated_free.
bool evaluator_run_sparse(const Evaluator *evaluator, const EvaluatorInput *inputs, Evaluated *result);

// How entries of a sparse left side, in any order, differ from those that a statement gives.
typedef struct {
    double error;                 // as of evaluator_error, over the entries that both have
    int64_t missing, superfluous; // entries
    int64_t first[MAX_ORDER];     // coordinates of one of these
} EntriesError;

// `got` has values of the left side's type. False when memory runs out.
bool evaluated_compare(const Evaluator *evaluator, const Evaluated *result, const EvaluatorInput *got,
                       EntriesError *error);

#endif
