// SPDX-License-Identifier: BSD-3-Clause
// Programs that parse, what they mean, and that nothing makes the parser crash. What is reported for programs
// that are wrong is in tests/golden/cases/diagnostics.
#include "base/arena.h"
#include "lang/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    const Program *program;
} Parsed;

static Parsed parse_with(const char *text, const ParamOverride *overrides, int count, int64_t ranks) {
    Parsed parsed = {.arena = arena_create()};
    Source source = {"test.distal", text};
    parsed.diagnostics = diagnostics_create(parsed.arena, source);
    parsed.program = program_parse(parsed.arena, source, overrides, count, ranks, parsed.diagnostics);
    return parsed;
}

static Parsed parse_good(const char *text) {
    Parsed parsed = parse_with(text, NULL, 0, 0);
    if (!parsed.program) {
        Text messages = text_create(parsed.arena);
        diagnostics_print(parsed.diagnostics, &messages);
        fail_msg("%s", text_string(&messages));
    }
    assert_int_equal(parsed.diagnostics->list.count, 0);
    return parsed;
}

static const char *printed(const Parsed *parsed) {
    Text text = text_create(parsed->arena);
    program_print(parsed->program, NULL, &text);
    return text_string(&text);
}

static void assert_prints(const char *text, const char *expected) {
    Parsed parsed = parse_good(text);
    assert_string_equal(printed(&parsed), expected);
    arena_free(parsed.arena);
}

static void assert_message(const char *text, Span span, const char *message) {
    Parsed parsed = parse_with(text, NULL, 0, 0);
    assert_null(parsed.program);
    assert_int_equal(parsed.diagnostics->errors, 1);
    const Diagnostic *found = &parsed.diagnostics->list.items[0];
    assert_non_null(strstr(found->message, message));
    assert_int_equal(found->span.line, span.line);
    assert_int_equal(found->span.column, span.column);
    assert_int_equal(found->span.length, span.length);
    arena_free(parsed.arena);
}

static const char summa[] = "# SUMMA on a gx x gy grid\n"
                            "param n = 1024, gx = 2, gy = 2, chunk = 256\n"
                            "machine M = grid(gx, gy)\n"
                            "tensor A(n, n): f64\n"
                            "tensor B(n, n): f64\n"
                            "tensor C(n, n): f64\n"
                            "place A(x, y) -> M(x, y)\n"
                            "place B(x, y) -> M(x, y)\n"
                            "place C(x, y) -> M(x, y)\n"
                            "A(i, j) = B(i, k) * C(k, j)\n"
                            "schedule A {\n"
                            "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"
                            "  split(k, ko, ki, chunk)\n"
                            "  reorder({ko, ii, ji, ki})\n"
                            "  communicate(A, jo)\n"
                            "  communicate({B, C}, ko)\n"
                            "  substitute({ii, ji, ki}, gemm)\n"
                            "}\n";

static const char hierarchy[] = "param n = 12\n"
                                "machine L = node grid(2, 3), gpu grid(2)\n"
                                "tensor A(n, n + 1, 2 * n): f32, {dense, dense, dense}, order(2, 0, 1)\n"
                                "tensor b(n): c64; tensor s: f64; tensor t(): f64\n"
                                "place A(x, y, z) -> L.node(z, 1), A(u, v, w) -> L.gpu(*)\n"
                                "place b(x) -> L(x, *, 0) in host\n"
                                "place s -> L(*, *, *)\n"
                                "t() = A(i, j, k) * -2.5e-3 / (s - 3) + (A(i, j, k) - (s - 1.0))\n"
                                "s += t * t()\n"
                                "schedule s { distribute(i, L.node); foo(n / 2 - 1, {a, b}, n) }\n";

static void test_summa(void **state) {
    (void)state;
    Parsed parsed = parse_good(summa);
    const Program *program = parsed.program;
    assert_int_equal(program->param_count, 5);
    assert_string_equal(program->params[0].name, "ranks");
    assert_int_equal(program->params[4].value, 256);
    assert_int_equal(program->machine_count, 1);
    assert_int_equal(program->machines[0]->order, 2);
    assert_string_equal(program->machines[0]->levels[0].name, "");
    assert_int_equal(program->tensor_count, 3);
    const Tensor *a = program->tensors[0];
    assert_ptr_equal(a->placement->machine, program->machines[0]);
    assert_int_equal(a->placement->entries[1].kind, PLACE_PARTITION);
    assert_int_equal(a->placement->entries[1].mode, 1);
    assert_int_equal(program->statement_count, 1);
    const Assignment *assignment = program->statements[0].assignment;
    assert_int_equal(assignment->var_count, 3);
    assert_string_equal(assignment->vars[2].name, "k");
    assert_int_equal(access_vars(assignment->lhs), 1 | 1 << 1);
    assert_int_equal(expr_vars(assignment->rhs), 1 | 1 << 1 | 1 << 2);
    assert_int_equal(assignment->rhs->right->access->vars[0], 2);
    assert_int_equal(assignment->span.column, 1);
    assert_int_equal(assignment->span.length, (int)strlen("A(i, j) = B(i, k) * C(k, j)"));
    const Statement *statement = &program->statements[0];
    assert_int_equal(statement->command_count, 6);
    const Command *distribute = &statement->commands[0];
    assert_int_equal(distribute->arg_count, 4);
    assert_int_equal(distribute->args[0].kind, ARG_LIST);
    assert_string_equal(distribute->args[0].items[1].name, "j");
    assert_int_equal(distribute->args[3].kind, ARG_NAME);
    const Arg *chunk = &statement->commands[1].args[3];
    assert_int_equal(chunk->kind, ARG_NAME);
    assert_int_equal(chunk->value->op, INT_PARAM);
    assert_int_equal(chunk->value->value, 4);
    assert_false(program_is_input(program, a));
    assert_true(program_is_output(program, a));
    assert_true(program_is_input(program, program->tensors[1]));
    assert_false(program_is_output(program, program->tensors[1]));
    assert_false(program_uses_ranks(program, parsed.arena));
    arena_free(parsed.arena);
}

static void test_print(void **state) {
    (void)state;
    assert_prints(summa, "param n = 1024, gx = 2, gy = 2, chunk = 256\n"
                         "machine M = grid(gx, gy)\n"
                         "tensor A(n, n): f64\n"
                         "tensor B(n, n): f64\n"
                         "tensor C(n, n): f64\n"
                         "place A(x0, x1) -> M(x0, x1)\n"
                         "place B(x0, x1) -> M(x0, x1)\n"
                         "place C(x0, x1) -> M(x0, x1)\n"
                         "\n"
                         "A(i, j) = B(i, k) * C(k, j)\n"
                         "\n"
                         "schedule A {\n"
                         "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"
                         "  split(k, ko, ki, chunk)\n"
                         "  reorder({ko, ii, ji, ki})\n"
                         "  communicate(A, jo)\n"
                         "  communicate({B, C}, ko)\n"
                         "  substitute({ii, ji, ki}, gemm)\n"
                         "}\n");
}

static void test_print_hierarchy(void **state) {
    (void)state;
    assert_prints(hierarchy, "param n = 12\n"
                             "machine L = node grid(2, 3), gpu grid(2)\n"
                             "tensor A(n, n + 1, 2 * n): f32, order(2, 0, 1)\n"
                             "tensor b(n): c64\n"
                             "tensor s: f64\n"
                             "tensor t: f64\n"
                             "place A(x0, x1, x2) -> L.node(x2, 1), A(x0, x1, x2) -> L.gpu(*)\n"
                             "place b(x0) -> L.node(x0, *), b(x0) -> L.gpu(0)\n"
                             "place s -> L.node(*, *), s -> L.gpu(*)\n"
                             "\n"
                             "t = A(i, j, k) * -0.0025 / (s - 3) + (A(i, j, k) - (s - 1.0))\n"
                             "\n"
                             "s += t * t\n"
                             "\n"
                             "schedule s {\n"
                             "  distribute(i, L.node)\n"
                             "  foo(n / 2 - 1, {a, b}, n)\n"
                             "}\n");
}

// The normal form is its own normal form.
static void test_round_trip(void **state) {
    (void)state;
    static const char *const programs[] = {
        "",
        "# nothing\n",
        summa,
        "param a = -3, b = -(a - 2) * (4 - -1), c = 9223372036854775807 / (7 + ranks), d = (a + b) - (c - "
        "a)\n",
        "tensor A(0, 3): i64; tensor b: i32\nA(i, j) = -(2 + b) * -3 / (b / 4 * 5)\n",
        "tensor A(4): f64; tensor v(4): f64; A(i) = v(i) / (v(i) * v(i)) - (v(i) - -v(i)) * 1e300 + .1 + "
        "3.\n",
        "tensor A(4): f64; tensor v(4): f64; A(i) = v(i); A(i) += v(j)\n"
        "schedule A { pos(i, p, v(i)) ; precompute(v(i) *\n 2.0, {i}, {j}, W); f() }",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        Parsed first = parse_good(programs[i]);
        Parsed second = parse_good(printed(&first));
        assert_string_equal(printed(&first), printed(&second));
        arena_free(first.arena);
        arena_free(second.arena);
    }
}

static void test_separators(void **state) {
    (void)state;
    static const char normal[] =
        "param n = 4\ntensor A(n, 4): f64\ntensor b(4): f64\n\nA(i, j) = b(i) + b(j)\n\n"
        "schedule A {\n  split(i, a, c, n / 2)\n  reorder({a, c})\n}\n";
    assert_prints("param n=4;tensor A(n,4):f64;tensor b(4):f64;A(i,j)=b(i)+b(j);"
                  "schedule A{split(i,a,c,n/2);reorder({a,c});}",
                  normal);
    assert_prints(
        "\xef\xbb\xbfparam n = 4 # caf\xc3\xa9 )}\r\n\r\ntensor A(\n n # c\n ,\n 4): "
        "f64,{dense\n,dense\n}\r\n"
        "tensor b(4): f64\n\nA(i\n,j)=(b(i)\n +\n b(j))\nschedule A {\n\n split(i,\n a,\n c,n/\n2)\n\n"
        " reorder({a,\n c}) }",
        normal);
}

static void test_params(void **state) {
    (void)state;
    const ParamOverride overrides[] = {{"n", 7}, {"n", 10}};
    Parsed parsed =
        parse_with("param n = 3, half = (n + 1) / 2, all = ranks * 2, down = -7 / 2\ntensor A(half): f64",
                   overrides, 2, 6);
    assert_non_null(parsed.program);
    const int64_t *values = program_param_values(parsed.program, parsed.arena);
    assert_int_equal(values[0], 6);
    assert_int_equal(values[1], 10);
    assert_int_equal(values[2], 5);
    assert_int_equal(values[3], 12);
    assert_int_equal(values[4], -4);
    assert_true(program_uses_ranks(parsed.program, parsed.arena));
    assert_non_null(strstr(printed(&parsed), "param n = 10, half = (n + 1) / 2, all = ranks * 2"));
    arena_free(parsed.arena);
}

static void test_names_may_coincide(void **state) {
    (void)state;
    Parsed parsed = parse_good("param n = 4; tensor A(n): f64; tensor i(n): f64\nA(i) = i(i)\nA(A) = i(A)\n"
                               "schedule A { split(A, n, ni, n) }");
    const Arg *args = parsed.program->statements[1].commands[0].args;
    assert_string_equal(args[0].name, "A");
    assert_non_null(args[3].value);
    arena_free(parsed.arena);
}

static void test_schedule_attachment(void **state) {
    (void)state;
    // The first block is about the nearest statement; two in a row are about the last two, in order.
    Parsed parsed =
        parse_good("tensor A: f64; tensor B: f64\n"
                   "A = 1\nA = 2\nB = 9\nschedule A { two() }\n"
                   "A = 3\nschedule B { nine() }\nA = 4\nschedule A { three() }\nschedule A { four() }");
    static const char *const expected[] = {NULL, "two", "nine", "three", "four"};
    for (int i = 0; i < 5; i++) {
        const Statement *statement = &parsed.program->statements[i];
        assert_int_equal(statement->has_schedule, expected[i] != NULL);
        assert_non_null(statement->assignment);
        if (expected[i])
            assert_string_equal(statement->commands[0].name, expected[i]);
    }
    assert_int_equal(parsed.program->statements[4].assignment->rhs->integer, 4);
    arena_free(parsed.arena);
}

static void test_arguments(void **state) {
    (void)state;
    Parsed parsed =
        parse_good("param n = 2; machine L = node grid(2); tensor B(4, 4): f64; tensor s: f64; s = B(i, j)\n"
                   "schedule s { f(n, n + 1, L.node, B(i, k), B(i, k) * 2, s * 3, 0.5, {a}, (n)) }");
    static const ArgKind kinds[] = {ARG_NAME,       ARG_INTEGER,    ARG_NAME, ARG_ACCESS, ARG_EXPRESSION,
                                    ARG_EXPRESSION, ARG_EXPRESSION, ARG_LIST, ARG_INTEGER};
    const Command *command = &parsed.program->statements[0].commands[0];
    assert_int_equal(command->arg_count, 9);
    for (int i = 0; i < 9; i++)
        assert_int_equal(command->args[i].kind, kinds[i]);
    assert_string_equal(command->args[2].level, "node");
    assert_int_equal(command->args[3].item_count, 2);
    assert_string_equal(command->args[4].name, "B(i, k) * 2");
    assert_int_equal(command->args[4].span.column, 43);
    assert_int_equal(command->args[4].span.length, 11);
    arena_free(parsed.arena);
}

static void test_inputs_and_outputs(void **state) {
    (void)state;
    Parsed parsed = parse_good("tensor a: f64; tensor b: f64; tensor c: f64; tensor d: f64; tensor e: f64\n"
                               "a = b\nc += a\nb = 1\na += c\n");
    static const bool inputs[] = {false, true, true, false, false},
                      outputs[] = {true, true, true, false, false};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(program_is_input(parsed.program, parsed.program->tensors[i]), inputs[i]);
        assert_int_equal(program_is_output(parsed.program, parsed.program->tensors[i]), outputs[i]);
    }
    arena_free(parsed.arena);
}

static ElementType type_of(const char *left, const char *right) {
    char text[512];
    snprintf(text, sizeof text,
             "tensor i(4): i32; tensor l(4): i64; tensor f(4): f32; tensor d(4): f64; tensor c(4): c64; "
             "tensor z(4): c128\n"
             "tensor T(4): %s\nT(x) = %s",
             left, right);
    Parsed parsed = parse_good(text);
    ElementType type = assignment_type(parsed.program->statements[0].assignment);
    arena_free(parsed.arena);
    return type;
}

static void test_types(void **state) {
    (void)state;
    assert_int_equal(type_of("i32", "i(x) * 2"), TYPE_I32);
    assert_int_equal(type_of("i32", "i(x) * 3000000000"), TYPE_I64);
    assert_int_equal(type_of("i32", "1"), TYPE_I32);
    assert_int_equal(type_of("f32", "f(x) * 0.5 + 3"), TYPE_F32);
    assert_int_equal(type_of("f32", "i(x)"), TYPE_F64);
    assert_int_equal(type_of("f64", "i(x) * 0.5"), TYPE_F64);
    assert_int_equal(type_of("f32", "l(x) * f(x)"), TYPE_F64);
    assert_int_equal(type_of("c64", "f(x)"), TYPE_C64);
    assert_int_equal(type_of("c64", "d(x)"), TYPE_C128);
    assert_int_equal(type_of("c64", "i(x) * c(x)"), TYPE_C128);
    assert_int_equal(type_of("c128", "z(x) / 2"), TYPE_C128);
    for (int a = 0; a < TYPE_COUNT; a++)
        for (int b = 0; b < TYPE_COUNT; b++) {
            ElementType both = type_promote((ElementType)a, (ElementType)b);
            assert_int_equal(both, type_promote((ElementType)b, (ElementType)a));
            assert_true(type_storable((ElementType)a, both) && type_storable((ElementType)b, both));
        }
}

static void test_spans(void **state) {
    (void)state;
    assert_message("tensor A(4): f64\n  A(i) = B(i, k)", (Span){2, 10, 1}, "unknown tensor 'B'");
    assert_message("tensor A(4): f64\n\tA(i) = 2 * (A(j) + 1)", (Span){2, 14, 4},
                   "is assigned by this statement");
    assert_message("tensor A(4): f64, {\n dense, dense }", (Span){1, 19, 1},
                   "it takes 1 storage level, not 2");
    assert_message("param n = 3 +\n", (Span){1, 14, 1}, "found end of line");
    assert_message("param n = 3 +", (Span){1, 14, 0}, "found end of the program");
    assert_message("machine M = grid(2); tensor A(4): f64; place A(x) -> M(~x)", (Span){1, 56, 2},
                   "'A' is dense");
}

// A declaration that failed makes no noise.
static void test_no_noise(void **state) {
    (void)state;
    static const char rest[] =
        "machine M = grid(2)\ntensor B(4): f64\nplace A(x) -> M(x)\nA(i) = B(i) + A2(i)\n"
        "B(i) = A(i) * A(j)\nschedule A { split(i, io, ii, 2) }\n";
    static const char *const declarations[] = {"tensor A(4): f6",   "tensor A(-1): f64", "tensor A(4) f64",
                                               "tensor A(4: f64",   "tensor A(m): f64",  "tensor A",
                                               "tensor A(4): f64 $"};
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        char text[1024];
        snprintf(text, sizeof text, "tensor A2(4): f64\n%s\n%s", declarations[i], rest);
        Parsed parsed = parse_with(text, NULL, 0, 0);
        assert_int_equal(parsed.diagnostics->errors, 1);
        assert_int_equal(parsed.diagnostics->list.items[0].span.line, 2);
        arena_free(parsed.arena);
    }
}

static void append_times(Text *text, const char *string, int times) {
    for (int i = 0; i < times; i++)
        text_append(text, string);
}

static void test_limits(void **state) {
    (void)state;
    static const struct {
        const char *head, *repeated, *tail;
    } long_texts[] = {
        {"tensor A(4): f64; A(i) = ", "(", "1"},
        {"tensor A(4): f64; A(i) = ", "-", "1"},
        {"tensor A(4): f64; A(i) = ", "(-", "1"},
        {"tensor A(4): f64; A(i) = 1", " + 1", ""},
        {"param n = ", "(", "1"},
        {"param n = ", "-", "1"},
        {"param n = 1", " + 1", ""},
        {"tensor s: f64; s = 1; schedule s { f(", "g(", ""},
        {"tensor s: f64; s = 1; schedule s { ", "f({", ""},
        {"", "{", ""},
        {"", "(", ""},
        {"", ")", ""},
        {"", "a", ""},
        {"param n = ", "9", ""},
        {"", "A(i) = B(j);", ""},
        {"", "tensor A;", ""},
        {"", "schedule A {", ""},
        {"param a = 1", ", a = 1", ""},
        {"tensor s: f64;", "s = 1;", ""},
        {"", "\001", ""},
    };
    for (size_t i = 0; i < sizeof long_texts / sizeof *long_texts; i++) {
        Text text = text_create(arena_create());
        text_append(&text, long_texts[i].head);
        append_times(&text, long_texts[i].repeated, 20000);
        text_append(&text, long_texts[i].tail);
        Parsed parsed = parse_with(text_string(&text), NULL, 0, 0);
        assert_null(parsed.program);
        assert_in_range(parsed.diagnostics->errors, 1, 60);
        arena_free(parsed.arena);
        arena_free(text.arena);
    }
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// Deletes, repeats, replaces or inserts somewhere in `text`, which has room for `capacity` bytes.
static void mutate(char *text, size_t capacity, uint64_t *random) {
    static const char *const pieces[] = {
        "(",  ")",      "{",       "}",      ",",  ";",         "\n",    "=",        "+=",
        "->", "-",      "*",       "/",      "~",  ":",         ".",     "#",        "9223372036854775807",
        "0",  "tensor", "place",   "in ",    "e9", "0.5",       "L.",    "A(",       "\xc3\xa9",
        "$",  "param ", "cyclic(", "order(", "n",  "schedule ", "sqrt(", "machine M"};
    size_t length = strlen(text), at = next_random(random) % (length + 1), most = length - at;
    const char *piece = pieces[next_random(random) % (sizeof pieces / sizeof *pieces)];
    char repeated[32];
    size_t deleted = 0;
    switch (next_random(random) % 4) {
    case 0:
        deleted = 1 + next_random(random) % 12;
        piece = "";
        break;
    case 1:
        snprintf(repeated, sizeof repeated, "%.*s", (int)(next_random(random) % sizeof repeated), text + at);
        piece = repeated;
        break;
    case 2:
        deleted = 1 + next_random(random) % 3;
        break;
    default:
        break;
    }
    deleted = deleted < most ? deleted : most;
    size_t inserted = strlen(piece);
    if (length - deleted + inserted + 1 > capacity)
        return;
    memmove(text + at + inserted, text + at + deleted, length - at - deleted + 1);
    memcpy(text + at, piece, inserted);
}

static void test_mutations(void **state) {
    (void)state;
    static const char *const seeds[] = {summa, hierarchy};
    uint64_t random = 1;
    int valid = 0;
    for (int round = 0; round < 4000; round++) {
        char text[4096];
        snprintf(text, sizeof text, "%s", seeds[round % 2]);
        for (uint64_t count = 1 + next_random(&random) % 4; count > 0; count--)
            mutate(text, sizeof text, &random);
        Parsed parsed = parse_with(text, NULL, 0, 0);
        assert_true((parsed.program == NULL) == (parsed.diagnostics->errors > 0));
        Text messages = text_create(parsed.arena);
        diagnostics_print(parsed.diagnostics, &messages);
        if (parsed.program) {
            valid++;
            Parsed again = parse_good(printed(&parsed));
            assert_string_equal(printed(&parsed), printed(&again));
            arena_free(again.arena);
        }
        arena_free(parsed.arena);
    }
    assert_in_range(valid, 100, 3900);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summa),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_print_hierarchy),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_names_may_coincide),
        cmocka_unit_test(test_schedule_attachment),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_inputs_and_outputs),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_no_noise),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
