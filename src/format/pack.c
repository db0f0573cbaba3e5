// SPDX-License-Identifier: BSD-3-Clause
// Packing of stored tensors: entries are sorted, unless they are in the order of the levels, and read in
// blocks, of which each level in its order makes positions. Threads take parts of the entries; a pass before
// counts what is distinct in each part, so that every thread writes where it belongs.
#include "format/stored.h"

#include "base/integer.h"
#include "format/entry_reader.h"
#include "format/scatter.h"
#include "memory/memory.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

// The entries of one thread.
typedef struct {
    int64_t first, last; // places
    // By level: entries whose first difference from the entry before is in this level; [order]: equal ones.
    int64_t steps[MAX_ORDER + 1];
    bool any; // it has entries: the coordinates of the first and of the last one
    int64_t begin[MAX_ORDER], end[MAX_ORDER];
    const int64_t *before; // `end` of the entry before the first; NULL: there is none
    int64_t entry;         // the number of the first
    LevelState states[MAX_ORDER];
} Part;

typedef struct {
    StoredTensor *tensor;
    EntryReader reader; // of sorted entries
    Arena *arena;
    Budget budget;
    const void *values; // of the entries, to be stored; NULL: they are not
    int64_t step;       // bytes from one of them to the next
    EntryMap *map;      // from entries to values, to be made; or NULL
    bool repeats;       // entries may be equal though there is a map
    bool scatters;      // entries are scattered (scatter.h), which can make the map alone later
    bool counts;        // entries may be equal, or levels have positions for several entries
    int depths[MAX_ORDER];
    int team;
    Part *parts;
} Packing;

static const char no_memory_to_sort[] = "not enough memory to sort its entries";

static const char *too_large(const Packing *packing, const char *what, int64_t bytes) {
    if (bytes == INT64_MAX)
        return arena_printf(packing->arena, "%s would take more than 2^63 bytes", what);
    return arena_printf(packing->arena, "not enough memory for %s, %" PRId64 " bytes", what, bytes);
}

static const char *level_name(const Packing *packing, int l) {
    return arena_printf(packing->arena, "level %d (%s)", l, packing->tensor->levels[l].format->name);
}

// Sets in differs[i] the first level in which entry i differs from the one before it; the order: in none.
static void find_differences(const EntryBlock *block, int order, const int64_t *before, uint8_t *differs) {
    memset(differs, order, (size_t)block->count);
    for (int l = order - 1; l >= 0; l--) {
        const int64_t *x = block->coordinates[l];
        for (int i = 1; i < block->count; i++)
            differs[i] = x[i] == x[i - 1] ? differs[i] : (uint8_t)l;
        if (!before || x[0] != before[l])
            differs[0] = (uint8_t)l;
    }
}

static void take_coordinates(const EntryBlock *block, int order, int i, int64_t *to) {
    for (int l = 0; l < order; l++)
        to[l] = block->coordinates[l][i];
}

// Moves the first entry of each part behind those that are equal to the last one of the part before, so that
// no two threads add to one value.
static void divide_entries(const Packing *packing) {
    const int order = packing->tensor->order;
    const int64_t places = packing->reader.places;
    EntryBlock block;
    uint8_t differs[ENTRY_BLOCK];
    for (int t = 0; t < packing->team; t++) {
        Part *part = &packing->parts[t];
        int64_t last = max_i64(part_begin(places, packing->team, t + 1), t ? part[-1].last : 0);
        bool equal = packing->reader.compact && packing->counts && last > 0;
        *part = (Part){.first = t ? part[-1].last : 0};
        while (equal && last < places) {
            int64_t before[MAX_ORDER];
            reader_read(&packing->reader, last - 1, 1, &block);
            take_coordinates(&block, order, 0, before);
            reader_read(&packing->reader, last, min_i64(ENTRY_BLOCK, places - last), &block);
            find_differences(&block, order, before, differs);
            int i = 0;
            while (i < block.count && differs[i] == order)
                i++;
            last += i;
            equal = i == block.count;
        }
        part->last = last;
    }
}

static void count_part(const Packing *packing, Part *part) {
    const int order = packing->tensor->order;
    EntryBlock block;
    uint8_t differs[ENTRY_BLOCK];
    for (int64_t at = part->first; at < part->last; at += ENTRY_BLOCK) {
        reader_read(&packing->reader, at, min_i64(ENTRY_BLOCK, part->last - at), &block);
        if (block.count == 0)
            continue;
        find_differences(&block, order, part->any ? part->end : NULL, differs);
        if (!part->any)
            take_coordinates(&block, order, 0, part->begin);
        for (int i = part->any ? 0 : 1; i < block.count; i++)
            part->steps[differs[i]]++;
        part->any = true;
        take_coordinates(&block, order, block.count - 1, part->end);
    }
}

// Where all entries are distinct, and counted for the last level only, no pass over them is needed.
static void measure_part(const Packing *packing, Part *part) {
    const int order = packing->tensor->order;
    EntryBlock block;
    part->any = part->first < part->last;
    if (!part->any)
        return;
    part->steps[order > 0 ? order - 1 : 0] = part->last - part->first - 1;
    reader_read(&packing->reader, part->first, 1, &block);
    take_coordinates(&block, order, 0, part->begin);
    reader_read(&packing->reader, part->last - 1, 1, &block);
    take_coordinates(&block, order, 0, part->end);
}

// The distinct entries of a level in a part.
static int64_t part_distinct(const Part *part, int depth) {
    int64_t distinct = 0;
    for (int l = 0; l <= depth; l++)
        distinct += part->steps[l];
    return distinct;
}

// Counts the entries of all parts.
static void count_entries(const Packing *packing) {
    const int order = packing->tensor->order;
    const int64_t *before = NULL;
    int64_t entry = 0;
#pragma omp parallel num_threads(packing->team)
    for (int t = omp_get_thread_num(); t < packing->team; t += omp_get_num_threads())
        (packing->counts ? count_part : measure_part)(packing, &packing->parts[t]);
    for (int t = 0; t < packing->team; t++) {
        Part *part = &packing->parts[t];
        part->before = before;
        part->entry = entry;
        if (!part->any)
            continue;
        int l = packing->counts || order == 0 ? 0 : order - 1;
        while (packing->counts && before && l < order && part->begin[l] == before[l])
            l++;
        part->steps[l]++;
        before = part->end;
        entry += part_distinct(part, order);
    }
}

static const char *allocate_level(Packing *packing, int l) {
    const LevelFormat *format = packing->tensor->levels[l].format;
    LevelArrays *level = &packing->tensor->arrays[l];
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
        const LevelArrayInfo *info = &format->arrays[a];
        if (info->kind == LEVEL_ARRAY_NONE)
            continue;
        const int64_t size = level_element_size(format, level, a);
        level->arrays[a] =
            budget_take(&packing->budget, level->lengths[a], size, info->kind == LEVEL_ARRAY_BITS);
        if (!level->arrays[a])
            return too_large(packing,
                             arena_printf(packing->arena, "%s of %s", info->name, level_name(packing, l)),
                             saturated_mul(level->lengths[a], size));
    }
    return NULL;
}

// Sets where the parts begin in a level; parents[t]: the position above of the entry before part t, which is
// replaced by that of the level.
static void place_parts(const Packing *packing, int l, int64_t *parents) {
    const LevelArrays *level = &packing->tensor->arrays[l];
    int64_t distinct = 0;
    for (int t = 0; t < packing->team; t++) {
        Part *part = &packing->parts[t];
        part->states[l] = (LevelState){distinct, part->before ? parents[t] : -1};
        if (part->before)
            parents[t] =
                packing->tensor->levels[l].format->position(level, parents[t], part->before[l], distinct - 1);
        distinct += part_distinct(part, packing->depths[l]);
    }
}

// Allocates the arrays of a level with `distinct` entries.
static const char *make_level(Packing *packing, int l, int64_t distinct) {
    StoredTensor *tensor = packing->tensor;
    LevelArrays *level = &tensor->arrays[l];
    *level = stored_level(tensor, l);
    tensor->levels[l].format->measure(level, l ? tensor->arrays[l - 1].position_count : 1, distinct);
    tensor->value_count = level->position_count;
    return level->position_count == INT64_MAX
               ? arena_printf(packing->arena, "%s would have more than 2^63 positions",
                              level_name(packing, l))
               : allocate_level(packing, l);
}

static const char *make_levels(Packing *packing, int64_t *parents) {
    packing->tensor->value_count = 1;
    for (int l = 0; l < packing->tensor->order; l++) {
        int64_t distinct = 0;
        for (int t = 0; t < packing->team; t++)
            distinct += part_distinct(&packing->parts[t], packing->depths[l]);
        const char *why = make_level(packing, l, distinct);
        if (why)
            return why;
        place_parts(packing, l, parents);
    }
    return NULL;
}

// Whether entry e of the tensor is at position e of its last level.
static bool is_list(const StoredTensor *tensor) {
    return tensor->order > 0 && tensor->levels[tensor->order - 1].format->compact &&
           !tensor->levels[tensor->order - 1].format->full;
}

// Of `count` entries; `reordered`: they are at other positions than where they come from.
static const char *allocate_map(Packing *packing, int64_t count, bool reordered) {
    EntryMap *map = packing->map;
    const StoredTensor *tensor = packing->tensor;
    map->count = count;
    map->wide = max_i64(packing->reader.places, tensor->value_count) > UINT32_MAX;
    const int64_t size = map->wide ? 8 : 4;
    const bool padded = !is_list(tensor) || packing->repeats;
    const bool late = packing->scatters && packing->values;
    if (late && saturated_mul(map->count, size) <= packing->budget.left) {
        packing->budget.left -= map->count * size;
        map->late = true;
    } else if (reordered)
        map->from = budget_take(&packing->budget, map->count, size, false);
    if (padded)
        map->to = budget_take(&packing->budget, map->count, size, false);
    return (!reordered || map->late || map->from) && (!padded || map->to)
               ? NULL
               : too_large(packing, "the map of its values",
                           saturated_mul(map->count, size * (reordered + padded)));
}

// Of the values, if they are stored, and of the map of `count` entries, if there is one.
static const char *allocate_values(Packing *packing, int64_t count, bool reordered) {
    StoredTensor *tensor = packing->tensor;
    const char *why = packing->map ? allocate_map(packing, count, reordered) : NULL;
    if (why || !packing->values)
        return why;
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    tensor->values = budget_take(&packing->budget, tensor->value_count, size, !is_list(tensor));
    return tensor->values ? NULL : too_large(packing, "its values", saturated_mul(tensor->value_count, size));
}

static inline void copy_values(char *to, const char *from, int64_t step, const EntryBlock *block,
                               const int64_t *positions, int64_t size) {
    for (int i = 0; i < block->count; i++)
        memcpy(to + positions[i] * size, from + block->numbers[i] * step, (size_t)size);
}

static void put_values(const Packing *packing, int64_t entry, const EntryBlock *block,
                       const int64_t *positions, const uint8_t *differs) {
    const StoredTensor *tensor = packing->tensor;
    const int64_t size = (int64_t)type_info(tensor->type)->size, step = packing->step;
    char *to = tensor->values;
    const char *from = packing->values;
    bool distinct = true;
    if (packing->map && !packing->map->from && !packing->map->to) {
        memcpy(to + entry * size, from + entry * size, (size_t)(block->count * size));
        return;
    }
    for (int i = 0; i < block->count; i++)
        distinct = distinct && differs[i] < tensor->order;
    if (distinct && size == 8)
        copy_values(to, from, step, block, positions, 8);
    else if (distinct)
        copy_values(to, from, step, block, positions, size);
    else
        for (int i = 0; i < block->count; i++)
            if (differs[i] < tensor->order || block->numbers[i] == 0)
                memcpy(to + positions[i] * size, from + block->numbers[i] * step, (size_t)size);
            else
                memory_host.reduce(REDUCER_SUM, tensor->type, to + positions[i] * size, 1,
                                   from + block->numbers[i] * step, 1, 1);
}

static void put_numbers(void *to, bool wide, int64_t first, const int64_t *numbers, int count) {
    if (!to)
        return;
    if (wide)
        memcpy((int64_t *)to + first, numbers, (size_t)count * sizeof *numbers);
    else
        for (int i = 0; i < count; i++)
            ((uint32_t *)to)[first + i] = (uint32_t)numbers[i];
}

static void fill_part(const Packing *packing, Part *part) {
    StoredTensor *tensor = packing->tensor;
    const int order = tensor->order;
    int64_t positions[ENTRY_BLOCK], last[MAX_ORDER];
    uint8_t differs[ENTRY_BLOCK] = {0};
    EntryBlock block;
    const int64_t *before = part->before;
    int64_t entry = part->entry;
    for (int64_t at = part->first; at < part->last; at += ENTRY_BLOCK) {
        reader_read(&packing->reader, at, min_i64(ENTRY_BLOCK, part->last - at), &block);
        if (block.count == 0)
            continue;
        if (packing->counts) {
            find_differences(&block, order, before, differs);
            take_coordinates(&block, order, block.count - 1, last);
            before = last;
        }
        memset(positions, 0, sizeof *positions * (size_t)block.count);
        for (int l = 0; l < order; l++) {
            const LevelEntries entries = {block.count, block.coordinates[l], differs, packing->depths[l],
                                          positions};
            tensor->levels[l].format->pack(&tensor->arrays[l], &entries, &part->states[l]);
        }
        if (packing->map) {
            put_numbers(packing->map->from, packing->map->wide, entry, block.numbers, block.count);
            put_numbers(packing->map->to, packing->map->wide, entry, positions, block.count);
        }
        if (packing->values)
            put_values(packing, entry, &block, positions, differs);
        entry += block.count;
    }
}

static const char *fill(Packing *packing) {
    StoredTensor *tensor = packing->tensor;
    int64_t *parents = calloc((size_t)packing->team, sizeof *parents);
    if (!parents)
        return "not enough memory to pack its entries";
    divide_entries(packing);
    count_entries(packing);
    const char *why = make_levels(packing, parents);
    free(parents);
    const Part *end = &packing->parts[packing->team - 1];
    if (!why)
        why = allocate_values(packing, end->entry + part_distinct(end, tensor->order),
                              packing->reader.records || !packing->reader.compact);
    if (why)
        return why;
#pragma omp parallel num_threads(packing->team)
    for (int t = omp_get_thread_num(); t < packing->team; t += omp_get_num_threads())
        fill_part(packing, &packing->parts[t]);
    int64_t above = 1;
    for (int l = 0; l < tensor->order; l++) {
        const LevelFormat *format = tensor->levels[l].format;
        if (format->finish)
            format->finish(&tensor->arrays[l], above, packing->parts[packing->team - 1].states[l]);
        above = tensor->arrays[l].position_count;
    }
    return NULL;
}

// Without sorting, see scatter.h.
static const char *scatter(Packing *packing) {
    StoredTensor *tensor = packing->tensor;
    const char *why = NULL;
    packing->scatters = true;
    for (int l = 0; l < tensor->order && !why; l++)
        why = make_level(packing, l, packing->reader.places);
    if (!why)
        why = allocate_values(packing, packing->reader.places, true);
    if (!why && !scatter_entries(tensor, &packing->reader, packing->map, packing->values, &packing->budget))
        why = no_memory_to_sort;
    return why;
}

// Prepares what depends on the levels: which of the singleton levels that follow a level share its positions,
// and whether distinct entries have to be counted.
static void look_at_levels(Packing *packing) {
    const StoredTensor *tensor = packing->tensor;
    packing->counts = !packing->map || packing->repeats || !packing->reader.compact;
    for (int l = 0; l < tensor->order; l++) {
        packing->depths[l] = l;
        while (tensor->levels[packing->depths[l]].nonunique)
            packing->depths[l]++;
        packing->counts = packing->counts ||
                          (packing->depths[l] + 1 < tensor->order && !tensor->levels[l].format->full) ||
                          !tensor->levels[l].format->compact;
    }
}

// Records have the values, which are then read in their order, unless numbers are needed for the map.
static const char *sort(Packing *packing, Records *records, int unsorted) {
    const EntryReader reader = packing->reader;
    const RecordValues values = {packing->map ? NULL : packing->values, packing->step};
    if (!records_sort(records, &reader, unsorted, values, &packing->budget))
        return no_memory_to_sort;
    packing->reader = reader_of_records(&reader, records);
    if (records->value > 0) {
        packing->values = records->items + records->value;
        packing->step = records->words * (int64_t)sizeof *records->items;
    }
    return NULL;
}

static const char *sort_and_fill(Packing *packing, int unsorted) {
    Records records = {0};
    const char *why = unsorted > 0 ? sort(packing, &records, unsorted) : NULL;
    look_at_levels(packing);
    packing->team = entries_team(packing->reader.places);
    packing->parts = calloc((size_t)packing->team, sizeof *packing->parts);
    if (!why)
        why = packing->parts ? fill(packing) : no_memory_to_sort;
    free(packing->parts);
    records_free(&records, &packing->budget);
    return why;
}

static const char *pack(Packing *packing, const EntryReader *reader) {
    StoredTensor *tensor = packing->tensor;
    const int unsorted = reader_unsorted_levels(reader);
    const bool distinct = packing->map && !packing->repeats && reader->compact;
    memset(tensor->arrays, 0, sizeof tensor->arrays);
    tensor->values = NULL;
    packing->reader = *reader;
    packing->step = (int64_t)type_info(tensor->type)->size;
    const char *why = distinct && scatter_fits(tensor, reader, unsorted) ? scatter(packing)
                                                                         : sort_and_fill(packing, unsorted);
    if (why)
        stored_free(tensor);
    return why;
}

const char *stored_pack(StoredTensor *tensor, const Entries *entries, int64_t limit, Arena *arena) {
    // A list of no entries may have no memory for values, but the tensor has: its values are zero, if any.
    Packing packing = {.tensor = tensor,
                       .arena = arena,
                       .budget = {limit},
                       .values = entries->count > 0 ? entries->values : ""};
    const EntryReader reader = reader_of_entries(entries, tensor->mode_order);
    return pack(&packing, &reader);
}

static const char *pack_map(Packing *packing, const EntryReader *reader) {
    *packing->map = (EntryMap){0};
    const char *why = pack(packing, reader);
    if (why)
        entry_map_free(packing->map);
    return why;
}

const char *stored_pack_structure(StoredTensor *tensor, EntryMap *map, const Entries *entries, int64_t limit,
                                  Arena *arena) {
    Packing packing = {.tensor = tensor, .arena = arena, .budget = {limit}, .map = map, .repeats = true};
    const EntryReader reader = reader_of_entries(entries, tensor->mode_order);
    return pack_map(&packing, &reader);
}

const char *stored_convert(StoredTensor *tensor, EntryMap *map, const StoredTensor *from, const int *modes,
                           bool values, int64_t limit, Arena *arena) {
    Packing packing = {.tensor = tensor,
                       .arena = arena,
                       .budget = {limit},
                       .values = values ? from->values : NULL,
                       .map = map};
    const EntryReader reader = reader_of_stored(from, modes);
    return pack_map(&packing, &reader);
}

const char *stored_map(StoredTensor *tensor, EntryMap *map, const StoredTensor *from, const int *modes,
                       int64_t limit, Arena *arena) {
    const EntryReader reader = reader_of_stored(from, modes);
    Budget budget = {limit};
    if (!map->late)
        return NULL;
    const int64_t size = map->wide ? 8 : 4;
    map->from = budget_take(&budget, map->count, size, false);
    map->late = !map->from || !scatter_map(tensor, &reader, map, &budget);
    if (!map->late)
        return NULL;
    budget_release(&budget, map->from, map->count, size);
    map->from = NULL;
    return arena_printf(arena, "not enough memory for the map of its values");
}
