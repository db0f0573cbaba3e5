// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "format/sub_tree.h"
#include "plan/result_parts.h"
#include "plan/structures_data.h"

#include <string.h>

const char *operand_use(Structures *structures, const StatementPlan *plan, int transfer, Version *const *used,
                        int64_t rank, IndexedUse *use) {
    Arena *arena = structures->scratch;
    const int by = transfer_indexed_by(plan, transfer);
    Entries entries = {0};
    IndexedPoints points = {0};
    IndexedUse used_by;
    if (by < 0)
        return indexed_use(plan, transfer, rank, NULL, arena, use);
    const char *why = operand_use(structures, plan, by, used, rank, &used_by);
    if (!why) {
        const RectArray rects = selection_rects(&used_by.parts, arena);
        why = version_entries(structures, used[by], rects.count, list_rects(rects.count, rects.items, arena),
                              &entries);
    }
    if (!why)
        why = indexed_points(plan, transfer, rank, &entries, &points);
    entries_free(&entries);
    if (!why)
        why = indexed_use(plan, transfer, rank, &points, arena, use);
    entries_free(&points.points);
    return why;
}

// Appends the coordinates of entries in slices to those of a list that has room for them.
static const char *append_slices(const StoredTensor *tensor, const SliceArray *slices, Entries *to) {
    Entries found;
    const char *why = stored_unpack_slices(tensor, slices, &found);
    for (int d = 0; d < to->order && !why && found.count > 0; d++)
        memcpy(to->coordinates[d] + to->count, found.coordinates[d], sizeof(int64_t) * (size_t)found.count);
    to->count += why ? 0 : found.count;
    entries_free(&found);
    return why;
}

// The entries of the parts that a rank uses, in the order in which they arrive: by the ranks that have them.
static const char *receive(Structures *structures, Version *operand, int64_t rank, CopyMaking *making,
                           Entries *received) {
    Arena *arena = structures->scratch;
    const Selection *parts = &making->use.parts;
    const RectArray all = selection_rects(parts, arena);
    const Rect **rects = list_rects(all.count, all.items, arena);
    SubTreeLevel levels[MAX_ORDER];
    SliceArray *slices = arena_array(arena, SliceArray, parts->parts.count);
    const char *why = cutter_prepare(&operand->cutter, all.count, rects, structures->limit, arena);
    int64_t groups = 0;
    *received = (Entries){.type = operand->whole.type, .order = operand->whole.order};
    memcpy(received->extents, operand->whole.extents, sizeof received->extents);
    for (int64_t i = 0, end; i < parts->parts.count && !why; i = end, groups++) {
        const int64_t peer = parts->parts.items[i].peer;
        int64_t count = 0;
        end = selection_peer_end(parts, i);
        for (int64_t p = i; p < end; p++)
            count += part_rect_count(&parts->parts.items[p]);
        making->elements[peer] = cutter_cut(&operand->cutter, count, rects, arena, &slices[groups]);
        received->count += making->elements[peer];
        rects += count;
        sub_tree_measure(&operand->whole, slices[groups].count, slices[groups].items, levels);
        making->structure += peer == rank ? 0 : sub_tree_bytes(&operand->whole, levels);
    }
    if (!why)
        why = entries_allocate_within(received, structures->limit, arena);
    received->count = 0;
    for (int64_t g = 0; g < groups && !why; g++)
        why = append_slices(&operand->whole, &slices[g], received);
    return why;
}

// The entries at home in other levels.
static const char *convert(Structures *structures, Version *copy, int64_t rank, StoredTensor *to,
                           EntryMap *map) {
    StoredTensor local;
    const Region pieces = home_pieces(&copy->home, rank, structures->scratch);
    if (!home_stores_entries(&copy->home, pieces.rects.count))
        return NULL;
    stored_restrict(to, pieces.rects.count, pieces.rects.items);
    const char *why = version_local(structures, copy->of, rank, &local);
    if (!why)
        why = stored_convert(to, map, &local, to->mode_order, false, structures->limit, structures->arena);
    stored_free(&local);
    return why;
}

const char *copy_make(Structures *structures, Version *copy, int64_t rank, StoredTensor *to,
                      CopyMaking *making) {
    const StatementPlan *plan = copy->plan;
    Entries received = {0};
    EntryMap map = {0};
    const char *why;
    *to = home_stored_empty(&copy->home);
    *making = (CopyMaking){0};
    if (!plan->moves[copy->transfer]) {
        why = convert(structures, copy, rank, to, &map);
    } else {
        const Region used = footprint_of_steps(plan->footprints[copy->transfer], rank, structures->scratch);
        stored_restrict(to, used.rects.count, used.rects.items);
        making->elements = arena_array(structures->scratch, int64_t, plan->ranks);
        why = operand_use(structures, plan, copy->transfer, copy->used, rank, &making->use);
        if (!why)
            why = receive(structures, copy->of, rank, making, &received);
        if (!why)
            why = stored_pack_structure(to, &map, &received, structures->limit, structures->arena);
        entries_free(&received);
    }
    making->map_bytes = entry_map_bytes(&map);
    entry_map_free(&map);
    return why;
}

EntryCounts counts_create(Structures *structures, const StatementPlan *plan) {
    Arena *arena = structures->arena;
    return (EntryCounts){arena_array(arena, int64_t, plan->ranks), arena_array(arena, int64_t, plan->ranks),
                         arena_array(arena, int64_t, plan->ranks), arena_array(arena, int64_t, plan->ranks),
                         NULL};
}

void counts_keep(Structures *structures, int transfer, EntryCounts counts) {
    EntryFigures *figures = arena_new(structures->arena, EntryFigures);
    *figures =
        (EntryFigures){counts.elements, counts.messages, counts.structure, counts.buffers, counts.used};
    structures->moved[transfer] = figures;
}

void count_elements(const StatementPlan *plan, int transfer, int64_t rank, const int64_t *elements,
                    const EntryCounts *counts) {
    const int64_t size = (int64_t)type_info(plan->spmd->transfers[transfer].access->tensor->type)->size;
    const Cost cost = indexed_cost(plan, transfer, rank, elements);
    counts->elements[rank] = cost.elements;
    counts->messages[rank] = cost.messages;
    for (int64_t peer = 0; peer < plan->ranks; peer++)
        count_more(&counts->buffers[rank], saturated_mul(elements[peer], size));
}

// What has arrived of a result, by the rank that has it at home.
typedef struct {
    int64_t *entries;
    bool *sorted;  // entries are in the order of storage
    int64_t *last; // coordinates of the last one, in this order
} Arrived;

// The coordinates of the entry at a position, in the order of storage.
static const char *coordinates_at(const StoredTensor *tensor, int64_t position, int64_t *to) {
    Slice slice = {position, 1};
    Entries entry;
    const char *why = stored_unpack_slices(tensor, &(SliceArray){&slice, 1, 1}, &entry);
    for (int l = 0; l < tensor->order && !why; l++)
        to[l] = entry.coordinates[tensor->mode_order[l]][0];
    entries_free(&entry);
    return why;
}

// Entries in slices arrive, which are in the order of storage among themselves.
static const char *arrive(Arrived *arrived, int64_t rank, const StoredTensor *from, const SliceArray *slices,
                          int64_t count) {
    const Slice *end = &slices->items[slices->count - 1];
    int64_t *last = arrived->last + rank * MAX_ORDER, first[MAX_ORDER] = {0};
    const char *why = coordinates_at(from, slices->items[0].first, first);
    if (why)
        return why;
    int l = 0;
    while (l < from->order - 1 && first[l] == last[l])
        l++;
    if (arrived->entries[rank] > 0 && first[l] < last[l])
        arrived->sorted[rank] = false;
    arrived->entries[rank] += count;
    return coordinates_at(from, end->first + end->count - 1, last);
}

// What a rank has computed, and sends.
static const char *send_result(Structures *structures, const StatementPlan *plan, int transfer,
                               Version *computed, int64_t rank, const EntryCounts *counts, Arrived *arrived) {
    Arena *arena = structures->scratch;
    const int64_t size = (int64_t)type_info(computed->home.tensor->type)->size;
    StoredTensor local;
    SubTreeLevel levels[MAX_ORDER];
    arena_reset(arena);
    int64_t *elements = arena_array(arena, int64_t, plan->ranks);
    const ResultParts parts = result_parts(plan, computed->home.tensor, &computed->home, rank);
    const PartArray list = result_parts_list(&parts, arena);
    const Rect **rects = arena_array(arena, const Rect *, list.count);
    for (int64_t i = 0; i < list.count; i++)
        rects[i] = &list.items[i].rect;
    const char *why = version_local(structures, computed, rank, &local);
    Cutter cutter = {.tensor = &local};
    if (!why)
        why = cutter_prepare(&cutter, list.count, rects, structures->limit, arena);
    for (int64_t i = 0, end; i < list.count && !why; i = end) {
        const int64_t peer = list.items[i].peer;
        SliceArray slices = {0};
        for (end = i; end < list.count && list.items[end].peer == peer;)
            end++;
        elements[peer] = cutter_cut(&cutter, end - i, rects + i, arena, &slices);
        sub_tree_measure(&local, slices.count, slices.items, levels);
        count_more(&counts->structure[rank], peer == rank ? 0 : sub_tree_bytes(&local, levels));
        count_more(&counts->buffers[rank], slices.count * (int64_t)sizeof(Slice));
        if (slices.count > 0)
            why = arrive(arrived, peer, &local, &slices, elements[peer]);
    }
    cutter_free(&cutter);
    count_more(&counts->buffers[rank], stored_bytes(&local));
    count_elements(plan, transfer, rank, elements, counts);
    for (int64_t peer = 0; peer < plan->ranks; peer++)
        count_more(&counts->buffers[peer], saturated_mul(elements[peer], size));
    stored_free(&local);
    return why;
}

const char *count_result(Structures *structures, const StatementPlan *plan, int transfer, Version *computed,
                         const Version *home) {
    const EntryCounts counts = counts_create(structures, plan);
    const int64_t ranks = plan->ranks, size = (int64_t)type_info(home->home.tensor->type)->size;
    Arrived arrived = {arena_array(structures->arena, int64_t, ranks),
                       arena_array(structures->arena, bool, ranks),
                       arena_array(structures->arena, int64_t, saturated_mul(ranks, MAX_ORDER))};
    const char *why = NULL;
    memset(arrived.sorted, true, sizeof *arrived.sorted * (size_t)ranks);
    for (int64_t rank = 0; rank < ranks && !why; rank++)
        why = send_result(structures, plan, transfer, computed, rank, &counts, &arrived);
    // The map of the values that arrive, which may repeat.
    for (int64_t rank = 0; rank < ranks && !why; rank++) {
        const int64_t positions = max_i64(arrived.entries[rank], home->value_bytes[rank] / size);
        const int64_t numbers = saturated_mul(arrived.entries[rank], arrived.sorted[rank] ? 1 : 2);
        if (home->structure_bytes[rank] >= 0)
            count_more(&counts.buffers[rank], saturated_mul(numbers, positions > UINT32_MAX ? 8 : 4));
    }
    if (!why)
        counts_keep(structures, transfer, counts);
    return why;
}
