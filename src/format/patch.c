// SPDX-License-Identifier: BSD-3-Clause
#include "format/patch.h"

bool strip_next(PositionSet set, PositionSet a, PositionSet b, int64_t from, Strip *strip, int64_t *next) {
    PositionSet run = positions_run(set, from);
    if (run.lo >= run.hi)
        return false;
    *strip = (Strip){.repeat = 1, .a = positions_index(a, run.lo), .b = positions_index(b, run.lo)};
    // Contiguous in both places: an interval, or a range of two periodic sets that agree there.
    if (!set.periodic ||
        (periodic_equal(set.periodic, a.periodic) && periodic_equal(set.periodic, b.periodic))) {
        *next = set.hi;
        strip->length = positions_count((PositionSet){run.lo, set.hi, set.periodic});
        return true;
    }
    strip->length = run.hi - run.lo;
    for (*next = run.hi;; *next = run.hi) {
        run = positions_run(set, *next);
        if (run.lo >= run.hi)
            return true;
        const int64_t from_a = positions_index(a, run.lo) - strip->a,
                      from_b = positions_index(b, run.lo) - strip->b;
        const int64_t length = run.hi - run.lo;
        if (strip->repeat == 1 && from_a == strip->length && from_b == strip->length) {
            strip->length += length;
            continue;
        }
        if (strip->repeat == 1) {
            strip->a_step = from_a;
            strip->b_step = from_b;
        }
        if (length != strip->length || from_a != strip->repeat * strip->a_step ||
            from_b != strip->repeat * strip->b_step)
            return true;
        strip->repeat++;
    }
}

static void add_level(Patch *patch, int64_t extent, int64_t a_stride, int64_t b_stride) {
    patch->extent[patch->levels] = extent;
    patch->a_stride[patch->levels] = a_stride;
    patch->b_stride[patch->levels++] = b_stride;
}

// The patches whose strips of the modes before `mode` are in `so_far`.
static void visit_modes(const Rect *rect, const Frame *a, const Frame *b, int mode, const Patch *so_far,
                        PatchVisit visit, void *context) {
    if (mode == rect->order) {
        visit(context, so_far);
        return;
    }
    const PositionSet set = rect_mode(rect, mode), in_a = rect_mode(a->rect, mode),
                      in_b = rect_mode(b->rect, mode);
    Strip strip;
    for (int64_t at = set.lo; strip_next(set, in_a, in_b, at, &strip, &at);) {
        Patch patch = *so_far;
        patch.a += strip.a * a->stride[mode];
        patch.b += strip.b * b->stride[mode];
        add_level(&patch, strip.length, a->stride[mode], b->stride[mode]);
        if (strip.repeat > 1)
            add_level(&patch, strip.repeat, strip.a_step * a->stride[mode], strip.b_step * b->stride[mode]);
        visit_modes(rect, a, b, mode + 1, &patch, visit, context);
    }
}

void patches_visit(const Rect *rect, const Frame *a, const Frame *b, PatchVisit visit, void *context) {
    const Patch none = {0};
    visit_modes(rect, a, b, 0, &none, visit, context);
}
