// SPDX-License-Identifier: BSD-3-Clause
// Shift: what another rank used in the step before, passed on by it, as in systolic algorithms (DISTAL,
// figure 8b).
#include "operation/messages.h"
#include "plan/situation.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && situation->previous;
}

const Operation operation_shift = {OPERATION_SHIFT,
                                   "shift",
                                   TRANSFER_FETCH,
                                   SHAPE_MESSAGES,
                                   .recognize = recognize,
                                   .count = count_others,
                                   .prepare = messages_prepare,
                                   .start = messages_start};
