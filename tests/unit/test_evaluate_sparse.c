// SPDX-License-Identifier: BSD-3-Clause
// The reference evaluator on entries, beside the one on arrays: the same statements, on tensors that are
// declared sparse and dense.
#include "index/evaluate_sparse.h"
#include "lang/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_TENSORS = 12, MAX_ELEMENTS = 256 };

// A tensor with both kinds of data: all elements, and those that it stores.
typedef struct {
    double elements[MAX_ELEMENTS];
    bool stored[MAX_ELEMENTS];
    double values[MAX_ELEMENTS];
    int64_t coordinates[MAX_ORDER][MAX_ELEMENTS];
    int64_t count;
} Data;

typedef struct {
    Arena *arena;
    const Program *program;
    Evaluator *evaluator;
} Side;

static Side side(Arena *arena, const char *text) {
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", text});
    const Program *program = program_parse(arena, (Source){"test", text}, NULL, 0, 0, diagnostics);
    if (!program) {
        Text message = text_create(arena);
        diagnostics_print(diagnostics, &message);
        fail_msg("%s", text_string(&message));
    }
    return (Side){arena, program,
                  evaluator_create(arena, program->statements[0].assignment, false,
                                   program_param_values(program, arena))};
}

static int64_t extent_of(const Side *side_of, const Tensor *tensor, int mode) {
    int64_t value = 0;
    int_eval(tensor->extents[mode], program_param_values(side_of->program, side_of->arena), NULL, &value);
    return value;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

// `fill` of 8 elements are stored, in the levels of the tensor; at random places of the list.
static void draw(const Side *sparse, const Tensor *tensor, uint64_t fill, uint64_t *random, Data *data) {
    int64_t extents[MAX_ORDER], count = 1;
    for (int d = 0; d < tensor->order; d++)
        count *= extents[d] = extent_of(sparse, tensor, d);
    assert_true(count <= MAX_ELEMENTS);
    data->count = 0;
    for (int64_t p = 0; p < count; p++) {
        data->stored[p] = !tensor_is_sparse(tensor) || next_random(random) % 8 < fill;
        data->elements[p] = data->stored[p] ? (double)(next_random(random) % 1000 + 1) / 256 : 0;
        if (!data->stored[p])
            continue;
        const int64_t at = (int64_t)(next_random(random) % (uint64_t)(data->count + 1));
        data->values[data->count] = data->values[at];
        data->values[at] = data->elements[p];
        int64_t rest = p;
        for (int d = tensor->order - 1; d >= 0; d--) {
            data->coordinates[d][data->count] = data->coordinates[d][at];
            data->coordinates[d][at] = rest % extents[d];
            rest /= extents[d];
        }
        data->count++;
    }
}

static EvaluatorInput input_of(const Tensor *tensor, const Data *data) {
    EvaluatorInput input = {.values = tensor_is_sparse(tensor) ? data->values : data->elements,
                            .count = data->count};
    for (int d = 0; d < tensor->order; d++)
        input.coordinates[d] = data->coordinates[d];
    return input;
}

// Element `p` of a result with sparse or dense levels; *stored: whether it has one.
static double result_at(const Side *sparse, const Tensor *target, const Evaluated *result, int64_t p,
                        bool *stored) {
    *stored = true;
    if (!tensor_is_sparse(target))
        return ((const double *)result->values)[p];
    for (int64_t e = 0; e < result->count; e++) {
        int64_t position = 0;
        for (int d = 0; d < target->order; d++)
            position = position * extent_of(sparse, target, d) + result->coordinates[d][e];
        assert_true(e == 0 || position >= 0);
        if (position == p)
            return ((const double *)result->values)[e];
    }
    *stored = false;
    return 0;
}

static const struct {
    const char *statement;
    bool positive; // of positive operands: so an element is stored exactly where it is not zero
} statements[] = {
    {"y(i) = B(i, j) * x(j)", true},
    {"x(j) = B(i, j) * z(i)", true},
    {"y(i) += B(i, j) * x(j)", true},
    {"a = B(i, j) * C(i, j)", true},
    {"a = S(i, i)", true},
    {"y(i) = exp(B(i, j)) + x(j)", true},
    {"D(i, j) = B(i, j) / C(i, j)", false},
    {"D(i, j) = B(i, j) - C(i, j) * x(j)", false},
    {"A(i, j) = B(i, j) + C(i, j)", true},
    {"A(i, j) = B(i, j) * C(i, j) * x(j)", true},
    {"A(i, j) += B(i, j) * z(i)", true},
    {"A(i, j) = S(i, k) * B(k, j)", true},
    {"A(i, j) = S(i, k) * S(k, l) * B(l, j) + C(i, j)", true},
    {"A(i, j) = B(i, j) * E(i, k) * F(k, j)", true},
    {"A(i, j) = -B(i, j) + min(C(i, j), B(i, j)) - sqrt(C(i, j)) / x(j)", false},
    {"A(i, j) = max(B(i, j), C(i, j)) * 2 + pow(B(i, j), 2) + max(0, C(i, j))", true},
    {"A(i, j) = exp(B(i, j)) * C(i, j)", true},
    {"A(i, j) = (B(i, j) + 1) * (C(i, j) + B(i, j))", true},
    {"A(i, j) = u(i) * x(j)", true},
    {"A(i, j) = u(i)", true},
    {"A(i, j) = T(i, j, k) * v(k)", true},
    {"A(i, j) = T(i, j, k) * v(k) + B(i, j)", true},
    {"E(i, l) = T(i, j, k) * F(l, j) * G(k, l)", true},
    {"S(i, k) = S2(k, i) + S2(i, k)", true},
    {"u(i) = S(i, i) * S(i, k)", true},
    {"T(i, j, k) = B(i, j) * v(k)", true},
    {"T(i, j, k) = W(k, j, i)", true},
    {"a = T(i, j, k) * W(k, j, i)", true},
    {"y(i) = max({j}, -B(i, j))", true},
    {"y(i) = min({j}, B(i, j) * x(j) - C(i, j))", true},
    {"y(i) = prod({j}, C(i, j))", true},
    {"y(i) max= -B(i, j) * x(j)", true},
    {"z(i) *= S(i, i)", true},
    {"a = x(j) * max({i}, -B(i, j)) + min({i, j}, C(i, j))", true},
    {"u(i) = sum({j}, B(i, j))", true},
    {"y(i) = sum({j}, B(i, j) - z(i))", true},
    {"A(i, j) += sum({k}, S(i, k) * B(k, j))", true},
    {"u(i) = sum({j}, sum({k}, T(i, j, k)))", true},
};

// A statement, with each tensor declared with levels, a list by tensor.
static const char *program_text(Arena *arena, const char *const *levels, const char *statement) {
    return arena_printf(arena,
                        "tensor A(4, 5): f64%s\ntensor B(4, 5): f64%s\ntensor C(4, 5): f64%s\n"
                        "tensor S(4, 4): f64%s\ntensor S2(4, 4): f64%s\ntensor u(4): f64%s\n"
                        "tensor T(4, 5, 3): f64%s\ntensor W(3, 5, 4): f64%s\ntensor v(3): f64%s\n"
                        "tensor x(5): f64\ntensor y(4): f64\ntensor z(4): f64\n"
                        "tensor a: f64\ntensor D(4, 5): f64\ntensor E(4, 4): f64\n"
                        "tensor F(4, 5): f64\ntensor G(3, 4): f64\n%s\n",
                        levels[0], levels[1], levels[2], levels[3], levels[4], levels[5], levels[6],
                        levels[7], levels[8], statement);
}

enum { SPARSE_TENSORS = 9, ALL_TENSORS = 17 };

static void compare(const char *statement, bool positive, const char *const *levels, uint64_t seed) {
    static const char *const dense[SPARSE_TENSORS] = {"", "", "", "", "", "", "", "", ""};
    static Data data[ALL_TENSORS];
    Arena *arena = arena_create();
    const Side sparse = side(arena, program_text(arena, levels, statement));
    const Side plain = side(arena, program_text(arena, dense, statement));
    EvaluatorInput inputs[ALL_TENSORS];
    const void *arrays[ALL_TENSORS];
    uint64_t random = seed;
    for (int t = 0; t < sparse.program->tensor_count; t++) {
        draw(&sparse, sparse.program->tensors[t], seed % 9, &random, &data[t]);
        inputs[t] = input_of(sparse.program->tensors[t], &data[t]);
        arrays[t] = data[t].elements;
    }
    const Tensor *target = sparse.program->statements[0].assignment->lhs->tensor;
    const int64_t count = evaluator_count(plain.evaluator);
    double expected[MAX_ELEMENTS], magnitudes[MAX_ELEMENTS];
    Evaluated result;
    assert_true(evaluator_run(plain.evaluator, arrays, 0, count, expected, magnitudes));
    assert_true(evaluator_run_sparse(sparse.evaluator, inputs, &result));
    for (int64_t p = 0; p < count; p++) {
        bool stored;
        const double value = result_at(&sparse, target, &result, p, &stored);
        const bool equal = value == expected[p] || (isnan(value) && isnan(expected[p])) ||
                           fabs(value - expected[p]) <= 1e-13 * magnitudes[p];
        if (!equal || (positive && tensor_is_sparse(target) &&
                       target->levels[target->order - 1].format != level_type_dense().format &&
                       stored != (expected[p] > 0)))
            fail_msg("%s, levels %s..., seed %d, element %d: %g instead of %g, %s", statement, levels[0],
                     (int)seed, (int)p, value, expected[p], stored ? "stored" : "not stored");
    }
    if (tensor_is_sparse(target)) {
        // What it gives is what it should give.
        EvaluatorInput got = {.values = result.values, .count = result.count};
        memcpy(got.coordinates, result.coordinates, sizeof result.coordinates);
        EntriesError error;
        assert_true(evaluated_compare(sparse.evaluator, &result, &got, &error));
        assert_true(error.error == 0 && error.missing == 0 && error.superfluous == 0);
        if (result.count > 0) {
            got.count--;
            assert_true(evaluated_compare(sparse.evaluator, &result, &got, &error));
            assert_true(error.missing == 1 && error.superfluous == 0);
            assert_int_equal(error.first[0], result.coordinates[0][got.count]);
            Evaluated shorter = result;
            shorter.count--;
            got.count++;
            assert_true(evaluated_compare(sparse.evaluator, &shorter, &got, &error));
            assert_true(error.missing == 0 && error.superfluous == 1);
        }
    }
    evaluated_free(&result);
    arena_free(arena);
}

static void test_statements(void **state) {
    (void)state;
    static const char *const levels[][SPARSE_TENSORS] = {
        {", csr", ", csr", ", csr", ", csr", ", csr", ", coo", ", csf", ", csf", ", csf"},
        {", coo", ", csc", ", dcsr", ", csc", ", coo", ", csf", ", coo", ", csf, order(1, 2, 0)", ""},
        {", {compressed, dense}", ", csr", "", ", dcsr", ", csr", ", csf", ", {compressed, dense, dense}",
         ", {dense, compressed, dense}", ", coo"},
    };
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
            for (uint64_t seed = 0; seed < 18; seed++) {
                // With dense C, some of them have no sparse result.
                if (l == 2 && strstr(statements[s].statement, "A(") == statements[s].statement &&
                    strstr(statements[s].statement, "C("))
                    continue;
                compare(statements[s].statement, statements[s].positive, levels[l], seed);
            }
}

// Runs a statement on entries of A, the tensor that is declared first, and of no others.
static Evaluated run(Arena *arena, const char *text, const EvaluatorInput *inputs) {
    const Side it = side(arena, text);
    Evaluated result;
    assert_true(evaluator_run_sparse(it.evaluator, inputs, &result));
    return result;
}

// Extents whose product does not fit into 64 bits, and coordinates at their ends.
static void test_large_extents(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t last = ((int64_t)1 << 62) - 1;
    const int64_t rows[] = {last, 0, last}, columns[] = {0, last, last};
    const double values[] = {2, 3, 5}, x = 7;
    const EvaluatorInput B = {values, 3, {rows, columns}}, v = {&x, 1, {&last}};
    Evaluated result = run(arena,
                           "param n = 4611686018427387904\ntensor B(n, n): f64, coo\n"
                           "tensor v(n): f64, coo\ntensor w(n): f64, csf\nw(i) = B(i, j) * v(j)\n",
                           (EvaluatorInput[]){B, v, {0}});
    assert_int_equal(result.count, 2);
    assert_int_equal(result.coordinates[0][0], 0);
    assert_int_equal(result.coordinates[0][1], last);
    assert_true(((double *)result.values)[0] == 21 && ((double *)result.values)[1] == 35);
    assert_true(result.summands == 1);
    evaluated_free(&result);
    result = run(arena,
                 "param n = 4611686018427387904\ntensor B(n, n): f64, coo\n"
                 "tensor A(n, n): f64, dcsr\nA(i, j) = B(i, k) * B(k, j) - B(j, i)\n",
                 (EvaluatorInput[]){B, {0}});
    // B * B has (0, 0), (0, last), (last, 0), (last, last); B transposed (0, last), (last, 0), (last, last).
    assert_int_equal(result.count, 4);
    const double expected[] = {6, 15 - 2, 10 - 3, 6 + 25 - 5};
    for (int e = 0; e < 4; e++)
        assert_true(((double *)result.values)[e] == expected[e]);
    assert_true(result.summands == 3);
    evaluated_free(&result);
    arena_free(arena);
}

// What cancels out stays stored, as do zeros; where an operand has no entry, infinity and NaN do not matter.
static void test_structure_is_independent_of_values(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t rows[] = {0, 1}, columns[] = {1, 1};
    const double values[] = {2, 0}, x[] = {INFINITY, 3, NAN};
    const EvaluatorInput B = {values, 2, {rows, columns}};
    Evaluated result =
        run(arena, "tensor B(2, 3): f64, csr\ntensor A(2, 3): f64, csr\nA(i, j) = B(i, j) - B(i, j)\n",
            (EvaluatorInput[]){B, {0}});
    assert_int_equal(result.count, 2);
    assert_true(((double *)result.values)[0] == 0 && ((double *)result.values)[1] == 0);
    evaluated_free(&result);
    result =
        run(arena, "tensor B(2, 3): f64, csr\ntensor x(3): f64\ntensor y(2): f64\ny(i) = B(i, j) * x(j)\n",
            (EvaluatorInput[]){B, {.values = x}, {0}});
    assert_true(((double *)result.values)[0] == 6 && ((double *)result.values)[1] == 0);
    evaluated_free(&result);
    // A sum over nothing, of a variable that indexes dense tensors only.
    result = run(arena,
                 "tensor B(2, 3): f64, csr\ntensor D(2, 0): f64\ntensor A(2, 3): f64, csr\n"
                 "A(i, j) = B(i, j) * D(i, k)\n",
                 (EvaluatorInput[]){B, {0}, {0}});
    assert_int_equal(result.count, 2);
    assert_true(((double *)result.values)[0] == 0);
    evaluated_free(&result);
    arena_free(arena);
}

static void test_integers_and_complex(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t rows[] = {0, 1, 1}, columns[] = {1, 1, 0};
    const int32_t whole[] = {INT32_MAX, 7, -3}, divisor[] = {2, 0, 2};
    Evaluated result =
        run(arena,
            "tensor B(2, 2): i32, coo\ntensor C(2, 2): i32, csr\ntensor A(2, 2): i32, csr\n"
            "A(i, j) = B(i, j) / C(i, j) + B(i, j) + B(i, j)\n",
            (EvaluatorInput[]){{whole, 3, {rows, columns}}, {divisor, 2, {rows, columns}}, {0}});
    assert_int_equal(result.count, 3);
    const int64_t *values = result.values;
    assert_int_equal(values[0], INT32_MAX / 2 - 2);
    assert_int_equal(values[1], -6);
    assert_int_equal(values[2], 14);
    evaluated_free(&result);
    // The maximum with a number that is 1 in integers, as quotients of these are truncated, and 0 otherwise.
    result =
        run(arena, "tensor B(2, 2): i32, coo\ntensor A(2, 2): i32\nA(i, j) = max(B(i, j), 3 - 3 / 2 * 2)\n",
            (EvaluatorInput[]){{whole, 3, {rows, columns}}, {0}});
    values = result.values;
    assert_true(values[0] == 1 && values[1] == INT32_MAX && values[2] == 1 && values[3] == 7);
    evaluated_free(&result);
    const float parts[] = {1, 2, 3, -4, 0, 1};
    result = run(arena, "tensor B(2, 2): c64, coo\ntensor s: c64\ns = B(i, j) * B(i, j)\n",
                 (EvaluatorInput[]){{parts, 3, {rows, columns}}, {0}});
    const double *sum = result.values;
    assert_true(sum[0] == 1 - 4 + 9 - 16 - 1 && sum[1] == 4 - 24);
    evaluated_free(&result);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_large_extents),
        cmocka_unit_test(test_structure_is_independent_of_values),
        cmocka_unit_test(test_integers_and_complex),
    };
    return cmocka_run_group_tests_name("evaluate_sparse", tests, NULL, NULL);
}
