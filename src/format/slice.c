// SPDX-License-Identifier: BSD-3-Clause
#include "format/slice.h"

static int mode_of(LevelList levels, int level) {
    return levels.mode_order ? levels.mode_order[level] : level;
}

void packed_strides(const Rect *rect, LevelList levels, int64_t *stride) {
    int64_t below = 1;
    for (int l = rect->order - 1; l >= 0; l--) {
        const int mode = mode_of(levels, l);
        const LevelType level = levels.types ? levels.types[l] : level_type_dense();
        stride[mode] = below;
        below = level.format->elements(rect_count(rect, mode), below);
    }
}

int64_t frame_offset(const Frame *frame, const Rect *rect) {
    int64_t offset = 0;
    for (int d = 0; d < rect->order; d++)
        offset += positions_index(rect_mode(frame->rect, d), rect->lo[d]) * frame->stride[d];
    return offset;
}

bool frame_mode_is_contiguous(const Frame *frame, const Rect *rect, int mode) {
    const PositionSet set = rect_mode(rect, mode), in = rect_mode(frame->rect, mode);
    return positions_index(in, set.hi - 1) - positions_index(in, set.lo) + 1 == positions_count(set);
}

int64_t frame_locate(const Frame *frame, const Rect *rect, LevelList levels) {
    int64_t packed[MAX_ORDER] = {0};
    packed_strides(rect, levels, packed);
    for (int d = 0; d < rect->order; d++)
        if (rect_count(rect, d) > 1 &&
            (frame->stride[d] != packed[d] || !frame_mode_is_contiguous(frame, rect, d)))
            return -1;
    return frame_offset(frame, rect);
}

int64_t packed_locate(const Rect *outer, const Rect *rect, LevelList levels) {
    int64_t stride[MAX_ORDER] = {0};
    packed_strides(outer, levels, stride);
    return frame_locate(&(Frame){outer, stride}, rect, levels);
}

int frame_modes(const Frame *frame, const Rect *rect, int *modes) {
    int count = 0;
    for (int d = 0; d < rect->order; d++) {
        if (rect_count(rect, d) == 1)
            continue;
        int at = count++;
        for (; at > 0 && frame->stride[modes[at - 1]] > frame->stride[d]; at--)
            modes[at] = modes[at - 1];
        modes[at] = d;
    }
    return count;
}

int64_t frame_span(const Frame *frame) {
    int64_t span = 1;
    for (int d = 0; d < frame->rect->order; d++)
        span += (rect_count(frame->rect, d) - 1) * frame->stride[d];
    return span;
}
