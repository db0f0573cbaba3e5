// SPDX-License-Identifier: BSD-3-Clause
// Emitted C: free of warnings with every compiler that is here, and right: it is run in this process, all
// processors one after the other, and compared with the reference evaluator.
#include "index/evaluate.h"
#include "io/piece.h"
#include "jit/jit.h"
#include "loop/names.h"
#include "pipeline/pipeline.h"
#include "runtime/contraction.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// A runtime of one process that holds whole tensors, spread out in memory: rows are padded, and views begin
// at coordinate 1, as any part of a tensor would.
enum { PADDING = 3, MAX_TENSORS = 64, MAX_TRANSFERS = 16, THREADS = 3 };

typedef struct {
    const Tensor *tensor;
    int64_t extents[MAX_ORDER], strides[MAX_ORDER]; // by mode
    int64_t count, padded_count;
    char *data;  // with padding
    char *dense; // row-major in the order of the modes, for the evaluator
} Whole;

struct distal_execution {
    const Spmd *spmd;
    Grid grid;
    const Whole *tensors; // by id
    int64_t coordinates[MAX_MACHINE_ORDER];
    bool started[MAX_TRANSFERS];
    char *copies[MAX_TRANSFERS][THREADS]; // of the threads that are at work, whole tensors; the first is NULL
    distal_view views[MAX_TRANSFERS];
    char *rows[MAX_TRANSFERS]; // row workspaces, THREADS of each
    void *space;               // for contractions
};

// One more than there are, which takes no part.
int64_t distal_processor_count(const distal_execution *execution) {
    return grid_size(&execution->grid) + 1;
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    return index < grid_size(&execution->grid);
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    distal_execution *changed = (distal_execution *)(uintptr_t)execution;
    if (distal_takes_part(execution, index))
        grid_coordinates(&execution->grid, index, changed->coordinates);
    else
        memset(changed->coordinates, 77, sizeof changed->coordinates);
    return execution->coordinates;
}

static const distal_view *view_of(distal_execution *execution, int transfer) {
    const Whole *whole = &execution->tensors[execution->spmd->transfers[transfer].access->tensor->id];
    distal_view *view = &execution->views[transfer];
    *view = (distal_view){.values = whole->count ? whole->data : NULL};
    for (int m = 0; m < whole->tensor->order && view->values; m++) {
        view->lo[m] = 1;
        view->stride[m] = whole->strides[m];
        view->values =
            (char *)view->values + whole->strides[m] * (int64_t)type_info(whole->tensor->type)->size;
    }
    return view;
}

void distal_start(distal_execution *execution, int transfer) {
    assert_false(execution->started[transfer]);
    execution->started[transfer] = true;
}

void distal_start_next(distal_execution *execution, int transfer) {
    assert_false(execution->started[transfer]);
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    assert_true(execution->started[transfer]);
    execution->started[transfer] = false;
    return view_of(execution, transfer);
}

const distal_view *distal_fetch(distal_execution *execution, int transfer) {
    assert_false(execution->started[transfer]);
    return view_of(execution, transfer);
}

const distal_view *distal_accumulate(distal_execution *execution, int transfer) {
    return view_of(execution, transfer);
}

void distal_reduce(distal_execution *execution, int transfer) {
    assert_int_equal(execution->spmd->transfers[transfer].kind, TRANSFER_REDUCE);
}

distal_contraction_space distal_space(const distal_execution *execution, int thread, int team) {
    assert_non_null(execution);
    return contraction_part(execution->space, THREADS, thread, team);
}

static size_t row_size(const distal_execution *execution, int workspace) {
    const Whole *row = &execution->tensors[execution->spmd->rows[workspace].tensor->id];
    return (size_t)row->count * type_info(row->tensor->type)->size;
}

int distal_workspace_threads(const distal_execution *execution) {
    (void)execution;
    return THREADS;
}

void *distal_workspace(const distal_execution *execution, int workspace, int thread) {
    assert_in_range(workspace, 0, execution->spmd->row_count - 1);
    assert_in_range(thread, 0, THREADS - 1);
    return execution->rows[workspace] + (size_t)thread * row_size(execution, workspace);
}

int distal_thread_count(const distal_execution *execution, int transfer, int64_t work) {
    assert_int_equal(execution->spmd->transfers[transfer].kind, TRANSFER_REDUCE);
    assert_true(execution->spmd->transfers[transfer].copy_limit > 0);
    return work > 0 ? THREADS : 1;
}

static const Whole *written(const distal_execution *execution, int transfer) {
    return &execution->tensors[execution->spmd->transfers[transfer].access->tensor->id];
}

void *distal_thread_copy(distal_execution *execution, int transfer, int thread) {
    const Whole *whole = written(execution, transfer);
    char *data = execution->views[transfer].values;
    if (thread == 0)
        return data;
    char *copy = calloc((size_t)whole->padded_count, type_info(whole->tensor->type)->size);
    execution->copies[transfer][thread] = copy;
    return copy + (data - whole->data);
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    const Whole *whole = written(execution, transfer);
    const Piece to = {.rect = {.order = 1, .hi = {whole->padded_count}},
                      .stride = {1},
                      .type = whole->tensor->type,
                      .data = whole->data};
    for (int t = 1; t < THREADS; t++) {
        Piece from = to;
        from.data = execution->copies[transfer][t];
        if (from.data)
            piece_reduce(REDUCER_SUM, &to, &from, &to.rect);
        free(from.data);
        execution->copies[transfer][t] = NULL;
    }
}

static double random_unit(uint64_t *seed) {
    *seed += 0x9E3779B97F4A7C15U;
    uint64_t z = (*seed ^ *seed >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void set_element(void *element, ElementType type, double re, double im) {
    switch (type) {
    case TYPE_I32: // with zeros among them, and large enough for products to wrap around
        *(int32_t *)element = re < 0.1 ? 0 : (int32_t)((re - 0.5) * 4e9);
        return;
    case TYPE_I64:
        *(int64_t *)element = re < 0.1 ? 0 : (int64_t)((re - 0.5) * 1.8e19);
        return;
    case TYPE_F32:
        *(float *)element = (float)(re + 0.25);
        return;
    case TYPE_F64:
        *(double *)element = re + 0.25;
        return;
    case TYPE_C64:
        ((float *)element)[0] = (float)(re + 0.25), ((float *)element)[1] = (float)im;
        return;
    case TYPE_C128:
        ((double *)element)[0] = re + 0.25, ((double *)element)[1] = im;
        return;
    }
}

// Copies between the padded and the dense form of a tensor.
static void copy_elements(const Whole *whole, bool to_dense) {
    size_t size = type_info(whole->tensor->type)->size;
    for (int64_t p = 0; p < whole->count; p++) {
        int64_t rest = p, position = 0;
        for (int m = whole->tensor->order - 1; m >= 0; m--) {
            position += rest % whole->extents[m] * whole->strides[m];
            rest /= whole->extents[m];
        }
        char *padded = whole->data + (size_t)position * size, *dense = whole->dense + (size_t)p * size;
        memcpy(to_dense ? dense : padded, to_dense ? padded : dense, size);
    }
}

static Whole create_whole(const Tensor *tensor, const int64_t *params, Arena *arena) {
    Whole whole = {.tensor = tensor, .count = 1, .padded_count = 1};
    for (int m = 0; m < tensor->order; m++) {
        assert_true(int_eval(tensor->extents[m], params, NULL, &whole.extents[m]));
        whole.count *= whole.extents[m];
    }
    for (int l = tensor->order - 1; l >= 0; l--) {
        int m = tensor->mode_order[l];
        whole.strides[m] = whole.padded_count;
        whole.padded_count *= whole.extents[m] + PADDING;
    }
    size_t size = type_info(tensor->type)->size;
    whole.data = arena_alloc(arena, (size_t)whole.padded_count * size);
    whole.dense = arena_alloc(arena, (size_t)(whole.count + 1) * size);
    uint64_t seed = (uint64_t)tensor->id;
    for (int64_t p = 0; p < whole.count; p++) {
        double re = random_unit(&seed);
        set_element(whole.dense + (size_t)p * size, tensor->type, re, random_unit(&seed));
    }
    copy_elements(&whole, false);
    return whole;
}

static void check_statement(Pipeline *pipeline, const StatementPasses *passes, Whole *tensors) {
    Arena *arena = pipeline->arena;
    const Assignment *assignment = passes->statement->assignment;
    Whole *left = &tensors[assignment->lhs->tensor->id];
    Evaluator *evaluator =
        evaluator_create(arena, assignment, pipeline_reorders_products(passes), pipeline->params);
    const void *arrays[MAX_TENSORS];
    for (int t = 0; t < pipeline->program->tensor_count; t++)
        arrays[t] = tensors[t].dense;
    int64_t count = evaluator_count(evaluator);
    void *values = arena_alloc(arena, evaluator_value_size(evaluator) * (size_t)(count + 1));
    double *magnitudes = arena_array(arena, double, count + 1);
    assert_true(evaluator_run(evaluator, arrays, 0, count, values, magnitudes));

    if (!assignment->accumulate)
        memset(left->data, 0, (size_t)left->padded_count * type_info(left->tensor->type)->size);
    for (int64_t w = 0; w < pipeline->scheduler.workspaces.count; w++) {
        const Whole *workspace = &tensors[pipeline->scheduler.workspaces.items[w]->id];
        memset(workspace->data, 0,
               (size_t)workspace->padded_count * type_info(workspace->tensor->type)->size);
    }
    distal_execution execution = {
        .spmd = passes->spmd, .tensors = tensors, .space = malloc((size_t)contraction_space(THREADS))};
    execution.grid.order = passes->spmd->dim_count;
    for (int d = 0; d < passes->spmd->dim_count; d++)
        assert_true(
            int_eval(passes->spmd->dims[d].extent, pipeline->params, NULL, &execution.grid.extents[d]));
    assert_true(passes->spmd->transfer_count <= MAX_TRANSFERS);
    assert_true(passes->spmd->row_count <= MAX_TRANSFERS);
    for (int r = 0; r < passes->spmd->row_count; r++)
        execution.rows[r] = malloc(THREADS * row_size(&execution, r));
    Kernel kernel;
    if (!jit_load(pipeline->c_source, passes->function, &kernel, pipeline->diagnostics)) {
        Text text = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &text);
        fail_msg("%s", text_string(&text));
    }
    kernel.function(&execution, pipeline->params);
    jit_unload(&kernel);
    free(execution.space);
    for (int r = 0; r < passes->spmd->row_count; r++)
        free(execution.rows[r]);
    copy_elements(left, true);
    double error = evaluator_error(evaluator, left->dense, values, magnitudes, count);
    if (!(error <= evaluator_tolerance(evaluator)))
        fail_msg("'%s' is wrong by %g in:\n%s", left->tensor->name, error, pipeline->c_source);
}

static const char *compilers[2];
static int compiler_count;

// The program computed with code of every compiler; what was emitted for it, which the caller frees.
static char *check_program(const char *text, const ParamOverride *overrides, int override_count) {
    Arena *arena = arena_create();
    Pipeline *pipeline = pipeline_create(arena, (Source){"test", text}, overrides, override_count, 1);
    if (!pipeline_run(pipeline, PASS_C)) {
        Text why = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &why);
        fail_msg("%s", text_string(&why));
    }
    const Program *program = pipeline->program;
    const int workspaces = (int)pipeline->scheduler.workspaces.count;
    assert_true(program->tensor_count + workspaces <= MAX_TENSORS);
    for (int c = 0; c < compiler_count; c++) {
        setenv("DISTAL_CC", compilers[c], 1);
#ifdef __SANITIZE_ADDRESS__
        // LeakSanitizer does not survive a second OpenMP in the process.
        bool hit;
        double seconds;
        if (strcmp(compilers[c], "clang") == 0) {
            assert_true(jit_compile(pipeline->c_source, &hit, &seconds, pipeline->diagnostics));
            continue;
        }
#endif
        Whole tensors[MAX_TENSORS];
        for (int t = 0; t < program->tensor_count; t++)
            tensors[t] = create_whole(program->tensors[t], pipeline->params, arena);
        for (int w = 0; w < workspaces; w++)
            tensors[program->tensor_count + w] =
                create_whole(pipeline->scheduler.workspaces.items[w], pipeline->params, arena);
        for (int s = 0; s < pipeline->program->statement_count; s++)
            check_statement(pipeline, &pipeline->statements[s], tensors);
    }
    char *source = strdup(pipeline->c_source);
    arena_free(arena);
    return source;
}

// The same code with extents that divide nothing, that are smaller than the grid, and none at all. `n`, `m`,
// `k`, `l` are params of the program.
static void check_sizes(const char *text) {
    static const int64_t sizes[][4] = {{7, 5, 11, 3},  {8, 8, 8, 8}, {1, 2, 1, 1},
                                       {65, 3, 33, 2}, {0, 4, 3, 2}, {4, 3, 0, 2}};
    char *first = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const ParamOverride overrides[] = {
            {"n", sizes[i][0]}, {"m", sizes[i][1]}, {"nk", sizes[i][2]}, {"nl", sizes[i][3]}};
        char *source = check_program(text, overrides, 4);
        if (first)
            assert_string_equal(source, first);
        else
            first = strdup(source);
        free(source);
    }
    free(first);
}

static void check_once(const char *text) {
    free(check_program(text, NULL, 0));
}

#define MATRICES                                                                                             \
    "param n = 7, m = 5, nk = 11, nl = 3, gx = 2, gy = 2, gz = 2, chunk = 4\n"                               \
    "tensor A(n, m): f64\ntensor B(n, nk): f64\ntensor C(nk, m): f64\n"

static void test_matrix_multiply(void **state) {
    (void)state;
    check_sizes(MATRICES "machine M = grid(gx, gy)\n"
                         "A(i, j) = B(i, k) * C(k, j)\n"
                         "schedule A { distribute({i, j}, {io, jo}, {ii, ji}, M)\n split(k, ko, ki, chunk)\n"
                         "  reorder({ko, ii, ji, ki})\n communicate(A, jo)\n communicate({B, C}, ko)\n"
                         "  substitute({ii, ji, ki}, gemm) }\n");
    check_sizes(MATRICES "machine M = grid(gx, gy)\n"
                         "A(i, j) = B(i, k) * C(k, j)\n"
                         "schedule A { distribute({i, j}, {io, jo}, {ii, ji}, M)\n divide(k, ko, ki, gx)\n"
                         "  reorder({ko, ii, ji, ki})\n rotate(ko, {io, jo}, kos)\n communicate(A, jo)\n"
                         "  communicate({B, C}, kos)\n substitute({ii, ji, ki}, loops) }\n");
    check_sizes(MATRICES "machine M = grid(gx, gy, gz)\n"
                         "A(i, j) = B(i, k) * C(k, j)\n"
                         "schedule A { distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n"
                         "  communicate({A, B, C}, ko) }\n");
}

static void test_higher_order(void **state) {
    (void)state;
    check_sizes("param n = 7, m = 5, nk = 11, nl = 3, gx = 2, gy = 3, gz = 2\n"
                "machine M = grid(gx, gy, gz)\n"
                "machine L = grid(gx, gy)\n"
                "machine K = grid(gx)\n"
                "tensor A(n, nl): f64\ntensor B(n, m, nk): f64\ntensor C(m, nl): f64\ntensor D(nk, nl): f64\n"
                "tensor T(n, m): f64\ntensor c(nk): f64\ntensor a: f64\ntensor E(n, m, nl): f64\n"
                "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)\n"
                "T(i, j) = B(i, j, k) * c(k)\n"
                "a = B(i, j, k) * B(i, j, k)\n"
                "E(i, j, l) = B(i, j, k) * D(k, l)\n"
                "schedule A { distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n communicate({A, B, C, "
                "D}, ko) }\n"
                "schedule T { distribute({i, j}, {io, jo}, {ii, ji}, L) }\n"
                "schedule a { distribute({i, j}, {io, jo}, {ii, ji}, L) }\n"
                "schedule E { distribute({i}, {io}, {ii}, K) }\n");
}

// Diagonals, traces, transposes, sums of terms with their own reductions, +=, orders of storage.
static void test_index_notation(void **state) {
    (void)state;
    check_sizes("param n = 7, m = 5, nk = 11, nl = 3\n"
                "tensor S(n, n): f64\ntensor B(n, m): f64\ntensor b(m): f64\ntensor d(n): f64\n"
                "tensor F(n, m): f64, {dense, dense}, order(1, 0)\n"
                "tensor trace: f64\ntensor diagonal(n): f64\ntensor turned(m, n): f64\n"
                "tensor sums(n): f64\ntensor outer(n, m): f64\ntensor more(n, m): f64\ntensor whole: f64\n"
                "tensor square(n, n): f64\n"
                "trace = S(i, i)\n"
                "diagonal(i) = S(i, i) * d(i) - 2\n"
                "turned(j, i) = F(i, j) / 3 + B(i, j) * 0.5\n"
                "sums(i) = d(i) + B(i, j) * b(j) - -F(i, j)\n"
                "outer(i, j) = d(i) * b(j)\n"
                "more(i, j) += d(i) * b(j) * 2\n"
                "whole = b(j) * b(j) * d(i)\n"
                "square(i, j) = B(i, k) * F(j, k)\n");
}

// Three and more factors: workspaces by default where the sizes make them worth it.
static void test_products(void **state) {
    (void)state;
    static const int64_t sizes[] = {65, 7, 1, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const ParamOverride override = {"n", sizes[i]};
        free(check_program("param n = 20\n"
                           "tensor S(n, n): f64\ntensor B(n, n, n): f64\ntensor d(n): f64\n"
                           "tensor chain(n, n): f64\ntensor A(n, n): f64\ntensor v: f64\n"
                           "chain(i, l) = S(i, j) * S(j, k) * S(k, l)\n"
                           "chain(i, l) += S(i, j) * S(j, k) * S(k, l) - 2 * d(i) * S(i, j) * S(j, l)\n"
                           "A(i, l) = B(i, j, k) * S(j, l) * S(k, l)\n"
                           "v = d(i) * S(i, j) * S(j, k) * S(k, l) * d(l) - d(i) * S(i, j) * d(j)\n",
                           &override, 1));
    }
}

// Parts that are computed ahead: factors out of order, sums, functions, divisors, scalars, one after another.
static void test_workspaces(void **state) {
    (void)state;
    check_sizes(
        "param n = 7, m = 5, nk = 11, nl = 3, gx = 2, gy = 3\n"
        "machine M = grid(gx, gy)\n"
        "tensor A(n, nl): f64\ntensor B(n, m, nk): f64\ntensor C(m, nl): f64\ntensor D(nk, nl): f64\n"
        "tensor a(n): f64\ntensor b(n): f64\ntensor c(nk): f64\ntensor F(n, m): f64\ntensor s: f64\n"
        "A(i, p) = B(i, j, q) * C(j, p) * D(q, p)\n"
        "schedule A { precompute(D(q, p) * B(i, j, q), {i, j, p}, {i, j, p}, W1)\n"
        "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n substitute({ji, p, q}, gemm) }\n"
        "A(i, p) += B(i, j, q) * C(j, p) * 2 * D(q, p)\n"
        "schedule A { precompute(B(i, j, q) * D(q, p), {j, i, p}, {jw, iw, pw}, W2)\n"
        "  distribute(iw); distribute(i) }\n"
        "a(i) = b(i) + F(i, j) * F(i, j) / b(i) - F(i, j) * F(i, j) * c(q)\n"
        "schedule a { precompute(F(i, j) * F(i, j), {i}, {i}, W3); precompute(c(q), {}, {}, W4) }\n"
        "s = F(i, j) * (2 * F(i, j) + F(i, j)) * c(q) / max(abs(b(i)), 0.5)\n"
        "schedule s { precompute(c(q) * F(i, j), {i, j}, {i, j}, W5); precompute(c(q), {}, {}, W6)\n"
        "  precompute(F(i, j) + 2 * F(i, j), {i, j}, {x, y}, W7); precompute(abs(b(i)), {i}, {i}, W8) }\n");
}

static void test_library_calls(void **state) {
    (void)state;
    char *source = check_program(
        "param n = 9, m = 5, nk = 11, nl = 3\n"
        "tensor B(n, nk): f32\ntensor C(nk, m): f32\ntensor x(nk): f32\ntensor y(n): f32\ntensor s: f32\n"
        "tensor F(nk, n): c64\ntensor z(nk): c64\ntensor w(n): c64\n"
        "tensor P(nl, n, m): f32\ntensor Q(nl, n, nk): f32\n"
        "tensor R(n, nk): i64\ntensor T(nk, m): i64\n"
        "tensor A(n, m): f32\ntensor v(n): f32\ntensor O(n, nk): f32\ntensor dot(nl): c64\ntensor u(n): f32\n"
        "tensor U(n, m): i64\ntensor t(n): c64\n"
        "A(i, j) = -B(i, k) * C(k, j) * s / 3\n"
        "v(i) = B(i, k) * x(k)\n"
        "O(i, k) += y(i) * x(k)\n"
        "dot(i) = z(k) * z(k) * 2\n"
        "u(i) += s * y(i)\n"
        "P(a, i, j) = Q(a, i, k) * C(k, j)\n"
        "U(i, j) = R(i, k) * T(k, j)\n"
        "t(i) = F(k, i) * z(k) * w(i)\n"
        "schedule A { substitute({i, j, k}, gemm) }\n"
        "schedule v { substitute({i, k}, gemv) }\n"
        "schedule O { substitute({i, k}, ger) }\n"
        "schedule dot { substitute({k}, dot) }\n"
        "schedule u { substitute({i}, axpy) }\n"
        "schedule P { substitute({i, j, k}, gemm) }\n",
        NULL, 0);
    static const char *const calls[] = {"distal_gemm_f32(n, m, nk, ", "distal_gemv_f32(n, nk, 1, ",
                                        "distal_ger_f32(n, nk, 1, ",  "distal_dot_c64(nk, ",
                                        "distal_axpy_f32(n, s[0], ",  "distal_gemm_i64(n, m, nk, 1, "};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_non_null(strstr(source, calls[i]));
    free(source);
}

static void test_element_types(void **state) {
    (void)state;
    check_once("param n = 37, m = 5\n"
               "tensor i(n, m): i32\ntensor l(n, m): i64\ntensor f(n, m): f32\ntensor d(n, m): f64\n"
               "tensor c(n, m): c64\ntensor z(n, m): c128\n"
               "tensor i1(n, m): i32\ntensor i2(n): i32\ntensor l1(n, m): i64\ntensor l2: i64\n"
               "tensor f1(n, m): f32\ntensor d1(n, m): f64\ntensor d2(n): f64\ntensor c1(n, m): c64\n"
               "tensor c2: c64\ntensor z1(n, m): c128\ntensor z2(n): c128\n"
               "i1(x, y) = i(x, y) * i(x, y) / i(x, y) - 7 / i(x, y)\n"
               "i2(x) = i(x, y) * 3 + -i(x, y)\n"
               "l1(x, y) = l(x, y) / i(x, y) + 5000000000 * i(x, y) - 100000 * 100000 * l(x, y)\n"
               "l2 = l(x, y) * l(x, y)\n"
               "f1(x, y) = f(x, y) * 2 + 0.1 / f(x, y) - 1e30 * f(x, y)\n"
               "d1(x, y) = f(x, y) * i(x, y) + d(x, y) / l(x, y) * 2\n"
               "d2(x) = d(x, y) - 1.5 * f(x, y) / 3\n"
               "c1(x, y) = c(x, y) * c(x, y) / c(x, y) * 2 - 0.5 * f(x, y)\n"
               "c2 = c(x, y) * c(x, y)\n"
               "z1(x, y) = z(x, y) * c(x, y) * d(x, y) / (z(x, y) + 3) - i(x, y)\n"
               "z2(x) = z(x, y) * z(x, y) * f(x, y) - 2\n");
}

// Every function in every type that it has, on its own and in sums, inside one another, and as a factor of a
// call.
static void test_functions(void **state) {
    (void)state;
    char *source = check_program(
        "param n = 37, m = 5\n"
        "tensor i(n, m): i32\ntensor l(n, m): i64\ntensor f(n, m): f32\ntensor d(n, m): f64\n"
        "tensor c(n, m): c64\ntensor z(n, m): c128\ntensor s: f64\n"
        "tensor i1(n, m): i32\ntensor l1(n, m): i64\ntensor l2: i64\ntensor f1(n, m): f32\n"
        "tensor f2(n): f32\ntensor d1(n, m): f64\ntensor d2(n): f64\ntensor d3: f64\n"
        "tensor c1(n, m): c64\ntensor c2(m): c64\ntensor z1(n, m): c128\ntensor z2: c128\n"
        "tensor d4(n, n): f64\n"
        "i1(x, y) = abs(i(x, y)) - min(i(x, y), 7) * max(-i(x, y), 3)\n"
        "l1(x, y) = max(l(x, y), i(x, y)) + abs(min(l(x, y), 5000000000))\n"
        "l2 = abs(l(x, y)) * min(2, 3)\n"
        "f1(x, y) = sqrt(f(x, y)) + exp(f(x, y)) * log(f(x, y)) - pow(f(x, y), 1.5) + sqrt(2)\n"
        "f2(x) = min(f(x, y), 0.5) * max(abs(f(x, y) - 3 * f(x, y)), exp(-f(x, y)))\n"
        "d1(x, y) = sqrt(abs(i(x, y))) + exp(min(f(x, y), d(x, y))) / pow(2, i(x, y) / i(x, y))\n"
        "d2(x) = log(d(x, y)) * sqrt(abs(c(x, y))) + max(min(d(x, y), 0.75), 0.5)\n"
        "d3 = abs(z(x, y)) * abs(z(x, y))\n"
        "c1(x, y) = sqrt(c(x, y)) * exp(c(x, y)) + pow(c(x, y), 2) - log(c(x, y)) * exp(f(x, y))\n"
        "c2(y) = pow(c(x, y), c(x, y)) * abs(c(x, y))\n"
        "z1(x, y) += sqrt(z(x, y)) + exp(c(x, y)) * pow(z(x, y), d(x, y)) + log(d(x, y))\n"
        "z2 = log(z(x, y)) * sqrt(d(x, y))\n"
        "d4(x, w) = sqrt(s) * d(x, y) * d(w, y)\n"
        "schedule d4 { substitute({x, w, y}, gemm) }\n",
        NULL, 0);
    static const char *const parts[] = {"distal_abs_i32(",
                                        "distal_max_i64(",
                                        "sqrtf(2.0F)",
                                        "distal_min_f32(",
                                        "cabs(",
                                        "csqrtf(",
                                        "cexpf(",
                                        "expf(",
                                        "cpow(",
                                        "double sum",
                                        "distal_gemm_f64(n, n, m, sqrt(s[0])"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(source, parts[i]))
            fail_msg("no '%s' in:\n%s", parts[i], source);
    free(source);
}

static void test_parallel_loops(void **state) {
    (void)state;
    char *source =
        check_program("param n = 61, m = 67, nk = 11, u = 4\n"
                      "tensor B(n, m, nk): f64\ntensor b(m): f64\ntensor Z(n, m): c128\ntensor I(n, m): i32\n"
                      "tensor A(n, m): f64\ntensor s: f64\ntensor t: f64\ntensor z: c128\ntensor w(m): "
                      "f64\ntensor v(n, m): f64\n"
                      "tensor p(n): i32\ntensor q(n): f64\ntensor r(n): c128\n"
                      "A(i, j) = B(i, j, k) * b(j)\n"
                      "s = B(i, j, k)\n"
                      "t = B(i, j, k) * b(j)\n"
                      "z = Z(i, j) * Z(i, j)\n"
                      "w(j) = B(i, j, k)\n"
                      "v(i, j) = B(i, j, k) * 2\n"
                      "p(i) = I(i, j)\n"
                      "q(i) = B(i, j, k)\n"
                      "r(i) = Z(i, j)\n"
                      "schedule A { collapse(i, j, f)\n parallelize(f, cpu_thread) }\n"
                      "schedule s { collapse(i, j, f)\n split(f, fo, fi, 8)\n parallelize(fo, cpu_thread, "
                      "reduction)\n unroll(k, 4) }\n"
                      "schedule t { parallelize(i, cpu_thread, atomic)\n unroll(j, 4) }\n"
                      "schedule z { parallelize(i, cpu_thread, temporary)\n parallelize(j, cpu_vector) }\n"
                      "schedule w { reorder({i, j})\n parallelize(i, cpu_thread, atomic) }\n"
                      "schedule v { parallelize(j, cpu_vector)\n unroll(i, 2) }\n"
                      "schedule p { parallelize(j, cpu_thread, atomic) }\n"
                      "schedule r { reorder({j, i})\n parallelize(j, cpu_thread, atomic) }\n"
                      "schedule q { split(i, io, ii, 7)\n split(ii, iio, iii, 3)\n reorder({iii, io, j, "
                      "iio})\n parallelize(j, cpu_thread, atomic) }\n",
                      NULL, 0);
    assert_non_null(strstr(source, "DISTAL_UNROLL(4)"));
    assert_non_null(strstr(source, "#pragma omp atomic"));
    assert_non_null(strstr(source, "#pragma omp critical"));
    free(source);
}

// Threads that add to the same elements: around, between and inside other loops, around calls, under guards,
// in every type, to what is there, and inside loops with transfers.
static void test_thread_copies(void **state) {
    (void)state;
    char *source = check_program(
        "param n = 37, m = 41, nk = 29, g = 2\n"
        "machine M = grid(g, g)\n"
        "tensor B(n, nk): f64\ntensor C(nk, m): f64\ntensor I(n, nk): i32\ntensor J(nk, m): i64\n"
        "tensor Z(n, nk): c64\ntensor Y(nk, m): c128\ntensor F(nk, m): f32\n"
        "tensor A(n, m): f64\ntensor a(n, m): f64, order(1, 0)\ntensor b(n, m): f64\ntensor c(m): f64\n"
        "tensor d(n, m): f64\ntensor e(n, m): f64\ntensor f(n): f32\ntensor h(n, m): i64\n"
        "tensor p(n): i32\ntensor z(n, m): c128\ntensor y(n): c64\ntensor w(n, m): f64\n"
        "A(i, j) = B(i, l) * C(l, j)\n"
        "a(i, j) += B(i, l) * C(l, j)\n"
        "b(i, j) = B(i, l) * C(l, j)\n"
        "c(j) = C(l, j) * B(i, l)\n"
        "d(i, j) += B(i, l) * C(l, j)\n"
        "e(i, j) = B(i, l) * C(l, j)\n"
        "f(i) = F(l, j) / 3\n"
        "h(i, j) = I(i, l) * J(l, j)\n"
        "p(i) = I(i, l)\n"
        "z(i, j) = Z(i, l) * Y(l, j)\n"
        "y(i) += Z(i, l)\n"
        "w(i, j) = B(i, l) * C(l, j)\n"
        "schedule A { reorder({l, i, j})\n parallelize(l, cpu_thread, reduction) }\n"
        "schedule a { split(l, lo, li, 8)\n reorder({lo, j, i, li})\n parallelize(lo, cpu_thread, "
        "temporary)\n"
        "  parallelize(li, cpu_vector) }\n"
        "schedule b { reorder({i, l, j})\n parallelize(l, cpu_thread, reduction)\n"
        "  parallelize(j, cpu_vector) }\n"
        "schedule c { reorder({i, l, j})\n parallelize(l, cpu_thread, temporary)\n unroll(j, 2) }\n"
        "schedule d { reorder({l, i, j})\n parallelize(l, cpu_thread, reduction)\n"
        "  substitute({i, j}, ger) }\n"
        "schedule e { split(l, lo, li, 4)\n reorder({lo, i, j, li})\n"
        "  parallelize(lo, cpu_thread, reduction)\n substitute({i, j, li}, gemm) }\n"
        "schedule f { reorder({l, i, j})\n parallelize(l, cpu_thread, reduction) }\n"
        "schedule h { collapse(j, l, q)\n parallelize(q, cpu_thread, reduction) }\n"
        "schedule p { split(l, lo, li, 7)\n split(li, lio, lii, 3)\n reorder({lii, lo, i, lio})\n"
        "  parallelize(lo, cpu_thread, temporary) }\n"
        "schedule z { reorder({l, j, i})\n parallelize(l, cpu_thread, temporary)\n"
        "  unroll(i, 4) }\n"
        "schedule y { reorder({l, i})\n parallelize(l, cpu_thread, reduction) }\n"
        "schedule w { distribute({i, j}, {io, jo}, {ii, ji}, M)\n split(l, lo, li, 8)\n"
        "  reorder({lo, li, ii, ji})\n communicate(w, jo)\n communicate({B, C}, lo)\n"
        "  parallelize(li, cpu_thread, reduction) }\n",
        NULL, 0);
    static const char *const parts[] = {"for schedule(static) nowait",
                                        "double *restrict A_own = ",
                                        "double _Complex *restrict z_own",
                                        "distal_ger_f64(n, m, 1, ",
                                        "&d_own[",
                                        "distal_merge_copies(execution, REDUCE_A);"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(source, parts[i]))
            fail_msg("no '%s' in:\n%s", parts[i], source);
    free(source);
}

// Names that mean something in C or are used twice.
static void test_names(void **state) {
    (void)state;
    check_once("param int = 5, i = 4, execution = 3, A_view = 2, sum = 6\n"
               "machine M = grid(A_view)\n"
               "tensor A(int, i): c128\ntensor sum_2(i): f64\ntensor restrict(int, i): f64\n"
               "tensor I(i): f64\ntensor complex: f64\ntensor fabs(i, sum): f64\ntensor _Bool(int): f64\n"
               "tensor execution_2(sum): f64\ntensor distal_wait(int, i): f64\n"
               "tensor y1(i): f64\ntensor NAN(i): f64\ntensor M_PI(i): f64\n"
               "A(A, A_at) = restrict(A, A_at) * I(A_at)\n"
               "complex = restrict(while, j) * I(j)\n"
               "sum_2(I) = abs(fabs(I, while)) * execution_2(while)\n"
               "NAN(sqrt) = sqrt(I(sqrt)) * exp(y1(sqrt)) + M_PI(sqrt)\n"
               "_Bool(main) = distal_wait(main, coordinates) * I(coordinates)\n"
               "schedule complex { distribute({while}, {processor}, {active}, M) }\n"
               "schedule _Bool { distribute({main}, {INT_MAX}, {linux}, M)\n substitute({linux, "
               "coordinates}, loops) }\n");
    Arena *arena = arena_create();
    Names names = names_create(arena);
    names_want(&names, "sum_2");
    assert_string_equal(names_take(&names, "sum", false), "sum");
    assert_string_equal(names_take(&names, "sum", false), "sum_3");
    assert_string_equal(names_take(&names, "sum_2", true), "sum_2");
    assert_string_equal(names_take(&names, "while", true), "while_2");
    assert_string_equal(names_take(&names, "_x", true), "v_x_2");
    arena_free(arena);
}

static int choose_compilers(void **state) {
    (void)state;
    // Kernels look for these functions here, and so they have to be linked.
    const double one = 1;
    assert_true(distal_dot_f64(1, &one, 1, &one, 1) == 1);
    distal_contract_f64(1, 0, 0, &(distal_contraction_loop){0}, (distal_contraction_space){0}, 0, 1, NULL,
                        NULL, NULL);
    static char folder[] = "/tmp/distal-emit-XXXXXX";
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("DISTAL_CFLAGS", "-O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror", 1);
    // Clang may be absent, or lack its OpenMP.
    static const char *const names[] = {"gcc", "clang"};
    Arena *arena = arena_create();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool hit;
        double seconds;
        setenv("DISTAL_CC", names[i], 1);
        if (jit_compile("int distal_probe;\n", &hit, &seconds,
                        diagnostics_create(arena, (Source){"probe", ""})))
            compilers[compiler_count++] = names[i];
        else
            print_message("without %s\n", names[i]);
    }
    arena_free(arena);
    assert_true(compiler_count > 0);
    return 0;
}

static int remove_cache(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", getenv("XDG_CACHE_HOME"));
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_multiply), cmocka_unit_test(test_higher_order),
        cmocka_unit_test(test_index_notation),  cmocka_unit_test(test_products),
        cmocka_unit_test(test_workspaces),      cmocka_unit_test(test_library_calls),
        cmocka_unit_test(test_element_types),   cmocka_unit_test(test_parallel_loops),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_functions),
        cmocka_unit_test(test_thread_copies),
    };
    return cmocka_run_group_tests_name("emit", tests, choose_compilers, remove_cache);
}
