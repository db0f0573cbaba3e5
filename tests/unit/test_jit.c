// SPDX-License-Identifier: BSD-3-Clause
// The kernel cache: hits, misses, damage, folders that cannot be written, what others may have planted,
// compilers that fail, hang or are missing, many processes at once.
#include "jit/jit.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
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

static bool load(Fixture *fixture, const char *source, Kernel *kernel, KernelFunctions *functions) {
    return jit_load(source, 1, (const char *[]){"distal_kernel"}, kernel, functions, fixture->diagnostics);
}

static void assert_answers(const KernelFunctions *functions) {
    int64_t result = 0;
    const int64_t params[] = {(int64_t)(intptr_t)&result, 2};
    functions->function(NULL, params);
    assert_int_equal(result, 42);
}

// Loads, calls and unloads the kernel; whether the cache had it.
static bool load_answer(Fixture *fixture) {
    Kernel kernel;
    KernelFunctions functions;
    if (!load(fixture, answer, &kernel, &functions)) {
        Text text = text_create(fixture->arena);
        diagnostics_print(fixture->diagnostics, &text);
        fail_msg("%s", text_string(&text));
    }
    bool hit = kernel.cache_hit;
    assert_true(hit == (kernel.seconds == 0));
    assert_answers(&functions);
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

// The path of what a folder holds, of which there is one.
static const char *only_entry(Fixture *fixture, const char *path) {
    assert_int_equal(entries(path), 1);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    const char *found = NULL;
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            found = arena_printf(fixture->arena, "%s/%s", path, entry->d_name);
    closedir(folder);
    return found;
}

// The folder of the kernel in the cache, of which there is one, and its kernel.so.
static const char *kernel_folder(Fixture *fixture) {
    return only_entry(fixture, arena_printf(fixture->arena, "%s/distal", fixture->folder));
}

static const char *object_path(Fixture *fixture) {
    return arena_printf(fixture->arena, "%s/kernel.so", kernel_folder(fixture));
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
    const char *folder = kernel_folder(fixture);
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

// A folder or a fifo in the place of each file of the cache: nothing waits and nothing fails.
static void test_what_is_no_file(void **state) {
    Fixture *fixture = *state;
    load_answer(fixture);
    const char *folder = kernel_folder(fixture);
    static const char *const names[] = {"kernel.so", "kernel.c", "distal_kernel.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = arena_printf(fixture->arena, "%s/%s", folder, names[i]);
        const char *object = arena_printf(fixture->arena, "%s/kernel.so", folder);
        remove_tree(path);
        unlink(object);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_false(load_answer(fixture));
        assert_true(load_answer(fixture));
        remove_tree(path);
        unlink(object);
        assert_int_equal(mkdir(path, 0700),
                         0); // which a file cannot replace: the kernel is compiled elsewhere
        assert_false(load_answer(fixture));
        assert_false(load_answer(fixture));
        assert_int_equal(entries(fixture->folder), 1);
        rmdir(path);
    }
    remove_tree(folder);
    assert_int_equal(mkfifo(folder, 0600), 0);
    assert_false(load_answer(fixture));
    assert_int_equal(entries(fixture->folder), 1);
}

static void assert_mode(const char *path, unsigned mode) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, mode);
}

// Whatever the umask lets through.
static void test_nothing_is_for_others(void **state) {
    Fixture *fixture = *state;
    setenv("XDG_CACHE_HOME", arena_printf(fixture->arena, "%s/new/cache", fixture->folder), 1);
    const mode_t mask = umask(0);
    load_answer(fixture);
    umask(mask);
    const char *cache = arena_printf(fixture->arena, "%s/new/cache/distal", fixture->folder);
    assert_mode(arena_printf(fixture->arena, "%s/new", fixture->folder), 0700);
    assert_mode(cache, 0700);
    const char *folder = only_entry(fixture, cache);
    assert_mode(folder, 0700);
    assert_mode(arena_printf(fixture->arena, "%s/kernel.so", folder), 0700);
    assert_mode(arena_printf(fixture->arena, "%s/kernel.c", folder), 0600);
    assert_true(load_answer(fixture));
    // One that others could read only is theirs no longer.
    assert_int_equal(chmod(cache, 0755), 0);
    assert_true(load_answer(fixture));
    assert_mode(cache, 0700);
}

// Puts a sound kernel that writes 13 into the place of the one that writes 42.
static void plant(Fixture *fixture, const char *object) {
    static const char *const wrong = KERNEL("*(int64_t *)(intptr_t)param[0] = 13 + 0 * param[1];");
    const char *cache = arena_printf(fixture->arena, "%s/planted", fixture->folder);
    Kernel kernel;
    KernelFunctions functions;
    setenv("XDG_CACHE_HOME", cache, 1);
    assert_true(load(fixture, wrong, &kernel, &functions));
    jit_unload(&kernel);
    const char *planted = only_entry(fixture, arena_printf(fixture->arena, "%s/distal", cache));
    assert_int_equal(rename(arena_printf(fixture->arena, "%s/kernel.so", planted), object), 0);
    remove_tree(cache);
    setenv("XDG_CACHE_HOME", fixture->folder, 1);
}

static int64_t result_of(Fixture *fixture, const char **distrust) {
    Kernel kernel;
    KernelFunctions functions;
    assert_true(load(fixture, answer, &kernel, &functions));
    int64_t result = 0;
    const int64_t params[] = {(int64_t)(intptr_t)&result, 2};
    functions.function(NULL, params);
    *distrust = kernel.distrust;
    jit_unload(&kernel);
    return result;
}

// In a process of its own, as what it loads stays mapped; returns the result of the kernel, 100 more where
// the cache is not trusted for the reason `why`.
static int result_in_child(Fixture *fixture, const char *why) {
    const pid_t child = fork();
    if (child == 0) {
        const char *distrust;
        const int result = (int)result_of(fixture, &distrust);
        _exit(distrust ? result + (strstr(distrust, why) ? 100 : 50) : result);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// A kernel that someone else may have put there is not loaded.
static void test_planted_kernels(void **state) {
    Fixture *fixture = *state;
    setenv("DISTAL_CFLAGS", "-O1 -DPLANTED", 1); // a kernel that this process has not loaded
    assert_int_equal(result_in_child(fixture, ""), 42);
    const char *object = object_path(fixture), *folder = kernel_folder(fixture);
    const char *cache = arena_printf(fixture->arena, "%s/distal", fixture->folder);
    plant(fixture, object);
    assert_int_equal(result_in_child(fixture, ""), 13); // the test can tell: this one is trusted
    assert_int_equal(chmod(cache, 0777), 0);
    assert_int_equal(result_in_child(fixture, "/distal' can be written to by others"), 142);
    assert_int_equal(chmod(cache, 0770), 0);
    assert_int_equal(result_in_child(fixture, "/distal' can be written to by others"), 142);
    assert_mode(cache, 0770); // who knows what is in it
    assert_int_equal(chmod(cache, 0700), 0);
    assert_int_equal(chmod(folder, 0707), 0);
    assert_int_equal(result_in_child(fixture, "' can be written to by others"), 142);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(chmod(object, 0720), 0);
    assert_int_equal(result_in_child(fixture, ""), 42); // compiled in its place
    assert_mode(object, 0700);
    plant(fixture, arena_printf(fixture->arena, "%s/elsewhere", fixture->folder));
    unlink(object);
    assert_int_equal(symlink(arena_printf(fixture->arena, "%s/elsewhere", fixture->folder), object), 0);
    assert_int_equal(result_in_child(fixture, ""), 42);
    if (geteuid() != 0)
        return;
    plant(fixture, object);
    assert_int_equal(chown(object, 12345, 12345), 0);
    assert_int_equal(result_in_child(fixture, ""), 42);
    assert_int_equal(chown(cache, 12345, 12345), 0);
    assert_int_equal(result_in_child(fixture, "/distal' belongs to another user"), 142);
}

// As the XDG Base Directory Specification says.
static void test_relative_names_count_as_none(void **state) {
    Fixture *fixture = *state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->folder), 0);
    setenv("HOME", arena_printf(fixture->arena, "%s/home", fixture->folder), 1);
    static const char *const names[] = {"relative", "-o", "./x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv("XDG_CACHE_HOME", names[i], 1);
        assert_true(load_answer(fixture) == (i > 0));
        assert_int_equal(entries(fixture->folder), 1); // home
    }
    setenv("HOME", "-o", 1);
    setenv("TMPDIR", "-o", 1);
    assert_false(load_answer(fixture));
    assert_int_equal(entries(fixture->folder), 1);
    assert_int_equal(chdir(before), 0);
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
    KernelFunctions functions;
    assert_false(load(fixture, answer, &kernel, &functions));
    assert_true(says(fixture, "cannot make a folder"));
}

static void test_compiler_that_fails(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    KernelFunctions functions;
    assert_false(load(fixture, KERNEL("this is not C;"), &kernel, &functions));
    assert_true(says(fixture, "the C compiler failed with status 1\ncommand: cc -std=c11"));
    assert_true(says(fixture, "kernel.c:5:"));
    assert_null(kernel.handle);
}

static void test_compiler_that_is_missing(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    KernelFunctions functions;
    setenv("DISTAL_CC", "no-such-compiler --with arguments", 1);
    assert_false(load(fixture, answer, &kernel, &functions));
    assert_true(says(fixture, "cannot start the C compiler 'no-such-compiler': No such file or directory"));
}

static const char *write_compiler(Fixture *fixture, const char *text) {
    const char *path = arena_printf(fixture->arena, "%s/compiler", fixture->folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("DISTAL_CC", path, 1);
    return path;
}

static void test_compiler_that_makes_nothing(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    KernelFunctions functions;
    static const char *const commands[] = {"true", "while [ \"$1\" != -o ]; do shift; done; rm \"$2\""};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *path = write_compiler(fixture, commands[i]);
        assert_false(load(fixture, answer, &kernel, &functions));
        assert_true(says(fixture, arena_printf(fixture->arena,
                                               "the C compiler '%s' succeeded without making a file", path)));
    }
}

static void sleep_milliseconds(long count) {
    nanosleep(&(struct timespec){count / 1000, count % 1000 * 1000 * 1000}, NULL);
}

// The process whose number the compiler has written into a file; it takes it some time.
static pid_t started_by_compiler(Fixture *fixture) {
    int number = 0;
    for (int i = 0; i < 1000 && number == 0; i++) {
        FILE *file = fopen(arena_printf(fixture->arena, "%s/number", fixture->folder), "r");
        if (file && fscanf(file, "%d;", &number) != 1)
            number = 0;
        if (file)
            fclose(file);
        sleep_milliseconds(10);
    }
    assert_true(number > 0);
    return number;
}

static bool has_gone(pid_t process) {
    for (int i = 0; i < 500; i++) {
        char path[64], state = 'Z';
        snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (sleep) %c", &state) != 1 || state == 'Z')
            i = 1000;
        if (file)
            fclose(file);
        if (i == 1000)
            return true;
        sleep_milliseconds(10);
    }
    return false;
}

static const char hanging[] = "sleep 1000 &\necho \"$!;\" > \"$(dirname \"$0\")/number\"\nwait";

static void test_compiler_that_hangs(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    KernelFunctions functions;
    write_compiler(fixture, hanging);
    setenv("DISTAL_CC_TIMEOUT", "0.5", 1);
    assert_false(load(fixture, answer, &kernel, &functions));
    assert_true(
        says(fixture, "the C compiler has not ended within 0.5 seconds and was killed (DISTAL_CC_TIMEOUT"));
    assert_true(has_gone(started_by_compiler(fixture)));
    static const char *const wrong[] = {"soon", "1s", "-1", "nan", "inf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("DISTAL_CC_TIMEOUT", wrong[i], 1);
        assert_false(load(fixture, answer, &kernel, &functions));
        assert_true(says(fixture, "which is not a number of seconds"));
    }
    unsetenv("DISTAL_CC");
    setenv("DISTAL_CC_TIMEOUT", "0", 1); // no limit
    assert_false(load_answer(fixture));
    unsetenv("DISTAL_CC_TIMEOUT");
}

// However this process ends, what the compiler has started ends as well.
static void test_compiler_ends_with_us(void **state) {
    Fixture *fixture = *state;
    write_compiler(fixture, hanging);
    static const int kinds[] = {SIGKILL, SIGTERM};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unlink(arena_printf(fixture->arena, "%s/number", fixture->folder));
        const pid_t child = fork();
        if (child == 0) {
            Kernel kernel;
            KernelFunctions functions;
            load(fixture, answer, &kernel, &functions);
            _exit(0);
        }
        const pid_t started = started_by_compiler(fixture);
        assert_int_equal(kill(child, kinds[i]), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_true(has_gone(started));
    }
}

static void test_function_that_is_missing(void **state) {
    Fixture *fixture = *state;
    Kernel kernel;
    KernelFunctions functions[2];
    const char *const names[] = {"distal_kernel", "another"};
    assert_false(jit_load(answer, 2, names, &kernel, functions, fixture->diagnostics));
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
            KernelFunctions functions;
            bool loaded = load(fixture, answer, &kernel, &functions);
            int64_t result = 0;
            const int64_t params[] = {(int64_t)(intptr_t)&result, 2};
            if (loaded)
                functions.function(NULL, params);
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
        TEST(test_what_is_no_file),
        TEST(test_nothing_is_for_others),
        TEST(test_planted_kernels),
        TEST(test_relative_names_count_as_none),
        TEST(test_cache_that_cannot_be_written),
        TEST(test_compiler_that_fails),
        TEST(test_compiler_that_is_missing),
        TEST(test_compiler_that_makes_nothing),
        TEST(test_compiler_that_hangs),
        TEST(test_compiler_ends_with_us),
        TEST(test_function_that_is_missing),
        TEST(test_many_processes_at_once),
    };
    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
