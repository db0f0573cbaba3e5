// SPDX-License-Identifier: BSD-3-Clause
#include "plan/operation.h"

#define POINTER(NAME, name) [OPERATION_##NAME] = &operation_##name,
const Operation *const operations[OPERATION_COUNT] = {OPERATIONS(POINTER)};
