// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run.h"
#include "index/evaluate.h"
#include "runtime/load.h"
#include "runtime/wait.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHECKED_AT_ONCE = 1 << 16 }; // elements

// Evaluates this rank's share of the elements and compares them with `result`, the whole tensor.
static bool compare(Run *run, const Evaluator *evaluator, const void *const *inputs, const char *result,
                    size_t element_size, double *error) {
    const int64_t count = evaluator_count(evaluator);
    // count * rank could overflow.
    const int64_t share = count / run->ranks, rest = count % run->ranks, rank = run->rank;
    const int64_t first = share * rank + (rank < rest ? rank : rest);
    const int64_t last = first + share + (rank < rest);
    void *values = malloc(evaluator_value_size(evaluator) * CHECKED_AT_ONCE);
    double *magnitudes = malloc(sizeof(double) * CHECKED_AT_ONCE);
    Progress progress = progress_start(rank == 0 && !run->session->options->quiet);
    bool ok = values && magnitudes;
    *error = 0;
    for (int64_t at = first; ok && at < last; at += CHECKED_AT_ONCE) {
        const int64_t end = last - at < CHECKED_AT_ONCE ? last : at + CHECKED_AT_ONCE;
        ok = evaluator_run(evaluator, inputs, at, end, values, magnitudes);
        if (ok)
            *error = fmax(*error, evaluator_error(evaluator, result + (size_t)at * element_size, values,
                                                  magnitudes, end - at));
        progress_show(&progress, "checking", end - first, last - first);
    }
    progress_end(&progress);
    free(values);
    free(magnitudes);
    return ok || diagnostics_error(run->session->diagnostics, (Span){0}, "not enough memory for --check");
}

static void print_verdict(const Run *run, const char *name, const StatementReport *report) {
    if (run->rank != 0 || (run->session->options->quiet && report->check_ok))
        return;
    fprintf(stderr, "check %s: max relative error %.2g, tolerance %.2g: %s\n", name, report->error,
            report->tolerance, report->check_ok ? "ok" : "FAILED");
}

bool run_check(Run *run, int index, const void *const *inputs) {
    const Assignment *assignment = run->pipeline->statements[index].statement->assignment;
    const Tensor *target = assignment->lhs->tensor;
    Diagnostics *diagnostics = run->session->diagnostics;
    StatementReport *report = &run->statements[index].report;
    Evaluator *evaluator = evaluator_create(run->session->arena, assignment, run->pipeline->params);
    void *result = storage_gather(run->storages[target->id], MPI_COMM_WORLD, diagnostics);
    if (!result)
        return false;
    bool ok = compare(run, evaluator, inputs, result, type_info(target->type)->size, &report->error);
    free(result);
    if (!agree_on(MPI_COMM_WORLD, ok, diagnostics))
        return false;
    all_reduce(&report->error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    report->checked = true;
    report->tolerance = evaluator_tolerance(evaluator);
    report->check_ok = report->error <= report->tolerance;
    print_verdict(run, target->name, report);
    return true;
}
