// SPDX-License-Identifier: BSD-3-Clause
// Local: what a rank has at home, but not in one piece of the extents of the view, is copied into the view;
// what it has computed of its own home is added there.
#include "runtime/call.h"

static void start(OperationCall *call) {
    const CallScope *scope = call->scope;
    const bool adds = scope->plan->transfer->kind == TRANSFER_REDUCE;
    for (int64_t i = 0; i < call->plan->receive_count; i++) {
        const Part *part = &call->plan->receives[i];
        const Piece *home = call_piece(call, part);
        // Where it is added to a home, both are in the same memory.
        const bool on_host =
            scope->plan->through_host || (adds && !part->fresh && home->memory != scope->leaf_view.memory);
        const Piece *view = on_host ? &scope->view : &scope->leaf_view;
        if (adds)
            call_take(call, part, view);
        else
            piece_copy(view, home, &part->rect);
    }
}

// No situation is recognized as local: plans add what needs no message themselves.
const Operation operation_local = {OPERATION_LOCAL,    "local",       TRANSFER_FETCH, SHAPE_MESSAGES,
                                   .serves_all = true, .start = start};
