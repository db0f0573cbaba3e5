// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/module.h"

#include "base/integer.h"
#include "cuda/driver.h"
#include "cuda/nvrtc.h"
#include "cuda/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *name;
    CUfunction function;
} NamedFunction;

struct CudaModule {
    CUmodule module;
    NamedFunction *functions; // that were launched
    int64_t count, capacity;
    pthread_mutex_t lock;
};

static const Span nowhere = {0, 0, 0};

CudaModule *module_load(const char *text, Diagnostics *diagnostics) {
    CudaImage image;
    if (!cuda_enter()) {
        device_check(diagnostics);
        return NULL;
    }
    if (!nvrtc_compile(text, cuda_process.architecture, cuda_process.version, &image, diagnostics))
        return NULL;
    CudaModule *module = calloc(1, sizeof *module);
    const CUresult result =
        module ? cuda.cuModuleLoadData(&module->module, image.bytes) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        diagnostics_error(diagnostics, nowhere, "cannot load a kernel to the GPU: %s",
                          cuda_error_text(result));
        free(module);
        return NULL;
    }
    pthread_mutex_init(&module->lock, NULL);
    return module;
}

void module_unload(CudaModule *module) {
    if (!module)
        return;
    if (cuda.cuCtxSetCurrent(cuda_process.context) == CUDA_SUCCESS)
        cuda.cuModuleUnload(module->module);
    for (int64_t f = 0; f < module->count; f++)
        free(module->functions[f].name);
    free(module->functions);
    pthread_mutex_destroy(&module->lock);
    free(module);
}

static bool keep_function(CudaModule *module, const char *name, CUfunction function) {
    if (module->count == module->capacity) {
        const int64_t capacity = max_i64(2 * module->capacity, 8);
        NamedFunction *functions = realloc(module->functions, (size_t)capacity * sizeof *functions);
        if (!functions)
            return false;
        module->functions = functions;
        module->capacity = capacity;
    }
    char *kept = strdup(name);
    if (kept)
        module->functions[module->count++] = (NamedFunction){kept, function};
    return kept;
}

// NULL, which is noted, where there is none.
static CUfunction find_function(CudaModule *module, const char *name) {
    CUfunction function = NULL;
    pthread_mutex_lock(&module->lock);
    for (int64_t f = 0; f < module->count && !function; f++)
        if (strcmp(module->functions[f].name, name) == 0)
            function = module->functions[f].function;
    if (!function) {
        const CUresult result = cuda.cuModuleGetFunction(&function, module->module, name);
        if (result != CUDA_SUCCESS) {
            device_fail("the kernel '%s': %s", name, cuda_error_text(result));
            function = NULL;
        } else if (!keep_function(module, name, function)) {
            device_fail("out of memory");
            function = NULL;
        }
    }
    pthread_mutex_unlock(&module->lock);
    return function;
}

void module_launch(CudaModule *module, const char *kernel, const DeviceLaunch *launch) {
    static const int64_t most[] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
    unsigned blocks[3], threads[3];
    for (int d = 0; d < 3; d++) {
        if (launch->blocks[d] <= 0)
            return;
        blocks[d] = (unsigned)min_i64(launch->blocks[d], most[d]);
        threads[d] = (unsigned)launch->threads[d];
    }
    const CUfunction function = find_function(module, kernel);
    if (!function)
        return;
    const CUresult result =
        cuda.cuLaunchKernel(function, blocks[0], blocks[1], blocks[2], threads[0], threads[1], threads[2], 0,
                            cuda_stream(), (void **)(uintptr_t)launch->arguments, NULL);
    if (result != CUDA_SUCCESS)
        device_fail("the kernel '%s': %s", kernel, cuda_error_text(result));
}
