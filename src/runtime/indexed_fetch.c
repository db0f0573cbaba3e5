// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/indexed_fetch.h"

#include "base/integer.h"
#include "plan/neighbours.h"
#include "runtime/indexed_copies.h"
#include "runtime/load_sparse.h"
#include "runtime/part_exchange.h"

#include <stdlib.h>
#include <string.h>

IndexedFetch *indexed_fetch_create(const StatementPlan *plan, int transfer, const Storage *storage,
                                   const Storage *by) {
    IndexedFetch *fetch = calloc(1, sizeof *fetch);
    if (fetch)
        *fetch = (IndexedFetch){.plan = plan, .transfer = transfer, .storage = storage, .by = by};
    return fetch;
}

void indexed_fetch_read(IndexedFetch *fetch, const RankTransfer *part, const Piece *pieces,
                        Reading *reading) {
    fetch->part = part;
    fetch->neighbours = pieces;
    fetch->reading = reading;
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
    fetch->rows = (IndexedRows){0};
    copy_list_free(&fetch->own);
    copy_list_free(&fetch->read);
    copy_list_free(&fetch->packed);
    copy_list_free(&fetch->unpacked);
    copy_list_free(&fetch->shared);
    shared_buffer_free(&fetch->buffers);
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

Cost indexed_fetch_received(const IndexedFetch *fetch) {
    return fetch->received;
}

int64_t indexed_fetch_buffers(const IndexedFetch *fetch) {
    const int64_t own = fetch->buffer ? rect_volume(&fetch->view.rect) : 0;
    const int64_t moved = saturated_mul(saturated_add(own, value_exchange_buffer(&fetch->values)),
                                        (int64_t)type_info(fetch->storage->type)->size);
    return saturated_add(saturated_add(fetch->number_bytes, fetch->buffers.bytes), moved);
}

int64_t indexed_fetch_bytes(const IndexedFetch *fetch) {
    enum { LISTS = 5 };
    const CopyList *const lists[LISTS] = {&fetch->packed, &fetch->unpacked, &fetch->own, &fetch->read,
                                          &fetch->shared};
    int64_t bytes = indexed_fetch_buffers(fetch);
    for (int l = 0; l < LISTS; l++)
        bytes = saturated_add(bytes, copy_list_bytes(lists[l]));
    return bytes;
}

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
        points->entries = sparse_count(by, diagnostics->arena);
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
    IndexedFinding *finding = arguments;
    IndexedFetch *fetch = finding->fetch;
    const int64_t rank = fetch->storage->rank;
    Arena *arena = finding->arena = arena_create_within(diagnostics->arena);
    IndexedPoints points = {0};
    forget(fetch);
    const bool any = fetch->by->structure && fetch->by->piece_count > 0;
    const int level = indexed_level(fetch->plan, fetch->transfer, rank, any ? &fetch->by->stored : NULL);
    const bool ok = find_points(fetch, level, &points, diagnostics);
    const char *why =
        ok ? indexed_use(fetch->plan, fetch->transfer, rank, &points, arena, &finding->use) : NULL;
    entries_free(&points.points);
    if (!ok)
        return false;
    // Without a piece there are no arrays.
    if (!why && level >= 0 && any && transfer_overlaps(&fetch->plan->spmd->transfers[fetch->transfer]))
        fetch->rows =
            indexed_rows(fetch->plan, fetch->transfer, rank, &fetch->by->stored, &finding->use, arena);
    return !why || no_memory(fetch, diagnostics);
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
    if (extent > 0 && extent / 4 <= position_count && count <= INT32_MAX)
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

static bool number_coordinates(const IndexedFinding *finding) {
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

// Whether a home piece is contiguous, as it is unless a caller's memory has gaps.
static bool is_packed(const Storage *storage, const Piece *piece) {
    const Piece packed =
        piece_packed(&piece->rect, tensor_levels(storage->home->tensor), storage->type, NULL);
    return memcmp(packed.stride, piece->stride, sizeof packed.stride[0] * (size_t)piece->rect.order) == 0;
}

// Elements that leave from where they are at home, and those that arrive in the view: not what arrives in the
// buffer of this rank as aggregator. The addresses follow when there is memory.
static int64_t find_in_place(const IndexedFinding *finding, bool *arrives) {
    const IndexedFetch *fetch = finding->fetch;
    const Storage *storage = fetch->storage;
    const Selection *const sends = &finding->sends, *const receives = &finding->sharing.requests;
    const bool *aggregated = part_sharing_aggregated(&finding->sharing, finding->ranks);
    int64_t elements = 0;
    for (int64_t i = 0, end; i < sends->parts.count; i = end) {
        const SelectedPart *part = &sends->parts.items[i];
        end = selection_peer_end(sends, i);
        if (fetch->values.read[part->peer])
            continue;
        const Piece *piece = storage_piece_with(storage, &part->rect);
        if (!indexed_leaves_home(sends, storage->home, i, end - i) || !is_packed(storage, piece))
            continue;
        fetch->values.sent_from[part->peer] = piece_element(piece, &part->rect);
        elements += fetch->values.sends[part->peer];
    }
    for (int64_t i = 0, end; i < receives->parts.count; i = end) {
        const int64_t peer = receives->parts.items[i].peer;
        end = selection_peer_end(receives, i);
        arrives[peer] = !fetch->values.read[peer] && !aggregated[peer] &&
                        indexed_arrives_in_view(&finding->use, receives, storage->home->tensor, i, end - i);
        elements += arrives[peer] ? fetch->values.receives[peer] : 0;
    }
    return elements;
}

static void set_addresses(const IndexedFinding *finding, const bool *arrives) {
    const Selection *receives = &finding->sharing.requests;
    for (int64_t i = 0; i < receives->parts.count; i = selection_peer_end(receives, i)) {
        const SelectedPart *part = &receives->parts.items[i];
        const Rect rect = indexed_in_view(&finding->use, &part->rect);
        if (arrives[part->peer])
            finding->fetch->values.received_at[part->peer] = piece_element(&finding->fetch->view, &rect);
    }
}

// The buffer of this rank as aggregator.
static bool allocate_shared(const IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const SharedParts *shared = &finding->sharing.shared;
    const Selection *parts = &shared->parts;
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size;
    if (!finding->sharing.neighbours)
        return true;
    const bool ok =
        shared_buffer_create(&fetch->buffers, fetch->reading, fetch->transfer, shared->elements * size);
    char *at = fetch->buffers.memory;
    for (int64_t i = 0; at && i < parts->parts.count; i = selection_peer_end(parts, i)) {
        const int64_t owner = parts->parts.items[i].peer;
        fetch->values.received_at[owner] = at;
        at += fetch->values.receives[owner] * size;
    }
    return ok;
}

// The buffers that this rank copies from.
static bool map_shared(const IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const PartSharing *sharing = &finding->sharing;
    for (int64_t p = 0; sharing->sources && p < sharing->parts->parts.count; p++)
        if (sharing->sources[p] >= 0 && !shared_buffer_map(&fetch->buffers, fetch->plan, sharing->sources[p]))
            return false;
    return true;
}

// The view, and the memory that values go through.
static bool allocate(IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const Storage *storage = fetch->storage;
    const IndexedUse *use = &finding->use;
    const int64_t *sends = selection_elements(&finding->sends, finding->ranks, finding->arena),
                  *receives = selection_elements(&finding->sharing.requests, finding->ranks, finding->arena);
    bool *arrives = arena_array(finding->arena, bool, finding->ranks);
    fetch->received = indexed_cost(fetch->plan, fetch->transfer, storage->rank,
                                   selection_elements(&use->parts, finding->ranks, finding->arena));
    if (!value_exchange_create(&fetch->values, storage->type, fetch->plan->options.message_limit, sends,
                               receives, finding->comm))
        return false;
    for (int rank = 0; rank < finding->ranks; rank++)
        fetch->values.read[rank] =
            fetch->reading && neighbours_gather_from(fetch->plan, fetch->transfer, storage->rank, rank);
    fetch->number_bytes = indexed_number_bytes(fetch->plan, fetch->transfer, use);
    const int64_t size = (int64_t)type_info(storage->type)->size,
                  moved = value_exchange_buffer(&fetch->values);
    const int64_t copied = moved - find_in_place(finding, arrives); // or in the buffer of an aggregator
    if (saturated_add(fetch->number_bytes, saturated_mul(saturated_add(indexed_buffer(use), copied), size)) >
        finding->limit)
        return false;
    if (use->piece >= 0) {
        fetch->view = storage->pieces[use->piece];
    } else if (indexed_buffer(use) > 0) {
        fetch->buffer = memory_allocate(MEMORY_HOST, indexed_buffer(use), storage->type);
        fetch->view =
            piece_packed(&use->view, tensor_levels(storage->home->tensor), storage->type, fetch->buffer);
        if (!fetch->buffer)
            return false;
    }
    set_addresses(finding, arrives);
    return allocate_shared(finding) && value_exchange_allocate(&fetch->values) && number_coordinates(finding);
}

static bool prepare_values(void *arguments, Diagnostics *diagnostics) {
    IndexedFinding *finding = arguments;
    return allocate(finding) || no_memory(finding->fetch, diagnostics);
}

static bool list_copies(void *arguments, Diagnostics *diagnostics) {
    IndexedFinding *finding = arguments;
    IndexedFetch *fetch = finding->fetch;
    if (!map_shared(finding))
        return reading_refuse_map(fetch->reading, diagnostics);
    return (indexed_copies_list(finding) && indexed_fetch_bytes(fetch) <= finding->limit) ||
           no_memory(fetch, diagnostics);
}

bool indexed_fetch_find(IndexedFetch *fetch, int64_t taken, MPI_Comm comm, Diagnostics *diagnostics) {
    IndexedFinding finding = {
        .fetch = fetch, .comm = comm, .limit = max_i64(fetch->storage->limit - taken, 0)};
    MPI_Comm_size(comm, &finding.ranks);
    bool ok =
        agree_on_part(comm, find_parts, &finding, diagnostics) &&
        part_sharing_find(&finding.sharing, fetch->plan, fetch->transfer, fetch->storage, &finding.use.parts,
                          fetch->part, fetch->reading, finding.arena, comm, diagnostics) &&
        exchange_parts(&finding.sharing.requests, &finding.sends, fetch->storage, finding.arena, comm,
                       diagnostics) &&
        agree_on_part(comm, prepare_values, &finding, diagnostics);
    if (ok && finding.sharing.neighbours)
        shared_buffer_exchange(&fetch->buffers);
    ok = ok && agree_on_part(comm, list_copies, &finding, diagnostics);
    arena_free(finding.arena);
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

static void read_neighbours(IndexedFetch *fetch) {
    const RankTransfer *part = fetch->part;
    for (int64_t p = 0; p < part->neighbour_count; p++)
        if (fetch->values.receives[part->neighbours[p].rank] > 0)
            reading_wait(fetch->reading, fetch->transfer, p);
    copy_list_execute(&fetch->read, type_info(fetch->storage->type)->size);
}

void indexed_fetch_finish(IndexedFetch *fetch) {
    const size_t size = type_info(fetch->storage->type)->size;
    if (fetch->read.count > 0)
        read_neighbours(fetch);
    value_exchange_wait(&fetch->values);
    shared_buffer_received(&fetch->buffers);
    copy_list_execute(&fetch->unpacked, size);
    shared_buffer_wait(&fetch->buffers);
    copy_list_execute(&fetch->shared, size);
}
