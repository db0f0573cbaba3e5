// SPDX-License-Identifier: BSD-3-Clause
#include "cli/environment.h"

#include "base/integer.h"
#include "runtime/blas_memory.h"
#include "runtime/blas_threads.h"
#include "runtime/wait.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

int64_t environment_threads(int64_t wanted, const CoreShare *share) {
    const int64_t threads = wanted > 0 ? wanted : max_i64(share->cores, 1);
    wait_choose(share->crowded);
    omp_set_num_threads((int)threads);
    blas_set_threads((int)threads);
    return threads;
}

const char *const *environment_units(const CoreShare *share, Arena *arena) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *all = rank == 0 ? arena_alloc_items(arena, ranks, UNITS_LENGTH) : NULL;
    MPI_Gather(share->units, UNITS_LENGTH, MPI_CHAR, all, UNITS_LENGTH, MPI_CHAR, 0, MPI_COMM_WORLD);
    const char **units = arena_array(arena, const char *, ranks);
    for (int r = 0; all && r < ranks; r++)
        units[r] = &all[(size_t)r * UNITS_LENGTH];
    return all ? units : NULL;
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
    static const char *const threads[] = {[BLAS_THREADS_UNKNOWN] = "",
                                          [BLAS_THREADS_NONE] = " without threads",
                                          [BLAS_THREADS_OWN] = " with threads of its own",
                                          [BLAS_THREADS_OPENMP] = " with threads of OpenMP"};
    char *(*config)(void);
    *(void **)&config = dlsym(RTLD_DEFAULT, "openblas_get_config");
    char name[64], version[64];
    if (!config || sscanf(config(), "%63s %63s", name, version) != 2)
        return "CBLAS";
    const char *core = blas_core_type();
    return arena_printf(arena, "%s %s%s%s%s", name, version, core ? " for " : "", core ? core : "",
                        threads[blas_threads()]);
}

const char *environment_blas_note(int64_t threads, Arena *arena) {
    const char *core = blas_better_core();
    if (core)
        return arena_printf(arena,
                            "the BLAS takes this processor for an older one, and does not use all of its "
                            "instructions: set OPENBLAS_CORETYPE=%s",
                            core);
    if (blas_threads() == BLAS_THREADS_OWN)
        return "the threads of the BLAS and those of OpenMP keep each other from the cores: build distal "
               "with a BLAS that shares those of OpenMP (Debian: libopenblas-openmp-dev)";
    if (blas_threads() == BLAS_THREADS_NONE && threads > 1)
        return "the BLAS computes on one thread: build distal with a BLAS that shares the threads of OpenMP "
               "(Debian: libopenblas-openmp-dev)";
    return NULL;
}
