// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/conversion.h"

#include "base/integer.h"

#include <string.h>

static void free_copy(ConvertedCopy *conversion) {
    stored_free(&conversion->copy);
    memory_release(MEMORY_HOST, conversion->values);
    conversion->values = NULL;
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
    return conversion->of ? saturated_add(stored_bytes(&conversion->copy),
                                          saturated_mul(conversion->copy.value_count,
                                                        (int64_t)type_info(conversion->tensor->type)->size))
                          : 0;
}

// Packs the positions of the tensor in the order of the copy: as if they were its values.
static const char *pack_positions(StoredTensor *copy, const Storage *storage, Arena *arena) {
    StoredTensor numbered = storage->stored;
    Entries entries = {0};
    int64_t *positions = memory_allocate(MEMORY_HOST, numbered.value_count, TYPE_I64);
    if (!positions)
        return "not enough memory to number its entries";
    for (int64_t p = 0; p < numbered.value_count; p++)
        positions[p] = p;
    numbered.type = TYPE_I64;
    numbered.values = positions;
    const char *why = stored_unpack(&numbered, &entries, storage->limit, arena);
    memory_release(MEMORY_HOST, positions);
    if (!why)
        why = stored_pack(copy, &entries, storage->limit - entries_bytes(&entries, entries.count), arena);
    entries_free(&entries);
    return why;
}

bool conversion_make(ConvertedCopy *conversion, const Storage *storage, Diagnostics *diagnostics) {
    if (conversion_is_known(conversion, storage))
        return true;
    free_copy(conversion);
    const Tensor *tensor = conversion->tensor;
    StoredTensor copy = storage_empty(storage);
    memcpy(copy.levels, tensor->levels, sizeof copy.levels);
    memcpy(copy.mode_order, tensor->mode_order, sizeof copy.mode_order);
    copy.type = TYPE_I64;
    const char *why = NULL;
    if (storage->piece_count > 0) // else it has no entries, and no kernel reads it
        why = pack_positions(&copy, storage, diagnostics->arena);
    if (!why) {
        conversion->copy = copy;
        conversion->values = memory_allocate(MEMORY_HOST, copy.value_count, storage->type);
        why = conversion->values ? NULL : "the process has not enough memory";
    }
    if (why) {
        free_copy(conversion);
        return diagnostics_error(diagnostics, (Span){0}, "tensor %s cannot be converted on rank %lld: %s",
                                 tensor->name, (long long)storage->rank, why);
    }
    structure_hold(&conversion->of, storage->structure);
    return true;
}

void conversion_refresh(const ConvertedCopy *conversion, const Storage *storage) {
    const size_t size = type_info(storage->type)->size;
    const int64_t *positions = conversion->copy.values;
    const char *from = storage->stored.values;
    char *to = conversion->values;
    const int64_t count = conversion->tensor ? conversion->copy.value_count : 0;
#pragma omp parallel for num_threads(entries_team(count))
    for (int64_t p = 0; p < count; p++)
        memcpy(to + (size_t)p * size, from + (size_t)positions[p] * size, size);
}
