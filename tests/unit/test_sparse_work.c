// SPDX-License-Identifier: BSD-3-Clause
// What it takes to compile statements with sparse tensors grows with the product of order and operands, and
// not with the number of their combinations: counted in nodes of loops and in characters of C, not in time.
#include "pipeline/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_ORDER = 7, MOST_OPERANDS = 6, NODES_EACH = 24, CHARACTERS_EACH = 2600 };

static int64_t node_count(const LoopBody *body) {
    int64_t count = body->count;
    for (int64_t i = 0; i < body->count; i++)
        count += node_count(&body->items[i]->body);
    return count;
}

// "(i, j, k)", rotated by `shift`.
static void print_list(Text *text, int order, int shift, const char *of) {
    for (int m = 0; m < order; m++)
        text_printf(text, "%s%c", m ? ", " : "(", of ? of[(m + shift) % order] : 'n');
    text_append(text, ")");
}

typedef struct {
    const char *target_levels, *levels[2]; // of every other operand
    const char *operators[2];              // alternating
    bool rotated;                          // every other operand is read with its modes in another order
} Shape;

static void check(const Shape *shape, int order, int operands) {
    static const char vars[] = "ijklmpq";
    Arena *arena = arena_create();
    Text text = text_create(arena);
    text_append(&text, "param n = 5\n");
    for (int t = 0; t <= operands; t++) {
        text_printf(&text, "tensor %c", "ABCDEFG"[t]);
        print_list(&text, order, 0, NULL);
        text_printf(&text, ": f64%s\n", t ? shape->levels[t % 2] : shape->target_levels);
    }
    text_append(&text, "A");
    print_list(&text, order, 0, vars);
    for (int t = 1; t <= operands; t++) {
        text_printf(&text, "%s%c", t == 1 ? " = " : shape->operators[t % 2], "ABCDEFG"[t]);
        print_list(&text, order, shape->rotated && t % 2 == 0 ? 1 : 0, vars);
    }
    text_append(&text, "\n");
    Pipeline *pipeline = pipeline_create(arena, (Source){"test", text_string(&text)}, NULL, 0, 1);
    if (!pipeline_run(pipeline, PASS_C)) {
        Text why = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &why);
        fail_msg("%s%s", text_string(&text), text_string(&why));
    }
    const StatementPasses *passes = &pipeline->statements[0];
    const int64_t nodes =
        node_count(&passes->loops->body) + (passes->structure ? node_count(&passes->structure->body) : 0);
    const int64_t each = (int64_t)order * (operands + 1), characters = (int64_t)strlen(pipeline->c_source);
    if (nodes > 80 + NODES_EACH * each || characters > 8000 + CHARACTERS_EACH * each)
        fail_msg("%s: %d nodes, %d characters", text_string(&text), (int)nodes, (int)characters);
    arena_free(arena);
}

static void test_work(void **state) {
    (void)state;
    static const Shape shapes[] = {
        {", csf", {", csf", ", csf"}, {" + ", " - "}, false}, {"", {", csf", ", coo"}, {" + ", " * "}, false},
        {", coo", {", csf", ", coo"}, {" * ", " + "}, false}, {"", {", csf", ", csf"}, {" + ", " + "}, true},
        {", csf", {", csf", ", coo"}, {" * ", " * "}, true},  {", csf", {"", ", csf"}, {" * ", " * "}, false},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int order = 1; order <= MOST_ORDER; order++)
            for (int operands = 1; operands <= MOST_OPERANDS; operands++)
                check(&shapes[s], order, operands);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_work)};
    return cmocka_run_group_tests_name("sparse_work", tests, NULL, NULL);
}
