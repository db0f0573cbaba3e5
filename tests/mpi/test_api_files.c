// SPDX-License-Identifier: BSD-3-Clause
// The C library: tensors in disk whose home is a file that all ranks share.
#include "api.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 7, INNER = 6, COLUMNS = 5 };
static const char *const placements[] = {"M(x)", "M(y)", "M(*)", "M(cyclic(x, 2))", "M(0)"};
enum { PLACEMENTS = sizeof placements / sizeof *placements };

// A folder of its own, the same on all ranks.
static void make_folder(MPI_Comm comm, int rank, char folder[64]) {
    strcpy(folder, "/tmp/distal-files-XXXXXX");
    CHECK(rank > 0 || mkdtemp(folder), "there is no folder");
    MPI_Bcast(folder, 64, MPI_CHAR, 0, comm);
}

static const char *path_in(const char *folder, const char *name) {
    static char path[2][128];
    static int last;
    last = !last;
    snprintf(path[last], sizeof path[last], "%s/%s", folder, name);
    return path[last];
}

static distal_tensor *placed(distal_context *d, const char *name, int rows, int columns, const char *where) {
    distal_tensor *tensor = NULL;
    char placement[64];
    snprintf(placement, sizeof placement, "%s(x, y) -> %s in disk", name, where);
    OK(distal_tensor_create(d, name, DISTAL_F64, 2, (int64_t[]){rows, columns}, placement, &tensor));
    return tensor;
}

static distal_context *with_machine(MPI_Comm comm) {
    distal_context *d = context_on(comm);
    OK(distal_machine(d, "M", "grid(ranks)"));
    return d;
}

// Element (i, j) of the product of two arrays that count their elements by row.
static double expected(int i, int j) {
    double sum = 0;
    for (int k = 0; k < INNER; k++)
        sum += (double)(i * INNER + k) * (double)(k * COLUMNS + j);
    return sum;
}

static void check_product(distal_context *d, distal_tensor *tensor, double factor, const char *what) {
    double whole[ROWS * COLUMNS] = {0};
    OK(distal_tensor_gather(tensor, whole));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            CHECK(whole[i * COLUMNS + j] == factor * expected(i, j), "%s: element (%d, %d) is %g", what, i, j,
                  whole[i * COLUMNS + j]);
}

// Files of the operands, which count.
static void write_operands(distal_context *d, const char *folder) {
    distal_tensor *B = declare(d, "SB(7, 6): f64", "SB(x, y) -> M(x)");
    distal_tensor *C = declare(d, "SC(6, 5): f64", "SC(x, y) -> M(x)");
    OK(distal_tensor_fill(B, "iota"));
    OK(distal_tensor_fill(C, "iota"));
    OK(distal_tensor_write(B, path_in(folder, "B.npy")));
    OK(distal_tensor_write(C, path_in(folder, "C.npy")));
    distal_tensor_free(B);
    distal_tensor_free(C);
}

static void remove_folder(MPI_Comm comm, int rank, const char *folder) {
    MPI_Barrier(comm);
    static const char *const names[] = {"A.npy", "B.npy", "C.npy", "A.h5"};
    for (size_t i = 0; i < sizeof names / sizeof *names && rank == 0; i++)
        unlink(path_in(folder, names[i]));
    CHECK(rank > 0 || rmdir(folder) == 0, "files are left in %s", folder);
}

static bool is_there(MPI_Comm comm, const char *path) {
    MPI_Barrier(comm); // none removes or makes it meanwhile
    const bool there = access(path, F_OK) == 0;
    MPI_Barrier(comm);
    return there;
}

#define REFUSED(status, call, why)                                                                           \
    do {                                                                                                     \
        const distal_status got = (call);                                                                    \
        CHECK(got == (status) && strstr(distal_error(d), why), "%s: %d, %s", #call, got, distal_error(d));   \
    } while (0)

static void test_products(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    char folder[64];
    make_folder(comm, rank, folder);
    for (int p = 0; p < PLACEMENTS; p++) {
        distal_context *d = with_machine(comm);
        write_operands(d, folder);
        distal_tensor *A = placed(d, "A", ROWS, COLUMNS, placements[p]);
        distal_tensor *B = placed(d, "B", ROWS, INNER, placements[(p + 1) % PLACEMENTS]);
        distal_tensor *C = placed(d, "C", INNER, COLUMNS, placements[(p + 2) % PLACEMENTS]);
        OK(distal_scratch(d, "/nowhere"));
        OK(distal_tensor_attach_file(B, path_in(folder, "B.npy")));
        OK(distal_tensor_attach_file(C, path_in(folder, "C.npy")));
        const char *path = path_in(folder, "A.npy");
        OK(distal_tensor_attach_output(A, path));
        distal_plan *plan = planned(d, "A(i, j) = B(i, k) * C(k, j)", NULL);
        for (int times = 0; times < 2; times++) {
            OK(distal_execute(plan));
            check_figures(d, plan, rank);
        }
        check_product(d, A, 1, placements[p]);
        CHECK(!is_there(comm, path), "the output is there before it is complete");
        // Added to what is there.
        OK(distal_compute(d, "A(i, j) += B(i, k) * C(k, j)"));
        check_product(d, A, 2, "added");
        OK(distal_tensor_write(A, path));
        CHECK(is_there(comm, path), "the output is not there");
        check_product(d, A, 2, "complete");
        // From now on it is read.
        CHECK(distal_execute(plan) == DISTAL_INVALID, "a complete output was computed");
        distal_tensor *sum = declare(d, "sum: f64", NULL);
        OK(distal_compute(d, "sum = A(i, j)"));
        double value = 0, all = 0;
        OK(distal_get(sum, &value));
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                all += 2 * expected(i, j);
        CHECK(value == all, "the sum is %g, not %g", value, all);
        // Another file, and an input in the place of the output.
        OK(distal_tensor_attach_file(A, path));
        check_product(d, A, 2, "read");
        distal_free(d);
        if (rank == 0)
            unlink(path);
    }
    remove_folder(comm, rank, folder);
}

// Outputs that are not completed leave nothing, and what was there stays.
static void test_drafts(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    char folder[64];
    make_folder(comm, rank, folder);
    distal_context *d = with_machine(comm);
    distal_tensor *A = placed(d, "A", ROWS, COLUMNS, "M(x)");
    const char *path = path_in(folder, "A.npy");
    OK(distal_tensor_attach_output(A, path));
    OK(distal_compute(d, "A(i, j) = 3"));
    OK(distal_tensor_write(A, path_in(folder, "B.npy"))); // a copy
    CHECK(!is_there(comm, path), "writing a copy has completed the output");
    OK(distal_tensor_attach_output(A, path)); // begins anew
    double first = -1;
    OK(distal_section_read(A, (int64_t[]){0, 0}, (int64_t[]){1, 1}, &first));
    CHECK(first == 0, "a new output has %g", first);
    OK(distal_tensor_fill(A, "const:4"));
    distal_tensor_free(A);
    CHECK(!is_there(comm, path), "an output remains of a tensor that was freed");
    A = placed(d, "A", ROWS, COLUMNS, "M(x)");
    OK(distal_tensor_attach_file(A, path_in(folder, "B.npy")));
    distal_tensor_free(A);
    A = placed(d, "A", ROWS, COLUMNS, "M(y)");
    OK(distal_tensor_attach_output(A, path_in(folder, "B.npy")));
    distal_free(d); // of a context, too
    d = with_machine(comm);
    A = placed(d, "A", ROWS, COLUMNS, "M(x)");
    OK(distal_tensor_attach_file(A, path_in(folder, "B.npy")));
    double last = 0;
    OK(distal_section_read(A, (int64_t[]){ROWS - 1, COLUMNS - 1}, (int64_t[]){ROWS, COLUMNS}, &last));
    CHECK(last == 3, "a file that was not replaced has %g", last);
    distal_free(d);
    remove_folder(comm, rank, folder);
}

// A path that is written in another way is that of the output, too.
static void test_same_file(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    char folder[64];
    make_folder(comm, rank, folder);
    distal_context *d = with_machine(comm);
    distal_tensor *A = placed(d, "A", ROWS, COLUMNS, "M(x)");
    OK(distal_tensor_attach_output(A, path_in(folder, "A.npy")));
    OK(distal_tensor_fill(A, "const:5"));
    OK(distal_tensor_write(A, path_in(folder, "./A.npy")));
    CHECK(is_there(comm, path_in(folder, "A.npy")), "the output is not there");
    REFUSED(DISTAL_INVALID, distal_tensor_fill(A, "ones"), "it cannot change");
    double value = 0;
    OK(distal_section_read(A, (int64_t[]){0, 0}, (int64_t[]){1, 1}, &value));
    CHECK(value == 5, "a complete output has %g", value);
    distal_free(d);
    remove_folder(comm, rank, folder);
}

// A data set of HDF5 in a file that has others, and that must not get others meanwhile.
static void test_data_set(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    char folder[64];
    make_folder(comm, rank, folder);
    distal_context *d = with_machine(comm);
    distal_tensor *A = placed(d, "A", ROWS, COLUMNS, "M(x)"), *B = declare(d, "SB(4): f64", "SB(x) -> M(x)");
    const distal_status status = distal_tensor_attach_output(A, path_in(folder, "A.h5:/run/A"));
    CHECK(status == DISTAL_OK || strstr(distal_error(d), "built without HDF5"), "%s", distal_error(d));
    if (status == DISTAL_OK) {
        OK(distal_tensor_fill(A, "const:5"));
        OK(distal_tensor_fill(B, "iota"));
        OK(distal_tensor_write(B, path_in(folder, "A.h5:/B")));
        REFUSED(DISTAL_FAILED, distal_tensor_write(A, path_in(folder, "A.h5:/run/A")), "it has changed");
        OK(distal_tensor_attach_output(A, path_in(folder, "A.h5:/run/A")));
        OK(distal_compute(d, "A(i, j) = 3"));
        OK(distal_tensor_write(A, path_in(folder, "./A.h5:/run/A")));
        REFUSED(DISTAL_INVALID, distal_tensor_fill(A, "ones"), "it cannot change");
        OK(distal_tensor_fill(B, "zeros"));
        OK(distal_tensor_fill(B, path_in(folder, "A.h5:/B")));
        double of_a[ROWS * COLUMNS] = {0}, of_b[4] = {0};
        OK(distal_tensor_gather(A, of_a));
        OK(distal_tensor_gather(B, of_b));
        CHECK(of_a[0] == 3 && of_a[ROWS * COLUMNS - 1] == 3, "the output has %g and %g", of_a[0],
              of_a[ROWS * COLUMNS - 1]);
        CHECK(of_b[3] == 3, "the other array has %g", of_b[3]);
    }
    distal_free(d);
    remove_folder(comm, rank, folder);
}

// Scratch files with direct I/O, where the file system of the folder supports it.
static void test_direct(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    char folder[64];
    make_folder(comm, rank, folder);
    distal_context *d = with_machine(comm);
    CHECK(distal_scratch_direct(NULL, 1) == DISTAL_INVALID, "no context was not refused");
    OK(distal_scratch(d, folder));
    OK(distal_scratch_direct(d, 1));
    distal_tensor *A = NULL, *sum = declare(d, "sum: i64", NULL);
    OK(distal_tensor_create(d, "A", DISTAL_I64, 2, (int64_t[]){301, 77}, "A(x, y) -> M(x) in disk", &A));
    const distal_status status = distal_tensor_fill(A, "iota");
    CHECK(status == DISTAL_OK || strstr(distal_error(d), "does not support direct I/O"), "%d: %s", status,
          distal_error(d));
    if (status == DISTAL_OK) {
        OK(distal_compute(d, "A(i, j) += A(i, j)"));
        OK(distal_compute(d, "sum = A(i, j)"));
        int64_t value = 0;
        OK(distal_get(sum, &value));
        CHECK(value == (int64_t)301 * 77 * (301 * 77 - 1), "the sum is %lld", (long long)value);
    }
    distal_free(d);
    remove_folder(comm, rank, folder);
}

static void test_refused(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    char folder[64];
    make_folder(comm, rank, folder);
    distal_context *d = with_machine(comm);
    write_operands(d, folder);
    distal_tensor *B = placed(d, "B", ROWS, INNER, "M(x)");
    distal_tensor *host = declare(d, "H(7, 6): f64", "H(x, y) -> M(x)");
    distal_tensor *column = declare(d, "K(7, 6): f64, order(1, 0)", "K(x, y) -> M(x) in disk");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_file(host, path_in(folder, "B.npy")),
            "tensor 'H' is not placed in disk: it cannot be in a file");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_output(host, path_in(folder, "A.npy")),
            "is not placed in disk");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_file(B, NULL),
            "the path of the file for tensor 'B' is NULL");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_file(B, "ones"),
            "tensor 'B' cannot be in 'ones': it needs a file that stores it contiguously, PATH.npy or "
            "PATH.h5:/NAME");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_file(B, "B.txt"),
            "'B.txt': it needs a file that stores it contiguously, PATH.npy");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_output(B, "A.txt"),
            "'A.txt': it needs a file that stores it contiguously, PATH.npy");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_output(B, path_in(folder, "A.tns")),
            "A.tns': it needs a file that stores it contiguously, PATH.npy");
    distal_tensor *S = declare(d, "S(7, 6): f64, csr", "S(x, y) -> M(weighted(x))");
    OK(distal_tensor_fill(S, "ones"));
    distal_tensor *moving = declare(d, "V(7): f64", "V(x) -> M(weighted(x, S)) in disk");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_output(moving, path_in(folder, "A.npy")),
            "tensor 'V' moves when 'S' gets other entries, by which it is placed, and cannot be in a file");
    REFUSED(DISTAL_INVALID, distal_tensor_attach_output(column, path_in(folder, "A.npy")),
            "is not stored by row");
    REFUSED(DISTAL_FAILED, distal_tensor_attach_file(column, path_in(folder, "B.npy")),
            "stores its elements by row");
    REFUSED(DISTAL_FAILED, distal_tensor_attach_file(B, path_in(folder, "C.npy")), "its shape is (6, 5)");
    REFUSED(DISTAL_FAILED, distal_tensor_attach_output(B, "/nowhere/A.npy"), "No such file or directory");
    // The tensor is as it was.
    OK(distal_tensor_fill(B, "ones"));
    REFUSED(DISTAL_FAILED, distal_tensor_attach_file(B, path_in(folder, "A.npy")),
            "No such file or directory");
    double value = 0;
    OK(distal_section_read(B, (int64_t[]){0, 0}, (int64_t[]){1, 1}, &value));
    CHECK(value == 1, "a tensor has lost its elements: %g", value);
    // A file that is read does not change.
    OK(distal_tensor_attach_file(B, path_in(folder, "B.npy")));
    REFUSED(DISTAL_INVALID, distal_tensor_fill(B, "zeros"), "is in a read-only file");
    REFUSED(DISTAL_INVALID, distal_section_write(B, (int64_t[]){0, 0}, (int64_t[]){1, 1}, &value),
            "is in a read-only file");
    REFUSED(DISTAL_INVALID, distal_compute(d, "B(i, j) = 1"), "is in a read-only file");
    REFUSED(DISTAL_INVALID, distal_redistribute(B, host), "is in a read-only file");
    OK(distal_section_read(B, (int64_t[]){0, 1}, (int64_t[]){1, 2}, &value));
    CHECK(value == 1, "a file has changed: %g", value);
    distal_free(d);
    remove_folder(comm, rank, folder);
}

// A tensor keeps its home and its elements where a file cannot be attached, also a home whose pieces are
// periodic.
static void test_refused_cyclic(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    enum { PROCESSORS = 600, COUNT = 9 * PROCESSORS };
    char folder[64];
    make_folder(comm, rank, folder);
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){PROCESSORS}));
    distal_tensor *A = declare(d, "A(5400): f64", "A(x) -> M(cyclic(x, 3)) in disk");
    OK(distal_tensor_fill(A, "iota"));
    REFUSED(DISTAL_FAILED, distal_tensor_attach_output(A, "/nowhere/A.npy"), "No such file or directory");
    REFUSED(DISTAL_FAILED, distal_tensor_attach_file(A, path_in(folder, "A.npy")),
            "No such file or directory");
    OK(distal_tensor_write(A, path_in(folder, "A.npy")));
    OK(distal_tensor_attach_file(A, path_in(folder, "A.npy")));
    REFUSED(DISTAL_FAILED, distal_tensor_attach_output(A, "/nowhere/A.npy"), "No such file or directory");
    double whole[COUNT] = {0};
    OK(distal_tensor_gather(A, whole));
    for (int i = 0; i < COUNT; i++)
        CHECK(whole[i] == i, "element %d is %g", i, whole[i]);
    OK(distal_tensor_attach_output(A, path_in(folder, "B.npy")));
    OK(distal_tensor_fill(A, "ones"));
    distal_free(d);
    remove_folder(comm, rank, folder);
}

static const ReportCase cases[] = {{"api_files/products", test_products},
                                   {"api_files/drafts", test_drafts},
                                   {"api_files/same file", test_same_file},
                                   {"api_files/data set", test_data_set},
                                   {"api_files/direct", test_direct},
                                   {"api_files/refused", test_refused},
                                   {"api_files/refused cyclic", test_refused_cyclic},
                                   {0}};

int main(int argc, char **argv) {
    return report_all(argc, argv, cases);
}
