// SPDX-License-Identifier: BSD-3-Clause
// Parts travel as numbers: for each mode the interval, the number of segments of its periodic set, and where
// that is not zero the period and the segments.
#include "runtime/part_exchange.h"

#include "plan/indexed.h"
#include "runtime/value_exchange.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 1 << 30 };

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

typedef struct {
    const PartList *receives;
    PartList *sends;
    int order;
    MPI_Comm comm;
    int ranks;
    int64_t *sent_numbers, *received_numbers; // by rank
    ValueExchange exchange;
} Request;

static bool no_memory(Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "a rank has not enough memory for the parts that ranks request from each other");
}

static bool count_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    request->sent_numbers = arena_array(diagnostics->arena, int64_t, request->ranks);
    request->received_numbers = arena_array(diagnostics->arena, int64_t, request->ranks);
    for (int64_t i = 0; i < request->receives->count; i++)
        request->sent_numbers[request->receives->parts[i].peer] +=
            part_numbers(&request->receives->parts[i].rect);
    return true;
}

static bool write_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    if (!value_exchange_create(&request->exchange, TYPE_I64, MESSAGE_BYTES, request->sent_numbers,
                               request->received_numbers, request->comm) ||
        !value_exchange_allocate(&request->exchange))
        return no_memory(diagnostics);
    int64_t *to = (int64_t *)request->exchange.outgoing;
    for (int64_t i = 0; i < request->receives->count; i++)
        to = write_rect(&request->receives->parts[i].rect, to);
    return true;
}

static bool read_numbers(void *arguments, Diagnostics *diagnostics) {
    Request *request = arguments;
    Array(Part) parts = {0};
    const int64_t *from = (const int64_t *)request->exchange.incoming;
    for (int rank = 0; rank < request->ranks; rank++)
        for (const int64_t *end = from + request->received_numbers[rank]; from < end;) {
            Part part = {.peer = rank, .piece = -1};
            from = read_rect(from, request->order, diagnostics->arena, &part.rect);
            array_push(diagnostics->arena, parts, part);
        }
    return part_list_create(request->sends, request->ranks, parts.count, parts.items) ||
           no_memory(diagnostics);
}

bool exchange_parts(const PartList *receives, PartList *sends, int order, MPI_Comm comm,
                    Diagnostics *diagnostics) {
    Request request = {.receives = receives, .sends = sends, .order = order, .comm = comm};
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
