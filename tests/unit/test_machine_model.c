// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of machines: read, printed and read again; curves; ranks on levels and the rates that they
// get.
#include "cost/machine_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static Arena *arena;

static bool read_text(const char *text, MachineModel *model, Diagnostics **diagnostics) {
    const Source source = {"m.machine", text};
    *diagnostics = diagnostics_create(arena, source);
    return machine_model_read(source, arena, model, *diagnostics);
}

static const char small[] =
    "machine \"a b\"  # comment\n"
    "level node 4 memory 64GiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s "
    "link 12GB/s\n"
    "level core 8 copy 1MiB:40GB/s 64MiB:20GB/s latency 500ns bandwidth 5GB/s\n"
    "\n"
    "rate gemm 16:1GFLOP/s 1024:16GFLOP/s\n"
    "rate loops 2GFLOP/s\n"
    "factor broadcast 2:1 16:2\n"
    "disk read 100MB/s\n"
    "parallel 0.5\r\n"
    "single 1.5";

static void assert_near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * fabs(expected))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static void test_read(void **state) {
    (void)state;
    MachineModel model;
    Diagnostics *diagnostics;
    assert_true(read_text(small, &model, &diagnostics));
    assert_string_equal(model.name, "a b");
    assert_int_equal(model.level_count, 2);
    assert_string_equal(model.levels[1].name, "core");
    assert_int_equal(model.levels[1].count, 8);
    assert_near(model.levels[0].memory, 64.0 * 1024 * 1024 * 1024);
    assert_near(model.levels[0].latency, 2e-6);
    assert_near(model.levels[0].link, 12e9);
    assert_near(model.levels[1].latency, 500e-9);
    assert_int_equal(model.rates[MODEL_GEMM].count, 2);
    assert_near(model.rates[MODEL_GEMM].sizes[1], 1024);
    // What is left out takes its place from another figure.
    assert_near(model.rates[MODEL_VECTOR].values[0], 2e9);
    assert_near(model.rates[MODEL_SPARSE].values[0], 2e9);
    assert_near(model.disk_write.values[0], 100e6);
    assert_near(model.parallel, 0.5);
    assert_near(model.single, 1.5);
}

static void assert_same_text(const MachineModel *model) {
    Text first = text_create(arena), second = text_create(arena);
    MachineModel again;
    Diagnostics *diagnostics;
    machine_model_print(model, &first);
    assert_true(read_text(text_string(&first), &again, &diagnostics));
    machine_model_print(&again, &second);
    assert_string_equal(text_string(&first), text_string(&second));
}

static void test_print(void **state) {
    (void)state;
    MachineModel model;
    Diagnostics *diagnostics;
    assert_true(read_text(small, &model, &diagnostics));
    assert_same_text(&model);
    model = machine_model_default();
    assert_same_text(&model);
}

static const char *read_file(const char *path) {
    Text text = text_create(arena);
    char buffer[4096];
    size_t count;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_append_n(&text, buffer, count);
    fclose(file);
    return text_string(&text);
}

// Those that are installed with the examples.
static void test_descriptions(void **state) {
    (void)state;
    static const char *const names[] = {"cpu-cluster", "cloud-node", "itanium-cluster"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        MachineModel model;
        Diagnostics *diagnostics;
        const char *path =
            arena_printf(arena, "%s/examples/machines/%s.machine", DISTAL_SOURCE_DIR, names[n]);
        if (!read_text(read_file(path), &model, &diagnostics))
            fail_msg("%s: %s", path, diagnostics->list.items[0].message);
        assert_same_text(&model);
    }
}

// The cluster of the Tensor Contraction Engine's paper: factors and memory that its table 8 follows from.
static void test_cluster(void **state) {
    (void)state;
    MachineModel model;
    Diagnostics *diagnostics;
    const char *path = DISTAL_SOURCE_DIR "/examples/machines/itanium-cluster.machine";
    assert_true(read_text(read_file(path), &model, &diagnostics));
    assert_near(curve_at(&model.factors[COLLECTIVE_ALL_GATHER], 4), M_SQRT2);
    assert_near(curve_at(&model.factors[COLLECTIVE_ALL_GATHER], 16), 2);
    assert_near(curve_at(&model.factors[COLLECTIVE_ALL_REDUCE], 16), 5.6);
    const ModelRanks ranks = model_ranks(&model, 16, 0);
    assert_near(ranks.memory, 1 << 29);
    assert_near(model_disk_rate(&ranks, false, 1), 10e6);
    assert_near(model_message_seconds(&ranks, 0, 1, 200e6), 1);
}

static void test_curve(void **state) {
    (void)state;
    const Curve curve = {3, {10, 100, 1000}, {1, 10, 1000}};
    assert_near(curve_at(&curve, 1), 1);
    assert_near(curve_at(&curve, 10), 1);
    assert_near(curve_at(&curve, 20), 2);   // as the size
    assert_near(curve_at(&curve, 200), 40); // as its square
    assert_near(curve_at(&curve, 1e9), 1000);
    const Curve constant = curve_constant(7);
    assert_near(curve_at(&constant, 0.1), 7);
}

static void test_ranks(void **state) {
    (void)state;
    MachineModel model;
    Diagnostics *diagnostics;
    assert_true(read_text(small, &model, &diagnostics));
    // Alone in a node, a rank has all of its cores and of its memory bandwidth.
    ModelRanks ranks = model_ranks(&model, 1, 0);
    assert_near(ranks.threads, 8);
    assert_near(ranks.memory, 64.0 * 1024 * 1024 * 1024);
    assert_near(model_rate(&ranks, MODEL_LOOPS, 1, 8), 2e9 * (1 + 0.5 * 7));
    assert_near(model_rate(&ranks, MODEL_LOOPS, 1, 4), 2e9 * (1 + 0.5 * 7) * 1.5);
    assert_near(model_copy_rate(&ranks, 1 << 20), 100e9);
    // With one thread it has one core.
    ranks = model_ranks(&model, 1, 1);
    assert_near(model_rate(&ranks, MODEL_LOOPS, 1, 8), 2e9);
    assert_near(model_copy_rate(&ranks, 1 << 20), 40e9);
    // Ranks fill one node after the other.
    ranks = model_ranks(&model, 16, 0);
    assert_near(ranks.in_unit[0], 8);
    assert_near(ranks.in_unit[1], 1);
    assert_near(ranks.memory, 8.0 * 1024 * 1024 * 1024);
    assert_near(model_copy_rate(&ranks, 1 << 26), 12.5e9);
    // More of them than there are cores share these.
    ranks = model_ranks(&model, 64, 0);
    assert_near(ranks.in_unit[0], 16);
    assert_near(ranks.core_share, 0.5);
    assert_near(model_rate(&ranks, MODEL_LOOPS, 1, 8), 2e9 * (1 + 0.5 * 7) / 16 * 0.75);
}

static void test_messages(void **state) {
    (void)state;
    MachineModel model;
    Diagnostics *diagnostics;
    assert_true(read_text(small, &model, &diagnostics));
    const ModelRanks ranks = model_ranks(&model, 32, 0);
    assert_near(model_message_seconds(&ranks, 1, 1, 5e9), 1);
    // All eight ranks of a node receive through one link, or one of them does.
    assert_near(model_message_seconds(&ranks, 0, 1, 1 << 20), (1 << 20) / 1.5e9);
    assert_near(model_message_seconds(&ranks, 0, 0.125, 1 << 20), (1 << 20) / 10e9);
    assert_near(model_disk_rate(&ranks, false, 4096), 12.5e6);
}

// One mistake a line, at its line and column.
static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int32_t line, column;
        const char *message;
    } cases[] = {
        {"speed 3\n", 1, 1, "unknown word 'speed'"},
        {"rate\n", 1, 1, "expected one of gemm"},
        {"rate gem 1GFLOP/s\n", 1, 6, "unknown rate 'gem'; did you mean 'gemm'?"},
        {"rate gemm\n", 1, 6, "'gemm' has no value"},
        {"\nrate gemm 1GB/s\n", 2, 11, "'GB/s' is no unit here"},
        {"rate gemm 16:1GFLOP/s 8:2GFLOP/s\n", 1, 23, "sizes increase"},
        {"rate gemm -1GFLOP/s\n", 1, 11, "is not a positive number"},
        {"rate gemm 1e999\n", 1, 11, "is not a positive number"},
        {"rate gemm 1GFLOP/s\nrate gemm 1GFLOP/s\n", 2, 6, "'gemm' is given twice"},
        {"overlap 1.5\n", 1, 9, "'1.5' is more than 1"},
        {"overlap 1 2\n", 1, 11, "unexpected '2'"},
        {"machine \"abc\n", 1, 9, "no closing quote"},
        {"level node x latency 1us bandwidth 1GB/s\n", 1, 12, "'x' is not a positive number"},
        {"level node 1.5 latency 1us bandwidth 1GB/s\n", 1, 12, "'1.5' is not an integer"},
        {"level node 2 latency 1us\n", 1, 7, "level 'node' has no bandwidth"},
        {"level node 2 latency 1us latency 1us\n", 1, 26, "'latency' is given twice"},
        {"level node 2 speed 1us\n", 1, 14, "unknown figure of a level 'speed'"},
        {"", 0, 0, "the machine has no level"},
        {"level node 2 latency 1us bandwidth 1GB/s\n", 0, 0, "no level has a bandwidth of memory"},
        {"level node 2 latency 1us bandwidth 1GB/s copy 1GB/s\n", 0, 0, "no rate of matrix products"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        MachineModel model;
        Diagnostics *diagnostics;
        assert_false(read_text(cases[c].text, &model, &diagnostics));
        const Diagnostic *first = &diagnostics->list.items[0];
        if (first->span.line != cases[c].line || first->span.column != cases[c].column ||
            !strstr(first->message, cases[c].message))
            fail_msg("case %zu: %d:%d: %s", c, first->span.line, first->span.column, first->message);
    }
}

int main(void) {
    arena = arena_create();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),         cmocka_unit_test(test_print),    cmocka_unit_test(test_curve),
        cmocka_unit_test(test_ranks),        cmocka_unit_test(test_messages), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_descriptions), cmocka_unit_test(test_cluster),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(arena);
    return failed;
}
