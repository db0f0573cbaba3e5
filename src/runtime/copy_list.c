// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/copy_list.h"

#include "base/integer.h"
#include "format/runs.h"

#include <stdlib.h>
#include <string.h>

// With fewer runs, starting a team of threads costs more time than it saves. A run of more bytes is not made
// longer, so that threads can share it.
enum { PARALLEL_RUNS = 1 << 14, RUN_BYTES = 1 << 16 };

bool copy_list_add_run(CopyList *list, char *to, const char *from, int64_t bytes) {
    CopyRun *last = list->count > 0 ? &list->runs[list->count - 1] : NULL;
    if (last && last->bytes < RUN_BYTES && last->to + last->bytes == to && last->from + last->bytes == from) {
        last->bytes += bytes;
        return true;
    }
    if (!list->runs || list->count == list->room) {
        const int64_t room = list->room > 0 ? 2 * list->room : 16;
        CopyRun *runs = realloc(list->runs, sizeof(CopyRun) * (size_t)room);
        if (!runs)
            return false;
        list->runs = runs;
        list->room = room;
    }
    list->runs[list->count++] = (CopyRun){to, from, bytes};
    return true;
}

typedef struct {
    CopyList *list;
    int64_t size;
    char *to;
    const char *from;
    bool ok;
} Addition;

static void add_elements(void *context, const Run *run) {
    Addition *addition = context;
    const int64_t size = addition->size;
    const bool contiguous = run->a_step == 1 && run->b_step == 1;
    for (int64_t i = 0; addition->ok && i < (contiguous ? 1 : run->count); i++)
        addition->ok = copy_list_add_run(addition->list, addition->to + (run->a + i * run->a_step) * size,
                                         addition->from + (run->b + i * run->b_step) * size,
                                         contiguous ? run->count * size : size);
}

static void add_patch(void *context, const Patch *patch) {
    Addition *whole = context, addition = *whole;
    addition.to += patch->a * whole->size;
    addition.from += patch->b * whole->size;
    const Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    runs_visit(&runs, false, add_elements, &addition);
    whole->ok = addition.ok;
}

bool copy_list_add(CopyList *list, const Piece *to, const Piece *from, const Rect *rect) {
    const int64_t size = (int64_t)type_info(to->type)->size;
    if (rect_volume(rect) == 1)
        return copy_list_add_run(list, piece_element(to, rect), piece_element(from, rect), size);
    const Frame a = piece_frame(to), b = piece_frame(from);
    Addition addition = {list, size, to->data, from->data, true};
    patches_visit(rect, &a, &b, add_patch, &addition);
    return addition.ok;
}

void copy_list_free(CopyList *list) {
    free(list->runs);
    *list = (CopyList){0};
}

int64_t copy_list_bytes(const CopyList *list) {
    return saturated_mul(list->count, (int64_t)sizeof(CopyRun));
}

// Most runs are single elements, where coordinates are scattered.
static inline void copy_run(const CopyRun *run, size_t size) {
    if ((size_t)run->bytes == size)
        memcpy(run->to, run->from, size);
    else
        memcpy(run->to, run->from, (size_t)run->bytes);
}

#define COPY_RUNS(size)                                                                                      \
    _Pragma("omp parallel for if (list->count > PARALLEL_RUNS)") for (int64_t r = 0; r < list->count; r++)   \
        copy_run(&list->runs[r], size)

void copy_list_execute(const CopyList *list, size_t size) {
    switch (size) {
    // NOLINTNEXTLINE(bugprone-branch-clone): compiled for each size
    case 4:
        COPY_RUNS(4);
        break;
    case 8:
        COPY_RUNS(8);
        break;
    default:
        COPY_RUNS(size);
    }
}
