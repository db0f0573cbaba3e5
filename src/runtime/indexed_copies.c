// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/indexed_copies.h"

#include "base/integer.h"

// That of a neighbour.
static const Piece *piece_of_neighbour(const IndexedFetch *fetch, int64_t rank, const Rect *rect) {
    int64_t p = 0;
    while (fetch->part->neighbours[p].rank != rank || !rect_contains(&fetch->neighbours[p].rect, rect))
        p++;
    return &fetch->neighbours[p];
}

// What the view has of a part, with coordinates in place of their numbers.
static Piece window(const IndexedFinding *finding, const Rect *part) {
    Piece piece = finding->fetch->view;
    const Rect rect = indexed_in_view(&finding->use, part);
    piece.data = piece_element(&finding->fetch->view, &rect);
    piece.rect = *part;
    for (int m = 0; m < part->order; m++)
        piece.rect.periodic[m] = NULL;
    return piece;
}

// One end of the copy of parts: a home piece, the view, memory of a message, where the elements follow each
// other in the order of the parts, or the buffer of an aggregator, whose runs contain those of the parts.
typedef struct {
    const Piece *piece; // NULL: a message, or the buffer of an aggregator
    bool is_view;
    const SharedRun *run; // in such a buffer: that of the next rectangle of parts; else NULL
    char *at; // a message: where the next part begins; such a buffer: where it does; else the last run that
              // was copied
    int64_t indices[MAX_ORDER]; // of the first coordinates of that run in the piece, by the modes of the runs
} End;

// The memory that has the rectangle with this number of a part; the end advances behind that in a message.
static Piece piece_at(const IndexedFinding *finding, End *end, const Selection *selection,
                      const SelectedPart *part, int64_t number) {
    const Storage *storage = finding->fetch->storage;
    const LevelList levels = tensor_levels(storage->home->tensor);
    const size_t size = type_info(storage->type)->size;
    const Rect rect = part_rect(selection, part, number);
    if (end->piece)
        return end->is_view ? window(finding, &rect) : *end->piece;
    if (end->run) {
        const SharedRun *run = &end->run[number];
        const int last = selection->modes[selection->mode_count - 1];
        Rect all = rect;
        rect_set_mode(&all, last, (PositionSet){0, run->count, NULL});
        Piece piece = piece_packed(&all, levels, storage->type, end->at + (size_t)run->offset * size);
        piece.data = (char *)piece.data + (size_t)(run->first * piece.stride[last]) * size;
        piece.rect = rect;
        return piece;
    }
    const Piece packed = piece_packed(&rect, levels, storage->type, end->at);
    end->at += (size_t)rect_volume(&rect) * size;
    return packed;
}

// Whether each run of a part is contiguous, in the order in which it is in a message.
static bool is_contiguous(const IndexedFinding *finding, const End *end, const Selection *selection,
                          const SelectedPart *part) {
    const Storage *storage = finding->fetch->storage;
    const int last = selection->modes[selection->mode_count - 1];
    Rect run = part_rect(selection, part, 0);
    if (!end->piece)
        return true;
    for (int m = 0; m < run.order; m++)
        if (part->rect.periodic[m] || end->piece->rect.periodic[m])
            return false;
    run.hi[last] = run.lo[last] + 2; // more than one
    const Piece packed = piece_packed(&run, tensor_levels(storage->home->tensor), storage->type, NULL);
    for (int m = 0; m < run.order; m++)
        if (rect_count(&run, m) > 1 && end->piece->stride[m] != packed.stride[m])
            return false;
    return packed.stride[last] == rect_volume(&run) / 2;
}

// The first run of a part, from which the others are found.
static void begin_runs(const IndexedFinding *finding, End *end, const Selection *selection,
                       const SelectedPart *part) {
    if (!end->piece)
        return;
    const Rect run = part_rect(selection, part, 0);
    const Rect rect = end->is_view ? indexed_in_view(&finding->use, &run) : run;
    end->at = piece_element(end->piece, &rect);
    for (int i = 0; i < selection->mode_count; i++)
        end->indices[i] = rect.lo[selection->modes[i]] - end->piece->rect.lo[selection->modes[i]];
}

// The index of a coordinate in a mode. In a list of coordinates it is searched from `from` on, the index of
// the run before, as most are close behind that (galloping search).
static int64_t index_in(const IndexedFinding *finding, const End *end, int mode, int64_t x, int64_t from) {
    const int64_t *list = end->is_view ? finding->use.coordinates[mode] : NULL;
    if (!list)
        return x - end->piece->rect.lo[mode];
    if (list[from] > x)
        return coordinate_index(list, from, x);
    const int64_t count = finding->use.view.hi[mode];
    int64_t step = 1;
    for (; from + step < count && list[from + step] <= x; step *= 2)
        from += step;
    return from + coordinate_index(list + from, min_i64(step, count - from), x);
}

// The address of a run, `bytes_each` bytes for each of its coordinates, at one end of the copy; the end
// advances to it.
static char *advance_to(const IndexedFinding *finding, End *end, const Selection *selection,
                        const int64_t *run, int64_t bytes_each) {
    const int64_t size = (int64_t)type_info(finding->fetch->storage->type)->size;
    const int last = selection->mode_count - 1;
    const int64_t bytes = bytes_each * (run[last + 1] - run[last]);
    if (end->run) {
        const SharedRun *in = end->run++;
        return end->at + in->offset * size + bytes_each * in->first;
    }
    if (!end->piece)
        return (end->at += bytes) - bytes;
    for (int i = 0; i < selection->mode_count; i++) {
        const int mode = selection->modes[i];
        const int64_t index = index_in(finding, end, mode, run[i], end->indices[i]);
        end->at += (index - end->indices[i]) * end->piece->stride[mode] * size;
        end->indices[i] = index;
    }
    return end->at;
}

static bool list_part(const IndexedFinding *finding, CopyList *list, const Selection *selection,
                      const SelectedPart *part, End *to, End *from) {
    bool ok = true;
    if (part->count == 0 || !is_contiguous(finding, to, selection, part) ||
        !is_contiguous(finding, from, selection, part)) {
        for (int64_t i = 0; ok && i < part_rect_count(part); i++) {
            const Rect rect = part_rect(selection, part, i);
            const Piece a = piece_at(finding, to, selection, part, i);
            const Piece b = piece_at(finding, from, selection, part, i);
            ok = copy_list_add(list, &a, &b, &rect);
        }
        return ok;
    }
    const int last = selection->mode_count - 1;
    const int64_t size = (int64_t)type_info(finding->fetch->storage->type)->size;
    const int64_t bytes = part_each(selection, part) * size;
    begin_runs(finding, to, selection, part);
    begin_runs(finding, from, selection, part);
    for (int64_t r = part->first; ok && r < part->first + part->count; r++) {
        const int64_t *run = selection_run(selection, r), length = bytes * (run[last + 1] - run[last]);
        char *at = advance_to(finding, to, selection, run, bytes);
        ok = copy_list_add_run(list, at, advance_to(finding, from, selection, run, bytes), length);
    }
    return ok;
}

bool indexed_copies_list(const IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const Selection *const receives = &finding->use.parts, *const own = &finding->use.own;
    const SharedRun *runs = finding->sharing.runs;
    End outgoing = {.at = fetch->values.outgoing}, incoming = {.at = fetch->values.incoming};
    End view = {.piece = &fetch->view, .is_view = true};
    bool ok = true;
    for (int64_t i = 0; ok && i < finding->sends.parts.count; i++) {
        const SelectedPart *part = &finding->sends.parts.items[i];
        if (fetch->values.sent_from[part->peer] || fetch->values.read[part->peer])
            continue;
        End home = {.piece = storage_piece_with(fetch->storage, &part->rect)};
        ok = list_part(finding, &fetch->packed, &finding->sends, part, &outgoing, &home);
    }
    for (int64_t i = 0; ok && i < receives->parts.count; i++) {
        const SelectedPart *part = &receives->parts.items[i];
        const int64_t source = finding->sharing.sources ? finding->sharing.sources[i] : -1;
        if (fetch->values.read[part->peer]) {
            End home = {.piece = piece_of_neighbour(fetch, part->peer, &part->rect)};
            ok = list_part(finding, &fetch->read, receives, part, &view, &home);
        } else if (source >= 0) {
            End buffer = {.run = runs, .at = fetch->buffers.mapped[source].memory};
            ok = list_part(finding, &fetch->shared, receives, part, &view, &buffer);
        } else if (!fetch->values.received_at[part->peer]) {
            ok = list_part(finding, &fetch->unpacked, receives, part, &view, &incoming);
        }
        if (runs)
            runs += part_rect_count(part);
    }
    for (int64_t i = 0; ok && fetch->buffer && i < own->parts.count; i++) {
        const SelectedPart *part = &own->parts.items[i];
        End home = {.piece = storage_piece_with(fetch->storage, &part->rect)};
        ok = list_part(finding, &fetch->own, own, part, &view, &home);
    }
    return ok;
}
