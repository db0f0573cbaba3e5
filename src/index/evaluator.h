// SPDX-License-Identifier: BSD-3-Clause
// A statement as the reference evaluator keeps it, for the files that evaluate it on arrays and on entries.
#ifndef DISTAL_INDEX_EVALUATOR_H
#define DISTAL_INDEX_EVALUATOR_H

#include "index/evaluate_block.h"
#include "index/presence.h"

// An expression as far as it says where it is present.
typedef struct PresenceNode PresenceNode;
struct PresenceNode {
    Presence presence;
    int operand; // of PRESENT_STORED
    const PresenceNode *left, *right;
};

// An additive term, compiled.
typedef struct {
    BlockProgram program;
    int operand_count;
    const Operand *operands;
    const PresenceNode *presence;
    int reduction_count;
    int reductions[MAX_VARS]; // variables summed over
    VarSet vars;              // these and those of the left side
} Term;

// An index that is more than a variable, with numbers, and the extent of what it indexes.
typedef struct {
    int64_t constant, extent;
    int count;
    int vars[MAX_INDEX_TERMS];
    int64_t coefficients[MAX_INDEX_TERMS];
} IndexNumbers;

struct Evaluator {
    const Assignment *assignment;
    WideKind kind;
    bool sparse;    // a tensor of the statement is
    bool reordered; // products are formed in another order than the statement has
    double epsilon;
    int64_t extents[MAX_VARS];
    int index_count; // by variable of the statement, those that indices determine
    const IndexNumbers *indices[MAX_VARS];
    int64_t count, row_length; // elements, and those along the last mode; of a dense left side
    int term_count, max_steps, max_operands;
    const Term *terms;
    double summands, operations; // of one element
    EvaluatorProgress progress;
    void *progress_context;
    int tensor_count; // one more than the greatest id of a tensor that is read
    // Of the explicit reductions of the right side.
    int reduction_evaluator_count;
    Evaluator *const *reduction_evaluators;
    Evaluated *reduction_values; // that evaluator_begin has found; NULL: each run finds them
};

// The element type of values of a kind.
ElementType evaluator_type(const Evaluator *evaluator);
// All elements of a statement of dense tensors; `arrays` as of evaluator_run. False when memory runs out.
// Freed with evaluated_free all the same.
bool evaluator_run_whole(const Evaluator *evaluator, const void *const *arrays, Evaluated *result);
// Frees what the explicit reductions of a statement have given; NULL: nothing.
void evaluator_free_reductions(const Evaluator *evaluator, Evaluated *results);

// Of a statement with indices that are more than variables: the values, by variable, of the variables of the
// left side where that is the element with these coordinates, by mode; false where it never is.
bool evaluator_solve(const Evaluator *evaluator, const int64_t *coordinates, int64_t *at);
// Whether the indices that have no variables but those in `vars` lie within what they index.
bool evaluator_has_iteration(const Evaluator *evaluator, VarSet vars, const int64_t *at);

#endif
