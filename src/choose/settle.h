// SPDX-License-Identifier: BSD-3-Clause
// The machines of the program that is printed.
#ifndef DISTAL_CHOOSE_SETTLE_H
#define DISTAL_CHOOSE_SETTLE_H

#include "choose/search.h"

// Which machines placements, candidates (by statement; NULL: none) and schedules of the program use, by
// index. Names those that the program does not declare. Where all of them have fewer processors than there
// are ranks, one of all ranks is added, which makes the others run on the first ranks.
const bool *settle_machines(Search *search, const unsigned char *places, const Candidate *const *candidates);

#endif
