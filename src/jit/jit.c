// SPDX-License-Identifier: BSD-3-Clause
// The cache holds a folder for each kernel, named by the hash of all that its code depends on: kernel.c and
// distal_kernel.h for people to read and compile again, and kernel.so. The last bytes of kernel.so are a hash
// of those before them (a loader does not look there), as loading a damaged file may end the process.
#include "jit/jit.h"

#include "base/clock.h"
#include "jit/compiler.h"
#include "jit/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char distal_kernel_header_text[];

static const Span nowhere = {0, 0, 0};

// Where one kernel is compiled to.
typedef struct {
    const char *folder, *source, *header, *object;
    bool temporary; // removed once the kernel is loaded
} Site;

static Site site_in(const char *folder, bool temporary, Arena *arena) {
    return (Site){.folder = folder,
                  .source = arena_printf(arena, "%s/kernel.c", folder),
                  .header = arena_printf(arena, "%s/distal_kernel.h", folder),
                  .object = arena_printf(arena, "%s/kernel.so", folder),
                  .temporary = temporary};
}

// NULL where the environment names no place for a cache.
static const char *cache_folder(Arena *arena) {
    const char *cache = getenv("XDG_CACHE_HOME");
    if (cache && *cache)
        return arena_printf(arena, "%s/distal", cache);
    const char *home = getenv("HOME");
    return home && *home ? arena_printf(arena, "%s/.cache/distal", home) : NULL;
}

static const char *key_of(const char *source, const Compiler *compiler, Arena *arena) {
    Hash hash = hash_create();
    hash_string(&hash, source);
    hash_string(&hash, distal_kernel_header_text);
    compiler_hash(compiler, &hash);
    return arena_printf(arena, "%016" PRIx64 "%016" PRIx64, hash.lanes[0], hash.lanes[1]);
}

static bool seal(const char *object, Arena *arena) {
    size_t size;
    const char *bytes = file_read(object, &size, arena);
    if (!bytes)
        return false;
    Hash hash = hash_create();
    hash_bytes(&hash, bytes, size);
    return file_append(object, &hash, sizeof hash);
}

static bool is_sound(const char *object, Arena *arena) {
    size_t size;
    const char *bytes = file_read(object, &size, arena);
    Hash hash = hash_create(), written;
    if (!bytes || size < sizeof hash)
        return false;
    hash_bytes(&hash, bytes, size - sizeof hash);
    memcpy(&written, bytes + size - sizeof hash, sizeof written);
    return memcmp(&hash, &written, sizeof hash) == 0;
}

// False with errno where the folder cannot be written.
static bool prepare(const Site *site, const char *source, Arena *arena) {
    return folder_create(site->folder, arena) && file_write(site->source, source, strlen(source), arena) &&
           file_write(site->header, distal_kernel_header_text, strlen(distal_kernel_header_text), arena);
}

static bool compile(const Site *site, const Compiler *compiler, Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    const char *beside = file_beside(site->object, arena);
    if (beside && !compiler_run(compiler, site->folder, site->source, beside, diagnostics)) {
        unlink(beside);
        return false;
    }
    if (beside && seal(beside, arena) && rename(beside, site->object) == 0)
        return true;
    int error = errno;
    if (beside)
        unlink(beside);
    return diagnostics_error(diagnostics, nowhere, "cannot write the kernel '%s': %s", site->object,
                             strerror(error));
}

static void site_remove(const Site *site) {
    unlink(site->object);
    unlink(site->source);
    unlink(site->header);
    rmdir(site->folder);
}

// Whether there is room for a file as large as a kernel may be; false with errno.
static bool has_room(const Site *site, Arena *arena) {
    enum { ROOM = 1 << 20 };
    const char *probe = arena_printf(arena, "%s.room", site->object);
    const bool ok = file_write(probe, arena_alloc(arena, ROOM), ROOM, arena);
    const int error = errno;
    unlink(probe);
    errno = error;
    return ok;
}

// *writable is false, and errno says why, where the folder does not take the kernel; nothing is diagnosed
// then. The compiler's own words about that are lost with its log, which is in the same place.
static bool compile_into(const Site *site, const char *source, const Compiler *compiler, bool *writable,
                         Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    Diagnostics *attempt = diagnostics_create(arena, diagnostics->source);
    *writable = prepare(site, source, arena);
    if (*writable && compile(site, compiler, attempt))
        return true;
    *writable = *writable && has_room(site, arena);
    if (*writable)
        diagnostics_repeat_error(diagnostics, nowhere, attempt->list.items[0].message);
    return false;
}

static bool compile_aside(Site *site, const char *source, const Compiler *compiler,
                          Diagnostics *diagnostics) {
    const char *parent = getenv("TMPDIR");
    char *folder = arena_printf(diagnostics->arena, "%s/distal-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return diagnostics_error(diagnostics, nowhere, "cannot make a folder '%s' for a kernel: %s", folder,
                                 strerror(errno));
    *site = site_in(folder, true, diagnostics->arena);
    bool writable;
    if (compile_into(site, source, compiler, &writable, diagnostics))
        return true;
    const int error = errno;
    site_remove(site);
    return writable ? false
                    : diagnostics_error(diagnostics, nowhere, "cannot write a kernel into '%s': %s", folder,
                                        strerror(error));
}

// Finds the kernel in the cache or compiles it there; where the cache cannot be written, into a temporary
// folder if `needed`, else *site has no folder.
static bool provide(const char *source, bool needed, Site *site, bool *cache_hit, double *seconds,
                    Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    Compiler compiler = compiler_from_environment(arena);
    const char *cache = cache_folder(arena);
    const double start = clock_seconds();
    bool ok = false, writable = false;
    *cache_hit = false;
    *seconds = 0;
    if (cache) {
        const char *key = key_of(source, &compiler, arena);
        *site = site_in(arena_printf(arena, "%s/%s", cache, key), false, arena);
        *cache_hit = is_sound(site->object, arena);
        if (*cache_hit)
            return true;
        ok = compile_into(site, source, &compiler, &writable, diagnostics);
    }
    if (!ok && !writable) {
        *site = (Site){0};
        if (!needed)
            return true;
        ok = compile_aside(site, source, &compiler, diagnostics);
    }
    if (ok)
        *seconds = clock_seconds() - start;
    return ok;
}

bool jit_compile(const char *source, bool *cache_hit, double *seconds, Diagnostics *diagnostics) {
    Site site;
    return provide(source, false, &site, cache_hit, seconds, diagnostics);
}

// Where this library was itself loaded as a plug-in, its functions are not in the global scope in which a
// kernel looks for them.
static void export_ourselves(void) {
    Dl_info info;
    if (dladdr((const void *)distal_kernel_header_text, &info) != 0 && info.dli_fname) {
        void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
        if (handle)
            dlclose(handle);
    }
}

bool jit_load(const char *source, const char *function, Kernel *kernel, Diagnostics *diagnostics) {
    Site site;
    *kernel = (Kernel){0};
    if (!provide(source, true, &site, &kernel->cache_hit, &kernel->seconds, diagnostics) || !site.object)
        return false; // what is needed and provided has an object
    export_ourselves();
    // Kept mapped: it may have brought an OpenMP of its own, whose threads outlive the call.
    kernel->handle = dlopen(site.object, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = kernel->handle ? NULL : dlerror();
    if (kernel->handle) {
        // POSIX: a pointer to a function fits into one to void, and only a copy of bytes is without warning.
        void *symbol = dlsym(kernel->handle, function);
        memcpy(&kernel->function, &symbol, sizeof symbol);
        why = symbol ? NULL : dlerror();
    }
    if (why) {
        diagnostics_error(diagnostics, nowhere, "cannot load the kernel '%s': %s", site.object, why);
        unlink(site.object); // the next run compiles it again
    }
    if (site.temporary)
        site_remove(&site);
    if (why)
        jit_unload(kernel);
    return !why;
}

void jit_unload(Kernel *kernel) {
    if (kernel->handle)
        dlclose(kernel->handle);
    *kernel = (Kernel){0};
}
