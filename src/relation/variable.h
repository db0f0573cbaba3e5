// SPDX-License-Identifier: BSD-3-Clause
// Index variables of one statement, by id from 0, and sets of them.
#ifndef DISTAL_RELATION_VARIABLE_H
#define DISTAL_RELATION_VARIABLE_H

#include <stdint.h>

enum { MAX_VARS = 64 }; // derived variables included

typedef uint64_t VarSet; // bit v: variable v
_Static_assert(MAX_VARS <= 64, "a set of variables is one word");

#endif
