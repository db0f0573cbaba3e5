// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "cli/environment.h"
#include "cli/run.h"
#include "runtime/load.h"

#include <stdio.h>
#include <stdlib.h>

// The first rank of each node compiles; the others find the kernels in the cache.
static bool compile(Run *run) {
    Diagnostics *diagnostics = run->session->diagnostics;
    int node_rank, hit = 0;
    MPI_Comm_rank(run->node, &node_rank);
    bool ok = true;
    if (node_rank == 0) {
        bool found = false;
        ok = jit_compile(run->pipeline->c_source, &found, &run->compile_seconds, diagnostics);
        hit = found;
    }
    if (!agree_on(MPI_COMM_WORLD, ok, diagnostics))
        return false;
    MPI_Bcast(&hit, 1, MPI_INT, 0, MPI_COMM_WORLD);
    run->cache_hit = hit;
    for (int i = 0; ok && i < run->pipeline->program->statement_count; i++)
        ok = jit_load(run->pipeline->c_source, run->pipeline->statements[i].function,
                      &run->statements[i].kernel, diagnostics);
    return agree_on(MPI_COMM_WORLD, ok, diagnostics);
}

static int64_t element_bytes(const Tensor *tensor) {
    return (int64_t)type_info(tensor->type)->size;
}

static void mark_used(void *context, const Access *access) {
    ((bool *)context)[access->tensor->id] = true;
}

// A check gathers the tensors of a statement whole on every rank.
static int64_t check_bytes(const Run *run, const Assignment *assignment) {
    bool *used = arena_array(run->session->arena, bool, run->pipeline->program->tensor_count);
    int64_t bytes = 0;
    expr_accesses(assignment->rhs, mark_used, used);
    used[assignment->lhs->tensor->id] = true;
    for (int t = 0; t < run->pipeline->program->tensor_count; t++) {
        const Home *home = &run->pipeline->plan->homes[t];
        const Rect whole = rect_whole(home->order, home->extents);
        if (used[t] && !checked_add(bytes, rect_volume(&whole) * element_bytes(home->tensor), &bytes))
            return INT64_MAX;
    }
    return bytes;
}

static bool fits(Run *run) {
    int64_t most = 0;
    for (int i = 0; i < run->pipeline->program->statement_count; i++) {
        int64_t bytes = run->pipeline->plan->statements[i]->peak_bytes[run->rank];
        if (run->session->options->check &&
            !checked_add(bytes, check_bytes(run, run->pipeline->statements[i].statement->assignment), &bytes))
            bytes = INT64_MAX;
        most = max_i64(most, bytes);
    }
    bool ok = environment_fits(most, run->node, run->session->diagnostics);
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

static bool create_storages(Run *run) {
    const Program *program = run->pipeline->program;
    bool ok = true;
    for (int i = 0; ok && i < program->tensor_count; i++) {
        const Tensor *tensor = program->tensors[i];
        const Home *home = &run->pipeline->plan->homes[tensor->id];
        if (!home->known)
            continue;
        run->storages[tensor->id] =
            storage_create(home, run->rank, !program_is_input(program, tensor), run->session->diagnostics);
        ok = run->storages[tensor->id] != NULL;
    }
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

bool run_prepare(Run *run) {
    const Program *program = run->pipeline->program;
    Arena *arena = run->session->arena;
    run->storages = arena_array(arena, Storage *, program->tensor_count);
    run->statements = arena_array(arena, RunStatement, program->statement_count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, run->rank, MPI_INFO_NULL, &run->node);
    run->threads = environment_threads(run->session->options->threads, run->node);
    return fits(run) && compile(run) && create_storages(run);
}

void run_release(Run *run) {
    const Program *program = run->pipeline->program;
    for (int i = 0; run->statements && i < program->statement_count; i++)
        jit_unload(&run->statements[i].kernel);
    for (int i = 0; run->storages && i < program->tensor_count; i++)
        if (run->storages[i])
            storage_free(run->storages[i]);
    if (run->node != MPI_COMM_NULL)
        MPI_Comm_free(&run->node);
}

bool run_load_inputs(Run *run) {
    const Program *program = run->pipeline->program;
    for (int i = 0; i < program->tensor_count; i++) {
        const Tensor *tensor = program->tensors[i];
        if (program_is_input(program, tensor) && run->storages[tensor->id] &&
            !storage_load(run->storages[tensor->id], &run->bindings.sources[tensor->id], MPI_COMM_WORLD,
                          run->session->diagnostics))
            return false;
    }
    return true;
}
