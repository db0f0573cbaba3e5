// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS, loaded when the first product of matrices is computed.
#ifndef DISTAL_CUDA_CUBLAS_H
#define DISTAL_CUDA_CUBLAS_H

#include "memory/device.h"

// As of Device, after cuda_enter. False where it computes no such product: of integers, or of matrices of
// which one has no unit stride, or elements that overlap.
bool cublas_gemm(ElementType type, const DeviceProduct *product);
// The same of Device.axpy.
bool cublas_axpy(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step);
void cublas_close(void);

#endif
