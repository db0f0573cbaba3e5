// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/load.h"

#include "base/integer.h"
#include "io/array_entries.h"
#include "io/generate.h"
#include "io/input.h"
#include "io/source_entries.h"
#include "runtime/chunks.h"
#include "runtime/exchange_entries.h"
#include "runtime/list.h"
#include "runtime/load_sparse.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Storage *storage;
    const SourceSpec *source;
    InputFile file; // closed also where memory runs out while it is read
} Load;

static bool read_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    return input_read(&((Load *)context)->file, &part->piece, diagnostics);
}

static bool load_file(Load *load, Diagnostics *diagnostics) {
    const Storage *storage = load->storage;
    const Home *home = storage->home;
    bool ok =
        input_open(load->source->format, load->source->text, &load->file, diagnostics) &&
        input_check(&load->file, home->tensor->name, storage->type, home->order, home->extents, diagnostics);
    return ok && chunks_visit_pieces(storage, CHUNKS_WRITE, read_chunk, load, diagnostics);
}

static bool put_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    piece_set_entries(&part->piece, context);
    return true;
}

// A dense tensor from a generator of entries.
static bool load_entries(const Storage *storage, const SourceSpec *source, Diagnostics *diagnostics) {
    const Home *home = storage->home;
    Entries entries;
    const bool ok = source_entries(source, home->tensor->name, storage->type, home->order, home->extents,
                                   INT64_MAX, &entries, diagnostics);
    const bool all = ok && chunks_visit_pieces(storage, CHUNKS_WRITE, put_chunk, &entries, diagnostics);
    entries_free(&entries);
    return all;
}

static bool generate_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Load *load = context;
    generate(load->source->generator, &load->source->values, load->storage->home->extents, &part->piece);
    return true;
}

static bool load_pieces(void *arguments, Diagnostics *diagnostics) {
    Load *load = arguments;
    const Storage *storage = load->storage;
    const SourceSpec *source = load->source;
    if (source->format)
        return load_file(load, diagnostics);
    if (source->generator->entries)
        return load_entries(storage, source, diagnostics);
    return chunks_visit_pieces(storage, CHUNKS_WRITE, generate_chunk, load, diagnostics);
}

typedef struct {
    SourceShare share;
    int64_t limit;
    Entries *entries;
    int64_t *counts; // of elements that shares of a text with all of them list, by rank
} ShareReading;

static bool open_share(void *arguments, Diagnostics *diagnostics) {
    ShareReading *reading = arguments;
    SourceShare *share = &reading->share;
    reading->counts = arena_array(diagnostics->arena, int64_t, share->shares);
    return source_open(share, reading->entries, &reading->counts[share->share], diagnostics);
}

static bool read_share(void *arguments, Diagnostics *diagnostics) {
    ShareReading *reading = arguments;
    return source_read(&reading->share, reading->limit, reading->entries, diagnostics);
}

bool load_share(const SourceSpec *source, const char *tensor, bool keeps_zeros, int64_t limit,
                Entries *entries, MPI_Comm comm, Diagnostics *diagnostics) {
    ShareReading reading = {
        {.source = source, .tensor = tensor, .keeps_zeros = keeps_zeros, .file = {.fd = -1}},
        limit,
        entries,
        NULL};
    SourceShare *share = &reading.share;
    MPI_Comm_rank(comm, &share->share);
    MPI_Comm_size(comm, &share->shares);
    bool ok = agree_on_part(comm, open_share, &reading, diagnostics);
    if (ok && share->shares > 1) {
        all_reduce(reading.counts, share->shares, MPI_INT64_T, MPI_SUM, comm);
        for (int rank = 0; rank < share->share; rank++)
            share->file.before = saturated_add(share->file.before, reading.counts[rank]);
    }
    ok = ok && agree_on_part(comm, read_share, &reading, diagnostics);
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
    return chunks_visit_pieces(storage, CHUNKS_WRITE, put_chunk, putting->entries, diagnostics);
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

// As entries, of which each rank reads a share.
static bool load_shares(Storage *storage, const SourceSpec *source, MPI_Comm comm, Diagnostics *diagnostics) {
    const Tensor *tensor = storage->home->tensor;
    Entries entries = storage_no_entries(storage);
    const bool ok = load_share(source, tensor->name, !tensor_is_sparse(tensor), storage->limit, &entries,
                               comm, diagnostics) &&
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
    const bool has_entries = source->format ? !source->format->read : source->generator->entries != NULL;
    return has_entries || tensor_is_sparse(storage->home->tensor)
               ? load_shares(storage, source, comm, diagnostics)
               : load_dense(storage, source, comm, diagnostics);
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
    bool in_parts; // ranks after the first send it in parts
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

// A part of the whole on the ranks after the first.
static bool allocate_on_first(void *arguments, Diagnostics *diagnostics) {
    Gathering *gathering = arguments;
    const Storage *storage = gathering->storage;
    if (storage->rank == 0)
        return allocate_whole(arguments, diagnostics);
    if (!gathering->in_parts)
        return true;
    gathering->whole = malloc(GATHER_BYTES);
    return gathering->whole ||
           diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough memory for a part of tensor %s, %d bytes",
                             storage->rank, storage->home->tensor->name, GATHER_BYTES);
}

static bool copy_own_parts(void *arguments, Diagnostics *diagnostics) {
    const Gathering *gathering = arguments;
    const Storage *storage = gathering->storage;
    const Piece whole = piece_packed(&gathering->rect, (LevelList){0}, storage->type, gathering->whole);
    memset(whole.data, 0, (size_t)whole_bytes(gathering));
    if (tensor_is_sparse(storage->home->tensor))
        return sparse_scatter(storage, whole.data, diagnostics);
    const PiecePartArray parts = storage_piece_parts(storage, diagnostics->arena);
    for (int64_t i = 0; i < parts.count; i++)
        piece_copy(&whole, &parts.items[i].piece, &parts.items[i].part);
    return storage_check(storage, diagnostics);
}

bool storage_gather_into(const Storage *storage, void *whole, MPI_Comm comm, Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), whole, false};
    if (rect_volume(&gathering.rect) == 0)
        return true;
    if (!agree_on_part(comm, copy_own_parts, &gathering, diagnostics))
        return false;
    merge(whole, whole_bytes(&gathering), comm);
    return true;
}

void *storage_gather(const Storage *storage, MPI_Comm comm, Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), NULL, false};
    if (agree_on_part(comm, allocate_whole, &gathering, diagnostics) &&
        storage_gather_into(storage, gathering.whole, comm, diagnostics))
        return gathering.whole;
    free(gathering.whole);
    return NULL;
}

void *storage_read_whole(const Storage *storage, const SourceSpec *source, MPI_Comm comm,
                         Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), NULL, false};
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

// The whole in chunks, which go to the first rank one after the other.
typedef struct {
    const Storage *storage;
    PiecePartArray parts; // that this rank has
    RectChunks chunks;
    Rect chunk;
    Arena *scratch;
    void *to; // its elements, and zeros in place of those of other ranks
} ChunkGathering;

static bool begin_chunks(void *arguments, Diagnostics *diagnostics) {
    ChunkGathering *gathering = arguments;
    const Rect rect = whole_rect(gathering->storage);
    const int64_t size = (int64_t)type_info(gathering->storage->type)->size;
    gathering->parts = storage_piece_parts(gathering->storage, diagnostics->arena);
    gathering->chunks = rect_chunks(&rect, NULL, GATHER_BYTES / size);
    gathering->scratch = arena_create_within(diagnostics->arena);
    return true;
}

static bool copy_chunk(void *arguments, Diagnostics *diagnostics) {
    const ChunkGathering *gathering = arguments;
    const ElementType type = gathering->storage->type;
    const Piece piece = piece_packed(&gathering->chunk, (LevelList){0}, type, gathering->to);
    arena_reset(gathering->scratch);
    memset(gathering->to, 0, (size_t)rect_volume(&gathering->chunk) * type_info(type)->size);
    for (int64_t i = 0; i < gathering->parts.count; i++) {
        Rect common;
        if (rect_intersect(&gathering->parts.items[i].part, &gathering->chunk, gathering->scratch, &common))
            piece_copy(&piece, &gathering->parts.items[i].piece, &common);
    }
    return storage_check(gathering->storage, diagnostics);
}

bool storage_gather_first(const Storage *storage, void **whole, MPI_Comm comm, Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), NULL, true};
    ChunkGathering of_chunks = {.storage = storage};
    bool ok = agree_on_part(comm, allocate_on_first, &gathering, diagnostics) &&
              agree_on_part(comm, begin_chunks, &of_chunks, diagnostics);
    of_chunks.to = gathering.whole;
    for (int64_t c = 0; ok && c < of_chunks.chunks.count; c++) {
        of_chunks.chunk = rect_chunk(&of_chunks.chunks, c);
        const int64_t bytes = rect_volume(&of_chunks.chunk) * (int64_t)type_info(storage->type)->size;
        ok = agree_on_part(comm, copy_chunk, &of_chunks, diagnostics);
        if (ok)
            reduce_in_place(of_chunks.to, (int)bytes, MPI_BYTE, MPI_BOR, 0, comm);
        if (storage->rank == 0)
            of_chunks.to = (char *)of_chunks.to + bytes;
    }
    if (of_chunks.scratch)
        arena_free(of_chunks.scratch);
    const bool has = ok && storage->rank == 0;
    if (!has)
        free(gathering.whole);
    *whole = has ? gathering.whole : NULL;
    return ok;
}

bool storage_read_first(const Storage *storage, const SourceSpec *source, void **whole, MPI_Comm comm,
                        Diagnostics *diagnostics) {
    Gathering gathering = {storage, whole_rect(storage), NULL, false};
    bool ok = agree_on_part(comm, allocate_on_first, &gathering, diagnostics);
    if (ok) {
        Piece piece = piece_packed(&gathering.rect, (LevelList){0}, storage->type, gathering.whole);
        Storage reading = *storage;
        reading.pieces = &piece;
        reading.piece_count = gathering.whole && !rect_is_empty(&gathering.rect);
        ok = load_dense(&reading, source, comm, diagnostics);
    }
    if (!ok) {
        free(gathering.whole);
        gathering.whole = NULL;
    }
    *whole = gathering.whole;
    return ok;
}

typedef struct {
    Storage *const *storages;
    int count;
    const int *tensors;
    int64_t ranks, *counts;
} Counting;

static bool count_own(void *arguments, Diagnostics *diagnostics) {
    const Counting *counting = arguments;
    memset(counting->counts, 0, sizeof(int64_t) * (size_t)(2 * counting->count * counting->ranks));
    for (int i = 0; i < counting->count; i++) {
        const Storage *storage = counting->storages[counting->tensors[i]];
        int64_t *entries = counting->counts + 2 * i * counting->ranks, *bytes = entries + counting->ranks;
        entries[storage->rank] = sparse_count(storage, diagnostics->arena);
        bytes[storage->rank] = storage_bytes(counting->storages, counting->tensors[i]);
    }
    return true;
}

bool storage_gather_counts(Storage *const *storages, int count, const int *tensors, int64_t ranks,
                           MPI_Comm comm, int64_t *counts, Diagnostics *diagnostics) {
    Counting counting = {storages, count, tensors, ranks, counts};
    if (!agree_on_part(comm, count_own, &counting, diagnostics))
        return false;
    all_reduce(counts, (int)(2 * count * ranks), MPI_INT64_T, MPI_SUM, comm);
    return true;
}
