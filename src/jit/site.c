// SPDX-License-Identifier: BSD-3-Clause
#include "jit/site.h"

#include "jit/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Site site_named(const char *base_path, const char *key, Arena *arena) {
    return (Site){.base = -1,
                  .folder = -1,
                  .base_path = base_path,
                  .path = arena_printf(arena, "%s/%s", base_path, key),
                  .key = key};
}

const char *site_key(Hash hash, Arena *arena) {
    return arena_printf(arena, "%016" PRIx64 "%016" PRIx64, hash.lanes[0], hash.lanes[1]);
}

void site_close(Site *site) {
    if (site->folder >= 0)
        close(site->folder);
    if (site->base >= 0)
        close(site->base);
    site->folder = site->base = -1;
}

bool site_open(Site *site, const char **distrust, Arena *arena) {
    *distrust = NULL;
    site->base = folder_open(site->base_path, arena);
    const char *why = site->base >= 0 ? folder_distrust(site->base) : NULL;
    const char *path = site->base_path;
    if (site->base >= 0 && !why) {
        site->folder = folder_open_in(site->base, site->key);
        why = site->folder >= 0 ? folder_distrust(site->folder) : NULL;
        path = site->path;
    }
    if (why)
        *distrust = arena_printf(arena, "'%s' %s", path, why);
    return site->folder >= 0 && !why;
}

const char *environment_path(const char *variable) {
    const char *path = getenv(variable);
    return path && path[0] == '/' ? path : NULL;
}

// NULL if the environment names none.
static const char *cache_folder(Arena *arena) {
    const char *cache = environment_path("XDG_CACHE_HOME"), *home = environment_path("HOME");
    if (cache)
        return arena_printf(arena, "%s/distal", cache);
    return home ? arena_printf(arena, "%s/.cache/distal", home) : NULL;
}

bool site_open_cached(Site *site, const char **distrust, Arena *arena) {
    const char *cache = cache_folder(arena);
    *distrust = NULL;
    if (!cache)
        return false;
    *site = site_named(cache, site->key, arena);
    return site_open(site, distrust, arena);
}

bool site_seal(const Site *site, const char *name, Arena *arena) {
    size_t size;
    const char *bytes = file_read(site->folder, name, &size, arena);
    if (!bytes)
        return false;
    Hash hash = hash_create();
    hash_bytes(&hash, bytes, size);
    return file_append(site->folder, name, &hash, sizeof hash);
}

bool site_write(const Site *site, const char *name, const void *bytes, size_t size, Arena *arena) {
    Hash hash = hash_create();
    hash_bytes(&hash, bytes, size);
    char *sealed = arena_alloc(arena, size + sizeof hash);
    memcpy(sealed, bytes, size);
    memcpy(sealed + size, &hash, sizeof hash);
    return file_write(site->folder, name, sealed, size + sizeof hash, arena);
}

const char *site_read(const Site *site, const char *name, size_t *size, Arena *arena) {
    const char *bytes = file_read(site->folder, name, size, arena);
    Hash hash = hash_create(), written;
    if (!bytes || *size < sizeof hash)
        return NULL;
    *size -= sizeof hash;
    hash_bytes(&hash, bytes, *size);
    memcpy(&written, bytes + *size, sizeof written);
    return memcmp(&hash, &written, sizeof hash) == 0 ? bytes : NULL;
}
