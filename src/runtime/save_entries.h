// SPDX-License-Identifier: BSD-3-Clause
// Writes a tensor to a file that lists its elements, as text or by level, in rounds: in each, every rank gets
// the entries of a chunk of the file from those that have them, and formats them. Where all ranks have a file
// of text open, each writes its own chunk; else the first rank writes the chunks one after the other, as some
// network file systems lose bytes that are next to those of another node. A file by level is written by the
// first rank, to which the others send their entries in order. Beside the entries of a sparse tensor a rank
// has one chunk and its bytes in the file; of a dense one also a list of what it has at home of the chunks of
// all ranks, which are shorter where there are many.
#ifndef DISTAL_RUNTIME_SAVE_ENTRIES_H
#define DISTAL_RUNTIME_SAVE_ENTRIES_H

#include "io/formats.h"
#include "io/output.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"

// A sparse tensor in the order in which it is stored, a dense one by column, or by row where it is stored by
// level. `tensor` has all but its number of entries set. `output` is open on the first rank, or `shared` by
// all, which are on one node, and empty.
// Collective.
bool save_entries(const Storage *storage, const FileFormat *format, const FileTensor *tensor,
                  const Output *output, bool shared, MPI_Comm comm, Diagnostics *diagnostics);

#endif
