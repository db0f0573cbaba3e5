// SPDX-License-Identifier: BSD-3-Clause
// What the parts of building a kernel's loop IR share.
#ifndef DISTAL_LOWER_BUILDER_H
#define DISTAL_LOWER_BUILDER_H

#include "lower/loops.h"

// How a kernel accesses the elements of one transfer, or of a row workspace.
typedef struct {
    int array;
    bool scalar; // a local variable, which has no positions
    int level_count;
    Level levels[MAX_ORDER]; // by storage level
    // Of a transfer, by mode: the array with the numbers of coordinates that another operand lists
    // (Transfer.index_levels); -1: none.
    int number_arrays[MAX_ORDER];
} View;

// By transfer and mode: the number of the coordinate that an operand indexes a dense one by, where it is
// known.
typedef const IntExpr *Numbers[MAX_ORDER];

// A row workspace that is live in the current leaf, and those around it.
typedef struct RowView RowView;
struct RowView {
    const RowWorkspace *row;
    View view;
    const RowView *outer;
};

typedef struct {
    const Spmd *spmd;
    Arena *arena;
    LoopKernel *kernel;
    ElementType type;     // that the statement computes in
    View *views;          // by transfer
    const SpmdNest *nest; // the current one
    bool structure;       // entries of the result are built, and no values
    VarSet omitted;       // variables without a value there, as it has no loops over them
    const RowView *rows;  // that are live in the current leaf, innermost first
    Diagnostics *diagnostics;
    bool refused; // a command about a loop cannot be carried out
    int active;   // the variable that says whether its processor takes part
} Builder;

// A sparse access of a leaf while loops are built around it, and the part of its position that is known.
typedef struct {
    const Access *access;
    const View *view;
    bool written;
    int level;                    // number of levels, from the outermost, whose position is known
    const IntExpr *begin, *end;   // positions of the last of these, from `begin` to before `end`; NULL: one
    const IntExpr *at[MAX_ORDER]; // by level that is known: the first of these positions
    const Value *present;         // whether there is one; NULL: yes
    // Where coordinates of the loop around increase and the next level is looked up: a local variable with
    // the position reached so far, and the end.
    int cursor;
    const IntExpr *cursor_end;
    bool consecutive; // an operand that is written: each iteration has its next position there
} Operand;

typedef struct Assembly Assembly;       // lower/assembly.h
typedef struct SparseState SparseState; // lower/loops_sparse.h

// A leaf while its nodes are made. Index variables of the statement have the same numbers in the kernel.
typedef struct {
    Builder *builder;
    const Leaf *leaf;
    int plain_count; // loops that are built, those that a call replaces not counted
    // The first value of a variable whose loop a call replaces, by id; NULL of others.
    const IntExpr *first[MAX_VARS];
    const IntExpr *uppers[MAX_VARS]; // of the loops, by position: a number, a param, or a variable for it
    int written;                     // the array that is written
    bool atomic;                     // so are updates, because of a loop of a leaf around this one
    bool unshared;                   // what is updated here no other thread updates
    // Of a leaf with sparse tensors: their accesses, in the state inside of the loops made so far.
    int operand_count;
    const Operand *operands;
    Numbers *numbers;
    Assembly *assembly; // how entries of an assembled result are appended
} LeafBuilder;

// The stage that the current nest is in.
static inline const Stage *build_stage(const Builder *builder) {
    return &builder->spmd->stages[builder->nest->stage];
}
// The view of an access of the current nest.
const View *build_view(const Builder *builder, const Access *access, TransferKind kind);
// The position of an element of it where the leaf's innermost loops begin; NULL of a scalar row workspace.
const IntExpr *build_position(const LeafBuilder *leaf, const Access *access, TransferKind kind);
// The stride of variable `source` in the view, in elements: between coordinates that differ by one. 0 where
// the view has no such mode.
const IntExpr *build_stride(const LeafBuilder *leaf, const Access *access, TransferKind kind, int source);

// The right side, computed in the statement's type.
const Value *build_expr(const LeafBuilder *leaf, const Expr *expr);
// Whether it is present, in terms of the conditions of operands; NULL: yes.
const Value *build_presence(const LeafBuilder *leaf, const Expr *expr);
// The number of the operand that an access is; -1 where the tensor is dense.
int build_operand(const LeafBuilder *leaf, const Access *access, TransferKind kind);
// The leaf's call: as a value (dot) or for what it does.
const Value *build_call(const LeafBuilder *leaf);
// The loops of a leaf with sparse tensors and all inside. `outside`: what is known around it, of a leaf
// inside of another one; NULL of others.
void build_sparse_loops(LeafBuilder *leaf, const SparseState *outside, LoopBody *to);
// The row workspace of a leaf, the leaves that fill it, and the one that reads it. `state`: what is known of
// sparse operands here; NULL where there are none. `threaded`: a loop around is threaded.
void build_row(const LeafBuilder *leaf, const SparseState *state, bool threaded, LoopBody *to);
// What is inside of the innermost loop, of leaves with and without sparse tensors.
void build_innermost(LeafBuilder *leaf, LoopBody *to);
void build_definitions(const LeafBuilder *leaf, const Definition *definitions, int count, LoopBody *to);
void build_upper(LeafBuilder *leaf, int l, LoopBody *to);
LoopBody *build_if(const LeafBuilder *leaf, const Value *const *conditions, int count, LoopBody *to);
LoopBody *build_guards(const LeafBuilder *leaf, const Guard *guards, int count, LoopBody *to);
// A leaf, appended to `to`.
void build_leaf(Builder *builder, const Leaf *leaf, LoopBody *to);

#endif
