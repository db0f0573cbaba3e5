// SPDX-License-Identifier: BSD-3-Clause
// Functions with which public calls begin, fail, and agree with the other ranks.
#include "api/context.h"

#include "base/integer.h"
#include "memory/device.h"
#include "runtime/node.h"
#include "runtime/wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local char last_without_context[256];

// What a caller has asked for when a call fails. A failure that all ranks have in common is that of the first
// one: the others do not print, and give it time to do so before they end the program, as a rank may
// have failed alone that should not have.
static void act_on_error(distal_error_action action, MPI_Comm comm, int rank, bool is_common,
                         const char *text) {
    if (action == DISTAL_ERRORS_RETURN)
        return;
    if (is_common && rank > 0 && action == DISTAL_ERRORS_ABORT)
        sleep(1);
    if (!is_common || rank == 0 || action == DISTAL_ERRORS_ABORT)
        fputs(text, stderr);
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (action != DISTAL_ERRORS_ABORT)
        return;
    if (initialized)
        MPI_Abort(comm, 1);
    abort();
}

const char *distal_error(const distal_context *context) {
    if (!context)
        return last_without_context;
    return context->failure.text ? context->failure.text : "";
}

distal_status distal_diagnostics(const distal_context *context, int64_t *count,
                                 const distal_diagnostic **diagnostics) {
    if (count)
        *count = 0;
    if (diagnostics)
        *diagnostics = NULL;
    if (!context || !count || !diagnostics)
        return without_context("distal_diagnostics",
                               context ? "a place for the result is NULL" : "the context is NULL");
    *count = context->failure.count;
    *diagnostics = context->failure.items;
    return DISTAL_OK;
}

// Where a call fails that has no context.
static distal_error_action on_error_without_context;

distal_status without_context(const char *call, const char *what) {
    snprintf(last_without_context, sizeof last_without_context, "%s: error: %s\n", call, what);
    act_on_error(on_error_without_context, MPI_COMM_WORLD, 0, false, last_without_context);
    return DISTAL_INVALID;
}

distal_status distal_on_error(distal_context *context, distal_error_action action) {
    if ((int)action < DISTAL_ERRORS_RETURN || (int)action > DISTAL_ERRORS_ABORT) {
        char message[64];
        snprintf(message, sizeof message, "%d is no distal_error_action", (int)action);
        return distal_refuse(context, "distal_on_error", message);
    }
    *(context ? &context->on_error : &on_error_without_context) = action;
    return DISTAL_OK;
}

void distal_check(const distal_context *context, distal_status status) {
    if (status == DISTAL_OK)
        return;
    if (!context)
        act_on_error(DISTAL_ERRORS_ABORT, MPI_COMM_WORLD, 0, false, last_without_context);
    else
        act_on_error(DISTAL_ERRORS_ABORT, context->comm, context->rank, !context->is_local,
                     context->on_error == DISTAL_ERRORS_RETURN ? distal_error(context) : "");
}

static distal_status report(distal_context *context, void *arguments) {
    return invalid(context, "%s", (const char *)arguments);
}

distal_status distal_refuse(distal_context *context, const char *call, const char *message) {
    call = call ? call : "distal_refuse";
    message = message ? message : "the message is NULL";
    if (!context)
        return without_context(call, message);
    return call_end(context, call_local(context, call, report, (void *)message));
}

distal_status missing_argument(distal_context *context, const char *call, const char *what) {
    char message[128];
    snprintf(message, sizeof message, "%s is NULL", what);
    return distal_refuse(context, call, message);
}

distal_status out_of_memory(distal_context *context) {
    context->diagnostics = context->no_memory;
    return DISTAL_FAILED;
}

distal_status call_run_passes(distal_context *context, Pipeline *pipeline, Pass last) {
    pipeline->diagnostics = context->diagnostics;
    if (pipeline_run(pipeline, last))
        return DISTAL_OK;
    return pipeline->diagnostics == pipeline->no_memory ? out_of_memory(context) : DISTAL_INVALID;
}

typedef struct {
    CallBody body;
    void *arguments;
    distal_context *context;
    distal_status status;
} BodyRun;

static void run_part(void *arguments) {
    BodyRun *part = arguments;
    part->status = part->body(part->context, part->arguments);
}

static distal_status guarded(distal_context *context, CallBody body, void *arguments) {
    BodyRun part = {body, arguments, context, DISTAL_OK};
    return arena_attempt(context->arena, run_part, &part) ? part.status : out_of_memory(context);
}

static distal_status begin(distal_context *context, void *arguments) {
    const BodyRun *first = arguments;
    context->diagnostics = diagnostics_create(context->scratch, (Source){context->call, NULL});
    context->build.diagnostics = context->diagnostics;
    // Agreements may have added errors of other ranks.
    if (context->no_memory)
        context->no_memory->errors = context->no_memory->list.count = 1;
    return first->body(context, first->arguments);
}

distal_status call_local(distal_context *context, const char *call, CallBody body, void *arguments) {
    context->call = context->within ? context->within : call;
    context->is_local = false;
    device_set_caller_stream(context->gpu_stream);
    arena_reset(context->scratch);
    return guarded(context, begin, &(BodyRun){body, arguments, context, DISTAL_OK});
}

distal_status call_continue(distal_context *context, CallBody body, void *arguments) {
    return guarded(context, body, arguments);
}

static distal_status keep(distal_context *context, void *arguments) {
    static const distal_severity severities[] = {
        [SEVERITY_ERROR] = DISTAL_ERROR, [SEVERITY_WARNING] = DISTAL_WARNING, [SEVERITY_NOTE] = DISTAL_NOTE};
    Failure *failure = arguments;
    arena_reset(context->kept);
    const char *source = copy_text(context->kept, context->diagnostics->source.name);
    Text text = text_create(context->kept);
    diagnostics_print(context->diagnostics, &text);
    const int64_t count = context->diagnostics->list.count;
    distal_diagnostic *items = arena_array(context->kept, distal_diagnostic, count);
    for (int64_t i = 0; i < count; i++) {
        const Diagnostic *from = &context->diagnostics->list.items[i];
        items[i] = (distal_diagnostic){.severity = severities[from->severity],
                                       .message = copy_text(context->kept, from->message),
                                       .source = source,
                                       .line = from->span.line,
                                       .column = from->span.column,
                                       .length = from->span.length};
    }
    *failure = (Failure){text_string(&text), count, items};
    return DISTAL_OK;
}

static void keep_failure(distal_context *context) {
    static const distal_diagnostic out_of_memory = {
        .severity = DISTAL_ERROR, .message = "out of memory", .source = "distal"};
    context->failure = (Failure){"distal: error: out of memory\n", 1, &out_of_memory};
    Failure failure = {0};
    // If there was no memory for the diagnostics, only that is reported.
    if (context->diagnostics->errors + context->diagnostics->warnings > 0 &&
        guarded(context, keep, &failure) == DISTAL_OK)
        context->failure = failure;
}

distal_status call_end(distal_context *context, distal_status status) {
    if (status == DISTAL_OK && context->diagnostics->warnings == 0)
        return status;
    keep_failure(context);
    if (status == DISTAL_OK) {
        context->diagnostics->warnings = 0; // calls within this one end as well
        if (context->on_error != DISTAL_ERRORS_RETURN)
            act_on_error(DISTAL_ERRORS_PRINT, context->comm, context->rank, true, distal_error(context));
        return status;
    }
    act_on_error(context->on_error, context->comm, context->rank, !context->is_local, distal_error(context));
    return status;
}

typedef struct {
    distal_status status;
} Agreement;

static distal_status share_error(distal_context *context, void *arguments) {
    const Agreement *own = arguments;
    agree_on(context->comm, own->status == DISTAL_OK, context->diagnostics);
    return DISTAL_OK;
}

distal_status call_agree_most(distal_context *context, distal_status status, const Hash *fingerprint,
                              int64_t *most) {
    // Values are equal on all ranks if their maximum is their minimum.
    int64_t values[] = {status, 0, 0, *most};
    if (fingerprint) {
        values[1] = (int64_t)(fingerprint->lanes[0] >> 1);
        values[2] = -values[1];
    }
    all_reduce(values, 4, MPI_INT64_T, MPI_MAX, context->comm);
    distal_status all = (distal_status)values[0];
    *most = values[3];
    if (all != DISTAL_OK) {
        call_continue(context, share_error, &(Agreement){status});
    } else if (values[1] != -values[2]) {
        // All ranks know this without a further message.
        all = DISTAL_INVALID;
        diagnostics_error(
            context->diagnostics, (Span){0},
            "the ranks have made different calls: declarations, statements, values of params and "
            "arguments have to be the same on all ranks, in the same order");
    }
    return call_end(context, all);
}

distal_status call_agree_on(distal_context *context, distal_status status, const Hash *fingerprint) {
    int64_t most = 0;
    return call_agree_most(context, status, fingerprint, &most);
}

distal_status call_agree(distal_context *context, distal_status status) {
    return call_agree_on(context, status, NULL);
}

static distal_status do_nothing(distal_context *context, void *arguments) {
    (void)context;
    (void)arguments;
    return DISTAL_OK;
}

distal_status call_begin(distal_context *context, const char *call, const Hash *fingerprint) {
    return call_agree_on(context, call_local(context, call, do_nothing, NULL), fingerprint);
}

typedef struct {
    double needed, available;
    const char *what;
} Shortage;

static distal_status report_shortage(distal_context *context, void *arguments) {
    const Shortage *shortage = arguments;
    diagnostics_error(
        context->diagnostics, (Span){0},
        "not enough memory for %s: the ranks of a node need %.4g GB together, and %.4g are free",
        shortage->what, 1e-9 * shortage->needed, 1e-9 * shortage->available);
    return DISTAL_FAILED;
}

// Bytes of all ranks of a node together that are not worth a check: an MPI library uses more.
enum { UNCHECKED_BYTES = 1 << 24 };

distal_status call_fits(distal_context *context, distal_status status, int64_t bytes, const char *what) {
    int node_ranks;
    MPI_Comm_size(context->node, &node_ranks);
    int64_t most = saturated_mul(bytes, node_ranks);
    status = call_agree_most(context, status, NULL, &most);
    if (status != DISTAL_OK || most <= UNCHECKED_BYTES)
        return status;
    // As real numbers, which do not overflow.
    Shortage shortage = {.needed = (double)bytes, .what = what};
    all_reduce(&shortage.needed, 1, MPI_DOUBLE, MPI_SUM, context->node);
    shortage.available = (double)node_free_memory(context->node);
    if (shortage.available >= 0 && shortage.needed > shortage.available)
        status = call_continue(context, report_shortage, &shortage);
    return call_agree(context, status);
}

distal_status invalid(distal_context *context, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diagnostics_error(context->diagnostics, (Span){0}, "%s", message);
    return DISTAL_INVALID;
}

const char *copy_text(Arena *arena, const char *text) {
    return text ? arena_string(arena, text, strlen(text)) : NULL;
}
