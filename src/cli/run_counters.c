// SPDX-License-Identifier: BSD-3-Clause
// What the runtime has counted in all executions of a statement, compared with the plan.
#include "cli/run.h"
#include "runtime/wait.h"

#include <inttypes.h>

void run_begin_counters(Run *run, int index) {
    Arena *arena = run->session->arena;
    const Spmd *spmd = run->pipeline->plan->statements[index]->spmd;
    Counters *counters = &run->statements[index].counters;
    counters->tensors = arena_array(arena, const Tensor *, spmd->transfer_count + spmd->row_count);
    counters->count = spmd_tensors(spmd, counters->tensors);
    counters->own = arena_array(arena, Counts, counters->count);
    counters->planned = arena_array(arena, Counts, run->rank == 0 ? counters->count * run->ranks : 0);
}

// What is counted on this rank of a tensor of the statement.
static Counts *counts_of(const Counters *counters, const Tensor *tensor) {
    int t = 0;
    while (counters->tensors[t] != tensor)
        t++;
    return &counters->own[t];
}

void run_count(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    const Spmd *spmd = run->pipeline->plan->statements[index]->spmd;
    Counters *counters = &statement->counters;
    for (int t = 0; t < counters->count; t++)
        counters->own[t].structure = 0; // once for a structure, not for each execution
    for (int t = 0; t < spmd->transfer_count; t++) {
        Counts *own = counts_of(counters, spmd->transfers[t].statement_access->tensor);
        own->bytes += execution_bytes(statement->execution, t);
        own->messages += execution_messages(statement->execution, t);
        own->structure += execution_structure_bytes(statement->execution, t);
        own->io = io_counts_add(own->io, execution_io(statement->execution, t));
        own->copied = device_counts_add(own->copied, execution_copied(statement->execution, t));
    }
    statement->report.executions++;
    counters->uncounted++;
}

static IoCounts io_times(int64_t times, IoCounts io) {
    return (IoCounts){times * io.bytes_read, times * io.bytes_written, times * io.reads, times * io.writes};
}

static DeviceCounts copied_times(int64_t times, DeviceCounts copied) {
    return (DeviceCounts){times * copied.to_device, times * copied.from_device};
}

void run_expect(Run *run, int index) {
    Counters *counters = &run->statements[index].counters;
    const int64_t times = counters->uncounted;
    counters->uncounted = 0;
    if (run->rank != 0 || times == 0)
        return;
    const StatementFigures *figures = plan_figures(run->pipeline->plan->statements[index]);
    for (int t = 0; t < counters->count; t++) {
        const TensorFigures *tensor = &figures->tensors[t];
        for (int64_t rank = 0; rank < run->ranks; rank++) {
            Counts *planned = &counters->planned[rank * counters->count + t];
            planned->bytes += times * tensor->bytes_received[rank];
            planned->messages += times * tensor->messages_received[rank];
            if (tensor->io)
                planned->io = io_counts_add(planned->io, io_times(times, tensor->io[rank]));
            if (tensor->copied)
                planned->copied =
                    device_counts_add(planned->copied, copied_times(times, tensor->copied[rank]));
        }
    }
}

static bool check_moved(const Counts *counted, const Counts *planned, const char *name, int64_t rank,
                        Diagnostics *diagnostics) {
    return (counted->bytes == planned->bytes && counted->messages == planned->messages) ||
           diagnostics_error(diagnostics, (Span){0},
                             "internal error: '%s' moved %" PRId64 " bytes in %" PRId64
                             " messages on rank %" PRId64 ", and the plan says %" PRId64 " in %" PRId64,
                             name, counted->bytes, counted->messages, rank, planned->bytes,
                             planned->messages);
}

static bool check_io(const IoCounts *counted, const IoCounts *planned, const char *name, int64_t rank,
                     Diagnostics *diagnostics) {
    return io_counts_equal(*counted, *planned) ||
           diagnostics_error(diagnostics, (Span){0},
                             "internal error: of '%s' %" PRId64 " bytes were read and %" PRId64
                             " written in %" PRId64 " and %" PRId64 " runs on rank %" PRId64
                             ", and the plan says %" PRId64 " and %" PRId64 " in %" PRId64 " and %" PRId64,
                             name, counted->bytes_read, counted->bytes_written, counted->reads,
                             counted->writes, rank, planned->bytes_read, planned->bytes_written,
                             planned->reads, planned->writes);
}

static bool check_copied(const DeviceCounts *counted, const DeviceCounts *planned, const char *name,
                         int64_t rank, Diagnostics *diagnostics) {
    return (counted->to_device == planned->to_device && counted->from_device == planned->from_device) ||
           diagnostics_error(diagnostics, (Span){0},
                             "internal error: of '%s' %" PRId64 " bytes were copied to the GPU and %" PRId64
                             " from it on rank %" PRId64 ", and the plan says %" PRId64 " and %" PRId64,
                             name, counted->to_device, counted->from_device, rank, planned->to_device,
                             planned->from_device);
}

bool run_check_counters(Run *run, int index) {
    Diagnostics *diagnostics = run->session->diagnostics;
    const Counters *counters = &run->statements[index].counters;
    Counts *all = arena_array(run->session->arena, Counts, run->rank == 0 ? counters->count * run->ranks : 0);
    const int size = counters->count * (int)sizeof(Counts);
    MPI_Request request;
    run_expect(run, index);
    MPI_Igather(counters->own, size, MPI_BYTE, all, size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_all(1, &request);
    bool ok = true;
    for (int64_t rank = 0; run->rank == 0 && rank < run->ranks; rank++)
        for (int t = 0; t < counters->count && ok; t++) {
            const char *name = counters->tensors[t]->name;
            const Counts *counted = &all[rank * counters->count + t],
                         *planned = &counters->planned[rank * counters->count + t];
            ok = check_moved(counted, planned, name, rank, diagnostics) &&
                 check_io(&counted->io, &planned->io, name, rank, diagnostics) &&
                 check_copied(&counted->copied, &planned->copied, name, rank, diagnostics);
        }
    run->statements[index].report.counted = all;
    return agree_on(MPI_COMM_WORLD, ok, diagnostics);
}
