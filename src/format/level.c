// SPDX-License-Identifier: BSD-3-Clause
#include "format/level.h"

#include "format/formats.h"

#include <string.h>

static const LevelFormat compressed_level = {.name = "compressed"};
static const LevelFormat singleton_level = {.name = "singleton"};

enum { FORMAT_COUNT = 3 };
static const LevelFormat *const formats[FORMAT_COUNT] = {&dense_level, &compressed_level, &singleton_level};

const LevelFormat *level_format(const char *name) {
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

const LevelFormat *level_format_dense(void) {
    return &dense_level;
}

const char *const *level_format_names(int64_t *count) {
    static const char *names[FORMAT_COUNT];
    for (int i = 0; i < FORMAT_COUNT; i++)
        names[i] = formats[i]->name;
    *count = FORMAT_COUNT;
    return names;
}
