// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory.h"

#include "base/integer.h"
#include "cli/report.h"
#include "memory/gpu.h"
#include "pipeline/peaks.h"
#include "plan/shortage.h"
#include "runtime/agreement.h"
#include "runtime/contraction.h"
#include "runtime/load.h"
#include "runtime/node.h"
#include "runtime/wait.h"

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

// Whether executions restore the target from a copy.
static bool is_copied(const Pipeline *pipeline, const Options *options, int statement) {
    const bool is_repeated = program_outermost(pipeline->program, statement) >= 0;
    return assignment_reads_target(pipeline->statements[statement].statement->assignment) && !is_repeated &&
           options->warmup + options->repeat > 1;
}

static const Home *target_home(const Pipeline *pipeline, int statement) {
    return &pipeline->plan->homes[pipeline->statements[statement].statement->assignment->lhs->tensor->id];
}

// Of the copy in this kind of memory, which is that of the target.
static int64_t copied_bytes(const Pipeline *pipeline, const Options *options, int statement, MemoryId kind,
                            int64_t rank) {
    const Home *home = target_home(pipeline, statement);
    return is_copied(pipeline, options, statement) && home->memory == kind ? home_bytes(home, rank) : 0;
}

// Buffers of scratch files with direct I/O, that of a copy as well.
static int64_t direct_bytes(const Pipeline *pipeline, const Options *options, int statement) {
    if (!options->direct)
        return 0;
    const bool has_copy =
        is_copied(pipeline, options, statement) && target_home(pipeline, statement)->memory == MEMORY_DISK;
    int64_t bytes = has_copy ? DISK_BOUNCE_BYTES : 0;
    for (int t = 0; t < pipeline->plan->tensor_count; t++)
        bytes += home_direct_bytes(&pipeline->plan->homes[t]);
    return bytes;
}

// Of all statements that are executed together.
static int64_t contraction_bytes(const Pipeline *pipeline, int first, int last) {
    int64_t bytes = 0;
    for (int s = first; s < last; s++) {
        const StatementPlan *plan = pipeline->plan->statements[s];
        if (plan->spmd->contracts)
            bytes = saturated_add(bytes, contraction_space(plan->options.threads));
    }
    return bytes;
}

// What one statement needs beside the homes and buffers of all that are executed together; -1: it has nothing
// in memory of that kind.
static int64_t own_bytes(const Pipeline *pipeline, const Options *options, int statement, MemoryId kind,
                         int64_t rank) {
    const int64_t copied = copied_bytes(pipeline, options, statement, kind, rank);
    if (kind == MEMORY_GPU)
        return plan_figures(pipeline->plan->statements[statement])->gpu_peak_bytes ? copied : -1;
    const Assignment *assignment = pipeline->statements[statement].statement->assignment;
    const int64_t bytes = saturated_add(direct_bytes(pipeline, options, statement),
                                        checked_bytes(pipeline, options, assignment, rank));
    return saturated_add(bytes, copied);
}

// What depends on entries that are not known is compared with the limit once they are (memory_left).
MemoryPeak memory_peak_together(const Pipeline *pipeline, const Options *options, int first, int last,
                                MemoryId kind, int64_t rank) {
    MemoryPeak peak = {first, rank, peaks_together_bytes(pipeline, first, last, kind, rank)};
    if (kind == MEMORY_HOST)
        peak.bytes = saturated_add(peak.bytes, contraction_bytes(pipeline, first, last));
    int64_t most = -1;
    for (int s = first; s < last; s++) {
        const int64_t own = own_bytes(pipeline, options, s, kind, rank);
        if (own > most) {
            most = own;
            peak.statement = s;
        }
    }
    peak.bytes = saturated_add(peak.bytes, max_i64(most, 0));
    return peak;
}

static MemoryPeak peak_of_rank(const Pipeline *pipeline, const Options *options, MemoryId kind,
                               int64_t rank) {
    MemoryPeak peak = {0, rank, 0};
    int first, last;
    for (int next = 0; next < pipeline->program->statement_count; next = last) {
        peaks_together(pipeline, next, &first, &last);
        const MemoryPeak together = memory_peak_together(pipeline, options, first, last, kind, rank);
        if (together.bytes > peak.bytes)
            peak = together;
    }
    return peak;
}

MemoryPeak memory_peak(const Pipeline *pipeline, const Options *options, MemoryId kind, int64_t rank) {
    if (rank >= 0)
        return peak_of_rank(pipeline, options, kind, rank);
    for (int s = 0; s < pipeline->program->statement_count; s++)
        plan_figures(pipeline->plan->statements[s]); // else peaks are found rank by rank
    MemoryPeak peak = {0, 0, 0};
    for (int64_t r = 0; r < pipeline->ranks; r++) {
        const MemoryPeak own = peak_of_rank(pipeline, options, kind, r);
        if (own.bytes > peak.bytes)
            peak = own;
    }
    return peak;
}

// Adds a note to the last diagnostic: what takes the memory of a peak.
static void note_peak(const Session *session, MemoryId kind, const MemoryPeak *peak) {
    const Pipeline *pipeline = session->pipeline;
    const StatementPlan *plan = pipeline->plan->statements[peak->statement];
    const Assignment *assignment = pipeline->statements[peak->statement].statement->assignment;
    Text list = shortage_list(plan, kind, peak->rank, session->arena);
    shortage_add(&list, peaks_of_others(pipeline, peak->statement, kind, peak->rank),
                 "in buffers of other statements of the repetition");
    if (kind == MEMORY_HOST) {
        int first, last;
        peaks_together(pipeline, peak->statement, &first, &last);
        shortage_add(&list, contraction_bytes(pipeline, first, last), "for blocks of a product");
        shortage_add(&list, direct_bytes(pipeline, session->options, peak->statement),
                     "in buffers of direct I/O");
        shortage_add(&list, checked_bytes(pipeline, session->options, assignment, peak->rank),
                     "for whole tensors that --check gathers");
    }
    shortage_add(
        &list, copied_bytes(pipeline, session->options, peak->statement, kind, peak->rank),
        arena_printf(session->arena, "for a copy of %s, which every execution restores", plan->target->name));
    shortage_note(session->diagnostics, plan, peak->rank, &list);
}

static int64_t limit_of(const Options *options, MemoryId kind) {
    return kind == MEMORY_GPU ? options->gpu_memory_limit : options->memory_limit;
}

// Whether a rank needs more than the limit, if one is given; then *peak is what it needs.
static bool exceeds(const Session *session, MemoryId kind, MemoryPeak *peak) {
    const int64_t limit = limit_of(session->options, kind);
    if (limit > 0)
        *peak = memory_peak(session->pipeline, session->options, kind, -1);
    return limit > 0 && peak->bytes > limit;
}

void memory_fit_defaults(Session *session) {
    MemoryPeak peak;
    while (exceeds(session, MEMORY_HOST, &peak) && pipeline_take_less(session->pipeline))
        continue;
}

void memory_fit_pipeline(Session *session) {
    MemoryPeak peak;
    if (exceeds(session, MEMORY_HOST, &peak) || exceeds(session, MEMORY_GPU, &peak))
        plan_stop_pipelining(session->pipeline->plan);
}

static bool within_limit(Session *session, MemoryId kind, bool advise) {
    MemoryPeak peak;
    if (!exceeds(session, kind, &peak))
        return true;
    const int64_t limit = limit_of(session->options, kind);
    shortage_of_limit(session->diagnostics, kind, peak.rank, peak.bytes, limit);
    note_peak(session, kind, &peak);
    if (advise)
        memory_advise(session, kind, limit, 0);
    return false;
}

bool memory_within_limit(Session *session, bool advise) {
    memory_fit_pipeline(session);
    return within_limit(session, MEMORY_HOST, advise) && within_limit(session, MEMORY_GPU, advise);
}

int64_t memory_left(const Session *session, int64_t free_memory, MPI_Comm node) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int64_t limit = session->options->memory_limit;
    const int64_t own = memory_peak(session->pipeline, session->options, MEMORY_HOST, rank).bytes;
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

typedef struct {
    const Session *session;
    MPI_Comm node;
    Node own;
} NodeFit;

// Of the node of this rank; 0 where it is not known what is free there.
static double node_shortage(void *arguments) {
    NodeFit *fit = arguments;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(fit->node, &size);
    const Session *session = fit->session;
    const int64_t needed = memory_peak(session->pipeline, session->options, MEMORY_HOST, rank).bytes;
    fit->own =
        (Node){.needed = (double)needed, .available = (double)node_free_memory(fit->node), .ranks = size};
    all_reduce(&fit->own.needed, 1, MPI_DOUBLE, MPI_SUM, fit->node);
    return fit->own.available < 0 ? 0 : fit->own.needed - fit->own.available;
}

static bool reduce_on_node(void *arguments) {
    Pipeline *pipeline = ((const NodeFit *)arguments)->session->pipeline;
    return plan_stop_pipelining(pipeline->plan) || pipeline_take_less(pipeline);
}

bool memory_is_free(Session *session, MPI_Comm node) {
    NodeFit fit = {.session = session, .node = node};
    const int short_rank = agree_on_fit(MPI_COMM_WORLD, node_shortage, reduce_on_node, &fit);
    if (short_rank < 0)
        return true;
    Node worst = fit.own;
    broadcast(&worst, 3, MPI_DOUBLE, short_rank, MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int64_t needed = worst.needed < 9e18 ? (int64_t)worst.needed : INT64_MAX;
    diagnostics_error(session->diagnostics, (Span){0},
                      "not enough memory: the ranks of %s need %s together, and %s are free",
                      worst.ranks < (double)session->pipeline->ranks ? "a node" : "this node",
                      report_bytes(needed, session->arena),
                      report_bytes((int64_t)worst.available, session->arena));
    const MemoryPeak peak = memory_peak(session->pipeline, session->options, MEMORY_HOST, -1);
    note_peak(session, MEMORY_HOST, &peak);
    if (rank == 0)
        memory_advise(session, MEMORY_HOST, (int64_t)(worst.available / worst.ranks), (int64_t)worst.ranks);
    return agree(MPI_COMM_WORLD, false);
}

typedef struct {
    const Session *session;
    int64_t available; // bytes of the GPU of this rank
} GpuFit;

static double gpu_shortage(void *arguments) {
    const GpuFit *fit = arguments;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Session *session = fit->session;
    return (double)(memory_peak(session->pipeline, session->options, MEMORY_GPU, rank).bytes -
                    fit->available);
}

static bool stop_pipelining(void *arguments) {
    return plan_stop_pipelining(((const GpuFit *)arguments)->session->pipeline->plan);
}

bool memory_is_free_on_gpu(Session *session) {
    if (!pipeline_uses_gpu_memory(session->pipeline))
        return true;
    Diagnostics *diagnostics = session->diagnostics;
    const Device *device = gpu_device(diagnostics);
    GpuFit fit = {session, device ? device->free_bytes() : 0};
    if (!agree_on(MPI_COMM_WORLD, device && device_check(diagnostics), diagnostics))
        return false;
    const int short_rank = agree_on_fit(MPI_COMM_WORLD, gpu_shortage, stop_pipelining, &fit);
    if (short_rank < 0)
        return true;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int64_t available = fit.available;
    broadcast(&available, 1, MPI_INT64_T, short_rank, MPI_COMM_WORLD);
    const MemoryPeak peak = memory_peak(session->pipeline, session->options, MEMORY_GPU, short_rank);
    shortage_of_free(diagnostics, MEMORY_GPU, peak.rank, peak.bytes, available);
    note_peak(session, MEMORY_GPU, &peak);
    if (rank == 0)
        memory_advise(session, MEMORY_GPU, available, 0);
    return agree(MPI_COMM_WORLD, false);
}
