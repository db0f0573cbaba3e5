// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks, which several operations share.
#ifndef DISTAL_OPERATION_MESSAGES_H
#define DISTAL_OPERATION_MESSAGES_H

#include "runtime/call.h"

// All sends and receives of a call as messages between two ranks.
bool messages_prepare(OperationCall *call);
void messages_start(OperationCall *call);

#endif
