// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_ranks.h"

#include "memory/device.h"
#include "runtime/agreement.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    return memcmp(a, b, sizeof(DeviceIdentity));
}

int gpu_ranks_count(MPI_Comm comm) {
    enum { WORDS = sizeof(DeviceIdentity) / sizeof(int64_t) };
    int ranks, count = 0;
    MPI_Comm_size(comm, &ranks);
    DeviceIdentity own = device_current()->identity(), *all = calloc((size_t)ranks, sizeof *all);
    if (agree(comm, all)) {
        all_gather(&own, all, WORDS, MPI_INT64_T, comm);
        qsort(all, (size_t)ranks, sizeof *all, compare);
        for (int r = 0; r < ranks; r++)
            count += r == 0 || compare(&all[r - 1], &all[r]) != 0;
    }
    free(all);
    return count;
}
