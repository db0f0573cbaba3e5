// SPDX-License-Identifier: BSD-3-Clause
#include "plan/selection.h"

#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

Selection selection_like(const Selection *selection) {
    Selection like = {.mode_count = selection->mode_count};
    memcpy(like.modes, selection->modes, sizeof like.modes);
    return like;
}

void selection_add_part(Selection *selection, const Rect *rect, int64_t peer, Arena *arena) {
    const int64_t first = selection->numbers.count / run_length(selection->mode_count);
    array_push(arena, selection->parts,
               (SelectedPart){.rect = rect_copy(rect, arena), .peer = peer, .first = first});
}

void selection_add_run(Selection *selection, const int64_t *run, Arena *arena) {
    SelectedPart *part = &selection->parts.items[selection->parts.count - 1];
    Rect *rect = &part->rect;
    for (int i = 0; i < selection->mode_count; i++) {
        const int mode = selection->modes[i];
        const PositionSet at = run_interval(selection->mode_count, run, i);
        rect->lo[mode] = part->count == 0 ? at.lo : min_i64(rect->lo[mode], at.lo);
        rect->hi[mode] = part->count == 0 ? at.hi : max_i64(rect->hi[mode], at.hi);
    }
    for (int i = 0; i < run_length(selection->mode_count); i++)
        array_push(arena, selection->numbers, run[i]);
    part->count++;
}

void selection_end_runs(Selection *selection) {
    SelectedPart *part = &selection->parts.items[selection->parts.count - 1];
    if (part->count != 1)
        return;
    part->count = 0;
    selection->numbers.count -= run_length(selection->mode_count);
}

void selection_append(Selection *selection, const Selection *from, int64_t part, Arena *arena) {
    SelectedPart copy = from->parts.items[part];
    const int64_t length = run_length(from->mode_count), begin = copy.first * length;
    copy.rect = rect_copy(&copy.rect, arena);
    copy.first = selection->numbers.count / run_length(selection->mode_count);
    array_push(arena, selection->parts, copy);
    for (int64_t n = begin; n < begin + copy.count * length; n++)
        array_push(arena, selection->numbers, from->numbers.items[n]);
}

int part_order(int64_t peer, const Rect *rect, int64_t other_peer, const Rect *other) {
    return peer != other_peer ? (peer < other_peer ? -1 : 1) : rect_compare(rect, other);
}

static int compare_parts(const void *left, const void *right) {
    const SelectedPart *a = left, *b = right;
    return part_order(a->peer, &a->rect, b->peer, &b->rect);
}

void selection_sort(Selection *selection) {
    const SelectedPart *parts = selection->parts.items;
    bool sorted = true; // as they often are
    for (int64_t i = 1; i < selection->parts.count && sorted; i++)
        sorted = compare_parts(&parts[i - 1], &parts[i]) <= 0;
    if (!sorted)
        qsort(selection->parts.items, (size_t)selection->parts.count, sizeof(SelectedPart), compare_parts);
}

int64_t part_rect_count(const SelectedPart *part) {
    return max_i64(part->count, 1);
}

Rect part_rect(const Selection *selection, const SelectedPart *part, int64_t index) {
    Rect rect = part->rect;
    if (part->count == 0)
        return rect;
    const int64_t *run = selection_run(selection, part->first + index);
    for (int i = 0; i < selection->mode_count; i++) {
        const int mode = selection->modes[i];
        const PositionSet at = run_interval(selection->mode_count, run, i);
        rect_set_mode(&rect, mode, positions_clip(rect_mode(&rect, mode), at.lo, at.hi));
    }
    return rect;
}

int64_t part_volume(const Selection *selection, const SelectedPart *part) {
    if (part->count == 0)
        return rect_volume(&part->rect);
    const int last = selection->mode_count - 1, mode = selection->modes[last];
    const PositionSet of = rect_mode(&part->rect, mode);
    int64_t coordinates = 0;
    for (int64_t r = part->first; r < part->first + part->count; r++) {
        const PositionSet at = run_interval(selection->mode_count, selection_run(selection, r), last);
        coordinates += of.periodic ? positions_count(positions_clip(of, at.lo, at.hi)) : at.hi - at.lo;
    }
    return saturated_mul(part_each(selection, part), coordinates);
}

int64_t part_each(const Selection *selection, const SelectedPart *part) {
    Rect each = part->rect;
    for (int i = 0; i < selection->mode_count; i++)
        rect_set_mode(&each, selection->modes[i], (PositionSet){0, 1, NULL});
    return rect_volume(&each);
}

int64_t part_numbers(const Selection *selection, const SelectedPart *part) {
    const Rect *rect = &part->rect;
    int64_t count = 3 * (int64_t)rect->order + 1 + part->count * run_length(selection->mode_count);
    for (int d = 0; d < rect->order; d++)
        if (rect->periodic[d])
            count += 3 + 3 * rect->periodic[d]->count;
    return count;
}

static int64_t *write_rect(const Rect *rect, int64_t *to) {
    for (int d = 0; d < rect->order; d++) {
        const Periodic *periodic = rect->periodic[d];
        *to++ = rect->lo[d];
        *to++ = rect->hi[d];
        *to++ = periodic ? periodic->count : 0;
        if (!periodic)
            continue;
        *to++ = periodic->origin;
        *to++ = periodic->period;
        *to++ = periodic->size;
        for (int64_t s = 0; s < periodic->count; s++) {
            *to++ = periodic->segments[s].lo;
            *to++ = periodic->segments[s].hi;
            *to++ = periodic->segments[s].before;
        }
    }
    return to;
}

static const int64_t *read_rect(const int64_t *from, int order, Arena *arena, Rect *rect) {
    *rect = (Rect){.order = order};
    for (int d = 0; d < order; d++) {
        rect->lo[d] = *from++;
        rect->hi[d] = *from++;
        const int64_t count = *from++;
        if (count == 0)
            continue;
        Periodic *periodic = arena_new(arena, Periodic);
        Segment *segments = arena_array(arena, Segment, count);
        *periodic = (Periodic){from[0], from[1], from[2], count, segments};
        from += 3;
        for (int64_t s = 0; s < count; s++, from += 3)
            segments[s] = (Segment){from[0], from[1], from[2]};
        rect->periodic[d] = periodic;
    }
    return from;
}

// The numbers of `count` runs.
static size_t run_bytes(const Selection *selection, int64_t count) {
    return sizeof(int64_t) * (size_t)run_length(selection->mode_count) * (size_t)count;
}

void part_write(const Selection *selection, const SelectedPart *part, int64_t *to) {
    to = write_rect(&part->rect, to);
    *to++ = part->count;
    if (part->count > 0)
        memcpy(to, selection_run(selection, part->first), run_bytes(selection, part->count));
}

const int64_t *part_read(Selection *selection, const int64_t *from, int order, int64_t peer, Arena *arena) {
    const int64_t first = selection->numbers.count / run_length(selection->mode_count);
    SelectedPart part = {.peer = peer, .first = first};
    from = read_rect(from, order, arena, &part.rect);
    part.count = *from++;
    array_push(arena, selection->parts, part);
    for (int64_t n = part.count * run_length(selection->mode_count); n > 0; n--)
        array_push(arena, selection->numbers, *from++);
    return from;
}

int64_t selection_peer_end(const Selection *selection, int64_t first) {
    const SelectedPart *parts = selection->parts.items;
    int64_t end = first;
    while (end < selection->parts.count && parts[end].peer == parts[first].peer)
        end++;
    return end;
}

int64_t *selection_elements(const Selection *selection, int64_t ranks, Arena *arena) {
    int64_t *elements = arena_array(arena, int64_t, ranks);
    for (int64_t i = 0; i < selection->parts.count; i++) {
        const SelectedPart *part = &selection->parts.items[i];
        elements[part->peer] = saturated_add(elements[part->peer], part_volume(selection, part));
    }
    return elements;
}

int64_t selection_rect_count(const Selection *selection) {
    int64_t count = 0;
    for (int64_t i = 0; i < selection->parts.count; i++)
        count += part_rect_count(&selection->parts.items[i]);
    return count;
}

RectArray selection_rects(const Selection *selection, Arena *arena) {
    RectArray rects = {.capacity = selection_rect_count(selection)};
    rects.items = arena_array(arena, Rect, rects.capacity);
    for (int64_t i = 0; i < selection->parts.count; i++)
        for (int64_t r = 0; r < part_rect_count(&selection->parts.items[i]); r++)
            rects.items[rects.count++] = part_rect(selection, &selection->parts.items[i], r);
    return rects;
}
