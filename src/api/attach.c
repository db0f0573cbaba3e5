// SPDX-License-Identifier: BSD-3-Clause
// Tensors in memory of the caller: which memory that can be, and its strides.
#include "api/data.h"
#include "base/integer.h"
#include "memory/gpu.h"

#include <inttypes.h>
#include <string.h>

// Whether no two elements overlap: the stride of each mode spans the modes with smaller strides.
static bool check_strides(const distal_tensor *tensor, const Piece *piece, Diagnostics *diagnostics) {
    int modes[MAX_ORDER];
    const Frame frame = piece_frame(piece);
    const int count = frame_modes(&frame, &piece->rect, modes);
    int64_t reach = 1; // elements that the modes so far span
    for (int i = 0; i < count; i++) {
        const int64_t extent = rect_count(&piece->rect, modes[i]);
        const int64_t stride = piece->stride[modes[i]];
        int64_t length;
        if (stride < reach)
            return diagnostics_error(diagnostics, (Span){0},
                                     "mode %d of tensor '%s' has stride %" PRId64
                                     ", and the modes with smaller strides extend over %" PRId64
                                     " element%s: elements would overlap",
                                     modes[i], tensor->name, stride, reach, reach == 1 ? "" : "s");
        if (!checked_mul(stride, extent - 1, &length) || !checked_add(reach, length, &reach))
            return diagnostics_error(diagnostics, (Span){0}, "the strides of tensor '%s' overflow 64 bits",
                                     tensor->name);
    }
    return true;
}

// Whether kernels support the strides of the piece: the mode that is stored last has stride 1, and the stride
// of each other mode spans the modes stored after it. Replaces the strides of modes with one coordinate,
// which are not used, by such strides.
static bool suits_kernels(const distal_tensor *tensor, Piece *piece) {
    const int last = piece->rect.order - 1;
    int64_t reach = 1;
    for (int l = last; l >= 0; l--) {
        const int mode = tensor->tensor->mode_order[l];
        const int64_t extent = rect_count(&piece->rect, mode);
        int64_t *stride = &piece->stride[mode];
        if (extent == 1)
            *stride = reach;
        else if (*stride < reach || (l == last && *stride != 1))
            return false;
        reach += *stride * (extent - 1);
    }
    return true;
}

static bool same_box(const Rect *rect, const distal_piece *piece) {
    const size_t bytes = sizeof(int64_t) * (size_t)rect->order;
    return piece->order == rect->order && memcmp(piece->lo, rect->lo, bytes) == 0 &&
           memcmp(piece->hi, rect->hi, bytes) == 0;
}

static distal_status check_host_memory(distal_context *context, const distal_tensor *tensor,
                                       const Piece *piece) {
    const size_t alignment = type_info(type_component(piece->type))->size;
    return (uintptr_t)piece->data % alignment == 0
               ? DISTAL_OK
               : invalid(context,
                         "the memory that rank %d gives for tensor '%s' is not aligned to %zu bytes, as "
                         "elements of %s are",
                         context->rank, tensor->name, alignment, type_info(piece->type)->name);
}

// Whether the GPU of this rank can use the memory, of a piece in gpu.
static distal_status check_gpu_memory(distal_context *context, const distal_tensor *tensor,
                                      const Piece *piece) {
    const Device *device = gpu_device(context->diagnostics);
    if (!device)
        return DISTAL_FAILED;
    const Frame frame = piece_frame(piece);
    const int64_t size = (int64_t)type_info(piece->type)->size;
    int64_t bytes;
    if (!checked_mul(frame_span(&frame), size, &bytes))
        return invalid(context, "the strides of tensor '%s' overflow 64 bits", tensor->name);
    const char *why = device->refuses(piece->data, bytes);
    if (!device_check(context->diagnostics))
        return DISTAL_FAILED;
    if (!why && (uintptr_t)piece->data % (uintptr_t)size != 0)
        why = "is not aligned to the size of an element";
    return why ? invalid(context, "the memory that rank %d gives for tensor '%s', which is in gpu, %s",
                         context->rank, tensor->name, why)
               : DISTAL_OK;
}

static distal_status wrap_pieces(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_tensor *tensor = call->tensor;
    const int64_t given = call->count;
    distal_status status = data_count_pieces(context, call);
    if (status != DISTAL_OK)
        return status;
    if (tensor->home.memory == MEMORY_DISK)
        return invalid(context, "tensor '%s' is in disk, and cannot use the memory of the caller",
                       tensor->name);
    if (given != call->count)
        return invalid(context,
                       "rank %d holds %" PRId64 " piece%s of tensor '%s', and memory is given for %" PRId64,
                       context->rank, call->count, call->count == 1 ? "" : "s", tensor->name, given);
    if (given > 0 && !call->pieces)
        return invalid(context, "the pieces of tensor '%s' are NULL", tensor->name);
    Piece *pieces = arena_array(context->scratch, Piece, given);
    for (int64_t i = 0; i < given; i++) {
        const Rect *rect = data_own_rect(tensor, i);
        if (!same_box(rect, &call->pieces[i]))
            return invalid(context,
                           "piece %" PRId64
                           " of tensor '%s' does not have the coordinates that distal_tensor_box gives",
                           i, tensor->name);
        if (!call->pieces[i].data)
            return invalid(context, "rank %d holds a part of tensor '%s', and the memory for it is NULL",
                           context->rank, tensor->name);
        pieces[i] = (Piece){.rect = *rect,
                            .type = tensor->tensor->type,
                            .memory = tensor->home.memory,
                            .data = call->pieces[i].data};
        memcpy(pieces[i].stride, call->pieces[i].stride, sizeof(int64_t) * (size_t)rect->order);
        if (!check_strides(tensor, &pieces[i], context->diagnostics))
            return DISTAL_INVALID;
        if (!rect_is_empty(rect))
            status = (pieces[i].memory == MEMORY_GPU ? check_gpu_memory : check_host_memory)(context, tensor,
                                                                                             &pieces[i]);
        if (status != DISTAL_OK)
            return status;
        call->spread = !suits_kernels(tensor, &pieces[i]) || call->spread;
    }
    call->storage = storage_wrap(&tensor->home, context->rank, pieces);
    return call->storage ? DISTAL_OK : out_of_memory(context);
}

static distal_status wrap_one(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_status status = data_count_pieces(context, call);
    if (status != DISTAL_OK)
        return status;
    if (call->count > 1)
        return invalid(context,
                       "rank %d holds %" PRId64
                       " pieces of tensor '%s'; distal_tensor_attach_pieces takes memory for each",
                       context->rank, call->count, call->tensor->name);
    distal_piece piece = {0};
    call->pieces = &piece;
    if (call->count == 1) {
        piece = data_box(call->tensor, 0);
        piece.data = call->data;
        if (call->stride)
            memcpy(piece.stride, call->stride, sizeof(int64_t) * (size_t)piece.order);
    }
    return wrap_pieces(context, call);
}

static distal_status attach(const char *name, CallBody body, DataCall *call) {
    distal_tensor *tensor = call->tensor;
    if (!tensor || !tensor->context)
        return missing_argument(NULL, name, "the tensor");
    const Hash hash = data_fingerprint(name, tensor, "");
    distal_status status =
        call_agree_on(tensor->context, call_local(tensor->context, name, body, call), &hash);
    if (status != DISTAL_OK) {
        storage_free(call->storage);
        return status;
    }
    storage_free(tensor->storage);
    tensor->storage = call->storage;
    tensor->spread = call->spread;
    tensor->attached = true;
    tensor->memory++;
    return DISTAL_OK;
}

distal_status distal_tensor_attach(distal_tensor *tensor, void *data, const int64_t *stride) {
    return attach("distal_tensor_attach", wrap_one,
                  &(DataCall){.tensor = tensor, .data = data, .stride = stride});
}

distal_status distal_tensor_attach_pieces(distal_tensor *tensor, int64_t count, const distal_piece *pieces) {
    return attach("distal_tensor_attach_pieces", wrap_pieces,
                  &(DataCall){.tensor = tensor, .count = count, .pieces = pieces});
}
