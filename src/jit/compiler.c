// SPDX-License-Identifier: BSD-3-Clause
#include "jit/compiler.h"

#include "jit/command.h"
#include "jit/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHOWN_LINES = 40 };

static const Span nowhere = {0, 0, 0};

static const char *environment_or(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static void add_words(Arena *arena, Compiler *compiler, const char *text) {
    static const char *const blanks = " \t\n";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        array_push(arena, compiler->words, arena_string(arena, text, length));
        text += length;
    }
}

Compiler compiler_from_environment(Arena *arena) {
    Compiler compiler = {{0}};
    const char *command = environment_or("DISTAL_CC", "cc");
    // A path may hold blanks; a command with arguments (`ccache gcc`) is not a file.
    if (access(command, X_OK) == 0)
        array_push(arena, compiler.words, arena_string(arena, command, strlen(command)));
    else
        add_words(arena, &compiler, command);
    if (compiler.words.count == 0)
        array_push(arena, compiler.words, "cc");
    // ISO C would prevent fused multiply-add instructions, and make functions set errno.
    add_words(arena, &compiler, "-std=c11 -ffp-contract=fast -fno-math-errno");
    add_words(arena, &compiler, environment_or("DISTAL_CFLAGS", "-O3 -march=native"));
    // Kernels of a GPU that are executed on the host (memory/device.h).
    if (strcmp(environment_or("DISTAL_GPU", ""), "emulated") == 0)
        add_words(arena, &compiler, "-DDISTAL_EMULATED");
    // Integers of tensors wrap around.
    add_words(arena, &compiler, "-fwrapv -fopenmp -fPIC -shared");
    return compiler;
}

static bool hash_file(Hash *hash, const char *path) {
    struct stat status;
    char *real = realpath(path, NULL);
    bool found = real && stat(real, &status) == 0 && S_ISREG(status.st_mode);
    if (found) {
        hash_string(hash, real);
        hash_bytes(hash, &status.st_size, sizeof status.st_size);
        hash_bytes(hash, &status.st_mtim, sizeof status.st_mtim);
    }
    free(real);
    return found;
}

static void hash_command(Hash *hash, const char *word) {
    if (strchr(word, '/')) {
        hash_file(hash, word);
        return;
    }
    const char *path = environment_or("PATH", "/usr/bin:/bin");
    while (*path) {
        char candidate[4096];
        size_t length = strcspn(path, ":");
        int written = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, word);
        if (written > 0 && (size_t)written < sizeof candidate && access(candidate, X_OK) == 0 &&
            hash_file(hash, candidate))
            return;
        path += length + (path[length] == ':');
    }
}

// The lines that describe the features of the first processor, without those that change, such as its
// frequency.
static void hash_processor(Hash *hash) {
    static const char *const telling[] = {"vendor_id", "cpu family", "model",       "flags",  "Features",
                                          "CPU part",  "isa",        "CPU variant", "cpu\t\t"};
    char text[16384];
    int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    for (const char *line = text; *line && *line != '\n';) {
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
            if (strncmp(line, telling[i], strlen(telling[i])) == 0) {
                hash_bytes(hash, line, length);
                break;
            }
        line += length + (line[length] == '\n');
    }
}

void compiler_hash(const Compiler *compiler, Hash *hash) {
    for (int64_t i = 0; i < compiler->words.count; i++) {
        const char *word = compiler->words.items[i];
        hash_string(hash, word);
        if (word[0] != '-')
            hash_command(hash, word);
    }
    hash_processor(hash);
}

static const char *first_lines(const char *text, int count, Arena *arena) {
    const char *end = text;
    while (*end && count-- > 0)
        end += strcspn(end, "\n") + (end[strcspn(end, "\n")] == '\n');
    size_t length = (size_t)(end - text);
    const char *shown = arena_string(arena, text, length);
    return *end ? arena_printf(arena, "%s...", shown) : shown;
}

static const char *as_command(const Compiler *compiler, Arena *arena) {
    Text text = text_create(arena);
    for (int64_t i = 0; i < compiler->words.count; i++)
        text_printf(&text, strpbrk(compiler->words.items[i], " \t'") ? "%s'%s'" : "%s%s", i ? " " : "",
                    compiler->words.items[i]);
    return text_string(&text);
}

// Seconds that the compiler may take, 0 for any number; false with a diagnostic.
static bool time_limit(double *seconds, Diagnostics *diagnostics) {
    const char *text = environment_or("DISTAL_CC_TIMEOUT", "300");
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(*seconds >= 0) || !isfinite(*seconds))
        return diagnostics_error(diagnostics, nowhere,
                                 "DISTAL_CC_TIMEOUT is '%s', which is not a number of seconds", text);
    return true;
}

static bool is_empty(int folder, const char *name) {
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_size == 0;
}

// The failure, as a clause about the compiler; NULL if there was none.
static const char *failure(const CommandResult *result, double limit, Arena *arena) {
    if (result->timed_out)
        return arena_printf(
            arena, "has not ended within %g seconds and was killed (DISTAL_CC_TIMEOUT sets the limit)",
            limit);
    if (WIFSIGNALED(result->status))
        return arena_printf(arena, "was ended by signal %d", WTERMSIG(result->status));
    return WEXITSTATUS(result->status)
               ? arena_printf(arena, "failed with status %d", WEXITSTATUS(result->status))
               : NULL;
}

bool compiler_run(const Compiler *compiler, int folder, const char *path, const char *source,
                  const char *object, Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    double limit;
    if (!time_limit(&limit, diagnostics))
        return false;
    const char *log = arena_printf(arena, "%s.log", object);
    Compiler whole = {{0}};
    for (int64_t i = 0; i < compiler->words.count; i++)
        array_push(arena, whole.words, compiler->words.items[i]);
    const char *const files[] = {"-I",
                                 path,
                                 "-o",
                                 arena_printf(arena, "%s/%s", path, object),
                                 arena_printf(arena, "%s/%s", path, source),
                                 "-lm",
                                 NULL};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        array_push(arena, whole.words, files[i]);

    CommandResult result;
    const bool started = command_run((char *const *)whole.words.items,
                                     arena_printf(arena, "%s/%s", path, log), limit, &result);
    const int error = errno;
    whole.words.count--; // the terminating NULL
    size_t size = 0;
    const char *said = file_read(folder, log, &size, arena);
    unlinkat(folder, log, 0);
    if (!started)
        return diagnostics_error(diagnostics, nowhere,
                                 "cannot start the C compiler '%s': %s; DISTAL_CC names another one",
                                 whole.words.items[0], strerror(error));
    const char *why = failure(&result, limit, arena);
    if (why)
        return diagnostics_error(diagnostics, nowhere, "the C compiler %s\ncommand: %s\n%s", why,
                                 as_command(&whole, arena),
                                 first_lines(said ? said : "", SHOWN_LINES, arena));
    return !is_empty(folder, object) ||
           diagnostics_error(diagnostics, nowhere,
                             "cannot load the kernel: the C compiler '%s' succeeded without making a file",
                             whole.words.items[0]);
}
