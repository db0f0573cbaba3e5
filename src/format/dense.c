// SPDX-License-Identifier: BSD-3-Clause
// The dense level: every coordinate of the mode is stored, at a distance of the view's stride.
#include "format/formats.h"

#include "base/integer.h"

static void emit_locate(const LevelSite *site, Text *to) {
    if (site->parent_position)
        text_printf(to, "%s + ", site->parent_position);
    if (site->last)
        text_printf(to, "%s - %s", site->coordinate, site->lo);
    else
        text_printf(to, "(%s - %s) * %s", site->coordinate, site->lo, site->stride);
}

static int64_t positions(int64_t parent_positions, int64_t extent) {
    int64_t count;
    return checked_mul(parent_positions, extent, &count) ? count : INT64_MAX;
}

const LevelFormat dense_level = {
    .name = "dense",
    .supported = true,
    .full = true,
    .emit_locate = emit_locate,
    .positions = positions,
};
