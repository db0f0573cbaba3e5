// SPDX-License-Identifier: BSD-3-Clause
#include "cli/environment.h"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *loaded_function(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

static void set_blas_threads(int threads) {
    void (*set)(int);
    *(void **)&set = loaded_function("openblas_set_num_threads");
    if (set)
        set(threads);
}

// Cores of this process divided by the processes that have the same ones; the first ones get what is left
// over.
static int64_t fair_share(MPI_Comm node) {
    int size, rank;
    MPI_Comm_size(node, &size);
    MPI_Comm_rank(node, &rank);
    cpu_set_t own;
    cpu_set_t *sets = malloc(sizeof *sets * (size_t)size);
    if (sched_getaffinity(0, sizeof own, &own) != 0 || CPU_COUNT(&own) == 0) {
        CPU_ZERO(&own);
        CPU_SET(0, &own);
    }
    // Where memory is short, all get one core.
    int all_have_memory, has_memory = sets != NULL;
    MPI_Allreduce(&has_memory, &all_have_memory, 1, MPI_INT, MPI_LAND, node);
    int64_t share = 1;
    if (sets && all_have_memory) {
        int others = 0, before = 0;
        MPI_Allgather(&own, sizeof own, MPI_BYTE, sets, sizeof own, MPI_BYTE, node);
        for (int r = 0; r < size; r++) {
            const bool same = r != rank && CPU_EQUAL(&own, &sets[r]);
            others += same;
            before += same && r < rank;
        }
        const int cores = CPU_COUNT(&own);
        share = cores / (others + 1) + (before < cores % (others + 1));
    }
    free(sets);
    return share > 0 ? share : 1;
}

int64_t environment_threads(int64_t wanted, MPI_Comm node) {
    const int64_t share = fair_share(node);
    const int64_t threads = wanted > 0 ? wanted : share;
    omp_set_num_threads((int)threads);
    set_blas_threads((int)threads);
    return threads;
}

const char *environment_mpi(Arena *arena) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(text, &length);
    // "Open MPI v4.1.4, package: ...", "MPICH Version:      4.0.2\nMPICH Release date: ..."
    char name[64], version[64];
    if (sscanf(text, "Open MPI v%63[^, \n]", version) == 1)
        return arena_printf(arena, "Open MPI %s", version);
    if (sscanf(text, "%63s Version: %63s", name, version) == 2)
        return arena_printf(arena, "%s %s", name, version);
    return arena_string(arena, text, strcspn(text, "\n"));
}

const char *environment_blas(Arena *arena) {
    char *(*config)(void);
    *(void **)&config = loaded_function("openblas_get_config");
    char name[64], version[64];
    if (config && sscanf(config(), "%63s %63s", name, version) == 2)
        return arena_printf(arena, "%s %s", name, version);
    return "CBLAS";
}
