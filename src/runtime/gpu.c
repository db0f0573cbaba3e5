// SPDX-License-Identifier: BSD-3-Clause
// What kernels of a GPU call.
#include "memory/gpu.h"
#include "runtime/execution_data.h"

void distal_launch(distal_execution *execution, void *module, const distal_gpu_kernel *kernel,
                   const int64_t *blocks, const int *threads, int pointer_count, int argument_count,
                   void *const *arguments) {
    (void)execution;
    const DeviceLaunch launch = {.blocks = {blocks[0], blocks[1], blocks[2]},
                                 .threads = {threads[0], threads[1], threads[2]},
                                 .pointer_count = pointer_count,
                                 .argument_count = argument_count,
                                 .arguments = arguments};
    device_current()->launch(module, &(DeviceKernel){kernel->name, kernel->emulated}, &launch);
}

void *distal_gpu_scratch(distal_execution *execution) {
    return execution->gpu_scratch;
}

// NOLINTBEGIN(bugprone-macro-parentheses): types are no expressions
#define DEFINE_GEMM(suffix, type, element_type)                                                              \
    void distal_gpu_gemm_##suffix(int64_t m, int64_t n, int64_t k, type alpha, const type *a, int64_t a_row, \
                                  int64_t a_col, const type *b, int64_t b_row, int64_t b_col, type *c,       \
                                  int64_t c_row, int64_t c_col) {                                            \
        device_current()->gemm(element_type, m, n, k, &alpha, (DeviceMatrix){(void *)a, a_row, a_col},       \
                               (DeviceMatrix){(void *)b, b_row, b_col}, (DeviceMatrix){c, c_row, c_col});    \
    }
DEFINE_GEMM(f32, float, TYPE_F32)
DEFINE_GEMM(f64, double, TYPE_F64)
DEFINE_GEMM(i32, int32_t, TYPE_I32)
DEFINE_GEMM(i64, int64_t, TYPE_I64)
// NOLINTEND(bugprone-macro-parentheses)
