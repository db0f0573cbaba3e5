// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node receive together in an indexed fetch (plan/shared_parts.h): found with the
// structure; in each execution the aggregators receive it in shared memory, from where the others copy.
#ifndef DISTAL_RUNTIME_INDEXED_SHARE_H
#define DISTAL_RUNTIME_INDEXED_SHARE_H

#include "runtime/indexed_copies.h"

// Finds what this rank requests, for itself and as aggregator, and where what it does not request will be.
// Collective over the communicator of the finding.
bool indexed_share_find(IndexedFinding *finding, Diagnostics *diagnostics);
// Allocates the buffer of this rank as aggregator. Local; false: no memory.
bool indexed_share_allocate(IndexedFinding *finding);
// Sends the offset and size of that buffer in shared memory to the other ranks of the node. Collective over
// the neighbours.
void indexed_share_exchange(IndexedFinding *finding);
// Maps what the rank copies from. Local; false: no memory.
bool indexed_share_map(const IndexedFinding *finding);
void indexed_share_forget(IndexedFetch *fetch);

// In an execution: what this rank receives as aggregator has arrived; it waits until all is there that it
// copies.
void indexed_share_received(const IndexedFetch *fetch);
void indexed_share_wait(const IndexedFetch *fetch);

#endif
