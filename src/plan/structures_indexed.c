// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "plan/neighbours.h"
#include "plan/shared_parts.h"
#include "plan/structures_data.h"

#include <string.h>

// What a rank uses of an owner in an indexed fetch, and the bytes that are copied at both ends where it is in
// a message to this rank.
typedef struct {
    int64_t rank, owner;
    int64_t leaving, arriving;
} IndexedMessage;

// What the ranks of nodes ask one of them for, as its receiver (plan/shared_parts.h).
typedef struct {
    Selection asked;
    Array(int64_t) messages; // by part of that
} Asked;

// An indexed fetch while it is counted.
typedef struct {
    const StatementPlan *plan;
    int transfer;
    const Home *home;
    int64_t size; // of an element
    Arena *arena;
    Array(IndexedMessage) messages;
    const Nodes *nodes;
    Asked *asked; // by rank; NULL: none receives for others
} IndexedCounting;

static int64_t end_of_peer(const Selection *selection, int64_t first) {
    int64_t end = first;
    while (end < selection->parts.count &&
           selection->parts.items[end].peer == selection->parts.items[first].peer)
        end++;
    return end;
}

// Asks the receiver of the rank for what it uses of an owner of another node.
static void ask_receiver(const IndexedCounting *counting, const IndexedMessage *message,
                         const Selection *parts, int64_t first, int64_t end) {
    const int64_t number =
        counting->asked ? nodes_receiver(counting->nodes, message->rank, message->owner) : -1;
    if (number < 0)
        return;
    const int64_t node = counting->nodes->nodes[message->rank];
    Asked *asked = &counting->asked[counting->nodes->members[counting->nodes->first[node] + number]];
    asked->asked.mode_count = parts->mode_count;
    memcpy(asked->asked.modes, parts->modes, sizeof parts->modes);
    for (int64_t p = first; p < end; p++) {
        selection_append(&asked->asked, parts, p, counting->arena);
        array_push(counting->arena, asked->messages, counting->messages.count - 1);
    }
}

static void count_use(IndexedCounting *counting, int64_t rank, const IndexedUse *use, const int64_t *elements,
                      int64_t *buffers) {
    const Selection *parts = &use->parts;
    for (int64_t i = 0, end; i < parts->parts.count; i = end) {
        const int64_t peer = parts->parts.items[i].peer;
        end = end_of_peer(parts, i);
        if (neighbours_gather_from(counting->plan, counting->transfer, rank, peer))
            continue;
        const int64_t bytes = saturated_mul(elements[peer], counting->size);
        const IndexedMessage message = {
            rank, peer, indexed_leaves_home(parts, counting->home, i, end - i) ? 0 : bytes,
            indexed_arrives_in_view(use, parts, counting->home->tensor, i, end - i) ? 0 : bytes};
        array_push(counting->arena, counting->messages, message);
        ask_receiver(counting, &message, parts, i, end);
    }
    count_more(&buffers[rank], saturated_mul(indexed_buffer(use), counting->size));
    count_more(&buffers[rank], indexed_number_bytes(counting->plan, counting->transfer, use));
}

// What a rank receives for its node: its block, and what is copied where it leaves. What is in it is in no
// message to another rank.
static void count_received(const IndexedCounting *counting, int64_t rank, Arena *scratch, int64_t *buffers) {
    const Asked *asked = &counting->asked[rank];
    const Selection *parts = &asked->asked;
    int64_t rects = 0;
    arena_reset(scratch);
    for (int64_t p = 0; p < parts->parts.count; p++)
        rects += part_rect_count(&parts->parts.items[p]);
    SharedRun *runs = arena_array(scratch, SharedRun, rects);
    Selection received = {0};
    const int64_t elements = shared_parts_find(parts, scratch, &received, runs);
    count_more(&buffers[rank], saturated_mul(elements, counting->size));
    for (int64_t i = 0, end; i < received.parts.count; i = end) {
        int64_t leaving = 0;
        end = end_of_peer(&received, i);
        for (int64_t p = i; p < end; p++)
            leaving += part_volume(&received, &received.parts.items[p]);
        if (!indexed_leaves_home(&received, counting->home, i, end - i))
            count_more(&buffers[received.parts.items[i].peer], saturated_mul(leaving, counting->size));
    }
    for (int64_t p = 0; p < parts->parts.count; runs += part_rect_count(&parts->parts.items[p++])) {
        IndexedMessage *message = &counting->messages.items[asked->messages.items[p]];
        if (runs->offset >= 0)
            message->leaving = message->arriving = 0;
    }
}

static void count_messages(const IndexedCounting *counting, Arena *scratch, int64_t *buffers) {
    for (int64_t rank = 0; counting->asked && rank < counting->plan->ranks; rank++)
        count_received(counting, rank, scratch, buffers);
    for (int64_t m = 0; m < counting->messages.count; m++) {
        const IndexedMessage *message = &counting->messages.items[m];
        count_more(&buffers[message->owner], message->leaving);
        count_more(&buffers[message->rank], message->arriving);
    }
}

static IndexedCounting counting_create(Structures *structures, const StatementPlan *plan, int transfer) {
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].access->tensor->id];
    IndexedCounting counting = {.plan = plan,
                                .transfer = transfer,
                                .home = home,
                                .nodes = plan->plan->nodes,
                                .size = (int64_t)type_info(home->tensor->type)->size,
                                .arena = arena_create_within(structures->arena)};
    if (transfer_shares_parts(plan, transfer))
        counting.asked = arena_array(counting.arena, Asked, plan->ranks);
    return counting;
}

const char *count_indexed(Structures *structures, const StatementPlan *plan, int transfer,
                          Version *const *used) {
    const EntryCounts counts = counts_create(structures, plan);
    int64_t *requests = arena_array(structures->arena, int64_t, plan->ranks);
    IndexedCounting counting = counting_create(structures, plan, transfer);
    const char *why = NULL;
    for (int64_t rank = 0; rank < plan->ranks && !why; rank++) {
        IndexedUse use;
        arena_reset(structures->scratch);
        int64_t *elements = arena_array(structures->scratch, int64_t, plan->ranks);
        why = operand_use(structures, plan, transfer, used, rank, &use);
        if (why)
            break;
        for (int64_t i = 0; i < use.parts.parts.count; i++) {
            const SelectedPart *part = &use.parts.parts.items[i];
            elements[part->peer] += part_volume(&use.parts, part);
            requests[rank] += part_numbers(&use.parts, part) * (int64_t)sizeof(int64_t);
        }
        count_use(&counting, rank, &use, elements, counts.buffers);
        const Cost cost = indexed_cost(plan, transfer, rank, elements);
        counts.elements[rank] = cost.elements;
        counts.messages[rank] = cost.messages;
    }
    if (!why) {
        count_messages(&counting, structures->scratch, counts.buffers);
        counts_keep(structures, transfer, counts);
        structures->requests[transfer] = requests;
    }
    arena_free(counting.arena);
    return why;
}
