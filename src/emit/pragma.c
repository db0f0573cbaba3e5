// SPDX-License-Identifier: BSD-3-Clause
// Pragmas before loops: OpenMP for threads and vectors, and unrolling.
#include "emit/emitter.h"

// Whether each thread needs memory of the execution.
static bool has_workspace(const LoopKernel *kernel, const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const LoopArray *array = node->kind == LOOP_WORKSPACE ? &kernel->arrays.items[node->array] : NULL;
        const ValueList values = loop_values(kernel->arena, node);
        if ((array && array->extent && !array->local) || has_workspace(kernel, &node->body))
            return true;
        for (int64_t v = 0; v < values.count; v++)
            if (values.items[v]->kind == VALUE_SPACE)
                return true;
    }
    return false;
}

// The iterations that a thread takes at a time, where they take different times; else NULL.
static const char *chunk_text(Emitter *emitter, const LoopNode *node) {
    if (node->execution.portions)
        return "1";
    if (!node->execution.uneven)
        return NULL;
    const IntExpr *count = int_op(emitter->kernel->arena, INT_SUB, node->upper, node->lower);
    return arena_printf(emitter->kernel->arena,
                        count->left ? "1 + (%s) / DISTAL_MAX_CHUNKS" : "1 + %s / DISTAL_MAX_CHUNKS",
                        emit_int_text(emitter, count));
}

// As the clause `reduction` names it.
static const char *reduction_name(const LoopArray *array, bool team) {
    static const char *const names[] = {[REDUCER_SUM] = "+",
                                        [REDUCER_PROD] = "*",
                                        [REDUCER_MAX] = "distal_max",
                                        [REDUCER_MIN] = "distal_min"};
    if (!team || !type_info(array->type)->is_complex)
        return names[array->reducer];
    return array->reducer == REDUCER_PROD ? "distal_multiply" : "distal_add";
}

// The lanes of the widest vectors, for a loop of known length over whole ones; 0: as the C compiler likes,
// which for some processors are half of that. Sums are added up in the end, which takes longer with more.
static int lanes_of(const Emitter *emitter, const LoopNode *node) {
    enum { WIDEST = 64, LEAST_VECTORS = 2 };
    if (node->execution.thread || node->execution.sum_count > 0 || node->step != 1 ||
        node->lower->op != INT_CONST || node->upper->op != INT_CONST)
        return 0;
    for (int64_t i = 0; i < node->body.count; i++)
        if (node->body.items[i]->kind == LOOP_ACCUMULATE && node->body.items[i]->position) {
            const int size = (int)type_info(emit_array_of(emitter, node->body.items[i]->array)->type)->size;
            const int64_t bytes = (node->upper->value - node->lower->value) * size;
            return bytes >= LEAST_VECTORS * WIDEST && bytes % WIDEST == 0 ? WIDEST / size : 0;
        }
    return 0;
}

void emit_pragma(Emitter *emitter, const LoopNode *node) {
    const LoopExecution *execution = &node->execution;
    const bool team = execution->thread && !emitter->in_team;
    const char *chunk = chunk_text(emitter, node);
    if (emitter->launch || (!execution->thread && !execution->vector)) {
        if (execution->unroll)
            emit_line(&emitter->lines, "DISTAL_UNROLL(%d)", (int)execution->unroll);
        return;
    }
    // Threads take the same iterations in each run, as the order of additions depends on it.
    if (!team && execution->thread) {
        emit_line(&emitter->lines, "#pragma omp for schedule(static%s%s) nowait", chunk ? ", " : "",
                  chunk ? chunk : "");
        return;
    }
    Text text = text_create(emitter->kernel->arena);
    text_printf(&text, "#pragma omp%s%s", team ? " parallel for" : "", execution->vector ? " simd" : "");
    const int lanes = execution->vector ? lanes_of(emitter, node) : 0;
    if (lanes)
        text_printf(&text, " simdlen(%d)", lanes);
    for (int i = 0; i < execution->sum_count; i++) {
        if (i == 0)
            text_printf(&text,
                        " reduction(%s : ", reduction_name(emit_array_of(emitter, execution->sums[i]), team));
        text_printf(&text, "%s%s", i ? ", " : "", emitter->names.arrays[execution->sums[i]]);
    }
    text_append(&text, execution->sum_count ? ")" : "");
    if (team && has_workspace(emitter->kernel, &node->body))
        text_printf(&text, " num_threads(distal_workspace_threads(%s))", emitter->names.execution);
    // Not where there are sums, which threads would make in another order in each run.
    if (team && chunk && !execution->sum_count && !execution->vector)
        text_printf(&text, " schedule(dynamic, %s)", chunk);
    if (team && execution->collapsed > 1)
        text_printf(&text, " collapse(%d)", execution->collapsed);
    if (team && execution->work)
        text_printf(&text, " if (%s%s > DISTAL_PARALLEL_WORK", execution->vector ? "parallel : " : "",
                    emit_int_text(emitter, execution->work));
    if (team && execution->call)
        text_printf(&text, " && distal_share_calls(%s, %s)",
                    emit_int_text(emitter, int_op(emitter->kernel->arena, INT_SUB, node->upper, node->lower)),
                    emit_int_text(emitter, execution->call));
    if (team && execution->work)
        text_append(&text, ")");
    emit_line(&emitter->lines, "%s", text_string(&text));
}
