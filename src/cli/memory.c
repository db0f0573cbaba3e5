// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory.h"

#include "base/integer.h"
#include "cli/report.h"
#include "pipeline/peaks.h"
#include "runtime/agreement.h"
#include "runtime/contraction.h"
#include "runtime/load.h"
#include "runtime/node.h"
#include "runtime/wait.h"

#include <inttypes.h>

// The tensors of a statement, whole.
static int64_t whole_bytes(const Pipeline *pipeline, const Assignment *assignment) {
    int64_t bytes = 0;
    for (int t = 0; t < pipeline->program->tensor_count; t++) {
        const Home *home = &pipeline->plan->homes[t];
        if (home->tensor != assignment->lhs->tensor && !expr_access_of(assignment->rhs, home->tensor))
            continue;
        const int64_t size = (int64_t)type_info(home->tensor->type)->size;
        const Rect whole = rect_whole(home->order, home->extents);
        int64_t entry_count = 0;
        for (int64_t rank = 0; home->stored_entries && rank < home->ranks; rank++)
            entry_count = saturated_add(entry_count, home->stored_entries[rank]);
        if (tensor_is_sparse(home->tensor)) // as entries
            bytes = saturated_add(
                bytes, saturated_mul(entry_count, size + home->tensor->order * (int64_t)sizeof(int64_t)));
        else
            bytes = saturated_add(bytes, rect_volume(&whole) * size);
    }
    return bytes;
}

// A check gathers these on the ranks that evaluate: all, of a statement with a sparse tensor the first one.
static int64_t checked_bytes(const Pipeline *pipeline, const Options *options, const Assignment *assignment,
                             int64_t rank) {
    if (!options->check)
        return 0;
    const int64_t bytes = whole_bytes(pipeline, assignment);
    return rank > 0 && assignment_sparse(assignment) ? min_i64(bytes, GATHER_BYTES) : bytes;
}

static int64_t copied_bytes(const Pipeline *pipeline, const Options *options, int statement, int64_t rank) {
    const Assignment *assignment = pipeline->statements[statement].statement->assignment;
    const bool is_repeated = program_outermost(pipeline->program, statement) >= 0;
    const bool again =
        assignment_reads_target(assignment) && !is_repeated && options->warmup + options->repeat > 1;
    return again ? home_memory_bytes(&pipeline->plan->homes[assignment->lhs->tensor->id], rank) : 0;
}

// Of all statements that are executed together with this one.
static int64_t contraction_bytes(const Pipeline *pipeline, int statement) {
    int64_t bytes = 0;
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        const StatementPlan *plan = pipeline->plan->statements[s];
        if (plan->spmd->contracts)
            bytes = saturated_add(bytes, contraction_space(plan->options.threads));
    }
    return bytes;
}

int64_t memory_of_statement(const Pipeline *pipeline, const Options *options, int statement, int64_t rank) {
    const Assignment *assignment = pipeline->statements[statement].statement->assignment;
    // What depends on entries that are not known is compared with the limit once they are (memory_left).
    int64_t bytes = peaks_known(pipeline, statement, rank);
    bytes = saturated_add(bytes, contraction_bytes(pipeline, statement));
    bytes = saturated_add(bytes, checked_bytes(pipeline, options, assignment, rank));
    return saturated_add(bytes, copied_bytes(pipeline, options, statement, rank));
}

int64_t memory_of_rank(const Pipeline *pipeline, const Options *options, int64_t rank) {
    int64_t most = 0;
    for (int i = 0; i < pipeline->program->statement_count; i++)
        most = max_i64(most, memory_of_statement(pipeline, options, i, rank));
    return most;
}

typedef struct {
    int statement;
    int64_t rank, bytes;
} Peak;

// The first of the ranks with the largest peak.
static Peak find_peak(const Pipeline *pipeline, const Options *options) {
    Peak peak = {0, 0, -1};
    for (int i = 0; i < pipeline->program->statement_count; i++) {
        plan_figures(pipeline->plan->statements[i]);
        for (int64_t rank = 0; rank < pipeline->ranks; rank++) {
            const int64_t bytes = memory_of_statement(pipeline, options, i, rank);
            if (bytes > peak.bytes)
                peak = (Peak){i, rank, bytes};
        }
    }
    return peak;
}

// "rank 2 while it computes A: B 1.9 MiB at home; C 1.9 MiB at home, 3.8 MiB in buffers"
static void note_peak(const Session *session, const Peak *peak) {
    const Pipeline *pipeline = session->pipeline;
    const StatementPlan *plan = pipeline->plan->statements[peak->statement];
    const Assignment *assignment = pipeline->statements[peak->statement].statement->assignment;
    Arena *arena = session->arena;
    Text text = text_create(arena);
    const char *separator = "";
    for (int t = 0; t < plan->plan->tensor_count; t++) {
        const TensorFigures figures = plan_tensor_figures(plan, t);
        const bool in_disk = pipeline->plan->homes[t].memory == MEMORY_DISK;
        const int64_t home = in_disk ? 0 : figures.home_bytes[peak->rank];
        const int64_t buffers = figures.known_buffer_bytes[peak->rank];
        if (home == 0 && buffers == 0)
            continue;
        text_printf(&text, "%s%s", separator, figures.tensor->name);
        if (home > 0)
            text_printf(&text, " %s at home", report_bytes(home, arena));
        if (buffers > 0)
            text_printf(&text, "%s %s in buffers", home > 0 ? "," : "", report_bytes(buffers, arena));
        separator = "; ";
    }
    const int64_t others = peaks_of_others(pipeline, peak->statement, peak->rank);
    if (others > 0) {
        text_printf(&text, "%s%s in buffers of other statements of the repetition", separator,
                    report_bytes(others, arena));
        separator = "; ";
    }
    const int64_t contraction = contraction_bytes(pipeline, peak->statement);
    const int64_t checked = checked_bytes(pipeline, session->options, assignment, peak->rank);
    const int64_t copied = copied_bytes(pipeline, session->options, peak->statement, peak->rank);
    if (contraction > 0) {
        text_printf(&text, "%s%s for blocks of a product", separator, report_bytes(contraction, arena));
        separator = "; ";
    }
    if (checked > 0) {
        text_printf(&text, "%s%s for whole tensors that --check gathers", separator,
                    report_bytes(checked, arena));
        separator = "; ";
    }
    if (copied > 0)
        text_printf(&text, "%s%s for a copy of %s, which every execution restores", separator,
                    report_bytes(copied, arena), assignment->lhs->tensor->name);
    diagnostics_note(session->diagnostics, (Span){0}, "rank %" PRId64 " while it computes %s: %s", peak->rank,
                     assignment->lhs->tensor->name, text_string(&text));
}

bool memory_stop_pipelining(const Session *session) {
    Plan *plan = session->pipeline->plan;
    bool pipelined = false;
    for (int s = 0; s < plan->statement_count; s++)
        for (int t = 0; t < plan->statements[s]->spmd->transfer_count; t++)
            pipelined = pipelined || plan_pipelines(plan->statements[s], t);
    if (pipelined)
        plan_set_pipelined(plan, PIPELINE_OFF);
    return pipelined;
}

void memory_fit_defaults(Session *session) {
    const Options *options = session->options;
    while (options->memory_limit > 0 && find_peak(session->pipeline, options).bytes > options->memory_limit &&
           pipeline_take_less(session->pipeline))
        continue;
}

void memory_fit_pipeline(Session *session) {
    const Options *options = session->options;
    if (options->memory_limit > 0 && find_peak(session->pipeline, options).bytes > options->memory_limit)
        memory_stop_pipelining(session);
}

bool memory_within_limit(Session *session, bool advise) {
    const Options *options = session->options;
    if (options->memory_limit == 0)
        return true;
    memory_fit_pipeline(session);
    const Peak peak = find_peak(session->pipeline, options);
    if (peak.bytes <= options->memory_limit)
        return true;
    diagnostics_error(session->diagnostics, (Span){0},
                      "rank %" PRId64 " needs %s of memory, more than the limit of %s", peak.rank,
                      report_bytes(peak.bytes, session->arena),
                      report_bytes(options->memory_limit, session->arena));
    note_peak(session, &peak);
    if (advise)
        memory_advise(session, options->memory_limit, 0);
    return false;
}

int64_t memory_left(const Session *session, int64_t free_memory, MPI_Comm node) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int64_t limit = session->options->memory_limit;
    const int64_t own = memory_of_rank(session->pipeline, session->options, rank);
    double all = (double)own;
    all_reduce(&all, 1, MPI_DOUBLE, MPI_SUM, node);
    int64_t left = limit > 0 ? limit - own : INT64_MAX;
    if (free_memory >= 0)
        left = min_i64(left, all < (double)free_memory ? free_memory - (int64_t)all : 0);
    return max_i64(left, 0);
}

// Bytes that the ranks of one node need together, and that are free there, as real numbers, which do not
// overflow.
typedef struct {
    double needed, available, ranks;
} Node;

// The node that lacks the most memory, the same on all ranks.
static Node worst_node(double own, MPI_Comm node) {
    Node mine = {.needed = own, .available = (double)node_free_memory(node)};
    int size, rank;
    all_reduce(&mine.needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_size(node, &size);
    mine.ranks = size;
    struct {
        double missing;
        int rank;
    } lack;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    lack.missing = mine.available < 0 ? -1e300 : mine.needed - mine.available;
    lack.rank = rank;
    all_reduce(&lack, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    broadcast(&mine, 3, MPI_DOUBLE, lack.rank, MPI_COMM_WORLD);
    return mine;
}

bool memory_is_free(Session *session, MPI_Comm node) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Node worst;
    do {
        worst = worst_node((double)memory_of_rank(session->pipeline, session->options, rank), node);
        if (worst.available < 0 || worst.needed <= worst.available)
            return true;
    } while (memory_stop_pipelining(session) || pipeline_take_less(session->pipeline));
    const int64_t needed = worst.needed < 9e18 ? (int64_t)worst.needed : INT64_MAX;
    diagnostics_error(session->diagnostics, (Span){0},
                      "not enough memory: the ranks of %s need %s together, and %s are free",
                      worst.ranks < (double)session->pipeline->ranks ? "a node" : "this node",
                      report_bytes(needed, session->arena),
                      report_bytes((int64_t)worst.available, session->arena));
    const Peak peak = find_peak(session->pipeline, session->options);
    note_peak(session, &peak);
    if (rank == 0)
        memory_advise(session, (int64_t)(worst.available / worst.ranks), (int64_t)worst.ranks);
    return agree(MPI_COMM_WORLD, false);
}
