// SPDX-License-Identifier: BSD-3-Clause
// libnccl.so.2 of tests: sums of what processes of a node have in memory of fake_cuda.c. The members of a
// communicator share a file of the first one's, in which each has a place for a part of its elements. A sum
// is executed when it is begun, after what is in its stream, and ends when all members have made it, so that
// those that do not make the same sums in the same order wait for ever.
#include "fake_cuda.h"

#include <fcntl.h>
#include <nccl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_MEMBERS = 64, PLACE = 1 << 12 };

typedef struct {
    atomic_int arrived, round;
    _Alignas(64) char places[MAX_MEMBERS][PLACE];
} Shared;

typedef struct {
    Shared *shared;
    int members, member;
} Communicator;

typedef struct {
    int64_t process;
    int file;
} Id;

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    const Id own = {getpid(), memfd_create("fake_nccl", 0)};
    memset(id, 0, sizeof *id);
    memcpy(id, &own, sizeof own);
    return own.file >= 0 && ftruncate(own.file, sizeof(Shared)) == 0 ? ncclSuccess : ncclSystemError;
}

static void meet(Communicator *communicator) {
    Shared *shared = communicator->shared;
    const int round = atomic_load(&shared->round);
    if (atomic_fetch_add(&shared->arrived, 1) + 1 == communicator->members) {
        atomic_store(&shared->arrived, 0);
        atomic_fetch_add(&shared->round, 1);
    }
    while (atomic_load(&shared->round) == round)
        sched_yield();
}

static int fails(const char *name) {
    const char *wanted = getenv("FAKE_NCCL_FAIL"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    char text[64];
    snprintf(text, sizeof text, "%s:%s", name, rank ? rank : "0");
    return wanted && strcmp(wanted, text) == 0;
}

ncclResult_t ncclCommInitRank(ncclComm_t *communicator, int members, ncclUniqueId id, int member) {
    Id of;
    char path[64];
    memcpy(&of, &id, sizeof of);
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)of.process, of.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    Communicator *own = malloc(sizeof *own);
    void *shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (!own || shared == MAP_FAILED || members > MAX_MEMBERS) {
        free(own);
        return ncclSystemError;
    }
    *own = (Communicator){shared, members, member};
    meet(own);
    // Those of ranks that fail do not stay.
    if (fails("ncclCommInitRank")) {
        munmap(shared, sizeof(Shared));
        free(own);
        return ncclSystemError;
    }
    *communicator = (ncclComm_t)own;
    fake_cuda.live++;
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
    Communicator *own = (Communicator *)communicator;
    munmap(own->shared, sizeof(Shared));
    free(own);
    fake_cuda.live--;
    return ncclSuccess;
}

// Sums are executed when they are begun, in a group as well: another order than theirs would go unnoticed
// only where it is the same on all members.
ncclResult_t ncclGroupStart(void) {
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
    return result == ncclSystemError ? "unhandled system error" : "invalid argument";
}

#define DEFINE_COMBINE(name, type)                                                                           \
    static void combine_##name(ncclRedOp_t op, type *to, const type *from, size_t count) {                   \
        for (size_t i = 0; i < count; i++)                                                                   \
            to[i] = op == ncclSum    ? to[i] + from[i]                                                       \
                    : op == ncclProd ? to[i] * from[i]                                                       \
                    : op == ncclMax  ? (to[i] > from[i] ? to[i] : from[i])                                   \
                                     : (to[i] < from[i] ? to[i] : from[i]);                                   \
    }
DEFINE_COMBINE(i32, int32_t)
DEFINE_COMBINE(i64, int64_t)
DEFINE_COMBINE(f32, float)
DEFINE_COMBINE(f64, double)

static void combine(ncclDataType_t type, ncclRedOp_t op, void *to, const void *from, size_t count) {
    if (type == ncclInt32)
        combine_i32(op, to, from, count);
    else if (type == ncclInt64)
        combine_i64(op, to, from, count);
    else if (type == ncclFloat32)
        combine_f32(op, to, from, count);
    else
        combine_f64(op, to, from, count);
}

// At all members where `root` is -1.
static ncclResult_t sum(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t communicator, cudaStream_t stream) {
    Communicator *own = (Communicator *)communicator;
    const size_t size = type == ncclInt32 || type == ncclFloat32 ? 4 : 8, most = PLACE / size;
    if (type != ncclInt32 && type != ncclInt64 && type != ncclFloat32 && type != ncclFloat64)
        return ncclInvalidArgument;
    if (cuStreamSynchronize((CUstream)stream) != CUDA_SUCCESS)
        return ncclSystemError;
    for (size_t done = 0; done < count; done += most) {
        const size_t part = count - done < most ? count - done : most;
        memcpy(own->shared->places[own->member], (const char *)from + done * size, part * size);
        meet(own);
        if (root < 0 || root == own->member) {
            char result[PLACE];
            memcpy(result, own->shared->places[0], part * size);
            for (int m = 1; m < own->members; m++)
                combine(type, op, result, own->shared->places[m], part);
            memcpy((char *)to + done * size, result, part * size);
        }
        meet(own);
    }
    if (getenv("FAKE_NCCL_LOG") && own->member == 0)
        fprintf(stderr, "fake NCCL: %zu elements of %d members\n", count, own->members);
    return ncclSuccess;
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t communicator, cudaStream_t stream) {
    return sum(from, to, count, type, op, root, communicator, stream);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t communicator, cudaStream_t stream) {
    return sum(from, to, count, type, op, -1, communicator, stream);
}
