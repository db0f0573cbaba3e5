// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/save.h"

#include "io/array_entries.h"
#include "runtime/chunks.h"
#include "runtime/load_sparse.h"
#include "runtime/save_entries.h"
#include "runtime/wait.h"

#include <errno.h>
#include <string.h>

typedef struct {
    const Home *home;
    const Storage *storage; // NULL: elements are written later, while the file is the home of the tensor
    const char *path;
    DraftToken token; // the first rank's
    int64_t number;   // of the draft (io/output.h)
    Arena *arena;     // of `output`
    bool is_first, is_on_one_node;
    UnnamedDraft unnamed; // the first rank's
    const FileFormat *format;
    FileTensor tensor;
    PiecePartArray parts; // of a dense tensor, and of a sparse one its entries, that this rank writes itself
    Region region;
    Entries entries;
    Output output;
} Save;

// Whether elements have places in the file, so that ranks write them there; else the file lists them.
static bool is_array(const Save *save) {
    return save->format->write != NULL;
}

static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    const Storage *storage = save->storage;
    const Home *home = save->home;
    const bool is_sparse = tensor_is_sparse(home->tensor);
    save->format = file_format_of(save->path);
    if (!file_format_check(save->format, FILE_WRITE, save->path, home->tensor, diagnostics))
        return false;
    save->tensor = (FileTensor){
        .type = home->tensor->type, .is_full = is_array(save) || !is_sparse, .order = home->tensor->order};
    memcpy(save->tensor.extents, home->extents, sizeof home->extents);
    save->tensor.starts_zero = is_sparse || !storage;
    save->tensor.levels = is_sparse ? home->tensor->levels : NULL;
    save->tensor.mode_order = home->tensor->mode_order;
    // A copy, as the text of the caller may be gone before the output.
    const FilePath path = file_path(arena_string(save->arena, save->path, strlen(save->path)), save->arena);
    save->tensor.array = path.array;
    save->output = output_create(path.file, &save->token, save->number, save->arena);
    save->output.is_read = !storage;
    if (!is_array(save) || !storage)
        return true;
    if (!is_sparse) {
        save->parts = storage_piece_parts(storage, diagnostics->arena);
        return true;
    }
    save->region = storage_parts(storage, diagnostics->arena);
    const char *why = storage_list(storage, &save->entries, diagnostics->arena);
    if (!why && entries_sort(&save->entries, NULL))
        why = no_memory_to_list(storage, save->entries.count, diagnostics->arena);
    return !why || output_refuse(&save->output, why, diagnostics);
}

static bool create_draft(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    if (!save->is_first)
        return true;
    if (!output_possible(&save->output, diagnostics))
        return false;
    // HDF5 asks for the name of a file.
    const bool is_named =
        is_array(save) ? !save->is_on_one_node || save->tensor.array : !save->format->header;
    if (!output_create_draft(&save->output, is_named ? NULL : &save->unnamed) ||
        (save->tensor.array && !output_copy_old(&save->output)))
        return output_refuse(&save->output, strerror(errno), diagnostics);
    const char *why =
        is_array(save) ? save->format->create(save->output.fd, &save->tensor, diagnostics->arena) : NULL;
    return !why || output_refuse(&save->output, why, diagnostics);
}

// Whether all ranks have a draft without a name open: those that have not created it, through its creator.
static bool open_unnamed_draft(Save *save, MPI_Comm comm) {
    broadcast(&save->unnamed, sizeof save->unnamed, MPI_BYTE, 0, comm);
    return save->unnamed.process != 0 &&
           agree(comm, save->is_first || output_open_unnamed(&save->output, &save->unnamed));
}

static bool name_draft(void *arguments, Diagnostics *diagnostics) {
    return output_name_draft(&((Save *)arguments)->output, diagnostics);
}

static bool open_draft(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    return save->output.fd >= 0 || output_open_draft(&save->output) ||
           output_refuse(&save->output, strerror(errno), diagnostics);
}

static bool write_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    const Save *save = context;
    const char *why = save->format->write(save->output.fd, &save->tensor, 1, part);
    return !why || output_refuse(&save->output, why, diagnostics);
}

static bool write_parts(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    const FileFormat *format = save->format;
    const int fd = save->output.fd;
    if (save->storage->home->memory != MEMORY_HOST)
        return chunks_visit(save->storage, &save->parts, CHUNKS_READ, write_chunk, save, diagnostics);
    const char *why = tensor_is_sparse(save->storage->home->tensor)
                          ? file_write_entries(format, fd, &save->tensor, &save->entries, &save->region)
                          : format->write(fd, &save->tensor, save->parts.count, save->parts.items);
    return !why || output_refuse(&save->output, why, diagnostics);
}

static bool open_on_all_ranks(Save *save, MPI_Comm comm, Diagnostics *diagnostics) {
    broadcast(&save->tensor.offset, 1, MPI_INT64_T, 0, comm);
    return open_unnamed_draft(save, comm) || (agree_on_part(comm, name_draft, save, diagnostics) &&
                                              agree_on_part(comm, open_draft, save, diagnostics));
}

// Every rank opens the draft and writes its own parts.
static bool save_parts(Save *save, MPI_Comm comm, Diagnostics *diagnostics) {
    return open_on_all_ranks(save, comm, diagnostics) && agree_on_part(comm, write_parts, save, diagnostics);
}

static bool save_list(Save *save, MPI_Comm comm, Diagnostics *diagnostics) {
    const bool shared = save->format->header && save->is_on_one_node && open_unnamed_draft(save, comm);
    return save_entries(save->storage, save->format, &save->tensor, &save->output, shared, comm, diagnostics);
}

static bool is_on_one_node(MPI_Comm comm) {
    MPI_Comm node;
    int ranks, node_ranks;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_size(node, &node_ranks);
    MPI_Comm_free(&node);
    return node_ranks == ranks;
}

// Names the draft, and the first rank creates it.
static bool begin(Save *save, MPI_Comm comm, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    save->is_first = rank == 0;
    save->is_on_one_node = is_on_one_node(comm);
    save->output.fd = -1;
    broadcast(&save->token, sizeof save->token, MPI_BYTE, 0, comm);
    return agree_on_part(comm, find_parts, save, diagnostics) &&
           agree_on_part(comm, create_draft, save, diagnostics);
}

typedef struct {
    Output *output;
    const Storage *storage;
} Completion;

static bool close_complete(void *arguments, Diagnostics *diagnostics) {
    const Completion *completion = arguments;
    return storage_check(completion->storage, diagnostics) &&
           output_close(completion->output, true, diagnostics);
}

static bool name_complete(void *arguments, Diagnostics *diagnostics) {
    return output_finish(((Completion *)arguments)->output, true, diagnostics);
}

bool storage_complete_output(const Storage *storage, Output *output, MPI_Comm comm,
                             Diagnostics *diagnostics) {
    Completion completion = {output, storage};
    const bool ok = agree_on_part(comm, close_complete, &completion, diagnostics) &&
                    agree_on_part(comm, name_complete, &completion, diagnostics);
    output_finish(output, ok, diagnostics); // nothing where it went well
    return ok;
}

bool storage_save(const Storage *storage, const char *path, DraftToken token, MPI_Comm comm,
                  Diagnostics *diagnostics) {
    Save save = {
        .home = storage->home, .storage = storage, .path = path, .token = token, .arena = diagnostics->arena};
    const bool written =
        begin(&save, comm, diagnostics) &&
        (is_array(&save) ? save_parts(&save, comm, diagnostics) : save_list(&save, comm, diagnostics));
    const bool ok = written && storage_complete_output(storage, &save.output, comm, diagnostics);
    if (!written)
        output_finish(&save.output, false, diagnostics);
    entries_free(&save.entries);
    return ok;
}

typedef struct {
    Save save;
    int64_t rank;
    Storage *storage;
} HomeCreation;

static bool make_storage(void *arguments, Diagnostics *diagnostics) {
    HomeCreation *creation = arguments;
    const Save *save = &creation->save;
    creation->storage =
        storage_create_in_file(save->home, creation->rank, save->output.fd, save->tensor.offset);
    return creation->storage || output_refuse(&save->output, strerror(errno), diagnostics);
}

Storage *storage_create_in_output(const Home *home, int64_t rank, const char *path, DraftToken token,
                                  int64_t number, Arena *arena, MPI_Comm comm, Output *output,
                                  Diagnostics *diagnostics) {
    HomeCreation creation = {
        .save = {.home = home, .path = path, .token = token, .number = number, .arena = arena}, .rank = rank};
    Save *save = &creation.save;
    const bool ok = begin(save, comm, diagnostics) && open_on_all_ranks(save, comm, diagnostics) &&
                    agree_on_part(comm, make_storage, &creation, diagnostics);
    *output = save->output;
    if (ok)
        return creation.storage;
    storage_free(creation.storage);
    output_finish(output, false, diagnostics);
    return NULL;
}
