// SPDX-License-Identifier: BSD-3-Clause
// The level formats, one a file: a new one is a new file and a line in the list below.
#ifndef DISTAL_FORMAT_FORMATS_H
#define DISTAL_FORMAT_FORMATS_H

#include "format/level.h"

#define LEVEL_FORMATS(ENTRY)                                                                                 \
    ENTRY(dense)                                                                                             \
    ENTRY(bitmap)                                                                                            \
    ENTRY(compressed)                                                                                        \
    ENTRY(singleton)

#define DECLARE_FORMAT(name) extern const LevelFormat name##_level;
LEVEL_FORMATS(DECLARE_FORMAT)
#undef DECLARE_FORMAT

#endif
