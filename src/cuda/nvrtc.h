// SPDX-License-Identifier: BSD-3-Clause
// NVRTC: CUDA C to code of a GPU, without a compiler or headers of CUDA on the machine.
#ifndef DISTAL_CUDA_NVRTC_H
#define DISTAL_CUDA_NVRTC_H

#include "base/diagnostic.h"

// What cuModuleLoadData takes: a cubin, or for a GPU that is newer than NVRTC a PTX text, with a zero after
// it.
typedef struct {
    const char *bytes;
    size_t size;
    const char *log; // of the compilation: its warnings; "" where there are none, or where it was cached
} CudaImage;

// Compiles the text for an architecture, such as 90; `version` is that of CUDA that the driver is for, which
// a library should not be newer than (0: any). Takes it from the cache of kernels (jit/site.h) where it is
// there, by a hash of text, architecture, options and version of NVRTC. False with a diagnostic that has
// NVRTC's log.
bool nvrtc_compile(const char *text, int architecture, int version, CudaImage *image,
                   Diagnostics *diagnostics);

#endif
