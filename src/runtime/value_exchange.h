// SPDX-License-Identifier: BSD-3-Clause
// Value exchange: elements that go from any ranks to any ranks, in the order of ranks on both sides. How many
// go where is known, so that the same exchange can be repeated with other values.
#ifndef DISTAL_RUNTIME_VALUE_EXCHANGE_H
#define DISTAL_RUNTIME_VALUE_EXCHANGE_H

#include "base/type.h"
#include "plan/operation.h"

#include <mpi.h>

// The most bytes of one message that is not of a plan.
enum { EXCHANGE_MESSAGE_BYTES = 1 << 27 };

typedef struct {
    ElementType type;
    MPI_Comm comm;
    int ranks, rank;
    int64_t message_elements;
    int64_t *sends, *receives; // elements by rank, those that stay on this one too
    char *outgoing, *incoming; // in the order of ranks, without those that are elsewhere
    bool owned;                // whether these two are released with the exchange
    // By rank: where the elements to another rank are, and where those from it arrive, instead; NULL: there.
    const char **sent_from;
    char **received_at;
    bool *read; // by rank: these are in memory of both, and need no messages, but are counted
    MPI_Request *requests;
    int request_count;
} ValueExchange;

// What the ranks send to this one, by rank, as `count` numbers of each. Collective.
void exchange_counts(int count, const int64_t *sends, int64_t *receives, MPI_Comm comm);

// Messages have at most `message_limit` bytes. `sends` and `receives` are copied. Local; false: no memory. In
// any case value_exchange_free has to follow.
bool value_exchange_create(ValueExchange *exchange, ElementType type, int64_t message_limit,
                           const int64_t *sends, const int64_t *receives, MPI_Comm comm);
// Memory for the elements that are not elsewhere, unless the caller sets `outgoing` and `incoming` to its
// own.
bool value_exchange_allocate(ValueExchange *exchange);
void value_exchange_free(ValueExchange *exchange);

// Moves what is in `outgoing`.
void value_exchange_run(ValueExchange *exchange);
// The same in steps: `outgoing` has its elements before the second.
void value_exchange_receive(ValueExchange *exchange);
void value_exchange_send(ValueExchange *exchange);
void value_exchange_wait(ValueExchange *exchange);
// Between the second and the third: MPI libraries move data only while they are called.
void value_exchange_progress(ValueExchange *exchange);

// Where the elements to a rank are, in `outgoing` if they are not elsewhere, and those from a rank.
char *value_exchange_to(const ValueExchange *exchange, int rank);
char *value_exchange_from(const ValueExchange *exchange, int rank);

// What comes from other ranks, and what goes to them.
Cost value_exchange_received(const ValueExchange *exchange);
Cost value_exchange_sent(const ValueExchange *exchange);
// Elements of both arrays.
int64_t value_exchange_buffer(const ValueExchange *exchange);

#endif
