// SPDX-License-Identifier: BSD-3-Clause
// The kernel cache: hits, misses, damage, folders that cannot be written, compilers that fail or are missing,
// many processes at once.
#include "jit/jit.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL(body)                                                                                         \
    "#include \"distal_kernel.h\"\n"                                                                         \
    "void distal_kernel(distal_execution *execution, const int64_t *param);\n"                               \
    "void distal_kernel(distal_execution *execution, const int64_t *param) {\n"                              \
    "    (void)execution;\n"                                                                                 \
    "    " body "\n"                                                                                         \
    "}\n"

// Writes into the number whose address is params[0].
static const char *const answer = KERNEL("*(int64_t *)(intptr_t)param[0] = 40 + param[1];");

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    char folder[64];
} Fixture;

static void remove_tree(const char *path) {
    DIR *folder = opendir(path);
    if (folder) {
        const struct dirent *entry;
        while ((entry = readdir(folder)))
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
                char inner[1024];
                snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
                remove_tree(inner);
            }
        closedir(folder);
    }
    remove(path);
}

static int setup(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create();
    fixture->diagnostics = diagnostics_create(fixture->arena, (Source){"test", ""});
    // A blank in the path, as users have them.
    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/distal jit XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    setenv("XDG_CACHE_HOME", fixture->folder, 1);
    setenv("TMPDIR", fixture->folder, 1);
    setenv("DISTAL_CFLAGS", "-O1", 1);
    unsetenv("DISTAL_CC");
    *state = fixture;
    return 0;
}

static int teardown(void **state) {
    Fixture *fixture = *state;
    remove_tree(fixture->folder);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static void assert_answers(const Kernel *kernel) {
    int64_t result = 0;
    const int64_t params[] = {(int64_t)(intptr_t)&result, 2};
    kernel->function(NULL, params);
    assert_int_equal(result, 42);
}

// Loads, calls and unloads the kernel; whether the cache had it.
static bool load_answer(Fixture *fixture) {
    Kernel kernel;
    if (!jit_load(answer, "distal_kernel", &kernel, fixture->diagnostics)) {
        Text text = text_create(fixture->arena);
        diagnostics_print(fixture->diagnostics, &text);
        fail_msg("%s", text_string(&text));
    }
    bool hit = kernel.cache_hit;
    assert_true(hit == (kernel.seconds == 0));
    assert_answers(&kernel);
    jit_unload(&kernel);
    return hit;
}

static int entries(const char *path) {
    int count = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

// The kernel.so in the cache, of which there is one.
static const char *object_path(Fixture *fixture) {
    const char *cache = arena_printf(fixture->arena, "%s/distal", fixture->folder);
    assert_int_equal(entries(cache), 1);
    DIR *folder = opendir(cache);
    const struct dirent *entry;
    const char *path = NULL;
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            path = arena_printf(fixture->arena, "%s/%s/kernel.so", cache, entry->d_name);
    closedir(folder);
    return path;
}

static bool says(const Fixture *fixture, const char *text) {
    return fixture->diagnostics->errors > 0 &&
           strstr(fixture->diagnostics->list.items[fixture->diagnostics->list.count - 1].message, text);
}

static void test_miss_then_hit(void **state) {
    Fixture *fixture = *state;
    assert_false(load_answer(fixture));
    assert_true(load_answer(fixture));
    // The source stays beside for people to read, and nothing else does.
    const char *folder = arena_string(fixture->arena, object_path(fixture),
                                      strlen(object_path(fixture)) - strlen("/kernel.so"));
    assert_int_equal(entries(folder), 3);
    assert_int_equal(access(arena_printf(fixture->arena, "%s/kernel.c", folder), R_OK), 0);
}

static void test_compile_ahead(void **state) {
    Fixture *fixture = *state;
    bool hit = true;
    double seconds = 0;
    assert_true(jit_compile(answer, &hit, &seconds, fixture->diagnostics));
    assert_false(hit);
    assert_true(seconds > 0);
    assert_true(load_answer(fixture));
    assert_true(jit_compile(answer, &hit, &seconds, fixture->diagnostics));
    assert_true(hit);
}

static void test_hit_is_quick(void **state) {
    Fixture *fixture = *state;
    load_answer(fixture);
    double best = 1;
    for (int i = 0; i < 20; i++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        load_answer(fixture);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        best = seconds < best ? seconds : best;
    }
    assert_true(best < 0.005);
}

static void test_key_depends_on_flags_and_source(void **state) {
    Fixture *fixture = *state;
    assert_false(load_answer(fixture));
    setenv("DISTAL_CFLAGS", "-O1 -DSOMETHING", 1);
    assert_false(load_answer(fixture));
    bool hit;
    double seconds;
    assert_true(jit_compile(KERNEL("(void)param;"), &hit, &seconds, fixture->diagnostics));
    assert_false(hit);
    setenv("DISTAL_CFLAGS", "-O1", 1);
    assert_true(load_answer(fixture));
}

// Puts a file with these bytes in the place of another one; the old one may still be mapped.
static void replace(const char *path, const char *bytes, size_t size) {
    char other[1024];
    snprintf(other, sizeof other, "%s.damaged", path);
    FILE *file = fopen(other, "w");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(rename(other, path), 0);
}

static void test_damaged_kernels_are_compiled_again(void **state) {
    Fixture *fixture = *state;
    load_answer(fixture);
    const char *object = object_path(fixture);
    static char bytes[1 << 20];
    FILE *file = fopen(object, "r");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 5000 && size < sizeof bytes);
    const size_t sizes[] = {0, 3, 100, 5000, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        replace(object, bytes, sizes[i]);
        assert_false(load_answer(fixture));
        assert_true(load_answer(fixture));
    }
    bytes[size / 2] ^= 1;
    replace(object, bytes, size);
    assert_false(load_answer(fixture));
    assert_int_equal(unlink(object), 0);
    assert_false(load_answer(fixture));
}

static void test_kernel_that_cannot_be_written(void **state) {
    Fixture *fixture = *state;
    load_answer(fixture);
    const char *object = object_path(fixture);
    assert_int_equal(unlink(object), 0);
    assert_int_equal(mkdir(object, 0777), 0); // which a file cannot replace
    Kernel kernel;
    assert_false(jit_load(answer, "distal_kernel", &kernel, fixture->diagnostics));
    assert_true(says(fixture, "cannot write the kernel '"));
    assert_true(says(fixture, "Is a directory"));
}

static void test_cache_that_cannot_be_written(void **state) {
    Fixture *fixture = *state;
    const char *file = arena_printf(fixture->arena, "%s/file", fixture->folder);
    fclose(fopen(file, "w"));
    setenv("XDG_CACHE_HOME", file, 1); // a file, so that root cannot write below it either
    bool hit = true;
    double seconds = 0;
    assert_true(jit_compile(answer, &hit, &seconds, fixture->diagnostics));
    assert_false(hit);
    assert_false(load_answer(fixture));
    assert_int_equal(entries(fixture->folder), 1); // the temporary folder is gone
    setenv("TMPDIR", file, 1);
    Kernel kernel;
    assert_false(jit_load(answer, "distal_kernel", &kernel, fixture->diagnostics));
    assert_true(says(fixture, "cannot make a folder"));
}

static void test_compiler_that_fails(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    assert_false(jit_load(KERNEL("this is not C;"), "distal_kernel", &kernel, fixture->diagnostics));
    assert_true(says(fixture, "the C compiler failed with status 1\ncommand: cc -std=c11"));
    assert_true(says(fixture, "kernel.c:5:"));
    assert_null(kernel.handle);
}

static void test_compiler_that_is_missing(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    setenv("DISTAL_CC", "no-such-compiler --with arguments", 1);
    assert_false(jit_load(answer, "distal_kernel", &kernel, fixture->diagnostics));
    assert_true(says(fixture, "cannot start the C compiler 'no-such-compiler': No such file or directory"));
}

static void test_function_that_is_missing(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    assert_false(jit_load(answer, "another", &kernel, fixture->diagnostics));
    assert_true(says(fixture, "undefined symbol: another"));
    assert_null(kernel.handle);
}

static void test_many_processes_at_once(void **state) {
    Fixture *fixture = *state;
    enum { PROCESSES = 6 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            Kernel kernel;
            bool loaded = jit_load(answer, "distal_kernel", &kernel, fixture->diagnostics);
            int64_t result = 0;
            const int64_t params[] = {(int64_t)(intptr_t)&result, 2};
            if (loaded)
                kernel.function(NULL, params);
            _exit(result == 42 ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_true(load_answer(fixture));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_miss_then_hit),
        TEST(test_compile_ahead),
        TEST(test_hit_is_quick),
        TEST(test_key_depends_on_flags_and_source),
        TEST(test_damaged_kernels_are_compiled_again),
        TEST(test_kernel_that_cannot_be_written),
        TEST(test_cache_that_cannot_be_written),
        TEST(test_compiler_that_fails),
        TEST(test_compiler_that_is_missing),
        TEST(test_function_that_is_missing),
        TEST(test_many_processes_at_once),
    };
    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
