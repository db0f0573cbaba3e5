// SPDX-License-Identifier: BSD-3-Clause
// The kernels of src/cuda/kernels.cu on the host, for fake_cuda.c.
#ifndef FAKE_KERNELS_H
#define FAKE_KERNELS_H

#include "fake_cuda.h"

#include <stddef.h>

typedef struct {
    const char *name;
    void (*run)(void *const *parameters); // one thread
    int parameters, element;              // their number, and which is an element of a tensor; -1: none
    size_t element_size;
    int threads_meet; // they wait for each other
} FakeKernel;

typedef struct {
    const FakeKernel *kernel;
    unsigned blocks, threads;
    _Alignas(16) char values[FAKE_PARAMETERS][16];
} FakeLaunch;

const FakeKernel *fake_kernel_find(const char *name); // NULL: there is none
void fake_kernel_run(void *launch);

#endif
