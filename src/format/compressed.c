// SPDX-License-Identifier: BSD-3-Clause
// The compressed level: the coordinates that are stored, in a list of their own for each position above. What
// is below position p is at positions pos[p] to pos[p + 1], and position q has coordinate crd[q]. Not
// supported yet.
#include "format/formats.h"

const LevelFormat compressed_level = {
    .name = "compressed",
    .ordered = true,
    .unique = true,
    .compact = true,
    .arrays = {{"pos", LEVEL_ARRAY_POSITIONS}, {"crd", LEVEL_ARRAY_COORDINATES}},
};
