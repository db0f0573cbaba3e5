// SPDX-License-Identifier: BSD-3-Clause
#include "format/stored.h"

#include "base/integer.h"
#include "memory/memory.h"

int64_t level_element_size(const LevelFormat *format, const LevelArrays *level, int array) {
    const LevelArrayKind kind = format->arrays[array].kind;
    return kind == LEVEL_ARRAY_NONE ? 0 : kind == LEVEL_ARRAY_COORDINATES && !level->wide ? 4 : 8;
}

void stored_restrict(StoredTensor *tensor, int64_t count, const Rect *rects) {
    const int mode = tensor->mode_order[0];
    tensor->part = tensor->order > 0;
    tensor->lo = tensor->hi = 0;
    for (int d = 0; d < tensor->order; d++)
        tensor->part = tensor->part && tensor->extents[d] > 0;
    for (int64_t i = 0; i < count && tensor->part; i++) {
        const bool first = tensor->lo == tensor->hi;
        if (rect_is_empty(&rects[i]))
            continue;
        tensor->lo = first ? rects[i].lo[mode] : min_i64(tensor->lo, rects[i].lo[mode]);
        tensor->hi = first ? rects[i].hi[mode] : max_i64(tensor->hi, rects[i].hi[mode]);
    }
}

LevelArrays stored_level(const StoredTensor *tensor, int l) {
    const bool part = l == 0 && tensor->part && tensor->levels[0].format->full;
    return (LevelArrays){.first = part ? tensor->lo : 0,
                         .extent = part ? tensor->hi - tensor->lo : tensor->extents[tensor->mode_order[l]],
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
