// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm.h"

#include <limits.h>
#include <string.h>

bool agree(MPI_Comm comm, bool ok) {
    int all = ok;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

static Diagnostic last_error(const Diagnostics *diagnostics, int rank) {
    for (int64_t i = diagnostics->list.count - 1; i >= 0; i--)
        if (diagnostics->list.items[i].severity == SEVERITY_ERROR)
            return diagnostics->list.items[i];
    return (Diagnostic){.severity = SEVERITY_ERROR,
                        .message = arena_printf(diagnostics->arena, "rank %d failed", rank)};
}

bool agree_on(MPI_Comm comm, bool ok, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int failed = ok ? INT_MAX : rank;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm);
    if (failed == INT_MAX)
        return true;
    Diagnostic error = {0};
    int32_t place[4] = {0}; // and the length of the message
    if (rank == failed) {
        error = last_error(diagnostics, rank);
        place[0] = error.span.line;
        place[1] = error.span.column;
        place[2] = error.span.length;
        place[3] = (int32_t)strlen(error.message);
    }
    MPI_Bcast(place, 4, MPI_INT32_T, failed, comm);
    char *message = arena_alloc(diagnostics->arena, (size_t)place[3] + 1);
    if (rank == failed)
        memcpy(message, error.message, (size_t)place[3]);
    MPI_Bcast(message, place[3], MPI_CHAR, failed, comm);
    return diagnostics_error(diagnostics, (Span){place[0], place[1], place[2]}, "%s", message);
}
