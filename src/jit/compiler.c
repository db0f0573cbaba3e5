// SPDX-License-Identifier: BSD-3-Clause
#include "jit/compiler.h"

#include "jit/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SHOWN_LINES = 40 };

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
    // ISO C would keep products and sums apart where the processor can fuse them, and have functions set
    // errno.
    add_words(arena, &compiler, "-std=c11 -ffp-contract=fast -fno-math-errno");
    add_words(arena, &compiler, environment_or("DISTAL_CFLAGS", "-O3 -march=native"));
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

// The first processor's lines that say what it can do; not its momentary frequency.
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

// The exit status as waitpid gives it, -1 with errno where there was no child to wait for.
static int spawn_and_wait(char *const *arguments, const char *log) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
        pid_t child;
        error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error == 0) {
            int status = 0;
            pid_t ended;
            while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
                continue;
            // A host program that ignores SIGCHLD takes the status away; the object file then tells.
            return ended < 0 ? 0 : status;
        }
    }
    errno = error;
    return -1;
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

bool compiler_run(const Compiler *compiler, const char *folder, const char *source, const char *object,
                  Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    const char *log = arena_printf(arena, "%s.log", object);
    Compiler whole = {{0}};
    for (int64_t i = 0; i < compiler->words.count; i++)
        array_push(arena, whole.words, compiler->words.items[i]);
    const char *const files[] = {"-I", folder, "-o", object, source, "-lm", NULL};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        array_push(arena, whole.words, files[i]);

    int status = spawn_and_wait((char *const *)whole.words.items, log);
    int error = errno;
    whole.words.count--; // the terminating NULL
    size_t size = 0;
    const char *said = file_read(log, &size, arena);
    unlink(log);
    const Span nowhere = {0, 0, 0};
    if (status == -1)
        return diagnostics_error(diagnostics, nowhere,
                                 "cannot start the C compiler '%s': %s; DISTAL_CC names another one",
                                 whole.words.items[0], strerror(error));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(object, R_OK) == 0)
        return true;
    const char *how = WIFSIGNALED(status) ? arena_printf(arena, "was ended by signal %d", WTERMSIG(status))
                                          : arena_printf(arena, "failed with status %d", WEXITSTATUS(status));
    return diagnostics_error(diagnostics, nowhere, "the C compiler %s\ncommand: %s\n%s", how,
                             as_command(&whole, arena), first_lines(said ? said : "", SHOWN_LINES, arena));
}
