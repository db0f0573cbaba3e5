// SPDX-License-Identifier: BSD-3-Clause
// The reference evaluator computes the elements of a statement with plain loops over whole tensors. Results
// are checked against it, so it works on the syntax tree and shares nothing with CIN, lowering or plans.
#ifndef DISTAL_INDEX_EVALUATE_H
#define DISTAL_INDEX_EVALUATE_H

#include "index/notation.h"

typedef struct Evaluator Evaluator;

// Called now and then on the thread of the caller: `done` of `all` parts of a term are done.
typedef void (*EvaluatorProgress)(void *context, int64_t done, int64_t all);

// How results are held: double, double _Complex (two doubles), or int64_t.
typedef enum { WIDE_REAL, WIDE_COMPLEX, WIDE_INTEGER } WideKind;

// What a statement gives: the entries of a sparse left side, in the order of its modes, of all that it has to
// store, or all elements of a dense one, row-major. Values are of the evaluator's kind.
typedef struct {
    int64_t count;
    int64_t *coordinates[MAX_ORDER]; // by mode; NULL of a dense left side
    void *values;
    double *magnitudes; // as of evaluator_run
    double summands;    // that were added up to one element, at most
} Evaluated;
// Frees the arrays; the struct is empty then.
void evaluated_free(Evaluated *result);

// Prepares a statement for these params. Its value is the sum of its additive terms, each summed over those
// of its own variables that the left side lacks. `reordered`: in what is to be checked, products
// were formed in another order than the statement has.
Evaluator *evaluator_create(Arena *arena, const Assignment *assignment, bool reordered,
                            const int64_t *params);

// Whether a tensor of the statement is sparse: then it is evaluated on entries (evaluate_sparse.h), and not
// by evaluator_run.
bool evaluator_is_sparse(const Evaluator *evaluator);

// Elements of the left side, and the type that they are evaluated in.
int64_t evaluator_count(const Evaluator *evaluator);
WideKind evaluator_kind(const Evaluator *evaluator);
size_t evaluator_value_size(const Evaluator *evaluator); // bytes of one value

// Operations on numbers that the evaluation of all elements of a dense statement takes.
double evaluator_operations(const Evaluator *evaluator);

// Evaluates elements first .. last - 1 of the left side (row-major in the order of its modes).
// `arrays`: by tensor id, the whole tensor in its own type, row-major in the order of its modes; of the left
// side only where the statement accumulates, with its old values. `values` receives last - first values of
// the evaluator's kind, `magnitudes`, unless it is NULL, the sums of the absolute values of all summands.
// Sums are compensated, so that values are more exact than the result that is checked. Divides the work among
// the threads. False when memory runs out.
// Explicit reductions are evaluated first, wholly.
bool evaluator_run(const Evaluator *evaluator, const void *const *arrays, int64_t first, int64_t last,
                   void *values, double *magnitudes);

// Evaluates the explicit reductions once for several runs on the same arrays, up to evaluator_end, which has
// to follow in any case. False when memory runs out.
bool evaluator_begin(Evaluator *evaluator, const void *const *arrays);
void evaluator_end(Evaluator *evaluator);

// The largest |got - value| / magnitude over `count` elements: 0 where both are equal (a NaN equals NaN and,
// where products are reordered, infinities: real_error says why), infinite where else one is not finite, and
// for integers 0 or infinite. `got` has the type of the left side.
double evaluator_error(const Evaluator *evaluator, const void *got, const void *values,
                       const double *magnitudes, int64_t count);

// The largest error of a correct result: the forward error bound of a sum, unit roundoff times the number of
// summands and operations. For long sums a multiple of the square root of the number of summands: rounding
// errors cancel, and the bound would accept wrong results. 0 for integers.
double evaluator_tolerance(const Evaluator *evaluator);
// The same where at most `summands` are added up to an element.
double evaluator_tolerance_of(const Evaluator *evaluator, double summands);

#endif
