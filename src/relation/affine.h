// SPDX-License-Identifier: BSD-3-Clause
// What an index that is more than a variable says of the variables in a box. Where it says more than a box
// can, values of these have to be looked at one by one.
#ifndef DISTAL_RELATION_AFFINE_H
#define DISTAL_RELATION_AFFINE_H

#include "relation/relation.h"

// Whether the box has the values around those of the index, which have gaps: where something is added to
// multiples that leave some, or what is multiplied is no interval itself.
bool affine_has_gaps(const NumericRelation *relation, const Box *box);
// Whether an index of several variables leaves its mode for some of the values in the box, so that it limits
// these together.
bool affine_limits_together(const NumericRelation *relation, const Box *box);

#endif
