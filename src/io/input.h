// SPDX-License-Identifier: BSD-3-Clause
// Input files: opened, compared with the tensor that is to be read, and read rectangle by rectangle, so that
// each rank reads its own part only, or as entries.
#ifndef DISTAL_IO_INPUT_H
#define DISTAL_IO_INPUT_H

#include "io/formats.h"

// Opens a file of this format and checks that it is complete. `path` must outlive `file`. False with a
// diagnostic. `file` may be closed in any case, also after memory has run out in this call.
bool input_open(const FileFormat *format, const char *path, InputFile *file, Diagnostics *diagnostics);
void input_close(InputFile *file);

// Whether the file holds a tensor of this shape whose elements can be converted to `type` exactly. A format
// that lists entries may leave that to reading: then a value that cannot be converted is wrong, and it may
// not say order and extents. False with a diagnostic that names `tensor`.
bool input_check(InputFile *file, const char *tensor, ElementType type, int order, const int64_t *extents,
                 Diagnostics *diagnostics);

// After input_check: reads the elements of piece->rect, converted to the type of the piece. False with a
// diagnostic.
bool input_read(InputFile *file, const Piece *piece, Diagnostics *diagnostics);

// After input_check: where in the file, in bytes, the elements begin, if these are what memory of `tensor`
// would hold: all of them, contiguous, in its type and in the order of its levels. -1 with a
// diagnostic.
int64_t input_locate(const InputFile *file, const Tensor *tensor, Diagnostics *diagnostics);

// After input_check: the elements that the share of a text with all of them lists, which is what shares after
// it have to know of it (file->before); of other files 0. False with a diagnostic.
bool input_count(const InputFile *file, int64_t *count, Diagnostics *diagnostics);
// After input_check: reads the entries of the share, converted to `type`: of a file with all elements those
// that are not zero, unless file->keeps_zeros; duplicates as they come. What would take more than `limit`
// bytes is refused before it is allocated. False with a diagnostic. The caller frees them with entries_free,
// in any case.
bool input_entries(const InputFile *file, ElementType type, int64_t limit, Entries *entries,
                   Diagnostics *diagnostics);
// Whether a text has as many entries as it says, where all shares list `listed`. False with a diagnostic.
bool input_check_listed(const InputFile *file, int64_t listed, Diagnostics *diagnostics);

#endif
