// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers against the C library: drawn texts and drawn bits, and what is no number.
#include "base/decimal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 300000 };

static uint64_t state = 7;

static uint64_t draw64(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t z = (state ^ (state >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return z ^ (z >> 29);
}

static void check_text(const char *text) {
    for (int single = 0; single < 2; single++) {
        const char *end;
        char *stop;
        double value;
        const double expected = single ? (double)strtof(text, &stop) : strtod(text, &stop);
        const DecimalStatus status = decimal_real(text, &end, single, &value);
        if (value != expected || end != stop ||
            status != (isinf(expected) ? DECIMAL_TOO_LARGE : DECIMAL_FINE))
            print_error("%s", text);
        assert_true(value == expected && signbit(value) == signbit(expected));
        assert_ptr_equal(end, stop);
        assert_int_equal(status, isinf(expected) ? DECIMAL_TOO_LARGE : DECIMAL_FINE);
    }
}

// Digits with a point somewhere, an exponent or none, and something behind.
static void test_reads_drawn(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++) {
        char text[80];
        int length = 0;
        if (draw64() % 3 == 0)
            text[length++] = "+-"[draw64() % 2];
        const int digits = 1 + (int)(draw64() % (draw64() % 8 ? 19 : 30)), point = (int)(draw64() % 32);
        for (int d = 0; d < digits; d++) {
            if (d == point)
                text[length++] = '.';
            text[length++] = (char)('0' + (draw64() % 4 ? draw64() % 10 : draw64() % 2 * 9));
        }
        if (draw64() % 2)
            length += sprintf(text + length, "e%d", (int)(draw64() % 90) - 45);
        else if (draw64() % 8 == 0)
            length += sprintf(text + length, "E+%d", (int)(draw64() % 700));
        text[length++] = "\n ,e"[draw64() % 4];
        text[length] = '\n';
        text[length + 1] = 0;
        check_text(text);
    }
}

// Halves between two doubles or floats, and their neighbours in the last digit.
static void test_reads_ties(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS / 10; i++) {
        const int bits = draw64() % 2 ? 54 : 25;
        const uint64_t odd = draw64() >> (64 - bits) | 1 | UINT64_C(1) << (bits - 1);
        const int down = (int)(draw64() % 8);
        char text[80];
        sprintf(text, "%.*f\n", down, ldexp((double)(odd >> 1), 1 - down)); // exact
        check_text(text);
        sprintf(text, "%" PRIu64 "\n", odd);
        check_text(text);
        sprintf(text, "%" PRIu64 "00e-2\n", odd);
        check_text(text);
        sprintf(text, "%" PRIu64 "000001e-6\n", odd);
        check_text(text);
    }
}

static void check_written(double value, bool single) {
    char text[DECIMAL_LENGTH + 1];
    const int length = decimal_write_real(text, value, single);
    assert_in_range(length, 1, DECIMAL_LENGTH - 1);
    text[length] = '\n';
    const char *end;
    double back;
    assert_int_equal(decimal_real(text, &end, single, &back), DECIMAL_FINE);
    assert_ptr_equal(end, text + length);
    if (memcmp(&back, &value, sizeof back) != 0 && !isnan(value))
        print_error("%a %s", value, text);
    assert_true(isnan(value) ? isnan(back) : memcmp(&back, &value, sizeof back) == 0);
}

static void test_writes_drawn(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t bits = draw64();
        double value;
        memcpy(&value, &bits, sizeof value);
        check_written(value, false);
        const double unit = (double)(draw64() >> 11) * 0x1p-53;
        check_written(unit, false);
        check_written(ldexp(unit, (int)(draw64() % 120) - 60), false);
        check_written((double)(draw64() % 1000000) / 1000, false);
        check_written((double)(float)ldexp(unit, (int)(draw64() % 120) - 60), true);
        const uint32_t single_bits = (uint32_t)bits;
        float single;
        memcpy(&single, &single_bits, sizeof single);
        check_written((double)single, true);
    }
    const double special[] = {0,
                              -0.0,
                              1,
                              -1,
                              0.1,
                              1e-5,
                              1e22,
                              1e23,
                              DBL_MAX,
                              DBL_MIN,
                              0x1p-1074,
                              INFINITY,
                              -INFINITY,
                              NAN,
                              9007199254740994,
                              1e17,
                              123456789012345680,
                              0.0001,
                              0.00001};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_written(special[i], false);
}

static void test_few_digits(void **unused) {
    (void)unused;
    const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},       {-2.5, "-2.5"}, {1e-3, "0.001"},
                 {1.5e-7, "1.5e-7"}, {140, "140"},   {0.25, "0.25"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[DECIMAL_LENGTH] = {0};
        decimal_write_real(text, cases[i].value, false);
        assert_string_equal(text, cases[i].text);
    }
    char text[DECIMAL_LENGTH] = {0};
    decimal_write_real(text, (double)0.1f, true);
    assert_string_equal(text, "0.1");
}

static void test_integers(void **unused) {
    (void)unused;
    const struct {
        const char *text;
        DecimalStatus status;
        int64_t value;
    } cases[] = {{"0\n", DECIMAL_FINE, 0},
                 {"-7 \n", DECIMAL_FINE, -7},
                 {"+007x\n", DECIMAL_FINE, 7},
                 {"9223372036854775807\n", DECIMAL_FINE, INT64_MAX},
                 {"9223372036854775808\n", DECIMAL_TOO_LARGE, 0},
                 {"-9223372036854775808\n", DECIMAL_FINE, INT64_MIN},
                 {"-9223372036854775809\n", DECIMAL_TOO_LARGE, 0},
                 {"99999999999999999999999999\n", DECIMAL_TOO_LARGE, 0},
                 {"00000000000000000000000000012\n", DECIMAL_FINE, 12},
                 {"-\n", DECIMAL_NONE, 0},
                 {"\n", DECIMAL_NONE, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end;
        int64_t value = 0;
        assert_int_equal(decimal_integer(cases[i].text, &end, &value), cases[i].status);
        assert_int_equal(value, cases[i].value);
        assert_int_equal(end == cases[i].text, cases[i].status == DECIMAL_NONE);
    }
    for (int i = 0; i < 1000; i++) {
        const int64_t number = (int64_t)(draw64() >> draw64() % 64) * (draw64() % 2 ? 1 : -1);
        char text[DECIMAL_LENGTH];
        text[decimal_write_integer(text, number)] = '\n';
        const char *end;
        int64_t back;
        assert_int_equal(decimal_integer(text, &end, &back), DECIMAL_FINE);
        assert_int_equal(back, number);
    }
}

static void test_no_numbers(void **unused) {
    (void)unused;
    const char *const none[] = {"\n", ".\n", "-\n", "e5\n", "x\n", "-.e1\n", "in\n", "+ 1\n"};
    const char *end;
    double value;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(decimal_real(none[i], &end, false, &value), DECIMAL_NONE);
        assert_ptr_equal(end, none[i]);
    }
    assert_int_equal(decimal_real("0x1p3\n", &end, false, &value), DECIMAL_FINE);
    assert_int_equal(*end, 'x');
    assert_int_equal(decimal_real("-InF\n", &end, false, &value), DECIMAL_FINE);
    assert_true(value == -INFINITY);
    assert_int_equal(decimal_real("NaN\n", &end, false, &value), DECIMAL_FINE);
    assert_true(isnan(value));
    assert_int_equal(decimal_real("infinity\n", &end, true, &value), DECIMAL_FINE);
    assert_int_equal(*end, '\n');
    assert_int_equal(decimal_real("1e39\n", &end, true, &value), DECIMAL_TOO_LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_drawn),  cmocka_unit_test(test_reads_ties),
        cmocka_unit_test(test_writes_drawn), cmocka_unit_test(test_few_digits),
        cmocka_unit_test(test_integers),     cmocka_unit_test(test_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
