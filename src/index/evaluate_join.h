// SPDX-License-Identifier: BSD-3-Clause
// One additive term of a statement with sparse tensors, evaluated by a join: its variables are given values
// one after the other, of which the next is always the least value at which the term may be present, found by
// searching in the entries that are left of each operand (Veldhuizen, "Leapfrog Triejoin", 2014).
#ifndef DISTAL_INDEX_EVALUATE_JOIN_H
#define DISTAL_INDEX_EVALUATE_JOIN_H

#include "index/evaluate_entries.h"

// Adds the term to `totals`. `inputs` are by tensor id, `reductions` by number. `every_element`: all elements
// of the left side are visited, also those that no iteration writes. False when memory runs out.
bool evaluate_join(const Evaluator *evaluator, const Term *term, const EvaluatorInput *inputs,
                   const Evaluated *reductions, bool every_element, Totals *totals);

#endif
