// SPDX-License-Identifier: BSD-3-Clause
// Updates: statements that read the tensor that they assign. Every element is computed from the values before
// the statement, in place where an element needs no other one.
#ifndef DISTAL_SCHEDULE_UPDATES_H
#define DISTAL_SCHEDULE_UPDATES_H

#include "schedule/schedule.h"

// `A(i, j) = A(i, j) + E` with a sparse left side, where E has sparse operands or is summed, but does not
// read A, as `A(i, j) += E`, which keeps the entries of A and adds others. Any other statement is returned as
// it is.
const Assignment *schedule_added(Scheduler *scheduler, const Assignment *assignment);

// An update as one that nests can make in place: what reads the left side and is summed, or goes through
// entries, is an explicit reduction, which is computed ahead, over no variables where nothing is summed. Of a
// dense left side the first nest stores every element, or all add to it; of a sparse one there is one nest,
// which stores. Any other statement is returned as it is. NULL with a diagnostic where the entries of a
// sparse left side would change.
const Assignment *schedule_update(Scheduler *scheduler, const Assignment *assignment);

#endif
