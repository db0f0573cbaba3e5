// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/entry_sharing.h"

#include "base/integer.h"
#include "format/cut.h"
#include "format/sub_tree.h"
#include "memory/memory.h"
#include "runtime/load_sparse.h"

#include <omp.h>
#include <string.h>

enum { WORD = 4 };

void entry_move_free(EntryMove *move) {
    memory_release(MEMORY_HOST, move->slices);
    value_exchange_free(&move->values);
    entry_sharing_free(&move->sharing);
    *move = (EntryMove){0};
}

int64_t entry_move_bytes(const EntryMove *move) {
    const EntrySharing *sharing = &move->sharing;
    const int64_t elements = saturated_add(value_exchange_buffer(&move->values), sharing->arrived_count),
                  slices = saturated_add(move->slice_count, sharing->slice_count);
    return saturated_add(saturated_add(sharing->buffer.bytes, saturated_mul(slices, (int64_t)sizeof(Slice))),
                         saturated_mul(elements, (int64_t)type_info(move->values.type)->size));
}

// While the structure moves. By rank, and of that by level: the sub-trees.
typedef struct {
    EntryMove *move;
    const Storage *storage;
    const PartList *parts;
    const PartSharing *sharing; // NULL: this rank shares no parts
    int64_t limit, message_limit;
    Entries *received;
    MPI_Comm comm;
    int ranks;
    Arena *arena;
    SliceArray slices;
    int64_t *begins; // by rank: its first slice; [ranks]: all
    SubTreeLevel *sent, *arrived;
    int64_t *sent_words, *arrived_words; // by rank
    ValueExchange exchange;              // of words of messages
} Moving;

static bool refuse(const Moving *moving, const char *why, Diagnostics *diagnostics) {
    return sparse_refuse(moving->storage, why, diagnostics);
}

static int order_of(const Moving *moving) {
    return moving->storage->stored.order;
}

static int64_t words_of(const Moving *moving, const SubTreeLevel *levels) {
    return sub_tree_bytes(&moving->storage->stored, levels) / WORD;
}

// The slices that go to each rank, and what is above them.
static bool cut(void *arguments, Diagnostics *diagnostics) {
    Moving *moving = arguments;
    const Storage *storage = moving->storage;
    const PartList *parts = moving->parts;
    Arena *arena = moving->arena = arena_create_within(diagnostics->arena);
    const Rect **rects = arena_array(arena, const Rect *, parts->count);
    const bool any = storage->piece_count > 0 && storage->structure;
    Cutter cutter = {.tensor = &storage->stored};
    moving->begins = arena_array(arena, int64_t, moving->ranks + 1);
    moving->sent = arena_array(arena, SubTreeLevel, moving->ranks * order_of(moving));
    moving->arrived = arena_array(arena, SubTreeLevel, moving->ranks * order_of(moving));
    moving->sent_words = arena_array(arena, int64_t, moving->ranks);
    moving->arrived_words = arena_array(arena, int64_t, moving->ranks);
    for (int64_t i = 0; i < parts->count; i++)
        rects[i] = &parts->parts[i].rect;
    const char *why = any ? cutter_prepare(&cutter, parts->count, rects, moving->limit, arena) : NULL;
    for (int rank = 0; rank < moving->ranks && any && !why; rank++) {
        cutter_cut(&cutter, parts->counts[rank], rects, arena, &moving->slices);
        rects += parts->counts[rank];
        moving->begins[rank + 1] = moving->slices.count;
    }
    cutter_free(&cutter);
    if (why)
        return refuse(moving, why, diagnostics);
#pragma omp parallel for schedule(dynamic)
    for (int rank = 0; rank < moving->ranks; rank++) {
        const int64_t begin = moving->begins[rank];
        SubTreeLevel *levels = moving->sent + rank * order_of(moving);
        sub_tree_measure(&storage->stored, moving->begins[rank + 1] - begin, moving->slices.items + begin,
                         levels);
        moving->sent_words[rank] = words_of(moving, levels);
    }
    return true;
}

// Entries of the sub-trees, by rank.
static int64_t *count_entries(const Moving *moving, const SubTreeLevel *levels) {
    int64_t *counts = arena_array(moving->arena, int64_t, moving->ranks);
    for (int rank = 0; rank < moving->ranks; rank++)
        counts[rank] = levels[(rank + 1) * order_of(moving) - 1].nodes;
    return counts;
}

// Whether what is sent and received, and what stays to send values, is within the limit.
static bool fits(const Moving *moving) {
    const int64_t words = saturated_mul(value_exchange_buffer(&moving->exchange), WORD);
    const int64_t bytes = saturated_add(words, entries_bytes(moving->received, moving->received->count));
    return saturated_add(bytes, entry_move_bytes(moving->move)) <= moving->limit;
}

static bool keep_slices(Moving *moving) {
    EntryMove *move = moving->move;
    move->slices = memory_allocate(MEMORY_HOST, 2 * move->slice_count, TYPE_I64);
    if (move->slices && move->slice_count > 0)
        memcpy(move->slices, moving->slices.items, sizeof(Slice) * (size_t)move->slice_count);
    return move->slices;
}

static bool write_messages(void *arguments, Diagnostics *diagnostics) {
    Moving *moving = arguments;
    EntryMove *move = moving->move;
    for (int rank = 0; rank < moving->ranks; rank++)
        moving->arrived_words[rank] = words_of(moving, moving->arrived + rank * order_of(moving));
    const int64_t *sent = count_entries(moving, moving->sent),
                  *arrived = count_entries(moving, moving->arrived);
    for (int rank = 0; rank < moving->ranks; rank++)
        moving->received->count = saturated_add(moving->received->count, arrived[rank]);
    move->slice_count = moving->slices.count;
    if (!value_exchange_create(&move->values, moving->storage->type, moving->message_limit, sent, arrived,
                               moving->comm) ||
        !value_exchange_create(&moving->exchange, TYPE_I32, EXCHANGE_MESSAGE_BYTES, moving->sent_words,
                               moving->arrived_words, moving->comm) ||
        !fits(moving) || !(moving->sharing || value_exchange_allocate(&move->values)) ||
        !keep_slices(moving) || !value_exchange_allocate(&moving->exchange) ||
        entries_allocate(moving->received))
        return refuse(moving, "not enough memory to send and receive entries", diagnostics);
    move->received = value_exchange_received(&move->values);
    move->structure_bytes_sent = WORD * value_exchange_sent(&moving->exchange).elements;
    move->structure_bytes_received = WORD * value_exchange_received(&moving->exchange).elements;
#pragma omp parallel for schedule(dynamic)
    for (int rank = 0; rank < moving->ranks; rank++) {
        const int64_t begin = moving->begins[rank];
        sub_tree_write(&moving->storage->stored, moving->begins[rank + 1] - begin,
                       moving->slices.items + begin, moving->sent + rank * order_of(moving),
                       value_exchange_to(&moving->exchange, rank));
    }
    return true;
}

static void read_messages(const Moving *moving) {
    const int64_t *counts = moving->move->values.receives;
#pragma omp parallel for schedule(dynamic)
    for (int rank = 0; rank < moving->ranks; rank++) {
        int64_t first = 0;
        for (int before = 0; before < rank; before++)
            first += counts[before];
        sub_tree_read(&moving->storage->stored, moving->arrived + rank * order_of(moving),
                      value_exchange_from(&moving->exchange, rank), moving->received, first);
    }
}

bool entry_move_structure(EntryMove *move, const Storage *storage, const PartList *parts,
                          const PartSharing *sharing, int64_t limit, int64_t message_limit, Entries *received,
                          MPI_Comm comm, Diagnostics *diagnostics) {
    Moving moving = {.move = move,
                     .storage = storage,
                     .parts = parts,
                     .sharing = sharing && sharing->neighbours ? sharing : NULL,
                     .limit = limit,
                     .message_limit = message_limit,
                     .received = received,
                     .comm = comm};
    MPI_Comm_size(comm, &moving.ranks);
    *move = (EntryMove){0};
    *received = storage_no_entries(storage);
    bool ok = agree_on_part(comm, cut, &moving, diagnostics);
    if (ok)
        exchange_counts(2 * order_of(&moving), (int64_t *)moving.sent, (int64_t *)moving.arrived, comm);
    ok = ok && agree_on_part(comm, write_messages, &moving, diagnostics);
    if (ok) {
        value_exchange_run(&moving.exchange);
        read_messages(&moving);
    }
    if (ok && sharing)
        ok = entry_sharing_find(move, sharing, moving.arrived_words, limit, received, comm, diagnostics);
    value_exchange_free(&moving.exchange);
    arena_free(moving.arena);
    return ok;
}

// Copies what is in slices of values, `count` elements, to where they follow one another. Each thread copies
// as many elements as the others.
static inline void gather(const Slice *slices, int64_t slice_count, const char *values, char *to,
                          int64_t count, size_t size) {
    const int team = entries_team(count);
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        const int64_t begin = part_begin(count, team, t), end = part_begin(count, team, t + 1);
        int64_t at = 0; // the first element of the slice
        for (int64_t s = 0; s < slice_count && at < end; at += slices[s++].count) {
            const Slice slice = slices[s];
            const int64_t lo = max_i64(begin, at), hi = min_i64(end, at + slice.count);
            const char *from = values + (size_t)(slice.first + lo - at) * size;
            if (slice.count == 1 && lo < hi)
                memcpy(to + (size_t)lo * size, from, size);
            else if (lo < hi)
                memcpy(to + (size_t)lo * size, from, (size_t)(hi - lo) * size);
        }
    }
}

static void gather_values(const Slice *slices, int64_t slice_count, const char *values, char *to,
                          int64_t count, size_t size) {
    if (size == 8) // a constant, so that single elements are copied in registers
        gather(slices, slice_count, values, to, count, 8);
    else
        gather(slices, slice_count, values, to, count, size);
}

// What aggregators have received for this rank.
static void take_shared(const EntrySharing *sharing, size_t size) {
    const Slice *slices = sharing->slices;
    for (int64_t i = 0; i < sharing->entries_count; i++) {
        const SharedEntries *entries = &sharing->entries[i];
        if (entries->count > 0)
            gather_values(slices, entries->slice_count, entries->buffer,
                          sharing->arrived + (size_t)entries->first * size, entries->count, size);
        slices += entries->slice_count;
    }
}

const char *entry_move_values(EntryMove *move, const void *values) {
    ValueExchange *exchange = &move->values;
    const EntrySharing *sharing = &move->sharing;
    const size_t size = type_info(exchange->type)->size;
    value_exchange_receive(exchange);
    gather_values(move->slices, move->slice_count, values, exchange->outgoing,
                  value_exchange_sent(exchange).elements + exchange->sends[exchange->rank], size);
    value_exchange_send(exchange);
    value_exchange_wait(exchange);
    if (!sharing->arrived)
        return exchange->incoming;
    shared_buffer_received(&sharing->buffer);
    shared_buffer_wait(&sharing->buffer);
    take_shared(sharing, size);
    return sharing->arrived;
}
