// SPDX-License-Identifier: BSD-3-Clause
// From index notation to loop nests: which terms are summed over what, in which order the loops stand; the
// printer's line breaks; the verifier on statements that are broken on purpose.
#include "scheduled.h"

#define DECLARATIONS                                                                                         \
    "tensor a: f64; tensor A(3): f64; tensor AA(3, 5): f64; tensor b(3): f64; tensor c(5): f64\n"            \
    "tensor d(3): f64; tensor e: f64; tensor B(3, 5): f64; tensor C(5, 7): f64; tensor D(3, 7): f64\n"       \
    "tensor S(3, 3): f64; tensor T(3, 5, 7): f64\n"

typedef struct {
    const char *statement, *expected;
} Case;

static const Case nests[] = {
    // One nest where nothing, or everything, is summed over the same variables.
    {"A(i) = b(i)", "forall(i) A(i) = b(i)\n"},
    {"A(i) += b(i)", "forall(i) A(i) += b(i)\n"},
    {"AA(i, j) = b(i)", "forall(i) forall(j) AA(i, j) = b(i)\n"},
    {"D(i, j) = B(i, k) * C(k, j)", "forall(i) forall(j) forall(k) D(i, j) += B(i, k) * C(k, j)\n"},
    {"D(i, j) = B(i, k) * C(k, j) - B(i, k) * C(k, j)",
     "forall(i) forall(j) forall(k) D(i, j) += B(i, k) * C(k, j) - B(i, k) * C(k, j)\n"},
    {"AA(i, j) = b(i) * c(j) + B(i, j)", "forall(i) forall(j) AA(i, j) = b(i) * c(j) + B(i, j)\n"},
    {"a = S(i, i)", "forall(i) a += S(i, i)\n"},
    {"a = 3", "a = 3\n"},
    {"a = T(i, j, k)", "forall(i) forall(j) forall(k) a += T(i, j, k)\n"},
    {"A(i) = (B(i, j) + B(i, j)) * c(j)", "forall(i) forall(j) A(i) += (B(i, j) + B(i, j)) * c(j)\n"},
    {"A(i) = (b(i) + 1) * c(j)", "forall(i) forall(j) A(i) += (b(i) + 1) * c(j)\n"},
    {"A(i) = B(i, j) / c(j)", "forall(i) forall(j) A(i) += B(i, j) / c(j)\n"},
    // Several: what is not summed comes first and stores, the others add.
    {"A(i) = b(i) + B(i, j) * c(j)", "forall(i) A(i) = b(i) ;\nforall(i) forall(j) A(i) += B(i, j) * c(j)\n"},
    {"A(i) = B(i, j) * c(j) + b(i)", "forall(i) A(i) = b(i) ;\nforall(i) forall(j) A(i) += B(i, j) * c(j)\n"},
    {"A(i) += B(i, j) * c(j) + b(i)",
     "forall(i) A(i) += b(i) ;\nforall(i) forall(j) A(i) += B(i, j) * c(j)\n"},
    {"A(i) = B(i, j) - d(i) - 2 * b(i)",
     "forall(i) A(i) = -(d(i) + 2 * b(i)) ;\nforall(i) forall(j) A(i) += B(i, j)\n"},
    {"A(i) = b(i) - (B(i, j) - d(i))",
     "forall(i) A(i) = b(i) + d(i) ;\nforall(i) forall(j) A(i) += -B(i, j)\n"},
    {"A(i) = -(B(i, j) - b(i)) - d(i)",
     "forall(i) A(i) = b(i) - d(i) ;\nforall(i) forall(j) A(i) += -B(i, j)\n"},
    {"A(i) = B(i, j) + D(i, k)",
     "forall(i) forall(j) A(i) += B(i, j) ;\nforall(i) forall(k) A(i) += D(i, k)\n"},
    // Terms are what the statement adds up, through signs and parentheses.
    {"A(i) = b(i) + d(i) - (c(j) - (e - B(i, j)))",
     "forall(i) A(i) = b(i) + d(i) + e ;\nforall(i) forall(j) A(i) += -(c(j) + B(i, j))\n"},
    // What reduces in another way is one term.
    {"a max= b(i) - c(j)", "forall(i) forall(j) a max= b(i) - c(j)\n"},
    {"A(i) *= B(i, j) + 1", "forall(i) forall(j) A(i) *= B(i, j) + 1\n"},
    // Explicit reductions: the statement itself where it is one, else workspaces, equal ones once.
    {"a = min({i, j}, B(i, j))", "forall(i) forall(j) a min= B(i, j)\n"},
    {"a = sum({i}, b(i) - e)", "forall(i) a += b(i) - e\n"},
    {"a = sum({i}, B(i, j))", "forall(i) forall(j) a += B(i, j)\n"},
    {"a += max({i}, b(i))", "a += max_a where\nforall(i) max_a max= b(i)\n"},
    {"A(i) = b(i) / sum({j}, B(i, j)) - sum({k}, B(i, k))",
     "forall(i) A(i) = b(i) / sum_A(i) - sum_A(i) where\nforall(i) forall(j) sum_A(i) += B(i, j)\n"},
    {"A(i) = b(i) * prod({i}, d(i))", "forall(i) A(i) = b(i) * prod_A where\nforall(i_2) prod_A *= d(i_2)\n"},
    // Loops: the left side's variables, then the others as they come.
    {"D(l, j) = C(k, j) * B(l, k)", "forall(l) forall(j) forall(k) D(l, j) += C(k, j) * B(l, k)\n"},
};

static void statements_become_nests(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
        char text[1024];
        snprintf(text, sizeof text, DECLARATIONS "%s\n", nests[i].statement);
        assert_scheduled(text, false, nests[i].expected);
    }
}

#define UNLIKE                                                                                               \
    "the addends of this sum, which is part of a product, a quotient or a call, are summed over different "  \
    "variables: "
#define TERM "\n0:0: to sum the whole term, write: "
#define ADDENDS "\n0:0: to sum each addend before adding, write: "

static const Case unlike[] = {
    {"a = (b(i) - e) * (b(i) - e)",
     "4:5: " UNLIKE "'b(i)' over i, 'e' over none" TERM "a = sum({i}, (b(i) - e) * (b(i) - e))" ADDENDS
     "a = (sum({i}, b(i)) - e) * (sum({i}, b(i)) - e)\n"},
    {"A(i) = b(i) / -(d(i) + c(j))",
     "4:16: " UNLIKE "'d(i)' over none, 'c(j)' over j" TERM "A(i) = sum({j}, b(i) / -(d(i) + c(j)))" ADDENDS
     "A(i) = b(i) / -(d(i) + sum({j}, c(j)))\n"},
    {"A(i) += d(i) + exp(B(i, j) - b(i))",
     "4:20: " UNLIKE "'B(i, j)' over j, 'b(i)' over none" TERM
     "A(i) += d(i) + sum({j}, exp(B(i, j) - b(i)))" ADDENDS "A(i) += d(i) + exp(sum({j}, B(i, j)) - b(i))\n"},
    // A sum inside of another, both unlike; variables that all addends have are summed around the term.
    {"a = c(j) * (B(i, j) * (b(i) - 2) + c(j))",
     "4:12: " UNLIKE "'B(i, j) * (b(i) - 2)' over j and i, 'c(j)' over j" TERM
     "a = sum({j, i}, c(j) * (B(i, j) * (b(i) - 2) + c(j)))" ADDENDS
     "a = c(j) * (sum({i}, B(i, j) * (sum({i}, b(i)) - 2)) + c(j))\n"},
};

static void sums_of_unlike_addends_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++) {
        char text[1024];
        snprintf(text, sizeof text, DECLARATIONS "%s\n", unlike[i].statement);
        assert_scheduled(text, false, unlike[i].expected);
    }
}

static void variables_keep_what_the_statement_says(void **state) {
    (void)state;
    Scheduled result = scheduled(DECLARATIONS "D(i, j) = B(i, k) * C(k, j)\n", false);
    const Cin *cin = result.cin;
    assert_int_equal(cin->var_count, 3);
    const int64_t extents[] = {3, 7, 5};
    for (int v = 0; v < 3; v++) {
        int64_t extent = 0;
        assert_true(cin->vars[v].source);
        assert_true(int_eval(cin->vars[v].extent, NULL, NULL, &extent));
        assert_int_equal(extent, extents[v]);
    }
    arena_free(result.arena);
}

static void long_statements_are_broken_before_column_100(void **state) {
    (void)state;
    const char *text = "param block_of_rows = 12\ntensor result(8, 8): f64; tensor operand(8, 8): f64\n"
                       "result(row, column) = operand(row, inner) * operand(inner, column) + "
                       "operand(column, inner) * operand(inner, row)\n"
                       "schedule result { split(row, row_outer, row_inner, block_of_rows)\n"
                       "divide(column, column_outer, column_inner, block_of_rows * 2)\n"
                       "communicate({result, operand}, column_outer) }\n";
    assert_scheduled(
        text, false,
        "forall(row_outer) forall(row_inner) forall(column_outer) forall(column_inner) forall(inner)\n"
        "  result(row, column) += operand(row, inner) * operand(inner, column) + operand(column, inner) *\n"
        "    operand(inner, row)\n"
        "    s.t. split(row, row_outer, row_inner, block_of_rows),\n"
        "         divide(column, column_outer, column_inner, block_of_rows * 2),\n"
        "         communicate(result, column_outer), communicate(operand, column_outer)\n");
}

static void replace_first_nest(Cin *cin, int count, const int *loops) {
    Nest nest = {.loop_count = count, .assign = cin_nest(cin, 0).assign};
    for (int i = 0; i < count; i++)
        nest.loops[i] = loops[i];
    Nest *changed = cin_nests(cin);
    changed[0] = nest;
    cin_set_nests(cin, changed);
}

static void verifier_finds_what_is_broken(void **state) {
    (void)state;
    Scheduled result = scheduled("tensor A(4): f64; tensor b(4): f64; tensor C(4, 4): f64\n"
                                 "A(i) = b(i) + C(i, j)\nschedule A { split(i, io, ii, 2) }\n",
                                 false);
    assert_non_null(result.cin);
    int i = cin_var(result.cin, "i"), io = cin_var(result.cin, "io"), ii = cin_var(result.cin, "ii"),
        j = cin_var(result.cin, "j");
    const struct {
        int count, loops[3];
        const char *why;
    } broken[] = {
        {1, {io}, "a variable of an access cannot be recovered from the loops around it: 'i'"},
        {3, {io, ii, ii}, "two loops of one nest bind the same variable: 'ii'"},
        {3, {io, ii, i}, "a loop over a variable that others were derived from: 'i'"},
        {3, {io, ii, j}, "a loop over a variable that its nest does not use: 'j'"},
    };
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++) {
        Cin *cin = cin_copy(result.cin);
        replace_first_nest(cin, broken[b].count, broken[b].loops);
        const char *why = NULL;
        assert_false(cin_verify(cin, &why));
        assert_string_equal(why, broken[b].why);
        assert_true(cin_verify(result.cin, &why));
        assert_int_equal(cin_nest(cin, 1).loop_count, 3);
    }
    Cin *cin = cin_copy(result.cin);
    cin_add_directive(cin, (Directive){.kind = DIRECTIVE_DISTRIBUTE, .loop_count = 1, .loops = {i}});
    const char *why = NULL;
    assert_false(cin_verify(cin, &why));
    assert_string_equal(why, "a directive about a variable that is not a loop: 'i'");
    assert_int_equal(result.cin->relations.count, 1);
    arena_free(result.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_become_nests),
        cmocka_unit_test(sums_of_unlike_addends_are_refused),
        cmocka_unit_test(variables_keep_what_the_statement_says),
        cmocka_unit_test(long_statements_are_broken_before_column_100),
        cmocka_unit_test(verifier_finds_what_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
