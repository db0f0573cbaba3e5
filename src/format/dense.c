// SPDX-License-Identifier: BSD-3-Clause
// The dense level: every coordinate of the mode is stored, at a distance of the view's stride.
#include "format/formats.h"

#include "base/integer.h"

#include <string.h>

static void emit_locate(const LevelSite *site, Text *to) {
    const char *plus = "";
    if (site->parent_position) {
        text_append(to, site->parent_position);
        plus = " + ";
    }
    if (strcmp(site->coordinate, "0") == 0)
        text_printf(to, site->parent_position ? " - %s" : "-%s", site->lo);
    else if (site->last)
        text_printf(to, "%s%s - %s", plus, site->coordinate, site->lo);
    else
        text_printf(to, "%s(%s - %s)", plus, site->coordinate, site->lo);
    if (!site->last)
        text_printf(to, " * %s", site->stride);
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
