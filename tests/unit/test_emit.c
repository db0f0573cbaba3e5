// SPDX-License-Identifier: BSD-3-Clause
// Emitted C: free of warnings with every compiler that is here, and right: it is run in this process, all
// processors one after the other, and compared with the reference evaluator.
#include "emitted.h"

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
        "schedule P { substitute({i, j, k}, gemm) }\n"
        "schedule U { substitute({i, j, k}, gemm) }\n",
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
    distal_contract_f64(1, 0, 0, 0, &(distal_contraction_loop){0}, (distal_contraction_space){0}, 0, 1, NULL,
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
