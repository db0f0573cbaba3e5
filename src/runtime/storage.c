// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/storage.h"

#include "base/integer.h"
#include "memory/gpu.h"
#include "memory/pinned.h"
#include "memory/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// All pieces one after the other, each in cache lines of its own, or as memory of a GPU is aligned.
static bool allocate_shared(Storage *storage) {
    const bool on_gpu = storage->home->memory == MEMORY_GPU;
    const int64_t aligned = on_gpu ? 256 : 64;
    const int64_t size = (int64_t)type_info(storage->type)->size;
    int64_t bytes = 0;
    for (int64_t i = 0; i < storage->piece_count; i++) {
        storage->pieces[i].at = saturated_mul(ceil_div(bytes, aligned), aligned);
        bytes =
            saturated_add(storage->pieces[i].at, saturated_mul(rect_volume(&storage->pieces[i].rect), size));
    }
    storage->block =
        on_gpu ? device_current()->allocate_shared(bytes, &storage->handle) : shared_allocate(bytes);
    for (int64_t i = 0; storage->block && i < storage->piece_count; i++) {
        Piece *piece = &storage->pieces[i];
        piece->data = (char *)storage->block + piece->at;
        piece->at = 0;
    }
    return storage->block != NULL;
}

// `at`: of what is in disk, where the file has its elements.
static bool allocate_pieces(Storage *storage, const RectArray *rects, int64_t at, bool in_shared_file) {
    const Home *home = storage->home;
    storage->pieces = calloc((size_t)rects->count + 1, sizeof(Piece));
    if (!storage->pieces)
        return false;
    for (; storage->piece_count < rects->count; storage->piece_count++) {
        Piece *piece = &storage->pieces[storage->piece_count];
        const Rect *rect = &rects->items[storage->piece_count];
        *piece = piece_packed(rect, tensor_levels(home->tensor), storage->type, NULL);
        piece->memory = home->memory;
        if (storage->file) {
            piece->file = storage->file;
            piece->at = at;
            piece->levels = tensor_levels(home->tensor);
            if (in_shared_file) {
                piece->within = &storage->whole;
                continue;
            }
            piece->tile = home->tile[0] > 0 ? home->tile : NULL;
            at += rect_volume(&piece->rect) * (int64_t)type_info(piece->type)->size;
            continue;
        }
        if (!storage->shared) {
            piece->data = memory_allocate(piece->memory, rect_volume(&piece->rect), piece->type);
            if (!piece->data)
                return false;
        }
    }
    return !storage->shared || allocate_shared(storage);
}

// The values of a sparse tensor as a piece.
static void show_values(Storage *storage) {
    if (storage->piece_count > 0)
        storage->pieces[0] = (Piece){.rect = {.order = 1, .hi = {storage->stored.value_count}},
                                     .stride = {1},
                                     .type = storage->type,
                                     .data = storage->stored.values};
}

static bool allocate_sparse(Storage *storage, const RectArray *rects) {
    storage->pieces = calloc(1, sizeof(Piece)); // the values of all of them
    storage->piece_count = storage->pieces ? home_stores_entries(storage->home, rects->count) : 0;
    storage->empty = home_stored_empty(storage->home);
    stored_restrict(&storage->empty, rects->count, rects->items);
    storage->padded = stored_is_padded(&storage->empty, rects->count, rects->items);
    storage->stored = storage->empty;
    if (storage->pieces)
        show_values(storage);
    return storage->pieces != NULL;
}

static bool refuse_disk(const Storage *storage, Scratch scratch, int error, Diagnostics *diagnostics) {
    const char *why = scratch.direct && error == EINVAL
                          ? "its file system does not support direct I/O (O_DIRECT)"
                          : strerror(error);
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " cannot keep its part of tensor %s, %" PRId64
                             " bytes, in a file in '%s': %s",
                             storage->rank, storage->home->tensor->name,
                             home_bytes(storage->home, storage->rank), disk_folder(scratch.folder), why);
}

Storage *storage_create(const Home *home, int64_t rank, bool zero, Scratch scratch,
                        Diagnostics *diagnostics) {
    // First what jumps where memory runs out (base/arena.h), so that nothing is lost then.
    const Region own = home_pieces(home, rank, home->arena);
    Storage *storage = calloc(1, sizeof(Storage));
    if (storage) {
        *storage = (Storage){
            .home = home, .type = home->tensor->type, .rank = rank, .owned = true, .limit = INT64_MAX};
        if (home->memory == MEMORY_GPU && !gpu_device(diagnostics)) {
            storage_free(storage);
            return NULL;
        }
        const bool sparse = tensor_is_sparse(home->tensor), in_disk = home->memory == MEMORY_DISK;
        storage->shared = home->shared && !sparse && !in_disk;
        storage->file = in_disk ? disk_create(scratch, home_bytes(home, rank)) : NULL;
        if (in_disk && !storage->file) {
            refuse_disk(storage, scratch, errno, diagnostics);
            storage_free(storage);
            return NULL;
        }
        if (sparse ? allocate_sparse(storage, &own.rects) : allocate_pieces(storage, &own.rects, 0, false)) {
            const bool is_zero = storage->shared && home->memory == MEMORY_HOST;
            if (zero && !in_disk && !is_zero)
                storage_zero(storage);
            return storage;
        }
        storage_free(storage);
    }
    const bool on_gpu = home->memory == MEMORY_GPU;
    if (!on_gpu || device_check(diagnostics))
        diagnostics_error(diagnostics, (Span){0},
                          "rank %" PRId64 " has not enough memory%s for its part of tensor %s, %" PRId64
                          " bytes",
                          rank, on_gpu ? " on its GPU" : "", home->tensor->name, home_bytes(home, rank));
    return NULL;
}

Storage *storage_create_in_file(const Home *home, int64_t rank, int fd, int64_t offset) {
    // May jump where memory runs out: before anything that would have to be freed.
    const Region own = home_pieces(home, rank, home->arena);
    DiskFile *file = disk_open(fd);
    if (!file)
        return NULL;
    Storage *storage = calloc(1, sizeof(Storage));
    if (!storage) {
        disk_free(file);
        errno = ENOMEM;
        return NULL;
    }
    *storage = (Storage){.home = home,
                         .type = home->tensor->type,
                         .rank = rank,
                         .owned = true,
                         .file = file,
                         .whole = rect_whole(home->order, home->extents),
                         .limit = INT64_MAX};
    if (allocate_pieces(storage, &own.rects, offset, true))
        return storage;
    storage_free(storage);
    errno = ENOMEM;
    return NULL;
}

Storage *storage_wrap(const Home *home, int64_t rank, const Piece *pieces) {
    const int64_t count = home_pieces(home, rank, home->arena).rects.count;
    Storage *storage = calloc(1, sizeof(Storage));
    Piece *own = calloc((size_t)count + 1, sizeof(Piece));
    if (!storage || !own) {
        free(storage);
        free(own);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        own[i] = pieces[i];
    *storage = (Storage){.home = home,
                         .type = home->tensor->type,
                         .rank = rank,
                         .piece_count = count,
                         .pieces = own,
                         .limit = INT64_MAX};
    return storage;
}

Storage *storage_create_copy(const Storage *storage, const Tensor *tensor, bool here) {
    Storage *copy = calloc(1, sizeof *copy);
    Home *home = malloc(sizeof *home);
    Piece *values = calloc(1, sizeof *values);
    if (!copy || !home || !values) {
        free(copy);
        free(home);
        free(values);
        return NULL;
    }
    *home = *storage->home;
    home->tensor = tensor;
    *copy = (Storage){.home = home,
                      .copied = home,
                      .type = storage->type,
                      .rank = storage->rank,
                      .piece_count = here,
                      .pieces = values,
                      .owned = true,
                      .limit = INT64_MAX};
    copy->empty = home_stored_empty(home);
    copy->empty.part = storage->empty.part;
    memcpy(copy->empty.lo, storage->empty.lo, sizeof copy->empty.lo);
    memcpy(copy->empty.hi, storage->empty.hi, sizeof copy->empty.hi);
    copy->stored = copy->empty;
    show_values(copy);
    return copy;
}

void storage_restrict(Storage *storage, int64_t count, const Rect *rects) {
    stored_restrict(&storage->empty, count, rects);
    storage->stored = storage->empty;
}

void storage_pin(const Storage *storage) {
    const int64_t size = (int64_t)type_info(storage->type)->size;
    char *end = storage->block;
    for (int64_t i = 0; i < storage->piece_count; i++) {
        const Piece *piece = &storage->pieces[i];
        const Frame frame = piece_frame(piece);
        const int64_t bytes = frame_span(&frame) * size;
        if (piece->memory != MEMORY_HOST)
            continue;
        if (storage->block)
            end = (char *)piece->data + bytes;
        else
            memory_pin(piece->data, bytes);
    }
    // Pieces of a block may share a page.
    if (storage->block)
        memory_pin(storage->block, end - (char *)storage->block);
}

static void unpin(const Storage *storage) {
    memory_unpin(storage->block);
    for (int64_t i = 0; i < storage->piece_count; i++)
        memory_unpin(storage->pieces[i].data);
}

void storage_free(Storage *storage) {
    if (!storage)
        return;
    unpin(storage);
    if (tensor_is_sparse(storage->home->tensor))
        stored_free(&storage->stored);
    else
        for (int64_t i = 0; i < storage->piece_count && storage->owned; i++)
            if (!storage->shared && !piece_is_in_disk(&storage->pieces[i]))
                memory_release(storage->pieces[i].memory, storage->pieces[i].data);
    if (storage->home->memory == MEMORY_GPU)
        memory_release(MEMORY_GPU, storage->block);
    else
        shared_release(storage->block);
    disk_free(storage->file);
    structure_release(storage->structure);
    free(storage->pieces);
    free(storage->copied);
    free(storage);
}

// To the identity of the reducer.
static void reset(Storage *storage, Reducer reducer) {
    for (int64_t i = 0; i < storage->piece_count; i++)
        piece_clear(reducer, &storage->pieces[i]);
}

static bool is_interval(const Rect *rect) {
    bool interval = true;
    for (int m = 0; m < rect->order; m++)
        interval = interval && !rect->periodic[m];
    return interval;
}

ClearedStorage storage_cleared(Storage *storage, Reducer reducer, const Region *stored, Arena *arena) {
    ClearedStorage cleared = {
        .storage = storage, .reducer = reducer, .whole = storage->file || stored->rects.count == 0};
    for (int64_t i = 0; i < storage->piece_count && !cleared.whole; i++) {
        Region rest = {0};
        bool intervals = is_interval(&storage->pieces[i].rect);
        if (!rect_is_empty(&storage->pieces[i].rect))
            array_push(arena, rest.rects, storage->pieces[i].rect);
        region_subtract_all(&rest, stored, arena);
        for (int64_t r = 0; r < rest.rects.count; r++)
            intervals = intervals && is_interval(&rest.rects.items[r]);
        for (int64_t r = 0; r < rest.rects.count && intervals; r++)
            array_push(arena, cleared.parts, ((ClearedPart){i, rest.rects.items[r]}));
        if (!intervals)
            array_push(arena, cleared.parts, ((ClearedPart){i, storage->pieces[i].rect}));
    }
    return cleared;
}

void storage_reset_parts(const ClearedStorage *cleared) {
    if (cleared->whole) {
        reset(cleared->storage, cleared->reducer);
        return;
    }
    for (int64_t i = 0; i < cleared->parts.count; i++) {
        const ClearedPart *part = &cleared->parts.items[i];
        Piece piece = cleared->storage->pieces[part->piece];
        piece.data = piece_element(&piece, &part->rect);
        piece.rect = part->rect;
        piece_clear(cleared->reducer, &piece);
    }
}

void storage_wait(const Storage *storage) {
    if (storage->home->memory == MEMORY_GPU && device_current())
        device_current()->synchronize();
}

void storage_finish(const Storage *storage) {
    if (!device_caller_stream())
        storage_wait(storage);
}

bool storage_check(const Storage *storage, Diagnostics *diagnostics) {
    const char *why = storage->file ? disk_error(storage->file) : NULL;
    storage_finish(storage);
    if (storage->home->memory == MEMORY_GPU)
        return device_check(diagnostics);
    return !why || diagnostics_error(diagnostics, (Span){0},
                                     "rank %" PRId64 " has failed to read or write tensor %s in disk: %s",
                                     storage->rank, storage->home->tensor->name, why);
}

const Piece *storage_piece_with(const Storage *storage, const Rect *rect) {
    int64_t p = 0;
    while (!rect_contains(&storage->pieces[p].rect, rect))
        p++;
    return &storage->pieces[p];
}

void storage_get_scalar(const Storage *storage, void *value) {
    const Piece *own = &storage->pieces[0];
    const Piece element = piece_packed(&own->rect, (LevelList){0}, storage->type, value);
    piece_copy(&element, own, &own->rect);
}

void storage_zero(Storage *storage) {
    reset(storage, REDUCER_SUM);
}

Entries storage_no_entries(const Storage *storage) {
    Entries entries = {.type = storage->type, .order = storage->home->tensor->order};
    memcpy(entries.extents, storage->home->extents, sizeof entries.extents);
    return entries;
}

void structure_release(Structure *structure) {
    if (!structure || --structure->references > 0)
        return;
    stored_free(&structure->levels);
    structure_release(structure->of);
    free(structure);
}

// The structure that has the arrays.
static const Structure *with_arrays(const Structure *structure) {
    while (structure->of)
        structure = structure->of;
    return structure;
}

static bool has_structure(const Storage *storage) {
    return storage && storage->piece_count > 0 && storage->structure;
}

int64_t storage_bytes(Storage *const *storages, int tensor) {
    const Storage *storage = storages[tensor];
    if (!has_structure(storage))
        return 0;
    const Structure *structure = with_arrays(storage->structure);
    const int64_t values =
        saturated_mul(storage->stored.value_count, (int64_t)type_info(storage->type)->size);
    for (int t = 0; t < tensor; t++)
        if (has_structure(storages[t]) && with_arrays(storages[t]->structure) == structure)
            return values;
    return saturated_add(values, stored_structure_bytes(&structure->levels));
}

void structure_hold(Structure **place, Structure *structure) {
    if (structure)
        structure->references++;
    structure_release(*place);
    *place = structure;
}

SetAside storage_set_aside(Storage *storage) {
    const SetAside before = {storage->structure, storage->stored};
    storage->structure = NULL;
    storage->stored = storage->empty;
    show_values(storage);
    return before;
}

void storage_settle(Storage *storage, SetAside *before, bool replaced) {
    if (!replaced) {
        const SetAside failed = {storage->structure, storage->stored};
        storage->structure = before->structure;
        storage->stored = before->stored;
        show_values(storage);
        *before = failed;
    }
    stored_free(&before->stored);
    structure_release(before->structure);
}

void storage_clear(Storage *storage) {
    SetAside before = storage_set_aside(storage);
    storage_settle(storage, &before, true);
}

// Takes over the structure and the values.
static void replace(Storage *storage, Structure *structure, void *values, bool borrowed) {
    storage_clear(storage);
    structure->references++;
    storage->structure = structure;
    // The modes of a tensor that shares the structure may have another order.
    storage->stored.value_count = structure->levels.value_count;
    memcpy(storage->stored.arrays, structure->levels.arrays, sizeof storage->stored.arrays);
    for (int l = 0; l < storage->stored.order; l++)
        for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
            storage->stored.arrays[l].borrowed[a] = true;
    storage->stored.values = values;
    storage->stored.values_borrowed = borrowed;
    show_values(storage);
}

bool storage_put(Storage *storage, StoredTensor *tensor) {
    Structure *structure = calloc(1, sizeof *structure);
    if (!structure) {
        stored_free(tensor);
        return false;
    }
    structure->levels = *tensor;
    structure->levels.values = NULL;
    replace(storage, structure, tensor->values, tensor->values_borrowed);
    return true;
}

bool storage_share(Storage *storage, Structure *structure, bool zero) {
    const int64_t count = structure->levels.value_count;
    if (saturated_mul(count, (int64_t)type_info(storage->type)->size) > storage->limit)
        return false;
    void *values = memory_allocate(MEMORY_HOST, count, storage->type);
    if (!values)
        return false;
    replace(storage, structure, values, false);
    if (zero)
        storage_zero(storage);
    return true;
}

void storage_copy_values(Storage *storage, const Storage *from) {
    const size_t bytes = (size_t)from->stored.value_count * type_info(from->type)->size;
    if (bytes > 0)
        memcpy(storage->stored.values, from->stored.values, bytes);
}

bool storage_copy_entries(Storage *storage, const Storage *from) {
    if (storage->structure != from->structure && !storage_share(storage, from->structure, false))
        return false;
    storage_copy_values(storage, from);
    return true;
}

bool storage_take(Storage *storage, Storage *from) {
    void *values = from->stored.values;
    if (!values || !from->copied)
        return storage_share(storage, from->structure, false);
    from->stored.values = NULL;
    show_values(from);
    replace(storage, from->structure, values, false);
    return true;
}

bool storage_share_leading(Storage *storage, Structure *structure) {
    Structure *leading = calloc(1, sizeof *leading);
    if (!leading)
        return false;
    leading->levels = storage->empty;
    for (int l = 0; l < leading->levels.order; l++) {
        leading->levels.arrays[l] = structure->levels.arrays[l];
        for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
            leading->levels.arrays[l].borrowed[a] = true;
    }
    leading->levels.value_count = leading->levels.arrays[leading->levels.order - 1].position_count;
    structure_hold(&leading->of, structure);
    leading->references = 1;
    const bool ok = storage_share(storage, leading, true);
    structure_release(leading);
    return ok;
}
