// SPDX-License-Identifier: BSD-3-Clause
#include "base/function.h"

#include <complex.h>
#include <math.h>
#include <string.h>

// As NumPy's minimum and maximum: NaN if an argument is NaN.
static double real_min(double a, double b) {
    return a < b || isnan(a) ? a : b;
}

static double real_max(double a, double b) {
    return a > b || isnan(a) ? a : b;
}

static double _Complex complex_abs(double _Complex a) {
    return cabs(a);
}

// The parts of a number: a real one is its own real part.
static double real_part(double a) {
    return a;
}

static double imaginary_part(double a) {
    (void)a;
    return 0;
}

static int64_t integer_part(int64_t a) {
    return a;
}

static int64_t integer_imaginary_part(int64_t a) {
    (void)a;
    return 0;
}

static double _Complex complex_real(double _Complex a) {
    return creal(a);
}

static double _Complex complex_imaginary(double _Complex a) {
    return cimag(a);
}

// The least integer has no positive counterpart: it wraps around to itself.
static int64_t integer_abs(int64_t a) {
    return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
}

static int64_t integer_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t integer_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

#define ONE(r, c, i) .real = (r), .complex_value = (c), .integer = (i)
#define TWO(r, c, i) .real_of_two = (r), .complex_of_two = (c), .integer_of_two = (i)
#define MATH(name)                                                                                           \
    { NULL, NULL, #name "f", #name, "c" #name "f", "c" #name }
#define REAL_MATH(name)                                                                                      \
    { NULL, NULL, #name "f", #name }
#define OWN(name)                                                                                            \
    "distal_" #name "_i32", "distal_" #name "_i64", "distal_" #name "_f32", "distal_" #name "_f64"

static const Function table[] = {
    {"sqrt", "a", 1, false, MATH(sqrt), ONE(sqrt, csqrt, NULL)},
    {"abs",
     "a",
     1,
     true,
     {"distal_abs_i32", "distal_abs_i64", "fabsf", "fabs", "cabsf", "cabs"},
     ONE(fabs, complex_abs, integer_abs)},
    {"real", "a", 1, true, {OWN(real), "crealf", "creal"}, ONE(real_part, complex_real, integer_part)},
    {"imag",
     "a",
     1,
     true,
     {OWN(imag), "cimagf", "cimag"},
     ONE(imaginary_part, complex_imaginary, integer_imaginary_part)},
    {"conj", "a", 1, false, {OWN(real), "conjf", "conj"}, ONE(real_part, conj, integer_part)},
    {"exp", "a", 1, false, MATH(exp), ONE(exp, cexp, NULL)},
    {"log", "a", 1, false, MATH(log), ONE(log, clog, NULL)},
    {"sin", "a", 1, false, REAL_MATH(sin), ONE(sin, NULL, NULL)},
    {"cos", "a", 1, false, REAL_MATH(cos), ONE(cos, NULL, NULL)},
    {"tanh", "a", 1, false, REAL_MATH(tanh), ONE(tanh, NULL, NULL)},
    {"erf", "a", 1, false, REAL_MATH(erf), ONE(erf, NULL, NULL)},
    {"pow",
     "a, b",
     2,
     false,
     {NULL, NULL, "distal_pow_f32", "distal_pow_f64", "cpowf", "cpow"},
     TWO(pow, cpow, NULL)},
    {"min", "a, b", 2, false, {OWN(min)}, TWO(real_min, NULL, integer_min)},
    {"max", "a, b", 2, false, {OWN(max)}, TWO(real_max, NULL, integer_max)},
};
enum { FUNCTION_COUNT = sizeof table / sizeof *table };

int function_count(void) {
    return FUNCTION_COUNT;
}

const Function *function_at(int index) {
    return &table[index];
}

const Function *function_by_name(const char *name) {
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

bool function_takes_complex(const Function *function) {
    return function->c_names[TYPE_C128] != NULL;
}

ElementType function_type(const Function *function, ElementType type) {
    return function->c_names[type] ? type : TYPE_F64;
}
