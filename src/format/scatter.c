// SPDX-License-Identifier: BSD-3-Clause
#include "format/scatter.h"

#include "base/integer.h"

#include <omp.h>
#include <string.h>

// Where entries are written, by position.
typedef struct {
    void *coordinates, *numbers;
    char *values;
} Written;

typedef struct {
    const EntryReader *reader;
    const LevelFormat *format; // of the list
    const LevelArrays *levels; // all of them, of which the list is the last one
    LevelArrays *list;
    const int32_t *parent_list; // by place, where that is in memory; or NULL
    EntryMap *map;
    const char *from; // values of the entries, by number; NULL: they are not written
    int64_t value_size;
    Written to;
    int64_t parents; // positions above the list
    int team;
    int64_t *next; // by thread and position above: its entries, then where the next one is written
    int64_t *sums; // by thread: entries below its share of the positions above
} Scatter;

static int64_t parent_count(const StoredTensor *tensor) {
    int64_t parents = 1;
    for (int l = 0; l < tensor->order - 1; l++)
        parents = saturated_mul(parents, stored_level(tensor, l).extent);
    return parents;
}

bool scatter_fits(const StoredTensor *tensor, const EntryReader *reader, int unsorted) {
    const int last = tensor->order - 1;
    if (unsorted == 0 || unsorted > last || !tensor->levels[last].format->begin)
        return false;
    for (int l = 0; l < last; l++)
        if (!tensor->levels[l].format->full)
            return false;
    // Each thread counts for all positions above.
    return saturated_mul(parent_count(tensor), entries_team(reader->places)) <=
           saturated_mul(reader->places, 4);
}

// The positions above the list of the entries of a block.
static const int64_t *find_parents(const Scatter *scatter, const EntryBlock *block, int64_t *room) {
    const LevelArrays *levels = scatter->levels;
    if (scatter->reader->order == 2 && levels[0].first == 0)
        return block->coordinates[0];
    memset(room, 0, sizeof *room * (size_t)block->count);
    for (int l = 0; l < scatter->reader->order - 1; l++)
        for (int i = 0; i < block->count; i++)
            room[i] = room[i] * levels[l].extent + block->coordinates[l][i] - levels[l].first;
    return room;
}

static void count_part(const Scatter *scatter, int t) {
    const EntryReader *reader = scatter->reader;
    int64_t *counts = scatter->next + t * scatter->parents, room[ENTRY_BLOCK];
    const int64_t end = part_begin(reader->places, scatter->team, t + 1);
    EntryBlock block;
    memset(counts, 0, sizeof *counts * (size_t)scatter->parents);
    if (scatter->parent_list) {
        for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at++)
            counts[scatter->parent_list[at]]++;
        return;
    }
    for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at += ENTRY_BLOCK) {
        reader_read_level(reader, reader->order == 2 ? 0 : -1, at, min_i64(ENTRY_BLOCK, end - at), &block);
        const int64_t *parents = find_parents(scatter, &block, room);
        for (int i = 0; i < block.count; i++)
            counts[parents[i]]++;
    }
}

static void sum_share(const Scatter *scatter, int t) {
    const int64_t end = part_begin(scatter->parents, scatter->team, t + 1);
    scatter->sums[t] = 0;
    for (int other = 0; other < scatter->team; other++)
        for (int64_t p = part_begin(scatter->parents, scatter->team, t); p < end; p++)
            scatter->sums[t] += scatter->next[other * scatter->parents + p];
}

// Where the entries of each part begin that are below a share of the positions above, and where all of them
// do.
static void place_share(const Scatter *scatter, int t) {
    const int64_t end = part_begin(scatter->parents, scatter->team, t + 1);
    int64_t before = 0;
    for (int other = 0; other < t; other++)
        before += scatter->sums[other];
    for (int64_t p = part_begin(scatter->parents, scatter->team, t); p < end; p++) {
        scatter->format->begin(scatter->list, p, before);
        for (int part = 0; part < scatter->team; part++) {
            int64_t *next = &scatter->next[part * scatter->parents + p];
            const int64_t own = *next;
            *next = before;
            before += own;
        }
    }
    if (t == scatter->team - 1)
        scatter->format->begin(scatter->list, end, scatter->reader->places);
}

// What a loop over entries knows when it is compiled.
typedef struct {
    bool wide_coordinates, wide_numbers;
    int64_t size; // of values; 0: there are none
} Known;

static Known known_of(const Scatter *scatter) {
    return (Known){scatter->list->wide, scatter->map->wide, scatter->from ? scatter->value_size : 0};
}

static bool is_common(Known known) {
    return !known.wide_coordinates && !known.wide_numbers && known.size == 8;
}

enum { COMMON_SIZE = 8 };

static inline __attribute__((always_inline)) void write_entry(Written to, int64_t position,
                                                              int64_t coordinate, int64_t number,
                                                              const char *values, Known known) {
    if (known.wide_coordinates)
        ((int64_t *)to.coordinates)[position] = coordinate;
    else
        ((int32_t *)to.coordinates)[position] = (int32_t)coordinate;
    if (known.wide_numbers)
        ((int64_t *)to.numbers)[position] = number;
    else
        ((uint32_t *)to.numbers)[position] = (uint32_t)number;
    if (known.size > 0)
        memcpy(to.values + position * known.size, values + number * known.size, (size_t)known.size);
}

// Prefetches the cache lines to which an entry will be written: a processor has only a few misses of writes
// under way at a time.
static inline __attribute__((always_inline)) void prefetch_entry(Written to, int64_t position, Known known) {
    __builtin_prefetch((char *)to.coordinates + position * (known.wide_coordinates ? 8 : 4), 1);
    __builtin_prefetch((char *)to.numbers + position * (known.wide_numbers ? 8 : 4), 1);
    if (known.size > 0)
        __builtin_prefetch(to.values + position * known.size, 1);
}

enum { AHEAD = 12 }; // entries

// Writes the entries of a block.
static inline __attribute__((always_inline)) void write_block(const Scatter *scatter, const EntryBlock *block,
                                                              const int64_t *parents, int64_t *next,
                                                              Known known) {
    const int64_t *coordinates = block->coordinates[scatter->reader->order - 1], *numbers = block->numbers;
    const Written to = scatter->to;
    const char *values = scatter->from;
    const int count = block->count;
    for (int i = 0; i < count; i++) {
        __builtin_prefetch(&next[parents[i + 2 * AHEAD < count ? i + 2 * AHEAD : i]], 1);
        prefetch_entry(to, next[parents[i + AHEAD < count ? i + AHEAD : i]], known);
        write_entry(to, next[parents[i]]++, coordinates[i], numbers[i], values, known);
    }
}

static void write_part(const Scatter *scatter, int t) {
    const EntryReader *reader = scatter->reader;
    const Known known = known_of(scatter);
    int64_t *next = scatter->next + t * scatter->parents, room[ENTRY_BLOCK];
    const int64_t end = part_begin(reader->places, scatter->team, t + 1);
    EntryBlock block;
    for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at += ENTRY_BLOCK) {
        reader_read(reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
        const int64_t *parents = find_parents(scatter, &block, room);
        if (is_common(known))
            write_block(scatter, &block, parents, next, (Known){false, false, COMMON_SIZE});
        else
            write_block(scatter, &block, parents, next, known);
    }
}

// Writes the entries from place `first` to before `last`, of which the list of the reader has the parents,
// and which have the same coordinate.
static inline __attribute__((always_inline)) void write_run(const Scatter *scatter, int64_t first,
                                                            int64_t last, int64_t coordinate, int64_t *next,
                                                            Known known) {
    const int32_t *parents = scatter->parent_list;
    const Written to = scatter->to;
    const char *values = scatter->from;
    const int64_t last_place = scatter->reader->places - 1;
    for (int64_t e = first; e < last; e++) {
        __builtin_prefetch(&next[parents[min_i64(e + 2 * AHEAD, last_place)]], 1);
        prefetch_entry(to, next[parents[min_i64(e + AHEAD, last_place)]], known);
        write_entry(to, next[parents[e]]++, coordinate, e, values, known);
    }
}

// The same as write_part, of a stored matrix whose last level has the parents: from one position of its first
// level to the next.
static inline __attribute__((always_inline)) void write_runs(const Scatter *scatter, int t, Known known) {
    const StoredTensor *stored = scatter->reader->stored;
    const LevelFormat *outer = stored->levels[0].format, *inner = stored->levels[1].format;
    const LevelArrays *rows = &stored->arrays[0], *entries = &stored->arrays[1];
    int64_t *next = scatter->next + t * scatter->parents, positions[ENTRY_BLOCK], coordinates[ENTRY_BLOCK];
    const int64_t end = part_begin(scatter->reader->places, scatter->team, t + 1);
    int64_t at = part_begin(scatter->reader->places, scatter->team, t), row = at;
    if (at < end)
        inner->above(entries, 1, &row);
    while (at < end) {
        const int64_t count = min_i64(ENTRY_BLOCK, rows->position_count - row);
        for (int64_t i = 0; i < count; i++)
            positions[i] = row + i;
        outer->coordinates(rows, count, positions, coordinates);
        for (int64_t i = 0; i < count && at < end; i++) {
            const Slice run = inner->image(entries, (Slice){row + i, 1}, 0, INT64_MAX);
            const int64_t last = min_i64(run.first + run.count, end);
            write_run(scatter, at, last, coordinates[i], next, known);
            at = max_i64(at, last);
        }
        row += count;
    }
}

static void write_listed_part(const Scatter *scatter, int t) {
    const Known known = known_of(scatter);
    if (is_common(known))
        write_runs(scatter, t, (Known){false, false, COMMON_SIZE});
    else
        write_runs(scatter, t, known);
}

static void run(const Scatter *scatter) {
    void (*const write)(const Scatter *, int) = scatter->parent_list ? write_listed_part : write_part;
    static void (*const passes[])(const Scatter *, int) = {count_part, sum_share, place_share};
#pragma omp parallel num_threads(scatter->team)
    for (int pass = 0; pass < 4; pass++) {
        for (int t = omp_get_thread_num(); t < scatter->team; t += omp_get_num_threads())
            (pass < 3 ? passes[pass] : write)(scatter, t);
#pragma omp barrier
    }
}

bool scatter_entries(StoredTensor *tensor, const EntryReader *reader, EntryMap *map, const void *values,
                     Budget *budget) {
    const int last = tensor->order - 1;
    const LevelFormat *format = tensor->levels[last].format;
    Scatter scatter = {.reader = reader,
                       .format = format,
                       .levels = tensor->arrays,
                       .list = &tensor->arrays[last],
                       .map = map,
                       .from = values,
                       .to = {tensor->arrays[last].arrays[level_array(format, LEVEL_ARRAY_COORDINATES)],
                              map->from, tensor->values},
                       .value_size = (int64_t)type_info(tensor->type)->size,
                       .parents = parent_count(tensor),
                       .team = entries_team(reader->places)};
    const int64_t counts = scatter.parents * scatter.team;
    if (tensor->order == 2 && tensor->arrays[0].first == 0)
        scatter.parent_list = reader_list(reader, 0);
    scatter.next = budget_take(budget, counts, sizeof(int64_t), false);
    scatter.sums = budget_take(budget, scatter.team, sizeof(int64_t), false);
    const bool ok = scatter.next && scatter.sums;
    if (ok)
        run(&scatter);
    budget_release(budget, scatter.next, counts, sizeof(int64_t));
    budget_release(budget, scatter.sums, scatter.team, sizeof(int64_t));
    return ok;
}
