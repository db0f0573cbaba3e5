// SPDX-License-Identifier: BSD-3-Clause
// Messages among the members of a group as one MPI_Alltoallw. Its types hold distances from one address, so
// that what goes to or comes from one member can be several rectangles anywhere in memory, of any size.
#ifndef DISTAL_OPERATION_ALL_TO_ALL_H
#define DISTAL_OPERATION_ALL_TO_ALL_H

#include "runtime/call.h"

typedef struct {
    int *send_counts, *receive_counts; // by member: 0 or 1
    int *offsets;                      // zeros
    MPI_Datatype *send_types, *receive_types;
    void *sent_from, *received_at; // addresses from which the types count
} AllToAll;

// Of operands whose `peer` is a member; those of one member stay in their order. NULL: no memory.
AllToAll *all_to_all_create(OperationCall *call, int64_t send_count, const Operand *sends,
                            int64_t receive_count, const Operand *receives);
void all_to_all_start(OperationCall *call, const AllToAll *messages);

#endif
