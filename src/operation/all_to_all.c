// SPDX-License-Identifier: BSD-3-Clause
#include "operation/all_to_all.h"

// One datatype for the operands of each member. *base becomes the address of one of them: of memory of a GPU,
// a library that takes it has to be told one there.
static bool join(OperationCall *call, int64_t count, const Operand *operands, void **base, int *counts,
                 MPI_Datatype *types) {
    Arena *arena = call->scope->arena;
    const int members = (int)call->group->count;
    Operand *own = arena_array(arena, Operand, count);
    // Operands by member: how many, then where each member's begin.
    int64_t *end = arena_array(arena, int64_t, members + 1);
    for (int64_t i = 0; i < count; i++)
        end[operands[i].peer + 1] += operands[i].message.count > 0;
    for (int m = 0; m < members; m++)
        end[m + 1] += end[m];
    for (int64_t i = 0; i < count; i++)
        if (operands[i].message.count > 0) {
            own[end[operands[i].peer]++] = operands[i];
            *base = operands[i].data;
        }
    int64_t first = 0;
    for (int m = 0; m < members; first = end[m++]) {
        counts[m] = end[m] > first;
        types[m] = MPI_BYTE;
        if (counts[m] && !message_joined(call->scope->types, end[m] - first, &own[first], *base, &types[m]))
            return false;
    }
    return true;
}

AllToAll *all_to_all_create(OperationCall *call, int64_t send_count, const Operand *sends,
                            int64_t receive_count, const Operand *receives) {
    Arena *arena = call->scope->arena;
    const int64_t members = call->group->count;
    AllToAll *messages = arena_new(arena, AllToAll);
    *messages = (AllToAll){.send_counts = arena_array(arena, int, members),
                           .receive_counts = arena_array(arena, int, members),
                           .offsets = arena_array(arena, int, members),
                           .send_types = arena_array(arena, MPI_Datatype, members),
                           .receive_types = arena_array(arena, MPI_Datatype, members)};
    return join(call, send_count, sends, &messages->sent_from, messages->send_counts, messages->send_types) &&
                   join(call, receive_count, receives, &messages->received_at, messages->receive_counts,
                        messages->receive_types)
               ? messages
               : NULL;
}

void all_to_all_start(OperationCall *call, const AllToAll *messages) {
    if (call->scope->blocking)
        MPI_Alltoallw(messages->sent_from, messages->send_counts, messages->offsets, messages->send_types,
                      messages->received_at, messages->receive_counts, messages->offsets,
                      messages->receive_types, call->comm);
    else
        MPI_Ialltoallw(messages->sent_from, messages->send_counts, messages->offsets, messages->send_types,
                       messages->received_at, messages->receive_counts, messages->offsets,
                       messages->receive_types, call->comm, call_request(call));
}
