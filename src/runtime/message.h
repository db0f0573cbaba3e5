// SPDX-License-Identifier: BSD-3-Clause
// Messages: rectangles in memory as MPI datatypes, so that nothing is packed before it is sent. Both ends of
// a message describe the same elements in the same order, each in its own strides.
#ifndef DISTAL_RUNTIME_MESSAGE_H
#define DISTAL_RUNTIME_MESSAGE_H

#include "io/piece.h"

#include <mpi.h>

// `count` elements of `type`, for MPI calls.
typedef struct {
    MPI_Datatype type;
    int count;
} MessageType;

// The datatypes made so far, by shape: many messages share one. They live until message_types_free.
typedef struct MessageTypes MessageTypes;
MessageTypes *message_types_create(ElementType type); // NULL: no memory
void message_types_free(MessageTypes *types);

// A point-to-point message with the elements of `rect` in these strides. False: no memory.
bool message_single(MessageTypes *types, const Rect *rect, const int64_t *stride, MessageType *message);

// The same for a collective operation. MPI libraries cut long ones into segments of whole `count`s (Open
// MPI's issues 199 and 1763), so the count must be the same on all ranks: it is the extent of the outermost
// mode, whatever the strides. `mode_order` is that of the tensor.
bool message_collective(MessageTypes *types, const Rect *rect, const int64_t *stride, const int *mode_order,
                        MessageType *message);

// The basic type, for packed elements.
MPI_Datatype message_element(ElementType type);

#endif
