// SPDX-License-Identifier: BSD-3-Clause
// Kernels of a GPU: functions in the common part of C and CUDA C. Macros of distal_gpu.h say what blocks and
// threads are, so that the same text is what a GPU executes and what the host does in its place.
#include "emit/emitter.h"

#include <inttypes.h>

static int number_of(const Emitter *emitter, const LoopNode *launch) {
    int number = 0;
    while (emitter->launches.items[number] != launch)
        number++;
    return number;
}

static const char *name_of(const Emitter *emitter, int number) {
    return arena_printf(emitter->kernel->arena, "%s_launch_%d", emitter->function, number);
}

// What a launch uses of what is there outside of it: arrays first, then params and variables.
typedef struct {
    Array(int) arrays, params, vars;
} Arguments;

static void forget_inside(const LoopBody *body, LoopUses *uses) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const int fields = loop_kind(node->kind)->fields;
        forget_inside(&node->body, uses);
        if (fields & BINDS_VAR)
            uses->vars[node->var] = false;
        if (fields & BINDS_ARRAY)
            uses->arrays[node->array] = false;
    }
}

static Arguments arguments_of(const Emitter *emitter, const LoopNode *launch) {
    const LoopKernel *kernel = emitter->kernel;
    // Blocks are given apart.
    LoopUses uses = loop_uses_none(kernel);
    for (int64_t i = 0; i < launch->body.count; i++) {
        const LoopUses inside = loop_uses_within(kernel, launch->body.items[i]);
        for (int64_t a = 0; a < kernel->arrays.count; a++)
            uses.arrays[a] |= inside.arrays[a];
        for (int64_t v = 0; v < kernel->vars.count; v++)
            uses.vars[v] |= inside.vars[v];
        for (int p = 0; p < kernel->param_count; p++)
            uses.params[p] |= inside.params[p];
    }
    forget_inside(&launch->body, &uses);
    Arguments arguments = {0};
    for (int a = 0; a < (int)kernel->arrays.count; a++)
        if (uses.arrays[a])
            array_push(kernel->arena, arguments.arrays, a);
    for (int p = 0; p < kernel->param_count; p++)
        if (uses.params[p])
            array_push(kernel->arena, arguments.params, p);
    for (int v = 0; v < (int)kernel->vars.count; v++)
        if (uses.vars[v])
            array_push(kernel->arena, arguments.vars, v);
    return arguments;
}

static bool is_written(const Emitter *emitter, const LoopNode *launch, int array) {
    const LoopBody nodes = loop_nodes(emitter->kernel->arena, launch);
    for (int64_t i = 0; i < nodes.count; i++)
        if ((nodes.items[i]->kind == LOOP_STORE || nodes.items[i]->kind == LOOP_ACCUMULATE) &&
            nodes.items[i]->array == array)
            return true;
    return false;
}

// Whether threads of the launch read what others have written.
static bool has_rows(const Emitter *emitter, const Arguments *arguments) {
    for (int64_t i = 0; i < arguments->arrays.count; i++)
        if (emit_array_of(emitter, arguments->arrays.items[i])->extent)
            return true;
    return false;
}

static void print_parameters(const Emitter *emitter, const LoopNode *launch, const Arguments *arguments,
                             Text *to) {
    const LoopNames *names = &emitter->names;
    const bool rows = has_rows(emitter, arguments);
    for (int64_t i = 0; i < arguments->arrays.count; i++) {
        const int array = arguments->arrays.items[i];
        const LoopArray *of = emit_array_of(emitter, array);
        const bool written = is_written(emitter, launch, array);
        text_printf(to, "%s%s%s *%s%s", i ? ", " : "", written ? "" : "const ",
                    emit_c_type(emitter, (int)of->type),
                    of->updated || (written && rows) ? "" : "DISTAL_RESTRICT ", names->arrays[array]);
    }
    for (int64_t i = 0; i < arguments->params.count; i++)
        text_printf(to, ", int64_t %s", names->params[arguments->params.items[i]]);
    for (int64_t i = 0; i < arguments->vars.count; i++)
        text_printf(to, ", int64_t %s", names->vars[arguments->vars.items[i]]);
}

// What the emulated device calls: the arguments are there by address.
static void emit_call(Emitter *emitter, const LoopNode *launch, const Arguments *arguments,
                      const char *name) {
    Text text = text_create(emitter->kernel->arena);
    int64_t at = 0;
    for (int64_t i = 0; i < arguments->arrays.count; i++)
        text_printf(&text, "%s*(%s%s *const *)arguments[%" PRId64 "]", i ? ", " : "",
                    is_written(emitter, launch, arguments->arrays.items[i]) ? "" : "const ",
                    emit_c_type(emitter, (int)emit_array_of(emitter, arguments->arrays.items[i])->type),
                    at++);
    for (int64_t i = 0; i < arguments->params.count + arguments->vars.count; i++)
        text_printf(&text, ", *(const int64_t *)arguments[%" PRId64 "]", at++);
    emit_line(&emitter->lines, "#ifdef DISTAL_EMULATED");
    emit_open(&emitter->lines, "static void %s_call(void *const *arguments) {", name);
    emit_line(&emitter->lines, "%s(%s);", name, text_string(&text));
    emit_close(&emitter->lines);
    emit_line(&emitter->lines, "#endif");
}

static void find_launches(Emitter *emitter, const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++) {
        if (body->items[i]->kind == LOOP_LAUNCH)
            loop_append(emitter->kernel->arena, &emitter->launches, body->items[i]);
        find_launches(emitter, &body->items[i]->body);
    }
}

void emit_launched(Emitter *emitter) {
    Lines *lines = &emitter->lines;
    find_launches(emitter, &emitter->kernel->body);
    for (int64_t n = 0; n < emitter->launches.count; n++) {
        const LoopNode *launch = emitter->launches.items[n];
        const Arguments arguments = arguments_of(emitter, launch);
        const char *name = name_of(emitter, (int)n);
        Text parameters = text_create(emitter->kernel->arena);
        print_parameters(emitter, launch, &arguments, &parameters);
        if (n == 0)
            emit_line(lines, "#if defined __CUDACC__ || defined DISTAL_EMULATED");
        emit_open(lines, "DISTAL_KERNEL(%d) %s(%s) {", GPU_THREADS, name, text_string(&parameters));
        emitter->launch = launch;
        emit_body(emitter, &launch->body);
        emitter->launch = NULL;
        emit_close(lines);
        emit_call(emitter, launch, &arguments, name);
    }
    if (emitter->launches.count)
        emit_line(lines, "#endif");
    if (emitter->guarded)
        emit_line(lines, "#ifndef __CUDACC__");
    for (int64_t n = 0; n < emitter->launches.count; n++) {
        const char *name = name_of(emitter, (int)n);
        emit_line(lines,
                  "static const distal_gpu_kernel %s_kernel = {\"%s\", DISTAL_EMULATED_CALL(%s_call)};", name,
                  name, name);
    }
}

void emit_launch(Emitter *emitter, const LoopNode *node) {
    const LoopNames *names = &emitter->names;
    const Arguments arguments = arguments_of(emitter, node);
    const int64_t count = arguments.arrays.count + arguments.params.count + arguments.vars.count;
    Text text = text_create(emitter->kernel->arena), blocks = text_create(emitter->kernel->arena),
         threads = text_create(emitter->kernel->arena);
    for (int64_t i = 0; i < arguments.arrays.count; i++)
        text_printf(&text, "%s(void *)&%s", i ? ", " : "", names->arrays[arguments.arrays.items[i]]);
    for (int64_t i = 0; i < arguments.params.count; i++)
        text_printf(&text, ", (void *)&%s", names->params[arguments.params.items[i]]);
    for (int64_t i = 0; i < arguments.vars.count; i++)
        text_printf(&text, ", (void *)&%s", names->vars[arguments.vars.items[i]]);
    for (int d = 0; d < GPU_DIMS; d++) {
        text_printf(&blocks, "%s%s", d ? ", " : "",
                    node->blocks[d] ? emit_int_text(emitter, node->blocks[d]) : "1");
        text_printf(&threads, "%s%s", d ? ", " : "",
                    node->threads[d] ? emit_int_text(emitter, node->threads[d]) : "1");
    }
    emit_line(&emitter->lines,
              "distal_launch(%s, distal_gpu_module, &%s_kernel, (int64_t[]){%s}, (int64_t[]){%s}, %" PRId64
              ", %" PRId64 ", (void *[]){%s});",
              names->execution, name_of(emitter, number_of(emitter, node)), text_string(&blocks),
              text_string(&threads), arguments.arrays.count, count, text_string(&text));
}

// Whether the launch has a thread for each iteration of a loop, and no other threads.
static bool has_thread_for_each(const Emitter *emitter, const LoopNode *loop) {
    const IntExpr *threads = emitter->launch->threads[loop->execution.dim];
    return (loop->execution.unit == GPU_THREAD || loop->execution.unit == GPU_WARP) && threads &&
           int_equal(loop->lower, int_const(emitter->kernel->arena, 0)) && int_equal(loop->upper, threads);
}

void emit_unit_loop(Emitter *emitter, const LoopNode *node) {
    static const char *const dims[GPU_DIMS] = {"x", "y", "z"};
    static const char *const macros[] = {
        [GPU_BLOCK] = "BLOCKS", [GPU_WARP] = "THREADS", [GPU_THREAD] = "THREADS", [GPU_GRID] = "GRID"};
    if (node->execution.unroll > 1)
        emit_line(&emitter->lines, "DISTAL_UNROLL(%" PRId64 ")", node->execution.unroll);
    emit_open(&emitter->lines, "DISTAL_FOR_%s(%s, %s, %s, %s) {",
              has_thread_for_each(emitter, node) ? "EACH_THREAD" : macros[node->execution.unit],
              dims[node->execution.dim], emitter->names.vars[node->var], emit_int_text(emitter, node->lower),
              emit_int_text(emitter, node->upper));
    emit_body(emitter, &node->body);
    emit_close(&emitter->lines);
    if (node->execution.barrier)
        emit_line(&emitter->lines, "DISTAL_BARRIER;");
}

void emit_atomic(Emitter *emitter, const LoopNode *node, const char *element, const char *value) {
    const LoopArray *array = emit_array_of(emitter, node->array);
    emit_line(&emitter->lines, "distal_atomic_%s_%s(&%s, %s);", reducer_names[array->reducer],
              type_info(array->type)->name, element, value);
}

void emit_launch_workspace(Emitter *emitter, const LoopNode *node) {
    const LoopArray *array = emit_array_of(emitter, node->array);
    if (array->shared)
        emit_line(&emitter->lines, "DISTAL_SHARED %s %s[%s];", emit_c_type(emitter, (int)array->type),
                  emitter->names.arrays[node->array], emit_int_text(emitter, array->extent));
    else
        emit_line(&emitter->lines, "%s *%s = distal_gpu_scratch(%s);", emit_c_type(emitter, (int)array->type),
                  emitter->names.arrays[node->array], emitter->names.execution);
}
