// SPDX-License-Identifier: BSD-3-Clause
// Compiled kernels of a context: each C text is compiled once on each node and loaded once.
#include "api/context.h"

#include <string.h>

typedef struct {
    const char *source;
    double seconds;
    LoadedKernel *kernel;
} KernelCall;

static distal_status compile(distal_context *context, void *arguments) {
    KernelCall *call = arguments;
    bool hit;
    return jit_compile(call->source, &hit, &call->seconds, context->diagnostics) ? DISTAL_OK : DISTAL_FAILED;
}

static distal_status load(distal_context *context, void *arguments) {
    KernelCall *call = arguments;
    call->kernel = arena_new(context->arena, LoadedKernel);
    return jit_load(call->source, 1, (const char *[]){"distal_kernel_0"}, &call->kernel->kernel,
                    &call->kernel->functions, context->diagnostics)
               ? DISTAL_OK
               : DISTAL_FAILED;
}

static const LoadedKernel *find(const distal_context *context, const Hash *source) {
    for (const LoadedKernel *kernel = context->kernels; kernel; kernel = kernel->next)
        if (memcmp(&kernel->source, source, sizeof *source) == 0)
            return kernel;
    return NULL;
}

distal_status kernel_provide(distal_context *context, const char *source, const KernelFunctions **functions,
                             double *seconds) {
    Hash hash = hash_create();
    hash_string(&hash, source);
    *seconds = 0;
    const LoadedKernel *found = find(context, &hash);
    if (found) {
        *functions = &found->functions;
        return DISTAL_OK;
    }
    // The first rank of each node compiles; the others find the kernel in the cache.
    KernelCall call = {.source = source};
    int node_rank;
    MPI_Comm_rank(context->node, &node_rank);
    distal_status status = node_rank == 0 ? call_continue(context, compile, &call) : DISTAL_OK;
    status = call_agree(context, status);
    if (status != DISTAL_OK)
        return status;
    status = call_agree(context, call_continue(context, load, &call));
    if (status != DISTAL_OK) {
        if (call.kernel)
            jit_unload(&call.kernel->kernel);
        return status;
    }
    call.kernel->source = hash;
    call.kernel->next = context->kernels;
    context->kernels = call.kernel;
    *functions = &call.kernel->functions;
    *seconds = call.seconds;
    return DISTAL_OK;
}

void kernels_free(distal_context *context) {
    for (LoadedKernel *kernel = context->kernels; kernel; kernel = kernel->next)
        jit_unload(&kernel->kernel);
    context->kernels = NULL;
}

typedef struct {
    distal_statement *statement;
    distal_kernel_function function, assembly;
    const KernelFunctions *functions;
    const char *id;
} CompileCall;

static distal_status generate(distal_context *context, void *arguments) {
    (void)context;
    const CompileCall *call = arguments;
    return statement_compile(call->statement);
}

distal_status distal_compile(distal_statement *statement) {
    if (!statement)
        return missing_argument(NULL, "distal_compile", "the statement");
    distal_context *context = statement->context;
    CompileCall call = {.statement = statement};
    distal_status status = call_local(context, "distal_compile", generate, &call);
    Hash hash = hash_create();
    if (status == DISTAL_OK)
        hash_string(&hash, call.statement->pipeline->c_source);
    status = call_agree_on(context, status, &hash);
    double seconds;
    if (status == DISTAL_OK && !statement->function)
        status = kernel_provide(context, call.statement->pipeline->c_source, &call.functions, &seconds);
    return status;
}

static distal_status answer_source(distal_context *context, void *arguments) {
    (void)context;
    distal_statement *statement = arguments;
    const distal_status status = statement_compile(statement);
    if (status == DISTAL_OK)
        statement_answer(statement, statement->pipeline->c_source);
    return status;
}

distal_status distal_statement_source(distal_statement *statement, const char **source) {
    return statement_return_text(statement, "distal_statement_source", answer_source, source);
}

static distal_status use(distal_context *context, void *arguments) {
    CompileCall *call = arguments;
    if (!call->function || !call->id)
        return invalid(context, "the function for the statement '%.60s', or its id, is NULL",
                       call->statement->text);
    distal_status status = generate(context, call);
    if (status != DISTAL_OK)
        return status;
    const StatementPasses *passes = &call->statement->pipeline->statements[0];
    if (passes->spmd->on_gpu)
        return invalid(context, "kernels of a GPU, as of '%.60s', cannot be compiled ahead of time yet",
                       call->statement->text);
    if (passes->structure && !call->assembly)
        return invalid(context,
                       "the entries of '%s' are found by a second function, %s_structure, which is NULL here",
                       call->statement->target, passes->function);
    if (strcmp(call->id, passes->id) != 0)
        return invalid(
            context,
            "the function was emitted for another program than '%.60s' with its schedule and the params "
            "of this context, or by another version: emit it again",
            call->statement->text);
    call->statement->function_id = copy_text(call->statement->arena, call->id);
    call->statement->function = call->function;
    call->statement->assembly = call->assembly;
    return DISTAL_OK;
}

distal_status distal_use_kernel(distal_statement *statement, distal_kernel_function function,
                                distal_kernel_function assembly, const char *id) {
    if (!statement)
        return missing_argument(NULL, "distal_use_kernel", "the statement");
    CompileCall call = {.statement = statement, .function = function, .assembly = assembly, .id = id};
    return call_end(statement->context, call_local(statement->context, "distal_use_kernel", use, &call));
}
