// SPDX-License-Identifier: BSD-3-Clause
// Program: a .distal text, parsed and checked, every node with its source span (docs/language.md).
#ifndef DISTAL_LANG_PROGRAM_H
#define DISTAL_LANG_PROGRAM_H

#include "schedule/schedule.h"

typedef struct {
    const char *name;
    Span span;
    int64_t value;             // the default, or the value on the command line
    const IntExpr *definition; // over earlier params; NULL if the value is not given by an expression
} Param;

// One assignment and its schedule block.
typedef struct {
    const Assignment *assignment;
    bool has_schedule;
    int command_count;
    const Command *commands;
} Statement;

// Statements that are executed several times, one round after the other.
typedef struct {
    Span span;
    const IntExpr *count; // how many times, at most
    int first, last;      // statements first .. last - 1
    int outer;            // index of the repetition around it, -1: none
    // A right side over scalars, without a left one: rounds end after one where it is less than the limit.
    // NULL: they do not.
    const Assignment *until;
    const Expr *limit; // a number, or its negation
} Repetition;

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
    int repetition_count;
    const Repetition *repetitions; // in the order in which they begin
} Program;

typedef struct {
    const char *name;
    int64_t value;
} ParamOverride;

// Parses and checks `source`. `ranks` is the value of the built-in param (0: not known yet, then 1 is used).
// Every independent mistake is diagnosed, also overrides of params that the program lacks, and mistakes that
// depend on the values of params: extents that differ, sizes that are negative or overflow, grids without
// processors. NULL after an error. Lives in the arena.
const Program *program_parse(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                             int64_t ranks, Diagnostics *diagnostics);

// Values of the params, by index.
int64_t *program_param_values(const Program *program, Arena *arena);
Symbols program_symbols(const Program *program);
// By index, which params are used, directly or by the definitions of used params.
bool *program_used_params(const Program *program, Arena *arena);
// Whether the built-in `ranks` is used anywhere but in blocks of placements.
bool program_uses_ranks(const Program *program, Arena *arena);

// Prints declarations, placements, statements and schedules in normal form, which is parsed to the same
// program. `used`: the params to be declared, by index; NULL: all.
void program_print(const Program *program, const bool *used, Text *to);
// One assignment with its schedule block; one command, without a newline.
void statement_print(const Program *program, const Statement *statement, Text *to);
void command_print(const Program *program, const Command *command, Text *to);

// The repetition that begins with a statement, inside of repetition `outer` (-1: of none); -1 where none
// does.
int program_repetition_at(const Program *program, int statement, int outer);
// The outermost repetition that a statement is in, and the innermost one; -1: none.
int program_outermost(const Program *program, int statement);
int program_innermost(const Program *program, int statement);
// How many times a repetition is executed at most, and a statement in all repetitions around it; the latter
// is INT64_MAX where it is more.
int64_t repetition_count(const Repetition *repetition, const int64_t *params);
int64_t program_executions(const Program *program, int statement, const int64_t *params);
double repetition_limit(const Repetition *repetition);

// Prints what a repetition begins with, "repeat n {", and ends with, "} until r < 1e-06", without a newline.
void repetition_print_begin(const Program *program, const Repetition *repetition, Text *to);
void repetition_print_end(const Repetition *repetition, Text *to);
// "r < 1e-06", where it has a condition; and all on one line, "repeat n until r < 1e-06".
void repetition_print_condition(const Repetition *repetition, Text *to);
void repetition_print(const Program *program, const Repetition *repetition, Text *to);

// In the order of the first round of repetitions: a tensor is an input when a statement reads it (`+=` reads
// its target) before any statement has assigned it, an output when a statement assigns it.
bool program_is_input(const Program *program, const Tensor *tensor);
bool program_is_output(const Program *program, const Tensor *tensor);

#endif
