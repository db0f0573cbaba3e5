// SPDX-License-Identifier: BSD-3-Clause
#include "memory/disk.h"

#include "base/integer.h"
#include "memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct DiskFile {
    int fd;
    int error; // errno of the first failure, or TRUNCATED
    int64_t bytes_read, bytes_written, reads, writes;
};

enum { TRUNCATED = -1 };

const char *disk_folder(const char *folder) {
    const char *environment = getenv("TMPDIR");
    return folder ? folder : environment && environment[0] ? environment : "/tmp";
}

int disk_open_unnamed(const char *folder) {
#ifdef O_TMPFILE
    const int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (unnamed >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return unnamed;
#endif
    char *path;
    if (asprintf(&path, "%s/distal-scratch-XXXXXX", folder) < 0) {
        errno = ENOMEM;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC); // O_EXCL, with an unpredictable name
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

// Reserves the room, so that a disk that is full is noticed before anything is computed.
static int reserve(int fd, int64_t bytes) {
    struct rlimit limit;
    // Beyond this limit a process is killed.
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (uint64_t)bytes > (uint64_t)limit.rlim_cur)
        return EFBIG;
    if (bytes == 0)
        return 0;
    int result;
    do
        result = fallocate(fd, 0, 0, bytes) == 0 ? 0 : errno;
    while (result == EINTR);
    if (result == EOPNOTSUPP || result == ENOSYS) // the file system cannot
        result = ftruncate(fd, bytes) == 0 ? 0 : errno;
    return result;
}

DiskFile *disk_create(const char *folder, int64_t bytes) {
    DiskFile *file = malloc(sizeof *file);
    if (!file)
        return NULL;
    *file = (DiskFile){.fd = disk_open_unnamed(disk_folder(folder))};
    const int error = file->fd < 0 ? errno : reserve(file->fd, bytes);
    if (error == 0)
        return file;
    disk_free(file);
    errno = error;
    return NULL;
}

DiskFile *disk_adopt(int fd) {
    DiskFile *file = malloc(sizeof *file);
    if (file)
        *file = (DiskFile){.fd = fd};
    return file;
}

void disk_free(DiskFile *file) {
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    free(file);
}

static void fail(DiskFile *file, int error) {
    int none = 0;
    __atomic_compare_exchange_n(&file->error, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool disk_close(DiskFile *file) {
    const int fd = file->fd;
    file->fd = -1;
    if (fd >= 0 && close(fd) != 0)
        fail(file, errno);
    return disk_error(file) == NULL;
}

static bool has_failed(const DiskFile *file) {
    return __atomic_load_n(&file->error, __ATOMIC_RELAXED) != 0;
}

enum { AT_ONCE = 1 << 30 }; // bytes: systems move no more than 2 GiB in one call

void disk_read(DiskFile *file, int64_t offset, void *to, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes && !has_failed(file)) {
        const int64_t size = min_i64(bytes - done, AT_ONCE);
        const ssize_t got = pread(file->fd, (char *)to + done, (size_t)size, (off_t)(offset + done));
        if (got > 0)
            done += got;
        else if (got == 0 || errno != EINTR)
            fail(file, got == 0 ? TRUNCATED : errno);
    }
    __atomic_fetch_add(&file->bytes_read, done, __ATOMIC_RELAXED);
    if (done < bytes)
        memset((char *)to + done, 0, (size_t)(bytes - done));
}

void disk_write(DiskFile *file, int64_t offset, const void *from, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes && !has_failed(file)) {
        const int64_t size = min_i64(bytes - done, AT_ONCE);
        const ssize_t got = pwrite(file->fd, (const char *)from + done, (size_t)size, (off_t)(offset + done));
        if (got > 0)
            done += got;
        else if (got == 0 || errno != EINTR)
            fail(file, got == 0 ? ENOSPC : errno);
    }
    __atomic_fetch_add(&file->bytes_written, done, __ATOMIC_RELAXED);
}

void disk_count(DiskFile *file, int64_t reads, int64_t writes) {
    __atomic_fetch_add(&file->reads, reads, __ATOMIC_RELAXED);
    __atomic_fetch_add(&file->writes, writes, __ATOMIC_RELAXED);
}

IoCounts io_counts_add(IoCounts a, IoCounts b) {
    return (IoCounts){saturated_add(a.bytes_read, b.bytes_read),
                      saturated_add(a.bytes_written, b.bytes_written), saturated_add(a.reads, b.reads),
                      saturated_add(a.writes, b.writes)};
}

bool io_counts_equal(IoCounts a, IoCounts b) {
    return a.bytes_read == b.bytes_read && a.bytes_written == b.bytes_written && a.reads == b.reads &&
           a.writes == b.writes;
}

IoCounts disk_counts(const DiskFile *file) {
    return (IoCounts){__atomic_load_n(&file->bytes_read, __ATOMIC_RELAXED),
                      __atomic_load_n(&file->bytes_written, __ATOMIC_RELAXED),
                      __atomic_load_n(&file->reads, __ATOMIC_RELAXED),
                      __atomic_load_n(&file->writes, __ATOMIC_RELAXED)};
}

const char *disk_error(const DiskFile *file) {
    const int error = __atomic_load_n(&file->error, __ATOMIC_RELAXED);
    return error == 0 ? NULL : error == TRUNCATED ? "the file is shorter than it was" : strerror(error);
}

const MemoryKind memory_disk = {.name = "disk", .supported = true};
