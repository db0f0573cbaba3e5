// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS, loaded when the first product of matrices is computed.
#ifndef DISTAL_CUDA_CUBLAS_H
#define DISTAL_CUDA_CUBLAS_H

#include "memory/device.h"

// As of Device, after cuda_enter. False where it computes no such product: of integers, or of matrices of
// which one has no unit stride, or elements that overlap.
bool cublas_gemm(ElementType type, const DeviceProduct *product);
void cublas_close(void);

#endif
