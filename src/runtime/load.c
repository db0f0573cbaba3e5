// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/load.h"

#include "base/integer.h"
#include "io/array_entries.h"
#include "io/generate.h"
#include "io/input.h"
#include "io/source_entries.h"
#include "runtime/exchange_entries.h"
#include "runtime/load_sparse.h"
#include "runtime/wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Storage *storage;
    const SourceSpec *source;
    InputFile file; // closed also where memory runs out while it is read
} Load;

static bool load_file(Load *load, Diagnostics *diagnostics) {
    const Storage *storage = load->storage;
    const Home *home = storage->home;
    bool ok =
        input_open(load->source->format, load->source->text, &load->file, diagnostics) &&
        input_check(&load->file, home->tensor->name, storage->type, home->order, home->extents, diagnostics);
    for (int64_t i = 0; i < storage->piece_count && ok; i++)
        ok = input_read(&load->file, &storage->pieces[i], diagnostics);
    return ok;
}

// A dense tensor from a generator of entries.
static bool load_entries(const Storage *storage, const SourceSpec *source, Diagnostics *diagnostics) {
    const Home *home = storage->home;
    Entries entries;
    const bool ok = source_entries(source, home->tensor->name, storage->type, home->order, home->extents,
                                   INT64_MAX, &entries, diagnostics);
    for (int64_t i = 0; i < storage->piece_count && ok; i++)
        piece_set_entries(&storage->pieces[i], &entries);
    entries_free(&entries);
    return ok;
}

static bool load_pieces(void *arguments, Diagnostics *diagnostics) {
    Load *load = arguments;
    const Storage *storage = load->storage;
    const SourceSpec *source = load->source;
    if (source->format)
        return load_file(load, diagnostics);
    if (source->generator->entries)
        return load_entries(storage, source, diagnostics);
    for (int64_t i = 0; i < storage->piece_count; i++)
        generate(source->generator, &source->values, storage->home->extents, &storage->pieces[i]);
    return true;
}

typedef struct {
    SourceShare share;
    int64_t limit;
    Entries *entries;
} ShareReading;

static bool read_share(void *arguments, Diagnostics *diagnostics) {
    ShareReading *reading = arguments;
    return source_read(&reading->share, reading->limit, reading->entries, diagnostics);
}

bool load_share(const SourceSpec *source, const char *tensor, int64_t limit, Entries *entries, MPI_Comm comm,
                Diagnostics *diagnostics) {
    ShareReading reading = {{.source = source, .tensor = tensor, .file = {.fd = -1}}, limit, entries};
    SourceShare *share = &reading.share;
    MPI_Comm_rank(comm, &share->share);
    MPI_Comm_size(comm, &share->shares);
    bool ok = agree_on_part(comm, read_share, &reading, diagnostics);
    if (ok && share->shares > 1) {
        int64_t listed = share->listed;
        all_reduce(&listed, 1, MPI_INT64_T, MPI_SUM, comm);
        ok = source_check(share, listed, diagnostics);
    }
    source_close(share);
    return ok;
}

typedef struct {
    Storage *storage;
    Entries *entries;
} Putting;

static bool put_entries(void *arguments, Diagnostics *diagnostics) {
    const Putting *putting = arguments;
    const Storage *storage = putting->storage;
    if (tensor_is_sparse(storage->home->tensor))
        return sparse_put_entries(putting->storage, putting->entries, diagnostics);
    for (int64_t i = 0; i < storage->piece_count; i++)
        piece_set_entries(&storage->pieces[i], putting->entries);
    return true;
}

bool storage_take_share(Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    bool ok = true;
    if (ranks > 1) {
        Entries own = {0};
        ok = send_entries_home(storage, entries, &own, comm, diagnostics);
        entries_free(entries);
        *entries = own;
    }
    if (!ok)
        return false;
    Putting putting = {storage, entries};
    if (!tensor_is_sparse(storage->home->tensor))
        return agree_on_part(comm, put_entries, &putting, diagnostics);
    SetAside before = storage_set_aside(storage);
    ok = agree_on_part(comm, put_entries, &putting, diagnostics);
    storage_settle(storage, &before, ok);
    return ok;
}

static bool load_sparse(Storage *storage, const SourceSpec *source, MPI_Comm comm, Diagnostics *diagnostics) {
    Entries entries = storage_no_entries(storage);
    const bool ok =
        load_share(source, storage->home->tensor->name, storage->limit, &entries, comm, diagnostics) &&
        storage_take_share(storage, &entries, comm, diagnostics);
    entries_free(&entries);
    return ok;
}

static bool load_dense(const Storage *storage, const SourceSpec *source, MPI_Comm comm,
                       Diagnostics *diagnostics) {
    Load load = {storage, source, {.fd = -1}};
    const bool ok = agree_on_part(comm, load_pieces, &load, diagnostics);
    input_close(&load.file);
    return ok;
}

bool storage_load(Storage *storage, const SourceSpec *source, MPI_Comm comm, Diagnostics *diagnostics) {
    return tensor_is_sparse(storage->home->tensor) ? load_sparse(storage, source, comm, diagnostics)
                                                   : load_dense(storage, source, comm, diagnostics);
}

typedef Array(PiecePart) PartArray;

// The parts of which this rank is the first holder: over all ranks, every element once.
static PartArray first_parts(const Storage *storage, Arena *arena) {
    PartArray parts = {0};
    HoldingArray owners = {0};
    for (int64_t i = 0; i < storage->piece_count; i++) {
        const Piece *piece = &storage->pieces[i];
        owners.count = 0;
        home_owners(storage->home, &piece->rect, arena, &owners);
        for (int64_t k = 0; k < owners.count; k++)
            if (owners.items[k].rank == storage->rank)
                array_push(arena, parts, (PiecePart){*piece, owners.items[k].rect});
    }
    return parts;
}

static void list_part(const PiecePart *part, Entries *entries, int64_t first) {
    const size_t size = type_info(entries->type)->size;
    for (int64_t e = 0; e < rect_volume(&part->part); e++) {
        int64_t rest = e, offset = 0;
        for (int d = entries->order - 1; d >= 0; d--) {
            const int64_t count = rect_count(&part->part, d);
            const int64_t x = positions_at(rect_mode(&part->part, d), rest % count);
            rest /= count;
            offset += positions_index(rect_mode(&part->piece.rect, d), x) * part->piece.stride[d];
            entries->coordinates[d][first + e] = x;
        }
        memcpy((char *)entries->values + (size_t)(first + e) * size,
               (const char *)part->piece.data + (size_t)offset * size, size);
    }
}

static bool refuse_list(const Storage *storage, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64
                             " has not enough memory to send and receive elements of tensor %s",
                             storage->rank, storage->home->tensor->name);
}

bool storage_list(const Storage *storage, Entries *entries, Diagnostics *diagnostics) {
    if (tensor_is_sparse(storage->home->tensor))
        return sparse_list(storage, entries, diagnostics);
    *entries = storage_no_entries(storage);
    const PartArray parts = first_parts(storage, diagnostics->arena);
    for (int64_t i = 0; i < parts.count; i++)
        entries->count = saturated_add(entries->count, rect_volume(&parts.items[i].part));
    if (entries_allocate(entries))
        return refuse_list(storage, diagnostics);
    int64_t first = 0;
    for (int64_t i = 0; i < parts.count; i++) {
        list_part(&parts.items[i], entries, first);
        first += rect_volume(&parts.items[i].part);
    }
    return true;
}

typedef struct {
    const Storage *storage;
    const char *path;
    DraftToken token; // the first rank's
    bool is_first, is_on_one_node;
    UnnamedDraft unnamed; // the first rank's
    const FileFormat *format;
    FileTensor tensor;
    PartArray parts;
    bool is_listed;  // as entries, or all elements at once: the first rank writes them
    void *whole;     // of a dense tensor then
    Entries entries; // of a sparse one, on the first rank
    Output output;
} Save;

static bool find_parts(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    const Storage *storage = save->storage;
    const Home *home = storage->home;
    save->format = file_format_of(save->path);
    if (!file_format_check(save->format, FILE_WRITE, save->path, home->tensor, diagnostics))
        return false;
    save->tensor = (FileTensor){.type = storage->type, .order = home->tensor->order};
    memcpy(save->tensor.extents, home->extents, sizeof home->extents);
    save->is_listed = tensor_is_sparse(home->tensor) || !save->format->write;
    save->output = output_create(save->path, &save->token, diagnostics->arena);
    if (!save->is_listed)
        save->parts = first_parts(storage, diagnostics->arena);
    return true;
}

static bool gather_whole(Save *save, MPI_Comm comm, Diagnostics *diagnostics) {
    if (!save->is_listed)
        return true;
    if (tensor_is_sparse(save->storage->home->tensor))
        return gather_entries(save->storage, &save->entries, comm, diagnostics);
    save->whole = storage_gather(save->storage, comm, diagnostics);
    return save->whole != NULL;
}

static bool create_draft(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    if (!save->is_first)
        return true;
    if (!output_possible(&save->output, diagnostics))
        return false;
    if (!output_create_draft(&save->output, save->is_on_one_node ? &save->unnamed : NULL))
        return output_refuse(&save->output, strerror(errno), diagnostics);
    const char *why =
        save->is_listed ? NULL : save->format->create(save->output.fd, &save->tensor, diagnostics->arena);
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

// NULL on success, else the reason of the failure.
static const char *write_listed(const Save *save, Diagnostics *diagnostics) {
    const int fd = save->output.fd;
    return save->whole
               ? file_write_dense(save->format, fd, &save->tensor, save->whole, INT64_MAX, diagnostics->arena)
               : file_write_sparse(save->format, fd, &save->entries, save->storage->limit,
                                   diagnostics->arena);
}

static bool write_parts(void *arguments, Diagnostics *diagnostics) {
    Save *save = arguments;
    const char *why = NULL;
    if (!save->is_listed)
        why = save->format->write(save->output.fd, &save->tensor, save->parts.count, save->parts.items,
                                  diagnostics->arena);
    else if (save->is_first)
        why = write_listed(save, diagnostics);
    if (why)
        output_refuse(&save->output, why, diagnostics);
    return output_close(&save->output, !why, diagnostics);
}

static bool finish_output(void *arguments, Diagnostics *diagnostics) {
    return output_finish(&((Save *)arguments)->output, true, diagnostics);
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

bool storage_save(const Storage *storage, const char *path, DraftToken token, MPI_Comm comm,
                  Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    Save save = {.storage = storage,
                 .path = path,
                 .token = token,
                 .is_first = rank == 0,
                 .is_on_one_node = is_on_one_node(comm),
                 .output.fd = -1};
    broadcast(&save.token, sizeof save.token, MPI_BYTE, 0, comm);
    const bool ok =
        agree_on_part(comm, find_parts, &save, diagnostics) && gather_whole(&save, comm, diagnostics) &&
        agree_on_part(comm, create_draft, &save, diagnostics) &&
        (open_unnamed_draft(&save, comm) || (agree_on_part(comm, name_draft, &save, diagnostics) &&
                                             agree_on_part(comm, open_draft, &save, diagnostics))) &&
        agree_on_part(comm, write_parts, &save, diagnostics) &&
        agree_on_part(comm, finish_output, &save, diagnostics);
    output_finish(&save.output, ok, diagnostics); // nothing where it went well
    free(save.whole);
    entries_free(&save.entries);
    return ok;
}

// Every element is on one rank and zero on the others, so a bitwise `or` over all ranks gathers them exactly.
static void merge(void *whole, int64_t bytes, MPI_Comm comm) {
    const int64_t chunk = 16 << 20;
    for (int64_t done = 0; done < bytes; done += chunk)
        all_reduce((char *)whole + done, (int)min_i64(chunk, bytes - done), MPI_BYTE, MPI_BOR, comm);
}

typedef struct {
    const Storage *storage;
    Rect rect; // of the whole
    void *whole;
} Gathering;

static Rect whole_rect(const Storage *storage) {
    return rect_whole(storage->home->tensor->order, storage->home->extents);
}

static int64_t whole_bytes(const Gathering *gathering) {
    return rect_volume(&gathering->rect) * (int64_t)type_info(gathering->storage->type)->size;
}

static bool allocate_whole(void *arguments, Diagnostics *diagnostics) {
    Gathering *gathering = arguments;
    const Storage *storage = gathering->storage;
    gathering->whole = memory_allocate(MEMORY_HOST, rect_volume(&gathering->rect), storage->type);
    return gathering->whole ||
           diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough memory for the whole of tensor %s, %" PRId64
                             " bytes",
                             storage->rank, storage->home->tensor->name, whole_bytes(gathering));
}

static bool copy_own_parts(void *arguments, Diagnostics *diagnostics) {
    const Gathering *gathering = arguments;
    const Storage *storage = gathering->storage;
    const Piece whole = piece_packed(&gathering->rect, (LevelList){0}, storage->type, gathering->whole);
    memset(whole.data, 0, (size_t)whole_bytes(gathering));
    if (tensor_is_sparse(storage->home->tensor))
        return sparse_scatter(storage, whole.data, diagnostics);
    const PartArray parts = first_parts(storage, diagnostics->arena);
    for (int64_t i = 0; i < parts.count; i++)
        piece_copy(&whole, &parts.items[i].piece, &parts.items[i].part);
    return true;
}

bool storage_gather_into(const Storage *storage, void *whole, MPI_Comm comm, Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), whole};
    if (rect_volume(&gathering.rect) == 0)
        return true;
    if (!agree_on_part(comm, copy_own_parts, &gathering, diagnostics))
        return false;
    merge(whole, whole_bytes(&gathering), comm);
    return true;
}

void *storage_gather(const Storage *storage, MPI_Comm comm, Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), NULL};
    if (agree_on_part(comm, allocate_whole, &gathering, diagnostics) &&
        storage_gather_into(storage, gathering.whole, comm, diagnostics))
        return gathering.whole;
    free(gathering.whole);
    return NULL;
}

void *storage_read_whole(const Storage *storage, const SourceSpec *source, MPI_Comm comm,
                         Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), NULL};
    if (agree_on_part(comm, allocate_whole, &gathering, diagnostics)) {
        Piece whole = piece_packed(&gathering.rect, (LevelList){0}, storage->type, gathering.whole);
        Storage reading = *storage;
        reading.pieces = &whole;
        reading.piece_count = !rect_is_empty(&gathering.rect);
        if (load_dense(&reading, source, comm, diagnostics))
            return gathering.whole;
    }
    free(gathering.whole);
    return NULL;
}
