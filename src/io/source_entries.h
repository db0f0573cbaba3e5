// SPDX-License-Identifier: BSD-3-Clause
// Entries from a source: a file of any format, or a generator.
#ifndef DISTAL_IO_SOURCE_ENTRIES_H
#define DISTAL_IO_SOURCE_ENTRIES_H

#include "format/entries.h"
#include "io/input.h"
#include "io/source.h"

// A share of the entries that a source gives, as several processes read it.
typedef struct {
    const SourceSpec *source;
    const char *tensor; // for diagnostics
    int share, shares;  // the index of this share, and the number of shares
    bool keeps_zeros;   // elements of an array that are zero are entries, too
    InputFile file;     // of a source that is one; closed by source_close
    int64_t listed;     // entries that it lists in this share
} SourceShare;

// Opens the source, for a tensor that is like `entries`, which has type, order and extents set. *count gets
// the elements that the share of a text with all of them lists, else 0: the sum of those of shares before is
// file.before when the share is read. False with a diagnostic; source_close follows in any case.
bool source_open(SourceShare *share, const Entries *entries, int64_t *count, Diagnostics *diagnostics);
// Then reads the share; `entries` has type, order and extents set. Takes at most `limit` bytes. False with a
// diagnostic. entries_free follows in any case.
bool source_read(SourceShare *share, int64_t limit, Entries *entries, Diagnostics *diagnostics);
// Whether a file has as many entries as it says, where all shares together list `listed`.
bool source_check(const SourceShare *share, int64_t listed, Diagnostics *diagnostics);
void source_close(SourceShare *share);

// All entries. `entries` is set, and freed by the caller with entries_free, also after a failure.
bool source_entries(const SourceSpec *source, const char *tensor, ElementType type, int order,
                    const int64_t *extents, int64_t limit, Entries *entries, Diagnostics *diagnostics);

#endif
