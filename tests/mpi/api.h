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

#endif
