// SPDX-License-Identifier: BSD-3-Clause
#include "api/planned.h"

#include <omp.h>
#include <string.h>

static bool holds(const PlannedProgram *program, distal_statement *statement) {
    const char *text = statement_program(statement);
    int count;
    if (program->own_threads != omp_get_max_threads() || strcmp(program->pipeline->source.text, text) != 0)
        return false;
    distal_tensor **tensors = context_mentioned(statement->context, text, &count);
    bool same = count == program->tensor_count;
    for (int i = 0; i < count && same; i++)
        same = tensors[i] == program->tensors[i].tensor && tensors[i]->home.known &&
               tensors[i]->home_changes == program->tensors[i].home_changes;
    return same;
}

static distal_status create(distal_statement *statement, PlannedProgram **result) {
    Arena *arena = arena_create_within(statement->context->arena);
    PlannedProgram *program = *result = arena_new(arena, PlannedProgram);
    *program = (PlannedProgram){.references = 1, .arena = arena, .own_threads = omp_get_max_threads()};
    int count;
    distal_tensor **tensors = context_mentioned(statement->context, statement_program(statement), &count);
    Home *homes = arena_array(arena, Home, count);
    program->tensors = arena_alloc_items(arena, count, sizeof *program->tensors);
    for (int i = 0; i < count; i++) {
        homes[i] = tensors[i]->home;
        tensors[i]->references++;
        program->tensors[program->tensor_count++].tensor = tensors[i];
    }
    program->threads = 1; // as plans are made
    return statement_compile(statement, arena, PASS_PLAN, homes, &program->pipeline);
}

distal_status planned_take(distal_statement *statement, PlannedProgram **program) {
    if (!statement->planned || statement->failed || !holds(statement->planned, statement))
        return create(statement, program);
    *program = statement->planned;
    (*program)->references++;
    return DISTAL_OK;
}

distal_status planned_count_threads(distal_statement *statement, int64_t threads, PlannedProgram **program) {
    if ((*program)->threads == threads)
        return DISTAL_OK;
    if ((*program)->references > 1) {
        // Other plans have the figures of another number.
        planned_release(*program);
        *program = NULL;
        const distal_status status = create(statement, program);
        if (status != DISTAL_OK)
            return status;
    }
    (*program)->threads = threads;
    plan_count_threads((*program)->pipeline->plan, threads);
    return DISTAL_OK;
}

void planned_keep(distal_statement *statement, PlannedProgram *program) {
    for (int i = 0; i < program->tensor_count; i++)
        program->tensors[i].home_changes = program->tensors[i].tensor->home_changes;
    if (statement->planned == program)
        return;
    planned_release(statement->planned);
    statement->planned = program;
    program->references++;
}

void planned_release(PlannedProgram *program) {
    if (!program || --program->references > 0)
        return;
    for (int i = 0; i < program->tensor_count; i++)
        tensor_release(program->tensors[i].tensor);
    arena_free(program->arena);
}
