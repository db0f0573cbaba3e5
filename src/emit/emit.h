// SPDX-License-Identifier: BSD-3-Clause
// Emission: one readable C function for an SPMD program: the rank's loops, the calls of the runtime, the
// leaves.
#ifndef DISTAL_EMIT_EMIT_H
#define DISTAL_EMIT_EMIT_H

#include "spmd/spmd.h"

typedef struct {
    const char *function;      // name of the C function; "distal_kernel" where NULL
    const char *const *params; // names by index
    int param_count;
    const char *title; // what the header comment says first: the statement and its schedule, as lines of text
} EmitOptions;

// The function alone (several may share a file).
void emit_function(const Spmd *spmd, const EmitOptions *options, Text *to);
// What has to stand before the first function of a file.
void emit_prelude(Text *to);

#endif
