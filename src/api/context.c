// SPDX-License-Identifier: BSD-3-Clause
#include "api/context.h"

#include "memory/gpu.h"
#include "runtime/node.h"
#include "runtime/progress.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

// The number of contexts, and whether the first of them has initialized MPI.
static int live_contexts;
static bool initialized_here;

const char *distal_version(void) {
    return DISTAL_VERSION;
}

static distal_status initialize_mpi(void) {
    int initialized, finalized, provided;
    MPI_Finalized(&finalized);
    if (finalized) {
        without_context("distal_create", "MPI has been finalized");
        return DISTAL_FAILED;
    }
    MPI_Initialized(&initialized);
    if (!initialized) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
        initialized_here = true;
    }
    live_contexts++;
    return DISTAL_OK;
}

static void finalize_mpi(void) {
    if (--live_contexts > 0 || !initialized_here)
        return;
    initialized_here = false;
    int finalized;
    MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Finalize();
}

static void release(distal_context *context) {
    if (!context)
        return;
    arena_free(context->arena);
    free(context);
}

static void prepare(void *arguments) {
    distal_context *context = arguments;
    context->no_memory = diagnostics_create(context->arena, (Source){"distal", NULL});
    diagnostics_error(context->no_memory, (Span){0}, "out of memory");
    context->kept = arena_create_within(context->arena);
    context->scratch = arena_create_within(context->arena);
    context_begin_declarations(context);
}

static distal_context *allocate(MPI_Comm comm) {
    distal_context *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    MPI_Comm_size(comm, &context->ranks);
    context->gpu_memory_limit = INT64_MAX;
    context->arena = arena_create();
    if (context->arena && arena_attempt(context->arena, prepare, context))
        return context;
    release(context);
    return NULL;
}

// DISTAL_SHARED_MEMORY: "off", or how many ranks share memory at most, as if nodes were smaller; of the first
// rank, as all have to do the same.
static void find_neighbours(distal_context *context) {
    const char *value = getenv("DISTAL_SHARED_MEMORY");
    int most = value ? strcmp(value, "off") == 0 ? -1 : atoi(value) : 0;
    broadcast(&most, 1, MPI_INT, 0, context->comm);
    if (most < 0 || context->ranks == 1)
        return;
    context->neighbours = neighbours_create(context->comm, most);
    if (context->neighbours && !neighbours_nodes(context->neighbours)) {
        neighbours_free(context->neighbours);
        context->neighbours = NULL;
    }
    communicators_set_neighbours(context->communicators, context->neighbours);
}

distal_status distal_create(MPI_Comm comm, distal_context **result) {
    if (!result)
        return without_context("distal_create", "the place for the context is NULL");
    *result = NULL;
    if (comm == MPI_COMM_NULL)
        return without_context("distal_create", "the communicator is MPI_COMM_NULL");
    if (initialize_mpi() != DISTAL_OK)
        return DISTAL_FAILED;
    int is_inter;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter) {
        finalize_mpi();
        return without_context("distal_create", "an intercommunicator has no common numbering of ranks");
    }
    distal_context *context = allocate(comm);
    if (!agree(comm, context != NULL)) {
        release(context);
        without_context("distal_create", "out of memory");
        finalize_mpi();
        return DISTAL_FAILED;
    }
    duplicate(comm, &context->comm);
    MPI_Comm_rank(context->comm, &context->rank);
    MPI_Comm_split_type(context->comm, MPI_COMM_TYPE_SHARED, context->rank, MPI_INFO_NULL, &context->node);
    int rank_on_node;
    MPI_Comm_rank(context->node, &rank_on_node);
    gpu_set_rank_on_node(rank_on_node);
    wait_choose(node_is_crowded(context->node));
    context->communicators = communicators_create(context->comm);
    if (!context->communicators) {
        distal_free(context);
        return without_context("distal_create", "out of memory"), DISTAL_FAILED;
    }
    communicators_set_progress(context->communicators, progress_is_needed(context->node, context->comm));
    find_neighbours(context);
    *result = context;
    return DISTAL_OK;
}

distal_status distal_create_f(MPI_Fint comm, distal_context **result) {
    if (result)
        *result = NULL;
    // Handles of Fortran have a meaning only then.
    if (initialize_mpi() != DISTAL_OK)
        return DISTAL_FAILED;
    const distal_status status = distal_create(MPI_Comm_f2c(comm), result);
    finalize_mpi();
    return status;
}

distal_status distal_use_layout(distal_context *context, distal_layout layout) {
    if (!context)
        return missing_argument(NULL, "distal_use_layout", "the context");
    if (layout != DISTAL_ROW_MAJOR && layout != DISTAL_COLUMN_MAJOR)
        return distal_refuse(context, "distal_use_layout", "this is no distal_layout");
    context->layout = layout;
    return DISTAL_OK;
}

distal_status distal_scratch(distal_context *context, const char *folder) {
    if (!context)
        return missing_argument(NULL, "distal_scratch", "the context");
    context->scratch_files.folder = folder ? arena_string(context->arena, folder, strlen(folder)) : NULL;
    return DISTAL_OK;
}

distal_status distal_scratch_direct(distal_context *context, int direct) {
    if (!context)
        return missing_argument(NULL, "distal_scratch_direct", "the context");
    context->scratch_files.direct = direct != 0;
    return DISTAL_OK;
}

static distal_status set_stream(distal_context *context, void *stream) {
    if (!stream && !context->gpu_stream)
        return DISTAL_OK;
    const Device *device = gpu_device(context->diagnostics);
    const char *why = device && stream ? device->refuses_stream(stream) : NULL;
    if (!device || !device_check(context->diagnostics))
        return DISTAL_FAILED;
    if (why)
        return invalid(context, "the stream that rank %d gives %s", context->rank, why);
    const DeviceTicket before = device->mark(STREAM_COMPUTE);
    context->gpu_stream = stream;
    device_set_caller_stream(stream);
    if (stream)
        device->order(STREAM_COMPUTE, before);
    else
        device->wait(before);
    return device_check(context->diagnostics) ? DISTAL_OK : DISTAL_FAILED;
}

distal_status distal_gpu_stream(distal_context *context, void *stream) {
    if (!context)
        return missing_argument(NULL, "distal_gpu_stream", "the context");
    const distal_status status = call_local(context, "distal_gpu_stream", set_stream, stream);
    context->is_local = true;
    return call_end(context, status);
}

distal_status distal_gpu_memory_limit(distal_context *context, int64_t bytes) {
    if (!context)
        return missing_argument(NULL, "distal_gpu_memory_limit", "the context");
    if (bytes < 0)
        return distal_refuse(context, "distal_gpu_memory_limit", "the limit is negative");
    context->gpu_memory_limit = bytes > 0 ? bytes : INT64_MAX;
    return DISTAL_OK;
}

const int *layout_modes(const distal_context *context, int order) {
    int *modes = arena_array(context->scratch, int, order);
    for (int d = 0; d < order; d++)
        modes[d] = context->layout == DISTAL_COLUMN_MAJOR ? order - 1 - d : d;
    return modes;
}

void distal_free(distal_context *context) {
    if (!context)
        return;
    computed_forget(context, NULL);
    while (context->plans)
        distal_plan_free(context->plans);
    while (context->statements)
        distal_statement_free(context->statements);
    while (context->tensors)
        distal_tensor_free(context->tensors);
    kernels_free(context);
    device_set_caller_stream(NULL);
    int finalized;
    MPI_Finalized(&finalized);
    if (!finalized) {
        communicators_free(context->communicators);
        neighbours_free(context->neighbours);
        MPI_Comm_free(&context->node);
        MPI_Comm_free(&context->comm);
    }
    release(context);
    finalize_mpi();
}
