// SPDX-License-Identifier: BSD-3-Clause
#include "format/contiguous.h"

#include "base/integer.h"
#include "format/runs.h"

typedef struct {
    ContiguousVisit visit; // NULL: runs are counted
    void *context;
    int64_t count;
    int64_t base; // of the tile
} Walk;

static bool is_contiguous(const Runs *runs) {
    return runs->extent[0] == 1 || (runs->a[0] == 1 && runs->b[0] == 1);
}

// The runs of level `level` and those below it, from these offsets on.
static void visit_level(const Walk *walk, const Runs *runs, int level, int64_t a, int64_t b) {
    if (level > 0) {
        // cppcheck-suppress arrayIndexOutOfBoundsCond // there are as many levels
        for (int64_t i = 0; i < runs->extent[level]; i++)
            visit_level(walk, runs, level - 1, a + i * runs->a[level], b + i * runs->b[level]);
    } else if (is_contiguous(runs)) {
        walk->visit(walk->context, a, b, runs->extent[0]);
    } else {
        for (int64_t i = 0; i < runs->extent[0]; i++)
            walk->visit(walk->context, a + i * runs->a[0], b + i * runs->b[0], 1);
    }
}

static void visit_patch(void *context, const Patch *patch) {
    Walk *walk = context;
    const Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    if (walk->visit) {
        visit_level(walk, &runs, runs.levels - 1, walk->base + patch->a, patch->b);
        return;
    }
    int64_t count = is_contiguous(&runs) ? 1 : runs.extent[0];
    for (int l = 1; l < runs.levels; l++)
        count *= runs.extent[l];
    walk->count += runs.extent[0] > 0 ? count : 0;
}

// All of it in one piece, which begins at the offset walk->base.
static void walk_packed(Walk *walk, const Rect *rect, const Rect *in_file, LevelList levels,
                        const Frame *memory) {
    int64_t stride[MAX_ORDER] = {0};
    packed_strides(in_file, levels, stride);
    patches_visit(rect, &(Frame){in_file, stride}, memory, visit_patch, walk);
}

static bool is_in_tiles(const FileLayout *file) {
    for (int m = 0; m < file->rect->order; m++)
        if (file->rect->periodic[m])
            return false;
    return file->tile != NULL;
}

// The tiles that have some of `rect`, level by level: `tile` and `part` are set for the levels before this
// one, of which the tile has `width` elements, and begins at `base`.
static void walk_tiles(Walk *walk, const Rect *rect, const FileLayout *file, const Frame *memory, int level,
                       int64_t width, int64_t base, Rect *tile, Rect *part) {
    const Rect *whole = file->rect;
    if (level == whole->order) {
        walk->base = base;
        walk_packed(walk, part, tile, file->levels, memory);
        return;
    }
    const int mode = file->levels.mode_order ? file->levels.mode_order[level] : level;
    int64_t below = 1; // elements of the levels after this one
    for (int l = level + 1; l < whole->order; l++)
        below *= rect_count(whole, file->levels.mode_order ? file->levels.mode_order[l] : l);
    const int64_t first = (rect->lo[mode] - whole->lo[mode]) / file->tile[mode];
    for (int64_t t = first; whole->lo[mode] + t * file->tile[mode] < rect->hi[mode]; t++) {
        const int64_t begin = t * file->tile[mode];
        tile->lo[mode] = whole->lo[mode] + begin;
        tile->hi[mode] = min_i64(tile->lo[mode] + file->tile[mode], whole->hi[mode]);
        rect_set_mode(part, mode, positions_clip(rect_mode(rect, mode), tile->lo[mode], tile->hi[mode]));
        if (part->lo[mode] < part->hi[mode])
            walk_tiles(walk, rect, file, memory, level + 1, width * rect_count(tile, mode),
                       base + begin * width * below, tile, part);
    }
}

static void walk(Walk *to, const Rect *rect, const FileLayout *file, const Frame *memory) {
    if (rect_is_empty(rect))
        return;
    if (!is_in_tiles(file)) {
        walk_packed(to, rect, file->rect, file->levels, memory);
        return;
    }
    Rect tile = *file->rect, part = *rect;
    walk_tiles(to, rect, file, memory, 0, 1, 0, &tile, &part);
}

void contiguous_visit(const Rect *rect, const FileLayout *file, const Frame *memory, ContiguousVisit visit,
                      void *context) {
    walk(&(Walk){.visit = visit, .context = context}, rect, file, memory);
}

int64_t contiguous_count(const Rect *rect, const FileLayout *file, const Frame *memory) {
    Walk counting = {0};
    walk(&counting, rect, file, memory);
    return counting.count;
}
