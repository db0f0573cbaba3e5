// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_ranks.h"

#include "memory/gpu.h"
#include "runtime/agreement.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    return memcmp(a, b, sizeof(DeviceIdentity));
}

bool gpu_ranks_count(MPI_Comm comm, int *count, Diagnostics *diagnostics) {
    enum { WORDS = sizeof(DeviceIdentity) / sizeof(int64_t) };
    const char *why;
    int ranks;
    *count = 0;
    if (!agree(comm, gpu_open(&why)))
        return true;
    MPI_Comm_size(comm, &ranks);
    DeviceIdentity own = device_current()->identity(), *all = calloc((size_t)ranks, sizeof *all);
    const bool ok = agree(comm, all);
    if (ok) {
        all_gather(&own, all, WORDS, MPI_INT64_T, comm);
        qsort(all, (size_t)ranks, sizeof *all, compare);
        for (int r = 0; r < ranks; r++)
            *count += r == 0 || compare(&all[r - 1], &all[r]) != 0;
    }
    free(all);
    return ok || diagnostics_error(diagnostics, (Span){0}, "there is not enough memory to count GPUs");
}
