// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/appender.h"

#include "base/integer.h"
#include "memory/memory.h"
#include "runtime/row_set.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

// A block of a list, with the number of elements in the blocks before.
typedef struct Block {
    struct Block *next;
    int64_t before, capacity;
    char elements[];
} Block;

// The blocks of one list of one thread. Where there is no memory for another, elements go to `spare`.
typedef struct {
    struct Thread *thread;
    int64_t size; // of an element
    Block *first, *last;
    int64_t spare[8];
} ListMemory;

typedef struct Thread {
    Appender *appender;
    bool failed;
    distal_list lists[MAX_APPEND_LISTS];
    ListMemory memory[MAX_APPEND_LISTS];
    RowSet set;
} Thread;

// The elements of each list that a portion has appended: those of its thread from `begins` to before `ends`.
typedef struct {
    const Thread *thread; // NULL: no such portion
    int64_t begins[MAX_APPEND_LISTS], ends[MAX_APPEND_LISTS];
} Portion;

struct Appender {
    AppendLists lists;
    int64_t extent; // of the last level with coordinates
    int64_t left;   // bytes of the limit; changed atomically
    int thread_count;
    Thread **threads;
    Portion portions[DISTAL_MAX_PORTIONS];
};

// Lists without elements, whose blocks have been released.
static void clear_thread(Thread *thread) {
    const AppendLists *lists = &thread->appender->lists;
    for (int i = 0; i < lists->count; i++) {
        thread->memory[i] = (ListMemory){.thread = thread, .size = lists->lists[i].wide ? 8 : 4};
        thread->lists[i] = (distal_list){.memory = &thread->memory[i]};
    }
}

Appender *appender_create(const StoredTensor *tensor, int threads, int64_t limit) {
    Appender *appender = calloc(1, sizeof *appender);
    if (!appender)
        return NULL;
    appender->lists = append_lists(tensor->order, tensor->levels);
    appender->extent = tensor->extents[tensor->mode_order[append_last_level(&appender->lists)]];
    appender->left = limit;
    appender->threads = calloc((size_t)threads, sizeof(Thread *));
    while (appender->threads && appender->thread_count < threads) {
        Thread *thread = calloc(1, sizeof *thread);
        if (!thread)
            break;
        thread->appender = appender;
        appender->threads[appender->thread_count++] = thread;
        clear_thread(thread);
    }
    if (appender->thread_count == threads)
        return appender;
    appender_free(appender);
    return NULL;
}

static bool claim(Appender *appender, int64_t bytes) {
    if (__atomic_sub_fetch(&appender->left, bytes, __ATOMIC_RELAXED) >= 0)
        return true;
    __atomic_add_fetch(&appender->left, bytes, __ATOMIC_RELAXED);
    return false;
}

static void free_list(Appender *appender, int list) {
    for (int t = 0; t < appender->thread_count; t++) {
        ListMemory *memory = &appender->threads[t]->memory[list];
        while (memory->first) {
            Block *block = memory->first;
            memory->first = block->next;
            appender->left += block->capacity * memory->size;
            memory_release(MEMORY_HOST, block);
        }
    }
}

void appender_free(Appender *appender) {
    if (!appender)
        return;
    for (int i = 0; i < appender->lists.count; i++)
        free_list(appender, i);
    for (int t = 0; t < appender->thread_count; t++) {
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): counted when there are such
        row_set_free(&appender->threads[t]->set);
        free(appender->threads[t]);
    }
    free(appender->threads);
    free(appender);
}

void appender_clear(Appender *appender, int64_t limit) {
    for (int i = 0; i < appender->lists.count; i++)
        free_list(appender, i);
    for (int t = 0; t < appender->thread_count; t++)
        clear_thread(appender->threads[t]);
    memset(appender->portions, 0, sizeof appender->portions);
    appender->left = limit;
}

bool appender_is_used(const Appender *appender) {
    return appender->portions[0].thread != NULL;
}

static int64_t count_of(const distal_list *list) {
    const ListMemory *memory = list->memory;
    return list->before + ((char *)list->next - (char *)list->begin) / memory->size;
}

// Blocks grow up to a size that a few of them are no more than what the arrays take in the end.
distal_list distal_next_block(distal_list list) {
    enum { LEAST = 1 << 10, MOST = 1 << 20 };
    ListMemory *memory = list.memory;
    Thread *thread = memory->thread;
    const int64_t capacity = memory->last ? min_i64(2 * memory->last->capacity, MOST) : LEAST;
    const int64_t bytes = capacity * memory->size;
    Block *block = NULL;
    if (!thread->failed && claim(thread->appender, bytes))
        block = memory_host.allocate((int64_t)sizeof *block + bytes);
    if (!block) {
        thread->failed = true;
        list.begin = list.next = memory->spare;
        list.end = (char *)memory->spare + sizeof memory->spare;
        return list;
    }
    *block = (Block){.before = count_of(&list), .capacity = capacity};
    if (memory->last)
        memory->last->next = block;
    else
        memory->first = block;
    memory->last = block;
    list.before = block->before;
    list.begin = list.next = block->elements;
    list.end = block->elements + bytes;
    return list;
}

distal_list *appender_begin(Appender *appender, int64_t portion) {
    const Thread *thread = appender->threads[omp_get_thread_num()];
    appender->portions[portion].thread = thread;
    for (int i = 0; i < appender->lists.count; i++)
        appender->portions[portion].begins[i] = count_of(&thread->lists[i]);
    return appender->threads[omp_get_thread_num()]->lists;
}

void appender_end(Appender *appender, int64_t portion) {
    Portion *at = &appender->portions[portion];
    for (int i = 0; i < appender->lists.count; i++)
        at->ends[i] = count_of(&at->thread->lists[i]);
}

distal_index_set *appender_set(Appender *appender) {
    Thread *thread = appender->threads[omp_get_thread_num()];
    if (!thread->set.is_made && !row_set_make(&thread->set, appender->extent))
        thread->failed = true;
    return &thread->set.set;
}

distal_list distal_push_set(distal_list list, distal_index_set *set) {
    const ListMemory *memory = list.memory;
    return row_set_append(list, set, memory->size == 8);
}

// Joining: where the elements that each portion has appended to each list are among those of all portions.
typedef struct {
    Appender *appender;
    StoredTensor *tensor;
    Arena *arena;
    int team;
    int64_t totals[MAX_APPEND_LISTS];
    int64_t (*bases)[MAX_APPEND_LISTS]; // by portion
} Joining;

static void find_bases(Joining *joining) {
    const Appender *appender = joining->appender;
    for (int p = 0; p < DISTAL_MAX_PORTIONS; p++)
        for (int i = 0; i < appender->lists.count; i++) {
            const Portion *portion = &appender->portions[p];
            joining->bases[p][i] = joining->totals[i];
            joining->totals[i] += portion->ends[i] - portion->begins[i];
        }
}

static void *allocate(Joining *joining, const char *what, int level, int64_t bytes, const char **why) {
    void *memory = bytes < INT64_MAX && claim(joining->appender, bytes) ? memory_host.allocate(bytes) : NULL;
    if (memory)
        return memory;
    const char *name = level < 0 ? what
                                 : arena_printf(joining->arena, "%s of level %d (%s)", what, level,
                                                joining->tensor->levels[level].format->name);
    *why = bytes == INT64_MAX
               ? arena_printf(joining->arena, "%s would take more than 2^63 bytes", name)
               : arena_printf(joining->arena, "not enough memory for %s, %lld bytes", name, (long long)bytes);
    return NULL;
}

// The block that has element `at` of a list of a thread; NULL where it has no element.
static const Block *block_of(const Thread *thread, int list, int64_t at) {
    const Block *block = thread->memory[list].first;
    while (block && at >= block->before + block->capacity)
        block = block->next;
    return block;
}

static void copy_portion(const Joining *joining, int list, int p, char *to) {
    const Portion *portion = &joining->appender->portions[p];
    const int64_t size = joining->appender->lists.lists[list].wide ? 8 : 4;
    int64_t at = portion->begins[list];
    to += joining->bases[p][list] * size;
    const Block *block = portion->thread ? block_of(portion->thread, list, at) : NULL;
    while (block && at < portion->ends[list]) {
        const int64_t end = min_i64(portion->ends[list], block->before + block->capacity);
        const size_t bytes = (size_t)((end - at) * size);
        memcpy(to, block->elements + (at - block->before) * size, bytes);
        to += bytes;
        at = end;
        block = block->next;
    }
}

// The coordinates of a level.
static void join_coordinates(const Joining *joining, int list, void *to) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(joining->team)
    for (int p = 0; p < DISTAL_MAX_PORTIONS; p++)
        copy_portion(joining, list, p, to);
}

// The elements of a list of a portion, one after the other.
typedef struct {
    const Block *block;
    int64_t at;
} Reader;

static Reader read_portion(const Portion *portion, int list) {
    if (list < 0)
        return (Reader){0};
    const int64_t begin = portion->begins[list];
    return (Reader){block_of(portion->thread, list, begin), begin};
}

static int64_t read_next(Reader *reader) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller counts elements
    while (reader->at >= reader->block->before + reader->block->capacity)
        reader->block = reader->block->next;
    const int64_t *elements = (const int64_t *)(const void *)reader->block->elements;
    return elements[reader->at++ - reader->block->before];
}

// The lists that the positions of a level follow from.
typedef struct {
    int parents, begins, coordinates;
    int above;      // coordinates of the levels above; -1: none
    int64_t factor; // positions of the level before for each of those
    int64_t first;  // kernels count them as if coordinates of the first level began with 0
    int64_t *pos;
} Positions;

// The position above that the next element of `begins` belongs to, among those of all portions.
static int64_t next_parent(const Joining *joining, const Positions *lists, int p, int64_t *ordinal,
                           Reader *parents) {
    const Portion *portion = &joining->appender->portions[p];
    const int64_t before = lists->above < 0 ? 0 : joining->bases[p][lists->above];
    if (lists->parents < 0)
        return before + (*ordinal)++;
    const int64_t shift = lists->above < 0 ? 0 : before - portion->begins[lists->above];
    return read_next(parents) + shift * lists->factor - lists->first;
}

// The last position above with entries in a portion; -1 where it has none.
static int64_t last_parent(const Joining *joining, const Positions *lists, int p) {
    const Portion *portion = &joining->appender->portions[p];
    const int64_t count = portion->ends[lists->begins] - portion->begins[lists->begins];
    if (count == 0)
        return -1;
    int64_t ordinal = count - 1;
    Reader parents = {0};
    if (lists->parents >= 0)
        parents = (Reader){block_of(portion->thread, lists->parents, portion->ends[lists->parents] - 1),
                           portion->ends[lists->parents] - 1};
    return next_parent(joining, lists, p, &ordinal, &parents);
}

// Positions above after `last`, which is before the portion, up to its last one with entries.
static void place_portion(const Joining *joining, const Positions *lists, int p, int64_t last) {
    const Portion *portion = &joining->appender->portions[p];
    const int64_t shift = joining->bases[p][lists->coordinates] - portion->begins[lists->coordinates];
    const int64_t count = portion->ends[lists->begins] - portion->begins[lists->begins];
    if (count == 0)
        return;
    Reader begins = read_portion(portion, lists->begins), parents = read_portion(portion, lists->parents);
    int64_t ordinal = 0;
    for (int64_t e = 0; e < count; e++) {
        const int64_t parent = next_parent(joining, lists, p, &ordinal, &parents);
        const int64_t begin = read_next(&begins) + shift;
        while (last < parent)
            lists->pos[++last] = begin;
    }
}

static void join_positions(const Joining *joining, const Positions *lists, int64_t parents) {
    int64_t lasts[DISTAL_MAX_PORTIONS + 1], last = -1;
    for (int p = 0; p < DISTAL_MAX_PORTIONS; p++) {
        lasts[p] = last;
        last = max_i64(last, last_parent(joining, lists, p));
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(joining->team)
    for (int p = 0; p < DISTAL_MAX_PORTIONS; p++)
        place_portion(joining, lists, p, lasts[p]);
    const int64_t total = joining->totals[lists->coordinates];
#pragma omp parallel for num_threads(entries_team(parents - last))
    for (int64_t parent = last + 1; parent <= parents; parent++)
        lists->pos[parent] = total;
}

static const char *join_level(Joining *joining, int l, int64_t parents, int above, int64_t factor) {
    StoredTensor *tensor = joining->tensor;
    const LevelFormat *format = tensor->levels[l].format;
    LevelArrays *level = &tensor->arrays[l];
    const AppendLists *all = &joining->appender->lists;
    Positions lists = {append_list(all, l, APPEND_PARENTS),
                       append_list(all, l, APPEND_BEGINS),
                       append_list(all, l, APPEND_COORDINATES),
                       above,
                       factor,
                       above < 0 ? tensor->arrays[0].first * factor / max_i64(tensor->arrays[0].extent, 1)
                                 : 0,
                       NULL};
    *level = stored_level(tensor, l);
    format->measure(level, parents, lists.coordinates < 0 ? 0 : joining->totals[lists.coordinates]);
    if (level->position_count == INT64_MAX)
        return arena_printf(joining->arena, "level %d (%s) would have more than 2^63 positions", l,
                            format->name);
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
        const LevelArrayKind kind = format->arrays[a].kind;
        const char *why = NULL;
        if (kind == LEVEL_ARRAY_NONE)
            continue;
        const bool positions = kind == LEVEL_ARRAY_POSITIONS;
        level->arrays[a] = allocate(joining, format->arrays[a].name, l,
                                    saturated_mul(level->lengths[a], positions || level->wide ? 8 : 4), &why);
        if (!level->arrays[a])
            return why;
        if (!positions) {
            join_coordinates(joining, lists.coordinates, level->arrays[a]);
            continue;
        }
        lists.pos = level->arrays[a];
        lists.pos[0] = 0;
        if (lists.begins >= 0)
            join_positions(joining, &lists, parents);
        else
            lists.pos[1] = joining->totals[lists.coordinates];
    }
    for (int i = 0; i < all->count; i++)
        if (all->lists[i].level == l)
            free_list(joining->appender, i);
    return NULL;
}

static const char *join_all(Joining *joining) {
    StoredTensor *tensor = joining->tensor;
    int64_t positions = 1, factor = 1;
    int above = -1;
    for (int l = 0; l < tensor->order; l++) {
        const char *why = join_level(joining, l, positions, above, factor);
        if (why)
            return why;
        const int list = append_list(&joining->appender->lists, l, APPEND_COORDINATES);
        positions = tensor->arrays[l].position_count;
        above = list < 0 ? above : list;
        factor = list < 0 ? saturated_mul(factor, tensor->arrays[l].extent) : 1;
    }
    const char *why = NULL;
    tensor->values = allocate(joining, "its values", -1,
                              saturated_mul(positions, (int64_t)type_info(tensor->type)->size), &why);
    tensor->value_count = tensor->values ? positions : 0;
    return why;
}

const char *appender_join(Appender *appender, StoredTensor *tensor, Arena *arena) {
    static const char no_memory[] = "not enough memory for its entries";
    for (int t = 0; t < appender->thread_count; t++)
        if (appender->threads[t]->failed || appender->threads[t]->set.failed)
            return no_memory;
    Joining joining = {.appender = appender, .tensor = tensor, .arena = arena};
    joining.bases = calloc(DISTAL_MAX_PORTIONS, sizeof *joining.bases);
    if (!joining.bases)
        return no_memory;
    find_bases(&joining);
    joining.team = entries_team(joining.totals[appender->lists.count - 1]);
    const char *why = join_all(&joining);
    free(joining.bases);
    return why;
}
