// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of the reference evaluator: one additive term on up to BLOCK lanes at a time. Lanes are
// neighbouring values of one variable; the rest of the term is a postfix program over them.
#ifndef DISTAL_INDEX_EVALUATE_BLOCK_H
#define DISTAL_INDEX_EVALUATE_BLOCK_H

#include "index/evaluate.h"
#include "index/presence.h"

enum { BLOCK = 256 };

// One step of the program, on a stack of registers. An access is `tensor` read with a stride for each
// variable of the statement.
typedef struct {
    ExprKind kind;
    Presence presence;
    int access; // EXPR_ACCESS: index into the term's accesses
    double number;
    bool imaginary; // i times `number`
    int64_t integer;
    const Function *function; // EXPR_CALL
    bool complex_arguments;   // EXPR_CALL: one at least is of a complex type
} Step;

typedef struct {
    const Access *access;
    int reduction;             // number of the explicit reduction that it stands for; -1: it is of a tensor
    int64_t offset;            // of the element where all variables are 0
    int64_t strides[MAX_VARS]; // in elements; 0 of a sparse tensor
} Operand;

// A register: lanes of values and of magnitudes. Reals use `re`, integers `whole`.
typedef struct {
    union {
        double re[BLOCK];
        int64_t whole[BLOCK];
    };
    double im[BLOCK], magnitude[BLOCK];
    bool present[BLOCK]; // of a sparse program: what is not present is zero
} Register;

// One lane of a register.
typedef struct {
    union {
        double re;
        int64_t whole;
    };
    double im, magnitude;
} WideValue;

// Sums by lane, with their rounding errors; or what another reducer makes, without.
typedef struct {
    Register sum;
    double lost_re[BLOCK], lost_im[BLOCK];
} Sums;

typedef struct {
    WideKind kind;
    Reducer reducer;
    bool sparse; // looks at which lanes are present
    bool narrow; // WIDE_INTEGER: 32 bits, not 64
    int step_count;
    const Step *steps;
    bool negative; // subtract instead of add
    bool plain;    // of exact values, only products and quotients: the magnitude of a result is its absolute
                   // value
} BlockProgram;

// Where an operand's lanes are: data + offset, `stride` elements apart.
typedef struct {
    ElementType type;
    const void *data;
    const double *magnitudes; // at the same places; NULL: those of exact values
    const bool *present;      // by lane; NULL: all are
    int64_t offset, stride;
} Lanes;

// A call of a function: the first argument becomes the result; `right` is unused where it has one only.
void block_call(const Step *step, WideKind kind, bool magnitudes, Register *left, const Register *right,
                int count);

// The identity of a reducer, with its magnitude; `narrow`: of 32-bit integers.
WideValue wide_identity(Reducer reducer, WideKind kind, bool narrow);
// Combines two values by a reducer, which is no sum.
WideValue wide_reduce(Reducer reducer, WideKind kind, WideValue left, WideValue right);

// To the identity of the reducer.
void block_clear(const BlockProgram *program, Sums *sums, int count);
// Runs the program on `count` lanes; the result is in the first register of `stack`.
void block_run(const BlockProgram *program, const Lanes *lanes, int count, Register *stack);
// Runs the program on `count` lanes and combines the result with `sums`; `stack` has a register a step.
void block_add(const BlockProgram *program, const Lanes *lanes, int count, Register *stack, Sums *sums);
// Combines all lanes into the first.
void block_fold(const BlockProgram *program, Sums *sums, int count);
// Combines the first lane of `from` with lane `lane` of `to`.
void block_join(const BlockProgram *program, const Sums *from, Sums *to, int lane);
// Lane `from` of the sums as one wide value.
void block_value(const BlockProgram *program, const Sums *sums, int from, void *value);

#endif
