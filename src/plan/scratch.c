// SPDX-License-Identifier: BSD-3-Clause
#include "plan/scratch.h"

static int64_t locate(const void *context, const Part *part) {
    const PackedMemory *memory = context;
    const Rect *outer = part->stage > 0 ? &memory->stages[part->stage - 1].rect
                        : part->piece >= 0 && part->stage != STAGE_VIEW ? &memory->pieces[part->piece]
                                                                        : memory->view;
    return packed_locate(outer, &part->rect, memory->levels);
}

int64_t operation_scratch(const RankOperation *operation, const PackedMemory *memory) {
    const Locator locator = {memory, locate, memory->memory == MEMORY_GPU};
    return operation->operation->scratch ? operation->operation->scratch(operation, &locator) : 0;
}
