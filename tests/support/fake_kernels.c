// SPDX-License-Identifier: BSD-3-Clause
#include "fake_kernels.h"

#include <pthread.h>
#include <string.h>

typedef struct {
    unsigned x;
} Index;
static _Thread_local Index threadIdx;
static _Thread_local Index blockIdx;
static Index blockDim, gridDim;
static pthread_barrier_t meeting;

// One block at a time is executed, so what its threads share is static.
#define KERNEL static void
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static
#define __syncthreads() pthread_barrier_wait(&meeting)
#include "cuda/kernels.cu"

#define NUMBER(p) (*(i64 *)parameters[p])
#define POINTER(p) (*(void **)parameters[p])

#define RUN_REDUCE(reducer, suffix, type)                                                                    \
    static void run_##reducer##_##suffix(void *const *parameters) {                                          \
        distal_##reducer##_##suffix(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4));                \
    }
#define RUN_FILL(bytes, type)                                                                                \
    static void run_fill_##bytes(void *const *parameters) {                                                  \
        distal_fill_##bytes(POINTER(0), *(type *)parameters[1], NUMBER(2), NUMBER(3));                       \
    }
#define RUN_AXPY(suffix, type)                                                                               \
    static void run_axpy_##suffix(void *const *parameters) {                                                 \
        distal_axpy_##suffix(POINTER(0), *(type *)parameters[1], POINTER(2), NUMBER(3), NUMBER(4),           \
                             NUMBER(5));                                                                     \
    }
#define RUN_COPY(bytes)                                                                                      \
    static void run_copy_##bytes(void *const *parameters) {                                                  \
        distal_copy_##bytes(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), NUMBER(5), NUMBER(6));  \
    }
#define RUN_GEMM(suffix, type)                                                                               \
    static void run_gemm_##suffix(void *const *parameters) {                                                 \
        distal_gemm_##suffix(POINTER(0), POINTER(1), POINTER(2), *(type *)parameters[3], NUMBER(4),          \
                             NUMBER(5), NUMBER(6), NUMBER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11),  \
                             NUMBER(12), NUMBER(13), LOOP_NUMBERS(14));                                      \
    }
#define LOOP_NUMBERS(first)                                                                                  \
    NUMBER(first), NUMBER(first + 1), NUMBER(first + 2), NUMBER(first + 3), NUMBER(first + 4),               \
        NUMBER(first + 5), NUMBER(first + 6), NUMBER(first + 7), NUMBER(first + 8), NUMBER(first + 9),       \
        NUMBER(first + 10), NUMBER(first + 11), NUMBER(first + 12), NUMBER(first + 13), NUMBER(first + 14),  \
        NUMBER(first + 15)
#define RUN_PERMUTE(bytes, type)                                                                             \
    static void run_permute_##bytes(void *const *parameters) {                                               \
        distal_permute_##bytes(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), NUMBER(5),           \
                               NUMBER(6), NUMBER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11),           \
                               NUMBER(12), NUMBER(13), NUMBER(14), NUMBER(15), NUMBER(16), NUMBER(17));      \
    }

#define REDUCES(ENTRY)                                                                                       \
    ENTRY(sum, i32, int)                                                                                     \
    ENTRY(sum, i64, i64)                                                                                     \
    ENTRY(sum, f32, float)                                                                                   \
    ENTRY(sum, f64, double)                                                                                  \
    ENTRY(sum, c64, c64)                                                                                     \
    ENTRY(sum, c128, c128)                                                                                   \
    ENTRY(prod, i32, int)                                                                                    \
    ENTRY(prod, i64, i64)                                                                                    \
    ENTRY(prod, f32, float)                                                                                  \
    ENTRY(prod, f64, double)                                                                                 \
    ENTRY(prod, c64, c64)                                                                                    \
    ENTRY(prod, c128, c128)                                                                                  \
    ENTRY(max, i32, int)                                                                                     \
    ENTRY(max, i64, i64)                                                                                     \
    ENTRY(max, f32, float)                                                                                   \
    ENTRY(max, f64, double)                                                                                  \
    ENTRY(min, i32, int)                                                                                     \
    ENTRY(min, i64, i64)                                                                                     \
    ENTRY(min, f32, float)                                                                                   \
    ENTRY(min, f64, double)
#define FILLS(ENTRY) ENTRY(4, u32) ENTRY(8, u64) ENTRY(16, two_words)
#define COPIES(ENTRY) ENTRY(1) ENTRY(4) ENTRY(8) ENTRY(16)
#define GEMMS(ENTRY)                                                                                         \
    ENTRY(i32, int) ENTRY(i64, i64) ENTRY(f32, float) ENTRY(f64, double) ENTRY(c64, c64) ENTRY(c128, c128)

REDUCES(RUN_REDUCE)
FILLS(RUN_FILL)
COPIES(RUN_COPY)
GEMMS(RUN_GEMM)
GEMMS(RUN_AXPY)
FILLS(RUN_PERMUTE)

static void run_pointers(void *const *parameters) {
    distal_pointers(POINTER(0), (u64)NUMBER(1), (u64)NUMBER(2), (u64)NUMBER(3), NUMBER(4), LOOP_NUMBERS(5));
}

static void run_fake(void *const *parameters) {
    *(i64 *)POINTER(0) = NUMBER(2);
}

#define ROW_REDUCE(reducer, suffix, type)                                                                    \
    {"distal_" #reducer "_" #suffix, run_##reducer##_##suffix, 5, -1, 0, 0},
#define ROW_FILL(bytes, type) {"distal_fill_" #bytes, run_fill_##bytes, 4, 1, sizeof(type), 0},
#define ROW_AXPY(suffix, type) {"distal_axpy_" #suffix, run_axpy_##suffix, 6, 1, sizeof(type), 0},
#define ROW_COPY(bytes) {"distal_copy_" #bytes, run_copy_##bytes, 7, -1, 0, 0},
#define ROW_GEMM(suffix, type) {"distal_gemm_" #suffix, run_gemm_##suffix, 30, 3, sizeof(type), 1},
#define ROW_PERMUTE(bytes, type) {"distal_permute_" #bytes, run_permute_##bytes, 18, -1, 0, 1},
static const FakeKernel kernels[] = {
    REDUCES(ROW_REDUCE) FILLS(ROW_FILL) COPIES(ROW_COPY) GEMMS(ROW_GEMM) GEMMS(ROW_AXPY)
        FILLS(ROW_PERMUTE){"distal_pointers", run_pointers, 21, -1, 0, 0},
    {FAKE_KERNEL, run_fake, 3, -1, 0, 0}};

const FakeKernel *fake_kernel_find(const char *name) {
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (strcmp(kernels[k].name, name) == 0)
            return &kernels[k];
    return NULL;
}

typedef struct {
    FakeLaunch *launch;
    unsigned number;
} Thread;

static void run_blocks(FakeLaunch *launch, unsigned number) {
    void *parameters[FAKE_PARAMETERS];
    for (int p = 0; p < FAKE_PARAMETERS; p++)
        parameters[p] = launch->values[p];
    threadIdx.x = number;
    for (blockIdx.x = 0; blockIdx.x < launch->blocks; blockIdx.x++) {
        launch->kernel->run(parameters);
        if (launch->kernel->threads_meet)
            pthread_barrier_wait(&meeting);
    }
}

static void *run_thread(void *thread) {
    run_blocks(((Thread *)thread)->launch, ((Thread *)thread)->number);
    return NULL;
}

void fake_kernel_run(void *arguments) {
    enum { MAX_THREADS = 1024 };
    static Thread threads[MAX_THREADS];
    static pthread_t handles[MAX_THREADS];
    FakeLaunch *launch = arguments;
    if (launch->kernel->run == run_fake)
        launch->blocks = launch->threads = 1;
    blockDim.x = launch->threads;
    gridDim.x = launch->blocks;
    if (!launch->kernel->threads_meet) {
        for (unsigned t = 0; t < launch->threads; t++)
            run_blocks(launch, t);
        return;
    }
    pthread_barrier_init(&meeting, NULL, launch->threads);
    for (unsigned t = 0; t < launch->threads; t++) {
        threads[t] = (Thread){launch, t};
        pthread_create(&handles[t], NULL, run_thread, &threads[t]);
    }
    for (unsigned t = 0; t < launch->threads; t++)
        pthread_join(handles[t], NULL);
    pthread_barrier_destroy(&meeting);
}
