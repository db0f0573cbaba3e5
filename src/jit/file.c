// SPDX-License-Identifier: BSD-3-Clause
#include "jit/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH };

static void close_keeping_errno(int file) {
    const int error = errno;
    close(file);
    errno = error;
}

int folder_open(const char *path, Arena *arena) {
    char *folder = arena_string(arena, path, strlen(path));
    for (char *end = strchr(folder + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST && access(folder, F_OK) != 0)
            return -1;
        *end = '/';
    }
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int folder_open_in(int parent, const char *name) {
    if (mkdirat(parent, name, S_IRWXU) != 0 && errno != EEXIST)
        return -1;
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

const char *folder_distrust(int folder) {
    struct stat status;
    if (fstat(folder, &status) != 0)
        return "cannot be examined";
    if (status.st_uid != geteuid())
        return "belongs to another user";
    if (status.st_mode & OTHERS_WRITE)
        return "can be written to by others";
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        fchmod(folder, S_IRWXU); // if that fails, others can only read its files
    return NULL;
}

bool folder_is_noexec(int folder) {
    struct statvfs status;
    return fstatvfs(folder, &status) == 0 && (status.f_flag & ST_NOEXEC);
}

static bool is_private_file(int file, struct stat *status) {
    if (fstat(file, status) != 0)
        return false;
    errno = S_ISREG(status->st_mode) ? EACCES : EINVAL;
    return S_ISREG(status->st_mode) && status->st_uid == geteuid() && !(status->st_mode & OTHERS_WRITE);
}

// No file is open during an allocation, which may leave this function by a jump.
char *file_read(int folder, const char *name, size_t *size, Arena *arena) {
    struct stat status;
    char *bytes = NULL;
    for (size_t capacity = 0;;) {
        // O_NONBLOCK: a fifo without a writer would block. Only regular files are accepted.
        const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0)
            return NULL;
        if (!is_private_file(file, &status)) {
            close_keeping_errno(file);
            return NULL;
        }
        if (bytes && (size_t)status.st_size <= capacity) {
            *size = 0;
            ssize_t got = 1;
            while (*size < capacity && got != 0) {
                got = read(file, bytes + *size, capacity - *size);
                if (got < 0 && errno != EINTR)
                    break;
                *size += got > 0 ? (size_t)got : 0;
            }
            close_keeping_errno(file);
            return got < 0 ? NULL : bytes;
        }
        close(file);
        capacity = (size_t)status.st_size;
        bytes = arena_alloc(arena, capacity + 1);
    }
}

char *file_beside(int folder, const char *name, Arena *arena) {
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t suffix = 0;
        if (getrandom(&suffix, sizeof suffix, 0) != sizeof suffix)
            return NULL;
        char *beside = arena_printf(arena, "%s.%016llx", name, (unsigned long long)suffix);
        const int file =
            openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (file >= 0) {
            close(file);
            return beside;
        }
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

static bool write_all(int folder, const char *name, int flags, const void *bytes, size_t size) {
    const int file = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
    if (file < 0)
        return false;
    size_t done = 0;
    while (done < size) {
        const ssize_t put = write(file, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            break;
        done += (size_t)put;
    }
    const int error = errno;
    const bool closed = close(file) == 0;
    if (done < size)
        errno = error;
    return done == size && closed;
}

bool file_append(int folder, const char *name, const void *bytes, size_t size) {
    return write_all(folder, name, O_APPEND, bytes, size);
}

bool file_write(int folder, const char *name, const void *bytes, size_t size, Arena *arena) {
    const char *beside = file_beside(folder, name, arena);
    if (!beside)
        return false;
    if (write_all(folder, beside, O_TRUNC, bytes, size) && renameat(folder, beside, folder, name) == 0)
        return true;
    const int error = errno;
    unlinkat(folder, beside, 0);
    errno = error;
    return false;
}
