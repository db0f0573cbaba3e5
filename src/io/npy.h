// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files: format versions 1, 2 and 3, row- and column-major, either byte order. Only the parser
// of headers is declared here, for tests; the format itself is file_format_npy of io/formats.h.
#ifndef DISTAL_IO_NPY_H
#define DISTAL_IO_NPY_H

#include "io/file_array.h"

// Parses the first `size` bytes of a file, which are not trusted. NULL on success, else what is wrong
// (allocated in `arena` or static). *needed, where not NULL, becomes the size of the header in bytes if that
// is known, else 0.
const char *npy_parse(const unsigned char *bytes, size_t size, Arena *arena, FileArray *array,
                      size_t *needed);

#endif
