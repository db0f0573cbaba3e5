// SPDX-License-Identifier: BSD-3-Clause
// Loaded before other libraries (LD_PRELOAD): on rank 1, the system refuses what SHARED_MEMORY_FAILS says of
// what ranks need to read each other's memory: "create", "open" or "map" a file of it; or it limits the size
// of "files", or "addresses".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int fails(const char *what) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *named = getenv("SHARED_MEMORY_FAILS");
    if (!rank)
        rank = getenv("PMI_RANK");
    return rank && strcmp(rank, "1") == 0 && named && strcmp(named, what) == 0;
}

static int refuse(int error) {
    errno = error;
    return -1;
}

__attribute__((constructor)) static void limit(void) {
    const struct rlimit large = {(rlim_t)1 << 40, (rlim_t)1 << 40};
    if (fails("files"))
        setrlimit(RLIMIT_FSIZE, &large);
    if (fails("addresses"))
        setrlimit(RLIMIT_AS, &large);
}

int memfd_create(const char *name, unsigned flags) {
    int (*own)(const char *, unsigned) = (int (*)(const char *, unsigned))dlsym(RTLD_NEXT, "memfd_create");
    return fails("create") && strcmp(name, "distal") == 0 ? refuse(ENOSYS) : own(name, flags);
}

static int open_file(const char *function, const char *path, int flags, mode_t mode) {
    int (*own)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, function);
    const int refused = fails("open") && strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/");
    return refused ? refuse(EACCES) : own(path, flags, mode);
}

// The mode is read where it is given.
#define OPEN(function)                                                                                       \
    int function(const char *path, int flags, ...) {                                                         \
        mode_t mode = 0;                                                                                     \
        va_list rest;                                                                                        \
        va_start(rest, flags);                                                                               \
        if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)                                           \
            mode = va_arg(rest, mode_t);                                                                     \
        va_end(rest);                                                                                        \
        return open_file(#function, path, flags, mode);                                                      \
    }
OPEN(open)
OPEN(open64)

// Of other ranks, files are mapped to be read only.
static void *map_file(const char *function, void *at, size_t bytes, int access, int flags, int file,
                      off_t offset) {
    void *(*own)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, function);
    if (fails("map") && access == PROT_READ && (flags & MAP_SHARED) && offset > 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return own(at, bytes, access, flags, file, offset);
}

void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
    return map_file("mmap", at, bytes, access, flags, file, offset);
}

void *mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
    return map_file("mmap64", at, bytes, access, flags, file, offset);
}
