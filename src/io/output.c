// SPDX-License-Identifier: BSD-3-Clause
#include "io/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Output output_create(const char *path, long process, Arena *arena) {
    char *file = realpath(path, NULL);
    const char *found = arena_printf(arena, "%s", file ? file : path);
    free(file);
    return (Output){found, arena_printf(arena, "%s.tmp-%ld", found, process)};
}

bool output_is_stream(const Output *output) {
    struct stat status;
    return stat(output->path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool output_refuse(const Output *output, const char *why, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "cannot write '%s': %s", output->path, why);
}

bool output_possible(const Output *output, Diagnostics *diagnostics) {
    const char *slash = strrchr(output->path, '/');
    const char *folder = !slash ? "."
                         : slash == output->path
                             ? "/"
                             : arena_string(diagnostics->arena, output->path, (size_t)(slash - output->path));
    struct stat status;
    if (access(folder, W_OK | X_OK) != 0)
        return output_refuse(output, strerror(errno), diagnostics);
    return stat(output->path, &status) != 0 || S_ISREG(status.st_mode) ||
           output_refuse(output, "it is not a regular file", diagnostics);
}

bool output_finish(const Output *output, bool ok, Diagnostics *diagnostics) {
    if (ok && rename(output->draft, output->path) == 0)
        return true;
    const int error = errno;
    unlink(output->draft);
    return ok ? output_refuse(output, strerror(error), diagnostics) : false;
}
