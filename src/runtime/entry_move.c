// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/entry_move.h"

#include "base/integer.h"
#include "memory/memory.h"
#include "runtime/load_sparse.h"

#include <string.h>

bool entry_positions(const Storage *storage, Entries *entries, Diagnostics *diagnostics) {
    StoredTensor numbered = storage->stored;
    *entries = storage_no_entries(storage);
    entries->type = numbered.type = TYPE_I64;
    if (storage->piece_count == 0 || !storage->structure)
        return true;
    int64_t *positions = memory_allocate(MEMORY_HOST, numbered.value_count, TYPE_I64);
    const char *why = "there is no memory for the positions of its entries";
    if (positions) {
        for (int64_t p = 0; p < numbered.value_count; p++)
            positions[p] = p;
        numbered.values = positions;
        why = stored_unpack(&numbered, entries, storage->limit, diagnostics->arena);
    }
    memory_release(MEMORY_HOST, positions);
    return !why || sparse_refuse(storage, why, diagnostics);
}

void entry_move_free(EntryMove *move) {
    memory_release(MEMORY_HOST, move->positions);
    value_exchange_free(&move->values);
    *move = (EntryMove){0};
}

int64_t entry_move_bytes(const EntryMove *move) {
    if (!move->positions)
        return 0;
    int64_t sent = value_exchange_sent(&move->values).elements + move->values.sends[move->values.rank];
    return saturated_add(
        saturated_mul(value_exchange_buffer(&move->values), (int64_t)type_info(move->values.type)->size),
        saturated_mul(sent, (int64_t)sizeof(int64_t)));
}

typedef struct {
    EntryMove *move;
    const Storage *storage;
    int64_t message_limit;
    RankedEntries *sent;
    const RankedEntries *received;
    MPI_Comm comm;
} Preparation;

static bool prepare_values(void *arguments, Diagnostics *diagnostics) {
    const Preparation *preparation = arguments;
    EntryMove *move = preparation->move;
    Entries *sent = &preparation->sent->entries;
    move->positions = sent->values;
    sent->values = NULL;
    if (!value_exchange_create(&move->values, preparation->storage->type, preparation->message_limit,
                               preparation->sent->counts, preparation->received->counts, preparation->comm) ||
        !value_exchange_allocate(&move->values))
        return sparse_refuse(preparation->storage, "there is no memory for values on their way", diagnostics);
    move->coordinate_bytes_sent = entries_coordinate_bytes(sent, value_exchange_sent(&move->values).elements);
    move->coordinate_bytes_received =
        entries_coordinate_bytes(sent, value_exchange_received(&move->values).elements);
    return true;
}

bool entry_move_structure(EntryMove *move, const Storage *storage, int64_t message_limit, RankedEntries *sent,
                          Entries *received, MPI_Comm comm, Diagnostics *diagnostics) {
    RankedEntries ranked = {0};
    *move = (EntryMove){0};
    const bool ok =
        exchange_entries(storage, sent, false, &ranked, comm, diagnostics) &&
        agree_on_part(comm, prepare_values, &(Preparation){move, storage, message_limit, sent, &ranked, comm},
                      diagnostics);
    ranked_entries_free(sent);
    *received = ranked.entries;
    ranked.entries = (Entries){0};
    ranked_entries_free(&ranked);
    return ok;
}

static inline void gather(const EntryMove *move, const char *values, int64_t count, size_t size) {
    char *to = move->values.outgoing;
#pragma omp parallel for num_threads(entries_team(count))
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, values + (size_t)move->positions[i] * size, size);
}

void entry_move_values(EntryMove *move, const void *values) {
    ValueExchange *exchange = &move->values;
    const size_t size = type_info(exchange->type)->size;
    const int64_t count = value_exchange_sent(exchange).elements + exchange->sends[exchange->rank];
    value_exchange_receive(exchange);
    if (size == 8) // a constant, so that elements are copied in registers
        gather(move, values, count, 8);
    else
        gather(move, values, count, size);
    value_exchange_send(exchange);
    value_exchange_wait(exchange);
}
