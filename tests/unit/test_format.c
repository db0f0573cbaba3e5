// SPDX-License-Identifier: BSD-3-Clause
// Level formats: what the dense level can do, as expressions and on numbers, and that the others are declared
// only.
#include "format/formats.h"
#include "format/level_list.h"
#include "machine/rect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_table(void **state) {
    (void)state;
    int64_t count;
    const char *const *names = level_format_names(&count);
    for (int64_t i = 0; i < count; i++)
        assert_string_equal(level_format(names[i])->name, names[i]);
    assert_null(level_format("csr"));
    const LevelFormat *dense = level_format("dense");
    assert_ptr_equal(dense, level_type_dense().format);
    assert_true(dense->full && dense->ordered && dense->unique && dense->compact && dense->contiguous);
    assert_false(dense->branchless);
    assert_true(dense->bind && dense->locate && dense->insert && dense->iterate && dense->image);
    static const char *const lists[] = {"compressed", "singleton"};
    for (int i = 0; i < 2; i++) {
        const LevelFormat *list = level_format(lists[i]);
        assert_true(list->bind && list->range && list->coordinate && list->search && list->found &&
                    list->run_end);
        assert_null(list->locate);
    }
}

// A kernel whose only node is the view of a matrix, stored in the order of its modes.
static void bind_matrix(Arena *arena, LoopKernel *kernel, LoopNode **view, Level levels[2]) {
    *kernel = (LoopKernel){.arena = arena};
    *view = loop_node(arena, LOOP_WAIT);
    (*view)->array = loop_add_array(kernel, (LoopArray){.name = "A", .type = TYPE_F64});
    for (int l = 0; l < 2; l++) {
        levels[l] = (Level){.type = level_type_dense(), .mode = l, .last = l == 1};
        levels[l].type.format->bind(kernel, *view, &levels[l]);
    }
}

static int64_t position(const Level levels[2], Arena *arena, int64_t i, int64_t j, const int64_t *vars) {
    const IntExpr *at = NULL;
    const int64_t coordinates[] = {i, j};
    int64_t value;
    for (int l = 0; l < 2; l++)
        at = levels[l].type.format->locate(arena, &levels[l], at, int_const(arena, coordinates[l]));
    assert_true(int_eval(at, NULL, vars, &value));
    return value;
}

static void test_dense_locates(void **state) {
    (void)state;
    Arena *arena = arena_create();
    LoopKernel kernel;
    LoopNode *view;
    Level levels[2];
    bind_matrix(arena, &kernel, &view, levels);
    // First coordinates of both modes, and the stride of the outer one: that of the last is 1.
    assert_int_equal(view->field_count, 3);
    assert_string_equal(view->fields[0].member, "lo");
    assert_string_equal(view->fields[1].member, "stride");
    assert_int_equal(view->fields[2].mode, 1);
    assert_true(levels[1].stride->op == INT_CONST && levels[1].stride->value == 1);
    int64_t vars[3] = {0};
    vars[view->fields[0].var] = 10;
    vars[view->fields[1].var] = 7;
    vars[view->fields[2].var] = 100;
    for (int64_t i = 10; i < 13; i++)
        for (int64_t j = 100; j < 107; j++)
            assert_int_equal(position(levels, arena, i, j, vars), (i - 10) * 7 + j - 100);
    // Coordinate 0 need not be in the view for a pointer to be moved to it.
    assert_int_equal(position(levels, arena, 0, 0, vars), -170);
    const LoopNode *loop =
        levels[0].type.format->iterate(arena, &levels[0], NULL, 2, int_const(arena, 3), int_const(arena, 9));
    assert_int_equal(loop->kind, LOOP_FOR);
    assert_int_equal(loop->lower->value, 3);
    assert_int_equal(loop->upper->value, 9);
    arena_free(arena);
}

// Every list of up to four levels of all types is legal or becomes so by what is suggested, and named formats
// are.
static void test_level_lists(void **state) {
    (void)state;
    Arena *arena = arena_create();
    int64_t formats;
    const char *const *names = level_format_names(&formats);
    int64_t legal[5] = {0};
    for (int order = 0; order <= 4; order++) {
        int64_t count = 1;
        for (int l = 0; l < order; l++)
            count *= 2 * formats;
        for (int64_t drawn = 0; drawn < count; drawn++) {
            LevelType levels[MAX_ORDER];
            int64_t rest = drawn;
            for (int l = 0; l < order; l++, rest /= 2 * formats)
                levels[l] =
                    (LevelType){.format = level_format(names[rest / 2 % formats]), .nonunique = rest % 2};
            int at = -1;
            if (!level_list_refuse(arena, order, levels, &at)) {
                legal[order]++;
                continue;
            }
            assert_in_range(at, 0, order - 1);
            level_list_mend(order, levels);
            assert_null(level_list_refuse(arena, order, levels, &at));
        }
    }
    // Levels that stand for themselves, and a compressed level with one or more singleton levels below it.
    const int64_t alone = formats - 1;
    assert_int_equal(legal[0], 1);
    assert_int_equal(legal[1], alone);
    assert_int_equal(legal[2], alone * alone + 1);
    assert_int_equal(legal[3], alone * alone * alone + 2 * alone + 1);

    const char *const *shorthands = tensor_format_names(&formats);
    for (int64_t f = 0; f < formats; f++) {
        const TensorFormat *format = tensor_format(shorthands[f]);
        for (int order = format->least; order <= format->most; order++) {
            LevelType levels[MAX_ORDER];
            int mode_order[MAX_ORDER], at;
            tensor_format_levels(format, order, levels, mode_order);
            assert_null(level_list_refuse(arena, order, levels, &at));
            assert_true(level_list_is_sparse(order, levels));
        }
    }
    arena_free(arena);
}

// Coordinates are wide where the largest does not fit into 32 bits, and only where they are stored.
static void test_widths(void **state) {
    (void)state;
    LevelType levels[2] = {level_type_dense(), {.format = level_format("compressed")}};
    const int mode_order[2] = {1, 0};
    const int64_t limit = (int64_t)1 << 31;
    assert_false(level_list_set_widths(2, levels, mode_order, (int64_t[]){limit, 4 * limit}));
    assert_false(levels[0].wide || levels[1].wide);
    assert_true(level_list_set_widths(2, levels, mode_order, (int64_t[]){limit + 1, 4 * limit}));
    assert_true(!levels[0].wide && levels[1].wide);
    assert_false(level_list_set_widths(2, levels, mode_order, (int64_t[]){2 * limit, 1}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_dense_locates),
        cmocka_unit_test(test_level_lists),
        cmocka_unit_test(test_widths),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
