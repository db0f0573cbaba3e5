// SPDX-License-Identifier: BSD-3-Clause
#include "lower/loops.h"

#include "format/level_list.h"
#include "lower/assembly.h"
#include "lower/builder.h"
#include "lower/lower.h"

const View *build_view(const Builder *builder, const Access *access, TransferKind kind) {
    const Spmd *spmd = builder->spmd;
    for (const RowView *rows = builder->rows; rows; rows = rows->outer)
        if (rows->row->tensor == access->tensor)
            return &rows->view;
    for (int t = 0; t < spmd->transfer_count; t++)
        if (&spmd->nests[spmd->transfers[t].nest] == builder->nest && spmd->transfers[t].kind == kind &&
            transfer_serves(&spmd->transfers[t], access))
            return &builder->views[t];
    return NULL;
}

static void append_transfer(const Builder *builder, LoopKind kind, int transfer, LoopBody *to) {
    LoopNode *node = loop_node(builder->arena, kind);
    node->transfer = transfer;
    loop_append(builder->arena, to, node);
}

// Binds the numbers of the coordinates that another operand lists, as an array of the level of their mode.
static void bind_numbers(const Builder *builder, const Transfer *transfer, LoopNode *node, View *view) {
    LoopKernel *kernel = builder->kernel;
    LoopViewArray *arrays = arena_array(builder->arena, LoopViewArray, node->view_array_count + MAX_ORDER);
    for (int a = 0; a < node->view_array_count; a++)
        arrays[a] = node->view_arrays[a];
    node->view_arrays = arrays;
    for (int l = 0; l < view->level_count; l++) {
        const int mode = view->levels[l].mode, from = transfer->index_levels[mode];
        view->number_arrays[mode] = -1;
        if (from < 0)
            continue;
        const Tensor *by = builder->spmd->transfers[transfer->indexing].access->tensor;
        view->number_arrays[mode] =
            loop_add_array(kernel, (LoopArray){.name = arena_printf(builder->arena, "%s_crd%d",
                                                                    transfer->access->tensor->name, l + 1),
                                               .type = by->levels[from].wide ? TYPE_I64 : TYPE_I32});
        arrays[node->view_array_count++] =
            (LoopViewArray){view->number_arrays[mode], l, 0, LEVEL_ARRAY_COORDINATES};
    }
}

// Whether the statement reads the tensor that it writes.
static bool is_updated(const Spmd *spmd, const Tensor *tensor) {
    const Assignment *assignment = spmd->cin->assignment;
    return tensor->id == assignment->lhs->tensor->id && assignment_is_update(assignment);
}

// A node after which the elements of a transfer can be reached, with the numbers of all levels.
static void append_view(Builder *builder, LoopKind kind, int transfer, LoopBody *to) {
    LoopKernel *kernel = builder->kernel;
    const Tensor *tensor = builder->spmd->transfers[transfer].access->tensor;
    const bool sparse = tensor_is_sparse(tensor);
    View *view = &builder->views[transfer];
    LoopNode *node = loop_node(builder->arena, kind);
    node->transfer = transfer;
    node->array = view->array =
        loop_add_array(kernel, (LoopArray){.name = tensor->name,
                                           .given = true,
                                           .type = tensor->type,
                                           .written = kind == LOOP_OPEN,
                                           .reducer = builder->spmd->transfers[transfer].reducer,
                                           .updated = is_updated(builder->spmd, tensor),
                                           .sparse = sparse});
    view->level_count = tensor->order;
    for (int l = 0; l < tensor->order; l++) {
        Level *level = &view->levels[l];
        *level = (Level){.type = tensor->levels[l],
                         .number = l,
                         .mode = tensor->mode_order[l],
                         .last = l == tensor->order - 1,
                         .part = sparse && level_can_be_part(tensor->order, tensor->levels, l),
                         .extent = sparse ? tensor->extents[tensor->mode_order[l]] : NULL};
        level->type.format->bind(kernel, node, level);
    }
    bind_numbers(builder, &builder->spmd->transfers[transfer], node, view);
    node->overlaps = transfer_overlaps(&builder->spmd->transfers[transfer]);
    node->ahead = builder->spmd->transfers[transfer].ahead;
    loop_append(builder->arena, to, node);
}

static void build_sequence(Builder *builder, const SpmdNode *node, LoopBody *to);

// Whether the function leaves a transfer out: one that appends entries needs those of sparse operands only.
static bool leaves_out(const Builder *builder, const SpmdNode *node) {
    return builder->structure && node->transfer >= 0 &&
           (builder->spmd->transfers[node->transfer].kind == TRANSFER_REDUCE ||
            !tensor_is_sparse(builder->spmd->transfers[node->transfer].access->tensor));
}

// Whether a function that appends entries uses a loop around `node` and what follows it.
static bool uses_loop(const Builder *builder, const SpmdNode *node, int loop) {
    for (; node; node = node->next)
        if (node->kind == SPMD_LOOP   ? uses_loop(builder, node->body, loop)
            : node->kind == SPMD_LEAF ? assembly_depends(builder->spmd->cin, node->leaf, loop)
                                      : !leaves_out(builder, node))
            return true;
    return false;
}

static void append_loop(Builder *builder, const SpmdNode *node, LoopBody *to) {
    // Entries are the same in each of its iterations.
    if (builder->structure && !uses_loop(builder, node->body, node->var)) {
        const VarSet omitted = builder->omitted;
        builder->omitted |= (VarSet)1 << node->var;
        build_sequence(builder, node->body, to);
        builder->omitted = omitted;
        return;
    }
    LoopNode *loop = loop_node(builder->arena, LOOP_FOR);
    loop->var = node->var;
    loop->lower = int_const(builder->arena, 0);
    loop->upper = node->extent;
    build_sequence(builder, node->body, &loop->body);
    loop_append(builder->arena, to, loop);
}

static void build_sequence(Builder *builder, const SpmdNode *node, LoopBody *to) {
    for (; node; node = node->next) {
        if (leaves_out(builder, node))
            continue;
        switch (node->kind) {
        case SPMD_LOOP:
            append_loop(builder, node, to);
            break;
        case SPMD_FETCH:
            append_transfer(builder, LOOP_START, node->transfer, to);
            append_view(builder, LOOP_WAIT, node->transfer, to);
            break;
        case SPMD_RELEASE:
            append_transfer(builder, LOOP_RELEASE, node->transfer, to);
            break;
        case SPMD_ACCUMULATE:
            append_view(builder, LOOP_OPEN, node->transfer, to);
            break;
        case SPMD_REDUCE:
            append_transfer(builder, LOOP_REDUCE, node->transfer, to);
            break;
        case SPMD_LEAF:
            build_leaf(builder, node->leaf, to);
            break;
        }
    }
}

// Coordinates, and what entries determine for the processor, which follows them.
static void set_processor_vars(const Spmd *spmd, const SpmdNest *nest, LoopNode *node) {
    int numbers[MAX_VARS], *vars;
    const IntExpr **fixed;
    const int count = spmd_processor_numbers(spmd, numbers);
    node->dim_count = spmd->dim_count + count;
    node->coordinates = vars = arena_array(spmd->arena, int, node->dim_count);
    node->fixed = fixed = arena_array(spmd->arena, const IntExpr *, node->dim_count);
    for (int d = 0; d < node->dim_count; d++) {
        vars[d] = d < spmd->dim_count ? nest->coordinates[d] : numbers[d - spmd->dim_count];
        fixed[d] = d < spmd->dim_count ? nest->fixed[d] : NULL;
    }
}

static void build_nest(Builder *builder, const SpmdNest *nest) {
    if (!nest->body)
        return; // executed in the body of another nest
    Arena *arena = builder->arena;
    LoopNode *node = loop_node(arena, LOOP_PROCESSORS);
    builder->nest = nest;
    if (builder->spmd->stage_count > 1)
        node->stage = nest->stage;
    builder->active = node->var = loop_add_var(
        builder->kernel,
        (LoopVar){.name = "active", .type = VALUE_TYPE_CONDITION, .stem_array = -1, .stem_var = -1});
    set_processor_vars(builder->spmd, nest, node);
    build_sequence(builder, nest->body, &node->body);
    loop_append(arena, &builder->kernel->body, node);
}

static const LoopTransfer *name_transfers(const Spmd *spmd, const char *const *params) {
    LoopTransfer *transfers = arena_array(spmd->arena, LoopTransfer, spmd->transfer_count + 1);
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Transfer *transfer = &spmd->transfers[t];
        transfers[t].name =
            arena_printf(spmd->arena, "%s_%s", transfer->kind == TRANSFER_FETCH ? "FETCH" : "REDUCE",
                         transfer->access->tensor->name);
        transfers[t].what = spmd_transfer_text(spmd, transfer, params);
    }
    return transfers;
}

// That of a variable; "i_index" for what an index such as i + 1 determines.
static const char *name_of(const Cin *cin, int var) {
    const AffineIndex *index = var < cin->assignment->var_count ? cin->assignment->vars[var].index : NULL;
    return !index              ? cin->vars[var].name
           : index->count == 0 ? "index"
                               : arena_printf(cin->arena, "%s_index", cin->vars[index->vars[0]].name);
}

static LoopKernel *kernel_create(const Spmd *spmd, const char *const *params, int param_count) {
    Arena *arena = spmd->arena;
    LoopKernel *kernel = arena_new(arena, LoopKernel);
    *kernel = (LoopKernel){.arena = arena,
                           .params = params,
                           .param_count = param_count,
                           .gpu = spmd->on_gpu,
                           .transfer_count = spmd->transfer_count,
                           .transfers = name_transfers(spmd, params)};
    for (int v = 0; v < spmd->cin->var_count; v++)
        loop_add_var(kernel, (LoopVar){.name = name_of(spmd->cin, v),
                                       .given = true,
                                       .type = VALUE_TYPE_INDEX,
                                       .stem_array = -1,
                                       .stem_var = -1});
    return kernel;
}

static Builder builder_create(const Spmd *spmd, LoopKernel *kernel, bool structure,
                              Diagnostics *diagnostics) {
    return (Builder){.spmd = spmd,
                     .arena = spmd->arena,
                     .kernel = kernel,
                     .type = assignment_type(spmd->cin->assignment),
                     .structure = structure,
                     .diagnostics = diagnostics,
                     .views = arena_array(spmd->arena, View, spmd->transfer_count + 1)};
}

const LoopKernel *lower_loops(const Spmd *spmd, const char *const *params, int param_count,
                              Diagnostics *diagnostics) {
    LoopKernel *kernel = kernel_create(spmd, params, param_count);
    Builder builder = builder_create(spmd, kernel, false, diagnostics);
    for (int n = 0; n < spmd->nest_count; n++)
        build_nest(&builder, &spmd->nests[n]);
    return builder.refused ? NULL : kernel;
}

// Whether the nest, with those executed in it, finds the entries of an assembled result.
static bool is_assembled(const Spmd *spmd, const SpmdNest *nest) {
    const Stage *stage = &spmd->stages[nest->stage];
    return nest->body && stage->result == RESULT_ASSEMBLED && nest->assign->lhs->tensor == stage->target;
}

bool lower_structure(const Spmd *spmd, const char *const *params, int param_count, const int64_t *values,
                     Diagnostics *diagnostics, const LoopKernel **structure) {
    LoopKernel *kernel = NULL;
    for (int n = 0; n < spmd->nest_count; n++) {
        if (!is_assembled(spmd, &spmd->nests[n]))
            continue;
        const Cin *entries = spmd->nests[n].entries;
        const Spmd *from = entries == spmd->cin ? spmd : lower(entries, values, diagnostics);
        if (!from)
            return false;
        kernel = kernel ? kernel : kernel_create(spmd, params, param_count);
        Builder builder = builder_create(from, kernel, true, diagnostics);
        build_nest(&builder, &from->nests[n]);
        if (builder.refused)
            return false;
    }
    *structure = kernel;
    return true;
}
