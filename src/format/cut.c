// SPDX-License-Identifier: BSD-3-Clause
#include "format/cut.h"

#include "base/integer.h"
#include "format/entry_reader.h"
#include "format/formats.h"

#include <stdlib.h>
#include <string.h>

const char *cutter_prepare(Cutter *cutter, int64_t count, const Rect *const *rects, int64_t limit,
                           Arena *arena) {
    enum { FEW = 4 }; // rectangles for which it is read as often, which takes less time than sorting it
    const StoredTensor *tensor = cutter->tensor;
    StoredTensor *structure = &cutter->structure;
    int mode_order[MAX_ORDER];
    const size_t size = sizeof(int) * (size_t)tensor->order;
    entries_mode_order(tensor->order, tensor->extents, count, rects, tensor->mode_order, mode_order);
    cutter->reordered = (cutter->often || count > FEW) && tensor->value_count > 0 &&
                        memcmp(mode_order, tensor->mode_order, size) != 0;
    if (!cutter->reordered || (structure->order > 0 && memcmp(mode_order, structure->mode_order, size) == 0))
        return NULL;
    cutter_free(cutter);
    *structure = (StoredTensor){.type = tensor->type, .order = tensor->order};
    memcpy(structure->extents, tensor->extents, sizeof structure->extents);
    memcpy(structure->mode_order, mode_order, sizeof mode_order);
    for (int l = 0; l < tensor->order; l++)
        structure->levels[l] = (LevelType){.format = &compressed_level,
                                           .wide = coordinate_is_wide(tensor->extents[mode_order[l]])};
    return stored_convert(structure, &cutter->map, tensor, mode_order, false, limit, arena);
}

void cutter_free(Cutter *cutter) {
    stored_free(&cutter->structure);
    entry_map_free(&cutter->map);
    cutter->structure = (StoredTensor){0};
}

// Slices of one cut, from number `begin` on.
typedef struct {
    const Cutter *cutter;
    Arena *arena;
    SliceArray *to;
    int64_t begin;
    bool sorted;
} Cut;

static void push(Cut *cut, Slice slice) {
    SliceArray *to = cut->to;
    if (to->count > cut->begin) {
        Slice *last = &to->items[to->count - 1];
        cut->sorted = cut->sorted && last->first < slice.first;
        if (last->first + last->count == slice.first) {
            last->count += slice.count;
            return;
        }
    }
    array_push(cut->arena, *to, slice);
}

// Positions of what is searched.
static void push_found(Cut *cut, Slice slice) {
    if (!cut->cutter->reordered) {
        push(cut, slice);
        return;
    }
    for (int64_t i = 0; i < slice.count; i++)
        push(cut, (Slice){entry_map_from(&cut->cutter->map, slice.first + i), 1});
}

// Those of the entries in a slice that are in the rectangle.
static void push_within(Cut *cut, const StoredTensor *searched, const Rect *rect, Slice slice) {
    const EntryReader reader = reader_of_stored(searched, searched->mode_order);
    EntryBlock block;
    for (int64_t read = 0; read < slice.count; read += ENTRY_BLOCK) {
        reader_read(&reader, slice.first + read, min_i64(ENTRY_BLOCK, slice.count - read), &block);
        for (int i = 0; i < block.count; i++) {
            bool within = true;
            for (int l = 0; l < reader.order && within; l++)
                within = rect_has(rect, reader.modes[l], block.coordinates[l][i]);
            if (within)
                push_found(cut, (Slice){block.numbers[i], 1});
        }
    }
}

// Coordinates of several positions above are not in order, so that only what is below all of them follows:
// then entries are compared with the rectangle one by one.
static void cut_rect(Cut *cut, const Rect *rect) {
    const StoredTensor *searched = cut->cutter->reordered ? &cut->cutter->structure : cut->cutter->tensor;
    Slice slice = {0, 1};
    bool one = true, exact = true; // coordinate in each level above; all entries of the slice are within
    for (int l = 0; l < searched->order && slice.count > 0; l++) {
        const int mode = searched->mode_order[l];
        const int64_t extent = searched->extents[mode];
        const LevelArrays *level = &searched->arrays[l];
        const bool whole = rect->lo[mode] <= level->first && rect->hi[mode] >= level->first + level->extent;
        slice = searched->levels[l].format->image(level, slice, one ? rect->lo[mode] : 0,
                                                  one ? rect->hi[mode] : extent);
        exact = exact && (one || whole) && !rect->periodic[mode] && searched->levels[l].format->compact;
        one = one && rect->hi[mode] - rect->lo[mode] == 1;
    }
    if (slice.count > 0 && exact)
        push_found(cut, slice);
    else if (slice.count > 0)
        push_within(cut, searched, rect, slice);
}

static int compare_slices(const void *left, const void *right) {
    const Slice *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

int64_t cutter_cut(const Cutter *cutter, int64_t count, const Rect *const *rects, Arena *arena,
                   SliceArray *to) {
    Cut cut = {.cutter = cutter, .arena = arena, .to = to, .begin = to->count, .sorted = true};
    int64_t entries = 0;
    for (int64_t i = 0; i < count && cutter->tensor->value_count > 0; i++)
        if (!rect_is_empty(rects[i]))
            cut_rect(&cut, rects[i]);
    if (!cut.sorted) {
        const int64_t found = to->count - cut.begin;
        Slice *slices = to->items + cut.begin;
        qsort(slices, (size_t)found, sizeof *slices, compare_slices);
        to->count = cut.begin;
        for (int64_t i = 0; i < found; i++)
            push(&cut, slices[i]);
    }
    for (int64_t i = cut.begin; i < to->count; i++)
        entries += to->items[i].count;
    return entries;
}

const char *stored_unpack_slices(const StoredTensor *tensor, const SliceArray *slices, Entries *entries) {
    const EntryReader reader = reader_of_stored(tensor, tensor->mode_order);
    const size_t size = type_info(tensor->type)->size;
    SliceCursor cursor = {slices->items, slices->count, 0};
    EntryBlock block;
    int64_t next = 0;
    *entries = (Entries){.type = tensor->type, .order = tensor->order};
    memcpy(entries->extents, tensor->extents, sizeof entries->extents);
    for (int64_t i = 0; i < slices->count; i++)
        entries->count += slices->items[i].count;
    const char *why = entries_allocate(entries);
    if (!why && !tensor->values && entries->count > 0)
        memset(entries->values, 0, size * (size_t)entries->count);
    while (!why && cursor.count > 0) {
        reader_read_slices(&reader, &cursor, &block);
        for (int l = 0; l < reader.order; l++)
            memcpy(entries->coordinates[reader.modes[l]] + next, block.coordinates[l],
                   (size_t)block.count * sizeof(int64_t));
        for (int i = 0; i < block.count && tensor->values; i++)
            memcpy((char *)entries->values + (size_t)(next + i) * size,
                   (const char *)tensor->values + (size_t)block.numbers[i] * size, size);
        next += block.count;
    }
    return why;
}
