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
enum { SUCCESS = 0, TYPE_INT32 = 2, TYPE_INT64 = 4, TYPE_FLOAT32 = 7, TYPE_FLOAT64 = 8 };

typedef struct {
    int (*ncclGetUniqueId)(UniqueId *id);
    int (*ncclCommInitRank)(Communicator *communicator, int members, UniqueId id, int member);
    int (*ncclCommDestroy)(Communicator communicator);
    int (*ncclReduce)(const void *from, void *to, size_t count, int type, int op, int root,
                      Communicator communicator, CUstream stream);
    int (*ncclAllReduce)(const void *from, void *to, size_t count, int type, int op,
                         Communicator communicator, CUstream stream);
    const char *(*ncclGetErrorString)(int result);
} Nccl;

static Nccl nccl;
static bool opened;

static bool succeeded(int result, const char *name) {
    if (result != SUCCESS)
        device_fail("%s: %s", name, nccl.ncclGetErrorString(result));
    return result == SUCCESS;
}
#define NCCL_CALL(name, ...) succeeded(nccl.name(__VA_ARGS__), #name)

static bool open_library(const char **why) {
    static const LibraryFile files[] = {{"libnccl.so.2", 0}, {NULL, 0}};
#define SYMBOL(name) LIBRARY_SYMBOL(Nccl, name, false)
    static const LibrarySymbol symbols[] = {SYMBOL(ncclGetUniqueId), SYMBOL(ncclCommInitRank),
                                            SYMBOL(ncclCommDestroy), SYMBOL(ncclReduce),
                                            SYMBOL(ncclAllReduce),   SYMBOL(ncclGetErrorString)};
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

static void leave(void *group) {
    if (cuda_enter())
        NCCL_CALL(ncclCommDestroy, group);
}

static int op_of(Reducer reducer) {
    static const int ops[REDUCER_COUNT] = {
        [REDUCER_SUM] = 0, [REDUCER_PROD] = 1, [REDUCER_MAX] = 2, [REDUCER_MIN] = 3};
    return ops[reducer];
}

// A complex number is two real ones, whose sums are apart.
static void sum(void *group, Reducer reducer, ElementType type, void *elements, int64_t count, int root) {
    const TypeInfo *info = type_info(type);
    const size_t size = info->is_complex ? info->size / 2 : info->size;
    const int of =
        info->is_integer ? (size == 4 ? TYPE_INT32 : TYPE_INT64) : (size == 4 ? TYPE_FLOAT32 : TYPE_FLOAT64);
    const size_t numbers = (size_t)count * (info->is_complex ? 2 : 1);
    if (!cuda_enter())
        return;
    if (root < 0)
        NCCL_CALL(ncclAllReduce, elements, elements, numbers, of, op_of(reducer), group, cuda_stream());
    else
        NCCL_CALL(ncclReduce, elements, elements, numbers, of, op_of(reducer), root, group, cuda_stream());
}

const DeviceSums nccl_sums = {
    .open = open_library, .name = name_group, .join = join, .leave = leave, .sum = sum};
