// SPDX-License-Identifier: BSD-3-Clause
// Appending: the levels of a tensor made from entries that come in the order of storage, each once. Only
// what is new is appended, to lists from which the arrays of the levels follow. Lists of coordinates that
// share their positions, those of a level with coordinates of its own and of the singleton levels below it,
// get an element for each position; where such levels begin, two more lists say which positions above have
// entries and where these begin.
#ifndef DISTAL_FORMAT_APPEND_H
#define DISTAL_FORMAT_APPEND_H

#include "format/level.h"
#include "machine/placement.h"

typedef enum {
    APPEND_PARENTS,     // positions above that have entries, where there are others: below dense levels
    APPEND_BEGINS,      // how many coordinates there were before those below each of these positions
    APPEND_COORDINATES, // of the level
} AppendKind;

typedef struct {
    int level;
    AppendKind kind;
    bool wide; // 64 bits
} AppendList;

enum { MAX_APPEND_LISTS = 3 * MAX_ORDER };
typedef struct {
    int count;
    AppendList lists[MAX_APPEND_LISTS];
} AppendLists;

// The lists of a tensor; none where a level can neither be appended to nor stores every coordinate.
AppendLists append_lists(int order, const LevelType *levels);
// The number of a list; -1 where there is none.
int append_list(const AppendLists *lists, int level, AppendKind kind);
// The last level that has coordinates of its own.
int append_last_level(const AppendLists *lists);

#endif
