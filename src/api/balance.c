// SPDX-License-Identifier: BSD-3-Clause
#include "api/balance.h"

#include "api/divisions.h"
#include "runtime/divide_entries.h"
#include "runtime/list.h"
#include "runtime/load.h"
#include "runtime/load_sparse.h"
#include "runtime/wait.h"

#include <string.h>

bool balance_divides(distal_context *context, const distal_tensor *tensor) {
    return divisions_by(context, tensor, context->scratch).count > 0;
}

distal_tensor *balance_tensor(const distal_context *context, const distal_tensor *tensor,
                              const PlaceEntry *entry) {
    return entry->by ? context_tensor(context, entry->by) : (distal_tensor *)tensor;
}

// The structure that a tensor has now; NULL: it has no memory.
static const Structure *structure_of(const distal_tensor *tensor) {
    return tensor->storage ? tensor->storage->structure : NULL;
}

static bool is_known(const distal_context *context, const distal_tensor *tensor, Arena *arena) {
    const DivisionArray list = divisions_by(context, tensor, arena);
    for (int64_t i = 0; i < list.count; i++)
        if (!boundaries_find(&tensor->boundaries, &list.items[i]))
            return false;
    return list.count == 0 || structure_of(tensor) == tensor->balanced;
}

bool balance_is_current(distal_context *context, const distal_tensor *tensor) {
    const Placement *placement = tensor->tensor->placement;
    for (int d = 0; placement && d < placement->machine->order; d++) {
        if (!balance_is_by_entries(placement->entries[d].balance))
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
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(arena, *known, boundaries_copy(tensor->boundaries.items[i], arena));
    return known;
}

// A tensor that gets another home. Local calls make the home of a tensor known, and allocate a dense one, so
// some ranks may have neither.
typedef struct {
    distal_tensor *tensor;
    Arena *arena; // of the home; NULL: it has not been found on this rank
    Home home;
    Storage *storage; // there
} HomeChange;

// Boundaries in the entries of a tensor, while they are found and tensors follow them. What a rank does alone
// is in parts that all agree on.
typedef struct {
    distal_context *context;
    distal_tensor *tensor;
    const Entries *entries; // of this rank, which the tensor is about to get; NULL: it has them
    Entries listed;         // then
    // Of a result with the structure of an operand, which is divided as that is; else NULL.
    const distal_tensor *operand;
    const Division *division;
    DivisionArray list;
    Arena *arena; // of what is found
    BoundariesArray found;
    Array(HomeChange) changes;
    int *flags;           // of each of these, whether any rank has memory, and whether it moves
    distal_status status; // of this rank
} Dividing;

static bool begin_dividing(void *arguments, Diagnostics *diagnostics) {
    Dividing *dividing = arguments;
    dividing->list = divisions_by(dividing->context, dividing->tensor, dividing->context->scratch);
    dividing->arena = arena_create_within(dividing->tensor->arena);
    dividing->found.items = arena_array(dividing->arena, const Boundaries *, dividing->list.count);
    return dividing->entries || sparse_entries(dividing->tensor->storage, &dividing->listed, diagnostics);
}

static bool begin_copying(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Dividing *dividing = arguments;
    const distal_tensor *result = dividing->tensor;
    BoundariesArray *found = &dividing->found;
    Arena *arena = dividing->arena = arena_create_within(result->arena);
    for (int64_t i = 0; i < result->boundaries.count; i++)
        if (!division_equal(&result->boundaries.items[i]->division, dividing->division))
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(arena, *found, boundaries_copy(result->boundaries.items[i], arena));
    Division same = *dividing->division;
    same.tensor = dividing->operand->name;
    Boundaries *boundaries =
        (Boundaries *)boundaries_copy(boundaries_find(&dividing->operand->boundaries, &same), arena);
    boundaries->division.tensor = result->name;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, *found, boundaries);
    return true;
}

static bool find_home(const Dividing *dividing, HomeChange *change) {
    change->arena = arena_create_within(change->tensor->arena);
    return tensor_place(dividing->context, change->tensor, change->tensor->file, change->arena,
                        &change->home);
}

// The tensors that may get another home: those in memory of the caller do not move.
static bool find_changes(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Dividing *dividing = arguments;
    distal_context *context = dividing->context;
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next) {
        DivisionArray list = {0};
        divisions_of_placement(context, tensor, dividing->tensor, context->scratch, &list);
        if (list.count > 0)
            array_push(context->scratch, dividing->changes, (HomeChange){.tensor = tensor});
    }
    dividing->flags = arena_array(context->scratch, int, 2 * dividing->changes.count);
    for (int64_t i = 0; i < dividing->changes.count; i++) {
        HomeChange *change = &dividing->changes.items[i];
        const distal_tensor *tensor = change->tensor;
        if (!tensor->home.known)
            continue;
        if (!find_home(dividing, change)) {
            dividing->status = DISTAL_INVALID;
            return false;
        }
        dividing->flags[2 * i] = tensor->storage != NULL;
        dividing->flags[2 * i + 1] = !home_equal(&tensor->home, &change->home);
        if (dividing->flags[2 * i + 1] && tensor->storage && !tensor->storage->owned) {
            dividing->status =
                invalid(context,
                        "tensor '%s' is in memory of the caller and would move, as its placement follows the "
                        "new entries of '%s': free '%s' before '%s' gets other entries",
                        tensor->name, dividing->tensor->name, tensor->name, dividing->tensor->name);
            return false;
        }
    }
    return true;
}

// Finds the new homes of tensors that move and of which only other ranks know the home.
static bool find_other_homes(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Dividing *dividing = arguments;
    for (int64_t i = 0; i < dividing->changes.count; i++) {
        HomeChange *change = &dividing->changes.items[i];
        if (dividing->flags[2 * i] && dividing->flags[2 * i + 1] && !change->arena &&
            !find_home(dividing, change))
            return false;
    }
    return true;
}

typedef struct {
    const Storage *from; // NULL: nothing is sent
    HomeChange *change;
    Entries entries; // each once, over all ranks
} ElementMove;

static bool create_storage(void *arguments, Diagnostics *diagnostics) {
    ElementMove *move = arguments;
    HomeChange *change = move->change;
    tensor_share_home(change->tensor, &change->home);
    change->storage = storage_create(&change->home, change->tensor->context->rank, true,
                                     change->tensor->context->scratch_files, diagnostics);
    if (!change->storage)
        return false;
    move->entries = storage_no_entries(change->storage);
    const char *why = move->from ? storage_list(move->from, &move->entries, diagnostics->arena) : NULL;
    return !why || diagnostics_error(diagnostics, (Span){0}, "%s", why);
}

// Sends the elements of a tensor to its new home: those of a dense one with their coordinates, too, which are
// more bytes than the elements.
static bool move_elements(const Dividing *dividing, HomeChange *change) {
    distal_context *context = dividing->context;
    const bool gets_others = dividing->entries && change->tensor == dividing->tensor;
    ElementMove move = {.from = gets_others ? NULL : change->tensor->storage, .change = change};
    const bool ok = agree_on_part(context->comm, create_storage, &move, context->diagnostics) &&
                    storage_take_share(change->storage, &move.entries, context->comm, context->diagnostics);
    entries_free(&move.entries);
    return ok;
}

static void change_home(const HomeChange *change, bool has_memory) {
    distal_tensor *tensor = change->tensor;
    arena_free(tensor->settled);
    tensor->home = change->home;
    tensor->settled = change->arena;
    tensor->home_changes++;
    if (!has_memory)
        return;
    storage_free(tensor->storage);
    tensor->storage = change->storage;
    tensor->storage->home = &tensor->home;
    tensor->memory++;
}

// With the entries in each part.
static bool same_boundaries(const Boundaries *a, const Boundaries *b) {
    const size_t modes = (size_t)a->division.mode_count, count = (size_t)a->count, size = sizeof(int64_t);
    return a->count == b->count && memcmp(a->starts, b->starts, size * (count + 1) * modes) == 0 &&
           memcmp(a->positions, b->positions, size * (count + 1)) == 0 &&
           memcmp(a->lasts, b->lasts, size * count * modes) == 0 &&
           memcmp(a->firsts, b->firsts, size * count * modes) == 0;
}

// The new homes of all that is placed by the boundaries, and the elements there.
static bool prepare_changes(Dividing *dividing) {
    distal_context *context = dividing->context;
    if (!agree_on_part(context->comm, find_changes, dividing, context->diagnostics))
        return false;
    all_reduce(dividing->flags, (int)(2 * dividing->changes.count), MPI_INT, MPI_LOR, context->comm);
    bool ok = agree_on_part(context->comm, find_other_homes, dividing, context->diagnostics);
    for (int64_t i = 0; i < dividing->changes.count && ok; i++)
        ok = !dividing->flags[2 * i] || !dividing->flags[2 * i + 1] ||
             move_elements(dividing, &dividing->changes.items[i]);
    return ok;
}

// Replaces the boundaries that are known by those that have been found; all that is placed by them moves.
// After a failure nothing has changed.
static distal_status apply_boundaries(Dividing *dividing) {
    distal_tensor *tensor = dividing->tensor;
    const BoundariesArray before = tensor->boundaries;
    tensor->boundaries = dividing->found;
    const bool ok = prepare_changes(dividing);
    for (int64_t i = 0; i < dividing->changes.count; i++) {
        HomeChange *change = &dividing->changes.items[i];
        if (ok && dividing->flags[2 * i + 1] && change->arena) {
            change_home(change, dividing->flags[2 * i]);
        } else {
            storage_free(change->storage);
            arena_free(change->arena);
        }
    }
    if (!ok) {
        tensor->boundaries = before;
        arena_free(dividing->arena);
        return dividing->status == DISTAL_OK ? DISTAL_FAILED : dividing->status;
    }
    bool changed = false;
    for (int64_t i = 0; i < dividing->found.count; i++) {
        const Boundaries *old = boundaries_find(&before, &dividing->found.items[i]->division);
        changed = changed || !old || !same_boundaries(old, dividing->found.items[i]);
    }
    tensor->balance_changes += changed;
    structure_hold(&tensor->balanced, NULL);
    if (tensor->balance_arena)
        arena_free(tensor->balance_arena);
    tensor->balance_arena = dividing->arena;
    return DISTAL_OK;
}

// Finds the boundaries of all that is divided in the entries that the ranks have.
static distal_status divide(Dividing *dividing) {
    distal_context *context = dividing->context;
    const distal_tensor *tensor = dividing->tensor;
    const Entries *entries = dividing->entries ? dividing->entries : &dividing->listed;
    bool ok = agree_on_part(context->comm, begin_dividing, dividing, context->diagnostics);
    for (int64_t i = 0; ok && i < dividing->list.count; i++) {
        const Boundaries *boundaries =
            divide_entries(&dividing->list.items[i], &dividing->found, tensor->name, entries, context->comm,
                           dividing->arena, context->diagnostics);
        ok = boundaries != NULL;
        dividing->found.items[dividing->found.count++] = boundaries;
    }
    entries_free(&dividing->listed);
    if (ok && dividing->list.count > 0)
        return apply_boundaries(dividing);
    arena_free(dividing->arena);
    return ok ? DISTAL_OK : DISTAL_FAILED;
}

distal_status balance_by(distal_context *context, distal_tensor *tensor, const Entries *entries) {
    return divide(&(Dividing){.context = context, .tensor = tensor, .entries = entries});
}

void balance_settle(distal_tensor *tensor) {
    structure_hold(&tensor->balanced, tensor->storage->structure);
}

static distal_status divide_again(distal_context *context, distal_tensor *tensor) {
    const distal_status status = divide(&(Dividing){.context = context, .tensor = tensor});
    if (status == DISTAL_OK)
        balance_settle(tensor);
    return status;
}

static distal_status copy_boundaries(distal_context *context, distal_tensor *result,
                                     const distal_tensor *operand, const Division *division) {
    Dividing dividing = {.context = context, .tensor = result, .operand = operand, .division = division};
    if (!agree_on_part(context->comm, begin_copying, &dividing, context->diagnostics)) {
        arena_free(dividing.arena);
        return DISTAL_FAILED;
    }
    const distal_status status = apply_boundaries(&dividing);
    if (status == DISTAL_OK && result->storage)
        balance_settle(result);
    return status;
}

static void add_tensor(distal_tensor *tensor, Arena *arena, TensorArray *tensors) {
    for (int64_t i = 0; i < tensors->count; i++)
        if (tensors->items[i] == tensor)
            return;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, *tensors, tensor);
}

// The tensors by whose entries `tensor` is placed, but `without`, which may be NULL.
static void add_placing(const distal_context *context, const distal_tensor *tensor,
                        const distal_tensor *without, Arena *arena, TensorArray *tensors) {
    const Placement *placement = tensor->tensor->placement;
    for (int d = 0; placement && d < placement->machine->order; d++) {
        distal_tensor *by = balance_tensor(context, tensor, &placement->entries[d]);
        if (balance_is_by_entries(placement->entries[d].balance) && by && by != without)
            add_tensor(by, arena, tensors);
    }
}

static BalanceTaskArray tasks_of(const distal_statement *statement, const int64_t *params, Arena *arena) {
    BalanceTaskArray tasks = {0};
    const Program *program = &statement->program;
    const Spmd *spmd = statement->pipeline->statements[0].spmd;
    balance_tasks(program->tensor_count, program->tensors, 1, &spmd, params, arena, &tasks);
    return tasks;
}

void balance_tensors(distal_context *context, const distal_statement *statement, const int64_t *params,
                     Arena *arena, TensorArray *tensors) {
    const BalanceTaskArray tasks = tasks_of(statement, params, arena);
    const distal_tensor *divided = NULL;
    for (int64_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].tensor != tasks.items[i].divided)
            divided = context_tensor(context, tasks.items[i].divided->name);
        add_tensor(context_tensor(context, tasks.items[i].tensor->name), arena, tensors);
    }
    for (int64_t t = 0; t < statement->tensors.count; t++) {
        const char *name = statement->tensors.items[t].tensor->name;
        add_placing(context, context_tensor(context, name), divided, arena, tensors);
    }
}

// What a call needs of the boundaries of tensors.
typedef struct {
    distal_context *context;
    distal_statement *statement; // or NULL
    const int64_t *params;
    const distal_tensor *placed; // NULL: `tensors` are listed; else those by which it is placed
    int64_t count;
    distal_tensor *const *tensors;
    BalanceTaskArray tasks; // of the statement
    TensorArray unknown;    // whose boundaries are not those of their entries
} Update;

static void require(distal_statement *statement, const distal_tensor *tensor, const Division *division) {
    RequiredDivision required = {*division, tensor->serial};
    required.division.tensor = copy_text(statement->arena, tensor->name);
    for (int64_t i = 0; i < statement->required.count; i++)
        if (statement->required.items[i].serial == tensor->serial &&
            division_equal(&statement->required.items[i].division, &required.division))
            return;
    array_push(statement->arena, statement->required, required);
}

static bool add_required(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Update *update = arguments;
    update->tasks = tasks_of(update->statement, update->params, update->context->scratch);
    for (int64_t i = 0; i < update->tasks.count; i++) {
        const distal_tensor *tensor = context_tensor(update->context, update->tasks.items[i].tensor->name);
        require(update->statement, tensor, &update->tasks.items[i].division);
    }
    return true;
}

static bool find_unknown(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Update *update = arguments;
    distal_context *context = update->context;
    if (update->placed) {
        TensorArray placing = {0};
        add_placing(context, update->placed, NULL, context->scratch, &placing);
        update->count = placing.count;
        update->tensors = placing.items;
    }
    for (int64_t i = 0; i < update->count; i++)
        if (structure_of(update->tensors[i]) && !is_known(context, update->tensors[i], context->scratch))
            add_tensor(update->tensors[i], context->scratch, &update->unknown);
    return true;
}

static distal_status divide_unknown(Update *update) {
    distal_context *context = update->context;
    if (!agree_on_part(context->comm, find_unknown, update, context->diagnostics))
        return DISTAL_FAILED;
    distal_status status = DISTAL_OK;
    for (int64_t i = 0; i < update->unknown.count && status == DISTAL_OK; i++)
        status = divide_again(context, update->unknown.items[i]);
    return status;
}

distal_status balance_update(distal_context *context, int64_t count, distal_tensor *const *tensors) {
    return divide_unknown(&(Update){.context = context, .count = count, .tensors = tensors});
}

distal_status balance_update_placement(distal_context *context, const distal_tensor *tensor) {
    return divide_unknown(&(Update){.context = context, .placed = tensor});
}

distal_status balance_statement(distal_context *context, distal_statement *statement, const int64_t *params,
                                int64_t count, distal_tensor *const *tensors) {
    Update update = {
        .context = context, .statement = statement, .params = params, .count = count, .tensors = tensors};
    const bool agreed = agree_on_part(context->comm, add_required, &update, context->diagnostics);
    // Divisions that only some ranks could add are removed, so that all ranks have the same.
    if (agreed)
        statement->required_on_all = statement->required.count;
    else
        statement->required.count = statement->required_on_all;
    distal_status status = agreed ? divide_unknown(&update) : DISTAL_FAILED;
    for (int64_t i = 0; i < update.tasks.count && status == DISTAL_OK; i++) {
        const BalanceTask *task = &update.tasks.items[i];
        const distal_tensor *operand = context_tensor(context, task->tensor->name);
        if (task->divided != task->tensor && structure_of(operand))
            status = copy_boundaries(context, context_tensor(context, task->divided->name), operand,
                                     &task->division);
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
