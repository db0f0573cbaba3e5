// SPDX-License-Identifier: BSD-3-Clause
#include "plan/ranks.h"

#include <stdlib.h>

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

int64_t ranks_position(const int64_t *ranks, int64_t count, int64_t rank) {
    const int64_t *found = count ? bsearch(&rank, ranks, (size_t)count, sizeof rank, compare) : NULL;
    return found ? found - ranks : -1;
}

bool ranks_contain(const int64_t *ranks, int64_t count, int64_t rank) {
    return ranks_position(ranks, count, rank) >= 0;
}

int ranks_compare(const int64_t *a, int64_t a_count, const int64_t *b, int64_t b_count) {
    for (int64_t i = 0; i < a_count && i < b_count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return (a_count > b_count) - (a_count < b_count);
}

void ranks_sort(int64_t *ranks, int64_t count) {
    bool sorted = true;
    for (int64_t i = 1; i < count && sorted; i++)
        sorted = ranks[i - 1] <= ranks[i];
    if (!sorted)
        qsort(ranks, (size_t)count, sizeof *ranks, compare);
}

int64_t ranks_unique(int64_t *ranks, int64_t count) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || ranks[kept - 1] != ranks[i])
            ranks[kept++] = ranks[i];
    return kept;
}
