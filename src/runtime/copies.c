// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/copies.h"

#include "base/integer.h"
#include "runtime/storage.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

int64_t piece_span(const Piece *piece) {
    int64_t span = 1;
    for (int m = 0; m < piece->rect.order; m++)
        span += (rect_count(&piece->rect, m) - 1) * piece->stride[m];
    return span;
}

bool copies_allocate(Copies *copies, int count, int64_t span, ElementType type) {
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

static char *copy_at(const Copies *copies, ElementType type, int index) {
    return copies->data + index * copies->pitch * (int64_t)type_info(type)->size;
}

void *copies_take(Copies *copies, const Piece *piece, ElementType type, int thread) {
    if (thread == 0)
        return piece->data;
    char *copy = copy_at(copies, type, thread - 1);
    memory_kind(MEMORY_HOST)->zero(type, copy, 1, piece_span(piece));
    copies->used[thread - 1] = true;
    return copy;
}

void copies_merge(Copies *copies, const Piece *piece, ElementType type) {
    for (int i = 0; i < copies->count; i++) {
        if (!copies->used[i])
            continue;
        Piece copy = *piece;
        copy.data = copy_at(copies, type, i);
        piece_add(piece, &copy, &piece->rect, type);
        copies->used[i] = false;
    }
}
