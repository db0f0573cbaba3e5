// SPDX-License-Identifier: BSD-3-Clause
#include "format/scatter.h"

#include "base/integer.h"

#include <omp.h>
#include <string.h>

typedef struct {
    const EntryReader *reader;
    const LevelFormat *format; // of the list
    const LevelArrays *levels; // all of them, of which the list is the last one
    LevelArrays *list;
    EntryMap *map;
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
    if (unsorted == 0 || unsorted > last || !tensor->levels[last].format->scatter)
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

static void write_part(const Scatter *scatter, int t) {
    const EntryReader *reader = scatter->reader;
    const EntryMap *map = scatter->map;
    int64_t *next = scatter->next + t * scatter->parents, room[ENTRY_BLOCK], positions[ENTRY_BLOCK];
    const int64_t end = part_begin(reader->places, scatter->team, t + 1);
    EntryBlock block;
    for (int64_t at = part_begin(reader->places, scatter->team, t); at < end; at += ENTRY_BLOCK) {
        reader_read(reader, at, min_i64(ENTRY_BLOCK, end - at), &block);
        const int64_t *parents = find_parents(scatter, &block, room);
        for (int i = 0; i < block.count; i++)
            positions[i] = next[parents[i]]++;
        scatter->format->scatter(scatter->list, block.count, positions, block.coordinates[reader->order - 1]);
        if (map->wide)
            for (int i = 0; i < block.count; i++)
                ((int64_t *)map->from)[positions[i]] = block.numbers[i];
        else
            for (int i = 0; i < block.count; i++)
                ((uint32_t *)map->from)[positions[i]] = (uint32_t)block.numbers[i];
    }
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

bool scatter_entries(StoredTensor *tensor, const EntryReader *reader, EntryMap *map, Budget *budget) {
    const int last = tensor->order - 1;
    Scatter scatter = {.reader = reader,
                       .format = tensor->levels[last].format,
                       .levels = tensor->arrays,
                       .list = &tensor->arrays[last],
                       .map = map,
                       .parents = parent_count(tensor),
                       .team = entries_team(reader->places)};
    const int64_t counts = scatter.parents * scatter.team;
    scatter.next = budget_take(budget, counts, sizeof(int64_t), false);
    scatter.sums = budget_take(budget, scatter.team, sizeof(int64_t), false);
    const bool ok = scatter.next && scatter.sums;
    if (ok)
        run(&scatter);
    budget_release(budget, scatter.next, counts, sizeof(int64_t));
    budget_release(budget, scatter.sums, scatter.team, sizeof(int64_t));
    return ok;
}
