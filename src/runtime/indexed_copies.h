// SPDX-License-Identifier: BSD-3-Clause
// The runs of elements that an indexed fetch copies, between home pieces, messages and the view.
#ifndef DISTAL_RUNTIME_INDEXED_COPIES_H
#define DISTAL_RUNTIME_INDEXED_COPIES_H

#include "plan/shared_parts.h"
#include "runtime/copy_list.h"
#include "runtime/indexed_fetch.h"

#include <mpi.h>

// The buffer of an aggregator; without memory: nothing is copied from it.
typedef struct {
    int64_t rank, bytes;
    char *memory;
} SharedMapping;

struct IndexedFetch {
    const StatementPlan *plan;
    int transfer;
    const Storage *storage, *by;
    Structure *of; // for which they were found; NULL: for none yet
    Piece view;
    void *buffer; // that the view is in; NULL: it is a home piece, or has no data
    ValueExchange values;
    Cost received;            // as if the rank had got all that it uses in messages of its own
    void *numbers[MAX_ORDER]; // by mode; NULL: none
    int64_t number_bytes;     // of them, as planned
    IndexedRows rows;
    // From home pieces to `values`, and from there to the view, of what is not contiguous there; and to the
    // view from home pieces, of this rank and of neighbours, and from buffers of aggregators.
    CopyList packed, unpacked, own, read, shared;
    // With the pieces of neighbours; NULL: nothing is read of these, and no parts are shared.
    const RankTransfer *part;
    const Piece *neighbours;
    Reading *reading;
    // What this rank receives as aggregator, in shared memory; and by member, what it copies from.
    char *shared_buffer;
    int64_t shared_elements;
    int mapped_count;
    SharedMapping *mapped;
};

// What the rank fetches, while it is found.
typedef struct {
    IndexedFetch *fetch;
    MPI_Comm comm;
    int ranks;
    int64_t limit; // of what it takes, in bytes
    Arena *arena;  // while they are found
    IndexedUse use;
    Selection requests, sends; // of messages
    // With parts that the ranks of the node receive together; NULL: this rank shares none.
    const Neighbours *neighbours;
    SharedParts shared; // what this rank receives as aggregator
    int64_t *sources;   // by part that it uses, the member in whose buffer it is, -1: in none; NULL: all -1
    SharedRun *runs;    // by rectangle of these parts
    int64_t *places;    // by member, where its buffer is in its shared memory, and its bytes
} IndexedFinding;

// Lists the copies of all parts, for which the view and the messages have memory. False where memory runs
// out.
bool indexed_copies_list(const IndexedFinding *finding);

#endif
