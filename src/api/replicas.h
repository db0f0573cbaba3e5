// SPDX-License-Identifier: BSD-3-Clause
// Replicas in arrays of the caller: ranks that have the same part of a tensor at home give the same entries
// of it.
#ifndef DISTAL_API_REPLICAS_H
#define DISTAL_API_REPLICAS_H

#include "api/context.h"
#include "format/stored.h"

// Whether this is so, by checksums. `arrays` are those of this rank, without elements where it has no part.
// DISTAL_INVALID with the ranks that differ. Collective, with a status of each rank.
distal_status replicas_check(distal_context *context, const distal_tensor *tensor,
                             const StoredTensor *arrays);

#endif
