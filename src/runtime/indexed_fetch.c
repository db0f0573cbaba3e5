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
    CopyList packed, unpacked; // from home pieces to `values`, and from there to the view
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

const ValueExchange *indexed_fetch_values(const IndexedFetch *fetch) {
    return &fetch->values;
}

int64_t indexed_fetch_buffers(const IndexedFetch *fetch) {
    const int64_t own = fetch->buffer ? rect_volume(&fetch->view.rect) : 0;
    return saturated_mul(saturated_add(own, value_exchange_buffer(&fetch->values)),
                         (int64_t)type_info(fetch->storage->type)->size);
}

int64_t indexed_fetch_bytes(const IndexedFetch *fetch) {
    return saturated_add(indexed_fetch_buffers(fetch),
                         saturated_add(copy_list_bytes(&fetch->packed), copy_list_bytes(&fetch->unpacked)));
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

static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    IndexedFetch *fetch = finding->fetch;
    Entries entries;
    forget(fetch);
    const char *why = NULL;
    const bool ok = sparse_entries(fetch->by, &entries, diagnostics);
    if (ok)
        why = indexed_use(fetch->plan, fetch->transfer, fetch->storage->rank, &entries, diagnostics->arena,
                          &finding->use);
    entries_free(&entries);
    if (!ok)
        return false;
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
    if (use->piece >= 0) {
        fetch->view = storage->pieces[use->piece];
    } else if (!rect_is_empty(&use->view)) {
        const int64_t size = (int64_t)type_info(storage->type)->size, volume = rect_volume(&use->view);
        if (saturated_add(indexed_fetch_buffers(fetch), saturated_mul(volume, size)) > finding->limit)
            return false;
        fetch->buffer = memory_allocate(MEMORY_HOST, volume, storage->type);
        fetch->view =
            piece_packed(&use->view, tensor_levels(storage->home->tensor), storage->type, fetch->buffer);
        if (!fetch->buffer)
            return false;
    }
    return indexed_fetch_buffers(fetch) <= finding->limit && value_exchange_allocate(&fetch->values);
}

static const Piece *piece_of(const Storage *storage, const Rect *rect) {
    int64_t p = 0;
    while (!rect_contains(&storage->pieces[p].rect, rect))
        p++;
    return &storage->pieces[p];
}

// Between home pieces or the view, and elements that follow each other in the order of the parts.
static bool list_copies(const IndexedFetch *fetch, const PartList *parts, CopyList *list, char *data,
                        bool packs) {
    const Storage *storage = fetch->storage;
    const LevelList levels = tensor_levels(storage->home->tensor);
    for (int64_t i = 0; i < parts->count; i++) {
        const Rect *rect = &parts->parts[i].rect;
        const Piece packed = piece_packed(rect, levels, storage->type, data);
        if (!copy_list_add(list, packs ? &packed : &fetch->view, packs ? piece_of(storage, rect) : &packed,
                           rect))
            return false;
        data += (size_t)rect_volume(rect) * type_info(storage->type)->size;
    }
    return true;
}

static bool prepare_values(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    IndexedFetch *fetch = finding->fetch;
    return (allocate(finding, diagnostics->arena) &&
            list_copies(fetch, &finding->sends, &fetch->packed, fetch->values.outgoing, true) &&
            list_copies(fetch, &finding->receives, &fetch->unpacked, fetch->values.incoming, false) &&
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

// What is at home of the bounding box.
static void copy_own(const IndexedFetch *fetch) {
    for (int64_t p = 0; fetch->buffer && p < fetch->storage->piece_count; p++) {
        const Piece *piece = &fetch->storage->pieces[p];
        Rect common;
        if (rect_intersect(&piece->rect, &fetch->view.rect, NULL, &common))
            piece_copy(&fetch->view, piece, &common);
    }
}

void indexed_fetch_start(IndexedFetch *fetch) {
    const size_t size = type_info(fetch->storage->type)->size;
    value_exchange_receive(&fetch->values);
    copy_list_execute(&fetch->packed, size);
    value_exchange_send(&fetch->values);
    copy_own(fetch);
}

void indexed_fetch_finish(IndexedFetch *fetch) {
    value_exchange_wait(&fetch->values);
    copy_list_execute(&fetch->unpacked, type_info(fetch->storage->type)->size);
}
