// SPDX-License-Identifier: BSD-3-Clause
// Whether loops that gather rows of an operand request them ahead, distal_ahead of the generated code: a cost
// estimate from the bytes of a row, the size of a cache, and a sample of the coordinates.
#ifndef DISTAL_RUNTIME_AHEAD_H
#define DISTAL_RUNTIME_AHEAD_H

#include <stdbool.h>

// Without an estimate: wherever a list has an entry further on. For tests, whose lists are short.
void ahead_always(bool always);

#endif
