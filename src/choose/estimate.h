// SPDX-License-Identifier: BSD-3-Clause
// What moves and what is computed, by formula: from the blocks of a grid and of placements, without a plan.
#ifndef DISTAL_CHOOSE_ESTIMATE_H
#define DISTAL_CHOOSE_ESTIMATE_H

#include "choose/search.h"

// Seconds that the busiest rank computes, and a bound of the whole from the sizes of blocks: each element
// lies on one of the ranks that use it, or is added up on one of them.
void estimate_candidate(const Search *search, const SearchStatement *statement, Candidate *candidate);

// Values of a variable on one processor, at most.
int64_t estimate_block(const SearchStatement *statement, const Candidate *candidate, int var);
// Elements of an access where each variable has as many values as `length` says.
typedef int64_t (*VarLength)(const void *context, int var);
double estimate_elements_of(const Access *access, VarLength length, const void *context);
// Elements of an access on one processor, at most.
double estimate_elements(const SearchStatement *statement, const Candidate *candidate,
                         const UsedAccess *used);
// Processors that use the same element of an access.
double estimate_users(const Candidate *candidate, const UsedAccess *used);

// The part of a processor in an access. False where it has none.
bool estimate_footprint(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                        const UsedAccess *access, int64_t processor, Rect *rect);

// Seconds in which the busiest of the sampled processors receives what it lacks of an operand that lies
// there, or sends what others own of a result, in one message from each owner; and a thousandth of that on
// average.
double estimate_moved(Search *search, const SearchStatement *statement, const Candidate *candidate,
                      const UsedAccess *access, const Place *place);

// Where a placement puts the tensor, on the sampled processors.
Place *estimate_place(Search *search, const SearchTensor *tensor, const Placement *placement);

#endif
