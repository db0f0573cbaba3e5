// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/kernels.h"

#include "base/integer.h"
#include "cuda/driver.h"
#include "cuda/module.h"
#include "memory/memory.h"

#include <pthread.h>
#include <stdio.h>

// As in kernels.cu.
enum { THREADS = 256, PASSES = 8, TILE = 64 };

static CudaModule *own;
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static void load_in_arena(void *arena) {
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"kernels.cu", cuda_kernels_text});
    own = module_load(cuda_kernels_text, diagnostics);
    if (!own)
        device_fail("%s", diagnostics->list.items[0].message);
}

static CudaModule *own_module(void) {
    pthread_mutex_lock(&own_lock);
    if (!own) {
        Arena *arena = arena_create();
        if (!arena || !arena_attempt(arena, load_in_arena, arena))
            device_fail("out of memory");
        if (arena)
            arena_free(arena);
    }
    CudaModule *module = own;
    pthread_mutex_unlock(&own_lock);
    return module;
}

void kernels_unload(void) {
    module_unload(own);
    own = NULL;
}

static void launch(const char *name, int64_t blocks, void *const *arguments) {
    CudaModule *module = own_module();
    if (module)
        module_launch(
            module, name,
            &(DeviceLaunch){.blocks = {blocks, 1, 1}, .threads = {THREADS, 1, 1}, .arguments = arguments});
}

// Of `count` elements, one for each thread. Threads of fewer blocks take several.
static int64_t blocks_for(int64_t count) {
    return min_i64(ceil_div(count, THREADS), 1 << 16);
}

// The largest words that all of it consists of.
static int64_t word_size(uintptr_t all) {
    return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
}

void kernel_copy(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                 int64_t rows) {
    if (rows == 1)
        to_pitch = from_pitch = 0;
    const int64_t word = word_size((uintptr_t)to | (uintptr_t)from | (uintptr_t)to_pitch |
                                   (uintptr_t)from_pitch | (uintptr_t)width);
    int64_t shift = 0;
    to_pitch /= word;
    from_pitch /= word;
    width /= word;
    while (1 << shift < THREADS && 1 << shift < width)
        shift++;
    const int64_t strips = ceil_div(width, PASSES << shift);
    const int64_t blocks = strips * ceil_div(rows, THREADS >> shift);
    char name[32];
    snprintf(name, sizeof name, "distal_copy_%d", (int)word);
    launch(name, blocks, (void *const[]){&to, &from, &to_pitch, &from_pitch, &width, &rows, &shift});
}

void kernel_reduce(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count) {
    char name[32];
    snprintf(name, sizeof name, "distal_%s_%s", reducer_names[reducer], type_info(type)->name);
    launch(name, blocks_for(count), (void *const[]){&to, &from, &to_step, &from_step, &count});
}

void kernel_clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count) {
    double element[2];
    char name[32];
    memory_host.clear(reducer, type, element, 1, 1);
    snprintf(name, sizeof name, "distal_fill_%d", (int)type_info(type)->size);
    launch(name, blocks_for(count), (void *const[]){&to, element, &step, &count});
}

void kernel_gemm(ElementType type, int64_t m, int64_t n, int64_t k, const void *alpha, DeviceMatrix a,
                 DeviceMatrix b, DeviceMatrix c) {
    char name[32];
    snprintf(name, sizeof name, "distal_gemm_%s", type_info(type)->name);
    launch(name, ceil_div(m, TILE) * ceil_div(n, TILE),
           (void *const[]){&a.elements, &b.elements, &c.elements, (void *)(uintptr_t)alpha, &m, &n, &k,
                           &a.row, &a.column, &b.row, &b.column, &c.row, &c.column});
}
