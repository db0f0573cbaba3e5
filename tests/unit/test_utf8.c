// SPDX-License-Identifier: BSD-3-Clause
// Text from outside as it is shown.
#include "base/diagnostic.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state) {
    *state = arena_create();
    return *state ? 0 : -1;
}

static int tear_down(void **state) {
    arena_free(*state);
    return 0;
}

// Every character from one byte to four, and what only looks like one; the bytes end where the memory ends.
static void test_characters(void **state) {
    (void)state;
    static const struct {
        const char *text;
        Character is;
    } cases[] = {
        {"a", {'a', 1, true}},
        {"\xc3\xa9", {0xe9, 2, true}},
        {"\xe2\x82\xac", {0x20ac, 3, true}},
        {"\xf0\x9f\x98\x80", {0x1f600, 4, true}},
        {"\xf4\x8f\xbf\xbf", {0x10ffff, 4, true}},
        {"\x80", {0x80, 1, false}},             // the second byte of something
        {"\xff", {0xff, 1, false}},             // never in UTF-8
        {"\xc3", {0xc3, 1, false}},             // cut
        {"\xe2\x82", {0xe2, 1, false}},         // cut
        {"\xe2\x82x", {0xe2, 1, false}},        // another character begins
        {"\xc0\xaf", {0xc0, 1, false}},         // '/' in more bytes than it needs
        {"\xe0\x80\xaf", {0xe0, 1, false}},     // the same
        {"\xf0\x80\x80\xaf", {0xf0, 1, false}}, // the same
        {"\xed\xa0\x80", {0xed, 1, false}},     // half of a pair of UTF-16
        {"\xf4\x90\x80\x80", {0xf4, 1, false}}, // beyond the last
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = strlen(cases[i].text);
        char *exact = malloc(size);
        memcpy(exact, cases[i].text, size);
        const Character got = utf8_character(exact, size);
        assert_int_equal(got.code, cases[i].is.code);
        assert_int_equal(got.length, cases[i].is.length);
        assert_int_equal(got.is_valid, cases[i].is.is_valid);
        free(exact);
    }
}

static void test_visible(void **state) {
    assert_string_equal(visible("a \xc3\xa9\t\n\r\x1b[0m\x7f", *state), "a \xc3\xa9\\t\\n\\r\\x1b[0m\\x7f");
    assert_string_equal(visible("\xc2\x9b \xe2\x80\xae \xe2\x81\xa6 \xff\xc3", *state),
                        "\\u009b \\u202e \\u2066 \\xff\\xc3");
    Text text = text_create(*state);
    assert_int_equal(text_append_visible_character(&text, "\xe2\x82\xac", (Character){0x20ac, 3, true}), 1);
    assert_int_equal(text_append_visible_character(&text, "\x01", (Character){1, 1, true}), 4);
}

static void test_json(void **state) {
    Text text = text_create(*state);
    text_append_json(&text, "a\"\\\n\x1b\x7f\xc2\x9b\xff\xe2\x82\xac");
    assert_string_equal(text_string(&text), "\"a\\\"\\\\\\u000a\\u001b\\u007f\\u009b\\ufffd\xe2\x82\xac\"");
}

// What is too long is cut between characters, and lines of names are none.
static void test_messages(void **state) {
    Arena *arena = *state;
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test\x1b", NULL});
    char name[DIAGNOSTIC_LENGTH];
    memset(name, 1, sizeof name);
    name[sizeof name - 1] = '\0';
    diagnostics_error(diagnostics, (Span){0}, "cannot read '%s'", name);
    const char *message = diagnostics->list.items[0].message;
    assert_in_range(strlen(message), DIAGNOSTIC_LENGTH - 8, DIAGNOSTIC_LENGTH - 1);
    assert_string_equal(message + strlen(message) - 4, "\\x01");
    diagnostics_error(diagnostics, (Span){0}, "cannot read '%s'", "a\nb");
    diagnostics_error(diagnostics, (Span){0}, "the C compiler failed:\n%s", "a\n\x1b");
    diagnostics->list.items++;
    diagnostics->list.count--;
    Diagnostics *others = diagnostics_create(arena, diagnostics->source);
    for (int64_t i = 0; i < diagnostics->list.count; i++)
        diagnostics_repeat_error(others, (Span){0}, diagnostics->list.items[i].message);
    Text text = text_create(arena);
    diagnostics_print(others, &text);
    assert_string_equal(text_string(&text), "test\\x1b: error: cannot read 'a\\nb'\n"
                                            "test\\x1b: error: the C compiler failed:\na\n\\x1b\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters),
        cmocka_unit_test_setup_teardown(test_visible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_messages, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
