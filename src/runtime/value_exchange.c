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

static int64_t sum(const ValueExchange *exchange, const int64_t *counts) {
    int64_t elements = 0;
    for (int rank = 0; rank < exchange->ranks; rank++)
        elements = saturated_add(elements, counts[rank]);
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
    return exchange->sends ? saturated_add(sum(exchange, exchange->sends), sum(exchange, exchange->receives))
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
    if (!exchange->sends || !exchange->receives)
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
    exchange->outgoing = memory_allocate(MEMORY_HOST, sum(exchange, exchange->sends), exchange->type);
    exchange->incoming = memory_allocate(MEMORY_HOST, sum(exchange, exchange->receives), exchange->type);
    return exchange->outgoing && exchange->incoming;
}

void value_exchange_free(ValueExchange *exchange) {
    free(exchange->sends);
    free(exchange->receives);
    free(exchange->requests);
    if (exchange->owned) {
        memory_release(MEMORY_HOST, exchange->outgoing);
        memory_release(MEMORY_HOST, exchange->incoming);
    }
    *exchange = (ValueExchange){0};
}

// Where the elements of a rank begin.
static int64_t begin_of(const int64_t *counts, int rank) {
    int64_t begin = 0;
    for (int before = 0; before < rank; before++)
        begin += counts[before];
    return begin;
}

char *value_exchange_to(const ValueExchange *exchange, int rank) {
    return exchange->outgoing + begin_of(exchange->sends, rank) * (int64_t)type_info(exchange->type)->size;
}

char *value_exchange_from(const ValueExchange *exchange, int rank) {
    return exchange->incoming + begin_of(exchange->receives, rank) * (int64_t)type_info(exchange->type)->size;
}

static void begin(ValueExchange *exchange, bool sends) {
    const int64_t size = (int64_t)type_info(exchange->type)->size;
    const int64_t *counts = sends ? exchange->sends : exchange->receives;
    const MPI_Datatype type = message_element(exchange->type);
    char *data = sends ? exchange->outgoing : exchange->incoming;
    for (int rank = 0; rank < exchange->ranks; data += counts[rank++] * size)
        for (int64_t i = 0; i < counts[rank] && rank != exchange->rank; i += exchange->message_elements) {
            const int count = (int)min_i64(exchange->message_elements, counts[rank] - i);
            MPI_Request *request = &exchange->requests[exchange->request_count++];
            if (sends)
                MPI_Isend(data + i * size, count, type, rank, TAG, exchange->comm, request);
            else
                MPI_Irecv(data + i * size, count, type, rank, TAG, exchange->comm, request);
        }
}

void value_exchange_receive(ValueExchange *exchange) {
    exchange->request_count = 0;
    begin(exchange, false);
}

void value_exchange_send(ValueExchange *exchange) {
    const int64_t size = (int64_t)type_info(exchange->type)->size;
    begin(exchange, true);
    const int rank = exchange->rank;
    if (exchange->sends[rank] > 0)
        memcpy(value_exchange_from(exchange, rank), value_exchange_to(exchange, rank),
               (size_t)(exchange->sends[rank] * size));
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
