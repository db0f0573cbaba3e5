// SPDX-License-Identifier: BSD-3-Clause
// What the parts of emission share: the function being written, its names, and how lines, numbers and
// expressions are put into C.
#ifndef DISTAL_EMIT_EMITTER_H
#define DISTAL_EMIT_EMITTER_H

#include "emit/emit.h"
#include "emit/names.h"

// C names of what one transfer gives: pointer, first coordinates and strides by mode.
typedef struct {
    const char *view; // what the runtime returns
    const char *data;
    const char *lo[MAX_ORDER], *stride[MAX_ORDER];
} ViewNames;

// A quotient of params, computed once at the start of the function: a compiler may not move a division out of
// a loop that possibly never turns.
typedef struct {
    const IntExpr *expr;
    const char *name, *text;
} Quotient;

typedef struct {
    const Spmd *spmd;
    Arena *arena;
    Text *to;
    int indent;
    Names names;
    const char *const *params; // C names by index
    const char *vars[MAX_VARS];
    const char *execution, *param, *processor, *coordinates, *active;
    ViewNames *views; // by transfer
    ElementType type; // that the statement computes in
    Array(Quotient) quotients;
    bool *param_used;     // by something written so far
    bool *var_used;       // the same in the nest in hand
    const SpmdNest *nest; // in hand
} Emitter;

// One line of C at the current indentation, broken where it is too long.
void emit_line(Emitter *emitter, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same, and what follows stands in its braces (the line ends with '{').
void emit_open(Emitter *emitter, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_close(Emitter *emitter);
// Text as comment lines.
void emit_comment(Emitter *emitter, const char *text);

// An integer expression in C, and one that can be compared or multiplied as it stands.
const char *emit_int(Emitter *emitter, const IntExpr *expr);
const char *emit_int_operand(Emitter *emitter, const IntExpr *expr);

// A C expression and how tightly it binds.
typedef enum { BIND_SUM = 1, BIND_PRODUCT, BIND_UNARY, BIND_PRIMARY } Binding;
typedef struct {
    const char *text;
    Binding binding;
    bool is_complex; // else a real number of the type's precision, or an integer
} Value;

// Gives the C text of the element that an access reads.
typedef const char *(*ElementText)(void *context, const Access *access);

// The right side, computed in the statement's type.
Value emit_expr(Emitter *emitter, const Expr *expr, ElementText element, void *context);
Value emit_product(Emitter *emitter, Value left, Value right);
// As the type `to` of a tensor.
const char *emit_stored(Emitter *emitter, Value value, ElementType to);

// Forgets the names taken since `before`, at the end of a block; not those of quotients.
void emit_forget_names(Emitter *emitter, Names before);

// The transfer that covers an access of the nest in hand.
const Transfer *emit_transfer_of(const Emitter *emitter, const Access *access, TransferKind kind);

// A leaf, in a block that runs where the processor takes part.
void emit_leaf(Emitter *emitter, const Leaf *leaf);

#endif
