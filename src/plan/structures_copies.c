// SPDX-License-Identifier: BSD-3-Clause
// Copies of sparse operands, which are made of entries that other ranks have: what these keep to send, and
// what ranks of a node receive together (plan/shared_parts.h).
#include "base/integer.h"
#include "plan/shared_parts.h"
#include "plan/structures_data.h"

typedef Array(int64_t) CountArray;

// The requests that each rank gets: for each message of values that it sends, the number of parts, and these.
typedef struct {
    Arena *arena;
    Selection none; // without parts, with the modes of their runs
    CountArray *by; // the rank that gets them
} Requests;

// What a rank uses of one owner.
typedef struct {
    int64_t rank, owner;
    int64_t begin, end; // parts of the requests to the aggregator
    int64_t elements;
} OwnerUse;

// What the ranks of a node request of one of them as their aggregator.
typedef struct {
    Selection requests;
    Array(OwnerUse) uses;
} Aggregated;

// The copies of an operand while they are counted, node by node where ranks of a node share parts, else rank
// by rank.
typedef struct {
    Structures *structures;
    Version *copy;
    bool puts_values; // into the result
    int64_t size;     // of an element
    EntryCounts counts;
    Requests requests;
    Arena *arena;           // of one node
    Aggregated *aggregated; // by member of the node; NULL: ranks share nothing
} CopyCounting;

// The owner of parts, from number `begin` to before `end`, sends them in a message of so many elements.
static void count_message(CopyCounting *counting, const Selection *parts, int64_t begin, int64_t end,
                          int64_t elements) {
    Requests *requests = &counting->requests;
    const int64_t owner = parts->parts.items[begin].peer;
    CountArray *to = &requests->by[owner];
    requests->none = selection_like(parts);
    count_more(&counting->counts.buffers[owner], saturated_mul(elements, counting->size));
    array_push(requests->arena, *to, end - begin);
    for (int64_t p = begin; p < end; p++) {
        const int64_t numbers = part_numbers(parts, &parts->parts.items[p]);
        for (int64_t n = 0; n < numbers; n++)
            array_push(requests->arena, *to, 0);
        part_write(parts, &parts->parts.items[p], to->items + to->count - numbers);
    }
}

// Reads the requests that a rank gets. The number of rectangles of each message is appended to `counts`.
static RectArray read_requests(const Requests *requests, int64_t rank, int order, CountArray *counts,
                               Arena *arena) {
    const int64_t *from = requests->by[rank].items, *end = from + requests->by[rank].count;
    Selection selection = requests->none;
    while (from < end) {
        const int64_t first = selection.parts.count;
        int64_t rects = 0;
        for (int64_t parts = *from++; parts > 0; parts--)
            from = part_read(&selection, from, order, 0, arena);
        for (int64_t i = first; i < selection.parts.count; i++)
            rects += part_rect_count(&selection.parts.items[i]);
        array_push(arena, *counts, rects);
    }
    return selection_rects(&selection, arena);
}

// The slices of values that a rank keeps to send them.
static const char *count_slices(const CopyCounting *counting, int64_t rank) {
    Structures *structures = counting->structures;
    const Requests *requests = &counting->requests;
    Arena *arena = structures->scratch;
    StoredTensor local;
    CountArray counts = {0};
    arena_reset(arena);
    if (requests->by[rank].count == 0)
        return NULL;
    const char *why = version_local(structures, counting->copy->of, rank, &local);
    Cutter cutter = {.tensor = &local};
    const RectArray all = read_requests(requests, rank, local.order, &counts, arena);
    const Rect **rects = list_rects(all.count, all.items, arena);
    if (!why)
        why = cutter_prepare(&cutter, all.count, rects, structures->limit, arena);
    for (int64_t i = 0; i < counts.count && !why; rects += counts.items[i++]) {
        SliceArray slices = {0};
        cutter_cut(&cutter, counts.items[i], rects, arena, &slices);
        count_more(&counting->counts.buffers[rank], saturated_mul(slices.count, (int64_t)sizeof(Slice)));
    }
    cutter_free(&cutter);
    stored_free(&local);
    return why;
}

// Those whose aggregator is on the node of the rank request it there.
static void request_parts(CopyCounting *counting, int64_t rank, const CopyMaking *making) {
    const Selection *parts = &making->use.parts;
    for (int64_t i = 0, end; i < parts->parts.count; i = end) {
        const int64_t owner = parts->parts.items[i].peer;
        const int64_t aggregator =
            counting->aggregated ? nodes_aggregator(counting->copy->plan->plan->nodes, rank, owner) : -1;
        end = selection_peer_end(parts, i);
        if (aggregator < 0) {
            count_message(counting, parts, i, end, making->elements[owner]);
            continue;
        }
        Aggregated *to = &counting->aggregated[aggregator];
        if (to->requests.parts.count == 0)
            to->requests = selection_like(parts);
        const int64_t begin = to->requests.parts.count;
        for (int64_t p = i; p < end; p++)
            selection_append(&to->requests, parts, p, counting->arena);
        array_push(counting->arena, to->uses,
                   ((OwnerUse){rank, owner, begin, to->requests.parts.count, making->elements[owner]}));
    }
}

static const char *count_rank_copy(CopyCounting *counting, int64_t rank) {
    Structures *structures = counting->structures;
    Version *copy = counting->copy;
    const EntryCounts *counts = &counting->counts;
    StoredTensor to;
    CopyMaking making;
    arena_reset(structures->scratch);
    const char *why = copy_make(structures, copy, rank, &to, &making);
    if (!why) {
        count_more(&counts->buffers[rank], making.map_bytes);
        count_more(&counts->buffers[rank],
                   counting->puts_values ? stored_structure_bytes(&to) : stored_bytes(&to));
        counts->structure[rank] = making.structure;
        counts->used[rank] = stored_count(&to);
    }
    if (!why && making.elements) {
        count_elements(copy->plan, copy->transfer, rank, making.elements, counts);
        request_parts(counting, rank, &making);
    }
    stored_free(&to);
    return why;
}

// The entries in parts of one owner, as slices of the operand. In the arena of the node.
static const char *cut_parts(const CopyCounting *counting, const Selection *parts, int64_t begin, int64_t end,
                             SliceArray *slices, int64_t *elements) {
    Structures *structures = counting->structures;
    Version *operand = counting->copy->of;
    Selection chosen = selection_like(parts);
    arena_reset(structures->scratch);
    for (int64_t p = begin; p < end; p++)
        selection_append(&chosen, parts, p, structures->scratch);
    const RectArray all = selection_rects(&chosen, structures->scratch);
    const Rect **rects = list_rects(all.count, all.items, structures->scratch);
    const char *why =
        cutter_prepare(&operand->cutter, all.count, rects, structures->limit, structures->scratch);
    *slices = (SliceArray){0};
    *elements = why ? 0 : cutter_cut(&operand->cutter, all.count, rects, counting->arena, slices);
    return why;
}

// The number of slices that some entries are in where there are no others than in slices that contain these.
static int64_t count_within(const SliceArray *slices, const SliceArray *all) {
    int64_t count = slices->count, a = 0;
    for (int64_t s = 1; s < slices->count; s++) {
        const int64_t before = slices->items[s - 1].first + slices->items[s - 1].count;
        while (all->items[a].first + all->items[a].count <= before)
            a++;
        count -= all->items[a].first >= slices->items[s].first;
    }
    return count;
}

// What a rank receives as aggregator: its buffer, what the owners send, and the slices of the buffer that
// each rank keeps.
static const char *count_received(CopyCounting *counting, int64_t rank, const Aggregated *aggregated) {
    int64_t *buffers = counting->counts.buffers;
    const Selection *requests = &aggregated->requests;
    const char *why = NULL;
    if (requests->parts.count == 0)
        return NULL;
    const SharedParts shared = shared_parts_find(requests, &counting->copy->of->home, counting->arena);
    SliceArray *received = arena_array(counting->arena, SliceArray, counting->copy->plan->ranks);
    bool *is_shared = arena_array(counting->arena, bool, counting->copy->plan->ranks);
    for (int64_t i = 0, end; i < shared.parts.parts.count && !why; i = end) {
        const int64_t owner = shared.parts.parts.items[i].peer;
        int64_t elements;
        end = selection_peer_end(&shared.parts, i);
        why = cut_parts(counting, &shared.parts, i, end, &received[owner], &elements);
        is_shared[owner] = true;
        count_more(&buffers[rank], saturated_mul(elements, counting->size));
        count_message(counting, &shared.parts, i, end, elements);
    }
    for (int64_t u = 0; u < aggregated->uses.count && !why; u++) {
        const OwnerUse *use = &aggregated->uses.items[u];
        SliceArray slices;
        int64_t elements;
        if (!is_shared[use->owner]) {
            count_message(counting, requests, use->begin, use->end, use->elements);
            continue;
        }
        why = cut_parts(counting, requests, use->begin, use->end, &slices, &elements);
        if (!why)
            count_more(&buffers[use->rank],
                       saturated_mul(count_within(&slices, &received[use->owner]), (int64_t)sizeof(Slice)));
    }
    return why;
}

static const char *count_ranks(CopyCounting *counting, int64_t count, const int64_t *ranks) {
    const char *why = NULL;
    arena_reset(counting->arena);
    counting->aggregated = count > 1 ? arena_array(counting->arena, Aggregated, count) : NULL;
    for (int64_t i = 0; i < count && !why; i++)
        why = count_rank_copy(counting, ranks[i]);
    for (int64_t i = 0; counting->aggregated && i < count && !why; i++)
        why = count_received(counting, ranks[i], &counting->aggregated[i]);
    return why;
}

const char *count_copy(Structures *structures, Version *copy, bool puts_values) {
    const StatementPlan *plan = copy->plan;
    const Nodes *nodes = transfer_shares_parts(plan, copy->transfer) ? plan->plan->nodes : NULL;
    CopyCounting counting = {.structures = structures,
                             .copy = copy,
                             .puts_values = puts_values,
                             .size = (int64_t)type_info(copy->home.tensor->type)->size,
                             .counts = counts_create(structures, plan),
                             .requests = {.arena = arena_create_within(structures->arena)},
                             .arena = arena_create_within(structures->arena)};
    counting.counts.used = arena_array(structures->arena, int64_t, plan->ranks);
    counting.requests.by =
        arena_alloc_items(counting.requests.arena, plan->ranks, sizeof *counting.requests.by);
    const char *why = NULL;
    for (int64_t n = 0; n < plan->ranks && !why; n++)
        why = nodes ? count_ranks(&counting, nodes->first[n + 1] - nodes->first[n],
                                  nodes->members + nodes->first[n])
                    : count_ranks(&counting, 1, &n);
    for (int64_t rank = 0; rank < plan->ranks && !why; rank++)
        why = count_slices(&counting, rank);
    arena_free(counting.arena);
    arena_free(counting.requests.arena);
    if (!why)
        counts_keep(structures, copy->transfer, counting.counts);
    return why;
}
