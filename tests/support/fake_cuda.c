// SPDX-License-Identifier: BSD-3-Clause
// libcuda.so.1 of tests.
#include "fake_cuda.h"

#include "fake_kernels.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

FakeCuda fake_cuda = {.devices = 2, .max_pitch = 1 << 20};

__attribute__((constructor)) static void read_environment(void) {
    static char name[64];
    const char *text = getenv("FAKE_CUDA_FAIL"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *devices = getenv("FAKE_CUDA_DEVICES"), *ipc = getenv("FAKE_CUDA_IPC");
    int after, error, which;
    fake_cuda.devices = devices ? atoi(devices) : fake_cuda.devices;
    fake_cuda.peers = ipc && strcmp(ipc, "on") == 0;
    fake_cuda.ipc = fake_cuda.peers || (ipc && strcmp(ipc, "same") == 0);
    if (!text || sscanf(text, "%63[^:]:%d:%d:%d", name, &after, &error, &which) != 4 ||
        which != atoi(rank ? rank : "0"))
        return;
    fake_cuda.fail_name = name;
    fake_cuda.fail_after = after;
    fake_cuda.error = (CUresult)error;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current;
static char contexts[8];
static CUcontext context_of(CUdevice device) {
    return (CUcontext)&contexts[device];
}

static CUresult outcome(const char *name);
#define MAY_FAIL(name)                                                                                       \
    do {                                                                                                     \
        const CUresult result = outcome(name);                                                               \
        if (result != CUDA_SUCCESS)                                                                          \
            return result;                                                                                   \
    } while (0)
// Most calls need the context of the thread as well.
#define BEGIN(name)                                                                                          \
    MAY_FAIL(name);                                                                                          \
    if (!current)                                                                                            \
    return CUDA_ERROR_INVALID_CONTEXT

// Memory of the device.
enum { MAX_BLOCKS = 4096 };
static struct {
    char *at;
    size_t bytes;
    int file; // that it is mapped from, where other processes can open it; -1: none
} blocks[MAX_BLOCKS];

// The block that holds all of these bytes; -1: none.
static int block_with(CUdeviceptr address, size_t bytes) {
    const char *at = (const char *)address;
    for (int b = 0; b < MAX_BLOCKS; b++)
        if (blocks[b].at && at >= blocks[b].at && at + bytes <= blocks[b].at + blocks[b].bytes)
            return b;
    return -1;
}

// What is begun, in the order of each stream. A task without `run` waits for what an event was recorded
// after.
typedef struct Task {
    struct Task *next;
    void (*run)(void *arguments);
    char *arguments;
} Task;
typedef struct {
    Task *first, **last;
    long begun, finished;
    int is_open;
    CUcontext context;
} Stream;
enum { MAX_STREAMS = 8 };
static Stream streams[MAX_STREAMS];

typedef struct {
    Stream *stream;
    long number;
} Event;

void fake_cuda_begin(CUstream handle, void (*run)(void *arguments), const void *arguments, size_t size) {
    Stream *stream = (Stream *)handle;
    Task *task = calloc(1, sizeof *task);
    task->run = run;
    task->arguments = malloc(size);
    memcpy(task->arguments, arguments, size);
    stream->begun++;
    *stream->last = task;
    stream->last = &task->next;
}

static void drop_first(Stream *stream) {
    Task *task = stream->first;
    stream->first = task->next;
    stream->finished++;
    if (!stream->first)
        stream->last = &stream->first;
    free(task->arguments);
    free(task);
}

static void finish(const Event *event) {
    while (event->stream && event->stream->finished < event->number) {
        Task *task = event->stream->first;
        if (task->run)
            task->run(task->arguments);
        else
            finish((const Event *)task->arguments);
        drop_first(event->stream);
    }
}

static void finish_stream(Stream *stream) {
    finish(&(Event){stream, stream->begun});
}

static void finish_all(void) {
    for (int s = 0; s < MAX_STREAMS; s++)
        if (streams[s].is_open)
            finish_stream(&streams[s]);
}

// What has been begun does not happen after an error, other than one of an allocation.
static CUresult outcome(const char *name) {
    if (!fake_cuda.fail_name || strcmp(name, fake_cuda.fail_name) != 0 || fake_cuda.fail_after-- > 0)
        return CUDA_SUCCESS;
    for (int s = 0; s < MAX_STREAMS && fake_cuda.error == CUDA_ERROR_ILLEGAL_ADDRESS; s++)
        while (streams[s].first)
            drop_first(&streams[s]);
    return fake_cuda.error;
}

CUresult cuInit(unsigned flags) {
    (void)flags;
    MAY_FAIL("cuInit");
    return fake_cuda.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDriverGetVersion(int *version) {
    MAY_FAIL("cuDriverGetVersion");
    *version = 13000;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = error == CUDA_ERROR_OUT_OF_MEMORY     ? "out of memory"
            : error == CUDA_ERROR_NO_DEVICE       ? "no CUDA-capable device is detected"
            : error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
            : error == CUDA_ERROR_NOT_FOUND       ? "named symbol not found"
                                                  : "invalid argument";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    MAY_FAIL("cuDeviceGetCount");
    *count = fake_cuda.devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    MAY_FAIL("cuDeviceGet");
    *device = ordinal;
    return ordinal < fake_cuda.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    MAY_FAIL("cuDeviceGetUuid");
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[0] = (char)(1 + device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    MAY_FAIL("cuDeviceCanAccessPeer");
    *can = device != peer && fake_cuda.peers;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)device;
    MAY_FAIL("cuDeviceGetAttribute");
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? FAKE_ARCHITECTURE / 10
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? FAKE_ARCHITECTURE % 10
                                                                         : fake_cuda.max_pitch;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    MAY_FAIL("cuDevicePrimaryCtxRetain");
    *context = context_of(device);
    fake_cuda.device = device;
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    MAY_FAIL("cuCtxSetCurrent");
    current = context;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    (void)flags;
    BEGIN("cuStreamCreate");
    Stream *stream = streams;
    while (stream->is_open)
        stream++;
    *stream = (Stream){.last = &stream->first, .is_open = 1, .context = current};
    *handle = (CUstream)stream;
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
    finish_stream((Stream *)stream);
    ((Stream *)stream)->is_open = 0;
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    BEGIN("cuStreamGetCtx");
    *context = ((Stream *)stream)->context;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    BEGIN("cuStreamSynchronize");
    finish_stream((Stream *)stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    (void)flags;
    BEGIN("cuStreamWaitEvent");
    fake_cuda_begin(stream, NULL, event, sizeof(Event));
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    (void)flags;
    BEGIN("cuEventCreate");
    *event = (CUevent)calloc(1, sizeof(Event));
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    free(event);
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    BEGIN("cuEventRecord");
    *(Event *)event = (Event){(Stream *)stream, ((Stream *)stream)->begun};
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    BEGIN("cuEventSynchronize");
    finish((const Event *)event);
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *all) {
    BEGIN("cuMemGetInfo");
    *free_bytes = 1 << 30;
    *all = (size_t)2 << 30;
    return CUDA_SUCCESS;
}

static void *map_file(int file, size_t bytes, int ok) {
    void *memory = ok ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    return memory == MAP_FAILED ? NULL : memory;
}

static void free_block(int b) {
    if (blocks[b].file >= 0) {
        munmap(blocks[b].at, blocks[b].bytes);
        close(blocks[b].file);
    } else {
        free(blocks[b].at);
    }
    blocks[b].at = NULL;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    BEGIN("cuMemAlloc");
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory;
    pthread_mutex_lock(&lock);
    int b = 0;
    while (blocks[b].at)
        b++;
    blocks[b].file = fake_cuda.ipc ? memfd_create("fake_cuda", MFD_CLOEXEC) : -1;
    if (blocks[b].file >= 0)
        memory = map_file(blocks[b].file, bytes, ftruncate(blocks[b].file, (off_t)bytes) == 0);
    else if (posix_memalign(&memory, 256, bytes) != 0)
        memory = NULL;
    blocks[b].at = memory;
    blocks[b].bytes = bytes;
    pthread_mutex_unlock(&lock);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(memory, 0xFF, bytes);
    *address = (CUdeviceptr)memory;
    fake_cuda.live++;
    fake_cuda.allocations++;
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
    BEGIN("cuMemFree");
    finish_all();
    const int b = block_with(address, 0);
    if (b < 0 || blocks[b].at != (char *)address)
        return CUDA_ERROR_INVALID_VALUE;
    free_block(b);
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    (void)flags;
    BEGIN("cuMemHostAlloc");
    *memory = malloc(bytes);
    fake_cuda.live++;
    fake_cuda.allocations++;
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory) {
    BEGIN("cuMemFreeHost");
    free(memory);
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

static struct {
    char *at;
    size_t bytes;
} ranges[MAX_BLOCKS]; // that are registered

CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned flags) {
    (void)flags;
    BEGIN("cuMemHostRegister");
    int free_range = 0;
    for (int r = MAX_BLOCKS - 1; r >= 0; r--) {
        if (!ranges[r].at)
            free_range = r;
        else if ((char *)memory < ranges[r].at + ranges[r].bytes && ranges[r].at < (char *)memory + bytes)
            return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    ranges[free_range].at = memory;
    ranges[free_range].bytes = bytes;
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
    BEGIN("cuMemHostUnregister");
    for (int r = 0; r < MAX_BLOCKS; r++)
        if (ranges[r].at == memory) {
            ranges[r].at = NULL;
            fake_cuda.live--;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

// Without FAKE_CUDA_IPC, memory of this process only, so that ranks find that they cannot open that of
// others.
typedef struct {
    int64_t process, bytes;
    CUdeviceptr memory;
    int file, device;
} FakeHandle;

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr memory) {
    BEGIN("cuIpcGetMemHandle");
    const int b = block_with(memory, 1);
    if (b < 0)
        return CUDA_ERROR_INVALID_VALUE;
    const FakeHandle fake = {getpid(), (int64_t)blocks[b].bytes, memory, blocks[b].file, fake_cuda.device};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &fake, sizeof fake);
    return CUDA_SUCCESS;
}

// As a block of this process.
static CUresult open_file(CUdeviceptr *memory, const FakeHandle *handle) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)handle->process, handle->file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void *mapped = map_file(file, (size_t)handle->bytes, file >= 0);
    if (!mapped)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int b = 0;
    while (blocks[b].at)
        b++;
    blocks[b].at = mapped;
    blocks[b].bytes = (size_t)handle->bytes;
    blocks[b].file = file;
    pthread_mutex_unlock(&lock);
    *memory = (CUdeviceptr)mapped;
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *memory, CUipcMemHandle handle, unsigned flags) {
    BEGIN("cuIpcOpenMemHandle");
    FakeHandle fake;
    memcpy(&fake, &handle, sizeof fake);
    const int is_peer = fake.device != fake_cuda.device;
    // The program has to ask before.
    if (is_peer && !fake_cuda.peers)
        abort();
    if (fake.process != getpid() && fake.file < 0)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (is_peer && flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake.process != getpid())
        return open_file(memory, &fake);
    *memory = fake.memory;
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr memory) {
    BEGIN("cuIpcCloseMemHandle");
    const int b = block_with(memory, 1);
    finish_all();
    // Memory of this process stays where it is.
    if (b >= 0 && blocks[b].file >= 0)
        free_block(b);
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    BEGIN("cuPointerGetAttribute");
    if (block_with(address, 1) < 0)
        return CUDA_ERROR_INVALID_VALUE; // as of memory that the driver does not know
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        *(int *)value = fake_cuda.device;
    else
        *(CUmemorytype *)value = CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
}

typedef struct {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, rows;
} Copy;

static void run_copy(void *arguments) {
    const Copy *copy = arguments;
    for (size_t r = 0; r < copy->rows; r++)
        memcpy(copy->to + r * copy->to_pitch, copy->from + r * copy->from_pitch, copy->width);
}

static CUresult begin_run(CUstream stream, void *to, const void *from, size_t bytes) {
    const Copy copy = {to, from, 0, 0, bytes, 1};
    fake_cuda_begin(stream, run_copy, &copy, sizeof copy);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    BEGIN("cuMemcpyHtoDAsync");
    return block_with(to, bytes) < 0 ? CUDA_ERROR_INVALID_VALUE : begin_run(stream, (void *)to, from, bytes);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    BEGIN("cuMemcpyDtoHAsync");
    return block_with(from, bytes) < 0 ? CUDA_ERROR_INVALID_VALUE
                                       : begin_run(stream, to, (void *)from, bytes);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    BEGIN("cuMemcpyDtoDAsync");
    return block_with(to, bytes) < 0 || block_with(from, bytes) < 0
               ? CUDA_ERROR_INVALID_VALUE
               : begin_run(stream, (void *)to, (void *)from, bytes);
}

static int takes_rows(CUmemorytype kind, CUdeviceptr device, size_t pitch, size_t width, size_t rows) {
    return pitch >= width && pitch <= (size_t)fake_cuda.max_pitch &&
           (kind == CU_MEMORYTYPE_HOST || block_with(device, (rows - 1) * pitch + width) >= 0);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream) {
    BEGIN("cuMemcpy2DAsync");
    if (!takes_rows(c->srcMemoryType, c->srcDevice, c->srcPitch, c->WidthInBytes, c->Height) ||
        !takes_rows(c->dstMemoryType, c->dstDevice, c->dstPitch, c->WidthInBytes, c->Height))
        return CUDA_ERROR_INVALID_VALUE;
    const Copy copy = {
        c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (char *)c->dstDevice,
        c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const char *)c->srcDevice,
        c->dstPitch,
        c->srcPitch,
        c->WidthInBytes,
        c->Height,
    };
    fake_cuda_begin(stream, run_copy, &copy, sizeof copy);
    fake_cuda.engine++;
    return CUDA_SUCCESS;
}

typedef struct {
    char *to;
    size_t bytes;
    int value;
} Set;

static void run_set(void *arguments) {
    const Set *set = arguments;
    memset(set->to, set->value, set->bytes);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    BEGIN("cuMemsetD8Async");
    if (block_with(to, bytes) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    const Set set = {(char *)to, bytes, value};
    fake_cuda_begin(stream, run_set, &set, sizeof set);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    BEGIN("cuModuleLoadData");
    if (strncmp(image, "image of ", 9) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *module = (CUmodule)malloc(1);
    fake_cuda.live++;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
    BEGIN("cuModuleUnload");
    finish_all();
    free(module);
    fake_cuda.live--;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    (void)module;
    BEGIN("cuModuleGetFunction");
    fake_cuda.lookups++;
    const FakeKernel *kernel = fake_kernel_find(name);
    *function = (CUfunction)(uintptr_t)kernel;
    return kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                        unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared,
                        CUstream stream, void **parameters, void **extra) {
    (void)shared;
    (void)extra;
    BEGIN("cuLaunchKernel");
    const unsigned long threads = (unsigned long)threads_x * threads_y * threads_z;
    if (blocks_x == 0 || blocks_x > INT32_MAX || blocks_y == 0 || blocks_y > UINT16_MAX || blocks_z == 0 ||
        blocks_z > UINT16_MAX || threads == 0 || threads > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    const FakeKernel *kernel = (const FakeKernel *)function;
    FakeLaunch launch = {.kernel = kernel, .blocks = blocks_x, .threads = threads_x};
    for (int p = 0; p < kernel->parameters; p++)
        memcpy(launch.values[p], parameters[p], p == kernel->element ? kernel->element_size : 8);
    fake_cuda_begin(stream, fake_kernel_run, &launch, sizeof launch);
    fake_cuda.launches++;
    const unsigned blocks_of[] = {blocks_x, blocks_y, blocks_z};
    memcpy(fake_cuda.blocks, blocks_of, sizeof blocks_of);
    const unsigned threads_of[] = {threads_x, threads_y, threads_z};
    memcpy(fake_cuda.threads, threads_of, sizeof threads_of);
    snprintf(fake_cuda.kernel, sizeof fake_cuda.kernel, "%s", kernel->name);
    return CUDA_SUCCESS;
}
