// SPDX-License-Identifier: BSD-3-Clause
// Shared parts: of an indexed fetch (plan/indexed.h), and of a sparse operand that is not at home, what
// several ranks of a node use of a rank of another node. One rank of the node, the aggregator of that owner,
// requests it once and receives it in a buffer in shared memory, from which each rank of the node copies what
// it uses. The parts of an owner of which no element is requested twice, the ranks request themselves.
// Figures are as if each had received all that it uses.
#ifndef DISTAL_PLAN_SHARED_PARTS_H
#define DISTAL_PLAN_SHARED_PARTS_H

#include "plan/plan.h"
#include "plan/rank_plan.h"
#include "plan/selection.h"

// Whether the ranks of a node receive parts together in a transfer: where there are several nodes, one of
// them with several ranks. The same on all ranks.
bool transfer_shares_parts(const StatementPlan *plan, int transfer);

// A rectangle of a request in the buffer of an aggregator: there are the elements of a run, from element
// `offset` of the buffer on, which has `count` coordinates in the last mode of runs, and the rectangle has
// those from index `first` on. offset -1: it is not there, and the rank that uses it requests it from its
// owner.
typedef struct {
    int64_t offset, first, count;
} SharedRun;

// What an aggregator receives.
typedef struct {
    Selection parts;  // sorted by owner, their peer; the buffer has their elements in this order
    int64_t elements; // of the buffer
    SharedRun *runs;  // by rectangle of the requests
} SharedParts;

// `requests`: what ranks of its node request of it, parts with their owners as peers, disjoint for each rank,
// and, of a dense tensor, each in one piece of its owner. It receives what they use of owners of which some
// element is requested several times: of a sparse tensor in disjoint parts, whose entries are the elements;
// where these are in the buffer follows from what is stored, and the runs say no more than whether they are.
// Lives in the arena.
SharedParts shared_parts_find(const Selection *requests, const Home *home, Arena *arena);

#endif
