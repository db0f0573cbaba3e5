// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/peaks.h"

#include "base/integer.h"

void peaks_together(const Pipeline *pipeline, int statement, int *first, int *last) {
    const Program *program = pipeline->program;
    const int repetition = program_outermost(program, statement);
    *first = repetition < 0 ? statement : program->repetitions[repetition].first;
    *last = repetition < 0 ? statement + 1 : program->repetitions[repetition].last;
}

static const int64_t *own_peaks(const Plan *plan, int statement, MemoryId kind) {
    const StatementFigures *figures = plan_figures(plan->statements[statement]);
    return kind == MEMORY_GPU ? figures->gpu_peak_bytes : figures->peak_bytes;
}

int64_t peak_of_statement(const Pipeline *pipeline, int statement, MemoryId kind, int64_t rank) {
    int64_t peak = -1;
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        const int64_t *own = own_peaks(pipeline->plan, s, kind);
        const HomeFigures *figures = pipeline->plan->home_figures;
        const int64_t *homes = kind == MEMORY_GPU ? figures->gpu : figures->total;
        if (own)
            peak = saturated_add(max_i64(peak, 0),
                                 s == statement || !homes ? own[rank] : own[rank] - homes[rank]);
    }
    return peak;
}

const int64_t *peaks_of_statement(const Pipeline *pipeline, int statement, MemoryId kind, Arena *arena) {
    if (peak_of_statement(pipeline, statement, kind, 0) < 0)
        return NULL;
    int64_t *peaks = arena_array(arena, int64_t, pipeline->ranks);
    for (int64_t rank = 0; rank < pipeline->ranks; rank++)
        peaks[rank] = peak_of_statement(pipeline, statement, kind, rank);
    return peaks;
}

static int64_t known_peak(StatementPlan *plan, int64_t rank) {
    return plan->figures->made ? plan_figures(plan)->known_peak_bytes[rank] : plan_rank_peak(plan, rank);
}

int64_t peaks_of_others(const Pipeline *pipeline, int statement, int64_t rank) {
    int64_t bytes = 0;
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        StatementPlan *plan = pipeline->plan->statements[s];
        if (s != statement)
            bytes = saturated_add(bytes, known_peak(plan, rank) - plan_home_bytes(plan->plan, rank));
    }
    return bytes;
}

int64_t peaks_known(const Pipeline *pipeline, int statement, int64_t rank) {
    return saturated_add(known_peak(pipeline->plan->statements[statement], rank),
                         peaks_of_others(pipeline, statement, rank));
}
