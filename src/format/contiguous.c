// SPDX-License-Identifier: BSD-3-Clause
#include "format/contiguous.h"

#include "format/runs.h"

typedef struct {
    ContiguousVisit visit; // NULL: runs are counted
    void *context;
    int64_t count;
} Walk;

static bool is_contiguous(const Runs *runs) {
    return runs->extent[0] == 1 || (runs->a[0] == 1 && runs->b[0] == 1);
}

// The runs of level `level` and those below it, from these offsets on.
static void visit_level(const Walk *walk, const Runs *runs, int level, int64_t a, int64_t b) {
    if (level == 0 && is_contiguous(runs)) {
        walk->visit(walk->context, a, b, runs->extent[0]);
        return;
    }
    for (int64_t i = 0; i < runs->extent[level]; i++)
        if (level > 0)
            visit_level(walk, runs, level - 1, a + i * runs->a[level], b + i * runs->b[level]);
        else
            walk->visit(walk->context, a + i * runs->a[0], b + i * runs->b[0], 1);
}

static void visit_patch(void *context, const Patch *patch) {
    Walk *walk = context;
    const Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    if (walk->visit) {
        visit_level(walk, &runs, runs.levels - 1, patch->a, patch->b);
        return;
    }
    int64_t count = is_contiguous(&runs) ? 1 : runs.extent[0];
    for (int l = 1; l < runs.levels; l++)
        count *= runs.extent[l];
    walk->count += runs.extent[0] > 0 ? count : 0;
}

void contiguous_visit(const Rect *rect, const Frame *file, const Frame *memory, ContiguousVisit visit,
                      void *context) {
    if (!rect_is_empty(rect))
        patches_visit(rect, file, memory, visit_patch, &(Walk){visit, context, 0});
}

int64_t contiguous_count(const Rect *rect, const Frame *file, const Frame *memory) {
    Walk walk = {0};
    if (!rect_is_empty(rect))
        patches_visit(rect, file, memory, visit_patch, &walk);
    return walk.count;
}
