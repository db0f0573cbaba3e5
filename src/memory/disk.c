// SPDX-License-Identifier: BSD-3-Clause
#include "memory/disk.h"

#include "base/integer.h"
#include "memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct DiskFile {
    int fd;
    int direct;          // the same file, opened with O_DIRECT; -1: it is not
    char *bounce_buffer; // what is read and written there goes through it, one call at a time
    pthread_mutex_t lock;
    int error; // errno of the first failure, or TRUNCATED
    int64_t bytes_read, bytes_written, reads, writes;
};

enum { TRUNCATED = -1 };
// Of direct access, in files and in memory: a multiple of what disks and file systems ask for.
enum { ALIGNMENT = 4096 };

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

static DiskFile *new_file(int fd) {
    DiskFile *file = malloc(sizeof *file);
    if (!file)
        return NULL;
    *file = (DiskFile){.fd = fd, .direct = -1};
    pthread_mutex_init(&file->lock, NULL);
    return file;
}

// 0, or errno.
static int open_direct(DiskFile *file) {
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file->fd);
    file->direct = open(name, O_RDWR | O_DIRECT | O_CLOEXEC);
    if (file->direct < 0)
        return errno;
    file->bounce_buffer = aligned_alloc(ALIGNMENT, DISK_BOUNCE_BYTES);
    return file->bounce_buffer ? 0 : ENOMEM;
}

DiskFile *disk_create(Scratch scratch, int64_t bytes) {
    DiskFile *file = new_file(-1);
    if (!file)
        return NULL;
    file->fd = disk_open_unnamed(disk_folder(scratch.folder));
    int error = file->fd < 0 ? errno : reserve(file->fd, bytes);
    if (error == 0 && scratch.direct)
        error = open_direct(file);
    if (error == 0)
        return file;
    disk_free(file);
    errno = error;
    return NULL;
}

DiskFile *disk_open(int fd) {
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return NULL;
    DiskFile *file = new_file(own);
    if (!file) {
        close(own);
        errno = ENOMEM;
    }
    return file;
}

void disk_free(DiskFile *file) {
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->direct >= 0)
        close(file->direct);
    pthread_mutex_destroy(&file->lock);
    free(file->bounce_buffer);
    free(file);
}

static void fail(DiskFile *file, int error) {
    int none = 0;
    __atomic_compare_exchange_n(&file->error, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool has_failed(const DiskFile *file) {
    return __atomic_load_n(&file->error, __ATOMIC_RELAXED) != 0;
}

enum { AT_ONCE = 1 << 30 }; // bytes: systems move no more than 2 GiB in one call

// From this descriptor or to it, the bytes that were moved: all but after a failure. What follows a part of a
// block goes through the cache in any case.
static int64_t move_all(DiskFile *file, int fd, int64_t offset, char *at, int64_t bytes, bool writes) {
    int64_t done = 0;
    while (done < bytes && !has_failed(file)) {
        const int64_t size = min_i64(bytes - done, AT_ONCE);
        const int to = done % ALIGNMENT == 0 ? fd : file->fd;
        const ssize_t got = writes ? pwrite(to, at + done, (size_t)size, (off_t)(offset + done))
                                   : pread(to, at + done, (size_t)size, (off_t)(offset + done));
        if (got > 0)
            done += got;
        else if (got == 0 || errno != EINTR)
            fail(file, got < 0 ? errno : writes ? ENOSPC : TRUNCATED);
    }
    return done;
}

// The same for whole blocks, with direct I/O.
static int64_t move_blocks(DiskFile *file, int64_t offset, char *at, int64_t bytes, bool writes) {
    int64_t done = 0;
    pthread_mutex_lock(&file->lock);
    while (done < bytes && !has_failed(file)) {
        const int64_t size = min_i64(bytes - done, DISK_BOUNCE_BYTES);
        if (writes)
            memcpy(file->bounce_buffer, at + done, (size_t)size);
        const int64_t moved = move_all(file, file->direct, offset + done, file->bounce_buffer, size, writes);
        if (!writes)
            memcpy(at + done, file->bounce_buffer, (size_t)moved);
        done += moved;
    }
    pthread_mutex_unlock(&file->lock);
    return done;
}

static int64_t move(DiskFile *file, int64_t offset, char *at, int64_t bytes, bool writes) {
    const int64_t first = ceil_div(offset, ALIGNMENT) * ALIGNMENT;
    const int64_t last = (offset + bytes) / ALIGNMENT * ALIGNMENT; // where whole blocks begin and end
    if (file->direct < 0 || first >= last)
        return move_all(file, file->fd, offset, at, bytes, writes);
    int64_t done = move_all(file, file->fd, offset, at, first - offset, writes);
    done += move_blocks(file, first, at + (first - offset), last - first, writes);
    return done + move_all(file, file->fd, last, at + (last - offset), offset + bytes - last, writes);
}

void disk_read(DiskFile *file, int64_t offset, void *to, int64_t bytes) {
    const int64_t done = move(file, offset, to, bytes, false);
    __atomic_fetch_add(&file->bytes_read, done, __ATOMIC_RELAXED);
    if (done < bytes)
        memset((char *)to + done, 0, (size_t)(bytes - done));
}

void disk_write(DiskFile *file, int64_t offset, const void *from, int64_t bytes) {
    const int64_t done = move(file, offset, (char *)from, bytes, true);
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
