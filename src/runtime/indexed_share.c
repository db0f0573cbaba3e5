// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/indexed_share.h"

#include "memory/shared.h"
#include "runtime/agreement.h"
#include "runtime/part_exchange.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum { RUN_NUMBERS = sizeof(SharedRun) / sizeof(int64_t) };

// The requests of ranks of a node to aggregators, and the replies, the runs that contain what is requested.
typedef struct {
    IndexedFinding *finding;
    Selection requests; // to this rank
    int64_t *rects;     // of these, by member
    ValueExchange replies;
} Sharing;

// Parts may be in the buffers of their aggregators.
static bool choose_aggregators(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Sharing *sharing = arguments;
    IndexedFinding *finding = sharing->finding;
    const IndexedFetch *fetch = finding->fetch;
    const Selection *parts = &finding->use.parts;
    finding->sources = arena_array(finding->arena, int64_t, parts->parts.count);
    sharing->rects = arena_array(finding->arena, int64_t, finding->neighbours->count);
    for (int64_t p = 0; p < parts->parts.count; p++)
        finding->sources[p] =
            nodes_aggregator(fetch->plan->plan->nodes, fetch->storage->rank, parts->parts.items[p].peer);
    return true;
}

static bool prepare_replies(void *arguments, Diagnostics *diagnostics) {
    Sharing *sharing = arguments;
    IndexedFinding *finding = sharing->finding;
    const Storage *storage = finding->fetch->storage;
    const Selection *parts = &finding->use.parts;
    const int members = finding->neighbours->count;
    int64_t *sends = arena_array(finding->arena, int64_t, members),
            *receives = arena_array(finding->arena, int64_t, members), all = 0;
    finding->shared = shared_parts_find(&sharing->requests, storage->home, finding->arena);
    finding->fetch->shared_elements = finding->shared.elements;
    for (int m = 0; m < members; m++) {
        sends[m] = RUN_NUMBERS * sharing->rects[m];
        all += sharing->rects[m];
    }
    for (int64_t p = 0; p < parts->parts.count; p++)
        if (finding->sources[p] >= 0)
            receives[finding->sources[p]] += RUN_NUMBERS * part_rect_count(&parts->parts.items[p]);
    if (!value_exchange_create(&sharing->replies, TYPE_I64, EXCHANGE_MESSAGE_BYTES, sends, receives,
                               finding->neighbours->node) ||
        !value_exchange_allocate(&sharing->replies))
        return no_memory_for_requests(storage, diagnostics);
    if (all > 0)
        memcpy(sharing->replies.outgoing, finding->shared.runs, sizeof(SharedRun) * (size_t)all);
    return true;
}

// The runs of all that this rank uses, in the order of its parts. An aggregator has all of a part or nothing.
static void read_replies(const Sharing *sharing) {
    IndexedFinding *finding = sharing->finding;
    const Selection *parts = &finding->use.parts;
    const int members = finding->neighbours->count;
    const char **from = arena_array(finding->arena, const char *, members);
    for (int m = 0; m < members; m++)
        from[m] = value_exchange_from(&sharing->replies, m);
    SharedRun *run = finding->runs = arena_array(finding->arena, SharedRun, selection_rect_count(parts));
    for (int64_t p = 0; p < parts->parts.count; p++) {
        const int64_t count = part_rect_count(&parts->parts.items[p]), m = finding->sources[p];
        const size_t bytes = sizeof *run * (size_t)count;
        if (m >= 0) {
            memcpy(run, from[m], bytes);
            from[m] += bytes;
            if (run->offset < 0)
                finding->sources[p] = -1;
        }
        run += count;
    }
}

// Appends what this rank requests as aggregator, from part `next` on, of owners up to this one. Returns what
// follows.
static int64_t request_shared(IndexedFinding *finding, int64_t next, int64_t owner) {
    const Selection *shared = &finding->shared.parts;
    for (; next < shared->parts.count && shared->parts.items[next].peer <= owner; next++)
        selection_append(&finding->requests, shared, next, finding->arena);
    return next;
}

// What it requests, by owner. The parts of an owner it requests either all for itself or all as aggregator.
static bool find_requests(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Sharing *sharing = arguments;
    IndexedFinding *finding = sharing->finding;
    const Selection *own = &finding->use.parts;
    int64_t next = 0;
    read_replies(sharing);
    finding->requests = selection_like(own);
    for (int64_t p = 0; p < own->parts.count; p++) {
        next = request_shared(finding, next, own->parts.items[p].peer);
        if (finding->sources[p] < 0)
            selection_append(&finding->requests, own, p, finding->arena);
    }
    request_shared(finding, next, INT64_MAX);
    return true;
}

// Collective over the ranks of a node.
static bool share(IndexedFinding *finding, Diagnostics *diagnostics) {
    const MPI_Comm node = finding->neighbours->node;
    Sharing sharing = {.finding = finding};
    bool ok = agree_on_part(node, choose_aggregators, &sharing, diagnostics) &&
              exchange_parts_through(&finding->use.parts, finding->sources, &sharing.requests, sharing.rects,
                                     finding->fetch->storage, finding->arena, node, diagnostics) &&
              agree_on_part(node, prepare_replies, &sharing, diagnostics);
    if (ok)
        value_exchange_run(&sharing.replies);
    ok = ok && agree_on_part(node, find_requests, &sharing, diagnostics);
    value_exchange_free(&sharing.replies);
    return ok;
}

bool indexed_share_find(IndexedFinding *finding, Diagnostics *diagnostics) {
    const IndexedFetch *fetch = finding->fetch;
    finding->requests = finding->use.parts;
    if (!transfer_shares_parts(fetch->plan, fetch->transfer))
        return true;
    if (fetch->part && fetch->part->shares)
        finding->neighbours = reading_neighbours(fetch->reading);
    return agree_on(finding->comm, !finding->neighbours || share(finding, diagnostics), diagnostics);
}

bool indexed_share_allocate(IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const Selection *parts = &finding->shared.parts;
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size;
    if (!finding->neighbours)
        return true;
    finding->places = arena_array(finding->arena, int64_t, 2 * finding->neighbours->count);
    fetch->mapped = calloc((size_t)finding->neighbours->count, sizeof *fetch->mapped);
    fetch->mapped_count = fetch->mapped ? finding->neighbours->count : 0;
    if (fetch->shared_elements > 0)
        fetch->shared_buffer = shared_allocate(fetch->shared_elements * size);
    char *at = fetch->shared_buffer;
    for (int64_t i = 0; at && i < parts->parts.count; i = selection_peer_end(parts, i)) {
        const int64_t owner = parts->parts.items[i].peer;
        fetch->values.received_at[owner] = at;
        at += fetch->values.receives[owner] * size;
    }
    return fetch->mapped && (fetch->shared_buffer || fetch->shared_elements == 0);
}

void indexed_share_exchange(IndexedFinding *finding) {
    const IndexedFetch *fetch = finding->fetch;
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size;
    const int64_t own[] = {fetch->shared_buffer ? shared_offset(fetch->shared_buffer) : -1,
                           fetch->shared_elements * size};
    if (finding->neighbours)
        all_gather(own, finding->places, 2, MPI_INT64_T, finding->neighbours->node);
}

static bool map_buffer(const IndexedFinding *finding, int64_t member) {
    IndexedFetch *fetch = finding->fetch;
    const Nodes *nodes = fetch->plan->plan->nodes;
    SharedMapping *mapping = &fetch->mapped[member];
    if (mapping->memory)
        return true;
    mapping->rank = nodes_member(nodes, fetch->storage->rank, member);
    if (mapping->rank == fetch->storage->rank) {
        mapping->memory = fetch->shared_buffer;
        return true;
    }
    mapping->bytes = finding->places[2 * member + 1];
    mapping->memory =
        shared_map(finding->neighbours->files[member], finding->places[2 * member], mapping->bytes, false);
    return mapping->memory && reading_join(fetch->reading, mapping->rank);
}

bool indexed_share_map(const IndexedFinding *finding) {
    for (int64_t p = 0; finding->sources && p < finding->use.parts.parts.count; p++)
        if (finding->sources[p] >= 0 && !map_buffer(finding, finding->sources[p]))
            return false;
    return true;
}

void indexed_share_forget(IndexedFetch *fetch) {
    for (int m = 0; m < fetch->mapped_count; m++)
        if (fetch->mapped[m].memory != fetch->shared_buffer)
            shared_unmap(fetch->mapped[m].memory, fetch->mapped[m].bytes);
    free(fetch->mapped);
    fetch->mapped = NULL;
    fetch->mapped_count = 0;
    shared_release(fetch->shared_buffer);
    fetch->shared_buffer = NULL;
    fetch->shared_elements = 0;
}

void indexed_share_received(const IndexedFetch *fetch) {
    if (fetch->shared_buffer)
        reading_receive(fetch->reading, fetch->transfer);
}

void indexed_share_wait(const IndexedFetch *fetch) {
    for (int m = 0; m < fetch->mapped_count; m++)
        if (fetch->mapped[m].memory)
            reading_wait_received(fetch->reading, fetch->transfer, fetch->mapped[m].rank);
}
