// SPDX-License-Identifier: BSD-3-Clause
// Plans for thousands of ranks: the part of one rank takes little memory and few operations, whatever the
// number of ranks, and figures of all ranks are those that counting by hand gives. With DISTAL_TIMES set it
// prints what each takes.
#include "pipeline/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const char product[] = "param n = 65536, p = 16384\nmachine M = grid(p)\n"
                              "tensor y(n): f64; tensor A(n, n): f64; tensor x(n): f64\n"
                              "place y(i) -> M(i); place A(i, j) -> M(i); place x(j) -> M(j)\n"
                              "y(i) = A(i, j) * x(j)\n";
static const char redistribution[] = "param n = 65536, p = 16384\nmachine M = grid(p)\n"
                                     "tensor A(n, n): f64; tensor B(n, n): f64\n"
                                     "place A(x, y) -> M(y); place B(x, y) -> M(x)\nA(i, j) = B(i, j)\n";

// Sums by columns: each rank has partial results of all rows, which are distributed, or on all ranks.
static const char sums_by_rows[] =
    "param n = 65536, p = 16384\nmachine M = grid(p)\n"
    "tensor y(n): f64; tensor A(n, n): f64; tensor x(n): f64\n"
    "place y(i) -> M(i); place A(i, j) -> M(j); place x(j) -> M(j)\ny(i) = A(i, j) * x(j)\n"
    "schedule y { distribute({j}, {jo}, {ji}, M); reorder({jo, i, ji}); communicate({y, A, x}, jo) }\n";
static const char sums_everywhere[] =
    "param n = 65536, gx = 128, gy = 128\nmachine M = grid(gx, gy)\n"
    "tensor y(n): f64; tensor A(n, n): f64; tensor x(n): f64\n"
    "place y(i) -> M(i, *); place A(i, j) -> M(i, j); place x(j) -> M(*, j)\ny(i) = A(i, j) * x(j)\n"
    "schedule y { distribute({i, j}, {io, jo}, {ii, ji}, M); communicate({y, A, x}, jo) }\n";
static const char dot[] = "param n = 65536, p = 16384\nmachine M = grid(p)\n"
                          "tensor a: f64; tensor x(n): f64; tensor y(n): f64\n"
                          "place x(i) -> M(i); place y(i) -> M(i)\na = x(i) * y(i)\n"
                          "schedule a { distribute({i}, {io}, {ii}, M); communicate({a, x, y}, io) }\n";

// Blocks that each rank computes are at home on all ranks of its row.
static const char copies[] =
    "param n = 65536, gx = 1, gy = 4096\nmachine M = grid(gx, gy)\ntensor A(n, n): f64; tensor B(n, n): f64\n"
    "place A(x, y) -> M(x, *); place B(x, y) -> M(x, y)\nA(i, j) = B(i, j)\n"
    "schedule A { distribute({i, j}, {io, jo}, {ii, ji}, M); communicate({A, B}, jo) }\n";

// Programs on 16384 ranks, and how many messages and operations the part of one rank may have at most.
static const struct {
    const char *name; // of an example, or of a text above
    const char *text;
    ParamOverride params[4];
    int param_count;
    int64_t operations, messages;
} programs[] = {
    {"cannon", NULL, {{"n", 65536}, {"g", 128}}, 2, 600, 600},
    {"pumma", NULL, {{"n", 65536}, {"g", 128}}, 2, 600, 600},
    {"summa", NULL, {{"n", 65536}, {"gx", 128}, {"gy", 128}, {"chunk", 512}}, 4, 600, 600},
    {"johnson", NULL, {{"n", 65536}, {"gx", 16}, {"gy", 32}, {"gz", 32}}, 4, 8, 8},
    {"solomonik", NULL, {{"n", 65536}, {"g", 64}, {"c", 4}}, 3, 200, 200},
    {"cosma", NULL, {{"n", 65536}, {"gx", 16}, {"gy", 32}, {"gz", 32}}, 4, 16, 16},
    {"y = A x", product, {{NULL, 0}}, 0, 4, 16400},
    {"redistribution", redistribution, {{NULL, 0}}, 0, 4, 2 * 16384},
    {"sums by rows", sums_by_rows, {{NULL, 0}}, 0, 4, 16400},
    {"sums everywhere", sums_everywhere, {{NULL, 0}}, 0, 4, 8},
    {"dot", dot, {{NULL, 0}}, 0, 4, 8},
};
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs };

static const char *read_example(Arena *arena, const char *name) {
    char *text = arena_alloc(arena, 1 << 14);
    FILE *file = fopen(arena_printf(arena, "%s/examples/%s.distal", DISTAL_SOURCE_DIR, name), "r");
    assert_non_null(file);
    assert_in_range(fread(text, 1, (1 << 14) - 1, file), 1, (1 << 14) - 2);
    fclose(file);
    return text;
}

static Pipeline *compile(Arena *arena, const char *text, const ParamOverride *params, int count,
                         int64_t ranks) {
    Pipeline *pipeline = pipeline_create(arena, (Source){"test", text}, params, count, ranks);
    if (!pipeline_run(pipeline, PASS_PLAN)) {
        Text message = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &message);
        fail_msg("%s", text_string(&message));
    }
    return pipeline;
}

// What one rank does before it executes, all passes included.
static void part_of_one_rank(void **state) {
    (void)state;
    for (int p = 0; p < PROGRAM_COUNT; p++)
        for (int64_t rank = 0; rank < 16384; rank += 5461) {
            Arena *arena = arena_create();
            const char *text = programs[p].text ? programs[p].text : read_example(arena, programs[p].name);
            const clock_t start = clock();
            const Pipeline *pipeline = compile(arena, text, programs[p].params, programs[p].param_count, 0);
            StatementPlan *plan = pipeline->plan->statements[0];
            assert_int_equal(plan->ranks, 16384);
            int64_t calls = 0, messages = 0;
            for (int t = 0; t < plan->spmd->transfer_count; t++) {
                const RankTransfer *part = plan_rank_transfer(plan, t, rank);
                const RankStep *last = &part->steps[part->step_count - 1];
                const int64_t count = last->first_operation + last->operation_count;
                calls += count;
                for (int64_t o = 0; o < count; o++)
                    messages += part->operations[o].send_count + part->operations[o].receive_count;
            }
            const int64_t bytes = arena_size(arena);
            if (getenv("DISTAL_TIMES"))
                print_message("%-16s rank %5d: %6.1f ms, %5.1f MB, %d operations, %d parts\n",
                              programs[p].name, (int)rank, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC,
                              1e-6 * (double)bytes, (int)calls, (int)messages);
            assert_in_range(calls, 0, programs[p].operations);
            assert_in_range(messages, 0, programs[p].messages);
            // A kilobyte for each message, where there are many.
            assert_in_range(bytes, 1, 20000000 + 1024 * messages);
            arena_free(arena);
        }
}

static const TensorFigures *figures(const Pipeline *pipeline, const char *tensor) {
    const StatementFigures *all = plan_figures(pipeline->plan->statements[0]);
    for (int t = 0; t < all->tensor_count; t++)
        if (strcmp(all->tensors[t].tensor->name, tensor) == 0)
            return &all->tensors[t];
    fail();
    return NULL;
}

// A rank plans for itself what the figures say of it.
static void check_part(const Pipeline *pipeline, int64_t rank) {
    StatementPlan *plan = pipeline->plan->statements[0];
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const RankTransfer *part = plan_rank_transfer(plan, t, rank);
        const TransferFigures *all = &plan_figures(plan)->transfers[t];
        int64_t bytes = 0, messages = 0;
        for (int64_t s = 0; s < part->step_count; s++)
            for (int64_t o = 0; o < part->steps[s].operation_count; o++) {
                bytes += part->operations[part->steps[s].first_operation + o].bytes;
                messages += part->operations[part->steps[s].first_operation + o].messages;
            }
        assert_int_equal(bytes, all->bytes[rank]);
        assert_int_equal(messages, all->messages[rank]);
        assert_int_equal(rank_buffer_bytes(part), all->buffer_bytes[rank]);
    }
}

static void check_parts(const Pipeline *pipeline) {
    const int64_t ranks = pipeline->plan->statements[0]->ranks;
    const int64_t some[] = {0, 1, ranks / 2, ranks - 1};
    for (int r = 0; r < 4; r++)
        check_part(pipeline, some[r]);
}

// Blocks of ceil(n / p) coordinates, the last of which may be short or empty.
static int64_t block(int64_t n, int64_t p, int64_t index) {
    const int64_t length = (n + p - 1) / p, first = index * length;
    return first >= n ? 0 : first + length > n ? n - first : length;
}

static void all_gathers(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{65536, 16384}, {10007, 2048}, {5000, 4096}, {3, 2}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s][0], p = sizes[s][1];
        Arena *arena = arena_create();
        const Pipeline *pipeline = compile(arena, product, (ParamOverride[]){{"n", n}, {"p", p}}, 2, 0);
        const TensorFigures *x = figures(pipeline, "x");
        int64_t owners = 0;
        for (int64_t rank = 0; rank < p; rank++)
            owners += block(n, p, rank) > 0;
        for (int64_t rank = 0; rank < p; rank++) {
            const int64_t own = block(n, p, rank); // ranks without rows compute nothing
            assert_int_equal(x->bytes_received[rank], own ? 8 * (n - own) : 0);
            assert_int_equal(x->messages_received[rank], own ? owners - 1 : 0);
        }
        assert_string_equal(x->pattern, "all-gather");
        check_parts(pipeline);
        arena_free(arena);
    }
}

static void redistributions(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{16384, 4096}, {10007, 2048}, {1000, 999}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s][0], p = sizes[s][1];
        Arena *arena = arena_create();
        const Pipeline *pipeline =
            compile(arena, redistribution, (ParamOverride[]){{"n", n}, {"p", p}}, 2, 0);
        const TensorFigures *b = figures(pipeline, "B");
        int64_t owners = 0;
        for (int64_t rank = 0; rank < p; rank++)
            owners += block(n, p, rank) > 0;
        for (int64_t rank = 0; rank < p; rank++) {
            const int64_t own = block(n, p, rank);
            assert_int_equal(b->bytes_received[rank], 8 * own * (n - own));
            assert_int_equal(b->messages_received[rank], own ? owners - 1 : 0);
        }
        assert_string_equal(b->pattern, "exchange");
        check_parts(pipeline);
        arena_free(arena);
    }
}

// Every rank takes its row block of B and its column block of C but for what it has.
static void summa(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t n = 10000, gx = 96, gy = 64;
    const Pipeline *pipeline =
        compile(arena, read_example(arena, "summa"),
                (ParamOverride[]){{"n", n}, {"gx", gx}, {"gy", gy}, {"chunk", 70}}, 4, 0);
    const TensorFigures *b = figures(pipeline, "B"), *c = figures(pipeline, "C");
    for (int64_t rank = 0; rank < gx * gy; rank++) {
        const int64_t rows = block(n, gx, rank / gy), columns = block(n, gy, rank % gy);
        const bool works = rows > 0 && columns > 0;
        assert_int_equal(b->bytes_received[rank], works ? 8 * rows * (n - columns) : 0);
        assert_int_equal(c->bytes_received[rank], works ? 8 * columns * (n - rows) : 0);
    }
    assert_string_equal(b->pattern, "broadcast");
    assert_string_equal(c->pattern, "broadcast");
    check_parts(pipeline);
    arena_free(arena);
}

// Blocks that pass from rank to rank are counted by turn; each rank, planned for itself, has to find the
// same. The grids are not square, and extents are divisible by nothing, or smaller than the grid.
static void rotations(void **state) {
    (void)state;
    static const struct {
        const char *name;
        ParamOverride params[7];
    } cases[] = {
        {"cannon", {{"n", 31}, {"gx", 7}, {"gy", 5}}},
        {"cannon", {{"n", 31}, {"gx", 5}, {"gy", 7}}},
        {"cannon", {{"n", 4}, {"gx", 7}, {"gy", 6}}},
        {"cannon", {{"n", 37}, {"gx", 2}, {"gy", 13}}},
        {"cannon", {{"n", 37}, {"gx", 13}, {"gy", 2}}},
        {"pumma", {{"n", 31}, {"gx", 7}, {"gy", 5}}},
        {"pumma", {{"m", 4}, {"n", 29}, {"q", 11}, {"gx", 3}, {"gy", 11}}},
        {"solomonik", {{"n", 41}, {"gx", 5}, {"g", 4}, {"c", 3}}},
        {"coupled_cluster", {{"n", 17}, {"o", 2}, {"gx", 5}, {"gy", 4}}},
        {"cannon_summa", {{"n", 53}, {"gx", 3}, {"gy", 4}, {"cx", 2}, {"cy", 2}, {"chunk", 3}}},
        {"cannon_summa", {{"n", 53}, {"gx", 3}, {"gy", 4}, {"cx", 2}, {"cy", 2}, {"chunk", 99}}},
        {"summa_cannon", {{"n", 53}, {"gx", 3}, {"gy", 2}, {"cx", 3}, {"cy", 3}, {"steps", 3}}},
        {"summa_cannon", {{"n", 53}, {"gx", 3}, {"gy", 2}, {"cx", 2}, {"cy", 5}, {"steps", 2}}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Arena *arena = arena_create();
        int count = 0;
        while (count < 7 && cases[c].params[count].name)
            count++;
        const Pipeline *pipeline =
            compile(arena, read_example(arena, cases[c].name), cases[c].params, count, 0);
        for (int64_t rank = 0; rank < pipeline->plan->statements[0]->ranks; rank++)
            check_part(pipeline, rank);
        arena_free(arena);
    }
}

// Nearly as many ranks as in the other tests, and steps times ranks that could not be visited one by one.
static void many_turns(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t n = 40009, gx = 40000, gy = 2;
    const Pipeline *pipeline = compile(arena, read_example(arena, "cannon"),
                                       (ParamOverride[]){{"n", n}, {"gx", gx}, {"gy", gy}}, 3, 0);
    const TensorFigures *b = figures(pipeline, "B"), *c = figures(pipeline, "C");
    for (int64_t rank = 0; rank < gx * gy; rank++) {
        const int64_t rows = block(n, gx, rank / gy), columns = block(n, gy, rank % gy);
        assert_int_equal(b->bytes_received[rank], 8 * rows * (n - columns));
        assert_int_equal(c->bytes_received[rank], rows ? 8 * columns * (n - rows) : 0);
    }
    assert_string_equal(b->pattern, "shift");
    assert_string_equal(c->pattern, "shift");
    arena_free(arena);
}

// Ranks that execute hundreds of processors each have thousands of steps, in which few classes take part.
static void few_ranks(void **state) {
    (void)state;
    static const struct {
        int64_t n, gx, gy, ranks;
    } cases[] = {{200, 32, 32, 2}, {97, 30, 30, 4}, {50, 12, 25, 5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Arena *arena = arena_create();
        const clock_t start = clock();
        const Pipeline *pipeline =
            compile(arena, read_example(arena, "cannon"),
                    (ParamOverride[]){{"n", cases[c].n}, {"gx", cases[c].gx}, {"gy", cases[c].gy}}, 3,
                    cases[c].ranks);
        for (int64_t rank = 0; rank < cases[c].ranks; rank++)
            check_part(pipeline, rank);
        if (getenv("DISTAL_TIMES"))
            print_message("%d x %d processors on %d ranks: %.1f ms\n", (int)cases[c].gx, (int)cases[c].gy,
                          (int)cases[c].ranks, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        arena_free(arena);
    }
}

// A result that several ranks compute goes to the first of them; nothing else moves.
static void cosma(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t n = 4000, gx = 10, gy = 12, gz = 25;
    const Pipeline *pipeline = compile(arena, read_example(arena, "cosma"),
                                       (ParamOverride[]){{"n", n}, {"gx", gx}, {"gy", gy}, {"gz", gz}}, 4, 0);
    const TensorFigures *a = figures(pipeline, "A");
    int64_t home = 0;
    for (int64_t rank = 0; rank < gx * gy * gz; rank++) {
        const int64_t rows = block(n, gx, rank / gz / gy), columns = block(n, gy, rank / gz % gy);
        assert_int_equal(a->bytes_received[rank], rank % gz ? 8 * rows * columns : 0);
        assert_int_equal(figures(pipeline, "B")->bytes_received[rank], 0);
        assert_int_equal(figures(pipeline, "C")->bytes_received[rank], 0);
        home += a->home_bytes[rank];
    }
    assert_int_equal(home, 8 * n * n);
    assert_string_equal(a->pattern, "reduce");
    check_parts(pipeline);
    arena_free(arena);
}

// Ranks with columns have partial results of all rows, and each owner of rows gets the sum of its own.
static void reduce_scatters(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{9000, 3000}, {10007, 2048}, {5000, 4096}, {65536, 16384}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s][0], p = sizes[s][1];
        Arena *arena = arena_create();
        const Pipeline *pipeline = compile(arena, sums_by_rows, (ParamOverride[]){{"n", n}, {"p", p}}, 2, 0);
        const TensorFigures *y = figures(pipeline, "y");
        int64_t owners = 0;
        for (int64_t rank = 0; rank < p; rank++)
            owners += block(n, p, rank) > 0;
        for (int64_t rank = 0; rank < p; rank++) {
            const int64_t own = block(n, p, rank);
            assert_int_equal(y->bytes_received[rank], own ? 8 * (n - own) : 0);
            assert_int_equal(y->messages_received[rank], own ? owners - 1 : 0);
            assert_int_equal(y->buffer_bytes[rank], own ? 8 * n : 0);
        }
        assert_string_equal(y->pattern, "reduce-scatter");
        assert_string_equal(figures(pipeline, "A")->pattern, "local");
        check_parts(pipeline);
        arena_free(arena);
    }
}

// Ranks with columns contribute the sums of their rows, which all ranks of those rows get.
static void all_reduces(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{65536, 128, 128}, {10007, 60, 70}, {1000, 1, 4096}, {50, 90, 40}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s][0], gx = sizes[s][1], gy = sizes[s][2];
        Arena *arena = arena_create();
        const Pipeline *pipeline =
            compile(arena, sums_everywhere, (ParamOverride[]){{"n", n}, {"gx", gx}, {"gy", gy}}, 3, 0);
        const TensorFigures *y = figures(pipeline, "y");
        for (int64_t rank = 0; rank < gx * gy; rank++) {
            const int64_t rows = block(n, gx, rank / gy), columns = block(n, gy, rank % gy);
            assert_int_equal(y->home_bytes[rank], 8 * rows);
            assert_int_equal(y->bytes_received[rank], columns ? 8 * rows : 0);
            assert_int_equal(y->messages_received[rank], rows && columns);
        }
        assert_string_equal(y->pattern, "all-reduce");
        assert_string_equal(figures(pipeline, "x")->pattern, "local");
        check_parts(pipeline);
        arena_free(arena);
    }
}

// Each rank sends its block to all that have it at home. There are as many such pairs as the square of a row.
static void replicas(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{65536, 1, 4096}, {10007, 60, 70}, {50, 90, 40}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s][0], gx = sizes[s][1], gy = sizes[s][2];
        Arena *arena = arena_create();
        const clock_t start = clock();
        const Pipeline *pipeline =
            compile(arena, copies, (ParamOverride[]){{"n", n}, {"gx", gx}, {"gy", gy}}, 3, 0);
        const TensorFigures *a = figures(pipeline, "A");
        if (getenv("DISTAL_TIMES"))
            print_message("replicas on %d x %d: %.1f ms\n", (int)gx, (int)gy,
                          1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        for (int64_t rank = 0; rank < gx * gy; rank++) {
            const int64_t rows = block(n, gx, rank / gy), columns = block(n, gy, rank % gy);
            assert_int_equal(a->home_bytes[rank], 8 * rows * n);
            assert_int_equal(a->bytes_received[rank], 8 * rows * columns);
            assert_int_equal(a->messages_received[rank], rows * columns > 0);
        }
        assert_string_equal(a->pattern, "replicate");
        check_parts(pipeline);
        arena_free(arena);
    }
}

// A scalar is on every rank; those with elements contribute to it.
static void dots(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const int64_t n = 20000, p = 16384;
    const Pipeline *pipeline = compile(arena, dot, (ParamOverride[]){{"n", n}, {"p", p}}, 2, 0);
    const TensorFigures *a = figures(pipeline, "a");
    for (int64_t rank = 0; rank < p; rank++) {
        assert_int_equal(a->bytes_received[rank], block(n, p, rank) ? 8 : 0);
        assert_int_equal(a->messages_received[rank], block(n, p, rank) > 0);
    }
    assert_string_equal(a->pattern, "all-reduce");
    check_parts(pipeline);
    arena_free(arena);
}

// Each rank gets at most 12 elements, from a few other ranks. Trying all pairs of ranks would not end in
// time.
static void few_of_many_blocks(void **state) {
    (void)state;
    static const struct {
        const char *to, *from, *extent, *index;
    } cases[] = {{"x", "cyclic(x, 2)", "12 * p", "i"},
                 {"cyclic(x, 2)", "x", "12 * p", "i"},
                 {"cyclic(x, 3)", "cyclic(x, 2)", "12 * p", "i"},
                 {"x", "cyclic(x, 2)", "24 * p", "2 * i"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "param p = 65536\nmachine M = grid(p)\ntensor A(12 * p): f64; tensor B(%s): f64\n"
                 "place A(x) -> M(%s); place B(x) -> M(%s)\nA(i) = B(%s)\n",
                 cases[i].extent, cases[i].to, cases[i].from, cases[i].index);
        Arena *arena = arena_create();
        const Pipeline *pipeline = compile(arena, text, NULL, 0, 0);
        int64_t bytes = 0;
        for (int64_t rank = 0; rank < 65536; rank++)
            bytes += figures(pipeline, "B")->bytes_received[rank];
        assert_in_range(bytes, 80 * 65536, 96 * 65536);
        arena_free(arena);
    }
}

// Of a product of `count` sparse matrices, element by element.
static int64_t bytes_of_product(int count) {
    Arena *arena = arena_create();
    Text text = text_create(arena), factors = text_create(arena);
    for (int t = 0; t < count; t++) {
        text_printf(&text, "tensor B%d(10, 10): f64, csr\n", t);
        text_printf(&factors, " * B%d(i, j)", t);
    }
    text_printf(&text, "tensor A(10, 10): f64, csr\nA(i, j) = 2%s\n", text_string(&factors));
    compile(arena, text_string(&text), NULL, 0, 0);
    const int64_t bytes = arena_size(arena);
    arena_free(arena);
    return bytes;
}

// Memory of the compiler grows about as the number of operands does.
static void many_operands(void **state) {
    (void)state;
    const int64_t fewer = bytes_of_product(40), more = bytes_of_product(80);
    if (getenv("DISTAL_TIMES"))
        print_message("40 operands: %.1f MB, 80: %.1f MB\n", 1e-6 * (double)fewer, 1e-6 * (double)more);
    assert_in_range(more, 1, 3 * fewer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(part_of_one_rank),   cmocka_unit_test(all_gathers),
        cmocka_unit_test(redistributions),    cmocka_unit_test(summa),
        cmocka_unit_test(rotations),          cmocka_unit_test(many_turns),
        cmocka_unit_test(few_ranks),          cmocka_unit_test(cosma),
        cmocka_unit_test(reduce_scatters),    cmocka_unit_test(all_reduces),
        cmocka_unit_test(replicas),           cmocka_unit_test(dots),
        cmocka_unit_test(few_of_many_blocks), cmocka_unit_test(many_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
