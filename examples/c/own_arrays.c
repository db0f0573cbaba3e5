// SPDX-License-Identifier: BSD-3-Clause
// A heat equation whose field lives in the application's own arrays, in blocks of rows with a border of ghost
// cells. distal reads the field where it is, ghost cells skipped by strides, and projects it onto sine modes.
// Run on any number of ranks: mpirun -n 3 own_arrays [rows columns steps]
#include <distal.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODES = 4 };

static int rank, ranks;

static void ok(const distal_context *d, distal_status status) {
    if (status == DISTAL_OK)
        return;
    fprintf(stderr, "rank %d: %s", rank, distal_error(d));
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static double sine(int64_t mode, int64_t point, int64_t points) {
    return sin(acos(-1) * (double)((mode + 1) * (point + 1)) / (double)(points + 1));
}

// A rank's rows first .. first + rows - 1 of the field, with a ghost cell at each side. Ranks without rows
// come last.
typedef struct {
    int64_t first, rows, columns, stride;
    double *cells, *next; // (rows + 2) x stride
} Field;

static Field field_create(int64_t rows, int64_t columns) {
    const int64_t block = (rows + ranks - 1) / ranks; // as a placement cuts a mode
    Field f = {.columns = columns, .stride = columns + 2};
    f.first = block * rank < rows ? block * rank : rows;
    f.rows = f.first + block < rows ? block : rows - f.first;
    f.cells = calloc((size_t)((f.rows + 2) * f.stride), sizeof(double));
    f.next = calloc((size_t)((f.rows + 2) * f.stride), sizeof(double));
    for (int64_t i = 0; i < f.rows; i++)
        for (int64_t j = 0; j < columns; j++)
            f.cells[(i + 1) * f.stride + j + 1] = sine(0, f.first + i, rows) * sine(0, j, columns) +
                                                  0.5 * sine(2, f.first + i, rows) * sine(1, j, columns);
    return f;
}

static void exchange_ghosts(Field *f, int64_t all_rows) {
    const int up = f->rows > 0 && f->first > 0 ? rank - 1 : MPI_PROC_NULL;
    const int down = f->rows > 0 && f->first + f->rows < all_rows ? rank + 1 : MPI_PROC_NULL;
    const int count = (int)f->stride;
    double *top = f->cells, *bottom = f->cells + (f->rows + 1) * f->stride;
    MPI_Sendrecv(top + f->stride, count, MPI_DOUBLE, up, 0, bottom, count, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(bottom - f->stride, count, MPI_DOUBLE, down, 1, top, count, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void step(Field *f, int64_t all_rows, double r) {
    exchange_ghosts(f, all_rows);
    for (int64_t i = 1; i <= f->rows; i++)
        for (int64_t j = 1; j <= f->columns; j++) {
            const double *u = f->cells + i * f->stride + j;
            f->next[i * f->stride + j] = u[0] + r * (u[-1] + u[1] + u[-f->stride] + u[f->stride] - 4 * u[0]);
        }
    // Copied back, as the tensor lies in `cells`.
    for (int64_t i = f->stride; i < (f->rows + 1) * f->stride; i++)
        f->cells[i] = f->next[i];
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t rows = argc > 1 ? atoll(argv[1]) : 61, columns = argc > 2 ? atoll(argv[2]) : 47;
    const int64_t steps = argc > 3 ? atoll(argv[3]) : 40;
    const double r = 0.2;
    Field f = field_create(rows, columns);

    distal_context *d = NULL;
    distal_tensor *u, *S, *T, *W, *a;
    distal_statement *project_rows, *project_columns;
    distal_plan *plan_rows, *plan_columns;
    ok(d, distal_create(MPI_COMM_WORLD, &d));
    ok(d, distal_machine_grid(d, "P", 1, (int64_t[]){ranks}));
    // The field, row-blocked, is used where the application has it: its first element, and the distance of
    // rows.
    ok(d, distal_tensor_create(d, "u", DISTAL_F64, 2, (int64_t[]){rows, columns}, "u(x, y) -> P(x)", &u));
    ok(d, distal_tensor_attach(u, f.cells + f.stride + 1, (int64_t[]){f.stride, 1}));
    // Sine modes along rows, cut like the rows of u, and along columns, on every rank; results on every rank.
    ok(d, distal_tensor_create(d, "S", DISTAL_F64, 2, (int64_t[]){MODES, rows}, "S(p, x) -> P(x)", &S));
    ok(d, distal_tensor_create(d, "T", DISTAL_F64, 2, (int64_t[]){MODES, columns}, "T(q, y) -> P(*)", &T));
    ok(d, distal_tensor_create(d, "W", DISTAL_F64, 2, (int64_t[]){MODES, columns}, "W(p, y) -> P(*)", &W));
    ok(d, distal_tensor_create(d, "a", DISTAL_F64, 2, (int64_t[]){MODES, MODES}, "a(p, q) -> P(*)", &a));
    const struct {
        distal_tensor *tensor;
        int64_t points;
    } modes[] = {{S, rows}, {T, columns}};
    for (int m = 0; m < 2; m++) {
        distal_piece piece;
        ok(d, distal_tensor_local(modes[m].tensor, &piece));
        for (int64_t p = piece.lo[0]; p < piece.hi[0]; p++)
            for (int64_t x = piece.lo[1]; x < piece.hi[1]; x++)
                ((double *)
                     piece.data)[(p - piece.lo[0]) * piece.stride[0] + (x - piece.lo[1]) * piece.stride[1]] =
                    2.0 / (double)(modes[m].points + 1) * sine(p, x, modes[m].points);
    }

    ok(d, distal_statement_create(d, "W(p, j) = S(p, i) * u(i, j)", &project_rows));
    ok(d, distal_distribute_onto(project_rows, "i", "io", "ii", "u")); // each rank works on its own rows
    ok(d, distal_statement_create(d, "a(p, q) = W(p, j) * T(q, j)", &project_columns));
    ok(d, distal_plan_create(project_rows, &plan_rows));
    ok(d, distal_plan_create(project_columns, &plan_columns));

    for (int64_t s = 0; s < steps; s++)
        step(&f, rows, r);
    ok(d, distal_execute(plan_rows));
    ok(d, distal_execute(plan_columns));

    // A sine mode is an eigenvector of the step: its amplitude is known.
    distal_piece amplitude;
    ok(d, distal_tensor_local(a, &amplitude));
    double worst = 0;
    for (int64_t p = 0; p < MODES && p < rows; p++)
        for (int64_t q = 0; q < MODES && q < columns; q++) {
            const double pi = acos(-1), start = p == 0 && q == 0 ? 1 : p == 2 && q == 1 ? 0.5 : 0;
            const double factor = 1 - 2 * r *
                                          (2 - cos(pi * (double)(p + 1) / (double)(rows + 1)) -
                                           cos(pi * (double)(q + 1) / (double)(columns + 1)));
            const double value = ((double *)amplitude.data)[p * amplitude.stride[0] + q];
            worst = fmax(worst, fabs(value - start * pow(factor, (double)steps)));
        }
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int64_t moved;
    ok(d, distal_plan_counted(plan_rows, "u", &moved, NULL));
    if (rank == 0)
        printf("largest error of an amplitude: %.1e; bytes of the field that rank 0 received: %lld\n", worst,
               (long long)moved);
    distal_free(d);
    free(f.cells);
    free(f.next);
    MPI_Finalize();
    return worst < 1e-12 ? 0 : 1;
}
