// SPDX-License-Identifier: BSD-3-Clause
#include "api/context.h"

distal_status machine_declare(distal_context *context, const char *line) {
    Text text = context_program(context, context_tensor_names(context), NULL);
    text_printf(&text, "%s\n", line);
    bool ok;
    const Pipeline *pipeline =
        context_compile(context, context->scratch, text_string(&text), PASS_PROGRAM, NULL, &ok);
    if (!ok)
        return pipeline_status(pipeline, ok);
    MachineText *machine = arena_new(context->arena, MachineText), **end = &context->machines;
    machine->text = copy_text(context->arena, line);
    while (*end)
        end = &(*end)->next;
    *end = machine;
    return DISTAL_OK;
}

typedef struct {
    const char *name, *grid;
    int order;
    const int64_t *extents;
} MachineCall;

static distal_status declare(distal_context *context, void *arguments) {
    const MachineCall *call = arguments;
    if (!check_name(context, "machine", call->name) ||
        !check_line(context, "grid of the machine", call->grid))
        return DISTAL_INVALID;
    return machine_declare(context,
                           arena_printf(context->scratch, "machine %s = %s", call->name, call->grid));
}

distal_status distal_machine(distal_context *context, const char *name, const char *grid) {
    if (!context)
        return missing_argument(NULL, "distal_machine", "the context");
    return call_end(context, call_local(context, declare, &(MachineCall){.name = name, .grid = grid}));
}

static distal_status declare_grid(distal_context *context, void *arguments) {
    const MachineCall *call = arguments;
    if (!check_name(context, "machine", call->name))
        return DISTAL_INVALID;
    if (call->order < 1 || call->order > MAX_MACHINE_ORDER)
        return invalid(context, "machine '%s' has %d dimensions; a machine has 1 to %d", call->name,
                       call->order, MAX_MACHINE_ORDER);
    if (!call->extents)
        return invalid(context, "the extents of machine '%s' are NULL", call->name);
    Text line = text_create(context->scratch);
    text_printf(&line, "machine %s = grid(", call->name);
    for (int d = 0; d < call->order; d++) {
        Parameter *param =
            context_add_param(context, arena_printf(context->scratch, "%s_dim%d", call->name, d));
        param->given = true;
        param->value = call->extents[d];
        text_printf(&line, "%s%s", d ? ", " : "", param->name);
    }
    text_append(&line, ")");
    return machine_declare(context, text_string(&line));
}

distal_status distal_machine_grid(distal_context *context, const char *name, int order,
                                  const int64_t *extents) {
    if (!context)
        return missing_argument(NULL, "distal_machine_grid", "the context");
    MachineCall call = {.name = name, .order = order, .extents = extents};
    Parameter **end = &context->parameters;
    while (*end)
        end = &(*end)->next;
    distal_status status = call_local(context, declare_grid, &call);
    // The params of a machine that was refused go with it.
    if (status != DISTAL_OK)
        *end = NULL;
    return call_end(context, status);
}
