// SPDX-License-Identifier: BSD-3-Clause
// Input files: opened, compared with the tensor that is to be read, and read by rectangles, so that each rank
// reads only its own part.
#ifndef DISTAL_IO_INPUT_H
#define DISTAL_IO_INPUT_H

#include "io/formats.h"

// Opens a file of this format and checks that it is complete. `path` must outlive `file`. False with a
// diagnostic. `file` may be closed in any case, also after memory has run out in this call.
bool input_open(const FileFormat *format, const char *path, InputFile *file, Diagnostics *diagnostics);
void input_close(InputFile *file);

// Whether the file holds a tensor of this shape whose elements can be converted to `type` exactly. False with
// a diagnostic that names `tensor`.
bool input_check(const InputFile *file, const char *tensor, ElementType type, int order,
                 const int64_t *extents, Diagnostics *diagnostics);

// Reads the elements of piece->rect, converted to the type of the piece. False with a diagnostic.
bool input_read(const InputFile *file, const Piece *piece, Diagnostics *diagnostics);

#endif
