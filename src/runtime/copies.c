// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/copies.h"

#include "base/integer.h"

#include <stdlib.h>

enum { CACHE_LINE = 64 };

bool copies_allocate(Copies *copies, int64_t count, int64_t span, ElementType type) {
    const int64_t line = CACHE_LINE / (int64_t)type_info(type)->size;
    int64_t elements;
    *copies = (Copies){.count = count, .pitch = ceil_div(span, line) * line};
    if (!checked_mul(copies->pitch, count, &elements))
        return false;
    copies->data = memory_allocate(MEMORY_HOST, elements, type);
    copies->used = calloc((size_t)count + 1, sizeof(bool));
    return copies->data && copies->used;
}

void copies_free(Copies *copies) {
    memory_release(MEMORY_HOST, copies->data);
    free(copies->used);
    *copies = (Copies){0};
}

static char *copy_at(const Copies *copies, ElementType type, int64_t index) {
    return copies->data + index * copies->pitch * (int64_t)type_info(type)->size;
}

void *copies_take(Copies *copies, Reducer reducer, const Piece *piece, int thread) {
    if (thread == 0)
        return piece->data;
    char *copy = copy_at(copies, piece->type, thread - 1);
    const Frame frame = piece_frame(piece);
    memory_kind(MEMORY_HOST)->clear(reducer, piece->type, copy, 1, frame_span(&frame));
    copies->used[thread - 1] = true;
    return copy;
}

void copies_merge(Copies *copies, Reducer reducer, const Piece *piece) {
    for (int64_t i = 0; i < copies->count; i++) {
        if (!copies->used[i])
            continue;
        Piece copy = *piece;
        copy.data = copy_at(copies, piece->type, i);
        piece_reduce(reducer, piece, &copy, &piece->rect);
        copies->used[i] = false;
    }
}
