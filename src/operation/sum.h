// SPDX-License-Identifier: BSD-3-Clause
// Sums of partial results by MPI, or on GPUs, which add up contiguous elements of basic types only. Where
// partial results and home pieces are contiguous it works on these in place, else on packed copies in scratch
// memory.
#ifndef DISTAL_OPERATION_SUM_H
#define DISTAL_OPERATION_SUM_H

#include "runtime/call.h"

// Memory in which members add up.
typedef struct {
    Piece piece;     // of the rectangle, packed
    bool is_scratch; // else a view or a home piece
} Sum;

// Whether a sum can be formed in the memory that has a part.
bool sum_fits(const Part *part, const Locator *locator);
// In the memory that has the part, or in scratch memory, `offset` elements into that of the call.
Sum sum_in_place(const OperationCall *call, const Part *part);
Sum sum_in_scratch(const OperationCall *call, const Part *part, int64_t offset);

// The sum at an owner, which starts with what its home piece holds and its own partial result. Where other
// operations of the step add to the same elements, it starts without the former, and is added to the home
// piece at the end.
void sum_begin_at_owner(const OperationCall *call, const Sum *sum);
void sum_end_at_owner(const OperationCall *call, const Sum *sum);
// The sum at any other rank: its own partial result, or zeros.
void sum_begin(const OperationCall *call, const Sum *sum);

// Adds up what all members have in a sum, in place: at `root`, or where that is -1, at all members. More
// elements than an MPI count holds take several calls.
void sum_start(OperationCall *call, const Sum *sum, int root);
// The same for each of `count` members: sums[m] is added up at member m.
void sum_start_each(OperationCall *call, const Sum *sums, int count);

#endif
