// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate_block.h"

#include <complex.h>
#include <math.h>
#include <string.h>

// The loops over lanes are vectorized at any level of optimization.
#define FOR_LANES _Pragma("omp simd") for (int i = 0; i < count; i++)

// The magnitude of a complex number is taken as |re| + |im|, which no finite number overflows.
static void set_magnitude(Register *of, WideKind kind, int count) {
    FOR_LANES of->magnitude[i] = fabs(of->re[i]);
    if (kind == WIDE_COMPLEX)
        FOR_LANES of->magnitude[i] += fabs(of->im[i]);
}

static void add_lanes(double *restrict to, const double *restrict from, int count) {
    FOR_LANES to[i] += from[i];
}

static void multiply_lanes(double *restrict to, const double *restrict from, int count) {
    FOR_LANES to[i] *= from[i];
}

#define LOAD_REAL(type)                                                                                      \
    {                                                                                                        \
        const type *from = (const type *)lanes->data + lanes->offset;                                        \
        const double first = (double)*from;                                                                  \
        if (lanes->stride == 0)                                                                              \
            FOR_LANES to->re[i] = first;                                                                     \
        else if (lanes->stride == 1)                                                                         \
            FOR_LANES to->re[i] = (double)from[i];                                                           \
        else                                                                                                 \
            for (int i = 0; i < count; i++)                                                                  \
                to->re[i] = (double)from[i * lanes->stride];                                                 \
        break;                                                                                               \
    }

static void load_real(Register *to, const Lanes *lanes, int count) {
    switch (lanes->type) {
    case TYPE_I32:
        LOAD_REAL(int32_t)
    case TYPE_I64:
        LOAD_REAL(int64_t)
    case TYPE_F32:
        LOAD_REAL(float)
    default:
        LOAD_REAL(double)
    }
}

#define LOAD_COMPLEX(type)                                                                                   \
    {                                                                                                        \
        const type *from = (const type *)lanes->data + 2 * lanes->offset;                                    \
        for (int i = 0; i < count; i++) {                                                                    \
            to->re[i] = (double)from[2 * i * lanes->stride];                                                 \
            to->im[i] = (double)from[2 * i * lanes->stride + 1];                                             \
        }                                                                                                    \
        break;                                                                                               \
    }

static void load_complex(Register *to, const Lanes *lanes, int count) {
    switch (lanes->type) {
    case TYPE_C64:
        LOAD_COMPLEX(float)
    case TYPE_C128:
        LOAD_COMPLEX(double)
    default:
        load_real(to, lanes, count);
        memset(to->im, 0, sizeof(double) * (size_t)count);
    }
}

static void load_integer(Register *to, const Lanes *lanes, int count) {
    for (int i = 0; i < count; i++) {
        int64_t at = lanes->offset + i * lanes->stride;
        to->whole[i] =
            lanes->type == TYPE_I32 ? ((const int32_t *)lanes->data)[at] : ((const int64_t *)lanes->data)[at];
    }
}

static void set_number(Register *to, const Step *step, WideKind kind, int count) {
    for (int i = 0; i < count; i++) {
        if (kind == WIDE_INTEGER) {
            to->whole[i] = step->integer;
            continue;
        }
        to->re[i] = step->imaginary ? 0 : step->number;
        to->im[i] = step->imaginary ? step->number : 0;
    }
}

typedef void (*Combine)(Register *left, const Register *right, int count);

static void real_add(Register *left, const Register *right, int count) {
    add_lanes(left->re, right->re, count);
}

static void real_sub(Register *left, const Register *right, int count) {
    FOR_LANES left->re[i] -= right->re[i];
}

static void real_mul(Register *left, const Register *right, int count) {
    multiply_lanes(left->re, right->re, count);
}

static void real_div(Register *left, const Register *right, int count) {
    FOR_LANES left->re[i] /= right->re[i];
}

static void complex_add(Register *left, const Register *right, int count) {
    real_add(left, right, count);
    for (int i = 0; i < count; i++)
        left->im[i] += right->im[i];
}

static void complex_sub(Register *left, const Register *right, int count) {
    real_sub(left, right, count);
    for (int i = 0; i < count; i++)
        left->im[i] -= right->im[i];
}

static void complex_mul(Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++) {
        double re = left->re[i] * right->re[i] - left->im[i] * right->im[i];
        left->im[i] = left->re[i] * right->im[i] + left->im[i] * right->re[i];
        left->re[i] = re;
    }
}

static double _Complex number(const Register *from, int i) {
    double _Complex result;
    memcpy(&result, (const double[]){from->re[i], from->im[i]}, sizeof result);
    return result;
}

static void complex_div(Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++) {
        double _Complex quotient = number(left, i) / number(right, i);
        left->re[i] = creal(quotient);
        left->im[i] = cimag(quotient);
    }
}

static void whole_add(Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++)
        left->whole[i] = (int64_t)((uint64_t)left->whole[i] + (uint64_t)right->whole[i]);
}

static void whole_sub(Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++)
        left->whole[i] = (int64_t)((uint64_t)left->whole[i] - (uint64_t)right->whole[i]);
}

static void whole_mul(Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++)
        left->whole[i] = (int64_t)((uint64_t)left->whole[i] * (uint64_t)right->whole[i]);
}

// Truncates as C does; a quotient by 0 is 0, and the one quotient that does not fit wraps around.
static void whole_div(Register *left, const Register *right, int count) {
    for (int i = 0; i < count; i++) {
        if (right->whole[i] == 0)
            left->whole[i] = 0;
        else if (right->whole[i] == -1)
            left->whole[i] = (int64_t)(0 - (uint64_t)left->whole[i]);
        else
            left->whole[i] /= right->whole[i];
    }
}

static const Combine combines[][EXPR_DIV + 1] = {
    [WIDE_REAL] =
        {[EXPR_ADD] = real_add, [EXPR_SUB] = real_sub, [EXPR_MUL] = real_mul, [EXPR_DIV] = real_div},
    [WIDE_COMPLEX] = {[EXPR_ADD] = complex_add,
                      [EXPR_SUB] = complex_sub,
                      [EXPR_MUL] = complex_mul,
                      [EXPR_DIV] = complex_div},
    [WIDE_INTEGER] =
        {[EXPR_ADD] = whole_add, [EXPR_SUB] = whole_sub, [EXPR_MUL] = whole_mul, [EXPR_DIV] = whole_div},
};

// Called before the values are combined. The ratio of the magnitude of a divisor to its value says how much
// of it may have cancelled.
static void combine_magnitudes(ExprKind operation, Register *left, const Register *right, WideKind kind,
                               int count) {
    if (operation == EXPR_ADD || operation == EXPR_SUB) {
        add_lanes(left->magnitude, right->magnitude, count);
    } else if (operation == EXPR_MUL) {
        multiply_lanes(left->magnitude, right->magnitude, count);
    } else {
        for (int i = 0; i < count; i++) {
            double divisor = kind == WIDE_COMPLEX ? hypot(right->re[i], right->im[i]) : fabs(right->re[i]);
            left->magnitude[i] =
                isinf(divisor) ? 0 : left->magnitude[i] / divisor * (right->magnitude[i] / divisor);
        }
    }
}

static void negate(Register *of, WideKind kind, int count) {
    for (int i = 0; i < count; i++) {
        if (kind == WIDE_INTEGER) {
            of->whole[i] = (int64_t)(0 - (uint64_t)of->whole[i]);
            continue;
        }
        of->re[i] = -of->re[i];
        of->im[i] = -of->im[i];
    }
}

static void load(Register *to, const Lanes *lanes, WideKind kind, int count) {
    if (kind == WIDE_INTEGER)
        load_integer(to, lanes, count);
    else if (kind == WIDE_COMPLEX)
        load_complex(to, lanes, count);
    else
        load_real(to, lanes, count);
}

// Two's complement of 32 bits, kept in 64.
static void wrap(Register *of, int count) {
    for (int i = 0; i < count; i++)
        of->whole[i] = (int32_t)(uint32_t)of->whole[i];
}

WideValue wide_identity(Reducer reducer, WideKind kind, bool narrow) {
    const Identity identity = reducer_identity(reducer, kind != WIDE_INTEGER ? TYPE_F64
                                                        : narrow             ? TYPE_I32
                                                                             : TYPE_I64);
    WideValue value = {.im = 0, .magnitude = reducer == REDUCER_PROD};
    if (kind == WIDE_INTEGER)
        value.whole = identity.integer;
    else
        value.re = identity.real;
    return value;
}

static WideValue lane(const Register *from, int i) {
    WideValue value = {.im = from->im[i], .magnitude = from->magnitude[i]};
    value.whole = from->whole[i];
    return value;
}

static void set_lane(Register *to, int i, WideValue value) {
    to->whole[i] = value.whole;
    to->im[i] = value.im;
    to->magnitude[i] = value.magnitude;
}

void block_clear(const BlockProgram *program, Sums *sums, int count) {
    const size_t bytes = sizeof(double) * (size_t)count;
    const WideValue identity = wide_identity(program->reducer, program->kind, program->narrow);
    for (int i = 0; i < count; i++)
        set_lane(&sums->sum, i, identity);
    memset(sums->lost_re, 0, bytes);
    memset(sums->lost_im, 0, bytes);
}

// Knuth's two-sum: the rounding error of each addition is kept as well.
static void add_exactly(double *restrict sum, double *restrict lost, const double *restrict value,
                        int count) {
    FOR_LANES {
        double total = sum[i] + value[i];
        double part = total - sum[i];
        lost[i] += (sum[i] - (total - part)) + (value[i] - part);
        sum[i] = total;
    }
}

static bool is_present(const Step *step, const Lanes *lanes, const Register *left, const Register *right,
                       int i) {
    switch (step->presence) {
    case PRESENT_STORED:
        return !lanes[step->access].present || lanes[step->access].present[i];
    case PRESENT_LEFT:
        return left->present[i];
    case PRESENT_RIGHT:
        return right->present[i];
    case PRESENT_BOTH:
        return left->present[i] && right->present[i];
    case PRESENT_EITHER:
        return left->present[i] || right->present[i];
    default:
        return true;
    }
}

// Which lanes of the result of a step are present, in `left`, and zeros in the others.
static void keep_present(const Step *step, const Lanes *lanes, Register *left, const Register *right,
                         int count) {
    for (int i = 0; i < count; i++) {
        left->present[i] = is_present(step, lanes, left, right, i);
        if (left->present[i])
            continue;
        left->whole[i] = 0;
        left->im[i] = left->magnitude[i] = 0;
    }
}

// Of values that are not exact: their own.
static void load_magnitudes(Register *to, const Lanes *lanes, int count) {
    for (int i = 0; i < count; i++)
        to->magnitude[i] = lanes->magnitudes[lanes->offset + i * lanes->stride];
}

void block_run(const BlockProgram *program, const Lanes *lanes, int count, Register *stack) {
    Register *top = stack - 1;
    const bool magnitudes = program->kind != WIDE_INTEGER && !program->plain;
    for (int s = 0; s < program->step_count; s++) {
        const Step *step = &program->steps[s];
        switch (step->kind) {
        case EXPR_ACCESS:
        case EXPR_NUMBER:
            top++;
            if (step->kind == EXPR_ACCESS)
                load(top, &lanes[step->access], program->kind, count);
            else
                set_number(top, step, program->kind, count);
            if (magnitudes)
                set_magnitude(top, program->kind, count);
            if (magnitudes && step->kind == EXPR_ACCESS && lanes[step->access].magnitudes)
                load_magnitudes(top, &lanes[step->access], count);
            break;
        case EXPR_NEG:
            negate(top, program->kind, count);
            break;
        case EXPR_CALL:
            top -= step->function->arity - 1;
            block_call(step, program->kind, magnitudes, top, top + 1, count);
            break;
        default:
            top--;
            if (magnitudes)
                combine_magnitudes(step->kind, top, top + 1, program->kind, count);
            combines[program->kind][step->kind](top, top + 1, count);
        }
        if (program->kind == WIDE_INTEGER && program->narrow)
            wrap(top, count);
        if (program->sparse)
            keep_present(step, lanes, top, top + 1, count);
    }
    if (program->negative)
        negate(stack, program->kind, count);
    if (program->plain && program->kind != WIDE_INTEGER)
        set_magnitude(stack, program->kind, count);
}

// As NumPy's: NaN where one of both is.
static double real_extreme(Reducer reducer, double a, double b) {
    return isnan(a) || (reducer == REDUCER_MAX ? a >= b : a <= b) ? a : b;
}

static int64_t whole_extreme(Reducer reducer, int64_t a, int64_t b) {
    return (reducer == REDUCER_MAX ? a >= b : a <= b) ? a : b;
}

WideValue wide_reduce(Reducer reducer, WideKind kind, WideValue left, WideValue right) {
    if (kind == WIDE_INTEGER) {
        left.whole = reducer == REDUCER_PROD ? (int64_t)((uint64_t)left.whole * (uint64_t)right.whole)
                                             : whole_extreme(reducer, left.whole, right.whole);
        return left;
    }
    if (reducer != REDUCER_PROD)
        return (WideValue){.re = real_extreme(reducer, left.re, right.re),
                           .magnitude = fmax(left.magnitude, right.magnitude)};
    WideValue product = {.re = left.re * right.re, .magnitude = left.magnitude * right.magnitude};
    if (kind == WIDE_COMPLEX) {
        product.re -= left.im * right.im;
        product.im = left.re * right.im + left.im * right.re;
    }
    return product;
}

// Lane `i` of `left`, combined with lane `k` of `right`, which is no sum.
static void reduce_lane(const BlockProgram *program, Register *left, int i, const Register *right, int k) {
    set_lane(left, i, wide_reduce(program->reducer, program->kind, lane(left, i), lane(right, k)));
}

void block_add(const BlockProgram *program, const Lanes *lanes, int count, Register *stack, Sums *sums) {
    block_run(program, lanes, count, stack);
    if (program->reducer != REDUCER_SUM) {
        for (int i = 0; i < count; i++)
            reduce_lane(program, &sums->sum, i, stack, i);
        return;
    }
    if (program->kind == WIDE_INTEGER) {
        whole_add(&sums->sum, stack, count);
        return;
    }
    add_exactly(sums->sum.re, sums->lost_re, stack->re, count);
    if (program->kind == WIDE_COMPLEX)
        add_exactly(sums->sum.im, sums->lost_im, stack->im, count);
    add_lanes(sums->sum.magnitude, stack->magnitude, count);
}

static void join(const BlockProgram *program, const Sums *from, int from_lane, Sums *to, int to_lane) {
    if (program->reducer != REDUCER_SUM) {
        reduce_lane(program, &to->sum, to_lane, &from->sum, from_lane);
        return;
    }
    if (program->kind == WIDE_INTEGER) {
        to->sum.whole[to_lane] =
            (int64_t)((uint64_t)to->sum.whole[to_lane] + (uint64_t)from->sum.whole[from_lane]);
        return;
    }
    add_exactly(&to->sum.re[to_lane], &to->lost_re[to_lane], &from->sum.re[from_lane], 1);
    add_exactly(&to->sum.im[to_lane], &to->lost_im[to_lane], &from->sum.im[from_lane], 1);
    to->lost_re[to_lane] += from->lost_re[from_lane];
    to->lost_im[to_lane] += from->lost_im[from_lane];
    to->sum.magnitude[to_lane] += from->sum.magnitude[from_lane];
}

void block_fold(const BlockProgram *program, Sums *sums, int count) {
    for (int i = 1; i < count; i++)
        join(program, sums, i, sums, 0);
}

void block_join(const BlockProgram *program, const Sums *from, Sums *to, int lane) {
    join(program, from, 0, to, lane);
}

// Where a sum is infinite, what was lost of it is not a number.
static double total(double sum, double lost) {
    return isfinite(sum) ? sum + lost : sum;
}

void block_value(const BlockProgram *program, const Sums *sums, int from, void *value) {
    const Register *sum = &sums->sum;
    switch (program->kind) {
    case WIDE_REAL:
        *(double *)value = total(sum->re[from], sums->lost_re[from]);
        break;
    case WIDE_COMPLEX:
        ((double *)value)[0] = total(sum->re[from], sums->lost_re[from]);
        ((double *)value)[1] = total(sum->im[from], sums->lost_im[from]);
        break;
    case WIDE_INTEGER:
        *(int64_t *)value = program->narrow ? (int32_t)(uint32_t)sum->whole[from] : sum->whole[from];
    }
}
