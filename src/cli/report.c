// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report.h"

#include "base/integer.h"
#include "base/utf8.h"
#include "cli/predict.h"
#include "pipeline/peaks.h"
#include "plan/indexed.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Figures of a tensor with the counts of all ranks, `stride` apart, in place of what is planned to move.
static void set_counted(TensorFigures *figures, const Counts *counts, int stride, int64_t ranks,
                        Arena *arena) {
    int64_t *bytes = arena_array(arena, int64_t, ranks), *messages = arena_array(arena, int64_t, ranks),
            *structure = arena_array(arena, int64_t, ranks);
    IoCounts *io = arena_array(arena, IoCounts, ranks);
    DeviceCounts *copied = arena_array(arena, DeviceCounts, ranks);
    for (int64_t rank = 0; rank < ranks; rank++, counts += stride) {
        bytes[rank] = counts->bytes;
        messages[rank] = counts->messages;
        structure[rank] = counts->structure;
        io[rank] = counts->io;
        copied[rank] = counts->copied;
    }
    figures->unknown = false;
    figures->bytes_received = bytes;
    figures->messages_received = messages;
    figures->structure_received = structure;
    figures->io = figures->io ? io : NULL;
    figures->copied = figures->copied ? copied : NULL;
}

const TensorFigures *report_tensors(const StatementPlan *plan, const StatementReport *report, Arena *arena,
                                    int *count) {
    const StatementFigures *planned = plan_figures(plan);
    *count = planned->tensor_count;
    if (!report)
        return planned->tensors;
    TensorFigures *figures = arena_copy(arena, planned->tensors, sizeof *figures * (size_t)*count);
    for (int t = 0; t < *count; t++)
        set_counted(&figures[t], &report->counted[t], *count, plan->ranks, arena);
    return figures;
}

static int64_t largest(const int64_t *values, int64_t count) {
    int64_t result = 0;
    for (int64_t i = 0; i < count; i++)
        result = values[i] > result ? values[i] : result;
    return result;
}

static int64_t sum(const int64_t *values, int64_t count) {
    int64_t result = 0;
    for (int64_t i = 0; i < count; i++)
        result = saturated_add(result, values[i]);
    return result;
}

// Exact for small numbers; the JSON has the exact number always.
const char *report_bytes(int64_t bytes, Arena *arena) {
    Text text = text_create(arena);
    text_append_bytes(&text, bytes);
    return text_string(&text);
}

void report_seconds(double seconds, Text *to) {
    static const struct {
        double least, factor;
        const char *unit;
    } units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {0, 1e6, "us"}};
    int i = 0;
    while (seconds < units[i].least)
        i++;
    text_printf(to, "%.3g %s", seconds * units[i].factor, units[i].unit);
}

double report_gflops(const StatementPlan *plan, const StatementReport *report) {
    if (plan->flop < 0)
        return NAN;
    return report->median > 0 ? 1e-9 * (double)plan->flop / report->median : 0;
}

void report_rate(const StatementPlan *plan, const StatementReport *report, Text *to) {
    if (plan->flop > 0)
        text_printf(to, ", %.3g GFLOP/s", report_gflops(plan, report));
}

Executions report_executions(const Pipeline *pipeline, int statement, const StatementReport *report) {
    const Program *program = pipeline->program;
    Executions executions = {
        .count = program_executions(program, statement, pipeline->plan->statements[statement]->params)};
    if (report)
        return (Executions){.count = program_innermost(program, statement) < 0 ? 1 : report->executions};
    for (int r = program_innermost(program, statement); r >= 0; r = program->repetitions[r].outer)
        executions.at_most = executions.at_most || program->repetitions[r].until;
    return executions;
}

void report_rounds(const Program *program, const RepetitionReport *reports, Text *to) {
    for (int r = 0; r < program->repetition_count; r++) {
        const Repetition *repetition = &program->repetitions[r];
        const RepetitionReport *report = &reports[r];
        if (!repetition->until)
            continue;
        const int64_t unended = report->begun - report->ended;
        repetition_print(program, repetition, to);
        text_printf(to, ": %" PRId64 " round%s", report->rounds, report->rounds == 1 ? "" : "s");
        if (report->begun != 1)
            text_printf(to, " in %" PRId64 " repetition%s", report->begun, report->begun == 1 ? "" : "s");
        if (report->begun > 1 && unended > 0)
            text_printf(to, ", %" PRId64 " of which ended without the condition", unended);
        else if (unended > 0 && report->rounds > 0)
            text_append(to, ", and the condition does not hold");
        text_append(to, "\n");
    }
}

// Whether a repetition assigns the sparse tensor, so that what it stores in later rounds is not known.
static bool is_changed(const Pipeline *pipeline, int statement, const Tensor *tensor) {
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    bool changed = false;
    for (int s = first; s < last && tensor_is_sparse(tensor); s++)
        changed = changed || pipeline->statements[s].statement->assignment->lhs->tensor == tensor;
    return changed;
}

bool report_total(const Pipeline *pipeline, int statement, const StatementReport *report,
                  StatementTotal *total) {
    const StatementPlan *plan = pipeline->plan->statements[statement];
    int count;
    const TensorFigures *figures = report_tensors(plan, report, pipeline->arena, &count);
    const Executions executions = report_executions(pipeline, statement, report);
    const int64_t times = report ? 1 : executions.count; // what is counted is of all executions
    *total = (StatementTotal){.flop = plan->flop < 0 ? -1 : saturated_mul(plan->flop, executions.count)};
    bool known = true;
    for (int t = 0; t < count; t++) {
        const bool changes = times > 1 && is_changed(pipeline, statement, figures[t].tensor);
        known = known && !figures[t].unknown && !changes;
        total->bytes =
            saturated_add(total->bytes, saturated_mul(times, sum(figures[t].bytes_received, plan->ranks)));
        total->messages = saturated_add(total->messages,
                                        saturated_mul(times, sum(figures[t].messages_received, plan->ranks)));
    }
    return known;
}

enum { ALWAYS = 9, COLUMNS = 12 };

// The columns of the table; numbers are aligned to the right.
static const struct {
    const char *upper, *lower;
    bool right;
} columns[COLUMNS] = {
    {"", "tensor", false},
    {"", "pattern", false},
    {"", "at", false},
    {"", "steps", true},
    {"moved", "busiest rank", true},
    {"moved", "all ranks", true},
    {"messages", "busiest rank", true},
    {"home", "largest", true},
    {"buffers", "largest", true},
    {"entries", "stored", true},         // where there are sparse tensors
    {"entries", "imbalance", true},      // the same, on several ranks
    {"structure", "busiest rank", true}, // where entries move
};

double report_imbalance(const int64_t *stored, int64_t ranks) {
    const double all = (double)sum(stored, ranks);
    return all > 0 ? (double)largest(stored, ranks) * (double)ranks / all : 1;
}

static void row_cells(const TensorFigures *figures, int64_t ranks, Arena *arena, const char **cells) {
    cells[0] = figures->tensor->name;
    cells[1] = figures->pattern;
    cells[2] = figures->at[0] ? figures->at : "-";
    cells[3] = arena_printf(arena, "%" PRId64, figures->steps);
    cells[4] = figures->unknown ? "?" : report_bytes(largest(figures->bytes_received, ranks), arena);
    cells[5] = figures->unknown ? "?" : report_bytes(sum(figures->bytes_received, ranks), arena);
    cells[6] =
        figures->unknown ? "?" : arena_printf(arena, "%" PRId64, largest(figures->messages_received, ranks));
    cells[7] = report_bytes(largest(figures->home_bytes, ranks), arena);
    cells[8] = figures->unknown ? "?" : report_bytes(largest(figures->buffer_bytes, ranks), arena);
    cells[9] = cells[10] = figures->stored ? "?" : "-";
    if (figures->stored && sum(figures->stored, ranks) >= 0) {
        cells[9] = arena_printf(arena, "%" PRId64, sum(figures->stored, ranks));
        cells[10] = arena_printf(arena, "%.3f", report_imbalance(figures->stored, ranks));
    }
    cells[11] = figures->unknown  ? "?"
                : figures->stored ? report_bytes(largest(figures->structure_received, ranks), arena)
                                  : "-";
}

static void print_cells(int count, const char *const *cells, const size_t *width, Text *to) {
    Text line = text_create(to->arena);
    for (int c = 0; c < count; c++)
        text_printf(&line, columns[c].right ? "  %*s" : "  %-*s", (int)width[c], cells[c]);
    size_t length = line.length;
    while (length > 0 && line.data[length - 1] == ' ')
        length--;
    text_append_n(to, text_string(&line), length);
    text_append(to, "\n");
}

// The tensors that the statement uses: of a long program, each uses a few.
static void print_tensors(const StatementPlan *plan, const TensorFigures *figures, int tensor_count,
                          Text *to) {
    Arena *arena = to->arena;
    const int rows = 2 + tensor_count;
    int count = ALWAYS;
    const int with_entries = plan->ranks > 1 ? ALWAYS + 2 : ALWAYS + 1;
    for (int t = 0; t < tensor_count; t++)
        if (figures[t].stored)
            count = figures[t].unknown || sum(figures[t].structure_received, plan->ranks) > 0 ? COLUMNS
                    : count > ALWAYS                                                          ? count
                                                                                              : with_entries;
    const char **cells = arena_array(arena, const char *, rows *COLUMNS);
    size_t width[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++) {
        cells[c] = columns[c].upper;
        cells[COLUMNS + c] = columns[c].lower;
    }
    for (int t = 0; t < tensor_count; t++)
        row_cells(&figures[t], plan->ranks, arena, &cells[(2 + t) * COLUMNS]);
    for (int i = 0; i < rows * COLUMNS; i++) {
        size_t length = strlen(cells[i]);
        width[i % COLUMNS] = length > width[i % COLUMNS] ? length : width[i % COLUMNS];
    }
    for (int r = 0; r < rows; r++)
        print_cells(count, &cells[r * COLUMNS], width, to);
}

static void print_io(const char *verb, int64_t bytes, int64_t runs, Text *to) {
    if (runs == 0)
        text_printf(to, "%ss nothing", verb);
    else
        text_printf(to, "%ss %s in %" PRId64 " run%s", verb, report_bytes(bytes, to->arena), runs,
                    runs == 1 ? "" : "s");
}

// The subject of what is counted by rank, of which a large plan samples some.
static const char *busiest_rank(const StatementPlan *plan) {
    return plan->options.sampled && plan->ranks > PLAN_UNSAMPLED_RANKS ? ": of some ranks, the busiest "
                                                                       : ": the busiest rank ";
}

// What is read and written of tensors in disk, whose homes take no memory.
static void print_disk(const StatementPlan *plan, const TensorFigures *figures, Text *to) {
    IoCounts most = {0};
    for (int64_t rank = 0; figures->io && rank < plan->ranks; rank++) {
        const IoCounts *io = &figures->io[rank];
        most.bytes_read = max_i64(most.bytes_read, io->bytes_read);
        most.bytes_written = max_i64(most.bytes_written, io->bytes_written);
        most.reads = max_i64(most.reads, io->reads);
        most.writes = max_i64(most.writes, io->writes);
    }
    if (!figures->io)
        return;
    text_printf(to, "  %s is in disk", figures->tensor->name);
    const Home *home = &plan->homes[figures->tensor->id];
    for (int m = 0; m < home->order && home->tile[0] > 0; m++)
        text_printf(to, "%s%" PRId64, m == 0 ? " in tiles of " : " x ", home->tile[m]);
    text_append(to, home->file == FILE_OF_RANK ? "" : " in a shared file");
    text_append(to, busiest_rank(plan));
    print_io("read", most.bytes_read, most.reads, to);
    text_append(to, " and ");
    print_io("write", most.bytes_written, most.writes, to);
    text_append(to, "\n");
}

// What is copied between memory of the host and of GPUs, on the rank that copies most.
static void print_copied(const StatementPlan *plan, const TensorFigures *figures, Text *to) {
    DeviceCounts most = {0};
    for (int64_t rank = 0; figures->copied && rank < plan->ranks; rank++) {
        most.to_device = max_i64(most.to_device, figures->copied[rank].to_device);
        most.from_device = max_i64(most.from_device, figures->copied[rank].from_device);
    }
    if (most.to_device + most.from_device == 0)
        return;
    text_printf(to, "  %s%scopies %s to its GPU", figures->tensor->name, busiest_rank(plan),
                report_bytes(most.to_device, to->arena));
    text_printf(to, " and %s from it\n", report_bytes(most.from_device, to->arena));
}

static bool is_uncounted(const TensorFigures *figures, int64_t ranks) {
    return figures->stored && sum(figures->stored, ranks) < 0;
}

static double round_digits(double value, int digits) {
    const double unit = value > 0 ? pow(10, floor(log10(value)) - digits + 1) : 1;
    return unit > 1 ? round(value / unit) * unit : round(value);
}

// About how many entries tensors get that are computed, where those of the operands are known.
static void print_estimated(const StatementPlan *plan, const TensorFigures *figures, int count, Text *to) {
    for (int t = 0; t < count; t++) {
        const Tensor *tensor = figures[t].tensor;
        const double entries = round_digits(plan_estimated_entries(plan, tensor), 3);
        if (is_uncounted(&figures[t], plan->ranks) && entries >= 0)
            text_printf(to, "  It is estimated that %s gets %.0f entries, %s with their coordinates.\n",
                        tensor->name, entries,
                        report_bytes(saturated_from(plan_estimated_bytes(plan, tensor)), to->arena));
    }
}

// Names the tensors of which the memory, and those of which the moved bytes, depend on unknown entries.
static void print_unknown(const StatementPlan *plan, const TensorFigures *figures, int count, Text *to) {
    Text stored = text_create(to->arena), moved = text_create(to->arena);
    int stored_count = 0, moved_count = 0;
    for (int t = 0; t < count; t++) {
        if (is_uncounted(&figures[t], plan->ranks))
            text_printf(&stored, "%s%s", stored_count++ ? ", " : "", figures[t].tensor->name);
        if (figures[t].unknown)
            text_printf(&moved, "%s%s", moved_count++ ? ", " : "", figures[t].tensor->name);
    }
    if (stored_count > 0)
        text_printf(to,
                    "  The memory of %s is not counted: what is stored is known once %s given or computed.\n",
                    text_string(&stored), stored_count > 1 ? "they are" : "it is");
    print_estimated(plan, figures, count, to);
    if (moved_count > 0)
        text_printf(to, "  What moves of %s is known once %s entries are given or computed.\n",
                    text_string(&moved), moved_count > 1 ? "their" : "its");
}

bool report_has_structure(const StatementPlan *plan) {
    bool has = tensor_is_sparse(plan->target);
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        has = has || plan->moves[t] || transfer_indexed_by(plan, t) >= 0;
    return has;
}

// What the figures of a statement are of, where it is repeated: of a plan each execution, of a run all.
static void print_executions(const Pipeline *pipeline, int statement, const StatementReport *report,
                             Text *to) {
    if (program_innermost(pipeline->program, statement) < 0)
        return;
    const Executions executions = report_executions(pipeline, statement, report);
    const char *s = executions.count == 1 ? "" : "s";
    if (executions.count == 0)
        text_append(to, "not executed: ");
    else if (report)
        text_printf(to, "%" PRId64 " execution%s%s: ", executions.count, s,
                    executions.count > 1 ? " together" : "");
    else
        text_printf(to, "each of %s%" PRId64 " execution%s: ", executions.at_most ? "up to " : "",
                    executions.count, s);
}

static void print_measured(const StatementPlan *plan, const StatementReport *report, Text *to) {
    if (report->executions == 0)
        return;
    text_append(to, "  ");
    if (report->executions > 1) {
        report_seconds(report->seconds, to);
        text_append(to, ", each ");
    }
    report_seconds(report->median, to);
    text_append(to, " (fastest ");
    report_seconds(report->min, to);
    text_append(to, ", slowest ");
    report_seconds(report->max, to);
    text_append(to, ")");
    report_rate(plan, report, to);
    text_append(to, "\n");
    if (report_has_structure(plan)) {
        text_append(to, "  before that, ");
        report_seconds(report->structure_seconds, to);
        if (tensor_is_sparse(plan->target))
            text_printf(to, " for the structure of %s\n", plan->target->name);
        else
            text_append(to, " to find what moves for the entries of operands\n");
    }
}

// "2 cores and 22.3 GiB of free memory in a node; ranks are bound to processing units 0 / 1"
static void print_system(const RunReport *run, int64_t ranks, Text *to) {
    enum { SHOWN_RANKS = 4 };
    static const char *const phrases[] = {
        [BINDING_NONE] = "ranks are not bound",
        [BINDING_DISTAL] = "ranks are bound to processing units",
        [BINDING_OUTSIDE] = "ranks are bound from outside to processing units",
    };
    text_printf(to, "%" PRId64 " core%s", run->cores, run->cores == 1 ? "" : "s");
    if (run->free_memory >= 0)
        text_printf(to, " and %s of free memory", report_bytes(run->free_memory, to->arena));
    text_printf(to, " in a node; %s", phrases[run->binding]);
    const int64_t shown = run->binding == BINDING_NONE ? 0 : min_i64(ranks, SHOWN_RANKS);
    for (int64_t r = 0; r < shown; r++)
        text_printf(to, "%s %s", r ? " /" : "", run->units[r]);
    text_append(to, 0 < shown && shown < ranks ? " / ...\n" : "\n");
}

// On several ranks also how elements move between their GPUs.
static void print_gpu(const Pipeline *pipeline, const RunReport *run, Text *to) {
    const PlanOptions *options = &pipeline->plan->options;
    if (!run->gpu)
        return;
    text_printf(to, "kernels run on %s\n", run->gpu);
    if (pipeline->ranks == 1)
        return;
    text_printf(to, "%" PRId64 " ranks use %d GPU%s\n", pipeline->ranks, run->gpus,
                run->gpus == 1 ? "" : "s");
    if (!options->gpu_messages)
        text_append(to, "messages between GPUs go through host memory\n");
    else if (options->gpu_sums)
        text_append(
            to, "GPU-aware MPI sends what moves from GPU to GPU, and partial results are combined there\n");
    else
        text_printf(to,
                    "GPU-aware MPI sends what is fetched from GPU to GPU; partial results go through host "
                    "memory%s%s\n",
                    run->no_gpu_sums ? ", " : "", run->no_gpu_sums ? run->no_gpu_sums : "");
    if (options->gpu_nodes)
        text_append(to, "ranks of a node read each other's GPU memory\n");
}

// "ranks of a node read each other's parts of B, C"
static void print_shared(const Plan *plan, Text *to) {
    bool any = false;
    for (int t = 0; t < plan->tensor_count; t++) {
        if (!plan->homes[t].shared)
            continue;
        text_printf(to, "%s %s", any ? "," : "ranks of a node read each other's parts of",
                    plan->tensors[t]->name);
        any = true;
    }
    text_append(to, any ? "\n" : "");
}

// -1: not known.
static void print_flop(int64_t flop, Text *to) {
    if (flop == INT64_MAX)
        text_append(to, "more than 9.2e18 flop; ");
    else if (flop >= 0)
        text_printf(to, "%" PRId64 " flop; ", flop);
}

// `gpu` -1: nothing is in GPU memory.
static void print_peaks(int64_t host, int64_t gpu, Text *to) {
    text_printf(to, "at most %s of memory", report_bytes(host, to->arena));
    if (gpu >= 0)
        text_printf(to, " and %s of GPU memory", report_bytes(gpu, to->arena));
    text_append(to, " in a rank\n");
}

// What all statements of a program do together: what is not known of one is not known of all.
static void print_total(const Pipeline *pipeline, const RunReport *run, const ModelRanks *machine, Text *to) {
    const Plan *plan = pipeline->plan;
    int64_t flop = 0, bytes = 0, messages = 0, peak = 0, gpu_peak = -1;
    bool flop_known = true, moves_known = true, at_most = false;
    for (int s = 0; s < plan->statement_count; s++) {
        const StatementReport *report = run ? &run->statements[s] : NULL;
        StatementTotal total;
        moves_known = report_total(pipeline, s, report, &total) && moves_known;
        at_most = at_most || report_executions(pipeline, s, report).at_most;
        flop_known = flop_known && total.flop >= 0;
        flop = saturated_add(flop, max_i64(total.flop, 0));
        bytes = saturated_add(bytes, total.bytes);
        messages = saturated_add(messages, total.messages);
        peak =
            max_i64(peak, largest(peaks_of_statement(pipeline, s, MEMORY_HOST, to->arena), pipeline->ranks));
        const int64_t *gpu = peaks_of_statement(pipeline, s, MEMORY_GPU, to->arena);
        gpu_peak = max_i64(gpu_peak, gpu ? largest(gpu, pipeline->ranks) : -1);
    }
    text_printf(to, "\nall statements%s\n  ", at_most ? ", at most" : "");
    print_flop(flop_known ? flop : -1, to);
    if (moves_known)
        text_printf(to, "%s in %" PRId64 " message%s; ", report_bytes(bytes, to->arena), messages,
                    messages == 1 ? "" : "s");
    print_peaks(peak, gpu_peak, to);
    if (machine)
        predict_print_total(pipeline, machine, to);
}

static void print_figures(const StatementPlan *plan, const StatementReport *report, Text *to) {
    int count;
    const TensorFigures *figures = report_tensors(plan, report, to->arena, &count);
    print_tensors(plan, figures, count, to);
    for (int t = 0; t < count; t++)
        print_disk(plan, &figures[t], to);
    for (int t = 0; t < count; t++)
        print_copied(plan, &figures[t], to);
    print_unknown(plan, figures, count, to);
}

void report_table(const Pipeline *pipeline, const RunReport *run, const ModelRanks *machine, Text *to) {
    text_append_visible(to, pipeline->source.name, strlen(pipeline->source.name));
    text_printf(to, " on %" PRId64 " rank%s", pipeline->ranks, pipeline->ranks == 1 ? "" : "s");
    if (run) {
        text_printf(to, " of %" PRId64 " thread%s; %s, %s; kernel ", run->threads,
                    run->threads == 1 ? "" : "s", run->mpi, run->blas);
        text_append(to, run->cache_hit ? "from the cache" : "compiled in ");
        if (!run->cache_hit)
            report_seconds(run->compile_seconds, to);
    }
    text_append(to, "\n");
    if (run) {
        print_system(run, pipeline->ranks, to);
        print_gpu(pipeline, run, to);
    }
    print_shared(pipeline->plan, to);
    if (machine)
        predict_print_machine(machine, to);
    if (run && run->blas_note)
        text_printf(to, "warning: %s\n", run->blas_note);
    for (int i = 0; i < pipeline->program->statement_count; i++) {
        const StatementPlan *plan = pipeline->plan->statements[i];
        const StatementReport *report = run ? &run->statements[i] : NULL;
        text_append(to, "\n");
        assignment_print(pipeline->statements[i].statement->assignment, to);
        text_append(to, "\n  ");
        print_executions(pipeline, i, report, to);
        StatementTotal total;
        report_total(pipeline, i, report, &total);
        print_flop(report ? total.flop : plan->flop, to);
        const int64_t *gpu = peaks_of_statement(pipeline, i, MEMORY_GPU, to->arena);
        print_peaks(largest(peaks_of_statement(pipeline, i, MEMORY_HOST, to->arena), plan->ranks),
                    gpu ? largest(gpu, plan->ranks) : -1, to);
        if (report)
            print_measured(plan, report, to);
        text_append(to, "\n");
        print_figures(plan, report, to);
        if (machine)
            predict_print(pipeline, i, machine, to);
    }
    if (pipeline->program->statement_count > 1 || pipeline->program->repetition_count > 0)
        print_total(pipeline, run, machine, to);
}
