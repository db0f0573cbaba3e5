// SPDX-License-Identifier: BSD-3-Clause
// Checks with the current values of params: sizes that are negative or overflow, grids without processors,
// types that do not fit. Each returns false with a diagnostic for every mistake.
#ifndef DISTAL_LANG_CHECK_H
#define DISTAL_LANG_CHECK_H

#include "lang/build.h"

bool check_machine(ProgramBuilder *builder, const Machine *machine);
bool check_tensor(ProgramBuilder *builder, const Tensor *tensor);
bool check_coordinate(ProgramBuilder *builder, const Machine *machine, int dim, int64_t coordinate,
                      Span span);
// Of a block-cyclic placement.
// Numbers that a placement lists, with their places.
typedef struct {
    int64_t value;
    Span span;
} Boundary;
typedef Array(Boundary) BoundaryList;
// Whether they divide the mode of the entry, with this name, of a tensor into as many blocks as dimension
// `dim` of the machine has: from 0 to the extent, in increasing order.
bool check_boundaries(ProgramBuilder *builder, const Tensor *tensor, const Machine *machine, int dim,
                      const PlaceEntry *entry, const char *mode, const BoundaryList *boundaries);
bool check_block(ProgramBuilder *builder, int64_t block, Span span);
// The type of the right side can be stored in the tensor on the left, functions are defined on their
// arguments, and inside a term addends of a sum are summed over the same variables. Without a left side, only
// functions are checked.
bool check_assignment(ProgramBuilder *builder, const Assignment *assignment);
// Of indices that are more than a variable: constants are coordinates, the extents of all variables follow,
// nothing overflows, and what is not supported with them is not there. Without a left side, there are none.
bool check_indices(ProgramBuilder *builder, const Assignment *assignment);
// The mode has the same extent as the first mode that the variable indexes.
bool check_extent(ProgramBuilder *builder, const char *var, const Access *first, int first_mode,
                  const Access *access, int mode);
// There are statements to repeat and a number of times that is not negative, and the condition is real and of
// scalars that statements up to the end of the repetition assign.
bool check_repetition(ProgramBuilder *builder, const Repetition *repetition);
// All modes that a variable indexes have the same extent.
bool check_extents(ProgramBuilder *builder, const Assignment *assignment);
// Every override names a param of the program, and none `ranks`.
void check_overrides(ProgramBuilder *builder);

#endif
