// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/indexed_fetch.h"

#include "runtime/load_sparse.h"
#include "runtime/part_exchange.h"

#include <stdlib.h>
#include <string.h>

struct IndexedFetch {
    const StatementPlan *plan;
    int transfer;
    const Storage *storage, *by;
    Structure *of; // for which they were found; NULL: for none yet
    MPI_Comm comm;
    int ranks;
    PartList sends, receives;
    ValueExchange values;
};

IndexedFetch *indexed_fetch_create(const StatementPlan *plan, int transfer, const Storage *storage,
                                   const Storage *by) {
    IndexedFetch *fetch = calloc(1, sizeof *fetch);
    if (fetch)
        *fetch = (IndexedFetch){.plan = plan, .transfer = transfer, .storage = storage, .by = by};
    return fetch;
}

static void forget(IndexedFetch *fetch) {
    part_list_free(&fetch->sends);
    part_list_free(&fetch->receives);
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

const ValueExchange *indexed_fetch_values(const IndexedFetch *fetch) {
    return &fetch->values;
}

static bool no_memory(const IndexedFetch *fetch, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for what it fetches of tensor %s",
                             (long long)fetch->storage->rank, fetch->storage->home->tensor->name);
}

static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    IndexedFetch *fetch = arguments;
    Entries entries;
    IndexedParts parts;
    forget(fetch);
    const char *why = NULL;
    const bool ok = sparse_entries(fetch->by, &entries, diagnostics);
    if (ok)
        why = indexed_parts(fetch->plan, fetch->transfer, fetch->storage->rank, &entries, diagnostics->arena,
                            &parts);
    entries_free(&entries);
    if (!ok)
        return false;
    return (!why && part_list_create(&fetch->receives, fetch->ranks, parts.count, parts.items)) ||
           no_memory(fetch, diagnostics);
}

// The elements of the parts, by rank.
static int64_t *count_elements(const IndexedFetch *fetch, const PartList *list, Arena *arena) {
    int64_t *elements = arena_array(arena, int64_t, fetch->ranks);
    for (int64_t i = 0; i < list->count; i++)
        elements[list->parts[i].peer] += rect_volume(&list->parts[i].rect);
    return elements;
}

static bool prepare_values(void *arguments, Diagnostics *diagnostics) {
    IndexedFetch *fetch = arguments;
    for (int64_t i = 0; i < fetch->sends.count; i++) {
        Part *part = &fetch->sends.parts[i];
        for (int64_t p = 0; p < fetch->storage->piece_count && part->piece < 0; p++)
            if (rect_contains(&fetch->storage->pieces[p].rect, &part->rect))
                part->piece = p;
    }
    const int64_t *sends = count_elements(fetch, &fetch->sends, diagnostics->arena),
                  *receives = count_elements(fetch, &fetch->receives, diagnostics->arena);
    return (value_exchange_create(&fetch->values, fetch->storage->type, fetch->plan->options.message_limit,
                                  sends, receives, fetch->comm) &&
            value_exchange_allocate(&fetch->values)) ||
           no_memory(fetch, diagnostics);
}

bool indexed_fetch_find(IndexedFetch *fetch, MPI_Comm comm, Diagnostics *diagnostics) {
    fetch->comm = comm;
    MPI_Comm_size(comm, &fetch->ranks);
    const bool ok =
        agree_on_part(comm, find_parts, fetch, diagnostics) &&
        exchange_parts(&fetch->receives, &fetch->sends, fetch->storage->home->order, comm, diagnostics) &&
        agree_on_part(comm, prepare_values, fetch, diagnostics);
    if (ok)
        structure_hold(&fetch->of, fetch->by->structure);
    return ok;
}

static void copy_element(char *to, const char *from, size_t size) {
    if (size == sizeof(double))
        memcpy(to, from, sizeof(double));
    else
        memcpy(to, from, size);
}

// Between packed elements of parts and `view`, or home pieces where that is NULL.
static void copy_parts(const IndexedFetch *fetch, const PartList *list, char *data, const Piece *view) {
    const size_t size = type_info(fetch->storage->type)->size;
    const LevelList levels = tensor_levels(fetch->storage->home->tensor);
    for (int64_t i = 0; i < list->count; i++) {
        const Part *part = &list->parts[i];
        const Piece *piece = view ? view : &fetch->storage->pieces[part->piece];
        const int64_t volume = rect_volume(&part->rect);
        if (volume == 1) {
            char *element = piece_element(piece, &part->rect);
            copy_element(view ? element : data, view ? data : element, size);
        } else {
            const Piece packed = piece_packed(&part->rect, levels, fetch->storage->type, data);
            if (view)
                piece_copy(view, &packed, &part->rect);
            else
                piece_copy(&packed, piece, &part->rect);
        }
        data += (size_t)volume * size;
    }
}

void indexed_fetch_start(IndexedFetch *fetch) {
    value_exchange_receive(&fetch->values);
    copy_parts(fetch, &fetch->sends, fetch->values.outgoing, NULL);
    value_exchange_send(&fetch->values);
}

void indexed_fetch_finish(IndexedFetch *fetch, const Piece *view) {
    value_exchange_wait(&fetch->values);
    copy_parts(fetch, &fetch->receives, fetch->values.incoming, view);
}
