// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_library.h"

#ifdef DISTAL_HDF5
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

Hdf5 hdf5;

typedef struct {
    const char *name;
    size_t offset; // in Hdf5
} Symbol;

#define SYMBOL(name) {#name, offsetof(Hdf5, name)},
static const Symbol functions[] = {HDF5_FUNCTIONS(SYMBOL)};
static const Symbol ids[] = {HDF5_IDS(SYMBOL)};

const char *hdf5_load(Arena *arena) {
    static bool loaded;
    if (loaded)
        return NULL;
    const bool is_used = dlopen(DISTAL_HDF5, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != NULL;
    void *library = dlopen(DISTAL_HDF5, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return arena_printf(arena, "HDF5 cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return arena_printf(arena, "HDF5 (%s) has no function %s", DISTAL_HDF5, functions[i].name);
        memcpy((char *)&hdf5 + functions[i].offset, &found, sizeof found);
    }
    // Of a file that cannot be closed, as the disk is full, HDF5 has freed parts, and would end the process
    // when it closes all files at exit. Unless the application uses it, all others are closed by then.
    if (!is_used)
        hdf5.H5dont_atexit();
    hdf5.H5open(); // which sets the ids
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const void *found = dlsym(library, ids[i].name);
        if (!found)
            return arena_printf(arena, "HDF5 (%s) has no %s", DISTAL_HDF5, ids[i].name);
        memcpy((char *)&hdf5 + ids[i].offset, found, sizeof(hid_t));
    }
    hdf5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    loaded = true;
    return NULL;
}

hid_t hdf5_open_again(int fd, unsigned flags) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return flags == H5F_ACC_TRUNC ? hdf5.H5Fcreate(path, flags, H5P_DEFAULT, H5P_DEFAULT)
                                  : hdf5.H5Fopen(path, flags, H5P_DEFAULT);
}

hid_t hdf5_number_type(ElementType type) {
    switch (type_component(type)) {
    case TYPE_I32:
        return hdf5.H5T_NATIVE_INT32_g;
    case TYPE_I64:
        return hdf5.H5T_NATIVE_INT64_g;
    case TYPE_F32:
        return hdf5.H5T_NATIVE_FLOAT_g;
    default:
        return hdf5.H5T_NATIVE_DOUBLE_g;
    }
}

const char *hdf5_failure(void) {
    return errno ? strerror(errno) : "HDF5 cannot write it";
}
#else
const char hdf5_missing[] =
    "distal was built without HDF5; install libhdf5-dev and libjansson-dev, and build it again";
#endif
