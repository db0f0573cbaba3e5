// SPDX-License-Identifier: BSD-3-Clause
#include "emit/emit.h"

#include "emit/emitter.h"

#include <inttypes.h>

static const char prelude[] =
    "\n"
    "#ifdef __clang__\n"
    "// A pragma says that a loop may be vectorized; whether that pays is the compiler's decision.\n"
    "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
    "#else\n"
    "// Loops are blocked already; where GCC does that again, it gathers single elements.\n"
    "#pragma GCC optimize(\"no-loop-unroll-and-jam\")\n"
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

const char *emit_int_text(const Emitter *emitter, const IntExpr *expr) {
    return loop_int_text(emitter->kernel, &emitter->names, expr);
}

static const char *value_text(const Emitter *emitter, const Value *value) {
    return loop_value_text(emitter->kernel, &emitter->names, value);
}

const LoopArray *emit_array_of(const Emitter *emitter, int array) {
    return &emitter->kernel->arrays.items[array];
}

const char *emit_c_type(const Emitter *emitter, int type) {
    return type < TYPE_COUNT              ? loop_element_type(emitter->kernel, (ElementType)type)
           : type == VALUE_TYPE_CONDITION ? "int"
                                          : "int64_t";
}

// "const int64_t a = ..., b = ...;" of what is used; nothing where it is empty.
static void emit_constants(Emitter *emitter, const Text *definitions) {
    if (definitions->length)
        emit_line(&emitter->lines, "const int64_t %s;", text_string(definitions));
}

static void emit_for(Emitter *emitter, const LoopNode *node) {
    const char *var = emitter->names.vars[node->var];
    const bool in_threads = emitter->in_threads;
    if (node->execution.unit != GPU_NONE) {
        emit_unit_loop(emitter, node);
        return;
    }
    emit_pragma(emitter, node);
    emitter->in_threads = in_threads || node->execution.thread;
    const char *step =
        node->stride
            ? arena_printf(emitter->kernel->arena, "%s += %s", var, emit_int_text(emitter, node->stride))
        : node->step == 1 ? arena_printf(emitter->kernel->arena, "%s++", var)
                          : arena_printf(emitter->kernel->arena, "%s += %" PRId64, var, node->step);
    emit_open(&emitter->lines, "for (int64_t %s = %s; %s < %s; %s) {", var,
              emit_int_text(emitter, node->lower), var, emit_int_text(emitter, node->upper), step);
    emit_body(emitter, &node->body);
    emit_close(&emitter->lines);
    emitter->in_threads = in_threads;
}

static void emit_block(Emitter *emitter, const LoopNode *node) {
    if (node->text && *node->text)
        emit_comment(&emitter->lines, node->text);
    emit_open(&emitter->lines, "%s (%s) {", node->kind == LOOP_WHILE ? "while" : "if",
              value_text(emitter, node->value));
    emit_body(emitter, &node->body);
    emit_close(&emitter->lines);
}

// The coordinates that are used, and whether the processor takes part.
static void emit_processors(Emitter *emitter, const LoopNode *node) {
    const LoopNames *names = &emitter->names;
    Arena *arena = emitter->kernel->arena;
    Text used = text_create(arena), active = text_create(arena);
    const LoopUses uses = loop_uses_within(emitter->kernel, node);
    bool fixed = false;
    text_printf(&active, "distal_takes_part(%s, %s)", names->execution, names->processor);
    for (int d = 0; d < node->dim_count; d++) {
        const int var = node->coordinates[d];
        if (var < 0) {
            const IntExpr *coordinate = node->fixed[d];
            text_printf(&active, coordinate->left ? " && %s[%d] == (%s)" : " && %s[%d] == %s",
                        names->coordinates, d, emit_int_text(emitter, coordinate));
            fixed = true;
        } else if (uses.vars[var]) {
            text_printf(&used, "%s%s = %s[%d]", used.length ? ", " : "", names->vars[var], names->coordinates,
                        d);
        }
    }
    if (node->stage >= 0)
        emit_open(&emitter->lines, "if (distal_stage(%s) == %d) {", names->execution, node->stage);
    emit_open(&emitter->lines, "for (int64_t %s = 0; %s < distal_processor_count(%s); %s++) {",
              names->processor, names->processor, names->execution, names->processor);
    if (used.length || fixed)
        emit_line(&emitter->lines, "const int64_t *%s = distal_coordinates(%s, %s);", names->coordinates,
                  names->execution, names->processor);
    emit_constants(emitter, &used);
    emit_line(&emitter->lines, "const int %s = %s;", names->vars[node->var], text_string(&active));
    emit_body(emitter, &node->body);
    emit_close(&emitter->lines);
    if (node->stage >= 0)
        emit_close(&emitter->lines);
}

static bool uses_view(const Emitter *emitter, const LoopNode *node) {
    bool used = emitter->uses.arrays[node->array];
    for (int f = 0; f < node->field_count; f++)
        used |= emitter->uses.vars[node->fields[f].var];
    for (int a = 0; a < node->view_array_count; a++)
        used |= emitter->uses.arrays[node->view_arrays[a].array];
    return used;
}

// Pointer and numbers of a view, as constants of the block.
static void emit_view(Emitter *emitter, const LoopNode *node) {
    const LoopNames *names = &emitter->names;
    static const char *const calls[] = {[LOOP_WAIT] = "distal_wait",
                                        [LOOP_VIEW] = "distal_view_early",
                                        [LOOP_FETCH] = "distal_fetch",
                                        [LOOP_OPEN] = "distal_accumulate"};
    const char *view = names->views[node->array], *data = names->arrays[node->array];
    if (node->kind == LOOP_FETCH)
        emit_comment(&emitter->lines, emitter->kernel->transfers[node->transfer].what);
    if (!uses_view(emitter, node)) {
        emit_line(&emitter->lines, "%s(%s, %s);", calls[node->kind], names->execution,
                  names->transfers[node->transfer]);
        return;
    }
    emit_line(&emitter->lines, "const distal_view *%s = %s(%s, %s);", view, calls[node->kind],
              names->execution, names->transfers[node->transfer]);
    if (emitter->uses.arrays[node->array])
        emit_line(&emitter->lines,
                  node->kind != LOOP_OPEN                        ? "const %s *%s = %s->values;"
                  : emit_array_of(emitter, node->array)->updated ? "%s *%s = %s->values;"
                                                                 : "%s *restrict %s = %s->values;",
                  emit_c_type(emitter, (int)emit_array_of(emitter, node->array)->type), data, view);
    Text text = text_create(emitter->kernel->arena);
    for (int f = 0; f < node->field_count; f++) {
        const LoopField *field = &node->fields[f];
        if (emitter->uses.vars[field->var])
            text_printf(&text, field->member ? "%s%s = %s->%s[%d]" : "%s%s = %s->%slevels[%d].position_count",
                        text.length ? ", " : "", names->vars[field->var], view,
                        field->member ? field->member : "", field->mode);
    }
    emit_constants(emitter, &text);
    for (int a = 0; a < node->view_array_count; a++) {
        const LoopViewArray *array = &node->view_arrays[a];
        if (emitter->uses.arrays[array->array])
            emit_line(&emitter->lines, "const %s *restrict %s = %s->levels[%d].arrays[%d];",
                      emit_c_type(emitter, (int)emit_array_of(emitter, array->array)->type),
                      names->arrays[array->array], view, array->level, array->number);
    }
}

static void emit_rows(Emitter *emitter, const LoopNode *node) {
    const LoopNames *names = &emitter->names;
    emit_open(&emitter->lines, "for (const int64_t *%s; (%s = distal_next_rows(%s, %s));) {", names->rows,
              names->rows, names->execution, names->transfers[node->transfer]);
    for (int f = 0; f < node->field_count; f++)
        emit_line(&emitter->lines, "const int64_t %s = %s[%d];", names->vars[node->fields[f].var],
                  names->rows, node->fields[f].mode);
    emit_body(emitter, &node->body);
    emit_close(&emitter->lines);
}

static void emit_transfer(Emitter *emitter, const LoopNode *node) {
    static const char *const calls[] = {
        [LOOP_START] = "distal_start", [LOOP_AHEAD] = "distal_start_next", [LOOP_REDUCE] = "distal_reduce"};
    if (node->kind != LOOP_AHEAD)
        emit_comment(&emitter->lines, emitter->kernel->transfers[node->transfer].what);
    emit_line(&emitter->lines, "%s(%s, %s);", calls[node->kind], emitter->names.execution,
              emitter->names.transfers[node->transfer]);
}

// Threads that each add to a copy of their own, or units of a GPU with partial results; then these are added.
static void emit_team(Emitter *emitter, const LoopNode *node) {
    const LoopNames *names = &emitter->names;
    const char *transfer = names->transfers[node->transfer];
    if (emitter->kernel->gpu) {
        emit_line(&emitter->lines, "%s *%s = distal_gpu_partials(%s, %s);",
                  emit_c_type(emitter, (int)emit_array_of(emitter, node->own)->type),
                  names->arrays[node->own], names->execution, transfer);
        emit_body(emitter, &node->body);
        emit_line(&emitter->lines, "distal_gpu_merge(%s, %s);", names->execution, transfer);
        return;
    }
    emit_line(&emitter->lines, "const int %s = distal_thread_count(%s, %s, %s);", names->threads,
              names->execution, transfer, emit_int_text(emitter, node->execution.work));
    emit_line(&emitter->lines, "#pragma omp parallel num_threads(%s)", names->threads);
    emit_open(&emitter->lines, "{");
    emit_line(&emitter->lines, "%s *restrict %s = distal_thread_copy(%s, %s, distal_thread_number());",
              emit_c_type(emitter, (int)emit_array_of(emitter, node->own)->type), names->arrays[node->own],
              names->execution, transfer);
    emitter->in_team = emitter->in_threads = true;
    emit_body(emitter, &node->body);
    emitter->in_team = emitter->in_threads = false;
    emit_close(&emitter->lines);
    emit_line(&emitter->lines, "distal_merge_copies(%s, %s);", names->execution, transfer);
}

static void emit_let(Emitter *emitter, const LoopNode *node) {
    emit_line(&emitter->lines, "const %s %s = %s;",
              emit_c_type(emitter, emitter->kernel->vars.items[node->var].type),
              emitter->names.vars[node->var], value_text(emitter, node->value));
}

// The least integers have no literals of their own.
static const char *identity_text(const Emitter *emitter, const LoopArray *array) {
    const TypeInfo *info = type_info(array->type);
    const Identity identity = reducer_identity(array->reducer, array->type);
    if (info->is_integer && array->reducer > REDUCER_PROD)
        return arena_printf(emitter->kernel->arena, "INT%d_%s", info->size == 4 ? 32 : 64,
                            identity.integer < 0 ? "MIN" : "MAX");
    return array->reducer == REDUCER_SUM    ? "0"
           : array->reducer == REDUCER_PROD ? "1"
           : identity.real < 0              ? "-INFINITY"
                                            : "INFINITY";
}

// A local variable, or memory that the execution has for each thread.
static void emit_workspace(Emitter *emitter, const LoopNode *node) {
    const LoopArray *array = emit_array_of(emitter, node->array);
    const char *name = emitter->names.arrays[node->array], *type = emit_c_type(emitter, (int)array->type);
    if (array->scalar) {
        emit_line(&emitter->lines, "%s %s = %s;", type, name, identity_text(emitter, array));
        return;
    }
    if (array->shared || array->scratch) {
        emit_launch_workspace(emitter, node);
        return;
    }
    if (array->local) {
        emit_line(&emitter->lines, "%s %s[%s]%s;", type, name, emit_int_text(emitter, array->extent),
                  node->stored ? "" : " = {0}");
        return;
    }
    emit_line(&emitter->lines, "%s *restrict %s = distal_workspace(%s, %d, %s);", type, name,
              emitter->names.execution, array->number, emitter->in_threads ? "distal_thread_number()" : "0");
    if (!node->stored)
        emit_line(&emitter->lines, "__builtin_memset(%s, 0, (uint64_t)(%s) * sizeof *%s);", name,
                  emit_int_text(emitter, array->extent), name);
}

// A real number becomes a complex one without a word.
static const Value *stored(const Emitter *emitter, const LoopNode *node) {
    const ElementType to = emit_array_of(emitter, node->array)->type;
    const bool fits = node->value->type == (int)to || node->value->type == (int)type_component(to);
    return fits ? node->value : value_convert(emitter->kernel->arena, node->value, (int)to);
}

static void emit_update(Emitter *emitter, const LoopNode *node) {
    const LoopArray *array = emit_array_of(emitter, node->array);
    const char *element = loop_element_text(emitter->kernel, &emitter->names, node->array, node->position);
    const char *value = value_text(emitter, stored(emitter, node));
    const char *function = node->kind == LOOP_ACCUMULATE ? reducer_c_name(array->reducer, array->type) : NULL;
    if (node->atomic && emitter->launch) {
        emit_atomic(emitter, node, element, value);
        return;
    }
    if (node->atomic)
        emit_line(&emitter->lines, "#pragma omp %s",
                  function || type_info(array->type)->is_complex ? "critical" : "atomic");
    if (function)
        emit_line(&emitter->lines, "%s = %s(%s, %s);", element, function, element, value);
    else
        emit_line(&emitter->lines, "%s %s %s;", element,
                  node->kind == LOOP_ACCUMULATE ? reducer_marks[array->reducer] : "=", value);
}

// The loops of a contraction as an array, then the call.
static void emit_call(Emitter *emitter, const LoopNode *node) {
    const Value *call = node->value;
    for (int i = 0; i < call->operand_count; i++) {
        const Value *rows = call->operands[i];
        if (rows->kind != VALUE_ROWS)
            continue;
        emit_line(&emitter->lines, "const distal_contraction_loop %s[] = {", emitter->names.loops);
        for (int r = 0; r < rows->operand_count; r += 4)
            emit_line(&emitter->lines, "    {%s, %s, %s, %s},", value_text(emitter, rows->operands[r]),
                      value_text(emitter, rows->operands[r + 1]), value_text(emitter, rows->operands[r + 2]),
                      value_text(emitter, rows->operands[r + 3]));
        emit_line(&emitter->lines, "};");
    }
    emit_line(&emitter->lines, "%s;", value_text(emitter, call));
}

static void emit_append(Emitter *emitter, const LoopNode *node) {
    emit_line(&emitter->lines, "distal_append(%s, %s, %s);", emitter->names.execution,
              emitter->names.transfers[node->transfer], value_text(emitter, node->value));
}

// The lists of a portion are local variables in its body.
static void emit_portion(Emitter *emitter, const LoopNode *node) {
    const LoopNames *names = &emitter->names;
    const char *all = names->arrays[node->array], *transfer = names->transfers[node->transfer];
    emit_line(&emitter->lines, "distal_list *%s = distal_begin_portion(%s, %s, %s);", all, names->execution,
              transfer, value_text(emitter, node->value));
    for (int a = 0; a < node->view_array_count; a++)
        emit_line(&emitter->lines, "distal_list %s = %s[%d];", names->arrays[node->view_arrays[a].array], all,
                  node->view_arrays[a].number);
    emit_body(emitter, &node->body);
    for (int a = 0; a < node->view_array_count; a++)
        emit_line(&emitter->lines, "%s[%d] = %s;", all, node->view_arrays[a].number,
                  names->arrays[node->view_arrays[a].array]);
    emit_line(&emitter->lines, "distal_end_portion(%s, %s, %s);", names->execution, transfer,
              value_text(emitter, node->value));
}

static void emit_row_set(Emitter *emitter, const LoopNode *node) {
    emit_line(&emitter->lines, "distal_index_set *%s = distal_row_set(%s, %s);",
              emitter->names.arrays[node->array], emitter->names.execution,
              emitter->names.transfers[node->transfer]);
}

static void emit_push(Emitter *emitter, const LoopNode *node) {
    const char *list = emitter->names.arrays[node->array];
    const bool set = node->value->kind == VALUE_SET;
    emit_line(&emitter->lines, "%s = distal_push_%s(%s, %s);", list,
              set ? "set" : type_info(emit_array_of(emitter, node->array)->type)->name, list,
              value_text(emitter, node->value));
}

static void emit_insert(Emitter *emitter, const LoopNode *node) {
    emit_line(&emitter->lines, "distal_insert(%s, %s);", emitter->names.arrays[node->array],
              value_text(emitter, node->value));
}

static void emit_text(Emitter *emitter, const LoopNode *node) {
    emit_comment(&emitter->lines, node->text);
}

void emit_body(Emitter *emitter, const LoopBody *body) {
    static void (*const emitters[LOOP_KIND_COUNT])(Emitter * emitter, const LoopNode *node) = {
        [LOOP_PROCESSORS] = emit_processors,
        [LOOP_FOR] = emit_for,
        [LOOP_WHILE] = emit_block,
        [LOOP_IF] = emit_block,
        [LOOP_LEAF] = emit_block,
        [LOOP_LAUNCH] = emit_launch,
        [LOOP_TEAM] = emit_team,
        [LOOP_LET] = emit_let,
        [LOOP_STORE] = emit_update,
        [LOOP_WORKSPACE] = emit_workspace,
        [LOOP_ACCUMULATE] = emit_update,
        [LOOP_CALL] = emit_call,
        [LOOP_APPEND] = emit_append,
        [LOOP_PORTION] = emit_portion,
        [LOOP_ROW_SET] = emit_row_set,
        [LOOP_PUSH] = emit_push,
        [LOOP_INSERT] = emit_insert,
        [LOOP_START] = emit_transfer,
        [LOOP_WAIT] = emit_view,
        [LOOP_VIEW] = emit_view,
        [LOOP_ROWS] = emit_rows,
        [LOOP_FETCH] = emit_view,
        [LOOP_AHEAD] = emit_transfer,
        [LOOP_OPEN] = emit_view,
        [LOOP_REDUCE] = emit_transfer,
        [LOOP_COMMENT] = emit_text,
    };
    for (int64_t i = 0; i < body->count; i++)
        if (emitters[body->items[i]->kind])
            emitters[body->items[i]->kind](emitter, body->items[i]);
}

static void emit_params(Emitter *emitter) {
    Text used = text_create(emitter->kernel->arena);
    for (int p = 0; p < emitter->kernel->param_count; p++)
        if (emitter->uses.params[p])
            text_printf(&used, "%s%s = %s[%d]", used.length ? ", " : "", emitter->names.params[p],
                        emitter->names.param, p);
    if (used.length)
        emit_constants(emitter, &used);
    else
        emit_line(&emitter->lines, "(void)%s;", emitter->names.param);
}

// The numbers of transfers, by name.
static void emit_transfers(Emitter *emitter) {
    Text text = text_create(emitter->kernel->arena);
    for (int t = 0; t < emitter->kernel->transfer_count; t++)
        text_printf(&text, "%s%s", t ? ", " : "", emitter->names.transfers[t]);
    emit_line(&emitter->lines, "enum { %s };", text_string(&text));
}

void emit_function(const LoopKernel *kernel, const EmitOptions *options, Text *to) {
    Emitter emitter = {.lines = {kernel->arena, to, 0},
                       .kernel = kernel,
                       .names = loop_names(kernel),
                       .uses = loop_uses(kernel),
                       .guarded = kernel->gpu || options->beside_gpu};
    const char *function = options->function ? options->function : "distal_kernel";
    emitter.function = function;
    if (options->title)
        emit_comment(&emitter.lines, options->title);
    emit_launched(&emitter);
    emit_line(&emitter.lines, "void %s(distal_execution *%s, const int64_t *%s);", function,
              emitter.names.execution, emitter.names.param);
    emit_open(&emitter.lines, "void %s(distal_execution *%s, const int64_t *%s) {", function,
              emitter.names.execution, emitter.names.param);
    emit_transfers(&emitter);
    emit_params(&emitter);
    emit_body(&emitter, &kernel->body);
    emit_close(&emitter.lines);
    if (emitter.guarded)
        text_append(to, "#endif\n");
}

void emit_prelude(bool gpu, Text *to) {
    text_append(to,
                "// Generated by distal. Every rank calls the functions below; all make the same iterations "
                "around the\n"
                "// calls of the runtime, and what only some processors do is in blocks of their own.\n");
    text_append(to, gpu ? "// Kernels of a GPU are CUDA C; the header says what they are on the host.\n"
                          "#include \"distal_gpu.h\"\n#ifndef __CUDACC__\n"
                        : "#include \"distal_kernel.h\"\n");
    text_append(to, prelude);
    text_append(to, gpu ? "\n// The kernels below as the library has loaded them.\n"
                          "extern void *distal_gpu_module;\nvoid *distal_gpu_module;\n#endif\n"
                        : "");
}
