// SPDX-License-Identifier: BSD-3-Clause
// A program that a call which fails ends, in the way that the argument says.
#include <distal.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "";
    int rank, ranks;
    distal_context *d;
    distal_tensor *missing;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    distal_check(NULL, distal_create(MPI_COMM_WORLD, &d));
    if (!strcmp(how, "common")) { // on all ranks, which the first one reports
        distal_on_error(d, DISTAL_ERRORS_ABORT);
        distal_tensor_find(d, "missing", &missing);
    } else if (!strcmp(how, "check")) {
        distal_check(d, distal_tensor_find(d, "missing", &missing));
    } else if (!strcmp(how, "twice")) { // it has been printed
        distal_on_error(d, DISTAL_ERRORS_PRINT);
        distal_check(d, distal_tensor_find(d, "missing", &missing));
    } else if (!strcmp(how, "alone")) { // by a mistake of the last rank, for which the others wait
        distal_on_error(d, DISTAL_ERRORS_ABORT);
        if (rank == ranks - 1)
            distal_tensor_find(d, "missing", &missing);
    } else {
        distal_on_error(NULL, DISTAL_ERRORS_ABORT);
        distal_machine(NULL, "M", "grid(1)");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    puts("still here");
    distal_free(d);
    MPI_Finalize();
    return 0;
}
