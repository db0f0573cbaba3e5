// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/part_sharing.h"

#include "runtime/agreement.h"
#include "runtime/part_exchange.h"
#include "runtime/value_exchange.h"

#include <string.h>

enum { RUN_NUMBERS = sizeof(SharedRun) / sizeof(int64_t) };

// Replies to requests: the runs that contain what is requested.
typedef struct {
    PartSharing *sharing;
    ValueExchange replies;
} Replying;

// Parts may be in the buffers of their aggregators.
static bool choose_aggregators(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    PartSharing *sharing = arguments;
    const Selection *parts = sharing->parts;
    sharing->sources = arena_array(sharing->arena, int64_t, parts->parts.count);
    sharing->rects = arena_array(sharing->arena, int64_t, sharing->neighbours->count);
    for (int64_t p = 0; p < parts->parts.count; p++)
        sharing->sources[p] =
            nodes_aggregator(sharing->plan->plan->nodes, sharing->storage->rank, parts->parts.items[p].peer);
    return true;
}

static bool prepare_replies(void *arguments, Diagnostics *diagnostics) {
    Replying *replying = arguments;
    PartSharing *sharing = replying->sharing;
    const Selection *parts = sharing->parts;
    const int members = sharing->neighbours->count;
    int64_t *sends = arena_array(sharing->arena, int64_t, members),
            *receives = arena_array(sharing->arena, int64_t, members), all = 0;
    sharing->shared = shared_parts_find(&sharing->asked, sharing->storage->home, sharing->arena);
    for (int m = 0; m < members; m++) {
        sends[m] = RUN_NUMBERS * sharing->rects[m];
        all += sharing->rects[m];
    }
    for (int64_t p = 0; p < parts->parts.count; p++)
        if (sharing->sources[p] >= 0)
            receives[sharing->sources[p]] += RUN_NUMBERS * part_rect_count(&parts->parts.items[p]);
    if (!value_exchange_create(&replying->replies, TYPE_I64, EXCHANGE_MESSAGE_BYTES, sends, receives,
                               sharing->neighbours->node) ||
        !value_exchange_allocate(&replying->replies))
        return no_memory_for_requests(sharing->storage, diagnostics);
    if (all > 0)
        memcpy(replying->replies.outgoing, sharing->shared.runs, sizeof(SharedRun) * (size_t)all);
    return true;
}

// The runs of all that this rank uses, in the order of its parts. An aggregator has all of a part or nothing.
static void read_replies(const Replying *replying) {
    PartSharing *sharing = replying->sharing;
    const Selection *parts = sharing->parts;
    const int members = sharing->neighbours->count;
    const char **from = arena_array(sharing->arena, const char *, members);
    for (int m = 0; m < members; m++)
        from[m] = value_exchange_from(&replying->replies, m);
    SharedRun *run = sharing->runs = arena_array(sharing->arena, SharedRun, selection_rect_count(parts));
    for (int64_t p = 0; p < parts->parts.count; p++) {
        const int64_t count = part_rect_count(&parts->parts.items[p]), m = sharing->sources[p];
        const size_t bytes = sizeof *run * (size_t)count;
        if (m >= 0) {
            memcpy(run, from[m], bytes);
            from[m] += bytes;
            if (run->offset < 0)
                sharing->sources[p] = -1;
        }
        run += count;
    }
}

// Appends what this rank requests as aggregator, from part `next` on, of owners up to this one. Returns what
// follows.
static int64_t request_shared(PartSharing *sharing, int64_t next, int64_t owner) {
    const Selection *shared = &sharing->shared.parts;
    for (; next < shared->parts.count && shared->parts.items[next].peer <= owner; next++)
        selection_append(&sharing->requests, shared, next, sharing->arena);
    return next;
}

// What it requests, by owner. The parts of an owner it requests either all for itself or all as aggregator.
static bool find_requests(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Replying *replying = arguments;
    PartSharing *sharing = replying->sharing;
    const Selection *own = sharing->parts;
    int64_t next = 0;
    read_replies(replying);
    sharing->requests = selection_like(own);
    for (int64_t p = 0; p < own->parts.count; p++) {
        next = request_shared(sharing, next, own->parts.items[p].peer);
        if (sharing->sources[p] < 0)
            selection_append(&sharing->requests, own, p, sharing->arena);
    }
    request_shared(sharing, next, INT64_MAX);
    return true;
}

// Collective over the ranks of a node.
static bool share(PartSharing *sharing, Diagnostics *diagnostics) {
    const MPI_Comm node = sharing->neighbours->node;
    Replying replying = {.sharing = sharing};
    bool ok = agree_on_part(node, choose_aggregators, sharing, diagnostics) &&
              exchange_parts_through(sharing->parts, sharing->sources, &sharing->asked, sharing->rects,
                                     sharing->storage, sharing->arena, node, diagnostics) &&
              agree_on_part(node, prepare_replies, &replying, diagnostics);
    if (ok)
        value_exchange_run(&replying.replies);
    ok = ok && agree_on_part(node, find_requests, &replying, diagnostics);
    value_exchange_free(&replying.replies);
    return ok;
}

bool part_sharing_find(PartSharing *sharing, const StatementPlan *plan, int transfer, const Storage *storage,
                       const Selection *parts, const RankTransfer *part, Reading *reading, Arena *arena,
                       MPI_Comm comm, Diagnostics *diagnostics) {
    *sharing = (PartSharing){.plan = plan,
                             .transfer = transfer,
                             .storage = storage,
                             .reading = reading,
                             .parts = parts,
                             .arena = arena,
                             .requests = *parts};
    if (!transfer_shares_parts(plan, transfer))
        return true;
    if (part && part->shares)
        sharing->neighbours = reading_neighbours(reading);
    return agree_on(comm, !sharing->neighbours || share(sharing, diagnostics), diagnostics);
}

bool *part_sharing_aggregated(const PartSharing *sharing, int ranks) {
    const Selection *shared = &sharing->shared.parts;
    bool *aggregated = arena_array(sharing->arena, bool, ranks);
    for (int64_t i = 0; i < shared->parts.count; i = selection_peer_end(shared, i))
        aggregated[shared->parts.items[i].peer] = true;
    return aggregated;
}
