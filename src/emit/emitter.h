// SPDX-License-Identifier: BSD-3-Clause
// What the files of emit/ share: a kernel while it is printed as C.
#ifndef DISTAL_EMIT_EMITTER_H
#define DISTAL_EMIT_EMITTER_H

#include "emit/lines.h"
#include "loop/names.h"

typedef struct {
    Lines lines;
    const LoopKernel *kernel;
    LoopNames names;
    LoopUses uses;
    const char *function;
    LoopBody launches;      // of the kernel, by number
    const LoopNode *launch; // what is emitted is the kernel of this launch; NULL: of the host
    bool guarded;           // the compiler of kernels does not see functions of the host
    bool in_team;           // of threads, whose iterations a loop may share
    bool in_threads;        // in a team, or in a loop with one of its own
} Emitter;

void emit_body(Emitter *emitter, const LoopBody *body);

// Texts, in the arena of the kernel.
const char *emit_int_text(const Emitter *emitter, const IntExpr *expr);
const char *emit_c_type(const Emitter *emitter, int type);
const LoopArray *emit_array_of(const Emitter *emitter, int array);

// Emits the OpenMP pragma (host) or the unroll pragma of a loop, if it has one (emit/pragma.c).
void emit_pragma(Emitter *emitter, const LoopNode *node);

// Kernels of a GPU (launch.c): all of a kernel as functions, which stand before it; where it launches one; a
// loop whose iterations blocks or threads execute; an update that other threads may make at the same time;
// and memory in it, or between two of them.
void emit_launched(Emitter *emitter);
void emit_launch(Emitter *emitter, const LoopNode *node);
void emit_unit_loop(Emitter *emitter, const LoopNode *node);
void emit_atomic(Emitter *emitter, const LoopNode *node, const char *element, const char *value);
void emit_launch_workspace(Emitter *emitter, const LoopNode *node);

#endif
