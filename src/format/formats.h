// SPDX-License-Identifier: BSD-3-Clause
// The level formats there are, one file each, for the table in level.c.
#ifndef DISTAL_FORMAT_FORMATS_H
#define DISTAL_FORMAT_FORMATS_H

#include "format/level.h"

extern const LevelFormat dense_level;

#endif
