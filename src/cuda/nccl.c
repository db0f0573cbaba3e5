// SPDX-License-Identifier: BSD-3-Clause
// NCCL's interface, as its documentation gives it, is declared here: there may be none where distal is built.
#include "cuda/nccl.h"

#include "cuda/driver.h"
#include "cuda/library.h"
#include "cuda/streams.h"

#include <stdint.h>
#include <string.h>

typedef void *Communicator;
typedef struct {
    char bytes[DEVICE_GROUP_BYTES];
} UniqueId;
enum { NCCL_SUCCESS = 0 };
enum { NCCL_INT32 = 2, NCCL_INT64 = 4, NCCL_FLOAT32 = 7, NCCL_FLOAT64 = 8 };
enum { NCCL_SUM = 0, NCCL_PROD = 1, NCCL_MAX = 2, NCCL_MIN = 3 };

typedef struct {
    int (*ncclGetUniqueId)(UniqueId *id);
    int (*ncclCommInitRank)(Communicator *communicator, int members, UniqueId id, int member);
    int (*ncclCommAbort)(Communicator communicator);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    int (*ncclReduce)(const void *from, void *to, size_t count, int type, int op, int root,
                      Communicator communicator, CUstream stream);
    int (*ncclAllReduce)(const void *from, void *to, size_t count, int type, int op,
                         Communicator communicator, CUstream stream);
    const char *(*ncclGetErrorString)(int result);
} Nccl;

static Nccl nccl;
static bool opened;

static bool succeeded(int result, const char *name) {
    if (result != NCCL_SUCCESS)
        device_fail("%s: %s", name, nccl.ncclGetErrorString(result));
    return result == NCCL_SUCCESS;
}
#define NCCL_CALL(name, ...) succeeded(nccl.name(__VA_ARGS__), #name)

static bool open_library(const char **why) {
    static const LibraryFile files[] = {{"libnccl.so.2", 0}, {NULL, 0}};
#define SYMBOL(name) LIBRARY_SYMBOL(Nccl, name, false)
    static const LibrarySymbol symbols[] = {
        SYMBOL(ncclGetUniqueId), SYMBOL(ncclCommInitRank), SYMBOL(ncclCommAbort), SYMBOL(ncclGroupStart),
        SYMBOL(ncclGroupEnd),    SYMBOL(ncclReduce),       SYMBOL(ncclAllReduce), SYMBOL(ncclGetErrorString)};
#undef SYMBOL
    *why = opened ? NULL : library_load(files, 0, symbols, sizeof symbols / sizeof *symbols, &nccl);
    opened = !*why;
    return opened;
}

static bool name_group(char name[DEVICE_GROUP_BYTES]) {
    UniqueId id;
    if (!cuda_enter() || !NCCL_CALL(ncclGetUniqueId, &id))
        return false;
    memcpy(name, &id, sizeof id);
    return true;
}

static void *join(const char name[DEVICE_GROUP_BYTES], int members, int member) {
    UniqueId id;
    Communicator communicator = NULL;
    memcpy(&id, name, sizeof id);
    return cuda_enter() && NCCL_CALL(ncclCommInitRank, &communicator, members, id, member) ? communicator
                                                                                           : NULL;
}

// Without waiting for other members, of which one may have failed: ncclCommDestroy may wait for them.
static void leave(void *group) {
    if (cuda.cuCtxSetCurrent(cuda_process.context) == CUDA_SUCCESS)
        nccl.ncclCommAbort(group);
}

static bool begin(void) {
    return cuda_enter() && succeeded(nccl.ncclGroupStart(), "ncclGroupStart");
}

static void end(void) {
    succeeded(nccl.ncclGroupEnd(), "ncclGroupEnd");
}

// A complex number is two real ones, whose sums are apart.
static void sum(void *group, Reducer reducer, ElementType type, void *elements, int64_t count, int root) {
    static const struct {
        int type, numbers; // of an element
    } types[TYPE_COUNT] = {
        [TYPE_I32] = {NCCL_INT32, 1},   [TYPE_I64] = {NCCL_INT64, 1},   [TYPE_F32] = {NCCL_FLOAT32, 1},
        [TYPE_F64] = {NCCL_FLOAT64, 1}, [TYPE_C64] = {NCCL_FLOAT32, 2}, [TYPE_C128] = {NCCL_FLOAT64, 2}};
    static const int ops[REDUCER_COUNT] = {[REDUCER_SUM] = NCCL_SUM,
                                           [REDUCER_PROD] = NCCL_PROD,
                                           [REDUCER_MAX] = NCCL_MAX,
                                           [REDUCER_MIN] = NCCL_MIN};
    const size_t numbers = (size_t)count * (size_t)types[type].numbers;
    if (!cuda_enter())
        return;
    if (root < 0)
        NCCL_CALL(ncclAllReduce, elements, elements, numbers, types[type].type, ops[reducer], group,
                  cuda_stream());
    else
        NCCL_CALL(ncclReduce, elements, elements, numbers, types[type].type, ops[reducer], root, group,
                  cuda_stream());
}

const DeviceSums nccl_sums = {.open = open_library,
                              .name = name_group,
                              .join = join,
                              .leave = leave,
                              .begin = begin,
                              .end = end,
                              .sum = sum};
