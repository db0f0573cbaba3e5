// SPDX-License-Identifier: BSD-3-Clause
// The cache has a folder for each kernel, with kernel.c and distal_kernel.h, which users can read and compile
// again, and kernel.so, which is sealed: a loader does not read the last bytes.
#include "jit/jit.h"

#include "base/clock.h"
#include "jit/compiler.h"
#include "jit/file.h"
#include "jit/site.h"
#include "memory/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char distal_kernel_header_text[], distal_gpu_header_text[];

static const Span nowhere = {0, 0, 0};

static const char source_name[] = "kernel.c", header_name[] = "distal_kernel.h", object_name[] = "kernel.so",
                  gpu_header_name[] = "distal_gpu.h", gpu_header_line[] = "#include \"distal_gpu.h\"\n";

static const char *key_of(const char *source, const Compiler *compiler, Arena *arena) {
    Hash hash = hash_create();
    hash_string(&hash, source);
    hash_string(&hash, distal_kernel_header_text);
    hash_string(&hash, distal_gpu_header_text);
    compiler_hash(compiler, &hash);
    return site_key(hash, arena);
}

static void site_remove(const Site *site) {
    unlinkat(site->folder, object_name, 0);
    unlinkat(site->folder, source_name, 0);
    unlinkat(site->folder, header_name, 0);
    unlinkat(site->folder, gpu_header_name, 0);
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
    if (fchmodat(site->folder, object, S_IRWXU, 0) == 0 && site_seal(site, object, arena) &&
        renameat(site->folder, object, site->folder, object_name) == 0)
        return MADE;
    return NOT_WRITABLE;
}

static Outcome make_kernel(const Site *site, const char *source, const Compiler *compiler,
                           Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    if (!file_write(site->folder, source_name, source, strlen(source), arena) ||
        !file_write(site->folder, header_name, distal_kernel_header_text, strlen(distal_kernel_header_text),
                    arena) ||
        (strstr(source, gpu_header_line) && !file_write(site->folder, gpu_header_name, distal_gpu_header_text,
                                                        strlen(distal_gpu_header_text), arena)))
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
    const char *key = site->key, *wanted = environment_path("TMPDIR"), *distrust;
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

// Finds the kernel in the cache or makes it there. If the cache cannot be used, makes it in a temporary
// folder if `needed`; else *site has no open folder. The caller closes the site.
static bool provide(const char *source, bool needed, Site *site, Kernel *kernel, Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    const Compiler compiler = compiler_from_environment(arena);
    const double start = clock_seconds();
    *site = site_named("", key_of(source, &compiler, arena), arena);
    Outcome outcome = NOT_WRITABLE;
    if (site_open_cached(site, &kernel->distrust, arena) && !folder_is_noexec(site->folder)) {
        kernel->cache_hit = site_read(site, object_name, &(size_t){0}, arena) != NULL;
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

// The kernels of a GPU are compiled from the same text, with the header in the place of its line.
static bool load_module(const char *source, Kernel *kernel, Diagnostics *diagnostics) {
    const char *line = strstr(source, gpu_header_line);
    void **place = line ? dlsym(kernel->handle, "distal_gpu_module") : NULL;
    const Device *device = place ? gpu_device(diagnostics) : NULL;
    if (!place || !device)
        return !place;
    if (!*place)
        kernel->module = *place =
            device->load(arena_printf(diagnostics->arena, "%.*s%s%s", (int)(line - source), source,
                                      distal_gpu_header_text, line + strlen(gpu_header_line)),
                         diagnostics);
    return *place;
}

// NULL, or why the function cannot be found.
static const char *find(void *handle, const char *name, KernelFunctions *functions, Arena *arena) {
    // POSIX: pointers to functions have the size of pointers to void; copying avoids a warning.
    void *symbol = dlsym(handle, name);
    memcpy(&functions->function, &symbol, sizeof symbol);
    if (!symbol) // a message of dlerror lasts until the next call
        return arena_printf(arena, "%s", dlerror());
    symbol = dlsym(handle, arena_printf(arena, "%s_structure", name));
    memcpy(&functions->structure, &symbol, sizeof symbol);
    return NULL;
}

bool jit_load(const char *source, int count, const char *const *names, Kernel *kernel,
              KernelFunctions *functions, Diagnostics *diagnostics) {
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
    for (int i = 0; i < count && !why; i++)
        why = find(kernel->handle, names[i], &functions[i], diagnostics->arena);
    if (why) {
        diagnostics_error(diagnostics, nowhere, "cannot load the kernel '%s/%s': %s", site.path, object_name,
                          why);
        unlinkat(site.folder, object_name, 0); // the next run compiles it again
    }
    if (site.temporary)
        site_remove(&site);
    site_close(&site);
    const bool ok = !why && load_module(source, kernel, diagnostics);
    if (!ok)
        jit_unload(kernel);
    return ok;
}

void jit_unload(Kernel *kernel) {
    if (kernel->module) {
        void **place = dlsym(kernel->handle, "distal_gpu_module");
        *place = NULL;
        device_current()->unload(kernel->module);
    }
    if (kernel->handle)
        dlclose(kernel->handle);
    *kernel = (Kernel){0};
}
