// SPDX-License-Identifier: BSD-3-Clause
// Leaves: which kernel is chosen for which statement and why, who executes the loops, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lang/program.h"
#include "loop/names.h"
#include "loop/passes.h"
#include "lower/loops.h"
#include "lower/lower.h"

#include <string.h>

// "gemm over i, j, k" or "loops: ..." of the last leaf, or the first diagnostic.
static const char *outcome(Arena *arena, const char *text, const Spmd **spmd) {
    static const int64_t no_params[1];
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", text});
    const Program *program = program_parse(arena, diagnostics->source, NULL, 0, 0, diagnostics);
    const Cin *cin = NULL;
    *spmd = NULL;
    if (program) {
        const Statement *statement = &program->statements[0];
        Scheduler scheduler = {
            .arena = arena, .diagnostics = diagnostics, .symbols = program_symbols(program)};
        cin = cin_create(arena, statement->assignment);
        for (int c = 0; cin && c < statement->command_count; c++)
            cin = schedule_apply(&scheduler, &statement->commands[c], cin);
        if (cin)
            cin = schedule_defaults(cin);
        if (cin)
            *spmd = lower(cin, no_params, diagnostics);
    }
    if (!*spmd)
        return diagnostics->list.items[0].message;
    const char *why;
    assert_true(spmd_verify(*spmd, &why));
    const SpmdNode *node = (*spmd)->nests[(*spmd)->nest_count - 1].body;
    while (node->kind != SPMD_LEAF)
        node = node->kind == SPMD_LOOP ? node->body : node->next;
    return node->leaf->why;
}

typedef struct {
    const char *text;
    const char *expected; // what the outcome begins with
} Case;

static void check_cases(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Arena *arena = arena_create();
        const Spmd *spmd;
        const char *got = outcome(arena, cases[i].text, &spmd);
        if (strncmp(got, cases[i].expected, strlen(cases[i].expected)) != 0)
            fail_msg("%s\n  gives:    %s\n  expected: %s", cases[i].text, got, cases[i].expected);
        arena_free(arena);
    }
}

#define DECLARE                                                                                              \
    "tensor A(4,5):f64; tensor B(4,6):f64; tensor C(6,5):f64; tensor s:f64; tensor t:f64\n"                  \
    "tensor x(4):f64; tensor y(5):f64; tensor z(6):f64; tensor I(4,6):i32; tensor J(6,5):i32; tensor "       \
    "K(4,5):i32\n"                                                                                           \
    "tensor F(4,6):f32; tensor T(4,6,3):f64; tensor U(4,5,3):f64; tensor D(5,3):f64; tensor E(6,3):f64\n"

static void test_kernel_is_chosen(void **state) {
    (void)state;
    static const Case cases[] = {
        {DECLARE "A(i,j) = B(i,k) * C(k,j)", "gemm over i, j, k"},
        {DECLARE "A(i,j) += -2 * C(k,j) * B(i,k) / s", "gemm over i, j, k"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j) * x(i)", "loops: more than two operands"},
        {DECLARE "K(i,j) = I(i,k) * J(k,j)", "gemm over i, j, k"},
        {DECLARE "K(i,j) = I(i,k) * J(k,j) / 2", "loops: a division of integers"},
        {DECLARE "A(i,j) = F(i,k) * C(k,j)", "loops: operands of different element types"},
        {DECLARE "tensor G(4,4):f32; tensor H(4,4):f32\nG(i,j) = H(i,k) * H(k,j) - s",
         "loops: a statement that computes in another element type"},
        {DECLARE "A(i,j) = sqrt(s) * B(i,k) * C(k,j)", "gemm over i, j, k"},
        {DECLARE "A(i,j) = exp(B(i,k)) * C(k,j)", "loops: a function of what its loops index"},
        {DECLARE "x(i) = B(i,k) * z(k)", "gemv over i, k"},
        {DECLARE "z(k) = B(i,k) * x(i)", "gemv over k, i"},
        {DECLARE "A(i,j) = x(i) * y(j)", "loops: nothing is summed"},
        {DECLARE "s = x(i) * x(i)", "loops: too few loops"},
        {DECLARE "A(i,j) = T(i,k,l) * C(k,j) * E(k,l)", "loops: more than two operands"},
        {DECLARE "U(i,j,l) = T(i,k,l) * C(k,j)", "gemm over j, (i, l), k"},
        {DECLARE "tensor V(3,4,6):f64\nA(i,j) = V(l,i,k) * D(j,l) * z(k)", "loops: "},
        {DECLARE "tensor V(4,6,3):f64; tensor W(6,3,5):f64\nA(i,j) = V(i,k,l) * W(k,l,j)",
         "gemm over i, j, (k, l)"},
        {DECLARE "tensor V(6,4,3):f64; tensor W(5,3,6):f64\nA(i,j) = V(k,i,l) * W(j,l,k)",
         "gemm over i, j, (k, l)"},
        {DECLARE "tensor V(4,6,3):f64; tensor W(6,5,3):f64\nU(i,j,l) = V(i,k,l) * W(k,j,l)",
         "gemm over i, j, k, for each l"},
        {DECLARE "tensor V(3,4,6):f64; tensor W(3,5,6):f64\nU(i,j,l) = V(l,i,k) * W(l,j,k)",
         "gemm over i, j, k"},
        {DECLARE
         "tensor V(3,4,6):f64; tensor W(3,5,6):f64; tensor X(3,4,5):f64\nX(l,i,j) = V(l,i,k) * W(l,j,k)",
         "gemm over i, j, k"},
        {DECLARE "tensor V(4,6,3):f64; tensor W(6,3,5):f64\nA(i,j) = V(i,k,l) * W(k,l,j)\nschedule A { "
                 "split(l, lo, li, 2); reorder({lo, i, j}) }",
         "gemm over i, j, (k, li)"},
        {DECLARE "A(i,j) = T(i,k,l) * D(j,l)", "gemm over i, j, l"},
        {DECLARE "A(i,j) = B(i,k) + C(k,j)", "loops: "},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { collapse(i, j, f) }", "loops: "},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { split(i, io, ii, 2); split(k, ko, ki, 3) }",
         "gemm over ii, j, ki"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { unroll(k, 2) }",
         "loops: the schedule says how 'k' is executed"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { substitute({i,j,k}, loops) }", "loops: substituted"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { substitute({j,k}, gemv) }", "gemv over j, k"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { reorder({k,i,j}); substitute({i,j}, ger) }",
         "ger over i, j"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { reorder({k,j}); substitute({j}, axpy) }",
         "axpy over j"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { substitute({k}, dot) }", "dot over k"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { substitute({i,j,k}, blas) }", "gemm over i, j, k"},
        {DECLARE "s = T(i,k,l) * T(i,k,l)\nschedule s { substitute({i,k,l}, blas) }", "dot over l"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void test_kernel_is_refused(void **state) {
    (void)state;
    static const Case cases[] = {
        {DECLARE "A(i,j) = x(i) * y(j)\nschedule A { substitute({i,j}, ger) }",
         "cannot substitute ger: nothing is summed"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { substitute({i,j,k}, gemv) }",
         "cannot substitute gemv: it replaces 2 loops, and 3 are named"},
        {DECLARE "A(i,j) = T(i,k,l) * C(k,j)\nschedule A { reorder({l,i,j,k}); substitute({i,j,k}, gemm) }",
         "cannot substitute gemm: 'T' is no matrix with a unit stride"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { split(k,ko,ki,2); reorder({ki,i,j,ko}); "
                 "substitute({i,j,ko}, gemm) }",
         "cannot substitute gemm: loop 'ko' does not move through one mode in unit steps"},
        {DECLARE "A(i,j) = B(i,k) + C(k,j)\nschedule A { substitute({i,j,k}, gemm) }",
         "cannot substitute gemm: "},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { communicate(B, k); unroll(j, 2) }",
         "cannot unroll 'j': data moves inside it"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { parallelize(k, cpu_thread) }", "cannot parallelize"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { collapse(j,k,f); parallelize(f, cpu_vector) }",
         "cannot vectorize 'f'"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

// A letter a loop: t threads, r threads with sums of their own, c threads with copies of their own, 2
// together with the next loop, a atomic, v vector, u unrolled; '.' after each; a call at the end.
static void mark(const LoopNode *node, bool team, bool atomic, Text *to) {
    const LoopExecution *execution = &node->execution;
    if (node->count)
        text_append(to, "call");
    if (node->kind != LOOP_FOR)
        return;
    const char *thread = team ? "c" : execution->sum_count > 0 ? "r" : atomic ? "ta" : "t";
    text_printf(to, "%s%s%s%s.", execution->thread ? thread : "", execution->collapsed == 2 ? "2" : "",
                execution->vector ? "v" : "", execution->unroll ? "u" : "");
}

// The kernel before pass `end`.
static const LoopKernel *kernel_of(const Spmd *spmd, const char *end) {
    static const char *const no_params[] = {"ranks"};
    const char *pass, *why = NULL;
    int count = 0;
    while (strcmp(loop_pass_name(count), end) != 0)
        count++;
    const LoopKernel *kernel = loop_run_passes(lower_loops(spmd, no_params, 1, NULL), count, &pass, &why);
    if (!kernel)
        fail_msg("%s: %s", pass, why);
    return kernel;
}

static const char *marks_of(Arena *arena, const Spmd *spmd) {
    const LoopKernel *kernel = kernel_of(spmd, "blocks"); // which would say the same twice
    const LoopBody nodes = loop_nodes(arena, kernel->body.items[kernel->body.count - 1]);
    bool team = false, atomic = false;
    for (int64_t i = 0; i < nodes.count; i++) {
        team = team || nodes.items[i]->kind == LOOP_TEAM;
        atomic = atomic || nodes.items[i]->atomic;
    }
    Text text = text_create(arena);
    for (int64_t i = 0; i < nodes.count; i++)
        mark(nodes.items[i], team, atomic, &text);
    return text_string(&text);
}

static void test_loops_are_parallel(void **state) {
    (void)state;
    static const Case cases[] = {
        {DECLARE "A(i,j) = x(i) * y(j)", "t.v."},
        {DECLARE "s = T(i,k,l) * T(i,k,l)", "r..v."},
        {DECLARE "x(i) = B(i,k) * C(k,j) * A(i,j)", "t..v."},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)", "call"},
        {DECLARE "x(i) = B(i,k) * B(i,k)\nschedule x { collapse(i,k,f) }", "c."},
        {DECLARE "y(j) = A(i,j)", "c.v."},
        {DECLARE "tensor V(20000):f64; tensor W(9,20000):f64\nV(j) = W(i,j)", ".tv."},
        {DECLARE "U(i,j,l) = T(i,k,l) / C(k,j)", "t2...v."},
        {DECLARE "U(i,j,l) = A(i,j) / D(j,l)", "t2..v."},
        {DECLARE "U(i,j,l) = A(i,j) / D(j,l)\nschedule U { split(l,lo,li,2); reorder({i,lo,j,li}) }",
         "t2...v."},
        {DECLARE "U(i,j,l) = A(i,j) / D(j,l)\nschedule U { unroll(j,2) }", "t.u.v."},
        {DECLARE "tensor V(4,6,3):f64\nA(i,j) = V(i,k,l) * T(i,k,l) * C(k,j)\nschedule A { substitute({k,l}, "
                 "loops) }",
         "t2...v."},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { substitute({k}, dot) }", "t..call"},
        {DECLARE "A(i,j) = x(i) * y(j)\nschedule A { collapse(i,j,f) }", "tv."},
        {DECLARE "x(i) = B(i,k) * z(k)\nschedule x { reorder({k,i}); substitute({k,i}, loops) }", "c.v."},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { parallelize(k, cpu_thread, reduction) }", "..rv."},
        {DECLARE
         "A(i,j) = B(i,k) * C(k,j)\nschedule A { reorder({k,i,j}); parallelize(k, cpu_thread, atomic) }",
         "ta..."},
        {DECLARE
         "A(i,j) = B(i,k) * C(k,j)\nschedule A { reorder({k,i,j}); parallelize(k, cpu_thread, temporary) }",
         "c..v."},
        {DECLARE
         "A(i,j) = B(i,k) * C(k,j)\nschedule A { reorder({k,i,j}); parallelize(k, cpu_thread, reduction); "
         "substitute({i,j}, ger) }",
         "c.call"},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { parallelize(j, cpu_vector); unroll(k, 2) }",
         ".v.u."},
        {DECLARE "A(i,j) = B(i,k) * C(k,j)\nschedule A { unroll(k, 2) }", "t2..u."},
        {DECLARE
         "A(i,j) = B(i,k) * C(k,j)\nschedule A { parallelize(i, cpu_thread); substitute({j,k}, gemv) }",
         "t.call"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_create();
        const Spmd *spmd;
        const char *why = outcome(arena, cases[i].text, &spmd);
        if (!spmd)
            fail_msg("%s\n  gives: %s", cases[i].text, why);
        const char *got = marks_of(arena, spmd);
        if (strcmp(got, cases[i].expected) != 0)
            fail_msg("%s\n  gives:    %s\n  expected: %s", cases[i].text, got, cases[i].expected);
        arena_free(arena);
    }
}

// Loops that the schedule did not put in order go through memory line by line, or in tiles.
static void test_loops_are_ordered(void **state) {
    (void)state;
    static const Case cases[] = {
        {DECLARE "tensor G(3,5):f64\nA(i,j) = T(i,k,l) * C(k,j) * G(l,j)", "i k l j"},
        {DECLARE "A(i,j) = U(i,j,l) * T(i,k,l) * E(k,l)", "i j k l"},
        {DECLARE "y(j) = A(i,j)", "i j"},
        {DECLARE "x(i) = A(i,j)", "i j"},
        {DECLARE "tensor V(4,5):f64, order(1,0)\nx(i) = V(i,j)", "j i"},
        {DECLARE "y(j) = A(i,j)\nschedule y { split(i,io,ii,2) }", "io ii j"},
        {DECLARE "tensor V(5,4):f64\nA(i,j) = V(j,i)", "i_tile j_tile"},
        {DECLARE "tensor V(5,4):f64\nA(i,j) = -V(j,i)", "i_tile j_tile i j"},
        {DECLARE "tensor V(5,4):f64; tensor W(5,4):f64\nA(i,j) = V(j,i) + W(j,i)", "i_tile j_tile i j"},
        {DECLARE "tensor V(5,4):i32\nA(i,j) = V(j,i)", "i_tile j_tile i j"},
        {DECLARE "tensor V(5,4):f64\ns = A(i,j) * V(j,i)", "i_tile j_tile i j"},
        {DECLARE "tensor V(3,4,5):f64\nU(i,j,l) = V(l,i,j)", "i j_tile l_tile"},
        {DECLARE "tensor V(3,5,4):f64\nU(i,j,l) = V(l,j,i)", "j i_tile l_tile"},
        {DECLARE "tensor V(3,6,4):f64; tensor P(4,3):f64\nP(i,l) = V(l,k,i) / E(k,l)", "i_tile l_tile k i l"},
        {DECLARE "tensor V(5,4):f64\nA(i,j) = V(j,i)\nschedule A { divide(i,io,ii,2) }", "io ii_tile j_tile"},
        {DECLARE "tensor V(5,4):f64\nA(i,j) = V(j,i)\nschedule A { rotate(j,{i},js) }", "i js"},
        {DECLARE "tensor V(5,4):f64\nA(i,j) = V(j,i)\nschedule A { unroll(i, 2) }", "i j"},
        {DECLARE "tensor V(5,4):f64\nA(i,j) = V(j,i)\nschedule A { reorder({j,i}) }", "j i"},
        {DECLARE "y(j) = A(i,j)\nschedule y { reorder({j,i}) }", "j i"},
        {DECLARE "y(j) = A(i,j)\nschedule y { reorder({j,i}); split(i,io,ii,2) }", "j io ii"},
        {DECLARE "y(j) = A(i,j)\nschedule y { parallelize(j,cpu_thread) }", "j i"},
        {DECLARE "y(j) = A(i,j)\nschedule y { substitute({j,i},loops) }", "j i"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_create();
        const Spmd *spmd;
        const char *why = outcome(arena, cases[i].text, &spmd);
        if (!spmd)
            fail_msg("%s\n  gives: %s", cases[i].text, why);
        const LoopKernel *kernel = kernel_of(spmd, "invariants");
        const LoopNames names = loop_names(kernel);
        Text order = text_create(arena);
        const LoopBody nodes = loop_nodes(arena, kernel->body.items[0]);
        for (int64_t n = 0; n < nodes.count; n++)
            if (nodes.items[n]->kind == LOOP_FOR)
                text_printf(&order, "%s%s", order.length ? " " : "", names.vars[nodes.items[n]->var]);
        if (strcmp(text_string(&order), cases[i].expected) != 0)
            fail_msg("%s\n  gives:    %s\n  expected: %s", cases[i].text, text_string(&order),
                     cases[i].expected);
        arena_free(arena);
    }
}

static void test_transfers_stand_where_communicate_says(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const Spmd *spmd;
    outcome(arena,
            "param g = 2\nmachine M = grid(g, g)\ntensor A(9,9):f64; tensor B(9,9):f64; tensor C(9,9):f64\n"
            "A(i,j) = B(i,k) * C(k,j)\n"
            "schedule A { distribute({i,j},{io,jo},{ii,ji},M); split(k,ko,ki,4); reorder({ko,ii,ji,ki})\n"
            "communicate(A, jo); communicate(B, ko) }",
            &spmd);
    assert_non_null(spmd);
    assert_int_equal(spmd->transfer_count, 3);
    static const struct {
        TransferKind kind;
        const char *tensor;
        int loops;
    } expected[] = {{TRANSFER_REDUCE, "A", 0}, {TRANSFER_FETCH, "B", 1}, {TRANSFER_FETCH, "C", 0}};
    for (int t = 0; t < 3; t++) {
        assert_int_equal(spmd->transfers[t].kind, expected[t].kind);
        assert_string_equal(spmd->transfers[t].access->tensor->name, expected[t].tensor);
        assert_int_equal(spmd->transfers[t].loop_count, expected[t].loops);
    }
    assert_true(spmd->nests[0].assign->accumulate);
    assert_int_equal(spmd->dim_count, 2);
    arena_free(arena);
}

static void test_same_access_is_fetched_once(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const Spmd *spmd;
    outcome(arena, "tensor A(9,9):f64; tensor B(9,9):f64\nA(i,j) = B(i,j) * B(i,j) + B(j,i)", &spmd);
    assert_non_null(spmd);
    assert_int_equal(spmd->transfer_count, 3); // A, B(i,j), B(j,i)
    assert_false(spmd->nests[0].assign->accumulate);
    arena_free(arena);
}

// The verifier, on programs broken by hand.
static void test_verifier_finds(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const Spmd *spmd;
    const char *why;
    outcome(arena, "tensor A(9,9):f64; tensor B(9,9):f64\nA(i,j) = B(i,j)", &spmd);
    assert_non_null(spmd);
    SpmdNode *accumulate = spmd->nests[0].body, *fetch = accumulate->next, *leaf = fetch->next;
    assert_int_equal(fetch->kind, SPMD_FETCH);
    fetch->next = leaf->next; // no leaf: all transfers still match
    assert_true(spmd_verify(spmd, &why));
    accumulate->next = leaf; // the fetch is gone
    fetch->next = leaf;
    assert_false(spmd_verify(spmd, &why));
    assert_non_null(strstr(why, "not covered by a transfer"));
    accumulate->next = fetch;
    SpmdNode *release = leaf->next;
    leaf->next = release->next;
    assert_false(spmd_verify(spmd, &why));
    assert_non_null(strstr(why, "not closed where it was opened"));
    leaf->next = release;
    assert_true(spmd_verify(spmd, &why));
    LeafLoop *loops = (LeafLoop *)leaf->leaf->loops;
    loops[0].upper = int_var(arena, loops[1].var);
    assert_false(spmd_verify(spmd, &why));
    assert_non_null(strstr(why, "used where it has no value"));
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_is_chosen),
        cmocka_unit_test(test_kernel_is_refused),
        cmocka_unit_test(test_loops_are_parallel),
        cmocka_unit_test(test_loops_are_ordered),
        cmocka_unit_test(test_transfers_stand_where_communicate_says),
        cmocka_unit_test(test_same_access_is_fetched_once),
        cmocka_unit_test(test_verifier_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
