// SPDX-License-Identifier: BSD-3-Clause
#include "cli/start.h"

#include "cli/launch.h"
#include "memory/disk.h"
#include "runtime/blas_threads.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// With one process, MPI needs neither a daemon nor a network.
static void keep_alone(void) {
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    // Nor a folder: isolated processes would share one, and each would remove it while others use it.
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self", 0);
    setenv("UCX_TLS", "self", 0);
}

// Where TMPDIR cannot be used, MPI and others fall back on /tmp without it. Nothing remains of an unnamed
// file where this process is ended meanwhile, if the file system has such files.
static void leave_bad_temporary_folder(void) {
    const char *folder = getenv("TMPDIR");
    const int probe = folder ? disk_open_unnamed(folder) : -1;
    if (probe >= 0)
        close(probe);
    else
        unsetenv("TMPDIR");
}

static const char core_type[] = "OPENBLAS_CORETYPE", chosen_here[] = "DISTAL_BLAS_CHOSEN";

// OpenBLAS takes processors that are newer than itself for very old ones. It chooses its routines when it is
// loaded, so this process starts again and names better ones. Before anything is read.
static void choose_blas_core(Session *session) {
    const char *core = blas_better_core();
    if (!core || getenv(core_type))
        return;
    setenv(core_type, core, 1);
    setenv(chosen_here, "1", 1);
    execv(launch_executable(session->arguments[0]), session->arguments);
}

// Ranks choose for themselves, as other nodes may have other processors.
static void forget_blas_core(void) {
    if (!getenv(chosen_here))
        return;
    unsetenv(core_type);
    unsetenv(chosen_here);
}

void start_prepare(Session *session) {
    choose_blas_core(session);
    leave_bad_temporary_folder();
}

// A launcher tells all ranks at once that one has ended with an error. Where that reaches a rank inside of
// MPI_Finalize, PMIx may crash (openpmix issue 2508). So the first rank alone says that a run has failed,
// after the time that the others need to end.
static ExitStatus status_of_rank(ExitStatus status, int rank, int ranks) {
    const struct timespec others = {.tv_nsec = 50000000};
    if (status == EXIT_FINE || ranks == 1)
        return status;
    if (rank > 0)
        return EXIT_FINE;
    nanosleep(&others, NULL);
    return status;
}

ExitStatus start_here(Session *session, RanksBody body) {
    int provided, rank, ranks;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const ExitStatus status = body(session);
    MPI_Finalize();
    return status_of_rank(status, rank, ranks);
}

ExitStatus start(Session *session, int64_t ranks, RanksBody body) {
    if (ranks > 1) {
        forget_blas_core();
        return launch(session, ranks);
    }
    keep_alone();
    return start_here(session, body);
}
