// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/kernels.h"

#include "base/integer.h"
#include "cuda/module.h"
#include "memory/memory.h"

#include <pthread.h>
#include <stdio.h>

// As in kernels.cu.
enum { THREADS = 256, PASSES = 8, TILE = 64, PERMUTED = 32 };

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

void kernel_axpy(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step) {
    char name[32];
    snprintf(name, sizeof name, "distal_axpy_%s", type_info(type)->name);
    launch(name, blocks_for(count),
           (void *const[]){&y, (void *)(uintptr_t)alpha, &x, &y_step, &x_step, &count});
}

void kernel_clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count) {
    double element[2];
    char name[32];
    memory_host.clear(reducer, type, element, 1, 1);
    snprintf(name, sizeof name, "distal_fill_%d", (int)type_info(type)->size);
    launch(name, blocks_for(count), (void *const[]){&to, element, &step, &count});
}

// Loops that a product lacks have one iteration.
static DeviceProduct with_all_loops(const DeviceProduct *product) {
    DeviceProduct all = *product;
    while (all.loop_count < DEVICE_LOOPS)
        all.loops[all.loop_count++] = (DeviceLoop){.extent = 1};
    return all;
}

#define LOOP_ARGUMENTS(loop) &(loop).extent, &(loop).a, &(loop).b, &(loop).c
#define LOOPS_ARGUMENTS(p)                                                                                   \
    LOOP_ARGUMENTS((p).loops[0]), LOOP_ARGUMENTS((p).loops[1]), LOOP_ARGUMENTS((p).loops[2]),                \
        LOOP_ARGUMENTS((p).loops[3])
_Static_assert(DEVICE_LOOPS == 4, "kernels have as many loops");

void kernel_gemm(ElementType type, const DeviceProduct *product) {
    DeviceProduct p = with_all_loops(product);
    int64_t stores = p.stores;
    char name[32];
    snprintf(name, sizeof name, "distal_gemm_%s", type_info(type)->name);
    launch(name, ceil_div(p.m, TILE) * ceil_div(p.n, TILE) * device_product_count(&p),
           (void *const[]){&p.a.elements, &p.b.elements, &p.c.elements, (void *)(uintptr_t)p.alpha, &p.m,
                           &p.n, &p.k, &p.a.row, &p.a.column, &p.b.row, &p.b.column, &p.c.row, &p.c.column,
                           &stores, LOOPS_ARGUMENTS(p)});
}

void kernel_pointers(int64_t size, const DeviceProduct *product) {
    DeviceProduct p = with_all_loops(product);
    launch("distal_pointers", blocks_for(device_product_count(&p)),
           (void *const[]){&p.workspace, &p.a.elements, &p.b.elements, &p.c.elements, &size,
                           LOOPS_ARGUMENTS(p)});
}

// Of several loops those that lie one in the other on both sides are one. Sorted by their steps in `to`, the
// smallest first. Returns how many are left.
static int merge_loops(DeviceCopyLoop *merged, const DeviceCopyLoop *loops, int count) {
    int sorted = 0, kept = 0;
    for (int i = 0; i < count; i++) {
        if (loops[i].extent == 1)
            continue;
        int at = sorted++;
        for (; at > 0 && merged[at - 1].to > loops[i].to; at--)
            merged[at] = merged[at - 1];
        merged[at] = loops[i];
    }
    for (int i = 0; i < sorted; i++) {
        DeviceCopyLoop *last = kept > 0 ? &merged[kept - 1] : NULL;
        if (last && merged[i].to == last->to * last->extent && merged[i].from == last->from * last->extent)
            last->extent *= merged[i].extent;
        else
            merged[kept++] = merged[i];
    }
    return kept;
}

// Tiles along the loop `x`, which is contiguous, if any is, where the elements go, and `y`, along which they
// are where they come from. Three further loops are in the kernel, others launch it again.
void kernel_permute(int64_t size, void *to, const void *from, int loop_count, const DeviceCopyLoop *loops) {
    enum { INSIDE = 3 };
    DeviceCopyLoop merged[DEVICE_COPY_LOOPS], inside[INSIDE];
    char name[32];
    if (loop_count > DEVICE_COPY_LOOPS) {
        device_fail("a copy has too many loops");
        return;
    }
    int count = merge_loops(merged, loops, loop_count), y = 0;
    while (count < 2)
        merged[count++] = (DeviceCopyLoop){.extent = 1};
    for (int i = 1; i < count; i++)
        y = merged[i].from < merged[y].from || merged[y].extent == 1 ? i : y;
    // Where one loop is both, threads read along it as well.
    int64_t reads_along_x = y == 0;
    y = y == 0 ? 1 : y;
    DeviceCopyLoop x = merged[0], across = merged[y];
    merged[y] = merged[1];
    snprintf(name, sizeof name, "distal_permute_%d", (int)size);
    int64_t outer = 1;
    for (int i = 0; i < INSIDE; i++)
        inside[i] = 2 + i < count ? merged[2 + i] : (DeviceCopyLoop){.extent = 1};
    for (int i = 2 + INSIDE; i < count; i++)
        outer *= merged[i].extent;
    const int64_t blocks = ceil_div(x.extent, PERMUTED) * ceil_div(across.extent, PERMUTED) *
                           inside[0].extent * inside[1].extent * inside[2].extent;
    for (int64_t each = 0; each < outer; each++) {
        char *target = to;
        const char *source = from;
        int64_t rest = each;
        for (int i = 2 + INSIDE; i < count; i++) {
            target += rest % merged[i].extent * merged[i].to * size;
            source += rest % merged[i].extent * merged[i].from * size;
            rest /= merged[i].extent;
        }
#define COPY_ARGUMENTS(loop) &(loop).extent, &(loop).to, &(loop).from
        launch(name, blocks,
               (void *const[]){&target, &source, &reads_along_x, COPY_ARGUMENTS(x), COPY_ARGUMENTS(across),
                               COPY_ARGUMENTS(inside[0]), COPY_ARGUMENTS(inside[1]),
                               COPY_ARGUMENTS(inside[2])});
    }
}
