// SPDX-License-Identifier: BSD-3-Clause
// Where a tensor lies that suits a candidate.
#ifndef DISTAL_CHOOSE_NATURAL_H
#define DISTAL_CHOOSE_NATURAL_H

#include "choose/search.h"

// Placements for an access. Along each dimension of the candidate's machine the mode of its variable is
// divided; along a dimension whose variable the access has not, another mode is, or the ranks that use the
// same part have shares of it, or the first of them has it, or all do where the tensor is small. Returns how
// many.
enum { MOST_NATURAL = 4 };
int natural_placements(Search *search, const SearchStatement *statement, const Candidate *candidate,
                       const UsedAccess *access, const Placement **placements);

// That with which no rank has to bring anything: along each dimension whose variable divides no mode, all
// ranks have the same.
const Placement *natural_whole(Search *search, const SearchStatement *statement, const Candidate *candidate,
                               const UsedAccess *access);

// Whether the statement is computed as the candidate says where the tensor of an access lies there: any
// place will do, unless it is the tensor that decides, as its entries are balanced, or a sparse result.
bool natural_suits(const Candidate *candidate, const UsedAccess *used, const Placement *placement);
// Whether parts of an access are balanced there as those that the candidate uses are, or neither is.
bool natural_is_aligned(const Candidate *candidate, const UsedAccess *used, const Placement *placement);

#endif
