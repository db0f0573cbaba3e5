// SPDX-License-Identifier: BSD-3-Clause
#include "format/budget.h"

#include "base/integer.h"
#include "format/entries.h"
#include "memory/memory.h"

#include <omp.h>
#include <string.h>

// Each thread zeroes a share, so that pages are placed in the memory near it (first touch).
static void set_zero(char *memory, int64_t bytes) {
    const int team = entries_team(bytes / 8);
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        const int64_t begin = part_begin(bytes, team, t);
        memset(memory + begin, 0, (size_t)(part_begin(bytes, team, t + 1) - begin));
    }
}

void *budget_take(Budget *budget, int64_t count, int64_t size, bool zero) {
    int64_t bytes;
    if (!checked_mul(count, size, &bytes) || bytes > budget->left)
        return NULL;
    void *memory = memory_host.allocate(bytes);
    if (!memory)
        return NULL;
    budget->left -= bytes;
    if (zero)
        set_zero(memory, bytes);
    return memory;
}

void budget_release(Budget *budget, void *memory, int64_t count, int64_t size) {
    if (memory)
        budget->left += count * size;
    memory_host.release(memory);
}
