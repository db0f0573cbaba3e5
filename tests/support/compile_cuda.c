// SPDX-License-Identifier: BSD-3-Clause
// Compiles the GPU kernels in files that `distal emit` has written with NVRTC, alternately for sm_80 and
// sm_90. Prints the log of NVRTC; the status is 1 where a file does not compile or has a warning, and 77
// where there is no NVRTC.
#include "cuda/nvrtc.h"

#include <stdio.h>
#include <string.h>

extern const char distal_gpu_header_text[];

static const char *read_file(const char *path, Arena *arena) {
    FILE *file = fopen(path, "r");
    Text text = text_create(arena);
    char part[4096];
    for (size_t size; file && (size = fread(part, 1, sizeof part, file)) > 0;)
        text_append_n(&text, part, size);
    if (file)
        fclose(file);
    return text_string(&text);
}

// As the library makes them ready.
static const char *with_header(const char *text, Arena *arena) {
    static const char include[] = "#include \"distal_gpu.h\"\n";
    const char *line = strstr(text, include);
    return line ? arena_printf(arena, "%.*s%s%s", (int)(line - text), text, distal_gpu_header_text,
                               line + strlen(include))
                : NULL;
}

int main(int count, char **paths) {
    static const int architectures[] = {80, 90};
    int status = 0;
    for (int p = 1; p < count; p++) {
        Arena *arena = arena_create();
        const char *text = with_header(read_file(paths[p], arena), arena);
        if (text) {
            CudaImage image;
            Diagnostics *diagnostics = diagnostics_create(arena, (Source){paths[p], ""});
            const bool ok = nvrtc_compile(text, architectures[p % 2], 0, &image, diagnostics);
            const char *said = ok ? image.log : diagnostics->list.items[0].message;
            if (*said)
                printf("%s: %s\n", paths[p], said);
            if (!ok && strstr(said, "need NVRTC"))
                return 77;
            status |= *said != '\0';
        }
        arena_free(arena);
    }
    return status;
}
