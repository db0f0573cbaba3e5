// SPDX-License-Identifier: BSD-3-Clause
// Files of the kernel cache: read whole, and written so that another process sees all of one or nothing.
#ifndef DISTAL_JIT_FILE_H
#define DISTAL_JIT_FILE_H

#include "base/arena.h"

#include <stdbool.h>

// The bytes of a file, with a zero after them; NULL with errno where it cannot be read.
char *file_read(const char *path, size_t *size, Arena *arena);

// Makes a folder and those above it; false with errno.
bool folder_create(const char *path, Arena *arena);

// The name of a new file beside `path`, to be renamed to it when it is complete; NULL with errno.
char *file_beside(const char *path, Arena *arena);

// Writes a file through one beside it; false with errno.
bool file_write(const char *path, const void *bytes, size_t size, Arena *arena);
bool file_append(const char *path, const void *bytes, size_t size);

#endif
