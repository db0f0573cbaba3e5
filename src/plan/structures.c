// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "plan/joint.h"
#include "plan/structures_data.h"

#include <string.h>

Structures *structures_create(const Plan *plan, int64_t limit, Arena *arena) {
    Arena *own = arena_create_within(arena);
    Structures *structures = arena_new(own, Structures);
    *structures = (Structures){.plan = plan,
                               .limit = limit,
                               .arena = own,
                               .scratch = arena_create_within(own),
                               .current = arena_array(own, Version *, plan->tensor_count)};
    return structures;
}

void structures_free(Structures *structures) {
    for (int64_t i = 0; i < structures->versions.count; i++) {
        cutter_free(&structures->versions.items[i]->cutter);
        stored_free(&structures->versions.items[i]->whole);
    }
    arena_free(structures->scratch);
    arena_free(structures->arena);
}

const Rect **list_rects(int64_t count, const Rect *items, Arena *arena) {
    const Rect **rects = arena_array(arena, const Rect *, count);
    for (int64_t i = 0; i < count; i++)
        rects[i] = &items[i];
    return rects;
}

// With the home of a tensor, and the levels of this one.
static Version *version_create(Structures *structures, VersionKind kind, const Home *home,
                               const Tensor *tensor, Version *of) {
    Version *version = arena_new(structures->arena, Version);
    *version = (Version){.kind = kind, .home = *home, .of = of};
    version->home.tensor = tensor;
    version->whole = home_stored_empty(&version->home);
    version->cutter.tensor = &version->whole;
    version->cutter.often = home->ranks > 1;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(structures->arena, structures->versions, version);
    return version;
}

// The arrays of another tensor with the levels and modes of this one, or with more levels.
static void take_arrays(StoredTensor *tensor, const StoredTensor *from) {
    const int order = tensor->order;
    memcpy(tensor->arrays, from->arrays, sizeof *tensor->arrays * (size_t)order);
    tensor->value_count = order == from->order ? from->value_count : tensor->arrays[order - 1].position_count;
}

static void borrow_arrays(StoredTensor *tensor, const StoredTensor *from) {
    take_arrays(tensor, from);
    for (int l = 0; l < tensor->order; l++)
        for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
            tensor->arrays[l].borrowed[a] = true;
}

// Prepares the entries of all ranks as one tensor.
static const char *version_find_whole(Structures *structures, Version *version) {
    StoredTensor *whole = &version->whole;
    const char *why = version->has_whole ? NULL : version_find_whole(structures, version->of);
    if (version->has_whole || why)
        return why;
    version->has_whole = true;
    if (version->kind == VERSION_COPY &&
        version->plan->spmd->transfers[version->transfer].statement_access->tensor != version->home.tensor) {
        EntryMap map;
        why = stored_convert(whole, &map, &version->of->whole, whole->mode_order, false, structures->limit,
                             structures->arena);
        entry_map_free(&map);
        return why;
    }
    borrow_arrays(whole, &version->of->whole);
    return NULL;
}

const char *version_entries(Structures *structures, Version *version, int64_t count, const Rect *const *rects,
                            Entries *entries) {
    SliceArray slices = {0};
    *entries = (Entries){0};
    const char *why = cutter_prepare(&version->cutter, count, rects, structures->limit, structures->scratch);
    if (why)
        return why;
    cutter_cut(&version->cutter, count, rects, structures->scratch, &slices);
    return stored_unpack_slices(&version->whole, &slices, entries);
}

static const char *pack_home(Structures *structures, Version *version, int64_t rank, StoredTensor *local) {
    const Region pieces = home_pieces(&version->home, rank, structures->scratch);
    const RectArray *rects = &pieces.rects;
    Entries own;
    *local = home_stored_empty(&version->home);
    if (!home_stores_entries(&version->home, rects->count))
        return NULL;
    stored_restrict(local, rects->count, rects->items);
    const char *why = version_entries(structures, version, rects->count,
                                      list_rects(rects->count, rects->items, structures->scratch), &own);
    if (!why)
        why = stored_pack(local, &own, structures->limit, structures->arena);
    entries_free(&own);
    return why;
}

// Releases the arrays of levels that the tensor does not have.
static void keep_leading(StoredTensor *tensor, int order) {
    StoredTensor rest = {.order = tensor->order, .values = tensor->values};
    for (int l = order; l < tensor->order; l++)
        rest.arrays[l] = tensor->arrays[l];
    stored_free(&rest);
    tensor->values = NULL;
}

const char *version_local(Structures *structures, Version *version, int64_t rank, StoredTensor *local) {
    CopyMaking making;
    if (version->kind == VERSION_HOME)
        return pack_home(structures, version, rank, local);
    if (version->kind == VERSION_COPY)
        return copy_make(structures, version, rank, local, &making);
    StoredTensor of;
    const char *why = version_local(structures, version->of, rank, &of);
    *local = home_stored_empty(&version->home);
    keep_leading(&of, local->order);
    take_arrays(local, &of);
    return why;
}

// The version whose arrays others share.
static Version *root_of(Version *version) {
    while (version->kind == VERSION_SHARED || version->kind == VERSION_LEADING)
        version = version->of;
    return version;
}

static int64_t count_stored(Structures *structures, const Version *version, const Region *pieces,
                            const StoredTensor *local) {
    StoredTensor empty = home_stored_empty(&version->home);
    const RectArray *rects = &pieces->rects;
    SliceArray slices = {0};
    stored_restrict(&empty, rects->count, rects->items);
    if (!stored_is_padded(&empty, rects->count, rects->items))
        return stored_count(local);
    return cutter_cut(&(Cutter){.tensor = local}, rects->count,
                      list_rects(rects->count, rects->items, structures->scratch), structures->scratch,
                      &slices);
}

// The first rank that has the same pieces of a tensor at home, which may be `rank`.
static int64_t find_replica(const Home *home, int64_t rank, const Region *pieces, Arena *arena) {
    HoldingArray owners = {0};
    if (!home->replicated || pieces->rects.count == 0)
        return rank;
    home_owners(home, &pieces->rects.items[0], arena, &owners);
    if (owners.count == 0 || owners.items[0].rank >= rank)
        return rank;
    const Region other = home_pieces(home, owners.items[0].rank, arena);
    return region_equal(pieces, &other) ? owners.items[0].rank : rank;
}

// What each rank stores of a tensor.
static const char *count_version(Structures *structures, Version *version) {
    const int64_t ranks = version->home.ranks;
    const int64_t size = (int64_t)type_info(version->home.tensor->type)->size;
    const char *why = NULL;
    version->entries = arena_array(structures->arena, int64_t, ranks);
    version->value_bytes = arena_array(structures->arena, int64_t, ranks);
    version->structure_bytes = arena_array(structures->arena, int64_t, ranks);
    for (int64_t rank = 0; rank < ranks && !why; rank++) {
        StoredTensor local = {0};
        arena_reset(structures->scratch);
        const Region pieces = home_pieces(&version->home, rank, structures->scratch);
        version->structure_bytes[rank] = -1;
        if (!home_stores_entries(&version->home, pieces.rects.count))
            continue;
        const int64_t replica = version->kind == VERSION_HOME
                                    ? find_replica(&version->home, rank, &pieces, structures->scratch)
                                    : rank;
        if (replica < rank) {
            version->entries[rank] = version->entries[replica];
            version->value_bytes[rank] = version->value_bytes[replica];
            version->structure_bytes[rank] = version->structure_bytes[replica];
            continue;
        }
        why = version_local(structures, version, rank, &local);
        if (!why) {
            version->entries[rank] = count_stored(structures, version, &pieces, &local);
            version->value_bytes[rank] = saturated_mul(local.value_count, size);
            version->structure_bytes[rank] = stored_structure_bytes(&local);
        }
        stored_free(&local);
        if (why || version->kind != VERSION_LEADING)
            continue;
        why = version_local(structures, root_of(version), rank, &local);
        version->structure_bytes[rank] = stored_structure_bytes(&local);
        stored_free(&local);
    }
    return why;
}

const char *structures_put(Structures *structures, int tensor, Entries *entries) {
    const Home *home = &structures->plan->homes[tensor];
    Version *version = version_create(structures, VERSION_HOME, home, home->tensor, NULL);
    const int64_t left = structures->limit - entries_bytes(entries, entries->count);
    const char *why = stored_pack(&version->whole, entries, left, structures->arena);
    entries_free(entries);
    version->has_whole = true;
    if (!why)
        why = count_version(structures, version);
    structures->current[tensor] = why ? NULL : version;
    return why;
}

const char *structures_lend(Structures *structures, int tensor, const StoredTensor *whole) {
    const Home *home = &structures->plan->homes[tensor];
    Version *version = version_create(structures, VERSION_HOME, home, home->tensor, NULL);
    borrow_arrays(&version->whole, whole);
    version->whole.values = whole->values;
    version->whole.values_borrowed = true;
    version->has_whole = true;
    const char *why = count_version(structures, version);
    structures->current[tensor] = why ? NULL : version;
    return why;
}

// Whether the operand of a transfer is not used as it is at home.
static bool copy_is_needed(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    return tensor_is_sparse(of->statement_access->tensor) && of->kind == TRANSFER_FETCH &&
           (plan->moves[transfer] || of->access->tensor != of->statement_access->tensor);
}

// Whether all that a transfer is indexed by is known.
static bool is_known(const StatementPlan *plan, int transfer, Version *const *used) {
    const int by = transfer_indexed_by(plan, transfer);
    return (!tensor_is_sparse(plan->spmd->transfers[transfer].statement_access->tensor) || used[transfer]) &&
           (by < 0 || is_known(plan, by, used));
}

// A statement while it is executed, and its current stage.
typedef struct {
    Structures *structures;
    const StatementPlan *plan;
    const Stage *stage;
    bool puts_values;
    Version **used, **copies; // by transfer
} Executing;

static const char *count_operand(const Executing *executing, int transfer) {
    const StatementPlan *plan = executing->plan;
    const Transfer *of = &plan->spmd->transfers[transfer];
    if (of->kind != TRANSFER_FETCH || !is_known(plan, transfer, executing->used))
        return NULL;
    if (copy_is_needed(plan, transfer)) {
        Version *copy = version_create(executing->structures, VERSION_COPY,
                                       &plan->homes[of->statement_access->tensor->id], of->access->tensor,
                                       executing->used[transfer]);
        copy->plan = plan;
        copy->transfer = transfer;
        copy->used = executing->used;
        executing->copies[transfer] = copy;
        return count_copy(executing->structures, copy, executing->puts_values);
    }
    return transfer_indexed_by(plan, transfer) >= 0
               ? count_indexed(executing->structures, plan, transfer, executing->used)
               : NULL;
}

// What ranks use of the operand whose structure the result has; NULL: that is not known.
static Version *find_shared(const Executing *executing) {
    const Spmd *spmd = executing->plan->spmd;
    const int stage = (int)(executing->stage - spmd->stages);
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Transfer *of = &spmd->transfers[t];
        if (of->stage != stage || of->kind != TRANSFER_FETCH ||
            of->statement_access->tensor->id != executing->stage->shared->tensor->id)
            continue;
        return copy_is_needed(executing->plan, t) ? executing->copies[t] : executing->used[t];
    }
    return NULL;
}

// The transfer of a result that is computed elsewhere than at home; -1: it is not.
static int find_result(const Executing *executing) {
    const Spmd *spmd = executing->plan->spmd;
    for (int t = 0; t < spmd->transfer_count; t++)
        if (spmd->transfers[t].kind == TRANSFER_REDUCE && executing->plan->moves[t] &&
            spmd->transfers[t].stage == executing->stage - spmd->stages)
            return t;
    return -1;
}

static const char *find_target(const Executing *executing) {
    Structures *structures = executing->structures;
    const Tensor *target = executing->stage->target;
    const Home *home = &structures->plan->homes[target->id];
    const ResultKind kind = executing->stage->result;
    structures->current[target->id] = NULL;
    Version *shared = kind == RESULT_SHARED || kind == RESULT_LEADING ? find_shared(executing) : NULL;
    if (!shared)
        return NULL;
    Version *version = version_create(structures, kind == RESULT_SHARED ? VERSION_SHARED : VERSION_LEADING,
                                      home, target, shared);
    const char *why = version_find_whole(structures, version);
    const int transfer = find_result(executing);
    if (transfer < 0) {
        if (!why)
            why = count_version(structures, version);
        structures->current[target->id] = why ? NULL : version;
        return why;
    }
    Version *at_home = version_create(structures, VERSION_HOME, home, target, version);
    if (!why)
        why = version_find_whole(structures, at_home);
    if (!why)
        why = count_version(structures, at_home);
    if (!why)
        why = count_result(structures, executing->plan, transfer, version, at_home);
    structures->current[target->id] = why ? NULL : at_home;
    return why;
}

static const char *execute_stage(Executing *executing, const Tensor **tensor) {
    const Spmd *spmd = executing->plan->spmd;
    Structures *structures = executing->structures;
    const char *why = NULL;
    executing->used = arena_array(structures->arena, Version *, spmd->transfer_count);
    for (int t = 0; t < spmd->transfer_count; t++)
        executing->used[t] = structures->current[spmd->transfers[t].statement_access->tensor->id];
    for (int t = 0; t < spmd->transfer_count && !why; t++) {
        *tensor = spmd->transfers[t].statement_access->tensor;
        if (spmd->transfers[t].stage == executing->stage - spmd->stages)
            why = count_operand(executing, t);
    }
    if (why || !tensor_is_sparse(executing->stage->target))
        return why;
    *tensor = executing->stage->target;
    return find_target(executing);
}

// What has the entries of the result before the statement shares their structure.
static const char *set_aside(const Executing *executing, const Tensor **tensor) {
    Structures *structures = executing->structures;
    const Tensor *old = assignment_old(executing->plan->spmd->cin->assignment);
    if (!old)
        return NULL;
    *tensor = old;
    Version *of = structures->current[old->old_of->id];
    structures->current[old->id] = NULL;
    if (!of)
        return NULL;
    Version *version = version_create(structures, VERSION_SHARED, &structures->plan->homes[old->id], old, of);
    const char *why = version_find_whole(structures, version);
    if (!why)
        why = count_version(structures, version);
    structures->current[old->id] = why ? NULL : version;
    return why;
}

const char *structures_execute(Structures *structures, int statement, const Tensor **tensor) {
    const StatementPlan *plan = structures->plan->statements[statement];
    const Spmd *spmd = plan->spmd;
    Executing executing = {.structures = structures,
                           .plan = plan,
                           .puts_values = spmd->converts,
                           .copies = arena_array(structures->arena, Version *, spmd->transfer_count)};
    for (int t = 0; t < spmd->transfer_count; t++)
        if (spmd->transfers[t].kind == TRANSFER_REDUCE && plan->moves[t])
            executing.puts_values = false;
    structures->moved = arena_array(structures->arena, const EntryFigures *, spmd->transfer_count);
    structures->requests = arena_array(structures->arena, const int64_t *, spmd->transfer_count);
    const char *why = set_aside(&executing, tensor);
    for (int s = 0; s < spmd->stage_count && !why; s++) {
        executing.stage = &spmd->stages[s];
        why = execute_stage(&executing, tensor);
    }
    return why;
}

void structures_estimate(Structures *structures, Plan *plan, int statement, bool counts_coordinates) {
    StatementPlan *of = plan->statements[statement];
    const Spmd *spmd = of->spmd;
    const StoredTensor **stored = arena_array(structures->arena, const StoredTensor *, plan->tensor_count);
    JointEntries *joint = arena_array(plan->arena, JointEntries, spmd->nest_count);
    for (int t = 0; t < plan->tensor_count; t++) {
        Version *version = structures->current[t];
        if (version && !version_find_whole(structures, version))
            stored[t] = &version->whole;
    }
    for (int n = 0; n < spmd->nest_count; n++)
        joint[n] = joint_entries(spmd, spmd->nests[n].assign, plan->tensor_count, stored,
                                 counts_coordinates && spmd_stage(spmd, n)->result == RESULT_ASSEMBLED,
                                 structures->limit, structures->arena);
    of->joint = joint;
}

const char *structures_count(Structures *structures, Plan *plan, int statement, const Tensor **tensor) {
    const char *why = structures_execute(structures, statement, tensor);
    StatementPlan *of = plan->statements[statement];
    for (int t = 0; t < of->spmd->transfer_count && !why; t++)
        if (structures->moved[t])
            plan_count_entries(of, t, *structures->moved[t]);
    return why;
}

void structures_count_stored(const Structures *structures, Plan *plan) {
    for (int t = 0; t < plan->tensor_count; t++) {
        const StoredFigures stored = structures_stored(structures, t);
        if (stored.entries)
            plan_count_stored(plan, t, stored.entries, stored.bytes);
    }
}

const EntryFigures *structures_moved(const Structures *structures, int transfer) {
    return structures->moved[transfer];
}

const int64_t *structures_requests(const Structures *structures, int transfer) {
    return structures->requests[transfer];
}

StoredFigures structures_stored(const Structures *structures, int tensor) {
    const int64_t ranks = structures->plan->options.ranks;
    Version *const *current = structures->current;
    if (!current[tensor])
        return (StoredFigures){0};
    int64_t *bytes = arena_array(structures->arena, int64_t, ranks);
    for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t structure = max_i64(current[tensor]->structure_bytes[rank], 0);
        for (int t = 0; t < tensor; t++)
            if (current[t] && root_of(current[t]) == root_of(current[tensor]) &&
                current[t]->structure_bytes[rank] >= 0)
                structure = 0; // which that one has
        bytes[rank] = saturated_add(current[tensor]->value_bytes[rank], structure);
    }
    return (StoredFigures){current[tensor]->entries, bytes};
}
