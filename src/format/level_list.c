// SPDX-License-Identifier: BSD-3-Clause
#include "format/level_list.h"

#include "format/entries.h"

#include <string.h>

static const TensorFormat tensor_formats[] = {
    {"csr", 2, 2, {"dense", NULL, "compressed"}, false, false},
    {"csc", 2, 2, {"dense", NULL, "compressed"}, false, true},
    {"dcsr", 2, 2, {"compressed", NULL, "compressed"}, false, false},
    {"coo", 1, MAX_ORDER, {"compressed", "singleton", "singleton"}, true, false},
    {"csf", 1, MAX_ORDER, {"compressed", "compressed", "compressed"}, false, false},
};
enum { TENSOR_FORMATS = sizeof tensor_formats / sizeof *tensor_formats };

const TensorFormat *tensor_format(const char *name) {
    for (int i = 0; i < TENSOR_FORMATS; i++)
        if (strcmp(tensor_formats[i].name, name) == 0)
            return &tensor_formats[i];
    return NULL;
}

const char *const *tensor_format_names(int64_t *count) {
    static const char *names[TENSOR_FORMATS];
    for (int i = 0; i < TENSOR_FORMATS; i++)
        names[i] = tensor_formats[i].name;
    *count = TENSOR_FORMATS;
    return names;
}

void tensor_format_levels(const TensorFormat *format, int order, LevelType *levels, int *mode_order) {
    for (int l = 0; l < order; l++) {
        const int place = l == 0 ? 0 : l == order - 1 ? 2 : 1;
        levels[l] = (LevelType){.format = level_format(format->levels[place]),
                                .nonunique = format->repeats && l < order - 1};
        mode_order[l] = format->reversed ? order - 1 - l : l;
    }
}

bool level_can_repeat(const LevelFormat *format) {
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
        if (format->arrays[a].kind == LEVEL_ARRAY_COORDINATES)
            return true;
    return false;
}

bool level_is_padded(int order, const LevelType *levels, int level) {
    bool above = false, below = true;
    for (int l = 0; l < level; l++)
        above = above || !levels[l].format->full;
    for (int l = level; l < order; l++)
        below = below && levels[l].format->full;
    return above && below;
}

bool level_can_be_part(int order, const LevelType *levels, int level) {
    bool below = true;
    for (int l = level; l < order; l++)
        below = below && levels[l].format->full;
    return below || (level == 0 && levels[0].format->full);
}

void level_list_mend(int order, LevelType *levels) {
    if (order > 0 && levels[0].format->branchless)
        levels[0].format = level_format("compressed");
    for (int l = 0; l < order; l++) {
        const bool alone_below = l + 1 < order && levels[l + 1].format->branchless;
        if (alone_below && !level_can_repeat(levels[l].format))
            levels[l].format = level_format("compressed");
        levels[l].nonunique = alone_below;
    }
}

const char *level_list_refuse(Arena *arena, int order, const LevelType *levels, int *at) {
    for (int l = 0; l < order; l++) {
        const char *name = levels[l].format->name;
        *at = l;
        if (levels[l].nonunique && !level_can_repeat(levels[l].format))
            return arena_printf(arena, "'%s' stores each coordinate once, so it cannot be nonunique", name);
        if (levels[l].format->branchless && (l == 0 || !levels[l - 1].nonunique))
            return arena_printf(arena, "'%s' stores one coordinate for each position of the level above, %s",
                                name, l == 0 ? "and there is none" : "so that level has to be nonunique");
        if (levels[l].nonunique && (l == order - 1 || !levels[l + 1].format->branchless))
            return "only the level above a singleton level can be nonunique";
    }
    return NULL;
}

bool level_list_is_sparse(int order, const LevelType *levels) {
    for (int l = 0; l < order; l++)
        if (!levels[l].format->full)
            return true;
    return false;
}

bool level_list_set_widths(int order, LevelType *levels, const int *mode_order, const int64_t *extents) {
    bool changed = false;
    for (int l = 0; l < order; l++) {
        const bool wide = level_can_repeat(levels[l].format) && coordinate_is_wide(extents[mode_order[l]]);
        changed |= wide != levels[l].wide;
        levels[l].wide = wide;
    }
    return changed;
}

static void level_type_print(LevelType type, Text *to) {
    text_printf(to, "%s%s", type.format->name, type.nonunique ? "(nonunique)" : "");
}

void level_list_print(int order, const LevelType *levels, Text *to) {
    text_append(to, "{");
    for (int l = 0; l < order; l++) {
        text_append(to, l ? ", " : "");
        level_type_print(levels[l], to);
    }
    text_append(to, "}");
}
