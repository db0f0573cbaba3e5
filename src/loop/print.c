// SPDX-License-Identifier: BSD-3-Clause
#include "loop/names.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const LoopKernel *kernel;
    LoopNames names;
    Text *to;
} Printer;

static const char *type_name(int type) {
    return type < TYPE_COUNT ? type_info((ElementType)type)->name : NULL;
}

static void print_int(const Printer *printer, const IntExpr *expr) {
    loop_print_int(printer->kernel, &printer->names, expr, printer->to);
}

static void print_execution(const Printer *printer, const LoopNode *node) {
    const LoopExecution *execution = &node->execution;
    const LoopNames *names = &printer->names;
    const struct {
        bool on;
        const char *word;
    } marks[] = {{execution->distinct, ", distinct"},
                 {execution->permutable, ", permutable"},
                 {execution->thread, ", threads"},
                 {execution->vector, ", vector"},
                 {execution->unit == GPU_BLOCK, ", blocks"},
                 {execution->unit == GPU_WARP, ", warps"},
                 {execution->unit == GPU_THREAD, ", threads of a block"},
                 {execution->unit == GPU_GRID, ", threads of all blocks"},
                 {execution->barrier, ", barrier"},
                 {execution->partials, ", partial results"},
                 {node->atomic, ", atomic"}};
    Text text = text_create(printer->kernel->arena);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        text_append(&text, marks[i].on ? marks[i].word : "");
    if (execution->uneven || execution->portions)
        text_append(&text, execution->uneven ? ", uneven" : ", portions");
    if (execution->collapsed > 1)
        text_printf(&text, ", collapse %d", execution->collapsed);
    if (execution->unroll)
        text_printf(&text, ", unroll %" PRId64, execution->unroll);
    for (int s = 0; s < execution->sum_count; s++)
        text_printf(&text, ", sum %s", names->arrays[execution->sums[s]]);
    if (execution->work)
        text_printf(&text, ", work %s", loop_int_text(printer->kernel, names, execution->work));
    if (execution->call)
        text_printf(&text, ", call %s", loop_int_text(printer->kernel, names, execution->call));
    if (text.length)
        text_printf(printer->to, "  # %s", text_string(&text) + strlen(", "));
}

static void print_processors(const Printer *printer, const LoopNode *node) {
    for (int d = 0; d < node->dim_count; d++) {
        text_append(printer->to, d ? ", " : "");
        if (node->coordinates[d] >= 0)
            text_append(printer->to, printer->names.vars[node->coordinates[d]]);
        else
            print_int(printer, node->fixed[d]);
    }
    if (node->stage >= 0)
        text_printf(printer->to, "%sin stage %d", node->dim_count ? " " : "", node->stage);
}

static void print_fields(const Printer *printer, const LoopNode *node) {
    for (int f = 0; f < node->field_count; f++) {
        const LoopField *field = &node->fields[f];
        text_printf(printer->to, field->member ? "%s%s = %s[%d]" : "%s%s = %slevels[%d].position_count",
                    f ? ", " : " with ", printer->names.vars[field->var], field->member ? field->member : "",
                    field->mode);
    }
    for (int a = 0; a < node->view_array_count; a++)
        text_printf(printer->to, "%s%s = levels[%d].arrays[%d]", a + node->field_count ? ", " : " with ",
                    printer->names.arrays[node->view_arrays[a].array], node->view_arrays[a].level,
                    node->view_arrays[a].number);
}

static void print_variable(const Printer *printer, const LoopNode *node) {
    const char *type = type_name(printer->kernel->vars.items[node->var].type);
    text_append(printer->to, printer->names.vars[node->var]);
    if (type)
        text_printf(printer->to, ": %s", type);
}

// "[4 * n] = 0", unless elements are stored first; nothing for a scalar.
static void print_elements(const Printer *printer, const LoopNode *node) {
    const LoopArray *array = &printer->kernel->arrays.items[node->array];
    if (!array->extent)
        return;
    text_append(printer->to, "[");
    print_int(printer, array->extent);
    text_append(printer->to, node->stored ? "]" : "] = 0");
}

// "on n x 2 blocks of 32 x 8 threads".
static void print_launch(const Printer *printer, const LoopNode *node) {
    text_append(printer->to, "on ");
    for (int d = 0; d < GPU_DIMS && node->blocks[d]; d++) {
        text_append(printer->to, d ? " x " : "");
        print_int(printer, node->blocks[d]);
    }
    text_append(printer->to, " blocks of ");
    for (int d = 0; d < GPU_DIMS && node->threads[d]; d++) {
        text_append(printer->to, d ? " x " : "");
        print_int(printer, node->threads[d]);
    }
    text_append(printer->to, " threads");
}

// One place of a format: a letter after '%'.
static void print_part(const Printer *printer, const LoopNode *node, char letter) {
    Text *to = printer->to;
    switch (letter) {
    case 'v':
        print_variable(printer, node);
        break;
    case 'a':
        text_append(to, printer->names.arrays[node->array]);
        break;
    case 'o':
        text_append(to, printer->names.arrays[node->own]);
        break;
    case 's':
        for (int a = 0; a < node->view_array_count; a++)
            text_printf(to, "%s%s", a ? ", " : "", printer->names.arrays[node->view_arrays[a].array]);
        break;
    case 'z':
        print_elements(printer, node);
        break;
    case 'p':
        if (!node->position)
            break;
        text_append(to, "[");
        print_int(printer, node->position);
        text_append(to, "]");
        break;
    case 'r':
        text_append(to, reducer_marks[printer->kernel->arrays.items[node->array].reducer]);
        break;
    case 'e':
        text_append(to, loop_value_text(printer->kernel, &printer->names, node->value));
        break;
    case 'l':
        print_int(printer, node->lower);
        break;
    case 'u':
        print_int(printer, node->upper);
        if (node->step != 1)
            text_printf(to, " by %" PRId64, node->step);
        if (node->stride)
            text_printf(to, " by %s", loop_int_text(printer->kernel, &printer->names, node->stride));
        break;
    case 'x':
        print_execution(printer, node);
        break;
    case 't':
        text_append(to, printer->names.transfers[node->transfer]);
        break;
    case 'f':
        print_fields(printer, node);
        break;
    case 'c':
        text_append(to, node->text);
        break;
    case 'g':
        print_launch(printer, node);
        break;
    default:
        print_processors(printer, node);
        break;
    }
}

static void print_rows(const Printer *printer, const LoopNode *node, int depth) {
    const Value *call = node->value;
    for (int i = 0; i < call->operand_count; i++) {
        const Value *rows = call->operands[i];
        for (int r = 0; rows->kind == VALUE_ROWS && r < rows->operand_count; r += 4) {
            text_printf(printer->to, "%*s%s[%d] =", 4 * depth, "", printer->names.loops, r / 4);
            for (int c = 0; c < 4; c++)
                text_printf(printer->to, "%s %s", c ? "," : "",
                            loop_value_text(printer->kernel, &printer->names, rows->operands[r + c]));
            text_append(printer->to, "\n");
        }
    }
}

static void print_body(const Printer *printer, const LoopBody *body, int depth) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        text_printf(printer->to, "%*s", 4 * depth, "");
        for (const char *at = loop_kind(node->kind)->format; *at; at++)
            if (*at == '%')
                print_part(printer, node, *++at);
            else
                text_append_n(printer->to, at, 1);
        text_append(printer->to, "\n");
        if (node->kind == LOOP_CALL)
            print_rows(printer, node, depth + 1);
        print_body(printer, &node->body, depth + 1);
    }
}

void loop_print(const LoopKernel *kernel, Text *to) {
    const Printer printer = {kernel, loop_names(kernel), to};
    for (int t = 0; t < kernel->transfer_count; t++)
        text_printf(to, "# %s: %s\n", printer.names.transfers[t], kernel->transfers[t].what);
    print_body(&printer, &kernel->body, 0);
}
