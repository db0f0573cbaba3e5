// SPDX-License-Identifier: BSD-3-Clause
// What must hold of the order of loops after every command, whichever was applied first: calls are innermost,
// and nothing is communicated by several threads at once.
#ifndef DISTAL_SCHEDULE_CONSTRAINTS_H
#define DISTAL_SCHEDULE_CONSTRAINTS_H

#include "index/cin.h"

// NULL where all hold, else what would be wrong with this statement.
const char *broken_constraint(const Cin *cin);

#endif
