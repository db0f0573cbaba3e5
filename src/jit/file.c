// SPDX-License-Identifier: BSD-3-Clause
#include "jit/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_read(const char *path, size_t *size, Arena *arena) {
    struct stat status;
    // Before anything is open: running out of memory leaves by a jump.
    if (stat(path, &status) != 0)
        return NULL;
    size_t capacity = status.st_size > 0 ? (size_t)status.st_size : 0;
    char *bytes = arena_alloc(arena, capacity + 1);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    *size = 0;
    ssize_t got = 1;
    while (*size < capacity && got != 0) {
        got = read(file, bytes + *size, capacity - *size);
        if (got < 0 && errno != EINTR)
            break;
        *size += got > 0 ? (size_t)got : 0;
    }
    int error = errno;
    close(file);
    errno = error;
    return got < 0 ? NULL : bytes;
}

bool folder_create(const char *path, Arena *arena) {
    char *folder = arena_string(arena, path, strlen(path));
    for (char *end = strchr(folder + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST && access(folder, F_OK) != 0)
            return false;
        *end = '/';
    }
    return mkdir(folder, 0777) == 0 || errno == EEXIST;
}

char *file_beside(const char *path, Arena *arena) {
    char *name = arena_printf(arena, "%s.XXXXXX", path);
    int file = mkostemp(name, O_CLOEXEC);
    if (file < 0)
        return NULL;
    close(file);
    return name;
}

static bool write_all(const char *path, int flags, const void *bytes, size_t size) {
    int file = open(path, O_WRONLY | O_CLOEXEC | flags);
    if (file < 0)
        return false;
    size_t done = 0;
    while (done < size) {
        ssize_t put = write(file, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            break;
        done += (size_t)put;
    }
    int error = errno;
    bool closed = close(file) == 0;
    if (done < size)
        errno = error;
    return done == size && closed;
}

bool file_append(const char *path, const void *bytes, size_t size) {
    return write_all(path, O_APPEND, bytes, size);
}

bool file_write(const char *path, const void *bytes, size_t size, Arena *arena) {
    char *beside = file_beside(path, arena);
    if (!beside)
        return false;
    if (write_all(beside, O_TRUNC, bytes, size) && rename(beside, path) == 0)
        return true;
    int error = errno;
    unlink(beside);
    errno = error;
    return false;
}
