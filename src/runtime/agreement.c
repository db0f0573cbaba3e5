// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/agreement.h"

#include "runtime/wait.h"

#include <limits.h>
#include <stdio.h>

bool agree(MPI_Comm comm, bool ok) {
    int all = ok;
    all_reduce(&all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

static const Diagnostic *last_error(const Diagnostics *diagnostics) {
    for (int64_t i = diagnostics->list.count - 1; i >= 0; i--)
        if (diagnostics->list.items[i].severity == SEVERITY_ERROR)
            return &diagnostics->list.items[i];
    return NULL;
}

typedef struct {
    Diagnostics *diagnostics; // to add to
    struct {
        Span span;
        char message[DIAGNOSTIC_LENGTH];
    } error;
} Report;

static void add_error(void *arguments) {
    const Report *report = arguments;
    diagnostics_repeat_error(report->diagnostics, report->error.span, report->error.message);
}

static bool agree_on_both(MPI_Comm comm, bool ok, bool *flag, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int least[2] = {ok ? INT_MAX : rank, !*flag};
    all_reduce(least, 2, MPI_INT, MPI_MIN, comm);
    const int failed = least[0];
    *flag = !least[1];
    if (failed == INT_MAX)
        return true;
    // Allocates nothing, as memory may be what has run out, and the other ranks wait.
    Report report = {.diagnostics = diagnostics};
    if (rank == failed) {
        const Diagnostic *error = last_error(diagnostics);
        if (error) {
            report.error.span = error->span;
            snprintf(report.error.message, sizeof report.error.message, "%s", error->message);
        } else {
            snprintf(report.error.message, sizeof report.error.message, "rank %d has run out of memory",
                     rank);
        }
    }
    broadcast(&report.error, sizeof report.error, MPI_BYTE, failed, comm);
    arena_attempt(diagnostics->arena, add_error, &report); // without memory, there is no diagnostic
    return false;
}

bool agree_on(MPI_Comm comm, bool ok, Diagnostics *diagnostics) {
    bool flag = false;
    return agree_on_both(comm, ok, &flag, diagnostics);
}

typedef struct {
    LocalPart part;
    void *arguments;
    Diagnostics *diagnostics;
    bool ok;
} PartCall;

static void do_part(void *arguments) {
    PartCall *call = arguments;
    call->ok = call->part(call->arguments, call->diagnostics);
}

bool agree_on_part_and_any(MPI_Comm comm, LocalPart part, void *arguments, bool *flag,
                           Diagnostics *diagnostics) {
    PartCall call = {part, arguments, diagnostics, false};
    arena_attempt(arena_outermost(diagnostics->arena), do_part, &call);
    return agree_on_both(comm, call.ok, flag, diagnostics);
}

bool agree_on_part(MPI_Comm comm, LocalPart part, void *arguments, Diagnostics *diagnostics) {
    bool flag = false;
    return agree_on_part_and_any(comm, part, arguments, &flag, diagnostics);
}

static int rank_of_most(MPI_Comm comm, double shortage) {
    struct {
        double shortage;
        int rank;
    } most = {.shortage = shortage};
    MPI_Comm_rank(comm, &most.rank);
    all_reduce(&most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    return most.shortage > 0 ? most.rank : -1;
}

int agree_on_fit(MPI_Comm comm, double (*shortage)(void *arguments), bool (*reduce)(void *arguments),
                 void *arguments) {
    int rank;
    do
        rank = rank_of_most(comm, shortage(arguments));
    while (rank >= 0 && agree(comm, reduce(arguments)));
    return rank;
}
