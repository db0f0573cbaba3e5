// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a balanced relation are once the entries are known.
#ifndef DISTAL_RELATION_BALANCE_H
#define DISTAL_RELATION_BALANCE_H

#include "relation/relation.h"

// The division with numbers of parts, and with boundaries in the arena where they are listed. False where a
// number of parts is not positive or does not fit into 64 bits, or boundaries are not those of as many parts.
bool balance_division(const BalancedLevel *balanced, const int64_t *params, Arena *arena, Division *division);

// The length of the part of the processor.
const IntExpr *balance_length(Arena *arena, const Relation *relation);
// The values of the parent in the parts `first` to before `last`, of the parts of the levels around with
// these numbers, one for each operand.
PositionSet balance_parts(const NumericRelation *relation, const int64_t *around, int64_t first,
                          int64_t last);
// The length of the longest part, without what is added.
int64_t balance_longest(const NumericRelation *relation);

#endif
