// SPDX-License-Identifier: BSD-3-Clause
// The runs of elements that an indexed fetch copies, between home pieces, messages and the view.
#ifndef DISTAL_RUNTIME_INDEXED_COPIES_H
#define DISTAL_RUNTIME_INDEXED_COPIES_H

#include "runtime/copy_list.h"
#include "runtime/indexed_fetch.h"
#include "runtime/part_sharing.h"
#include "runtime/shared_buffer.h"

#include <mpi.h>

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
    SharedBuffer buffers; // of parts that ranks of the node receive together
};

// What the rank fetches, while it is found.
typedef struct {
    IndexedFetch *fetch;
    MPI_Comm comm;
    int ranks;
    int64_t limit; // of what it takes, in bytes
    Arena *arena;  // while they are found
    IndexedUse use;
    Selection sends; // of messages
    PartSharing sharing;
} IndexedFinding;

// Lists the copies of all parts, for which the view and the messages have memory. False where memory runs
// out.
bool indexed_copies_list(const IndexedFinding *finding);

#endif
