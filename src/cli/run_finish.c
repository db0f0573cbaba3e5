// SPDX-License-Identifier: BSD-3-Clause
#include "cli/drafts.h"
#include "cli/environment.h"
#include "cli/run.h"
#include "runtime/load.h"
#include "runtime/save.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_value(const void *value, ElementType type, Text *to) {
    const float *f32 = value;
    const double *f64 = value;
    switch (type) {
    case TYPE_I32:
        text_printf(to, "%" PRId32, *(const int32_t *)value);
        return;
    case TYPE_I64:
        text_printf(to, "%" PRId64, *(const int64_t *)value);
        return;
    case TYPE_F32:
        text_append_real(to, (double)f32[0], true);
        return;
    case TYPE_F64:
        text_append_real(to, f64[0], false);
        return;
    case TYPE_C64:
    case TYPE_C128:
        break;
    }
    const bool single = type == TYPE_C64;
    const double re = single ? (double)f32[0] : f64[0], im = single ? (double)f32[1] : f64[1];
    text_append_real(to, re, single);
    text_append(to, isnan(im) || !signbit(im) ? "+" : "");
    text_append_real(to, im, single);
    text_append(to, "i");
}

// Prints "a = 1.5" for every scalar that is computed and not written to a file. Sets *any if there is one.
static bool print_scalars(Run *run, bool *any) {
    const Program *program = run->pipeline->program;
    Text text = text_create(run->session->arena);
    for (int i = 0; i < program->tensor_count; i++) {
        const Tensor *tensor = program->tensors[i];
        if (tensor->order > 0 || !program_is_output(program, tensor) || run->bindings.outputs[tensor->id])
            continue;
        void *value = storage_gather(run->storages[tensor->id], MPI_COMM_WORLD, run->session->diagnostics);
        if (!value)
            return false;
        text_printf(&text, "%s = ", tensor->name);
        print_value(value, tensor->type, &text);
        text_append(&text, "\n");
        free(value);
        *any = true;
    }
    bool ok = run->rank != 0 || session_print(run->session, &text) == EXIT_FINE;
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}

static bool write_outputs(Run *run, bool *any) {
    const Program *program = run->pipeline->program;
    if (run->rank == 0)
        drafts_remove_on_signals(run->session->options, run->session->arena);
    for (int i = 0; i < program->tensor_count; i++) {
        const char *path = run->bindings.outputs[i];
        if (!path)
            continue;
        if (!storage_save(run->storages[i], path, drafts_token(), MPI_COMM_WORLD, run->session->diagnostics))
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
                       .threads = run->threads,
                       .cores = run->cores.node_cores,
                       .free_memory = run->free_memory,
                       .binding = run->cores.binding,
                       .units = units,
                       .compile_seconds = run->compile_seconds,
                       .cache_hit = run->cache_hit,
                       .mpi = environment_mpi(arena),
                       .blas = environment_blas(arena),
                       .blas_note = environment_blas_note(run->threads, arena)};
}

// One line for each statement, printed where a run prints and writes nothing else.
static void print_summary(const Run *run, Text *to) {
    for (int i = 0; i < run->pipeline->program->statement_count; i++) {
        const StatementReport *report = &run->statements[i].report;
        assignment_print(run->pipeline->statements[i].statement->assignment, to);
        text_append(to, ": ");
        report_seconds(report->median, to);
        report_rate(run->pipeline->plan->statements[i], report, to);
        text_append(to, "\n");
    }
}

bool run_finish(Run *run, bool right) {
    const Options *options = run->session->options;
    bool any = options->check;
    if (right && options->stats != STATS_JSON && !print_scalars(run, &any))
        return false;
    if (right && !write_outputs(run, &any))
        return false;
    const char *const *units = environment_units(&run->cores, run->session->arena);
    if (run->rank != 0)
        return true;
    Text text = text_create(run->session->arena);
    const RunReport report = make_report(run, units);
    if (options->stats == STATS_JSON) {
        report_json(run->pipeline, &report, &text);
        return session_print(run->session, &text) == EXIT_FINE;
    }
    if (options->stats == STATS_TEXT || options->verbose)
        report_table(run->pipeline, &report, &text);
    else if (!any && !options->quiet)
        print_summary(run, &text);
    fputs(text_string(&text), stderr);
    return true;
}
