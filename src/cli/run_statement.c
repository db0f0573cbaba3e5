// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"
#include "cli/memory.h"
#include "cli/run.h"
#include "runtime/chunks.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TIMED = 1 << 16 }; // executions of a statement whose times are kept

// The target of a statement that reads it, as it was before the first execution.
typedef struct {
    Storage *target;
    void **pieces; // in memory; NULL: nothing to restore
    Storage *copy; // of a target in disk, there as well; NULL: nothing to restore
} Backup;

static size_t piece_bytes(const Storage *storage, int64_t piece) {
    return (size_t)rect_volume(&storage->pieces[piece].rect) * type_info(storage->type)->size;
}

// Chunks come in the order of the pieces.
typedef struct {
    const Storage *to;
    int64_t piece;
} PieceCopy;

static bool copy_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    PieceCopy *copy = context;
    while (!rect_contains(&copy->to->pieces[copy->piece].rect, &part->part))
        copy->piece++;
    piece_copy(&copy->to->pieces[copy->piece], &part->piece, &part->part);
    return true;
}

// Between storages in disk, or in memory of a GPU.
static bool copy_pieces(const Storage *to, const Storage *from, Diagnostics *diagnostics) {
    return chunks_visit_pieces(from, CHUNKS_READ, copy_chunk, &(PieceCopy){to, 0}, diagnostics) &&
           storage_check(to, diagnostics);
}

// False with a diagnostic.
static bool backup_create(const Run *run, Backup *backup, Storage *target) {
    Diagnostics *diagnostics = run->session->diagnostics;
    *backup = (Backup){.target = target};
    if (target->home->memory != MEMORY_HOST) {
        backup->copy = storage_create(target->home, run->rank, false, options_scratch(run->session->options),
                                      diagnostics);
        return backup->copy && copy_pieces(backup->copy, target, diagnostics);
    }
    backup->pieces = calloc((size_t)target->piece_count + 1, sizeof(void *));
    bool ok = backup->pieces != NULL;
    for (int64_t i = 0; ok && i < target->piece_count; i++) {
        backup->pieces[i] = memory_allocate(MEMORY_HOST, rect_volume(&target->pieces[i].rect), target->type);
        ok = backup->pieces[i] != NULL;
        if (ok)
            memcpy(backup->pieces[i], target->pieces[i].data, piece_bytes(target, i));
    }
    return ok || diagnostics_error(diagnostics, (Span){0},
                                   "not enough memory for a copy of '%s', which --repeat and --warmup need",
                                   target->home->tensor->name);
}

// Collective, where the target is not in memory of the host.
static bool backup_restore(const Run *run, const Backup *backup) {
    Diagnostics *diagnostics = run->session->diagnostics;
    for (int64_t i = 0; backup->pieces && i < backup->target->piece_count; i++)
        memcpy(backup->target->pieces[i].data, backup->pieces[i], piece_bytes(backup->target, i));
    return !backup->copy ||
           agree_on(MPI_COMM_WORLD, copy_pieces(backup->target, backup->copy, diagnostics), diagnostics);
}

static void backup_free(Backup *backup) {
    for (int64_t i = 0; backup->pieces && i < backup->target->piece_count; i++)
        memory_release(MEMORY_HOST, backup->pieces[i]);
    free(backup->pieces);
    storage_free(backup->copy);
}

bool run_begin(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    run_begin_counters(run, index);
    statement->execution = execution_create(run->pipeline->plan->statements[index], run->storages,
                                            run->communicators, run->session->diagnostics);
    return statement->execution != NULL;
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Each from the first rank of a node that begins to the last one that ends, on the slowest node.
static void summarize(const Run *run, RunStatement *statement) {
    const int count = (int)statement->ends.count;
    double *seconds = statement->ends.items;
    if (count == 0)
        return;
    all_reduce(statement->begins.items, count, MPI_DOUBLE, MPI_MIN, run->node);
    all_reduce(seconds, count, MPI_DOUBLE, MPI_MAX, run->node);
    for (int i = 0; i < count; i++)
        seconds[i] -= statement->begins.items[i];
    all_reduce(seconds, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    all_reduce(&statement->report.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(seconds, (size_t)count, sizeof(double), compare_seconds);
    statement->report.min = seconds[0];
    statement->report.max = seconds[count - 1];
    statement->report.median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

// What executions of the same structure need that the first one did not: the same on all ranks.
static bool find_rest(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    return execution_is_structured(statement->execution) ||
           execution_structure(statement->execution, run->functions[index].structure, run->pipeline->params,
                               run->session->diagnostics);
}

// Once, and takes its time if it is timed: where ranks begin `together`, after a barrier, with what each
// waits for others that share its core. False with a diagnostic where reading or writing has failed.
static bool execute_once(Run *run, int index, bool timed, bool together) {
    RunStatement *statement = &run->statements[index];
    const double start = clock_seconds();
    execution_run(statement->execution, run->functions[index].function, run->pipeline->params);
    const double seconds = clock_seconds() - start, begin = together ? start : 0;
    if (timed)
        statement->report.seconds += seconds;
    if (timed && statement->ends.count < MOST_TIMED) {
        array_push(run->session->arena, statement->begins, begin);
        array_push(run->session->arena, statement->ends, begin + seconds);
    }
    return execution_check(statement->execution, run->session->diagnostics);
}

// Executes it `warmup` times and then as often as is timed, each time from a barrier on. Repeated statements
// follow one another as they can.
static bool execute(Run *run, int index, int64_t warmup, int64_t timed, const Backup *backup) {
    const bool is_repeated = program_innermost(run->pipeline->program, index) >= 0;
    const int64_t all = warmup + timed;
    Progress progress = progress_start(all > 1 && run->rank == 0 && !run->session->options->quiet);
    bool ok = true;
    for (int64_t i = 0; i < all && ok; i++) {
        if (i > 0) {
            ok = execution_put_back(run->statements[index].execution, run->session->diagnostics) &&
                 find_rest(run, index) && backup_restore(run, backup);
        }
        if (!is_repeated)
            barrier(MPI_COMM_WORLD);
        if (ok)
            ok = execute_once(run, index, i >= warmup, !is_repeated);
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
static bool count_tensors(Run *run, const Spmd *spmd, Arena *arena) {
    const Plan *plan = run->pipeline->plan;
    int *tensors = arena_array(arena, int, plan->tensor_count), count = 0;
    for (int t = 0; t < plan->tensor_count; t++) {
        bool has_entries =
            plan->homes[t].stored_entries || plan->tensors[t] == assignment_old(spmd->cin->assignment);
        for (int s = 0; s < spmd->stage_count; s++)
            has_entries = has_entries || spmd->stages[s].target->id == t;
        if (has_entries && tensor_is_sparse(plan->tensors[t]))
            tensors[count++] = t;
    }
    return run_count_stored(run, count, tensors);
}

// Gives a sparse result and sparse workspaces their structure, which executions keep until those of operands
// change, and what they store to the figures.
static bool find_structure(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    const Spmd *spmd = run->pipeline->plan->statements[index]->spmd;
    if (statement->report.executions > 0 && execution_is_structured(statement->execution))
        return true;
    run_expect(run, index);
    limit_copies(run, spmd);
    barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    if (!execution_is_structured(statement->execution) &&
        !execution_structure(statement->execution, run->functions[index].structure, run->pipeline->params,
                             run->session->diagnostics))
        return false;
    seconds = MPI_Wtime() - seconds;
    if (report_has_structure(run->pipeline->plan->statements[index])) {
        all_reduce(&seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        statement->report.structure_seconds += seconds;
    }
    Arena *scratch = arena_create_within(run->session->arena);
    const bool ok = count_tensors(run, spmd, scratch);
    if (ok)
        execution_count_entries(statement->execution, run->pipeline->plan->statements[index], scratch);
    arena_free(scratch);
    return ok;
}

// The target as it is, where it is executed several times and adds to that.
static bool keep_target(Run *run, const Assignment *assignment, Backup *backup) {
    const bool ok = backup_create(run, backup, run->storages[assignment->lhs->tensor->id]);
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

// Executes a statement that has begun; of several executions only the last one counts.
static bool run_executions(Run *run, int index, int64_t warmup, int64_t timed) {
    RunStatement *statement = &run->statements[index];
    const Assignment *assignment = run->pipeline->statements[index].statement->assignment;
    const Options *options = run->session->options;
    const bool is_first = statement->report.executions == 0;
    CheckInputs inputs = {0};
    Backup backup = {0};
    if (is_first)
        run_before_values(run, index);
    bool ok = (!options->check || check_inputs_gather(run, index, &inputs)) && find_structure(run, index);
    if (ok && assignment_reads_target(assignment) && !execution_replaces(statement->execution) &&
        warmup + timed > 1)
        ok = keep_target(run, assignment, &backup);
    ok = ok && execute(run, index, warmup, timed, &backup);
    if (ok)
        run_count(run, index);
    run->computed[assignment->lhs->tensor->id] = true;
    run->values[assignment->lhs->tensor->id] =
        is_first ? run->values[assignment->lhs->tensor->id] : VALUES_UNKNOWN;
    ok = ok && (!is_first || run_check_values(run, index)) &&
         (!options->check || run_check(run, index, &inputs));
    backup_free(&backup);
    check_inputs_free(&inputs);
    return ok;
}

bool run_once(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    const bool is_first = statement->report.executions == 0;
    if (is_first || run->session->options->check || !execution_is_structured(statement->execution))
        return run_executions(run, index, 0, 1);
    if (!execute_once(run, index, true, false))
        return false;
    run_count(run, index);
    run->values[run->pipeline->statements[index].statement->assignment->lhs->tensor->id] = VALUES_UNKNOWN;
    return true;
}

bool run_end(Run *run, int index, bool ok) {
    RunStatement *statement = &run->statements[index];
    if (ok) {
        summarize(run, statement);
        ok = run_check_counters(run, index);
    }
    execution_free(statement->execution);
    statement->execution = NULL;
    if (ok)
        run_print_verdict(run, index);
    return ok;
}

bool run_statement(Run *run, int index) {
    const Options *options = run->session->options;
    bool ok = run_begin(run, index);
    ok = ok && run_executions(run, index, options->warmup, options->repeat);
    return run_end(run, index, ok);
}
