// SPDX-License-Identifier: BSD-3-Clause
// Emission: the loop IR of a kernel as one readable C function.
#ifndef DISTAL_EMIT_EMIT_H
#define DISTAL_EMIT_EMIT_H

#include "loop/loop.h"

typedef struct {
    const char *function; // name of the C function; "distal_kernel" where NULL
    const char *title; // what the header comment says first: the statement and its schedule, as lines of text
    bool beside_gpu;   // kernels of a GPU are in the same file, whose compiler does not see functions of the
                       // host
} EmitOptions;

// The function alone (several may share a file).
void emit_function(const LoopKernel *kernel, const EmitOptions *options, Text *to);
// What has to stand before the first function of a file; `gpu`: some of them have kernels of a GPU.
void emit_prelude(bool gpu, Text *to);

#endif
