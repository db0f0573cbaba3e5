// SPDX-License-Identifier: BSD-3-Clause
// The C library as a caller meets it: computing in its own memory and in the library's, on whole
// communicators and parts of them, with several contexts, sizes and programs at once. ranks: 12
#include "api.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

static distal_tensor *matrix(distal_context *d, const char *name, int64_t rows, int64_t columns,
                             const char *placement) {
    distal_tensor *tensor = NULL;
    OK(distal_tensor_create(d, name, DISTAL_F64, 2, (int64_t[]){rows, columns}, placement, &tensor));
    return tensor;
}

static double *gather(distal_context *d, distal_tensor *tensor, int64_t elements) {
    double *whole = calloc((size_t)elements + 1, sizeof(double));
    OK(distal_tensor_gather(tensor, whole));
    return whole;
}

static void check_product(distal_context *d, distal_tensor *a, distal_tensor *b, distal_tensor *c) {
    int64_t m[2], n[2];
    OK(distal_tensor_shape(a, NULL, NULL, m));
    OK(distal_tensor_shape(b, NULL, NULL, n));
    double *A = gather(d, a, m[0] * m[1]), *B = gather(d, b, n[0] * n[1]), *C = gather(d, c, n[1] * m[1]);
    for (int64_t i = 0; i < m[0]; i++)
        for (int64_t j = 0; j < m[1]; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n[1]; k++)
                sum += B[i * n[1] + k] * C[k * m[1] + j];
            const double error = sum - A[i * m[1] + j];
            CHECK(error < 1e-12 && error > -1e-12, "A[%lld, %lld] is %g, not %g", (long long)i, (long long)j,
                  A[i * m[1] + j], sum);
        }
    free(A);
    free(B);
    free(C);
}

static void grid_of(int ranks, int64_t *grid) {
    int dims[2] = {0};
    MPI_Dims_create(ranks, 2, dims);
    grid[0] = dims[0];
    grid[1] = dims[1];
}

// SUMMA on any number of ranks, scheduled by calls.
static distal_statement *summa(distal_context *d, int ranks) {
    int64_t grid[2];
    grid_of(ranks, grid);
    OK(distal_param(d, "chunk", 7));
    OK(distal_machine_grid(d, "M", 2, grid));
    OK(distal_tensor_create(d, "A", DISTAL_F64, 2, (int64_t[]){29, 31}, "A(x, y) -> M(x, y)", NULL));
    OK(distal_tensor_create(d, "B", DISTAL_F64, 2, (int64_t[]){29, 23}, "B(x, y) -> M(x, y)", NULL));
    OK(distal_tensor_create(d, "C", DISTAL_F64, 2, (int64_t[]){23, 31}, "C(x, y) -> M(x, y)", NULL));
    distal_statement *s = statement_of(d, "A(i, j) = B(i, k) * C(k, j)");
    OK(distal_distribute_onto(s, "i, j", "io, jo", "ii, ji", "M"));
    OK(distal_split(s, "k", "ko", "ki", "chunk"));
    OK(distal_reorder(s, "ko, ii, ji, ki"));
    OK(distal_communicate(s, "A", "jo"));
    OK(distal_communicate(s, "B, C", "ko"));
    OK(distal_substitute(s, "ii, ji, ki", "gemm"));
    return s;
}

static distal_tensor *find(distal_context *d, const char *name) {
    distal_tensor *tensor = NULL;
    OK(distal_tensor_find(d, name, &tensor));
    return tensor;
}

static void fill_operands(distal_context *d) {
    OK(distal_tensor_fill(find(d, "B"), "random:1"));
    OK(distal_tensor_fill(find(d, "C"), "random:2"));
}

static void test_product(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    distal_statement *s = summa(d, ranks);
    OK(distal_compile(s));
    fill_operands(d);
    distal_plan *p = plan_of(d, s);
    OK(distal_execute(p));
    check_product(d, find(d, "A"), find(d, "B"), find(d, "C"));

    distal_figures figures;
    OK(distal_plan_figures(p, &figures));
    CHECK(figures.ranks == ranks && figures.tensor_count == 3 && figures.flop == 2 * 29 * 31 * 23, "figures");
    check_figures(d, p, rank);
    CHECK(strcmp(figures.tensors[0].pattern, "local") == 0, "A is %s", figures.tensors[0].pattern);
    distal_free(d);
}

// Rows of the caller's array are longer than the piece, or it is column-major.
static void test_attach(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    int64_t grid[2];
    grid_of(ranks, grid);
    OK(distal_machine_grid(d, "M", 2, grid));
    distal_tensor *a = matrix(d, "A", 17, 19, "A(x, y) -> M(x, y)"), *b = NULL;
    OK(distal_tensor_declare(d, "B(17, 11): f64, order(1, 0)", "B(x, y) -> M(x, y)", &b));
    distal_tensor *c = matrix(d, "C", 11, 19, "C(x, y) -> M(x, y)");
    OK(distal_tensor_fill(c, "random:7"));

    int64_t count_a = 0, count_b = 0;
    OK(distal_tensor_piece_count(a, &count_a));
    OK(distal_tensor_piece_count(b, &count_b));
    distal_piece at_a = {0}, at_b = {0};
    if (count_a)
        OK(distal_tensor_box(a, 0, &at_a));
    if (count_b)
        OK(distal_tensor_box(b, 0, &at_b));
    CHECK(!at_a.data && !at_b.data, "a tensor has memory before it needs any");
    const int64_t rows_a = at_a.hi[0] - at_a.lo[0], columns_a = at_a.hi[1] - at_a.lo[1];
    const int64_t rows_b = at_b.hi[0] - at_b.lo[0], columns_b = at_b.hi[1] - at_b.lo[1];
    const int64_t lead_a = columns_a + 3, lead_b = rows_b + 5;
    double *own_a = malloc(sizeof(double) * (size_t)((rows_a + 1) * lead_a));
    double *own_b = malloc(sizeof(double) * (size_t)((columns_b + 1) * lead_b));
    for (int64_t i = 0; i < (rows_a + 1) * lead_a; i++)
        own_a[i] = -1;
    for (int64_t j = 0; j < columns_b; j++)
        for (int64_t i = 0; i < rows_b; i++)
            own_b[j * lead_b + i] = (double)((at_b.lo[0] + i) * 11 + at_b.lo[1] + j);
    OK(distal_tensor_attach(a, count_a ? own_a : NULL, (int64_t[]){lead_a, 1}));
    OK(distal_tensor_attach(b, own_b, (int64_t[]){1, lead_b}));

    distal_plan *p = plan_of(d, statement_of(d, "A(i, j) = B(i, k) * C(k, j)"));
    OK(distal_execute(p));
    // What was put into the caller's array is what the tensor holds, and gaps have not been touched.
    double *whole = gather(d, b, 17 * 11);
    for (int64_t i = 0; i < 17 * 11; i++)
        CHECK(whole[i] == (double)i, "B[%lld] is %g", (long long)i, whole[i]);
    free(whole);
    whole = gather(d, a, 17 * 19);
    for (int64_t i = 0; i < rows_a; i++)
        for (int64_t j = 0; j < lead_a; j++)
            CHECK(own_a[i * lead_a + j] ==
                      (j < columns_a ? whole[(at_a.lo[0] + i) * 19 + at_a.lo[1] + j] : -1),
                  "A[%lld, %lld] is %g", (long long)i, (long long)j, own_a[i * lead_a + j]);
    free(whole);
    distal_piece piece = {0};
    OK(distal_tensor_local(a, &piece));
    CHECK(piece.data == (count_a ? own_a : NULL), "the piece is not in the caller's memory");
    for (int64_t i = 0; i < rows_b * columns_b; i++)
        own_b[i % rows_b + i / rows_b * lead_b] = 1;
    OK(distal_execute(p)); // reads what is there now
    check_product(d, a, b, c);
    distal_free(d);
    free(own_a);
    free(own_b);
}

// A matrix as ScaLAPACK has it, in the caller's memory: local arrays by columns with a leading dimension, and
// the elements where INDXL2G says. It is transposed where it is, and redistributed into blocks.
static void test_scalapack_layout(MPI_Comm comm, int rank, int ranks) {
    enum { N = 23, MB = 3, NB = 2, LLD = 30 };
    distal_context *d = context_on(comm);
    int64_t grid[2];
    grid_of(ranks, grid);
    OK(distal_machine_grid(d, "M", 2, grid));
    distal_tensor *a = NULL, *b = NULL, *c = matrix(d, "C", N, N, "C(x, y) -> M(x, y)");
    OK(distal_tensor_declare(d, "A(23, 23): f64, order(1, 0)", "A(x, y) -> M(cyclic(x, 3), cyclic(y, 2))",
                             &a));
    OK(distal_tensor_declare(d, "B(23, 23): f64, order(1, 0)", "B(x, y) -> M(cyclic(x, 3), cyclic(y, 2))",
                             &b));
    OK(distal_tensor_fill(c, "zeros"));

    // The local parts of process (row, column), element by element.
    const int64_t row = rank / grid[1], column = rank % grid[1];
    double own_a[LLD * N], own_b[LLD * N];
    int64_t rows = 0, columns = 0, row_of[N], column_of[N];
    for (int64_t i = 0; i < N; i++)
        if (i / MB % grid[0] == row)
            row_of[rows++] = i;
    for (int64_t j = 0; j < N; j++)
        if (j / NB % grid[1] == column)
            column_of[columns++] = j;
    const bool any = rank < grid[0] * grid[1] && rows > 0 && columns > 0;
    for (int64_t j = 0; any && j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            own_b[j * LLD + i] = (double)(100 * row_of[i] + column_of[j]);
    OK(distal_tensor_attach(a, any ? own_a : NULL, (int64_t[]){1, LLD}));
    OK(distal_tensor_attach(b, any ? own_b : NULL, (int64_t[]){1, LLD}));
    distal_piece piece = {0};
    OK(distal_tensor_local(b, &piece));
    CHECK(piece.extent[0] == (any ? rows : 0) && piece.extent[1] == (any ? columns : 0), "%lld x %lld",
          (long long)piece.extent[0], (long long)piece.extent[1]);
    int64_t coordinates[N];
    if (any)
        OK(distal_tensor_coordinates(b, 0, 0, coordinates));
    for (int64_t i = 0; any && i < rows; i++)
        CHECK(coordinates[i] == row_of[i], "row %lld is %lld", (long long)i, (long long)coordinates[i]);

    distal_plan *p = plan_of(d, statement_of(d, "A(i, j) = B(j, i)"));
    OK(distal_execute(p));
    for (int64_t j = 0; any && j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            CHECK(own_a[j * LLD + i] == (double)(100 * column_of[j] + row_of[i]), "A[%lld, %lld]",
                  (long long)row_of[i], (long long)column_of[j]);
    OK(distal_redistribute(c, b));
    double *whole = gather(d, c, N * N);
    for (int64_t i = 0; i < N * N; i++)
        CHECK(whole[i] == (double)(100 * (i / N) + i % N), "C[%lld] is %g", (long long)i, whole[i]);
    free(whole);
    distal_plan_free(p);
    distal_free(d);
}

// Three ranks with two processors each, whose tiles do not join: some ranks hold two pieces.
static void test_pieces(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    distal_context *d = context_on(comm);
    OK(distal_machine(d, "M", "grid(2, 3)"));
    distal_tensor *a = matrix(d, "A", 8, 9, "A(x, y) -> M(x, y)"),
                  *b = matrix(d, "B", 8, 9, "B(x, y) -> M(x, y)");
    int64_t count = 0;
    OK(distal_tensor_piece_count(a, &count));
    CHECK(count == (rank == 1 ? 2 : 1), "%lld pieces", (long long)count);
    distal_piece piece;
    distal_status status = distal_tensor_local(a, &piece);
    CHECK(status == (rank == 1 ? DISTAL_INVALID : DISTAL_OK), "status %d", status);
    CHECK(rank != 1 || strstr(distal_error(d), "'; distal_tensor_piece gives them one by one"), "%s",
          distal_error(d));
    status = distal_tensor_attach(a, &piece, NULL);
    CHECK(status == DISTAL_INVALID &&
              strstr(distal_error(d), "'; distal_tensor_attach_pieces takes memory for each"),
          "%s", distal_error(d));

    distal_piece pieces[2] = {{0}};
    double memory[2][64];
    for (int64_t i = 0; i < count; i++) {
        OK(distal_tensor_box(a, i, &pieces[i]));
        pieces[i].data = memory[i];
    }
    OK(distal_tensor_attach_pieces(a, count, pieces));
    OK(distal_tensor_fill(b, "iota"));
    OK(distal_execute(plan_of(d, statement_of(d, "A(i, j) = 2 * B(i, j)"))));
    for (int64_t i = 0; i < count; i++)
        CHECK(memory[i][0] == (double)(2 * (pieces[i].lo[0] * 9 + pieces[i].lo[1])), "%g", memory[i][0]);
    distal_free(d);
}

static void test_redistribute(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    int64_t grid[2];
    grid_of(ranks, grid);
    OK(distal_machine_grid(d, "M", 2, grid));
    OK(distal_machine_grid(d, "L", 1, (int64_t[]){ranks}));
    distal_tensor *rows = matrix(d, "rows", 13, 14, "rows(x, y) -> L(x)");
    distal_tensor *columns = NULL, *tiles = NULL, *copies = NULL;
    OK(distal_tensor_declare(d, "columns(13, 14): f64, order(1, 0)", "columns(x, y) -> L(y)", &columns));
    OK(distal_tensor_declare(d, "tiles(13, 14): f64", "tiles(x, y) -> M(y, x)", &tiles));
    OK(distal_tensor_declare(d, "copies(13, 14): c128", "copies(x, y) -> M(*, *)", &copies));
    OK(distal_tensor_fill(rows, "random:3"));
    OK(distal_redistribute(columns, rows));
    OK(distal_redistribute(tiles, columns));
    OK(distal_redistribute(copies, tiles));
    double *before = gather(d, rows, 13 * 14);
    distal_piece piece = {0};
    OK(distal_tensor_local(copies, &piece));
    const double *after = piece.data;
    for (int64_t i = 0; after && i < 13 * 14; i++)
        CHECK(after[2 * i] == before[i] && after[2 * i + 1] == 0, "element %lld changed", (long long)i);
    free(before);

    distal_tensor *scalar = NULL, *other = NULL, *small = matrix(d, "small", 3, 4, "small(x, y) -> L(x)");
    OK(distal_tensor_create(d, "scalar", DISTAL_I32, 0, NULL, NULL, &scalar));
    OK(distal_tensor_create(d, "other", DISTAL_I64, 0, NULL, NULL, &other));
    OK(distal_redistribute(other, scalar));
    CHECK(distal_redistribute(rows, small) == DISTAL_INVALID && *distal_error(d), "extents differ");
    CHECK(distal_redistribute(rows, copies) == DISTAL_INVALID && *distal_error(d), "complex into real");
    CHECK(distal_redistribute(rows, rows) == DISTAL_INVALID && *distal_error(d), "onto itself");
    distal_free(d);
}

// The kernel is found again for other sizes: no compiler is there to make another one.
static void test_sizes(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    distal_statement *s = summa(d, ranks);
    OK(distal_compile(s));
    barrier(comm);
    setenv("DISTAL_CC", "/dev/null/cc", 1);
    for (int64_t n = 1; n < 40; n += 19) {
        const char *const names[] = {"A", "B", "C"};
        for (int t = 0; t < 3; t++) {
            char placement[32];
            snprintf(placement, sizeof placement, "%s(x, y) -> M(x, y)", names[t]);
            distal_tensor_free(find(d, names[t]));
            matrix(d, names[t], n + (t == 2), n + (t == 1), placement);
        }
        OK(distal_param(d, "chunk", 1 + n / 3));
        fill_operands(d);
        distal_plan *p = plan_of(d, s);
        OK(distal_execute(p));
        check_product(d, find(d, "A"), find(d, "B"), find(d, "C"));
        distal_plan_free(p);
    }
    barrier(comm);
    unsetenv("DISTAL_CC");
    distal_free(d);
}

static void test_contexts(MPI_Comm comm, int rank, int ranks) {
    MPI_Comm half, reversed;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Comm_split(comm, 0, -rank, &reversed);
    int half_ranks;
    MPI_Comm_size(half, &half_ranks);
    distal_context *all[] = {context_on(comm), context_on(half), context_on(reversed)};
    const int sizes[] = {ranks, half_ranks, ranks};
    distal_plan *plans[3];
    for (int c = 0; c < 3; c++) {
        distal_context *d = all[c];
        distal_statement *s = summa(d, sizes[c]);
        fill_operands(d);
        plans[c] = plan_of(d, s);
        distal_statement_free(s); // the plan stays
    }
    // The communicators may go: contexts have their own.
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    for (int round = 0; round < 3; round++)
        for (int c = 0; c < 3; c++) {
            distal_context *d = all[(c + round) % 3];
            OK(distal_execute(plans[(c + round) % 3]));
        }
    for (int c = 0; c < 3; c++)
        check_product(all[c], find(all[c], "A"), find(all[c], "B"), find(all[c], "C"));
    distal_free(all[1]);
    distal_free(all[0]);
    distal_free(all[2]);
}

// Workspaces are the plans' own: two statements may each have one of the same name, but none that a tensor
// has.
static void test_workspaces(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    int64_t grid[2];
    grid_of(ranks, grid);
    OK(distal_machine_grid(d, "M", 2, grid));
    distal_tensor *a = matrix(d, "A", 13, 17, "A(x, y) -> M(x, y)");
    distal_tensor *b = matrix(d, "B", 13, 11, "B(x, y) -> M(x, y)");
    distal_tensor *c = matrix(d, "C", 11, 17, "C(x, y) -> M(x, y)");
    OK(distal_tensor_fill(b, "random:1"));
    OK(distal_tensor_fill(c, "random:2"));
    distal_statement *first = statement_of(d, "A(i, j) = 0.5 * B(i, k) * C(k, j)");
    OK(distal_precompute(first, "B(i, k) * C(k, j)", "i, j", "i, j", "W", NULL));
    OK(distal_distribute_onto(first, "i, j", "io, jo", "ii, ji", "M"));
    distal_statement *second = statement_of(d, "A(i, j) += 0.5 * C(k, j) * B(i, k)");
    CHECK(distal_precompute(second, "C(k, j)", "k, j", "k, j", "B", NULL) == DISTAL_INVALID &&
              strstr(distal_error(d), "'B' is already a tensor"),
          "%s", distal_error(d));
    second = statement_of(d, "A(i, j) += 0.5 * C(k, j) * B(i, k)");
    OK(distal_schedule(second, "precompute(0.5 * C(k, j), {k, j}, {x, y}, W); distribute({x, i})"));
    distal_plan *plans[] = {plan_of(d, first), plan_of(d, second), plan_of(d, first)};
    for (int round = 0; round < 6; round++)
        OK(distal_execute(plans[round % 2 == 1 ? 1 : round % 4]));
    check_product(d, a, b, c);

    distal_figures figures;
    OK(distal_plan_figures(plans[0], &figures));
    const distal_tensor_figures *workspace = &figures.tensors[figures.tensor_count - 1];
    CHECK(strcmp(workspace->tensor, "W") == 0 && workspace->home_bytes[rank] > 0, "%s", workspace->tensor);
    int64_t bytes, messages;
    OK(distal_plan_counted(plans[0], "W", &bytes, &messages));
    CHECK(bytes == workspace->bytes_received[rank], "%lld bytes", (long long)bytes);
    distal_plan_free(plans[1]);
    OK(distal_execute(plans[0]));

    // Workspaces that have entries only, as B has: by the name of a format, and by levels.
    distal_tensor *sparse = declare(d, "S(13, 11): f64, csr", "S(x, y) -> M(x, y)");
    OK(distal_tensor_fill(sparse, "random:3:0.3"));
    static const char *const statements[] = {"A(i, j) = 0.5 * S(i, k) * C(k, j)",
                                             "A(i, j) += 0.5 * C(k, j) * S(i, k)"};
    static const char *const formats[] = {"csr", "dense, compressed"};
    for (int f = 0; f < 2; f++) {
        distal_statement *next = statement_of(d, statements[f]);
        OK(distal_precompute(next, "S(i, k) * C(k, j)", "i, j", "i, j", "V", formats[f]));
        distal_plan *stored = plan_of(d, next);
        OK(distal_execute(stored));
        check_figures(d, stored, rank);
    }
    check_product(d, a, sparse, c);
    distal_free(d);
}

static void test_repeated(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    distal_statement *s = summa(d, ranks);
    fill_operands(d);
    distal_plan *p = plan_of(d, s);
    for (int i = 0; i < 100; i++)
        OK(distal_execute(p));
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 1000; i++)
        OK(distal_execute(p));
    const size_t after = mallinfo2().uordblks;
    CHECK(after <= before + 16384, "a thousand executions have left %zu bytes", after - before);
    const char *text;
    OK(distal_statement_source(s, &text));
    const size_t once = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++)
        OK(distal_statement_source(s, &text));
    const size_t often = mallinfo2().uordblks;
    CHECK(often <= once + 65536, "asking for the source a hundred times has left %zu bytes", often - once);
    check_product(d, find(d, "A"), find(d, "B"), find(d, "C"));
    distal_free(d);
}

// Products of three factors have workspaces by default, and none where a command is given afterwards.
static void test_defaults(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    enum { N = 40 };
    distal_context *d = context_on(comm);
    distal_tensor *all[4];
    for (int t = 0; t < 4; t++)
        all[t] = matrix(d, (const char *[]){"A", "B", "C", "E"}[t], N, N, NULL);
    distal_statement *s = statement_of(d, "A(i, l) = B(i, j) * C(j, k) * E(k, l)");
    distal_plan *plans[2];
    double *results[2];
    for (int p = 0; p < 2; p++) {
        if (p == 1)
            OK(distal_split(s, "i", "io", "ii", "7"));
        plans[p] = plan_of(d, s);
        for (int t = 1; t < 4; t++)
            OK(distal_tensor_fill(all[t], (const char *[]){"", "random:1", "random:2", "random:3"}[t]));
        OK(distal_execute(plans[p]));
        results[p] = gather(d, all[0], N * N);
        distal_figures figures;
        OK(distal_plan_figures(plans[p], &figures));
        CHECK(figures.tensor_count == 5 - p, "%d tensors", figures.tensor_count);
    }
    OK(distal_execute(plans[0]));
    for (int i = 0; i < N * N; i++) {
        const double error = results[0][i] - results[1][i];
        CHECK(results[0][i] > 0 && error < 1e-9 && error > -1e-9, "%g with workspaces, %g without",
              results[0][i], results[1][i]);
    }
    free(results[0]);
    free(results[1]);
    distal_free(d);
}

// Tensors without a placement lie where the first plan needs them, for all later plans, whether or not the
// first is still there.
static void test_unplaced(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "L", 1, (int64_t[]){ranks}));
    distal_tensor *a = matrix(d, "A", 10, 6, NULL), *b = matrix(d, "B", 10, 6, "B(x, y) -> L(cyclic(x, 2))"),
                  *sum = NULL;
    OK(distal_tensor_create(d, "sum", DISTAL_F64, 0, NULL, NULL, &sum));
    distal_piece piece;
    CHECK(distal_tensor_local(a, &piece) == DISTAL_INVALID && strstr(distal_error(d), "no placement"), "%s",
          distal_error(d));
    OK(distal_tensor_fill(b, "ones"));
    distal_statement *s = statement_of(d, "A(i, j) = B(i, j) + B(i, j)");
    OK(distal_distribute_onto(s, "i", "io", "ii", "B"));
    distal_plan *first = plan_of(d, s);
    OK(distal_execute(first));
    distal_plan_free(first);
    distal_plan *second = plan_of(d, statement_of(d, "sum = A(i, j)"));
    OK(distal_execute(second));
    OK(distal_tensor_local(sum, &piece));
    CHECK(*(double *)piece.data == 120, "the sum is %g", *(double *)piece.data);
    distal_free(d);
}

static const char *const two_statements =
    "param n = 1000, parts = 1\n"
    "machine M = grid(parts)\n"
    "tensor A(n, n): f64; tensor B(n, n): f64, order(1, 0); tensor s: f64\n"
    "place A(x, y) -> M(x); place B(x, y) -> M(y)\n"
    "A(i, j) = B(j, i)\n"
    "schedule A { distribute({i}, {io}, {ii}, M)\n communicate(B, io) }\n"
    "s += A(i, j)\n";

// Placements and schedules are chosen for the ranks of the context.
static void test_choose(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    static const char text[] =
        "tensor A(7, 9): f64; tensor B(7, 11): f64; tensor C(11, 9): f64; tensor s: f64\n"
        "A(i, j) = B(i, k) * C(k, j)\ns = A(i, j)\n";
    distal_context *d = context_on(comm);
    OK(distal_choose(d, "product.distal", text, 0));
    OK(distal_tensor_fill(find(d, "B"), "const:2"));
    OK(distal_tensor_fill(find(d, "C"), "iota"));
    distal_statement *product = NULL, *sum = NULL;
    OK(distal_statement_find(d, "A", 0, &product));
    OK(distal_statement_find(d, "s", 0, &sum));
    const char *scheduled = NULL;
    OK(distal_statement_text(product, &scheduled));
    CHECK((ranks > 1) == (strstr(scheduled, "distribute(") != NULL), "%s", scheduled);
    OK(distal_execute(plan_of(d, product)));
    OK(distal_execute(plan_of(d, sum)));
    distal_piece piece;
    OK(distal_tensor_local(find(d, "s"), &piece));
    CHECK(*(double *)piece.data == 7 * 2 * (98 * 99 / 2), "the sum is %g", *(double *)piece.data);
    distal_free(d);
    d = context_on(comm);
    CHECK(distal_choose(d, "product.distal", text, 100) == DISTAL_FAILED &&
              strstr(distal_error(d), "no schedule was found that keeps a rank within 100 B of memory"),
          "%s", distal_error(d));
    distal_free(d);
}

// Entries of sparse tensors are assumed, as there are none yet; others give the right result as well.
static void test_choose_sparse(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    static const char text[] =
        "tensor y(700): f64; tensor B(700, 900): f64, csr; tensor x(900): f64; tensor s: f64\n"
        "y(i) = B(i, j) * x(j)\ns = y(i)\n";
    distal_context *d = context_on(comm);
    OK(distal_choose(d, "product.distal", text, 0));
    OK(distal_tensor_fill(find(d, "B"), "const:2"));
    OK(distal_tensor_fill(find(d, "x"), "iota"));
    distal_statement *product = NULL, *sum = NULL;
    OK(distal_statement_find(d, "y", 0, &product));
    OK(distal_statement_find(d, "s", 0, &sum));
    const char *scheduled = NULL;
    OK(distal_statement_text(product, &scheduled));
    CHECK((ranks > 1) == (strstr(scheduled, "place B(x0, x1)") != NULL), "%s", scheduled);
    OK(distal_execute(plan_of(d, product)));
    OK(distal_execute(plan_of(d, sum)));
    distal_piece piece;
    OK(distal_tensor_local(find(d, "s"), &piece));
    CHECK(*(double *)piece.data == 700.0 * 2 * (899 * 900 / 2), "the sum is %g", *(double *)piece.data);
    distal_free(d);
}

// A limit puts tensors in disk, and a product of several factors stays the one statement that the caller
// knows.
static void test_choose_disk(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    static const char text[] = "tensor A(7, 9): f64; tensor T(7, 24, 30): f64; tensor C(24, 9): f64\n"
                               "tensor D(30, 9): f64; tensor s: f64\n"
                               "A(i, l) = T(i, j, k) * C(j, l) * D(k, l)\ns = A(i, j)\n";
    distal_context *d = context_on(comm);
    OK(distal_choose(d, "product.distal", text, 7 * 24 * 30 * 8 / ranks));
    OK(distal_tensor_fill(find(d, "T"), "const:2"));
    OK(distal_tensor_fill(find(d, "C"), "iota"));
    OK(distal_tensor_fill(find(d, "D"), "const:3"));
    distal_statement *product = NULL, *sum = NULL;
    OK(distal_statement_find(d, "A", 0, &product));
    OK(distal_statement_find(d, "s", 0, &sum));
    const char *scheduled = NULL;
    OK(distal_statement_text(product, &scheduled));
    CHECK(strstr(scheduled, "place T(x0, x1, x2)") && strstr(scheduled, "in disk") &&
              strstr(scheduled, "* C(j, l) * D(k, l)"),
          "%s", scheduled);
    OK(distal_execute(plan_of(d, product)));
    OK(distal_execute(plan_of(d, sum)));
    distal_piece piece;
    OK(distal_tensor_local(find(d, "s"), &piece));
    CHECK(*(double *)piece.data == 7 * 2 * 30 * 3 * (24 * 9 * (24 * 9 - 1) / 2), "the sum is %g",
          *(double *)piece.data);
    distal_free(d);
}

// Sizes are set after the program has been read; what the library says a statement is can be read again.
static void test_program(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    OK(distal_program(d, "two.distal", two_statements));
    OK(distal_param(d, "parts", ranks));
    OK(distal_param(d, "n", 15));
    OK(distal_tensor_fill(find(d, "B"), "iota"));
    OK(distal_tensor_fill(find(d, "s"), "const:5"));
    distal_statement *transpose = NULL, *sum = NULL;
    OK(distal_statement_find(d, "A", 0, &transpose));
    OK(distal_statement_find(d, "s", 0, &sum));
    OK(distal_execute(plan_of(d, transpose)));
    OK(distal_execute(plan_of(d, sum)));
    distal_piece piece;
    OK(distal_tensor_local(find(d, "s"), &piece));
    CHECK(*(double *)piece.data == 5 + 224 * 225 / 2, "the sum is %g", *(double *)piece.data);
    CHECK(distal_param(d, "n", 16) == DISTAL_INVALID &&
              strstr(distal_error(d), "which is in memory, depends on it"),
          "%s", distal_error(d));

    const char *text = NULL, *again = NULL;
    OK(distal_statement_text(transpose, &text));
    distal_context *other = context_on(comm);
    CHECK(distal_program(other, NULL, text) == DISTAL_OK, "%s%s", text, distal_error(other));
    distal_statement *copy = NULL;
    CHECK(distal_statement_find(other, "A", 0, &copy) == DISTAL_OK, "no statement");
    CHECK(distal_statement_text(copy, &again) == DISTAL_OK && strstr(again, "communicate(B, io)"), "%s",
          again);
    distal_free(other);
    distal_free(d);
}

// A plan of which a tensor is gone or lies elsewhere is refused; a new one works.
static void test_stale(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm);
    distal_statement *s = summa(d, ranks);
    fill_operands(d);
    distal_plan *p = plan_of(d, s);
    OK(distal_execute(p));
    distal_tensor *a = find(d, "A");
    double memory[29 * 31];
    OK(distal_tensor_attach(a, memory, NULL));
    CHECK(distal_execute(p) == DISTAL_INVALID &&
              strstr(distal_error(d), "has changed since the plan was made"),
          "%s", distal_error(d));
    distal_plan *q = plan_of(d, s);
    OK(distal_execute(q));
    check_product(d, a, find(d, "B"), find(d, "C"));
    distal_tensor_free(find(d, "B"));
    CHECK(distal_execute(q) == DISTAL_INVALID && strstr(distal_error(d), "of the plan has been freed"), "%s",
          distal_error(d));
    distal_plan *none = p;
    CHECK(distal_plan_create(s, &none) == DISTAL_INVALID && !none &&
              strstr(distal_error(d), "tensor 'B' of the statement '") &&
              strstr(distal_error(d), "' has been freed"),
          "%s", distal_error(d));
    OK(distal_tensor_create(d, "B", DISTAL_F64, 1, (int64_t[]){29}, NULL, &(distal_tensor *){NULL}));
    CHECK(distal_plan_create(s, &none) == DISTAL_INVALID &&
              strstr(distal_error(d), "' now has another number of modes, 1"),
          "%s", distal_error(d));
    distal_tensor_free(find(d, "B"));
    matrix(d, "B", 29, 23, "B(x, y) -> M(x, y)");
    fill_operands(d);
    OK(distal_execute(plan_of(d, s)));
    check_product(d, a, find(d, "B"), find(d, "C"));
    distal_free(d);
}

static void test_files(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "L", 1, (int64_t[]){ranks}));
    distal_tensor *a = matrix(d, "A", 9, 4, "A(x, y) -> L(x)"), *b = matrix(d, "B", 9, 4, "B(x, y) -> L(y)");
    char path[64];
    long process = (long)getpid();
    broadcast(&process, 1, MPI_LONG, 0, comm);
    snprintf(path, sizeof path, "/tmp/distal-test-api-%ld.npy", process);
    OK(distal_tensor_fill(a, "random:9"));
    OK(distal_tensor_write(a, path));
    OK(distal_tensor_fill(b, path));
    double *from = gather(d, a, 36), *to = gather(d, b, 36);
    CHECK(memcmp(from, to, sizeof(double) * 36) == 0, "the file holds something else");
    free(from);
    free(to);
    barrier(comm);
    if (rank == 0)
        remove(path);
    barrier(comm);
    CHECK(distal_tensor_fill(b, path) == DISTAL_FAILED && strstr(distal_error(d), path), "%s",
          distal_error(d));
    CHECK(distal_tensor_write(b, "/dev/null/b.npy") == DISTAL_FAILED && *distal_error(d), "written");
    distal_free(d);
}

static const struct {
    const char *name;
    ReportTest *test;
    int counts[8];
} cases[] = {
    {"api/product", test_product, {1, 2, 3, 4, 6, 12}},
    {"api/attach", test_attach, {1, 2, 5, 12}},
    {"api/scalapack", test_scalapack_layout, {1, 2, 4, 6, 12}},
    {"api/pieces", test_pieces, {3}},
    {"api/redistribute", test_redistribute, {1, 3, 4, 12}},
    {"api/sizes", test_sizes, {1, 4, 6}},
    {"api/contexts", test_contexts, {2, 5, 12}},
    {"api/repeated", test_repeated, {1, 4}},
    {"api/workspaces", test_workspaces, {1, 4, 6}},
    {"api/unplaced", test_unplaced, {1, 4}},
    {"api/defaults", test_defaults, {1, 4}},
    {"api/choose", test_choose, {1, 4, 5}},
    {"api/choose_sparse", test_choose_sparse, {1, 3, 5}},
    {"api/choose_disk", test_choose_disk, {1, 3, 5}},
    {"api/program", test_program, {1, 4, 5}},
    {"api/stale", test_stale, {1, 4}},
    {"api/files", test_files, {1, 3}},
};

int main(int argc, char **argv) {
    report_start(&argc, &argv);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; cases[i].counts[k]; k++)
            run_case(cases[i].name, cases[i].counts[k], cases[i].test);
    return report_end();
}
