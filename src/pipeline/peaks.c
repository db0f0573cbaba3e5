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

const int64_t *peaks_of_statement(const Pipeline *pipeline, int statement, MemoryId kind, Arena *arena) {
    const HomeFigures *figures = pipeline->plan->home_figures;
    const int64_t *homes = kind == MEMORY_GPU ? figures->gpu : figures->total;
    int64_t *peaks = NULL;
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++) {
        const int64_t *own = own_peaks(pipeline->plan, s, kind);
        if (own && !peaks)
            peaks = arena_array(arena, int64_t, pipeline->ranks);
        for (int64_t rank = 0; own && rank < pipeline->ranks; rank++)
            peaks[rank] =
                saturated_add(peaks[rank], s == statement || !homes ? own[rank] : own[rank] - homes[rank]);
    }
    return peaks;
}

// Of one statement, without homes.
static int64_t buffers_of(const Plan *plan, int statement, MemoryId kind, int64_t rank) {
    StatementPlan *own = plan->statements[statement];
    if (kind == MEMORY_GPU) {
        const int64_t *peaks = own_peaks(plan, statement, kind), *homes = plan->home_figures->gpu;
        return peaks ? peaks[rank] - (homes ? homes[rank] : 0) : 0;
    }
    const int64_t known =
        own->figures->made ? plan_figures(own)->known_peak_bytes[rank] : plan_rank_peak(own, rank);
    return known - plan_home_bytes(plan, rank);
}

int64_t peaks_together_bytes(const Pipeline *pipeline, int first, int last, MemoryId kind, int64_t rank) {
    int64_t bytes = 0;
    for (int s = first; s < last; s++)
        bytes = saturated_add(bytes, buffers_of(pipeline->plan, s, kind, rank));
    if (kind == MEMORY_HOST)
        return saturated_add(bytes, plan_home_bytes(pipeline->plan, rank));
    const int64_t *homes = pipeline->plan->home_figures->gpu; // made with the figures of statements
    return saturated_add(bytes, homes ? homes[rank] : 0);
}

int64_t peaks_of_others(const Pipeline *pipeline, int statement, MemoryId kind, int64_t rank) {
    int64_t bytes = 0;
    int first, last;
    peaks_together(pipeline, statement, &first, &last);
    for (int s = first; s < last; s++)
        if (s != statement)
            bytes = saturated_add(bytes, buffers_of(pipeline->plan, s, kind, rank));
    return bytes;
}
