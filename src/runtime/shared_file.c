// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/shared_file.h"

#include "io/input.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

typedef struct {
    const Home *home;
    int64_t rank;
    const SourceSpec *source;
    InputFile file; // closed in any case
    Storage *storage;
} Opening;

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
    opening->storage = storage_create_in_file(home, opening->rank, file->fd, offset);
    return opening->storage ||
           diagnostics_error(diagnostics, (Span){0}, "rank %" PRId64 " cannot use '%s' for tensor %s: %s",
                             opening->rank, opening->source->text, tensor->name, strerror(errno));
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
