// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "cli/drafts.h"
#include "cli/environment.h"
#include "cli/launch.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/run.h"
#include "runtime/load.h"
#include "runtime/progress.h"
#include "runtime/shared_file.h"
#include "runtime/wait.h"

#include <stdio.h>

static void warn_of_cache(const Run *run) {
    const char *distrust = run->kernel.distrust;
    if (distrust && run->rank == 0 && !run->session->options->quiet)
        fprintf(
            stderr,
            "distal: warning: the cache of kernels is not used: %s, who may have put kernels of their own "
            "into it; remove it\n",
            distrust);
}

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
    broadcast(&hit, 1, MPI_INT, 0, MPI_COMM_WORLD);
    run->cache_hit = hit;
    const int count = run->pipeline->program->statement_count;
    const char **names = arena_array(run->session->arena, const char *, count);
    for (int i = 0; i < count; i++)
        names[i] = run->pipeline->statements[i].function;
    run->functions = arena_array(run->session->arena, KernelFunctions, count);
    ok = count == 0 ||
         jit_load(run->pipeline->c_source, count, names, &run->kernel, run->functions, diagnostics);
    run->compile_seconds += run->kernel.seconds; // where the cache cannot be used
    if (!agree_on(MPI_COMM_WORLD, ok, diagnostics))
        return false;
    warn_of_cache(run);
    return true;
}

// --memory-limit takes the place of the free memory.
static bool fits(Run *run) {
    memory_fit_defaults(run->session);
    if (!memory_within_limit(run->session, run->rank == 0))
        return false;
    return run->session->options->memory_limit > 0 || memory_is_free(run->session, run->node);
}

static bool create_storages(Run *run) {
    const Plan *plan = run->pipeline->plan;
    bool ok = true;
    neighbours_share(run->neighbours, run->pipeline->plan);
    for (int t = 0; ok && t < plan->tensor_count; t++) {
        const Home *home = &plan->homes[t];
        if (!home->known || home->file != FILE_OF_RANK)
            continue;
        run->storages[t] =
            storage_create(home, run->rank, !program_is_input(run->pipeline->program, home->tensor),
                           options_scratch(run->session->options), run->session->diagnostics);
        ok = run->storages[t] != NULL;
    }
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

static bool open_shared_files(const Run *run) {
    const Plan *plan = run->pipeline->plan;
    const Bindings *bindings = &run->bindings;
    for (int t = 0; t < plan->tensor_count; t++) {
        const Home *home = &plan->homes[t];
        if (!home->known || home->file == FILE_OF_RANK)
            continue;
        if (home->file == FILE_SHARED_WRITTEN) {
            run->in_place[t] = arena_new(run->session->arena, Output);
            run->storages[t] = storage_create_in_output(
                home, run->rank, bindings->outputs[t], drafts_token(), bindings->numbers[t],
                run->session->arena, MPI_COMM_WORLD, run->in_place[t], run->session->diagnostics);
        } else {
            run->storages[t] = shared_file_open(home, run->rank, &bindings->sources[t], MPI_COMM_WORLD,
                                                run->session->diagnostics);
        }
        if (!run->storages[t])
            return false;
    }
    return true;
}

static bool no_memory(const Run *run) {
    return diagnostics_error(run->session->diagnostics, (Span){0}, "this run has not enough memory");
}

static bool create_communicators(Run *run) {
    run->communicators = communicators_create(MPI_COMM_WORLD);
    if (!run->communicators)
        return no_memory(run);
    communicators_set_neighbours(run->communicators, run->neighbours);
    communicators_set_progress(run->communicators, progress_is_needed(run->node, MPI_COMM_WORLD));
    return true;
}

// All ranks have the figures for the largest number of threads of a rank.
static void count_threads(const Run *run) {
    int64_t most = run->threads;
    all_reduce(&most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    plan_count_threads(run->pipeline->plan, most);
}

bool run_prepare(Run *run) {
    const Program *program = run->pipeline->program;
    Arena *arena = run->session->arena;
    run->storages = arena_array(arena, Storage *, run->pipeline->plan->tensor_count);
    run->in_place = arena_array(arena, Output *, run->pipeline->plan->tensor_count);
    run->statements = arena_array(arena, RunStatement, program->statement_count);
    run->repetitions = arena_array(arena, RepetitionReport, program->repetition_count);
    run->values = arena_array(arena, Values, program->tensor_count);
    run->computed = arena_array(arena, bool, program->tensor_count);
    run->free_memory = node_free_memory(run->node);
    run->cores = node_share_cores(run->node, launch_binds());
    run->threads = environment_threads(run->session->options->threads, &run->cores);
    count_threads(run);
    if (!fits(run) || !compile(run) || !memory_is_free_on_gpu(run->session) || !create_storages(run))
        return false;
    if (run->rank == 0) // which creates drafts, here and when the run ends
        drafts_remove_on_signals(run->session->options, arena);
    return open_shared_files(run) && create_communicators(run);
}

void run_release(Run *run) {
    jit_unload(&run->kernel);
    for (int i = 0; run->storages && i < run->pipeline->plan->tensor_count; i++) {
        storage_free(run->storages[i]);
        if (run->in_place[i])
            output_finish(run->in_place[i], false, NULL);
    }
    communicators_free(run->communicators);
}

bool run_count_stored(Run *run, int count, const int *tensors) {
    Arena *arena = arena_create_within(run->session->arena);
    int64_t *counts = arena_array(arena, int64_t, 2 * count * run->ranks);
    const bool ok = storage_gather_counts(run->storages, count, tensors, run->ranks, MPI_COMM_WORLD, counts,
                                          run->session->diagnostics);
    for (int i = 0; ok && i < count; i++, counts += 2 * run->ranks)
        plan_count_stored(run->pipeline->plan, tensors[i], counts, counts + run->ranks);
    arena_free(arena);
    return ok;
}

// A sparse input without a source has every element, which is seldom what was meant, and takes long.
static void note_full_input(const Run *run, int tensor) {
    enum { MANY = 1000000 };
    const Home *home = &run->pipeline->plan->homes[tensor];
    const Rect whole = rect_whole(home->tensor->order, home->extents);
    const int64_t count = rect_volume(&whole);
    if (run->bindings.sources[tensor].is_default && count >= MANY && run->rank == 0 &&
        !run->session->options->quiet)
        fprintf(stderr,
                "distal: note: sparse tensor %s has no --in, so all of its %lld elements are stored; '--in "
                "%s=sparse:SEED:COUNT' makes one of COUNT entries\n",
                home->tensor->name, (long long)count, home->tensor->name);
}

void run_limit(const Run *run, Storage *storage) {
    storage->limit = memory_left(run->session, run->free_memory, run->node);
}

static bool load_input(Run *run, int tensor) {
    Storage *storage = run->storages[tensor];
    const bool sparse = tensor_is_sparse(storage->home->tensor);
    if (sparse)
        note_full_input(run, tensor);
    run_limit(run, storage);
    Entries *share = &run->shares[tensor];
    Diagnostics *diagnostics = run->session->diagnostics;
    if (!(share->order > 0
              ? storage_take_share(storage, share, MPI_COMM_WORLD, diagnostics)
              : storage_load(storage, &run->bindings.sources[tensor], MPI_COMM_WORLD, diagnostics)))
        return false;
    entries_free(share);
    *share = (Entries){0};
    if (!sparse)
        storage->limit = INT64_MAX;
    return !sparse || run_count_stored(run, 1, &tensor);
}

bool run_load_inputs(Run *run) {
    const Program *program = run->pipeline->program;
    for (int i = 0; i < program->tensor_count; i++) {
        const Tensor *tensor = program->tensors[i];
        if (program_is_input(program, tensor) && run->storages[tensor->id] &&
            run->bindings.files[tensor->id] != FILE_SHARED && !load_input(run, tensor->id))
            return false;
    }
    return true;
}
