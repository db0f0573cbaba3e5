// SPDX-License-Identifier: BSD-3-Clause
// What a rank reads of its neighbours in one execution.
//
// A rank may read a home when its owner has begun the transfer in the same execution, as nothing changes the
// home from then on until the execution ends; and an execution ends on a rank when all that read its homes
// have ended it. Both are numbers in shared memory, of executions so far, so nothing is set back. What was
// begun on a GPU is finished before either. Partial results of a step may be read when the rank that has them
// gives them, and are there until all their owners have taken them: both are the number of a step.
#ifndef DISTAL_RUNTIME_READING_H
#define DISTAL_RUNTIME_READING_H

#include "base/diagnostic.h"
#include "runtime/neighbours.h"
#include "runtime/storage.h"

typedef struct Reading Reading;

// A block that neighbours can map, or open where it is in memory of a GPU.
typedef struct {
    void *memory;
    DeviceHandle handle;
} SharedBlock;

// Local: of the parts of this rank and the storages that they use, which have to stay; `partial`: by
// transfer, the block of its partial results. NULL: no memory.
Reading *reading_create(Neighbours *neighbours, int count, const RankTransfer *const *transfers,
                        Storage *const *storages, const SharedBlock *partial);
void reading_free(Reading *reading); // which may be NULL
// Whether this rank reads something.
bool reading_is_needed(const Reading *reading);
// Where some rank of the node needs it, before the first run, on all of its ranks: exchanges where homes are.
// Collective over the neighbours. Then the pieces can be found, and neighbours know who reads.
void reading_exchange(Reading *reading);
// Local, after that: maps what this rank reads. False: no memory.
bool reading_map(Reading *reading);
// Says so; false.
bool reading_refuse_map(const Reading *reading, Diagnostics *diagnostics);
// The elements of a piece of a transfer, from index 0 on; NULL before they are mapped.
void *reading_data(const Reading *reading, int transfer, int64_t piece);

// A run begins; this rank begins a transfer; it waits until a piece may be read; the run ends, when no rank
// reads its homes any more.
void reading_begin(Reading *reading);
void reading_start(Reading *reading, int transfer);
void reading_wait(Reading *reading, int transfer, int64_t piece);
void reading_end(Reading *reading);

// Of a reduction: this rank gives its partial results of a step; it waits until a neighbour has given those
// of a piece; it has taken all that it takes in the step; it waits until an owner has.
void reading_give(Reading *reading, int transfer, int64_t step);
void reading_wait_given(Reading *reading, int transfer, int64_t piece, int64_t step);
void reading_take(Reading *reading, int transfer, int64_t step);
void reading_wait_taken(Reading *reading, int transfer, int64_t owner, int64_t step);

// Of an indexed fetch with aggregators (plan/shared_parts.h): before the next run, this rank will read from a
// neighbour, which waits for it at the end of runs (false: no memory); this rank has received all as
// aggregator; it waits until a neighbour has.
bool reading_join(Reading *reading, int64_t rank);
void reading_receive(Reading *reading, int transfer);
void reading_wait_received(Reading *reading, int transfer, int64_t rank);
const Neighbours *reading_neighbours(const Reading *reading);

#endif
