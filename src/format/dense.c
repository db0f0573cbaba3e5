// SPDX-License-Identifier: BSD-3-Clause
// The dense level: every coordinate of the mode is stored, at a distance of the view's stride.
#include "format/formats.h"

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

const LevelFormat dense_level = {
    .name = "dense",
    .supported = true,
    .full = true,
    .emit_locate = emit_locate,
};
