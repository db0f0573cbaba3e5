// SPDX-License-Identifier: BSD-3-Clause
// Piece: a slice of an array of a tensor in memory, with strides, and operations on two pieces. Home pieces,
// buffers and arrays of the caller are pieces. Modes are packed: a stride leads from one coordinate of the
// rectangle to the next one of the rectangle. A piece in disk has no addresses, and addresses of a piece in
// memory of a GPU are for its kernels: both are read and written by the functions below only.
#ifndef DISTAL_IO_PIECE_H
#define DISTAL_IO_PIECE_H

#include "format/slice.h"
#include "memory/disk.h"
#include "memory/memory.h"

typedef struct {
    Rect rect;                 // not empty
    int64_t stride[MAX_ORDER]; // in elements, by mode
    ElementType type;          // of the elements of the array
    MemoryId memory;           // that `data` is in
    void *data;                // the first element; of a piece in disk NULL
    DiskFile *file;            // of a piece in disk
    const Rect *within;        // that contains it and is stored there as a whole; NULL: it is itself
    int64_t at;                // of the first element of that, in bytes
    LevelList levels;          // in the order of which it is stored there
    const int64_t *tile;       // and in tiles of these extents, by mode; NULL: not in tiles
} Piece;

// A rectangle within a piece.
typedef struct {
    Piece piece;
    Rect part;
} PiecePart;

// `rect` stored without gaps in the memory of the host.
Piece piece_packed(const Rect *rect, LevelList levels, ElementType type, void *data);
Frame piece_frame(const Piece *piece); // refers to the piece
static inline bool piece_is_in_disk(const Piece *piece) {
    return piece->memory == MEMORY_DISK;
}
// Whether its elements can be read and written through `data`.
static inline bool piece_is_on_host(const Piece *piece) {
    return piece->memory == MEMORY_HOST;
}
// The first element of `rect`, which lies inside the piece. That must not be in disk.
void *piece_element(const Piece *piece, const Rect *rect);

// The elements of `rect`, which lies inside both pieces; they have one type and do not overlap in memory.
// Not from disk to disk.
void piece_copy(const Piece *to, const Piece *from, const Rect *rect);
// The same where the types differ, with a conversion; in the memory of the host.
void piece_convert(const Piece *to, const Piece *from, const Rect *rect);
// Elements of `to` are combined with those of `from`, which is in the same memory, or in the host's where
// `to` is in disk.
void piece_reduce(Reducer reducer, const Piece *to, const Piece *from, const Rect *rect);
void piece_clear(Reducer reducer, const Piece *piece); // all of it, to the identity

// `count` elements of type `from`, converted; steps in elements. NULL where there is no conversion: from
// complex to real and from real to integer. Integers wrap.
typedef void (*Conversion)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);
Conversion type_conversion(ElementType from, ElementType to);

#endif
