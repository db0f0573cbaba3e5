// SPDX-License-Identifier: BSD-3-Clause
// The singleton level: one coordinate for each position above. Not supported yet.
#include "format/formats.h"

const LevelFormat singleton_level = {
    .name = "singleton", .ordered = true, .branchless = true, .compact = true};
