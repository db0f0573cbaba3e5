// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/part_exchange.h"

#include "runtime/value_exchange.h"

#include <stdlib.h>
#include <string.h>

bool part_list_create(PartList *list, int ranks, int64_t count, const Part *parts) {
    *list = (PartList){.counts = calloc((size_t)ranks, sizeof(int64_t)),
                       .count = count,
                       .parts = malloc(sizeof(Part) * (size_t)count + 1)};
    for (int64_t i = 0; list->counts && list->parts && i < count; i++) {
        list->parts[i] = parts[i];
        list->counts[parts[i].peer]++;
    }
    return list->counts && list->parts;
}

void part_list_free(PartList *list) {
    free(list->counts);
    free(list->parts);
    *list = (PartList){0};
}

bool part_list_of(PartList *list, int ranks, const Selection *selection, Arena *arena) {
    const int64_t count = selection_rect_count(selection);
    Part *parts = arena_array(arena, Part, count), *to = parts;
    for (int64_t i = 0; i < selection->parts.count; i++) {
        const SelectedPart *part = &selection->parts.items[i];
        for (int64_t r = 0; r < part_rect_count(part); r++)
            *to++ = (Part){.rect = part_rect(selection, part, r), .peer = part->peer, .piece = -1};
    }
    return part_list_create(list, ranks, count, parts);
}

typedef struct {
    const Selection *receives;
    const int64_t *to; // by part; NULL: their peers, and rectangles are not counted
    Selection *requested;
    int64_t *rects; // by rank
    const Storage *storage;
    Arena *arena; // of what is requested
    MPI_Comm comm;
    int ranks;
    int64_t *sent_numbers, *received_numbers; // by rank
    ValueExchange exchange;
} Request;

bool no_memory_for_requests(const Storage *storage, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for the requests of parts of tensor %s",
                             (long long)storage->rank, storage->home->tensor->name);
}

// The rank that a part is requested from; -1: none.
static int64_t destination(const Request *request, int64_t part) {
    return request->to ? request->to[part] : request->receives->parts.items[part].peer;
}

static bool count_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    const Selection *receives = request->receives;
    request->sent_numbers = arena_array(diagnostics->arena, int64_t, request->ranks);
    request->received_numbers = arena_array(diagnostics->arena, int64_t, request->ranks);
    for (int64_t i = 0; i < receives->parts.count; i++)
        if (destination(request, i) >= 0)
            request->sent_numbers[destination(request, i)] +=
                (request->to != NULL) + part_numbers(receives, &receives->parts.items[i]);
    return true;
}

static bool write_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    const Selection *receives = request->receives;
    if (!value_exchange_create(&request->exchange, TYPE_I64, EXCHANGE_MESSAGE_BYTES, request->sent_numbers,
                               request->received_numbers, request->comm) ||
        !value_exchange_allocate(&request->exchange))
        return no_memory_for_requests(request->storage, diagnostics);
    int64_t **places = arena_array(diagnostics->arena, int64_t *, request->ranks);
    int64_t *next = (int64_t *)request->exchange.outgoing;
    for (int rank = 0; rank < request->ranks; next += request->sent_numbers[rank++])
        places[rank] = next;
    for (int64_t i = 0; i < receives->parts.count; i++) {
        const SelectedPart *part = &receives->parts.items[i];
        if (destination(request, i) < 0)
            continue;
        int64_t **at = &places[destination(request, i)];
        if (request->to)
            *(*at)++ = part->peer;
        part_write(receives, part, *at);
        *at += part_numbers(receives, part);
    }
    return true;
}

static bool read_numbers(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Request *request = arguments;
    Selection *requested = request->requested;
    int64_t all = 0;
    for (int rank = 0; rank < request->ranks; rank++)
        all += request->received_numbers[rank];
    requested->numbers.capacity = all; // an upper bound: rectangles take the rest
    requested->numbers.items = arena_array(request->arena, int64_t, all);
    const int64_t *from = (const int64_t *)request->exchange.incoming;
    for (int rank = 0; rank < request->ranks; rank++)
        for (const int64_t *end = from + request->received_numbers[rank]; from < end;) {
            const int64_t peer = request->to ? *from++ : rank;
            from = part_read(requested, from, request->storage->home->order, peer, request->arena);
            if (request->to)
                request->rects[rank] += part_rect_count(&requested->parts.items[requested->parts.count - 1]);
        }
    return true;
}

bool exchange_parts_through(const Selection *receives, const int64_t *to, Selection *requests, int64_t *rects,
                            const Storage *storage, Arena *arena, MPI_Comm comm, Diagnostics *diagnostics) {
    Request request = {.receives = receives,
                       .to = to,
                       .requested = requests,
                       .rects = rects,
                       .storage = storage,
                       .arena = arena,
                       .comm = comm};
    *requests = selection_like(receives);
    MPI_Comm_size(comm, &request.ranks);
    bool ok = agree_on_part(comm, count_numbers, &request, diagnostics);
    if (ok)
        exchange_counts(1, request.sent_numbers, request.received_numbers, comm);
    ok = ok && agree_on_part(comm, write_numbers, &request, diagnostics);
    if (ok)
        value_exchange_run(&request.exchange);
    ok = ok && agree_on_part(comm, read_numbers, &request, diagnostics);
    value_exchange_free(&request.exchange);
    return ok;
}

bool exchange_parts(const Selection *receives, Selection *sends, const Storage *storage, Arena *arena,
                    MPI_Comm comm, Diagnostics *diagnostics) {
    return exchange_parts_through(receives, NULL, sends, NULL, storage, arena, comm, diagnostics);
}
