// SPDX-License-Identifier: BSD-3-Clause
// Elements of tensors as values of the caller: scalars, sections, whole tensors on one rank, elements from a
// function, tensors as text, and what one number says of them.
#include "api/data.h"
#include "api/file.h"

#include "base/integer.h"
#include "runtime/chunks.h"
#include "runtime/load.h"
#include "runtime/print.h"
#include "runtime/section.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    DataCall data;
    const int64_t *lo, *hi; // of the section of this rank; NULL: it has none
    Section section;
    int rank;
    distal_element_function function;
    void *argument;
} ValueCall;

// The call around its DataCall, which the functions of data.h pass on.
static ValueCall *value_call(void *arguments) {
    return arguments; // its first member
}

static distal_status check_section(distal_context *context, void *arguments) {
    ValueCall *call = value_call(arguments);
    const distal_tensor *tensor = call->data.tensor;
    const int order = tensor->tensor->order;
    call->section = (Section){
        .rect = {.order = order}, .values = call->data.data, .mode_order = layout_modes(context, order)};
    for (int d = 0; d < order; d++) {
        if (!call->lo || !call->hi)
            return invalid(context, "the bounds of the section of tensor '%s' are NULL", tensor->name);
        call->section.rect.lo[d] = call->lo[d];
        call->section.rect.hi[d] = call->hi[d];
        if (call->lo[d] < 0 || call->lo[d] > call->hi[d] || call->hi[d] > tensor->extents[d])
            return invalid(context,
                           "rank %d gives the bounds %" PRId64 " <= x < %" PRId64
                           " for mode %d of tensor '%s'; they have to be 0 <= lo <= hi <= %" PRId64,
                           context->rank, call->lo[d], call->hi[d], d, tensor->name, tensor->extents[d]);
    }
    if (!call->data.data && !rect_is_empty(&call->section.rect))
        return invalid(context, "the elements of the section of tensor '%s' are NULL", tensor->name);
    return tensor_check_home(context, call->data.tensor);
}

static distal_status read_section(distal_context *context, void *arguments) {
    const ValueCall *call = value_call(arguments);
    const int64_t count = !rect_is_empty(&call->section.rect);
    return sections_read(call->data.tensor->storage, count, &call->section, context->comm,
                         context->diagnostics)
               ? DISTAL_OK
               : DISTAL_FAILED;
}

static distal_status refuse_sparse(distal_context *context, const distal_tensor *tensor) {
    return invalid(context, "tensor '%s' is sparse: distal_tensor_entries gives it entries", tensor->name);
}

static distal_status check_written(distal_context *context, void *arguments) {
    const ValueCall *call = value_call(arguments);
    if (tensor_is_sparse(call->data.tensor->tensor))
        return refuse_sparse(context, call->data.tensor);
    const distal_status status = file_check_change(context, call->data.tensor);
    return status == DISTAL_OK ? check_section(context, arguments) : status;
}

static distal_status write_section(distal_context *context, void *arguments) {
    const ValueCall *call = value_call(arguments);
    const int64_t count = !rect_is_empty(&call->section.rect);
    return sections_write(call->data.tensor->storage, count, &call->section, context->comm,
                          context->diagnostics)
               ? DISTAL_OK
               : DISTAL_FAILED;
}

distal_status distal_section_read(distal_tensor *tensor, const int64_t *lo, const int64_t *hi, void *values) {
    ValueCall call = {.data = {.tensor = tensor, .data = values}, .lo = lo, .hi = hi};
    return data_call_collective("distal_section_read", check_section, read_section, &call.data);
}

distal_status distal_section_write(distal_tensor *tensor, const int64_t *lo, const int64_t *hi,
                                   const void *values) {
    ValueCall call = {.data = {.tensor = tensor, .data = (void *)values}, .lo = lo, .hi = hi};
    return data_call_collective("distal_section_write", check_written, write_section, &call.data);
}

static distal_status check_scalar(distal_context *context, const DataCall *call) {
    const distal_tensor *tensor = call->tensor;
    if (tensor->tensor->order != 0)
        return invalid(context,
                       "tensor '%s' has %d mode%s, and is no scalar: distal_section_read and "
                       "distal_section_write take a rectangle of it",
                       tensor->name, tensor->tensor->order, tensor->tensor->order == 1 ? "" : "s");
    return call->data ? DISTAL_OK : invalid(context, "the value of scalar '%s' is NULL", tensor->name);
}

static distal_status check_get(distal_context *context, void *arguments) {
    ValueCall *call = value_call(arguments);
    const distal_status status = check_scalar(context, &call->data);
    return status == DISTAL_OK ? check_section(context, call) : status;
}

// A scalar that is on every rank, as those without a placement are.
static distal_status get_here(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    const distal_status status = check_scalar(context, call);
    if (status != DISTAL_OK)
        return status;
    storage_get_scalar(call->tensor->storage, call->data);
    return storage_check(call->tensor->storage, context->diagnostics) ? DISTAL_OK : DISTAL_FAILED;
}

distal_status distal_get(distal_tensor *scalar, void *value) {
    ValueCall call = {.data = {.tensor = scalar, .data = value}};
    if (scalar && scalar->context && scalar->tensor->order == 0 && !scalar->tensor->placement &&
        scalar->storage)
        return data_call_local("distal_get", get_here, &call.data, scalar);
    return data_call_collective("distal_get", check_get, read_section, &call.data);
}

static distal_status set_here(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_status status = check_scalar(context, call);
    if (status == DISTAL_OK)
        status = file_check_change(context, call->tensor);
    if (status == DISTAL_OK)
        status = tensor_check_home(context, call->tensor);
    if (status != DISTAL_OK)
        return status;
    if (!tensor_allocate(call->tensor, context->diagnostics))
        return DISTAL_FAILED;
    const Storage *storage = call->tensor->storage;
    for (int64_t i = 0; i < storage->piece_count; i++) {
        const Piece value = piece_packed(&storage->pieces[i].rect, (LevelList){0}, storage->type, call->data);
        piece_copy(&storage->pieces[i], &value, &value.rect);
    }
    return storage_check(storage, context->diagnostics) ? DISTAL_OK : DISTAL_FAILED;
}

distal_status distal_set(distal_tensor *scalar, const void *value) {
    DataCall call = {.tensor = scalar, .data = (void *)value};
    return data_call_local("distal_set", set_here, &call, scalar);
}

enum { EVERY_RANK = INT_MIN };

static bool has_place(const distal_context *context, const ValueCall *call) {
    return call->rank == EVERY_RANK || call->rank == context->rank;
}

static distal_status check_gathered(distal_context *context, void *arguments) {
    ValueCall *call = value_call(arguments);
    const distal_tensor *tensor = call->data.tensor;
    if (call->rank != EVERY_RANK && (call->rank < 0 || call->rank >= context->ranks))
        return invalid(context, "there is no rank %d: the context has %d rank%s, from 0 on", call->rank,
                       context->ranks, context->ranks == 1 ? "" : "s");
    int64_t volume = 1;
    for (int d = 0; d < tensor->tensor->order; d++)
        volume = saturated_mul(volume, tensor->extents[d]);
    if (volume >= INT64_MAX / (int64_t)sizeof(double[2]))
        return invalid(context, "the whole of tensor '%s' has more elements than an array can have",
                       tensor->name);
    const int order = tensor->tensor->order;
    call->section = (Section){.rect = rect_whole(order, tensor->extents),
                              .values = call->data.data,
                              .mode_order = layout_modes(context, order)};
    if (has_place(context, call) && volume > 0 && !call->data.data)
        return invalid(context, "the place for the whole of tensor '%s' is NULL", tensor->name);
    return tensor_check_home(context, call->data.tensor);
}

static distal_status move_gathered(distal_context *context, void *arguments) {
    const ValueCall *call = value_call(arguments);
    const Storage *storage = call->data.tensor->storage;
    const int64_t count = has_place(context, call) && !rect_is_empty(&call->section.rect);
    const bool ok = call->rank == EVERY_RANK && context->layout == DISTAL_ROW_MAJOR
                        ? storage_gather_into(storage, call->data.data, context->comm, context->diagnostics)
                        : sections_read(storage, count, &call->section, context->comm, context->diagnostics);
    return ok ? DISTAL_OK : DISTAL_FAILED;
}

distal_status distal_tensor_gather(distal_tensor *tensor, void *whole) {
    ValueCall call = {.data = {.tensor = tensor, .data = whole}, .rank = EVERY_RANK};
    return data_call_collective("distal_tensor_gather", check_gathered, move_gathered, &call.data);
}

distal_status distal_tensor_gather_to(distal_tensor *tensor, int rank, void *whole) {
    char arguments[16];
    snprintf(arguments, sizeof arguments, "%d", rank);
    ValueCall call = {.data = {.tensor = tensor, .data = whole, .text = arguments}, .rank = rank};
    return data_call_collective("distal_tensor_gather_to", check_gathered, move_gathered, &call.data);
}

static distal_status check_function(distal_context *context, void *arguments) {
    const ValueCall *call = value_call(arguments);
    const distal_tensor *tensor = call->data.tensor;
    if (!call->function)
        return invalid(context, "the function for the elements of tensor '%s' is NULL", tensor->name);
    if (tensor_is_sparse(tensor->tensor))
        return refuse_sparse(context, tensor);
    const distal_status status = file_check_change(context, tensor);
    return status == DISTAL_OK ? tensor_check_home(context, call->data.tensor) : status;
}

// All elements of a piece, in row-major order.
static void fill_piece(const ValueCall *call, const Piece *piece) {
    const size_t size = type_info(piece->type)->size;
    const Rect *rect = &piece->rect;
    int64_t index[MAX_ORDER] = {0}, coordinates[MAX_ORDER];
    int mode;
    do {
        int64_t at = 0;
        for (int d = 0; d < rect->order; d++) {
            coordinates[d] = positions_at(rect_mode(rect, d), index[d]);
            at += index[d] * piece->stride[d];
        }
        call->function(coordinates, (char *)piece->data + at * (int64_t)size, call->argument);
        for (mode = rect->order - 1; mode >= 0 && ++index[mode] == rect_count(rect, mode); mode--)
            index[mode] = 0;
    } while (mode >= 0);
}

static bool fill_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    fill_piece(context, &part->piece);
    return true;
}

static distal_status move_function(distal_context *context, void *arguments) {
    const ValueCall *call = value_call(arguments);
    return chunks_visit_pieces(call->data.tensor->storage, CHUNKS_WRITE, fill_chunk, (void *)call,
                               context->diagnostics)
               ? DISTAL_OK
               : DISTAL_FAILED;
}

distal_status distal_tensor_fill_by(distal_tensor *tensor, distal_element_function function, void *argument) {
    ValueCall call = {.data = {.tensor = tensor}, .function = function, .argument = argument};
    return data_call_collective("distal_tensor_fill_by", check_function, move_function, &call.data);
}

static distal_status check_home(distal_context *context, void *arguments) {
    return tensor_check_home(context, ((DataCall *)arguments)->tensor);
}

static distal_status move_print(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    Text text = text_create(context->scratch);
    if (!storage_print(call->tensor->storage, call->tensor->name, &text, context->comm, context->diagnostics))
        return DISTAL_FAILED;
    if (context->rank == 0 && (fputs(text_string(&text), stdout) < 0 || fflush(stdout) != 0)) {
        diagnostics_error(context->diagnostics, (Span){0}, "tensor '%s' cannot be written to standard output",
                          call->tensor->name);
        return DISTAL_FAILED;
    }
    return DISTAL_OK;
}

distal_status distal_tensor_print(distal_tensor *tensor) {
    return data_call_collective("distal_tensor_print", check_home, move_print, &(DataCall){.tensor = tensor});
}

typedef struct {
    const char *what;
    const distal_tensor *a, *b;
    ElementType type;
    const void *place; // for the number
    const char *statement;
    distal_tensor *result;
} NumberCall;

static const char *access_text(Arena *arena, const distal_tensor *tensor) {
    Text text = text_create(arena);
    text_append(&text, tensor->name);
    for (int d = 0; d < tensor->tensor->order; d++)
        text_printf(&text, "%si%d", d ? ", " : "(", d);
    text_append(&text, tensor->tensor->order ? ")" : "");
    return text_string(&text);
}

// The scalar and the statement that computes it, by names that no other call uses.
static distal_status write_number(distal_context *context, void *arguments) {
    NumberCall *call = arguments;
    const distal_tensor *a = call->a, *b = call->b;
    const bool is_norm = strcmp(call->what, "norm") == 0;
    if (!call->place)
        return invalid(context, "the place for the %s is NULL", is_norm ? "norm" : "product");
    if (b->context != context)
        return invalid(context, "tensors '%s' and '%s' belong to different contexts", a->name, b->name);
    if (a->tensor->order != b->tensor->order ||
        memcmp(a->extents, b->extents, sizeof(int64_t) * (size_t)a->tensor->order) != 0)
        return invalid(context, "tensors '%s' and '%s' have different extents", a->name, b->name);
    const char *name =
        arena_printf(context->scratch, "distal_%s_%s", call->what, type_info(call->type)->name);
    const char *left = access_text(context->scratch, a), *right = access_text(context->scratch, b);
    call->statement = is_norm ? arena_printf(context->kept, "%s = pow(abs(%s), 2)", name, left)
                              : arena_printf(context->kept, "%s = %s * %s", name, left, right);
    call->result = context_tensor(context, name);
    if (call->result)
        return DISTAL_OK;
    const Tensor scalar = {.name = name, .type = call->type};
    const distal_status status = tensor_declare(context, &scalar, &call->result);
    if (status == DISTAL_OK)
        call->result->is_internal = true;
    return status;
}

static distal_status compute_number(const char *name, NumberCall *call, void *value) {
    distal_context *context = call->a->context;
    context->within = name;
    distal_status status = call_agree(context, call_local(context, name, write_number, call));
    if (status == DISTAL_OK)
        status = distal_compute(context, call->statement);
    // The result is on every rank. Unlike distal_get this takes no memory, so no rank fails alone.
    if (status == DISTAL_OK)
        storage_get_scalar(call->result->storage, value);
    context->within = NULL;
    return status;
}

distal_status distal_norm(distal_tensor *tensor, double *norm) {
    if (!tensor || !tensor->context)
        return missing_argument(NULL, "distal_norm", "the tensor");
    double sum = 0;
    NumberCall call = {.what = "norm", .a = tensor, .b = tensor, .type = TYPE_F64, .place = norm};
    const distal_status status = compute_number("distal_norm", &call, &sum);
    if (norm)
        *norm = sqrt(sum);
    return status;
}

distal_status distal_dot(distal_tensor *a, distal_tensor *b, void *dot) {
    if (!a || !a->context || !b || !b->context)
        return missing_argument(a ? a->context : NULL, "distal_dot", "a tensor");
    const ElementType type = type_promote(a->tensor->type, b->tensor->type);
    NumberCall call = {.what = "dot", .a = a, .b = b, .type = type, .place = dot};
    return compute_number("distal_dot", &call, dot);
}
