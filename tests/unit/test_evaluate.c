// SPDX-License-Identifier: BSD-3-Clause
// The reference evaluator against loops written out by hand, one function a statement; and the comparison
// that `--check` makes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/evaluate.h"
#include "lang/program.h"

// Extents are distinct, and on both sides of the 256 lanes of a block.
enum { I = 3, J = 300, K = 5, L = 17 };
#define TENSORS(type)                                                                                        \
    "tensor A(3): " type "; tensor AA(3, 300): " type "; tensor P(300, 3): " type "; tensor a: " type "\n"   \
    "tensor T(5, 3, 17): " type "\n"                                                                         \
    "tensor b(3): " type "; tensor c(300): " type "; tensor d(5): " type "; tensor e: " type "\n"            \
    "tensor B(3, 300): " type "; tensor C(300, 5): " type "; tensor D(3, 5): " type "\n"                     \
    "tensor E(5, 300): " type "; tensor S(3, 3): " type "; tensor Q(17, 5): " type "\n"

enum { MAX_TENSORS = 32 };

typedef struct {
    Arena *arena;
    const Program *program;
    Evaluator *evaluator;
    void *arrays[MAX_TENSORS];
} Setup;

static int64_t element_count(const Tensor *tensor) {
    int64_t count = 1, extent;
    for (int mode = 0; mode < tensor->order; mode++) {
        assert_true(int_eval(tensor->extents[mode], NULL, NULL, &extent));
        count *= extent;
    }
    return count;
}

// Distinct values with both signs, none 0.
static double number(const Tensor *tensor, int64_t position) {
    int64_t spread = (position * 37 + tensor->id * 11) % 101;
    return spread < 50 ? (double)spread - 60 : (double)spread - 30;
}

static void fill(const Tensor *tensor, void *array, int64_t count) {
    for (int64_t p = 0; p < count; p++) {
        double value = number(tensor, p), imaginary = number(tensor, p + 7);
        switch (tensor->type) {
        case TYPE_I32:
            ((int32_t *)array)[p] = (int32_t)value;
            break;
        case TYPE_I64:
            ((int64_t *)array)[p] = (int64_t)value;
            break;
        case TYPE_F32:
            ((float *)array)[p] = (float)value;
            break;
        case TYPE_F64:
            ((double *)array)[p] = value;
            break;
        case TYPE_C64:
            ((float *)array)[2 * p] = (float)value;
            ((float *)array)[2 * p + 1] = (float)imaginary;
            break;
        case TYPE_C128:
            ((double *)array)[2 * p] = value;
            ((double *)array)[2 * p + 1] = imaginary;
        }
    }
}

static Setup setup(const char *declarations, const char *statement) {
    Setup it = {.arena = arena_create()};
    Source source = {"test", arena_printf(it.arena, "%s%s\n", declarations, statement)};
    Diagnostics *diagnostics = diagnostics_create(it.arena, source);
    it.program = program_parse(it.arena, source, NULL, 0, 0, diagnostics);
    if (!it.program) {
        Text text = text_create(it.arena);
        diagnostics_print(diagnostics, &text);
        fail_msg("%s", text_string(&text));
        return it;
    }
    for (int t = 0; t < it.program->tensor_count; t++) {
        const Tensor *tensor = it.program->tensors[t];
        int64_t count = element_count(tensor);
        it.arrays[t] = arena_alloc(it.arena, (size_t)(count + 1) * type_info(tensor->type)->size);
        fill(tensor, it.arrays[t], count);
    }
    it.evaluator = evaluator_create(it.arena, it.program->statements[0].assignment, false,
                                    program_param_values(it.program, it.arena));
    return it;
}

static const void *array(const Setup *it, const char *name) {
    for (int t = 0; t < it->program->tensor_count; t++)
        if (strcmp(it->program->tensors[t]->name, name) == 0)
            return it->arrays[t];
    fail_msg("no tensor %s", name);
    return NULL;
}

static void run(const Setup *it, void *values, double *magnitudes) {
    const void *arrays[MAX_TENSORS];
    memcpy(arrays, it->arrays, sizeof arrays);
    assert_true(evaluator_run(it->evaluator, arrays, 0, evaluator_count(it->evaluator), values, magnitudes));
}

// The operands of every statement below, and one function a statement: element `p` of the result.
typedef struct {
    const double *A, *AA, *P, *a, *T, *b, *c, *d, *e, *B, *C, *D, *E, *S, *Q;
} Tensors;

#define AT(tensor, i, columns, j) t->tensor[(i) * (columns) + (j)]
#define EACH(var, extent) for (int var = 0; var < (extent); var++)
#define ADD(...) sum += (__VA_ARGS__);
#define FUNCTION(name, ...)                                                                                  \
    static double name(const Tensors *t, int p) {                                                            \
        double sum = 0 * p;                                                                                  \
        __VA_ARGS__ return sum;                                                                              \
    }

FUNCTION(matrix_product, EACH(j, J) ADD(AT(B, p / K, J, j) * AT(C, j, K, p % K)))
FUNCTION(wide_product, EACH(k, K) ADD(AT(D, p / J, K, k) * AT(E, k, J, p % J)))
FUNCTION(transposed, ADD(AT(B, p % I, J, p / I)))
FUNCTION(inner_product, EACH(i, I) EACH(j, J) ADD(AT(B, i, J, j) * AT(AA, i, J, j)))
FUNCTION(own_terms, ADD(t->b[p]) EACH(j, J) ADD(AT(B, p, J, j) * t->c[j]))
FUNCTION(negated_terms, ADD(-t->b[p]) EACH(j, J) ADD(AT(B, p, J, j)) EACH(k, K) ADD(-AT(D, p, K, k)))
FUNCTION(two_sums,
         EACH(j, J) EACH(k, K) ADD((AT(B, p, J, j) - t->c[j]) * (AT(D, p, K, k) + t->b[p] * AT(D, p, K, k))))
FUNCTION(number_in_sum, EACH(j, J) ADD((t->b[p] + 1) * t->c[j]))
FUNCTION(numerator, EACH(k, K) ADD((t->d[k] + AT(D, p, K, k)) / t->A[p]))
FUNCTION(divisor, EACH(k, K) ADD(t->b[p] / (AT(D, p, K, k) + t->d[k])))
FUNCTION(elementwise, ADD(sqrt(fabs(t->b[p] - 2)) * exp(t->b[p]) - log(t->b[p] + 3) / pow(2.5, t->b[p])))
FUNCTION(opaque, EACH(j, J) ADD(exp(AT(B, p, J, j) * t->b[p]) * fmin(t->b[p], t->c[j])) ADD(fmax(t->b[p], 1)))
FUNCTION(accumulated, ADD(t->A[p]) EACH(j, J) ADD(AT(B, p, J, j)))
FUNCTION(trace, EACH(i, I) ADD(AT(S, i, I, i)))
FUNCTION(diagonal, ADD(AT(S, p, I, p) * 2.5))
FUNCTION(outer, ADD(t->d[p / (I * L)] * t->b[p / L % I] * AT(Q, p % L, K, p / (I * L))))
FUNCTION(constant, ADD(-3.5 + 0 * t->e[0]))

static const struct {
    const char *statement;
    double (*expected)(const Tensors *t, int p);
} cases[] = {
    {"D(i, k) = B(i, j) * C(j, k)", matrix_product},
    {"AA(i, j) = D(i, k) * E(k, j)", wide_product},
    {"P(j, i) = B(i, j)", transposed},
    {"a = B(i, j) * AA(i, j)", inner_product},
    {"A(i) = b(i) + B(i, j) * c(j)", own_terms},
    {"A(i) = -(b(i) - B(i, j)) - D(i, k)", negated_terms},
    {"A(i) = (B(i, j) - c(j)) * (D(i, k) + b(i) * D(i, k))", two_sums},
    {"A(i) = (b(i) + 1) * c(j)", number_in_sum},
    {"b(i) = (d(k) + D(i, k)) / A(i)", numerator},
    {"A(i) = b(i) / (D(i, k) + d(k))", divisor},
    {"A(i) = sqrt(abs(b(i) - 2)) * exp(b(i)) - log(b(i) + 3) / pow(2.5, b(i))", elementwise},
    {"A(i) = exp(B(i, j) * b(i)) * min(b(i), c(j)) + max(b(i), 1)", opaque},
    {"A(i) += B(i, j)", accumulated},
    {"a = S(i, i)", trace},
    {"A(i) = S(i, i) * 2.5", diagonal},
    {"T(k, i, l) = d(k) * b(i) * Q(l, k)", outer},
    {"a = -3.5", constant},
};

static void test_statements(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Setup it = setup(TENSORS("f64"), cases[i].statement);
        Tensors t = {array(&it, "A"), array(&it, "AA"), array(&it, "P"), array(&it, "a"), array(&it, "T"),
                     array(&it, "b"), array(&it, "c"),  array(&it, "d"), array(&it, "e"), array(&it, "B"),
                     array(&it, "C"), array(&it, "D"),  array(&it, "E"), array(&it, "S"), array(&it, "Q")};
        const int count = (int)evaluator_count(it.evaluator);
        double *values = arena_array(it.arena, double, count);
        double *magnitudes = arena_array(it.arena, double, count);
        assert_int_equal(evaluator_kind(it.evaluator), WIDE_REAL);
        run(&it, values, magnitudes);
        for (int p = 0; p < count; p++) {
            double expected = cases[i].expected(&t, p);
            if (fabs(values[p] - expected) > 1e-12 * magnitudes[p] ||
                fabs(values[p]) > magnitudes[p] * (1 + 1e-12))
                fail_msg("%s: element %d is %.17g with magnitude %g, expected %.17g", cases[i].statement, p,
                         values[p], magnitudes[p], expected);
        }
        arena_free(it.arena);
    }
}

static void test_ranges_agree(void **state) {
    (void)state;
    Setup it = setup(TENSORS("f64"), "AA(i, j) = D(i, k) * E(k, j) + b(i)");
    double *whole = arena_array(it.arena, double, I *J), *part = arena_array(it.arena, double, I *J);
    run(&it, whole, NULL);
    for (int64_t first = 0; first < I * J; first += 41) {
        int64_t last = first + 41 < I * J ? first + 41 : I * J;
        assert_true(
            evaluator_run(it.evaluator, (const void *const *)it.arrays, first, last, part + first, NULL));
    }
    assert_true(evaluator_run(it.evaluator, (const void *const *)it.arrays, 7, 7, part, NULL));
    assert_memory_equal(whole, part, sizeof(double) * I * J);
    arena_free(it.arena);
}

// Sums of many small numbers beside a large one: plain summation loses all of them.
static void test_sums_are_compensated(void **state) {
    (void)state;
    Setup it = setup("tensor a: f64; tensor b(100001): f64\n", "a = b(i)");
    double *b = it.arrays[1], value, magnitude;
    b[0] = 0x1p53;
    for (int i = 1; i <= 100000; i++)
        b[i] = 1;
    run(&it, &value, &magnitude);
    assert_true(value == 0x1p53 + 100000);
    arena_free(it.arena);
}

static void test_complex(void **state) {
    (void)state;
    Setup it = setup(TENSORS("c64"), "A(i) = b(i) * D(i, k) / d(k) - e");
    const float *b = array(&it, "b"), *D = array(&it, "D"), *d = array(&it, "d"), *e = array(&it, "e");
    double values[2 * I];
    assert_int_equal(evaluator_kind(it.evaluator), WIDE_COMPLEX);
    run(&it, values, NULL);
    for (int i = 0; i < I; i++) {
        double re = -(double)e[0], im = -(double)e[1];
        for (int k = 0; k < K; k++) {
            const float *x = &D[2 * (i * K + k)], *y = &d[2 * k];
            double product_re = (double)(b[2 * i] * x[0] - b[2 * i + 1] * x[1]);
            double product_im = (double)(b[2 * i] * x[1] + b[2 * i + 1] * x[0]);
            double square = (double)(y[0] * y[0] + y[1] * y[1]);
            re += (product_re * (double)y[0] + product_im * (double)y[1]) / square;
            im += (product_im * (double)y[0] - product_re * (double)y[1]) / square;
        }
        assert_true(fabs(values[2 * i] - re) < 1e-9 && fabs(values[2 * i + 1] - im) < 1e-9);
    }
    arena_free(it.arena);
}

// A value that is real although the statement computes with complex numbers.
static void test_complex_made_real(void **state) {
    (void)state;
    Setup it = setup("tensor a: f64; tensor z(3): c64; tensor x(3): f64\n", "a = abs(z(i)) * sqrt(x(i))");
    const float *z = it.arrays[1];
    double *x = it.arrays[2], value[2], magnitude, sum = 0;
    for (int i = 0; i < 3; i++) {
        x[i] = 1 + i;
        sum += hypot((double)z[2 * i], (double)z[2 * i + 1]) * sqrt(x[i]);
    }
    assert_int_equal(evaluator_kind(it.evaluator), WIDE_COMPLEX);
    run(&it, value, &magnitude);
    assert_true(fabs(value[0] - sum) < 1e-15 * sum && value[1] == 0);
    const double wrong = value[0] * (1 + 1e-9);
    assert_true(evaluator_error(it.evaluator, &value[0], value, &magnitude, 1) == 0);
    assert_true(evaluator_error(it.evaluator, &wrong, value, &magnitude, 1) >
                evaluator_tolerance(it.evaluator));
    // The root of a negative number is not a number where only other parts are complex.
    x[1] = -1;
    run(&it, value, &magnitude);
    assert_true(isnan(value[0]));
    arena_free(it.arena);
}

// A magnitude says how far rounding of what a function is called with moves its result.
static void test_magnitudes_of_functions(void **state) {
    (void)state;
    static const struct {
        const char *statement;
        double b, c, magnitude;
    } rows[] = {
        {"a = sqrt(b)", 4, 0, 2 + 1},
        {"a = sqrt(b - c)", 5, 1, 2 + 6.0 / 4},
        {"a = exp(b)", 3, 0, 0},
        {"a = log(b)", 1, 0, 1},
        {"a = log(b - c)", 1001, 1000, 2001},
        {"a = abs(b - c)", 1001, 1000, 1 + 2001},
        {"a = pow(b, 2)", -3, 0, 9 + 18},
        {"a = min(b, c)", 2, 7, 2 + 2},
        {"a = max(b, c)", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Setup it = setup("tensor a: f64; tensor b: f64; tensor c: f64\n", rows[i].statement);
        *(double *)it.arrays[1] = rows[i].b;
        *(double *)it.arrays[2] = rows[i].c;
        double value, magnitude, expected = rows[i].magnitude;
        if (strstr(rows[i].statement, "exp"))
            expected = exp(3) * (1 + 3);
        run(&it, &value, &magnitude);
        if (fabs(magnitude - expected) > 1e-3 * expected)
            fail_msg("%s: magnitude %g, expected %g", rows[i].statement, magnitude, expected);
        arena_free(it.arena);
    }
}

static int64_t one_integer(const char *declarations, const char *statement, const int64_t *inputs, int count,
                           bool narrow) {
    Setup it = setup(declarations, statement);
    for (int i = 0; i < count; i++) {
        if (narrow)
            *(int32_t *)it.arrays[i + 1] = (int32_t)inputs[i];
        else
            *(int64_t *)it.arrays[i + 1] = inputs[i];
    }
    int64_t value;
    assert_int_equal(evaluator_kind(it.evaluator), WIDE_INTEGER);
    run(&it, &value, NULL);
    arena_free(it.arena);
    return value;
}

static void test_integers_wrap_and_truncate(void **state) {
    (void)state;
    static const char narrow[] = "tensor a: i32; tensor x: i32; tensor y: i32\n";
    static const char wide[] = "tensor a: i64; tensor x: i64; tensor y: i64\n";
    const int64_t large[] = {INT32_MAX, INT32_MAX}, least[] = {INT32_MIN, -1}, by_zero[] = {5, 0};
    const int64_t signs[] = {-7, 2}, largest[] = {INT64_MAX, 1}, lowest[] = {INT64_MIN, -1};
    assert_int_equal(one_integer(narrow, "a = x + y", large, 2, true), -2);
    assert_int_equal(one_integer(narrow, "a = x * y", large, 2, true), 1);
    assert_int_equal(one_integer(narrow, "a = x / y", least, 2, true), INT32_MIN);
    assert_int_equal(one_integer(narrow, "a = x / y", by_zero, 2, true), 0);
    assert_int_equal(one_integer(narrow, "a = x / y", signs, 2, true), -3);
    assert_int_equal(one_integer(narrow, "a = -x / y * 2", signs, 2, true), 6);
    assert_int_equal(one_integer(narrow, "a = abs(x) + min(x, y)", least, 2, true), 0);
    assert_int_equal(one_integer(narrow, "a = max(x, y) * abs(x)", signs, 2, true), 14);
    assert_int_equal(one_integer(wide, "a = abs(x)", lowest, 2, false), INT64_MIN);
    assert_int_equal(one_integer(wide, "a = x + y", largest, 2, false), INT64_MIN);
    assert_int_equal(one_integer(wide, "a = x / y", lowest, 2, false), INT64_MIN);
}

// The terms that are summed over the same variables are divided together.
static void test_numerators_are_divided_together(void **state) {
    (void)state;
    Setup it = setup("tensor a: i64; tensor b: i64; tensor d: i64; tensor e: i64; tensor B(2): i64\n",
                     "a = (b + d) / e + B(j) / e");
    *(int64_t *)it.arrays[1] = 3;
    *(int64_t *)it.arrays[2] = 3;
    *(int64_t *)it.arrays[3] = 4;
    ((int64_t *)it.arrays[4])[0] = 5;
    ((int64_t *)it.arrays[4])[1] = 6;
    int64_t value;
    run(&it, &value, NULL);
    assert_int_equal(value, (3 + 3) / 4 + 5 / 4 + 6 / 4);
    arena_free(it.arena);
}

static void test_empty(void **state) {
    (void)state;
    Setup it = setup("tensor A(3): f64; tensor B(3, 0): f64; tensor c(0): f64\n", "A(i) = B(i, j) * c(j)");
    double values[3] = {1, 1, 1}, magnitudes[3] = {1, 1, 1};
    run(&it, values, magnitudes);
    for (int i = 0; i < 3; i++)
        assert_true(values[i] == 0 && magnitudes[i] == 0);
    arena_free(it.arena);
    it = setup("tensor A(0): f64; tensor b(0): f64\n", "A(i) = b(i)");
    assert_int_equal(evaluator_count(it.evaluator), 0);
    run(&it, values, magnitudes);
    arena_free(it.arena);
}

static void test_errors(void **state) {
    (void)state;
    Setup it = setup("tensor A(1): f64; tensor B(1, 10): f64\n", "A(i) = B(i, j)");
    static const struct {
        double got, value, magnitude, error;
    } rows[] = {
        {1, 1, 1, 0},
        {1.5, 1, 2, 0.25},
        {-1, 1, 8, 0.25},
        {0, 0, 0, 0},
        {1, 0, 0, INFINITY},
        {NAN, 1, 1, INFINITY},
        {1, NAN, 1, INFINITY},
        {NAN, NAN, NAN, 0},
        {INFINITY, INFINITY, INFINITY, 0},
        {INFINITY, -INFINITY, INFINITY, INFINITY},
        {INFINITY, 1, 1, INFINITY},
        {INFINITY, NAN, 1, INFINITY},
        {NAN, INFINITY, 1, INFINITY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(evaluator_error(it.evaluator, &rows[i].got, &rows[i].value, &rows[i].magnitude, 1) ==
                    rows[i].error);
    double tolerance = evaluator_tolerance(it.evaluator);
    assert_true(tolerance >= 10 * 0x1p-53 && tolerance <= 20 * 0x1p-53);
    // Workspaces change the order of products: then an infinity may be in place of NaN.
    it.evaluator = evaluator_create(it.arena, it.program->statements[0].assignment, true,
                                    program_param_values(it.program, it.arena));
    const double infinite = -INFINITY, nan = NAN, one = 1;
    assert_true(evaluator_error(it.evaluator, &infinite, &nan, &one, 1) == 0);
    assert_true(evaluator_error(it.evaluator, &nan, &infinite, &one, 1) == INFINITY);
    assert_true(evaluator_error(it.evaluator, &one, &nan, &one, 1) == INFINITY);
    arena_free(it.arena);
}

static void test_integer_errors(void **state) {
    (void)state;
    Setup it = setup("tensor A(2): i32; tensor b(2): i32\n", "A(i) = b(i)");
    const int32_t got[] = {-1, 5};
    const int64_t same[] = {-1, 5}, other[] = {-1, 6};
    const double magnitudes[] = {0, 0};
    assert_true(evaluator_error(it.evaluator, got, same, magnitudes, 2) == 0);
    assert_true(evaluator_error(it.evaluator, got, other, magnitudes, 2) == INFINITY);
    assert_true(evaluator_tolerance(it.evaluator) == 0);
    arena_free(it.arena);
}

// A sum in 32 bits is right within the tolerance, and a sum with one summand left out is not.
static void test_tolerance_tells_right_from_wrong(void **state) {
    (void)state;
    Setup it = setup("tensor a: f32; tensor b(1000): f32; tensor c(1000): f32\n", "a = b(i) * c(i)");
    const float *b = it.arrays[1], *c = it.arrays[2];
    float sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += b[i] * c[i] / 3;
    sum *= 3;
    float wrong = sum - b[999] * c[999];
    double value, magnitude;
    run(&it, &value, &magnitude);
    assert_true(evaluator_error(it.evaluator, &sum, &value, &magnitude, 1) <=
                evaluator_tolerance(it.evaluator));
    assert_true(evaluator_error(it.evaluator, &wrong, &value, &magnitude, 1) >
                evaluator_tolerance(it.evaluator));
    arena_free(it.arena);
}

// A long sum in 32 bits without a hundredth of its summands is wrong, although as many roundings could add
// up to more than that.
static void test_tolerance_of_long_sums(void **state) {
    (void)state;
    Setup it = setup("tensor a: f32; tensor b(400000): f32\n", "a = b(i) * b(i)");
    const float *b = it.arrays[1];
    float sum = 0, wrong = 0;
    for (int i = 0; i < 400000; i++) {
        sum += b[i] * b[i];
        wrong += i % 100 ? b[i] * b[i] : 0;
    }
    double value, magnitude;
    run(&it, &value, &magnitude);
    assert_true(evaluator_error(it.evaluator, &sum, &value, &magnitude, 1) <=
                evaluator_tolerance(it.evaluator));
    assert_true(evaluator_error(it.evaluator, &wrong, &value, &magnitude, 1) >
                evaluator_tolerance(it.evaluator));
    arena_free(it.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_ranges_agree),
        cmocka_unit_test(test_sums_are_compensated),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_complex_made_real),
        cmocka_unit_test(test_magnitudes_of_functions),
        cmocka_unit_test(test_integers_wrap_and_truncate),
        cmocka_unit_test(test_numerators_are_divided_together),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_integer_errors),
        cmocka_unit_test(test_tolerance_tells_right_from_wrong),
        cmocka_unit_test(test_tolerance_of_long_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
