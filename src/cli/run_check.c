// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_check.h"

#include "base/clock.h"
#include "index/evaluate_sparse.h"
#include "runtime/exchange_entries.h"
#include "runtime/load.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void run_print_verdict(const Run *run, int index) {
    const StatementReport *report = &run->statements[index].report;
    if (!report->checked || run->rank != 0 || (run->session->options->quiet && report->check_ok))
        return;
    fprintf(stderr, "check %s", run->pipeline->statements[index].statement->assignment->lhs->tensor->name);
    if (report->executions > 1)
        fprintf(stderr, ", %" PRId64 " executions", report->executions);
    if (report->drawn > 0)
        fprintf(stderr, " (%" PRId64 " of %" PRId64 " elements, drawn with seed %d)", report->drawn,
                report->elements, CHECK_SEED);
    fprintf(stderr, ": max relative error %.2g, tolerance %.2g: %s\n", report->error, report->tolerance,
            report->check_ok ? "ok" : "FAILED");
}

// Where the evaluator goes through entries, only the first rank evaluates; else each rank has all elements,
// and evaluates a share of those of the result.
static bool gather(Run *run, int id, bool on_first, void **array, Entries *entries) {
    Storage *storage = run->storages[id];
    if (tensor_is_sparse(storage->home->tensor)) {
        run_limit(run, storage);
        return gather_entries(storage, entries, MPI_COMM_WORLD, run->session->diagnostics);
    }
    if (on_first)
        return storage_gather_first(storage, array, MPI_COMM_WORLD, run->session->diagnostics);
    *array = storage_gather(storage, MPI_COMM_WORLD, run->session->diagnostics);
    return *array != NULL;
}

// An input from its source and not from its home, so that what gets lost on the way there is found.
static bool read_again(Run *run, int id, bool on_first, void **array, Entries *entries) {
    const Storage *own = run->storages[id];
    const SourceSpec *source = &run->bindings.sources[id];
    Diagnostics *diagnostics = run->session->diagnostics;
    if (!tensor_is_sparse(own->home->tensor)) {
        if (on_first)
            return storage_read_first(own, source, array, MPI_COMM_WORLD, diagnostics);
        *array = storage_read_whole(own, source, MPI_COMM_WORLD, diagnostics);
        return *array != NULL;
    }
    Home home;
    home_on_first_rank(&home, own->home->tensor, own->home->extents, run->ranks, run->session->arena);
    Storage *storage = storage_create(&home, run->rank, false, (Scratch){0}, diagnostics);
    bool ok = agree_on(MPI_COMM_WORLD, storage != NULL, diagnostics);
    if (ok && storage) {
        run_limit(run, storage);
        ok = storage_load(storage, source, MPI_COMM_WORLD, diagnostics) &&
             gather_entries(storage, entries, MPI_COMM_WORLD, diagnostics);
    }
    if (storage)
        storage_free(storage);
    return ok;
}

bool check_inputs_gather(Run *run, int index, CheckInputs *inputs) {
    const Assignment *assignment = run->pipeline->statements[index].statement->assignment;
    const bool on_first = assignment_sparse(assignment) != NULL;
    inputs->executions = program_executions(run->pipeline->program, index, run->pipeline->params);
    inputs->is_first = run->statements[index].report.executions == 0;
    inputs->count = run->pipeline->program->tensor_count;
    inputs->arena = arena_create_within(run->session->arena);
    inputs->arrays = arena_array(inputs->arena, void *, inputs->count);
    inputs->entries = arena_array(inputs->arena, Entries, inputs->count);
    for (int id = 0; id < inputs->count; id++) {
        const Tensor *tensor = run->pipeline->program->tensors[id];
        const bool is_read = expr_access_of(assignment->rhs, tensor) ||
                             (assignment->lhs->tensor == tensor && assignment_reads_target(assignment));
        const bool is_source = program_is_input(run->pipeline->program, tensor) && !run->computed[id];
        if (is_read &&
            !(is_source ? read_again : gather)(run, id, on_first, &inputs->arrays[id], &inputs->entries[id]))
            return false;
    }
    return true;
}

void check_inputs_free(CheckInputs *inputs) {
    for (int id = 0; id < inputs->count; id++) {
        free(inputs->arrays[id]);
        entries_free(&inputs->entries[id]);
    }
    if (inputs->arena)
        arena_free(inputs->arena);
}

static EvaluatorInput evaluator_input(const void *array, const Entries *entries) {
    EvaluatorInput input = {.values = array ? array : entries->values, .count = entries->count};
    for (int d = 0; d < entries->order; d++)
        input.coordinates[d] = entries->coordinates[d];
    return input;
}

// Shows how far the evaluation of entries is, and says how long it takes once it can tell.
typedef struct {
    const char *name;
    Progress progress;
    double start;
    bool announced;
    int64_t executions;
} CheckProgress;

static void show_progress(void *context, int64_t done, int64_t all) {
    CheckProgress *own = context;
    const double seconds = clock_seconds() - own->start;
    if (seconds > 0.5 && done > 0 && !own->announced) {
        check_announce(&own->progress, own->name,
                       (double)own->executions * seconds * (double)all / (double)done, "");
        own->announced = true;
    }
    progress_show(&own->progress, "checking", done, all);
}

static void print_difference(const char *name, int order, const EntriesError *error) {
    fprintf(stderr, "check %s: %lld entries are missing, %lld are there that should not be, such as (", name,
            (long long)error->missing, (long long)error->superfluous);
    for (int d = 0; d < order; d++)
        fprintf(stderr, "%s%lld", d ? ", " : "", (long long)error->first[d]);
    fprintf(stderr, ")\n");
}

// On the first rank, which has all entries.
static bool compare_sparse(Run *run, Evaluator *evaluator, const Tensor *target, const CheckInputs *inputs,
                           const void *array, const Entries *entries, StatementReport *report) {
    EvaluatorInput *list = arena_array(inputs->arena, EvaluatorInput, inputs->count);
    for (int id = 0; id < inputs->count; id++)
        list[id] = evaluator_input(inputs->arrays[id], &inputs->entries[id]);
    Evaluated expected = {0};
    CheckProgress own = {target->name, progress_start(!run->session->options->quiet), clock_seconds(),
                         !inputs->is_first, inputs->executions};
    evaluator_set_progress(evaluator, show_progress, &own);
    bool ok = evaluator_run_sparse(evaluator, list, &expected);
    progress_end(&own.progress);
    if (ok && !tensor_is_sparse(target)) {
        report->error = evaluator_error(evaluator, array, expected.values, expected.magnitudes,
                                        evaluator_count(evaluator));
    } else if (ok) {
        const EvaluatorInput got = evaluator_input(NULL, entries);
        EntriesError error;
        ok = evaluated_compare(evaluator, &expected, &got, &error);
        const bool differs = ok && error.missing + error.superfluous > 0;
        report->error = ok ? differs ? INFINITY : error.error : 0;
        if (differs)
            print_difference(target->name, target->order, &error);
    }
    report->tolerance = evaluator_tolerance_of(evaluator, expected.summands);
    evaluated_free(&expected);
    return ok || diagnostics_error(run->session->diagnostics, (Span){0}, "not enough memory for --check");
}

// Of all executions, the one with the largest error.
static void merge(StatementReport *report, const StatementReport *latest) {
    const bool is_first = !report->checked, right = is_first || report->check_ok;
    report->checked = true;
    report->drawn = latest->drawn;
    report->elements = latest->elements;
    if (is_first || (right && !latest->check_ok) ||
        (right == latest->check_ok && latest->error > report->error)) {
        report->error = latest->error;
        report->tolerance = latest->tolerance;
    }
    report->check_ok = right && latest->check_ok;
}

bool run_check(Run *run, int index, const CheckInputs *inputs) {
    const StatementPasses *passes = &run->pipeline->statements[index];
    const Assignment *assignment = passes->statement->assignment;
    const Tensor *target = assignment->lhs->tensor;
    Diagnostics *diagnostics = run->session->diagnostics;
    StatementReport *report = &run->statements[index].report, latest = {0};
    Evaluator *evaluator = evaluator_create(inputs->arena, assignment, pipeline_reorders_products(passes),
                                            run->pipeline->params);
    void *array = NULL;
    Entries entries = {0};
    bool ok = gather(run, target->id, evaluator_is_sparse(evaluator), &array, &entries);
    if (ok) {
        if (!evaluator_is_sparse(evaluator)) {
            const CheckedElements checked = {target->name,
                                             evaluator,
                                             (const void *const *)inputs->arrays,
                                             array,
                                             type_info(target->type)->size,
                                             inputs->executions,
                                             inputs->is_first};
            latest.tolerance = evaluator_tolerance(evaluator);
            ok = check_elements(run, &checked, &latest);
        } else if (run->rank == 0) {
            ok = compare_sparse(run, evaluator, target, inputs, array, &entries, &latest);
        }
        ok = agree_on(MPI_COMM_WORLD, ok, diagnostics);
    }
    free(array);
    entries_free(&entries);
    if (!ok)
        return false;
    all_reduce(&latest.error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    all_reduce(&latest.tolerance, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    latest.check_ok = latest.error <= latest.tolerance;
    merge(report, &latest);
    return true;
}
