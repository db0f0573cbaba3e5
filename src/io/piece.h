// SPDX-License-Identifier: BSD-3-Clause
// Piece: the elements of one rectangle of a tensor in memory, with strides, and operations on two pieces.
// Home pieces, buffers and arrays of the caller are pieces. Modes are packed: a stride leads from one
// coordinate of the rectangle to the next one of the rectangle.
#ifndef DISTAL_IO_PIECE_H
#define DISTAL_IO_PIECE_H

#include "base/type.h"
#include "machine/rect.h"
#include "memory/memory.h"

typedef struct {
    Rect rect;                 // not empty
    int64_t stride[MAX_ORDER]; // in elements, by mode
    void *data;                // the first element
    MemoryId memory;           // that `data` is in
} Piece;

// A rectangle within a piece.
typedef struct {
    Piece piece;
    Rect part;
} PiecePart;

// Strides of a rectangle that is stored without gaps, mode_order[0] outermost; NULL: row-major.
void packed_strides(const Rect *rect, const int *mode_order, int64_t *stride);

// The first element of `rect`, which lies inside the piece, and its offset in elements.
int64_t piece_offset(const Piece *piece, const Rect *rect);
void *piece_element(const Piece *piece, const Rect *rect, ElementType type);

// Whether the elements of `rect`, which lies inside the piece, are in memory as if they were alone there:
// without gaps and in the order of packed_strides.
bool piece_is_packed(const Piece *piece, const Rect *rect, const int *mode_order);

// Whether the coordinates that `rect` has of a mode follow each other without gaps in the piece.
bool piece_mode_is_dense(const Piece *piece, const Rect *rect, int mode);

// Modes of `rect`, which lies inside the piece, by increasing stride, but for those of one coordinate; their
// number. `modes` has room for all.
int piece_modes(const Piece *piece, const Rect *rect, int *modes);

// The elements of `rect`, which lies inside both pieces; they do not overlap in memory.
void piece_copy(const Piece *to, const Piece *from, const Rect *rect, ElementType type);
void piece_add(const Piece *to, const Piece *from, const Rect *rect, ElementType type);
void piece_zero(const Piece *piece, ElementType type); // all of it

// `count` elements of type `from`, converted; steps in elements. NULL where there is no conversion: from
// complex to real and from real to integer. Integers wrap.
typedef void (*Conversion)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);
Conversion type_conversion(ElementType from, ElementType to);

#endif
