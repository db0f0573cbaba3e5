// SPDX-License-Identifier: BSD-3-Clause
// Loops over positions in place of coordinates: what they need of an access, and which collapsed loops become
// such loops without a command.
#ifndef DISTAL_SCHEDULE_POSITIONS_H
#define DISTAL_SCHEDULE_POSITIONS_H

#include "index/cin.h"

enum { POSITION_VARS = 4 }; // that a relation of positions adds

// The source variables that a loop was collapsed from, outermost first; false where other relations made it.
bool positions_collapsed_from(const Cin *cin, int var, int *vars, int *count);

typedef enum {
    POSITIONS_FIT,
    POSITIONS_IN_ANOTHER_ORDER, // the variables are not those of consecutive levels
    POSITIONS_ARE_COORDINATES,  // the last level stores every coordinate
    POSITIONS_WITHOUT_LIST,     // a level cannot be iterated over by positions
} PositionsFit;

// The levels that store the coordinates of these variables, in *stored; else *level is the one that does not
// fit.
PositionsFit positions_fit(const Access *access, const int *vars, int count, StoredAccess *stored,
                           int *level);

// Whether an expression has a value only where the access has an entry.
bool positions_required(const Expr *expr, ElementType type, const Access *access);

// Loops that were collapsed from what one operand stores, and are not split, iterate over its positions
// instead of all coordinates, where the right side has no value elsewhere. `cin` itself if there are none.
const Cin *schedule_positions(const Cin *cin);

#endif
