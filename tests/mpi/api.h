// SPDX-License-Identifier: BSD-3-Clause
// For tests of the C library.
#ifndef DISTAL_TESTS_MPI_API_H
#define DISTAL_TESTS_MPI_API_H

#include "distal.h"
#include "report.h"

// A call in the context `d` that has to go well.
#define OK(call) CHECK((call) == DISTAL_OK, "%s: %s", #call, distal_error(d))

static inline distal_context *context_on(MPI_Comm comm) {
    distal_context *context = NULL;
    CHECK(distal_create(comm, &context) == DISTAL_OK && context, "no context: %s", distal_error(NULL));
    return context;
}

static inline distal_tensor *declare(distal_context *d, const char *text, const char *placement) {
    distal_tensor *tensor = NULL;
    OK(distal_tensor_declare(d, text, placement, &tensor));
    return tensor;
}

static inline distal_statement *statement_of(distal_context *d, const char *text) {
    distal_statement *statement = NULL;
    OK(distal_statement_create(d, text, &statement));
    return statement;
}

static inline distal_plan *plan_of(distal_context *d, distal_statement *statement) {
    distal_plan *plan = NULL;
    OK(distal_plan_create(statement, &plan));
    return plan;
}

// `schedule`: NULL: none.
static inline distal_plan *planned(distal_context *d, const char *text, const char *schedule) {
    distal_statement *statement = statement_of(d, text);
    if (schedule)
        OK(distal_schedule(statement, schedule));
    return plan_of(d, statement);
}

// What the latest execution of a plan has moved on this rank is what its figures say, of every tensor.
static inline void check_figures(distal_context *d, const distal_plan *plan, int rank) {
    distal_figures figures;
    OK(distal_plan_figures(plan, &figures));
    for (int t = 0; t < figures.tensor_count; t++) {
        const distal_tensor_figures *tensor = &figures.tensors[t];
        int64_t bytes = -1, messages = -1;
        OK(distal_plan_counted(plan, tensor->tensor, &bytes, &messages));
        CHECK(bytes == tensor->bytes_received[rank] && messages == tensor->messages_received[rank],
              "%s: counted %lld bytes in %lld messages, planned %lld in %lld", tensor->tensor,
              (long long)bytes, (long long)messages, (long long)tensor->bytes_received[rank],
              (long long)tensor->messages_received[rank]);
    }
}

#endif
