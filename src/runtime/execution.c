// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/execution.h"

#include "plan/ranks.h"
#include "runtime/contraction.h"
#include "runtime/transfer.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>

typedef struct {
    int64_t coordinates[MAX_MACHINE_ORDER];
    bool exists;
} Processor;

struct distal_execution {
    MPI_Comm comm;
    int64_t group_count;
    MPI_Comm *groups; // by group, MPI_COMM_NULL where this rank is no member
    int transfer_count;
    TransferState *transfers;
    int64_t per_rank;
    Processor *processors;
    void *space; // for contractions; NULL where there are none
    int zeroed_count;
    Storage *const *zeroed;
};

static bool no_memory(int64_t rank, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "rank %" PRId64 " has not enough memory", rank);
}

static bool allocate_parts(distal_execution *execution, const ExecutionParts *parts, int64_t rank,
                           Diagnostics *diagnostics) {
    execution->zeroed_count = parts->zeroed_count;
    execution->zeroed = parts->zeroed;
    execution->groups = calloc((size_t)parts->group_count + 1, sizeof(MPI_Comm));
    execution->transfers = calloc((size_t)parts->transfer_count + 1, sizeof(TransferState));
    execution->processors = calloc((size_t)parts->per_rank + 1, sizeof(Processor));
    if (!execution->groups || !execution->transfers || !execution->processors)
        return no_memory(rank, diagnostics);
    if (parts->contracts) {
        execution->space = malloc(contraction_space());
        if (!execution->space)
            return no_memory(rank, diagnostics);
    }
    for (; execution->group_count < parts->group_count; execution->group_count++)
        execution->groups[execution->group_count] = MPI_COMM_NULL;
    execution->per_rank = parts->per_rank;
    for (int64_t i = 0; i < parts->per_rank; i++) {
        int64_t index = rank * parts->per_rank + i;
        execution->processors[i].exists = index < parts->processors;
        if (index < parts->processors)
            grid_coordinates(&parts->grid, index, execution->processors[i].coordinates);
    }
    while (execution->transfer_count < parts->transfer_count) {
        const int t = execution->transfer_count++;
        if (!transfer_allocate(&execution->transfers[t], parts->transfers[t], parts->storages[t],
                               diagnostics))
            return false;
    }
    return true;
}

// Every rank goes through the groups that it is a member of in increasing order, so the first of all groups
// that is not made yet always finds all of its members there, and nobody waits in a circle.
// `members` has room for all ranks.
static void create_groups(distal_execution *execution, const Group *groups, int *members) {
    const int tags = 1 << 14;
    int rank;
    MPI_Group everyone, group;
    MPI_Comm_rank(execution->comm, &rank);
    MPI_Comm_group(execution->comm, &everyone);
    for (int64_t g = 0; g < execution->group_count; g++) {
        if (!ranks_contain(groups[g].ranks, groups[g].count, rank))
            continue;
        for (int64_t i = 0; i < groups[g].count; i++)
            members[i] = (int)groups[g].ranks[i];
        MPI_Group_incl(everyone, (int)groups[g].count, members, &group);
        MPI_Comm_create_group(execution->comm, group, (int)(g % tags), &execution->groups[g]);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&everyone);
}

// An execution that is being put together, on the rank `rank` of `ranks`.
typedef struct {
    const ExecutionParts *parts;
    int rank, ranks;
    int *members; // room for those of one group
    distal_execution *execution;
} Assembly;

static bool allocate(void *arguments, Diagnostics *diagnostics) {
    Assembly *assembly = arguments;
    assembly->members = malloc(sizeof(int) * (size_t)assembly->ranks);
    distal_execution *execution = assembly->execution = calloc(1, sizeof *execution);
    if (execution)
        execution->comm = MPI_COMM_NULL;
    if (!assembly->members || !execution)
        return no_memory(assembly->rank, diagnostics);
    return allocate_parts(execution, assembly->parts, assembly->rank, diagnostics);
}

static bool prepare(void *arguments, Diagnostics *diagnostics) {
    const Assembly *assembly = arguments;
    distal_execution *execution = assembly->execution;
    for (int t = 0; t < execution->transfer_count; t++)
        if (!transfer_prepare(&execution->transfers[t], execution->comm, assembly->parts->groups,
                              execution->groups, diagnostics))
            return false;
    return true;
}

distal_execution *execution_assemble(const ExecutionParts *parts, MPI_Comm comm, Diagnostics *diagnostics) {
    Assembly assembly = {.parts = parts};
    MPI_Comm_rank(comm, &assembly.rank);
    MPI_Comm_size(comm, &assembly.ranks);
    bool ok = agree_on_part(comm, allocate, &assembly, diagnostics);
    distal_execution *execution = assembly.execution;
    if (ok) {
        // Messages of our own, apart from those of the caller.
        duplicate(comm, &execution->comm);
        create_groups(execution, parts->groups, assembly.members);
        ok = agree_on_part(comm, prepare, &assembly, diagnostics);
    }
    free(assembly.members);
    if (ok)
        return execution;
    execution_free(execution);
    return NULL;
}

ExecutionParts execution_parts(StatementPlan *plan, Storage *const *storages, int64_t rank) {
    const int count = plan->spmd->transfer_count;
    const RankTransfer **transfers = arena_array(plan->arena, const RankTransfer *, count);
    Storage **used = arena_array(plan->arena, Storage *, count);
    for (int t = 0; t < count; t++) {
        transfers[t] = plan_rank_transfer(plan, t, rank);
        used[t] = storages[plan->spmd->transfers[t].access->tensor->id];
    }
    Storage **zeroed = arena_array(plan->arena, Storage *, plan->zeroed_count);
    for (int i = 0; i < plan->zeroed_count; i++)
        zeroed[i] = storages[plan->zeroed[i]->id];
    // The groups last: they are complete once all transfers have been walked.
    return (ExecutionParts){.transfer_count = count,
                            .transfers = transfers,
                            .storages = used,
                            .group_count = plan->groups.count,
                            .groups = plan->groups.items,
                            .grid = plan->grid,
                            .processors = plan->processors,
                            .per_rank = plan->per_rank,
                            .contracts = plan->spmd->contracts,
                            .zeroed_count = plan->zeroed_count,
                            .zeroed = zeroed};
}

distal_execution *execution_create(StatementPlan *plan, Storage *const *storages, MPI_Comm comm,
                                   Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    const ExecutionParts parts = execution_parts(plan, storages, rank);
    return execution_assemble(&parts, comm, diagnostics);
}

void execution_free(distal_execution *execution) {
    if (!execution)
        return;
    for (int t = 0; t < execution->transfer_count; t++)
        transfer_free(&execution->transfers[t]);
    for (int64_t g = 0; g < execution->group_count; g++)
        if (execution->groups[g] != MPI_COMM_NULL)
            MPI_Comm_free(&execution->groups[g]);
    if (execution->comm != MPI_COMM_NULL)
        MPI_Comm_free(&execution->comm);
    free(execution->groups);
    free(execution->transfers);
    free(execution->processors);
    free(execution->space);
    free(execution);
}

void execution_run(distal_execution *execution, distal_kernel_function kernel, const int64_t *params) {
    for (int i = 0; i < execution->zeroed_count; i++)
        storage_zero(execution->zeroed[i]);
    for (int t = 0; t < execution->transfer_count; t++)
        transfer_reset(&execution->transfers[t]);
    kernel(execution, params);
}

int64_t execution_bytes(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].bytes;
}

int64_t execution_messages(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].messages;
}

int64_t distal_processor_count(const distal_execution *execution) {
    return execution->per_rank;
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    return execution->processors[index].coordinates;
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    return execution->processors[index].exists;
}

void *distal_space(const distal_execution *execution) {
    return execution->space;
}

void distal_start(distal_execution *execution, int transfer) {
    transfer_start(&execution->transfers[transfer]);
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    transfer_wait(&execution->transfers[transfer]);
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
    return copies_take(&state->copies, &state->view, state->storage->type, thread);
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    TransferState *state = &execution->transfers[transfer];
    copies_merge(&state->copies, &state->view, state->storage->type);
}
