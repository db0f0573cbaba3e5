// SPDX-License-Identifier: BSD-3-Clause
#include "format/stored.h"

#include "base/integer.h"

static const char *check_positions(const StoredTensor *tensor, int l, const int64_t *pos, int64_t parents,
                                   Arena *arena) {
    int64_t wrong = pos[0] == 0 ? parents : -1;
#pragma omp parallel for num_threads(entries_team(parents)) reduction(min : wrong)
    for (int64_t p = 0; p < parents; p++)
        if (pos[p + 1] < pos[p])
            wrong = min_i64(wrong, p);
    if (wrong == parents)
        return NULL;
    return wrong < 0 ? arena_printf(arena, "pos of level %d (%s) begins with %lld in place of 0", l,
                                    tensor->levels[l].format->name, (long long)pos[0])
                     : arena_printf(arena, "pos of level %d (%s) decreases from element %lld to the next one",
                                    l, tensor->levels[l].format->name, (long long)wrong);
}

static const char *check_coordinates(const StoredTensor *tensor, int l, int array, Arena *arena) {
    const LevelArrays *level = &tensor->arrays[l];
    int64_t wrong = level->position_count;
#pragma omp parallel for num_threads(entries_team(level->position_count)) reduction(min : wrong)
    for (int64_t q = 0; q < level->position_count; q++) {
        const int64_t x = level_coordinate(level, array, q);
        if (x < 0 || x >= level->extent)
            wrong = min_i64(wrong, q);
    }
    return wrong == level->position_count
               ? NULL
               : arena_printf(
                     arena, "crd of level %d (%s) has %lld as element %lld, and mode %d has extent %lld", l,
                     tensor->levels[l].format->name, (long long)level_coordinate(level, array, wrong),
                     (long long)wrong, tensor->mode_order[l], (long long)level->extent);
}

// Whether the entry at position q of levels l to `last`, of which those after l are singletons, comes after
// the one at q - 1.
static bool comes_after(const StoredTensor *tensor, int l, int last, int64_t q) {
    for (; l <= last; l++) {
        const int array = level_array(tensor->levels[l].format, LEVEL_ARRAY_COORDINATES);
        const int64_t before = level_coordinate(&tensor->arrays[l], array, q - 1);
        const int64_t x = level_coordinate(&tensor->arrays[l], array, q);
        if (x != before)
            return x > before;
    }
    return false;
}

static const char *check_order(const StoredTensor *tensor, int l, const int64_t *pos, int64_t parents,
                               Arena *arena) {
    int last = l;
    while (tensor->levels[last].nonunique)
        last++;
    int64_t wrong = INT64_MAX;
#pragma omp parallel for num_threads(entries_team(tensor->arrays[l].position_count)) reduction(min : wrong)
    for (int64_t p = 0; p < parents; p++)
        for (int64_t q = pos[p] + 1; q < pos[p + 1]; q++)
            if (!comes_after(tensor, l, last, q))
                wrong = min_i64(wrong, q);
    return wrong == INT64_MAX
               ? NULL
               : arena_printf(arena,
                              "the coordinates at position %lld of level %d (%s) are not after those "
                              "before them: sort the entries, without duplicates",
                              (long long)wrong, l, tensor->levels[l].format->name);
}

const char *stored_check(const StoredTensor *tensor, Arena *arena) {
    const char *why = NULL;
    int64_t parents = 1;
    for (int l = 0; l < tensor->order && !why; l++) {
        const LevelFormat *format = tensor->levels[l].format;
        const int pos = level_array(format, LEVEL_ARRAY_POSITIONS),
                  crd = level_array(format, LEVEL_ARRAY_COORDINATES);
        if (pos >= 0)
            why = check_positions(tensor, l, tensor->arrays[l].arrays[pos], parents, arena);
        if (crd >= 0 && !why)
            why = check_coordinates(tensor, l, crd, arena);
        parents = tensor->arrays[l].position_count;
    }
    parents = 1;
    for (int l = 0; l < tensor->order && !why; l++) {
        const int pos = level_array(tensor->levels[l].format, LEVEL_ARRAY_POSITIONS);
        if (pos >= 0)
            why = check_order(tensor, l, tensor->arrays[l].arrays[pos], parents, arena);
        parents = tensor->arrays[l].position_count;
    }
    return why;
}
