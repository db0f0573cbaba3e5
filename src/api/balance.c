// SPDX-License-Identifier: BSD-3-Clause
#include "api/balance.h"

#include "runtime/divide_entries.h"
#include "runtime/exchange_entries.h"
#include "runtime/load.h"
#include "runtime/load_sparse.h"

#include <string.h>

distal_tensor *balance_tensor(const distal_context *context, const distal_tensor *tensor,
                              const PlaceEntry *entry) {
    return entry->by ? context_tensor(context, entry->by) : (distal_tensor *)tensor;
}

static const Structure *structure_of(const distal_tensor *tensor) {
    return tensor->storage ? tensor->storage->structure : NULL;
}

static void add_division(const Division *division, Arena *arena, DivisionArray *list) {
    for (int64_t i = 0; i < list->count; i++)
        if (division_equal(&list->items[i], division))
            return;
    array_push(arena, *list, *division);
}

// What a placement divides by the entries of `by`.
static void placement_divisions(const distal_context *context, const distal_tensor *tensor,
                                const distal_tensor *by, Arena *arena, DivisionArray *list) {
    const Placement *placement = tensor->tensor->placement;
    Grid grid;
    if (!placement || !machine_grid(placement->machine, context->build.param_values.items, &grid))
        return;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->balance == BALANCE_NONE || balance_tensor(context, tensor, entry) != by)
            continue;
        Division division = placement_division(placement, tensor->name, &grid, d);
        division.tensor = by->name;
        add_division(&division, arena, list);
    }
}

// All that is divided by the entries of a tensor.
static DivisionArray divisions_of(const distal_context *context, const distal_tensor *tensor, Arena *arena) {
    DivisionArray list = {0};
    for (const distal_tensor *other = context->tensors; other; other = other->next)
        placement_divisions(context, other, tensor, arena, &list);
    for (int64_t i = 0; i < tensor->asked.count; i++)
        add_division(&tensor->asked.items[i], arena, &list);
    return list;
}

bool balance_divides(distal_context *context, const distal_tensor *tensor) {
    return divisions_of(context, tensor, context->scratch).count > 0;
}

static bool is_known(const distal_context *context, const distal_tensor *tensor, Arena *arena) {
    const DivisionArray list = divisions_of(context, tensor, arena);
    for (int64_t i = 0; i < list.count; i++)
        if (!boundaries_find(&tensor->boundaries, &list.items[i]))
            return false;
    return list.count == 0 || structure_of(tensor) == tensor->balanced;
}

bool balance_is_current(distal_context *context, const distal_tensor *tensor) {
    const Placement *placement = tensor->tensor->placement;
    for (int d = 0; placement && d < placement->machine->order; d++) {
        if (placement->entries[d].balance == BALANCE_NONE)
            continue;
        const distal_tensor *by = balance_tensor(context, tensor, &placement->entries[d]);
        if (!by || (structure_of(by) && !is_known(context, by, context->scratch)))
            return false;
    }
    return true;
}

const BoundariesArray *balance_known(const distal_context *context, Arena *arena) {
    BoundariesArray *known = arena_new(arena, BoundariesArray);
    for (const distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        for (int64_t i = 0; i < tensor->boundaries.count; i++)
            array_push(arena, *known, boundaries_copy(tensor->boundaries.items[i], arena));
    return known;
}

typedef struct {
    distal_tensor *tensor;
    const Storage *from;
    Entries entries; // each once, over all ranks
} Moving;

static bool create_storage(void *arguments, Diagnostics *diagnostics) {
    Moving *moving = arguments;
    distal_tensor *tensor = moving->tensor;
    tensor->storage = storage_create(&tensor->home, tensor->context->rank, true, diagnostics);
    return tensor->storage && storage_list(moving->from, &moving->entries, diagnostics);
}

// Moves what a tensor has to its new home, which is known.
static bool move_elements(distal_context *context, distal_tensor *tensor, const Storage *from) {
    Moving moving = {.tensor = tensor, .from = from};
    const bool ok = agree_on_part(context->comm, create_storage, &moving, context->diagnostics) &&
                    storage_take_share(tensor->storage, &moving.entries, context->comm, context->diagnostics);
    entries_free(&moving.entries);
    return ok;
}

// Whether the tensor is in memory of the caller, which does not move.
static bool is_attached(const distal_tensor *tensor) {
    return tensor->storage && !tensor->storage->owned;
}

// Brings a tensor to the home that its placement has with the boundaries that are known now. What it has is
// not moved if it is about to get other entries.
static distal_status move_home(distal_context *context, distal_tensor *tensor, bool is_replaced) {
    if (!tensor->home.known)
        return DISTAL_OK;
    const int64_t changes = tensor->home_changes;
    Home *old = arena_new(context->scratch, Home);
    *old = home_copy(&tensor->home, tensor->tensor, context->scratch);
    tensor->home.known = false;
    if (tensor_find_home(context, tensor) != DISTAL_OK)
        return DISTAL_INVALID;
    if (home_equal(old, &tensor->home)) {
        tensor->home_changes = changes;
        return DISTAL_OK;
    }
    if (!tensor->storage)
        return DISTAL_OK;
    Storage *from = tensor->storage;
    if (is_replaced)
        storage_clear(from);
    from->home = old;
    tensor->storage = NULL;
    const bool ok = move_elements(context, tensor, from);
    storage_free(from);
    tensor->memory++;
    if (!ok) {
        storage_free(tensor->storage);
        tensor->storage = NULL;
    }
    return ok ? DISTAL_OK : DISTAL_FAILED;
}

static bool same_parts(const Boundaries *a, const Boundaries *b) {
    const size_t modes = (size_t)a->division.mode_count;
    return a->count == b->count &&
           memcmp(a->starts, b->starts, sizeof(int64_t) * (size_t)(a->count + 1) * modes) == 0;
}

// The same, with the entries in each part.
static bool same_boundaries(const Boundaries *a, const Boundaries *b) {
    const size_t modes = (size_t)a->division.mode_count, count = (size_t)a->count, size = sizeof(int64_t);
    return same_parts(a, b) && memcmp(a->positions, b->positions, size * (count + 1)) == 0 &&
           memcmp(a->lasts, b->lasts, size * count * modes) == 0 &&
           memcmp(a->first, b->first, size * modes) == 0;
}

// Those whose placement has other boundaries now.
static TensorArray list_followers(distal_context *context, const distal_tensor *tensor,
                                  const BoundariesArray *now) {
    TensorArray followers = {0};
    for (distal_tensor *other = context->tensors; other; other = other->next) {
        DivisionArray list = {0};
        bool changed = false;
        placement_divisions(context, other, tensor, context->scratch, &list);
        for (int64_t i = 0; i < list.count && !changed; i++) {
            const Boundaries *before = boundaries_find(&tensor->boundaries, &list.items[i]);
            changed = !before || !same_parts(before, boundaries_find(now, &list.items[i]));
        }
        if (changed)
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(context->scratch, followers, other);
    }
    return followers;
}

// Replaces what is known by `found`, which is in `arena`; all that is placed by it follows. `is_replaced`:
// they are those of entries that the tensor is about to get.
static distal_status take_boundaries(distal_context *context, distal_tensor *tensor, bool is_replaced,
                                     Arena *arena, const BoundariesArray *found) {
    const TensorArray followers = list_followers(context, tensor, found);
    for (int64_t i = 0; i < followers.count; i++)
        if (is_attached(followers.items[i])) {
            arena_free(arena);
            return invalid(
                context,
                "tensor '%s' uses an array of the caller and lies where the entries of '%s' say: free it "
                "before these are others",
                followers.items[i]->name, tensor->name);
        }
    bool changed = false;
    for (int64_t i = 0; i < found->count; i++) {
        const Boundaries *before = boundaries_find(&tensor->boundaries, &found->items[i]->division);
        changed = changed || !before || !same_boundaries(before, found->items[i]);
    }
    tensor->balance_changes += changed;
    if (tensor->balance_arena)
        arena_free(tensor->balance_arena);
    tensor->balance_arena = arena;
    tensor->boundaries = *found;
    distal_status status = DISTAL_OK;
    for (int64_t i = 0; i < followers.count && status == DISTAL_OK; i++)
        status = move_home(context, followers.items[i], is_replaced && followers.items[i] == tensor);
    if (status != DISTAL_OK)
        balance_settle(tensor, false);
    return status;
}

// Finds the boundaries of all that is divided in the entries that the ranks bring.
static distal_status divide(distal_context *context, distal_tensor *tensor, bool is_replaced,
                            const DivisionArray *list, const Entries *entries) {
    Arena *arena = arena_create_within(tensor->arena);
    BoundariesArray found = {0};
    for (int64_t i = 0; i < list->count; i++) {
        const Boundaries *boundaries = divide_entries(&list->items[i], tensor->name, entries, context->comm,
                                                      arena, context->diagnostics);
        if (!boundaries) {
            arena_free(arena);
            return DISTAL_FAILED;
        }
        array_push(arena, found, boundaries);
    }
    return take_boundaries(context, tensor, is_replaced, arena, &found);
}

distal_status balance_by(distal_context *context, distal_tensor *tensor, const Entries *entries) {
    const DivisionArray list = divisions_of(context, tensor, context->scratch);
    return list.count > 0 ? divide(context, tensor, true, &list, entries) : DISTAL_OK;
}

void balance_settle(distal_tensor *tensor, bool ok) {
    structure_hold(&tensor->balanced, ok ? tensor->storage->structure : NULL);
    if (!ok) {
        tensor->boundaries.count = 0;
        tensor->balance_changes++;
    }
}

static bool list_entries(void *arguments, Diagnostics *diagnostics) {
    Moving *moving = arguments;
    return sparse_entries(moving->from, &moving->entries, diagnostics);
}

// With the entries that the tensor has.
static distal_status divide_again(distal_context *context, distal_tensor *tensor) {
    const DivisionArray list = divisions_of(context, tensor, context->scratch);
    Moving moving = {.from = tensor->storage};
    distal_status status = DISTAL_FAILED;
    if (agree_on_part(context->comm, list_entries, &moving, context->diagnostics))
        status = divide(context, tensor, false, &list, &moving.entries);
    entries_free(&moving.entries);
    if (status == DISTAL_OK)
        balance_settle(tensor, true);
    return status;
}

// The result of a statement that has the structure of an operand is divided as that is.
static distal_status take_over(distal_context *context, distal_tensor *result, const distal_tensor *operand,
                               const Division *division) {
    Arena *arena = arena_create_within(result->arena);
    BoundariesArray found = {0};
    for (int64_t i = 0; i < result->boundaries.count; i++)
        if (!division_equal(&result->boundaries.items[i]->division, division))
            array_push(arena, found, boundaries_copy(result->boundaries.items[i], arena));
    Division same = *division;
    same.tensor = operand->name;
    Boundaries *boundaries =
        (Boundaries *)boundaries_copy(boundaries_find(&operand->boundaries, &same), arena);
    boundaries->division.tensor = result->name;
    array_push(arena, found, boundaries);
    const distal_status status = take_boundaries(context, result, false, arena, &found);
    if (status == DISTAL_OK && result->storage)
        balance_settle(result, true);
    return status;
}

static void add_tensor(distal_tensor *tensor, Arena *arena, TensorArray *tensors) {
    for (int64_t i = 0; i < tensors->count; i++)
        if (tensors->items[i] == tensor)
            return;
    if (tensor)
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(arena, *tensors, tensor);
}

static BalanceTaskArray tasks_of(const distal_statement *statement, const int64_t *params, Arena *arena) {
    BalanceTaskArray tasks = {0};
    const Program *program = &statement->program;
    const Spmd *spmd = statement->pipeline->statements[0].spmd;
    balance_tasks(program->tensor_count, program->tensors, 1, &spmd, params, arena, &tasks);
    return tasks;
}

void balance_needs(distal_context *context, const distal_statement *statement, const int64_t *params,
                   Arena *arena, TensorArray *tensors) {
    const BalanceTaskArray tasks = tasks_of(statement, params, arena);
    const distal_tensor *divided = NULL;
    for (int64_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].tensor != tasks.items[i].divided)
            divided = context_tensor(context, tasks.items[i].divided->name);
        add_tensor(context_tensor(context, tasks.items[i].tensor->name), arena, tensors);
    }
    for (int64_t t = 0; t < statement->tensors.count; t++) {
        const distal_tensor *tensor = context_tensor(context, statement->tensors.items[t].tensor->name);
        const Placement *placement = tensor->tensor->placement;
        for (int d = 0; placement && d < placement->machine->order; d++) {
            distal_tensor *by = balance_tensor(context, tensor, &placement->entries[d]);
            if (placement->entries[d].balance != BALANCE_NONE && by != divided)
                add_tensor(by, arena, tensors);
        }
    }
}

distal_status balance_update(distal_context *context, int64_t count, distal_tensor *const *tensors) {
    distal_status status = DISTAL_OK;
    for (int64_t i = 0; i < count && status == DISTAL_OK; i++)
        if (structure_of(tensors[i]) && !is_known(context, tensors[i], context->scratch))
            status = divide_again(context, tensors[i]);
    return status;
}

distal_status balance_statement(distal_context *context, const distal_statement *statement,
                                const int64_t *params, int64_t count, distal_tensor *const *tensors) {
    const BalanceTaskArray tasks = tasks_of(statement, params, context->scratch);
    for (int64_t i = 0; i < tasks.count; i++) {
        distal_tensor *tensor = context_tensor(context, tasks.items[i].tensor->name);
        Division division = tasks.items[i].division;
        division.tensor = tensor->name;
        add_division(&division, tensor->arena, &tensor->asked);
    }
    distal_status status = balance_update(context, count, tensors);
    for (int64_t i = 0; i < tasks.count && status == DISTAL_OK; i++) {
        const BalanceTask *task = &tasks.items[i];
        const distal_tensor *operand = context_tensor(context, task->tensor->name);
        if (task->divided != task->tensor && structure_of(operand))
            status =
                take_over(context, context_tensor(context, task->divided->name), operand, &task->division);
    }
    return status;
}

bool balance_is_settled(int64_t count, distal_tensor *const *tensors) {
    for (int64_t i = 0; i < count; i++)
        if (structure_of(tensors[i]) && structure_of(tensors[i]) != tensors[i]->balanced)
            return false;
    return true;
}

int64_t balance_version(int64_t count, distal_tensor *const *tensors) {
    int64_t version = 0;
    for (int64_t i = 0; i < count; i++)
        version += tensors[i]->balance_changes;
    return version;
}
