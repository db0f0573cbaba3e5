// SPDX-License-Identifier: BSD-3-Clause
#include "memory/gpu.h"

#include "memory/memory.h"

#include <stdlib.h>

static int rank_on_node;

void gpu_set_rank_on_node(int rank) {
    rank_on_node = rank;
}

// The number of the process among those that were launched on its node, of which a communicator may have a
// part only.
static int local_rank(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
                                            "PALS_LOCAL_RANKID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        char *end;
        const long number = text ? strtol(text, &end, 10) : -1;
        if (text && end != text && *end == '\0' && number >= 0 && number < 1 << 20)
            return (int)number;
    }
    return rank_on_node;
}

const Device *gpu_open(const char **why) {
    return device_current() ? device_current() : device_open(local_rank(), why);
}

const Device *gpu_device(Diagnostics *diagnostics) {
    const char *why = NULL;
    const Device *device = gpu_open(&why);
    if (!device)
        diagnostics_error(diagnostics, (Span){0},
                          "the program is executed on a GPU, and there is none (%s); check, explain, plan "
                          "and emit need none, and "
                          "DISTAL_GPU=emulated executes it on the host",
                          why);
    return device;
}

// Without a device there is no memory.
static void *allocate(int64_t bytes) {
    return device_current() ? device_current()->allocate(bytes) : NULL;
}

static void release(void *memory) {
    if (memory)
        device_current()->release(memory);
}

static void copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                      int64_t rows) {
    device_current()->copy(to, to_pitch, from, from_pitch, width, rows);
}

static void copy(ElementType type, void *to, int64_t to_step, const void *from, int64_t from_step,
                 int64_t count) {
    const int64_t size = (int64_t)type_info(type)->size;
    if (to_step == 1 && from_step == 1)
        copy_rows(to, 0, from, 0, count * size, 1);
    else
        copy_rows(to, to_step * size, from, from_step * size, size, count);
}

static void reduce(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count) {
    device_current()->reduce(reducer, type, to, to_step, from, from_step, count);
}

static void clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count) {
    device_current()->clear(reducer, type, to, step, count);
}

const MemoryKind memory_gpu = {.name = "gpu",
                               .supported = true,
                               .allocate = allocate,
                               .release = release,
                               .copy = copy,
                               .copy_rows = copy_rows,
                               .reduce = reduce,
                               .clear = clear};
