// SPDX-License-Identifier: BSD-3-Clause
// The device `cuda`: a GPU of NVIDIA through its driver.
#include "base/integer.h"
#include "cuda/copies.h"
#include "cuda/cublas.h"
#include "cuda/driver.h"
#include "cuda/kernels.h"
#include "cuda/module.h"
#include "cuda/nccl.h"
#include "cuda/streams.h"
#include "memory/device.h"

#include <stdio.h>
#include <string.h>

static void close_device(void) {
    if (cuda_process.context && cuda.cuCtxSetCurrent(cuda_process.context) == CUDA_SUCCESS) {
        cublas_close();
        kernels_unload();
        cuda_copies_close();
        streams_close();
    }
    cuda_close();
}

static const char *describe(void) {
    return cuda_process.description;
}

static int64_t free_bytes(void) {
    size_t free = 0, all = 0;
    if (cuda_enter())
        CUDA_CALL(cuMemGetInfo, &free, &all);
    return (int64_t)free;
}

// Also after a failure, so that NULL means that there is not enough.
static bool allocated(CUresult result, const char *name) {
    return result != CUDA_ERROR_OUT_OF_MEMORY && cuda_succeeded(result, name);
}

static void *allocate(int64_t bytes) {
    CUdeviceptr memory = 0;
    if (!CUDA_CALL(cuCtxSetCurrent, cuda_process.context))
        return NULL;
    const CUresult result = cuda.cuMemAlloc(&memory, (size_t)max_i64(bytes, 1));
    return allocated(result, "cuMemAlloc") ? (void *)memory : NULL;
}

// The driver waits for all that uses the memory.
static void release(void *memory) {
    if (memory && CUDA_CALL(cuCtxSetCurrent, cuda_process.context))
        CUDA_CALL(cuMemFree, (CUdeviceptr)memory);
}

static DeviceIdentity identity(void) {
    DeviceIdentity own;
    memcpy(&own, &cuda_process.uuid, sizeof own);
    return own;
}

// What the words of a handle are.
typedef struct {
    CUipcMemHandle of_driver;
    CUuuid device;
} CudaHandle;
_Static_assert(sizeof(CudaHandle) == sizeof(DeviceHandle), "a handle holds one of the driver");
_Static_assert(sizeof(CUuuid) == sizeof(DeviceIdentity), "the identity of a device is its UUID");

static void *allocate_shared(int64_t bytes, DeviceHandle *handle) {
    CudaHandle own = {.device = cuda_process.uuid};
    void *memory = allocate(bytes);
    if (!memory || cuda.cuIpcGetMemHandle(&own.of_driver, (CUdeviceptr)memory) != CUDA_SUCCESS) {
        release(memory);
        return NULL;
    }
    memcpy(handle, &own, sizeof own);
    return memory;
}

// Of a device that this process does not see, the driver says it when memory is opened.
static bool can_access(CUuuid uuid) {
    int count = 0, can = 1;
    if (memcmp(&uuid, &cuda_process.uuid, sizeof uuid) == 0 || cuda.cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return true;
    for (int ordinal = 0; ordinal < count; ordinal++) {
        CUdevice device;
        CUuuid of;
        if (cuda.cuDeviceGet(&device, ordinal) == CUDA_SUCCESS &&
            cuda.cuDeviceGetUuid(&of, device) == CUDA_SUCCESS && memcmp(&of, &uuid, sizeof of) == 0)
            return cuda.cuDeviceCanAccessPeer(&can, cuda_process.device, device) == CUDA_SUCCESS && can;
    }
    return true;
}

static void *open_shared(const DeviceHandle *handle) {
    CUdeviceptr memory = 0;
    CudaHandle other;
    memcpy(&other, handle, sizeof other);
    return cuda_enter() && can_access(other.device) &&
                   cuda.cuIpcOpenMemHandle(&memory, other.of_driver, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) ==
                       CUDA_SUCCESS
               ? (void *)memory
               : NULL;
}

static void close_shared(void *memory) {
    if (CUDA_CALL(cuCtxSetCurrent, cuda_process.context))
        CUDA_CALL(cuIpcCloseMemHandle, (CUdeviceptr)memory);
}

// The driver may have mapped memory in parts, so that of the bytes between nothing is known.
static const char *refuses(const void *memory, int64_t bytes) {
    static char of_other[96];
    int ordinal = -1;
    if (!cuda_enter())
        return NULL;
    if (!cuda_is_on_device(memory))
        return "is not that of a GPU";
    if (!CUDA_CALL(cuPointerGetAttribute, &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)memory))
        return NULL;
    if (ordinal != cuda_process.device) {
        snprintf(of_other, sizeof of_other, "is that of GPU %d, and the rank uses GPU %d", ordinal,
                 cuda_process.device);
        return of_other;
    }
    return cuda_is_on_device((const char *)memory + bytes - 1) ? NULL : "ends before the last element";
}

static void *message_address(void *memory) {
    return memory;
}

static bool pin(void *memory, int64_t bytes) {
    return cuda_enter() &&
           cuda.cuMemHostRegister(memory, (size_t)bytes, CU_MEMHOSTREGISTER_PORTABLE) == CUDA_SUCCESS;
}

static void unpin(void *memory) {
    if (CUDA_CALL(cuCtxSetCurrent, cuda_process.context))
        CUDA_CALL(cuMemHostUnregister, memory);
}

static void reduce(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count) {
    if (count > 0 && cuda_enter())
        kernel_reduce(reducer, type, to, to_step, from, from_step, count);
}

static void clear(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count) {
    if (count <= 0 || !cuda_enter())
        return;
    const size_t bytes = (size_t)count * type_info(type)->size;
    if (reducer == REDUCER_SUM && (step == 1 || count == 1))
        CUDA_CALL(cuMemsetD8Async, (CUdeviceptr)to, 0, bytes, cuda_stream());
    else
        kernel_clear(reducer, type, to, step, count);
}

static void *load(const char *text, Diagnostics *diagnostics) {
    return module_load(text, diagnostics);
}

static void unload(void *module) {
    module_unload(module);
}

static void launch(void *module, const DeviceKernel *kernel, const DeviceLaunch *launch) {
    if (cuda_enter())
        module_launch(module, kernel->name, launch);
}

static void gemm(ElementType type, const DeviceProduct *product) {
    if (!device_product_is_empty(product) && cuda_enter() && !cublas_gemm(type, product))
        kernel_gemm(type, product);
}

static void axpy(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step) {
    if (count > 0 && cuda_enter() && !cublas_axpy(type, count, alpha, x, x_step, y, y_step))
        kernel_axpy(type, count, alpha, x, x_step, y, y_step);
}

static void permute(int64_t size, void *to, const void *from, int loop_count, const DeviceCopyLoop *loops) {
    if (cuda_enter())
        kernel_permute(size, to, from, loop_count, loops);
}

const Device device_cuda = {.name = "cuda",
                            .open = cuda_open,
                            .close = close_device,
                            .describe = describe,
                            .identity = identity,
                            .free_bytes = free_bytes,
                            .allocate = allocate,
                            .release = release,
                            .allocate_shared = allocate_shared,
                            .open_shared = open_shared,
                            .close_shared = close_shared,
                            .refuses = refuses,
                            .refuses_stream = streams_refuses,
                            .message_address = message_address,
                            .pin = pin,
                            .unpin = unpin,
                            .copy = cuda_copy,
                            .reduce = reduce,
                            .clear = clear,
                            .load = load,
                            .unload = unload,
                            .launch = launch,
                            .gemm = gemm,
                            .axpy = axpy,
                            .permute = permute,
                            .sums = &nccl_sums,
                            .mark = streams_mark,
                            .order = streams_order,
                            .wait = streams_wait,
                            .synchronize = streams_synchronize};
