// SPDX-License-Identifier: BSD-3-Clause
// The device's own kernels (kernels.cu), which are compiled when the first is launched. All of this is called
// after cuda_enter.
#ifndef DISTAL_CUDA_KERNELS_H
#define DISTAL_CUDA_KERNELS_H

#include "memory/device.h"

extern const char cuda_kernels_text[];

// As of Device, in memory of the device; matrices have any strides.
void kernel_copy(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                 int64_t rows);
void kernel_reduce(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count);
void kernel_clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count);
void kernel_gemm(ElementType type, const DeviceProduct *product);
void kernel_axpy(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step);
void kernel_permute(int64_t size, void *to, const void *from, int loop_count, const DeviceCopyLoop *loops);
// Sets, in its workspace, the addresses of A, then those of B and of C, in the products of all iterations.
void kernel_pointers(int64_t size, const DeviceProduct *product);

void kernels_unload(void);

#endif
