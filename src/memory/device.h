// SPDX-License-Identifier: BSD-3-Clause
// Devices: GPUs behind one record of operations, of which there are two: `cuda`, and `emulated`, which
// executes the same kernels on the host, for tests and for machines without a GPU. A process uses one device.
// Calls are local, any thread may make them, and what they begin in one stream is executed in their order. An
// operation that fails is noted, and all after it do nothing: device_check says so at the end of a run.
#ifndef DISTAL_MEMORY_DEVICE_H
#define DISTAL_MEMORY_DEVICE_H

#include "base/diagnostic.h"
#include "base/reducer.h"

#include <stdbool.h>
#include <stdint.h>

// A kernel of generated code, and the launch of it. The first `pointer_count` arguments are addresses of
// pointers into memory of the device, the others of int64_t.
typedef struct {
    const char *name;
    void (*emulated)(void *const *arguments); // NULL where the code was not compiled for that
} DeviceKernel;
typedef struct {
    int64_t blocks[3]; // along x, y and z
    int threads[3];    // of a block
    int pointer_count, argument_count;
    void *const *arguments;
} DeviceLaunch;

// A matrix: element (r, c) is at r * row + c * column elements from the first.
typedef struct {
    void *elements;
    int64_t row, column;
} DeviceMatrix;

// Products C += alpha * A * B of matrices, or C = alpha * A * B where they are stored: C has m rows and n
// columns, and A has k columns. There is one for each iteration of `loops`, whose a, b and c are strides in
// elements; no element of C is in two of them.
enum { DEVICE_LOOPS = 4, DEVICE_POINTER_BYTES = 3 * sizeof(void *) };
typedef struct {
    int64_t extent, a, b, c;
} DeviceLoop;
typedef struct {
    int64_t m, n, k;
    const void *alpha; // an element, on the host
    bool stores;
    DeviceMatrix a, b, c;
    int loop_count;
    DeviceLoop loops[DEVICE_LOOPS];
    // Memory of the device, for DEVICE_POINTER_BYTES of each product, or for an element; 0 bytes: none. Where
    // it is too small, more than one loop takes several calls, and a sum is computed as a matrix.
    void *workspace;
    int64_t workspace_bytes;
} DeviceProduct;

// A loop of a copy of elements, of which there are DEVICE_COPY_LOOPS at most: its extent, and its strides in
// elements.
enum { DEVICE_COPY_LOOPS = 64 };
typedef struct {
    int64_t extent, to, from;
} DeviceCopyLoop;

// Bytes of memory of a device that contractions copy operands to (runtime/gpu_contraction.c).
enum { DEVICE_SPACE = 64 << 20 };
// Bytes for partial results of the blocks of a launch: an element of 16 bytes for each of 1024 blocks.
enum { DEVICE_SCRATCH = 1024 * 16 };
// Blocks of a launch that have a row workspace of their own, and bytes of all these workspaces, unless one is
// larger; and bytes of all partial results of blocks, warps and threads of a launch.
enum { DEVICE_ROWS = 1024, DEVICE_ROW_BYTES = 256 << 20 };

// Streams: what is in one is executed beside what is in the others, but for the order that `order` asks for.
// Copies to the device and those from it have one each.
typedef enum { STREAM_COMPUTE, STREAM_IN, STREAM_OUT, STREAM_COUNT } DeviceStream;
// All that has been begun in a stream at some time, of which some may have been executed; 0: nothing. Of
// those in the stream of a caller (device_set_caller_stream) only the latest 64 of all threads are known.
typedef int64_t DeviceTicket;

// Which device it is: no other one, on any node, has the same.
typedef struct {
    int64_t words[2];
} DeviceIdentity;

// What other processes of the node need to open memory of a device: what the driver gives for it, and which
// device that is.
enum { DEVICE_HANDLE_WORDS = 10 };
typedef struct {
    int64_t words[DEVICE_HANDLE_WORDS];
} DeviceHandle;

// Sums of what devices of several processes have, by a library that moves it from one to the other (NCCL).
enum { DEVICE_GROUP_BYTES = 128 };
typedef struct {
    // Loads the library. False with a clause, in static memory, that says why there is none.
    bool (*open)(const char **why);
    // What the members of a new group need to join it: one of them calls this, the others get it. Joining is
    // collective, and so are sums, whose order of calls is the same for all members. NULL: noted as a
    // failure.
    bool (*name)(char name[DEVICE_GROUP_BYTES]);
    void *(*join)(const char name[DEVICE_GROUP_BYTES], int members, int member);
    // After all sums of the group have been executed on all members, or where one could not join; in the same
    // order of groups for all members. Never a failure.
    void (*leave)(void *group);
    // The sums between these two calls start together, in `end`. False, which is noted as a failure: neither
    // sums nor `end` may follow.
    bool (*begin)(void);
    void (*end)(void);
    // Begins to combine `count` elements of each member, in place: at `root`, or where that is -1 at all.
    // Where device_sums_take says so.
    void (*sum)(void *group, Reducer reducer, ElementType type, void *elements, int64_t count, int root);
} DeviceSums;

typedef struct {
    const char *name;
    // Opens the device of this process, rank `local_rank` of those on its node, which share the devices of
    // the node round-robin. False with a clause, in static memory, that says why there is none.
    bool (*open)(int local_rank, const char **why);
    // Modules are unloaded and memory is released before.
    void (*close)(void);
    const char *(*describe)(void); // "NVIDIA H100, driver 13.0"; in static memory
    DeviceIdentity (*identity)(void);
    int64_t (*free_bytes)(void);

    // Memory of the device, aligned to 256 bytes, with any values in it; also for 0 bytes. NULL: not enough.
    void *(*allocate)(int64_t bytes);
    void (*release)(void *memory); // which may be NULL
    // The same, which other processes of the node can open. NULL: not enough, or they cannot.
    void *(*allocate_shared)(int64_t bytes, DeviceHandle *handle);
    // Memory of another process, to be closed by the same one that has opened it before it is released; NULL:
    // it cannot be opened, which is no failure. A handle may be opened more than once.
    void *(*open_shared)(const DeviceHandle *handle);
    void (*close_shared)(void *memory);
    // Why that which another part of the program has allocated is no memory of this device, as a clause in
    // static memory: it is the host's, or that of another device, or there are less bytes (at least 1). NULL
    // where it can be used as that of `allocate`, as far as the device can tell.
    const char *(*refuses)(const void *memory, int64_t bytes);
    // Why that which another part of the program has made is no stream of this device, as a clause in static
    // memory. NULL where device_set_caller_stream can have it, as far as the device can tell.
    const char *(*refuses_stream)(void *stream);
    // The address of memory of the device for GPU-aware MPI. What is begun on the device before a message,
    // and after it, has to be ordered by waiting.
    void *(*message_address)(void *memory);
    // Pins memory of the host (memory/pinned.h). False: it cannot be, or is already; that is no failure.
    bool (*pin)(void *memory, int64_t bytes);
    void (*unpin)(void *memory);
    // `rows` times `width` bytes, `to_pitch` and `from_pitch` bytes apart, between any two memories, which do
    // not overlap. When it returns, memory of the host can be read and changed, unless device_use says
    // otherwise.
    void (*copy)(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                 int64_t rows);
    // As of MemoryKind; all in memory of the device, and no step is negative.
    void (*reduce)(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count);
    void (*clear)(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count);

    // Makes the kernels of a text of CUDA C ready, which are `extern "C"`; the handle is kept until `unload`.
    // NULL with a diagnostic. The emulated device has nothing to load, and gives a handle that is not NULL.
    void *(*load)(const char *text, Diagnostics *diagnostics);
    void (*unload)(void *module); // which may be NULL
    // Begins the kernel, which is correct on any number of blocks: there may be fewer than were asked for.
    // Does nothing where that is 0. Memory is allocated by the first launch of a kernel at most.
    void (*launch)(void *module, const DeviceKernel *kernel, const DeviceLaunch *launch);
    // All types but integers by the library, also those of vectors; integers, and matrices without a unit
    // stride, by a kernel. Does nothing where there are no elements, or nothing to sum.
    void (*gemm)(ElementType type, const DeviceProduct *product);
    // Adds alpha, which is on the host, times `count` elements of x to those of y, by the library but for
    // integers. All in memory of the device; x and y do not overlap, and no step is negative.
    void (*axpy)(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step);
    // Copies elements of `size` bytes (4, 8 or 16) in the iterations of loops, each of which has one at
    // least. All in memory of the device; `to` and `from` do not overlap.
    void (*permute)(int64_t size, void *to, const void *from, int loop_count, const DeviceCopyLoop *loops);

    const DeviceSums *sums; // NULL: MPI combines what message_address gives it

    DeviceTicket (*mark)(DeviceStream stream); // of all that has been begun there up to now
    // What is begun in the stream from now on is executed after what the ticket is of.
    void (*order)(DeviceStream stream, DeviceTicket ticket);
    void (*wait)(DeviceTicket ticket); // until it has been executed
    void (*synchronize)(void);         // waits for all that was begun in the streams of this thread
} Device;

extern const Device device_cuda; // where the build has CUDA (src/cuda)
extern const Device device_emulated;

// The device of the process: opened with the first call, which DISTAL_GPU chooses ("cuda", the default, or
// "emulated"). NULL with a clause in *why, in static memory: there is none, the build has no CUDA, or the
// name is none.
const Device *device_open(int local_rank, const char **why);
void device_close(void); // if one is open; the next call opens one again
// The one that is open; NULL: none.
const Device *device_current(void);
// Where operations of this thread are begun from now on: in STREAM_COMPUTE at first, with copies that wait.
// `waits`: copies from or to memory of the host have been executed when they return. Else that memory may be
// changed, or read, when a ticket that was taken after them has been waited for.
void device_use(DeviceStream stream, bool waits);
// The stream of a caller that is STREAM_COMPUTE for this thread from now on: what is begun there is executed
// in the order in which it and the caller begin it. NULL, as at first: the device's own. Whoever calls this
// orders the new one after the one before where that is needed.
void device_set_caller_stream(void *stream);
void *device_caller_stream(void); // or NULL
// For devices: what the calling thread uses.
DeviceStream device_stream(void);
bool device_waits(void);

// Bytes that were copied between memory of the host and of the device since the process began.
typedef struct {
    int64_t to_device, from_device;
} DeviceCounts;
DeviceCounts device_counts(void);
DeviceCounts device_counts_add(DeviceCounts a, DeviceCounts b); // sums do not overflow
// False with a diagnostic where an operation failed since the last call.
bool device_check(Diagnostics *diagnostics);
// Whether libraries combine values as distal does: all sums, products of real numbers, and of integers maxima
// and minima, as that of NaN and a number is not the same everywhere.
bool device_sums_take(Reducer reducer, ElementType type);
// For devices: the number of products in all iterations of the loops; and whether they have no elements, or
// nothing to sum.
int64_t device_product_count(const DeviceProduct *product);
bool device_product_is_empty(const DeviceProduct *product);
// For devices: counts a copy between both memories.
void device_count_copy(bool to_device, int64_t bytes);
// For devices: notes the first failure, as printf does. Any thread may call these.
void device_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool device_failed(void);

#endif
