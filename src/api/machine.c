// SPDX-License-Identifier: BSD-3-Clause
#include "api/context.h"

#include <string.h>

bool context_add_machine(distal_context *context, const Machine *machine) {
    // The copy stays until the context is freed, even if it is refused, as its name may be in the hash table
    // until context_reset.
    return build_machine(&context->build, machine_copy(context->arena, machine), true);
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
    const char *before = arena_printf(context->scratch, "machine %s = ", call->name);
    context_show(context, NULL, arena_printf(context->scratch, "%s%s", before, call->grid));
    ProgramBuilder reader = {.arena = context->scratch,
                             .diagnostics = context->diagnostics,
                             .outer = &context->build,
                             .outside = &context->names};
    const Fragment fragment = {call->grid, 1, (int32_t)strlen(before) + 1};
    if (!fragment_machine(&reader, call->name, fragment))
        return DISTAL_INVALID;
    return context_add_machine(context, reader.machines.items[0]) ? DISTAL_OK : DISTAL_INVALID;
}

static distal_status run(distal_context *context, const char *name, CallBody body, MachineCall *call) {
    const DeclarationMark mark = context_mark(context);
    const distal_status status = call_local(context, name, body, call);
    if (status != DISTAL_OK)
        context_reset(context, mark);
    return call_end(context, status);
}

distal_status distal_machine(distal_context *context, const char *name, const char *grid) {
    if (!context)
        return missing_argument(NULL, "distal_machine", "the context");
    return run(context, "distal_machine", declare, &(MachineCall){.name = name, .grid = grid});
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
    Machine machine = {.name = call->name, .level_count = 1, .order = call->order};
    if (!build_name_is_free(&context->build, call->name, NAME_MACHINE, (Span){0}))
        return DISTAL_INVALID;
    machine.levels[0] = (MachineLevel){.name = "", .order = call->order};
    for (int d = 0; d < call->order; d++) {
        const Param param = {.name = arena_printf(context->arena, "%s_dim%d", call->name, d),
                             .value = call->extents[d]};
        const int index = context_add_param(context, param, PARAM_GIVEN);
        if (index < 0)
            return DISTAL_INVALID;
        machine.extents[d] = int_param(context->scratch, index);
    }
    return context_add_machine(context, &machine) ? DISTAL_OK : DISTAL_INVALID;
}

distal_status distal_machine_grid(distal_context *context, const char *name, int order,
                                  const int64_t *extents) {
    if (!context)
        return missing_argument(NULL, "distal_machine_grid", "the context");
    return run(context, "distal_machine_grid", declare_grid,
               &(MachineCall){.name = name, .order = order, .extents = extents});
}
