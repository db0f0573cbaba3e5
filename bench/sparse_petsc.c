// SPDX-License-Identifier: BSD-3-Clause
// Kernels of PETSc on as many ranks as distal has threads, for bench/sparse.py, which starts it with mpirun:
//     sparse_petsc FOLDER KERNEL COLUMNS
// Reads square matrices in CSR from FOLDER: b.pos (64 bits), b.crd (32 bits), b.values, for sums c.* and d.*
// as well, and for products x.values, a vector or `columns` of them, row-major. For each line of standard
// input it executes the kernel and prints its seconds; a line "write" writes the result to FOLDER, with the
// names r.RANK.* for the rows of each rank.
#include <petscmat.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *folder;
static int rank, ranks;

static FILE *open_file(const char *name, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

// Elements `first` to `first + count` of a file.
static void *read_part(const char *name, int64_t first, int64_t count, size_t size) {
    FILE *file = open_file(name, "r");
    void *data = malloc((size_t)count * size + 1);
    if (fseek(file, (long)first * (long)size, SEEK_SET) ||
        fread(data, size, (size_t)count, file) != (size_t)count)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(file);
    return data;
}

static void write_file(const char *name, const void *data, int64_t count, size_t size) {
    char own[64];
    snprintf(own, sizeof own, "r.%d.%s", rank, name);
    FILE *file = open_file(own, "w");
    if (fwrite(data, size, (size_t)count, file) != (size_t)count || fclose(file))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

// This rank's rows of the matrix `name`, in blocks of equal numbers of rows as PETSc divides by default.
static PetscErrorCode load(const char *name, Mat *matrix) {
    char file[64];
    snprintf(file, sizeof file, "%s.pos", name);
    FILE *pos_file = open_file(file, "r");
    fseek(pos_file, 0, SEEK_END);
    const int64_t rows = ftell(pos_file) / 8 - 1;
    fclose(pos_file);
    const int64_t first = rows * rank / ranks, last = rows * (rank + 1) / ranks, own = last - first;
    int64_t *pos = read_part(file, first, own + 1, sizeof *pos);
    snprintf(file, sizeof file, "%s.crd", name);
    PetscInt *crd = read_part(file, pos[0], pos[own] - pos[0], sizeof *crd);
    snprintf(file, sizeof file, "%s.values", name);
    double *values = read_part(file, pos[0], pos[own] - pos[0], sizeof *values);
    PetscInt *begin = malloc((size_t)(own + 1) * sizeof *begin);
    for (int64_t i = 0; i <= own; i++)
        begin[i] = (PetscInt)(pos[i] - pos[0]);
    PetscFunctionBeginUser;
    PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, (PetscInt)own, (PetscInt)own, (PetscInt)rows,
                                        (PetscInt)rows, begin, crd, values, matrix));
    free(pos);
    free(crd);
    free(values);
    free(begin);
    PetscFunctionReturn(0);
}

// Blocks in a read on rank 0, sleeps on the others, so that other libraries are measured on free cores.
static int next_line(char *line, int size) {
    if (rank == 0 && !fgets(line, size, stdin))
        line[0] = 0;
    MPI_Request request;
    MPI_Ibcast(line, size, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
    }
    return line[0] != 0;
}

static PetscErrorCode write_matrix(Mat matrix) {
    Mat local;
    PetscInt rows;
    const PetscInt *pos, *crd;
    PetscBool done;
    double *values;
    PetscFunctionBeginUser;
    PetscCall(MatMPIAIJGetLocalMat(matrix, MAT_INITIAL_MATRIX, &local));
    PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &pos, &crd, &done));
    PetscCall(MatSeqAIJGetArray(local, &values));
    write_file("pos", pos, rows + 1, sizeof *pos);
    write_file("crd", crd, pos[rows], sizeof *crd);
    write_file("values", values, pos[rows], sizeof *values);
    PetscCall(MatDestroy(&local));
    PetscFunctionReturn(0);
}

static PetscErrorCode serve(const char *kernel, int64_t columns) {
    Mat b, c = NULL, d = NULL, x = NULL, a = NULL;
    Vec vector = NULL, product = NULL;
    PetscInt first, last, rows;
    const int dense = !strcmp(kernel, "spmm"), sum = !strcmp(kernel, "add3");
    PetscFunctionBeginUser;
    PetscCall(load("b", &b));
    PetscCall(MatGetOwnershipRange(b, &first, &last));
    PetscCall(MatGetSize(b, &rows, NULL));
    if (sum) {
        PetscCall(load("c", &c));
        PetscCall(load("d", &d));
    }
    if (!strcmp(kernel, "spmv")) {
        PetscCall(MatCreateVecs(b, &vector, &product));
        double *from = read_part("x.values", first, last - first, sizeof *from), *to;
        PetscCall(VecGetArray(vector, &to));
        memcpy(to, from, (size_t)(last - first) * sizeof *to);
        PetscCall(VecRestoreArray(vector, &to));
        free(from);
    }
    if (dense) {
        PetscCall(
            MatCreateDense(PETSC_COMM_WORLD, last - first, PETSC_DECIDE, rows, (PetscInt)columns, NULL, &x));
        double *from = read_part("x.values", first * columns, (last - first) * columns, sizeof *from), *to;
        PetscCall(MatDenseGetArray(x, &to));
        for (int64_t i = 0; i < last - first; i++)
            for (int64_t k = 0; k < columns; k++)
                to[k * (last - first) + i] = from[i * columns + k];
        PetscCall(MatDenseRestoreArray(x, &to));
        PetscCall(MatAssemblyBegin(x, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(x, MAT_FINAL_ASSEMBLY));
        free(from);
        PetscCall(MatMatMult(b, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &a));
    }
    for (char line[16] = ""; next_line(line, sizeof line);) {
        if (!strncmp(line, "write", 5)) {
            if (vector) {
                const double *values;
                PetscCall(VecGetArrayRead(product, &values));
                write_file("values", values, last - first, sizeof *values);
            } else if (dense) {
                const double *values;
                PetscCall(MatDenseGetArrayRead(a, &values));
                write_file("values", values, (last - first) * columns, sizeof *values);
            } else {
                PetscCall(write_matrix(a));
            }
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0)
                puts("0");
            fflush(stdout);
            continue;
        }
        if (!dense)
            PetscCall(MatDestroy(&a));
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (vector) {
            PetscCall(MatMult(b, vector, product));
        } else if (dense) {
            PetscCall(MatMatMult(b, x, MAT_REUSE_MATRIX, PETSC_DEFAULT, &a));
        } else if (sum) {
            PetscCall(MatDuplicate(b, MAT_COPY_VALUES, &a));
            PetscCall(MatAXPY(a, 1, c, DIFFERENT_NONZERO_PATTERN));
            PetscCall(MatAXPY(a, 1, d, DIFFERENT_NONZERO_PATTERN));
        } else if (!strcmp(kernel, "spgemm")) {
            PetscCall(MatMatMult(b, b, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &a));
        } else {
            PetscCall(MatTranspose(b, MAT_INITIAL_MATRIX, &a));
        }
        double seconds = MPI_Wtime() - start, longest;
        MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%.9f\n", longest);
        fflush(stdout);
    }
    PetscCall(MatDestroy(&a));
    PetscCall(MatDestroy(&b));
    PetscCall(MatDestroy(&c));
    PetscCall(MatDestroy(&d));
    PetscCall(MatDestroy(&x));
    PetscCall(VecDestroy(&vector));
    PetscCall(VecDestroy(&product));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    folder = argv[1];
    PetscCall(PetscInitialize(&(int){1}, &(char **){argv}, NULL, NULL));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PetscCall(serve(argv[2], atoll(argv[3])));
    return PetscFinalize();
}
