// SPDX-License-Identifier: BSD-3-Clause
// The elements of tensors: their pieces in memory, filled, written and gathered.
#include "api/data.h"

#include "api/balance.h"
#include "api/file.h"
#include "base/integer.h"
#include "runtime/load.h"
#include "runtime/load_sparse.h"
#include "runtime/save.h"

#include <inttypes.h>
#include <string.h>

bool tensor_is_shared(const distal_tensor *tensor) {
    return tensor->context->neighbours && tensor->tensor->order > 1 && !tensor_is_sparse(tensor->tensor) &&
           !tensor->attached;
}

void tensor_share_home(const distal_tensor *tensor, Home *home) {
    home->shared = tensor_is_shared(tensor) && neighbours_are_there(tensor->context->neighbours);
}

int64_t home_missing_bytes(const distal_context *context, const Home *home) {
    return saturated_add(home_memory_bytes(home, context->rank),
                         context->scratch_files.direct ? home_direct_bytes(home) : 0);
}

bool tensor_allocate(distal_tensor *tensor, Diagnostics *diagnostics) {
    if (tensor->storage)
        return true;
    tensor_share_home(tensor, &tensor->home);
    Storage *storage = storage_create(&tensor->home, tensor->context->rank, true,
                                      tensor->context->scratch_files, diagnostics);
    if (storage && tensor_is_sparse(tensor->tensor) && !sparse_put_nothing(storage, diagnostics)) {
        storage_free(storage);
        storage = NULL;
    }
    tensor->storage = storage;
    tensor->memory += storage != NULL;
    return storage != NULL;
}

void tensor_free_memory(distal_tensor *tensor) {
    storage_free(tensor->storage);
    if (tensor->output)
        output_finish(tensor->output, false, NULL);
    tensor->output = NULL;
    tensor->storage = NULL;
    tensor->memory++;
}

distal_status data_call_local(const char *name, CallBody body, DataCall *call, const void *place) {
    if (!call->tensor || !call->tensor->context)
        return missing_argument(NULL, name, "the tensor");
    distal_context *context = call->tensor->context;
    if (!place)
        return missing_argument(context, name, "the place for the result");
    const distal_status status = call_local(context, name, body, call);
    context->is_local = true;
    return call_end(context, status);
}

distal_status data_count_pieces(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    if (tensor_is_sparse(call->tensor->tensor))
        return invalid(context, "tensor '%s' is sparse: it has levels with arrays, and no pieces",
                       call->tensor->name);
    distal_status status = tensor_check_home(context, call->tensor);
    if (status == DISTAL_OK)
        call->count = home_pieces(&call->tensor->home, context->rank, context->scratch).rects.count;
    return status;
}

distal_status distal_tensor_piece_count(distal_tensor *tensor, int64_t *count) {
    DataCall call = {.tensor = tensor};
    distal_status status = data_call_local("distal_tensor_piece_count", data_count_pieces, &call, count);
    if (count)
        *count = call.count;
    return status;
}

const Rect *data_own_rect(const distal_tensor *tensor, int64_t index) {
    const distal_context *context = tensor->context;
    return home_pieces(&tensor->home, context->rank, context->scratch).rects.items + index;
}

distal_piece data_box(const distal_tensor *tensor, int64_t index) {
    const Rect *rect = data_own_rect(tensor, index);
    distal_piece box = {.order = rect->order};
    for (int d = 0; d < rect->order; d++) {
        box.lo[d] = rect->lo[d];
        box.hi[d] = rect->hi[d];
        box.extent[d] = rect_count(rect, d);
    }
    packed_strides(rect, tensor_levels(tensor->tensor), box.stride);
    return box;
}

static distal_status find_box(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    const distal_tensor *tensor = call->tensor;
    distal_status status = data_count_pieces(context, call);
    if (status != DISTAL_OK)
        return status;
    if (call->index < 0 || call->index >= call->count)
        return invalid(context,
                       "rank %d holds %" PRId64 " piece%s of tensor '%s', and none has index %" PRId64,
                       context->rank, call->count, call->count == 1 ? "" : "s", tensor->name, call->index);
    *call->piece = data_box(tensor, call->index);
    if (tensor->storage) {
        const Piece *own = &tensor->storage->pieces[call->index];
        memcpy(call->piece->stride, own->stride, sizeof(int64_t) * (size_t)own->rect.order);
        call->piece->data = own->data;
    }
    return DISTAL_OK;
}

distal_status distal_tensor_box(distal_tensor *tensor, int64_t index, distal_piece *piece) {
    if (piece)
        *piece = (distal_piece){0};
    return data_call_local("distal_tensor_box", find_box,
                           &(DataCall){.tensor = tensor, .index = index, .piece = piece}, piece);
}

static distal_status list_coordinates(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_piece piece = {0};
    call->piece = &piece;
    distal_status status = find_box(context, call);
    if (status != DISTAL_OK)
        return status;
    if (call->mode < 0 || call->mode >= piece.order)
        return invalid(context, "tensor '%s' has %d mode%s, and none has number %d", call->tensor->name,
                       piece.order, piece.order == 1 ? "" : "s", call->mode);
    const Rect *rect = data_own_rect(call->tensor, call->index);
    for (int64_t i = 0; i < piece.extent[call->mode]; i++)
        call->coordinates[i] = positions_at(rect_mode(rect, call->mode), i);
    return DISTAL_OK;
}

distal_status distal_tensor_coordinates(distal_tensor *tensor, int64_t index, int mode,
                                        int64_t *coordinates) {
    DataCall call = {.tensor = tensor, .index = index, .mode = mode, .coordinates = coordinates};
    return data_call_local("distal_tensor_coordinates", list_coordinates, &call, coordinates);
}

static distal_status find_piece(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_status status = find_box(context, call);
    if (status == DISTAL_OK && !call->tensor->storage) {
        // Memory of a GPU has been zeroed when the caller gets it.
        if (!tensor_allocate(call->tensor, context->diagnostics) ||
            !storage_check(call->tensor->storage, context->diagnostics))
            return DISTAL_FAILED;
        status = find_box(context, call);
    }
    return status;
}

distal_status distal_tensor_piece(distal_tensor *tensor, int64_t index, distal_piece *piece) {
    if (piece)
        *piece = (distal_piece){0};
    return data_call_local("distal_tensor_piece", find_piece,
                           &(DataCall){.tensor = tensor, .index = index, .piece = piece}, piece);
}

static distal_status find_only_piece(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_status status = data_count_pieces(context, call);
    if (status != DISTAL_OK)
        return status;
    if (call->count > 1)
        return invalid(context,
                       "rank %d holds %" PRId64
                       " pieces of tensor '%s'; distal_tensor_piece gives them one by one",
                       context->rank, call->count, call->tensor->name);
    call->piece->order = call->tensor->tensor->order;
    return call->count ? find_piece(context, call) : DISTAL_OK;
}

distal_status distal_tensor_local(distal_tensor *tensor, distal_piece *piece) {
    if (piece)
        *piece = (distal_piece){0};
    return data_call_local("distal_tensor_local", find_only_piece,
                           &(DataCall){.tensor = tensor, .piece = piece}, piece);
}

Hash data_fingerprint(const char *call, const distal_tensor *tensor, const char *text) {
    Hash hash = hash_create();
    hash_string(&hash, call);
    tensor_fingerprint(tensor, &hash);
    hash_string(&hash, text);
    return hash;
}

static distal_status allocate(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    return tensor_allocate(call->tensor, context->diagnostics) ? DISTAL_OK : DISTAL_FAILED;
}

static distal_status count_missing(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    if (!call->tensor->storage)
        call->missing = home_missing_bytes(context, &call->tensor->home);
    return DISTAL_OK;
}

static distal_status update_placement(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    return balance_update_placement(context, call->tensor);
}

const char *data_placed_by(const distal_tensor *tensor) {
    const Placement *placement = tensor->tensor->placement;
    for (int d = 0; placement && d < placement->machine->order; d++)
        if (placement->entries[d].by)
            return placement->entries[d].by;
    return NULL;
}

distal_status data_call_collective(const char *name, CallBody check, CallBody move, DataCall *call) {
    if (!call->tensor || !call->tensor->context)
        return missing_argument(NULL, name, "the tensor");
    distal_context *context = call->tensor->context;
    const Hash hash = data_fingerprint(name, call->tensor, call->text ? call->text : "");
    distal_status status = DISTAL_OK;
    // Some ranks may know the home already: local calls find it.
    if (data_placed_by(call->tensor)) {
        status = call_begin(context, name, &hash);
        if (status == DISTAL_OK)
            status = call_agree(context, call_continue(context, update_placement, call));
        if (status != DISTAL_OK)
            return status;
    }
    status = call_agree_on(context, call_local(context, name, check, call), &hash);
    if (status == DISTAL_OK) {
        status = call_continue(context, count_missing, call);
        status = call_fits(context, status, call->missing, call->tensor->name);
    }
    if (status == DISTAL_OK) {
        const bool had_memory = call->tensor->storage;
        status = call_agree(context, call_continue(context, allocate, call));
        if (status != DISTAL_OK && !had_memory)
            tensor_free_memory(call->tensor);
    }
    if (status == DISTAL_OK)
        status = call_agree(context, call_continue(context, move, call));
    return status;
}

static distal_status check_source(distal_context *context, DataCall *call) {
    if (!call->text)
        return invalid(context, "the source of tensor '%s' is NULL", call->tensor->name);
    return source_parse(call->text, call->tensor->tensor, context->scratch, &call->source,
                        context->diagnostics)
               ? DISTAL_OK
               : DISTAL_INVALID;
}

static distal_status check_fill(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_status status = check_source(context, call);
    if (status == DISTAL_OK)
        status = file_check_change(context, call->tensor);
    return status == DISTAL_OK ? tensor_check_home(context, call->tensor) : status;
}

distal_status data_put_entries(distal_context *context, distal_tensor *tensor, Entries *entries) {
    const distal_status status = balance_by(context, tensor, entries);
    if (status != DISTAL_OK)
        return status;
    const bool ok = storage_take_share(tensor->storage, entries, context->comm, context->diagnostics);
    if (ok)
        balance_settle(tensor);
    return ok ? DISTAL_OK : DISTAL_FAILED;
}

static distal_status fill_sparse(distal_context *context, const DataCall *call) {
    const Storage *storage = call->tensor->storage;
    Entries share = storage_no_entries(storage);
    distal_status status = DISTAL_FAILED;
    if (load_share(&call->source, call->tensor->name, false, storage->limit, &share, context->comm,
                   context->diagnostics))
        status = data_put_entries(context, call->tensor, &share);
    entries_free(&share);
    return status;
}

static distal_status move_fill(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    if (tensor_is_sparse(call->tensor->tensor))
        return fill_sparse(context, call);
    return storage_load(call->tensor->storage, &call->source, context->comm, context->diagnostics)
               ? DISTAL_OK
               : DISTAL_FAILED;
}

// Dense, without a placement and not used by any plan yet, which all ranks know.
static bool waits_for_home(const distal_tensor *tensor) {
    return tensor && tensor->context && !tensor->tensor->placement && !tensor->home.known &&
           !tensor_is_sparse(tensor->tensor);
}

static distal_status parse_later(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    const distal_status status = check_source(context, call);
    call->text = status == DISTAL_OK ? copy_text(call->tensor->arena, call->text) : NULL;
    return status;
}

static distal_status fill_later(DataCall *call) {
    distal_tensor *tensor = call->tensor;
    const Hash hash = data_fingerprint("distal_tensor_fill", tensor, call->text ? call->text : "");
    const distal_status status = call_agree_on(
        tensor->context, call_local(tensor->context, "distal_tensor_fill", parse_later, call), &hash);
    if (status == DISTAL_OK)
        tensor->pending = call->text;
    return status;
}

distal_status tensor_fill_pending(distal_tensor *tensor) {
    DataCall call = {.tensor = tensor, .text = tensor->pending};
    distal_context *context = tensor->context;
    distal_status status = call_agree(context, call_continue(context, check_fill, &call));
    if (status == DISTAL_OK)
        status = call_agree(context, call_continue(context, move_fill, &call));
    return status;
}

distal_status distal_tensor_fill(distal_tensor *tensor, const char *source) {
    if (waits_for_home(tensor))
        return fill_later(&(DataCall){.tensor = tensor, .text = source});
    return data_call_collective("distal_tensor_fill", check_fill, move_fill,
                                &(DataCall){.tensor = tensor, .text = source});
}

static distal_status check_write(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    if (!call->text)
        return invalid(context, "the path for tensor '%s' is NULL", call->tensor->name);
    if (!file_format_check(file_format_of(call->text), FILE_WRITE, call->text, call->tensor->tensor,
                           context->diagnostics))
        return DISTAL_INVALID;
    return tensor_check_home(context, call->tensor);
}

static distal_status move_write(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    bool is_home;
    const distal_status status = file_find_home(context, call->tensor, call->text, &is_home);
    if (status != DISTAL_OK)
        return status;
    if (is_home)
        return file_complete(context, call->tensor);
    return storage_save(call->tensor->storage, call->text, draft_token_create(), context->comm,
                        context->diagnostics)
               ? DISTAL_OK
               : DISTAL_FAILED;
}

distal_status distal_tensor_write(distal_tensor *tensor, const char *path) {
    return data_call_collective("distal_tensor_write", check_write, move_write,
                                &(DataCall){.tensor = tensor, .text = path});
}
