// SPDX-License-Identifier: BSD-3-Clause
// A whole program as text: read as one, then each of its declarations is added to the context.
#include "api/context.h"

#include "choose/choose.h"
#include "lang/program.h"

typedef struct {
    const char *name, *text;
    bool chooses;         // placements and schedules
    int64_t memory_limit; // of a rank then, 0: none
} ProgramCall;

// Params of the context come first in the program and keep their values; the others are declared.
static distal_status declare_params(distal_context *context, const Program *program) {
    for (int i = (int)context->build.params.count; i < program->param_count; i++) {
        Param param = program->params[i];
        param.name = copy_text(context->arena, param.name);
        param.span = (Span){0};
        param.definition = int_copy(context->arena, param.definition);
        if (context_add_param(context, param, PARAM_DEFINED) < 0)
            return DISTAL_INVALID;
    }
    return DISTAL_OK;
}

static distal_status declare_machines(distal_context *context, const Program *program) {
    for (int i = 0; i < program->machine_count; i++)
        if (!context_add_machine(context, program->machines[i]))
            return DISTAL_INVALID;
    return DISTAL_OK;
}

// Placements are made to refer to the context's copies of machines.
static distal_status declare_tensors(distal_context *context, const Program *program) {
    distal_status status = DISTAL_OK;
    for (int i = 0; i < program->tensor_count && status == DISTAL_OK; i++) {
        Tensor tensor = *program->tensors[i];
        Placement placement = {0};
        Name machine;
        if (tensor.placement && build_find(&context->build, tensor.placement->machine->name, &machine)) {
            placement = *tensor.placement;
            placement.machine = machine.machine;
            tensor.placement = &placement;
        }
        distal_tensor *declared = NULL;
        status = tensor_declare(context, &tensor, &declared);
    }
    return status;
}

static distal_status declare_statements(distal_context *context, const Program *program) {
    if (program->statement_count == 0)
        return DISTAL_OK;
    const char *name = copy_text(context->arena, program->source.name);
    const char *source = copy_text(context->arena, program->source.text);
    distal_status status = DISTAL_OK;
    for (int i = 0; i < program->statement_count && status == DISTAL_OK; i++) {
        const Statement *from = &program->statements[i];
        distal_statement *statement = NULL;
        status = statement_declare(context, from->assignment, name, source, &statement);
        if (status == DISTAL_OK && from->command_count > 0)
            status = statement_add_commands(statement, from->command_count, from->commands);
    }
    return status;
}

// The program with placements and schedules for the ranks of the context; NULL with diagnostics.
static const Program *choose_for(distal_context *context, const Program *program, int64_t memory_limit,
                                 bool *fits) {
    const MachineModel model = machine_model_default();
    const ChooseOptions options = {.ranks = context->ranks,
                                   .memory_limit = memory_limit,
                                   .model = &model,
                                   .keeps_statements = true}; // the caller executes those of its text
    const Chosen *chosen = choose(context->scratch, program, &options, fits, context->diagnostics);
    return chosen ? chosen->program : NULL;
}

static distal_status declare_all(distal_context *context, void *arguments) {
    const ProgramCall *call = arguments;
    if (!call->text)
        return invalid(context, "the text of the program is NULL");
    const Source source = {copy_text(context->scratch, call->name ? call->name : "program"),
                           arena_printf(context->scratch, "%s\n", call->text)};
    context_show(context, source.name, source.text);
    ProgramBuilder builder = {
        .arena = context->scratch, .diagnostics = context->diagnostics, .inherits = &context->build};
    const Program *program = program_read(&builder, source);
    if (!program)
        return DISTAL_INVALID;
    if (program->repetition_count > 0) {
        diagnostics_error(context->diagnostics, program->repetitions[0].span,
                          "programs of the library have no repetitions: call distal_execute in a loop");
        return DISTAL_INVALID;
    }
    bool fits = true;
    if (call->chooses)
        program = choose_for(context, program, call->memory_limit, &fits);
    if (!program)
        return fits ? DISTAL_INVALID : DISTAL_FAILED;
    Pipeline *pipeline = pipeline_of(context->scratch, program, context->ranks);
    distal_status status = call_run_passes(context, pipeline, PASS_SCHEDULE);
    if (status == DISTAL_OK)
        status = declare_params(context, program);
    if (status == DISTAL_OK)
        status = declare_machines(context, program);
    if (status == DISTAL_OK)
        status = declare_tensors(context, program);
    return status == DISTAL_OK ? declare_statements(context, program) : status;
}

static distal_status read_program(distal_context *context, const char *function, ProgramCall call) {
    if (!context)
        return missing_argument(NULL, function, "the context");
    const DeclarationMark mark = context_mark(context);
    const distal_status status = call_local(context, function, declare_all, &call);
    if (status != DISTAL_OK)
        context_reset(context, mark);
    return call_end(context, status);
}

distal_status distal_program(distal_context *context, const char *name, const char *text) {
    return read_program(context, "distal_program", (ProgramCall){.name = name, .text = text});
}

distal_status distal_choose(distal_context *context, const char *name, const char *text,
                            int64_t memory_limit) {
    return read_program(
        context, "distal_choose",
        (ProgramCall){.name = name, .text = text, .chooses = true, .memory_limit = memory_limit});
}
