// SPDX-License-Identifier: BSD-3-Clause
// Level formats: how one mode of a tensor is stored below the mode before it. Lowering and emission ask a
// level how its coordinates are located and never which format it is, so that a new format is one new file
// and one line in formats.h.
#ifndef DISTAL_FORMAT_LEVEL_H
#define DISTAL_FORMAT_LEVEL_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

// Where a level stands in generated C: expressions as text.
typedef struct {
    const char *parent_position; // position in the level above, NULL at the root
    const char *coordinate;      // coordinate in this level's mode; "0" for the first of the tensor
    const char *lo;              // first coordinate of this mode that the view holds
    const char *stride;          // distance of two coordinates of this mode in memory
    bool last;                   // innermost level: consecutive coordinates are neighbours in memory
} LevelSite;

typedef struct {
    const char *name;
    bool supported; // false: parsed, and diagnosed where it is declared
    bool full;      // stores every coordinate of its mode
    // Prints the C expression of the position of a coordinate; NULL where a level cannot be searched.
    void (*emit_locate)(const LevelSite *site, Text *to);
} LevelFormat;

// By name ("dense", "compressed", "singleton"); NULL where there is none.
const LevelFormat *level_format(const char *name);
const LevelFormat *level_format_dense(void);
// All names, for diagnostics; *count is set.
const char *const *level_format_names(int64_t *count);

#endif
