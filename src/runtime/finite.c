// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/finite.h"

#include "runtime/chunks.h"
#include "runtime/wait.h"

#include <math.h>

enum { BLOCK = 1 << 12, ALONE = 1 << 16 };

static bool block_is_finite_f64(const double *values, int64_t count) {
    double sum = 0; // of zeros, unless one is NaN or infinite
    for (int64_t i = 0; i < count; i++)
        sum += values[i] - values[i];
    return sum == 0;
}

static bool block_is_finite_f32(const float *values, int64_t count) {
    float sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i] - values[i];
    return sum == 0;
}

static double value_at(const void *values, int64_t i, bool is_double) {
    return is_double ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

// The index of the first number of `count` that is not finite; `count`: none.
static int64_t find(const void *values, int64_t count, bool is_double) {
    int64_t first = count;
#pragma omp parallel for reduction(min : first) if (count > ALONE)
    for (int64_t at = 0; at < count; at += BLOCK) {
        const int64_t length = count - at < BLOCK ? count - at : BLOCK;
        const bool fine = is_double ? block_is_finite_f64((const double *)values + at, length)
                                    : block_is_finite_f32((const float *)values + at, length);
        for (int64_t i = at; !fine && i < at + length; i++)
            if (!isfinite(value_at(values, i, is_double))) {
                first = i < first ? i : first;
                break;
            }
    }
    return first;
}

static void locate(const Tensor *tensor, const Piece *piece, int64_t index, NotFinite *found) {
    for (int l = tensor->order - 1; l >= 0; l--) {
        const int mode = tensor->mode_order[l];
        const int64_t count = rect_count(&piece->rect, mode);
        found->coordinates[mode] = positions_at(rect_mode(&piece->rect, mode), index % count);
        index /= count;
    }
}

// The index of the first of `elements` elements that is not finite; -1: none. `values` may be NULL where
// there are none.
static int64_t find_element(ElementType type, const void *values, int64_t elements, NotFinite *found) {
    const bool is_double = type_component(type) == TYPE_F64;
    const int64_t parts = type_info(type)->is_complex ? 2 : 1;
    if (!values)
        return -1;
    const int64_t count = elements * parts, first = find(values, count, is_double);
    if (first == count)
        return -1;
    found->value = value_at(values, first, is_double);
    return first / parts;
}

typedef struct {
    const Storage *storage;
    NotFinite *found;
} FiniteSearch;

static bool is_part_finite(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    const FiniteSearch *search = context;
    const int64_t index =
        find_element(search->storage->type, part->piece.data, rect_volume(&part->part), search->found);
    if (index >= 0)
        locate(search->storage->home->tensor, &part->piece, index, search->found);
    return index < 0;
}

// On this rank. What cannot be read is no value.
static bool is_finite_here(const Storage *storage, NotFinite *found) {
    if (tensor_is_sparse(storage->home->tensor))
        return find_element(storage->type, storage->stored.values, storage->stored.value_count, found) < 0;
    Arena *arena = arena_create();
    Diagnostics diagnostics = {.arena = arena};
    FiniteSearch search = {storage, found};
    const bool finite = !arena ||
                        chunks_visit_pieces(storage, CHUNKS_READ, is_part_finite, &search, &diagnostics) ||
                        diagnostics.errors > 0;
    if (arena)
        arena_free(arena);
    return finite;
}

bool storage_is_finite(const Storage *storage, MPI_Comm comm, NotFinite *found) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *found = (NotFinite){0};
    if (type_info(storage->type)->is_integer)
        return true;
    int lowest = is_finite_here(storage, found) ? ranks : rank;
    all_reduce(&lowest, 1, MPI_INT, MPI_MIN, comm);
    if (lowest == ranks)
        return true;
    broadcast(&found->value, 1, MPI_DOUBLE, lowest, comm);
    broadcast(found->coordinates, MAX_ORDER, MPI_INT64_T, lowest, comm);
    return false;
}
