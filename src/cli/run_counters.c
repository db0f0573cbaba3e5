// SPDX-License-Identifier: BSD-3-Clause
// What the runtime has counted in all executions of a statement, compared with the plan.
#include "base/integer.h"
#include "cli/run.h"
#include "runtime/wait.h"

#include <inttypes.h>

static int64_t **by_rank(const Run *run) {
    const int tensors = run->pipeline->plan->tensor_count;
    int64_t **figures = arena_array(run->session->arena, int64_t *, tensors);
    for (int t = 0; t < tensors; t++)
        figures[t] = arena_array(run->session->arena, int64_t, run->ranks);
    return figures;
}

void run_begin_counters(Run *run, int index) {
    Counters *counters = &run->statements[index].counters;
    for (int c = 0; c < COUNTER_COUNT; c++) {
        counters->own[c] = arena_array(run->session->arena, int64_t, run->pipeline->plan->tensor_count);
        counters->all[c] = by_rank(run);
        counters->planned[c] = run->rank == 0 ? by_rank(run) : NULL;
    }
}

void run_count(Run *run, int index) {
    RunStatement *statement = &run->statements[index];
    const StatementPlan *plan = run->pipeline->plan->statements[index];
    Counters *counters = &statement->counters;
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        counters->own[COUNTER_STRUCTURE][plan->spmd->transfers[t].access->tensor->id] = 0;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const int id = plan->spmd->transfers[t].access->tensor->id;
        counters->own[COUNTER_BYTES][id] += execution_bytes(statement->execution, t);
        counters->own[COUNTER_MESSAGES][id] += execution_messages(statement->execution, t);
        const IoCounts io = execution_io(statement->execution, t);
        counters->own[COUNTER_BYTES_READ][id] += io.bytes_read;
        counters->own[COUNTER_BYTES_WRITTEN][id] += io.bytes_written;
        counters->own[COUNTER_READS][id] += io.reads;
        counters->own[COUNTER_WRITES][id] += io.writes;
        const DeviceCounts copied = execution_copied(statement->execution, t);
        counters->own[COUNTER_TO_GPU][id] += copied.to_device;
        counters->own[COUNTER_FROM_GPU][id] += copied.from_device;
        counters->own[COUNTER_STRUCTURE][id] += execution_structure_bytes(statement->execution, t);
    }
    statement->report.executions++;
    counters->uncounted++;
}

void run_expect(Run *run, int index) {
    Counters *counters = &run->statements[index].counters;
    const StatementPlan *plan = run->pipeline->plan->statements[index];
    for (int t = 0; run->rank == 0 && counters->uncounted > 0 && t < run->pipeline->plan->tensor_count; t++) {
        const TensorFigures figures = plan_tensor_figures(plan, t);
        for (int64_t rank = 0; rank < run->ranks; rank++) {
            const IoCounts none = {0}, *io = figures.io ? &figures.io[rank] : &none;
            const DeviceCounts copied = figures.copied ? figures.copied[rank] : (DeviceCounts){0};
            const int64_t planned[COUNTER_STRUCTURE] = {
                [COUNTER_BYTES] = figures.bytes_received[rank],
                [COUNTER_MESSAGES] = figures.messages_received[rank],
                [COUNTER_BYTES_READ] = io->bytes_read,
                [COUNTER_BYTES_WRITTEN] = io->bytes_written,
                [COUNTER_READS] = io->reads,
                [COUNTER_WRITES] = io->writes,
                [COUNTER_TO_GPU] = copied.to_device,
                [COUNTER_FROM_GPU] = copied.from_device,
            };
            for (int c = 0; c < COUNTER_STRUCTURE; c++)
                counters->planned[c][t][rank] += counters->uncounted * planned[c];
        }
    }
    counters->uncounted = 0;
}

static void gather(const Run *run, Counters *counters) {
    for (int t = 0; t < run->pipeline->plan->tensor_count; t++) {
        MPI_Request requests[COUNTER_COUNT];
        for (int c = 0; c < COUNTER_COUNT; c++)
            MPI_Igather(&counters->own[c][t], 1, MPI_INT64_T, counters->all[c][t], 1, MPI_INT64_T, 0,
                        MPI_COMM_WORLD, &requests[c]);
        wait_all(COUNTER_COUNT, requests);
    }
}

static bool check_io(const Run *run, const Counters *counters, int tensor, int64_t rank) {
    for (int c = COUNTER_BYTES_READ; c <= COUNTER_WRITES; c++)
        if (counters->all[c][tensor][rank] != counters->planned[c][tensor][rank]) {
            int64_t counted[4], planned[4];
            for (int i = 0; i < 4; i++) {
                counted[i] = counters->all[COUNTER_BYTES_READ + i][tensor][rank];
                planned[i] = counters->planned[COUNTER_BYTES_READ + i][tensor][rank];
            }
            return diagnostics_error(
                run->session->diagnostics, (Span){0},
                "internal error: of '%s' %" PRId64 " bytes were read and %" PRId64 " written in %" PRId64
                " and %" PRId64 " runs on rank %" PRId64 ", and the plan says %" PRId64 " and %" PRId64
                " in %" PRId64 " and %" PRId64,
                run->pipeline->plan->tensors[tensor]->name, counted[0], counted[1], counted[2], counted[3],
                rank, planned[0], planned[1], planned[2], planned[3]);
        }
    return true;
}

static bool check_copied(const Run *run, const Counters *counters, int tensor, int64_t rank) {
    const int64_t to = counters->all[COUNTER_TO_GPU][tensor][rank],
                  from = counters->all[COUNTER_FROM_GPU][tensor][rank],
                  planned_to = counters->planned[COUNTER_TO_GPU][tensor][rank],
                  planned_from = counters->planned[COUNTER_FROM_GPU][tensor][rank];
    return (to == planned_to && from == planned_from) ||
           diagnostics_error(run->session->diagnostics, (Span){0},
                             "internal error: of '%s' %" PRId64 " bytes were copied to the GPU and %" PRId64
                             " from it on rank %" PRId64 ", and the plan says %" PRId64 " and %" PRId64,
                             run->pipeline->plan->tensors[tensor]->name, to, from, rank, planned_to,
                             planned_from);
}

bool run_check_counters(Run *run, int index) {
    Counters *counters = &run->statements[index].counters;
    StatementReport *report = &run->statements[index].report;
    run_expect(run, index);
    gather(run, counters);
    report->bytes = (const int64_t *const *)counters->all[COUNTER_BYTES];
    report->messages = (const int64_t *const *)counters->all[COUNTER_MESSAGES];
    report->structure = (const int64_t *const *)counters->all[COUNTER_STRUCTURE];
    report->bytes_read = (const int64_t *const *)counters->all[COUNTER_BYTES_READ];
    report->bytes_written = (const int64_t *const *)counters->all[COUNTER_BYTES_WRITTEN];
    report->reads = (const int64_t *const *)counters->all[COUNTER_READS];
    report->writes = (const int64_t *const *)counters->all[COUNTER_WRITES];
    report->to_gpu = (const int64_t *const *)counters->all[COUNTER_TO_GPU];
    report->from_gpu = (const int64_t *const *)counters->all[COUNTER_FROM_GPU];
    bool ok = true;
    for (int t = 0; run->rank == 0 && t < run->pipeline->plan->tensor_count; t++)
        for (int64_t rank = 0; rank < run->ranks && ok; rank++) {
            const int64_t bytes = report->bytes[t][rank], messages = report->messages[t][rank];
            const int64_t planned_bytes = counters->planned[COUNTER_BYTES][t][rank];
            const int64_t planned_messages = counters->planned[COUNTER_MESSAGES][t][rank];
            ok = bytes == planned_bytes && messages == planned_messages;
            if (!ok)
                diagnostics_error(run->session->diagnostics, (Span){0},
                                  "internal error: '%s' moved %" PRId64 " bytes in %" PRId64
                                  " messages on rank %" PRId64 ", and the plan says %" PRId64 " in %" PRId64,
                                  run->pipeline->plan->tensors[t]->name, bytes, messages, rank, planned_bytes,
                                  planned_messages);
            ok = ok && check_io(run, counters, t, rank) && check_copied(run, counters, t, rank);
        }
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}
