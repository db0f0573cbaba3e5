// SPDX-License-Identifier: BSD-3-Clause
// The nodes that the ranks of a plan are on.
#ifndef DISTAL_PLAN_NODES_H
#define DISTAL_PLAN_NODES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

// The ranks of each node, in increasing order, which are its members from number 0 on.
typedef struct {
    const int64_t *nodes;   // by rank, the index of its node
    const int64_t *first;   // by node, the index of its first member in `members`; and the end of the last
    const int64_t *members; // ranks, node by node
    const int64_t *numbers; // by rank, its number on its node
    bool several;           // there are several nodes, and one of them has several ranks
} Nodes;

// `nodes`: by rank, less than the number of ranks; it has to live as long.
const Nodes *nodes_create(Arena *arena, int64_t ranks, const int64_t *nodes);
int64_t nodes_count_members(const Nodes *nodes, int64_t rank);          // of its node
int64_t nodes_member(const Nodes *nodes, int64_t rank, int64_t number); // the rank that has it there
// The number of the member of the node of `rank` that is its aggregator of an owner (plan/shared_parts.h);
// -1: the owner is on this node, or the rank has no neighbours.
int64_t nodes_aggregator(const Nodes *nodes, int64_t rank, int64_t owner);

#endif
