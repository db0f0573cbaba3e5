// SPDX-License-Identifier: BSD-3-Clause
#include "plan/scratch.h"

static int64_t locate(const void *context, const Part *part) {
    const PackedMemory *memory = context;
    const Rect *outer = part->piece >= 0 ? &memory->pieces[part->piece] : memory->view;
    return packed_locate(outer, &part->rect, memory->levels);
}

int64_t operation_scratch(const RankOperation *operation, const PackedMemory *memory) {
    const Locator locator = {memory, locate};
    return operation->operation->scratch ? operation->operation->scratch(operation, &locator) : 0;
}
