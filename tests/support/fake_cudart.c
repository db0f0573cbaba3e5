// SPDX-License-Identifier: BSD-3-Clause
// libcudart.so of tests: what a program calls that allocates memory of a GPU, by the driver of tests.
#include <cuda.h>
#include <cuda_runtime_api.h>

static cudaError_t error_of(CUresult result) {
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t cudaGetDeviceCount(int *count) {
    return error_of(cuInit(0) == CUDA_SUCCESS ? cuDeviceGetCount(count) : CUDA_ERROR_NO_DEVICE);
}

cudaError_t cudaSetDevice(int device) {
    CUcontext context;
    const CUresult result = cuDevicePrimaryCtxRetain(&context, device);
    return error_of(result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result);
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    return error_of(cuMemAlloc((CUdeviceptr *)memory, bytes));
}

cudaError_t cudaFree(void *memory) {
    return error_of(cuMemFree((CUdeviceptr)memory));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return error_of(cuStreamCreate(stream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return error_of(cuStreamDestroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return error_of(cuStreamSynchronize(stream));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return error_of(kind == cudaMemcpyDeviceToHost ? cuMemcpyDtoHAsync(to, (CUdeviceptr)from, bytes, stream)
                                                   : cuMemcpyHtoDAsync((CUdeviceptr)to, from, bytes, stream));
}
