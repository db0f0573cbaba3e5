// SPDX-License-Identifier: BSD-3-Clause
// Copy list: elements that are copied from and to the same places in memory again and again, such as those
// that an indexed fetch gathers, as contiguous runs.
#ifndef DISTAL_RUNTIME_COPY_LIST_H
#define DISTAL_RUNTIME_COPY_LIST_H

#include "io/piece.h"

typedef struct {
    char *to;
    const char *from;
    int64_t bytes;
} CopyRun;

typedef struct {
    int64_t count, room;
    CopyRun *runs;
} CopyList;

// Adds the elements of `rect`, which lies inside both pieces, in the memory of the host; and bytes that
// follow one another in both places. False: no memory.
bool copy_list_add(CopyList *list, const Piece *to, const Piece *from, const Rect *rect);
bool copy_list_add_run(CopyList *list, char *to, const char *from, int64_t bytes);
void copy_list_free(CopyList *list);
// Bytes of the list itself.
int64_t copy_list_bytes(const CopyList *list);

// Copies all of them; `size`: bytes of an element.
void copy_list_execute(const CopyList *list, size_t size);

#endif
