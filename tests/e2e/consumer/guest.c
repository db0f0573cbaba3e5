// SPDX-License-Identifier: BSD-3-Clause
// A program that leaves MPI to the library: initialized with the first context, finalized with the last.
#include <distal.h>

#include <stdio.h>

int main(void) {
    int before, between, after;
    distal_context *first, *second;
    MPI_Initialized(&before);
    if (distal_create(MPI_COMM_WORLD, &first) != DISTAL_OK ||
        distal_create(MPI_COMM_SELF, &second) != DISTAL_OK)
        return fputs(distal_error(NULL), stderr), 1;
    distal_tensor *sum;
    distal_statement *statement;
    distal_plan *plan;
    distal_piece piece;
    if (distal_program(second, "guest", "tensor b(10): f64; tensor s: f64; s = b(i)") != DISTAL_OK ||
        distal_statement_find(second, "s", 0, &statement) != DISTAL_OK ||
        distal_tensor_find(second, "s", &sum) != DISTAL_OK ||
        distal_plan_create(statement, &plan) != DISTAL_OK || distal_tensor_fill(sum, "ones") != DISTAL_OK ||
        distal_execute(plan) != DISTAL_OK || distal_tensor_local(sum, &piece) != DISTAL_OK)
        return fputs(distal_error(second), stderr), 1;
    const double zero = *(double *)piece.data;
    distal_free(first);
    MPI_Finalized(&between);
    distal_free(second);
    MPI_Finalized(&after);
    // MPI cannot be initialized a second time.
    distal_status again = distal_create(MPI_COMM_WORLD, &first);
    return before || between || !after || zero != 0 || again != DISTAL_FAILED;
}
