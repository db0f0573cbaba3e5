// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static char message[512];

// The message is that of the first file, as the system looks for it.
static void *open_file(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library)
        return library;
    const char *why = dlerror();
    if (!*message)
        snprintf(message, sizeof message, "%s", why ? why : name);
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", DISTAL_CUDA_LIBRARIES, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool is_newer(const LibraryFile *file, int version) {
    return version != 0 && file->version / 1000 > version / 1000;
}

static void *open_first(const LibraryFile *files, int version, const char **name) {
    *message = '\0';
    for (int newer = 0; newer <= 1; newer++)
        for (const LibraryFile *file = files; file->name; file++) {
            void *library = is_newer(file, version) == newer ? open_file(file->name) : NULL;
            *name = file->name;
            if (library)
                return library;
        }
    return NULL;
}

const char *library_load(const LibraryFile *files, int version, const LibrarySymbol *symbols, size_t count,
                         void *record) {
    const char *name;
    void *library = open_first(files, version, &name);
    if (!library)
        return message;
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found && !symbols[i].optional) {
            snprintf(message, sizeof message, "%s is too old: it has no function %s", name, symbols[i].name);
            return message;
        }
        // POSIX: pointers to functions have the size of pointers to void; copying avoids a warning.
        memcpy((char *)record + symbols[i].offset, &found, sizeof found);
    }
    return NULL;
}
