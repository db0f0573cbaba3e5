// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/exchange_entries.h"

#include "base/integer.h"
#include "format/level_list.h"
#include "memory/memory.h"
#include "runtime/entry_move.h"
#include "runtime/list.h"
#include "runtime/value_exchange.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(const Storage *storage, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory to send and receive entries of tensor %s",
                             (long long)storage->rank, storage->home->tensor->name);
}

// Entries in the order of the ranks that they go to, or come from; those of this rank too.
typedef struct {
    Entries entries;
    int64_t *counts; // by rank
} RankedEntries;

static void ranked_entries_free(RankedEntries *ranked) {
    entries_free(&ranked->entries);
    memory_release(MEMORY_HOST, ranked->counts);
    *ranked = (RankedEntries){0};
}

// No entries yet, and counts of zero. False: no memory.
static bool ranked_entries_create(RankedEntries *ranked, const Storage *storage, int ranks) {
    *ranked = (RankedEntries){.entries = storage_no_entries(storage),
                              .counts = memory_allocate(MEMORY_HOST, ranks, TYPE_I64)};
    for (int rank = 0; ranked->counts && rank < ranks; rank++)
        ranked->counts[rank] = 0;
    return ranked->counts != NULL;
}

typedef struct {
    const Storage *storage;
    const Entries *sent;
    const int64_t *counts; // by rank
    RankedEntries received;
    MPI_Comm comm;
    int ranks;
    int array; // that is being moved: the coordinates of a mode, or after them the values
    ValueExchange exchange;
} Exchange;

static bool allocate(void *arguments, Diagnostics *diagnostics) {
    Exchange *exchange = arguments;
    return ranked_entries_create(&exchange->received, exchange->storage, exchange->ranks) ||
           no_memory(exchange->storage, diagnostics);
}

static bool allocate_entries(void *arguments, Diagnostics *diagnostics) {
    Exchange *exchange = arguments;
    Entries *entries = &exchange->received.entries;
    entries->type = exchange->sent->type;
    for (int rank = 0; rank < exchange->ranks; rank++)
        entries->count = saturated_add(entries->count, exchange->received.counts[rank]);
    return (entries_bytes(entries, entries->count) <= exchange->storage->limit &&
            !entries_allocate(entries)) ||
           no_memory(exchange->storage, diagnostics);
}

// Coordinates are sent as they are stored: in 32 bits where these are enough for the extent.
static bool is_narrow(const Exchange *exchange) {
    const Entries *entries = exchange->sent;
    return exchange->array < entries->order && !coordinate_is_wide(entries->extents[exchange->array]);
}

static void *array_of(const Exchange *exchange, const Entries *entries) {
    return exchange->array < entries->order ? (void *)entries->coordinates[exchange->array] : entries->values;
}

static bool begin_array(void *arguments, Diagnostics *diagnostics) {
    Exchange *exchange = arguments;
    const Entries *sent = exchange->sent;
    const bool narrow = is_narrow(exchange);
    const ElementType type = exchange->array == sent->order ? sent->type : narrow ? TYPE_I32 : TYPE_I64;
    ValueExchange *values = &exchange->exchange;
    if (!value_exchange_create(values, type, EXCHANGE_MESSAGE_BYTES, exchange->counts,
                               exchange->received.counts, exchange->comm) ||
        (narrow && !value_exchange_allocate(values)))
        return no_memory(exchange->storage, diagnostics);
    if (!narrow) {
        values->outgoing = array_of(exchange, sent);
        values->incoming = array_of(exchange, &exchange->received.entries);
        return true;
    }
    int32_t *to = (int32_t *)values->outgoing;
    for (int64_t e = 0; e < sent->count; e++)
        to[e] = (int32_t)sent->coordinates[exchange->array][e];
    return true;
}

static bool move_array(Exchange *exchange, Diagnostics *diagnostics) {
    const bool ok = agree_on_part(exchange->comm, begin_array, exchange, diagnostics);
    if (ok) {
        value_exchange_run(&exchange->exchange);
        const Entries *received = &exchange->received.entries;
        const int32_t *from = (const int32_t *)exchange->exchange.incoming;
        for (int64_t e = 0; is_narrow(exchange) && e < received->count; e++)
            received->coordinates[exchange->array][e] = from[e];
    }
    value_exchange_free(&exchange->exchange);
    return ok;
}

bool exchange_entries(const Storage *storage, const Entries *given, const int64_t *counts, Entries *own,
                      MPI_Comm comm, Diagnostics *diagnostics) {
    Exchange exchange = {.storage = storage, .sent = given, .counts = counts, .comm = comm};
    MPI_Comm_size(comm, &exchange.ranks);
    bool ok = agree_on_part(comm, allocate, &exchange, diagnostics);
    if (ok)
        exchange_counts(1, counts, exchange.received.counts, comm);
    ok = ok && agree_on_part(comm, allocate_entries, &exchange, diagnostics);
    for (; ok && exchange.array <= given->order; exchange.array++)
        ok = move_array(&exchange, diagnostics);
    *own = exchange.received.entries;
    exchange.received.entries = (Entries){0};
    ranked_entries_free(&exchange.received);
    if (!ok)
        entries_free(own);
    return ok;
}

// The owners of entries: parts of the whole tensor, sorted by where they begin in one mode.
typedef struct {
    HoldingArray parts;
    int mode;
    int64_t last; // that the last entry was in
    // Where parts of fibers have different owners: the modes of the levels above fibers, and for each part
    // the first of its `siblings`, numbers of other parts that have elements of its fibers.
    bool cut;
    int above_count, above[MAX_ORDER];
    int64_t *begins; // [parts.count]: all of them
    Array(int64_t) siblings;
} Homes;

static int compare_at(const void *left, const void *right, void *mode) {
    const Holding *a = left, *b = right;
    const int64_t x = a->rect.lo[*(const int *)mode], y = b->rect.lo[*(const int *)mode];
    return (x > y) - (x < y);
}

static bool has_common_fibers(const Homes *homes, const Rect *a, const Rect *b) {
    bool common = true;
    for (int i = 0; i < homes->above_count && common; i++)
        common = positions_common(rect_mode(a, homes->above[i]), rect_mode(b, homes->above[i])) > 0;
    return common;
}

static void find_siblings(Homes *homes, const Home *home, Arena *arena) {
    const Tensor *tensor = home->tensor;
    const HoldingArray *parts = &homes->parts;
    homes->cut = tensor_is_sparse(tensor) && home_cuts_fibers(home);
    for (int l = 0; l < tensor->order && !level_is_padded(tensor->order, tensor->levels, l); l++)
        homes->above[homes->above_count++] = tensor->mode_order[l];
    homes->begins = arena_array(arena, int64_t, parts->count + 1);
    for (int64_t i = 0; i < parts->count; i++) {
        for (int64_t k = 0; k < parts->count && homes->cut; k++)
            if (k != i && has_common_fibers(homes, &parts->items[i].rect, &parts->items[k].rect))
                array_push(arena, homes->siblings, k);
        homes->begins[i + 1] = homes->siblings.count;
    }
}

static Homes find_homes(const Storage *storage, Arena *arena) {
    const Home *home = storage->home;
    const Rect whole = rect_whole(home->order, home->extents);
    Homes homes = {0};
    int mode_order[MAX_ORDER];
    home_owners(home, &whole, arena, &homes.parts);
    if (homes.parts.count == 0)
        return homes;
    const Rect *first = &homes.parts.items[0].rect;
    entries_mode_order(home->order, home->extents, 1, &first, home->tensor->mode_order, mode_order);
    homes.mode = mode_order[0];
    qsort_r(homes.parts.items, (size_t)homes.parts.count, sizeof(Holding), compare_at, &homes.mode);
    find_siblings(&homes, home, arena);
    return homes;
}

// Many entries go where the one before went. NULL: no rank has it, which is a mistake in the home.
static const Holding *find_home(Homes *homes, const Entries *entries, int64_t e) {
    const HoldingArray *parts = &homes->parts;
    if (homes->last < parts->count && entries_is_within(entries, e, &parts->items[homes->last].rect))
        return &parts->items[homes->last];
    const int64_t x = entries->coordinates[homes->mode][e];
    int64_t first = 0, last = parts->count;
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        if (parts->items[middle].rect.lo[homes->mode] <= x)
            first = middle + 1;
        else
            last = middle;
    }
    // Of blocks, the last ones that begin before it.
    while (--first >= 0 && !entries_is_within(entries, e, &parts->items[first].rect))
        continue;
    if (first < 0)
        return NULL;
    homes->last = first;
    return &parts->items[first];
}

static void copy_entry(const Entries *to, int64_t at, const Entries *from, int64_t e) {
    const size_t size = type_info(to->type)->size;
    for (int d = 0; d < to->order; d++)
        to->coordinates[d][at] = from->coordinates[d][e];
    memcpy((char *)to->values + (size_t)at * size, (const char *)from->values + (size_t)e * size, size);
}

// Entries on their way home. They go in rounds, of which each takes a part of what is given on every rank, so
// that what is sent and received at a time is bounded.
typedef struct {
    const Storage *storage;
    const Entries *given;
    Entries *own; // what arrives, by the ranks that it comes from
    MPI_Comm comm;
    int ranks;
    Arena *arena;
    Homes homes;
    int64_t round;               // given entries that are sent in a round
    int64_t first, end;          // those of this round
    int64_t *sends, *receives;   // by rank: entries of this round
    int64_t *last, *last_before; // by rank: the last entry whose fiber it has got something of, -1: none; and
                                 // before the round
    int64_t *places;             // by rank: where the next entry that comes from it is put
    bool counts;                 // they are counted first, then copied
    int64_t *next;               // by rank: where its next entry is copied to
    Entries sent;
} Sending;

static void give(const Sending *sending, int64_t e, int64_t rank) {
    sending->last[rank] = e;
    if (sending->counts)
        sending->sends[rank]++;
    else
        copy_entry(&sending->sent, sending->next[rank]++, sending->given, e);
}

// Tells a rank that the fiber of an entry is stored: its first element there is zero, unless it gets another
// value to add.
static void give_fiber(const Sending *sending, int64_t e, const Rect *part, int64_t rank) {
    const Homes *homes = &sending->homes;
    const Entries *given = sending->given, *to = &sending->sent;
    const int64_t before = sending->last[rank], at = sending->next[rank];
    bool known = before >= 0, within = true;
    for (int i = 0; i < homes->above_count; i++) {
        const int mode = homes->above[i];
        within = within && rect_has(part, mode, given->coordinates[mode][e]);
        known = known && given->coordinates[mode][e] == given->coordinates[mode][before];
    }
    if (known || !within)
        return;
    give(sending, e, rank);
    if (sending->counts)
        return;
    for (int d = 0; d < to->order; d++)
        if (!rect_has(part, d, given->coordinates[d][e]))
            to->coordinates[d][at] = part->lo[d];
    const size_t size = type_info(to->type)->size;
    memset((char *)to->values + (size_t)at * size, 0, size);
}

// Those of the round, for the ranks that have them at home: for each of them, where there are several.
static bool give_all(Sending *sending, Diagnostics *diagnostics) {
    Homes *homes = &sending->homes;
    for (int64_t e = sending->first; e < sending->end; e++) {
        const Holding *holding = find_home(homes, sending->given, e);
        if (!holding)
            return diagnostics_error(diagnostics, (Span){0}, "internal error: an entry of '%s' has no home",
                                     sending->storage->home->tensor->name);
        for (int64_t h = 0; h < holding_count(holding); h++)
            give(sending, e, holding_rank(holding, h));
        const int64_t part = holding - homes->parts.items;
        for (int64_t s = homes->begins[part]; s < homes->begins[part + 1]; s++) {
            const Holding *other = &homes->parts.items[homes->siblings.items[s]];
            for (int64_t h = 0; h < holding_count(other); h++)
                give_fiber(sending, e, &other->rect, holding_rank(other, h));
        }
    }
    return true;
}

static bool count_given(Sending *sending, Diagnostics *diagnostics) {
    sending->counts = true;
    memset(sending->sends, 0, sizeof(int64_t) * (size_t)sending->ranks);
    return give_all(sending, diagnostics);
}

// What a rank receives in a round, as all others may send to it, takes 64 MiB at most, or less where it may
// have less.
static int64_t entries_of_round(const Sending *sending) {
    enum { ROUND_BYTES = 1 << 26, LEAST = 64 };
    const int64_t bytes = min_i64(ROUND_BYTES, sending->storage->limit / 8);
    return max_i64(LEAST, bytes / (entries_bytes(sending->given, 1) * sending->ranks));
}

static bool count_all(void *arguments, Diagnostics *diagnostics) {
    Sending *sending = arguments;
    Arena *arena = sending->arena = arena_create_within(diagnostics->arena);
    int64_t **const arrays[] = {&sending->sends,       &sending->receives, &sending->last,
                                &sending->last_before, &sending->places,   &sending->next};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        *arrays[a] = arena_array(arena, int64_t, sending->ranks);
    for (int rank = 0; rank < sending->ranks; rank++)
        sending->last[rank] = -1;
    sending->homes = find_homes(sending->storage, arena);
    sending->round = entries_of_round(sending);
    sending->end = sending->given->count;
    return count_given(sending, diagnostics);
}

static bool allocate_own(void *arguments, Diagnostics *diagnostics) {
    Sending *sending = arguments;
    Entries *own = sending->own;
    own->type = sending->given->type;
    for (int rank = 0; rank < sending->ranks; rank++) {
        sending->places[rank] = own->count;
        own->count = saturated_add(own->count, sending->receives[rank]);
        sending->last[rank] = -1;
    }
    const int64_t bytes =
        saturated_add(entries_bytes(own, own->count), entries_bytes(sending->given, sending->given->count));
    return (bytes <= sending->storage->limit && !entries_allocate(own)) ||
           no_memory(sending->storage, diagnostics);
}

static bool copy_round(void *arguments, Diagnostics *diagnostics) {
    Sending *sending = arguments;
    const size_t size = sizeof(int64_t) * (size_t)sending->ranks;
    memcpy(sending->last_before, sending->last, size);
    if (!count_given(sending, diagnostics))
        return false;
    sending->sent = storage_no_entries(sending->storage);
    sending->sent.type = sending->given->type;
    for (int rank = 0; rank < sending->ranks; rank++) {
        sending->next[rank] = sending->sent.count;
        sending->sent.count += sending->sends[rank];
    }
    if (entries_allocate(&sending->sent))
        return no_memory(sending->storage, diagnostics);
    memcpy(sending->last, sending->last_before, size);
    sending->counts = false;
    return give_all(sending, diagnostics);
}

// Whether the round fits beside what is given and what has arrived.
static bool check_round(void *arguments, Diagnostics *diagnostics) {
    const Sending *sending = arguments;
    const Entries *const held[] = {sending->given, sending->own, &sending->sent};
    int64_t arrives = 0, bytes = 0;
    for (int rank = 0; rank < sending->ranks; rank++)
        arrives = saturated_add(arrives, sending->receives[rank]);
    for (int i = 0; i < 3; i++)
        bytes = saturated_add(bytes, entries_bytes(held[i], held[i]->count));
    bytes = saturated_add(bytes, entries_bytes(&sending->sent, arrives));
    // Coordinates of one mode travel in 32 bits, as copies.
    bytes = saturated_add(bytes, saturated_mul(saturated_add(arrives, sending->sent.count), 4));
    return bytes <= sending->storage->limit || no_memory(sending->storage, diagnostics);
}

// Puts what has arrived behind what has come from the same ranks in rounds before.
static void place(const Sending *sending, const Entries *arrived) {
    for (int64_t rank = 0, e = 0; rank < sending->ranks; rank++)
        for (int64_t count = sending->receives[rank]; count > 0; count--)
            copy_entry(sending->own, sending->places[rank]++, arrived, e++);
}

static bool run_round(Sending *sending, Diagnostics *diagnostics) {
    Entries arrived = {0};
    bool ok = agree_on_part(sending->comm, copy_round, sending, diagnostics);
    if (ok)
        exchange_counts(1, sending->sends, sending->receives, sending->comm);
    ok = ok && agree_on_part(sending->comm, check_round, sending, diagnostics) &&
         exchange_entries(sending->storage, &sending->sent, sending->sends, &arrived, sending->comm,
                          diagnostics);
    if (ok)
        place(sending, &arrived);
    entries_free(&arrived);
    entries_free(&sending->sent);
    return ok;
}

static bool run_rounds(Sending *sending, Diagnostics *diagnostics) {
    const int64_t count = sending->given->count;
    int64_t rounds = ceil_div(count, sending->round);
    all_reduce(&rounds, 1, MPI_INT64_T, MPI_MAX, sending->comm);
    bool ok = true;
    for (int64_t r = 0; r < rounds && ok; r++) {
        sending->first = min_i64(count, saturated_mul(r, sending->round));
        sending->end = min_i64(count, saturated_add(sending->first, sending->round));
        ok = run_round(sending, diagnostics);
    }
    return ok;
}

bool send_entries_home(const Storage *storage, const Entries *given, Entries *own, MPI_Comm comm,
                       Diagnostics *diagnostics) {
    Sending sending = {.storage = storage, .given = given, .own = own, .comm = comm};
    MPI_Comm_size(comm, &sending.ranks);
    *own = storage_no_entries(storage);
    bool ok = agree_on_part(comm, count_all, &sending, diagnostics);
    if (ok)
        exchange_counts(1, sending.sends, sending.receives, comm);
    ok = ok && agree_on_part(comm, allocate_own, &sending, diagnostics) && run_rounds(&sending, diagnostics);
    arena_free(sending.arena);
    if (!ok)
        entries_free(own);
    return ok;
}

typedef struct {
    const Storage *storage;
    int ranks;
    PartList parts;
} Gathering;

// What this rank sends to the first one.
static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    Gathering *gathering = arguments;
    const Home *home = gathering->storage->home;
    Arena *arena = diagnostics->arena;
    Region region = {0};
    if (home->replicated || gathering->storage->padded)
        region = storage_parts(gathering->storage, arena);
    else
        array_push(arena, region.rects, rect_whole(home->order, home->extents));
    Part *parts = arena_array(arena, Part, region.rects.count);
    for (int64_t i = 0; i < region.rects.count; i++)
        parts[i] = (Part){.rect = region.rects.items[i], .peer = 0, .piece = -1};
    return part_list_create(&gathering->parts, gathering->ranks, region.rects.count, parts) ||
           no_memory(gathering->storage, diagnostics);
}

bool gather_entries(const Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics) {
    Gathering gathering = {.storage = storage};
    EntryMove move = {0};
    MPI_Comm_size(comm, &gathering.ranks);
    *entries = storage_no_entries(storage);
    const bool ok = agree_on_part(comm, find_parts, &gathering, diagnostics) &&
                    entry_move_structure(&move, storage, &gathering.parts, NULL, storage->limit,
                                         EXCHANGE_MESSAGE_BYTES, entries, comm, diagnostics);
    if (ok) {
        entry_move_values(&move, storage->stored.values);
        if (entries->count > 0)
            memcpy(entries->values, move.values.incoming,
                   (size_t)entries->count * type_info(entries->type)->size);
    } else {
        entries_free(entries);
    }
    entry_move_free(&move);
    part_list_free(&gathering.parts);
    return ok;
}
