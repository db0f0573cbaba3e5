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
    int64_t *aggregators; // by part that this rank uses
    Selection requests;   // to this rank
    int64_t *rects;       // of these, by member
    ValueExchange replies;
} Sharing;

static int64_t aggregator_of(const IndexedFinding *finding, const SelectedPart *part) {
    const IndexedFetch *fetch = finding->fetch;
    return nodes_aggregator(fetch->plan->plan->nodes, fetch->storage->rank, part->peer);
}

static bool choose_aggregators(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Sharing *sharing = arguments;
    const IndexedFinding *finding = sharing->finding;
    const Selection *parts = &finding->use.parts;
    sharing->aggregators = arena_array(finding->arena, int64_t, parts->parts.count);
    sharing->rects = arena_array(finding->arena, int64_t, finding->neighbours->count);
    for (int64_t p = 0; p < parts->parts.count; p++)
        sharing->aggregators[p] = aggregator_of(finding, &parts->parts.items[p]);
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
        if (sharing->aggregators[p] >= 0)
            receives[sharing->aggregators[p]] += RUN_NUMBERS * part_rect_count(&parts->parts.items[p]);
    if (!value_exchange_create(&sharing->replies, TYPE_I64, EXCHANGE_MESSAGE_BYTES, sends, receives,
                               finding->neighbours->node) ||
        !value_exchange_allocate(&sharing->replies))
        return no_memory_for_requests(storage, diagnostics);
    if (all > 0)
        memcpy(sharing->replies.outgoing, finding->shared.runs, sizeof(SharedRun) * (size_t)all);
    return true;
}

// The runs of all that this rank uses, in the order of its parts.
static void read_replies(const Sharing *sharing) {
    IndexedFinding *finding = sharing->finding;
    const Selection *parts = &finding->use.parts;
    const int members = finding->neighbours->count;
    const char **from = arena_array(finding->arena, const char *, members);
    for (int m = 0; m < members; m++)
        from[m] = value_exchange_from(&sharing->replies, m);
    SharedRun *run = finding->runs = arena_array(finding->arena, SharedRun, selection_rect_count(parts));
    for (int64_t p = 0; p < parts->parts.count; p++) {
        const int64_t count = part_rect_count(&parts->parts.items[p]), m = sharing->aggregators[p];
        const size_t bytes = sizeof *run * (size_t)count;
        if (m >= 0) {
            memcpy(run, from[m], bytes);
            from[m] += bytes;
        } else {
            run->offset = -1; // of the first run, which says it of the part
        }
        run += count;
    }
}

// What it requests, by owner. The parts of an owner it requests either all for itself or all as aggregator.
static bool find_requests(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Sharing *sharing = arguments;
    IndexedFinding *finding = sharing->finding;
    const Selection *own = &finding->use.parts, *shared = &finding->shared.parts;
    read_replies(sharing);
    finding->requests = selection_like(own);
    const SharedRun *run = finding->runs;
    int64_t s = 0;
    for (int64_t p = 0; p <= own->parts.count; p++) {
        const SelectedPart *part = p < own->parts.count ? &own->parts.items[p] : NULL;
        for (; s < shared->parts.count && (!part || shared->parts.items[s].peer <= part->peer); s++)
            selection_append(&finding->requests, shared, s, finding->arena);
        if (part && indexed_share_source(finding, part, run) < 0)
            selection_append(&finding->requests, own, p, finding->arena);
        run += part ? part_rect_count(part) : 0;
    }
    return true;
}

// Collective over the ranks of a node.
static bool share(IndexedFinding *finding, Diagnostics *diagnostics) {
    const MPI_Comm node = finding->neighbours->node;
    Sharing sharing = {.finding = finding};
    bool ok =
        agree_on_part(node, choose_aggregators, &sharing, diagnostics) &&
        exchange_parts_through(&finding->use.parts, sharing.aggregators, &sharing.requests, sharing.rects,
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

int64_t indexed_share_source(const IndexedFinding *finding, const SelectedPart *part, const SharedRun *run) {
    return run && run->offset >= 0 ? aggregator_of(finding, part) : -1;
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
    mapping->rank = nodes->members[nodes->first[nodes->nodes[fetch->storage->rank]] + member];
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
    const Selection *parts = &finding->use.parts;
    const SharedRun *run = finding->runs;
    for (int64_t p = 0; run && p < parts->parts.count; p++) {
        const int64_t source = indexed_share_source(finding, &parts->parts.items[p], run);
        if (source >= 0 && !map_buffer(finding, source))
            return false;
        run += part_rect_count(&parts->parts.items[p]);
    }
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
