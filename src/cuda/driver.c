// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/driver.h"

#include "cuda/library.h"
#include "memory/device.h"

#include <stdio.h>

CudaDriver cuda;
CudaProcess cuda_process;

const char *cuda_error_text(CUresult result) {
    const char *text;
    return cuda.cuGetErrorString(result, &text) == CUDA_SUCCESS && text ? text : "unknown error";
}

bool cuda_succeeded(CUresult result, const char *name) {
    if (result != CUDA_SUCCESS)
        device_fail("%s: %s", name, cuda_error_text(result));
    return result == CUDA_SUCCESS;
}

bool cuda_enter(void) {
    return !device_failed() && CUDA_CALL(cuCtxSetCurrent, cuda_process.context);
}

static const char *load_driver(void) {
    static const LibraryFile files[] = {{"libcuda.so.1", 0}, {NULL, 0}};
#define SYMBOL(name) LIBRARY_SYMBOL(CudaDriver, name, false),
    static const LibrarySymbol symbols[] = {CUDA_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    return library_load(files, 0, symbols, sizeof symbols / sizeof *symbols, &cuda);
}

// What cuda_open fails at: the function, and its result.
static const char *failure(const char *name, CUresult result) {
    static char message[256];
    snprintf(message, sizeof message, "%s: %s", name, cuda_error_text(result));
    return message;
}

static void describe(CudaProcess *process) {
    char name[128] = "";
    if (cuda.cuDeviceGetName(name, sizeof name, process->device) != CUDA_SUCCESS)
        snprintf(name, sizeof name, "GPU");
    snprintf(process->description, sizeof process->description, "%s, driver %d.%d", name,
             process->version / 1000, process->version % 1000 / 10);
}

#define TRY(name, ...)                                                                                       \
    do {                                                                                                     \
        const CUresult result = cuda.name(__VA_ARGS__);                                                      \
        if (result != CUDA_SUCCESS)                                                                          \
            return failure(#name, result);                                                                   \
    } while (0)

static const char *find_device(int local_rank, CudaProcess *process) {
    int count = 0, major = 0, minor = 0;
    TRY(cuInit, 0);
    TRY(cuDriverGetVersion, &process->version);
    TRY(cuDeviceGetCount, &count);
    if (count == 0)
        return "the driver has no device";
    TRY(cuDeviceGet, &process->device, local_rank % count);
    TRY(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, process->device);
    TRY(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, process->device);
    TRY(cuDeviceGetUuid, &process->uuid, process->device);
    TRY(cuDeviceGetAttribute, &process->max_pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, process->device);
    process->architecture = 10 * major + minor;
    describe(process);
    return NULL;
}

static const char *make_context(CudaProcess *process) {
    TRY(cuDevicePrimaryCtxRetain, &process->context, process->device);
    TRY(cuCtxSetCurrent, process->context);
    TRY(cuStreamCreate, &process->stream, CU_STREAM_DEFAULT);
    for (int s = 0; s < STREAM_COUNT - 1; s++)
        TRY(cuStreamCreate, &process->beside[s], CU_STREAM_DEFAULT);
    return NULL;
}

void cuda_close(void) {
    if (cuda_process.stream)
        cuda.cuStreamDestroy(cuda_process.stream);
    for (int s = 0; s < STREAM_COUNT - 1; s++)
        if (cuda_process.beside[s])
            cuda.cuStreamDestroy(cuda_process.beside[s]);
    if (cuda_process.context)
        cuda.cuDevicePrimaryCtxRelease(cuda_process.device);
    cuda_process = (CudaProcess){0};
}

bool cuda_open(int local_rank, const char **why) {
    *why = load_driver();
    if (!*why)
        *why = find_device(local_rank, &cuda_process);
    if (!*why)
        *why = make_context(&cuda_process);
    if (*why)
        cuda_close();
    return !*why;
}
