// SPDX-License-Identifier: BSD-3-Clause
// Program: what a .distal text says, parsed and checked, every node with its source span (docs/language.md).
#ifndef DISTAL_LANG_PROGRAM_H
#define DISTAL_LANG_PROGRAM_H

#include "schedule/schedule.h"

typedef struct {
    const char *name;
    Span span;
    int64_t value;             // default, or what the command line gave
    const IntExpr *definition; // the same over earlier params; NULL for `ranks`, and where it is a number
} Param;

// One assignment and its schedule block.
typedef struct {
    const Assignment *assignment;
    bool has_schedule;
    int command_count;
    const Command *commands;
} Statement;

typedef struct {
    Source source;
    int param_count;
    const Param *params; // params[0] is the built-in `ranks`
    const char *const *param_names;
    int machine_count;
    const Machine *const *machines;
    int tensor_count;
    const Tensor *const *tensors;
    int statement_count;
    const Statement *statements;
} Program;

typedef struct {
    const char *name;
    int64_t value;
} ParamOverride;

// Parses and checks `source`. `ranks` is the value of the built-in param (0: not known yet, then 1 is used).
// Every independent mistake is a diagnostic, including an override of a param that the program lacks, and
// with the values of params put in: extents that disagree, sizes that are negative or overflow, grids without
// processors. NULL when there was an error. Lives in the arena.
const Program *program_parse(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                             int64_t ranks, Diagnostics *diagnostics);

// Values of the params, by index.
int64_t *program_param_values(const Program *program, Arena *arena);
Symbols program_symbols(const Program *program);
// Which params something but the definition of an unused param mentions, by index.
bool *program_used_params(const Program *program, Arena *arena);
// Whether the built-in `ranks` is mentioned, but for blocks of placements.
bool program_uses_ranks(const Program *program, Arena *arena);

// Back to text: declarations, placements, statements, schedules in normal form (parses to the same program).
// `used`: the params to be declared, by index; NULL: all.
void program_print(const Program *program, const bool *used, Text *to);
// One declaration each, with the end of its line; nothing for a tensor without a placement.
void machine_print(const Program *program, const Machine *machine, Text *to);
void tensor_print(const Program *program, const Tensor *tensor, Text *to);
void placement_print(const Program *program, const Tensor *tensor, Text *to);
// One assignment with its schedule block, and one command, without the end of its line.
void statement_print(const Program *program, const Statement *statement, Text *to);
void command_print(const Program *program, const Command *command, Text *to);

// A tensor is an input when a statement reads it (`+=` reads its target) before any statement has assigned
// it, an output when a statement assigns it.
bool program_is_input(const Program *program, const Tensor *tensor);
bool program_is_output(const Program *program, const Tensor *tensor);

#endif
