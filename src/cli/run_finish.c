// SPDX-License-Identifier: BSD-3-Clause
#include "cli/drafts.h"
#include "cli/environment.h"
#include "cli/run.h"
#include "memory/device.h"
#include "runtime/print.h"
#include "runtime/save.h"

#include <inttypes.h>
#include <stdio.h>

// Prints what --print names, and every scalar that is computed and not written to a file. Sets *any if there
// is one.
static bool print_tensors(Run *run, bool *any) {
    const Program *program = run->pipeline->program;
    const bool is_json = run->session->options->stats == STATS_JSON;
    Text text = text_create(run->session->arena);
    for (int i = 0; i < program->tensor_count; i++) {
        const Tensor *tensor = program->tensors[i];
        const bool is_result = tensor->order == 0 && program_is_output(program, tensor);
        if (!run->bindings.printed[i] && (!is_result || is_json || run->bindings.outputs[i]))
            continue;
        run_limit(run, run->storages[i]);
        if (!storage_print(run->storages[i], tensor->name, &text, MPI_COMM_WORLD, run->session->diagnostics))
            return false;
        *any = true;
    }
    bool ok = run->rank != 0 || session_print(run->session, &text) == EXIT_FINE;
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

static bool write_outputs(Run *run, bool *any) {
    const Program *program = run->pipeline->program;
    Diagnostics *diagnostics = run->session->diagnostics;
    for (int i = 0; i < program->tensor_count; i++) {
        const char *path = run->bindings.outputs[i];
        if (!path || run->in_place[i])
            continue;
        run_limit(run, run->storages[i]);
        if (!storage_save(run->storages[i], path, drafts_token(), MPI_COMM_WORLD, diagnostics))
            return false;
        *any = true;
    }
    // Last, as their elements are written already: where there is no room for the others, none is replaced.
    for (int i = 0; i < program->tensor_count; i++) {
        if (!run->in_place[i])
            continue;
        if (!storage_complete_output(run->storages[i], run->in_place[i], MPI_COMM_WORLD, diagnostics))
            return false;
        *any = true;
    }
    return true;
}

static RunReport make_report(const Run *run, const char *const *units) {
    Arena *arena = run->session->arena;
    const int count = run->pipeline->program->statement_count;
    StatementReport *statements = arena_array(arena, StatementReport, count);
    for (int i = 0; i < count; i++)
        statements[i] = run->statements[i].report;
    return (RunReport){.statements = statements,
                       .repetitions = run->repetitions,
                       .threads = run->threads,
                       .cores = run->cores.node_cores,
                       .free_memory = run->free_memory,
                       .binding = run->cores.binding,
                       .units = units,
                       .compile_seconds = run->compile_seconds,
                       .cache_hit = run->cache_hit,
                       .mpi = environment_mpi(arena),
                       .blas = environment_blas(arena),
                       .blas_note = environment_blas_note(run->threads, arena),
                       .gpu = device_current() ? device_current()->describe() : NULL,
                       .gpus = run->gpus,
                       .no_gpu_sums = run->no_gpu_sums};
}

// One line for each statement, printed where a run prints and writes nothing else.
static void print_summary(const Run *run, Text *to) {
    for (int i = 0; i < run->pipeline->program->statement_count; i++) {
        const StatementReport *report = &run->statements[i].report;
        assignment_print(run->pipeline->statements[i].statement->assignment, to);
        text_append(to, ": ");
        if (report->executions != 1)
            text_printf(to, "%" PRId64 " executions%s", report->executions,
                        report->executions ? ", each " : "");
        if (report->executions > 0) {
            report_seconds(report->median, to);
            report_rate(run->pipeline->plan->statements[i], report, to);
        }
        text_append(to, "\n");
    }
}

static void print_rounds(const Run *run) {
    Text text = text_create(run->session->arena);
    report_rounds(run->pipeline->program, run->repetitions, &text);
    fputs(text_string(&text), stderr);
}

bool run_finish(Run *run, bool right) {
    const Options *options = run->session->options;
    bool any = options->check;
    if (run->rank == 0 && !options->quiet)
        print_rounds(run);
    if (right && !print_tensors(run, &any))
        return false;
    if (right && !write_outputs(run, &any))
        return false;
    const char *const *units = environment_units(&run->cores, run->session->arena);
    if (run->rank != 0)
        return true;
    Text text = text_create(run->session->arena);
    const RunReport report = make_report(run, units);
    if (options->stats == STATS_JSON) {
        report_json(run->pipeline, &report, NULL, &text);
        return session_print(run->session, &text) == EXIT_FINE;
    }
    if (options->stats == STATS_TEXT || options->verbose)
        report_table(run->pipeline, &report, NULL, &text);
    else if (!any && !options->quiet)
        print_summary(run, &text);
    fputs(text_string(&text), stderr);
    return true;
}
