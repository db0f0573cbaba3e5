// SPDX-License-Identifier: BSD-3-Clause
#include "format/append.h"

static bool has_array(const LevelFormat *format, LevelArrayKind kind) {
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
        if (format->arrays[a].kind == kind)
            return true;
    return false;
}

static void add(AppendLists *lists, int level, AppendKind kind, bool wide) {
    lists->lists[lists->count++] = (AppendList){level, kind, wide};
}

AppendLists append_lists(int order, const LevelType *levels) {
    AppendLists lists = {0};
    for (int l = 0; l < order; l++) {
        const LevelFormat *format = levels[l].format;
        if (format->full && format->locate)
            continue;
        const bool begins = has_array(format, LEVEL_ARRAY_POSITIONS);
        if (!format->ordered || !has_array(format, LEVEL_ARRAY_COORDINATES) ||
            (!begins && !format->branchless))
            return (AppendLists){0};
        if (begins && l > 0) {
            if (levels[l - 1].format->full)
                add(&lists, l, APPEND_PARENTS, true);
            add(&lists, l, APPEND_BEGINS, true);
        }
        add(&lists, l, APPEND_COORDINATES, levels[l].wide);
    }
    return lists;
}

int append_list(const AppendLists *lists, int level, AppendKind kind) {
    for (int i = 0; i < lists->count; i++)
        if (lists->lists[i].level == level && lists->lists[i].kind == kind)
            return i;
    return -1;
}

int append_last_level(const AppendLists *lists) {
    return lists->count ? lists->lists[lists->count - 1].level : -1;
}
