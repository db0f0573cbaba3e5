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
    int64_t count = 0;
    for (int64_t i = 0; i < selection->parts.count; i++)
        count += part_rect_count(&selection->parts.items[i]);
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
    Selection *sends;
    const Storage *storage;
    Arena *arena; // of what it sends
    MPI_Comm comm;
    int ranks;
    int64_t *sent_numbers, *received_numbers; // by rank
    ValueExchange exchange;
} Request;

static bool no_memory(const Request *request, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for the requests of parts of tensor %s",
                             (long long)request->storage->rank, request->storage->home->tensor->name);
}

static bool count_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    const Selection *receives = request->receives;
    request->sent_numbers = arena_array(diagnostics->arena, int64_t, request->ranks);
    request->received_numbers = arena_array(diagnostics->arena, int64_t, request->ranks);
    for (int64_t i = 0; i < receives->parts.count; i++)
        request->sent_numbers[receives->parts.items[i].peer] +=
            part_numbers(receives, &receives->parts.items[i]);
    return true;
}

static bool write_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    const Selection *receives = request->receives;
    if (!value_exchange_create(&request->exchange, TYPE_I64, EXCHANGE_MESSAGE_BYTES, request->sent_numbers,
                               request->received_numbers, request->comm) ||
        !value_exchange_allocate(&request->exchange))
        return no_memory(request, diagnostics);
    int64_t *to = (int64_t *)request->exchange.outgoing;
    for (int64_t i = 0; i < receives->parts.count; i++) {
        part_write(receives, &receives->parts.items[i], to);
        to += part_numbers(receives, &receives->parts.items[i]);
    }
    return true;
}

static bool read_numbers(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Request *request = arguments;
    Selection *sends = request->sends;
    int64_t all = 0;
    for (int rank = 0; rank < request->ranks; rank++)
        all += request->received_numbers[rank];
    sends->numbers.capacity = all; // an upper bound: rectangles take the rest
    sends->numbers.items = arena_array(request->arena, int64_t, all);
    const int64_t *from = (const int64_t *)request->exchange.incoming;
    for (int rank = 0; rank < request->ranks; rank++)
        for (const int64_t *end = from + request->received_numbers[rank]; from < end;)
            from = part_read(sends, from, request->storage->home->order, rank, request->arena);
    return true;
}

bool exchange_parts(const Selection *receives, Selection *sends, const Storage *storage, Arena *arena,
                    MPI_Comm comm, Diagnostics *diagnostics) {
    Request request = {
        .receives = receives, .sends = sends, .storage = storage, .arena = arena, .comm = comm};
    *sends = (Selection){.mode_count = receives->mode_count};
    memcpy(sends->modes, receives->modes, sizeof sends->modes);
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
