// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/blas_memory.h"

#include "runtime/blas_threads.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

// Of a thread: what OpenBLAS is built with for most processors, and no less than for the others; and room for
// how it aligns it.
enum { BUFFER_BYTES = (128 << 20) + (1 << 20) };

static int wanted; // threads that blas_set_threads could not give their buffers; 0: none

static int thread_count(void) {
    int (*count)(void);
    void *function = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    memcpy(&count, &function, sizeof count);
    return !function ? 0 : wanted ? wanted : count();
}

static bool is_limit(const struct rlimit *limit) {
    return limit->rlim_cur != RLIM_INFINITY;
}

// Whether the system promises no more memory than it has.
static bool is_committed_strictly(void) {
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
    const int mode = file ? fgetc(file) : EOF;
    if (file)
        fclose(file);
    return mode == '2';
}

// The buffers of that many threads, and the stacks and what else the system has of those that the library
// starts.
static size_t bytes_of(int threads) {
    enum { THREAD_BYTES = 64 << 10 };
    pthread_attr_t attributes;
    size_t stack = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_destroy(&attributes);
    }
    return (size_t)threads * BUFFER_BYTES + (size_t)(threads - 1) * (stack + THREAD_BYTES);
}

static bool can_allocate(size_t bytes) {
    // cppcheck-suppress invalidFunctionArg // anonymous memory has no descriptor
    void *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return false;
    munmap(all, bytes);
    return true;
}

// A product that is large enough for all threads, which then have their buffers and keep them. Its operands
// are allocated before it is tested whether there is memory for the buffers.
static bool multiply_once(int threads, void (*set)(int)) {
    enum { EDGE = 512, DEPTH = 64 };
    double *a = calloc(EDGE * DEPTH, sizeof *a), *c = calloc(EDGE * EDGE, sizeof *c);
    const bool ok = a && c && can_allocate(bytes_of(threads));
    if (ok && set)
        set(threads);
    if (ok)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, EDGE, EDGE, DEPTH, 1, a, DEPTH, a, DEPTH, 0, c,
                    EDGE);
    free(a);
    free(c);
    return ok;
}

bool blas_memory_is_limited(void) {
    struct rlimit space, data;
    return (getrlimit(RLIMIT_AS, &space) == 0 && is_limit(&space)) ||
           (getrlimit(RLIMIT_DATA, &data) == 0 && is_limit(&data)) || is_committed_strictly();
}

// With threads of OpenMP each has a buffer from the beginning, also the first one, which needs another one
// where it computes; with threads of its own, only those that it starts.
bool blas_can_load(void) {
    return blas_threads() != BLAS_THREADS_OPENMP || can_allocate(BUFFER_BYTES);
}

// Has each of the threads allocate its buffer.
static bool allocate_buffers(int threads, void (*set)(int)) {
    static int reserved; // threads that have theirs
    if (threads <= reserved)
        return true;
    if (multiply_once(threads, set))
        reserved = threads;
    return reserved == threads;
}

void blas_set_threads(int threads) {
    void (*set)(int);
    void *function = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set, &function, sizeof set);
    if (!function)
        return;
    if (!blas_memory_is_limited())
        set(threads);
    else
        wanted = allocate_buffers(threads, set) ? 0 : threads;
}

bool blas_reserve(int64_t *bytes) {
    const int threads = thread_count();
    *bytes = (int64_t)bytes_of(threads);
    return !blas_memory_is_limited() || (wanted == 0 && allocate_buffers(threads, NULL));
}
