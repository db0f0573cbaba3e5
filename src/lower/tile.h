// SPDX-License-Identifier: BSD-3-Clause
// Tiling of leaves where it is needed to go through memory well: a rewrite of CIN before it is lowered.
#ifndef DISTAL_LOWER_TILE_H
#define DISTAL_LOWER_TILE_H

#include "index/cin.h"

// `cin` itself, or with two loops of its leaf split and their inner parts innermost.
const Cin *tile_leaf(const Cin *cin);

#endif
