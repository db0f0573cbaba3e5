// SPDX-License-Identifier: BSD-3-Clause
// Gives a target every file of the folders that are named, each in a process of its own: what fuzzing has
// found stays found, with any compiler. Prints `ok NAME` or `FAIL NAME: why` for each.
#include "check.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 30 };

static void replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        exit(1);
    enum { MOST = 1 << 20 };
    uint8_t *data = malloc(MOST);
    const size_t size = data ? fread(data, 1, MOST, file) : 0;
    fclose(file);
    // The target sees exactly what there is, so that reading past it is noticed.
    uint8_t *exact = malloc(size);
    if (size > 0 && exact)
        memcpy(exact, data, size);
    free(data);
    alarm(LIMIT_SECONDS);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    exit(0);
}

static bool replay_apart(const char *folder, const char *name) {
    const char *slash = strrchr(folder, '/');
    const char *suite = slash ? slash + 1 : folder;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        replay(path);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        printf("FAIL fuzz/%s/%s: no process for it\n", suite, name);
    else if (WIFSIGNALED(status))
        printf("FAIL fuzz/%s/%s: signal %d\n", suite, name, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        printf("FAIL fuzz/%s/%s: exit status %d\n", suite, name, WEXITSTATUS(status));
    else
        printf("ok fuzz/%s/%s\n", suite, name);
    return status == 0;
}

int main(int argument_count, char **arguments) {
    bool ok = true;
    for (int a = 1; a < argument_count; a++) {
        struct dirent **entries;
        const int count = scandir(arguments[a], &entries, NULL, alphasort);
        if (count <= 0) {
            printf("FAIL fuzz/%s: it cannot be read\n", arguments[a]);
            ok = false;
        }
        for (int i = 0; i < count; i++) {
            if (entries[i]->d_name[0] != '.')
                ok = replay_apart(arguments[a], entries[i]->d_name) && ok;
            free(entries[i]);
        }
        if (count > 0)
            free(entries);
    }
    return ok ? 0 : 1;
}
