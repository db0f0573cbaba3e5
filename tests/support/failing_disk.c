// SPDX-License-Identifier: BSD-3-Clause
// pread and pwrite of files without a name, or of the one that FAIL_FILE names, that fail, once FAIL_READS or
// FAIL_WRITES calls have gone well: with an error of the device, or, of reads where FAIL_SHORT is set, as if
// the file ended. Every third read returns half of what it was asked for.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long limit_of(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : -1;
}

static int is_chosen(int fd) {
    struct stat status, named;
    const char *name = getenv("FAIL_FILE");
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return name ? stat(name, &named) == 0 && named.st_dev == status.st_dev && named.st_ino == status.st_ino
                : status.st_nlink == 0;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset) {
    static ssize_t (*next)(int, void *, size_t, off_t);
    static long calls;
    if (!next)
        next = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    if (!is_chosen(fd))
        return next(fd, to, bytes, offset);
    calls++;
    if (limit_of("FAIL_READS") >= 0 && calls > limit_of("FAIL_READS")) {
        errno = EIO;
        return getenv("FAIL_SHORT") ? 0 : -1;
    }
    return next(fd, to, calls % 3 == 0 && bytes > 1 ? bytes / 2 : bytes, offset);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset) {
    static ssize_t (*next)(int, const void *, size_t, off_t);
    static long calls;
    if (!next)
        next = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    if (is_chosen(fd) && limit_of("FAIL_WRITES") >= 0 && ++calls > limit_of("FAIL_WRITES")) {
        errno = ENOSPC;
        return -1;
    }
    return next(fd, from, bytes, offset);
}
