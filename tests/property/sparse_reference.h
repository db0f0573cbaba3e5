// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors of drawn programs: their inputs, and what their results must be. As reference.h.
#ifndef DISTAL_TESTS_SPARSE_REFERENCE_H
#define DISTAL_TESTS_SPARSE_REFERENCE_H

#include "index/evaluate_sparse.h"
#include "reference.h"

// The entries that a tensor has with this seed. False: no memory; entries_free follows all the same.
bool sparse_input(const DraftTensor *drawn, const Tensor *tensor, const int64_t *extents, uint64_t pattern,
                  uint64_t seed, Entries *entries);
// The same of a tensor of a trial with its patterns: those of all seeds are one where entries balance
// something, as the plan is for them.
bool trial_sparse_input(const Trial *trial, const Tensor *tensor, uint64_t seed, Entries *entries);
// Fails the trial where what ranks store of an input differs from the entries that they have got, which this
// sorts; what is stored becomes that of `whole`. Collective.
void sparse_take_input(Trial *trial, Whole *whole, const Storage *storage, const Tensor *tensor,
                       Entries *entries, MPI_Comm comm, const char *way);
// The entries of these that one of `ranks` ranks gives. They share their memory.
Entries entries_share(const Entries *entries, int ranks, int rank);
// Values of an input with another seed, on the entries that there are.
void sparse_input_values(const Tensor *tensor, uint64_t seed, Entries *entries);
// Whether what a tensor stores is these entries, none of which is zero, and zeros. Sorts both.
bool sparse_is_equal(Entries *stored, Entries *entries);

// All elements of a dense target, by what its statement with sparse operands gives. Freed with
// evaluated_free.
bool sparse_evaluate(const Evaluator *evaluator, const Whole *whole, Evaluated *result);

// As reference_compare, for a sparse target with these entries, which become those of `whole`.
void sparse_compare(Trial *trial, const Assignment *assignment, Entries *got, Whole *whole, const char *way);

#endif
