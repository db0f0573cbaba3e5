// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_sums.h"

#include "memory/gpu.h"
#include "runtime/agreement.h"
#include "runtime/gpu_ranks.h"
#include "runtime/setting.h"
#include "runtime/wait.h"

bool gpu_sums_choose(MPI_Comm comm, bool gpu_messages, bool *gpu_sums, const char **why,
                     Diagnostics *diagnostics) {
    const char *none = NULL;
    Setting setting = {.variable = "DISTAL_GPU_NCCL"};
    *gpu_sums = false;
    *why = NULL;
    if (!setting_agree(comm, &setting, diagnostics))
        return false;
    if (!gpu_messages || setting.choice == CHOICE_OFF)
        return true;
    const Device *device = gpu_open(&none);
    const DeviceSums *sums = device ? device->sums : NULL;
    if (!agree(comm, device))
        return true; // which is said when it is used
    if (!agree(comm, sums)) {
        *gpu_sums = setting.choice == CHOICE_ON;
        return true;
    }
    int ranks;
    MPI_Comm_size(comm, &ranks);
    if (gpu_ranks_count(comm) < ranks)
        *why = "as ranks share GPUs";
    else if (!agree(comm, sums && sums->open(&none)))
        *why = "as NCCL is not there on all ranks";
    *gpu_sums = !*why;
    return true;
}

bool gpu_sums_expect(bool gpu_messages, bool *gpu_sums, Diagnostics *diagnostics) {
    Setting setting = {.variable = "DISTAL_GPU_NCCL"};
    const bool ok = setting_read(&setting, diagnostics);
    *gpu_sums = ok && gpu_messages && setting.choice == CHOICE_ON;
    return ok;
}

static int keyval = MPI_KEYVAL_INVALID;

static int leave(MPI_Comm comm, int key, void *group, void *extra) {
    (void)comm;
    (void)key;
    (void)extra;
    if (device_current())
        device_current()->sums->leave(group);
    return MPI_SUCCESS;
}

// That one rank could not join is noted as a failure of its GPU.
static void *join(MPI_Comm comm) {
    char name[DEVICE_GROUP_BYTES] = {0};
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (!agree(comm, rank > 0 || device_current()->sums->name(name)))
        return NULL;
    broadcast(name, sizeof name, MPI_BYTE, 0, comm);
    void *group = device_current()->sums->join(name, ranks, rank);
    if (group)
        MPI_Comm_set_attr(comm, keyval, group);
    return group;
}

void gpu_sums_start(MPI_Comm comm, Reducer reducer, ElementType type, void *elements, int64_t count,
                    int root) {
    void *group;
    int found;
    if (!agree(comm, !device_failed()))
        return;
    if (keyval == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave, &keyval, NULL);
    MPI_Comm_get_attr(comm, keyval, &group, &found);
    if (!found && !agree(comm, (group = join(comm)) != NULL))
        return;
    device_current()->sums->sum(group, reducer, type, elements, count, root);
}

void gpu_sums_forget(MPI_Comm comm) {
    void *group;
    int found = 0;
    if (keyval != MPI_KEYVAL_INVALID)
        MPI_Comm_get_attr(comm, keyval, &group, &found);
    if (found)
        MPI_Comm_delete_attr(comm, keyval);
}
