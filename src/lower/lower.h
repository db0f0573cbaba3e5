// SPDX-License-Identifier: BSD-3-Clause
// Lowering: from a scheduled Cin to the SPMD program of a rank (DISTAL, section 6.2, with transfers known
// ahead instead of found while running).
#ifndef DISTAL_LOWER_LOWER_H
#define DISTAL_LOWER_LOWER_H

#include "spmd/spmd.h"

// NULL with a diagnostic where the schedule cannot be carried out (a kernel that does not fit its loops,
// ...). `params`: values by index, for estimates only; NULL where they are not known.
const Spmd *lower(const Cin *cin, const int64_t *params, Diagnostics *diagnostics);

#endif
