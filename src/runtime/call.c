// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call.h"

#include "plan/ranks.h"

const Piece *call_piece(const OperationCall *call, const Part *part) {
    const CallScope *scope = call->scope;
    if (part->stage > 0)
        return &scope->stages[part->stage - 1];
    if (part->piece >= 0 && part->stage != STAGE_VIEW)
        return &scope->storage->pieces[part->piece];
    return part->previous ? &scope->previous : &scope->view;
}

void *call_address(const Piece *piece, void *element) {
    return piece->memory == MEMORY_GPU ? device_current()->message_address(element) : element;
}

// The first element of a part, as MPI takes its address; NULL where it is empty.
static void *first_address(const OperationCall *call, const Part *part) {
    const Piece *piece = call_piece(call, part);
    return rect_is_empty(&part->rect) ? NULL : call_address(piece, piece_element(piece, &part->rect));
}

static bool describe(OperationCall *call, int64_t count, const Part *parts, Operand **operands) {
    CallScope *scope = call->scope;
    *operands = arena_array(scope->arena, Operand, count);
    for (int64_t i = 0; i < count; i++) {
        Operand *operand = &(*operands)[i];
        operand->data = first_address(call, &parts[i]);
        operand->peer = call_member(call, parts[i].peer);
        operand->message.type = message_element(scope->storage->type);
        if (operand->data &&
            !message_single(scope->types, call_piece(call, &parts[i]), &parts[i].rect, &operand->message))
            return false;
    }
    return true;
}

bool call_describe_sends(OperationCall *call) {
    return describe(call, call->plan->send_count, call->plan->sends, &call->sends);
}

bool call_describe(OperationCall *call) {
    return call_describe_sends(call) &&
           describe(call, call->plan->receive_count, call->plan->receives, &call->receives);
}

int call_member(const OperationCall *call, int64_t rank) {
    return (int)(call->group ? ranks_position(call->group->ranks, call->group->count, rank) : rank);
}

void call_settle(const OperationCall *call) {
    if (call->scope->plan->message_memory == MEMORY_GPU)
        device_current()->synchronize();
}

void call_count(const OperationCall *call) {
    call->scope->bytes += call->plan->bytes;
    call->scope->messages += call->plan->messages;
}

MPI_Request *call_request(const OperationCall *call) {
    return &call->scope->requests[call->scope->request_count++];
}

Piece call_scratch(const OperationCall *call, const Rect *rect, int64_t offset) {
    const CallScope *scope = call->scope;
    const int64_t size = (int64_t)type_info(scope->storage->type)->size;
    Piece piece = piece_packed(rect, tensor_levels(scope->storage->home->tensor), scope->storage->type,
                               (char *)scope->scratch + (call->scratch + offset) * size);
    piece.memory = scope->plan->message_memory;
    return piece;
}

static int64_t locate(const void *context, const Part *part) {
    const OperationCall *call = context;
    const Frame memory = piece_frame(call_piece(call, part));
    return frame_locate(&memory, &part->rect, tensor_levels(call->scope->storage->home->tensor));
}

Locator call_locator(const OperationCall *call) {
    return (Locator){call, locate, call->scope->plan->message_memory == MEMORY_GPU};
}

int64_t call_scratch_elements(const OperationCall *call) {
    const Locator locator = call_locator(call);
    return call->plan->operation->scratch ? call->plan->operation->scratch(call->plan, &locator) : 0;
}

Reducer call_reducer(const OperationCall *call) {
    return call->scope->plan->transfer->reducer;
}

void call_take(const OperationCall *call, const Part *part, const Piece *computed) {
    const Piece *home = call_piece(call, part);
    if (part->fresh || call->scope->plan->transfer->replaces)
        piece_copy(home, computed, &part->rect);
    else
        piece_reduce(call_reducer(call), home, computed, &part->rect);
}
