// SPDX-License-Identifier: BSD-3-Clause
// A cache of kernels for a test alone.
#ifndef CACHE_FOLDER_H
#define CACHE_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char cache_path[] = "/tmp/distal cache XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void use_cache_folder(void) {
    if (mkdtemp(cache_path))
        setenv("XDG_CACHE_HOME", cache_path, 1);
}

static inline void remove_cache_folder(void) {
    nftw(cache_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
