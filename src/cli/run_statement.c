// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "cli/memory.h"
#include "cli/run.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The target of a statement that accumulates, as it was before the first execution.
typedef struct {
    Storage *target;
    void **pieces; // NULL: nothing to restore
} Backup;

static size_t piece_bytes(const Storage *storage, int64_t piece) {
    return (size_t)rect_volume(&storage->pieces[piece].rect) * type_info(storage->type)->size;
}

static bool backup_create(Backup *backup, Storage *target) {
    *backup = (Backup){target, calloc((size_t)target->piece_count + 1, sizeof(void *))};
    for (int64_t i = 0; backup->pieces && i < target->piece_count; i++) {
        backup->pieces[i] = memory_allocate(MEMORY_HOST, rect_volume(&target->pieces[i].rect), target->type);
        if (!backup->pieces[i])
            return false;
        memcpy(backup->pieces[i], target->pieces[i].data, piece_bytes(target, i));
    }
    return backup->pieces != NULL;
}

static void backup_restore(const Backup *backup) {
    for (int64_t i = 0; backup->pieces && i < backup->target->piece_count; i++)
        memcpy(backup->target->pieces[i].data, backup->pieces[i], piece_bytes(backup->target, i));
}

static void backup_free(Backup *backup) {
    for (int64_t i = 0; backup->pieces && i < backup->target->piece_count; i++)
        memory_release(MEMORY_HOST, backup->pieces[i]);
    free(backup->pieces);
}

// Created for each statement just before it is executed, so that only one statement has buffers at a time.
static bool prepare(Run *run, int index) {
    const int tensors = run->pipeline->plan->tensor_count;
    RunStatement *statement = &run->statements[index];
    Arena *arena = run->session->arena;
    statement->seconds = arena_array(arena, double, run->session->options->repeat);
    statement->bytes = arena_array(arena, int64_t *, tensors);
    statement->messages = arena_array(arena, int64_t *, tensors);
    statement->structure = arena_array(arena, int64_t *, tensors);
    for (int t = 0; t < tensors; t++) {
        statement->bytes[t] = arena_array(arena, int64_t, run->ranks);
        statement->messages[t] = arena_array(arena, int64_t, run->ranks);
        statement->structure[t] = arena_array(arena, int64_t, run->ranks);
    }
    statement->execution = execution_create(run->pipeline->plan->statements[index], run->storages,
                                            run->communicators, run->session->diagnostics);
    return statement->execution != NULL;
}

static void gather_counters(Run *run, int index) {
    const StatementPlan *plan = run->pipeline->plan->statements[index];
    RunStatement *statement = &run->statements[index];
    const int tensors = run->pipeline->plan->tensor_count;
    int64_t *counted[3], **all[3] = {statement->bytes, statement->messages, statement->structure};
    for (int c = 0; c < 3; c++)
        counted[c] = arena_array(run->session->arena, int64_t, tensors);
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const int id = plan->spmd->transfers[t].access->tensor->id;
        counted[0][id] += execution_bytes(statement->execution, t);
        counted[1][id] += execution_messages(statement->execution, t);
        counted[2][id] += execution_structure_bytes(statement->execution, t);
    }
    for (int id = 0; id < tensors; id++) {
        MPI_Request requests[3];
        for (int c = 0; c < 3; c++)
            MPI_Igather(&counted[c][id], 1, MPI_INT64_T, all[c][id], 1, MPI_INT64_T, 0, MPI_COMM_WORLD,
                        &requests[c]);
        wait_all(3, requests);
    }
}

// Compares the bytes and messages that the runtime has counted, on all ranks, with those of the plan.
static bool check_counters(Run *run, int index) {
    const StatementPlan *plan = run->pipeline->plan->statements[index];
    const RunStatement *statement = &run->statements[index];
    bool ok = true;
    for (int t = 0; run->rank == 0 && t < run->pipeline->plan->tensor_count; t++) {
        const TensorFigures planned = plan_tensor_figures(plan, t);
        for (int64_t rank = 0; rank < run->ranks && ok; rank++) {
            const int64_t bytes = statement->bytes[t][rank], messages = statement->messages[t][rank];
            ok = bytes == planned.bytes_received[rank] && messages == planned.messages_received[rank];
            if (!ok)
                diagnostics_error(run->session->diagnostics, (Span){0},
                                  "internal error: '%s' moved %" PRId64 " bytes in %" PRId64
                                  " messages on rank %" PRId64 ", and the plan says %" PRId64 " in %" PRId64,
                                  planned.tensor->name, bytes, messages, rank, planned.bytes_received[rank],
                                  planned.messages_received[rank]);
        }
    }
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(Run *run, RunStatement *statement) {
    const int count = (int)run->session->options->repeat;
    all_reduce(statement->seconds, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(statement->seconds, (size_t)count, sizeof(double), compare_seconds);
    statement->report.min = statement->seconds[0];
    statement->report.max = statement->seconds[count - 1];
    statement->report.median = (statement->seconds[(count - 1) / 2] + statement->seconds[count / 2]) / 2;
    statement->report.bytes = (const int64_t *const *)statement->bytes;
    statement->report.messages = (const int64_t *const *)statement->messages;
    statement->report.structure = (const int64_t *const *)statement->structure;
}

// What executions of the same structure need that the first one did not: the same on all ranks.
static bool find_rest(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    return execution_is_structured(statement->execution) ||
           execution_structure(statement->execution, statement->kernel.structure, run->pipeline->params,
                               run->session->diagnostics);
}

static bool execute(Run *run, int index, const Backup *backup) {
    RunStatement *statement = &run->statements[index];
    const Options *options = run->session->options;
    const int64_t all = options->warmup + options->repeat;
    Progress progress = progress_start(run->rank == 0 && !options->quiet);
    bool ok = true;
    for (int64_t i = 0; i < all && ok; i++) {
        if (i > 0) {
            ok = find_rest(run, index);
            backup_restore(backup);
        }
        barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (ok)
            execution_run(statement->execution, statement->kernel.function, run->pipeline->params);
        if (i >= options->warmup)
            statement->seconds[i - options->warmup] = MPI_Wtime() - start;
        progress_show(&progress, "computing", i + 1, all);
    }
    progress_end(&progress);
    return ok;
}

// What operands with other levels, or with elements of other ranks, may take.
static void limit_copies(Run *run, const Spmd *spmd) {
    const int64_t left = memory_left(run->session, run->free_memory, run->node);
    for (int t = 0; t < spmd->transfer_count; t++)
        run->storages[spmd->transfers[t].access->tensor->id]->limit = left;
}

// Counts what the sparse tensors of the program store, those that a statement has not changed as well: they
// may have had a structure in common with one that has another now.
static bool count_tensors(Run *run, const Spmd *spmd) {
    const Plan *plan = run->pipeline->plan;
    int *tensors = arena_array(run->session->arena, int, plan->tensor_count), count = 0;
    for (int t = 0; t < plan->tensor_count; t++) {
        bool has_entries = plan->homes[t].stored_entries;
        for (int s = 0; s < spmd->stage_count; s++)
            has_entries = has_entries || spmd->stages[s].target->id == t;
        if (has_entries && tensor_is_sparse(plan->tensors[t]))
            tensors[count++] = t;
    }
    return run_count_stored(run, count, tensors);
}

// Gives a sparse result and sparse workspaces their structure, which all executions keep, and what they store
// to the figures.
static bool find_structure(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    const Spmd *spmd = run->pipeline->plan->statements[index]->spmd;
    limit_copies(run, spmd);
    barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    if (!execution_is_structured(statement->execution) &&
        !execution_structure(statement->execution, statement->kernel.structure, run->pipeline->params,
                             run->session->diagnostics))
        return false;
    seconds = MPI_Wtime() - seconds;
    if (report_has_structure(run->pipeline->plan->statements[index])) {
        all_reduce(&seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        statement->report.structure_seconds = seconds;
    }
    if (!count_tensors(run, spmd))
        return false;
    execution_count_entries(statement->execution, run->pipeline->plan->statements[index],
                            run->session->arena);
    return true;
}

bool run_statement(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    const Assignment *assignment = run->pipeline->statements[index].statement->assignment;
    const Options *options = run->session->options;
    Storage *target = run->storages[assignment->lhs->tensor->id];
    CheckInputs inputs = {0};
    Backup backup = {0};
    bool ok = prepare(run, index);
    if (ok)
        run_before_values(run, index);
    if (ok && options->check)
        ok = check_inputs_gather(run, index, &inputs);
    ok = ok && find_structure(run, index);
    if (ok && assignment->accumulate && options->warmup + options->repeat > 1) {
        ok = backup_create(&backup, target);
        if (!ok)
            diagnostics_error(run->session->diagnostics, (Span){0},
                              "not enough memory for a copy of '%s', which --repeat and --warmup need",
                              assignment->lhs->tensor->name);
        ok = agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
    }
    ok = ok && execute(run, index, &backup);
    if (ok) {
        summarize(run, statement);
        gather_counters(run, index);
        ok = check_counters(run, index);
    }
    execution_free(statement->execution);
    statement->execution = NULL;
    ok = ok && run_check_values(run, index);
    if (ok && options->check)
        ok = run_check(run, index, &inputs);
    backup_free(&backup);
    check_inputs_free(&inputs);
    return ok;
}
