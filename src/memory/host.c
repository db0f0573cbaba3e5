// SPDX-License-Identifier: BSD-3-Clause
// The main memory of a process.
#include "memory/memory.h"

#include "base/integer.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, LARGE_PAGE = 2 << 20, LARGE_ARRAY = 2 * LARGE_PAGE };

// Large arrays that were released and may be allocated again: new memory comes with the cost of clearing it,
// which is more than what many sparse kernels do with it. The system may take their pages meanwhile
// (MADV_FREE), and counts them as available, as it does what files have in its cache.
enum { KEPT = 256 };
static struct {
    void *memory;
    int64_t bytes;
} kept[KEPT]; // the oldest first, those without memory last
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static void forget_kept(int k) {
    memmove(&kept[k], &kept[k + 1], sizeof kept[0] * (size_t)(KEPT - 1 - k));
    kept[KEPT - 1].memory = NULL;
}

// The smallest that is large enough and not much larger; NULL: there is none.
static void *take_kept(int64_t bytes) {
    void *memory = NULL;
    int best = -1;
    pthread_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && kept[k].memory; k++)
        if (kept[k].bytes >= bytes && kept[k].bytes - bytes <= bytes / 4 &&
            (best < 0 || kept[k].bytes < kept[best].bytes))
            best = k;
    if (best >= 0) {
        memory = kept[best].memory;
        forget_kept(best);
    }
    pthread_mutex_unlock(&kept_lock);
    return memory;
}

// Returns what has no more room and has to be released.
static void *keep(void *memory, int64_t bytes) {
    void *oldest = NULL;
    int count = 0;
    pthread_mutex_lock(&kept_lock);
    while (count < KEPT && kept[count].memory)
        count++;
    if (count == KEPT) {
        oldest = kept[0].memory;
        forget_kept(0);
        count--;
    }
    kept[count].memory = memory;
    kept[count].bytes = bytes;
    pthread_mutex_unlock(&kept_lock);
    return oldest;
}

static void release_kept(void) {
    pthread_mutex_lock(&kept_lock);
    for (; kept[0].memory; forget_kept(0))
        free(kept[0].memory);
    pthread_mutex_unlock(&kept_lock);
}

// Large arrays ask for large pages, as NumPy's do: gathers and scatters miss the TLB less often, and the
// system has fewer pages to clear.
static void *allocate_large(int64_t bytes) {
    void *memory = take_kept(bytes);
    if (memory)
        return memory;
    memory = aligned_alloc(LARGE_PAGE, (size_t)bytes);
    if (!memory) {
        release_kept();
        memory = aligned_alloc(LARGE_PAGE, (size_t)bytes);
    }
#ifdef MADV_HUGEPAGE
    if (memory)
        (void)madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static void *allocate(int64_t bytes) {
    const int64_t alignment = bytes < LARGE_ARRAY ? CACHE_LINE : LARGE_PAGE;
    if (!checked_add(bytes, alignment - 1, &bytes))
        return NULL;
    bytes = max_i64(bytes / alignment, 1) * alignment;
    return alignment == LARGE_PAGE ? allocate_large(bytes) : aligned_alloc((size_t)alignment, (size_t)bytes);
}

static void release(void *memory) {
#ifdef MADV_FREE
    const int64_t bytes = (int64_t)malloc_usable_size(memory) / LARGE_PAGE * LARGE_PAGE;
    if (bytes >= LARGE_ARRAY && (uintptr_t)memory % LARGE_PAGE == 0 &&
        madvise(memory, (size_t)bytes, MADV_FREE) == 0)
        memory = keep(memory, bytes);
#endif
    free(memory);
}

// For elements of a constant size, which a compiler copies in registers.
#define COPY_STEPS(size)                                                                                     \
    for (int64_t i = 0; i < count; i++)                                                                      \
    memcpy((char *)to + i * to_step * (size), (const char *)from + i * from_step * (size), size)

// One thread cannot read and write as fast as memory takes it, nor touch pages first where others use them.
enum { SHARE = 1 << 20, LARGE = 8 * SHARE };

static void copy_bytes(char *to, const char *from, int64_t bytes) {
#pragma omp parallel for schedule(static) if (bytes >= LARGE)
    for (int64_t at = 0; at < bytes; at += SHARE)
        memcpy(to + at, from + at, (size_t)min_i64(SHARE, bytes - at));
}

static void copy(ElementType type, void *to, int64_t to_step, const void *from, int64_t from_step,
                 int64_t count) {
    const size_t size = type_info(type)->size;
    if (to_step == 1 && from_step == 1)
        copy_bytes(to, from, count * (int64_t)size);
    else if (size == 4)
        COPY_STEPS(4);
    else if (size == 8)
        COPY_STEPS(8);
    else
        COPY_STEPS(16);
}

// Integers wrap, as those of NumPy do.
#define WRAPPED(x, y, operator)                                                                              \
    _Generic((x), int32_t                                                                                    \
             : (int32_t)((uint32_t)(x) operator(uint32_t)(y)), int64_t                                       \
             : (int64_t)((uint64_t)(x) operator(uint64_t)(y)), default                                       \
             : (x)                                                                                           \
             operator(y))
#define SUM(x, y) WRAPPED(x, y, +)
#define PROD(x, y) WRAPPED(x, y, *)
// Where an argument is NaN, so is the result.
#define MAX(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define MIN(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
#define DEFINE_REDUCE(NAME, suffix, type)                                                                    \
    static void NAME##_##suffix(void *to, int64_t to_step, const void *from, int64_t from_step,              \
                                int64_t count) {                                                             \
        type *x = to;                                                                                        \
        const type *y = from;                                                                                \
        if (to_step == 1 && from_step == 1)                                                                  \
            for (int64_t i = 0; i < count; i++)                                                              \
                x[i] = (type)NAME(x[i], y[i]);                                                               \
        else                                                                                                 \
            for (int64_t i = 0; i < count; i++)                                                              \
                x[i * to_step] = (type)NAME(x[i * to_step], y[i * from_step]);                               \
    }
#define DEFINE_REAL(NAME)                                                                                    \
    DEFINE_REDUCE(NAME, i32, int32_t)                                                                        \
    DEFINE_REDUCE(NAME, i64, int64_t)                                                                        \
    DEFINE_REDUCE(NAME, f32, float)                                                                          \
    DEFINE_REDUCE(NAME, f64, double)
#define DEFINE_COMPLEX(NAME)                                                                                 \
    DEFINE_REDUCE(NAME, c64, float _Complex)                                                                 \
    DEFINE_REDUCE(NAME, c128, double _Complex)
DEFINE_REAL(SUM)
DEFINE_COMPLEX(SUM)
DEFINE_REAL(PROD)
DEFINE_COMPLEX(PROD)
DEFINE_REAL(MAX)
DEFINE_REAL(MIN)

static void reduce(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count) {
#define REAL(NAME)                                                                                           \
    [TYPE_I32] = NAME##_i32, [TYPE_I64] = NAME##_i64, [TYPE_F32] = NAME##_f32, [TYPE_F64] = NAME##_f64
    static void (*const table[REDUCER_COUNT][TYPE_COUNT])(void *, int64_t, const void *, int64_t, int64_t) = {
        [REDUCER_SUM] = {REAL(SUM), [TYPE_C64] = SUM_c64, [TYPE_C128] = SUM_c128},
        [REDUCER_PROD] = {REAL(PROD), [TYPE_C64] = PROD_c64, [TYPE_C128] = PROD_c128},
        [REDUCER_MAX] = {REAL(MAX)},
        [REDUCER_MIN] = {REAL(MIN)},
    };
    table[reducer][type](to, to_step, from, from_step, count);
}

static void zero_bytes(char *to, int64_t bytes) {
#pragma omp parallel for schedule(static) if (bytes >= LARGE)
    for (int64_t at = 0; at < bytes; at += SHARE)
        memset(to + at, 0, (size_t)min_i64(SHARE, bytes - at));
}

static void zero(size_t size, void *to, int64_t step, int64_t count) {
    if (step == 1) {
        zero_bytes(to, count * (int64_t)size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memset((char *)to + i * step * (int64_t)size, 0, size);
}

// The identity as an element; returns its bytes.
static size_t identity_element(Reducer reducer, ElementType type, void *element) {
    const Identity identity = reducer_identity(reducer, type);
    const TypeInfo *info = type_info(type);
    memset(element, 0, info->size); // the imaginary part
    if (type == TYPE_I32)
        *(int32_t *)element = (int32_t)identity.integer;
    else if (type == TYPE_I64)
        *(int64_t *)element = identity.integer;
    else if (type == TYPE_F32 || type == TYPE_C64)
        *(float *)element = (float)identity.real;
    else
        *(double *)element = identity.real;
    return info->size;
}

static void clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count) {
    double element[2];
    const size_t size = identity_element(reducer, type, element);
    if (reducer == REDUCER_SUM)
        zero(size, to, step, count);
    else
        copy(type, to, step, element, 0, count);
}

const MemoryKind memory_host = {.name = "host",
                                .supported = true,
                                .allocate = allocate,
                                .release = release,
                                .copy = copy,
                                .reduce = reduce,
                                .clear = clear};
