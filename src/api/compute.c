// SPDX-License-Identifier: BSD-3-Clause
// Statements that are computed by their text, each planned once and kept: a table from texts to plans.
#include "api/plan.h"

#include <stdlib.h>
#include <string.h>

struct ComputedStatement {
    ComputedStatement *next; // in its bucket
    uint64_t hash;
    char *text;
    distal_statement *statement;
    distal_plan *plan;
    int64_t used; // the number of the latest call that executed it
};

// A program that writes numbers into its texts may have any number of them.
enum { MOST_COMPUTED = 256 };

static uint64_t hash_of(const char *text) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static void release(ComputedStatement *entry) {
    distal_plan_free(entry->plan);
    distal_statement_free(entry->statement);
    free(entry->text);
    free(entry);
}

static bool mentions(const ComputedStatement *entry, const distal_tensor *tensor) {
    for (int t = 0; t < entry->plan->tensor_count; t++)
        if (entry->plan->uses && entry->plan->uses[t].tensor == tensor)
            return true;
    return false;
}

void computed_forget(distal_context *context, const distal_tensor *tensor) {
    for (int b = 0; b < COMPUTED_BUCKETS; b++)
        for (ComputedStatement **at = &context->computed[b]; *at;) {
            ComputedStatement *entry = *at;
            if (tensor && !mentions(entry, tensor)) {
                at = &entry->next;
                continue;
            }
            *at = entry->next;
            context->computed_count--;
            release(entry);
        }
}

// Makes room for another one: forgets the one that has not been executed for longest, the same on all ranks.
static void forget_oldest(distal_context *context) {
    if (context->computed_count < MOST_COMPUTED)
        return;
    ComputedStatement **oldest = NULL;
    for (int b = 0; b < COMPUTED_BUCKETS; b++)
        for (ComputedStatement **at = &context->computed[b]; *at; at = &(*at)->next)
            if (!oldest || (*at)->used < (*oldest)->used)
                oldest = at;
    ComputedStatement *entry = *oldest;
    *oldest = entry->next;
    context->computed_count--;
    release(entry);
}

// Whether the plan is what a new one would be: its tensors have the memory that they had, and the params that
// the context had then have their values.
static bool is_current(const distal_context *context, const ComputedStatement *entry) {
    const distal_plan *plan = entry->plan;
    for (int t = 0; plan->uses && t < plan->tensor_count; t++)
        if (plan->uses[t].tensor && plan->uses[t].tensor->memory != plan->uses[t].memory)
            return false;
    return plan->uses && memcmp(plan->program->params, context->build.param_values.items,
                                sizeof(int64_t) * (size_t)plan->program->param_count) == 0;
}

static distal_status make(distal_context *context, const char *text, uint64_t hash,
                          ComputedStatement **made) {
    distal_statement *statement;
    distal_plan *plan = NULL;
    // What is wrong is reported once, by the agreement, which shows the text of the caller: the statement is
    // gone.
    const distal_error_action action = context->on_error;
    context->on_error = DISTAL_ERRORS_RETURN;
    distal_status status = distal_statement_create(context, text, &statement);
    context->on_error = action;
    if (statement)
        statement->is_computed = true;
    else if (context->diagnostics != context->no_memory)
        context_show(context, NULL, text);
    // A plan that fails on one rank, such as one that lacks the statement, fails on all.
    status = call_agree(context, status);
    if (status == DISTAL_OK)
        status = distal_plan_create(statement, &plan);
    ComputedStatement *entry = status == DISTAL_OK ? calloc(1, sizeof *entry) : NULL;
    char *copy = entry ? strdup(text) : NULL;
    if (!agree(context->comm, copy != NULL) || !entry) {
        distal_plan_free(plan);
        distal_statement_free(statement);
        free(copy);
        free(entry);
        return status != DISTAL_OK ? status : call_end(context, out_of_memory(context));
    }
    forget_oldest(context);
    *entry = (ComputedStatement){.next = context->computed[hash % COMPUTED_BUCKETS],
                                 .hash = hash,
                                 .text = copy,
                                 .statement = statement,
                                 .plan = plan};
    context->computed[hash % COMPUTED_BUCKETS] = entry;
    context->computed_count++;
    *made = entry;
    return DISTAL_OK;
}

static distal_status refuse_text(distal_context *context, void *arguments) {
    (void)arguments;
    return invalid(context, "the text of the statement is NULL");
}

distal_status distal_compute(distal_context *context, const char *statement) {
    if (!context)
        return missing_argument(NULL, "distal_compute", "the context");
    const char *within = context->within;
    context->within = within ? within : "distal_compute";
    distal_status status = DISTAL_OK;
    if (!statement) {
        status = call_agree(context, call_local(context, "distal_compute", refuse_text, NULL));
        context->within = within;
        return status;
    }
    const uint64_t hash = hash_of(statement);
    ComputedStatement **at = &context->computed[hash % COMPUTED_BUCKETS];
    while (*at && ((*at)->hash != hash || strcmp((*at)->text, statement) != 0))
        at = &(*at)->next;
    ComputedStatement *entry = *at;
    if (entry && !is_current(context, entry)) {
        *at = entry->next;
        context->computed_count--;
        release(entry);
        entry = NULL;
    }
    if (!entry)
        status = make(context, statement, hash, &entry);
    if (entry) {
        entry->used = ++context->computed_calls;
        status = distal_execute(entry->plan);
    }
    context->within = within;
    return status;
}
