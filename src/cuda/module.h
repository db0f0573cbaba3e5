// SPDX-License-Identifier: BSD-3-Clause
// Modules: compiled texts of CUDA C on the device, and the launch of their kernels.
#ifndef DISTAL_CUDA_MODULE_H
#define DISTAL_CUDA_MODULE_H

#include "base/diagnostic.h"
#include "memory/device.h"

typedef struct CudaModule CudaModule;

// NULL with a diagnostic.
CudaModule *module_load(const char *text, Diagnostics *diagnostics);
void module_unload(CudaModule *module); // which may be NULL
// `arguments` are addresses of what the kernel's parameters are. After cuda_enter; nothing is done for 0
// blocks.
void module_launch(CudaModule *module, const char *kernel, int64_t blocks, int threads,
                   void *const *arguments);

#endif
