// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/neighbours.h"

#include "memory/gpu.h"
#include "memory/shared.h"
#include "plan/neighbours.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <unistd.h>

static void release(Neighbours *neighbours) {
    for (int m = 0; neighbours->files && m < neighbours->count; m++)
        if (neighbours->files[m] >= 0)
            close(neighbours->files[m]);
    free(neighbours->files);
    free(neighbours->members);
    free(neighbours->nodes);
    MPI_Comm_free(&neighbours->node);
}

// Ranks of a node, in groups of at most `most`.
static MPI_Comm split(MPI_Comm comm, int64_t most) {
    MPI_Comm node, group;
    int rank, node_rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (most <= 0)
        return node;
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_split(node, (int)(node_rank / most), rank, &group);
    MPI_Comm_free(&node);
    return group;
}

// All neighbours have their files open, or none uses them.
static bool open_files(Neighbours *neighbours) {
    enum { NUMBERS = sizeof(SharedName) / sizeof(int64_t) };
    int own;
    SharedName name = {0}, *names = calloc((size_t)neighbours->count, sizeof *names);
    MPI_Comm_rank(neighbours->node, &own);
    int ok = names && neighbours->count > 1 && shared_create(&name);
    all_reduce(&ok, 1, MPI_INT, MPI_LAND, neighbours->node);
    if (ok)
        all_gather(&name, names, NUMBERS, MPI_INT64_T, neighbours->node);
    for (int m = 0; ok && m < neighbours->count; m++)
        if (m != own)
            ok = (neighbours->files[m] = shared_open(&names[m])) >= 0;
    all_reduce(&ok, 1, MPI_INT, MPI_LAND, neighbours->node);
    free(names);
    return ok;
}

// A node has the number of its first rank; a rank that shares no memory is a node of its own.
static void find_nodes(Neighbours *neighbours) {
    const bool shares = neighbours->shares;
    int rank, any = shares;
    MPI_Comm_rank(neighbours->all, &rank);
    int64_t node = rank;
    broadcast(&node, 1, MPI_INT64_T, 0, neighbours->node);
    if (!shares)
        node = rank;
    all_gather(&node, neighbours->nodes, 1, MPI_INT64_T, neighbours->all);
    for (int r = 0, member = 0; r < neighbours->ranks; r++)
        neighbours->members[r] = shares && neighbours->nodes[r] == node ? member++ : -1;
    all_reduce(&any, 1, MPI_INT, MPI_LOR, neighbours->all);
    neighbours->any = any;
}

static bool allocate(Neighbours *neighbours) {
    neighbours->nodes = calloc((size_t)neighbours->ranks, sizeof *neighbours->nodes);
    neighbours->members = calloc((size_t)neighbours->ranks, sizeof *neighbours->members);
    neighbours->files = calloc((size_t)neighbours->count, sizeof *neighbours->files);
    for (int m = 0; neighbours->files && m < neighbours->count; m++)
        neighbours->files[m] = -1;
    return neighbours->nodes && neighbours->members && neighbours->files;
}

Neighbours *neighbours_create(MPI_Comm comm, int64_t most) {
    Neighbours own = {.all = comm, .node = split(comm, most)}, *neighbours = malloc(sizeof *neighbours);
    MPI_Comm_size(comm, &own.ranks);
    MPI_Comm_size(own.node, &own.count);
    const bool fits = allocate(&own);
    int ok = neighbours && fits;
    all_reduce(&ok, 1, MPI_INT, MPI_LAND, comm);
    if (neighbours && ok) {
        *neighbours = own;
        neighbours->shares = open_files(neighbours);
        find_nodes(neighbours);
        return neighbours;
    }
    release(&own);
    free(neighbours);
    return NULL;
}

void neighbours_free(Neighbours *neighbours) {
    if (neighbours)
        release(neighbours);
    free(neighbours);
}

const int64_t *neighbours_nodes(const Neighbours *neighbours) {
    return neighbours->any ? neighbours->nodes : NULL;
}

bool neighbours_are_there(const Neighbours *neighbours) {
    return neighbours->shares;
}

// Opens what each neighbour has allocated to try it.
static bool open_all(const DeviceHandle *handles, int count, int own) {
    bool ok = true;
    for (int m = 0; ok && m < count; m++) {
        void *memory = m == own ? NULL : device_current()->open_shared(&handles[m]);
        ok = m == own || memory;
        if (memory)
            device_current()->close_shared(memory);
    }
    return ok;
}

static bool can_open_gpus(const Neighbours *neighbours) {
    const char *why;
    const Device *device = gpu_open(&why);
    DeviceHandle own = {0}, *handles = calloc((size_t)neighbours->count, sizeof *handles);
    int rank;
    void *memory = device ? device->allocate_shared(1, &own) : NULL;
    int ok = memory && handles && neighbours->shares;
    MPI_Comm_rank(neighbours->node, &rank);
    all_reduce(&ok, 1, MPI_INT, MPI_LAND, neighbours->all);
    if (ok) {
        all_gather(&own, handles, DEVICE_HANDLE_WORDS, MPI_INT64_T, neighbours->node);
        ok = open_all(handles, neighbours->count, rank);
    }
    all_reduce(&ok, 1, MPI_INT, MPI_LAND, neighbours->all);
    if (memory)
        device->release(memory);
    free(handles);
    return ok;
}

void neighbours_try_gpus(Neighbours *neighbours) {
    if (neighbours && neighbours->gpus == GPUS_UNTRIED)
        neighbours->gpus = can_open_gpus(neighbours) ? GPUS_OPEN : GPUS_CLOSED;
}

bool neighbours_open_gpus(const Neighbours *neighbours) {
    return neighbours && neighbours->gpus == GPUS_OPEN;
}

void neighbours_share(const Neighbours *neighbours, Plan *plan) {
    int rank;
    if (!neighbours || !plan->options.nodes)
        return;
    MPI_Comm_rank(neighbours->all, &rank);
    int *shared = arena_array(plan->arena, int, plan->tensor_count);
    for (int s = 0; s < plan->statement_count; s++) {
        StatementPlan *statement = plan->statements[s];
        for (int t = 0; t < statement->spmd->transfer_count; t++) {
            const RankTransfer *part = plan_rank_transfer(statement, t, rank);
            part = neighbours_divert(statement, t, part);
            if (part->transfer->kind == TRANSFER_FETCH)
                shared[part->transfer->access->tensor->id] |= neighbours_reads_others(part);
        }
    }
    all_reduce(shared, plan->tensor_count, MPI_INT, MPI_LOR, neighbours->all);
    for (int t = 0; t < plan->tensor_count; t++)
        plan->homes[t].shared = shared[t] && neighbours->shares;
}
