// SPDX-License-Identifier: BSD-3-Clause
// The grids that a statement may be distributed over: up to GRID_DIMS of its variables, each divided in as
// many parts as one factor of the number of processors, or of a slightly smaller number, where some ranks
// stay idle.
#ifndef DISTAL_CHOOSE_GRIDS_H
#define DISTAL_CHOOSE_GRIDS_H

#include "choose/search.h"

// Sets the candidates of a statement: the best by their scores, and among them some with each number of
// dimensions. None where it has no variable to distribute.
void grids_find(Search *search, SearchStatement *statement);

#endif
