// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report.h"

#include "base/utf8.h"
#include "cli/predict.h"
#include "pipeline/peaks.h"

#include <inttypes.h>
#include <math.h>

// JSON has no infinity and no NaN.
static void print_real(double value, Text *to) {
    if (isfinite(value))
        text_printf(to, "%.9g", value);
    else
        text_append(to, "null");
}

static void print_integers(const char *key, const int64_t *values, int64_t count, Text *to) {
    text_printf(to, "\"%s\": [", key);
    for (int64_t i = 0; i < count; i++)
        text_printf(to, "%s%" PRId64, i ? ", " : "", values[i]);
    text_append(to, "]");
}

// What moves, and the memory that this takes, or null where it is not known.
static void print_moved(const char *key, bool unknown, const int64_t *values, int64_t count, Text *to) {
    if (unknown)
        text_printf(to, "\"%s\": null", key);
    else
        print_integers(key, values, count, to);
}

// What is read and written of a tensor in disk.
static void print_io(const StatementPlan *plan, const TensorFigures *figures, Text *to) {
    static const char *const keys[] = {"bytes_read", "bytes_written", "reads", "writes"};
    int64_t *values = arena_array(to->arena, int64_t, plan->ranks);
    for (int k = 0; k < 4; k++) {
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            const IoCounts *io = &figures->io[rank];
            const int64_t counts[] = {io->bytes_read, io->bytes_written, io->reads, io->writes};
            values[rank] = counts[k];
        }
        text_append(to, k % 2 ? ", " : ",\n      ");
        print_integers(keys[k], values, plan->ranks, to);
    }
    if (plan->homes[figures->tensor->id].file != FILE_OF_RANK)
        text_append(to, ", \"in_place\": true");
}

// What is copied of a tensor between memory of the host and of GPUs.
static void print_copied(const StatementPlan *plan, const TensorFigures *figures, Text *to) {
    int64_t *to_gpu = arena_array(to->arena, int64_t, plan->ranks);
    int64_t *from_gpu = arena_array(to->arena, int64_t, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        to_gpu[rank] = figures->copied[rank].to_device;
        from_gpu[rank] = figures->copied[rank].from_device;
    }
    text_append(to, ",\n      ");
    print_integers("bytes_to_gpu", to_gpu, plan->ranks, to);
    text_append(to, ", ");
    print_integers("bytes_from_gpu", from_gpu, plan->ranks, to);
}

static void print_tensor(const StatementPlan *plan, const TensorFigures *figures, Text *to) {
    text_append_json(to, figures->tensor->name);
    text_printf(to, ": {\"pattern\": \"%s\", \"at\": ", figures->pattern);
    text_append_json(to, figures->at);
    text_printf(to, ", \"steps\": %" PRId64 ",\n      ", figures->steps);
    const bool unknown = figures->unknown;
    print_moved("bytes_received", unknown, figures->bytes_received, plan->ranks, to);
    text_append(to, ", ");
    print_moved("messages_received", unknown, figures->messages_received, plan->ranks, to);
    text_append(to, ",\n      ");
    print_integers("home_bytes", figures->home_bytes, plan->ranks, to);
    text_append(to, ", ");
    print_moved("buffer_bytes", unknown, figures->buffer_bytes, plan->ranks, to);
    if (figures->io)
        print_io(plan, figures, to);
    if (figures->copied)
        print_copied(plan, figures, to);
    if (figures->stored) {
        text_append(to, ",\n      ");
        if (!plan->homes[figures->tensor->id].stored_entries) {
            const double estimate = plan_estimated_entries(plan, figures->tensor);
            text_append(to, "\"stored\": null, \"imbalance\": null");
            if (estimate >= 0)
                text_printf(to, ", \"stored_estimate\": %.0f", estimate);
        } else {
            print_integers("stored", figures->stored, plan->ranks, to);
            text_printf(to, ", \"imbalance\": %.6g", report_imbalance(figures->stored, plan->ranks));
        }
        text_append(to, ", ");
        print_moved("structure_bytes_received", unknown, figures->structure_received, plan->ranks, to);
    }
    text_append(to, "}");
}

// Bytes and messages of all tensors together, by rank.
static void print_totals(const StatementPlan *plan, const TensorFigures *figures, int count, Text *to) {
    int64_t *bytes = arena_array(to->arena, int64_t, plan->ranks);
    int64_t *messages = arena_array(to->arena, int64_t, plan->ranks);
    for (int t = 0; t < count; t++)
        for (int64_t r = 0; r < plan->ranks; r++) {
            bytes[r] += figures[t].bytes_received[r];
            messages[r] += figures[t].messages_received[r];
        }
    print_integers("bytes_received", bytes, plan->ranks, to);
    text_append(to, ", ");
    print_integers("messages_received", messages, plan->ranks, to);
}

static void print_measured(const StatementPlan *plan, const StatementReport *report,
                           const TensorFigures *figures, int count, Text *to) {
    const double seconds[] = {report->min, report->median, report->max};
    static const char *const names[] = {"min", "median", "max"};
    text_append(to, ",\n   \"seconds\": {");
    for (int i = 0; i < 3; i++) {
        text_printf(to, "%s\"%s\": ", i ? ", " : "", names[i]);
        print_real(seconds[i], to);
    }
    text_append(to, "}, ");
    if (report_has_structure(plan)) {
        text_append(to, "\"structure_seconds\": ");
        print_real(report->structure_seconds, to);
        text_append(to, ", ");
    }
    text_append(to, "\"gflops\": ");
    print_real(report_gflops(plan, report), to);
    text_append(to, ",\n   ");
    print_totals(plan, figures, count, to);
    if (report->checked) {
        text_append(to, ",\n   \"check\": {\"max_rel_error\": ");
        print_real(report->error, to);
        text_append(to, ", \"tolerance\": ");
        print_real(report->tolerance, to);
        if (report->drawn > 0)
            text_printf(to, ", \"elements\": %" PRId64, report->drawn);
        text_printf(to, ", \"ok\": %s}", report->check_ok ? "true" : "false");
    }
}

static void print_number(const char *key, bool known, int64_t value, Text *to) {
    text_printf(to, "\"%s\": ", key);
    if (known)
        text_printf(to, "%" PRId64, value);
    else
        text_append(to, "null");
}

// Of a repeated statement, all executions of all ranks together.
static void print_executions(const Pipeline *pipeline, int statement, const StatementReport *report,
                             Text *to) {
    if (program_innermost(pipeline->program, statement) < 0)
        return;
    StatementTotal total;
    const bool known = report_total(pipeline, statement, report, &total);
    text_printf(to, ", \"executions\": %" PRId64 ",\n   \"total\": {",
                report_executions(pipeline, statement, report).count);
    print_number("flop", total.flop >= 0, total.flop, to);
    text_append(to, ", ");
    print_number("bytes", known, total.bytes, to);
    text_append(to, ", ");
    print_number("messages", known, total.messages, to);
    if (report) {
        text_append(to, ", \"seconds\": ");
        print_real(report->seconds, to);
    }
    text_append(to, "}");
}

static void print_statement(const Pipeline *pipeline, int index, const StatementReport *report,
                            const ModelRanks *machine, Text *to) {
    const StatementPlan *plan = pipeline->plan->statements[index];
    text_append(to, "  {\"target\": ");
    text_append_json(to, plan->target->name);
    print_executions(pipeline, index, report, to);
    if (plan->flop < 0)
        text_append(to, ", \"flop\": null,\n   \"tensors\": {");
    else
        text_printf(to, ", \"flop\": %" PRId64 ",\n   \"tensors\": {", plan->flop);
    int used_count, next = 0;
    const TensorFigures *used = report_tensors(plan, report, to->arena, &used_count);
    for (int t = 0; t < plan->plan->tensor_count; t++) {
        const bool is_used = next < used_count && used[next].tensor->id == t;
        const TensorFigures figures = is_used ? used[next++] : plan_tensor_figures(plan, t);
        text_append(to, t ? ",\n    " : "\n    ");
        print_tensor(plan, &figures, to);
    }
    text_append(to, "},\n   ");
    print_integers("peak_bytes", peaks_of_statement(pipeline, index, MEMORY_HOST, to->arena), plan->ranks,
                   to);
    const int64_t *gpu_peaks = peaks_of_statement(pipeline, index, MEMORY_GPU, to->arena);
    if (gpu_peaks) {
        text_append(to, ", ");
        print_integers("gpu_peak_bytes", gpu_peaks, plan->ranks, to);
    }
    text_append(to, ", \"plan_seconds\": ");
    print_real(plan->seconds + plan_figures(plan)->seconds, to);
    if (machine)
        predict_print_json(plan, machine, to);
    if (report)
        print_measured(plan, report, used, used_count, to);
    text_append(to, "}");
}

static void print_system(const Plan *plan, const RunReport *run, int64_t ranks, Text *to) {
    text_printf(to, "\n \"cores\": %" PRId64 ", \"memory_bytes\": ", run->cores);
    if (run->free_memory >= 0)
        text_printf(to, "%" PRId64, run->free_memory);
    else
        text_append(to, "null");
    text_printf(to, ", \"binding\": \"%s\", \"processing_units\": [", binding_names[run->binding]);
    for (int64_t r = 0; r < ranks; r++)
        text_printf(to, "%s\"%s\"", r ? ", " : "", run->units[r]);
    text_printf(to, "], \"gpus\": %d, \"gpu\": ", run->gpus);
    if (run->gpu)
        text_append_json(to, run->gpu);
    else
        text_append(to, "null");
    text_append(to, ", \"shared\": [");
    bool any = false;
    for (int t = 0; t < plan->tensor_count; t++) {
        if (!plan->homes[t].shared)
            continue;
        text_printf(to, "%s\"%s\"", any ? ", " : "", plan->tensors[t]->name);
        any = true;
    }
    text_append(to, "],\n");
}

// Of a plan, `reports` is NULL.
static void print_repetitions(const Pipeline *pipeline, const RepetitionReport *reports, Text *to) {
    const Program *program = pipeline->program;
    text_append(to, " \"repetitions\": [\n");
    for (int r = 0; r < program->repetition_count; r++) {
        const Repetition *repetition = &program->repetitions[r];
        text_printf(to,
                    "%s  {\"first\": %d, \"last\": %d, \"count\": %" PRId64 ", \"until\": ", r ? ",\n" : "",
                    repetition->first, repetition->last - 1, repetition_count(repetition, pipeline->params));
        if (repetition->until) {
            Text condition = text_create(to->arena);
            repetition_print_condition(repetition, &condition);
            text_append_json(to, text_string(&condition));
        } else {
            text_append(to, "null");
        }
        if (reports)
            text_printf(to, ", \"begun\": %" PRId64 ", \"rounds\": %" PRId64 ", \"ended\": %" PRId64,
                        reports[r].begun, reports[r].rounds, reports[r].ended);
        text_append(to, "}");
    }
    text_append(to, "],\n");
}

void report_json(const Pipeline *pipeline, const RunReport *run, const ModelRanks *machine, Text *to) {
    text_append(to, "{\"program\": ");
    text_append_json(to, pipeline->source.name);
    text_printf(to, ", \"ranks\": %" PRId64 ",", pipeline->ranks);
    if (run) {
        text_printf(to, " \"threads\": %" PRId64 ", \"compile_seconds\": ", run->threads);
        print_real(run->compile_seconds, to);
        text_printf(to, ", \"cache\": \"%s\", \"mpi\": ", run->cache_hit ? "hit" : "miss");
        text_append_json(to, run->mpi);
        text_append(to, ", \"blas\": ");
        text_append_json(to, run->blas);
        if (run->blas_note) {
            text_append(to, ", \"blas_warning\": ");
            text_append_json(to, run->blas_note);
        }
        text_append(to, ",");
        print_system(pipeline->plan, run, pipeline->ranks, to);
    }
    if (pipeline->program->repetition_count > 0)
        print_repetitions(pipeline, run ? run->repetitions : NULL, to);
    text_append(to, " \"statements\": [\n");
    for (int i = 0; i < pipeline->program->statement_count; i++) {
        text_append(to, i ? ",\n" : "");
        print_statement(pipeline, i, run ? &run->statements[i] : NULL, machine, to);
    }
    text_append(to, "]}\n");
}
