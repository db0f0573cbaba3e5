// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/node.h"

#include "base/integer.h"

#include <stdio.h>
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
    MPI_Allreduce(MPI_IN_PLACE, &available, 1, MPI_INT64_T, MPI_MIN, node);
    return available;
}
