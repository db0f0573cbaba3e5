// SPDX-License-Identifier: BSD-3-Clause
// The device `cuda` over a driver that executes on the host (tests/support/fake_cuda.c).
#if DISTAL_CUDA
#include "device_checks.h"

#include "cache_folder.h"
#include "fake_cuda.h"
#include "memory/gpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static FakeCuda *fake;
static struct {
    CUresult (*create)(CUstream *stream, unsigned flags);
    CUresult (*destroy)(CUstream stream);
    CUresult (*use)(CUcontext context);
} driver;

static void *create_stream(void) {
    CUstream stream = NULL;
    assert_int_equal(driver.create(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    return stream;
}

static void free_stream(void *stream) {
    assert_int_equal(driver.destroy(stream), CUDA_SUCCESS);
}

static void load_fake(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", FAKE_CUDA, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    if (fake)
        return;
    fake = dlsym(library, "fake_cuda");
    *(void **)&driver.create = dlsym(library, "cuStreamCreate");
    *(void **)&driver.destroy = dlsym(library, "cuStreamDestroy_v2");
    *(void **)&driver.use = dlsym(library, "cuCtxSetCurrent");
    stream_create = create_stream;
    stream_free = free_stream;
}

static int open_fake(int local_rank) {
    const char *why = NULL;
    setenv("DISTAL_GPU", "", 1);
    device = device_open(local_rank, &why);
    if (!device)
        fail_msg("%s", why);
    return 0;
}

// They are loaded before distal asks for them, so that it gets these by their names.
static int setup(void **state) {
    (void)state;
    load_fake("libcuda.so.1");
    load_fake("libnvrtc.so.13");
    load_fake("libcublas.so.13");
    use_cache_folder();
    return open_fake(0);
}

static int teardown(void **state) {
    (void)state;
    device_close();
    assert_int_equal(fake->live, 0);
    remove_cache_folder();
    return 0;
}

// The call with this name fails, after some that go well.
static void let_fail(const char *name, int after, CUresult error) {
    fake->fail_name = name;
    fake->fail_after = after;
    fake->error = error;
}

// Processes of a node have GPUs of their own: by the launcher's number, else by the rank on the node.
static void test_rank_on_node(void **state) {
    static const char variable[] = "SLURM_LOCALID";
    (void)state;
    Arena *arena = arena_create();
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", NULL});
    for (int rank = 0; rank < 4; rank++) {
        device_close();
        gpu_set_rank_on_node(rank);
        assert_non_null(gpu_device(diagnostics));
        assert_int_equal(fake->device, rank % fake->devices);
        device_close();
        setenv(variable, "3", 1);
        assert_non_null(gpu_device(diagnostics));
        assert_int_equal(fake->device, 3 % fake->devices);
        unsetenv(variable);
    }
    gpu_set_rank_on_node(0);
    device_close();
    open_fake(0);
    arena_free(arena);
}

static void test_open(void **state) {
    static const char *const calls[] = {"cuInit",          "cuDriverGetVersion",   "cuDeviceGetCount",
                                        "cuDeviceGet",     "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                                        "cuDeviceGetUuid", "cuCtxSetCurrent",      "cuStreamCreate"};
    (void)state;
    const char *why = NULL;
    device_close();
    assert_int_equal(fake->live, 0);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        let_fail(calls[c], 0, CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_null(device_open(0, &why));
        assert_non_null(strstr(why, calls[c]));
        assert_non_null(strstr(why, ": an illegal memory access was encountered"));
        assert_null(device_current());
        assert_int_equal(fake->live, 0);
        assert_false(device_failed());
    }
    let_fail(NULL, 0, CUDA_SUCCESS);
    fake->devices = 0;
    assert_null(device_open(0, &why));
    assert_string_equal(why, "cuInit: no CUDA-capable device is detected");
    // Ranks of a node share its devices.
    fake->devices = 2;
    for (int rank = 4; rank >= 0; rank--) {
        open_fake(rank);
        assert_int_equal(fake->device, rank % 2);
        assert_string_equal(device->describe(),
                            rank % 2 ? "Fake GPU 1, driver 13.0" : "Fake GPU 0, driver 13.0");
        device_close();
        assert_int_equal(fake->live, 0);
    }
    open_fake(0);
}

static void test_out_of_memory(void **state) {
    (void)state;
    let_fail("cuMemAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY);
    void *memory = device->allocate(100);
    assert_non_null(memory);
    assert_null(device->allocate(100));
    let_fail("cuMemHostRegister", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_false(device->pin(&memory, sizeof memory));
    assert_no_failure();
    let_fail("cuMemAlloc", 0, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_null(device->allocate(100));
    assert_failure("cuMemAlloc: an illegal memory access was encountered");
    let_fail(NULL, 0, CUDA_SUCCESS);
    device->release(memory);
    assert_no_failure();
}

// Memory that cannot be shared, or opened, is no failure.
static void test_not_shared(void **state) {
    (void)state;
    DeviceHandle handle;
    let_fail("cuIpcGetMemHandle", 0, CUDA_ERROR_NOT_SUPPORTED);
    assert_null(device->allocate_shared(100, &handle));
    let_fail(NULL, 0, CUDA_SUCCESS);
    void *memory = device->allocate_shared(100, &handle);
    let_fail("cuIpcOpenMemHandle", 0, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    assert_null(device->open_shared(&handle));
    let_fail(NULL, 0, CUDA_SUCCESS);
    // Of another device, as its UUID says, which this one can access, or not.
    for (int peers = 0; peers <= 1; peers++) {
        fake->peers = peers;
        handle.words[DEVICE_HANDLE_WORDS - 2] = 2;
        void *opened = device->open_shared(&handle);
        assert_int_equal(opened != NULL, peers);
        if (opened)
            device->close_shared(opened);
    }
    let_fail("cuDeviceCanAccessPeer", 0, CUDA_ERROR_INVALID_DEVICE);
    assert_null(device->open_shared(&handle));
    let_fail(NULL, 0, CUDA_SUCCESS);
    fake->peers = 0;
    device->release(memory);
    assert_no_failure();
}

// Memory of the same process that another device has.
static void test_other_device(void **state) {
    (void)state;
    double *memory = device->allocate(100);
    fake->device = 1;
    assert_string_equal(device->refuses(memory, 100), "is that of GPU 1, and the rank uses GPU 0");
    fake->device = 0;
    assert_null(device->refuses(memory, 100));
    let_fail("cuPointerGetAttribute", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_null(device->refuses(memory, 100));
    assert_failure("cuPointerGetAttribute: an illegal memory access was encountered");
    let_fail(NULL, 0, CUDA_SUCCESS);
    device->release(memory);
}

// A stream of another context.
static void test_other_stream(void **state) {
    (void)state;
    static char context;
    assert_int_equal(driver.use((CUcontext)&context), CUDA_SUCCESS);
    void *stream = create_stream();
    assert_string_equal(device->refuses_stream(stream),
                        "is not of the primary context of the GPU that the rank uses");
    free_stream(stream);
    stream = create_stream(); // of the context that the device has made current
    assert_null(device->refuses_stream(stream));
    let_fail("cuStreamGetCtx", 0, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_null(device->refuses_stream(stream));
    assert_failure("cuStreamGetCtx: an illegal memory access was encountered");
    let_fail(NULL, 0, CUDA_SUCCESS);
    free_stream(stream);
}

// Products of matrices are in the stream that the thread uses at the time.
static void test_gemm_in_stream(void **state) {
    (void)state;
    double numbers[] = {3, 0}, one = 1;
    double *memory = on_device(numbers, sizeof numbers);
    const DeviceMatrix from = {memory, 1, 1}, to = {memory + 1, 1, 1};
    const DeviceProduct square = {1, 1, 1, &one, true, from, from, to, .loop_count = 0};
    void *stream = stream_create();
    for (int i = 0; i < 3; i++) {
        device_set_caller_stream(i == 1 ? stream : NULL);
        numbers[0] = i + 1;
        device->copy(memory, 8, numbers, 8, 8, 1);
        device->gemm(TYPE_F64, &square);
        device->copy(numbers + 1, 8, memory + 1, 8, 8, 1); // waits for the stream that the thread uses
        assert_true(numbers[1] == (i + 1) * (i + 1));
    }
    stream_free(stream);
    device->release(memory);
    assert_no_failure();
}

// Which function of the library computes a product, by its shape.
static void test_vectors(void **state) {
    (void)state;
    double numbers[64] = {0}, alphas[] = {1, 2};
    double *memory = on_device(numbers, sizeof numbers);
    static const struct {
        int64_t m, n, k;
        bool stores, has_workspace;
        const char *function;
    } cases[] = {
        {2, 2, 2, false, true, "gemm"}, {2, 2, 1, false, true, "ger"},  {2, 2, 1, true, true, "gemm"},
        {3, 1, 2, false, true, "gemv"}, {1, 3, 2, true, true, "gemv"},  {1, 1, 3, true, true, "dot"},
        {1, 1, 3, false, true, "axpy"}, {1, 1, 3, true, false, "gemv"}, {1, 1, 1, true, true, "gemv"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const DeviceMatrix a = {memory, cases[i].k, 1}, b = {memory + 16, cases[i].n, 1},
                           c = {memory + 32, cases[i].n, 1};
        device->gemm(TYPE_F64, &(DeviceProduct){.m = cases[i].m,
                                                .n = cases[i].n,
                                                .k = cases[i].k,
                                                .alpha = alphas,
                                                .stores = cases[i].stores,
                                                .a = a,
                                                .b = b,
                                                .c = c,
                                                .workspace = memory + 48,
                                                .workspace_bytes = cases[i].has_workspace ? 8 : 0});
        device->synchronize();
        assert_no_failure();
        assert_string_equal(fake->library, cases[i].function);
    }
    // What is multiplied by a number is not stored as it is.
    const DeviceMatrix vector = {memory, 1, 1};
    device->gemm(TYPE_F64, &(DeviceProduct){1,
                                            1,
                                            2,
                                            &alphas[1],
                                            true,
                                            vector,
                                            vector,
                                            {memory + 32, 1, 1},
                                            .workspace = memory + 48,
                                            .workspace_bytes = 8});
    assert_string_equal(fake->library, "axpy");
    // After a sum that fails, numbers are read on the host again.
    DeviceProduct product = {.m = 1, .n = 1, .k = 2, .alpha = alphas, .stores = true};
    product.a = (DeviceMatrix){memory, 1, 0};
    product.b = vector;
    product.c = (DeviceMatrix){memory + 32, 2, 1};
    product.workspace = memory + 48;
    product.workspace_bytes = 8;
    device->gemm(TYPE_F64, &product);
    assert_failure("cublasDdot: cuBLAS status 7");
    product.a = vector;
    product.m = product.n = 2;
    device->gemm(TYPE_F64, &product);
    device->synchronize();
    assert_no_failure();
    // Of one element the steps are any.
    fake->library = NULL;
    device->axpy(TYPE_F64, 1, alphas, memory, (int64_t)1 << 40, memory + 1, (int64_t)1 << 40);
    assert_string_equal(fake->library, "axpy");
    device->axpy(TYPE_I64, 2, alphas, memory, 1, memory + 32, 1);
    device->synchronize();
    assert_string_equal(fake->kernel, "distal_axpy_i64");
    device->release(memory);
    assert_no_failure();
}

// Copies of short rows are staged in memory that is allocated once; where there is none, the driver has them.
static void test_stage(void **state) {
    (void)state;
    device_close();
    open_fake(0);
    const CopyCase rows = {8, 100, 16, 24, 0, 0};
    static const char *const calls[] = {"cuMemHostAlloc", "cuMemAlloc", "cuEventCreate"};
    for (int c = 0; c < 3; c++) {
        char host[1000] = {0};
        void *memory = device->allocate(1000);
        const int live = fake->live;
        fake->engine = 0;
        let_fail(calls[c], 1, CUDA_ERROR_OUT_OF_MEMORY);
        device->copy(memory, rows.to_pitch, host, rows.from_pitch, rows.width, 10);
        let_fail(NULL, 0, CUDA_SUCCESS);
        assert_int_equal(fake->engine, 1);
        assert_int_equal(fake->live, live);
        device->release(memory);
    }
    fake->engine = 0;
    check_copy_case(rows, true, false);
    const int allocations = fake->allocations;
    check_copy_case(rows, true, false);
    check_copy_case(rows, false, true);
    assert_int_equal(fake->allocations, allocations + 2); // the device's sides of the tests themselves
    assert_int_equal(fake->engine, 0);
    check_copy_case((CopyCase){5000, 10, 6000, 7000, 0, 0}, true, false);
    assert_int_equal(fake->engine, 1);
    // Rows that are further apart than the driver takes.
    fake->max_pitch = 6500;
    device_close();
    open_fake(0);
    check_copy_case((CopyCase){5000, 10, 6000, 7000, 0, 0}, true, false);
    check_copy_case((CopyCase){5000, 10, 7000, 6000, 0, 0}, false, true);
    assert_int_equal(fake->engine, 1);
    fake->max_pitch = 1 << 20;
    device_close();
    open_fake(0);
}

static void test_errors(void **state) {
    (void)state;
    double host[16] = {0}, one = 1;
    double *memory = device->allocate(sizeof host), *other = device->allocate(sizeof host);
    static const char *const calls[] = {"cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync",
                                        "cuMemsetD8Async",   "cuLaunchKernel",    "cuStreamSynchronize",
                                        "cuCtxSetCurrent"};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        let_fail(calls[c], 0, CUDA_ERROR_ILLEGAL_ADDRESS);
        device->copy(memory, 128, host, 128, 128, 1);
        device->copy(host, 128, memory, 128, 128, 1);
        device->copy(memory, 64, other, 64, 64, 2);
        device->clear(REDUCER_SUM, TYPE_F64, memory, 1, 16);
        device->reduce(REDUCER_SUM, TYPE_F64, memory, 1, other, 1, 16);
        device->synchronize();
        let_fail(NULL, 0, CUDA_SUCCESS);
        device->synchronize(); // which does nothing
        assert_failure(strcmp(calls[c], "cuLaunchKernel") == 0
                           ? "the kernel 'distal_sum_f64': an illegal memory access was encountered"
                           : calls[c]);
    }
    const DeviceMatrix matrix = {memory, 4, 1};
    device->gemm(TYPE_F64, &(DeviceProduct){4, 4, 4, &one, false, matrix, matrix, matrix, .loop_count = 0});
    device->synchronize();
    assert_no_failure();
    device->release(memory);
    device->release(other);
}

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
} Fixture;

static Fixture begin(void) {
    Arena *arena = arena_create();
    return (Fixture){arena, diagnostics_create(arena, (Source){"test", ""})};
}

static void assert_message(const Fixture *fixture, const char *message) {
    assert_int_equal(fixture->diagnostics->list.count, 1);
    assert_string_equal(fixture->diagnostics->list.items[0].message, message);
    fixture->diagnostics->list.count = 0;
}

static void test_launch(void **state) {
    (void)state;
    Fixture fixture = begin();
    void *module = device->load("a text", fixture.diagnostics);
    assert_non_null(module);
    int64_t result = 0, number = 42;
    char *memory = on_device(&result, 8);
    void *missing = NULL;
    DeviceLaunch launch = {{3, 4, 5}, {32, 2, 1}, 2, 3, (void *const[]){&memory, &missing, &number}};
    const DeviceKernel kernel = {FAKE_KERNEL, NULL}, other = {"unknown", NULL};
    fake->lookups = 0;
    device->launch(module, &kernel, &launch);
    number = 0; // arguments are taken when it is launched
    from_device(&result, memory, 8);
    assert_int_equal(result, 42);
    assert_memory_equal(fake->blocks, ((unsigned[]){3, 4, 5}), sizeof fake->blocks);
    assert_memory_equal(fake->threads, ((unsigned[]){32, 2, 1}), sizeof fake->threads);
    launch.blocks[0] = launch.blocks[1] = launch.blocks[2] = INT64_MAX;
    device->launch(module, &kernel, &launch);
    assert_memory_equal(fake->blocks, ((unsigned[]){INT32_MAX, 65535, 65535}), sizeof fake->blocks);
    assert_int_equal(fake->lookups, 1);
    fake->launches = 0;
    launch.blocks[1] = 0;
    device->launch(module, &kernel, &launch);
    assert_int_equal(fake->launches, 0);
    launch.blocks[1] = 1;
    device->launch(module, &other, &launch);
    assert_failure("the kernel 'unknown': named symbol not found");
    device->unload(module);
    device->unload(NULL);
    device->release(memory);
    arena_free(fixture.arena);
}

static void test_load(void **state) {
    (void)state;
    Fixture fixture = begin();
    assert_null(device->load("a text with an error", fixture.diagnostics));
    assert_message(&fixture, "cannot compile a kernel for the GPU: NVRTC_ERROR_COMPILATION\n"
                             "kernel.cu(1): error: this is one");
    let_fail("cuModuleLoadData", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_null(device->load("a text", fixture.diagnostics));
    assert_message(&fixture, "cannot load a kernel to the GPU: out of memory");
    let_fail(NULL, 0, CUDA_SUCCESS);
    device_fail("before");
    assert_null(device->load("a text", fixture.diagnostics));
    assert_message(&fixture, "the GPU failed: before");
    arena_free(fixture.arena);
}

static int damage(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)kind;
    (void)place;
    if (S_ISREG(status->st_mode) && strcmp(strrchr(path, '/'), "/kernel.cubin") == 0)
        assert_int_equal(truncate(path, status->st_size / 2), 0);
    return 0;
}

static void test_damaged_cache(void **state) {
    (void)state;
    Fixture fixture = begin();
    for (int i = 0; i < 2; i++) {
        void *module = device->load("a cached text", fixture.diagnostics);
        assert_non_null(module);
        device->unload(module);
        nftw(cache_path, damage, 8, FTW_PHYS);
    }
    arena_free(fixture.arena);
}

static void *use_device(void *unused) {
    for (int i = 0; i < 20; i++) {
        check_reduce_case(REDUCER_SUM, TYPE_F64, 1, 2, 10);
        check_copy_case((CopyCase){8, 10, 16, 16, 0, 0}, true, false);
    }
    return unused;
}

static void test_other_thread(void **state) {
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, use_device, NULL), 0);
    pthread_join(thread, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DEVICE_CHECKS,
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_rank_on_node),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_not_shared),
        cmocka_unit_test(test_other_device),
        cmocka_unit_test(test_other_stream),
        cmocka_unit_test(test_gemm_in_stream),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_stage),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_damaged_cache),
        cmocka_unit_test(test_other_thread),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
#else
#include "memory/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_no_cuda(void **state) {
    (void)state;
    const char *why = NULL;
    unsetenv("DISTAL_GPU");
    assert_null(device_open(0, &why));
    assert_string_equal(why, "this distal was built without CUDA");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
