// SPDX-License-Identifier: BSD-3-Clause
#include "api/balance.h"

#include "runtime/divide_entries.h"
#include "runtime/exchange_entries.h"
#include "runtime/list.h"
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
    for (int64_t i = 0; i < tensor->required.count; i++)
        add_division(&tensor->required.items[i], arena, &list);
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

// A tensor that gets another home.
typedef struct {
    distal_tensor *tensor;
    Arena *arena; // of the home
    Home home;
} Move;

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
    Array(Move) moves;
    distal_status status; // of this rank
} Dividing;

static bool begin_dividing(void *arguments, Diagnostics *diagnostics) {
    Dividing *dividing = arguments;
    dividing->list = divisions_of(dividing->context, dividing->tensor, dividing->context->scratch);
    dividing->arena = arena_create_within(dividing->tensor->arena);
    dividing->found.items = arena_array(dividing->arena, const Boundaries *, dividing->list.count);
    return dividing->entries || sparse_entries(dividing->tensor->storage, &dividing->listed, diagnostics);
}

static bool begin_taking_over(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Dividing *dividing = arguments;
    const distal_tensor *result = dividing->tensor;
    BoundariesArray *found = &dividing->found;
    Arena *arena = dividing->arena = arena_create_within(result->arena);
    for (int64_t i = 0; i < result->boundaries.count; i++)
        if (!division_equal(&result->boundaries.items[i]->division, dividing->division))
            array_push(arena, *found, boundaries_copy(result->boundaries.items[i], arena));
    Division same = *dividing->division;
    same.tensor = dividing->operand->name;
    Boundaries *boundaries =
        (Boundaries *)boundaries_copy(boundaries_find(&dividing->operand->boundaries, &same), arena);
    boundaries->division.tensor = result->name;
    array_push(arena, *found, boundaries);
    return true;
}

// Which tensors get another home: those in memory of the caller do not move.
static bool find_moves(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Dividing *dividing = arguments;
    distal_context *context = dividing->context;
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next) {
        DivisionArray list = {0};
        placement_divisions(context, tensor, dividing->tensor, context->scratch, &list);
        if (list.count == 0 || !tensor->home.known)
            continue;
        Move move = {.tensor = tensor, .arena = arena_create_within(tensor->arena)};
        array_push(context->scratch, dividing->moves, move);
        Move *last = &dividing->moves.items[dividing->moves.count - 1];
        if (!tensor_place(context, tensor, move.arena, &last->home)) {
            dividing->status = DISTAL_INVALID;
            return false;
        }
        if (home_equal(&tensor->home, &last->home)) {
            arena_free(move.arena);
            dividing->moves.count--;
        } else if (tensor->storage && !tensor->storage->owned) {
            dividing->status = invalid(
                context,
                "tensor '%s' uses an array of the caller and lies where the entries of '%s' say: free it "
                "before these are others",
                tensor->name, dividing->tensor->name);
            return false;
        }
    }
    return true;
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

// What a tensor has goes to its new home. After a failure it has nothing.
static bool move_elements(distal_context *context, distal_tensor *tensor, const Storage *from) {
    Moving moving = {.tensor = tensor, .from = from};
    tensor->storage = NULL;
    const bool ok = agree_on_part(context->comm, create_storage, &moving, context->diagnostics) &&
                    storage_take_share(tensor->storage, &moving.entries, context->comm, context->diagnostics);
    entries_free(&moving.entries);
    if (!ok) {
        storage_free(tensor->storage);
        tensor->storage = NULL;
    }
    return ok;
}

static bool move_tensor(const Dividing *dividing, const Move *move) {
    distal_tensor *tensor = move->tensor;
    Arena *settled = tensor->settled;
    const Home old = tensor->home;
    Storage *from = tensor->storage;
    tensor->home = move->home;
    tensor->settled = move->arena;
    tensor->home_changes++;
    bool ok = true;
    if (from) {
        if (dividing->entries && tensor == dividing->tensor)
            storage_clear(from); // it gets others
        from->home = &old;
        ok = move_elements(dividing->context, tensor, from);
        storage_free(from);
        tensor->memory++;
    }
    arena_free(settled);
    return ok;
}

// With the entries in each part.
static bool same_boundaries(const Boundaries *a, const Boundaries *b) {
    const size_t modes = (size_t)a->division.mode_count, count = (size_t)a->count, size = sizeof(int64_t);
    return a->count == b->count && memcmp(a->starts, b->starts, size * (count + 1) * modes) == 0 &&
           memcmp(a->positions, b->positions, size * (count + 1)) == 0 &&
           memcmp(a->lasts, b->lasts, size * count * modes) == 0 &&
           memcmp(a->first, b->first, size * modes) == 0;
}

// Replaces the boundaries that are known by those that have been found; all that is placed by them follows.
static distal_status follow(Dividing *dividing) {
    distal_context *context = dividing->context;
    distal_tensor *tensor = dividing->tensor;
    const BoundariesArray before = tensor->boundaries;
    tensor->boundaries = dividing->found;
    if (!agree_on_part(context->comm, find_moves, dividing, context->diagnostics)) {
        tensor->boundaries = before;
        for (int64_t i = 0; i < dividing->moves.count; i++)
            arena_free(dividing->moves.items[i].arena);
        arena_free(dividing->arena);
        return dividing->status == DISTAL_OK ? DISTAL_FAILED : dividing->status;
    }
    bool changed = false, ok = true;
    for (int64_t i = 0; i < dividing->found.count; i++) {
        const Boundaries *old = boundaries_find(&before, &dividing->found.items[i]->division);
        changed = changed || !old || !same_boundaries(old, dividing->found.items[i]);
    }
    tensor->balance_changes += changed;
    structure_hold(&tensor->balanced, NULL);
    if (tensor->balance_arena)
        arena_free(tensor->balance_arena);
    tensor->balance_arena = dividing->arena;
    for (int64_t i = 0; i < dividing->moves.count; i++)
        ok &= move_tensor(dividing, &dividing->moves.items[i]);
    return ok ? DISTAL_OK : DISTAL_FAILED;
}

// Finds the boundaries of all that is divided in the entries that the ranks have.
static distal_status divide(Dividing *dividing) {
    distal_context *context = dividing->context;
    const distal_tensor *tensor = dividing->tensor;
    const Entries *entries = dividing->entries ? dividing->entries : &dividing->listed;
    bool ok = agree_on_part(context->comm, begin_dividing, dividing, context->diagnostics);
    for (int64_t i = 0; ok && i < dividing->list.count; i++) {
        const Boundaries *boundaries = divide_entries(&dividing->list.items[i], tensor->name, entries,
                                                      context->comm, dividing->arena, context->diagnostics);
        ok = boundaries != NULL;
        dividing->found.items[dividing->found.count++] = boundaries;
    }
    entries_free(&dividing->listed);
    if (ok && dividing->list.count > 0)
        return follow(dividing);
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

static distal_status take_over(distal_context *context, distal_tensor *result, const distal_tensor *operand,
                               const Division *division) {
    Dividing dividing = {.context = context, .tensor = result, .operand = operand, .division = division};
    if (!agree_on_part(context->comm, begin_taking_over, &dividing, context->diagnostics)) {
        arena_free(dividing.arena);
        return DISTAL_FAILED;
    }
    const distal_status status = follow(&dividing);
    if (status == DISTAL_OK && result->storage)
        balance_settle(result);
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

// What a call needs of the boundaries of tensors.
typedef struct {
    distal_context *context;
    const distal_statement *statement; // or NULL
    const int64_t *params;
    int64_t count;
    distal_tensor *const *tensors;
    BalanceTaskArray tasks; // of the statement
    TensorArray unknown;    // whose boundaries are not those of their entries
} Update;

static bool add_required(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Update *update = arguments;
    update->tasks = tasks_of(update->statement, update->params, update->context->scratch);
    for (int64_t i = 0; i < update->tasks.count; i++) {
        distal_tensor *tensor = context_tensor(update->context, update->tasks.items[i].tensor->name);
        Division division = update->tasks.items[i].division;
        division.tensor = tensor->name;
        add_division(&division, tensor->arena, &tensor->required);
    }
    return true;
}

static bool find_unknown(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Update *update = arguments;
    for (int64_t i = 0; i < update->count; i++)
        if (structure_of(update->tensors[i]) &&
            !is_known(update->context, update->tensors[i], update->context->scratch))
            add_tensor(update->tensors[i], update->context->scratch, &update->unknown);
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

distal_status balance_statement(distal_context *context, const distal_statement *statement,
                                const int64_t *params, int64_t count, distal_tensor *const *tensors) {
    Update update = {
        .context = context, .statement = statement, .params = params, .count = count, .tensors = tensors};
    const bool agreed = agree_on_part(context->comm, add_required, &update, context->diagnostics);
    // A division that only some ranks could add is taken back, so that all ranks have the same.
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        if (agreed)
            tensor->required_on_all = tensor->required.count;
        else
            tensor->required.count = tensor->required_on_all;
    distal_status status = agreed ? divide_unknown(&update) : DISTAL_FAILED;
    for (int64_t i = 0; i < update.tasks.count && status == DISTAL_OK; i++) {
        const BalanceTask *task = &update.tasks.items[i];
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
