// SPDX-License-Identifier: BSD-3-Clause
#include "format/stored.h"

#include "base/integer.h"
#include "format/formats.h"
#include "format/level_list.h"
#include "memory/memory.h"

#include <string.h>

int64_t level_element_size(const LevelFormat *format, const LevelArrays *level, int array) {
    const LevelArrayKind kind = format->arrays[array].kind;
    return kind == LEVEL_ARRAY_NONE ? 0 : kind == LEVEL_ARRAY_COORDINATES && !level->wide ? 4 : 8;
}

void stored_restrict(StoredTensor *tensor, int64_t count, const Rect *rects) {
    bool first = true;
    tensor->part = tensor->order > 0;
    for (int d = 0; d < tensor->order; d++) {
        tensor->part = tensor->part && tensor->extents[d] > 0;
        tensor->lo[d] = tensor->hi[d] = 0;
    }
    for (int64_t i = 0; i < count && tensor->part; i++) {
        if (rect_is_empty(&rects[i]))
            continue;
        for (int d = 0; d < tensor->order; d++) {
            tensor->lo[d] = first ? rects[i].lo[d] : min_i64(tensor->lo[d], rects[i].lo[d]);
            tensor->hi[d] = first ? rects[i].hi[d] : max_i64(tensor->hi[d], rects[i].hi[d]);
        }
        first = false;
    }
}

bool stored_is_padded(const StoredTensor *tensor, int64_t count, const Rect *rects) {
    for (int l = 0; l < tensor->order; l++)
        for (int64_t i = 0; i < count && level_is_padded(tensor->order, tensor->levels, l); i++) {
            const int mode = tensor->mode_order[l];
            if (rect_count(&rects[i], mode) != tensor->hi[mode] - tensor->lo[mode])
                return true;
        }
    return false;
}

LevelArrays stored_level(const StoredTensor *tensor, int l) {
    const bool part = tensor->part && level_can_be_part(tensor->order, tensor->levels, l);
    const int mode = tensor->mode_order[l];
    return (LevelArrays){.first = part ? tensor->lo[mode] : 0,
                         .extent = part ? tensor->hi[mode] - tensor->lo[mode] : tensor->extents[mode],
                         .wide = tensor->levels[l].wide};
}

static int64_t level_bytes(const LevelFormat *format, const LevelArrays *level) {
    int64_t bytes = 0;
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
        bytes = saturated_add(bytes, saturated_mul(level->lengths[a], level_element_size(format, level, a)));
    return bytes;
}

int64_t stored_structure_bytes(const StoredTensor *tensor) {
    int64_t bytes = 0;
    for (int l = 0; l < tensor->order; l++)
        bytes = saturated_add(bytes, level_bytes(tensor->levels[l].format, &tensor->arrays[l]));
    return bytes;
}

int64_t stored_bytes(const StoredTensor *tensor) {
    return saturated_add(stored_structure_bytes(tensor),
                         saturated_mul(tensor->value_count, (int64_t)type_info(tensor->type)->size));
}

int64_t stored_before(const StoredTensor *tensor, int level, const int64_t *coordinates) {
    Slice at = {0, 1};
    for (int l = 0; l <= level; l++) {
        const LevelArrays *arrays = &tensor->arrays[l];
        const bool any = at.count > 0; // else what is below the next position
        at = tensor->levels[l].format->image(arrays, at, any ? coordinates[l] : 0,
                                             any ? coordinates[l] + 1 : INT64_MAX);
    }
    return at.first;
}

StoredTensor stored_compressed(const StoredTensor *tensor, ElementType type, const int *mode_order) {
    StoredTensor empty = {.type = type, .order = tensor->order};
    memcpy(empty.extents, tensor->extents, sizeof empty.extents);
    memcpy(empty.mode_order, mode_order, sizeof(int) * (size_t)tensor->order);
    for (int l = 0; l < tensor->order; l++)
        empty.levels[l] = (LevelType){.format = &compressed_level,
                                      .wide = coordinate_is_wide(tensor->extents[mode_order[l]])};
    return empty;
}

void stored_free(StoredTensor *tensor) {
    for (int l = 0; l < tensor->order; l++)
        for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
            if (!tensor->arrays[l].borrowed[a])
                memory_release(MEMORY_HOST, tensor->arrays[l].arrays[a]);
            tensor->arrays[l].arrays[a] = NULL;
        }
    if (!tensor->values_borrowed)
        memory_release(MEMORY_HOST, tensor->values);
    tensor->values = NULL;
}
