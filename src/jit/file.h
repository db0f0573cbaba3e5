// SPDX-License-Identifier: BSD-3-Clause
// Files of the kernel cache, by name in a folder that is open: folders that no other user can write
// to, and files that are read whole and written so that other processes see complete files only. Other things
// in place of regular files are ignored and do not block.
#ifndef DISTAL_JIT_FILE_H
#define DISTAL_JIT_FILE_H

#include "base/arena.h"

#include <stdbool.h>

// A descriptor of the folder `path`, an absolute name; creates it and its parents, with mode 0700, if they
// are missing. -1 with errno if it cannot be opened.
int folder_open(const char *path, Arena *arena);
// The same for the folder `name` in an open one.
int folder_open_in(int parent, const char *name);

// NULL if the open folder belongs to this user and no other user can write to it; else why others may have
// written to it, a clause without a subject. Removes the permissions of other users.
const char *folder_distrust(int folder);

// Whether programs and libraries in the folder cannot be executed (a file system mounted with noexec).
bool folder_is_noexec(int folder);

// The bytes of a regular file that belongs to this user and that no other user can write to, with a zero
// after them; NULL with errno if there is none.
char *file_read(int folder, const char *name, size_t *size, Arena *arena);

// Creates an empty file with the name `name` and a random suffix, to be renamed to `name` when it is
// complete. NULL with errno.
char *file_beside(int folder, const char *name, Arena *arena);

// Writes a file of mode 0600, by renaming a complete one; false with errno.
bool file_write(int folder, const char *name, const void *bytes, size_t size, Arena *arena);
bool file_append(int folder, const char *name, const void *bytes, size_t size);

#endif
