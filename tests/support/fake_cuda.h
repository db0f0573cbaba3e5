// SPDX-License-Identifier: BSD-3-Clause
// A driver of GPUs that executes on the host: the calls that distal makes, and its own kernels. What is begun
// in a stream is queued, and executed when something waits for it, which no stream does for another one but
// by an event, so that a test finds out where distal does not wait.
// FAKE_CUDA_FAIL=NAME:AFTER:ERROR:RANK in the environment lets calls fail as the fields of FakeCuda do, on
// one rank of MPI. FAKE_CUDA_DEVICES=N is how many devices there are. With FAKE_CUDA_IPC=on processes open
// memory of each other's devices, with FAKE_CUDA_IPC=same those of one device that of each other only, as no
// device can access another one; else no process opens memory of another one.
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <cuda.h>
#include <stddef.h>

enum { FAKE_PARAMETERS = 32, FAKE_ARCHITECTURE = 90 };

typedef struct {
    // The call with this name fails with `error`, after `fail_after` that went well. NULL: none does.
    const char *fail_name;
    int fail_after;
    CUresult error;
    int devices;     // that there are: 2
    int ipc, peers;  // memory can be opened by other processes, and devices access each other
    int max_pitch;   // as of CU_DEVICE_ATTRIBUTE_MAX_PITCH
    int device;      // of the context, and that all memory is said to be of
    int live;        // contexts, streams, events, modules and allocations that were not released
    int allocations; // that were ever made, on the device and pinned
    int lookups;     // calls of cuModuleGetFunction
    int engine;      // copies of rows by cuMemcpy2D
    int launches;    // of kernels, and the last one:
    unsigned blocks[3], threads[3];
    char kernel[64];
    const char *library; // the last function of cuBLAS, without type and size of numbers: "gemm"
} FakeCuda;
extern FakeCuda fake_cuda;

// Queues a call of `run` with a copy of its arguments in a stream.
void fake_cuda_begin(CUstream stream, void (*run)(void *arguments), const void *arguments, size_t size);

// A kernel that does nothing but write its third argument, a number, to where the first one points.
#define FAKE_KERNEL "fake_kernel"

#endif
