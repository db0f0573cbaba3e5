// SPDX-License-Identifier: BSD-3-Clause
// Files of the kernel cache, by name in a folder that is open: folders that no other user can write
// to, and files that are read whole and written so that another process sees all of one or nothing. Nothing
// here blocks or fails on what is no regular file.
#ifndef DISTAL_JIT_FILE_H
#define DISTAL_JIT_FILE_H

#include "base/arena.h"

#include <stdbool.h>

// A descriptor of the folder `path`, an absolute name; makes it and those above it, with mode 0700, where
// they are missing. -1 with errno where there is no such folder.
int folder_open(const char *path, Arena *arena);
// The same of the folder `name` in an open one.
int folder_open_in(int parent, const char *name);

// Why what is in an open folder may have been put there by someone else: a clause without a subject; NULL
// where the folder is this user's and no other user can write to it. Takes all rights to it from others.
const char *folder_distrust(int folder);

// Whether programs and libraries in the folder cannot be executed (a file system mounted with noexec).
bool folder_is_noexec(int folder);

// The bytes of a regular file that is this user's and that no other user can write to, with a zero after
// them; NULL with errno where there is none.
char *file_read(int folder, const char *name, size_t *size, Arena *arena);

// Makes an empty file whose name is `name` and a random suffix, to be renamed to `name` when it is complete.
// NULL with errno.
char *file_beside(int folder, const char *name, Arena *arena);

// Writes a file of mode 0600 through one beside it; false with errno.
bool file_write(int folder, const char *name, const void *bytes, size_t size, Arena *arena);
bool file_append(int folder, const char *name, const void *bytes, size_t size);

#endif
