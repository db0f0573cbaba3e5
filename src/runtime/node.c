// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/node.h"

#include "base/integer.h"
#include "runtime/wait.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A number in a file that holds one, alone or after `label`; -1 where there is none.
static int64_t number_in(const char *path, const char *label) {
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    char line[256];
    long long number = -1, value;
    const size_t length = strlen(label);
    while (number < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, label, length) == 0 && sscanf(line + length, "%lld", &value) == 1)
            number = value;
    fclose(file);
    return number;
}

// Bytes that processes can still have: of the machine, and of the container that it may be.
static int64_t free_memory(void) {
    int64_t machine = number_in("/proc/meminfo", "MemAvailable:");
    const int64_t limit = number_in("/sys/fs/cgroup/memory.max", "");
    const int64_t used = number_in("/sys/fs/cgroup/memory.current", "") -
                         max_i64(number_in("/sys/fs/cgroup/memory.stat", "inactive_file "), 0);
    if (machine >= 0)
        machine *= 1024;
    if (limit < 0)
        return machine;
    return machine >= 0 && machine < limit - used ? machine : limit - used;
}

int64_t node_free_memory(MPI_Comm node) {
    int64_t available = free_memory();
    all_reduce(&available, 1, MPI_INT64_T, MPI_MIN, node);
    return available;
}

CoreShare node_share_cores(MPI_Comm node) {
    int size, rank;
    MPI_Comm_size(node, &size);
    MPI_Comm_rank(node, &rank);
    cpu_set_t own;
    cpu_set_t *sets = malloc(sizeof *sets * (size_t)size);
    if (sched_getaffinity(0, sizeof own, &own) != 0 || CPU_COUNT(&own) == 0) {
        CPU_ZERO(&own);
        CPU_SET(0, &own);
    }
    // Where memory is short, all get one core.
    int all_have_memory = sets != NULL;
    all_reduce(&all_have_memory, 1, MPI_INT, MPI_LAND, node);
    CoreShare share = {1, false};
    if (sets && all_have_memory) {
        int others = 0, before = 0;
        MPI_Allgather(&own, sizeof own, MPI_BYTE, sets, sizeof own, MPI_BYTE, node);
        for (int r = 0; r < size; r++) {
            const bool same = r != rank && CPU_EQUAL(&own, &sets[r]);
            others += same;
            before += same && r < rank;
        }
        const int cores = CPU_COUNT(&own);
        share.cores = cores / (others + 1) + (before < cores % (others + 1));
        share.crowded = others >= cores;
    }
    free(sets);
    return share;
}
