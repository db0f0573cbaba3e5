// SPDX-License-Identifier: BSD-3-Clause
#include "format/level.h"

#include "format/formats.h"

#include <string.h>

#define POINTER(name) &name##_level,
static const LevelFormat *const formats[] = {LEVEL_FORMATS(POINTER)};
// NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const LevelFormat *level_format(const char *name) {
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

LevelType level_type_dense(void) {
    return (LevelType){.format = &dense_level};
}

int level_array(const LevelFormat *format, LevelArrayKind kind) {
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
        if (format->arrays[a].kind == kind)
            return a;
    return -1;
}

bool level_type_equal(LevelType a, LevelType b) {
    return a.format == b.format && a.nonunique == b.nonunique && a.wide == b.wide;
}

const char *const *level_format_names(int64_t *count) {
    static const char *names[FORMAT_COUNT];
    for (int i = 0; i < FORMAT_COUNT; i++)
        names[i] = formats[i]->name;
    *count = FORMAT_COUNT;
    return names;
}
