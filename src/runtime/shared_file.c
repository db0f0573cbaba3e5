// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/shared_file.h"

#include "io/input.h"

#include <inttypes.h>

typedef struct {
    const Home *home;
    int64_t rank;
    const SourceSpec *source;
    InputFile file; // closed also where memory runs out
    Storage *storage;
} Opening;

static bool no_memory(const Home *home, int64_t rank, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "rank %" PRId64 " has not enough memory for tensor %s",
                             rank, home->tensor->name);
}

static bool open_input(void *arguments, Diagnostics *diagnostics) {
    Opening *opening = arguments;
    const Home *home = opening->home;
    const Tensor *tensor = home->tensor;
    InputFile *file = &opening->file;
    if (!input_open(opening->source->format, opening->source->text, file, diagnostics) ||
        !input_check(file, tensor->name, tensor->type, home->order, home->extents, diagnostics))
        return false;
    const int64_t offset = input_locate(file, tensor, diagnostics);
    if (offset < 0)
        return false;
    DiskFile *disk = disk_adopt(file->fd);
    if (disk) {
        file->fd = -1;
        opening->storage = storage_create_in_file(home, opening->rank, disk, offset);
    }
    return opening->storage || no_memory(home, opening->rank, diagnostics);
}

Storage *shared_file_open(const Home *home, int64_t rank, const SourceSpec *source, MPI_Comm comm,
                          Diagnostics *diagnostics) {
    Opening opening = {home, rank, source, {.fd = -1}, NULL};
    const bool ok = agree_on_part(comm, open_input, &opening, diagnostics);
    input_close(&opening.file);
    if (ok)
        return opening.storage;
    if (opening.storage)
        storage_free(opening.storage);
    return NULL;
}
