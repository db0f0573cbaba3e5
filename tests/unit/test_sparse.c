// SPDX-License-Identifier: BSD-3-Clause
// Kernels of statements with sparse tensors: each shape of statement with drawn formats, orders of storage
// and entries, compiled, run in this process and compared with plain loops over all coordinates of its nests.
#include "sparse_program.h"

// Statements: capital letters are tensors, A the result; lower-case letters are index variables, each with an
// extent of its own, or all with the same after '='. After '!' the result is dense.
static const char *const shapes[] = {
    "A(i) = B(i, j) * C(j)",
    "A(j) = B(i, j) * C(i)",
    "A(i) = B(i, j)",
    "A(i, j) = B(i, j)",
    "A(j, i) = B(i, j)",
    "A(i, j) = B(i, j) * C(i, j)",
    "A(i, j) = B(i, j) + C(i, j)",
    "A(i, j) = B(i, j) + C(i, j) - D(i, j)",
    "A(i, j) = B(i, j) * (C(i, j) + D(i, j))",
    "A(i, j) = B(i, j) * C(i, j) + D(i, j)",
    "A(i, j) = B(i, j) * C(i, j) + D(i, j) * E(i, j)",
    "A(i, j) = (B(i, j) + C(i, j)) * (D(i, j) + E(i, j))",
    "A(i, k) = B(i, j) * C(j, k)",
    "A(i, k) = B(i, j) * C(k, j)",
    "A(i, k) = B(j, i) * C(j, k)",
    "A(i, j) = B(i, j) * C(i, k) * D(k, j)",
    "A(i, j) = B(i, j, k) * C(k)",
    "A(i, k, j) = B(i, j, k)",
    "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)",
    "A(i, j, k) = B(i, j, k) + C(i, j, k)",
    "A = B(i, j) * C(i, j)",
    "A = B(i) * C(i)",
    "A = B(i, j, k) * C(i, j, k)",
    "A(i) += B(i, j) * C(j)",
    "A(i) = D(i) - 2 * B(i, j) * C(j) + E(i, j) * C(j)",
    "A(i) = D(i) + B(i, j) - E(i, k) * C(k) / 4",
    "!A(i, j) = -B(i, j) * 3 + 0.5",
    "A(i, j) = sqrt(abs(B(i, j))) + max(C(i, j), D(i, j))",
    "!A(i, j) = exp(B(i, j)) * C(i, j)",
    "A(i, j) = B(i, j) / 2 - C(i) * D(i, j)",
    "A(i, j) = B(i) + C(i, j)",
    "A(i, j) = B(i) * C(j)",
    "A(i, j) = B(i) + C(j)",
    "A(i, j) = B(i, j) * B(i, j) + B(i, j)",
    "=A(i) = B(i, i)",
    "=A(i, j) = B(i, j) + B(j, i)",
    "=A(i, j) = B(i, j) * B(j, i)",
    "=A(i) = B(i, i) * C(i) + D(i)",
    "=A = B(i, i)",
    "=A(i, j) = B(i, i) * C(i, j)",
    "=A(i, j) = B(i, j, i) + C(i, j)",
    "=A(i, l) = B(i, j) * C(j, k) * D(k, l)",
    "A(i, j) = B(i, j, k, l) * C(k, l)",
    "!=A(i, j) = D(j, k) - B(j, k, j)",
    "!=A(i, j) = B(j, k) - C(j, k, j)",
};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

typedef struct {
    char name; // capital letter
    int order;
    char vars[MAX_ORDER];
} ShapeTensor;

static int tensors_of(const char *shape, ShapeTensor *tensors) {
    int count = 0;
    for (const char *at = shape; *at; at++) {
        if (*at < 'A' || *at > 'Z')
            continue;
        ShapeTensor tensor = {.name = *at};
        if (at[1] == '(')
            for (at += 2; *at != ')'; at++)
                if (*at >= 'a' && *at <= 'z')
                    tensor.vars[tensor.order++] = *at;
        bool known = false;
        for (int t = 0; t < count; t++)
            known = known || tensors[t].name == tensor.name;
        if (!known)
            tensors[count++] = tensor;
    }
    return count;
}

// `sparse`: 0 for dense levels, 1 for one that is not, 2 for any.
static void draw_levels(int order, int sparse, Text *to) {
    static const char *const matrix[] = {"{dense, compressed}", "{compressed, compressed}",
                                         "{compressed, dense}", "{compressed(nonunique), singleton}",
                                         "{dense, bitmap}",     "{bitmap, compressed}",
                                         "{dense, dense}"};
    static const char *const levels[] = {"dense", "compressed", "bitmap"};
    static const char *const coo[] = {
        "", "compressed", "compressed(nonunique), singleton",
        "compressed(nonunique), singleton(nonunique), singleton",
        "compressed(nonunique), singleton(nonunique), singleton(nonunique), singleton"};
    if (order == 0)
        return;
    if (sparse == 0) {
        text_append(to, ", {dense");
        for (int l = 1; l < order; l++)
            text_append(to, ", dense");
        text_append(to, "}");
    } else if (order == 2) {
        text_printf(to, ", %s", matrix[draw(sparse == 1 ? 6 : 7)]);
    } else if (draw(4) == 0) {
        text_printf(to, ", {%s}", coo[order]);
    } else {
        for (int l = 0; l < order; l++)
            text_printf(to, "%s%s", l ? ", " : ", {", levels[sparse == 1 && l == 0 ? 1 : draw(3)]);
        text_append(to, "}");
    }
    int modes[MAX_ORDER] = {0};
    for (int m = 0; m < order; m++) {
        const int at = (int)draw((uint64_t)m + 1);
        modes[m] = modes[at];
        modes[at] = m;
    }
    for (int m = 0; m < order && draw(2) == 0; m++) { // as they are, half of the time
        if (m + 1 < order)
            continue;
        for (int l = 0; l < order; l++)
            modes[l] = l;
    }
    for (int l = 0; l < order; l++)
        text_printf(to, "%s%d", l ? ", " : ", order(", modes[l]);
    text_append(to, ")");
}

// The statement with tensors of its own.
static void add_statement(int number, const char *shape, Text *declarations, Text *statements) {
    ShapeTensor tensors[16];
    const bool same = strchr(shape, '=') != strrchr(shape, '=');
    const char *statement = shape + strspn(shape, "!=");
    const int count = tensors_of(statement, tensors);
    const bool sparse_result = tensors[0].order > 0 && *shape != '!' && !strstr(shape, "+= ") && draw(2) == 0;
    // A sum with what is dense has a value everywhere.
    const bool sum = sparse_result && strpbrk(shape, "+-,") && strpbrk(strchr(shape, '=') + 1, "+-x");
    const int size = (int)draw(4); // small, or with an empty mode
    for (int t = 0; t < count; t++) {
        text_printf(declarations, "tensor %c%d%s", tensors[t].name, number, tensors[t].order ? "(" : "");
        for (int m = 0; m < tensors[t].order; m++) {
            const int extents[] = {7, 6, 5, 4}, var = tensors[t].vars[m] - 'i';
            text_printf(declarations, "%s%d", m ? ", " : "",
                        size == 0 && var == 1 && !same ? 0
                        : size == 1                    ? 1
                        : same                         ? 6
                                                       : extents[var]);
        }
        text_printf(declarations, "%s: f64", tensors[t].order ? ")" : "");
        const bool dense = tensors[t].name == 'A' && !sparse_result;
        draw_levels(tensors[t].order, dense ? 0 : !sum && tensors[t].name > 'B' ? 2 : 1, declarations);
        text_append(declarations, "\n");
    }
    for (const char *at = statement; *at; at++) {
        text_append_n(statements, at, 1);
        if (*at >= 'A' && *at <= 'Z')
            text_printf(statements, "%d", number);
    }
    text_append(statements, "\n");
}

static void check_shapes(int first, int last, int draws) {
    Arena *arena = arena_create();
    Text declarations = text_create(arena), statements = text_create(arena);
    for (int s = first, number = 0; s < last; s++)
        for (int d = 0; d < draws; d++)
            add_statement(number++, shapes[s], &declarations, &statements);
    text_append(&declarations, text_string(&statements));
    check_program(text_string(&declarations));
    arena_free(arena);
}

static void test_shapes(void **state) {
    (void)state;
    portions_short(true);
    ranges_always(true);
    const char *more = getenv("DISTAL_SPARSE_DRAWS"), *start = getenv("DISTAL_SPARSE_SEED");
    const int draws = more ? atoi(more) : 4;
    seed = start ? strtoull(start, NULL, 10) : 1;
    for (int s = 0; s < SHAPE_COUNT; s += 8)
        check_shapes(s, s + 8 < SHAPE_COUNT ? s + 8 : SHAPE_COUNT, draws);
}

static int choose_cache(void **state) {
    (void)state;
    static char folder[] = "/tmp/distal-sparse-XXXXXX";
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    // Nests without sparse tensors call these.
    distal_gemv_f64(0, 0, 1, NULL, 1, 1, NULL, 1, NULL, 1);
    setenv("DISTAL_CC", "gcc", 1);
    setenv("DISTAL_CFLAGS", "-O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror", 1);
    return 0;
}

static int remove_cache(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", getenv("XDG_CACHE_HOME"));
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests_name("sparse", tests, choose_cache, remove_cache);
}
