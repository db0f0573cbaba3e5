// SPDX-License-Identifier: BSD-3-Clause
// Statements by their text, and elements as values: scalars, sections, whole tensors on one rank, functions
// of coordinates, norms and products. ranks: 4
#include "api.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double value_of(const int64_t *x) {
    return (double)(100 * x[0] + x[1]);
}

static void set_value(const int64_t *x, void *element, void *argument) {
    *(double *)element = value_of(x) + *(const double *)argument;
}

static void set_row(const int64_t *x, void *element, void *argument) {
    (void)argument;
    *(double *)element = (double)x[0];
}

static void test_sections(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    static const char *const placements[] = {"A(i, j) -> M(i)",         "A(i, j) -> M(cyclic(j, 2))",
                                             "A(i, j) -> M(*)",         "A(i, j) -> M(0)",
                                             "A(i, j) -> M(i) in disk", "A(i, j) -> M(cyclic(j, 2)) in disk",
                                             "A(i, j) -> M(i) in gpu",  "A(i, j) -> M(cyclic(j, 2)) in gpu"};
    for (size_t p = 0; p < sizeof placements / sizeof *placements; p++) {
        double part[11 * 7], shift = 0.5;
        distal_tensor *A = declare(d, p % 2 ? "A(11, 7): f64, order(1, 0)" : "A(11, 7): f64", placements[p]);
        OK(distal_tensor_fill_by(A, set_value, &shift));
        // Each rank another rectangle, the first none.
        const int64_t lo[] = {rank, 0};
        const int64_t hi[] = {rank == 0 ? 0 : rank > 5 ? rank : 11 - rank, rank > 7 ? 0 : 7 - rank};
        OK(distal_section_read(A, lo, hi, rank == 0 ? NULL : part));
        const double *at = part;
        for (int64_t i = lo[0]; i < hi[0]; i++)
            for (int64_t j = lo[1]; j < hi[1]; j++, at++)
                CHECK(*at == value_of((int64_t[]){i, j}) + shift, "%s: A(%lld, %lld) is %g", placements[p],
                      (long long)i, (long long)j, *at);
        // The row with the number of the rank; the rank above all others writes the last one, too.
        for (int j = 0; j < 7; j++)
            part[j] = part[7 + j] = -rank;
        const int64_t row[] = {rank, 0}, end[] = {rank < 10 ? rank + 1 + (rank < ranks - 1) : 11, 7};
        OK(distal_section_write(A, row, end, part));
        double whole[11 * 7] = {0};
        const int root = ranks - 1;
        OK(distal_tensor_gather_to(A, root, rank == root ? whole : NULL));
        for (int i = 0; rank == root && i < 11; i++)
            for (int j = 0; j < 7; j++) {
                const double should = i < ranks ? -i : value_of((int64_t[]){i, j}) + shift;
                CHECK(whole[7 * i + j] == should, "%s: whole(%d, %d) is %g, not %g", placements[p], i, j,
                      whole[7 * i + j], should);
            }
        distal_tensor_free(A);
    }
    distal_free(d);
}

// Statements on a GPU, which the host emulates, planned once and executed with other values.
static void test_gpu(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    distal_tensor *A = declare(d, "A(11, 7): f64", "A(i, j) -> M(i) in gpu");
    distal_tensor *B = declare(d, "B(7, 11): f64", "B(i, j) -> M(cyclic(j, 2)) in gpu");
    distal_tensor *s = declare(d, "s: f64", NULL);
    distal_plan *copy = plan_of(d, statement_of(d, "B(i, j) = 2 * A(j, i)"));
    distal_plan *sum = plan_of(d, statement_of(d, "s = A(i, j) * B(j, i)"));
    for (int round = 0; round < 3; round++) {
        double shift = round, got, should = 0;
        OK(distal_tensor_fill_by(A, set_value, &shift));
        OK(distal_execute(copy));
        OK(distal_execute(sum));
        OK(distal_get(s, &got));
        for (int64_t i = 0; i < 11; i++)
            for (int64_t j = 0; j < 7; j++)
                should += 2 * pow(value_of((int64_t[]){i, j}) + shift, 2);
        CHECK(fabs(got - should) <= 1e-12 * should, "rank %d, round %d: %g, not %g", rank, round, got,
              should);
    }
    distal_plan_free(copy);
    distal_plan_free(sum);
    distal_tensor_free(B);
    distal_free(d);
}

// Arrays of the caller and tensors of numbers in the order of Fortran.
static void test_layout(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = NULL;
    CHECK(distal_create_f(MPI_Comm_c2f(comm), &d) == DISTAL_OK, "no context: %s", distal_error(NULL));
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    OK(distal_use_layout(d, DISTAL_COLUMN_MAJOR));
    distal_tensor *tensors[3];
    distal_piece box;
    double zero = 0;
    OK(distal_tensor_create(d, "A", DISTAL_F64, 2, (int64_t[]){5, 3}, "A(i, j) -> M(j)", &tensors[0]));
    OK(distal_tensor_local(tensors[0], &box));
    CHECK(box.hi[1] == box.lo[1] || (box.stride[0] == 1 && box.stride[1] == 5),
          "A is stored in another order");
    tensors[1] = declare(d, "B(5, 3): f64", "B(i, j) -> M(i)"); // as its text says
    OK(distal_tensor_local(tensors[1], &box));
    CHECK(box.hi[0] == box.lo[0] || (box.stride[0] == 3 && box.stride[1] == 1),
          "B is stored in another order");
    tensors[2] = declare(d, "S(5, 3): f64, csr", "S(i, j) -> M(i)");
    OK(distal_tensor_fill_by(tensors[0], set_value, &zero));
    OK(distal_compute(d, "B(i, j) = A(i, j)"));
    int64_t rows[15], columns[15];
    double elements[15];
    for (int e = 0; e < 15; e++) {
        rows[e] = e % 5;
        columns[e] = e / 5;
        elements[e] = (double)(100 * rows[e] + columns[e]);
    }
    OK(distal_tensor_entries(tensors[2], rank == 0 ? 15 : 0, (const int64_t *[]){rows, columns}, elements));
    for (int t = 0; t < 3; t++) {
        double whole[15], first[15], part[4] = {0};
        OK(distal_tensor_gather(tensors[t], whole));
        OK(distal_tensor_gather_to(tensors[t], 0, first));
        OK(distal_section_read(tensors[t], (int64_t[]){2, 1}, (int64_t[]){4, 3}, part));
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 3; j++)
                CHECK(whole[i + 5 * j] == 100 * i + j && (rank > 0 || first[i + 5 * j] == 100 * i + j),
                      "tensor %d: element %d, %d is %g", t, i, j, whole[i + 5 * j]);
        CHECK(part[0] == 201 && part[1] == 301 && part[2] == 202 && part[3] == 302, "tensor %d: a section",
              t);
    }
    double values[] = {1, 2, 3, 4}, row[3];
    OK(distal_section_write(tensors[1], (int64_t[]){0, 0}, (int64_t[]){2, 2}, values));
    OK(distal_section_read(tensors[1], (int64_t[]){1, 0}, (int64_t[]){2, 3}, row));
    CHECK(row[0] == 2 && row[1] == 4 && row[2] == 102, "a section that is written: %g %g %g", row[0], row[1],
          row[2]);
    CHECK(distal_use_layout(d, (distal_layout)7) == DISTAL_INVALID &&
              strstr(distal_error(d), "distal_use_layout: error: this is no distal_layout"),
          "a layout that there is not: %s", distal_error(d));
    CHECK(distal_refuse(d, "mine", "no") == DISTAL_INVALID && !strcmp(distal_error(d), "mine: error: no\n"),
          "%s", distal_error(d));
    distal_free(d);
    CHECK(distal_create_f(MPI_Comm_c2f(MPI_COMM_NULL), &d) == DISTAL_INVALID && !d, "a context on nothing");
}

// More texts than a context keeps; those that it has forgotten are planned again.
static void test_texts(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    char text[400];
    double values[5];
    (void)rank;
    (void)ranks;
    distal_tensor *x = declare(d, "x(5): f64", NULL), *y = declare(d, "y(5): f64", NULL);
    OK(distal_compute(d, "x(i) = 0"));
    for (int round = 0; round < 2; round++)
        for (int spaces = 0; spaces < 300; spaces++) {
            snprintf(text, sizeof text, "y(i) = x(i) + 1%*s", spaces, "");
            OK(distal_compute(d, text));
            OK(distal_compute(d, "x(i) = y(i)")); // which it keeps
        }
    OK(distal_tensor_gather(x, values));
    CHECK(values[4] == 600, "x is %g", values[4]);
    distal_tensor_free(y);
    distal_free(d);
}

static void test_compute(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    distal_tensor *A = declare(d, "A(9, 5): f64", "A(i, j) -> M(i)"),
                  *x = declare(d, "x(5): f64", "x(i) -> M(i)"), *y = declare(d, "y(9): f64", "y(i) -> M(i)"),
                  *alpha = declare(d, "alpha: f64", NULL), *here = declare(d, "here: i64", "here -> M(0)");
    // Filled before they have a home; one of them again, from another source.
    distal_tensor *p = declare(d, "p(9): f64", NULL), *q = declare(d, "q(9): f64", NULL);
    double zero = 0, value = -1, all[9], norm;
    OK(distal_tensor_fill(p, "ones"));
    OK(distal_tensor_fill(p, "iota"));
    OK(distal_tensor_fill(q, "missing.npy"));
    CHECK(distal_compute(d, "y(i) = p(i) + q(i)") == DISTAL_FAILED && strstr(distal_error(d), "missing.npy"),
          "a missing file: %s", distal_error(d));
    OK(distal_tensor_fill(q, "const:2"));
    CHECK(distal_tensor_fill(q, "iota:1") == DISTAL_INVALID, "a source that there is not");
    OK(distal_compute(d, "y(i) = p(i) + q(i)"));
    OK(distal_tensor_gather(y, all));
    OK(distal_compute(d, "y(i) = 2 * p(i)"));
    CHECK(all[0] == 2 && all[8] == 10, "y is %g to %g", all[0], all[8]);
    OK(distal_tensor_gather(y, all));
    CHECK(all[0] == 0 && all[8] == 16, "y is then %g to %g", all[0], all[8]);
    OK(distal_get(alpha, &value));
    CHECK(value == 0, "a scalar without a value is %g", value);
    OK(distal_tensor_fill_by(A, set_value, &zero));
    OK(distal_tensor_fill(x, "ones"));
    for (int step = 1; step <= 3; step++) {
        value = step;
        OK(distal_set(alpha, &value));
        OK(distal_compute(d, "y(i) = alpha * A(i, j) * x(j)"));
        OK(distal_get(alpha, &value));
        CHECK(value == step, "alpha is %g", value);
        OK(distal_tensor_gather(y, all));
        for (int i = 0; i < 9; i++)
            CHECK(all[i] == step * (500 * i + 10), "step %d: y(%d) is %g", step, i, all[i]);
    }
    const int64_t number = 7, *place = &number;
    int64_t read = 0;
    OK(distal_set(here, place));
    OK(distal_get(here, &read));
    CHECK(read == 7, "here is %lld", (long long)read);
    // Other memory, other values of params, a tensor that is declared again.
    double own[9] = {0};
    distal_piece piece;
    OK(distal_tensor_local(y, &piece));
    OK(distal_tensor_attach(y, own, NULL));
    OK(distal_compute(d, "y(i) = alpha * A(i, j) * x(j)"));
    for (int64_t i = piece.lo[0]; i < piece.hi[0]; i++)
        CHECK(own[i - piece.lo[0]] == (double)(3 * (500 * i + 10)), "own y(%lld) is %g", (long long)i,
              own[i - piece.lo[0]]);
    distal_tensor_free(x);
    CHECK(distal_compute(d, "y(i) = alpha * A(i, j) * x(j)") == DISTAL_INVALID &&
              strstr(distal_error(d), "distal_compute:1:26: error: unknown tensor 'x'"),
          "without x: %s", distal_error(d));
    x = declare(d, "x(5): f64", NULL);
    OK(distal_compute(d, "x(j) = 2"));
    OK(distal_compute(d, "y(i) = alpha * A(i, j) * x(j)"));
    OK(distal_tensor_gather(y, all));
    CHECK(all[8] == 6 * (500 * 8 + 10), "y(8) is %g", all[8]);
    OK(distal_norm(x, &norm));
    CHECK(fabs(norm - sqrt(20)) < 1e-12, "the norm is %.17g", norm);
    OK(distal_dot(x, x, &value));
    CHECK(value == 20, "the product is %g", value);
    OK(distal_tensor_fill_by(y, set_row, NULL));
    OK(distal_norm(y, &norm));
    CHECK(fabs(norm - sqrt(204)) < 1e-12, "the norm is %.17g", norm);
    distal_statement *none;
    CHECK(distal_statement_find(d, "y", 0, &none) == DISTAL_INVALID,
          "a statement of distal_compute was found");
    distal_tensor *z = declare(d, "z(3): c128", "z(i) -> M(i)"),
                  *B = declare(d, "B(4, 4): f64, csr", "B(i, j) -> M(i)");
    OK(distal_tensor_fill(z, "ones"));
    OK(distal_norm(z, &norm));
    CHECK(fabs(norm - sqrt(3)) < 1e-12, "the norm of complex numbers is %.17g", norm);
    OK(distal_tensor_fill(B, "stencil:3"));
    OK(distal_norm(B, &norm));
    double dense[16], sum = 0;
    OK(distal_tensor_gather(B, dense));
    for (int i = 0; i < 16; i++)
        sum += dense[i] * dense[i];
    CHECK(fabs(norm - sqrt(sum)) < 1e-12, "the norm of a sparse tensor is %.17g", norm);
    const int64_t lo[] = {1, 0}, hi[] = {3, 4};
    double rows[8];
    OK(distal_section_read(B, lo, hi, rows));
    CHECK(memcmp(rows, dense + 4, sizeof rows) == 0, "rows of a sparse tensor");
    (void)rank;
    distal_free(d);
}

#define WRONG(call, says)                                                                                    \
    CHECK((call) == DISTAL_INVALID && strstr(distal_error(d), says), "%s says: %s", #call, distal_error(d))

static void test_errors(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    distal_tensor *A = declare(d, "A(4, 4): f64", "A(i, j) -> M(i)"), *x = declare(d, "x(5): f64", NULL),
                  *s = declare(d, "s: f64", NULL), *B = declare(d, "B(4, 4): f64, csr", NULL);
    const int64_t lo[] = {0, 0}, hi[] = {4, 4}, far[] = {4, 5};
    double values[16], number;
    WRONG(distal_compute(NULL, "s = 1") == DISTAL_INVALID ? distal_compute(d, NULL) : DISTAL_OK,
          "distal_compute: error: the text of the statement is NULL");
    WRONG(distal_compute(d, "A(i, j) = 1 +"), "distal_compute:1:");
    WRONG(distal_compute(d, "A(i, j) = Q(i, j)"), "unknown tensor 'Q'");
    WRONG(distal_section_read(A, lo, rank == ranks - 1 ? far : hi, values),
          "distal_section_read: error: rank");
    WRONG(distal_section_read(A, rank ? lo : NULL, hi, values), "the bounds of the section of tensor 'A'");
    WRONG(distal_section_read(A, lo, hi, rank == 0 ? NULL : values), "the elements of the section");
    WRONG(distal_section_read(A, (int64_t[]){2, 0}, (int64_t[]){1, 4}, values),
          "gives the bounds 2 <= x < 1 for mode 0 of tensor 'A'; they have to be 0 <= lo <= hi <= 4");
    WRONG(distal_section_write(B, lo, hi, values),
          "tensor 'B' is sparse: distal_tensor_entries gives it entries");
    WRONG(distal_section_read(x, lo, hi, values), "no placement");
    WRONG(distal_get(A, &number), "distal_get: error: tensor 'A' has 2 modes, and is no scalar");
    WRONG(distal_set(x, &number), "tensor 'x' has 1 mode, and is no scalar: distal_section_read and "
                                  "distal_section_write take a rectangle of it");
    WRONG(distal_set(s, NULL), "the value of scalar 's' is NULL");
    WRONG(distal_get(s, NULL), "the value of scalar 's' is NULL");
    WRONG(distal_tensor_gather_to(A, ranks, values), "there is no rank");
    WRONG(distal_tensor_gather_to(A, 0, rank == 0 ? NULL : values), "the place for the whole");
    if (ranks > 1)
        WRONG(distal_tensor_gather_to(A, rank, values), "different calls");
    WRONG(distal_tensor_fill_by(A, NULL, NULL), "the function for the elements of tensor 'A' is NULL");
    WRONG(distal_tensor_fill_by(B, set_row, NULL), "tensor 'B' is sparse");
    WRONG(distal_norm(A, NULL), "the place for the norm is NULL");
    WRONG(distal_dot(A, x, &number), "distal_dot: error: tensors 'A' and 'x' have different extents");
    WRONG(distal_tensor_print(x), "distal_tensor_print: error: tensor 'x' has no placement");
    WRONG(distal_on_error(d, (distal_error_action)9), "distal_on_error: error: 9 is no distal_error_action");
    CHECK(distal_on_error(NULL, (distal_error_action)9) == DISTAL_INVALID &&
              strstr(distal_error(NULL), "9 is no"),
          "an action of nothing");
    OK(distal_norm(A, &number));
    WRONG(distal_compute(d, "z(i) = A(i, j)"), "unknown tensor 'z' (tensors: A x s B)");
    OK(distal_on_error(d, DISTAL_ERRORS_RETURN));
    OK(distal_tensor_fill(A, "ones")); // all is still in order
    distal_free(d);
}

// What a call that fails prints: on all ranks alike the first one does, in a local call the rank itself.
static void test_action(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    distal_tensor *x = declare(d, "x(5): f64", NULL), *none;
    distal_piece piece;
    (void)ranks;
    for (int action = DISTAL_ERRORS_RETURN; action <= DISTAL_ERRORS_PRINT; action++) {
        char printed[1024] = "";
        FILE *file = tmpfile();
        fflush(stderr);
        const int before = dup(2);
        CHECK(file && before >= 0 && dup2(fileno(file), 2) == 2, "no file");
        OK(distal_on_error(d, (distal_error_action)action));
        CHECK(distal_tensor_find(d, "y", &none) == DISTAL_INVALID, "y was found");
        CHECK(distal_compute(d, "x(i) = z(i)") == DISTAL_INVALID, "z was found");
        CHECK(distal_tensor_local(x, &piece) == DISTAL_INVALID, "x has a home");
        fflush(stderr);
        dup2(before, 2);
        close(before);
        rewind(file);
        printed[fread(printed, 1, sizeof printed - 1, file)] = '\0';
        fclose(file);
        const bool prints = action == DISTAL_ERRORS_PRINT;
        CHECK(!strstr(printed, "distal_tensor_find: error: there is no tensor 'y'") == !(prints && rank == 0),
              "common: %s", printed);
        const char *once = strstr(printed, "unknown tensor 'z'");
        CHECK(!once == !(prints && rank == 0) && !(once && strstr(once + 1, "unknown tensor 'z'")),
              "of a statement: %s", printed);
        CHECK(!strstr(printed, "distal_tensor_local: error: tensor 'x'") == !prints, "local: %s", printed);
    }
    // Standard output that takes nothing is a failure on all ranks.
    OK(distal_on_error(d, DISTAL_ERRORS_RETURN));
    OK(distal_compute(d, "x(i) = 1"));
    fflush(stdout);
    const int before = dup(1), full = open("/dev/full", O_WRONLY);
    CHECK(full >= 0 && dup2(full, 1) == 1, "no file");
    const distal_status status = distal_tensor_print(x);
    dup2(before, 1);
    close(before);
    close(full);
    CHECK(status == DISTAL_FAILED &&
              strstr(distal_error(d), "tensor 'x' cannot be written to standard output"),
          "printing returned %d: %s", status, distal_error(d));
    distal_free(d);
}

static const ReportCase cases[] = {{"api_values/sections", test_sections}, {"api_values/gpu", test_gpu},
                                   {"api_values/layout", test_layout},     {"api_values/texts", test_texts},
                                   {"api_values/compute", test_compute},   {"api_values/errors", test_errors},
                                   {"api_values/action", test_action},     {0}};

int main(int argc, char **argv) {
    setenv("DISTAL_GPU", "emulated", 1);
    return report_all(argc, argv, cases);
}
