// SPDX-License-Identifier: BSD-3-Clause
// The singleton level: one coordinate, crd[p], for each position p above. Not supported yet.
#include "format/formats.h"

const LevelFormat singleton_level = {
    .name = "singleton",
    .ordered = true,
    .branchless = true,
    .compact = true,
    .arrays = {{"crd", LEVEL_ARRAY_COORDINATES}},
};
