// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/exchange_entries.h"

#include "base/integer.h"
#include "runtime/load_sparse.h"
#include "runtime/message.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AT_ONCE = 1 << 24, TAG = 0 }; // entries in one message

// Entries that each rank sends, in the order of those that they go to, and what arrives.
typedef struct {
    const Storage *storage;
    MPI_Comm comm;
    int ranks;
    const Entries *given;
    Entries from;
    const Entries *sent; // those to send
    Entries *to;
    int64_t *sends, *receives; // by rank
    MPI_Request *requests;
} Exchange;

static bool no_memory(const Exchange *exchange, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for entries of tensor %s on their way",
                             (long long)exchange->storage->rank, exchange->storage->home->tensor->name);
}

static Exchange exchange_create(const Storage *storage, Entries *to, MPI_Comm comm, Arena *arena) {
    Exchange exchange = {.storage = storage, .comm = comm, .from = storage_no_entries(storage), .to = to};
    *to = storage_no_entries(storage);
    MPI_Comm_size(comm, &exchange.ranks);
    exchange.sends = arena_array(arena, int64_t, exchange.ranks);
    exchange.receives = arena_array(arena, int64_t, exchange.ranks);
    return exchange;
}

static int64_t messages(const int64_t *counts, int ranks) {
    int64_t count = 0;
    for (int rank = 0; rank < ranks; rank++)
        count += ceil_div(counts[rank], MOST_AT_ONCE);
    return count;
}

static bool allocate(void *arguments, Diagnostics *diagnostics) {
    Exchange *exchange = arguments;
    for (int rank = 0; rank < exchange->ranks; rank++)
        exchange->to->count = saturated_add(exchange->to->count, exchange->receives[rank]);
    exchange->requests = arena_array(diagnostics->arena, MPI_Request,
                                     messages(exchange->sends, exchange->ranks) +
                                         messages(exchange->receives, exchange->ranks));
    return (entries_bytes(exchange->to, exchange->to->count) <= exchange->storage->limit &&
            !entries_allocate(exchange->to)) ||
           no_memory(exchange, diagnostics);
}

// Array `index` of entries from the one numbered `at` on: the coordinates of a mode, or the values.
static char *array_at(const Entries *entries, int index, int64_t at, MPI_Datatype *type) {
    const bool values = index == entries->order;
    *type = values ? message_element(entries->type) : MPI_INT64_T;
    char *data = values ? entries->values : (char *)entries->coordinates[index];
    return data + at * (int64_t)(values ? type_info(entries->type)->size : sizeof(int64_t));
}

static void move_array(const Exchange *exchange, int index) {
    const int rank = (int)exchange->storage->rank;
    int count = 0;
    MPI_Datatype type;
    int64_t at = 0;
    for (int from = 0; from < exchange->ranks; at += exchange->receives[from++])
        for (int64_t i = 0; i < exchange->receives[from] && from != rank; i += MOST_AT_ONCE) {
            char *data = array_at(exchange->to, index, at + i, &type);
            MPI_Irecv(data, (int)min_i64(exchange->receives[from] - i, MOST_AT_ONCE), type, from, TAG,
                      exchange->comm, &exchange->requests[count++]);
        }
    at = 0;
    for (int to = 0; to < exchange->ranks; at += exchange->sends[to++])
        for (int64_t i = 0; i < exchange->sends[to]; i += MOST_AT_ONCE) {
            const char *data = array_at(exchange->sent, index, at + i, &type);
            const int64_t length = min_i64(exchange->sends[to] - i, MOST_AT_ONCE);
            if (to != rank) {
                MPI_Isend(data, (int)length, type, to, TAG, exchange->comm, &exchange->requests[count++]);
                continue;
            }
            int64_t place = i;
            for (int before = 0; before < rank; before++)
                place += exchange->receives[before];
            int size;
            MPI_Type_size(type, &size);
            memcpy(array_at(exchange->to, index, place, &type), data, (size_t)length * (size_t)size);
        }
    wait_all(count, exchange->requests);
}

// Once the entries to send, and how many of them go where, are known.
static bool move_entries(Exchange *exchange, Diagnostics *diagnostics) {
    MPI_Request request;
    MPI_Ialltoall(exchange->sends, 1, MPI_INT64_T, exchange->receives, 1, MPI_INT64_T, exchange->comm,
                  &request);
    wait_all(1, &request);
    if (!agree_on_part(exchange->comm, allocate, exchange, diagnostics))
        return false;
    for (int a = 0; a <= exchange->to->order; a++)
        move_array(exchange, a);
    return true;
}

// The parts of the home that count for this rank: of replicas, the first one's.
static Region first_parts(const Storage *storage, Arena *arena) {
    const Region pieces = home_pieces(storage->home, storage->rank, arena);
    HoldingArray owners = {0};
    Region parts = {0};
    for (int64_t i = 0; i < pieces.rects.count; i++)
        home_owners(storage->home, &pieces.rects.items[i], arena, &owners);
    for (int64_t k = 0; k < owners.count; k++)
        if (owners.items[k].rank == storage->rank)
            array_push(arena, parts.rects, owners.items[k].rect);
    return parts;
}

static bool list_own(void *arguments, Diagnostics *diagnostics) {
    Exchange *exchange = arguments;
    const Storage *storage = exchange->storage;
    if (!sparse_entries(storage, &exchange->from, diagnostics))
        return false;
    if (storage->home->replicated) {
        const Region parts = first_parts(storage, diagnostics->arena);
        if (entries_keep_within(&exchange->from, &parts))
            return no_memory(exchange, diagnostics);
    }
    exchange->sent = &exchange->from;
    exchange->sends[0] = exchange->from.count;
    return true;
}

bool gather_entries(const Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics) {
    Exchange exchange = exchange_create(storage, entries, comm, diagnostics->arena);
    const bool ok =
        agree_on_part(comm, list_own, &exchange, diagnostics) && move_entries(&exchange, diagnostics);
    entries_free(&exchange.from);
    return ok;
}

// Where one entry goes.
typedef struct {
    const Home *home;
    int64_t rank; // the last one that was found
    Region pieces;
    Array(int64_t) ranks;
    Arena *arena;
} Destination;

static bool is_inside(const Region *pieces, const Entries *entries, int64_t e) {
    for (int64_t i = 0; i < pieces->rects.count; i++) {
        const Rect *rect = &pieces->rects.items[i];
        int d = 0;
        while (d < rect->order && !rect->periodic[d] && rect->lo[d] <= entries->coordinates[d][e] &&
               entries->coordinates[d][e] < rect->hi[d])
            d++;
        if (d == rect->order)
            return true;
    }
    return false;
}

// Many entries go where the one before went.
static void find_destinations(Destination *destination, const Entries *entries, int64_t e, Arena *scratch) {
    const Home *home = destination->home;
    if (!home->replicated && destination->ranks.count == 1 && is_inside(&destination->pieces, entries, e))
        return;
    Rect point = {.order = entries->order};
    for (int d = 0; d < entries->order; d++) {
        point.lo[d] = entries->coordinates[d][e];
        point.hi[d] = point.lo[d] + 1;
    }
    HoldingArray owners = {0};
    arena_reset(scratch);
    home_owners(home, &point, scratch, &owners);
    destination->ranks.count = 0;
    for (int64_t i = 0; i < owners.count; i++) {
        const Holding *holding = &owners.items[i];
        if (!holding->holders)
            array_push(destination->arena, destination->ranks, holding->rank);
        for (int64_t h = 0; holding->holders && h < holding->holder_count; h++)
            array_push(destination->arena, destination->ranks, holding->holders[h]);
    }
    if (!home->replicated && destination->ranks.count == 1 &&
        destination->rank != destination->ranks.items[0]) {
        destination->rank = destination->ranks.items[0];
        destination->pieces = home_pieces(home, destination->rank, destination->arena);
    }
}

static void copy_entry(const Entries *to, int64_t at, const Entries *from, int64_t e) {
    const size_t size = type_info(to->type)->size;
    for (int d = 0; d < to->order; d++)
        to->coordinates[d][at] = from->coordinates[d][e];
    memcpy((char *)to->values + (size_t)at * size, (const char *)from->values + (size_t)e * size, size);
}

// The given entries in the order of the ranks that they go to: counted first, then copied.
static bool order_given(void *arguments, Diagnostics *diagnostics) {
    Exchange *exchange = arguments;
    const Entries *given = exchange->given;
    Arena *arena = diagnostics->arena, *scratch = arena_create_within(arena);
    int64_t *next = arena_array(arena, int64_t, exchange->ranks + 1);
    bool ok = true;
    for (int pass = 0; pass < 2 && ok; pass++) {
        Destination destination = {.home = exchange->storage->home, .rank = -1, .arena = arena};
        for (int64_t e = 0; e < given->count; e++) {
            find_destinations(&destination, given, e, scratch);
            for (int64_t i = 0; i < destination.ranks.count; i++) {
                const int64_t rank = destination.ranks.items[i];
                if (pass == 0)
                    exchange->sends[rank]++;
                else
                    copy_entry(&exchange->from, next[rank]++, given, e);
            }
        }
        for (int rank = 0; pass == 0 && rank < exchange->ranks; rank++) {
            next[rank] = exchange->from.count;
            exchange->from.count += exchange->sends[rank];
        }
        ok = pass > 0 || !entries_allocate(&exchange->from) || no_memory(exchange, diagnostics);
    }
    exchange->sent = &exchange->from;
    arena_free(scratch);
    return ok;
}

bool send_entries_home(const Storage *storage, const Entries *given, Entries *own, MPI_Comm comm,
                       Diagnostics *diagnostics) {
    Exchange exchange = exchange_create(storage, own, comm, diagnostics->arena);
    exchange.given = given;
    const bool ok =
        agree_on_part(comm, order_given, &exchange, diagnostics) && move_entries(&exchange, diagnostics);
    entries_free(&exchange.from);
    return ok;
}
