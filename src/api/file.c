// SPDX-License-Identifier: BSD-3-Clause
// Tensors in disk whose home is a file of the caller that all ranks share.
#include "api/file.h"

#include "api/data.h"
#include "runtime/shared_file.h"
#include "runtime/wait.h"

#include <string.h>

// A tensor that gets a home in a file. Until the file is open, what the tensor has stays as it is.
typedef struct {
    distal_tensor *tensor;
    const char *path;
    HomeFile file;
    SourceSpec source; // of an input
    Arena *arena;      // of the new home; NULL: it has not been found
    Home home;
    Storage *storage; // there
    // Of FILE_SHARED_WRITTEN, once the home has been found.
    Output *output;
    const char *output_path;
} FileAttachment;

static distal_status check_tensor(distal_context *context, const distal_tensor *tensor, const char *path,
                                  FileUse use) {
    const char *refusal = file_home_refusal(tensor->tensor, use);
    if (!path)
        return invalid(context, "the path of the file for tensor '%s' is NULL", tensor->name);
    if (refusal)
        return invalid(context, "tensor '%s' %s: it cannot be in a file", tensor->name, refusal);
    const char *by = data_placed_by(tensor);
    return by ? invalid(
                    context,
                    "tensor '%s' moves when '%s' gets other entries, by which it is placed, and cannot be in "
                    "a file",
                    tensor->name, by)
              : DISTAL_OK;
}

static distal_status check_format(distal_context *context, const FileAttachment *attachment,
                                  const FileFormat *format, FileUse use) {
    const char *need = file_home_need(format, use, context->scratch);
    return need ? invalid(context, "tensor '%s' cannot be in '%s': it needs %s", attachment->tensor->name,
                          attachment->path, need)
                : DISTAL_OK;
}

static distal_status check_input(distal_context *context, void *arguments) {
    FileAttachment *attachment = arguments;
    const distal_tensor *tensor = attachment->tensor;
    const distal_status status = check_tensor(context, tensor, attachment->path, FILE_READ);
    if (status != DISTAL_OK)
        return status;
    const distal_status fits = check_format(context, attachment, file_format_of(attachment->path), FILE_READ);
    if (fits != DISTAL_OK)
        return fits;
    if (!source_parse(attachment->path, tensor->tensor, context->scratch, &attachment->source,
                      context->diagnostics))
        return DISTAL_INVALID;
    return check_format(context, attachment, attachment->source.format, FILE_READ); // a generator has none
}

static distal_status check_output(distal_context *context, void *arguments) {
    const FileAttachment *attachment = arguments;
    const distal_tensor *tensor = attachment->tensor;
    const distal_status status = check_tensor(context, tensor, attachment->path, FILE_WRITE);
    if (status != DISTAL_OK)
        return status;
    const FileFormat *format = file_format_of(attachment->path);
    const distal_status fits = check_format(context, attachment, format, FILE_WRITE);
    if (fits != DISTAL_OK)
        return fits;
    return file_format_check(format, FILE_WRITE, attachment->path, tensor->tensor, context->diagnostics)
               ? DISTAL_OK
               : DISTAL_INVALID;
}

static distal_status find_home(distal_context *context, void *arguments) {
    FileAttachment *attachment = arguments;
    attachment->arena = arena_create_within(attachment->tensor->arena);
    if (attachment->file == FILE_SHARED_WRITTEN) {
        attachment->output = arena_new(attachment->arena, Output);
        attachment->output->fd = -1;
        attachment->output_path = arena_string(attachment->arena, attachment->path, strlen(attachment->path));
    }
    return tensor_place(context, attachment->tensor, attachment->file, attachment->arena, &attachment->home)
               ? DISTAL_OK
               : DISTAL_INVALID;
}

static distal_status open_input(distal_context *context, void *arguments) {
    FileAttachment *attachment = arguments;
    attachment->storage = shared_file_open(&attachment->home, context->rank, &attachment->source,
                                           context->comm, context->diagnostics);
    return attachment->storage ? DISTAL_OK : DISTAL_FAILED;
}

static distal_status create_output(distal_context *context, void *arguments) {
    FileAttachment *attachment = arguments;
    attachment->storage =
        storage_create_in_output(&attachment->home, context->rank, attachment->path, draft_token_create(), 0,
                                 attachment->arena, context->comm, attachment->output, context->diagnostics);
    return attachment->storage ? DISTAL_OK : DISTAL_FAILED;
}

static void change_home(const FileAttachment *attachment) {
    distal_tensor *tensor = attachment->tensor;
    tensor_free_memory(tensor);
    tensor->storage = attachment->storage;
    tensor->output = attachment->output;
    tensor->output_path = attachment->output_path;
    arena_free(tensor->settled);
    tensor->settled = attachment->arena;
    tensor->home = attachment->home;
    tensor->home_changes++;
    tensor->file = attachment->file;
    tensor->storage->home = &tensor->home;
}

static void drop(const FileAttachment *attachment) {
    storage_free(attachment->storage);
    if (attachment->output)
        output_finish(attachment->output, false, NULL);
    arena_free(attachment->arena);
}

static distal_status attach(const char *name, CallBody check, CallBody open, FileAttachment *attachment) {
    distal_tensor *tensor = attachment->tensor;
    if (!tensor || !tensor->context)
        return missing_argument(NULL, name, "the tensor");
    distal_context *context = tensor->context;
    const Hash hash = data_fingerprint(name, tensor, attachment->path ? attachment->path : "");
    distal_status status = call_agree_on(context, call_local(context, name, check, attachment), &hash);
    if (status == DISTAL_OK)
        status = call_agree(context, call_continue(context, find_home, attachment));
    if (status == DISTAL_OK)
        status = call_agree(context, call_continue(context, open, attachment));
    if (status == DISTAL_OK)
        change_home(attachment);
    else
        drop(attachment);
    return status;
}

distal_status distal_tensor_attach_file(distal_tensor *tensor, const char *path) {
    return attach("distal_tensor_attach_file", check_input, open_input,
                  &(FileAttachment){.tensor = tensor, .path = path, .file = FILE_SHARED});
}

distal_status distal_tensor_attach_output(distal_tensor *tensor, const char *path) {
    return attach("distal_tensor_attach_output", check_output, create_output,
                  &(FileAttachment){.tensor = tensor, .path = path, .file = FILE_SHARED_WRITTEN});
}

typedef struct {
    const char *home, *path;
    bool first, same;
} PathComparison;

static bool compare_paths(void *arguments, Diagnostics *diagnostics) {
    PathComparison *comparison = arguments;
    if (!comparison->first)
        return true;
    Arena *arena = diagnostics->arena;
    const FilePath home = file_path(comparison->home, arena), path = file_path(comparison->path, arena);
    comparison->same = output_same_file(home.file, path.file, arena) &&
                       strcmp(home.array ? home.array : "", path.array ? path.array : "") == 0;
    return true;
}

distal_status file_find_home(distal_context *context, const distal_tensor *tensor, const char *path,
                             bool *is_home) {
    *is_home = false;
    if (!tensor->output)
        return DISTAL_OK;
    // The first rank gives the file its name, so it alone compares.
    PathComparison comparison = {.home = tensor->output_path, .path = path, .first = context->rank == 0};
    if (!agree_on_part(context->comm, compare_paths, &comparison, context->diagnostics))
        return DISTAL_FAILED;
    broadcast(&comparison.same, sizeof comparison.same, MPI_BYTE, 0, context->comm);
    *is_home = comparison.same;
    return DISTAL_OK;
}

distal_status file_complete(distal_context *context, distal_tensor *tensor) {
    const bool ok =
        storage_complete_output(tensor->storage, tensor->output, context->comm, context->diagnostics);
    tensor->output = NULL;
    if (ok) {
        tensor->memory++; // no plan that has been made may compute it again
        return DISTAL_OK;
    }
    tensor_free_memory(tensor);
    tensor->file = FILE_OF_RANK;
    tensor->home.known = false;
    return DISTAL_FAILED;
}

distal_status file_check_change(distal_context *context, const distal_tensor *tensor) {
    return tensor->file != FILE_OF_RANK && !tensor->output
               ? invalid(context, "tensor '%s' is in a read-only file: it cannot change", tensor->name)
               : DISTAL_OK;
}
