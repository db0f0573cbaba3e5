// SPDX-License-Identifier: BSD-3-Clause
// Gather, which serves everything: what a rank lacks comes from whoever has it at home.
#include "operation/messages.h"
#include "plan/situation.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1;
}

const Operation operation_gather = {OPERATION_GATHER,       "gather",
                                    TRANSFER_FETCH,         SHAPE_MESSAGES,
                                    .serves_all = true,     .recognize = recognize,
                                    .count = count_others,  .prepare = messages_prepare,
                                    .start = messages_start};
