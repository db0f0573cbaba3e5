// SPDX-License-Identifier: BSD-3-Clause
// The state of the parser in an assignment, shared by the files that parse its accesses, its expressions and
// the statement around them.
#ifndef DISTAL_LANG_PARSE_ASSIGNMENT_H
#define DISTAL_LANG_PARSE_ASSIGNMENT_H

#include "lang/parser.h"

// Where a variable indexes a mode alone whose extent differs from that of the first.
typedef struct {
    const Access *access;
    int mode, var;
} Differing;

typedef struct {
    Parser *parser;
    Assignment *assignment;
    bool failed;
    bool has_too_many_variables; // which is diagnosed once
    // The first occurrence of each variable, which gives its extent; NULL: there is none yet.
    const Access *first_access[MAX_VARS];
    int first_mode[MAX_VARS];
    VarSet bound, in_scope; // variables of explicit reductions, and of those around what is parsed
    VarSet used, plain;     // that index something; that index a mode alone
    Ranges ranges;
    int differing_count;
    Differing differing[MAX_VARS];
} AssignmentState;

static inline void fail(AssignmentState *state) {
    state->failed = true;
}

// A variable that has no extent yet; -1 after a diagnostic.
int new_variable(AssignmentState *state, const Token *name);

typedef struct {
    int count;
    const Token *names[MAX_ORDER]; // of indices that are one variable; NULL otherwise
    Integer values[MAX_ORDER];     // of the others; without an expression where it has been diagnosed
} Indices;
// `(i, j)`, `()`, or nothing.
bool parse_indices(AssignmentState *state, Indices *indices, Span *span);
// The access, or NULL after a diagnostic of what is wrong about it.
const Access *make_access(AssignmentState *state, const Token *name, const Indices *indices, Span span,
                          bool on_left);
// Diagnoses modes of different extents that a variable without an index such as i + 1 and without a range
// indexes alone, when all accesses are there.
void check_differing(AssignmentState *state);

bool parse_expression(AssignmentState *state, const Expr **expr);
// Variables that reductions bind get names of their own, when all accesses are there: those that others have
// as well, with a number.
void name_bound_variables(AssignmentState *state);

#endif
