// SPDX-License-Identifier: BSD-3-Clause
// Tensors: declaring, finding, freeing them, and their shape.
#include "api/context.h"

#include <inttypes.h>
#include <string.h>

static const ElementType element_types[] = {
    [DISTAL_I32] = TYPE_I32, [DISTAL_I64] = TYPE_I64, [DISTAL_F32] = TYPE_F32,
    [DISTAL_F64] = TYPE_F64, [DISTAL_C64] = TYPE_C64, [DISTAL_C128] = TYPE_C128,
};
enum { ELEMENT_TYPES = sizeof element_types / sizeof *element_types };
_Static_assert(DISTAL_MAX_ORDER == (int)MAX_ORDER, "pieces hold tensors of any order");

void tensor_release(distal_tensor *tensor) {
    if (--tensor->references > 0)
        return;
    storage_free(tensor->storage);
    arena_free(tensor->arena);
}

// Whether the declaration says one thing only and takes no name that there is.
static distal_status check_declaration(distal_context *context, const distal_tensor *tensor) {
    Text text = context_program(context, context_tensor_names(context), tensor);
    bool ok;
    const Pipeline *pipeline =
        context_compile(context, context->scratch, text_string(&text), PASS_PROGRAM, NULL, &ok);
    if (!ok)
        return pipeline_status(pipeline, ok);
    int tensors = 1;
    for (const distal_tensor *other = context->tensors; other; other = other->next)
        tensors++;
    return pipeline->program->statement_count == 0 && pipeline->program->tensor_count == tensors
               ? DISTAL_OK
               : invalid(context, "'%.60s' is not the declaration of one tensor", tensor->declaration);
}

// What follows from the values that params have.
typedef struct {
    Arena *arena;
    const Tensor *tensor;
    const char *name;
    int64_t extents[MAX_ORDER];
    Home home;
} Settled;

// Finds the extents, and the home that the placement gives. A machine that does not fit the ranks is no
// mistake yet, as params may still change; then there is no home.
static distal_status settle(distal_context *context, const distal_tensor *tensor, Settled *settled) {
    *settled = (Settled){.arena = arena_create_within(tensor->arena)};
    Text text = context_program(context, NULL, tensor);
    bool ok;
    Pipeline *pipeline =
        context_compile(context, settled->arena, text_string(&text), PASS_PROGRAM, NULL, &ok);
    if (!ok)
        return pipeline_status(pipeline, ok);
    settled->tensor = pipeline->program->tensors[0];
    settled->name = settled->tensor->name;
    for (int d = 0; d < settled->tensor->order; d++)
        int_eval(settled->tensor->extents[d], pipeline->params, NULL, &settled->extents[d]);
    if (pipeline_run(pipeline, PASS_PLAN)) {
        settled->home = pipeline->plan->homes[0];
    } else if (pipeline->diagnostics == pipeline->no_memory) {
        context->diagnostics = context->no_memory;
        return DISTAL_FAILED;
    }
    if (settled->tensor->order == 0 && !tensor->placement)
        home_everywhere(&settled->home, settled->tensor, settled->extents, context->ranks, settled->arena);
    return DISTAL_OK;
}

static void adopt(distal_tensor *tensor, const Settled *settled) {
    if (tensor->settled)
        arena_free(tensor->settled);
    tensor->settled = settled->arena;
    tensor->tensor = settled->tensor;
    tensor->home = settled->home;
    tensor->home_changes++;
    memcpy(tensor->extents, settled->extents, sizeof tensor->extents);
}

distal_status tensors_settle(distal_context *context, int64_t count, distal_tensor *const *tensors) {
    Settled *settled = arena_array(context->scratch, Settled, count);
    distal_status status = DISTAL_OK;
    for (int64_t i = 0; i < count && status == DISTAL_OK; i++)
        status = settle(context, tensors[i], &settled[i]);
    for (int64_t i = 0; i < count && settled[i].arena; i++) {
        if (status == DISTAL_OK)
            adopt(tensors[i], &settled[i]);
        else
            arena_free(settled[i].arena);
    }
    return status;
}

distal_status tensor_check_home(distal_context *context, distal_tensor *tensor) {
    if (tensor->home.known)
        return DISTAL_OK;
    if (!tensor->placement)
        return invalid(context,
                       "tensor '%s' has no placement, so it lies nowhere before the first plan that uses it",
                       tensor->name);
    Text text = context_program(context, NULL, tensor);
    bool ok;
    const Pipeline *pipeline =
        context_compile(context, context->scratch, text_string(&text), PASS_PLAN, NULL, &ok);
    return ok ? tensors_settle(context, 1, &tensor) : pipeline_status(pipeline, ok);
}

static void append(distal_context *context, distal_tensor *tensor) {
    distal_tensor **end = &context->tensors;
    while (*end)
        end = &(*end)->next;
    *end = tensor;
    tensor->context = context;
}

distal_status tensor_declare(distal_context *context, const char *dims, const char *declaration,
                             const char *placement, distal_tensor **result) {
    Arena *arena = arena_create_within(context->arena);
    distal_tensor *tensor = *result = arena_new(arena, distal_tensor);
    tensor->arena = arena;
    tensor->references = 1;
    tensor->dims = copy_text(arena, dims);
    tensor->declaration = copy_text(arena, declaration);
    tensor->placement = copy_text(arena, placement);
    Settled settled = {0};
    distal_status status = check_declaration(context, tensor);
    if (status == DISTAL_OK)
        status = settle(context, tensor, &settled);
    if (status == DISTAL_OK) {
        tensor->name = copy_text(arena, settled.name);
        adopt(tensor, &settled);
        append(context, tensor);
    }
    return status;
}

// As a caller gives it, with the words of the language in front.
static distal_status declare_lines(distal_context *context, const char *dims, const char *declaration,
                                   const char *placement, distal_tensor **result) {
    if (!check_line(context, "declaration of the tensor", declaration) ||
        (placement && !check_line(context, "placement of the tensor", placement)))
        return DISTAL_INVALID;
    return tensor_declare(context, dims, arena_printf(context->scratch, "tensor %s", declaration),
                          placement ? arena_printf(context->scratch, "place %s", placement) : NULL, result);
}

typedef struct {
    const char *name;
    distal_type type;
    int order;
    const int64_t *extents;
    const char *declaration, *placement;
    distal_tensor *tensor;
} TensorCall;

static distal_status create(distal_context *context, void *arguments) {
    TensorCall *call = arguments;
    if (!check_name(context, "tensor", call->name))
        return DISTAL_INVALID;
    if ((int)call->type < 0 || (int)call->type >= (int)ELEMENT_TYPES)
        return invalid(context, "tensor '%s' has type %d, which is no distal_type", call->name,
                       (int)call->type);
    if (call->order < 0 || call->order > DISTAL_MAX_ORDER)
        return invalid(context, "tensor '%s' has %d modes; a tensor has 0 to %d", call->name, call->order,
                       DISTAL_MAX_ORDER);
    if (call->order > 0 && !call->extents)
        return invalid(context, "the extents of tensor '%s' are NULL", call->name);
    Text dims = text_create(context->scratch), declaration = text_create(context->scratch);
    text_append(&declaration, call->name);
    for (int d = 0; d < call->order; d++) {
        text_printf(&dims, "%s%s_dim%d = %" PRId64, d ? ", " : "", call->name, d, call->extents[d]);
        text_printf(&declaration, "%s%s_dim%d", d ? ", " : "(", call->name, d);
    }
    text_printf(&declaration, "%s: %s", call->order ? ")" : "", type_info(element_types[call->type])->name);
    return declare_lines(context, call->order ? text_string(&dims) : NULL, text_string(&declaration),
                         call->placement, &call->tensor);
}

static distal_status declare(distal_context *context, void *arguments) {
    TensorCall *call = arguments;
    return declare_lines(context, NULL, call->declaration, call->placement, &call->tensor);
}

static distal_status run_call(distal_context *context, CallBody body, TensorCall *call,
                              distal_tensor **result) {
    distal_status status = call_end(context, call_local(context, body, call));
    if (status != DISTAL_OK && call->tensor)
        tensor_release(call->tensor);
    else if (result)
        *result = call->tensor;
    return status;
}

distal_status distal_tensor_create(distal_context *context, const char *name, distal_type type, int order,
                                   const int64_t *extents, const char *placement, distal_tensor **tensor) {
    if (tensor)
        *tensor = NULL;
    if (!context)
        return missing_argument(NULL, "distal_tensor_create", "the context");
    TensorCall call = {
        .name = name, .type = type, .order = order, .extents = extents, .placement = placement};
    return run_call(context, create, &call, tensor);
}

distal_status distal_tensor_declare(distal_context *context, const char *declaration, const char *placement,
                                    distal_tensor **tensor) {
    if (tensor)
        *tensor = NULL;
    if (!context)
        return missing_argument(NULL, "distal_tensor_declare", "the context");
    TensorCall call = {.declaration = declaration, .placement = placement};
    return run_call(context, declare, &call, tensor);
}

static distal_status find(distal_context *context, void *arguments) {
    TensorCall *call = arguments;
    if (!check_name(context, "tensor", call->name))
        return DISTAL_INVALID;
    call->tensor = context_tensor(context, call->name);
    if (call->tensor)
        return DISTAL_OK;
    Array(const char *) names = {0};
    for (const distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        array_push(context->scratch, names, tensor->name);
    return invalid(context, "there is no tensor '%s'%s", call->name,
                   did_you_mean(context->scratch, call->name, names.items, names.count));
}

distal_status distal_tensor_find(distal_context *context, const char *name, distal_tensor **tensor) {
    if (tensor)
        *tensor = NULL;
    if (!context || !tensor)
        return missing_argument(context, "distal_tensor_find",
                                context ? "the place for the tensor" : "the context");
    TensorCall call = {.name = name};
    distal_status status = call_local(context, find, &call);
    *tensor = call.tensor;
    return call_end(context, status);
}

void distal_tensor_free(distal_tensor *tensor) {
    if (!tensor || !tensor->context)
        return;
    distal_tensor **at = &tensor->context->tensors;
    while (*at != tensor)
        at = &(*at)->next;
    *at = tensor->next;
    tensor->context = NULL;
    storage_free(tensor->storage);
    tensor->storage = NULL;
    tensor->memory++;
    tensor_release(tensor);
}

distal_status distal_tensor_shape(const distal_tensor *tensor, distal_type *type, int *order,
                                  int64_t *extents) {
    if (!tensor)
        return missing_argument(NULL, "distal_tensor_shape", "the tensor");
    for (int t = 0; type && t < (int)ELEMENT_TYPES; t++)
        if (element_types[t] == tensor->tensor->type)
            *type = (distal_type)t;
    if (order)
        *order = tensor->tensor->order;
    if (extents)
        memcpy(extents, tensor->extents, sizeof(int64_t) * (size_t)tensor->tensor->order);
    return DISTAL_OK;
}
