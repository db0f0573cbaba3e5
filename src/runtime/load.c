// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/load.h"

#include "base/integer.h"
#include "io/generate.h"
#include "io/npy.h"
#include "io/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check_shape(const NpyFile *file, const Home *home, Diagnostics *diagnostics) {
    const NpyHeader *header = &file->header;
    bool same = header->order == home->order;
    for (int d = 0; d < home->order && same; d++)
        same = header->extents[d] == home->extents[d];
    if (same)
        return true;
    Text theirs = text_create(diagnostics->arena), ours = text_create(diagnostics->arena);
    npy_print_shape(header->order, header->extents, &theirs);
    npy_print_shape(home->order, home->extents, &ours);
    return diagnostics_error(
        diagnostics, (Span){0}, "cannot read %s from '%s': its shape is %s, that of %s is %s",
        home->tensor->name, file->path, text_string(&theirs), home->tensor->name, text_string(&ours));
}

static bool load_file(Storage *storage, const char *path, Diagnostics *diagnostics) {
    NpyFile file;
    if (!npy_open(path, &file, diagnostics))
        return false;
    bool ok = check_shape(&file, storage->home, diagnostics) &&
              npy_check_type(&file, storage->home->tensor->name, storage->type, diagnostics);
    for (int64_t i = 0; i < storage->piece_count && ok; i++)
        ok = npy_read(&file, storage->type, &storage->pieces[i], diagnostics);
    npy_close(&file);
    return ok;
}

bool storage_load(Storage *storage, const SourceSpec *source, MPI_Comm comm, Diagnostics *diagnostics) {
    bool ok = true;
    if (source->kind == SOURCE_NPY)
        ok = load_file(storage, source->text, diagnostics);
    else
        for (int64_t i = 0; i < storage->piece_count; i++)
            generate(source, storage->home->extents, storage->type, &storage->pieces[i]);
    return agree_on(comm, ok, diagnostics);
}

typedef Array(PiecePart) PartArray;

// The parts of which this rank is the first holder: over all ranks, every element once.
static PartArray first_parts(const Storage *storage, Arena *arena) {
    PartArray parts = {0};
    HolderArray holders = {0};
    for (int64_t i = 0; i < storage->piece_count; i++) {
        const Piece *piece = &storage->pieces[i];
        holders.count = 0;
        home_holders(storage->home, &piece->rect, -1, arena, &holders);
        for (int64_t k = 0; k < holders.count; k++)
            if (holders.items[k].rank == storage->rank)
                array_push(arena, parts, (PiecePart){*piece, holders.items[k].part});
    }
    return parts;
}

bool storage_save(const Storage *storage, const char *path, MPI_Comm comm, Diagnostics *diagnostics) {
    const Home *home = storage->home;
    int rank;
    long process = (long)getpid();
    MPI_Comm_rank(comm, &rank);
    if (!agree_on(comm, output_check(path, home->tensor, diagnostics), diagnostics))
        return false;
    MPI_Bcast(&process, 1, MPI_LONG, 0, comm);
    const Output output = output_create(path, process, diagnostics->arena);
    bool ok = rank != 0 || (output_possible(&output, diagnostics) &&
                            npy_create(output.draft, storage->type, home->order, home->extents, diagnostics));
    if (!agree_on(comm, ok, diagnostics))
        return false;
    PartArray parts = first_parts(storage, diagnostics->arena);
    ok = npy_write(output.draft, storage->type, home->order, home->extents, parts.count, parts.items,
                   diagnostics);
    ok = agree_on(comm, ok, diagnostics);
    if (rank == 0)
        ok = output_finish(&output, ok, diagnostics);
    return agree_on(comm, ok, diagnostics);
}

// Every element comes from one rank and is zero on the others, so a bitwise `or` over all ranks brings them
// together exactly as they are.
static void merge(void *whole, int64_t bytes, MPI_Comm comm) {
    const int64_t chunk = 64 << 20;
    for (int64_t done = 0; done < bytes; done += chunk)
        MPI_Allreduce(MPI_IN_PLACE, (char *)whole + done, (int)min_i64(chunk, bytes - done), MPI_BYTE,
                      MPI_BOR, comm);
}

void storage_gather_into(const Storage *storage, void *whole, MPI_Comm comm, Arena *arena) {
    Rect rect = rect_whole(storage->home->order, storage->home->extents);
    const int64_t volume = rect_volume(&rect), bytes = volume * (int64_t)type_info(storage->type)->size;
    if (volume == 0)
        return;
    memset(whole, 0, (size_t)bytes);
    Piece all = {.rect = rect, .data = whole};
    packed_strides(&rect, NULL, all.stride);
    PartArray parts = first_parts(storage, arena);
    for (int64_t i = 0; i < parts.count; i++)
        piece_copy(&all, &parts.items[i].piece, &parts.items[i].part, storage->type);
    merge(whole, bytes, comm);
}

void *storage_gather(const Storage *storage, MPI_Comm comm, Diagnostics *diagnostics) {
    const Home *home = storage->home;
    Rect rect = rect_whole(home->order, home->extents);
    const int64_t volume = rect_volume(&rect), bytes = volume * (int64_t)type_info(storage->type)->size;
    void *whole = elements_alloc(volume, storage->type);
    if (!whole)
        diagnostics_error(diagnostics, (Span){0},
                          "rank %" PRId64 " has not enough memory for the whole of tensor %s, %" PRId64
                          " bytes",
                          storage->rank, home->tensor->name, bytes);
    if (!agree_on(comm, whole != NULL, diagnostics) || !whole) {
        free(whole);
        return NULL;
    }
    storage_gather_into(storage, whole, comm, diagnostics->arena);
    return whole;
}
