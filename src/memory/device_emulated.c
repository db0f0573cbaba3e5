// SPDX-License-Identifier: BSD-3-Clause
// The emulated device: operations on its memory (emulated_memory.c), which are executed in its streams.
#include "memory/device.h"

#include "base/integer.h"
#include "memory/emulated_memory.h"
#include "memory/emulated_streams.h"
#include "memory/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 256 };

// Bytes from the first of `count` elements to the end of the last one.
static int64_t extent(int64_t count, int64_t step, int64_t size) {
    return count > 0 ? (count - 1) * step + size : 0;
}

// For the host there is no other memory.
static void *message_address(void *memory) {
    return emulated_on_host(memory, 0);
}

static atomic_int pinned; // ranges that are

static bool pin(void *memory, int64_t bytes) {
    (void)memory;
    (void)bytes;
    atomic_fetch_add(&pinned, 1);
    return true;
}

static void unpin(void *memory) {
    if (atomic_fetch_sub(&pinned, 1) <= 0)
        device_fail("%p is not pinned", memory);
}

typedef struct {
    char *to;
    const char *from;
    int64_t to_pitch, from_pitch, width, rows;
} Copy;

static void run_copy(void *arguments) {
    const Copy *task = arguments;
    memory_copy_rows(task->to, task->to_pitch, task->from, task->from_pitch, task->width, task->rows);
}

static void copy(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                 int64_t rows) {
    if (device_failed() || width <= 0 || rows <= 0)
        return;
    bool to_device, from_device;
    char *target = emulated_side_of_copy(to, extent(rows, to_pitch, width), &to_device);
    const char *source = emulated_side_of_copy(from, extent(rows, from_pitch, width), &from_device);
    const Copy task = {target, source, to_pitch, from_pitch, width, rows};
    if (!target || !source)
        return;
    if (to_device || from_device)
        emulated_begin(run_copy, &task, sizeof task);
    else
        memory_copy_rows(target, to_pitch, source, from_pitch, width, rows);
    if (to_device == from_device)
        return;
    device_count_copy(to_device, width * rows);
    if (device_waits())
        emulated_wait(emulated_mark(device_stream()));
}

// Elements of `to`, which are combined with others or set.
typedef struct {
    Reducer reducer;
    ElementType type;
    void *to;
    const void *from;
    int64_t to_step, from_step, count;
} Update;

static void run_reduce(void *arguments) {
    const Update *task = arguments;
    memory_host.reduce(task->reducer, task->type, task->to, task->to_step, task->from, task->from_step,
                       task->count);
}

static void run_clear(void *arguments) {
    const Update *task = arguments;
    memory_host.clear(task->reducer, task->type, task->to, task->to_step, task->count);
}

static void reduce(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count) {
    const int64_t size = (int64_t)type_info(type)->size;
    if (device_failed() || count <= 0)
        return;
    void *target = emulated_on_host(to, extent(count, to_step * size, size));
    const void *source = emulated_on_host(from, extent(count, from_step * size, size));
    const Update task = {reducer, type, target, source, to_step, from_step, count};
    if (target && source)
        emulated_begin(run_reduce, &task, sizeof task);
}

static void clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count) {
    const int64_t size = (int64_t)type_info(type)->size;
    if (device_failed() || count <= 0)
        return;
    void *target = emulated_on_host(to, extent(count, step * size, size));
    const Update task = {.reducer = reducer, .type = type, .to = target, .to_step = step, .count = count};
    if (target)
        emulated_begin(run_clear, &task, sizeof task);
}

static void *load(const char *text, Diagnostics *diagnostics) {
    static char nothing;
    (void)text;
    (void)diagnostics;
    return &nothing;
}

static void unload(void *module) {
    (void)module;
    emulated_execute_all();
}

typedef struct {
    void (*emulated)(void *const *arguments);
    int count;
    int64_t values[MAX_ARGUMENTS]; // the first `count`
} Launch;

static void run_launch(void *arguments) {
    Launch *task = arguments;
    void *values[MAX_ARGUMENTS];
    for (int a = 0; a < task->count; a++)
        values[a] = &task->values[a];
    task->emulated(values);
}

// Pointers that are NULL, of arrays that are not there, stay so.
static void launch(void *module, const DeviceKernel *kernel, const DeviceLaunch *launch) {
    Launch task = {.emulated = kernel->emulated, .count = launch->argument_count};
    (void)module;
    if (device_failed() || launch->blocks[0] <= 0 || launch->blocks[1] <= 0 || launch->blocks[2] <= 0)
        return;
    if (!kernel->emulated || launch->argument_count > MAX_ARGUMENTS) {
        device_fail(kernel->emulated ? "the kernel '%s' has too many arguments"
                                     : "the kernel '%s' was not compiled for the emulated device",
                    kernel->name);
        return;
    }
    for (int a = 0; a < launch->argument_count; a++) {
        memcpy(&task.values[a], launch->arguments[a], sizeof task.values[a]);
        if (a >= launch->pointer_count)
            continue;
        const void *shown = *(void *const *)launch->arguments[a];
        const void *elements = shown ? emulated_on_host(shown, 0) : NULL;
        if (shown && !elements)
            return;
        memcpy(&task.values[a], &elements, sizeof elements);
    }
    emulated_begin(run_launch, &task,
                   (int64_t)(offsetof(Launch, values) + sizeof(int64_t) * (size_t)task.count));
}

// Integers wrap around.
#define DEFINE_GEMM(suffix, type, computed)                                                                  \
    static void gemm_##suffix(int64_t m, int64_t n, int64_t k, const void *alpha, DeviceMatrix a,            \
                              DeviceMatrix b, DeviceMatrix c) {                                              \
        const type factor = *(const type *)alpha;                                                            \
        const type *left = a.elements, *right = b.elements;                                                  \
        type *result = c.elements;                                                                           \
        for (int64_t i = 0; i < m; i++)                                                                      \
            for (int64_t l = 0; l < k; l++) {                                                                \
                const computed x = (computed)factor * (computed)left[i * a.row + l * a.column];              \
                for (int64_t j = 0; j < n; j++) {                                                            \
                    type *element = &result[i * c.row + j * c.column];                                       \
                    *element = (type)((computed)*element + x * (computed)right[l * b.row + j * b.column]);   \
                }                                                                                            \
            }                                                                                                \
    }
DEFINE_GEMM(i32, int32_t, uint32_t)
DEFINE_GEMM(i64, int64_t, uint64_t)
DEFINE_GEMM(f32, float, float)
DEFINE_GEMM(f64, double, double)
DEFINE_GEMM(c64, float _Complex, float _Complex)
DEFINE_GEMM(c128, double _Complex, double _Complex)

// False where its elements, in all iterations of the loops, are not all in one allocation. `step`: of a loop.
static bool matrix_on_host(DeviceMatrix *matrix, int64_t rows, int64_t columns, const DeviceProduct *product,
                           int64_t (*step)(const DeviceLoop *loop), ElementType type) {
    int64_t last = (rows - 1) * matrix->row + (columns - 1) * matrix->column;
    for (int i = 0; i < product->loop_count; i++)
        last += (product->loops[i].extent - 1) * step(&product->loops[i]);
    matrix->elements = emulated_on_host(matrix->elements, (last + 1) * (int64_t)type_info(type)->size);
    return matrix->elements;
}

static int64_t step_of_a(const DeviceLoop *loop) {
    return loop->a;
}

static int64_t step_of_b(const DeviceLoop *loop) {
    return loop->b;
}

static int64_t step_of_c(const DeviceLoop *loop) {
    return loop->c;
}

static void *element_at(const DeviceMatrix *matrix, int64_t row, int64_t column, int64_t size) {
    return (char *)matrix->elements + (row * matrix->row + column * matrix->column) * size;
}

// The products of all iterations of loop `l` and those inside.
static void multiply(ElementType type, const DeviceProduct *product, int l) {
    static void (*const table[TYPE_COUNT])(int64_t, int64_t, int64_t, const void *, DeviceMatrix,
                                           DeviceMatrix, DeviceMatrix) = {gemm_i32, gemm_i64, gemm_f32,
                                                                          gemm_f64, gemm_c64, gemm_c128};
    const int64_t size = (int64_t)type_info(type)->size;
    DeviceProduct at = *product;
    if (l < product->loop_count && l < DEVICE_LOOPS) { // the second tells compilers how deep it goes
        const DeviceLoop *loop = &product->loops[l];
        for (int64_t i = 0; i < loop->extent; i++) {
            at.a.elements = (char *)product->a.elements + i * loop->a * size;
            at.b.elements = (char *)product->b.elements + i * loop->b * size;
            at.c.elements = (char *)product->c.elements + i * loop->c * size;
            multiply(type, &at, l + 1);
        }
        return;
    }
    for (int64_t i = 0; product->stores && i < product->m; i++)
        for (int64_t j = 0; j < product->n; j++)
            memset(element_at(&product->c, i, j, size), 0, (size_t)size);
    table[type](product->m, product->n, product->k, product->alpha, product->a, product->b, product->c);
}

typedef struct {
    ElementType type;
    DeviceProduct product;
    double _Complex alpha; // or another type
} Gemm;

static void run_gemm(void *arguments) {
    Gemm *task = arguments;
    task->product.alpha = &task->alpha;
    multiply(task->type, &task->product, 0);
}

static void begin_gemm(ElementType type, const DeviceProduct *product) {
    Gemm task = {.type = type, .product = *product};
    memcpy(&task.alpha, product->alpha, type_info(type)->size);
    emulated_begin(run_gemm, &task, sizeof task);
}

static void gemm(ElementType type, const DeviceProduct *product) {
    DeviceProduct of = *product;
    if (device_failed() || device_product_is_empty(product))
        return;
    if (matrix_on_host(&of.a, of.m, of.k, &of, step_of_a, type) &&
        matrix_on_host(&of.b, of.k, of.n, &of, step_of_b, type) &&
        matrix_on_host(&of.c, of.m, of.n, &of, step_of_c, type))
        begin_gemm(type, &of);
}

typedef struct {
    ElementType type;
    int64_t count, x_step, y_step;
    const void *x;
    void *y;
    double _Complex alpha; // or another type
} Axpy;

// A product of a column and the number one.
static void run_axpy(void *arguments) {
    const Axpy *task = arguments;
    double one[2]; // an element of any type
    memory_host.clear(REDUCER_PROD, task->type, one, 1, 1);
    multiply(task->type,
             &(DeviceProduct){.m = task->count,
                              .n = 1,
                              .k = 1,
                              .alpha = &task->alpha,
                              .a = {(void *)(uintptr_t)task->x, task->x_step, 1},
                              .b = {one, 1, 1},
                              .c = {task->y, task->y_step, 1}},
             0);
}

static void axpy(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step) {
    const int64_t size = (int64_t)type_info(type)->size;
    if (device_failed() || count <= 0)
        return;
    const void *source = emulated_on_host(x, extent(count, x_step * size, size));
    void *target = emulated_on_host(y, extent(count, y_step * size, size));
    Axpy task = {.type = type, .count = count, .x_step = x_step, .y_step = y_step, .x = source, .y = target};
    memcpy(&task.alpha, alpha, (size_t)size);
    if (source && target)
        emulated_begin(run_axpy, &task, sizeof task);
}

static void copy_loops(int64_t size, char *to, const char *from, int count, const DeviceCopyLoop *loops) {
    if (count == 0) {
        memcpy(to, from, (size_t)size);
        return;
    }
    for (int64_t i = 0; i < loops->extent; i++)
        copy_loops(size, to + i * loops->to * size, from + i * loops->from * size, count - 1, loops + 1);
}

typedef struct {
    int64_t size;
    char *to;
    const char *from;
    int count;
    DeviceCopyLoop loops[DEVICE_COPY_LOOPS];
} Permutation;

static void run_permute(void *arguments) {
    const Permutation *task = arguments;
    copy_loops(task->size, task->to, task->from, task->count, task->loops);
}

static void begin_permute(int64_t size, void *to, const void *from, int count, const DeviceCopyLoop *loops) {
    Permutation task = {.size = size, .to = to, .from = from, .count = count};
    memcpy(task.loops, loops, sizeof *loops * (size_t)count);
    emulated_begin(run_permute, &task, sizeof task);
}

static void permute(int64_t size, void *to, const void *from, int loop_count, const DeviceCopyLoop *loops) {
    int64_t last_to = 0, last_from = 0;
    for (int i = 0; i < loop_count; i++) {
        last_to += (loops[i].extent - 1) * loops[i].to;
        last_from += (loops[i].extent - 1) * loops[i].from;
    }
    if (device_failed())
        return;
    void *target = emulated_on_host(to, (last_to + 1) * size);
    const void *source = emulated_on_host(from, (last_from + 1) * size);
    if (target && source)
        begin_permute(size, target, source, loop_count, loops);
}

// Memory without a limit, but for DISTAL_GPU_MEMORY: of this process, as if no other used the GPU.
static bool open_device(int local_rank, const char **why) {
    (void)local_rank;
    const char *text = getenv("DISTAL_GPU_MEMORY");
    char *end = NULL;
    errno = 0;
    const int64_t limit = text && *text ? strtoll(text, &end, 10) : INT64_MAX;
    emulated_limit_memory(limit);
    if (!end || (errno == 0 && *end == '\0' && limit >= 0))
        return true;
    static char message[160];
    snprintf(message, sizeof message, "DISTAL_GPU_MEMORY is '%s', which is not a number of bytes", text);
    *why = message;
    return false;
}

static void close_device(void) {
    emulated_execute_all();
    emulated_forget_memory();
}

static const char *describe(void) {
    return "an emulated GPU, on the host";
}

// Each process has one of its own.
static DeviceIdentity identity(void) {
    return (DeviceIdentity){{(int64_t)gethostid(), (int64_t)getpid()}};
}

const Device device_emulated = {.name = "emulated",
                                .open = open_device,
                                .close = close_device,
                                .describe = describe,
                                .identity = identity,
                                .free_bytes = emulated_free_bytes,
                                .allocate = emulated_allocate,
                                .release = emulated_release,
                                .allocate_shared = emulated_allocate_shared,
                                .open_shared = emulated_open_shared,
                                .close_shared = emulated_release,
                                .refuses = emulated_refuses_memory,
                                .refuses_stream = emulated_refuses_stream,
                                .message_address = message_address,
                                .pin = pin,
                                .unpin = unpin,
                                .copy = copy,
                                .reduce = reduce,
                                .clear = clear,
                                .load = load,
                                .unload = unload,
                                .launch = launch,
                                .gemm = gemm,
                                .axpy = axpy,
                                .permute = permute,
                                .mark = emulated_mark,
                                .order = emulated_order,
                                .wait = emulated_wait,
                                .synchronize = emulated_synchronize};
