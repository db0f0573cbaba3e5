// SPDX-License-Identifier: BSD-3-Clause
// Checks with the values of params put in: sizes that are negative or overflow, grids without processors,
// types that do not fit. Each diagnoses what it finds and returns whether all is well.
#ifndef DISTAL_LANG_CHECK_H
#define DISTAL_LANG_CHECK_H

#include "lang/build.h"

bool check_machine(ProgramBuilder *builder, const Machine *machine);
bool check_tensor(ProgramBuilder *builder, const Tensor *tensor);
bool check_coordinate(ProgramBuilder *builder, const Machine *machine, int dim, int64_t coordinate,
                      Span span);
// Of a block-cyclic placement.
bool check_block(ProgramBuilder *builder, int64_t block, Span span);
// The right side's type may be stored in the tensor on the left, functions are defined on their arguments;
// inside of a term, addends of a sum are summed over the same variables. Without a left side: the functions.
bool check_assignment(ProgramBuilder *builder, const Assignment *assignment);
// A mode that the variable indexes has the extent of the first that it indexes.
bool check_extent(ProgramBuilder *builder, const char *var, const Access *first, int first_mode,
                  const Access *access, int mode);
// All modes that a variable indexes have the same extent, for the values that params have now.
bool check_extents(ProgramBuilder *builder, const Assignment *assignment);
// Overrides that name no param, and `ranks`.
void check_overrides(ProgramBuilder *builder);

#endif
