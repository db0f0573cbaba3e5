// SPDX-License-Identifier: BSD-3-Clause
// Tensors: declaring, finding, freeing them, and their shape.
#include "api/balance.h"

#include "lang/check.h"
#include "lang/tokens.h"

#include <ctype.h>
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
    tensor_free_memory(tensor);
    structure_hold(&tensor->balanced, NULL);
    arena_free(tensor->arena);
}

bool tensor_place(distal_context *context, const distal_tensor *tensor, HomeFile file, Arena *arena,
                  Home *home) {
    const ProgramBuilder *build = &context->build;
    const int64_t *values =
        arena_copy(arena, build->param_values.items, sizeof(int64_t) * (size_t)build->param_values.count);
    // Of this tensor, and of those by whose entries it is placed.
    HomeFile *files = arena_array(arena, HomeFile, tensor->tensor->placement->machine->order + 1);
    files[0] = file;
    const PlanOptions options = {
        .untiled = true,
        .ranks = context->ranks,
        .files = files,
        .boundaries = balance_known(context, arena),
        .largest = plan_natural_ranks((int)build->machines.count, build->machines.items, 0, NULL, values)};
    // With the tensors by whose entries it is placed, which have to have the same extents.
    const Placement *placement = tensor->tensor->placement;
    const Tensor **tensors = arena_array(arena, const Tensor *, placement->machine->order + 1);
    int count = 0;
    tensors[count++] = tensor->tensor;
    for (int d = 0; d < placement->machine->order; d++)
        if (placement->entries[d].by && balance_tensor(context, tensor, &placement->entries[d]))
            tensors[count++] = balance_tensor(context, tensor, &placement->entries[d])->tensor;
    const Plan *plan = plan_create(arena, count, tensors, 0, NULL, values, options, context->diagnostics);
    if (plan)
        *home = plan->homes[0];
    return plan != NULL;
}

distal_status tensor_check_home(distal_context *context, distal_tensor *tensor) {
    if (tensor->home.known)
        return DISTAL_OK;
    if (!balance_is_current(context, tensor))
        return invalid(
            context,
            "the home of tensor '%s' follows from entries that have been given before it was "
            "declared, and is found by the next call that all ranks make together: fill the tensor, "
            "or plan a statement with it",
            tensor->name);
    const bool on_first_rank = !tensor->tensor->placement && tensor_is_sparse(tensor->tensor);
    if (!tensor->tensor->placement && !on_first_rank)
        return invalid(context,
                       "tensor '%s' has no placement, so it has no home before the first plan that uses it: "
                       "declare it with a placement, or make that plan first",
                       tensor->name);
    if (!tensor->settled)
        tensor->settled = arena_create_within(tensor->arena);
    arena_reset(tensor->settled);
    tensor->home_changes++;
    if (on_first_rank) {
        home_on_first_rank(&tensor->home, tensor->tensor, tensor->extents, context->ranks, tensor->settled);
        return DISTAL_OK;
    }
    return tensor_place(context, tensor, tensor->file, tensor->settled, &tensor->home) ? DISTAL_OK
                                                                                       : DISTAL_INVALID;
}

// Of tensors that need no placement for it.
static void set_home(const distal_context *context, distal_tensor *tensor) {
    const Tensor *declared = tensor->tensor;
    tensor->home.known = false;
    if (declared->placement)
        return;
    if (declared->order == 0)
        home_everywhere(&tensor->home, declared, tensor->extents, context->ranks, tensor->arena);
    if (tensor_is_sparse(declared))
        home_on_first_rank(&tensor->home, declared, tensor->extents, context->ranks, tensor->arena);
}

static bool extents_differ(const distal_context *context, const distal_tensor *tensor) {
    for (int d = 0; d < tensor->tensor->order; d++)
        if (build_value(&context->build, tensor->tensor->extents[d]) != tensor->extents[d])
            return true;
    return false;
}

static bool differs(const distal_context *context, const IntExpr *expr, const int64_t *old_values) {
    int64_t old = 0;
    return expr && (!int_eval(expr, old_values, NULL, &old) || old != build_value(&context->build, expr));
}

// Whether the size of a dimension of the machine, or of a block, differs from that with the old values.
static bool placement_differs(const distal_context *context, const distal_tensor *tensor,
                              const int64_t *old_values) {
    const Placement *placement = tensor->tensor->placement;
    for (int d = 0; placement && d < placement->machine->order; d++)
        if (differs(context, placement->machine->extents[d], old_values) ||
            differs(context, placement->entries[d].cycle, old_values))
            return true;
    return false;
}

static bool check_placement(distal_context *context, const Placement *placement) {
    bool ok = true;
    for (int d = 0; placement && d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->kind == PLACE_FIX)
            ok &= check_coordinate(&context->build, placement->machine, d, entry->coordinate, entry->span);
        if (entry->cycle)
            ok &= check_block(&context->build, build_value(&context->build, entry->cycle), entry->span);
    }
    return ok;
}

distal_status tensor_check_values(distal_context *context, distal_tensor *tensor, const int64_t *old_values,
                                  const char *param) {
    const bool in_memory = tensor->storage || tensor->references > 1;
    bool changed = extents_differ(context, tensor);
    if (!in_memory && !changed && !placement_differs(context, tensor, old_values))
        return DISTAL_OK;
    if (!check_tensor(&context->build, tensor->tensor) ||
        !check_placement(context, tensor->tensor->placement))
        return DISTAL_INVALID;
    if (in_memory && !changed && placement_differs(context, tensor, old_values)) {
        Home home;
        if (!tensor_place(context, tensor, tensor->file, context->scratch, &home))
            return DISTAL_INVALID;
        changed = !home_equal(&tensor->home, &home);
    }
    return in_memory && changed
               ? invalid(context, "param '%s' cannot change: tensor '%s', which is in memory, depends on it",
                         param, tensor->name)
               : DISTAL_OK;
}

void tensor_take_values(distal_context *context, distal_tensor *tensor, const int64_t *old_values) {
    if (tensor->storage || tensor->references > 1)
        return;
    // Statements treat it like a tensor that was declared again.
    if (build_set_widths(&context->build, tensor->tensor))
        tensor->serial = ++context->serials;
    const bool changed = extents_differ(context, tensor);
    const bool moves = changed || placement_differs(context, tensor, old_values);
    for (int d = 0; d < tensor->tensor->order; d++)
        tensor->extents[d] = build_value(&context->build, tensor->tensor->extents[d]);
    if (moves) {
        set_home(context, tensor);
        tensor->home_changes++;
    }
}

void tensor_fingerprint(const distal_tensor *tensor, Hash *hash) {
    const Tensor *it = tensor->tensor;
    hash_string(hash, tensor->name);
    hash_bytes(hash, &it->type, sizeof it->type);
    hash_bytes(hash, it->mode_order, sizeof it->mode_order);
    for (int l = 0; l < it->order; l++) {
        hash_string(hash, it->levels[l].format->name);
        hash_bytes(hash, &it->levels[l].nonunique, sizeof it->levels[l].nonunique);
    }
    hash_bytes(hash, tensor->extents, sizeof tensor->extents);
    const Placement *placement = it->placement;
    hash_string(hash, placement ? placement->machine->name : "");
    for (int d = 0; placement && d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        const int64_t cycle = entry->cycle ? build_value(&tensor->context->build, entry->cycle) : 0;
        const int64_t extent = build_value(&tensor->context->build, placement->machine->extents[d]);
        const int64_t numbers[] = {(int64_t)entry->kind,   entry->mode, entry->coordinate, cycle, extent,
                                   (int64_t)entry->balance};
        hash_bytes(hash, numbers, sizeof numbers);
        hash_bytes(hash, entry->modes, sizeof entry->modes);
        hash_string(hash, entry->by ? entry->by : "");
        for (int64_t i = 0; i < entry->start_count; i++) {
            const int64_t start = build_value(&tensor->context->build, entry->starts[i]);
            hash_bytes(hash, &start, sizeof start);
        }
    }
}

static void append(distal_context *context, distal_tensor *tensor) {
    distal_tensor **end = &context->tensors;
    while (*end)
        end = &(*end)->next;
    *end = tensor;
    tensor->context = context;
}

distal_status tensor_declare(distal_context *context, const Tensor *declared, distal_tensor **result) {
    if (!build_name_is_free(&context->build, declared->name, NAME_TENSOR, declared->span))
        return DISTAL_INVALID;
    Arena *arena = arena_create_within(context->arena);
    distal_tensor *tensor = *result = arena_new(arena, distal_tensor);
    tensor->arena = arena;
    tensor->references = 1;
    Tensor *copy = tensor_copy(arena, declared);
    copy->id = 0;
    tensor->tensor = copy;
    tensor->name = copy->name;
    tensor->serial = ++context->serials;
    for (int d = 0; d < copy->order; d++)
        tensor->extents[d] = build_value(&context->build, copy->extents[d]);
    set_home(context, tensor);
    append(context, tensor);
    return DISTAL_OK;
}

typedef struct {
    const char *name;
    distal_type type;
    int order;
    const int64_t *extents;
    const char *declaration, *placement;
    int param_count, params[MAX_ORDER]; // the params of its extents that have been declared
    distal_tensor *tensor;
} TensorCall;

// Declares the param of an extent of a tensor; its index, or -1 after a diagnostic.
static int take_param(distal_context *context, const char *name, int64_t value) {
    ProgramBuilder *build = &context->build;
    Name found;
    if (build_find(build, name, &found) && found.kind == NAME_PARAM) {
        invalid(context, "'%s' is already declared as a param, and an extent of this tensor has that name",
                name);
        return -1;
    }
    int64_t index = 1;
    while (index < build->params.count && context->origins.items[index] != PARAM_FREE)
        index++;
    const Param param = {.name = name, .value = value};
    if (index == build->params.count) {
        array_push(context->arena, context->origins, PARAM_FREE);
        array_push(context->arena, build->param_names, name);
        array_push(context->arena, build->param_values, value);
        array_push(context->arena, build->params, param);
    }
    build->params.items[index] = param;
    build->param_names.items[index] = name;
    build->param_values.items[index] = value;
    context->origins.items[index] = PARAM_OF_TENSOR;
    return (int)index;
}

static void free_param(distal_context *context, int64_t index) {
    context->origins.items[index] = PARAM_FREE;
    context->build.param_names.items[index] = context->build.params.items[index].name = "unused";
}

// Reads the placement of the tensor in the reader; diagnostics show it after `line`.
static bool read_placement(distal_context *context, ProgramBuilder *reader, const char *line,
                           const char *placement) {
    const char *lines = arena_printf(context->scratch, "%s%splace %s", line, *line ? "\n" : "", placement);
    const Fragment fragment = {placement, *line ? 2 : 1, 7};
    const char *own = reader->tensors.items[0]->name;
    context_show(context, NULL, lines);
    // A placement of another tensor is a mistake of its own, whether there is such a tensor or not.
    const int32_t before = (int32_t)strspn(placement, " \t");
    const char *name = placement + before;
    int32_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    if (length > 0 && !is_keyword(arena_printf(context->scratch, "%.*s", length, name)) &&
        (strlen(own) != (size_t)length || strncmp(name, own, (size_t)length) != 0))
        return diagnostics_error(
            context->diagnostics, (Span){fragment.line, fragment.column + before, length},
            "this is the placement of '%.*s', and the tensor that is declared is '%s': write '%s' here",
            length, name, own, own);
    return fragment_placement(reader, fragment);
}

// A reader for the declaration of one tensor.
static ProgramBuilder reader_for(distal_context *context) {
    return (ProgramBuilder){.arena = context->scratch,
                            .diagnostics = context->diagnostics,
                            .outer = &context->build,
                            .outside = &context->names};
}

static distal_status check_call(distal_context *context, const TensorCall *call) {
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
    if (call->placement && !check_line(context, "placement of the tensor", call->placement))
        return DISTAL_INVALID;
    return DISTAL_OK;
}

static distal_status create(distal_context *context, void *arguments) {
    TensorCall *call = arguments;
    const distal_status status = check_call(context, call);
    if (status != DISTAL_OK)
        return status;
    if (!build_name_is_free(&context->build, call->name, NAME_TENSOR, (Span){0}))
        return DISTAL_INVALID;
    Tensor tensor = {.name = call->name, .type = element_types[call->type], .order = call->order};
    const int *modes = layout_modes(context, call->order);
    for (int d = 0; d < call->order; d++) {
        const char *name = arena_printf(context->scratch, "%s_dim%d", call->name, d);
        const int param = take_param(context, name, call->extents[d]);
        if (param < 0)
            return DISTAL_INVALID;
        call->params[call->param_count++] = param;
        tensor.extents[d] = int_param(context->scratch, param);
        tensor.levels[d] = level_type_dense();
        tensor.mode_order[d] = modes[d];
    }
    ProgramBuilder reader = reader_for(context);
    if (!build_tensor(&reader, &tensor, true) ||
        (call->placement && !read_placement(context, &reader, "", call->placement)))
        return DISTAL_INVALID;
    const distal_status declared = tensor_declare(context, &tensor, &call->tensor);
    for (int d = 0; declared == DISTAL_OK && d < call->order; d++) {
        const int param = call->params[d];
        const char *name = copy_text(call->tensor->arena, context->build.param_names.items[param]);
        context->build.param_names.items[param] = context->build.params.items[param].name = name;
        call->tensor->first_param = call->params[0];
    }
    return declared;
}

static distal_status declare(distal_context *context, void *arguments) {
    TensorCall *call = arguments;
    if (!check_line(context, "declaration of the tensor", call->declaration) ||
        (call->placement && !check_line(context, "placement of the tensor", call->placement)))
        return DISTAL_INVALID;
    const char *line = arena_printf(context->scratch, "tensor %s", call->declaration);
    context_show(context, NULL, line);
    ProgramBuilder reader = reader_for(context);
    if (!fragment_tensor(&reader, (Fragment){call->declaration, 1, 8}) ||
        (call->placement && !read_placement(context, &reader, line, call->placement)))
        return DISTAL_INVALID;
    return tensor_declare(context, reader.tensors.items[0], &call->tensor);
}

static distal_status run_call(distal_context *context, const char *name, CallBody body, TensorCall *call,
                              distal_tensor **result) {
    const BuildMark mark = build_mark(&context->build);
    const distal_status status = call_local(context, name, body, call);
    if (status != DISTAL_OK) {
        if (call->tensor && call->tensor->context)
            distal_tensor_free(call->tensor);
        else if (call->tensor)
            tensor_release(call->tensor);
        for (int i = 0; i < call->param_count; i++)
            free_param(context, call->params[i]);
        build_reset(&context->build, mark);
        context->origins.count = mark.params;
    } else if (result) {
        *result = call->tensor;
    }
    return call_end(context, status);
}

distal_status distal_tensor_create(distal_context *context, const char *name, distal_type type, int order,
                                   const int64_t *extents, const char *placement, distal_tensor **tensor) {
    if (tensor)
        *tensor = NULL;
    if (!context)
        return missing_argument(NULL, "distal_tensor_create", "the context");
    TensorCall call = {
        .name = name, .type = type, .order = order, .extents = extents, .placement = placement};
    return run_call(context, "distal_tensor_create", create, &call, tensor);
}

distal_status distal_tensor_declare(distal_context *context, const char *declaration, const char *placement,
                                    distal_tensor **tensor) {
    if (tensor)
        *tensor = NULL;
    if (!context)
        return missing_argument(NULL, "distal_tensor_declare", "the context");
    TensorCall call = {.declaration = declaration, .placement = placement};
    return run_call(context, "distal_tensor_declare", declare, &call, tensor);
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
        if (!tensor->is_internal)
            array_push(context->scratch, names, tensor->name);
    return invalid(context, "there is no tensor '%s'%s", call->name,
                   did_you_mean(context->scratch, call->name, "tensors", names.items, names.count));
}

distal_status distal_tensor_find(distal_context *context, const char *name, distal_tensor **tensor) {
    if (tensor)
        *tensor = NULL;
    if (!context || !tensor)
        return missing_argument(context, "distal_tensor_find",
                                context ? "the place for the tensor" : "the context");
    TensorCall call = {.name = name};
    distal_status status = call_local(context, "distal_tensor_find", find, &call);
    *tensor = call.tensor;
    return call_end(context, status);
}

void distal_tensor_free(distal_tensor *tensor) {
    if (!tensor || !tensor->context)
        return;
    computed_forget(tensor->context, tensor);
    distal_tensor **at = &tensor->context->tensors;
    while (*at != tensor)
        at = &(*at)->next;
    *at = tensor->next;
    for (int d = 0; tensor->first_param > 0 && d < tensor->tensor->order; d++)
        free_param(tensor->context, tensor->tensor->extents[d]->value);
    tensor->context = NULL;
    tensor_free_memory(tensor);
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
