// SPDX-License-Identifier: BSD-3-Clause
// What a GPU can do, without distal: prints the seconds that an operation takes there, the median of several.
//   gemm f32|f64 M N K [BATCH]   C += A * B by cuBLAS, M x K and K x N, BATCH of them
//   copy BYTES                   reads so many bytes and writes as many, by a copy inside of its memory
//   read BYTES                   reads so many bytes, by a kernel that sums them
//   fetch BYTES                  copies so many bytes from pinned memory of the host
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>

static void check(bool ok, const char *what) {
    if (ok)
        return;
    fprintf(stderr, "gpu_plain: %s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

template <typename T> __global__ void fill(T *elements, size_t count) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (size_t)blockDim.x)
        elements[i] = (T)((i * 2654435761u) % 65536) / 65536 - (T)0.5;
}

// Each thread has several loads under way.
__global__ void sum(const float4 *elements, size_t count, float *result) {
    float total = 0;
    const size_t step = gridDim.x * (size_t)blockDim.x;
#pragma unroll 8
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
        const float4 four = elements[i];
        total += four.x + four.y + four.z + four.w;
    }
    if (total == 1.5F) // keeps the sum
        *result = total;
}

template <typename T> static T *allocate(size_t count) {
    T *elements;
    check(cudaMalloc(&elements, count * sizeof(T)) == cudaSuccess, "cudaMalloc");
    fill<<<1024, 256>>>(elements, count);
    return elements;
}

static double median_seconds(const std::function<void()> &operation) {
    enum { WARMUP = 2, REPEAT = 9 };
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> times;
    for (int i = 0; i < WARMUP + REPEAT; i++) {
        float milliseconds;
        cudaEventRecord(begin);
        operation();
        cudaEventRecord(end);
        check(cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess, "execution");
        if (i >= WARMUP)
            times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return times[REPEAT / 2] * 1e-3;
}

template <typename T, typename Gemm> static double gemm_seconds(Gemm gemm, const int64_t size[4]) {
    const int64_t m = size[0], n = size[1], k = size[2], batch = size[3];
    T *a = allocate<T>((size_t)(m * k * batch)), *b = allocate<T>((size_t)(k * n * batch)), *c = allocate<T>((size_t)(m * n * batch));
    const T one = 1;
    cublasHandle_t handle;
    check(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    return median_seconds([&] {
        check(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, (int)m, (int)n, (int)k, &one, a, (int)m, m * k, b, (int)k, k * n, &one, c, (int)m, m * n,
                   (int)batch) == CUBLAS_STATUS_SUCCESS, "the product");
    });
}

static double memory_seconds(const char *operation, size_t bytes) {
    float *elements = allocate<float>(bytes / 4);
    if (strcmp(operation, "read") == 0)
        return median_seconds([&] { sum<<<132 * 16, 256>>>((const float4 *)elements, bytes / 16, elements); });
    if (strcmp(operation, "copy") == 0) {
        float *to = allocate<float>(bytes / 4);
        return median_seconds([&] { cudaMemcpyAsync(to, elements, bytes, cudaMemcpyDeviceToDevice); });
    }
    void *host;
    check(cudaMallocHost(&host, bytes) == cudaSuccess, "cudaMallocHost");
    memset(host, 1, bytes);
    return median_seconds([&] { cudaMemcpyAsync(elements, host, bytes, cudaMemcpyHostToDevice); });
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: gpu_plain gemm f32|f64 M N K [BATCH], copy BYTES, read BYTES or fetch BYTES\n");
        return 2;
    }
    double seconds;
    if (strcmp(arguments[1], "gemm") == 0 && count >= 6) {
        int64_t size[4] = {1, 1, 1, 1};
        for (int i = 3; i < count && i < 7; i++)
            size[i - 3] = atoll(arguments[i]);
        seconds = strcmp(arguments[2], "f32") == 0 ? gemm_seconds<float>(cublasSgemmStridedBatched, size)
                                                   : gemm_seconds<double>(cublasDgemmStridedBatched, size);
    } else {
        seconds = memory_seconds(arguments[1], (size_t)atoll(arguments[2]));
    }
    printf("%.9g\n", seconds);
    return 0;
}
