// SPDX-License-Identifier: BSD-3-Clause
// Sites: the folders of the cache, one for all that is made of one source, named by a hash of what that
// depends on. Other users can write to none of them. What is made is sealed: the last bytes of the file are a
// hash of those before them, as using a damaged one may end the process.
#ifndef DISTAL_JIT_SITE_H
#define DISTAL_JIT_SITE_H

#include "base/arena.h"
#include "jit/hash.h"

#include <stdbool.h>

typedef struct {
    int base, folder; // descriptors; -1: not open
    const char *base_path, *path, *key;
    bool temporary; // removed after its use
} Site;

// The folder `key` in the folder `base_path`; not open.
Site site_named(const char *base_path, const char *key, Arena *arena);
// The name that is a hash.
const char *site_key(Hash hash, Arena *arena);
// Opens the folders of a site, which the caller closes in any case. False if that is not possible; *distrust
// says why if others may have written to them.
bool site_open(Site *site, const char **distrust, Arena *arena);
// The same of the site with this key in the cache, which XDG_CACHE_HOME or HOME say.
bool site_open_cached(Site *site, const char **distrust, Arena *arena);
void site_close(Site *site);

// Appends the hash to a file; false with errno.
bool site_seal(const Site *site, const char *name, Arena *arena);
// Writes a sealed file, by renaming a complete one; false with errno.
bool site_write(const Site *site, const char *name, const void *bytes, size_t size, Arena *arena);
// The bytes of a sealed file, without the hash; NULL where there is none, or a damaged one.
const char *site_read(const Site *site, const char *name, size_t *size, Arena *arena);

// An absolute path in a variable of the environment; NULL: none. Relative paths are ignored, as the XDG Base
// Directory Specification says.
const char *environment_path(const char *variable);

#endif
