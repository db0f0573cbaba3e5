// SPDX-License-Identifier: BSD-3-Clause
// Checks with the values of params put in: sizes that are negative or overflow, grids without processors,
// types that do not fit. Each diagnoses what it finds and returns whether all is well.
#ifndef DISTAL_LANG_CHECK_H
#define DISTAL_LANG_CHECK_H

#include "lang/parser.h"

bool check_machine(Parser *parser, const Machine *machine);
bool check_tensor(Parser *parser, const Tensor *tensor);
bool check_coordinate(Parser *parser, const Machine *machine, int dim, int64_t coordinate, Span span);
// Of a block-cyclic placement.
bool check_block(Parser *parser, int64_t block, Span span);
// The right side's type may be stored in the tensor on the left, where there is one.
bool check_type(Parser *parser, const Assignment *assignment);
// Inside a term, addends of a sum are summed over the same variables.
bool check_sums(Parser *parser, const Assignment *assignment);
// Overrides that name no param, and `ranks`.
void check_overrides(Parser *parser);

#endif
