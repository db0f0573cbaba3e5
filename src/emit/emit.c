// SPDX-License-Identifier: BSD-3-Clause
#include "emit/emit.h"

#include "emit/emitter.h"

#include <string.h>

static const char prelude[] =
    "#include \"distal_kernel.h\"\n"
    "\n"
    "#ifdef __clang__\n"
    "// A pragma says that a loop may be vectorized; whether that pays is the compiler's decision.\n"
    "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
    "#endif\n"
    "\n"
    "// Sums of complex numbers over threads; some compilers want a library of atomic operations for `+`.\n"
    "#pragma omp declare reduction(distal_add : float _Complex, double _Complex : omp_out += omp_in)\\\n"
    "    initializer(omp_priv = 0)\n"
    "\n"
    "static inline __attribute__((unused)) int64_t min(int64_t a, int64_t b) {\n"
    "    return a < b ? a : b;\n"
    "}\n"
    "\n"
    "static inline __attribute__((unused)) int64_t max(int64_t a, int64_t b) {\n"
    "    return a > b ? a : b;\n"
    "}\n"
    "\n"
    "static inline __attribute__((unused)) int64_t floor_div(int64_t a, int64_t b) {\n"
    "    return a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
    "}\n"
    "\n"
    "static inline __attribute__((unused)) int64_t ceil_div(int64_t a, int64_t b) {\n"
    "    return a / b + (a % b != 0 && (a < 0) == (b < 0));\n"
    "}\n";

const Transfer *emit_transfer_of(const Emitter *emitter, const Access *access, TransferKind kind) {
    const Spmd *spmd = emitter->spmd;
    for (int t = 0; t < spmd->transfer_count; t++)
        if (&spmd->nests[spmd->transfers[t].nest] == emitter->nest && spmd->transfers[t].kind == kind &&
            access_equal(spmd->transfers[t].access, access))
            return &spmd->transfers[t];
    return NULL;
}

static void want_name(void *context, const Access *access) {
    names_want(context, access->tensor->name);
}

// Params keep their names first, then variables, then tensors, then what emission itself needs.
static void name_everything(Emitter *emitter, const EmitOptions *options) {
    const Cin *cin = emitter->spmd->cin;
    Names *names = &emitter->names;
    for (int p = 0; p < options->param_count; p++)
        names_want(names, options->params[p]);
    for (int v = 0; v < cin->var_count; v++)
        names_want(names, cin->vars[v].name);
    for (int n = 0; n < emitter->spmd->nest_count; n++) {
        want_name(names, emitter->spmd->nests[n].assign->lhs);
        expr_accesses(emitter->spmd->nests[n].assign->rhs, want_name, names);
    }
    const char **params = arena_array(emitter->arena, const char *, options->param_count + 1);
    for (int p = 0; p < options->param_count; p++)
        params[p] = names_take(names, options->params[p], true);
    emitter->params = params;
    for (int v = 0; v < cin->var_count; v++)
        emitter->vars[v] = names_take(names, cin->vars[v].name, true);
    emitter->execution = names_take(names, "execution", false);
    emitter->param = names_take(names, "param", false);
    emitter->processor = names_take(names, "processor", false);
    emitter->coordinates = names_take(names, "coordinates", false);
    emitter->active = names_take(names, "active", false);
}

static void name_view(Emitter *emitter, const Transfer *transfer) {
    const Tensor *tensor = transfer->access->tensor;
    ViewNames *view = &emitter->views[transfer->id];
    view->data = names_take(&emitter->names, tensor->name, true);
    view->view = names_take(&emitter->names, arena_printf(emitter->arena, "%s_view", view->data), false);
    for (int m = 0; m < tensor->order; m++) {
        view->lo[m] =
            names_take(&emitter->names, arena_printf(emitter->arena, "%s_lo%d", view->data, m), false);
        view->stride[m] =
            names_take(&emitter->names, arena_printf(emitter->arena, "%s_stride%d", view->data, m), false);
    }
}

// Pointer, first coordinates and strides, as constants of the block.
static void emit_view(Emitter *emitter, const Transfer *transfer, const char *call) {
    const Tensor *tensor = transfer->access->tensor;
    const ViewNames *names = &emitter->views[transfer->id];
    const char *type = type_info(tensor->type)->c_name;
    bool written = transfer->kind == TRANSFER_REDUCE;
    emit_line(emitter, "const distal_view *%s = %s(%s, %d);", names->view, call, emitter->execution,
              transfer->id);
    emit_line(emitter, written ? "%s *restrict %s = %s->values;" : "const %s *%s = %s->values;", type,
              names->data, names->view);
    if (tensor->order == 0)
        return;
    Text text = text_create(emitter->arena);
    for (int m = 0; m < tensor->order; m++)
        text_printf(&text, "%s%s = %s->lo[%d]", m ? ", " : "", names->lo[m], names->view, m);
    int last = tensor->mode_order[tensor->order - 1];
    for (int m = 0; m < tensor->order; m++)
        if (m != last)
            text_printf(&text, ", %s = %s->stride[%d]", names->stride[m], names->view, m);
    emit_line(emitter, "const int64_t %s;", text_string(&text));
}

// Fetches that follow each other are under way at the same time.
static const SpmdNode *emit_fetches(Emitter *emitter, const SpmdNode *first) {
    const SpmdNode *end = first;
    if (!first->next || first->next->kind != SPMD_FETCH) {
        emit_view(emitter, &emitter->spmd->transfers[first->transfer], "distal_fetch");
        return first->next;
    }
    for (; end && end->kind == SPMD_FETCH; end = end->next)
        emit_line(emitter, "distal_start(%s, %d);", emitter->execution, end->transfer);
    for (const SpmdNode *node = first; node != end; node = node->next)
        emit_view(emitter, &emitter->spmd->transfers[node->transfer], "distal_wait");
    return end;
}

static void emit_sequence(Emitter *emitter, const SpmdNode *node) {
    while (node) {
        switch (node->kind) {
        case SPMD_LOOP: {
            const char *var = emitter->vars[node->var];
            emit_open(emitter, "for (int64_t %s = 0; %s < %s; %s++) {", var, var,
                      emit_int(emitter, node->extent), var);
            emit_sequence(emitter, node->body);
            emit_close(emitter);
            break;
        }
        case SPMD_FETCH:
            node = emit_fetches(emitter, node);
            continue;
        case SPMD_RELEASE:
            break;
        case SPMD_ACCUMULATE:
            emit_view(emitter, &emitter->spmd->transfers[node->transfer], "distal_accumulate");
            break;
        case SPMD_REDUCE:
            emit_line(emitter, "distal_reduce(%s, %d);", emitter->execution, node->transfer);
            break;
        case SPMD_LEAF:
            emit_leaf(emitter, node->leaf);
            break;
        }
        node = node->next;
    }
}

// The body of the loop over processors goes into a text of its own first: what it uses is declared before.
static void emit_nest(Emitter *emitter, const SpmdNest *nest) {
    const Spmd *spmd = emitter->spmd;
    Names outer = emitter->names; // names of tensors are free again in the next nest
    Text *to = emitter->to;
    Text body = text_create(emitter->arena);
    emitter->nest = nest;
    emitter->var_used = arena_array(emitter->arena, bool, MAX_VARS);
    for (int t = 0; t < spmd->transfer_count; t++)
        if (&spmd->nests[spmd->transfers[t].nest] == nest)
            name_view(emitter, &spmd->transfers[t]);
    emit_open(emitter, "for (int64_t %s = 0; %s < distal_processor_count(%s); %s++) {", emitter->processor,
              emitter->processor, emitter->execution, emitter->processor);
    emitter->to = &body;
    emit_sequence(emitter, nest->body);
    emitter->to = to;

    Text used = text_create(emitter->arena), active = text_create(emitter->arena);
    text_printf(&active, "distal_takes_part(%s, %s)", emitter->execution, emitter->processor);
    bool fixed = false;
    for (int d = 0; d < spmd->dim_count; d++) {
        int var = nest->coordinates[d];
        if (var < 0) {
            text_printf(&active, " && %s[%d] == %s", emitter->coordinates, d,
                        emit_int_operand(emitter, nest->fixed[d]));
            fixed = true;
        } else if (emitter->var_used[var]) {
            text_printf(&used, "%s%s = %s[%d]", used.length ? ", " : "", emitter->vars[var],
                        emitter->coordinates, d);
        }
    }
    if (used.length || fixed)
        emit_line(emitter, "const int64_t *%s = distal_coordinates(%s, %s);", emitter->coordinates,
                  emitter->execution, emitter->processor);
    if (used.length)
        emit_line(emitter, "const int64_t %s;", text_string(&used));
    emit_line(emitter, "const int %s = %s;", emitter->active, text_string(&active));
    text_append(to, text_string(&body));
    emit_close(emitter);
    emit_forget_names(emitter, outer);
}

static void emit_params(Emitter *emitter, int count) {
    Text used = text_create(emitter->arena);
    for (int p = 0; p < count; p++)
        if (emitter->param_used[p])
            text_printf(&used, "%s%s = %s[%d]", used.length ? ", " : "", emitter->params[p], emitter->param,
                        p);
    if (used.length)
        emit_line(emitter, "const int64_t %s;", text_string(&used));
    else
        emit_line(emitter, "(void)%s;", emitter->param);
    for (int64_t i = 0; i < emitter->quotients.count; i++)
        emit_line(emitter, "const int64_t %s = %s;", emitter->quotients.items[i].name,
                  emitter->quotients.items[i].text);
}

void emit_function(const Spmd *spmd, const EmitOptions *options, Text *to) {
    Emitter emitter = {.spmd = spmd, .arena = spmd->arena, .to = to, .names = names_create(spmd->arena)};
    const char *function = options->function ? options->function : "distal_kernel";
    emitter.type = assignment_type(spmd->cin->assignment);
    emitter.views = arena_array(spmd->arena, ViewNames, spmd->transfer_count + 1);
    emitter.param_used = arena_array(spmd->arena, bool, options->param_count + 1);
    name_everything(&emitter, options);

    Text body = text_create(spmd->arena);
    emitter.to = &body;
    emitter.indent = 1;
    for (int n = 0; n < spmd->nest_count; n++)
        emit_nest(&emitter, &spmd->nests[n]);
    emitter.to = to;
    emitter.indent = 0;
    if (options->title)
        emit_comment(&emitter, options->title);
    emit_line(&emitter, "void %s(distal_execution *%s, const int64_t *%s);", function, emitter.execution,
              emitter.param);
    emit_open(&emitter, "void %s(distal_execution *%s, const int64_t *%s) {", function, emitter.execution,
              emitter.param);
    emit_params(&emitter, options->param_count);
    text_append(to, text_string(&body));
    emit_close(&emitter);
}

void emit_prelude(Text *to) {
    text_append(to, "// Generated by distal. Every rank calls the functions below; all take the same turns "
                    "around the calls\n"
                    "// of the runtime, and what only some processors do is in blocks of their own.\n");
    text_append(to, prelude);
}
