// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/entry_copy.h"

#include "base/integer.h"
#include "plan/indexed.h"
#include "runtime/load_sparse.h"

#include <stdlib.h>
#include <string.h>

struct EntryCopy {
    const StatementPlan *plan; // where entries move; else NULL
    int transfer;
    Storage *from;
    const Storage *by;       // NULL: no operand indexes it
    Structure *of, *indexed; // of these two that the copy was made of; NULL: of none yet
    Storage *to;
    Storage *result;          // that gets the values; NULL: `to` does
    const RankTransfer *part; // with `reading`, where parts are shared; else NULL
    Reading *reading;
    int64_t limit; // of what it takes, in bytes
    bool computed; // the operand is computed by the statement itself: its values are copied by a refresh only
    bool current;  // the values came with the structure, so the next refresh does not copy them
    bool maps;     // the map is there on all ranks, and not late
    EntryMap map;  // of the values of the copy to those that arrive, or to those at home
    EntryMove move; // where entries move
};

EntryCopy *entry_copy_create(const StatementPlan *plan, int transfer, const Tensor *tensor, Storage *from,
                             bool computed) {
    const bool moves = plan && plan->moves[transfer];
    Region used = {0};
    if (moves)
        used = footprint_of_steps(plan->footprints[transfer], from->rank, plan->arena);
    EntryCopy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy =
        (EntryCopy){.plan = moves ? plan : NULL, .transfer = transfer, .from = from, .computed = computed};
    copy->to = storage_create_copy(from, tensor, moves || from->piece_count > 0);
    if (copy->to && moves)
        storage_restrict(copy->to, used.rects.count, used.rects.items);
    if (copy->to)
        return copy;
    free(copy);
    return NULL;
}

void entry_copy_set_index(EntryCopy *copy, const Storage *by) {
    copy->by = by;
}

bool entry_copy_is_indexed(const EntryCopy *copy) {
    return copy->by;
}

void entry_copy_share(EntryCopy *copy, const RankTransfer *part, Reading *reading) {
    copy->part = part;
    copy->reading = reading;
}

void entry_copy_put_values(EntryCopy *copy, Storage *result) {
    copy->result = result;
}

// What was made of another structure.
static void forget(EntryCopy *copy) {
    entry_map_free(&copy->map);
    entry_move_free(&copy->move);
    copy->current = copy->maps = false;
    structure_hold(&copy->of, NULL);
    structure_hold(&copy->indexed, NULL);
}

void entry_copy_free(EntryCopy *copy) {
    if (!copy)
        return;
    forget(copy);
    storage_free(copy->to);
    free(copy);
}

Storage *entry_copy_storage(const EntryCopy *copy) {
    return copy->to;
}

const EntryMove *entry_copy_move(const EntryCopy *copy) {
    return &copy->move;
}

static bool has_structure(const EntryCopy *copy) {
    return copy->of && copy->of == copy->from->structure &&
           (!copy->by || copy->indexed == copy->by->structure);
}

bool entry_copy_is_known(const EntryCopy *copy) {
    return has_structure(copy) && (copy->maps || copy->current);
}

int64_t entry_copy_bytes(const EntryCopy *copy) {
    int64_t bytes = saturated_add(entry_map_bytes(&copy->map), entry_move_bytes(&copy->move));
    if (!copy->to->structure)
        return bytes;
    const StoredTensor *stored = &copy->to->stored;
    return saturated_add(bytes, copy->result ? stored_structure_bytes(stored) : stored_bytes(stored));
}

static bool refuse(const EntryCopy *copy, const char *why, Diagnostics *diagnostics) {
    return copy->plan
               ? sparse_refuse(copy->from, why, diagnostics)
               : diagnostics_error(diagnostics, (Span){0}, "tensor %s cannot be converted on rank %lld: %s",
                                   copy->from->home->tensor->name, (long long)copy->from->rank, why);
}

static bool put(EntryCopy *copy, StoredTensor *tensor, Diagnostics *diagnostics) {
    static const char no_memory[] = "not enough memory";
    return storage_put(copy->to, tensor) || refuse(copy, no_memory, diagnostics);
}

// Takes over the structure, with values of its own unless the result will have them.
static bool put_structure(EntryCopy *copy, StoredTensor *tensor, Diagnostics *diagnostics) {
    static const char no_values[] = "not enough memory for the values of the copy";
    if (copy->result)
        return put(copy, tensor, diagnostics);
    const int64_t left = copy->limit - stored_structure_bytes(tensor) - entry_map_bytes(&copy->map);
    if (!tensor->values && saturated_mul(tensor->value_count, (int64_t)type_info(tensor->type)->size) <= left)
        tensor->values = memory_allocate(MEMORY_HOST, tensor->value_count, tensor->type);
    if (tensor->values)
        return put(copy, tensor, diagnostics);
    stored_free(tensor);
    return refuse(copy, no_values, diagnostics);
}

// The entries at home with other levels.
static bool convert(void *arguments, Diagnostics *diagnostics) {
    EntryCopy *copy = arguments;
    StoredTensor tensor = copy->to->empty;
    forget(copy);
    storage_clear(copy->to);
    // Without a piece it has no entries, and no kernel reads it.
    if (copy->from->piece_count == 0)
        return put(copy, &tensor, diagnostics);
    const char *why = stored_convert(&tensor, &copy->map, &copy->from->stored, tensor.mode_order,
                                     !copy->computed, copy->limit, diagnostics->arena);
    return why ? refuse(copy, why, diagnostics) : put_structure(copy, &tensor, diagnostics);
}

static bool make_map(void *arguments, Diagnostics *diagnostics) {
    EntryCopy *copy = arguments;
    StoredTensor *tensor = &copy->to->stored;
    const int64_t taken = entry_copy_bytes(copy) - entry_map_bytes(&copy->map);
    const char *why = stored_map(tensor, &copy->map, &copy->from->stored, tensor->mode_order,
                                 max_i64(copy->limit - taken, 0), diagnostics->arena);
    return !why || refuse(copy, why, diagnostics);
}

// A copy with entries of other ranks, while it is made.
typedef struct {
    EntryCopy *copy;
    int ranks;
    Arena *arena; // while it is made
    IndexedUse use;
    PartSharing sharing;
    Selection requested;
    PartList sends;
    Entries received;
} Making;

static bool find_incoming(void *arguments, Diagnostics *diagnostics) {
    Making *making = arguments;
    EntryCopy *copy = making->copy;
    Entries entries = {0};
    IndexedPoints points = {0};
    const char *why = NULL;
    making->arena = arena_create_within(diagnostics->arena);
    forget(copy);
    storage_clear(copy->to);
    const bool ok = !copy->by || sparse_entries(copy->by, &entries, diagnostics);
    if (ok && copy->by)
        why = indexed_points(copy->plan, copy->transfer, copy->from->rank, &entries, &points);
    entries_free(&entries);
    if (ok && !why)
        why = indexed_use(copy->plan, copy->transfer, copy->from->rank, copy->by ? &points : NULL,
                          making->arena, &making->use);
    entries_free(&points.points);
    return ok && (!why || refuse(copy, why, diagnostics));
}

static bool list_sends(void *arguments, Diagnostics *diagnostics) {
    Making *making = arguments;
    return part_list_of(&making->sends, making->ranks, &making->requested, making->arena) ||
           refuse(making->copy, "not enough memory to list the parts that other ranks request", diagnostics);
}

static bool pack_received(void *arguments, Diagnostics *diagnostics) {
    Making *making = arguments;
    EntryCopy *copy = making->copy;
    StoredTensor tensor = copy->to->empty;
    const int64_t taken = saturated_add(entries_bytes(&making->received, making->received.count),
                                        entry_move_bytes(&copy->move));
    copy->limit = max_i64(copy->limit - taken, 0);
    const char *why =
        stored_pack_structure(&tensor, &copy->map, &making->received, copy->limit, diagnostics->arena);
    return why ? refuse(copy, why, diagnostics) : put_structure(copy, &tensor, diagnostics);
}

static bool make(EntryCopy *copy, MPI_Comm comm, Diagnostics *diagnostics) {
    Making making = {.copy = copy};
    MPI_Comm_size(comm, &making.ranks);
    const bool ok =
        agree_on_part(comm, find_incoming, &making, diagnostics) &&
        part_sharing_find(&making.sharing, copy->plan, copy->transfer, copy->from, &making.use.parts,
                          copy->part, copy->reading, making.arena, comm, diagnostics) &&
        exchange_parts(&making.sharing.requests, &making.requested, copy->from, making.arena, comm,
                       diagnostics) &&
        agree_on_part(comm, list_sends, &making, diagnostics) &&
        entry_move_structure(&copy->move, copy->from, &making.sends, &making.sharing, copy->limit,
                             copy->plan->options.message_limit, &making.received, comm, diagnostics) &&
        agree_on_part(comm, pack_received, &making, diagnostics);
    part_list_free(&making.sends);
    entries_free(&making.received);
    arena_free(making.arena);
    return ok;
}

bool entry_copy_make(EntryCopy *copy, int64_t taken, MPI_Comm comm, Diagnostics *diagnostics) {
    const bool has = has_structure(copy);
    copy->limit = max_i64(copy->from->limit - taken, 0);
    if (!(copy->plan ? make(copy, comm, diagnostics)
                     : agree_on_part(comm, has ? make_map : convert, copy, diagnostics)))
        return false;
    copy->current = !copy->plan && !has && !copy->computed;
    copy->maps = !copy->current;
    structure_hold(&copy->of, copy->from->structure);
    structure_hold(&copy->indexed, copy->by ? copy->by->structure : NULL);
    return true;
}

void entry_copy_invalidate(EntryCopy *copy) {
    copy->current = false;
}

void entry_copy_refresh(EntryCopy *copy) {
    const StoredTensor *stored = &(copy->result ? copy->result : copy->to)->stored;
    const void *values = copy->from->stored.values, *arrived = copy->to->stored.values;
    const bool current = copy->current;
    const size_t size = type_info(stored->type)->size;
    copy->current = false;
    if (current && copy->result && arrived) // the result has not taken them
        memcpy(stored->values, arrived, (size_t)stored->value_count * size);
    if (current)
        return;
    if (copy->plan)
        values = entry_move_values(&copy->move, values);
    if (stored->value_count > 0)
        entry_map_copy(&copy->map, size, values, stored->values, stored->value_count);
}
