// SPDX-License-Identifier: BSD-3-Clause
// The cache has a folder for each kernel, named by the hash of all that its code depends on, with kernel.c
// and distal_kernel.h, which users can read and compile again, and kernel.so. The last bytes of kernel.so,
// which a loader does not read, are a hash of those before them, as loading a damaged file may end the
// process.
#include "jit/jit.h"

#include "base/clock.h"
#include "jit/compiler.h"
#include "jit/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char distal_kernel_header_text[];

static const Span nowhere = {0, 0, 0};

// The folder of one kernel, named by its key, in a folder that no other user can write to.
typedef struct {
    int base, folder; // descriptors; -1: not open
    const char *base_path, *path, *key;
    bool temporary; // removed once the kernel is loaded
} Site;

static const char source_name[] = "kernel.c", header_name[] = "distal_kernel.h", object_name[] = "kernel.so";

static Site site_named(const char *base_path, const char *key, Arena *arena) {
    return (Site){.base = -1,
                  .folder = -1,
                  .base_path = base_path,
                  .path = arena_printf(arena, "%s/%s", base_path, key),
                  .key = key};
}

static void site_close(Site *site) {
    if (site->folder >= 0)
        close(site->folder);
    if (site->base >= 0)
        close(site->base);
    site->folder = site->base = -1;
}

// Opens the folders of a site. False if that is not possible; *distrust says why if others may have written
// to them.
static bool site_open(Site *site, const char **distrust, Arena *arena) {
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

// An absolute path in a variable of the environment; relative paths are ignored, as the XDG Base Directory
// Specification says.
static const char *absolute_path(const char *variable) {
    const char *path = getenv(variable);
    return path && path[0] == '/' ? path : NULL;
}

// The folder of the cache; NULL if the environment names none.
static const char *cache_folder(Arena *arena) {
    const char *cache = absolute_path("XDG_CACHE_HOME"), *home = absolute_path("HOME");
    if (cache)
        return arena_printf(arena, "%s/distal", cache);
    return home ? arena_printf(arena, "%s/.cache/distal", home) : NULL;
}

static const char *key_of(const char *source, const Compiler *compiler, Arena *arena) {
    Hash hash = hash_create();
    hash_string(&hash, source);
    hash_string(&hash, distal_kernel_header_text);
    compiler_hash(compiler, &hash);
    return arena_printf(arena, "%016" PRIx64 "%016" PRIx64, hash.lanes[0], hash.lanes[1]);
}

static bool seal(const Site *site, const char *object, Arena *arena) {
    size_t size;
    const char *bytes = file_read(site->folder, object, &size, arena);
    if (!bytes)
        return false;
    Hash hash = hash_create();
    hash_bytes(&hash, bytes, size);
    return file_append(site->folder, object, &hash, sizeof hash);
}

static bool is_sound(const Site *site, Arena *arena) {
    size_t size;
    const char *bytes = file_read(site->folder, object_name, &size, arena);
    Hash hash = hash_create(), written;
    if (!bytes || size < sizeof hash)
        return false;
    hash_bytes(&hash, bytes, size - sizeof hash);
    memcpy(&written, bytes + size - sizeof hash, sizeof written);
    return memcmp(&hash, &written, sizeof hash) == 0;
}

static void site_remove(const Site *site) {
    unlinkat(site->folder, object_name, 0);
    unlinkat(site->folder, source_name, 0);
    unlinkat(site->folder, header_name, 0);
    unlinkat(site->base, site->key, AT_REMOVEDIR);
    rmdir(site->base_path);
}

// Whether there is room for a file as large as a kernel may be; false with errno.
static bool has_room(const Site *site, Arena *arena) {
    enum { ROOM = 1 << 20 };
    const char *probe = "kernel.room";
    const bool ok = file_write(site->folder, probe, arena_alloc(arena, ROOM), ROOM, arena);
    const int error = errno;
    unlinkat(site->folder, probe, 0);
    errno = error;
    return ok;
}

// The outcome of an attempt to make a kernel at a site.
typedef enum {
    MADE,
    COMPILER_FAILED, // with a diagnostic
    NOT_WRITABLE     // errno says why, nothing is diagnosed
} Outcome;

static Outcome make_object(const Site *site, const char *object, const Compiler *compiler,
                           Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    Diagnostics *attempt = diagnostics_create(arena, diagnostics->source);
    if (!compiler_run(compiler, site->folder, site->path, source_name, object, attempt)) {
        // On a full disk the compiler's log, which is there as well, does not have its message.
        if (!has_room(site, arena))
            return NOT_WRITABLE;
        diagnostics_repeat_error(diagnostics, nowhere, attempt->list.items[0].message);
        return COMPILER_FAILED;
    }
    // The linker's file has the permissions that the umask leaves.
    if (fchmodat(site->folder, object, S_IRWXU, 0) == 0 && seal(site, object, arena) &&
        renameat(site->folder, object, site->folder, object_name) == 0)
        return MADE;
    return NOT_WRITABLE;
}

static Outcome make_kernel(const Site *site, const char *source, const Compiler *compiler,
                           Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    if (!file_write(site->folder, source_name, source, strlen(source), arena) ||
        !file_write(site->folder, header_name, distal_kernel_header_text, strlen(distal_kernel_header_text),
                    arena))
        return NOT_WRITABLE;
    const char *object = file_beside(site->folder, object_name, arena);
    if (!object)
        return NOT_WRITABLE;
    const Outcome outcome = make_object(site, object, compiler, diagnostics);
    const int error = errno;
    if (outcome != MADE)
        unlinkat(site->folder, object, 0);
    errno = error;
    return outcome;
}

// Creates and opens a temporary folder, from which kernels can be loaded, for a kernel that is not cached;
// false with a diagnostic.
static bool open_aside(Site *site, Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    const char *key = site->key, *wanted = absolute_path("TMPDIR"), *distrust;
    const char *const parents[] = {wanted ? wanted : "/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        char *folder = arena_printf(arena, "%s/distal-XXXXXX", parents[i]);
        if (!mkdtemp(folder))
            return diagnostics_error(diagnostics, nowhere, "cannot make a folder '%s' for a kernel: %s",
                                     folder, strerror(errno));
        *site = site_named(folder, key, arena);
        site->temporary = true;
        if (!site_open(site, &distrust, arena))
            return diagnostics_error(diagnostics, nowhere, "cannot write a kernel into '%s': %s", folder,
                                     strerror(errno));
        if (!folder_is_noexec(site->folder))
            return true;
        site_remove(site);
        site_close(site);
    }
    return diagnostics_error(
        diagnostics, nowhere,
        "cannot load a kernel from '%s', which is mounted with noexec; TMPDIR names another folder",
        parents[0]);
}

static bool make_aside(Site *site, const char *source, const Compiler *compiler, Diagnostics *diagnostics) {
    if (!open_aside(site, diagnostics))
        return false;
    const Outcome outcome = make_kernel(site, source, compiler, diagnostics);
    if (outcome == NOT_WRITABLE)
        diagnostics_error(diagnostics, nowhere, "cannot write a kernel into '%s': %s", site->base_path,
                          strerror(errno));
    if (outcome != MADE)
        site_remove(site);
    return outcome == MADE;
}

// Opens the folder of a kernel in the cache; false if there is none that can be written and loaded from.
static bool open_cached(Site *site, const char **distrust, Arena *arena) {
    const char *cache = cache_folder(arena);
    *distrust = NULL;
    if (!cache)
        return false;
    *site = site_named(cache, site->key, arena);
    return site_open(site, distrust, arena) && !folder_is_noexec(site->folder);
}

// Finds the kernel in the cache or makes it there. If the cache cannot be used, makes it in a temporary
// folder if `needed`; else *site has no open folder. The caller closes the site.
static bool provide(const char *source, bool needed, Site *site, Kernel *kernel, Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    const Compiler compiler = compiler_from_environment(arena);
    const double start = clock_seconds();
    *site = site_named("", key_of(source, &compiler, arena), arena);
    Outcome outcome = NOT_WRITABLE;
    if (open_cached(site, &kernel->distrust, arena)) {
        kernel->cache_hit = is_sound(site, arena);
        if (kernel->cache_hit)
            return true;
        outcome = make_kernel(site, source, &compiler, diagnostics);
    }
    bool made = outcome == MADE;
    if (outcome == NOT_WRITABLE) {
        site_close(site);
        if (!needed)
            return true;
        made = make_aside(site, source, &compiler, diagnostics);
    }
    if (made)
        kernel->seconds = clock_seconds() - start;
    return made;
}

bool jit_compile(const char *source, bool *cache_hit, double *seconds, Diagnostics *diagnostics) {
    Site site;
    Kernel kernel = {0};
    const bool ok = provide(source, false, &site, &kernel, diagnostics);
    site_close(&site);
    *cache_hit = kernel.cache_hit;
    *seconds = kernel.seconds;
    return ok;
}

// If this library was itself loaded as a plug-in, its functions are not in the global scope, in which a
// kernel looks for them.
static void export_ourselves(void) {
    Dl_info info;
    if (dladdr((const void *)distal_kernel_header_text, &info) != 0 && info.dli_fname) {
        void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
        if (handle)
            dlclose(handle);
    }
}

// Loads through the open folder, so that the file is the one that was examined. The name contains the key, as
// folders of several kernels may have had the same descriptor.
static const char *loadable_name(const Site *site, Arena *arena) {
    const char *name = arena_printf(arena, "/proc/self/fd/%d/%s/%s", site->base, site->key, object_name);
    return access(name, F_OK) == 0 ? name : arena_printf(arena, "%s/%s", site->path, object_name);
}

bool jit_load(const char *source, const char *function, Kernel *kernel, Diagnostics *diagnostics) {
    Site site;
    *kernel = (Kernel){0};
    if (!provide(source, true, &site, kernel, diagnostics)) {
        site_close(&site);
        return false;
    }
    export_ourselves();
    // Never unmapped: it may have loaded an OpenMP runtime of its own, whose threads outlive the call.
    kernel->handle = dlopen(loadable_name(&site, diagnostics->arena), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = kernel->handle ? NULL : dlerror();
    if (kernel->handle) {
        // POSIX: pointers to functions have the size of pointers to void; copying avoids a warning.
        void *symbol = dlsym(kernel->handle, function);
        memcpy(&kernel->function, &symbol, sizeof symbol);
        // A message of dlerror lasts until the next call.
        why = symbol ? NULL : arena_printf(diagnostics->arena, "%s", dlerror());
        symbol = dlsym(kernel->handle, arena_printf(diagnostics->arena, "%s_structure", function));
        memcpy(&kernel->structure, &symbol, sizeof symbol);
    }
    if (why) {
        diagnostics_error(diagnostics, nowhere, "cannot load the kernel '%s/%s': %s", site.path, object_name,
                          why);
        unlinkat(site.folder, object_name, 0); // the next run compiles it again
    }
    if (site.temporary)
        site_remove(&site);
    site_close(&site);
    if (why)
        jit_unload(kernel);
    return !why;
}

void jit_unload(Kernel *kernel) {
    if (kernel->handle)
        dlclose(kernel->handle);
    *kernel = (Kernel){0};
}
