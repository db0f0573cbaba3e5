// SPDX-License-Identifier: BSD-3-Clause
// Whether loops that gather rows of an operand prefetch them (distal_prefetch_end in generated code): a cost
// estimate from the bytes of a row, the size of a cache, and a sample of the coordinates.
#ifndef DISTAL_RUNTIME_PREFETCH_H
#define DISTAL_RUNTIME_PREFETCH_H

#include <stdbool.h>

// Without an estimate: wherever a list has an entry further on. For tests, whose lists are short.
void prefetch_always(bool always);

#endif
