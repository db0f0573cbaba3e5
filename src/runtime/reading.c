// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/reading.h"

#include "base/integer.h"
#include "memory/shared.h"
#include "plan/neighbours.h"
#include "runtime/wait.h"

#include <stdatomic.h>
#include <stdlib.h>

// What a rank has in shared memory for one execution: numbers, of which those after the first three kinds do
// not change after reading_exchange.
// - By member of the node, the latest run that it has ended, if it reads from this rank, else NEVER.
// - By transfer, the latest run in which this rank has begun it or, of a reduction, steps of all runs up to
//   the latest one of which it has given its partial results.
// - By transfer, of a reduction the same of the latest one of which it has taken those of others; of a fetch
//   the latest run in which it has received all as aggregator (plan/shared_parts.h).
// - By transfer, the number of blocks before its own: of homes, or one of partial results.
// - By transfer, the handle of the memory that all its blocks are in, where they are on a GPU.
// - Where each block is in the shared memory of the rank, or in that memory.
#define NEVER INT64_MAX

// What a rank reads of a neighbour in a transfer, from the first block to the last.
typedef struct {
    int64_t begin, end; // in the shared memory of the neighbour, or from 0 on in a block on its GPU
    char *memory;
} Mapping;

struct Reading {
    Neighbours *neighbours;
    int rank;  // of all
    int count; // of transfers
    const RankTransfer *const *transfers;
    Storage *const *storages;   // a tensor may have another one by the time that the reading is freed
    const SharedBlock *partial; // by transfer, of reductions
    int64_t *sizes;             // of elements, by transfer
    bool *on_gpu;               // by transfer
    bool needed, exchanged;
    int64_t runs;
    _Atomic int64_t *control;
    int64_t *places;            // by member: where its numbers are, and how many bytes
    _Atomic int64_t **controls; // by member from which this rank reads
    Mapping *mappings;          // by transfer and member
    void ***data;               // by transfer and piece
};

static int64_t bytes_of(const Reading *reading, int transfer, int64_t piece) {
    return rect_volume(&reading->transfers[transfer]->neighbours[piece].rect) * reading->sizes[transfer];
}

static int64_t starts(const Reading *reading) {
    enum { APART = 8 }; // in other cache lines than what neighbours write
    return ceil_div(reading->neighbours->count, APART) * APART;
}

static int64_t takes(const Reading *reading) {
    return starts(reading) + reading->count;
}

static int64_t first_blocks(const Reading *reading) {
    return takes(reading) + reading->count;
}

static int64_t handle_of(const Reading *reading, int transfer) {
    return first_blocks(reading) + reading->count + (int64_t)transfer * DEVICE_HANDLE_WORDS;
}

static int64_t blocks(const Reading *reading) {
    return handle_of(reading, reading->count);
}

static bool reduces(const Reading *reading, int transfer) {
    return reading->transfers[transfer]->transfer->kind == TRANSFER_REDUCE;
}

static int64_t block_count(const Reading *reading, int transfer) {
    const bool reads = reading->transfers[transfer]->reads;
    return !reads ? 0 : reduces(reading, transfer) ? 1 : reading->storages[transfer]->piece_count;
}

static void *block_data(const Reading *reading, int transfer, int64_t block) {
    return reduces(reading, transfer) ? reading->partial[transfer].memory
                                      : reading->storages[transfer]->pieces[block].data;
}

static void tell_blocks(Reading *reading) {
    int64_t count = 0;
    for (int m = 0; m < reading->neighbours->count; m++)
        reading->control[m] = NEVER;
    for (int t = 0; t < reading->count; t++) {
        const Storage *storage = reading->storages[t];
        const SharedBlock *partial = &reading->partial[t];
        const DeviceHandle *handle = reduces(reading, t) ? &partial->handle : &storage->handle;
        const char *memory = reduces(reading, t) ? partial->memory : storage->block;
        reading->control[first_blocks(reading) + t] = count;
        for (int w = 0; reading->on_gpu[t] && w < DEVICE_HANDLE_WORDS; w++)
            reading->control[handle_of(reading, t) + w] = handle->words[w];
        for (int64_t i = 0; i < block_count(reading, t); i++) {
            const char *data = block_data(reading, t, i);
            reading->control[blocks(reading) + count++] =
                reading->on_gpu[t] ? data - memory : shared_offset(data);
        }
    }
}

static bool allocate_reading(Reading *reading) {
    const Neighbours *neighbours = reading->neighbours;
    int64_t count = 0;
    reading->places = calloc(2 * (size_t)neighbours->count, sizeof *reading->places);
    reading->controls = calloc((size_t)neighbours->count, sizeof(void *));
    reading->mappings =
        calloc((size_t)neighbours->count * ((size_t)reading->count + 1), sizeof *reading->mappings);
    reading->data = calloc((size_t)reading->count + 1, sizeof(void **));
    reading->sizes = calloc((size_t)reading->count + 1, sizeof *reading->sizes);
    reading->on_gpu = calloc((size_t)reading->count + 1, sizeof *reading->on_gpu);
    if (!reading->places || !reading->controls || !reading->mappings || !reading->data || !reading->sizes ||
        !reading->on_gpu)
        return false;
    for (int t = 0; t < reading->count; t++) {
        const RankTransfer *part = reading->transfers[t];
        reading->data[t] = calloc((size_t)part->neighbour_count + 1, sizeof(void *));
        if (!reading->data[t])
            return false;
        reading->on_gpu[t] = part->reads && reading->storages[t]->home->memory == MEMORY_GPU;
        reading->sizes[t] = (int64_t)type_info(reading->storages[t]->type)->size;
        reading->needed = reading->needed || part->shares || neighbours_reads_others(part) ||
                          neighbours_owner_count(part) > 0;
        count += block_count(reading, t);
    }
    const int64_t bytes = (blocks(reading) + count) * (int64_t)sizeof(int64_t);
    reading->control = shared_allocate(bytes);
    reading->places[0] = bytes;
    return reading->control != NULL;
}

Reading *reading_create(Neighbours *neighbours, int count, const RankTransfer *const *transfers,
                        Storage *const *storages, const SharedBlock *partial) {
    Reading *reading = malloc(sizeof *reading);
    if (!reading)
        return NULL;
    *reading = (Reading){.neighbours = neighbours,
                         .count = count,
                         .transfers = transfers,
                         .storages = storages,
                         .partial = partial};
    MPI_Comm_rank(neighbours->all, &reading->rank);
    if (!allocate_reading(reading)) {
        reading_free(reading);
        return NULL;
    }
    tell_blocks(reading);
    return reading;
}

static int64_t mapping_count(const Reading *reading) {
    return (int64_t)reading->count * reading->neighbours->count;
}

static void unmap(const Mapping *mapping, bool on_gpu) {
    if (!on_gpu)
        shared_unmap(mapping->memory, mapping->end - mapping->begin);
    else if (mapping->memory)
        device_current()->close_shared(mapping->memory);
}

void reading_free(Reading *reading) {
    if (!reading)
        return;
    for (int m = 0; reading->controls && m < reading->neighbours->count; m++)
        if (reading->controls[m]) // then there are places, too
            shared_unmap((void *)reading->controls[m], reading->places[2 * m + 1]);
    for (int64_t i = 0; reading->mappings && reading->on_gpu && i < mapping_count(reading); i++)
        unmap(&reading->mappings[i], reading->on_gpu[i / reading->neighbours->count]);
    for (int t = 0; reading->data && t < reading->count; t++)
        free(reading->data[t]);
    shared_release((void *)reading->control);
    free(reading->data);
    free(reading->mappings);
    free(reading->controls);
    free(reading->places);
    free(reading->on_gpu);
    free(reading->sizes);
    free(reading);
}

bool reading_is_needed(const Reading *reading) {
    return reading->needed;
}

void reading_exchange(Reading *reading) {
    const int64_t own[] = {shared_offset((void *)reading->control), reading->places[0]};
    all_gather(own, reading->places, 2, MPI_INT64_T, reading->neighbours->node);
    reading->exchanged = true;
}

static int member_of(const Reading *reading, int64_t rank) {
    return reading->neighbours->members[rank];
}

static bool map_control(Reading *reading, int member) {
    if (reading->controls[member])
        return true;
    const int64_t *place = &reading->places[2 * member];
    _Atomic int64_t *control = shared_map(reading->neighbours->files[member], place[0], place[1], true);
    if (control)
        atomic_store(&control[member_of(reading, reading->rank)], 0);
    reading->controls[member] = control;
    return control != NULL;
}

// Where a piece is in the memory of its rank.
static int64_t place_of(const Reading *reading, int transfer, const NeighbourPiece *piece) {
    const _Atomic int64_t *control = reading->controls[member_of(reading, piece->rank)];
    return control[blocks(reading) + control[first_blocks(reading) + transfer] + piece->piece];
}

static Mapping *mapping_of(const Reading *reading, int transfer, const NeighbourPiece *piece) {
    return &reading->mappings[transfer * reading->neighbours->count + member_of(reading, piece->rank)];
}

static bool find_mappings(Reading *reading, int transfer) {
    const RankTransfer *part = reading->transfers[transfer];
    for (int64_t i = 0; i < neighbours_owner_count(part); i++)
        if (!map_control(reading, member_of(reading, part->owners[i])))
            return false;
    for (int64_t i = 0; i < part->neighbour_count; i++) {
        const NeighbourPiece *piece = &part->neighbours[i];
        if (piece->rank == reading->rank)
            continue;
        if (!map_control(reading, member_of(reading, piece->rank)))
            return false;
        Mapping *mapping = mapping_of(reading, transfer, piece);
        const int64_t begin = place_of(reading, transfer, piece),
                      end = begin + bytes_of(reading, transfer, i);
        const bool is_first = mapping->end == 0; // no block is where the file begins
        if (begin < 0)
            return false; // it is not in shared memory
        mapping->begin = is_first ? begin : min_i64(mapping->begin, begin);
        mapping->end = max_i64(mapping->end, end);
    }
    return true;
}

static void *open_block(const Reading *reading, int transfer, int member) {
    DeviceHandle handle;
    for (int w = 0; w < DEVICE_HANDLE_WORDS; w++)
        handle.words[w] = reading->controls[member][handle_of(reading, transfer) + w];
    return device_current()->open_shared(&handle);
}

static bool make_mappings(Reading *reading, int transfer) {
    const Neighbours *neighbours = reading->neighbours;
    for (int m = 0; m < neighbours->count; m++) {
        Mapping *mapping = &reading->mappings[transfer * neighbours->count + m];
        if (mapping->end == 0)
            continue;
        if (reading->on_gpu[transfer])
            mapping->begin = 0;
        mapping->memory = reading->on_gpu[transfer] ? open_block(reading, transfer, m)
                                                    : shared_map(neighbours->files[m], mapping->begin,
                                                                 mapping->end - mapping->begin, false);
        if (!mapping->memory)
            return false;
    }
    return true;
}

static void find_data(Reading *reading, int transfer) {
    const RankTransfer *part = reading->transfers[transfer];
    for (int64_t i = 0; i < part->neighbour_count; i++) {
        const NeighbourPiece *piece = &part->neighbours[i];
        const Mapping *mapping = piece->rank == reading->rank ? NULL : mapping_of(reading, transfer, piece);
        reading->data[transfer][i] =
            mapping ? mapping->memory + (place_of(reading, transfer, piece) - mapping->begin)
                    : block_data(reading, transfer, piece->piece);
    }
}

bool reading_map(Reading *reading) {
    for (int t = 0; t < reading->count; t++) {
        if (!find_mappings(reading, t) || !make_mappings(reading, t))
            return false;
        find_data(reading, t);
    }
    return true;
}

bool reading_refuse_map(const Reading *reading, Diagnostics *diagnostics) {
    return diagnostics_error(
        diagnostics, (Span){0},
        "rank %d cannot map the memory of its neighbours: the system has no memory for it, or allows no "
        "more mappings; send messages instead (--shared-memory off, DISTAL_SHARED_MEMORY=off)",
        reading->rank);
}

void *reading_data(const Reading *reading, int transfer, int64_t piece) {
    return reading->data[transfer][piece];
}

void reading_begin(Reading *reading) {
    reading->runs++;
}

static void tell(_Atomic int64_t *number, int64_t value) {
    atomic_store_explicit(number, value, memory_order_release);
}

static void wait_for_rank(const Reading *reading, int64_t rank, int64_t number, int64_t least) {
    if (rank != reading->rank)
        wait_for(&reading->controls[member_of(reading, rank)][number], least, reading->neighbours->all);
}

static int64_t rank_of(const Reading *reading, int transfer, int64_t piece) {
    return reading->transfers[transfer]->neighbours[piece].rank;
}

void reading_start(Reading *reading, int transfer) {
    tell(&reading->control[starts(reading) + transfer], reading->runs);
}

void reading_wait(Reading *reading, int transfer, int64_t piece) {
    wait_for_rank(reading, rank_of(reading, transfer, piece), starts(reading) + transfer, reading->runs);
}

// Steps of all runs up to a step of this run.
static int64_t steps_until(const Reading *reading, int transfer, int64_t step) {
    return (reading->runs - 1) * reading->transfers[transfer]->step_count + step + 1;
}

void reading_give(Reading *reading, int transfer, int64_t step) {
    tell(&reading->control[starts(reading) + transfer], steps_until(reading, transfer, step));
}

void reading_wait_given(Reading *reading, int transfer, int64_t piece, int64_t step) {
    wait_for_rank(reading, rank_of(reading, transfer, piece), starts(reading) + transfer,
                  steps_until(reading, transfer, step));
}

void reading_take(Reading *reading, int transfer, int64_t step) {
    tell(&reading->control[takes(reading) + transfer], steps_until(reading, transfer, step));
}

void reading_wait_taken(Reading *reading, int transfer, int64_t owner, int64_t step) {
    wait_for_rank(reading, owner, takes(reading) + transfer, steps_until(reading, transfer, step));
}

bool reading_join(Reading *reading, int64_t rank) {
    return map_control(reading, member_of(reading, rank));
}

void reading_receive(Reading *reading, int transfer) {
    tell(&reading->control[takes(reading) + transfer], reading->runs);
}

void reading_wait_received(Reading *reading, int transfer, int64_t rank) {
    wait_for_rank(reading, rank, takes(reading) + transfer, reading->runs);
}

const Neighbours *reading_neighbours(const Reading *reading) {
    return reading->neighbours;
}

// Of transfers that the kernel did not have, or not all steps of.
static void end_transfer(Reading *reading, int transfer) {
    if (!reduces(reading, transfer)) {
        reading_start(reading, transfer);
        return;
    }
    reading_give(reading, transfer, reading->transfers[transfer]->step_count - 1);
    reading_take(reading, transfer, reading->transfers[transfer]->step_count - 1);
}

void reading_end(Reading *reading) {
    const int own = member_of(reading, reading->rank);
    if (!reading->exchanged)
        return;
    for (int t = 0; t < reading->count; t++)
        end_transfer(reading, t);
    for (int m = 0; m < reading->neighbours->count; m++)
        if (reading->controls[m])
            tell(&reading->controls[m][own], reading->runs);
    for (int m = 0; m < reading->neighbours->count; m++)
        wait_for(&reading->control[m], reading->runs, reading->neighbours->all);
}
