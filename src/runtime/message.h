// SPDX-License-Identifier: BSD-3-Clause
// Messages: rectangles in memory as MPI datatypes, so that nothing is packed before it is sent. Both ends of
// a message describe the same elements in the same order, that in which the tensor is stored, each as they
// lie in a piece of its own.
#ifndef DISTAL_RUNTIME_MESSAGE_H
#define DISTAL_RUNTIME_MESSAGE_H

#include "io/piece.h"

#include <mpi.h>

// `count` elements of `type`, for MPI calls.
typedef struct {
    MPI_Datatype type;
    int count;
} MessageType;

// A message in memory.
typedef struct {
    void *data; // the first element
    MessageType message;
    int peer; // the rank at the other end
} Operand;

// The datatypes made so far, by shape: many messages share one. They live until message_types_free.
typedef struct MessageTypes MessageTypes;
MessageTypes *message_types_create(void); // NULL: no memory
void message_types_free(MessageTypes *types);

// A point-to-point message with the elements of `rect`, which lies inside the piece, from the first of them
// on. False: no memory.
bool message_single(MessageTypes *types, const Piece *piece, const Rect *rect, MessageType *message);

// The same for a collective operation. MPI libraries cut long ones into segments of whole `count`s (Open
// MPI's issues 199 and 1763), so the count must be the same on all ranks: it is the extent of the outermost
// mode, whatever the strides, or 1 where a mode has a periodic set. `mode_order` is that of the tensor.
bool message_collective(MessageTypes *types, const Piece *piece, const Rect *rect, const int *mode_order,
                        MessageType *message);

// Several messages one after the other as one element of a datatype that holds how far they are from `base`.
// False: no memory.
bool message_joined(MessageTypes *types, int64_t count, const Operand *operands, const void *base,
                    MPI_Datatype *type);

// The basic type, for packed elements.
MPI_Datatype message_element(ElementType type);

#endif
