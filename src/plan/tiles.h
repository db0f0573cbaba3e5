// SPDX-License-Identifier: BSD-3-Clause
// How files of tensors in disk are stored: as a whole, or by tile, so that a tile is one run.
#ifndef DISTAL_PLAN_TILES_H
#define DISTAL_PLAN_TILES_H

#include "plan/plan.h"

// Stores homes in disk in tiles as large as the slices that a transfer brings in sequential loops, where the
// program then reads and writes fewer runs. Counted on the first rank; the same on all.
void tiles_choose(Plan *plan);

#endif
