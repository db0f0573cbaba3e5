// SPDX-License-Identifier: BSD-3-Clause
// The entries that a source gives a tensor: those that a file or a generator lists, or the elements of a
// dense file or of another generator that are not zero.
#ifndef DISTAL_IO_SOURCE_ENTRIES_H
#define DISTAL_IO_SOURCE_ENTRIES_H

#include "format/entries.h"
#include "io/source.h"

// Sets entries->type, order and extents to these, and the rest to what the source gives, in any order. Takes
// at most `limit` bytes. False with a diagnostic that names `tensor`; entries_free follows in any case.
bool source_entries(const SourceSpec *source, const char *tensor, ElementType type, int order,
                    const int64_t *extents, int64_t limit, Entries *entries, Diagnostics *diagnostics);

#endif
