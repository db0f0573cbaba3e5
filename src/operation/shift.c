// SPDX-License-Identifier: BSD-3-Clause
// Shift: what another rank used in the step before, passed on by it, as in systolic algorithms (DISTAL,
// figure 8b).
#include "operation/messages.h"

const Operation operation_shift = {OPERATION_SHIFT, "shift", .prepare = messages_prepare,
                                   .start = messages_start};
