// SPDX-License-Identifier: BSD-3-Clause
// Files that tensors are read from: any rectangle of one can be read into a piece, so that each rank touches
// its own part only.
#ifndef DISTAL_IO_INPUT_H
#define DISTAL_IO_INPUT_H

#include "io/formats.h"

// Opens a file of this format, which can be read, and checks that it is complete. `path` has to stay. False
// with a diagnostic. `file` can be closed in any case, also where memory runs out meanwhile.
bool input_open(const FileFormat *format, const char *path, InputFile *file, Diagnostics *diagnostics);
void input_close(InputFile *file);

// Whether the file holds a tensor of this shape, and its elements can be converted to `type` and nothing is
// lost by it. False with a diagnostic that names `tensor`.
bool input_check(const InputFile *file, const char *tensor, ElementType type, int order,
                 const int64_t *extents, Diagnostics *diagnostics);

// Reads the elements of piece->rect, converted to `type`. False with a diagnostic where the file cannot be
// read.
bool input_read(const InputFile *file, ElementType type, const Piece *piece, Diagnostics *diagnostics);

#endif
