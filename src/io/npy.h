// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files: format versions 1, 2 and 3, row- and column-major, either byte order. The rest of the
// format is in the table of io/formats.h.
#ifndef DISTAL_IO_NPY_H
#define DISTAL_IO_NPY_H

#include "io/file_array.h"

// Parses the first `size` bytes of a file, whatever they are. NULL on success, else what is wrong, in
// `arena`; `*needed`, where not NULL, is the number of bytes that the header takes once that is known, else
// 0.
const char *npy_parse(const unsigned char *bytes, size_t size, Arena *arena, FileArray *array,
                      size_t *needed);

#endif
