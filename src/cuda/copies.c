// SPDX-License-Identifier: BSD-3-Clause
// Rows that are long are copied by the copy engine. Short ones, for which it takes far longer than for their
// bytes, are packed on both sides: by a kernel on the device, and by the host in pinned memory, in two halves
// of a stage, so that one is packed while the other one moves.
#include "cuda/copies.h"

#include "base/integer.h"
#include "cuda/driver.h"
#include "cuda/kernels.h"
#include "cuda/streams.h"
#include "memory/device.h"
#include "memory/memory.h"

#include <pthread.h>

enum { HALF = 4 << 20, SHORT_ROW = 1024, HALVES = 2 };

// Rows in memory, `pitch` bytes apart.
typedef struct {
    char *at;
    int64_t pitch;
} Rows;

static Rows row(Rows rows, int64_t first) {
    return (Rows){rows.at + first * rows.pitch, rows.pitch};
}

bool cuda_is_on_device(const void *address) {
    CUmemorytype kind = CU_MEMORYTYPE_HOST;
    return cuda.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) ==
               CUDA_SUCCESS &&
           kind == CU_MEMORYTYPE_DEVICE;
}

// What moves between the host and the device: one of the sides is in memory of the device.
static void copy_run(void *to, const void *from, int64_t bytes, bool to_device) {
    if (to_device)
        CUDA_CALL(cuMemcpyHtoDAsync, (CUdeviceptr)to, from, (size_t)bytes, cuda_stream());
    else
        CUDA_CALL(cuMemcpyDtoHAsync, to, (CUdeviceptr)from, (size_t)bytes, cuda_stream());
}

static void copy_long_rows(Rows to, Rows from, int64_t width, int64_t rows, bool to_device) {
    const int64_t least = min_i64(to.pitch, from.pitch), most = max_i64(to.pitch, from.pitch);
    if (least < width || most > cuda_process.max_pitch) { // what the driver does not take
        for (int64_t r = 0; r < rows; r++)
            copy_run(row(to, r).at, row(from, r).at, width, to_device);
        return;
    }
    const CUDA_MEMCPY2D copy = {.srcMemoryType = to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                                .srcHost = from.at,
                                .srcDevice = (CUdeviceptr)from.at,
                                .srcPitch = (size_t)from.pitch,
                                .dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                                .dstHost = to.at,
                                .dstDevice = (CUdeviceptr)to.at,
                                .dstPitch = (size_t)to.pitch,
                                .WidthInBytes = (size_t)width,
                                .Height = (size_t)rows};
    CUDA_CALL(cuMemcpy2DAsync, &copy, cuda_stream());
}

static struct {
    char *host[HALVES];         // pinned
    CUdeviceptr device[HALVES]; // packed rows, before they are spread or after they were gathered
    CUevent done[HALVES];       // what used the half
    pthread_mutex_t lock;       // of one copy at a time
} stage = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cuda_copies_close(void) {
    for (int h = 0; h < HALVES; h++) {
        if (stage.done[h])
            cuda.cuEventDestroy(stage.done[h]);
        if (stage.device[h])
            cuda.cuMemFree(stage.device[h]);
        if (stage.host[h])
            cuda.cuMemFreeHost(stage.host[h]);
        stage.done[h] = NULL;
        stage.device[h] = 0;
        stage.host[h] = NULL;
    }
}

// False where there is no memory for it, and nothing is noted.
static bool open_stage(void) {
    bool ok = true;
    for (int h = 0; h < HALVES && ok; h++)
        ok = stage.done[h] ||
             (cuda.cuMemHostAlloc((void **)&stage.host[h], HALF, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS &&
              cuda.cuMemAlloc(&stage.device[h], HALF) == CUDA_SUCCESS &&
              cuda.cuEventCreate(&stage.done[h], CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    if (!ok)
        cuda_copies_close();
    return ok;
}

// Rows of the device are moved through the half of the stage there, unless they are packed already.
static void begin_half(int half, Rows to, Rows from, int64_t width, int64_t rows, bool to_device) {
    char *host = stage.host[half], *device = (char *)stage.device[half];
    if (to_device) {
        memory_copy_rows(host, width, from.at, from.pitch, width, rows);
        copy_run(to.pitch == width ? to.at : device, host, rows * width, true);
        if (to.pitch != width)
            kernel_copy(to.at, to.pitch, device, width, width, rows);
    } else {
        if (from.pitch != width)
            kernel_copy(device, width, from.at, from.pitch, width, rows);
        copy_run(host, from.pitch == width ? from.at : device, rows * width, false);
    }
    CUDA_CALL(cuEventRecord, stage.done[half], cuda_stream());
}

// Waits until the half is free, and spreads what came from the device.
static void end_half(int half, Rows to, int64_t width, int64_t rows, bool to_device) {
    if (CUDA_CALL(cuEventSynchronize, stage.done[half]) && !to_device)
        memory_copy_rows(to.at, to.pitch, stage.host[half], width, width, rows);
}

static void copy_short_rows(Rows to, Rows from, int64_t width, int64_t rows, bool to_device) {
    const int64_t chunk = HALF / width, chunks = ceil_div(rows, chunk);
    for (int64_t c = 0; c < chunks + HALVES && !device_failed(); c++) {
        const int half = (int)(c % HALVES);
        const int64_t first = c * chunk, last = first - HALVES * chunk;
        if (last >= 0)
            end_half(half, row(to, last), width, min_i64(chunk, rows - last), to_device);
        if (first < rows)
            begin_half(half, row(to, first), row(from, first), width, min_i64(chunk, rows - first),
                       to_device);
    }
}

static void copy_mixed(Rows to, Rows from, int64_t width, int64_t rows, bool to_device) {
    bool done = false;
    if (rows > 1 && width < SHORT_ROW) {
        pthread_mutex_lock(&stage.lock);
        done = open_stage();
        if (done)
            copy_short_rows(to, from, width, rows, to_device);
        pthread_mutex_unlock(&stage.lock);
    }
    if (!done) {
        if (rows == 1)
            copy_run(to.at, from.at, width, to_device);
        else
            copy_long_rows(to, from, width, rows, to_device);
        if (device_waits())
            CUDA_CALL(cuStreamSynchronize, cuda_stream());
    }
}

void cuda_copy(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
               int64_t rows) {
    if (width <= 0 || rows <= 0 || !cuda_enter())
        return;
    if (to_pitch == width && from_pitch == width) {
        width *= rows;
        rows = 1;
    }
    const bool to_device = cuda_is_on_device(to), from_device = cuda_is_on_device(from);
    if (to_device != from_device)
        device_count_copy(to_device, width * rows);
    if (to_device && from_device && rows == 1)
        CUDA_CALL(cuMemcpyDtoDAsync, (CUdeviceptr)to, (CUdeviceptr)from, (size_t)width, cuda_stream());
    else if (to_device && from_device)
        kernel_copy(to, to_pitch, from, from_pitch, width, rows);
    else if (to_device || from_device)
        copy_mixed((Rows){to, to_pitch}, (Rows){(char *)(uintptr_t)from, from_pitch}, width, rows, to_device);
    else
        memory_copy_rows(to, to_pitch, from, from_pitch, width, rows);
}
