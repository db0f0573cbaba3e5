// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/section.h"

#include "runtime/exchange_entries.h"
#include "runtime/list.h"
#include "runtime/load_sparse.h"
#include "runtime/part_exchange.h"
#include "runtime/value_exchange.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND_BYTES = 1 << 22 }; // that a rank reads or writes in a round, at least, if there are as many

// A part of a section, and a rank that has it at home.
typedef struct {
    Rect rect;
    int64_t rank, section;
} Place;

typedef struct {
    const Storage *storage;
    int64_t count;
    const Section *sections;
    bool writes;
    MPI_Comm comm;
    int ranks;
    // The next chunk, of a section.
    int64_t section, chunk;
    // Of a round: parts of sections of this rank, by the rank that has them at home; the same as a selection;
    // and parts of sections of other ranks that are at home here, by the rank that reads or writes them.
    Arena *arena;
    bool any; // there are some, on any rank
    Array(Place) places;
    Selection own, others;
    ValueExchange exchange;
} Sections;

static bool begin(void *arguments, Diagnostics *diagnostics) {
    Sections *sections = arguments;
    sections->arena = arena_create_within(diagnostics->arena);
    return true;
}

// False: there is none.
static bool next_chunk(Sections *sections, Rect *rect, int64_t *section) {
    const int64_t size = (int64_t)type_info(sections->storage->type)->size;
    for (; sections->section < sections->count; sections->section++, sections->chunk = 0) {
        const RectChunks chunks =
            rect_chunks(&sections->sections[sections->section].rect, NULL, ROUND_BYTES / size);
        if (sections->chunk >= chunks.count)
            continue;
        *rect = rect_chunk(&chunks, sections->chunk++);
        *section = sections->section;
        return true;
    }
    return false;
}

static void find_places(Sections *sections, const Rect *rect, int64_t section) {
    const Home *home = sections->storage->home;
    HoldingArray found = {0};
    if (sections->writes)
        home_owners(home, rect, sections->arena, &found);
    else
        home_find(home, rect, home_choice(home, sections->storage->rank), sections->arena, &found);
    for (int64_t k = 0; k < found.count; k++) {
        const Holding *holding = &found.items[k];
        const int64_t holders = sections->writes ? holding_count(holding) : 1;
        for (int64_t h = 0; h < holders; h++) {
            const int64_t rank = sections->writes ? holding_rank(holding, h) : holding->rank;
            array_push(sections->arena, sections->places, (Place){holding->rect, rank, section});
        }
    }
}

static int compare_places(const void *left, const void *right) {
    const Place *a = left, *b = right;
    return part_order(a->rank, &a->rect, b->rank, &b->rect);
}

static bool find_chunks(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Sections *sections = arguments;
    const int64_t most = ROUND_BYTES / (int64_t)type_info(sections->storage->type)->size;
    Rect rect;
    arena_reset(sections->arena);
    memset(&sections->places, 0, sizeof sections->places);
    sections->own = (Selection){0};
    for (int64_t elements = 0, section; elements < most && next_chunk(sections, &rect, &section);
         elements += rect_volume(&rect))
        find_places(sections, &rect, section);
    if (sections->places.count > 0)
        qsort(sections->places.items, (size_t)sections->places.count, sizeof(Place), compare_places);
    for (int64_t i = 0; i < sections->places.count; i++)
        selection_add_part(&sections->own, &sections->places.items[i].rect, sections->places.items[i].rank,
                           sections->arena);
    sections->any = sections->places.count > 0;
    return true;
}

static int64_t copy(const Piece *piece, const Rect *rect, char *message, bool out) {
    const Piece packed = piece_packed(rect, (LevelList){0}, piece->type, message);
    piece_copy(out ? &packed : piece, out ? piece : &packed, rect);
    return rect_volume(rect) * (int64_t)type_info(piece->type)->size;
}

// Between sections and the elements of a message, one part after the other.
static void copy_own(const Sections *sections, char *message, bool out) {
    for (int64_t i = 0; i < sections->places.count; i++) {
        const Place *place = &sections->places.items[i];
        const Section *section = &sections->sections[place->section];
        const Piece piece = piece_packed(&section->rect, (LevelList){.mode_order = section->mode_order},
                                         sections->storage->type, section->values);
        message += copy(&piece, &place->rect, message, out);
    }
}

// Between home pieces, each of which contains such parts whole, and the elements of a message.
static void copy_others(const Sections *sections, char *message, bool out) {
    const Storage *storage = sections->storage;
    for (int64_t i = 0; i < sections->others.parts.count; i++) {
        const Rect *rect = &sections->others.parts.items[i].rect;
        message += copy(storage_piece_with(storage, rect), rect, message, out);
    }
}

static bool pack(void *arguments, Diagnostics *diagnostics) {
    Sections *sections = arguments;
    const Storage *storage = sections->storage;
    const int64_t *own = selection_elements(&sections->own, sections->ranks, sections->arena),
                  *others = selection_elements(&sections->others, sections->ranks, sections->arena);
    if (!value_exchange_create(&sections->exchange, storage->type, EXCHANGE_MESSAGE_BYTES,
                               sections->writes ? own : others, sections->writes ? others : own,
                               sections->comm) ||
        !value_exchange_allocate(&sections->exchange))
        return diagnostics_error(diagnostics, (Span){0},
                                 "rank %lld has not enough memory for the messages of sections of tensor %s",
                                 (long long)storage->rank, storage->home->tensor->name);
    (sections->writes ? copy_own : copy_others)(sections, sections->exchange.outgoing, true);
    return true;
}

static bool exchange_round(Sections *sections, Diagnostics *diagnostics) {
    bool ok = exchange_parts(&sections->own, &sections->others, sections->storage, sections->arena,
                             sections->comm, diagnostics) &&
              agree_on_part(sections->comm, pack, sections, diagnostics);
    if (ok) {
        value_exchange_run(&sections->exchange);
        (sections->writes ? copy_others : copy_own)(sections, sections->exchange.incoming, false);
    }
    value_exchange_free(&sections->exchange);
    return ok;
}

static bool move(const Storage *storage, int64_t count, const Section *given, bool writes, MPI_Comm comm,
                 Diagnostics *diagnostics) {
    Sections sections = {
        .storage = storage, .count = count, .sections = given, .writes = writes, .comm = comm};
    MPI_Comm_size(comm, &sections.ranks);
    bool ok = agree_on_part(comm, begin, &sections, diagnostics);
    do {
        ok = ok && agree_on_part_and_any(comm, find_chunks, &sections, &sections.any, diagnostics) &&
             (!sections.any || exchange_round(&sections, diagnostics));
    } while (ok && sections.any);
    if (sections.arena)
        arena_free(sections.arena);
    return ok;
}

bool sections_write(const Storage *storage, int64_t count, const Section *sections, MPI_Comm comm,
                    Diagnostics *diagnostics) {
    return move(storage, count, sections, true, comm, diagnostics);
}

// Sections of a sparse tensor. All ranks know those of all.
typedef struct {
    const Storage *storage;
    int64_t count;
    const Section *sections;
    int ranks;
    int64_t *counts; // of sections by rank, then of entries that are sent
    int64_t *bounds; // of each section: lo and hi of each mode
    int64_t bound_count;
    Entries given, received;
} EntrySections;

static bool set_bounds(void *arguments, Diagnostics *diagnostics) {
    EntrySections *reading = arguments;
    const int order = reading->storage->home->order;
    int64_t before = 0;
    for (int rank = 0; rank < reading->ranks; rank++) {
        before += rank < reading->storage->rank ? reading->counts[rank] : 0;
        reading->bound_count += reading->counts[rank] * 2 * order;
    }
    reading->bounds = arena_array(diagnostics->arena, int64_t, reading->bound_count + 1);
    int64_t *at = reading->bounds + before * 2 * order;
    for (int64_t s = 0; s < reading->count; s++, at += (ptrdiff_t)2 * order) {
        memcpy(at, reading->sections[s].rect.lo, sizeof *at * (size_t)order);
        memcpy(at + order, reading->sections[s].rect.hi, sizeof *at * (size_t)order);
    }
    return true;
}

// Entries of the tensor that are at home here, sorted by the ranks that read them.
static bool choose_entries(void *arguments, Diagnostics *diagnostics) {
    EntrySections *reading = arguments;
    const Storage *storage = reading->storage;
    const int order = storage->home->order;
    const size_t size = type_info(storage->type)->size;
    Entries own = {0};
    const char *why = storage_list(storage, &own, diagnostics->arena);
    Array(int64_t) chosen = {0};
    const int64_t *bounds = reading->bounds;
    for (int rank = 0; rank < reading->ranks && !why; rank++) {
        const int64_t before = chosen.count, sections = reading->counts[rank];
        for (int64_t e = 0; e < own.count; e++) {
            bool is_within = false;
            for (int64_t s = 0; s < sections && !is_within; s++) {
                Rect rect = {.order = order};
                memcpy(rect.lo, bounds + s * 2 * order, sizeof *bounds * (size_t)order);
                memcpy(rect.hi, bounds + (s * 2 + 1) * order, sizeof *bounds * (size_t)order);
                is_within = entries_is_within(&own, e, &rect);
            }
            if (is_within)
                array_push(diagnostics->arena, chosen, e);
        }
        bounds += sections * 2 * order;
        reading->counts[rank] = chosen.count - before;
    }
    reading->given = storage_no_entries(storage);
    reading->given.count = chosen.count;
    if (!why && entries_allocate(&reading->given))
        why = no_memory_to_list(storage, chosen.count, diagnostics->arena);
    for (int64_t i = 0; i < chosen.count && !why; i++) {
        for (int d = 0; d < order; d++)
            reading->given.coordinates[d][i] = own.coordinates[d][chosen.items[i]];
        memcpy((char *)reading->given.values + (size_t)i * size,
               (const char *)own.values + (size_t)chosen.items[i] * size, size);
    }
    entries_free(&own);
    return !why || diagnostics_error(diagnostics, (Span){0}, "%s", why);
}

static void scatter(const EntrySections *reading) {
    const Entries *entries = &reading->received;
    const size_t size = type_info(entries->type)->size;
    for (int64_t s = 0; s < reading->count; s++) {
        const Rect *rect = &reading->sections[s].rect;
        char *values = reading->sections[s].values;
        if (rect_is_empty(rect))
            continue;
        memset(values, 0, (size_t)rect_volume(rect) * size);
        int64_t stride[MAX_ORDER];
        packed_strides(rect, (LevelList){.mode_order = reading->sections[s].mode_order}, stride);
        for (int64_t e = 0; e < entries->count; e++) {
            int64_t at = 0;
            for (int d = 0; d < entries->order; d++)
                at += (entries->coordinates[d][e] - rect->lo[d]) * stride[d];
            if (entries_is_within(entries, e, rect))
                memcpy(values + (size_t)at * size, (const char *)entries->values + (size_t)e * size, size);
        }
    }
}

static bool count_sections(void *arguments, Diagnostics *diagnostics) {
    EntrySections *reading = arguments;
    reading->counts = arena_array(diagnostics->arena, int64_t, reading->ranks);
    reading->counts[reading->storage->rank] = reading->count;
    return true;
}

static bool read_entries(const Storage *storage, int64_t count, const Section *sections, MPI_Comm comm,
                         Diagnostics *diagnostics) {
    EntrySections reading = {.storage = storage, .count = count, .sections = sections};
    MPI_Comm_size(comm, &reading.ranks);
    if (!agree_on_part(comm, count_sections, &reading, diagnostics))
        return false;
    all_reduce(reading.counts, reading.ranks, MPI_INT64_T, MPI_SUM, comm);
    if (!agree_on_part(comm, set_bounds, &reading, diagnostics))
        return false;
    all_reduce(reading.bounds, (int)reading.bound_count, MPI_INT64_T, MPI_SUM, comm);
    const bool ok =
        agree_on_part(comm, choose_entries, &reading, diagnostics) &&
        exchange_entries(storage, &reading.given, reading.counts, &reading.received, comm, diagnostics);
    if (ok)
        scatter(&reading);
    entries_free(&reading.given);
    entries_free(&reading.received);
    return ok;
}

bool sections_read(const Storage *storage, int64_t count, const Section *sections, MPI_Comm comm,
                   Diagnostics *diagnostics) {
    return tensor_is_sparse(storage->home->tensor) ? read_entries(storage, count, sections, comm, diagnostics)
                                                   : move(storage, count, sections, false, comm, diagnostics);
}
