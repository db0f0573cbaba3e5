// SPDX-License-Identifier: BSD-3-Clause
// Constraints on the order of loops that hold after every command: loops of library calls are innermost, and
// threads do not communicate.
#ifndef DISTAL_SCHEDULE_CONSTRAINTS_H
#define DISTAL_SCHEDULE_CONSTRAINTS_H

#include "index/cin.h"

// NULL if all hold, else which one does not, as a clause.
const char *broken_constraint(const Cin *cin);

#endif
