// SPDX-License-Identifier: BSD-3-Clause
// Gather, which serves everything: what a rank lacks comes from whoever has it at home.
#include "operation/messages.h"

const Operation operation_gather = {OPERATION_GATHER, "gather", .prepare = messages_prepare,
                                    .start = messages_start};
