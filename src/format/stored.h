// SPDX-License-Identifier: BSD-3-Clause
// Stored tensors: a tensor as a tree of levels with their arrays, and values, one for each position of the
// last level (Chou, Kjolstad, Amarasinghe 2018). They are packed from entries and unpacked to them by the
// data capabilities of level formats (level.h), whatever the list of levels.
#ifndef DISTAL_FORMAT_STORED_H
#define DISTAL_FORMAT_STORED_H

#include "format/entries.h"
#include "format/level.h"

typedef struct {
    ElementType type;
    int order;
    int64_t extents[MAX_ORDER]; // by mode
    // Where `part`, the coordinates of levels that can be a part (level_list.h), by mode: from lo to before
    // hi.
    bool part;
    int64_t lo[MAX_ORDER], hi[MAX_ORDER];
    LevelType levels[MAX_ORDER];   // by storage level
    int mode_order[MAX_ORDER];     // level l stores mode mode_order[l]
    LevelArrays arrays[MAX_ORDER]; // by storage level
    int64_t value_count;           // positions of the last level; 1 where the order is 0
    void *values;
    bool values_borrowed; // owned by somebody else
} StoredTensor;

// All functions that can fail return NULL on success, else the reason (allocated in `arena` or static).

// Packs entries into a tensor that has type, order, extents, levels (a legal list, level_list.h) and
// mode_order set; the rest is set here. Entries may be in any order, within the extents; the values of those
// with the same coordinates are added in the order of the list. Allocates at most `limit` bytes (INT64_MAX:
// no limit) beside the entries: what would take more is refused before it is allocated, with the level and
// its size.
const char *stored_pack(StoredTensor *tensor, const Entries *entries, int64_t limit, Arena *arena);

// Which elements of a tensor those of a copy of it are: entry e of the copy is at position to[e], and that of
// the tensor at position from[e]. Elements of the copy at other positions are zero.
typedef struct {
    int64_t count;
    bool wide;       // numbers are uint64_t, else uint32_t
    bool late;       // stored_map has to make `from` before the map is used; it is counted already
    void *from, *to; // NULL: position e
} EntryMap;

// Packs a copy of `from` in other levels: `tensor` is as above, and its level l has mode modes[l] of `from`.
// Its values are set if `values`, and stay NULL else. `map` says which values are whose; freed with
// entry_map_free. With `values` it may be late: writing it takes a good part of the time that the copy takes,
// and only those need it who copy other values into the same structure.
const char *stored_convert(StoredTensor *tensor, EntryMap *map, const StoredTensor *from, const int *modes,
                           bool values, int64_t limit, Arena *arena);
// Makes a map that is late, of the arguments of stored_convert and what that has made; else does nothing.
const char *stored_map(StoredTensor *tensor, EntryMap *map, const StoredTensor *from, const int *modes,
                       int64_t limit, Arena *arena);
// The structure alone of entries in any order, which may repeat: those with the same coordinates have one
// position.
const char *stored_pack_structure(StoredTensor *tensor, EntryMap *map, const Entries *entries, int64_t limit,
                                  Arena *arena);
int64_t entry_map_bytes(const EntryMap *map);
void entry_map_free(EntryMap *map);
int64_t entry_map_from(const EntryMap *map, int64_t e); // from[e]
// Copies all values, of a type of `size` bytes; `count` is that of the copy.
void entry_map_copy(const EntryMap *map, size_t size, const void *from, void *to, int64_t count);
// Adds the values of entries first, first + 1, ... of those that the map was made of, which are in `from` in
// this order, to those at their positions; in the order of the map where several have the same position.
void entry_map_add(const EntryMap *map, ElementType type, int64_t first, const void *from, void *to);

// The stored entries in storage order, those with value zero among them; a full level stores every
// coordinate. Within `limit` as above. The caller frees the entries with entries_free, also after a failure.
const char *stored_unpack(const StoredTensor *tensor, Entries *entries, int64_t limit, Arena *arena);

// The number of entries that stored_unpack gives.
int64_t stored_count(const StoredTensor *tensor);

// Whether the arrays of a tensor, as a caller may hand over any, are those of its levels: positions that do
// not decrease, from 0 on, and coordinates within the extents, in order and each stored once. Lengths and
// position counts are set.
const char *stored_check(const StoredTensor *tensor, Arena *arena);

// How many positions of a level have coordinates before these, by level up to that one, in the order of
// storage.
int64_t stored_before(const StoredTensor *tensor, int level, const int64_t *coordinates);

// Of all arrays and values; those of the structure alone (without values).
int64_t stored_bytes(const StoredTensor *tensor);
int64_t stored_structure_bytes(const StoredTensor *tensor);

// Lets the levels that can be a part (level_list.h) store only the coordinates from the first to the last
// one that rectangles have: none where there are no rectangles. A tensor without elements, which no rectangle
// has, stays as it is. Before the tensor is packed.
void stored_restrict(StoredTensor *tensor, int64_t count, const Rect *rects);
// Whether fibers (plan/home.h), of which the elements from the first to the last one in the rectangles are
// stored, have others between these. The tensor is restricted to them.
bool stored_is_padded(const StoredTensor *tensor, int64_t count, const Rect *rects);
// A level of the tensor without positions and arrays.
LevelArrays stored_level(const StoredTensor *tensor, int l);

// Of one element of an array of a level; 0 where the format lacks the array.
int64_t level_element_size(const LevelFormat *format, const LevelArrays *level, int array);

// A tensor without elements with these coordinates, where all levels are compressed, so that it has a
// position for each entry.
StoredTensor stored_compressed(const StoredTensor *tensor, ElementType type, const int *mode_order);

// Releases arrays and values that are not borrowed, and sets them to NULL.
void stored_free(StoredTensor *tensor);

#endif
