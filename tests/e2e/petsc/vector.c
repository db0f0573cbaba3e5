// SPDX-License-Identifier: BSD-3-Clause
// A vector of PETSc, whose array a tensor has in place.
#include <distal.h>
#include <petscvec.h>

#include <stdio.h>

enum { N = 1003 };

static void ok(const distal_context *d, distal_status status) {
    if (status == DISTAL_OK)
        return;
    fprintf(stderr, "%s\n", distal_error(d));
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

int main(int argc, char **argv) {
    Vec x;
    PetscScalar *values;
    PetscInt first, end;
    PetscMPIInt ranks;
    PetscScalar sum;
    distal_context *d = NULL;
    distal_tensor *tensor;
    distal_statement *statement;
    distal_plan *plan;
    distal_piece piece;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, N, &x);
    VecGetOwnershipRange(x, &first, &end);
    VecSet(x, 2);
    VecGetArray(x, &values);
    ok(d, distal_create(PETSC_COMM_WORLD, &d));
    ok(d, distal_machine_grid(d, "P", 1, (int64_t[]){ranks}));
    ok(d, distal_tensor_create(d, "x", DISTAL_F64, 1, (int64_t[]){N}, "x(i) -> P(balanced(i))", &tensor));
    ok(d, distal_tensor_attach(tensor, values, NULL));
    ok(d, distal_tensor_local(tensor, &piece));
    if (piece.lo[0] != first || piece.hi[0] != end || piece.data != values)
        printf("other elements\n");
    ok(d, distal_statement_create(d, "x(i) = 3 * x(i) + 1", &statement));
    ok(d, distal_plan_create(statement, &plan));
    ok(d, distal_execute(plan));
    VecRestoreArray(x, &values);
    VecSum(x, &sum);
    if (first == 0)
        printf("%g\n", (double)sum);
    distal_free(d);
    VecDestroy(&x);
    PetscFinalize();
    return 0;
}
