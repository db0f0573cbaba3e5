// SPDX-License-Identifier: BSD-3-Clause
// Prints a program as text in normal form: declarations by kind, then each statement with its schedule.
#include "format/level_list.h"
#include "lang/program.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const Program *program;
    IntNames names;
    Text *to;
} Printer;

static void print_list(const Printer *printer, int count, const IntExpr *const *exprs) {
    for (int i = 0; i < count; i++) {
        text_append(printer->to, i ? ", " : "(");
        int_print(exprs[i], printer->names, printer->to);
    }
    if (count > 0)
        text_append(printer->to, ")");
}

static void print_params(const Printer *printer, const bool *used) {
    const Program *program = printer->program;
    bool first = true;
    for (int i = 1; i < program->param_count; i++) {
        const Param *param = &program->params[i];
        if (used && !used[i])
            continue;
        text_printf(printer->to, "%s%s = ", first ? "param " : ", ", param->name);
        first = false;
        if (param->definition)
            int_print(param->definition, printer->names, printer->to);
        else
            text_printf(printer->to, "%" PRId64, param->value);
    }
    text_append(printer->to, first ? "" : "\n");
}

static void print_machine(const Printer *printer, const Machine *machine) {
    text_printf(printer->to, "machine %s = ", machine->name);
    for (int i = 0; i < machine->level_count; i++) {
        const MachineLevel *level = &machine->levels[i];
        text_printf(printer->to, "%s%s%sgrid", i ? ", " : "", level->name, level->name[0] ? " " : "");
        print_list(printer, level->order, &machine->extents[level->first]);
    }
    text_append(printer->to, "\n");
}

static void print_tensor(const Printer *printer, const Tensor *tensor) {
    text_printf(printer->to, "tensor %s", tensor->name);
    print_list(printer, tensor->order, tensor->extents);
    text_printf(printer->to, ": %s", type_info(tensor->type)->name);
    bool levels = false, order = false;
    for (int l = 0; l < tensor->order; l++) {
        levels |= !level_type_equal(tensor->levels[l], level_type_dense());
        order |= tensor->mode_order[l] != l;
    }
    text_append(printer->to, levels ? ", " : "");
    if (levels)
        level_list_print(tensor->order, tensor->levels, printer->to);
    for (int l = 0; order && l < tensor->order; l++)
        text_printf(printer->to, "%s%d", l ? ", " : ", order(", tensor->mode_order[l]);
    text_append(printer->to, order ? ")\n" : "\n");
}

// The name of a mode is that of the mode of another tensor by whose entries it is balanced.
static void print_mode(const Printer *printer, const Placement *placement, int mode) {
    bool by = false;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->by && entry->mode == mode) {
            text_printf(printer->to, "x%d", entry->modes[0]);
            return;
        }
        by = by || entry->by;
    }
    text_printf(printer->to, by ? "y%d" : "x%d", mode);
}

static void print_partition(const Printer *printer, const Placement *placement, const PlaceEntry *entry) {
    if (entry->balance == BALANCE_STORED && !entry->by) {
        text_append(printer->to, entry->mode_count > 1 ? "~fuse(" : "~");
        for (int m = 0; m < entry->mode_count; m++) {
            text_append(printer->to, m ? ", " : "");
            print_mode(printer, placement, entry->modes[m]);
        }
        text_append(printer->to, entry->mode_count > 1 ? ")" : "");
        return;
    }
    static const char *const names[] = {[BALANCE_NONE] = "",
                                        [BALANCE_WEIGHTED] = "weighted(",
                                        [BALANCE_STORED] = "weighted(",
                                        [BALANCE_LENGTHS] = "balanced(",
                                        [BALANCE_LISTED] = "blocks("};
    text_append(printer->to, entry->cycle ? "cyclic(" : names[entry->balance]);
    print_mode(printer, placement, entry->mode);
    if (entry->by)
        text_printf(printer->to, ", %s", entry->by);
    if (entry->cycle) {
        text_append(printer->to, ", ");
        int_print(entry->cycle, printer->names, printer->to);
    }
    for (int64_t i = 0; i < entry->start_count; i++) {
        text_append(printer->to, i ? ", " : ", {");
        int_print(entry->starts[i], printer->names, printer->to);
    }
    text_append(printer->to, entry->start_count ? "}" : "");
    text_append(printer->to, entry->cycle || entry->balance != BALANCE_NONE ? ")" : "");
}

static void print_entry(const Printer *printer, const Placement *placement, const PlaceEntry *entry) {
    switch (entry->kind) {
    case PLACE_PARTITION:
        print_partition(printer, placement, entry);
        break;
    case PLACE_FIX:
        text_printf(printer->to, "%" PRId64, entry->coordinate);
        break;
    case PLACE_REPLICATE:
        text_append(printer->to, "*");
        break;
    }
}

static void print_arrow(const Printer *printer, const Tensor *tensor, const MachineLevel *level) {
    const Placement *placement = tensor->placement;
    text_append(printer->to, tensor->name);
    for (int d = 0; d < tensor->order; d++) {
        text_append(printer->to, d ? ", " : "(");
        print_mode(printer, placement, d);
        text_append(printer->to, d + 1 < tensor->order ? "" : ")");
    }
    text_printf(printer->to, " -> %s%s%s(", placement->machine->name, level->name[0] ? "." : "", level->name);
    for (int d = 0; d < level->order; d++) {
        text_append(printer->to, d ? ", " : "");
        print_entry(printer, placement, &placement->entries[level->first + d]);
    }
    text_append(printer->to, ")");
}

static void print_arg(const Printer *printer, const Arg *arg) {
    switch (arg->kind) {
    case ARG_INTEGER:
        int_print(arg->value, printer->names, printer->to);
        return;
    case ARG_NAME:
        text_printf(printer->to, "%s%s%s", arg->name, arg->level ? "." : "", arg->level ? arg->level : "");
        return;
    case ARG_EXPRESSION:
        text_append(printer->to, arg->name);
        return;
    case ARG_LIST:
    case ARG_ACCESS:
        text_printf(printer->to, "%s", arg->kind == ARG_LIST ? "{" : arg->name);
        text_append(printer->to, arg->kind == ARG_LIST ? "" : "(");
        for (int i = 0; i < arg->item_count; i++) {
            text_append(printer->to, i ? ", " : "");
            print_arg(printer, &arg->items[i]);
        }
        text_append(printer->to, arg->kind == ARG_LIST ? "}" : ")");
    }
}

void command_print(const Program *program, const Command *command, Text *to) {
    const Printer printer = {program, {.params = program->param_names}, to};
    text_printf(to, "%s(", command->name);
    for (int a = 0; a < command->arg_count; a++) {
        text_append(to, a ? ", " : "");
        print_arg(&printer, &command->args[a]);
    }
    text_append(to, ")");
}

void statement_print(const Program *program, const Statement *statement, Text *to) {
    assignment_print(statement->assignment, to);
    text_append(to, "\n");
    if (!statement->has_schedule)
        return;
    text_printf(to, "\nschedule %s {\n", statement->assignment->lhs->tensor->name);
    for (int c = 0; c < statement->command_count; c++) {
        text_append(to, "  ");
        command_print(program, &statement->commands[c], to);
        text_append(to, "\n");
    }
    text_append(to, "}\n");
}

// Whether entries of another tensor balance it.
static bool refers(const Placement *placement) {
    for (int d = 0; placement && d < placement->machine->order; d++)
        if (placement->entries[d].by)
            return true;
    return false;
}

static void print_placement(const Printer *printer, const Tensor *tensor) {
    for (int l = 0; tensor->placement && l < tensor->placement->machine->level_count; l++) {
        text_append(printer->to, l ? ", " : "place ");
        print_arrow(printer, tensor, &tensor->placement->machine->levels[l]);
    }
    if (tensor->placement && tensor->placement->memory != MEMORY_HOST)
        text_printf(printer->to, " in %s", memory_kind(tensor->placement->memory)->name);
    text_append(printer->to, tensor->placement ? "\n" : "");
}

// Lines that are not empty begin with two columns for each repetition that they are in.
static void print_indented(const char *text, int depth, Text *to) {
    while (*text) {
        const size_t length = strcspn(text, "\n") + 1;
        text_printf(to, "%*s", text[0] == '\n' ? 0 : 2 * depth, "");
        text_append_n(to, text, length);
        text += length;
    }
}

static void print_repetitions(const Program *program, Text *to) {
    int depth = 0;
    for (int s = 0; s < program->statement_count; s++) {
        Text text = text_create(to->arena);
        text_append(to, "\n");
        for (int r = 0; r < program->repetition_count; r++) {
            const Repetition *repetition = &program->repetitions[r];
            if (repetition->first != s)
                continue;
            text_printf(to, "%*s", 2 * depth++, "");
            repetition_print_begin(program, repetition, to);
            text_append(to, "\n");
        }
        statement_print(program, &program->statements[s], &text);
        print_indented(text_string(&text), depth, to);
        for (int r = program->repetition_count - 1; r >= 0; r--) {
            const Repetition *repetition = &program->repetitions[r];
            if (repetition->last != s + 1)
                continue;
            text_printf(to, "%*s", 2 * --depth, "");
            repetition_print_end(repetition, to);
            text_append(to, "\n");
        }
    }
}

void program_print(const Program *program, const bool *used, Text *to) {
    const Printer printer = {program, {.params = program->param_names}, to};
    print_params(&printer, used);
    for (int i = 0; i < program->machine_count; i++)
        print_machine(&printer, program->machines[i]);
    for (int i = 0; i < program->tensor_count; i++)
        print_tensor(&printer, program->tensors[i]);
    // Those that refer to others after these.
    for (int by = 0; by < 2; by++)
        for (int i = 0; i < program->tensor_count; i++)
            if (refers(program->tensors[i]->placement) == by)
                print_placement(&printer, program->tensors[i]);
    print_repetitions(program, to);
}
