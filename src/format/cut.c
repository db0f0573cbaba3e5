// SPDX-License-Identifier: BSD-3-Clause
#include "format/cut.h"

#include "base/integer.h"
#include "format/entry_reader.h"
#include "format/formats.h"
#include "format/record_digits.h"

#include <string.h>

static void free_structure(Cutter *cutter) {
    stored_free(&cutter->structure);
    entry_map_free(&cutter->map);
    cutter->structure = (StoredTensor){0};
}

// Makes the structure for rectangles like these.
static const char *reorder(Cutter *cutter, int64_t count, const Rect *const *rects, int64_t limit,
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
    free_structure(cutter);
    *structure = stored_compressed(tensor, tensor->type, mode_order);
    return stored_convert(structure, &cutter->map, tensor, mode_order, false, limit, arena);
}

// In each mode the coordinates that all rectangles have in common, or else an interval.
static Rect bounding_box(int64_t count, const Rect *const *rects, bool *common) {
    Rect box = *rects[0];
    for (int m = 0; m < box.order; m++) {
        common[m] = true;
        for (int64_t i = 1; i < count; i++) {
            const PositionSet all = rect_mode(&box, m), own = rect_mode(rects[i], m);
            if (common[m] && ((own.lo == all.lo && own.hi == all.hi && own.periodic == all.periodic) ||
                              positions_equal(all, own)))
                continue;
            common[m] = false;
            rect_set_mode(&box, m, (PositionSet){min_i64(all.lo, own.lo), max_i64(all.hi, own.hi), NULL});
        }
    }
    return box;
}

// Whether searching rectangles takes longer than making a structure of what is in their box: each time, all
// entries are read at the coordinates that the rectangle has in the mode that it is searched by first.
static bool is_narrow(const Cutter *cutter, const Rect *box, int64_t count, const Rect *const *rects) {
    enum { MANY = 16 }; // what sorting takes in place of reading
    const StoredTensor *tensor = cutter->tensor;
    int first[MAX_ORDER], box_first[MAX_ORDER];
    double read = 0;
    if (tensor->value_count == 0 || tensor->order < 2)
        return false;
    entries_mode_order(tensor->order, tensor->extents, count, rects, tensor->mode_order, first);
    entries_mode_order(tensor->order, tensor->extents, 1, &box, tensor->mode_order, box_first);
    for (int64_t i = 0; i < count; i++)
        read += (double)rect_count(rects[i], first[0]) / (double)tensor->extents[first[0]];
    const int by = cutter->often ? box_first[0] : tensor->mode_order[0];
    return read > MANY * (double)rect_count(box, by) / (double)tensor->extents[by];
}

// The entries in slices of the tensor, with their positions as values.
static const char *list_positions(const StoredTensor *tensor, const SliceArray *slices, int64_t limit,
                                  Arena *arena, Entries *entries) {
    const EntryReader reader = reader_of_stored(tensor, tensor->mode_order);
    SliceCursor cursor = {slices->items, slices->count, 0};
    EntryBlock block;
    int64_t next = 0;
    const char *why = entries_allocate_within(entries, limit, arena);
    while (!why && cursor.count > 0) {
        reader_read_slices(&reader, &cursor, &block);
        for (int l = 0; l < reader.order; l++)
            memcpy(entries->coordinates[reader.modes[l]] + next, block.coordinates[l],
                   (size_t)block.count * sizeof(int64_t));
        memcpy((int64_t *)entries->values + next, block.numbers, (size_t)block.count * sizeof(int64_t));
        next += block.count;
    }
    return why;
}

// Makes the structure of what is in the box, in which the rectangles are searched.
static const char *narrow(Cutter *cutter, const Rect *box, int64_t count, const Rect *const *rects,
                          int64_t limit, Arena *arena) {
    const StoredTensor *tensor = cutter->tensor;
    SliceArray slices = {0};
    Entries entries = {.type = TYPE_I64, .order = tensor->order};
    int64_t extents[MAX_ORDER];
    int mode_order[MAX_ORDER];
    Arena *scratch = arena_create_within(arena);
    memcpy(entries.extents, tensor->extents, sizeof entries.extents);
    for (int m = 0; m < tensor->order; m++)
        extents[m] = rect_count(box, m);
    entries_mode_order(tensor->order, extents, count, rects, tensor->mode_order, mode_order);
    entries.count = cutter_cut(cutter, 1, &box, scratch, &slices);
    const char *why = list_positions(tensor, &slices, limit, arena, &entries);
    arena_free(scratch);
    cutter->box = stored_compressed(tensor, TYPE_I64, mode_order);
    if (!why)
        why = stored_pack(&cutter->box, &entries, limit, arena);
    entries_free(&entries);
    cutter->narrowed = !why;
    return why;
}

const char *cutter_prepare(Cutter *cutter, int64_t count, const Rect *const *rects, int64_t limit,
                           Arena *arena) {
    stored_free(&cutter->box);
    cutter->narrowed = false;
    if (count == 0)
        return NULL;
    const Rect box = bounding_box(count, rects, cutter->common), *only = &box;
    if (!is_narrow(cutter, &box, count, rects))
        return reorder(cutter, count, rects, limit, arena);
    const char *why = reorder(cutter, 1, &only, limit, arena);
    return why ? why : narrow(cutter, &box, count, rects, limit, arena);
}

void cutter_free(Cutter *cutter) {
    free_structure(cutter);
    stored_free(&cutter->box);
    cutter->narrowed = false;
}

// Slices of one cut, from number `begin` on; or only how many entries there are, where `to` is NULL.
typedef struct {
    const Cutter *cutter;
    Arena *arena;
    SliceArray *to;
    int64_t begin;
    bool sorted;
    int64_t count;
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
    const Cutter *cutter = cut->cutter;
    const int64_t *positions = cutter->box.values;
    cut->count += slice.count;
    if (!cut->to)
        return;
    if (!cutter->narrowed && !cutter->reordered)
        push(cut, slice);
    else
        for (int64_t i = slice.first; i < slice.first + slice.count; i++)
            push(cut, (Slice){cutter->narrowed ? positions[i] : entry_map_from(&cutter->map, i), 1});
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
    const Cutter *cutter = cut->cutter;
    const StoredTensor *searched = cutter->narrowed    ? &cutter->box
                                   : cutter->reordered ? &cutter->structure
                                                       : cutter->tensor;
    Slice slice = {0, 1};
    bool one = true, exact = true; // coordinate in each level above; all entries of the slice are within
    for (int l = 0; l < searched->order && slice.count > 0; l++) {
        const int mode = searched->mode_order[l];
        const int64_t extent = searched->extents[mode];
        const LevelArrays *level = &searched->arrays[l];
        const bool whole = rect->lo[mode] <= level->first && rect->hi[mode] >= level->first + level->extent;
        slice = searched->levels[l].format->image(level, slice, one ? rect->lo[mode] : 0,
                                                  one ? rect->hi[mode] : extent);
        if (!cutter->narrowed || !cutter->common[mode])
            exact = exact && (one || whole) && !rect->periodic[mode] && searched->levels[l].format->compact;
        one = one && rect->hi[mode] - rect->lo[mode] == 1;
    }
    if (slice.count > 0 && exact)
        push_found(cut, slice);
    else if (slice.count > 0)
        push_within(cut, searched, rect, slice);
}

// By their first positions.
static void sort_slices(Slice *slices, int64_t count, int64_t positions, Arena *arena) {
    _Static_assert(sizeof(Slice) == 2 * sizeof(uint64_t), "records of two words");
    const int bits = 64 - __builtin_clzll((uint64_t)positions | 1);
    const RecordKey key = {1, {{0, 0, bits}}};
    const RecordBucket all = {.count = count, .bits = bits};
    uint64_t *items = (uint64_t *)slices;
    record_digits_sort(items, arena_array(arena, uint64_t, 2 * count), 2, &key, &all);
}

int64_t cutter_cut(const Cutter *cutter, int64_t count, const Rect *const *rects, Arena *arena,
                   SliceArray *to) {
    Cut cut = {.cutter = cutter, .arena = arena, .to = to, .begin = to->count, .sorted = true};
    for (int64_t i = 0; i < count && cutter->tensor->value_count > 0; i++)
        if (!rect_is_empty(rects[i]))
            cut_rect(&cut, rects[i]);
    if (!cut.sorted) {
        const int64_t found = to->count - cut.begin;
        Slice *slices = to->items + cut.begin;
        sort_slices(slices, found, cutter->tensor->value_count, arena);
        to->count = cut.begin;
        for (int64_t i = 0; i < found; i++)
            push(&cut, slices[i]);
    }
    return cut.count;
}

int64_t cutter_count(const Cutter *cutter, const Rect *rect) {
    Cut cut = {.cutter = cutter};
    if (cutter->tensor->value_count > 0 && !rect_is_empty(rect))
        cut_rect(&cut, rect);
    return cut.count;
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
