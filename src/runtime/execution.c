// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/execution.h"

#include "base/integer.h"
#include "memory/memory.h"
#include "plan/indexed.h"
#include "plan/processor.h"
#include "plan/ranks.h"
#include "runtime/agreement.h"
#include "runtime/blas_memory.h"
#include "runtime/contraction.h"
#include "runtime/entry_copy.h"
#include "runtime/load_sparse.h"
#include "runtime/result.h"
#include "runtime/result_home.h"
#include "runtime/transfer.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t *values; // coordinates first
    bool exists;
} Processor;

struct distal_execution {
    Arena *arena; // everything but memory of elements
    int transfer_count;
    TransferState *transfers;
    int copy_count;
    EntryCopy **copies;    // by transfer, of operands that the kernel uses as they are not at home; or NULL
    ResultHome *home;      // of a result that is computed elsewhere; or NULL
    int result_transfer;   // that moves then; -1: none does
    const Storage *target; // of the result at home
    int64_t taken;         // by copies that were made last
    int64_t per_rank;
    Processor *processors;
    void *space; // for contractions; NULL where there are none
    int threads; // for which there is workspace memory
    char **rows; // by number, that of one thread after the other
    const int64_t *row_bytes;
    int row_count;
    int zeroed_count;
    Storage *const *zeroed;
    Result result;
    MPI_Comm all;
};

// An execution that is being put together, on the rank `rank`.
typedef struct {
    const ExecutionParts *parts;
    Communicators *communicators;
    int rank;
    distal_execution *execution;
    bool new_groups; // some have no communicator yet
    bool prepared;
    Diagnostics *diagnostics;
    bool ok;
} Assembly;

static bool no_memory(const Assembly *assembly) {
    return diagnostics_error(assembly->diagnostics, (Span){0}, "rank %d has not enough memory",
                             assembly->rank);
}

static void find_processors(const Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    const ExecutionParts *parts = assembly->parts;
    execution->per_rank = parts->per_rank;
    execution->processors = arena_array(execution->arena, Processor, parts->per_rank);
    for (int64_t i = 0; i < parts->per_rank; i++) {
        const int64_t index = assembly->rank * parts->per_rank + i;
        execution->processors[i].exists = index < parts->processors;
        execution->processors[i].values = arena_copy(execution->arena, &parts->values[i * parts->value_count],
                                                     sizeof(int64_t) * (size_t)parts->value_count);
    }
}

static bool note_groups(Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    for (int64_t g = 0; g < parts->group_count; g++)
        if (ranks_contain(parts->groups[g].ranks, parts->groups[g].count, assembly->rank) &&
            !communicators_note(assembly->communicators, &parts->groups[g], &assembly->new_groups))
            return no_memory(assembly);
    return true;
}

static bool prepare_transfers(Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    assembly->prepared = true;
    for (int t = 0; t < execution->transfer_count; t++)
        if (!transfer_prepare(&execution->transfers[t], assembly->parts->groups, assembly->communicators,
                              assembly->diagnostics))
            return false;
    return true;
}

// Before anything is computed: the library would not say that it lacks memory.
static bool reserve_library(const Assembly *assembly) {
    int64_t bytes;
    return blas_reserve(&bytes) ||
           diagnostics_error(
               assembly->diagnostics, (Span){0},
               "rank %d cannot have the %" PRId64
               " MiB that the threads of the BLAS take; raise the limits of the process (ulimit -v, "
               "ulimit -d) or use fewer threads",
               assembly->rank, bytes >> 20);
}

// The memory of row workspaces, for as many threads as there may be.
static bool allocate_rows(Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    const ExecutionParts *parts = assembly->parts;
    execution->threads = omp_get_max_threads();
    execution->row_bytes =
        arena_copy(execution->arena, parts->row_bytes, sizeof *parts->row_bytes * (size_t)parts->row_count);
    execution->rows = arena_array(execution->arena, char *, parts->row_count);
    while (execution->row_count < parts->row_count) {
        const int64_t bytes = parts->row_bytes[execution->row_count];
        int64_t all;
        char *row = NULL;
        if (checked_mul(bytes, execution->threads, &all))
            row = memory_kind(MEMORY_HOST)->allocate(all);
        if (!row)
            return no_memory(assembly);
        memset(row, 0, (size_t)all); // those of values stay zero between their uses
        execution->rows[execution->row_count++] = row;
    }
    return true;
}

// The storages that the kernel uses, where these are not those of the homes.
static bool create_copies(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    distal_execution *execution = assembly->execution;
    execution->copies = arena_array(execution->arena, EntryCopy *, parts->transfer_count);
    execution->copy_count = parts->transfer_count;
    execution->target = parts->target;
    execution->result_transfer = -1;
    for (int t = 0; t < parts->transfer_count; t++) {
        const Transfer *transfer = parts->transfers[t]->transfer;
        const Tensor *tensor = transfer->access->tensor;
        const bool moves = parts->plan && parts->plan->moves[t];
        if (transfer->kind == TRANSFER_REDUCE && moves && !execution->home) {
            execution->home = result_home_create(parts->plan, parts->target, parts->adds);
            if (!execution->home)
                return no_memory(assembly);
            execution->result_transfer = t;
        }
        if (transfer->kind == TRANSFER_REDUCE || (!moves && tensor == transfer->statement_access->tensor))
            continue;
        execution->copies[t] = entry_copy_create(parts->plan, t, tensor, parts->storages[t]);
        if (!execution->copies[t])
            return no_memory(assembly);
    }
    return true;
}

static Storage *storage_of(const Assembly *assembly, int transfer) {
    const distal_execution *execution = assembly->execution;
    if (execution->copies[transfer])
        return entry_copy_storage(execution->copies[transfer]);
    if (execution->home && assembly->parts->transfers[transfer]->transfer->kind == TRANSFER_REDUCE &&
        assembly->parts->plan->moves[transfer])
        return result_home_computed(execution->home);
    return assembly->parts->storages[transfer];
}

// What the kernel uses of a tensor of the statement, which may be NULL.
static Storage *used_storage(const Assembly *assembly, TransferKind kind, const Tensor *tensor) {
    const ExecutionParts *parts = assembly->parts;
    for (int t = 0; tensor && t < parts->transfer_count; t++) {
        const Transfer *transfer = parts->transfers[t]->transfer;
        if (transfer->kind == kind && transfer->statement_access->tensor->id == tensor->id)
            return storage_of(assembly, t);
    }
    return NULL;
}

// The structure of the result depends on what is read.
static void describe_result(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    distal_execution *execution = assembly->execution;
    Storage **operands = arena_array(execution->arena, Storage *, parts->transfer_count);
    int count = 0;
    for (int t = 0; t < parts->transfer_count; t++)
        if (parts->transfers[t]->transfer->kind == TRANSFER_FETCH)
            operands[count++] = parts->storages[t];
    execution->result = (Result){.kind = parts->result,
                                 .adds = parts->adds && !execution->home,
                                 .target = used_storage(assembly, TRANSFER_REDUCE, parts->target_tensor),
                                 .shared = used_storage(assembly, TRANSFER_FETCH, parts->shared_tensor),
                                 .operand_count = count,
                                 .operands = operands,
                                 .known = arena_array(execution->arena, Structure *, count)};
}

// Fetches of what entries name, with the operands that these are of.
static bool create_indexed(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    for (int t = 0; parts->plan && t < parts->transfer_count; t++) {
        const int by = transfer_indexed_by(parts->plan, t);
        if (by < 0)
            continue;
        TransferState *state = &assembly->execution->transfers[t];
        if (assembly->execution->copies[t]) {
            entry_copy_set_index(assembly->execution->copies[t], storage_of(assembly, by));
            continue;
        }
        state->indexed = indexed_fetch_create(parts->plan, t, parts->storages[t], storage_of(assembly, by));
        if (!state->indexed)
            return no_memory(assembly);
    }
    return true;
}

static bool allocate_parts(Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    const ExecutionParts *parts = assembly->parts;
    execution->zeroed_count = parts->zeroed_count;
    execution->zeroed = parts->zeroed;
    execution->all = communicators_all(assembly->communicators);
    find_processors(assembly);
    if (!create_copies(assembly))
        return false;
    describe_result(assembly);
    if (parts->calls_library && !reserve_library(assembly))
        return false;
    if (parts->contracts) {
        execution->space = malloc(contraction_space());
        if (!execution->space)
            return no_memory(assembly);
    }
    if (!allocate_rows(assembly))
        return false;
    execution->transfers = arena_array(execution->arena, TransferState, parts->transfer_count);
    while (execution->transfer_count < parts->transfer_count) {
        const int t = execution->transfer_count++;
        if (!transfer_allocate(&execution->transfers[t], parts->transfers[t], storage_of(assembly, t),
                               execution->arena, assembly->diagnostics))
            return false;
    }
    return create_indexed(assembly) && note_groups(assembly);
}

// Everything at once where all groups have their communicators, which is so for a plan like one before.
static void assemble_all(void *arguments) {
    Assembly *assembly = arguments;
    assembly->ok = allocate_parts(assembly) && (assembly->new_groups || prepare_transfers(assembly));
}

static void assemble_rest(void *arguments) {
    Assembly *assembly = arguments;
    assembly->ok = assembly->prepared || prepare_transfers(assembly);
}

// Memory of the execution's arena may run out in either part.
static bool attempt(Assembly *assembly, void (*part)(void *arguments), Diagnostics *diagnostics) {
    assembly->diagnostics = diagnostics;
    if (!arena_attempt(assembly->execution->arena, part, assembly))
        return no_memory(assembly);
    return assembly->ok;
}

static bool first_part(void *arguments, Diagnostics *diagnostics) {
    Assembly *assembly = arguments;
    assembly->diagnostics = diagnostics;
    if (!assembly->parts)
        return false;
    distal_execution *execution = assembly->execution = calloc(1, sizeof *execution);
    if (execution)
        execution->arena = arena_create();
    return execution && execution->arena ? attempt(assembly, assemble_all, diagnostics) : no_memory(assembly);
}

static bool second_part(void *arguments, Diagnostics *diagnostics) {
    return attempt(arguments, assemble_rest, diagnostics);
}

distal_execution *execution_assemble(const ExecutionParts *parts, Communicators *communicators,
                                     Diagnostics *diagnostics) {
    const MPI_Comm all = communicators_all(communicators);
    Assembly assembly = {.parts = parts, .communicators = communicators};
    MPI_Comm_rank(all, &assembly.rank);
    bool ok = agree_on_part_and_any(all, first_part, &assembly, &assembly.new_groups, diagnostics);
    if (!ok)
        communicators_forget(communicators);
    if (ok && assembly.new_groups) {
        communicators_complete(communicators);
        ok = agree_on_part(all, second_part, &assembly, diagnostics);
    }
    if (ok)
        return assembly.execution;
    execution_free(assembly.execution);
    return NULL;
}

ExecutionParts execution_parts(StatementPlan *plan, int64_t rank) {
    const int count = plan->spmd->transfer_count;
    const RankTransfer **transfers = arena_array(plan->arena, const RankTransfer *, count);
    for (int t = 0; t < count; t++)
        transfers[t] = plan_rank_transfer(plan, t, rank);
    const Tensor **zeroed = arena_array(plan->arena, const Tensor *, plan->spmd->nest_count);
    const int zeroed_count = plan_rank_zeroed(plan, transfers, zeroed);
    int64_t *row_bytes = arena_array(plan->arena, int64_t, plan->spmd->row_count);
    for (int r = 0; r < plan->spmd->row_count; r++)
        row_bytes[r] = plan_row_bytes(plan, &plan->spmd->rows[r]);
    const int value_count = processor_value_count(plan);
    int64_t *values = arena_array(plan->arena, int64_t, plan->per_rank * value_count);
    for (int64_t i = 0; i < plan->per_rank; i++)
        processor_values(plan, rank, i, &values[i * value_count]);
    // The groups last: they are complete once all transfers have been planned.
    return (ExecutionParts){.transfer_count = count,
                            .transfers = transfers,
                            .group_count = plan->groups.count,
                            .groups = plan->groups.items,
                            .processors = plan->processors,
                            .per_rank = plan->per_rank,
                            .values = values,
                            .value_count = value_count,
                            .calls_library = plan->spmd->calls_library,
                            .contracts = plan->spmd->contracts,
                            .row_count = plan->spmd->row_count,
                            .row_bytes = row_bytes,
                            .zeroed_count = zeroed_count,
                            .zeroed_tensors = zeroed,
                            .result = plan->spmd->result,
                            .adds = plan->spmd->cin->assignment->accumulate,
                            .plan = plan,
                            .target_tensor = plan->target,
                            .shared_tensor = plan->spmd->shared ? plan->spmd->shared->tensor : NULL};
}

void execution_bind(ExecutionParts *parts, const StatementPlan *plan, Storage *const *storages,
                    Arena *arena) {
    Storage **used = arena_array(arena, Storage *, parts->transfer_count);
    for (int t = 0; t < parts->transfer_count; t++)
        used[t] = storages[plan->spmd->transfers[t].access->tensor->id];
    Storage **zeroed = arena_array(arena, Storage *, parts->zeroed_count);
    for (int i = 0; i < parts->zeroed_count; i++)
        zeroed[i] = storages[parts->zeroed_tensors[i]->id];
    parts->storages = used;
    parts->zeroed = zeroed;
    parts->target = storages[parts->target_tensor->id];
}

distal_execution *execution_create(StatementPlan *plan, Storage *const *storages,
                                   Communicators *communicators, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(communicators_all(communicators), &rank);
    ExecutionParts parts = execution_parts(plan, rank);
    execution_bind(&parts, plan, storages, plan->arena);
    return execution_assemble(&parts, communicators, diagnostics);
}

void execution_free(distal_execution *execution) {
    if (!execution)
        return;
    for (int t = 0; t < execution->transfer_count; t++)
        transfer_free(&execution->transfers[t]);
    for (int t = 0; t < execution->copy_count; t++)
        entry_copy_free(execution->copies[t]);
    free(execution->space);
    for (int r = 0; r < execution->row_count; r++)
        memory_release(MEMORY_HOST, execution->rows[r]);
    result_free(&execution->result);
    result_home_free(execution->home);
    arena_free(execution->arena);
    free(execution);
}

static bool lacks_structure(const Storage *storage) {
    return tensor_is_sparse(storage->home->tensor) && !storage->structure;
}

bool execution_is_structured(const distal_execution *execution) {
    const Result *result = &execution->result;
    for (int i = 0; i < result->operand_count; i++)
        if (lacks_structure(result->operands[i]))
            return false;
    for (int t = 0; t < execution->transfer_count; t++)
        if ((execution->copies[t] && !entry_copy_is_known(execution->copies[t])) ||
            (execution->transfers[t].indexed && !indexed_fetch_is_known(execution->transfers[t].indexed)))
            return false;
    return result_is_known(result) && (!execution->home || result_home_is_known(execution->home));
}

// A tensor that nothing has been put in yet has no entries.
static bool put_nothing(Storage *storage, Diagnostics *diagnostics) {
    Entries none = storage_no_entries(storage);
    return !lacks_structure(storage) || sparse_put_entries(storage, &none, diagnostics);
}

static bool begin_operands(void *arguments, Diagnostics *diagnostics) {
    const Result *result = &((distal_execution *)arguments)->result;
    for (int i = 0; i < result->operand_count; i++)
        if (!put_nothing(result->operands[i], diagnostics))
            return false;
    return true;
}

static bool begin_result(void *arguments, Diagnostics *diagnostics) {
    distal_execution *execution = arguments;
    if (execution->home)
        execution->result.target->limit = execution->target->limit;
    if (execution->result.target)
        execution->result.target->limit -= execution->taken;
    return result_begin(&execution->result, diagnostics);
}

static bool finish_result(void *arguments, Diagnostics *diagnostics) {
    distal_execution *execution = arguments;
    bool ok = result_finish(&execution->result, diagnostics);
    for (int t = 0; ok && t < execution->transfer_count; t++)
        ok = transfer_allocate_copies(&execution->transfers[t], diagnostics);
    return ok;
}

// Copies of operands, and after them what their entries name. Structures are new on all ranks alike. What new
// copies take is missing for those that follow, and for the result.
static bool find_operands(distal_execution *execution, Diagnostics *diagnostics) {
    execution->taken = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < execution->transfer_count; t++) {
            EntryCopy *copy = execution->copies[t];
            if (!copy || entry_copy_is_indexed(copy) != pass || entry_copy_is_known(copy))
                continue;
            if (!entry_copy_make(copy, execution->taken, execution->all, diagnostics))
                return false;
            execution->taken = saturated_add(execution->taken, entry_copy_bytes(copy));
        }
    for (int t = 0; t < execution->transfer_count; t++) {
        IndexedFetch *fetch = execution->transfers[t].indexed;
        if (fetch && !indexed_fetch_is_known(fetch) &&
            !indexed_fetch_find(fetch, execution->all, diagnostics))
            return false;
    }
    return true;
}

// What one rank moves in a transfer, and the bytes of its copy and of buffers for that.
typedef struct {
    Cost cost;
    int64_t structure_bytes, buffer_bytes;
} Moved;

// False where that does not depend on structures.
static bool find_moved(const distal_execution *execution, int transfer, Moved *moved) {
    const TransferState *state = &execution->transfers[transfer];
    const int64_t size = (int64_t)type_info(state->scope.storage->type)->size;
    if (state->indexed) {
        const ValueExchange *values = indexed_fetch_values(state->indexed);
        *moved = (Moved){value_exchange_received(values), 0, value_exchange_buffer(values) * size};
        return true;
    }
    if (execution->copies[transfer]) {
        const EntryMove *move = entry_copy_move(execution->copies[transfer]);
        *moved = (Moved){value_exchange_received(&move->values), move->coordinate_bytes_received,
                         entry_copy_bytes(execution->copies[transfer])};
        return true;
    }
    if (transfer != execution->result_transfer)
        return false;
    const EntryMove *move = result_home_move(execution->home);
    *moved = (Moved){value_exchange_sent(&move->values), move->coordinate_bytes_sent,
                     result_home_bytes(execution->home)};
    return true;
}

int64_t execution_structure_bytes(const distal_execution *execution, int transfer) {
    Moved moved;
    return find_moved(execution, transfer, &moved) ? moved.structure_bytes : 0;
}

void execution_count_entries(const distal_execution *execution, StatementPlan *plan, Arena *arena) {
    int rank;
    MPI_Comm_rank(execution->all, &rank);
    for (int t = 0; t < execution->transfer_count; t++) {
        Moved moved;
        int64_t *figures[4];
        if (!find_moved(execution, t, &moved))
            continue;
        const int64_t own[4] = {moved.cost.elements, moved.cost.messages, moved.structure_bytes,
                                moved.buffer_bytes};
        for (int f = 0; f < 4; f++) {
            figures[f] = arena_array(arena, int64_t, plan->ranks);
            figures[f][rank] = own[f];
            all_reduce(figures[f], (int)plan->ranks, MPI_INT64_T, MPI_SUM, execution->all);
        }
        plan_count_entries(plan, t, (EntryFigures){figures[0], figures[1], figures[2], figures[3]});
    }
}

static void reset_transfers(distal_execution *execution) {
    for (int t = 0; t < execution->transfer_count; t++)
        transfer_reset(&execution->transfers[t]);
}

bool execution_structure(distal_execution *execution, distal_kernel_function structure, const int64_t *params,
                         Diagnostics *diagnostics) {
    if (!agree_on_part(execution->all, begin_operands, execution, diagnostics) ||
        !find_operands(execution, diagnostics))
        return false;
    if (!result_is_known(&execution->result)) {
        if (!agree_on_part(execution->all, begin_result, execution, diagnostics))
            return false;
        if (execution->result.kind == RESULT_ASSEMBLED) {
            reset_transfers(execution);
            structure(execution, params);
        }
        if (!agree_on_part(execution->all, finish_result, execution, diagnostics))
            return false;
    }
    return !execution->home || result_home_is_known(execution->home) ||
           result_home_make(execution->home, execution->all, diagnostics);
}

void distal_append(distal_execution *execution, int transfer, const int64_t *coordinates) {
    (void)transfer; // that of the result
    result_append(&execution->result, coordinates);
}

distal_list *distal_begin_portion(distal_execution *execution, int transfer, int64_t portion) {
    (void)transfer;
    return appender_begin(execution->result.appender, portion);
}

void distal_end_portion(distal_execution *execution, int transfer, int64_t portion) {
    (void)transfer;
    appender_end(execution->result.appender, portion);
}

distal_set *distal_row_set(distal_execution *execution, int transfer) {
    (void)transfer;
    return appender_set(execution->result.appender);
}

// Entries move before the kernel and after it.
static void count_moved(distal_execution *execution, int transfer) {
    CallScope *scope = &execution->transfers[transfer].scope;
    Moved moved;
    if (!find_moved(execution, transfer, &moved))
        return;
    scope->bytes += moved.cost.elements * (int64_t)type_info(scope->storage->type)->size;
    scope->messages += moved.cost.messages;
}

void execution_run(distal_execution *execution, distal_kernel_function kernel, const int64_t *params) {
    for (int i = 0; i < execution->zeroed_count; i++)
        storage_zero(execution->zeroed[i]);
    reset_transfers(execution);
    for (int t = 0; t < execution->transfer_count; t++)
        if (execution->copies[t]) {
            entry_copy_refresh(execution->copies[t]);
            count_moved(execution, t);
        }
    if (execution->home)
        result_home_begin(execution->home);
    kernel(execution, params);
    if (execution->home) {
        result_home_bring(execution->home);
        count_moved(execution, execution->result_transfer);
    }
}

int64_t execution_bytes(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.bytes;
}

int64_t execution_messages(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.messages;
}

int64_t distal_processor_count(const distal_execution *execution) {
    return execution->per_rank;
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    return execution->processors[index].values;
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    return execution->processors[index].exists;
}

void *distal_space(const distal_execution *execution) {
    return execution->space;
}

int distal_workspace_threads(const distal_execution *execution) {
    const int now = omp_get_max_threads();
    return now < execution->threads ? now : execution->threads;
}

void *distal_workspace(const distal_execution *execution, int workspace, int thread) {
    return execution->rows[workspace] + thread * execution->row_bytes[workspace];
}

void distal_start(distal_execution *execution, int transfer) {
    transfer_start(&execution->transfers[transfer]);
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    transfer_wait(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

const distal_view *distal_fetch(distal_execution *execution, int transfer) {
    transfer_fetch(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

const distal_view *distal_accumulate(distal_execution *execution, int transfer) {
    transfer_accumulate(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

void distal_reduce(distal_execution *execution, int transfer) {
    transfer_reduce(&execution->transfers[transfer]);
}

int distal_thread_count(const distal_execution *execution, int transfer) {
    const int most = execution->transfers[transfer].copies.count + 1, now = omp_get_max_threads();
    return now < most ? now : most;
}

void *distal_thread_copy(distal_execution *execution, int transfer, int thread) {
    TransferState *state = &execution->transfers[transfer];
    return copies_take(&state->copies, &state->scope.view, thread);
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    TransferState *state = &execution->transfers[transfer];
    copies_merge(&state->copies, &state->scope.view);
}
