// SPDX-License-Identifier: BSD-3-Clause
// What the parts of parsing a placement share: its arrows (parse_place.c), and the entry for each dimension
// of the machine (parse_place_entry.c).
#ifndef DISTAL_LANG_PARSE_PLACE_H
#define DISTAL_LANG_PARSE_PLACE_H

#include "lang/parser.h"

// One arrow: the names of modes on its left, and which of them have been used on its right.
typedef struct {
    int mode_count;
    const char *modes[MAX_ORDER];
    bool used[MAX_ORDER];
} Arrow;

typedef struct {
    Parser *parser;
    const Token *name;    // of the tensor
    Tensor *tensor;       // NULL where its declaration failed or it is unknown
    Placement *placement; // machine NULL likewise
    int next_level;       // of the machine
    int entry_count;      // of the dimensions of the machine before the one that is parsed
    bool failed, wrong_level;
} PlaceParser;

// `x`, `~x`, `cyclic(x, b)`, `3`, `*`, ...: entry number place->entry_count of the right side of an arrow,
// from zero. False where the rest cannot be parsed; other errors set place->failed.
bool parse_place_entry(PlaceParser *place, Arrow *arrow, PlaceEntry *entry);

#endif
