// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/entry_sharing.h"

#include "base/integer.h"
#include "format/cut.h"
#include "format/sub_tree.h"
#include "memory/memory.h"
#include "plan/indexed.h"
#include "runtime/load_sparse.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, SLICE_WORDS = sizeof(Slice) / WORD };

// Parts of one owner that a rank of the node uses and another one receives as aggregator.
typedef struct {
    int64_t member; // at the other end
    int64_t owner;
    int64_t begin, end; // parts
    SubTreeLevel levels[MAX_ORDER];
    SliceArray slices; // of the entries of the owner
} OwnerParts;
typedef Array(OwnerParts) OwnerPartsArray;

typedef struct {
    EntryMove *move;
    const PartSharing *sharing;
    const Storage *storage;
    const int64_t *words;
    int64_t limit;
    int64_t left; // of the limit, for what is there while entries are cut
    Entries *received;
    int ranks, members;
    const bool *aggregated;          // by rank
    OwnerPartsArray sends, receives; // by member, and of one member by owner; by owner
    StoredTensor *tensors;           // by rank that this one is the aggregator of, its entries
    ValueExchange numbers, messages; // of the levels and numbers of slices, and of words
    Arena *arena;
} Finding;

static const int64_t *received_counts(const Finding *finding) {
    return finding->move->values.receives;
}

static int order_of(const Finding *finding) {
    return finding->storage->stored.order;
}

static size_t size_of(const Finding *finding) {
    return type_info(finding->storage->type)->size;
}

static bool refuse(const Finding *finding, const char *why, Diagnostics *diagnostics) {
    return sparse_refuse(finding->storage, why, diagnostics);
}

static bool no_memory(const Finding *finding, Diagnostics *diagnostics) {
    return refuse(finding, "not enough memory for the entries that ranks of the node receive together",
                  diagnostics);
}

static void add_part(OwnerPartsArray *list, int64_t member, int64_t owner, int64_t part, Arena *arena) {
    OwnerParts *last = list->count > 0 ? &list->items[list->count - 1] : NULL;
    if (!last || last->member != member || last->owner != owner)
        array_push(arena, *list, ((OwnerParts){.member = member, .owner = owner, .begin = part}));
    list->items[list->count - 1].end = part + 1;
}

static void list_parts(Finding *finding) {
    const PartSharing *sharing = finding->sharing;
    const Selection *asked = &sharing->asked, *used = sharing->parts;
    int64_t member = 0, rects = 0; // of that member, up to the part
    for (int64_t p = 0; p < asked->parts.count; p++) {
        while (rects == sharing->rects[member]) {
            member++;
            rects = 0;
        }
        rects += part_rect_count(&asked->parts.items[p]);
        if (finding->aggregated[asked->parts.items[p].peer])
            add_part(&finding->sends, member, asked->parts.items[p].peer, p, finding->arena);
    }
    for (int64_t p = 0; p < used->parts.count; p++)
        if (sharing->sources[p] >= 0)
            add_part(&finding->receives, sharing->sources[p], used->parts.items[p].peer, p, finding->arena);
}

// The rectangles of parts of a selection.
static const Rect **rects_of(const Selection *selection, const OwnerParts *parts, int64_t *count,
                             Arena *arena) {
    int64_t next = 0;
    *count = 0;
    for (int64_t p = parts->begin; p < parts->end; p++)
        *count += part_rect_count(&selection->parts.items[p]);
    Rect *rects = arena_array(arena, Rect, *count);
    const Rect **list = arena_array(arena, const Rect *, *count);
    for (int64_t p = parts->begin; p < parts->end; p++)
        for (int64_t r = 0; r < part_rect_count(&selection->parts.items[p]); r++, next++) {
            rects[next] = part_rect(selection, &selection->parts.items[p], r);
            list[next] = &rects[next];
        }
    return list;
}

// The entries of an owner, which are in the order of storage, as a tensor in which the positions are those of
// the list.
static const char *store_entries(Finding *finding, int64_t owner, int64_t first) {
    StoredTensor *tensor = &finding->tensors[owner];
    Entries entries = *finding->received;
    EntryMap map;
    entries.count = received_counts(finding)[owner];
    for (int d = 0; d < entries.order; d++)
        entries.coordinates[d] += first;
    *tensor = stored_compressed(&finding->storage->stored, entries.type, finding->storage->stored.mode_order);
    const char *why = stored_pack_structure(tensor, &map, &entries, finding->left, finding->arena);
    entry_map_free(&map);
    if (!why)
        finding->left = max_i64(finding->left - stored_structure_bytes(tensor), 0);
    return why;
}

// What each rank uses of an owner.
static const char *cut_entries(const Finding *finding, int64_t owner) {
    const StoredTensor *tensor = &finding->tensors[owner];
    Cutter cutter = {.tensor = tensor};
    const char *why = NULL;
    for (int64_t i = 0; i < finding->sends.count && !why; i++) {
        OwnerParts *parts = &finding->sends.items[i];
        int64_t count;
        if (parts->owner != owner)
            continue;
        const Rect **rects = rects_of(&finding->sharing->asked, parts, &count, finding->arena);
        why = cutter_prepare(&cutter, count, rects, finding->left, finding->arena);
        if (why)
            break;
        cutter_cut(&cutter, count, rects, finding->arena, &parts->slices);
        sub_tree_measure(tensor, parts->slices.count, parts->slices.items, parts->levels);
    }
    cutter_free(&cutter);
    return why;
}

// What one rank receives of an owner for each of the others.
static bool cut_received(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    Arena *arena = finding->arena = arena_create_within(diagnostics->arena);
    const int numbers = 2 * order_of(finding) + 1;
    int64_t first = 0;
    const char *why = NULL;
    finding->left = finding->limit - entries_bytes(finding->received, finding->received->count);
    finding->left = max_i64(finding->left - entry_move_bytes(finding->move), 0);
    finding->aggregated = part_sharing_aggregated(finding->sharing, finding->ranks);
    finding->tensors = arena_array(arena, StoredTensor, finding->ranks);
    list_parts(finding);
    for (int owner = 0; owner < finding->ranks && !why; owner++) {
        if (finding->aggregated[owner]) {
            why = store_entries(finding, owner, first);
            if (!why)
                why = cut_entries(finding, owner);
        }
        first += received_counts(finding)[owner];
    }
    if (why)
        return refuse(finding, why, diagnostics);
    int64_t *sends = arena_array(arena, int64_t, finding->members),
            *receives = arena_array(arena, int64_t, finding->members);
    for (int64_t i = 0; i < finding->sends.count; i++)
        sends[finding->sends.items[i].member] += numbers;
    for (int64_t i = 0; i < finding->receives.count; i++)
        receives[finding->receives.items[i].member] += numbers;
    if (!value_exchange_create(&finding->numbers, TYPE_I64, EXCHANGE_MESSAGE_BYTES, sends, receives,
                               finding->sharing->neighbours->node) ||
        !value_exchange_allocate(&finding->numbers))
        return no_memory(finding, diagnostics);
    int64_t *to = (int64_t *)finding->numbers.outgoing;
    for (int64_t i = 0; i < finding->sends.count; i++) {
        const OwnerParts *parts = &finding->sends.items[i];
        for (int l = 0; l < order_of(finding); l++) {
            *to++ = parts->levels[l].nodes;
            *to++ = parts->levels[l].runs;
        }
        *to++ = parts->slices.count;
    }
    return true;
}

// Where the numbers or words of each member begin.
static const char **places_of(const Finding *finding, const ValueExchange *exchange) {
    const char **from = arena_array(finding->arena, const char *, finding->members);
    for (int m = 0; m < finding->members; m++)
        from[m] = value_exchange_from(exchange, m);
    return from;
}

static void read_numbers(Finding *finding) {
    const char **from = places_of(finding, &finding->numbers);
    for (int64_t i = 0; i < finding->receives.count; i++) {
        OwnerParts *parts = &finding->receives.items[i];
        const int64_t *number = (const int64_t *)from[parts->member];
        for (int l = 0; l < order_of(finding); l++) {
            parts->levels[l].nodes = *number++;
            parts->levels[l].runs = *number++;
        }
        parts->slices.count = *number++;
        from[parts->member] = (const char *)number;
    }
}

static int64_t tree_bytes(const Finding *finding, const OwnerParts *parts) {
    return sub_tree_bytes(&finding->storage->stored, parts->levels);
}

static int64_t *count_words(const Finding *finding, const OwnerPartsArray *list) {
    int64_t *words = arena_array(finding->arena, int64_t, finding->members);
    for (int64_t i = 0; i < list->count; i++)
        words[list->items[i].member] +=
            tree_bytes(finding, &list->items[i]) / WORD + SLICE_WORDS * list->items[i].slices.count;
    return words;
}

// Where the elements of each owner will be in the buffer of this rank as aggregator; and behind the last
// owner, how many there are.
static int64_t *find_places(const Finding *finding) {
    int64_t *places = arena_array(finding->arena, int64_t, finding->ranks + 1);
    for (int owner = 0; owner < finding->ranks; owner++)
        places[owner + 1] =
            places[owner] + (finding->aggregated[owner] ? received_counts(finding)[owner] : 0);
    return places;
}

static bool create_buffer(const Finding *finding, const int64_t *places) {
    EntryMove *move = finding->move;
    const int64_t size = (int64_t)size_of(finding);
    if (!shared_buffer_create(&move->sharing.buffer, finding->sharing->reading, finding->sharing->transfer,
                              places[finding->ranks] * size))
        return false;
    for (int owner = 0; move->sharing.buffer.memory && owner < finding->ranks; owner++)
        if (finding->aggregated[owner])
            move->values.received_at[owner] = move->sharing.buffer.memory + places[owner] * size;
    return true;
}

// Whether so many bytes more than what stays between executions are within the limit.
static bool fits(const Finding *finding, int64_t bytes) {
    const int64_t words = saturated_mul(value_exchange_buffer(&finding->messages), WORD);
    const int64_t lists = entries_bytes(finding->received, finding->received->count);
    return saturated_add(saturated_add(entry_move_bytes(finding->move), words),
                         saturated_add(lists, bytes)) <= finding->limit;
}

static bool write_messages(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    const int64_t *places = find_places(finding);
    read_numbers(finding);
    if (!value_exchange_create(
            &finding->messages, TYPE_I32, EXCHANGE_MESSAGE_BYTES, count_words(finding, &finding->sends),
            count_words(finding, &finding->receives), finding->sharing->neighbours->node) ||
        !fits(finding, 0) || !value_exchange_allocate(&finding->messages) || !create_buffer(finding, places))
        return no_memory(finding, diagnostics);
    char *to = finding->messages.outgoing;
    for (int64_t i = 0; i < finding->sends.count; i++) {
        const OwnerParts *parts = &finding->sends.items[i];
        sub_tree_write(&finding->tensors[parts->owner], parts->slices.count, parts->slices.items,
                       parts->levels, to);
        to += tree_bytes(finding, parts);
        for (int64_t s = 0; s < parts->slices.count; s++, to += sizeof(Slice)) {
            Slice slice = parts->slices.items[s];
            slice.first += places[parts->owner];
            memcpy(to, &slice, sizeof slice);
        }
    }
    return true;
}

// Elements that this rank uses, by owner.
static int64_t *count_elements(const Finding *finding) {
    int64_t *elements = arena_array(finding->arena, int64_t, finding->ranks);
    for (int owner = 0; owner < finding->ranks; owner++)
        elements[owner] = finding->aggregated[owner] ? 0 : received_counts(finding)[owner];
    for (int64_t i = 0; i < finding->receives.count; i++)
        elements[finding->receives.items[i].owner] =
            finding->receives.items[i].levels[order_of(finding) - 1].nodes;
    return elements;
}

static bool allocate(Finding *finding, const int64_t *elements, Entries *all) {
    EntryMove *move = finding->move;
    EntrySharing *sharing = &move->sharing;
    for (int owner = 0; owner < finding->ranks; owner++)
        all->count = saturated_add(all->count, elements[owner]);
    sharing->arrived_count = all->count;
    for (int64_t i = 0; i < finding->receives.count; i++)
        sharing->slice_count += finding->receives.items[i].slices.count;
    sharing->arrived = memory_allocate(MEMORY_HOST, sharing->arrived_count, finding->storage->type);
    if (!sharing->arrived)
        return false;
    const char *at = sharing->arrived;
    for (int owner = 0; owner < finding->ranks; at += (size_t)elements[owner++] * size_of(finding))
        if (!finding->aggregated[owner])
            move->values.received_at[owner] = (char *)at;
    sharing->entries = calloc((size_t)finding->receives.count + 1, sizeof *sharing->entries);
    sharing->slices = memory_allocate(MEMORY_HOST, 2 * sharing->slice_count, TYPE_I64);
    return sharing->entries && sharing->slices && fits(finding, entries_bytes(all, all->count)) &&
           value_exchange_allocate(&move->values) && !entries_allocate(all);
}

// Takes over what came to this rank for itself.
static void copy_received(const Finding *finding, const int64_t *elements, Entries *all) {
    int64_t from = 0, to = 0;
    for (int owner = 0; owner < finding->ranks; owner++) {
        const int64_t count = received_counts(finding)[owner];
        for (int d = 0; d < all->order && count > 0 && !finding->aggregated[owner]; d++)
            memcpy(all->coordinates[d] + to, finding->received->coordinates[d] + from,
                   sizeof(int64_t) * (size_t)count);
        from += count;
        to += elements[owner];
    }
}

// And what aggregators have received for it.
static bool read_messages(const Finding *finding, const int64_t *elements, Entries *all) {
    EntrySharing *sharing = &finding->move->sharing;
    const char **from = places_of(finding, &finding->messages);
    int64_t first = 0, owner = 0, slices = 0;
    for (int64_t i = 0; i < finding->receives.count; i++) {
        const OwnerParts *parts = &finding->receives.items[i];
        const size_t bytes = sizeof(Slice) * (size_t)parts->slices.count;
        while (owner < parts->owner)
            first += elements[owner++];
        SharedEntries *entries = &sharing->entries[sharing->entries_count++];
        *entries = (SharedEntries){NULL, parts->slices.count, first, elements[owner]};
        sub_tree_read(&finding->storage->stored, parts->levels, (char *)from[parts->member], all, first);
        from[parts->member] += tree_bytes(finding, parts);
        if (bytes > 0)
            memcpy(sharing->slices + slices, from[parts->member], bytes);
        from[parts->member] += bytes;
        slices += parts->slices.count;
        if (entries->count > 0)
            entries->buffer = shared_buffer_map(&sharing->buffer, finding->sharing->plan, parts->member);
        if (entries->count > 0 && !entries->buffer)
            return false;
    }
    return true;
}

static bool take_messages(void *arguments, Diagnostics *diagnostics) {
    Finding *finding = arguments;
    EntryMove *move = finding->move;
    const PartSharing *sharing = finding->sharing;
    const int64_t *elements = count_elements(finding);
    Entries all = storage_no_entries(finding->storage);
    const bool ok = allocate(finding, elements, &all);
    if (ok)
        copy_received(finding, elements, &all);
    const bool mapped = ok && read_messages(finding, elements, &all);
    entries_free(finding->received);
    *finding->received = all;
    if (!ok || !mapped)
        return ok ? reading_refuse_map(sharing->reading, diagnostics) : no_memory(finding, diagnostics);
    move->received = indexed_cost(sharing->plan, sharing->transfer, finding->storage->rank, elements);
    move->structure_bytes_received = 0;
    for (int owner = 0; owner < finding->ranks; owner++)
        if (owner != finding->storage->rank && !finding->aggregated[owner])
            move->structure_bytes_received += WORD * finding->words[owner];
    for (int64_t i = 0; i < finding->receives.count; i++)
        move->structure_bytes_received += tree_bytes(finding, &finding->receives.items[i]);
    return true;
}

static void free_tensors(const Finding *finding) {
    for (int owner = 0; finding->tensors && owner < finding->ranks; owner++)
        stored_free(&finding->tensors[owner]);
}

// Collective over the ranks of a node.
static bool find(Finding *finding, Diagnostics *diagnostics) {
    const MPI_Comm node = finding->sharing->neighbours->node;
    finding->members = finding->sharing->neighbours->count;
    bool ok = agree_on_part(node, cut_received, finding, diagnostics);
    if (ok)
        value_exchange_run(&finding->numbers);
    ok = ok && agree_on_part(node, write_messages, finding, diagnostics);
    free_tensors(finding);
    if (ok) {
        value_exchange_run(&finding->messages);
        shared_buffer_exchange(&finding->move->sharing.buffer);
    }
    ok = ok && agree_on_part(node, take_messages, finding, diagnostics);
    value_exchange_free(&finding->messages);
    value_exchange_free(&finding->numbers);
    arena_free(finding->arena);
    return ok;
}

bool entry_sharing_find(EntryMove *move, const PartSharing *sharing, const int64_t *words, int64_t limit,
                        Entries *received, MPI_Comm comm, Diagnostics *diagnostics) {
    Finding finding = {.move = move,
                       .sharing = sharing,
                       .storage = sharing->storage,
                       .words = words,
                       .limit = limit,
                       .received = received};
    if (!transfer_shares_parts(sharing->plan, sharing->transfer))
        return true;
    MPI_Comm_size(comm, &finding.ranks);
    return agree_on(comm, !sharing->neighbours || find(&finding, diagnostics), diagnostics);
}

void entry_sharing_free(EntrySharing *sharing) {
    shared_buffer_free(&sharing->buffer);
    memory_release(MEMORY_HOST, sharing->arrived);
    memory_release(MEMORY_HOST, sharing->slices);
    free(sharing->entries);
    *sharing = (EntrySharing){0};
}
