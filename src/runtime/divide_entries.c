// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/divide_entries.h"

#include "base/integer.h"
#include "runtime/value_exchange.h"
#include "runtime/wait.h"

#include <string.h>

enum { TRIED_AT_ONCE = 256 }; // loads of parts: each step is a reduction
enum { MAX_REDUCE_COUNT = EXCHANGE_MESSAGE_BYTES / sizeof(int64_t) }; // numbers of one reduction

typedef struct {
    const Division *division;
    const char *name; // of the tensor
    const Entries *entries;
    MPI_Comm comm;
    int rank, ranks;
    int order;           // modes of the keys
    Entries points, own; // keys of the entries that are given; those of this rank's share of all
    int64_t *samples;    // of all ranks, `ranks` of each rank
    int64_t *sends, *receives;
    ValueExchange exchange; // of the keys, one mode after the other
    Arena *arena;           // of the boundaries
    const Boundaries *base;
    DividePlan plan;
    int64_t *counts; // of keys, by rank
} Sorting;

static bool no_memory(const Sorting *sorting, const char *why, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0},
                             "the entries of tensor %s cannot be divided on rank %lld: %s", sorting->name,
                             (long long)sorting->rank, why);
}

// The keys of this rank, and as many of them at equal distances as there are ranks. A rank without keys gives
// those that are behind all.
static bool sort_own(void *arguments, Diagnostics *diagnostics) {
    Sorting *sorting = arguments;
    const char *why = balance_points(sorting->division, sorting->entries, &sorting->points);
    if (why)
        return no_memory(sorting, why, diagnostics);
    const int64_t samples = (int64_t)sorting->ranks * sorting->ranks;
    sorting->samples = arena_array(diagnostics->arena, int64_t, samples * sorting->order);
    sorting->sends = arena_array(diagnostics->arena, int64_t, sorting->ranks);
    sorting->receives = arena_array(diagnostics->arena, int64_t, sorting->ranks);
    const Entries *points = &sorting->points;
    for (int s = 0; s < sorting->ranks; s++) {
        // Of fewer keys than ranks, the last one is taken again.
        const int64_t key = min_i64(part_begin(points->count, sorting->ranks, s), points->count - 1);
        for (int m = 0; m < sorting->order; m++)
            sorting->samples[((int64_t)sorting->rank * sorting->ranks + s) * sorting->order + m] =
                key >= 0 ? points->coordinates[m][key] : INT64_MAX;
    }
    return true;
}

static int compare(const void *left, const void *right, int order) {
    const int64_t *a = left, *b = right;
    for (int m = 0; m < order; m++)
        // cppcheck-suppress uninitvar // of the caller
        if (a[m] != b[m])
            return a[m] < b[m] ? -1 : 1;
    return 0;
}

// A merge of the samples of ranks, each in order: an insertion would take their square.
static void sort_samples(int64_t *samples, int64_t count, int order, int64_t *space) {
    if (count < 2)
        return;
    const int64_t half = count / 2;
    sort_samples(samples, half, order, space);
    sort_samples(samples + half * order, count - half, order, space);
    memcpy(space, samples, sizeof(int64_t) * (size_t)(half * order));
    int64_t a = 0, b = half;
    for (int64_t to = 0; a < half; to++) {
        const bool first = b == count || compare(space + a * order, samples + b * order, order) <= 0;
        memmove(samples + to * order, first ? space + a++ * order : samples + b++ * order,
                sizeof(int64_t) * (size_t)order);
    }
}

// Each rank gets the keys from one of the samples at equal distances to the next.
static bool find_shares(void *arguments, Diagnostics *diagnostics) {
    Sorting *sorting = arguments;
    const int64_t count = (int64_t)sorting->ranks * sorting->ranks;
    sort_samples(sorting->samples, count, sorting->order,
                 arena_array(diagnostics->arena, int64_t, count * sorting->order));
    int64_t first = 0;
    for (int rank = 0; rank < sorting->ranks; rank++) {
        const int64_t *next = sorting->samples + (int64_t)(rank + 1) * sorting->ranks * sorting->order;
        const int64_t last = rank + 1 < sorting->ranks ? entries_lower_bound(&sorting->points, NULL, next)
                                                       : sorting->points.count;
        sorting->sends[rank] = last - first;
        first = last;
    }
    return true;
}

static bool allocate(void *arguments, Diagnostics *diagnostics) {
    Sorting *sorting = arguments;
    Entries *own = &sorting->own;
    *own = (Entries){.type = TYPE_I32, .order = sorting->order};
    memcpy(own->extents, sorting->points.extents, sizeof own->extents);
    for (int rank = 0; rank < sorting->ranks; rank++)
        own->count = saturated_add(own->count, sorting->receives[rank]);
    const char *why = entries_allocate(own);
    if (!why && !value_exchange_create(&sorting->exchange, TYPE_I64, EXCHANGE_MESSAGE_BYTES, sorting->sends,
                                       sorting->receives, sorting->comm))
        why = "not enough memory";
    if (!why && own->count > 0)
        memset(own->values, 0, (size_t)own->count * sizeof(int32_t));
    return !why || no_memory(sorting, why, diagnostics);
}

static void exchange(Sorting *sorting, int mode) {
    sorting->exchange.outgoing = (char *)sorting->points.coordinates[mode];
    sorting->exchange.incoming = (char *)sorting->own.coordinates[mode];
    value_exchange_run(&sorting->exchange);
}

static bool sort_received(void *arguments, Diagnostics *diagnostics) {
    Sorting *sorting = arguments;
    const char *why = entries_sort(&sorting->own, NULL);
    if (!why)
        why = entries_sum_duplicates(&sorting->own);
    return !why || no_memory(sorting, why, diagnostics);
}

static void add_up(void *context, int64_t *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i += MAX_REDUCE_COUNT)
        all_reduce(numbers + i, (int)min_i64(count - i, MAX_REDUCE_COUNT), MPI_INT64_T, MPI_SUM,
                   *(MPI_Comm *)context);
}

static bool sort_all(Sorting *sorting, Diagnostics *diagnostics) {
    if (!agree_on_part(sorting->comm, sort_own, sorting, diagnostics))
        return false;
    // Each rank has its own samples, and zeros in place of those of the others.
    add_up(&sorting->comm, sorting->samples, (int64_t)sorting->ranks * sorting->ranks * sorting->order);
    if (!agree_on_part(sorting->comm, find_shares, sorting, diagnostics))
        return false;
    exchange_counts(1, sorting->sends, sorting->receives, sorting->comm);
    if (!agree_on_part(sorting->comm, allocate, sorting, diagnostics))
        return false;
    for (int m = 0; m < sorting->order; m++)
        exchange(sorting, m);
    return agree_on_part(sorting->comm, sort_received, sorting, diagnostics);
}

static bool allocate_boundaries(void *arguments, Diagnostics *diagnostics) {
    Sorting *sorting = arguments;
    sorting->counts = arena_array(diagnostics->arena, int64_t, sorting->ranks);
    int64_t extents[MAX_ORDER];
    division_extents(sorting->division, sorting->entries->extents, extents);
    sorting->plan = divide_plan(sorting->division, sorting->base, extents, TRIED_AT_ONCE, sorting->arena,
                                diagnostics->arena);
    return true;
}

static void find_boundaries(Sorting *sorting) {
    const Division *division = sorting->division;
    BalanceKeys keys = {.count = sorting->own.count, .add = add_up, .context = (void *)&sorting->comm};
    sorting->counts[sorting->rank] = keys.count;
    add_up(keys.context, sorting->counts, sorting->ranks);
    for (int rank = 0; rank < sorting->ranks; rank++) {
        keys.before += rank < sorting->rank ? sorting->counts[rank] : 0;
        keys.total += sorting->counts[rank];
    }
    for (int m = 0; m < division->mode_count; m++)
        keys.coordinates[m] = sorting->own.coordinates[m];
    balance_find(&sorting->plan, &keys);
}

const Boundaries *divide_entries(const Division *division, const BoundariesArray *known, const char *name,
                                 const Entries *entries, MPI_Comm comm, Arena *arena,
                                 Diagnostics *diagnostics) {
    Sorting sorting = {.division = division,
                       .base = balance_base(division, known),
                       .name = name,
                       .entries = entries,
                       .comm = comm,
                       .arena = arena};
    MPI_Comm_rank(comm, &sorting.rank);
    MPI_Comm_size(comm, &sorting.ranks);
    sorting.order = balance_key_count(division, entries->order);
    const bool ok =
        sort_all(&sorting, diagnostics) && agree_on_part(comm, allocate_boundaries, &sorting, diagnostics);
    if (ok)
        find_boundaries(&sorting);
    value_exchange_free(&sorting.exchange);
    entries_free(&sorting.points);
    entries_free(&sorting.own);
    return ok ? sorting.plan.found : NULL;
}
