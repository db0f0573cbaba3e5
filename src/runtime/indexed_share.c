// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/indexed_share.h"

#include "memory/shared.h"
#include "runtime/agreement.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

enum { RUN_NUMBERS = sizeof(SharedRun) / sizeof(int64_t) };

// What ranks of a node ask each other, and the answers.
typedef struct {
    IndexedFinding *finding;
    const Neighbours *neighbours; // NULL: this rank has none
    int members;
    int64_t *sent, *received; // by member, numbers of questions
    int64_t *asks, *answers;  // by member, rectangles that this rank asks for, and answers
    Selection asked;          // of this rank
    SharedRun *runs;          // the answers
    ValueExchange exchange;
} Asking;

static bool no_memory(const Asking *asking, Diagnostics *diagnostics) {
    const Storage *storage = asking->finding->fetch->storage;
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %lld has not enough memory for the requests of parts of tensor %s",
                             (long long)storage->rank, storage->home->tensor->name);
}

static int64_t receiver_of(const Asking *asking, const SelectedPart *part) {
    const IndexedFetch *fetch = asking->finding->fetch;
    return nodes_receiver(fetch->plan->plan->nodes, fetch->storage->rank, part->peer);
}

// Of each part the owner, and its numbers.
static bool count_questions(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Asking *asking = arguments;
    Arena *arena = asking->finding->arena;
    const Selection *parts = &asking->finding->use.parts;
    if (!asking->neighbours)
        return true;
    asking->sent = arena_array(arena, int64_t, asking->members);
    asking->received = arena_array(arena, int64_t, asking->members);
    asking->asks = arena_array(arena, int64_t, asking->members);
    asking->answers = arena_array(arena, int64_t, asking->members);
    for (int64_t p = 0; p < parts->parts.count; p++) {
        const SelectedPart *part = &parts->parts.items[p];
        const int64_t receiver = receiver_of(asking, part);
        if (receiver < 0)
            continue;
        asking->sent[receiver] += 1 + part_numbers(parts, part);
        asking->asks[receiver] += part_rect_count(part);
    }
    return true;
}

static bool prepare_exchange(Asking *asking, const int64_t *sends, const int64_t *receives,
                             Diagnostics *diagnostics) {
    value_exchange_free(&asking->exchange);
    return (value_exchange_create(&asking->exchange, TYPE_I64, EXCHANGE_MESSAGE_BYTES, sends, receives,
                                  asking->neighbours->node) &&
            value_exchange_allocate(&asking->exchange)) ||
           no_memory(asking, diagnostics);
}

// By member, where what goes to it, or comes from it, begins.
static int64_t **list_places(const Asking *asking, char *(*place)(const ValueExchange *exchange, int rank)) {
    int64_t **places = arena_array(asking->finding->arena, int64_t *, asking->members);
    for (int m = 0; m < asking->members; m++)
        places[m] = (int64_t *)place(&asking->exchange, m);
    return places;
}

static bool write_questions(void *arguments, Diagnostics *diagnostics) {
    Asking *asking = arguments;
    const Selection *parts = &asking->finding->use.parts;
    if (!asking->neighbours)
        return true;
    if (!prepare_exchange(asking, asking->sent, asking->received, diagnostics))
        return false;
    int64_t **to = list_places(asking, value_exchange_to);
    for (int64_t p = 0; p < parts->parts.count; p++) {
        const SelectedPart *part = &parts->parts.items[p];
        const int64_t receiver = receiver_of(asking, part);
        if (receiver < 0)
            continue;
        *to[receiver]++ = part->peer;
        part_write(parts, part, to[receiver]);
        to[receiver] += part_numbers(parts, part);
    }
    return true;
}

static void read_questions(Asking *asking) {
    IndexedFinding *finding = asking->finding;
    const int64_t *from = (const int64_t *)asking->exchange.incoming;
    asking->asked.mode_count = finding->use.parts.mode_count;
    memcpy(asking->asked.modes, finding->use.parts.modes, sizeof asking->asked.modes);
    for (int m = 0; m < asking->members; m++)
        for (const int64_t *end = from + asking->received[m]; from < end;) {
            const int64_t owner = *from++;
            from =
                part_read(&asking->asked, from, finding->fetch->storage->home->order, owner, finding->arena);
            asking->answers[m] += part_rect_count(&asking->asked.parts.items[asking->asked.parts.count - 1]);
        }
}

static bool answer(void *arguments, Diagnostics *diagnostics) {
    Asking *asking = arguments;
    IndexedFinding *finding = asking->finding;
    if (!asking->neighbours)
        return true;
    read_questions(asking);
    int64_t all = 0;
    int64_t *sends = arena_array(finding->arena, int64_t, asking->members),
            *receives = arena_array(finding->arena, int64_t, asking->members);
    for (int m = 0; m < asking->members; m++) {
        all += asking->answers[m];
        sends[m] = RUN_NUMBERS * asking->answers[m];
        receives[m] = RUN_NUMBERS * asking->asks[m];
    }
    asking->runs = arena_array(finding->arena, SharedRun, all);
    finding->fetch->block_elements =
        shared_parts_find(&asking->asked, finding->arena, &finding->received, asking->runs);
    if (!prepare_exchange(asking, sends, receives, diagnostics))
        return false;
    if (all > 0)
        memcpy(asking->exchange.outgoing, asking->runs, sizeof(SharedRun) * (size_t)all);
    return true;
}

// Where the elements of the rank are that it does not request itself.
static void read_answers(const Asking *asking) {
    IndexedFinding *finding = asking->finding;
    const Selection *parts = &finding->use.parts;
    int64_t **from = list_places(asking, value_exchange_from), all = 0;
    for (int64_t p = 0; p < parts->parts.count; p++)
        all += part_rect_count(&parts->parts.items[p]);
    finding->runs = arena_array(finding->arena, SharedRun, all);
    SharedRun *run = finding->runs;
    for (int64_t p = 0; p < parts->parts.count; p++) {
        const int64_t count = part_rect_count(&parts->parts.items[p]);
        const int64_t receiver = receiver_of(asking, &parts->parts.items[p]);
        for (int64_t r = 0; r < count && receiver < 0; r++)
            run[r].offset = -1;
        if (receiver >= 0) {
            memcpy(run, from[receiver], sizeof *run * (size_t)count);
            from[receiver] += RUN_NUMBERS * count;
            finding->copies_from[receiver] = finding->copies_from[receiver] || run->offset >= 0;
        }
        finding->copied[p] = run->offset >= 0 ? receiver : -1;
        run += count;
    }
}

// What it requests for itself and for its node, by owner: of each owner it is all the one or all the other.
static bool find_requests(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Asking *asking = arguments;
    IndexedFinding *finding = asking->finding;
    const Selection *own = &finding->use.parts, *received = &finding->received;
    if (!asking->neighbours)
        return true;
    finding->copied = arena_array(finding->arena, int64_t, own->parts.count);
    finding->copies_from = arena_array(finding->arena, bool, asking->members);
    finding->for_node = arena_array(finding->arena, bool, finding->ranks);
    read_answers(asking);
    finding->requests = (Selection){.mode_count = own->mode_count};
    memcpy(finding->requests.modes, own->modes, sizeof own->modes);
    int64_t r = 0;
    for (int64_t p = 0; p <= own->parts.count; p++) {
        const int64_t peer = p < own->parts.count ? own->parts.items[p].peer : finding->ranks;
        for (; r < received->parts.count && received->parts.items[r].peer <= peer; r++) {
            selection_append(&finding->requests, received, r, finding->arena);
            finding->for_node[received->parts.items[r].peer] = true;
        }
        if (p < own->parts.count && finding->copied[p] < 0)
            selection_append(&finding->requests, own, p, finding->arena);
    }
    return true;
}

bool indexed_share_find(IndexedFinding *finding, Diagnostics *diagnostics) {
    const IndexedFetch *fetch = finding->fetch;
    const MPI_Comm comm = finding->comm;
    Asking asking = {.finding = finding};
    finding->requests = finding->use.parts;
    if (!transfer_shares_parts(fetch->plan, fetch->transfer))
        return true;
    if (fetch->part && fetch->part->shares)
        asking.neighbours = finding->neighbours = reading_neighbours(fetch->reading);
    asking.members = asking.neighbours ? asking.neighbours->count : 0;
    bool ok = agree_on_part(comm, count_questions, &asking, diagnostics);
    if (ok && asking.neighbours)
        exchange_counts(1, asking.sent, asking.received, asking.neighbours->node);
    ok = ok && agree_on_part(comm, write_questions, &asking, diagnostics);
    if (ok && asking.neighbours)
        value_exchange_run(&asking.exchange);
    ok = ok && agree_on_part(comm, answer, &asking, diagnostics);
    if (ok && asking.neighbours)
        value_exchange_run(&asking.exchange);
    ok = ok && agree_on_part(comm, find_requests, &asking, diagnostics);
    value_exchange_free(&asking.exchange);
    return ok;
}

bool indexed_share_allocate(IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size;
    if (!finding->neighbours)
        return true;
    finding->blocks = arena_array(finding->arena, int64_t, 2 * finding->neighbours->count);
    fetch->mapped = calloc((size_t)finding->neighbours->count, sizeof *fetch->mapped);
    fetch->mapped_count = fetch->mapped ? finding->neighbours->count : 0;
    if (fetch->block_elements > 0)
        fetch->block = shared_allocate(fetch->block_elements * size);
    char *at = fetch->block;
    for (int rank = 0; fetch->block && rank < finding->ranks; rank++) {
        if (!finding->for_node[rank])
            continue;
        fetch->values.received_at[rank] = at;
        at += fetch->values.receives[rank] * size;
    }
    return fetch->mapped && (fetch->block || fetch->block_elements == 0);
}

void indexed_share_exchange(IndexedFinding *finding) {
    const IndexedFetch *fetch = finding->fetch;
    const int64_t size = (int64_t)type_info(fetch->storage->type)->size;
    const int64_t own[] = {fetch->block ? shared_offset(fetch->block) : -1, fetch->block_elements * size};
    if (finding->neighbours)
        all_gather(own, finding->blocks, 2, MPI_INT64_T, finding->neighbours->node);
}

bool indexed_share_map(const IndexedFinding *finding) {
    IndexedFetch *fetch = finding->fetch;
    const Neighbours *neighbours = finding->neighbours;
    for (int rank = 0; neighbours && rank < finding->ranks; rank++) {
        const int m = neighbours->members[rank];
        if (m < 0 || !finding->copies_from[m])
            continue;
        SharedMapping *mapping = &fetch->mapped[m];
        mapping->rank = rank;
        if (rank == fetch->storage->rank) {
            mapping->memory = fetch->block;
            continue;
        }
        mapping->bytes = finding->blocks[2 * m + 1];
        mapping->memory =
            shared_map(neighbours->files[m], finding->blocks[2 * m], finding->blocks[2 * m + 1], false);
        if (!mapping->memory || !reading_join(fetch->reading, rank))
            return false;
    }
    return true;
}

void indexed_share_forget(IndexedFetch *fetch) {
    for (int m = 0; m < fetch->mapped_count; m++)
        if (fetch->mapped[m].memory != fetch->block)
            shared_unmap(fetch->mapped[m].memory, fetch->mapped[m].bytes);
    free(fetch->mapped);
    fetch->mapped = NULL;
    fetch->mapped_count = 0;
    shared_release(fetch->block);
    fetch->block = NULL;
    fetch->block_elements = 0;
}

void indexed_share_give(const IndexedFetch *fetch) {
    if (fetch->block)
        reading_receive(fetch->reading, fetch->transfer);
}

void indexed_share_wait(const IndexedFetch *fetch) {
    for (int m = 0; m < fetch->mapped_count; m++)
        if (fetch->mapped[m].memory)
            reading_wait_received(fetch->reading, fetch->transfer, fetch->mapped[m].rank);
}
