// SPDX-License-Identifier: BSD-3-Clause
// The driver of NVIDIA GPUs: its functions, the context and the streams of this process, and errors.
#ifndef DISTAL_CUDA_DRIVER_H
#define DISTAL_CUDA_DRIVER_H

#include "memory/device.h"

#include <cuda.h>
#include <stdbool.h>

// The functions that distal calls.
#define CUDA_FUNCTIONS(ENTRY)                                                                                \
    ENTRY(cuCtxSetCurrent)                                                                                   \
    ENTRY(cuDeviceCanAccessPeer)                                                                             \
    ENTRY(cuDeviceGet)                                                                                       \
    ENTRY(cuDeviceGetAttribute)                                                                              \
    ENTRY(cuDeviceGetCount)                                                                                  \
    ENTRY(cuDeviceGetName)                                                                                   \
    ENTRY(cuDeviceGetUuid)                                                                                   \
    ENTRY(cuDevicePrimaryCtxRelease)                                                                         \
    ENTRY(cuDevicePrimaryCtxRetain)                                                                          \
    ENTRY(cuDriverGetVersion)                                                                                \
    ENTRY(cuEventCreate)                                                                                     \
    ENTRY(cuEventDestroy)                                                                                    \
    ENTRY(cuEventRecord)                                                                                     \
    ENTRY(cuEventSynchronize)                                                                                \
    ENTRY(cuGetErrorString)                                                                                  \
    ENTRY(cuInit)                                                                                            \
    ENTRY(cuIpcCloseMemHandle)                                                                               \
    ENTRY(cuIpcGetMemHandle)                                                                                 \
    ENTRY(cuIpcOpenMemHandle)                                                                                \
    ENTRY(cuLaunchKernel)                                                                                    \
    ENTRY(cuMemAlloc)                                                                                        \
    ENTRY(cuMemFree)                                                                                         \
    ENTRY(cuMemFreeHost)                                                                                     \
    ENTRY(cuMemGetInfo)                                                                                      \
    ENTRY(cuMemHostAlloc)                                                                                    \
    ENTRY(cuMemHostRegister)                                                                                 \
    ENTRY(cuMemHostUnregister)                                                                               \
    ENTRY(cuMemcpy2DAsync)                                                                                   \
    ENTRY(cuMemcpyDtoDAsync)                                                                                 \
    ENTRY(cuMemcpyDtoHAsync)                                                                                 \
    ENTRY(cuMemcpyHtoDAsync)                                                                                 \
    ENTRY(cuMemsetD8Async)                                                                                   \
    ENTRY(cuModuleGetFunction)                                                                               \
    ENTRY(cuModuleLoadData)                                                                                  \
    ENTRY(cuModuleUnload)                                                                                    \
    ENTRY(cuPointerGetAttribute)                                                                             \
    ENTRY(cuStreamCreate)                                                                                    \
    ENTRY(cuStreamDestroy)                                                                                   \
    ENTRY(cuStreamGetCtx)                                                                                    \
    ENTRY(cuStreamSynchronize)                                                                               \
    ENTRY(cuStreamWaitEvent)

typedef struct {
#define FUNCTION(name) __typeof__(name) *name;
    CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
} CudaDriver;
extern CudaDriver cuda;

typedef struct {
    CUdevice device;
    CUuuid uuid;
    CUcontext context;                 // the primary one, which other libraries of the process use as well
    CUstream stream;                   // STREAM_COMPUTE of threads that do not follow a caller's
    CUstream beside[STREAM_COUNT - 1]; // the others
    int architecture;                  // 90 for sm_90
    int version;                       // of CUDA that the driver is for: 13000 for 13.0
    int max_pitch;                     // of cuMemcpy2D, in bytes
    char description[256];
} CudaProcess;
extern CudaProcess cuda_process;

// Loads the driver and makes the context; false with a clause in static memory.
bool cuda_open(int local_rank, const char **why);
void cuda_close(void);

// Makes the context that of the calling thread. False where an operation has failed: nothing is to be done.
bool cuda_enter(void);

// Calls a function of the driver, and notes an error; false then.
#define CUDA_CALL(name, ...) cuda_succeeded(cuda.name(__VA_ARGS__), #name)
bool cuda_succeeded(CUresult result, const char *name);
// The text of the driver for an error.
const char *cuda_error_text(CUresult result);

#endif
