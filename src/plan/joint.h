// SPDX-License-Identifier: BSD-3-Clause
// Joint entries: at how many points, values of index variables, the right side of a statement over sparse
// tensors has a value. Entries of several operands are rarely independent of each other: in the square of a
// graph, a vertex that many edges lead to has many edges that lead on.
//
// Products are sampled by random walks: from an entry of one operand to one of the next operand that has the
// same coordinates, and so on; a point is reached with a probability that is known (Knuth, Estimating the
// efficiency of backtrack programs, 1975; wander join: Li, Wu, Yi, Zhao, 2016). How many points have the same
// coordinates in the result is counted in some slices of the result, which are drawn in proportion to their
// points; of long ones only in a part. Samples are the same each time. It takes tens of milliseconds where
// operands are stored in an order that fits; others are sorted first.
#ifndef DISTAL_PLAN_JOINT_H
#define DISTAL_PLAN_JOINT_H

#include "format/stored.h"
#include "plan/plan.h"

// Of an assignment of the statement; `coordinates` only if `counts_coordinates`. Where not all operands are
// known, indices are more than variables, there are too many terms or memory runs out, `correlation` is 1 and
// `coordinates` -1. `stored`: what the first `count` tensors store as a whole, by id; NULL: not known. Sorted
// operands take at most `limit` bytes, and lists of up to 2^20 entries, one for each factor of a product,
// some tens of megabytes more.
JointEntries joint_entries(const Spmd *spmd, const Stmt *assign, int count, const StoredTensor *const *stored,
                           bool counts_coordinates, int64_t limit, Arena *arena);

#endif
