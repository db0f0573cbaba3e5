// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/conversion.h"

#include "base/integer.h"

#include <string.h>

static void free_copy(ConvertedCopy *conversion) {
    stored_free(&conversion->copy);
    entry_map_free(&conversion->map);
    structure_hold(&conversion->of, NULL);
}

void conversion_free(ConvertedCopy *conversion) {
    free_copy(conversion);
    *conversion = (ConvertedCopy){0};
}

bool conversion_is_known(const ConvertedCopy *conversion, const Storage *storage) {
    return !conversion->tensor || (storage->structure && conversion->of == storage->structure);
}

int64_t conversion_bytes(const ConvertedCopy *conversion) {
    return conversion->of ? saturated_add(stored_bytes(&conversion->copy), entry_map_bytes(&conversion->map))
                          : 0;
}

static const char *make_copy(ConvertedCopy *conversion, const Storage *storage, int64_t limit, Arena *arena) {
    StoredTensor *copy = &conversion->copy;
    const char *why =
        stored_convert(copy, &conversion->map, &storage->stored, copy->mode_order, limit, arena);
    if (why)
        return why;
    const int64_t left = limit - stored_structure_bytes(copy) - entry_map_bytes(&conversion->map);
    if (saturated_mul(copy->value_count, (int64_t)type_info(copy->type)->size) <= left)
        copy->values = memory_allocate(MEMORY_HOST, copy->value_count, copy->type);
    return copy->values ? NULL : "there is no memory for the values of the copy";
}

bool conversion_make(ConvertedCopy *conversion, const Storage *storage, int64_t limit,
                     Diagnostics *diagnostics) {
    if (conversion_is_known(conversion, storage))
        return true;
    free_copy(conversion);
    const Tensor *tensor = conversion->tensor;
    StoredTensor *copy = &conversion->copy;
    *copy = storage_empty(storage);
    memcpy(copy->levels, tensor->levels, sizeof copy->levels);
    memcpy(copy->mode_order, tensor->mode_order, sizeof copy->mode_order);
    // Without a piece it has no entries, and no kernel reads it.
    const char *why =
        storage->piece_count > 0 ? make_copy(conversion, storage, limit, diagnostics->arena) : NULL;
    if (why) {
        free_copy(conversion);
        return diagnostics_error(diagnostics, (Span){0}, "tensor %s cannot be converted on rank %lld: %s",
                                 tensor->name, (long long)storage->rank, why);
    }
    structure_hold(&conversion->of, storage->structure);
    return true;
}

void conversion_refresh(const ConvertedCopy *conversion, const Storage *storage) {
    const StoredTensor *copy = &conversion->copy;
    if (conversion->tensor)
        entry_map_copy(&conversion->map, type_info(copy->type)->size, storage->stored.values, copy->values,
                       copy->value_count);
}
