// SPDX-License-Identifier: BSD-3-Clause
#include "format/runs.h"

#include "base/integer.h"

#include <omp.h>

// With fewer elements, starting a team of threads costs more time than it saves.
enum { PARALLEL_ELEMENTS = 1 << 16 };

static bool comes_before(const Runs *runs, int i, int64_t a, int64_t b) {
    return runs->a[i] < a || (runs->a[i] == a && runs->b[i] <= b);
}

// Insertion sort by stride; there are few modes.
static void insert_level(Runs *runs, int64_t extent, int64_t a, int64_t b) {
    int i = runs->levels++;
    for (; i > 0 && !comes_before(runs, i - 1, a, b); i--) {
        runs->extent[i] = runs->extent[i - 1];
        runs->a[i] = runs->a[i - 1];
        runs->b[i] = runs->b[i - 1];
    }
    runs->extent[i] = extent;
    runs->a[i] = a;
    runs->b[i] = b;
}

static void join_levels(Runs *runs) {
    int last = 0;
    for (int l = 1; l < runs->levels; l++) {
        if (runs->a[l] == runs->a[last] * runs->extent[last] &&
            runs->b[l] == runs->b[last] * runs->extent[last]) {
            runs->extent[last] *= runs->extent[l];
            continue;
        }
        last++;
        runs->extent[last] = runs->extent[l];
        runs->a[last] = runs->a[l];
        runs->b[last] = runs->b[l];
    }
    runs->levels = last + 1;
}

Runs runs_create(int levels, const int64_t *extent, const int64_t *a_stride, const int64_t *b_stride) {
    Runs runs = {0};
    for (int d = 0; d < levels; d++) {
        if (extent[d] <= 0)
            return (Runs){.levels = 1, .extent = {0}};
        if (extent[d] > 1)
            insert_level(&runs, extent[d], a_stride[d], b_stride[d]);
    }
    if (runs.levels == 0)
        insert_level(&runs, 1, 1, 1);
    join_levels(&runs);
    return runs;
}

// Runs first .. last - 1, counted with the innermost level in blocks of RUN_LENGTH.
static void visit_range(const Runs *runs, int64_t first, int64_t last, RunVisit visit, void *context) {
    int64_t blocks = ceil_div(runs->extent[0], RUN_LENGTH);
    int64_t block = first % blocks, rest = first / blocks;
    int64_t index[MAX_LEVELS] = {0}, a = 0, b = 0;
    for (int l = 1; l < runs->levels; l++) {
        index[l] = rest % runs->extent[l];
        rest /= runs->extent[l];
        a += index[l] * runs->a[l];
        b += index[l] * runs->b[l];
    }
    for (int64_t r = first; r < last; r++) {
        int64_t done = block * RUN_LENGTH;
        Run run = {a + done * runs->a[0], b + done * runs->b[0], min_i64(RUN_LENGTH, runs->extent[0] - done),
                   runs->a[0], runs->b[0]};
        visit(context, &run);
        if (++block < blocks)
            continue;
        block = 0;
        for (int l = 1; l < runs->levels; l++) {
            a += runs->a[l];
            b += runs->b[l];
            if (++index[l] < runs->extent[l])
                break;
            index[l] = 0;
            a -= runs->extent[l] * runs->a[l];
            b -= runs->extent[l] * runs->b[l];
        }
    }
}

void runs_visit(const Runs *runs, bool threads, RunVisit visit, void *context) {
    if (runs->extent[0] == 0)
        return;
    int64_t outer = 1;
    for (int l = 1; l < runs->levels; l++)
        outer *= runs->extent[l];
    int64_t total = outer * ceil_div(runs->extent[0], RUN_LENGTH);
    if (!threads || total == 1 || outer < PARALLEL_ELEMENTS / runs->extent[0]) {
        visit_range(runs, 0, total, visit, context);
        return;
    }
#pragma omp parallel
    {
        int64_t team = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t share = ceil_div(total, team), first = min_i64(total, thread * share);
        visit_range(runs, first, min_i64(total, first + share), visit, context);
    }
}
