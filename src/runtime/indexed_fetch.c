// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/indexed_fetch.h"

#include "base/integer.h"
#include "runtime/copy_list.h"
#include "runtime/load_sparse.h"
#include "runtime/part_exchange.h"

#include <stdlib.h>

struct IndexedFetch {
    const StatementPlan *plan;
    int transfer;
    const Storage *storage, *by;
    Structure *of; // for which they were found; NULL: for none yet
    Piece view;
    void *buffer; // that the view is in; NULL: it is a home piece, or has no data
    ValueExchange values;
    void *numbers[MAX_ORDER]; // by mode; NULL: none
    int64_t number_bytes;     // of them, as planned
    IndexedRows rows;
    // From home pieces to `values`, and from there to the view; and from home pieces to the view.
    CopyList packed, unpacked, own;
};

IndexedFetch *indexed_fetch_create(const StatementPlan *plan, int transfer, const Storage *storage,
                                   const Storage *by) {
    IndexedFetch *fetch = calloc(1, sizeof *fetch);
    if (fetch)
        *fetch = (IndexedFetch){.plan = plan, .transfer = transfer, .storage = storage, .by = by};
    return fetch;
}

static void forget(IndexedFetch *fetch) {
    memory_release(MEMORY_HOST, fetch->buffer);
    fetch->buffer = NULL;
    fetch->view = (Piece){0};
    for (int m = 0; m < MAX_ORDER; m++) {
        memory_release(MEMORY_HOST, fetch->numbers[m]);
        fetch->numbers[m] = NULL;
    }
    fetch->number_bytes = 0;
    copy_list_free(&fetch->own);
    copy_list_free(&fetch->packed);
    copy_list_free(&fetch->unpacked);
    value_exchange_free(&fetch->values);
    structure_hold(&fetch->of, NULL);
}

void indexed_fetch_free(IndexedFetch *fetch) {
    if (fetch)
        forget(fetch);
    free(fetch);
}

bool indexed_fetch_is_known(const IndexedFetch *fetch) {
    return fetch->of && fetch->of == fetch->by->structure;
}

const Piece *indexed_fetch_view(const IndexedFetch *fetch) {
    return &fetch->view;
}

void *indexed_fetch_numbers(const IndexedFetch *fetch, int mode) {
    return fetch->numbers[mode];
}

const IndexedRows *indexed_fetch_rows(const IndexedFetch *fetch) {
    return &fetch->rows;
}

static void *list_of(const StoredTensor *stored, int level) {
    return stored->arrays[level].arrays[level_array(stored->levels[level].format, LEVEL_ARRAY_COORDINATES)];
}

void *listed_coordinates(const Storage *by, int level) {
    return by->structure ? list_of(&by->stored, level) : NULL;
}

const ValueExchange *indexed_fetch_values(const IndexedFetch *fetch) {
    return &fetch->values;
}

int64_t indexed_fetch_buffers(const IndexedFetch *fetch) {
    const int64_t own = fetch->buffer ? rect_volume(&fetch->view.rect) : 0;
    return saturated_add(fetch->number_bytes,
                         saturated_mul(saturated_add(own, value_exchange_buffer(&fetch->values)),
                                       (int64_t)type_info(fetch->storage->type)->size));
}

int64_t indexed_fetch_bytes(const IndexedFetch *fetch) {
    const CopyList *const lists[] = {&fetch->packed, &fetch->unpacked, &fetch->own};
    int64_t bytes = indexed_fetch_buffers(fetch);
    for (int l = 0; l < 3; l++)
        bytes = saturated_add(bytes, copy_list_bytes(lists[l]));
    return bytes;
}

// While they are found.
typedef struct {
    IndexedFetch *fetch;
    MPI_Comm comm;
    int ranks;
    int64_t limit; // of what it takes, in bytes
    IndexedUse use;
    PartList sends, receives;
} Finding;

static bool no_memory(const IndexedFetch *fetch, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for what it fetches of tensor %s",
                             (long long)fetch->storage->rank, fetch->storage->home->tensor->name);
}

// The points of what this rank has of the operand that indexes: where it uses all of that, and they are in
// one list, by looking at nothing else.
static bool find_points(const IndexedFetch *fetch, int level, IndexedPoints *points,
                        Diagnostics *diagnostics) {
    const Storage *by = fetch->by;
    const char *why;
    if (level >= 0 && by->structure) {
        const StoredTensor *stored = &by->stored;
        points->entries = sparse_count(by);
        why = coordinates_distinct(list_of(stored, level), stored->levels[level].wide,
                                   stored->arrays[level].position_count,
                                   stored->extents[stored->mode_order[level]], &points->points);
    } else {
        Entries entries;
        const bool ok = sparse_entries(by, &entries, diagnostics);
        why =
            ok ? indexed_points(fetch->plan, fetch->transfer, fetch->storage->rank, &entries, points) : NULL;
        entries_free(&entries);
        if (!ok)
            return false;
    }
    return !why || no_memory(fetch, diagnostics);
}

static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    IndexedFetch *fetch = finding->fetch;
    const int64_t rank = fetch->storage->rank;
    Arena *arena = diagnostics->arena;
    IndexedPoints points = {0};
    forget(fetch);
    const int level = indexed_level(fetch->plan, fetch->transfer, rank);
    const bool ok = find_points(fetch, level, &points, diagnostics);
    const char *why =
        ok ? indexed_use(fetch->plan, fetch->transfer, rank, &points, arena, &finding->use) : NULL;
    entries_free(&points.points);
    if (!ok)
        return false;
    // Without a piece there are no arrays.
    if (!why && level >= 0 && fetch->by->structure && fetch->by->piece_count > 0 &&
        transfer_overlaps(&fetch->plan->spmd->transfers[fetch->transfer]))
        fetch->rows =
            indexed_rows(fetch->plan, fetch->transfer, rank, &fetch->by->stored, &finding->use, arena);
    const IndexedParts *parts = &finding->use.parts;
    return (!why && part_list_create(&finding->receives, finding->ranks, parts->count, parts->items)) ||
           no_memory(fetch, diagnostics);
}

// The elements of the parts, by rank.
static int64_t *count_elements(const Finding *finding, const PartList *list, Arena *arena) {
    int64_t *elements = arena_array(arena, int64_t, finding->ranks);
    for (int64_t i = 0; i < list->count; i++)
        elements[list->parts[i].peer] += rect_volume(&list->parts[i].rect);
    return elements;
}

// The index of the coordinate of each position of a level in a list of these in increasing order, by a table
// where that is not much longer than the level. Positions that the rank does not use may have others.
static void number_positions(const int64_t *coordinates, int64_t count, int64_t position_count, bool wide,
                             const void *from, void *to) {
    const int64_t first = count > 0 ? coordinates[0] : 0;
    const int64_t extent = count > 0 ? coordinates[count - 1] + 1 - first : 0;
    const LevelArrays list = {.wide = wide, .arrays = {(void *)from}};
    LevelArrays numbers = {.wide = wide, .arrays = {to}};
    int32_t *table = NULL;
    if (extent / 4 <= position_count && count <= INT32_MAX)
        table = calloc((size_t)extent, sizeof *table);
    for (int64_t i = 0; table && i < count; i++)
        table[coordinates[i] - first] = (int32_t)i;
    for (int64_t p = 0; p < position_count; p++) {
        const int64_t x = level_coordinate(&list, 0, p);
        const bool within = x >= first && x < first + extent;
        level_set_coordinate(&numbers, 0, p,
                             !within ? 0
                             : table ? table[x - first]
                                     : min_i64(coordinate_index(coordinates, count, x), count - 1));
    }
    free(table);
}

static bool number_coordinates(const Finding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const IndexedUse *use = &finding->use;
    const Transfer *transfer = &fetch->plan->spmd->transfers[fetch->transfer];
    for (int m = 0; m < use->view.order; m++) {
        if (!use->coordinates[m])
            continue;
        const int l = transfer->index_levels[m];
        const LevelArrays *level = &fetch->by->stored.arrays[l];
        fetch->numbers[m] =
            memory_allocate(MEMORY_HOST, level->position_count, level->wide ? TYPE_I64 : TYPE_I32);
        if (!fetch->numbers[m])
            return false;
        number_positions(use->coordinates[m], use->view.hi[m], level->position_count, level->wide,
                         list_of(&fetch->by->stored, l), fetch->numbers[m]);
    }
    return true;
}

// The view, and the memory that values go through.
static bool allocate(Finding *finding, Arena *arena) {
    IndexedFetch *fetch = finding->fetch;
    const Storage *storage = fetch->storage;
    const IndexedUse *use = &finding->use;
    const int64_t *sends = count_elements(finding, &finding->sends, arena),
                  *receives = count_elements(finding, &finding->receives, arena);
    if (!value_exchange_create(&fetch->values, storage->type, fetch->plan->options.message_limit, sends,
                               receives, finding->comm))
        return false;
    fetch->number_bytes = indexed_number_bytes(fetch->plan, fetch->transfer, use);
    const int64_t elements = indexed_buffer(use), size = (int64_t)type_info(storage->type)->size;
    if (saturated_add(indexed_fetch_buffers(fetch), saturated_mul(elements, size)) > finding->limit)
        return false;
    if (use->piece >= 0) {
        fetch->view = storage->pieces[use->piece];
    } else if (elements > 0) {
        fetch->buffer = memory_allocate(MEMORY_HOST, elements, storage->type);
        fetch->view =
            piece_packed(&use->view, tensor_levels(storage->home->tensor), storage->type, fetch->buffer);
        if (!fetch->buffer)
            return false;
    }
    return value_exchange_allocate(&fetch->values) && number_coordinates(finding);
}

static const Piece *piece_of(const Storage *storage, const Rect *rect) {
    int64_t p = 0;
    while (!rect_contains(&storage->pieces[p].rect, rect))
        p++;
    return &storage->pieces[p];
}

// What the view has of a part, with coordinates in place of their numbers.
static Piece window(const Finding *finding, const Rect *part) {
    Piece piece = finding->fetch->view;
    const Rect rect = indexed_in_view(&finding->use, part);
    piece.data = piece_element(&finding->fetch->view, &rect);
    piece.rect = *part;
    for (int m = 0; m < part->order; m++)
        piece.rect.periodic[m] = NULL;
    return piece;
}

// Elements follow each other in the order of the parts.
static bool list_packed(const Finding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const Storage *storage = fetch->storage;
    const LevelList levels = tensor_levels(storage->home->tensor);
    const size_t size = type_info(storage->type)->size;
    char *to = fetch->values.outgoing, *from = fetch->values.incoming;
    bool ok = true;
    for (int64_t i = 0; ok && i < finding->sends.count; i++) {
        const Rect *rect = &finding->sends.parts[i].rect;
        const Piece packed = piece_packed(rect, levels, storage->type, to);
        ok = copy_list_add(&fetch->packed, &packed, piece_of(storage, rect), rect);
        to += (size_t)rect_volume(rect) * size;
    }
    for (int64_t i = 0; ok && i < finding->receives.count; i++) {
        const Rect *rect = &finding->receives.parts[i].rect;
        const Piece packed = piece_packed(rect, levels, storage->type, from), view = window(finding, rect);
        ok = copy_list_add(&fetch->unpacked, &view, &packed, rect);
        from += (size_t)rect_volume(rect) * size;
    }
    return ok;
}

static bool list_own(const Finding *finding) {
    IndexedFetch *fetch = finding->fetch;
    bool ok = true;
    for (int64_t i = 0; ok && fetch->buffer && i < finding->use.own.count; i++) {
        const Rect *rect = &finding->use.own.items[i].rect;
        const Piece view = window(finding, rect);
        ok = copy_list_add(&fetch->own, &view, piece_of(fetch->storage, rect), rect);
    }
    return ok;
}

static bool prepare_values(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    IndexedFetch *fetch = finding->fetch;
    return (allocate(finding, diagnostics->arena) && list_packed(finding) && list_own(finding) &&
            indexed_fetch_bytes(fetch) <= finding->limit) ||
           no_memory(fetch, diagnostics);
}

bool indexed_fetch_find(IndexedFetch *fetch, int64_t taken, MPI_Comm comm, Diagnostics *diagnostics) {
    Finding finding = {.fetch = fetch, .comm = comm, .limit = max_i64(fetch->storage->limit - taken, 0)};
    MPI_Comm_size(comm, &finding.ranks);
    const bool ok =
        agree_on_part(comm, find_parts, &finding, diagnostics) &&
        exchange_parts(&finding.receives, &finding.sends, fetch->storage->home->order, comm, diagnostics) &&
        agree_on_part(comm, prepare_values, &finding, diagnostics);
    part_list_free(&finding.receives);
    part_list_free(&finding.sends);
    if (ok)
        structure_hold(&fetch->of, fetch->by->structure);
    return ok;
}

void indexed_fetch_start(IndexedFetch *fetch) {
    const size_t size = type_info(fetch->storage->type)->size;
    value_exchange_receive(&fetch->values);
    copy_list_execute(&fetch->packed, size);
    value_exchange_send(&fetch->values);
    copy_list_execute(&fetch->own, size);
}

void indexed_fetch_progress(IndexedFetch *fetch) {
    value_exchange_progress(&fetch->values);
}

void indexed_fetch_finish(IndexedFetch *fetch) {
    value_exchange_wait(&fetch->values);
    copy_list_execute(&fetch->unpacked, type_info(fetch->storage->type)->size);
}
