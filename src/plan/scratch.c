// SPDX-License-Identifier: BSD-3-Clause
#include "plan/scratch.h"

static int64_t locate(const void *context, const Part *part) {
    const PackedMemory *memory = context;
    const Rect *outer = part->piece >= 0 ? &memory->pieces[part->piece] : memory->view;
    int64_t offset = 0, stride = 1, length = 1;
    for (int l = part->rect.order - 1; l >= 0; l--) {
        const int mode = memory->mode_order[l];
        const PositionSet set = rect_mode(&part->rect, mode), in = rect_mode(outer, mode);
        const int64_t first = positions_index(in, set.lo), count = positions_count(set);
        if (count > 1 && (stride != length || positions_index(in, set.hi - 1) - first + 1 != count))
            return -1;
        offset += first * stride;
        stride *= positions_count(in);
        length *= count;
    }
    return offset;
}

int64_t operation_scratch(const RankOperation *operation, const PackedMemory *memory) {
    const Locator locator = {memory, locate};
    return operation->operation->scratch ? operation->operation->scratch(operation, &locator) : 0;
}
