// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/save_entries.h"

#include "base/integer.h"
#include "io/entry_text.h"
#include "io/file_array.h"
#include "runtime/exchange_entries.h"
#include "runtime/list.h"
#include "runtime/load_sparse.h"
#include "runtime/value_exchange.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ENTRIES = 1 << 17,      // entries that a rank formats in a round; of a dense tensor, at most
    MIN_DENSE_CHUNK = 1 << 12,    // elements of a chunk of a dense tensor
    MAX_ROUND_ELEMENTS = 1 << 22, // elements of a dense tensor that all ranks format in a round, if that is
                                  // MIN_DENSE_CHUNK or more each
    SAMPLES = 8,                  // of entries in a chunk
    MESSAGE_BYTES = 1 << 22,      // bytes in a message
    TAG = (1 << 14) + 1           // beyond those of transfers and exchanges
};

typedef struct {
    const Storage *storage;
    const FileFormat *format;
    FileTensor tensor;
    const Output *output;
    bool shared; // whether it is open on all ranks
    MPI_Comm comm;
    int rank, ranks;
    EntryLines lines;
    int mode_order[MAX_ORDER]; // of the file
    int64_t chunk_count;
    // Of a sparse tensor: the entries of this rank, how many of them have been written, and samples of those
    // of all ranks: the coordinates of every SAMPLES-th begin a chunk.
    Entries own;
    int64_t written, sample_count;
    int64_t *samples;
    // Of a dense one: chunks, and what this rank has of the tensor.
    RectChunks chunks;
    PiecePartArray parts;
    Arena *scratch;
    // In a round: its first chunk, the entries that this rank has, those that it formats, and their bytes in
    // the file.
    int64_t first_chunk;
    Entries given, chunk;
    int64_t *counts; // of given entries, by the rank that formats them
    char *bytes;
    int64_t length;
    int64_t *lengths;      // of the bytes of all ranks
    int64_t offset;        // of the next byte of the file
    int64_t message_bytes; // of a message; in blocks of entries, of a block
    char *message;         // that the first rank receives, where it writes for the others
    FileWriter *writer;    // of a file by level, on the first rank
    const char *why;       // something could not be written; NULL: all could
} Saving;

static bool is_sparse(const Saving *saving) {
    return tensor_is_sparse(saving->storage->home->tensor);
}

// The samples of a rank are at equal distances. The first is at another position on each rank, so that chunks
// have about equally many entries even where all ranks have the same coordinates.
static int64_t first_sample(int rank) {
    const uint64_t part = (uint64_t)(rank + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    return (int64_t)(part * (CHUNK_ENTRIES / SAMPLES) >> 32);
}

static int64_t own_samples(const Saving *saving) {
    return max_i64(0, ceil_div(saving->own.count - first_sample(saving->rank), CHUNK_ENTRIES / SAMPLES));
}

// Of an entry in a block that is sent to the first rank, and entries in such a block.
static int64_t entry_bytes(const Storage *storage) {
    return storage->home->tensor->order * (int64_t)sizeof(int64_t) + (int64_t)type_info(storage->type)->size;
}

static int64_t block_entries(const Storage *storage) {
    return MESSAGE_BYTES / entry_bytes(storage) / 2 * 2; // even: coordinates are aligned in all blocks
}

static bool refuse(const Saving *saving, const char *why, Diagnostics *diagnostics) {
    return output_refuse(saving->output, why, diagnostics);
}

static bool refuse_list(const Saving *saving, const Entries *entries, Diagnostics *diagnostics) {
    return refuse(saving, no_memory_to_list(saving->storage, entries->count, diagnostics->arena),
                  diagnostics);
}

static bool refuse_chunk(const Saving *saving, Diagnostics *diagnostics) {
    return refuse(saving,
                  arena_printf(diagnostics->arena, "rank %d has not enough memory to write tensor %s",
                               saving->rank, saving->storage->home->tensor->name),
                  diagnostics);
}

static bool prepare(void *arguments, Diagnostics *diagnostics) {
    Saving *saving = arguments;
    const Storage *storage = saving->storage;
    Arena *arena = diagnostics->arena;
    const Tensor *tensor = storage->home->tensor;
    saving->scratch = arena_create_within(arena);
    saving->counts = arena_array(arena, int64_t, saving->ranks);
    saving->lengths = arena_array(arena, int64_t, saving->ranks);
    saving->message_bytes =
        saving->format->header ? MESSAGE_BYTES : block_entries(storage) * entry_bytes(storage);
    if (saving->rank == 0 && !saving->shared && !(saving->message = malloc((size_t)saving->message_bytes)))
        return refuse_chunk(saving, diagnostics);
    for (int l = 0; l < tensor->order; l++)
        saving->mode_order[l] = is_sparse(saving) ? tensor->mode_order[l]
                                : saving->format->header && !saving->format->lists_rows
                                    ? tensor->order - 1 - l
                                    : l;
    if (is_sparse(saving)) {
        const char *why = storage_list(storage, &saving->own, arena);
        return !why || refuse(saving, why, diagnostics);
    }
    const Rect whole = rect_whole(tensor->order, storage->home->extents);
    saving->chunks =
        rect_chunks(&whole, saving->mode_order,
                    max_i64(MIN_DENSE_CHUNK, min_i64(CHUNK_ENTRIES, MAX_ROUND_ELEMENTS / saving->ranks)));
    saving->chunk_count = saving->chunks.count;
    saving->parts = storage_piece_parts(storage, arena);
    return true;
}

// Where the samples of this rank are among those of all.
static bool take_samples(void *arguments, Diagnostics *diagnostics) {
    Saving *saving = arguments;
    const int order = saving->own.order;
    int64_t at = 0;
    for (int rank = 0; rank < saving->ranks; rank++) {
        at += rank < saving->rank ? saving->counts[rank] : 0;
        saving->sample_count += saving->counts[rank];
    }
    saving->samples = arena_array(diagnostics->arena, int64_t, saving->sample_count * order);
    for (int64_t e = first_sample(saving->rank); e < saving->own.count; e += CHUNK_ENTRIES / SAMPLES, at++)
        for (int l = 0; l < order; l++)
            saving->samples[at * order + l] = saving->own.coordinates[saving->mode_order[l]][e];
    return true;
}

static int compare_samples(const void *left, const void *right, void *order) {
    const int64_t *a = left, *b = right;
    for (int l = 0; l < *(const int *)order; l++)
        if (a[l] != b[l])
            return a[l] < b[l] ? -1 : 1;
    return 0;
}

static void add_up(const Saving *saving, int64_t *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i += CHUNK_ENTRIES)
        all_reduce(numbers + i, (int)min_i64(count - i, CHUNK_ENTRIES), MPI_INT64_T, MPI_SUM, saving->comm);
}

// Of a sparse tensor: chunks begin at samples, so that they have about as many entries each.
static bool find_chunks(Saving *saving, Diagnostics *diagnostics) {
    int order = saving->own.order;
    saving->tensor.listed = saving->own.count;
    add_up(saving, &saving->tensor.listed, 1);
    saving->counts[saving->rank] = own_samples(saving);
    add_up(saving, saving->counts, saving->ranks);
    if (!agree_on_part(saving->comm, take_samples, saving, diagnostics))
        return false;
    // Each rank has its own samples, and zeros in place of those of the others.
    add_up(saving, saving->samples, saving->sample_count * order);
    if (saving->sample_count > 0)
        qsort_r(saving->samples, (size_t)saving->sample_count, sizeof(int64_t) * (size_t)order,
                compare_samples, &order);
    saving->chunk_count = 1 + saving->sample_count / SAMPLES;
    return true;
}

// A view of the entries of this rank that are in the chunks of the round.
static void take_entries(Saving *saving) {
    const Entries *own = &saving->own;
    const int64_t begin = saving->written;
    for (int rank = 0; rank < saving->ranks; rank++) {
        const int64_t next = saving->first_chunk + rank + 1;
        int64_t end = own->count;
        if (next < saving->chunk_count)
            end = entries_lower_bound(own, saving->mode_order,
                                      saving->samples + (next * SAMPLES - 1) * own->order);
        saving->counts[rank] = end - saving->written;
        saving->written = end;
    }
    saving->given = *own;
    saving->given.count = saving->written - begin;
    for (int d = 0; d < own->order && begin > 0; d++)
        saving->given.coordinates[d] += begin;
    if (begin > 0)
        saving->given.values = (char *)own->values + begin * (int64_t)type_info(own->type)->size;
}

// What this rank has of the chunks of the round, which is counted, and then listed.
static bool list_elements(Saving *saving, Diagnostics *diagnostics) {
    PiecePartArray parts = {0};
    arena_reset(saving->scratch);
    saving->given = storage_no_entries(saving->storage);
    for (int rank = 0; rank < saving->ranks; rank++) {
        const int64_t before = saving->given.count, chunk = saving->first_chunk + rank;
        const Rect rect = chunk < saving->chunk_count ? rect_chunk(&saving->chunks, chunk) : (Rect){0};
        for (int64_t i = 0; i < saving->parts.count && chunk < saving->chunk_count; i++) {
            PiecePart part = saving->parts.items[i];
            if (!rect_intersect(&part.part, &rect, saving->scratch, &part.part))
                continue;
            saving->given.count += rect_volume(&part.part);
            array_push(saving->scratch, parts, part);
        }
        saving->counts[rank] = saving->given.count - before;
    }
    if (entries_allocate(&saving->given))
        return refuse_list(saving, &saving->given, diagnostics);
    int64_t first = 0;
    for (int64_t i = 0; i < parts.count; i++)
        first += list_part(&parts.items[i], &saving->given, first);
    return storage_check(saving->storage, diagnostics);
}

static bool take_own(void *arguments, Diagnostics *diagnostics) {
    Saving *saving = arguments;
    if (!is_sparse(saving))
        return list_elements(saving, diagnostics);
    take_entries(saving);
    return true;
}

// The entries of the chunk in blocks: coordinates, by mode, and then values.
static char *pack_chunk(const Saving *saving, int64_t *length) {
    const Entries *chunk = &saving->chunk;
    const int64_t size = (int64_t)type_info(chunk->type)->size, block = block_entries(saving->storage);
    *length = chunk->count * entry_bytes(saving->storage);
    char *packed = malloc((size_t)*length + 1), *to = packed;
    for (int64_t e = 0; packed && e < chunk->count; e += block) {
        const size_t count = (size_t)min_i64(block, chunk->count - e);
        for (int d = 0; d < chunk->order; d++, to += count * sizeof(int64_t))
            memcpy(to, chunk->coordinates[d] + e, count * sizeof(int64_t));
        memcpy(to, (const char *)chunk->values + e * size, count * (size_t)size);
        to += count * (size_t)size;
    }
    return packed;
}

static bool format_chunk(void *arguments, Diagnostics *diagnostics) {
    Saving *saving = arguments;
    bool ok = !entries_sort(&saving->chunk, saving->mode_order);
    if (ok) {
        saving->bytes = saving->format->header
                            ? entry_text_format(&saving->chunk, &saving->lines, &saving->length)
                            : pack_chunk(saving, &saving->length);
        ok = saving->bytes != NULL;
    }
    return ok || refuse_chunk(saving, diagnostics);
}

static void send_chunk(const Saving *saving) {
    for (int64_t at = 0; at < saving->length; at += saving->message_bytes) {
        MPI_Request request;
        MPI_Isend(saving->bytes + at, (int)min_i64(saving->message_bytes, saving->length - at), MPI_BYTE, 0,
                  TAG, saving->comm, &request);
        wait_all(1, &request);
    }
}

// Appends blocks of entries to a file by level.
static const char *append_blocks(const Saving *saving, char *packed, int64_t length) {
    const int64_t bytes = entry_bytes(saving->storage);
    const char *why = NULL;
    // cppcheck-suppress invalidLifetime // a reason does not point to the entries
    for (int64_t at = 0, taken; !why && at < length; at += taken) {
        taken = min_i64(saving->message_bytes, length - at);
        Entries entries = storage_no_entries(saving->storage);
        entries.count = taken / bytes;
        for (int d = 0; d < entries.order; d++)
            entries.coordinates[d] = (int64_t *)(void *)(packed + at) + d * entries.count;
        entries.values = packed + at + entries.order * entries.count * (int64_t)sizeof(int64_t);
        why = saving->format->append(saving->writer, &entries);
    }
    // cppcheck-suppress returnDanglingLifetime // see above
    return why;
}

// Unless something could not be written before.
static void write_at(Saving *saving, char *bytes, int64_t length, int64_t offset) {
    if (saving->why)
        return;
    saving->why = saving->writer ? append_blocks(saving, bytes, length)
                                 : file_bytes_write(saving->output->fd, bytes, (size_t)length, offset);
}

// On the first rank: the bytes of all, in the order of ranks.
static void write_chunks(Saving *saving) {
    int64_t offset = saving->offset + saving->length;
    write_at(saving, saving->bytes, saving->length, saving->offset);
    for (int rank = 1; rank < saving->ranks; rank++)
        for (int64_t at = 0; at < saving->lengths[rank]; at += saving->message_bytes) {
            const int64_t length = min_i64(saving->message_bytes, saving->lengths[rank] - at);
            MPI_Request request;
            MPI_Irecv(saving->message, (int)length, MPI_BYTE, rank, TAG, saving->comm, &request);
            wait_all(1, &request);
            write_at(saving, saving->message, length, offset);
            offset += length;
        }
}

static bool report(void *arguments, Diagnostics *diagnostics) {
    const Saving *saving = arguments;
    return !saving->why || output_refuse(saving->output, saving->why, diagnostics);
}

// Writes what the ranks have formatted.
static bool write_round(Saving *saving, Diagnostics *diagnostics) {
    for (int rank = 0; rank < saving->ranks; rank++)
        saving->counts[rank] = saving->length;
    exchange_counts(1, saving->counts, saving->lengths, saving->comm);
    int64_t offset = saving->offset, end = offset;
    for (int rank = 0; rank < saving->ranks; rank++) {
        offset += rank < saving->rank ? saving->lengths[rank] : 0;
        end += saving->lengths[rank];
    }
    if (saving->shared)
        write_at(saving, saving->bytes, saving->length, offset);
    else if (saving->rank == 0)
        write_chunks(saving);
    else
        send_chunk(saving);
    saving->offset = end;
    return agree_on_part(saving->comm, report, saving, diagnostics);
}

static bool save_round(Saving *saving, Diagnostics *diagnostics) {
    bool ok = agree_on_part(saving->comm, take_own, saving, diagnostics) &&
              exchange_entries(saving->storage, &saving->given, saving->counts, &saving->chunk, saving->comm,
                               diagnostics);
    if (!is_sparse(saving))
        entries_free(&saving->given);
    ok = ok && agree_on_part(saving->comm, format_chunk, saving, diagnostics);
    entries_free(&saving->chunk);
    ok = ok && write_round(saving, diagnostics);
    free(saving->bytes);
    saving->bytes = NULL;
    return ok;
}

static bool write_header(void *arguments, Diagnostics *diagnostics) {
    Saving *saving = arguments;
    const int fd = saving->output->fd;
    if (saving->format->header) {
        const char *header = saving->format->header(&saving->tensor, &saving->lines, diagnostics->arena);
        saving->offset = (int64_t)strlen(header);
        if (saving->rank == 0)
            saving->why = file_bytes_write(fd, header, (size_t)saving->offset, 0);
    } else if (saving->rank == 0) {
        saving->why = saving->format->begin(fd, &saving->tensor, &saving->writer, diagnostics->arena);
    }
    return report(saving, diagnostics);
}

static bool end_levels(void *arguments, Diagnostics *diagnostics) {
    Saving *saving = arguments;
    if (saving->writer)
        saving->why = saving->format->end(saving->writer);
    saving->writer = NULL;
    return report(saving, diagnostics);
}

bool save_entries(const Storage *storage, const FileFormat *format, const FileTensor *tensor,
                  const Output *output, bool shared, MPI_Comm comm, Diagnostics *diagnostics) {
    Saving saving = {.storage = storage,
                     .format = format,
                     .tensor = *tensor,
                     .output = output,
                     .shared = shared,
                     .comm = comm};
    MPI_Comm_rank(comm, &saving.rank);
    MPI_Comm_size(comm, &saving.ranks);
    bool ok = agree_on_part(comm, prepare, &saving, diagnostics) &&
              (!is_sparse(&saving) || find_chunks(&saving, diagnostics)) &&
              agree_on_part(comm, write_header, &saving, diagnostics);
    for (; ok && saving.first_chunk < saving.chunk_count; saving.first_chunk += saving.ranks)
        ok = save_round(&saving, diagnostics);
    ok = ok && agree_on_part(comm, end_levels, &saving, diagnostics);
    if (saving.writer)
        format->end(saving.writer);
    entries_free(&saving.own);
    free(saving.message);
    return ok;
}
