// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/value_exchange.h"

#include "base/integer.h"
#include "memory/memory.h"
#include "runtime/message.h"
#include "runtime/wait.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1 << 14 }; // beyond those of transfers

void exchange_counts(int count, const int64_t *sends, int64_t *receives, MPI_Comm comm) {
    MPI_Request request;
    MPI_Ialltoall(sends, count, MPI_INT64_T, receives, count, MPI_INT64_T, comm, &request);
    wait_all(1, &request);
}

// The elements to or from the ranks before `ranks` that are in `outgoing` or `incoming`.
static int64_t sent_before(const ValueExchange *exchange, int ranks) {
    int64_t elements = 0;
    for (int rank = 0; rank < ranks; rank++)
        elements = saturated_add(
            elements, exchange->sent_from[rank] || exchange->read[rank] ? 0 : exchange->sends[rank]);
    return elements;
}

static int64_t received_before(const ValueExchange *exchange, int ranks) {
    int64_t elements = 0;
    for (int rank = 0; rank < ranks; rank++)
        elements = saturated_add(
            elements, exchange->received_at[rank] || exchange->read[rank] ? 0 : exchange->receives[rank]);
    return elements;
}

static Cost cost_of(const ValueExchange *exchange, const int64_t *counts) {
    Cost cost = {0};
    for (int rank = 0; counts && rank < exchange->ranks; rank++) {
        if (rank == exchange->rank)
            continue;
        cost.elements += counts[rank];
        cost.messages += ceil_div(counts[rank], exchange->message_elements);
    }
    return cost;
}

Cost value_exchange_received(const ValueExchange *exchange) {
    return cost_of(exchange, exchange->receives);
}

Cost value_exchange_sent(const ValueExchange *exchange) {
    return cost_of(exchange, exchange->sends);
}

int64_t value_exchange_buffer(const ValueExchange *exchange) {
    return exchange->sends ? saturated_add(sent_before(exchange, exchange->ranks),
                                           received_before(exchange, exchange->ranks))
                           : 0;
}

bool value_exchange_create(ValueExchange *exchange, ElementType type, int64_t message_limit,
                           const int64_t *sends, const int64_t *receives, MPI_Comm comm) {
    const int64_t size = (int64_t)type_info(type)->size;
    *exchange = (ValueExchange){
        .type = type, .comm = comm, .message_elements = min_i64(max_i64(1, message_limit / size), INT_MAX)};
    MPI_Comm_size(comm, &exchange->ranks);
    MPI_Comm_rank(comm, &exchange->rank);
    const size_t bytes = sizeof(int64_t) * (size_t)exchange->ranks;
    exchange->sends = malloc(bytes);
    exchange->receives = malloc(bytes);
    exchange->sent_from = calloc((size_t)exchange->ranks, sizeof *exchange->sent_from);
    exchange->received_at = calloc((size_t)exchange->ranks, sizeof *exchange->received_at);
    exchange->read = calloc((size_t)exchange->ranks, sizeof *exchange->read);
    if (!exchange->sends || !exchange->receives || !exchange->sent_from || !exchange->received_at ||
        !exchange->read)
        return false;
    memcpy(exchange->sends, sends, bytes);
    memcpy(exchange->receives, receives, bytes);
    const int64_t messages =
        value_exchange_sent(exchange).messages + value_exchange_received(exchange).messages;
    exchange->requests = malloc(sizeof(MPI_Request) * (size_t)messages + 1);
    return exchange->requests != NULL;
}

bool value_exchange_allocate(ValueExchange *exchange) {
    exchange->owned = true;
    exchange->outgoing = memory_allocate(MEMORY_HOST, sent_before(exchange, exchange->ranks), exchange->type);
    exchange->incoming =
        memory_allocate(MEMORY_HOST, received_before(exchange, exchange->ranks), exchange->type);
    return exchange->outgoing && exchange->incoming;
}

void value_exchange_free(ValueExchange *exchange) {
    free(exchange->sends);
    free(exchange->receives);
    free(exchange->sent_from);
    free(exchange->received_at);
    free(exchange->read);
    free(exchange->requests);
    if (exchange->owned) {
        memory_release(MEMORY_HOST, exchange->outgoing);
        memory_release(MEMORY_HOST, exchange->incoming);
    }
    *exchange = (ValueExchange){0};
}

char *value_exchange_to(const ValueExchange *exchange, int rank) {
    return exchange->outgoing + sent_before(exchange, rank) * (int64_t)type_info(exchange->type)->size;
}

char *value_exchange_from(const ValueExchange *exchange, int rank) {
    if (exchange->received_at[rank])
        return exchange->received_at[rank];
    return exchange->incoming + received_before(exchange, rank) * (int64_t)type_info(exchange->type)->size;
}

void value_exchange_receive(ValueExchange *exchange) {
    const int64_t size = (int64_t)type_info(exchange->type)->size, most = exchange->message_elements;
    const MPI_Datatype type = message_element(exchange->type);
    char *next = exchange->incoming;
    exchange->request_count = 0;
    for (int rank = 0; rank < exchange->ranks; rank++) {
        const int64_t count = exchange->read[rank] ? 0 : exchange->receives[rank];
        char *const elsewhere = exchange->received_at[rank], *const at = elsewhere ? elsewhere : next;
        next += elsewhere ? 0 : count * size;
        for (int64_t i = 0; i < count && rank != exchange->rank; i += most)
            MPI_Irecv(at + i * size, (int)min_i64(most, count - i), type, rank, TAG, exchange->comm,
                      &exchange->requests[exchange->request_count++]);
    }
}

void value_exchange_send(ValueExchange *exchange) {
    const int64_t size = (int64_t)type_info(exchange->type)->size, most = exchange->message_elements;
    const MPI_Datatype type = message_element(exchange->type);
    const char *next = exchange->outgoing;
    const int own = exchange->rank;
    for (int rank = 0; rank < exchange->ranks; rank++) {
        const int64_t count = exchange->read[rank] ? 0 : exchange->sends[rank];
        const char *const elsewhere = exchange->sent_from[rank], *const at = elsewhere ? elsewhere : next;
        next += elsewhere ? 0 : count * size;
        for (int64_t i = 0; i < count && rank != own; i += most)
            MPI_Isend(at + i * size, (int)min_i64(most, count - i), type, rank, TAG, exchange->comm,
                      &exchange->requests[exchange->request_count++]);
    }
    if (exchange->sends[own] > 0)
        memcpy(value_exchange_from(exchange, own), value_exchange_to(exchange, own),
               (size_t)(exchange->sends[own] * size));
}

void value_exchange_progress(ValueExchange *exchange) {
    int done;
    MPI_Testall(exchange->request_count, exchange->requests, &done, MPI_STATUSES_IGNORE);
}

void value_exchange_wait(ValueExchange *exchange) {
    wait_all(exchange->request_count, exchange->requests);
}

void value_exchange_run(ValueExchange *exchange) {
    value_exchange_receive(exchange);
    value_exchange_send(exchange);
    value_exchange_wait(exchange);
}
