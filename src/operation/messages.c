// SPDX-License-Identifier: BSD-3-Clause
#include "operation/messages.h"

bool messages_prepare(OperationCall *call) {
    return call_describe(call);
}

// The first part whose peer comes after this rank: if all ranks began with the same peer, its links would be
// the bottleneck.
static int64_t first_after(const OperationCall *call, const Part *parts, int64_t count) {
    int64_t first = 0;
    while (first < count && parts[first].peer <= call->scope->plan->rank)
        first++;
    return first;
}

void messages_start(OperationCall *call) {
    const RankOperation *plan = call->plan;
    const int tag = call->scope->plan->transfer->id;
    // Receives first, so that they are there when messages arrive.
    for (int64_t i = 0; i < plan->receive_count; i++) {
        const Operand *from = &call->receives[i];
        MPI_Irecv(from->data, from->message.count, from->message.type, from->peer, tag, call->comm,
                  call_request(call));
    }
    const int64_t first = first_after(call, plan->sends, plan->send_count);
    for (int64_t i = 0; i < plan->send_count; i++) {
        const Operand *to = &call->sends[(first + i) % plan->send_count];
        MPI_Isend(to->data, to->message.count, to->message.type, to->peer, tag, call->comm,
                  call_request(call));
    }
    call_count(call);
}
