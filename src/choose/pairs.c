// SPDX-License-Identifier: BSD-3-Clause
#include "choose/pairs.h"

#include <string.h>

// Appends a statement, or the ones that it is divided into; returns how many workspaces these have.
static int64_t write_statement(const Search *search, const Pipeline *pipeline, Scheduler *scheduler,
                               int index, Text *to) {
    const Statement *statement = &search->program->statements[index];
    const Cin *cin = pipeline->statements[index].cin;
    DefaultSteps steps = {0};
    if (statement->command_count == 0 && cin->part_count == 1 && !assignment_window(statement->assignment))
        schedule_order(scheduler, cin, search->params, pipeline->least_steps, &steps);
    if (steps.count == 0) {
        statement_print(search->program, statement, to);
        text_append(to, "\n");
        return 0;
    }
    const Cin *divided = steps.items[steps.count - 1].cin;
    for (int p = 0; p < divided->part_count; p++) {
        assignment_print(divided->parts[p], to);
        text_append(to, "\n");
    }
    return steps.count;
}

const Program *pairs_divide(const Search *search) {
    const Program *program = search->program;
    Arena *arena = search->arena;
    Diagnostics *unused = diagnostics_create(arena, program->source);
    Pipeline *pipeline = search_pipeline(search, program, unused);
    if (program->repetition_count > 0 || !pipeline_run(pipeline, PASS_SCHEDULE))
        return program;
    // Workspaces have the ids after the tensors of the program.
    Scheduler scheduler = pipeline->scheduler;
    memset(&scheduler.workspaces, 0, sizeof scheduler.workspaces);
    Text statements = text_create(arena), text = text_create(arena);
    int64_t count = 0;
    for (int s = 0; s < program->statement_count; s++)
        count += write_statement(search, pipeline, &scheduler, s, &statements);
    if (count == 0)
        return program;
    Program declared = *program;
    const Tensor **tensors = arena_array(arena, const Tensor *, program->tensor_count + count);
    for (int t = 0; t < program->tensor_count; t++)
        tensors[t] = program->tensors[t];
    for (int64_t w = 0; w < count; w++)
        tensors[program->tensor_count + w] = scheduler.workspaces.items[w];
    declared.tensors = tensors;
    declared.tensor_count = program->tensor_count + (int)count;
    declared.statement_count = 0;
    program_print(&declared, NULL, &text);
    text_append(&text, text_string(&statements));
    return program_parse(arena, (Source){program->source.name, text_string(&text)}, NULL, 0, search->ranks,
                         unused);
}
