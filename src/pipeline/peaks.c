// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/peaks.h"

#include "base/integer.h"

void peaks_together(const Pipeline *pipeline, int statement, int *first, int *last) {
    const Program *program = pipeline->program;
    const int repetition = program_outermost(program, statement);
    *first = repetition < 0 ? statement : program->repetitions[repetition].first;
    *last = repetition < 0 ? statement + 1 : program->repetitions[repetition].last;
}

const int64_t *peaks_of_statement(const Pipeline *pipeline, int statement, Arena *arena) {
    const Plan *plan = pipeline->plan;
    const size_t size = sizeof(int64_t) * (size_t)pipeline->ranks;
    int64_t *peaks = arena_copy(arena, plan_figures(plan->statements[statement])->peak_bytes, size);
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        const int64_t *other = plan_figures(plan->statements[s])->peak_bytes;
        for (int64_t rank = 0; s != statement && rank < pipeline->ranks; rank++)
            peaks[rank] = saturated_add(peaks[rank], other[rank] - plan->home_figures->total[rank]);
    }
    return peaks;
}

const int64_t *peaks_on_gpu(const Pipeline *pipeline, int statement, Arena *arena) {
    const Plan *plan = pipeline->plan;
    const int64_t *own = plan_figures(plan->statements[statement])->gpu_peak_bytes;
    const int64_t *homes = plan->home_figures->gpu;
    int64_t *peaks = arena_array(arena, int64_t, pipeline->ranks);
    bool any = own != NULL;
    for (int64_t rank = 0; own && rank < pipeline->ranks; rank++)
        peaks[rank] = own[rank];
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        const int64_t *other = plan_figures(plan->statements[s])->gpu_peak_bytes;
        any = any || other;
        for (int64_t rank = 0; s != statement && other && rank < pipeline->ranks; rank++)
            peaks[rank] = saturated_add(peaks[rank], other[rank] - (homes ? homes[rank] : 0));
    }
    return any ? peaks : NULL;
}

static int64_t known_peak(StatementPlan *plan, int64_t rank) {
    return plan->figures->made ? plan_figures(plan)->known_peak_bytes[rank] : plan_rank_peak(plan, rank);
}

static int64_t homes(const StatementPlan *plan, int64_t rank) {
    if (plan->figures->made)
        return plan->plan->home_figures->total[rank];
    int64_t bytes = 0;
    for (int t = 0; t < plan->plan->tensor_count; t++)
        if (plan->homes[t].known)
            bytes = saturated_add(bytes, home_memory_bytes(&plan->homes[t], rank));
    return bytes;
}

int64_t peaks_of_others(const Pipeline *pipeline, int statement, int64_t rank) {
    int64_t bytes = 0;
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        StatementPlan *plan = pipeline->plan->statements[s];
        if (s != statement)
            bytes = saturated_add(bytes, known_peak(plan, rank) - homes(plan, rank));
    }
    return bytes;
}

int64_t peaks_known(const Pipeline *pipeline, int statement, int64_t rank) {
    return saturated_add(known_peak(pipeline->plan->statements[statement], rank),
                         peaks_of_others(pipeline, statement, rank));
}
