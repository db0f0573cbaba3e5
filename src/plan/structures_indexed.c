// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "plan/neighbours.h"
#include "plan/shared_parts.h"
#include "plan/structures_data.h"

// What a rank uses of an owner in an indexed fetch, and the bytes that are copied at both ends where it is in
// a message to this rank.
typedef struct {
    int64_t rank, owner;
    int64_t leaving, arriving;
} IndexedMessage;
typedef Array(IndexedMessage) IndexedMessageArray;

// What the ranks of a node request of one of them as their aggregator (plan/shared_parts.h).
typedef struct {
    Selection requests;
    Array(int64_t) messages; // by part of these
} Aggregated;

// An indexed fetch while it is counted, node by node where ranks of a node share parts, else rank by rank.
typedef struct {
    const StatementPlan *plan;
    int transfer;
    const Home *home;
    int64_t size; // of an element
    EntryCounts counts;
    int64_t *requests; // by rank, bytes of what it requests
    Arena *arena;      // of one node
    IndexedMessageArray messages;
    Aggregated *aggregated; // by member of the node; NULL: ranks share nothing
} IndexedCounting;

// Requests what the rank uses of an owner of another node from its aggregator.
static void request_shared(const IndexedCounting *counting, const IndexedMessage *message,
                           const Selection *parts, int64_t first, int64_t end) {
    const int64_t aggregator =
        counting->aggregated ? nodes_aggregator(counting->plan->plan->nodes, message->rank, message->owner)
                             : -1;
    if (aggregator < 0)
        return;
    Aggregated *to = &counting->aggregated[aggregator];
    if (to->requests.parts.count == 0)
        to->requests = selection_like(parts);
    for (int64_t p = first; p < end; p++) {
        selection_append(&to->requests, parts, p, counting->arena);
        array_push(counting->arena, to->messages, counting->messages.count - 1);
    }
}

static void count_use(IndexedCounting *counting, int64_t rank, const IndexedUse *use, Arena *scratch) {
    const StatementPlan *plan = counting->plan;
    const Selection *parts = &use->parts;
    const int64_t *elements = selection_elements(parts, plan->ranks, scratch);
    for (int64_t i = 0, end; i < parts->parts.count; i = end) {
        const int64_t peer = parts->parts.items[i].peer;
        end = selection_peer_end(parts, i);
        for (int64_t p = i; p < end; p++)
            counting->requests[rank] +=
                part_numbers(parts, &parts->parts.items[p]) * (int64_t)sizeof(int64_t);
        if (neighbours_gather_from(plan, counting->transfer, rank, peer))
            continue;
        const int64_t bytes = saturated_mul(elements[peer], counting->size);
        const IndexedMessage message = {
            rank, peer, indexed_leaves_home(parts, counting->home, i, end - i) ? 0 : bytes,
            indexed_arrives_in_view(use, parts, counting->home->tensor, i, end - i) ? 0 : bytes};
        array_push(counting->arena, counting->messages, message);
        request_shared(counting, &message, parts, i, end);
    }
    int64_t *buffer = &counting->counts.buffers[rank];
    count_more(buffer, saturated_mul(indexed_buffer(use), counting->size));
    count_more(buffer, indexed_number_bytes(plan, counting->transfer, use));
    const Cost cost = indexed_cost(plan, counting->transfer, rank, elements);
    counting->counts.elements[rank] = cost.elements;
    counting->counts.messages[rank] = cost.messages;
}

// What a rank receives as aggregator: its buffer, and what is copied where it leaves. What is in it is in no
// message to another rank.
static void count_received(const IndexedCounting *counting, int64_t rank, const Aggregated *aggregated,
                           Arena *scratch) {
    int64_t *buffers = counting->counts.buffers;
    const Selection *requests = &aggregated->requests;
    if (requests->parts.count == 0)
        return;
    arena_reset(scratch);
    const SharedParts shared = shared_parts_find(requests, counting->home, scratch);
    const Selection *parts = &shared.parts;
    count_more(&buffers[rank], saturated_mul(shared.elements, counting->size));
    for (int64_t i = 0, end; i < parts->parts.count; i = end) {
        int64_t leaving = 0;
        end = selection_peer_end(parts, i);
        for (int64_t p = i; p < end; p++)
            leaving = saturated_add(leaving, part_volume(parts, &parts->parts.items[p]));
        if (!indexed_leaves_home(parts, counting->home, i, end - i))
            count_more(&buffers[parts->parts.items[i].peer], saturated_mul(leaving, counting->size));
    }
    const SharedRun *run = shared.runs;
    for (int64_t p = 0; p < requests->parts.count; p++) {
        IndexedMessage *message = &counting->messages.items[aggregated->messages.items[p]];
        if (run->offset >= 0)
            message->leaving = message->arriving = 0;
        run += part_rect_count(&requests->parts.items[p]);
    }
}

static const char *count_ranks(IndexedCounting *counting, Structures *structures, Version *const *used,
                               int64_t count, const int64_t *ranks) {
    int64_t *buffers = counting->counts.buffers;
    const char *why = NULL;
    arena_reset(counting->arena);
    counting->messages = (IndexedMessageArray){0};
    counting->aggregated = count > 1 ? arena_array(counting->arena, Aggregated, count) : NULL;
    for (int64_t i = 0; i < count && !why; i++) {
        IndexedUse use;
        arena_reset(structures->scratch);
        why = operand_use(structures, counting->plan, counting->transfer, used, ranks[i], &use);
        if (!why)
            count_use(counting, ranks[i], &use, structures->scratch);
    }
    for (int64_t i = 0; counting->aggregated && i < count && !why; i++)
        count_received(counting, ranks[i], &counting->aggregated[i], structures->scratch);
    for (int64_t m = 0; m < counting->messages.count && !why; m++) {
        const IndexedMessage *message = &counting->messages.items[m];
        count_more(&buffers[message->owner], message->leaving);
        count_more(&buffers[message->rank], message->arriving);
    }
    return why;
}

const char *count_indexed(Structures *structures, const StatementPlan *plan, int transfer,
                          Version *const *used) {
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].access->tensor->id];
    const Nodes *nodes = transfer_shares_parts(plan, transfer) ? plan->plan->nodes : NULL;
    IndexedCounting counting = {.plan = plan,
                                .transfer = transfer,
                                .home = home,
                                .size = (int64_t)type_info(home->tensor->type)->size,
                                .counts = counts_create(structures, plan),
                                .requests = arena_array(structures->arena, int64_t, plan->ranks),
                                .arena = arena_create_within(structures->arena)};
    const char *why = NULL;
    for (int64_t n = 0; n < plan->ranks && !why; n++)
        why = nodes ? count_ranks(&counting, structures, used, nodes->first[n + 1] - nodes->first[n],
                                  nodes->members + nodes->first[n])
                    : count_ranks(&counting, structures, used, 1, &n);
    if (!why) {
        counts_keep(structures, transfer, counting.counts);
        structures->requests[transfer] = counting.requests;
    }
    arena_free(counting.arena);
    return why;
}
