// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/execution.h"

#include "base/integer.h"
#include "memory/device.h"
#include "memory/memory.h"
#include "plan/indexed.h"
#include "plan/ranks.h"
#include "runtime/agreement.h"
#include "runtime/blas_memory.h"
#include "runtime/contraction.h"
#include "runtime/execution_data.h"
#include "runtime/gpu_sums.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

// An execution while it is created, on the rank `rank`.
typedef struct {
    const ExecutionParts *parts;
    Communicators *communicators;
    int rank;
    distal_execution *execution;
    bool incomplete; // some group is not complete yet, or homes of neighbours have to be mapped
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
    execution->per_rank = execution->count = parts->per_rank;
    execution->processors = parts->processors - assembly->rank * parts->per_rank;
    execution->value_count = parts->value_count;
    execution->values = arena_copy(execution->arena, parts->values,
                                   sizeof(int64_t) * (size_t)(parts->per_rank * parts->value_count));
}

// Sets those whose members add up in memory of their GPUs.
static void find_gpu_sums(const ExecutionParts *parts, bool *sums_on_gpus) {
    for (int t = 0; t < parts->transfer_count; t++) {
        const RankTransfer *transfer = parts->transfers[t];
        for (int64_t i = 0; i < transfer->operation_count; i++)
            if (gpu_sums_combine(transfer, &transfer->operations[i]))
                sums_on_gpus[transfer->operations[i].group] = true;
    }
}

static bool note_groups(Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    bool *sums_on_gpus = arena_array(assembly->execution->arena, bool, parts->group_count);
    find_gpu_sums(parts, sums_on_gpus);
    for (int64_t g = 0; g < parts->group_count; g++)
        if (ranks_contain(parts->groups[g].ranks, parts->groups[g].count, assembly->rank) &&
            !communicators_note(assembly->communicators, &parts->groups[g], sums_on_gpus[g],
                                &assembly->incomplete))
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

// The memory of row workspaces and of contractions, for as many threads as there may be.
static bool allocate_rows(Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    const ExecutionParts *parts = assembly->parts;
    execution->threads = omp_get_max_threads();
    if (parts->contracts) {
        execution->space = memory_host.allocate(contraction_space(execution->threads));
        if (!execution->space)
            return no_memory(assembly);
    }
    execution->row_bytes =
        arena_copy(execution->arena, parts->row_bytes, sizeof *parts->row_bytes * (size_t)parts->row_count);
    if (parts->row_counts)
        execution->row_counts = arena_copy(execution->arena, parts->row_counts,
                                           sizeof *parts->row_counts * (size_t)parts->row_count);
    execution->rows = arena_array(execution->arena, char *, parts->row_count);
    while (execution->row_count < parts->row_count) {
        const int r = execution->row_count;
        int64_t all;
        char *row = NULL;
        if (checked_mul(parts->row_bytes[r], parts->row_counts ? parts->row_counts[r] : execution->threads,
                        &all))
            row = memory_kind(parts->row_counts ? MEMORY_GPU : MEMORY_HOST)->allocate(all);
        if (!row)
            return no_memory(assembly);
        if (!parts->row_counts)
            memset(row, 0, (size_t)all); // those of values stay zero between their uses
        execution->rows[execution->row_count++] = row;
    }
    return true;
}

static bool is_computed(const ExecutionParts *parts, const Storage *storage) {
    for (int s = 0; s < parts->stage_count; s++)
        if (parts->stages[s].target == storage)
            return true;
    return false;
}

// Whether the entries of a sparse tensor move in a transfer.
static bool moves_entries(const ExecutionParts *parts, int transfer) {
    return parts->plan && parts->plan->moves[transfer];
}

// The storages that the kernel uses, where these are not those of the homes.
static bool create_copies(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    distal_execution *execution = assembly->execution;
    execution->copies = arena_array(execution->arena, EntryCopy *, parts->transfer_count);
    execution->copy_count = parts->transfer_count;
    for (int t = 0; t < parts->transfer_count; t++) {
        const Transfer *transfer = parts->transfers[t]->transfer;
        const Tensor *tensor = transfer->access->tensor;
        const bool moves = moves_entries(parts, t);
        ExecutionStage *stage = &execution->stages[transfer->stage];
        if (transfer->kind == TRANSFER_REDUCE && moves && !stage->result_home) {
            const StageParts *from = &parts->stages[transfer->stage];
            stage->result_home =
                result_home_create(parts->plan, from->target_tensor, from->target, from->adds);
            if (!stage->result_home)
                return no_memory(assembly);
            stage->result_transfer = t;
        }
        if (transfer->kind == TRANSFER_REDUCE || (!moves && tensor == transfer->statement_access->tensor))
            continue;
        execution->copies[t] = entry_copy_create(parts->plan, t, tensor, parts->storages[t],
                                                 is_computed(parts, parts->storages[t]));
        if (!execution->copies[t])
            return no_memory(assembly);
    }
    return true;
}

static Storage *storage_of(const Assembly *assembly, int transfer) {
    const distal_execution *execution = assembly->execution;
    if (execution->copies[transfer])
        return entry_copy_storage(execution->copies[transfer]);
    const Transfer *of = assembly->parts->transfers[transfer]->transfer;
    const ExecutionStage *stage = &execution->stages[of->stage];
    if (stage->result_home && of->kind == TRANSFER_REDUCE && moves_entries(assembly->parts, transfer))
        return result_home_computed(stage->result_home);
    return assembly->parts->storages[transfer];
}

// The transfer by which the kernel uses a tensor, which may be NULL, in a stage: in nest `nest` where it is
// used there, as other nests may use other parts. -1: there is none.
static int transfer_used(const Assembly *assembly, int stage, TransferKind kind, const Tensor *tensor,
                         int nest) {
    const ExecutionParts *parts = assembly->parts;
    int found = -1;
    for (int t = 0; tensor && t < parts->transfer_count; t++) {
        const Transfer *transfer = parts->transfers[t]->transfer;
        if (transfer->stage == stage && transfer->kind == kind &&
            transfer->statement_access->tensor->id == tensor->id && (found < 0 || transfer->nest == nest))
            found = t;
    }
    return found;
}

// The structure of the result depends on what is read.
static void describe_result(const Assembly *assembly, int number) {
    const ExecutionParts *parts = assembly->parts;
    distal_execution *execution = assembly->execution;
    const StageParts *from = &parts->stages[number];
    ExecutionStage *stage = &execution->stages[number];
    Storage **operands = arena_array(execution->arena, Storage *, parts->transfer_count);
    int count = 0;
    for (int t = 0; t < parts->transfer_count; t++)
        if (parts->transfers[t]->transfer->kind == TRANSFER_FETCH &&
            parts->transfers[t]->transfer->stage == number)
            operands[count++] = parts->storages[t];
    const int target = transfer_used(assembly, number, TRANSFER_REDUCE, from->target_tensor, -1);
    const int writer = target < 0 ? -1 : parts->transfers[target]->transfer->nest;
    const int shared = transfer_used(assembly, number, TRANSFER_FETCH, from->shared_tensor, writer);
    stage->target = from->target;
    stage->result = (Result){.kind = from->result,
                             .adds = from->adds && !stage->result_home,
                             .target = target < 0 ? NULL : storage_of(assembly, target),
                             .shared = shared < 0 ? NULL : storage_of(assembly, shared),
                             .converts = parts->converts,
                             .operand_count = count,
                             .operands = operands,
                             .known = arena_array(execution->arena, Structure *, count)};
}

// Indexed fetches, and copies of operands that another operand indexes.
static bool create_indexed(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    for (int t = 0; t < parts->transfer_count; t++) {
        const Transfer *transfer = parts->transfers[t]->transfer;
        if (transfer->kind == TRANSFER_FETCH && transfer->indexing >= 0)
            assembly->execution->transfers[t].by = storage_of(assembly, transfer->indexing);
        if (parts->plan && transfer_overlaps(transfer))
            assembly->execution->transfers[t].leaf = parts->plan->spmd->nests[transfer->nest].inside;
        const int by = parts->plan ? transfer_indexed_by(parts->plan, t) : -1;
        TransferState *state = &assembly->execution->transfers[t];
        if (assembly->execution->copies[t] && state->reading)
            entry_copy_share(assembly->execution->copies[t], state->scope.plan, state->reading);
        if (by < 0)
            continue;
        if (assembly->execution->copies[t]) {
            entry_copy_set_index(assembly->execution->copies[t], storage_of(assembly, by));
            continue;
        }
        state->indexed = indexed_fetch_create(parts->plan, t, parts->storages[t], storage_of(assembly, by));
        if (!state->indexed)
            return no_memory(assembly);
        if (state->reading)
            indexed_fetch_read(state->indexed, state->scope.plan, state->neighbours, state->reading);
    }
    return true;
}

static void find_positions(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    distal_execution *execution = assembly->execution;
    execution->positions = arena_array(execution->arena, ProcessorPositions, parts->position_part_count);
    execution->position_part_count = parts->position_part_count;
    for (int64_t p = 0; p < parts->position_part_count; p++)
        execution->positions[p] = (ProcessorPositions){
            parts->position_parts[p], storage_of(assembly, parts->position_parts[p].transfer), NULL};
}

// Where something is read ahead or written behind.
static bool create_queue(const Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    bool needed = false;
    for (int t = 0; t < execution->transfer_count; t++)
        needed = needed || (assembly->parts->transfers[t]->pipelined &&
                            assembly->parts->storages[t]->home->memory == MEMORY_DISK);
    if (!needed)
        return true;
    execution->queue = io_queue_create();
    for (int t = 0; t < execution->transfer_count; t++)
        execution->transfers[t].queue =
            assembly->parts->storages[t]->home->memory == MEMORY_DISK ? execution->queue : NULL;
    return execution->queue || no_memory(assembly);
}

// Where messages of a step are under way while the leaf computes the one before.
static bool create_progress(const Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    bool needed = false;
    for (int t = 0; t < execution->transfer_count; t++)
        needed = needed || assembly->parts->transfers[t]->pipelined;
    if (!needed || !communicators_need_progress(assembly->communicators))
        return true;
    execution->progress = progress_create();
    return execution->progress || no_memory(assembly);
}

// What neighbours read; the same ranks of a node have it.
static bool create_reading(Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    distal_execution *execution = assembly->execution;
    Neighbours *neighbours = communicators_neighbours(assembly->communicators);
    bool reads = false;
    for (int t = 0; t < parts->transfer_count; t++)
        reads = reads || transfer_needs_neighbours(parts->transfers[t]);
    if (!reads || !neighbours_are_there(neighbours))
        return true;
    const size_t size = sizeof(void *) * (size_t)parts->transfer_count;
    SharedBlock *partial = arena_array(execution->arena, SharedBlock, parts->transfer_count);
    for (int t = 0; t < parts->transfer_count; t++)
        partial[t] = execution->transfers[t].partial;
    execution->reading = reading_create(neighbours, parts->transfer_count,
                                        arena_copy(execution->arena, parts->transfers, size),
                                        arena_copy(execution->arena, parts->storages, size), partial);
    if (!execution->reading)
        return no_memory(assembly);
    assembly->incomplete = assembly->incomplete || reading_is_needed(execution->reading);
    for (int t = 0; t < parts->transfer_count; t++)
        if (transfer_needs_neighbours(parts->transfers[t]))
            execution->transfers[t].reading = execution->reading;
    return true;
}

// Copies of a leaf on a GPU are in streams of their own where no other transfer changes what they copy, or,
// of results, uses it.
static void find_streams(const Assembly *assembly) {
    const ExecutionParts *parts = assembly->parts;
    for (int t = 0; t < parts->transfer_count; t++) {
        const bool fetches = parts->transfers[t]->transfer->kind == TRANSFER_FETCH;
        bool alone = fetches || storage_of(assembly, t)->home->memory != MEMORY_GPU;
        for (int other = 0; other < parts->transfer_count; other++)
            alone = alone && (other == t || storage_of(assembly, other) != storage_of(assembly, t) ||
                              (fetches && parts->transfers[other]->transfer->kind == TRANSFER_FETCH));
        assembly->execution->transfers[t].streams = alone;
    }
}

static bool allocate_parts(Assembly *assembly) {
    distal_execution *execution = assembly->execution;
    const ExecutionParts *parts = assembly->parts;
    execution->converts = parts->converts;
    execution->cleared_count = parts->cleared_count;
    execution->cleared = parts->cleared;
    execution->all = communicators_all(assembly->communicators);
    find_processors(assembly);
    execution->stage_count = parts->stage_count ? parts->stage_count : 1;
    execution->stages = arena_array(execution->arena, ExecutionStage, execution->stage_count);
    for (int s = 0; s < execution->stage_count; s++)
        execution->stages[s].result_transfer = -1;
    execution->old = parts->old;
    execution->updated = parts->updated;
    if (!create_copies(assembly))
        return false;
    for (int s = 0; s < parts->stage_count; s++)
        describe_result(assembly, s);
    for (int t = 0; t < execution->copy_count && parts->converts; t++)
        if (execution->copies[t])
            entry_copy_put_values(execution->copies[t], execution->stages[0].result.target);
    if (parts->calls_library && !reserve_library(assembly))
        return false;
    if (!allocate_rows(assembly))
        return false;
    execution->io = arena_array(execution->arena, IoCounts, parts->transfer_count);
    for (int t = 0; t < parts->transfer_count; t++) {
        const MemoryId memory = parts->storages[t]->home->memory;
        execution->in_disk = execution->in_disk || memory == MEMORY_DISK;
        execution->in_host = execution->in_host || memory != MEMORY_GPU;
    }
    execution->transfers = arena_array(execution->arena, TransferState, parts->transfer_count);
    while (execution->transfer_count < parts->transfer_count) {
        const int t = execution->transfer_count++;
        if (!transfer_allocate(&execution->transfers[t], parts->transfers[t], storage_of(assembly, t),
                               parts->plan && parts->plan->spmd->on_gpu, execution->arena,
                               assembly->diagnostics))
            return false;
    }
    if (!create_queue(assembly) || !create_progress(assembly) || !create_reading(assembly))
        return false;
    if (parts->plan && parts->plan->spmd->on_gpu) {
        execution->gpu_scratch = memory_gpu.allocate(DEVICE_SCRATCH);
        if (parts->plan->spmd->gpu_contracts)
            execution->gpu_space = memory_gpu.allocate(DEVICE_SPACE);
        if (!execution->gpu_scratch || (parts->plan->spmd->gpu_contracts && !execution->gpu_space))
            return no_memory(assembly);
        find_streams(assembly);
    }
    find_positions(assembly);
    return create_indexed(assembly) && note_groups(assembly);
}

// Everything at once where all groups are complete, which is so for a plan like one before.
static void assemble_all(void *arguments) {
    Assembly *assembly = arguments;
    assembly->ok = allocate_parts(assembly) && (assembly->incomplete || prepare_transfers(assembly));
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
    Assembly *assembly = arguments;
    assembly->diagnostics = diagnostics;
    if (device_current() && !device_check(diagnostics)) // as where GPUs could not be joined
        return false;
    if (assembly->execution->reading && !reading_map(assembly->execution->reading))
        return reading_refuse_map(assembly->execution->reading, diagnostics);
    return attempt(assembly, assemble_rest, diagnostics);
}

distal_execution *execution_assemble(const ExecutionParts *parts, Communicators *communicators,
                                     Diagnostics *diagnostics) {
    const MPI_Comm all = communicators_all(communicators);
    Assembly assembly = {.parts = parts, .communicators = communicators};
    MPI_Comm_rank(all, &assembly.rank);
    bool ok = agree_on_part_and_any(all, first_part, &assembly, &assembly.incomplete, diagnostics);
    if (!ok)
        communicators_forget(communicators);
    if (ok && assembly.incomplete) {
        communicators_complete(communicators);
        if (assembly.execution->reading)
            reading_exchange(assembly.execution->reading);
        ok = agree_on_part(all, second_part, &assembly, diagnostics);
    }
    if (ok)
        return assembly.execution;
    execution_free(assembly.execution);
    return NULL;
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
    if (execution->begun > 0 && device_current())
        device_current()->wait(execution->begun);
    io_queue_free(execution->queue);
    progress_free(execution->progress);
    reading_free(execution->reading);
    for (int t = 0; t < execution->transfer_count; t++)
        transfer_free(&execution->transfers[t]);
    for (int t = 0; t < execution->copy_count; t++)
        entry_copy_free(execution->copies[t]);
    for (int64_t p = 0; p < execution->position_part_count; p++)
        structure_hold(&execution->positions[p].of, NULL);
    memory_host.release(execution->space);
    memory_gpu.release(execution->gpu_scratch);
    memory_gpu.release(execution->gpu_space);
    for (int r = 0; r < execution->row_count; r++)
        memory_release(execution->row_counts ? MEMORY_GPU : MEMORY_HOST, execution->rows[r]);
    for (int s = 0; execution->stages && s < execution->stage_count; s++) {
        result_free(&execution->stages[s].result);
        result_home_free(execution->stages[s].result_home);
    }
    arena_free(execution->arena);
    free(execution);
}
