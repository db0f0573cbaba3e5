// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/blas_threads.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

// The threads of the library outside of parallel loops, while it has one; 0: it has all of them.
static atomic_int taken;

static int (*number_function(const char *name))(void) {
    int (*function)(void);
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(&function, &found, sizeof function);
    return function;
}

static BlasThreads find_threads(void) {
    // What openblas_get_parallel returns.
    static const BlasThreads kinds[] = {BLAS_THREADS_NONE, BLAS_THREADS_OWN, BLAS_THREADS_OPENMP};
    int (*parallel)(void) = number_function("openblas_get_parallel");
    const int kind = parallel ? parallel() : -1;
    return kind < 0 || kind >= (int)(sizeof kinds / sizeof *kinds) ? BLAS_THREADS_UNKNOWN : kinds[kind];
}

BlasThreads blas_threads(void) {
    static atomic_int known; // 1 + what was found
    int found = atomic_load_explicit(&known, memory_order_relaxed);
    if (!found) {
        found = 1 + (int)find_threads();
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return (BlasThreads)(found - 1);
}

const char *blas_core_type(void) {
    char *(*name)(void);
    void *found = dlsym(RTLD_DEFAULT, "openblas_get_corename");
    memcpy(&name, &found, sizeof name);
    return name ? name() : NULL;
}

const char *blas_better_core(void) {
#ifdef __x86_64__
    // What OpenBLAS has for processors without AVX2, and takes for those that it does not know.
    static const char *const old[] = {"Prescott",     "Core2",     "Penryn", "Dunnington", "Nehalem",
                                      "Sandybridge",  "Atom",      "Nano",   "Athlon",     "Opteron",
                                      "Opteron_SSE3", "Barcelona", "Bobcat", "Bulldozer",  "Piledriver",
                                      "Steamroller",  "Generic"};
    const char *core = blas_core_type();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
               has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    for (size_t i = 0; core && has_avx2 && i < sizeof old / sizeof *old; i++)
        if (strcmp(core, old[i]) == 0)
            return has_avx512 ? "SkylakeX" : "Haswell";
#endif
    return NULL;
}

static void set_threads(int threads) {
    void (*set)(int);
    void *function = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set, &function, sizeof set);
    if (set)
        set(threads);
}

// Of the threads of a team, the first one to come here.
static void take_threads(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int (*count)(void) = number_function("openblas_get_num_threads");
    pthread_mutex_lock(&mutex);
    if (atomic_load(&taken) == 0) {
        const int before = count ? count() : 1;
        set_threads(1);
        atomic_store(&taken, before);
    }
    pthread_mutex_unlock(&mutex);
}

void blas_enter(void) {
    if (blas_threads() != BLAS_THREADS_OWN)
        return;
    if (!omp_in_parallel())
        blas_leave();
    else if (atomic_load(&taken) == 0)
        take_threads();
}

void blas_leave(void) {
    const int threads = atomic_exchange(&taken, 0);
    if (threads > 0)
        set_threads(threads);
}

int blas_limit(int64_t m, int64_t n) {
    enum { ELEMENTS = 1 << 17 };
    const int threads = omp_get_max_threads();
    if (threads == 1 || omp_in_parallel() || m > ELEMENTS / n || blas_threads() != BLAS_THREADS_OPENMP)
        return 0;
    omp_set_num_threads(1);
    return threads;
}

void blas_unlimit(int threads) {
    if (threads > 0)
        omp_set_num_threads(threads);
}
