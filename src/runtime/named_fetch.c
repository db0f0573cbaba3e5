// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/named_fetch.h"

#include "base/integer.h"
#include "runtime/load_sparse.h"
#include "runtime/message.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 1 << 14 }; // beyond those of transfers

// Elements in the order of messages, sent or received.
typedef struct {
    int64_t *counts; // parts by rank
    int64_t count;
    Part *parts;
    int64_t elements, message_count;
    char *data;
} NamedSide;

struct NamedFetch {
    const StatementPlan *plan;
    int transfer;
    const Storage *storage;
    Storage *by;
    Structure *of; // for which they were found; NULL: for none yet
    MPI_Comm comm;
    int ranks;
    NamedSide sends, receives;
    MPI_Request *requests;
    int request_count;
    Cost cost;
};

NamedFetch *named_fetch_create(const StatementPlan *plan, int transfer, const Storage *storage, Storage *by) {
    NamedFetch *fetch = calloc(1, sizeof *fetch);
    if (fetch)
        *fetch = (NamedFetch){.plan = plan, .transfer = transfer, .storage = storage, .by = by};
    return fetch;
}

static void free_side(NamedSide *side) {
    free(side->counts);
    free(side->parts);
    free(side->data);
    *side = (NamedSide){0};
}

static void forget(NamedFetch *fetch) {
    free_side(&fetch->sends);
    free_side(&fetch->receives);
    free(fetch->requests);
    fetch->requests = NULL;
    structure_hold(&fetch->of, NULL);
}

void named_fetch_free(NamedFetch *fetch) {
    if (fetch)
        forget(fetch);
    free(fetch);
}

bool named_fetch_is_known(const NamedFetch *fetch) {
    return fetch->of && fetch->of == fetch->by->structure;
}

Cost named_fetch_cost(const NamedFetch *fetch) {
    return fetch->cost;
}

int64_t named_fetch_buffer(const NamedFetch *fetch) {
    return fetch->sends.elements + fetch->receives.elements;
}

static bool no_memory(const NamedFetch *fetch, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for what it fetches of tensor %s",
                             (long long)fetch->storage->rank, fetch->storage->home->tensor->name);
}

static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    NamedFetch *fetch = arguments;
    Entries entries;
    NamedParts parts;
    forget(fetch);
    fetch->sends.counts = calloc((size_t)fetch->ranks, sizeof(int64_t));
    fetch->receives.counts = calloc((size_t)fetch->ranks, sizeof(int64_t));
    if (!fetch->sends.counts || !fetch->receives.counts)
        return no_memory(fetch, diagnostics);
    const char *why = NULL;
    bool ok = sparse_entries(fetch->by, &entries, diagnostics);
    if (ok)
        why = named_parts(fetch->plan, fetch->transfer, fetch->storage->rank, &entries, diagnostics->arena,
                          &parts);
    entries_free(&entries);
    if (!ok || why)
        return ok ? no_memory(fetch, diagnostics) : false;
    fetch->cost = named_cost(fetch->plan, fetch->transfer, &parts, NULL);
    fetch->receives.count = parts.count;
    fetch->receives.parts = malloc(sizeof(Part) * (size_t)parts.count + 1);
    if (!fetch->receives.parts)
        return no_memory(fetch, diagnostics);
    if (parts.count > 0)
        memcpy(fetch->receives.parts, parts.items, sizeof(Part) * (size_t)parts.count);
    for (int64_t i = 0; i < parts.count; i++)
        fetch->receives.counts[parts.items[i].peer]++;
    return true;
}

static int64_t message_elements(const NamedFetch *fetch) {
    return max_i64(1, fetch->plan->options.message_limit / (int64_t)type_info(fetch->storage->type)->size);
}

// The elements of the parts, and the buffer for them.
static bool allocate_data(const NamedFetch *fetch, NamedSide *side) {
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size, limit = message_elements(fetch);
    side->elements = side->message_count = 0;
    int64_t at = 0;
    for (int rank = 0; rank < fetch->ranks; rank++) {
        int64_t elements = 0;
        for (int64_t i = 0; i < side->counts[rank]; i++)
            elements += rect_volume(&side->parts[at++].rect);
        side->elements += elements;
        side->message_count += ceil_div(elements, limit);
    }
    side->data = malloc((size_t)(side->elements * size) + 1);
    return side->data != NULL;
}

static bool allocate_sends(void *arguments, Diagnostics *diagnostics) {
    NamedFetch *fetch = arguments;
    fetch->sends.count = 0;
    for (int rank = 0; rank < fetch->ranks; rank++)
        fetch->sends.count += fetch->sends.counts[rank];
    fetch->sends.parts = malloc(sizeof(Part) * (size_t)fetch->sends.count + 1);
    fetch->requests = malloc(sizeof(MPI_Request) * 2 * (size_t)fetch->ranks);
    return (fetch->sends.parts && fetch->requests) || no_memory(fetch, diagnostics);
}

static bool allocate_messages(void *arguments, Diagnostics *diagnostics) {
    NamedFetch *fetch = arguments;
    if (!allocate_data(fetch, &fetch->sends) || !allocate_data(fetch, &fetch->receives))
        return no_memory(fetch, diagnostics);
    free(fetch->requests);
    fetch->requests = malloc(
        sizeof(MPI_Request) * (size_t)(fetch->sends.message_count + fetch->receives.message_count) + 1);
    return fetch->requests || no_memory(fetch, diagnostics);
}

// The parts as the corners of their rectangles, in messages of this many parts at most.
enum { PARTS_AT_ONCE = 1 << 18 };

static bool exchange_parts(NamedFetch *fetch, Diagnostics *diagnostics) {
    const int order = fetch->storage->home->order, width = 2 * order;
    int64_t *asked = malloc(sizeof(int64_t) * (size_t)(width * fetch->receives.count) + 1);
    int64_t *wanted = malloc(sizeof(int64_t) * (size_t)(width * fetch->sends.count) + 1);
    const bool ok = agree_on(fetch->comm, (asked && wanted) || no_memory(fetch, diagnostics), diagnostics);
    for (int64_t i = 0; ok && i < fetch->receives.count; i++)
        for (int d = 0; d < order; d++) {
            asked[i * width + 2 * d] = fetch->receives.parts[i].rect.lo[d];
            asked[i * width + 2 * d + 1] = fetch->receives.parts[i].rect.hi[d];
        }
    // In rounds, so that counts fit.
    int64_t most = 0;
    for (int rank = 0; rank < fetch->ranks; rank++)
        most = max_i64(most, max_i64(fetch->sends.counts[rank], fetch->receives.counts[rank]));
    for (int64_t first = 0; ok && first < most; first += PARTS_AT_ONCE) {
        int count = 0;
        int64_t at = 0;
        for (int rank = 0; rank < fetch->ranks; at += fetch->sends.counts[rank++])
            if (fetch->sends.counts[rank] > first)
                MPI_Irecv(&wanted[(at + first) * width],
                          (int)min_i64(fetch->sends.counts[rank] - first, PARTS_AT_ONCE) * width, MPI_INT64_T,
                          rank, TAG, fetch->comm, &fetch->requests[count++]);
        at = 0;
        for (int rank = 0; rank < fetch->ranks; at += fetch->receives.counts[rank++])
            if (fetch->receives.counts[rank] > first)
                MPI_Isend(&asked[(at + first) * width],
                          (int)min_i64(fetch->receives.counts[rank] - first, PARTS_AT_ONCE) * width,
                          MPI_INT64_T, rank, TAG, fetch->comm, &fetch->requests[count++]);
        wait_all(count, fetch->requests);
    }
    for (int64_t i = 0; ok && i < fetch->sends.count; i++) {
        Part *part = &fetch->sends.parts[i];
        *part = (Part){.rect = {.order = order}, .piece = -1};
        for (int d = 0; d < order; d++) {
            part->rect.lo[d] = wanted[i * width + 2 * d];
            part->rect.hi[d] = wanted[i * width + 2 * d + 1];
        }
        for (int64_t p = 0; p < fetch->storage->piece_count && part->piece < 0; p++)
            if (rect_contains(&fetch->storage->pieces[p].rect, &part->rect))
                part->piece = p;
    }
    free(asked);
    free(wanted);
    return ok;
}

bool named_fetch_find(NamedFetch *fetch, MPI_Comm comm, Diagnostics *diagnostics) {
    MPI_Request request;
    fetch->comm = comm;
    MPI_Comm_size(comm, &fetch->ranks);
    bool ok = agree_on_part(comm, find_parts, fetch, diagnostics);
    if (ok) {
        MPI_Ialltoall(fetch->receives.counts, 1, MPI_INT64_T, fetch->sends.counts, 1, MPI_INT64_T, comm,
                      &request);
        wait_all(1, &request);
    }
    ok = ok && agree_on_part(comm, allocate_sends, fetch, diagnostics) &&
         exchange_parts(fetch, diagnostics) && agree_on_part(comm, allocate_messages, fetch, diagnostics);
    if (ok)
        structure_hold(&fetch->of, fetch->by->structure);
    return ok;
}

// Begins the messages of one side: `limit` elements at most in each.
static void begin(NamedFetch *fetch, const NamedSide *side, bool sends) {
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size, limit = message_elements(fetch);
    const MPI_Datatype type = message_element(fetch->storage->type);
    int64_t part = 0, at = 0;
    for (int rank = 0; rank < fetch->ranks; rank++) {
        int64_t elements = 0;
        for (int64_t i = 0; i < side->counts[rank]; i++)
            elements += rect_volume(&side->parts[part++].rect);
        for (int64_t i = 0; i < elements; i += limit) {
            const int count = (int)min_i64(limit, elements - i);
            MPI_Request *request = &fetch->requests[fetch->request_count++];
            if (sends)
                MPI_Isend(side->data + (at + i) * size, count, type, rank, TAG, fetch->comm, request);
            else
                MPI_Irecv(side->data + (at + i) * size, count, type, rank, TAG, fetch->comm, request);
        }
        at += elements;
    }
}

static void copy_element(char *to, const char *from, size_t size) {
    if (size == sizeof(double))
        memcpy(to, from, sizeof(double));
    else
        memcpy(to, from, size);
}

// Between the buffer of a side and `view`, or home pieces where that is NULL.
static void copy_parts(const NamedFetch *fetch, const NamedSide *side, const Piece *view) {
    const size_t size = type_info(fetch->storage->type)->size;
    const LevelList levels = tensor_levels(fetch->storage->home->tensor);
    char *data = side->data;
    for (int64_t i = 0; i < side->count; i++) {
        const Part *part = &side->parts[i];
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

void named_fetch_start(NamedFetch *fetch) {
    fetch->request_count = 0;
    begin(fetch, &fetch->receives, false);
    copy_parts(fetch, &fetch->sends, NULL);
    begin(fetch, &fetch->sends, true);
}

void named_fetch_finish(NamedFetch *fetch, const Piece *view) {
    wait_all(fetch->request_count, fetch->requests);
    if (fetch->receives.count > 0)
        copy_parts(fetch, &fetch->receives, view);
}
