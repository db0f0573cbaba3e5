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

bool gpu_sums_join(MPI_Comm comm, void **group) {
    const DeviceSums *sums = device_current()->sums;
    char name[DEVICE_GROUP_BYTES] = {0};
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *group = NULL;
    const bool ready = !device_failed() && (rank > 0 || sums->name(name));
    if (!agree(comm, ready))
        return ready;
    broadcast(name, sizeof name, MPI_BYTE, 0, comm);
    void *joined = sums->join(name, ranks, rank);
    if (agree(comm, joined))
        *group = joined;
    else
        gpu_sums_leave(joined);
    return joined;
}

void gpu_sums_leave(void *group) {
    if (group && device_current())
        device_current()->sums->leave(group);
}
