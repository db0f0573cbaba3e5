// SPDX-License-Identifier: BSD-3-Clause
// Functions in the reference evaluator. The effect of rounding errors of the arguments is found by evaluating
// the function on perturbed arguments, which works for every function.
#include "index/evaluate_block.h"

#include <complex.h>
#include <math.h>

// The perturbation of an argument, relative to its magnitude.
static const double MOVE = 0x1p-20;

typedef struct {
    const Step *step;
    double _Complex arguments[2];
} Call;

static double _Complex result_of(const Call *call) {
    const Function *function = call->step->function;
    const double _Complex a = call->arguments[0], b = call->arguments[1];
    if (call->step->complex_arguments)
        return function->arity == 1 ? function->complex_value(a) : function->complex_of_two(a, b);
    return function->arity == 1 ? function->real(creal(a)) : function->real_of_two(creal(a), creal(b));
}

static bool is_finite(double _Complex value) {
    return isfinite(creal(value)) && isfinite(cimag(value));
}

// The change of the result with one argument in this direction, times the magnitude of the argument; 0 where
// a perturbed argument is outside of the function's domain.
static double moved_along(Call call, double _Complex result, int argument, double magnitude,
                          double _Complex direction) {
    const double _Complex at = call.arguments[argument];
    const double by = MOVE * magnitude;
    const double _Complex step = by * direction;
    if (!(by > 0) || !isfinite(by))
        return 0;
    call.arguments[argument] = at + step;
    double _Complex there = result_of(&call);
    if (!is_finite(there)) {
        call.arguments[argument] = at - step;
        there = result_of(&call);
    }
    return is_finite(there) ? cabs(there - result) / MOVE : 0;
}

// A part of a complex number, other than an analytic function, changes differently in each direction.
static double moved(Call call, double _Complex result, int argument, double magnitude) {
    const double _Complex at = call.arguments[argument];
    const double length = cabs(at);
    const double _Complex direction = length > 0 ? at / length : 1;
    const double change = moved_along(call, result, argument, magnitude, direction);
    if (!call.step->complex_arguments || !call.step->function->gives_real)
        return change;
    const double _Complex across = __builtin_complex(-cimag(direction), creal(direction));
    return change + moved_along(call, result, argument, magnitude, across);
}

static double _Complex lane(const Register *from, WideKind kind, int i) {
    return __builtin_complex(from->re[i], kind == WIDE_COMPLEX ? from->im[i] : 0.0);
}

static void call_integers(const Step *step, Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++)
        left->whole[i] = step->function->arity == 1
                             ? step->function->integer(left->whole[i])
                             : step->function->integer_of_two(left->whole[i], right->whole[i]);
}

void block_call(const Step *step, WideKind kind, bool magnitudes, Register *left, const Register *right,
                int count) {
    if (kind == WIDE_INTEGER) {
        call_integers(step, left, right, count);
        return;
    }
    const bool two = step->function->arity == 2;
    for (int i = 0; i < count; i++) {
        const Call call = {step, {lane(left, kind, i), two ? lane(right, kind, i) : 0}};
        const double _Complex result = result_of(&call);
        if (magnitudes && is_finite(result))
            left->magnitude[i] = cabs(result) + moved(call, result, 0, left->magnitude[i]) +
                                 (two ? moved(call, result, 1, right->magnitude[i]) : 0);
        left->re[i] = creal(result);
        left->im[i] = cimag(result);
    }
}
