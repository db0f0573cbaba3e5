// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_sums.h"

#include "memory/gpu.h"
#include "runtime/agreement.h"
#include "runtime/gpu_ranks.h"
#include "runtime/setting.h"
#include "runtime/wait.h"

#include <stdio.h>

// Why the library of sums was not loaded on the first rank where it was not; NULL: it was on all. Collective.
static const char *without_library(MPI_Comm comm, const DeviceSums *sums) {
    static char text[384];
    char clause[256] = {0};
    const char *why = NULL;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int first = sums && sums->open(&why) ? ranks : rank;
    all_reduce(&first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks)
        return NULL;
    if (rank == first)
        snprintf(clause, sizeof clause, "%s", why);
    broadcast(clause, sizeof clause, MPI_CHAR, first, comm);
    snprintf(text, sizeof text, "as rank %d has no NCCL (%s)", first, clause);
    return text;
}

bool gpu_sums_choose(MPI_Comm comm, bool gpu_messages, bool *gpu_sums, const char **why,
                     Diagnostics *diagnostics) {
    const char *none;
    Choice choice;
    *gpu_sums = false;
    *why = NULL;
    if (!setting_agree(comm, "DISTAL_GPU_NCCL", &choice, diagnostics))
        return false;
    if (!gpu_messages || choice == CHOICE_OFF)
        return true;
    const Device *device = gpu_open(&none);
    const DeviceSums *sums = device ? device->sums : NULL;
    if (!agree(comm, device))
        return true; // which is said when it is used
    if (!agree(comm, sums)) {
        *gpu_sums = choice == CHOICE_ON;
        return true;
    }
    int ranks;
    MPI_Comm_size(comm, &ranks);
    const int gpus = gpu_ranks_count(comm);
    if (gpus == 0)
        return diagnostics_error(diagnostics, (Span){0}, "there is not enough memory to count GPUs");
    *why = gpus < ranks ? "as ranks share GPUs" : without_library(comm, sums);
    *gpu_sums = !*why;
    return true;
}

bool gpu_sums_expect(bool gpu_messages, bool *gpu_sums, Diagnostics *diagnostics) {
    Choice choice;
    const bool ok = setting_read("DISTAL_GPU_NCCL", &choice, diagnostics);
    *gpu_sums = ok && gpu_messages && choice == CHOICE_ON;
    return ok;
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
