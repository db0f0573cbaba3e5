// SPDX-License-Identifier: BSD-3-Clause
// NVRTC, which needs no GPU: the device's own kernels compile, and the cache. Does nothing where there is
// none.
#if DISTAL_CUDA
#include "cuda/kernels.h"
#include "cuda/nvrtc.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if DISTAL_CUDA
#include "cache_folder.h"

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
} Fixture;

static Fixture fixture;

static int setup(void **state) {
    (void)state;
    use_cache_folder();
    fixture.arena = arena_create();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_free(fixture.arena);
    remove_cache_folder();
    return 0;
}

static bool compile(const char *text, int architecture, CudaImage *image) {
    fixture.diagnostics = diagnostics_create(fixture.arena, (Source){"test", ""});
    return nvrtc_compile(text, architecture, 0, image, fixture.diagnostics);
}

static const char *message(void) {
    return fixture.diagnostics->list.items[0].message;
}

static bool is_missing(void) {
    CudaImage image;
    const bool missing =
        !compile("extern \"C\" __global__ void nothing() {}", 90, &image) && strstr(message(), "need NVRTC");
    if (missing)
        print_message("not tested: %s\n", message());
    return missing;
}

static void test_own_kernels(void **state) {
    (void)state;
    static const int architectures[] = {80, 90};
    if (is_missing())
        return;
    for (int a = 0; a < 2; a++) {
        CudaImage first, second;
        assert_true(compile(cuda_kernels_text, architectures[a], &first));
        assert_string_equal(first.log, "");
        assert_memory_equal(first.bytes, "\177ELF", 4);
        assert_true(compile(cuda_kernels_text, architectures[a], &second)); // from the cache
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.bytes, second.bytes, first.size);
    }
}

static void test_mistakes(void **state) {
    (void)state;
    CudaImage image;
    if (is_missing())
        return;
    assert_false(compile("extern \"C\" __global__ void wrong() { x = 1; }", 90, &image));
    assert_non_null(
        strstr(message(), "cannot compile a kernel for the GPU: NVRTC_ERROR_COMPILATION\nkernel.cu(1)"));
    assert_non_null(strstr(message(), "identifier \"x\" is undefined"));
    assert_false(compile(cuda_kernels_text, 10, &image));
    assert_non_null(strstr(message(), " and later, and this one has 1.0"));
}

// A GPU that is newer than NVRTC gets a text for its driver.
static void test_later_architecture(void **state) {
    (void)state;
    CudaImage image;
    if (is_missing())
        return;
    assert_true(compile("extern \"C\" __global__ void later() {}", 999, &image));
    assert_non_null(strstr(image.bytes, ".target sm_"));
    assert_int_equal(image.bytes[image.size - 1], 0);
    assert_true(compile("extern \"C\" __global__ void later() {}", 999, &image));
    assert_int_equal(image.bytes[image.size - 1], 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_own_kernels),
    cmocka_unit_test(test_mistakes),
    cmocka_unit_test(test_later_architecture),
};

int main(void) {
    return cmocka_run_group_tests(tests, setup, teardown);
}
#else
static void test_no_cuda(void **state) {
    (void)state;
    print_message("not tested: built without CUDA\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
