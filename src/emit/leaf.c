// SPDX-License-Identifier: BSD-3-Clause
#include "emit/leaf.h"

#include <string.h>

// Depths.

static int expr_depth(const LeafEmitter *leaf, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        return leaf->depth[expr->value];
    int left = expr->left ? expr_depth(leaf, expr->left) : 0;
    int right = expr->right ? expr_depth(leaf, expr->right) : 0;
    return left > right ? left : right;
}

static int access_depth(const LeafEmitter *leaf, const Access *access) {
    int depth = 0;
    for (int m = 0; m < access->tensor->order; m++)
        if (leaf->depth[access->vars[m]] > depth)
            depth = leaf->depth[access->vars[m]];
    return depth;
}

// With the loops of a call at their beginning.
static const IntExpr *at_start(const LeafEmitter *leaf, const IntExpr *expr) {
    Arena *arena = leaf->emitter->arena;
    if (expr->op == INT_VAR)
        return leaf->replaced[expr->value] ? int_const(arena, 0) : expr;
    if (!expr->left)
        return expr;
    return int_op(arena, expr->op, at_start(leaf, expr->left), at_start(leaf, expr->right));
}

static void need(LeafEmitter *leaf, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        leaf->needed[expr->value] = true;
    if (expr->left)
        need(leaf, expr->left);
    if (expr->right)
        need(leaf, expr->right);
}

static void need_definitions(LeafEmitter *leaf, const Definition *definitions, int count) {
    for (int i = count - 1; i >= 0; i--)
        if (leaf->needed[definitions[i].var])
            need(leaf, at_start(leaf, definitions[i].value));
}

static void need_guards(LeafEmitter *leaf, const Guard *guards, int count) {
    for (int i = 0; i < count; i++) {
        need(leaf, guards[i].less);
        need(leaf, guards[i].than);
    }
}

static void need_all(LeafEmitter *leaf) {
    const Leaf *from = leaf->leaf;
    for (int t = 0; t < leaf->place_count; t++)
        for (int m = 0; leaf->places[t].transfer && m < leaf->places[t].transfer->access->tensor->order; m++)
            leaf->needed[leaf->places[t].transfer->access->vars[m]] = true;
    need_guards(leaf, from->guards, from->guard_count);
    for (int l = 0; l < from->loop_count; l++) {
        need(leaf, from->loops[l].upper);
        if (l < leaf->plain_count)
            need_guards(leaf, from->loops[l].guards, from->loops[l].guard_count);
    }
    for (int l = from->loop_count - 1; l >= 0; l--)
        need_definitions(leaf, from->loops[l].definitions, from->loops[l].definition_count);
    need_definitions(leaf, from->definitions, from->definition_count);
}

static void set_depths(LeafEmitter *leaf) {
    for (int l = 0; l < leaf->leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->leaf->loops[l];
        int depth = l < leaf->plain_count ? l + 1 : leaf->plain_count;
        leaf->replaced[loop->var] = l >= leaf->plain_count;
        leaf->depth[loop->var] = depth;
        for (int d = 0; d < loop->definition_count; d++)
            leaf->depth[loop->definitions[d].var] = depth;
    }
}

// Accesses.

static void add_place(void *context, const Access *access) {
    LeafEmitter *leaf = context;
    const Transfer *transfer = emit_transfer_of(leaf->emitter, access, TRANSFER_FETCH);
    leaf->places[transfer->id].transfer = transfer;
}

// The levels of an access that are known outside of the innermost loop.
static void set_prefix(const LeafEmitter *leaf, Place *place) {
    const Access *access = place->transfer->access;
    const Tensor *tensor = access->tensor;
    int point = leaf->sums && place->transfer->kind == TRANSFER_REDUCE ? leaf->sum_depth : leaf->plain_count;
    for (int l = 0; l < tensor->order; l++) {
        int depth = leaf->depth[access->vars[tensor->mode_order[l]]];
        if (depth >= point)
            break;
        place->prefix_levels = l + 1;
        if (depth > place->prefix_depth)
            place->prefix_depth = depth;
    }
}

const Place *leaf_place(const LeafEmitter *leaf, const Access *access, TransferKind kind) {
    return &leaf->places[emit_transfer_of(leaf->emitter, access, kind)->id];
}

// The position that levels first .. last - 1 add to `parent`.
static const char *locate(LeafEmitter *leaf, const Place *place, int first, int last, const char *parent) {
    Emitter *emitter = leaf->emitter;
    const Access *access = place->transfer->access;
    const Tensor *tensor = access->tensor;
    const ViewNames *view = &emitter->views[place->transfer->id];
    for (int l = first; l < last; l++) {
        int mode = tensor->mode_order[l], var = access->vars[mode];
        emitter->var_used[var] = true;
        LevelSite site = {.parent_position = parent,
                          .coordinate = leaf->replaced[var] ? "0" : emitter->vars[var],
                          .lo = view->lo[mode],
                          .stride = view->stride[mode],
                          .last = l == tensor->order - 1};
        Text text = text_create(emitter->arena);
        tensor->levels[l]->emit_locate(&site, &text);
        parent = text_string(&text);
    }
    return parent;
}

const char *leaf_position(LeafEmitter *leaf, const Place *place) {
    int order = place->transfer->access->tensor->order;
    if (order == 0)
        return "0";
    return locate(leaf, place, place->prefix ? place->prefix_levels : 0, order, place->prefix);
}

static const char *element_of(LeafEmitter *leaf, const Place *place) {
    return arena_printf(leaf->emitter->arena, "%s[%s]", leaf->emitter->views[place->transfer->id].data,
                        leaf_position(leaf, place));
}

const char *leaf_element(void *leaf, const Access *access) {
    return element_of(leaf, leaf_place(leaf, access, TRANSFER_FETCH));
}

// Loops.

static void write_definitions(LeafEmitter *leaf, const Definition *definitions, int count) {
    for (int i = 0; i < count; i++)
        if (leaf->needed[definitions[i].var] && !leaf->replaced[definitions[i].var])
            emit_line(leaf->emitter, "const int64_t %s = %s;", leaf->emitter->vars[definitions[i].var],
                      emit_int(leaf->emitter, at_start(leaf, definitions[i].value)));
}

// Not a name or a number.
static bool is_computed(const IntExpr *upper) {
    return upper->left && !int_is_closed(upper);
}

// What becomes known at this depth: bounds of the loops further inside, positions, and the sum.
static void write_constants(LeafEmitter *leaf, int depth) {
    Emitter *emitter = leaf->emitter;
    for (int l = 0; l < leaf->leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->leaf->loops[l];
        if (leaf->uppers[l] || leaf->upper_depth[l] != depth)
            continue;
        const char *text = emit_int(emitter, loop->upper);
        leaf->uppers[l] = text;
        if (!is_computed(loop->upper))
            continue;
        leaf->uppers[l] = names_take(&emitter->names,
                                     arena_printf(emitter->arena, "%s_end", emitter->vars[loop->var]), false);
        emit_line(emitter, "const int64_t %s = %s;", leaf->uppers[l], text);
    }
    for (int t = 0; t < leaf->place_count; t++) {
        Place *place = &leaf->places[t];
        if (!place->transfer || place->prefix_levels == 0 || place->prefix_depth != depth)
            continue;
        const char *position = locate(leaf, place, 0, place->prefix_levels, NULL);
        place->prefix =
            names_take(&emitter->names, arena_printf(emitter->arena, "%s_at", emitter->views[t].data), false);
        emit_line(emitter, "const int64_t %s = %s;", place->prefix, position);
    }
    if (leaf->sums && leaf->sum_depth == depth)
        emit_line(emitter, "%s %s = 0;", type_info(leaf->sum_type)->c_name, leaf->sum);
}

// The iterations of the loops from `first` inwards, as far as they are known before it.
static const char *work_from(const LeafEmitter *leaf, int first) {
    Text text = text_create(leaf->emitter->arena);
    for (int l = first; l < leaf->leaf->loop_count; l++)
        if (leaf->upper_depth[l] <= first)
            text_printf(&text, "%s%s", text.length ? " * " : "", leaf->uppers[l]);
    return text_string(&text);
}

// Who executes the iterations of a loop. `threaded` says that threads are at work around it already.
static void write_pragma(LeafEmitter *leaf, int l, bool threaded) {
    const LeafLoop *loop = &leaf->leaf->loops[l];
    Emitter *emitter = leaf->emitter;
    bool thread = (loop->thread || loop->thread_reduces) && !threaded;
    if (l == leaf->copies_loop) {
        emit_line(emitter, "#pragma omp for schedule(static) nowait");
        return;
    }
    if (!thread && !loop->vector) {
        if (loop->unroll)
            emit_line(emitter, "DISTAL_UNROLL(%d)", (int)loop->unroll);
        return;
    }
    Text text = text_create(emitter->arena);
    text_printf(&text, "#pragma omp%s%s", thread ? " parallel for" : "", loop->vector ? " simd" : "");
    if (leaf->sums && l >= leaf->sum_depth)
        text_printf(&text, " reduction(%s : %s)",
                    thread && type_info(leaf->sum_type)->is_complex ? "distal_add" : "+", leaf->sum);
    if (thread)
        text_printf(&text, " if (%s%s > DISTAL_PARALLEL_WORK)", loop->vector ? "parallel : " : "",
                    work_from(leaf, l));
    emit_line(emitter, "%s", text_string(&text));
}

static void write_update(LeafEmitter *leaf, Value value) {
    Emitter *emitter = leaf->emitter;
    const Access *lhs = leaf->leaf->assign->lhs;
    const char *element = element_of(leaf, leaf_place(leaf, lhs, TRANSFER_REDUCE));
    if (leaf->atomic)
        emit_line(emitter,
                  type_info(lhs->tensor->type)->is_complex ? "#pragma omp critical" : "#pragma omp atomic");
    emit_line(emitter, "%s %s %s;", element, leaf->leaf->assign->accumulate ? "+=" : "=",
              emit_stored(emitter, value, lhs->tensor->type));
}

// That the loops of a call have iterations; empty where that is known. Without any, what the call reads may
// not be there.
static const char *call_has_work(const LeafEmitter *leaf) {
    Text text = text_create(leaf->emitter->arena);
    for (int l = leaf->plain_count; l < leaf->leaf->loop_count; l++) {
        const IntExpr *upper = leaf->leaf->loops[l].upper;
        if (upper->op != INT_CONST || upper->value <= 0)
            text_printf(&text, "%s%s > 0", text.length ? " && " : "", leaf->uppers[l]);
    }
    return text_string(&text);
}

static void write_innermost(LeafEmitter *leaf) {
    const BlasCall *call = leaf->leaf->call;
    const char *condition = call_has_work(leaf);
    if (*condition)
        emit_open(leaf->emitter, "if (%s) {", condition);
    if (call && call->kernel != KERNEL_DOT) {
        leaf_call(leaf);
    } else {
        Value value =
            call ? leaf_dot(leaf) : emit_expr(leaf->emitter, leaf->leaf->assign->rhs, leaf_element, leaf);
        if (leaf->sums)
            emit_line(leaf->emitter, "%s += %s;", leaf->sum, value.text);
        else
            write_update(leaf, value);
    }
    if (*condition)
        emit_close(leaf->emitter);
}

static const char *guards_text(LeafEmitter *leaf, const Guard *guards, int count) {
    Text text = text_create(leaf->emitter->arena);
    for (int i = 0; i < count; i++)
        text_printf(&text, "%s%s < %s", i ? " && " : "", emit_int(leaf->emitter, guards[i].less),
                    emit_int(leaf->emitter, guards[i].than));
    return text_string(&text);
}

// A team around all loops of the leaf: every thread goes through those outside of the loop whose iterations
// they share. In place of the view stands what a thread adds to, which is of the same shape.
static void open_team(LeafEmitter *leaf) {
    Emitter *emitter = leaf->emitter;
    const Transfer *written = leaf_place(leaf, leaf->leaf->assign->lhs, TRANSFER_REDUCE)->transfer;
    ViewNames *view = &emitter->views[written->id];
    const char *threads = names_take(&emitter->names, "threads", false);
    const char *own = names_take(&emitter->names, arena_printf(emitter->arena, "%s_own", view->data), false);
    leaf->shared = view->data;
    emit_line(emitter, "const int %s = %s > DISTAL_PARALLEL_WORK ? distal_thread_count(%s, %d) : 1;", threads,
              work_from(leaf, 0), emitter->execution, written->id);
    emit_line(emitter, "#pragma omp parallel num_threads(%s)", threads);
    emit_open(emitter, "{");
    emit_line(emitter, "%s *restrict %s = distal_thread_copy(%s, %d, distal_thread_number());",
              type_info(written->access->tensor->type)->c_name, own, emitter->execution, written->id);
    view->data = own;
}

static void close_team(LeafEmitter *leaf) {
    const Transfer *written = leaf_place(leaf, leaf->leaf->assign->lhs, TRANSFER_REDUCE)->transfer;
    emit_close(leaf->emitter);
    emit_line(leaf->emitter, "distal_merge_copies(%s, %d);", leaf->emitter->execution, written->id);
    leaf->emitter->views[written->id].data = leaf->shared;
}

// The loops from `l` inwards, and the update of the element that they sum up.
static void write_loops(LeafEmitter *leaf, int l, bool threaded) {
    Emitter *emitter = leaf->emitter;
    for (int i = leaf->plain_count; l == leaf->plain_count && i < leaf->leaf->loop_count; i++)
        write_definitions(leaf, leaf->leaf->loops[i].definitions, leaf->leaf->loops[i].definition_count);
    write_constants(leaf, l);
    const bool team = l == 0 && leaf->copies_loop >= 0;
    if (team)
        open_team(leaf);
    if (l == leaf->plain_count) {
        write_innermost(leaf);
    } else {
        const LeafLoop *loop = &leaf->leaf->loops[l];
        const char *var = emitter->vars[loop->var];
        write_pragma(leaf, l, threaded);
        emit_open(emitter, "for (int64_t %s = 0; %s < %s; %s++) {", var, var, leaf->uppers[l], var);
        write_definitions(leaf, loop->definitions, loop->definition_count);
        if (loop->guard_count)
            emit_open(emitter, "if (%s) {", guards_text(leaf, loop->guards, loop->guard_count));
        write_loops(leaf, l + 1, threaded || loop->thread || loop->thread_reduces);
        if (loop->guard_count)
            emit_close(emitter);
        emit_close(emitter);
    }
    if (team)
        close_team(leaf);
    if (leaf->sums && leaf->sum_depth == l)
        write_update(leaf, (Value){leaf->sum, BIND_PRIMARY, type_info(leaf->sum_type)->is_complex});
}

// An element that the loops from some depth inwards do not move is updated once, after them. Threads that
// are at work inside must not share the sum unless it is theirs to reduce.
static void choose_sum(LeafEmitter *leaf) {
    const Leaf *from = leaf->leaf;
    int depth = access_depth(leaf, from->assign->lhs);
    leaf->copies_loop = -1;
    for (int l = 0; l < leaf->plain_count; l++) {
        const LeafLoop *loop = &from->loops[l];
        if (loop->thread_copies)
            leaf->copies_loop = l;
        bool moves = l < depth;
        if (!moves && loop->thread && !loop->thread_reduces)
            depth = l + 1;
        leaf->atomic = leaf->atomic || loop->atomic || (moves && loop->thread_reduces);
    }
    bool is_value = !from->call || from->call->kernel == KERNEL_DOT;
    leaf->sums = is_value && depth < leaf->plain_count;
    leaf->sum_depth = depth;
    leaf->sum_type = type_info(expr_type(from->assign->rhs))->is_complex
                         ? leaf->emitter->type
                         : type_component(leaf->emitter->type);
    if (leaf->sums)
        leaf->sum = names_take(&leaf->emitter->names, "sum", false);
}

static bool mentions(const IntExpr *expr, int var) {
    return (expr->op == INT_VAR && expr->value == var) || (expr->left && mentions(expr->left, var)) ||
           (expr->right && mentions(expr->right, var));
}

static bool needs_definition(const Leaf *leaf, const Guard *guard) {
    for (int d = 0; d < leaf->definition_count; d++)
        if (mentions(guard->less, leaf->definitions[d].var) ||
            mentions(guard->than, leaf->definitions[d].var))
            return true;
    return false;
}

// Guards on what is known outside come first: definitions hold only for coordinates that exist.
static void write_block(LeafEmitter *leaf, const Transfer *written) {
    Emitter *emitter = leaf->emitter;
    const Leaf *from = leaf->leaf;
    Guard *inner = arena_array(emitter->arena, Guard, from->guard_count + 1);
    int inner_count = 0;
    Text condition = text_create(emitter->arena);
    text_append(&condition, emitter->active);
    // Where there is no iteration there is no element to add a sum of nothing to, and nothing to copy.
    if (leaf->sums || leaf->copies_loop >= 0)
        text_printf(&condition, " && %s", emitter->views[written->id].data);
    for (int g = 0; g < from->guard_count; g++)
        if (needs_definition(from, &from->guards[g]))
            inner[inner_count++] = from->guards[g];
        else
            text_printf(&condition, " && %s", guards_text(leaf, &from->guards[g], 1));
    emit_open(emitter, "if (%s) {", text_string(&condition));
    write_definitions(leaf, from->definitions, from->definition_count);
    if (inner_count)
        emit_open(emitter, "if (%s) {", guards_text(leaf, inner, inner_count));
    write_loops(leaf, 0, false);
    if (inner_count)
        emit_close(emitter);
    emit_close(emitter);
}

void emit_leaf(Emitter *emitter, const Leaf *from) {
    Names outer = emitter->names;
    LeafEmitter leaf = {.emitter = emitter, .leaf = from};
    leaf.plain_count = from->loop_count - (from->call ? from->call_loops : 0);
    leaf.place_count = emitter->spmd->transfer_count;
    leaf.places = arena_array(emitter->arena, Place, leaf.place_count);
    const Transfer *written = emit_transfer_of(emitter, from->assign->lhs, TRANSFER_REDUCE);
    leaf.places[written->id].transfer = written;
    expr_accesses(from->assign->rhs, add_place, &leaf);
    set_depths(&leaf);
    choose_sum(&leaf);
    for (int t = 0; t < leaf.place_count; t++)
        if (leaf.places[t].transfer)
            set_prefix(&leaf, &leaf.places[t]);
    for (int l = 0; l < from->loop_count; l++)
        leaf.upper_depth[l] = expr_depth(&leaf, from->loops[l].upper);
    need_all(&leaf);

    if (from->why)
        emit_comment(emitter, from->why);
    write_block(&leaf, written);
    emit_forget_names(emitter, outer);
}
