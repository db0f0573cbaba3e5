// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool agree(MPI_Comm comm, bool ok) {
    int all = ok;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

static const Diagnostic *last_error(const Diagnostics *diagnostics) {
    for (int64_t i = diagnostics->list.count - 1; i >= 0; i--)
        if (diagnostics->list.items[i].severity == SEVERITY_ERROR)
            return &diagnostics->list.items[i];
    return NULL;
}

bool agree_on(MPI_Comm comm, bool ok, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int failed = ok ? INT_MAX : rank;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm);
    if (failed == INT_MAX)
        return true;
    // No memory is asked for while the other ranks wait: it may be what has run out.
    struct {
        Span span;
        char message[DIAGNOSTIC_LENGTH];
    } shared = {0};
    if (rank == failed) {
        const Diagnostic *error = last_error(diagnostics);
        if (error) {
            shared.span = error->span;
            strcpy(shared.message, error->message);
        } else {
            snprintf(shared.message, sizeof shared.message, "rank %d failed", rank);
        }
    }
    MPI_Bcast(&shared, sizeof shared, MPI_BYTE, failed, comm);
    return diagnostics_error(diagnostics, shared.span, "%s", shared.message);
}
