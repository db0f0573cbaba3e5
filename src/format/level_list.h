// SPDX-License-Identifier: BSD-3-Clause
// The list of levels that stores a tensor: formats of tensors that have a name, which lists are legal, and
// their text. Levels are in the order of storage; mode_order[l] is the mode that level l stores.
#ifndef DISTAL_FORMAT_LEVEL_LIST_H
#define DISTAL_FORMAT_LEVEL_LIST_H

#include "base/text.h"
#include "format/level.h"

// A format of whole tensors: a name for a list of levels.
typedef struct {
    const char *name;      // "csr"
    int least, most;       // orders that it exists for
    const char *levels[3]; // the format of the first level, of those between, and of the last
    bool repeats;          // all levels but the last may store a coordinate several times
    bool reversed;         // modes are stored from the last to the first
} TensorFormat;

// By name; NULL where there is none.
const TensorFormat *tensor_format(const char *name);
// All names, for diagnostics; *count is set.
const char *const *tensor_format_names(int64_t *count);
// Stores a tensor of an order that the format exists for.
void tensor_format_levels(const TensorFormat *format, int order, LevelType *levels, int *mode_order);

// Whether equal coordinates can follow each other in a level of this format: it keeps them in a list.
bool level_can_repeat(const LevelFormat *format);
// Whether a level stores every coordinate below those that the levels above store, as do all levels below it.
bool level_is_padded(int order, const LevelType *levels, int level);
// Whether a rank may store a part of the coordinates of a level, an interval: of a level that stores every
// coordinate, where it is the first one, or every level below it does as well.
bool level_can_be_part(int order, const LevelType *levels, int level);
// A list is legal where every tensor can be stored in it with each entry once: exactly the levels above a
// singleton level are nonunique. NULL where it is legal; else what is wrong with level *at.
const char *level_list_refuse(Arena *arena, int order, const LevelType *levels, int *at);
// Changes a list into the nearest legal one: formats stay as they are, except a singleton as the first level.
void level_list_mend(int order, LevelType *levels);
// Whether a level does not store every coordinate.
bool level_list_is_sparse(int order, const LevelType *levels);
// Sets `wide` of each level from the extents, by mode; whether one has changed.
bool level_list_set_widths(int order, LevelType *levels, const int *mode_order, const int64_t *extents);

// "{compressed(nonunique), singleton}"
void level_list_print(int order, const LevelType *levels, Text *to);

#endif
