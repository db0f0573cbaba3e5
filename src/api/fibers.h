// SPDX-License-Identifier: BSD-3-Clause
// Fibers (plan/home.h) of which ranks have parts, in arrays of the caller: each rank that has a part of a
// fiber at home stores it if another one does.
#ifndef DISTAL_API_FIBERS_H
#define DISTAL_API_FIBERS_H

#include "api/context.h"
#include "format/entries.h"

// Whether this is so. `entries` are those of the arrays of this rank, in the order of storage, and at home
// here or between home pieces; only some are left of them. DISTAL_INVALID with the first fiber that a rank
// lacks. Collective, with a status of each rank.
distal_status fibers_check(distal_context *context, const distal_tensor *tensor, Entries *entries);

#endif
