// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/result_home.h"

#include "base/integer.h"
#include "plan/result_parts.h"
#include "runtime/load_sparse.h"

#include <stdlib.h>
#include <string.h>

struct ResultHome {
    const StatementPlan *plan;
    Storage *home, *computed;
    bool adds;
    bool updates; // the home keeps its entries, and its values until those that follow from them are there
    ResultParts parts;    // that it computes
    Structure *of, *made; // of `computed` when it was sent home last, and of `home` then; NULL: not yet
    int64_t before;       // entries that the result had, which are in the map before those that arrive
    EntryMap map;
    EntryMove move;
};

ResultHome *result_home_create(const StatementPlan *plan, const Tensor *tensor, Storage *home, bool adds) {
    const ResultParts parts = result_parts(plan, tensor, home->home, home->rank);
    const bool updates = assignment_is_update(plan->spmd->cin->assignment) && tensor == plan->target;
    ResultHome *result = calloc(1, sizeof *result);
    if (!result)
        return NULL;
    *result = (ResultHome){.plan = plan,
                           .home = home,
                           .computed = storage_create_copy(home, home->home->tensor, true),
                           .adds = adds && !updates,
                           .updates = updates,
                           .parts = parts};
    if (result->computed) {
        const Rect stored = result_parts_stored(&result->parts);
        storage_restrict(result->computed, 1, &stored);
        return result;
    }
    free(result);
    return NULL;
}

static void forget(ResultHome *result) {
    entry_map_free(&result->map);
    entry_move_free(&result->move);
    structure_hold(&result->of, NULL);
    structure_hold(&result->made, NULL);
}

void result_home_free(ResultHome *result) {
    if (!result)
        return;
    forget(result);
    storage_free(result->computed);
    free(result);
}

Storage *result_home_computed(const ResultHome *result) {
    return result->computed;
}

const EntryMove *result_home_move(const ResultHome *result) {
    return &result->move;
}

int64_t result_home_bytes(const ResultHome *result) {
    int64_t bytes = saturated_add(entry_map_bytes(&result->map), entry_move_bytes(&result->move));
    return result->computed->structure ? saturated_add(bytes, stored_bytes(&result->computed->stored))
                                       : bytes;
}

bool result_home_is_known(const ResultHome *result) {
    return result->made && result->of == result->computed->structure &&
           result->made == result->home->structure;
}

typedef struct {
    ResultHome *result;
    int ranks;
    PartList sends;
    Entries received;
    SetAside before; // what the result had
} Making;

// The homes of all ranks.
static bool find_homes(void *arguments, Diagnostics *diagnostics) {
    Making *making = arguments;
    ResultHome *result = making->result;
    forget(result);
    const PartArray parts = result_parts_list(&result->parts, diagnostics->arena);
    return part_list_create(&making->sends, making->ranks, parts.count, parts.items) ||
           sparse_refuse(result->home, "not enough memory for the list of ranks that own its entries",
                         diagnostics);
}

// What the result had, and after it what was received.
static const char *join(const Entries *before, const Entries *received, Entries *all) {
    *all = *received;
    all->count += before->count;
    const char *why = entries_allocate(all);
    if (why)
        return why;
    const size_t size = type_info(all->type)->size;
    for (int part = 0; part < 2; part++) {
        const Entries *from = part ? received : before;
        const size_t at = part ? (size_t)before->count : 0, count = (size_t)from->count;
        for (int d = 0; d < all->order && count > 0; d++)
            memcpy(all->coordinates[d] + at, from->coordinates[d], count * sizeof(int64_t));
    }
    if (before->count > 0)
        memcpy(all->values, before->values, (size_t)before->count * size);
    if (received->count > 0)
        memset((char *)all->values + (size_t)before->count * size, 0, (size_t)received->count * size);
    return NULL;
}

// What may be taken beside what this rank has computed.
static int64_t bytes_left(const ResultHome *result) {
    const Storage *computed = result->computed;
    const int64_t taken = computed->structure ? stored_bytes(&computed->stored) : 0;
    return max_i64(computed->limit - taken, 0);
}

// Makes the result of these entries, in at most `left` bytes beside them. Where the statement accumulates,
// the first entries are those that the result had, with their values.
static bool put(ResultHome *result, const Entries *all, int64_t left, Diagnostics *diagnostics) {
    Storage *home = result->home;
    StoredTensor tensor = home->empty;
    const char *why = home->piece_count > 0
                          ? stored_pack_structure(&tensor, &result->map, all, left, diagnostics->arena)
                          : NULL;
    if (why)
        return sparse_refuse(home, why, diagnostics);
    const size_t bytes = (size_t)tensor.value_count * type_info(tensor.type)->size;
    if (home->piece_count > 0) {
        left -= stored_structure_bytes(&tensor) + entry_map_bytes(&result->map);
        if ((int64_t)bytes <= left)
            tensor.values = memory_allocate(MEMORY_HOST, tensor.value_count, tensor.type);
        if (!tensor.values) {
            stored_free(&tensor);
            return sparse_refuse(home, "not enough memory for its values", diagnostics);
        }
        memset(tensor.values, 0, bytes);
        if (result->adds)
            entry_map_add(&result->map, tensor.type, 0, all->values, tensor.values);
    }
    return storage_put(home, &tensor) || sparse_refuse(home, "not enough memory", diagnostics);
}

// What is received of an update are the entries of the home, in another order.
static bool map_received(ResultHome *result, const Entries *received, int64_t left,
                         Diagnostics *diagnostics) {
    StoredTensor tensor = result->home->empty;
    if (result->home->piece_count == 0)
        return true;
    const char *why = stored_pack_structure(&tensor, &result->map, received, left, diagnostics->arena);
    stored_free(&tensor);
    return !why || sparse_refuse(result->home, why, diagnostics);
}

static bool pack_received(void *arguments, Diagnostics *diagnostics) {
    Making *making = arguments;
    ResultHome *result = making->result;
    const Entries *received = &making->received;
    int64_t left = bytes_left(result) - entry_move_bytes(&result->move);
    left = max_i64(left - entries_bytes(received, received->count), 0);
    making->received.type = result->home->type;
    result->before = 0;
    if (result->updates)
        return map_received(result, received, left, diagnostics);
    if (!result->adds)
        return put(result, received, left, diagnostics);
    Entries before, all = {0};
    bool ok = sparse_entries_before(result->home, &making->before, &before, diagnostics);
    left -= entries_bytes(&before, before.count);
    left -= entries_bytes(&before, saturated_add(before.count, received->count)); // as one list
    const char *why = ok && left >= 0 ? join(&before, received, &all) : "not enough memory for its entries";
    ok = ok && (why ? sparse_refuse(result->home, why, diagnostics) : put(result, &all, left, diagnostics));
    result->before = before.count;
    entries_free(&before);
    entries_free(&all);
    return ok;
}

bool result_home_make(ResultHome *result, MPI_Comm comm, Diagnostics *diagnostics) {
    Making making = {.result = result};
    MPI_Comm_size(comm, &making.ranks);
    bool ok = agree_on_part(comm, find_homes, &making, diagnostics) &&
              entry_move_structure(&result->move, result->computed, &making.sends, NULL, bytes_left(result),
                                   result->plan->options.message_limit, &making.received, comm, diagnostics);
    if (ok) {
        if (!result->updates)
            making.before = storage_set_aside(result->home);
        ok = agree_on_part(comm, pack_received, &making, diagnostics);
        if (!result->updates)
            storage_settle(result->home, &making.before, ok);
    }
    part_list_free(&making.sends);
    entries_free(&making.received);
    if (!ok)
        return false;
    structure_hold(&result->of, result->computed->structure);
    structure_hold(&result->made, result->home->structure);
    return true;
}

void result_home_begin(const ResultHome *result) {
    storage_zero(result->computed);
    if (!result->adds && !result->updates)
        storage_zero(result->home);
}

void result_home_finish(ResultHome *result) {
    const char *arrived = entry_move_values(&result->move, result->computed->stored.values);
    if (result->updates)
        storage_zero(result->home);
    entry_map_add(&result->map, result->home->type, result->before, arrived, result->home->stored.values);
}
