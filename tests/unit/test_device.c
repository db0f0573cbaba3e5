// SPDX-License-Identifier: BSD-3-Clause
// The emulated device, and the choice of a device.
#include "device_checks.h"

#include "memory/emulated_streams.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static int open_emulated(void **state) {
    (void)state;
    const char *why = NULL;
    stream_create = emulated_stream_create;
    stream_free = emulated_stream_free;
    assert_null(device_current());
    setenv("DISTAL_GPU", "emulated", 1);
    device = device_open(3, &why);
    assert_ptr_equal(device, &device_emulated);
    assert_ptr_equal(device_current(), device);
    assert_ptr_equal(device_open(0, &why), device);
    return 0;
}

static int close_emulated(void **state) {
    (void)state;
    device_close();
    assert_null(device_current());
    return 0;
}

static void test_choice(void **state) {
    (void)state;
    const char *why = NULL;
    device_close();
    setenv("DISTAL_GPU", "quantum", 1);
    assert_null(device_open(0, &why));
    assert_string_equal(why, "DISTAL_GPU is 'quantum', which is neither 'cuda' nor 'emulated'");
    assert_null(device_current());
#if !DISTAL_CUDA
    setenv("DISTAL_GPU", "cuda", 1);
    assert_null(device_open(0, &why));
    assert_string_equal(why, "this distal was built without CUDA");
    unsetenv("DISTAL_GPU");
    assert_null(device_open(0, &why));
    assert_string_equal(why, "this distal was built without CUDA");
#endif
    open_emulated(state);
}

static void test_streams_of_callers(void **state) {
    (void)state;
    int none;
    void *streams[4];
    for (int s = 0; s < 4; s++)
        streams[s] = emulated_stream_create();
    assert_non_null(streams[3]);
    assert_null(emulated_stream_create());
    assert_null(device->refuses_stream(streams[3]));
    emulated_stream_free(streams[3]);
    assert_string_equal(device->refuses_stream(streams[3]), "is not of the emulated GPU");
    assert_string_equal(device->refuses_stream(&none), "is not of the emulated GPU");
    for (int s = 0; s < 3; s++)
        emulated_stream_free(streams[s]);
    assert_no_failure();
}

// The system calls say what a load and a store would find.
static void test_host_access(void **state) {
    (void)state;
    int ends[2];
    char *memory = device->allocate(10000), byte = 1;
    assert_int_equal(pipe(ends), 0);
    for (int64_t offset = 0; offset <= 10000; offset += 2500) {
        assert_int_equal(write(ends[1], memory + offset, 1), -1);
        assert_int_equal(errno, EFAULT);
        assert_int_equal(write(ends[1], &byte, 1), 1);
        assert_int_equal(read(ends[0], memory + offset, 1), -1);
        assert_int_equal(errno, EFAULT);
        assert_int_equal(read(ends[0], &byte, 1), 1);
    }
    close(ends[0]);
    close(ends[1]);
    device->release(memory);
}

static void test_bounds(void **state) {
    (void)state;
    int32_t host[4] = {0}, one = 1;
    int32_t *memory = on_device(host, sizeof host);
    device->copy(memory + 1, 4, host, 4, 4, 4);
    assert_failure("16 bytes at offset 4 are beyond an allocation of 16 bytes");
    device->copy(host, 4, memory + 5, 4, 4, 1);
    assert_failure("beyond an allocation");
    device->clear(REDUCER_SUM, TYPE_I32, memory, 2, 3);
    assert_failure("20 bytes at offset 0");
    device->clear(REDUCER_SUM, TYPE_I32, host, 1, 4);
    assert_failure("is no address of the device");
    device->reduce(REDUCER_SUM, TYPE_I32, memory, 1, host, 1, 4);
    assert_failure("is no address of the device");
    device->reduce(REDUCER_SUM, TYPE_I32, memory, 1, memory, 2, 4);
    assert_failure("28 bytes at offset 0");
    DeviceProduct product = {
        2, 2, 1, &one, false, {memory, 1, 1}, {memory, 2, 1}, {memory, 3, 1}, .loop_count = 0};
    device->gemm(TYPE_I32, &product);
    assert_failure("20 bytes at offset 0");
    product.c.row = 2;
    product.loop_count = 1;
    product.loops[0] = (DeviceLoop){2, 0, 0, 4};
    device->gemm(TYPE_I32, &product);
    assert_failure("32 bytes at offset 0");
    device->axpy(TYPE_I32, 3, &one, memory, 1, memory, 2);
    assert_failure("20 bytes at offset 0");
    device->permute(4, memory, memory + 1, 1, &(DeviceCopyLoop){2, 1, 3});
    assert_failure("16 bytes at offset 4");
    device->release(memory + 1);
    assert_failure("is no allocation of the device");
    device->release(memory);
    device->release(memory);
    assert_failure("is no allocation of the device");
    assert_null(device->allocate(INT64_MAX));
    assert_no_failure();
}

// Adds a number to elements, and counts how often it was launched.
static int launches;
static void add_number(void *const *arguments) {
    int32_t *elements = *(int32_t *const *)arguments[0];
    const void *missing = *(void *const *)arguments[1];
    const int64_t number = *(const int64_t *)arguments[2], count = *(const int64_t *)arguments[3];
    assert_null(missing);
    for (int64_t i = 0; i < count; i++)
        elements[i] += (int32_t)number;
    launches++;
}

static void test_launch(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", ""});
    void *module = device->load("any text", diagnostics);
    assert_non_null(module);
    int32_t host[] = {1, 2, 3, 4};
    char *memory = on_device(host, sizeof host), *interior = memory + 4, *end = memory + 16;
    void *missing = NULL, *on_host = host;
    int64_t number = 10, count = 2, none = 0;
    const DeviceKernel kernel = {"add", add_number}, only_cuda = {"add", NULL};
    launches = 0;
    device->launch(
        module, &kernel,
        &(DeviceLaunch){{7, 1, 2}, {32, 4, 1}, 2, 4, (void *const[]){&interior, &missing, &number, &count}});
    device->launch(
        module, &kernel,
        &(DeviceLaunch){{1, 1, 1}, {128, 1, 1}, 2, 4, (void *const[]){&end, &missing, &number, &none}});
    device->synchronize();
    assert_int_equal(launches, 2);
    device->launch(
        module, &kernel,
        &(DeviceLaunch){{1, 0, 1}, {128, 1, 1}, 2, 4, (void *const[]){&interior, &missing, &number, &count}});
    device->synchronize();
    assert_int_equal(launches, 2);
    from_device(host, memory, sizeof host);
    assert_int_equal(host[0], 1);
    assert_int_equal(host[1], 12);
    assert_int_equal(host[2], 13);
    assert_int_equal(host[3], 4);
    device->launch(module, &only_cuda, &(DeviceLaunch){{1, 1, 1}, {128, 1, 1}, 0, 0, NULL});
    assert_failure("the kernel 'add' was not compiled for the emulated device");
    device->launch(
        module, &kernel,
        &(DeviceLaunch){{1, 1, 1}, {128, 1, 1}, 2, 4, (void *const[]){&on_host, &missing, &number, &count}});
    assert_failure("is no address of the device");
    device_fail("before");
    device->launch(
        module, &kernel,
        &(DeviceLaunch){{1, 1, 1}, {128, 1, 1}, 2, 4, (void *const[]){&interior, &missing, &number, &count}});
    assert_failure("before");
    assert_int_equal(launches, 2);
    device->unload(module);
    device->unload(NULL);
    device->release(memory);
    arena_free(arena);
}

static void *fail_often(void *unused) {
    for (int i = 0; i < 1000; i++)
        device_fail("one of %s", "many");
    return unused;
}

static void *allocate_often(void *unused) {
    for (int i = 0; i < 300; i++) {
        int64_t values[] = {i, i + 1};
        int64_t *memory = on_device(values, sizeof values);
        device->reduce(REDUCER_SUM, TYPE_I64, memory, 1, memory + 1, 1, 1);
        device->copy(values, 8, memory, 8, 8, 1);
        assert_int_equal(values[0], 2 * i + 1);
        device->release(memory);
    }
    return unused;
}

static void in_threads(void *(*body)(void *)) {
    pthread_t threads[4];
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, body, NULL), 0);
    for (int t = 0; t < 4; t++)
        pthread_join(threads[t], NULL);
}

static void test_threads(void **state) {
    (void)state;
    in_threads(fail_often);
    assert_failure("one of many");
    in_threads(allocate_often);
    assert_no_failure();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DEVICE_CHECKS,
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_streams_of_callers),
        cmocka_unit_test(test_host_access),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, open_emulated, close_emulated);
}
