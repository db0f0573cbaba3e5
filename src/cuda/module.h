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
// After cuda_enter. Nothing is done where there are no blocks; pointers and numbers are not told apart.
void module_launch(CudaModule *module, const char *kernel, const DeviceLaunch *launch);

#endif
