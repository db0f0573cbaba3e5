// SPDX-License-Identifier: BSD-3-Clause
// Arenas: what happens when memory runs out, and that arenas within another go with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

// Under AddressSanitizer memory that cannot be had is refused, as by the system, and not an error.
const char *__asan_default_options(void);
__attribute__((used, visibility("default"))) const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

typedef struct {
    Arena *arena;
    int64_t count;
    size_t size;
} Request;

static void ask(void *arguments) {
    const Request *request = arguments;
    arena_alloc_items(request->arena, request->count, request->size);
}

// Whether asking `of` for that many items ends an attempt of `owner`.
static bool escapes(Arena *owner, Arena *of, int64_t count, size_t size) {
    return !arena_attempt(owner, ask, &(Request){of, count, size});
}

static void test_impossible_sizes(void **state) {
    (void)state;
    Arena *arena = arena_create();
    assert_false(escapes(arena, arena, 3, 8));
    // The product is 0 modulo 2^64.
    assert_true(escapes(arena, arena, INT64_C(1) << 61, 8));
    assert_true(escapes(arena, arena, -1, 8));
    assert_true(escapes(arena, arena, INT64_MAX, 1));
    arena_free(arena);
}

// Asks for too much within an attempt, and lets that attempt fail on request.
static void attempt_within(void *arguments) {
    const Request *request = arguments;
    assert_true(escapes(request->arena, request->arena, INT64_MAX, 1));
    ask(arguments);
}

static void test_nested_attempts(void **state) {
    (void)state;
    Arena *arena = arena_create();
    assert_true(arena_attempt(arena, attempt_within, &(Request){arena, 3, 8}));
    assert_false(arena_attempt(arena, attempt_within, &(Request){arena, INT64_MAX, 1}));
    arena_free(arena);
}

static void test_within(void **state) {
    (void)state;
    Arena *outer = arena_create();
    Arena *first = arena_create_within(outer), *second = arena_create_within(outer);
    Arena *inner = arena_create_within(second);
    char *text = arena_string(inner, "inner", 5);
    assert_true(escapes(outer, inner, INT64_MAX, 1));
    arena_free(first);
    assert_string_equal(text, "inner");
    arena_free(outer); // and with it the others: a leak otherwise
}

static void test_reset(void **state) {
    (void)state;
    Arena *arena = arena_create();
    char *before = arena_alloc(arena, 100);
    memset(before, 1, 100);
    arena_reset(arena);
    char *after = arena_alloc(arena, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(after[i], 0);
    // What took several blocks takes one after a reset, which stays.
    int64_t size = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 100; i++)
            arena_alloc(arena, 3000);
        assert_true(round < 2 || arena_size(arena) == size);
        size = arena_size(arena);
        arena_reset(arena);
        assert_true(round < 1 || arena_size(arena) == size);
    }
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impossible_sizes),
        cmocka_unit_test(test_nested_attempts),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
