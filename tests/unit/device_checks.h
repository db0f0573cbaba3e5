// SPDX-License-Identifier: BSD-3-Clause
// What holds of any device: each operation is compared with plain loops on the host.
#ifndef DEVICE_CHECKS_H
#define DEVICE_CHECKS_H

#include "base/integer.h"
#include "memory/device.h"
#include "memory/memory.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const Device *device; // the one that is open
// Streams as callers make them.
static void *(*stream_create)(void);
static void (*stream_free)(void *stream);

static void assert_no_failure(void) {
    Arena *arena = arena_create();
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", ""});
    if (!device_check(diagnostics))
        fail_msg("%s", diagnostics->list.items[0].message);
    arena_free(arena);
}

// What was noted contains this text.
static void assert_failure(const char *text) {
    Arena *arena = arena_create();
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", ""});
    assert_true(device_failed());
    assert_false(device_check(diagnostics));
    if (!strstr(diagnostics->list.items[0].message, text))
        fail_msg("'%s' does not contain '%s'", diagnostics->list.items[0].message, text);
    assert_false(device_failed());
    arena_free(arena);
}

static void *on_device(const void *from, int64_t bytes) {
    void *memory = device->allocate(bytes);
    assert_non_null(memory);
    device->copy(memory, bytes, from, bytes, bytes, 1);
    return memory;
}

static void from_device(void *to, const void *memory, int64_t bytes) {
    device->copy(to, bytes, memory, bytes, bytes, 1);
    assert_no_failure();
}

static void check_memory(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 255, 4096, 100000};
    char *memory[5];
    for (int i = 0; i < 5; i++) {
        memory[i] = device->allocate(sizes[i]);
        assert_non_null(memory[i]);
        assert_int_equal((uintptr_t)memory[i] % 256, 0);
        for (int j = 0; j < i; j++)
            assert_true(memory[i] + sizes[i] <= memory[j] || memory[j] + sizes[j] <= memory[i]);
    }
    for (int i = 4; i >= 0; i -= 2)
        device->release(memory[i]);
    device->release(memory[1]);
    device->release(memory[3]);
    device->release(NULL);
    char pinned[1000];
    assert_true(device->pin(pinned, sizeof pinned));
    device->unpin(pinned);
    assert_no_failure();
    device->unpin(pinned);
    assert_failure("");
    assert_true(device->free_bytes() > 0);
    assert_non_null(device->describe());
    device->synchronize();
    assert_no_failure();
}

// Numbers are copied to one of two buffers, doubled there, and copied back, round by round, while the copies
// of other rounds are under way.
static void check_streams(void **state) {
    (void)state;
    enum { COUNT = 100, ROUNDS = 200 };
    static int64_t numbers[ROUNDS][COUNT], results[ROUNDS][COUNT];
    int64_t *memory[2];
    DeviceTicket taken[2] = {0};
    for (int b = 0; b < 2; b++)
        memory[b] = device->allocate(sizeof numbers[0]);
    memset(results, 0, sizeof results);
    for (int r = 0; r < ROUNDS; r++) {
        int64_t *buffer = memory[r % 2];
        for (int i = 0; i < COUNT; i++)
            numbers[r][i] = r * COUNT + i;
        device->order(STREAM_IN, taken[r % 2]);
        device_use(STREAM_IN, false);
        device->copy(buffer, 8, numbers[r], 8, 8, COUNT);
        const DeviceTicket arrived = device->mark(STREAM_IN);
        device_use(STREAM_COMPUTE, true);
        device->order(STREAM_COMPUTE, arrived);
        device->reduce(REDUCER_SUM, TYPE_I64, buffer, 1, buffer, 1, COUNT);
        device->order(STREAM_OUT, device->mark(STREAM_COMPUTE));
        device_use(STREAM_OUT, false);
        device->copy(results[r], 8, buffer, 8, 8, COUNT);
        device_use(STREAM_COMPUTE, true);
        taken[r % 2] = device->mark(STREAM_OUT);
        if (r % 7 == 3) {
            device->wait(taken[r % 2]);
            assert_int_equal(results[r][COUNT - 1], 2 * numbers[r][COUNT - 1]);
        }
    }
    device->wait(0);
    device->synchronize();
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(results[r][i], 2 * numbers[r][i]);
    for (int b = 0; b < 2; b++)
        device->release(memory[b]);
    assert_no_failure();
}

// The same in the stream of a caller, which puts numbers there and takes results from there, without a wait,
// while other streams of the device wait for what they need only.
static void check_follow(void **state) {
    (void)state;
    enum { COUNT = 10, ROUNDS = 200 };
    static int64_t numbers[ROUNDS][COUNT], results[ROUNDS][COUNT], beside[ROUNDS][COUNT];
    int64_t *memory = device->allocate(sizeof numbers[0]), *copy = device->allocate(sizeof numbers[0]);
    void *stream = stream_create(), *next = stream_create();
    bool was_late = false;
    assert_null(device_caller_stream());
    assert_null(device->refuses_stream(stream));
    memset(results, 0, sizeof results);
    for (int r = 0; r < ROUNDS; r++) {
        device_set_caller_stream(r < ROUNDS / 2 ? stream : next);
        device_use(STREAM_COMPUTE, false);
        for (int i = 0; i < COUNT; i++)
            numbers[r][i] = r * COUNT + i;
        device->copy(memory, 8, numbers[r], 8, 8, COUNT);
        device->order(STREAM_IN, device->mark(STREAM_COMPUTE));
        device_use(STREAM_IN, false);
        device->copy(copy, 8, memory, 8, 8, COUNT);
        const DeviceTicket copied = device->mark(STREAM_IN);
        device_use(STREAM_COMPUTE, false);
        device->order(STREAM_COMPUTE, copied);
        device->reduce(REDUCER_SUM, TYPE_I64, memory, 1, memory, 1, COUNT);
        device->copy(results[r], 8, memory, 8, 8, COUNT);
        was_late = was_late || results[r][COUNT - 1] == 0;
        device->order(STREAM_OUT, copied);
        device_use(STREAM_OUT, false);
        device->copy(beside[r], 8, copy, 8, 8, COUNT);
        device->order(STREAM_COMPUTE, device->mark(STREAM_OUT));
        // Another thread, or a call without a stream, has that of the device.
        const DeviceTicket all = device->mark(STREAM_COMPUTE);
        device_set_caller_stream(r == ROUNDS / 2 - 1 ? next : NULL);
        device_use(STREAM_COMPUTE, true);
        device->order(STREAM_COMPUTE, all);
        if (r % 7 == 3) {
            device->wait(device->mark(STREAM_COMPUTE));
            assert_int_equal(results[r][COUNT - 1], 2 * numbers[r][COUNT - 1]);
        }
    }
    assert_true(was_late);
    device->synchronize();
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(results[r][i], 2 * numbers[r][i]);
            assert_int_equal(beside[r][i], numbers[r][i]);
        }
    stream_free(stream);
    stream_free(next);
    device->release(memory);
    device->release(copy);
    assert_no_failure();
}

// Memory that other processes can open, which is opened here.
static void check_shared(void **state) {
    (void)state;
    DeviceHandle handle;
    char numbers[100], opened[100] = {0};
    for (size_t i = 0; i < sizeof numbers; i++)
        numbers[i] = (char)i;
    char *memory = device->allocate_shared(sizeof numbers, &handle);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 256, 0);
    device->copy(memory, 0, numbers, 0, sizeof numbers, 1);
    char *other = device->open_shared(&handle);
    assert_non_null(other);
    device->copy(opened, 0, other + 1, 0, sizeof opened - 1, 1);
    assert_memory_equal(opened, numbers + 1, sizeof opened - 1);
    device->close_shared(other);
    device->release(memory);
    assert_no_failure();
}

// Memory that other parts of the program give.
static void check_refuses(void **state) {
    (void)state;
    char host[100], *memory = device->allocate(100);
    assert_null(device->refuses(memory, 100));
    assert_null(device->refuses(memory + 90, 10));
    assert_string_equal(device->refuses(memory, 101), "ends before the last element");
    assert_string_equal(device->refuses(memory + 1, 100), "ends before the last element");
    assert_string_equal(device->refuses(host, 100), "is not that of a GPU");
    assert_no_failure();
    device->release(memory);
}

typedef struct {
    int64_t width, rows, to_pitch, from_pitch, to_offset, from_offset;
} CopyCase;

// Between memory of the host and of the device, at any address in it.
static void check_copy_case(CopyCase c, bool to_device, bool from_device) {
    const int64_t to_bytes = c.to_offset + (c.rows - 1) * c.to_pitch + c.width + 5;
    const int64_t from_bytes = c.from_offset + (c.rows - 1) * c.from_pitch + c.width + 5;
    char *to = malloc((size_t)to_bytes), *expected = malloc((size_t)to_bytes),
         *from = malloc((size_t)from_bytes);
    for (int64_t i = 0; i < from_bytes; i++)
        from[i] = (char)(i * 7 + i / 251);
    memset(to, -1, (size_t)to_bytes);
    memset(expected, -1, (size_t)to_bytes);
    for (int64_t r = 0; r < c.rows; r++)
        memcpy(expected + c.to_offset + r * c.to_pitch, from + c.from_offset + r * c.from_pitch,
               (size_t)c.width);

    char *target = to_device ? on_device(to, to_bytes) : to;
    char *source = from_device ? on_device(from, from_bytes) : from;
    device->copy(target + c.to_offset, c.to_pitch, source + c.from_offset, c.from_pitch, c.width, c.rows);
    if (!to_device)
        assert_memory_equal(to, expected, (size_t)to_bytes);
    else if (!from_device)
        memset(from, 0, (size_t)from_bytes); // it is no longer read
    if (to_device) {
        device->copy(to, to_bytes, target, to_bytes, to_bytes, 1);
        assert_memory_equal(to, expected, (size_t)to_bytes);
        device->release(target);
    }
    if (from_device)
        device->release(source);
    assert_no_failure();
    free(to);
    free(expected);
    free(from);
}

static void check_copy(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 4, 8, 12, 16, 100, 400, 5000}, rows[] = {1, 2, 33, 70};
    static const int64_t gaps[][2] = {{0, 0}, {0, 8}, {16, 0}, {4, 16}, {3, 5}};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
                for (int sides = 0; sides < 4; sides++)
                    for (int64_t offset = 0; offset < 20; offset += 16)
                        check_copy_case((CopyCase){widths[w], rows[r], widths[w] + gaps[g][0],
                                                   widths[w] + gaps[g][1], offset, 2 * offset},
                                        sides & 1, sides & 2);
    // One row again and again, in rows that have no limits of the driver and in those that have.
    for (int sides = 0; sides < 4; sides++) {
        check_copy_case((CopyCase){8, 100, 16, 0, 0, 0}, sides & 1, sides & 2);
        check_copy_case((CopyCase){2000, 10, 2000, 0, 0, 0}, sides & 1, sides & 2);
    }
    char byte;
    device->copy(&byte, 1, &byte, 1, 0, 5); // nothing
    device->copy(&byte, 1, &byte, 1, 1, 0);
    assert_no_failure();
}

// More short rows than any buffer has room for.
static void check_copy_many_rows(void **state) {
    (void)state;
    for (int sides = 1; sides < 4; sides++) {
        check_copy_case((CopyCase){4, 3100001, 4, 8, 0, 0}, sides & 1, sides & 2);
        check_copy_case((CopyCase){16, 800001, 32, 16, 16, 0}, sides & 1, sides & 2);
        check_copy_case((CopyCase){8, 1200001, 24, 16, 0, 8}, sides & 1, sides & 2);
    }
}

// Element i of some numbers, of which none is lost in any type; NaN where that is asked for.
static void set_element(ElementType type, void *elements, int64_t i, int value, bool is_nan) {
    const double real = is_nan ? (double)NAN : value;
    const double _Complex both = real + (double)(value % 3) * I;
    switch (type) {
    case TYPE_I32:
        ((int32_t *)elements)[i] = value;
        break;
    case TYPE_I64:
        ((int64_t *)elements)[i] = value;
        break;
    case TYPE_F32:
        ((float *)elements)[i] = (float)real;
        break;
    case TYPE_F64:
        ((double *)elements)[i] = real;
        break;
    case TYPE_C64:
        ((float _Complex *)elements)[i] = (float _Complex)both;
        break;
    case TYPE_C128:
        ((double _Complex *)elements)[i] = both;
        break;
    }
}

static double _Complex element(ElementType type, const void *elements, int64_t i) {
    switch (type) {
    case TYPE_I32:
        return ((const int32_t *)elements)[i];
    case TYPE_I64:
        return (double)((const int64_t *)elements)[i];
    case TYPE_F32:
        return ((const float *)elements)[i];
    case TYPE_F64:
        return ((const double *)elements)[i];
    case TYPE_C64:
        return ((const float _Complex *)elements)[i];
    default:
        return ((const double _Complex *)elements)[i];
    }
}

static void check_reduce_case(Reducer reducer, ElementType type, int64_t to_step, int64_t from_step,
                              int64_t count) {
    const int64_t size = (int64_t)type_info(type)->size, gap = 3;
    const int64_t to_count = gap + max_i64(count, 1) * to_step,
                  from_count = gap + max_i64(count, 1) * from_step;
    char *to = calloc((size_t)to_count, (size_t)size), *from = calloc((size_t)from_count, (size_t)size);
    char *got = malloc((size_t)(to_count * size));
    const bool ordered = reducer == REDUCER_MAX || reducer == REDUCER_MIN;
    for (int64_t i = 0; i < to_count; i++)
        set_element(type, to, i, (int)(i * 5 % 13) - 6, ordered && i % 11 == 4);
    for (int64_t i = 0; i < from_count; i++)
        set_element(type, from, i, (int)(i * 7 % 17) - 8, ordered && i % 7 == 5);
    char *target = on_device(to, to_count * size), *source = on_device(from, from_count * size);
    device->reduce(reducer, type, target + gap * size, to_step, source + gap * size, from_step, count);
    memory_host.reduce(reducer, type, to + gap * size, to_step, from + gap * size, from_step, count);
    from_device(got, target, to_count * size);
    assert_memory_equal(got, to, (size_t)(to_count * size));

    device->clear(reducer, type, target + gap * size, to_step, count);
    memory_host.clear(reducer, type, to + gap * size, to_step, count);
    from_device(got, target, to_count * size);
    assert_memory_equal(got, to, (size_t)(to_count * size));
    device->release(target);
    device->release(source);
    free(to);
    free(from);
    free(got);
}

static void check_reduce(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 7, 1000};
    for (int r = 0; r < (int)REDUCER_COUNT; r++)
        for (int t = 0; t < TYPE_COUNT; t++)
            for (int64_t to_step = 1; to_step <= 2; to_step++)
                for (int64_t from_step = 1; from_step <= 3; from_step++)
                    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                        if (reducer_takes((Reducer)r, (ElementType)t))
                            check_reduce_case((Reducer)r, (ElementType)t, to_step, from_step, counts[c]);
    // Integers wrap around.
    int32_t small[] = {INT32_MAX, INT32_MIN};
    int32_t *memory = on_device(small, sizeof small);
    device->reduce(REDUCER_SUM, TYPE_I32, memory, 1, memory + 1, 1, 1);
    device->reduce(REDUCER_PROD, TYPE_I32, memory + 1, 1, memory, 1, 1);
    from_device(small, memory, sizeof small);
    assert_int_equal(small[0], -1);
    assert_int_equal(small[1], INT32_MIN);
    device->release(memory);
}

// How the elements of a matrix lie: by rows, by columns, in both cases further apart than they need, and
// without a unit stride.
enum { LAYOUTS = 5 };
static DeviceMatrix layout(int which, int64_t rows, int64_t columns) {
    switch (which) {
    case 0:
        return (DeviceMatrix){NULL, columns, 1};
    case 1:
        return (DeviceMatrix){NULL, 1, rows};
    case 2:
        return (DeviceMatrix){NULL, columns + 3, 1};
    case 3:
        return (DeviceMatrix){NULL, 1, rows + 2};
    default:
        return (DeviceMatrix){NULL, 2 * columns + 1, 2};
    }
}

typedef struct {
    DeviceMatrix host, on_device;
    int64_t count; // of elements, those between them as well
} TestMatrix;

// `beyond`: elements from its last one in the first of several products to that in the last of them.
static TestMatrix make_matrix(ElementType type, int which, int64_t rows, int64_t columns, int64_t beyond,
                              int seed) {
    const int64_t size = (int64_t)type_info(type)->size, offset = 1;
    TestMatrix matrix = {.host = layout(which, rows, columns)};
    matrix.count = offset + max_i64(rows - 1, 0) * matrix.host.row +
                   max_i64(columns - 1, 0) * matrix.host.column + beyond + 1;
    char *elements = malloc((size_t)(matrix.count * size));
    for (int64_t i = 0; i < matrix.count; i++)
        set_element(type, elements, i, (int)((i * 7 + seed) % 11) - 5, false);
    matrix.on_device = matrix.host;
    matrix.host.elements = elements + offset * size;
    matrix.on_device.elements = (char *)on_device(elements, matrix.count * size) + offset * size;
    return matrix;
}

static void free_matrix(ElementType type, TestMatrix *matrix) {
    const int64_t size = (int64_t)type_info(type)->size;
    device->release((char *)matrix->on_device.elements - size);
    free((char *)matrix->host.elements - size);
}

static double _Complex at(ElementType type, DeviceMatrix matrix, int64_t row, int64_t column,
                          int64_t offset) {
    return element(type, matrix.elements, row * matrix.row + column * matrix.column + offset);
}

// Elements from the first one of the matrices of a product to those of the next one, of each loop.
static int64_t steps_of(const DeviceLoop *loops, int count, DeviceLoop steps) {
    int64_t beyond = 0;
    for (int i = 0; i < count; i++)
        beyond += (loops[i].extent - 1) * (steps.a ? loops[i].a : steps.b ? loops[i].b : loops[i].c);
    return beyond;
}

// Products in the iterations of loops, of which the last one is the outermost one in memory.
static void check_products(ElementType type, int64_t m, int64_t n, int64_t k, int layouts, bool stores,
                           int loop_count, const int64_t *extents, bool has_pointers) {
    const int64_t size = (int64_t)type_info(type)->size;
    DeviceLoop loops[DEVICE_LOOPS] = {{0}};
    int64_t products = 1;
    DeviceMatrix shape = layout(layouts / LAYOUTS / LAYOUTS, m, n);
    int64_t next = m * shape.row + n * shape.column + 3;
    for (int l = 0; l < loop_count; l++) {
        // A is the same in each other loop, B in the others.
        loops[l] = (DeviceLoop){extents[l], l % 2 ? 2 * m * k : 0, l % 2 ? 0 : 3, next};
        next *= extents[l];
        products *= extents[l];
    }
    TestMatrix a =
        make_matrix(type, layouts % LAYOUTS, m, k, steps_of(loops, loop_count, (DeviceLoop){.a = 1}), 1);
    TestMatrix b = make_matrix(type, layouts / LAYOUTS % LAYOUTS, k, n,
                               steps_of(loops, loop_count, (DeviceLoop){.b = 1}), 2);
    TestMatrix c = make_matrix(type, layouts / LAYOUTS / LAYOUTS, m, n,
                               steps_of(loops, loop_count, (DeviceLoop){.c = 1}), 3);
    double alpha[2] = {0};
    set_element(type, alpha, 0, layouts % 2 ? 1 : -4, false);
    char *got = malloc((size_t)(c.count * size));
    DeviceProduct product = {
        m, n, k, alpha, stores, a.on_device, b.on_device, c.on_device, .loop_count = loop_count};
    memcpy(product.loops, loops, sizeof loops);
    product.workspace_bytes = has_pointers ? products * DEVICE_POINTER_BYTES : layouts % 4 ? size : 0;
    product.workspace = product.workspace_bytes > 0 ? device->allocate(product.workspace_bytes) : NULL;
    device->gemm(type, &product);
    from_device(got, (char *)c.on_device.elements - size, c.count * size);
    const DeviceMatrix result = {got + size, c.host.row, c.host.column};
    char *between = malloc((size_t)(c.count * size)); // with what is expected of elements
    memcpy(between, (char *)c.host.elements - size, (size_t)(c.count * size));
    for (int64_t p = 0; p < products; p++) {
        int64_t rest = p, in_a = 0, in_b = 0, in_c = 0;
        for (int l = 0; l < loop_count; l++) {
            in_a += rest % extents[l] * loops[l].a;
            in_b += rest % extents[l] * loops[l].b;
            in_c += rest % extents[l] * loops[l].c;
            rest /= extents[l];
        }
        for (int64_t i = 0; i < m && k > 0; i++)
            for (int64_t j = 0; j < n; j++) {
                double _Complex sum = 0;
                for (int64_t l = 0; l < k; l++)
                    sum += at(type, a.host, i, l, in_a) * at(type, b.host, l, j, in_b);
                const double _Complex before = stores ? 0 : at(type, c.host, i, j, in_c);
                assert_true(at(type, result, i, j, in_c) == before + element(type, alpha, 0) * sum);
                const int64_t place = 1 + i * c.host.row + j * c.host.column + in_c;
                memcpy(between + place * size, got + place * size, (size_t)size);
            }
    }
    assert_memory_equal(got, between, (size_t)(c.count * size));
    free(between);
    free(got);
    device->release(product.workspace);
    free_matrix(type, &a);
    free_matrix(type, &b);
    free_matrix(type, &c);
}

static void check_gemm_case(ElementType type, int64_t m, int64_t n, int64_t k, int layouts) {
    check_products(type, m, n, k, layouts, layouts % 3 == 1, 0, NULL, false);
}

static void check_batches(void **state) {
    (void)state;
    static const int64_t extents[] = {3, 2, 4, 1};
    for (int t = 0; t < TYPE_COUNT; t++) {
        const int step = type_info((ElementType)t)->is_integer ? 41 : 11;
        for (int loops = 1; loops <= DEVICE_LOOPS; loops++)
            for (int layouts = 0; layouts < LAYOUTS * LAYOUTS * LAYOUTS; layouts += step) {
                const int64_t m = layouts % 4 + 1, n = layouts % 3 + 1, k = layouts % 5 + 1;
                check_products((ElementType)t, m, n, k, layouts, layouts % 2, loops, extents, layouts % 3);
            }
    }
    // More products than a call takes.
    static const int64_t many[] = {2, 70001};
    check_products(TYPE_F64, 1, 2, 1, 0, true, 2, many, true);
    check_products(TYPE_F32, 2, 1, 2, 0, false, 2, many, false);
}

static void check_permute_case(int64_t size, int loop_count, const DeviceCopyLoop *loops) {
    int64_t to_count = 5, from_count = 7;
    for (int l = 0; l < loop_count; l++) {
        to_count += (loops[l].extent - 1) * loops[l].to;
        from_count += (loops[l].extent - 1) * loops[l].from;
    }
    char *to = malloc((size_t)(to_count * size)), *from = malloc((size_t)(from_count * size));
    char *expected = malloc((size_t)(to_count * size));
    for (int64_t i = 0; i < from_count * size; i++)
        from[i] = (char)(i * 7 + i / 251);
    memset(to, -1, (size_t)(to_count * size));
    memset(expected, -1, (size_t)(to_count * size));
    int64_t index[8] = {0};
    for (int l = 0; l >= 0;) {
        int64_t target = 1, source = 2;
        for (int i = 0; i < loop_count; i++) {
            target += index[i] * loops[i].to;
            source += index[i] * loops[i].from;
        }
        memcpy(expected + target * size, from + source * size, (size_t)size);
        for (l = loop_count - 1; l >= 0 && ++index[l] == loops[l].extent; l--)
            index[l] = 0;
    }
    char *target = on_device(to, to_count * size), *source = on_device(from, from_count * size);
    device->permute(size, target + size, source + 2 * size, loop_count, loops);
    from_device(to, target, to_count * size);
    assert_memory_equal(to, expected, (size_t)(to_count * size));
    device->release(target);
    device->release(source);
    free(to);
    free(from);
    free(expected);
}

static void check_permute(void **state) {
    (void)state;
    for (int64_t size = 4; size <= 16; size *= 2) {
        check_permute_case(size, 0, NULL);
        check_permute_case(size, 2, (DeviceCopyLoop[]){{5, 37, 37}, {37, 1, 1}});
        check_permute_case(size, 2, (DeviceCopyLoop[]){{33, 70, 1}, {70, 1, 33}});
        check_permute_case(size, 2, (DeviceCopyLoop[]){{1, 9, 9}, {65, 2, 3}});
        check_permute_case(size, 3, (DeviceCopyLoop[]){{4, 1, 35}, {35, 4, 1}, {3, 140, 141}});
        check_permute_case(size, 3, (DeviceCopyLoop[]){{4, 15, 3}, {3, 5, 12}, {5, 1, 40}});
        // Each loop goes elsewhere than the one before.
        check_permute_case(
            size, 7,
            (DeviceCopyLoop[]){
                {2, 1, 192}, {2, 2, 96}, {3, 4, 32}, {2, 12, 16}, {2, 24, 8}, {4, 48, 2}, {2, 192, 1}});
    }
}

static void check_axpy_case(ElementType type, int64_t count, int64_t x_step, int64_t y_step) {
    const int64_t size = (int64_t)type_info(type)->size;
    TestMatrix x = make_matrix(type, 0, 1, count * x_step + 1, 0, 1),
               y = make_matrix(type, 0, 1, count * y_step + 1, 0, 2);
    double alpha[2] = {0};
    set_element(type, alpha, 0, -4, false);
    char *got = malloc((size_t)(y.count * size)), *between = malloc((size_t)(y.count * size));
    device->axpy(type, count, alpha, x.on_device.elements, x_step, y.on_device.elements, y_step);
    from_device(got, (char *)y.on_device.elements - size, y.count * size);
    memcpy(between, (char *)y.host.elements - size, (size_t)(y.count * size));
    for (int64_t i = 0; i < count; i++) {
        const double _Complex sum = element(type, y.host.elements, i * y_step) +
                                    element(type, alpha, 0) * element(type, x.host.elements, i * x_step);
        assert_true(element(type, got + size, i * y_step) == sum);
        memcpy(between + (1 + i * y_step) * size, got + (1 + i * y_step) * size, (size_t)size);
    }
    assert_memory_equal(got, between, (size_t)(y.count * size));
    free(between);
    free(got);
    free_matrix(type, &x);
    free_matrix(type, &y);
}

static void check_axpy(void **state) {
    (void)state;
    for (int t = 0; t < TYPE_COUNT; t++) {
        check_axpy_case((ElementType)t, 0, 1, 1);
        check_axpy_case((ElementType)t, 1, 0, 0);
        check_axpy_case((ElementType)t, 7, 1, 1);
        check_axpy_case((ElementType)t, 300, 3, 2);
    }
}

static void check_gemm(void **state) {
    (void)state;
    static const int64_t extents[][3] = {{1, 1, 1}, {5, 3, 4}, {1, 7, 3}, {7, 1, 3}, {4, 6, 1},
                                         {1, 1, 9}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}};
    for (int t = 0; t < TYPE_COUNT; t++) {
        const bool few = type_info((ElementType)t)->is_integer;
        for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
            for (int layouts = 0; layouts < LAYOUTS * LAYOUTS * LAYOUTS; layouts += few ? 31 : 7)
                check_gemm_case((ElementType)t, extents[e][0], extents[e][1], extents[e][2], layouts);
        // Beyond what a block of threads computes.
        check_gemm_case((ElementType)t, 131, 67, 19, 0);
        check_gemm_case((ElementType)t, 70, 130, 33, 4 * (1 + LAYOUTS + LAYOUTS * LAYOUTS));
        check_gemm_case((ElementType)t, 65, 3, 8, 1 + 4 * LAYOUTS);
    }
    int64_t one = 1, big[] = {INT64_MAX, 3, INT64_MIN};
    int64_t *memory = on_device(big, sizeof big);
    device->gemm(
        TYPE_I64,
        &(DeviceProduct){
            1, 1, 1, &one, false, {memory, 1, 1}, {memory + 1, 1, 1}, {memory + 2, 1, 1}, .loop_count = 0});
    from_device(big, memory, sizeof big);
    assert_true(big[2] == -3); // (2^63 - 1) * 3 - 2^63, of which 64 bits remain
    device->release(memory);
}

// Nothing is done after a failure, until somebody has asked for it.
static void check_failure(void **state) {
    (void)state;
    int32_t values[] = {1, 2}, one = 1;
    int32_t *memory = on_device(values, sizeof values);
    device_fail("the %s one", "first");
    device_fail("the second one");
    device->clear(REDUCER_SUM, TYPE_I32, memory, 1, 2);
    device->reduce(REDUCER_SUM, TYPE_I32, memory, 1, memory, 1, 2);
    device->gemm(TYPE_I32,
                 &(DeviceProduct){
                     1, 1, 1, &one, false, {memory, 1, 1}, {memory, 1, 1}, {memory, 1, 1}, .loop_count = 0});
    device->permute(4, memory, memory + 1, 0, NULL);
    device->axpy(TYPE_I32, 1, &one, memory + 1, 1, memory, 1);
    values[0] = 7;
    device->copy(memory, 8, values, 8, 8, 1);
    device->synchronize();
    assert_failure("the first one");
    from_device(values, memory, sizeof values);
    assert_int_equal(values[0], 1);
    assert_int_equal(values[1], 2);
    device->release(memory);
}

#define DEVICE_CHECKS                                                                                        \
    cmocka_unit_test(check_memory), cmocka_unit_test(check_streams), cmocka_unit_test(check_follow),         \
        cmocka_unit_test(check_copy), cmocka_unit_test(check_shared), cmocka_unit_test(check_refuses),       \
        cmocka_unit_test(check_copy_many_rows), cmocka_unit_test(check_reduce),                              \
        cmocka_unit_test(check_axpy), cmocka_unit_test(check_gemm), cmocka_unit_test(check_batches),         \
        cmocka_unit_test(check_permute), cmocka_unit_test(check_failure)

#endif
