// SPDX-License-Identifier: BSD-3-Clause
#include "api/planned.h"

#include "pipeline/warn.h"

#include <omp.h>
#include <string.h>

static bool holds(const PlannedProgram *program, const distal_statement *statement) {
    const ProgramBuilder *build = &statement->context->build;
    if (program->own_threads != omp_get_max_threads() ||
        program->spmd != statement->pipeline->statements[0].spmd ||
        program->machine_count != build->machines.count || program->param_count > build->params.count ||
        memcmp(program->params, build->param_values.items, sizeof(int64_t) * (size_t)program->param_count) !=
            0)
        return false;
    bool same =
        statement->tensors.count == program->tensor_count &&
        balance_version(program->balancing.count, program->balancing.items) == program->balance_version;
    for (int i = 0; i < program->tensor_count && same; i++) {
        const distal_tensor *tensor =
            context_tensor(statement->context, statement->tensors.items[i].tensor->name);
        same = tensor == program->tensors[i].tensor && tensor->home.known &&
               tensor->home_changes == program->tensors[i].home_changes &&
               tensor_is_shared(tensor) == program->tensors[i].shared;
    }
    return same;
}

distal_status planned_create(distal_context *context, distal_statement *statement, const int64_t *params,
                             PlannedProgram **result) {
    const ProgramBuilder *build = &context->build;
    Arena *arena = arena_create_within(context->arena);
    PlannedProgram *program = *result = arena_new(arena, PlannedProgram);
    *program = (PlannedProgram){.references = 1,
                                .arena = arena,
                                .statement = statement,
                                .spmd = statement->pipeline->statements[0].spmd,
                                .c_source = statement->pipeline->c_source,
                                .param_count = build->params.count,
                                .machine_count = build->machines.count,
                                .own_threads = omp_get_max_threads()};
    statement->references++;
    program->params = arena_copy(arena, params, sizeof(int64_t) * (size_t)build->params.count);
    Home *homes = arena_array(arena, Home, statement->tensors.count);
    // Workspaces, which have other ids, are read in any case.
    bool *unshared =
        arena_array(arena, bool, statement->tensors.count + statement->pipeline->scheduler.workspaces.count);
    HomeFile *files = arena_array(arena, HomeFile, statement->tensors.count);
    program->tensors = arena_alloc_items(arena, statement->tensors.count, sizeof *program->tensors);
    for (int64_t i = 0; i < statement->tensors.count; i++) {
        distal_tensor *tensor = context_tensor(context, statement->tensors.items[i].tensor->name);
        homes[i] = tensor->home;
        files[i] = tensor->file;
        tensor->references++;
        unshared[i] = !tensor_is_shared(tensor);
        program->tensors[program->tensor_count].shared = !unshared[i];
        program->tensors[program->tensor_count++].tensor = tensor;
    }
    program->threads = 1; // the default of plans
    balance_tensors(context, statement, program->params, arena, &program->balancing);
    for (int64_t i = 0; i < program->balancing.count; i++)
        program->balancing.items[i]->references++;
    program->balance_version = balance_version(program->balancing.count, program->balancing.items);
    const PlanOptions options = {.untiled = true, // plans of a tensor share its file
                                 .ranks = context->ranks,
                                 .homes = homes,
                                 .nodes = context->neighbours ? neighbours_nodes(context->neighbours) : NULL,
                                 .gpu_nodes = neighbours_open_gpus(context->neighbours),
                                 .gpu_messages = context->gpu_messages == GPU_MESSAGES_ON,
                                 .gpu_sums = context->gpu_sums,
                                 .unshared = unshared,
                                 .files = files,
                                 .boundaries = balance_known(context, arena)};
    program->plan = pipeline_plan(statement->pipeline, arena, program->params, options, context->diagnostics);
    if (!program->plan)
        return DISTAL_INVALID;
    pipeline_warn(statement->pipeline, program->plan, context->diagnostics);
    return DISTAL_OK;
}

distal_status planned_take(distal_statement *statement, PlannedProgram **program) {
    const distal_status status = statement_compile(statement);
    if (status != DISTAL_OK)
        return status;
    if (!statement->planned || !holds(statement->planned, statement))
        return planned_create(statement->context, statement, statement->context->build.param_values.items,
                              program);
    *program = statement->planned;
    (*program)->references++;
    return DISTAL_OK;
}

// Replaces *program by one that no other plan has, as what is planned will be changed.
static distal_status make_own(distal_statement *statement, PlannedProgram **program) {
    if ((*program)->references == 1)
        return DISTAL_OK;
    planned_release(*program);
    *program = NULL;
    return planned_create(statement->context, statement, statement->context->build.param_values.items,
                          program);
}

distal_status planned_count_threads(distal_statement *statement, int64_t threads, PlannedProgram **program) {
    if ((*program)->threads == threads)
        return DISTAL_OK;
    const distal_status status = make_own(statement, program);
    if (status != DISTAL_OK)
        return status;
    (*program)->threads = threads;
    plan_count_threads((*program)->plan, threads);
    return DISTAL_OK;
}

distal_status planned_stop_pipelining(distal_statement *statement, PlannedProgram **program) {
    const int64_t threads = (*program)->threads;
    distal_status status = make_own(statement, program);
    if (status == DISTAL_OK)
        status = planned_count_threads(statement, threads, program);
    if (status != DISTAL_OK)
        return status;
    plan_set_pipelined((*program)->plan, PIPELINE_OFF);
    return DISTAL_OK;
}

void planned_keep(distal_statement *statement, PlannedProgram *program) {
    for (int i = 0; i < program->tensor_count; i++)
        program->tensors[i].home_changes = program->tensors[i].tensor->home_changes;
    // Where GPUs had less memory, no fetch starts a step ahead: not so in plans to come.
    if (statement->planned == program || program->plan->options.pipelined == PIPELINE_OFF)
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
    for (int64_t i = 0; i < program->balancing.count; i++)
        tensor_release(program->balancing.items[i]);
    statement_release(program->statement);
    arena_free(program->arena);
}
