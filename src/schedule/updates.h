// SPDX-License-Identifier: BSD-3-Clause
// Updates: statements that read the tensor that they assign. Every element is computed from the values before
// the statement, in place where an element needs no other one.
#ifndef DISTAL_SCHEDULE_UPDATES_H
#define DISTAL_SCHEDULE_UPDATES_H

#include "schedule/schedule.h"

// What a statement into a sparse tensor stands for, so that nests can make it; any other is returned as it
// is.
// - `A(i, j) = A(i, j) + E`, where E does not read A, is `A(i, j) += E`: A keeps its entries and gets others.
// - `max=`, `min=`, `*=` have the old value on the right side, as `A(i, j) = A(i, j) * E`, with an explicit
//   reduction of what is summed; so has `+=` where E reads A.
// - Updates that read no other sparse tensor and sum nothing keep the entries of A.
// - All others give A other entries. They read a workspace in its place, which has what A has before them
//   (Tensor.old_of).
const Assignment *schedule_replaced(Scheduler *scheduler, const Assignment *assignment);

// An update as one that nests can make in place: what reads the left side and is summed, or goes through
// entries, is an explicit reduction, which is computed ahead, over no variables where nothing is summed. Of a
// dense left side the first nest stores every element, or all add to it; of a sparse one there is one nest,
// which stores. Any other statement is returned as it is. NULL with a diagnostic where indices or ranges
// leave out elements of a sum.
const Assignment *schedule_update(Scheduler *scheduler, const Assignment *assignment);

#endif
