// SPDX-License-Identifier: BSD-3-Clause
// Inputs of drawn programs and what their results must be. The tensors as a whole are held by the first rank,
// and every replica of every element of a result is compared.
#ifndef DISTAL_TESTS_REFERENCE_H
#define DISTAL_TESTS_REFERENCE_H

#include "format/entries.h"
#include "runtime/storage.h"
#include "trial.h"

// A bit of seeds of inputs without special values: elements that are infinite, NaN or zero.
#define SEED_WITHOUT_SPECIAL (UINT64_C(1) << 63)

// Values of both signs that stay away from zero, distinct by tensor, position and seed; of one tensor in six,
// some are special.
void fill_input(const Piece *piece, const Tensor *tensor, const int64_t *extents, uint64_t seed);
// What no computation leaves behind.
void fill_poison(const Piece *piece, ElementType type);
// The same of what a rank holds of a tensor. `tensor`: of the program, as it says which values they are.
void fill_storage_input(Trial *trial, const Storage *storage, const Tensor *tensor, uint64_t seed);
void fill_storage_poison(Trial *trial, const Storage *storage);
// Whether fill_input with the same arguments would change nothing.
bool is_input(const Piece *piece, const Tensor *tensor, const int64_t *extents, uint64_t seed);

// The element of an input at a row-major position, or at what takes its place.
void input_element(const Tensor *tensor, uint64_t seed, int64_t position, void *element);

// The tensors of a program on the first rank, by id: whole and row-major, or as entries. All zero on others.
typedef struct {
    int count;
    const Home *homes;
    void **arrays;
    Entries *entries;
} Whole;
bool whole_create(Whole *whole, const Plan *plan); // false: no memory
void whole_free(Whole *whole);
Piece whole_piece(const Whole *whole, int tensor);
// Takes the entries; frees them on the other ranks.
void whole_keep_entries(Whole *whole, int tensor, Entries *entries);
// Gives an input its elements; nothing on the other ranks.
void whole_fill_input(const Whole *whole, const Tensor *tensor, uint64_t seed);

// Whether the condition of a repetition holds for this value of its scalar.
bool reference_is_met(const DraftRepetition *repetition, const Tensor *scalar, const void *value);

// Compares what all ranks of `comm` hold of the statement's target with the reference, evaluated on `whole`,
// then makes it the tensor's value there. Collective.
void reference_compare(Trial *trial, const StatementPlan *plan, const Assignment *assignment,
                       const Storage *target, Whole *whole, MPI_Comm comm, const char *way);
// The same of a sparse target. Collective.
void reference_compare_entries(Trial *trial, const Assignment *assignment, const Storage *target,
                               Whole *whole, MPI_Comm comm, const char *way);
// The same of a dense target, with all of its elements, row-major. On the first rank only.
void reference_compare_elements(Trial *trial, const Assignment *assignment, void *elements, Whole *whole,
                                const char *way);

#endif
