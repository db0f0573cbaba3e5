// SPDX-License-Identifier: BSD-3-Clause
// Entries from generators, by several threads: those of a generator of entries, or the elements of any other
// that are not zero, which looks at every position.
#ifndef DISTAL_IO_GENERATE_ENTRIES_H
#define DISTAL_IO_GENERATE_ENTRIES_H

#include "io/generators.h"

// Share number `share` of the entries, of `shares`. `entries` has type, order and extents set and gets the
// rest, the same with any number of threads. Takes at most `limit` bytes. NULL on success, else the reason of
// the failure. The caller frees them with entries_free, in any case.
const char *generate_entries(const Generator *generator, const GeneratorValues *values, int share, int shares,
                             int64_t limit, Entries *entries, Arena *arena);

#endif
