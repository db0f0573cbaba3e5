// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_sums.h"

#include "runtime/agreement.h"
#include "runtime/setting.h"
#include "runtime/wait.h"

static bool open_library(void *arguments, Diagnostics *diagnostics) {
    int rank;
    const char *why = NULL;
    MPI_Comm_rank(*(MPI_Comm *)arguments, &rank);
    return device_current()->sums->open(&why) ||
           diagnostics_error(diagnostics, (Span){0}, "rank %d has no NCCL (%s)", rank, why);
}

// Why the library of sums was not loaded on the first rank where it was not; NULL: it was on all. Collective.
static const char *without_library(MPI_Comm comm, Arena *arena) {
    Diagnostics *failures = diagnostics_create(arena, (Source){0});
    if (agree_on_part(comm, open_library, &comm, failures))
        return NULL;
    return failures->list.count > 0 ? arena_printf(arena, "as %s", failures->list.items[0].message)
                                    : "as there is not enough memory";
}

bool gpu_sums_choose(MPI_Comm comm, bool gpu_messages, int gpus, bool *gpu_sums, const char **why,
                     Diagnostics *diagnostics) {
    Choice choice;
    *gpu_sums = false;
    *why = NULL;
    if (!setting_agree(comm, "DISTAL_GPU_NCCL", &choice, diagnostics))
        return false;
    if (!gpu_messages || choice == CHOICE_OFF || gpus == 0)
        return true;
    if (!agree(comm, device_current()->sums)) {
        *gpu_sums = choice == CHOICE_ON;
        return true;
    }
    int ranks;
    MPI_Comm_size(comm, &ranks);
    *why = gpus < ranks ? "as ranks share GPUs" : without_library(comm, diagnostics->arena);
    *gpu_sums = !*why;
    return true;
}

bool gpu_sums_expect(bool gpu_messages, bool *gpu_sums, Diagnostics *diagnostics) {
    Choice choice;
    const bool ok = setting_read("DISTAL_GPU_NCCL", &choice, diagnostics);
    *gpu_sums = ok && gpu_messages && choice == CHOICE_ON;
    return ok;
}

bool gpu_sums_combine(const RankTransfer *transfer, const RankOperation *operation) {
    const Device *device = device_current();
    return device && device->sums && transfer->message_memory == MEMORY_GPU && operation->operation->sums &&
           !operation->read;
}

void *gpu_sums_join(MPI_Comm comm) {
    const DeviceSums *sums = device_current()->sums;
    char name[DEVICE_GROUP_BYTES] = {0};
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const bool ready = !device_failed() && (rank > 0 || sums->name(name));
    if (!agree(comm, ready))
        return NULL;
    broadcast(name, sizeof name, MPI_BYTE, 0, comm);
    void *joined = sums->join(name, ranks, rank);
    if (agree(comm, joined))
        return joined;
    gpu_sums_leave(joined);
    return NULL;
}

void gpu_sums_leave(void *group) {
    if (group && device_current())
        device_current()->sums->leave(group);
}
