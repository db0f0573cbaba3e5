// SPDX-License-Identifier: BSD-3-Clause
#include "format/scatter.h"

#include "base/integer.h"

#include <omp.h>
#include <string.h>

// Where entries are written, by position; NULL: that is not written.
typedef struct {
    void *coordinates, *numbers;
    char *values;
} Destination;

typedef struct {
    const EntryReader *reader;
    const LevelFormat *format; // of the list
    const LevelArrays *levels; // all of them, of which the list is the last one
    LevelArrays *list;
    const int32_t *parent_list; // by place, where that is in memory; or NULL
    const char *from;           // values of the entries, by number
    int64_t value_size;
    Destination to;
    bool wide_numbers;
    int64_t parents; // positions above the list
    int team;
    // By thread and position above: its entries, then where the next one is written. Of 32 bits unless there
    // are too many entries, as they are read and written at random.
    void *next;
    bool wide;
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

#define INLINE static inline __attribute__((always_inline))

INLINE int64_t get_next(const void *next, int64_t at, bool wide) {
    return wide ? ((const int64_t *)next)[at] : (int64_t)((const uint32_t *)next)[at];
}

INLINE void set_next(void *next, int64_t at, int64_t value, bool wide) {
    if (wide)
        ((int64_t *)next)[at] = value;
    else
        ((uint32_t *)next)[at] = (uint32_t)value;
}

INLINE int64_t take_next(void *next, int64_t at, bool wide) {
    return wide ? ((int64_t *)next)[at]++ : (int64_t)((uint32_t *)next)[at]++;
}

static void *next_of(const Scatter *scatter, int t) {
    return (char *)scatter->next + t * scatter->parents * (scatter->wide ? 8 : 4);
}

INLINE void count_entries(const Scatter *scatter, int t, bool wide) {
    const EntryReader *reader = scatter->reader;
    void *counts = next_of(scatter, t);
    int64_t room[ENTRY_BLOCK];
    const int64_t end = part_begin(reader->places, scatter->team, t + 1);
    EntryBlock block;
    memset(counts, 0, (size_t)scatter->parents * (wide ? 8 : 4));
    if (scatter->parent_list) {
        for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at++)
            (void)take_next(counts, scatter->parent_list[at], wide);
        return;
    }
    for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at += ENTRY_BLOCK) {
        reader_read_level(reader, reader->order == 2 ? 0 : -1, at, min_i64(ENTRY_BLOCK, end - at), &block);
        const int64_t *parents = find_parents(scatter, &block, room);
        for (int i = 0; i < block.count; i++)
            (void)take_next(counts, parents[i], wide);
    }
}

INLINE void sum_counts(const Scatter *scatter, int t, bool wide) {
    const int64_t end = part_begin(scatter->parents, scatter->team, t + 1);
    int64_t sum = 0;
    for (int other = 0; other < scatter->team; other++)
        for (int64_t p = part_begin(scatter->parents, scatter->team, t); p < end; p++)
            sum += get_next(scatter->next, other * scatter->parents + p, wide);
    scatter->sums[t] = sum;
}

// Where the entries of each part begin that are below a share of the positions above, and where all of them
// do.
INLINE void place_counts(const Scatter *scatter, int t, bool wide) {
    const int64_t end = part_begin(scatter->parents, scatter->team, t + 1);
    int64_t before = 0;
    for (int other = 0; other < t; other++)
        before += scatter->sums[other];
    for (int64_t p = part_begin(scatter->parents, scatter->team, t); p < end; p++) {
        if (scatter->to.coordinates)
            scatter->format->begin(scatter->list, p, before);
        for (int part = 0; part < scatter->team; part++) {
            const int64_t at = part * scatter->parents + p, own = get_next(scatter->next, at, wide);
            set_next(scatter->next, at, before, wide);
            before += own;
        }
    }
    if (scatter->to.coordinates && t == scatter->team - 1)
        scatter->format->begin(scatter->list, end, scatter->reader->places);
}

static void count_part(const Scatter *scatter, int t) {
    if (scatter->wide)
        count_entries(scatter, t, true);
    else
        count_entries(scatter, t, false);
}

static void sum_share(const Scatter *scatter, int t) {
    if (scatter->wide)
        sum_counts(scatter, t, true);
    else
        sum_counts(scatter, t, false);
}

static void place_share(const Scatter *scatter, int t) {
    if (scatter->wide)
        place_counts(scatter, t, true);
    else
        place_counts(scatter, t, false);
}

// The bytes of what is written of each entry, 0 of what is not written; `wide`: `next` has 64 bits. Functions
// that get them are inlined, so that they are constants in the loops.
typedef struct {
    bool wide;
    int64_t coordinate, number, value;
} Widths;

// The usual ones, of 32 bits: with values, the map alone, and the structure with the map.
#define COMMON(X) X(4, 0, 8) X(4, 0, 4) X(0, 4, 0) X(4, 4, 0)

static int64_t width_of(const void *array, int64_t width) {
    return array ? width : 0;
}

static Widths widths_of(const Scatter *scatter) {
    const Destination *to = &scatter->to;
    return (Widths){scatter->wide, width_of(to->coordinates, scatter->list->wide ? 8 : 4),
                    width_of(to->numbers, scatter->wide_numbers ? 8 : 4),
                    width_of(to->values, scatter->value_size)};
}

INLINE void put_integer(void *to, int64_t position, int64_t value, int64_t size) {
    if (size == 8)
        ((int64_t *)to)[position] = value;
    else if (size == 4)
        ((uint32_t *)to)[position] = (uint32_t)value;
}

INLINE void write_entry(Destination to, int64_t position, int64_t coordinate, int64_t number,
                        const char *values, Widths widths) {
    put_integer(to.coordinates, position, coordinate, widths.coordinate);
    put_integer(to.numbers, position, number, widths.number);
    if (widths.value > 0)
        memcpy(to.values + position * widths.value, values + number * widths.value, (size_t)widths.value);
}

INLINE void prefetch(const void *of, int64_t position, int64_t size) {
    if (size > 0)
        __builtin_prefetch((const char *)of + position * size, 1);
}

// Prefetches the cache lines to which an entry will be written: a processor has only a few misses of writes
// under way at a time.
INLINE void prefetch_entry(Destination to, int64_t position, Widths widths) {
    prefetch(to.coordinates, position, widths.coordinate);
    prefetch(to.numbers, position, widths.number);
    prefetch(to.values, position, widths.value);
}

enum { PREFETCH_DISTANCE = 24 }; // in entries

INLINE void prefetch_next(const void *next, int64_t at, bool wide) {
    prefetch(next, at, wide ? 8 : 4);
}

// Writes the entries of a block.
INLINE void write_block(const Scatter *scatter, const EntryBlock *block, const int64_t *parents, void *next,
                        Widths widths) {
    const int64_t *coordinates = block->coordinates[scatter->reader->order - 1], *numbers = block->numbers;
    const Destination to = scatter->to;
    const char *values = scatter->from;
    const int count = block->count;
    for (int i = 0; i < count; i++) {
        const int64_t far = parents[i + 2 * PREFETCH_DISTANCE < count ? i + 2 * PREFETCH_DISTANCE : i],
                      ahead = parents[i + PREFETCH_DISTANCE < count ? i + PREFETCH_DISTANCE : i];
        prefetch_next(next, far, widths.wide);
        prefetch_entry(to, get_next(next, ahead, widths.wide), widths);
        write_entry(to, take_next(next, parents[i], widths.wide), coordinates[i], numbers[i], values, widths);
    }
}

INLINE void write_blocks(const Scatter *scatter, int t, Widths widths) {
    const EntryReader *reader = scatter->reader;
    void *next = next_of(scatter, t);
    int64_t room[ENTRY_BLOCK];
    const int64_t end = part_begin(reader->places, scatter->team, t + 1);
    EntryBlock block;
    for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at += ENTRY_BLOCK) {
        reader_read(reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
        write_block(scatter, &block, find_parents(scatter, &block, room), next, widths);
    }
}

// Writes the entries from place `first` to before `last`, of which the list of the reader has the parents,
// and which have the same coordinate.
INLINE void write_run(const Scatter *scatter, int64_t first, int64_t last, int64_t coordinate, void *next,
                      Widths widths) {
    const int32_t *parents = scatter->parent_list;
    const Destination to = scatter->to;
    const char *values = scatter->from;
    const int64_t last_place = scatter->reader->places - 1;
    for (int64_t e = first; e < last; e++) {
        const int64_t far = parents[min_i64(e + 2 * PREFETCH_DISTANCE, last_place)],
                      ahead = parents[min_i64(e + PREFETCH_DISTANCE, last_place)];
        prefetch_next(next, far, widths.wide);
        prefetch_entry(to, get_next(next, ahead, widths.wide), widths);
        write_entry(to, take_next(next, parents[e], widths.wide), coordinate, e, values, widths);
    }
}

// The same as write_blocks, of a stored matrix whose last level has the parents: from one position of its
// first level to the next.
INLINE void write_runs(const Scatter *scatter, int t, Widths widths) {
    const StoredTensor *stored = scatter->reader->stored;
    const LevelFormat *outer = stored->levels[0].format, *inner = stored->levels[1].format;
    const LevelArrays *rows = &stored->arrays[0], *entries = &stored->arrays[1];
    const int array = level_array(inner, LEVEL_ARRAY_POSITIONS);
    const int64_t *pos = array < 0 ? NULL : entries->arrays[array]; // else there is one entry in each row
    void *next = next_of(scatter, t);
    int64_t positions[ENTRY_BLOCK], coordinates[ENTRY_BLOCK];
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
            const int64_t last = min_i64(pos ? pos[row + i + 1] : row + i + 1, end);
            write_run(scatter, at, last, coordinates[i], next, widths);
            at = max_i64(at, last);
        }
        row += count;
    }
}

INLINE void write_with(const Scatter *scatter, int t, Widths widths) {
    if (scatter->parent_list)
        write_runs(scatter, t, widths);
    else
        write_blocks(scatter, t, widths);
}

static void write_part(const Scatter *scatter, int t) {
    const Widths widths = widths_of(scatter);
#define WRITE_COMMON(c, n, v)                                                                                \
    if (!widths.wide && widths.coordinate == (c) && widths.number == (n) && widths.value == (v)) {           \
        write_with(scatter, t, (Widths){false, c, n, v});                                                    \
        return;                                                                                              \
    }
    COMMON(WRITE_COMMON)
    write_with(scatter, t, widths);
}

static void run(const Scatter *scatter) {
    static void (*const passes[])(const Scatter *, int) = {count_part, sum_share, place_share, write_part};
#pragma omp parallel num_threads(scatter->team)
    for (int pass = 0; pass < 4; pass++) {
        for (int t = omp_get_thread_num(); t < scatter->team; t += omp_get_num_threads())
            passes[pass](scatter, t);
#pragma omp barrier
    }
}

static bool scatter_to(Destination to, StoredTensor *tensor, const EntryReader *reader, bool wide_numbers,
                       const void *values, Budget *budget) {
    const int last = tensor->order - 1;
    Scatter scatter = {.reader = reader,
                       .format = tensor->levels[last].format,
                       .levels = tensor->arrays,
                       .list = &tensor->arrays[last],
                       .from = values,
                       .to = to,
                       .wide_numbers = wide_numbers,
                       .value_size = (int64_t)type_info(tensor->type)->size,
                       .parents = parent_count(tensor),
                       .team = entries_team(reader->places),
                       .wide = reader->places > UINT32_MAX};
    const int64_t counts = scatter.parents * scatter.team, size = scatter.wide ? 8 : 4;
    if (tensor->order == 2 && tensor->arrays[0].first == 0)
        scatter.parent_list = reader_list(reader, 0);
    scatter.next = budget_take(budget, counts, size, false);
    scatter.sums = budget_take(budget, scatter.team, sizeof(int64_t), false);
    const bool ok = scatter.next && scatter.sums;
    if (ok)
        run(&scatter);
    budget_release(budget, scatter.next, counts, size);
    budget_release(budget, scatter.sums, scatter.team, sizeof(int64_t));
    return ok;
}

bool scatter_entries(StoredTensor *tensor, const EntryReader *reader, EntryMap *map, const void *values,
                     Budget *budget) {
    const LevelArrays *list = &tensor->arrays[tensor->order - 1];
    const int array = level_array(tensor->levels[tensor->order - 1].format, LEVEL_ARRAY_COORDINATES);
    return scatter_to((Destination){list->arrays[array], map->from, values ? tensor->values : NULL}, tensor,
                      reader, map->wide, values, budget);
}

bool scatter_map(StoredTensor *tensor, const EntryReader *reader, EntryMap *map, Budget *budget) {
    return scatter_to((Destination){.numbers = map->from}, tensor, reader, map->wide, NULL, budget);
}
