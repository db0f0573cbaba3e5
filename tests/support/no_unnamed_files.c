// SPDX-License-Identifier: BSD-3-Clause
// Loaded before other libraries (LD_PRELOAD): open() as on a file system that has no files without a name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#define DEFINE_OPEN(name)                                                                                    \
    __attribute__((visibility("default"))) int name(const char *path, int flags, ...) {                      \
        if ((flags & O_TMPFILE) == O_TMPFILE) {                                                              \
            errno = EOPNOTSUPP;                                                                              \
            return -1;                                                                                       \
        }                                                                                                    \
        va_list arguments;                                                                                   \
        va_start(arguments, flags);                                                                          \
        const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                                 \
        va_end(arguments);                                                                                   \
        int (*next)(const char *, int, ...);                                                                 \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                                                           \
        return next(path, flags, mode);                                                                      \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
