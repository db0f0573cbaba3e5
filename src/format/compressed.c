// SPDX-License-Identifier: BSD-3-Clause
// The compressed level: the coordinates that are stored, in a list of their own for each position above. Not
// supported yet.
#include "format/formats.h"

const LevelFormat compressed_level = {.name = "compressed", .ordered = true, .unique = true, .compact = true};
