// SPDX-License-Identifier: BSD-3-Clause
// Tensors in disk whose home is a file of the caller that all ranks share.
#include "api/file.h"

#include "api/data.h"
#include "runtime/shared_file.h"

#include <string.h>

static distal_status check_tensor(distal_context *context, const distal_tensor *tensor, const char *path) {
    const Placement *placement = tensor->tensor->placement;
    if (!path)
        return invalid(context, "the path of the file for tensor '%s' is NULL", tensor->name);
    if (!placement || placement->memory != MEMORY_DISK || tensor_is_sparse(tensor->tensor))
        return invalid(context, "tensor '%s' is not placed in disk, and cannot be in a file", tensor->name);
    for (int d = 0; d < placement->machine->order; d++)
        if (placement->entries[d].by)
            return invalid(
                context,
                "tensor '%s' moves when '%s' gets other entries, by which it is placed, and cannot be in "
                "a file",
                tensor->name, placement->entries[d].by);
    return DISTAL_OK;
}

static distal_status check_input(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    distal_tensor *tensor = call->tensor;
    const distal_status status = check_tensor(context, tensor, call->text);
    if (status != DISTAL_OK)
        return status;
    if (!source_parse(call->text, tensor->tensor, context->scratch, &call->source, context->diagnostics))
        return DISTAL_INVALID;
    if (!call->source.format || !call->source.format->locate)
        return invalid(context,
                       "tensor '%s' cannot be in '%s': it needs a file that has it in one piece, PATH.npy or "
                       "PATH.h5:/NAME",
                       tensor->name, call->text);
    return DISTAL_OK;
}

static distal_status check_output(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    distal_tensor *tensor = call->tensor;
    const distal_status status = check_tensor(context, tensor, call->text);
    if (status != DISTAL_OK)
        return status;
    const FileFormat *format = file_format_of(call->text);
    if (!file_format_check(format, FILE_WRITE, call->text, tensor->tensor, context->diagnostics))
        return DISTAL_INVALID;
    if (!format->create || format->file_ending)
        return invalid(context, "tensor '%s' cannot be computed in '%s', but in a file PATH.npy",
                       tensor->name, call->text);
    for (int l = 0; l < tensor->tensor->order; l++)
        if (tensor->tensor->mode_order[l] != l)
            return invalid(context, "tensor '%s' is not stored by row, as files are written", tensor->name);
    return DISTAL_OK;
}

// The home, if the tensor has it in `file`.
static distal_status find_home(distal_context *context, distal_tensor *tensor, HomeFile file) {
    tensor->file = file;
    tensor->home.known = false;
    return tensor_check_home(context, tensor);
}

static distal_status find_input_home(distal_context *context, void *arguments) {
    return find_home(context, ((DataCall *)arguments)->tensor, FILE_SHARED);
}

static distal_status find_output_home(distal_context *context, void *arguments) {
    return find_home(context, ((DataCall *)arguments)->tensor, FILE_SHARED_WRITTEN);
}

// Takes the storage that has been opened instead of what the tensor had.
static void take(distal_tensor *tensor, Storage *storage, InPlaceOutput *output, const char *path) {
    tensor_free_memory(tensor);
    tensor->storage = storage;
    tensor->output = output;
    tensor->output_path = path;
    tensor->only_read = !output;
}

static distal_status open_input(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    Storage *storage = shared_file_open(&call->tensor->home, context->rank, &call->source, context->comm,
                                        context->diagnostics);
    if (!storage)
        return DISTAL_FAILED;
    take(call->tensor, storage, NULL, NULL);
    return DISTAL_OK;
}

static distal_status create_output(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    distal_tensor *tensor = call->tensor;
    Storage *storage;
    InPlaceOutput *output = output_in_place(&tensor->home, context->rank, call->text, draft_token_create(), 0,
                                            tensor->arena, context->comm, &storage, context->diagnostics);
    if (!output)
        return DISTAL_FAILED;
    take(tensor, storage, output, copy_text(tensor->arena, call->text));
    return DISTAL_OK;
}

static distal_status attach(const char *name, CallBody check, CallBody place, CallBody open, DataCall *call) {
    distal_tensor *tensor = call->tensor;
    if (!tensor || !tensor->context)
        return missing_argument(NULL, name, "the tensor");
    distal_context *context = tensor->context;
    const HomeFile before = tensor->file;
    const Hash hash = data_fingerprint(name, tensor, call->text ? call->text : "");
    distal_status status = call_agree_on(context, call_local(context, name, check, call), &hash);
    if (status != DISTAL_OK)
        return status;
    status = call_agree(context, call_continue(context, place, call));
    if (status == DISTAL_OK)
        status = call_agree(context, call_continue(context, open, call));
    if (status != DISTAL_OK) {
        // What it had stays; the next call finds its home again.
        tensor->file = before;
        tensor->home.known = false;
    }
    return status;
}

distal_status distal_tensor_attach_file(distal_tensor *tensor, const char *path) {
    return attach("distal_tensor_attach_file", check_input, find_input_home, open_input,
                  &(DataCall){.tensor = tensor, .text = path});
}

distal_status distal_tensor_attach_output(distal_tensor *tensor, const char *path) {
    return attach("distal_tensor_attach_output", check_output, find_output_home, create_output,
                  &(DataCall){.tensor = tensor, .text = path});
}

bool file_is_home(const distal_tensor *tensor, const char *path) {
    return tensor->output && strcmp(tensor->output_path, path) == 0;
}

distal_status file_complete(distal_context *context, distal_tensor *tensor) {
    const SourceSpec source = {.text = tensor->output_path, .format = file_format_of(tensor->output_path)};
    Storage *storage = NULL;
    if (output_in_place_end(tensor->output, context->comm, context->diagnostics))
        storage =
            shared_file_open(&tensor->home, context->rank, &source, context->comm, context->diagnostics);
    take(tensor, storage, NULL, NULL);
    if (storage)
        return DISTAL_OK;
    tensor->only_read = false;
    tensor->file = FILE_OF_RANK;
    tensor->home.known = false;
    return DISTAL_FAILED;
}

distal_status file_check_change(distal_context *context, const distal_tensor *tensor) {
    return tensor->only_read
               ? invalid(context, "tensor '%s' is in a file that is only read: it cannot change",
                         tensor->name)
               : DISTAL_OK;
}
