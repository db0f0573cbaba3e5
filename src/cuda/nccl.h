// SPDX-License-Identifier: BSD-3-Clause
// NCCL: sums of what the GPUs of several processes have.
#ifndef DISTAL_CUDA_NCCL_H
#define DISTAL_CUDA_NCCL_H

#include "memory/device.h"

extern const DeviceSums nccl_sums;

#endif
