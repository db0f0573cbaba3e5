// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors in the library, on the first rank or placed by their coordinates. ranks: 4
#include "api.h"
#include "api/context.h"

#include <stdlib.h>

enum { N = 12, M = 9 };

typedef struct {
    distal_context *d;
    int rank;
    distal_tensor *a, *b, *x, *y;
    distal_plan *product, *square, *added;
    double dense_b[N * M], dense_x[M];
} Fixture;

static void create(Fixture *fixture, MPI_Comm comm) {
    distal_context *d = fixture->d = context_on(comm);
    MPI_Comm_rank(comm, &fixture->rank);
    distal_param(d, "n", N);
    distal_param(d, "m", M);
    OK(distal_tensor_declare(d, "B(n, m): f64, csr", NULL, &fixture->b));
    OK(distal_tensor_declare(d, "A(n, n): f64, {dense, compressed}", NULL, &fixture->a));
    OK(distal_tensor_declare(d, "x(m): f64", NULL, &fixture->x));
    OK(distal_tensor_declare(d, "y(n): f64", NULL, &fixture->y));
    fixture->product = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    fixture->square = planned(d, "A(i, k) = B(i, j) * B(k, j)", NULL);
    fixture->added = planned(d, "A(i, k) += B(i, j) * B(k, j)", NULL);
}

static void fill(Fixture *fixture, const char *source) {
    distal_context *d = fixture->d;
    OK(distal_tensor_fill(fixture->b, source));
    OK(distal_tensor_fill(fixture->x, "random:7"));
    OK(distal_tensor_gather(fixture->b, fixture->dense_b));
    OK(distal_tensor_gather(fixture->x, fixture->dense_x));
}

static double row_product(const Fixture *fixture, int i, int k) {
    double sum = 0;
    for (int j = 0; j < M; j++)
        sum += fixture->dense_b[i * M + j] * fixture->dense_b[k * M + j];
    return sum;
}

static bool near(double a, double b) {
    return a - b < 1e-14 && b - a < 1e-14;
}

static void check_product(Fixture *fixture) {
    distal_context *d = fixture->d;
    double y[N];
    OK(distal_execute(fixture->product));
    OK(distal_tensor_gather(fixture->y, y));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < M; j++)
            sum += fixture->dense_b[i * M + j] * fixture->dense_x[j];
        CHECK(near(y[i], sum), "y(%d) is %g, not %g", i, y[i], sum);
    }
    check_figures(d, fixture->product, fixture->rank);
}

// Of A, `times` the product of B with its transpose.
static void check_result(Fixture *fixture, int times) {
    distal_context *d = fixture->d;
    double a[N * N];
    OK(distal_tensor_gather(fixture->a, a));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            CHECK(near(a[i * N + k], times * row_product(fixture, i, k)), "A(%d, %d) is %g", i, k,
                  a[i * N + k]);
}

static void end(Fixture *fixture) {
    distal_plan_free(fixture->product);
    distal_plan_free(fixture->square);
    distal_plan_free(fixture->added);
    distal_free(fixture->d);
}

// Its structure is kept as long as B has the one that it was made from.
static void test_structure(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture = {0};
    create(&fixture, comm);
    distal_context *d = fixture.d;
    fill(&fixture, "random:1:0.3");
    OK(distal_execute(fixture.square));
    // Held, so that no other one is at its address.
    Structure *first = NULL;
    structure_hold(&first, fixture.a->storage->structure);
    OK(distal_execute(fixture.square));
    CHECK(first && fixture.a->storage->structure == first, "the structure is not kept");
    check_result(&fixture, 1);
    fill(&fixture, "random:2:0.2");
    OK(distal_execute(fixture.square));
    CHECK(fixture.a->storage->structure != first, "the structure is that of before");
    structure_release(first);
    check_result(&fixture, 1);
    end(&fixture);
}

// The copy of an operand that loops cannot follow has the values of every execution, and a new structure
// where the operand has.
static void test_converted(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture;
    create(&fixture, comm);
    distal_context *d = fixture.d;
    distal_tensor *sum;
    OK(distal_tensor_declare(d, "S(n, n): f64", NULL, &sum));
    distal_plan *plan = planned(d, "S(i, j) = 2 * A(i, j) + A(j, i)", NULL);
    for (int source = 0; source < 2; source++) {
        fill(&fixture, source ? "random:9:0.4" : "random:8:0.2");
        for (int times = 1; times <= 4; times++) {
            double s[N * N];
            OK(distal_execute(times == 1 ? fixture.square : fixture.added));
            OK(distal_execute(plan));
            OK(distal_tensor_gather(sum, s));
            for (int i = 0; i < N; i++)
                for (int k = 0; k < N; k++)
                    CHECK(near(s[i * N + k] / times, 3 * row_product(&fixture, i, k)), "S(%d, %d) is %g", i,
                          k, s[i * N + k]);
        }
    }
    distal_plan_free(plan);
    end(&fixture);
}

static void test_product(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture = {0};
    create(&fixture, comm);
    // Nothing has been put in yet.
    check_product(&fixture);
    fill(&fixture, "random:1:0.3");
    check_product(&fixture);
    fill(&fixture, "zeros");
    check_product(&fixture);
    end(&fixture);
}

static void test_added(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture = {0};
    create(&fixture, comm);
    distal_context *d = fixture.d;
    fill(&fixture, "random:3:0.2");
    for (int times = 1; times < 4; times++) {
        OK(distal_execute(fixture.added));
        check_result(&fixture, times);
    }
    OK(distal_execute(fixture.square));
    OK(distal_execute(fixture.added));
    check_result(&fixture, 2);
    end(&fixture);
}

// A sparse tensor depends on no plan for its home; its extents may change while it has no entries.
static void test_without_plan(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    distal_context *d = context_on(comm);
    distal_tensor *b = NULL;
    double dense[6];
    distal_param(d, "n", 5);
    OK(distal_tensor_declare(d, "B(n, 2): f64, coo", NULL, &b));
    OK(distal_param(d, "n", 3));
    OK(distal_tensor_fill(b, "iota"));
    OK(distal_tensor_gather(b, dense));
    for (int e = 0; e < 6; e++)
        CHECK(dense[e] == e, "element %d is %g", e, dense[e]);
    CHECK(distal_param(d, "n", 4) == DISTAL_INVALID, "its extent has changed");
    int64_t count;
    CHECK(distal_tensor_piece_count(b, &count) == DISTAL_INVALID, "it has pieces");
    CHECK(strstr(distal_error(d), "it has levels with arrays, and no pieces"), "%s", distal_error(d));
    distal_free(d);
}

// Entry (i, j) has the value i * M + j + 1, where (i + j) % 3 is 0.
static double entry_value(int i, int j) {
    return (i + j) % 3 ? 0 : i * M + j + 1;
}

// All ranks give entries, each some of every row; each has those of its rows then.
static void give_entries(distal_context *d, distal_tensor *b, int rank, int ranks) {
    int64_t rows[N * M], columns[N * M], count = 0;
    double values[N * M];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            if (entry_value(i, j) != 0 && (2 * i + j) % ranks == rank) {
                rows[count] = i;
                columns[count] = j;
                values[count++] = entry_value(i, j);
            }
    const int64_t *const coordinates[] = {rows, columns};
    OK(distal_tensor_entries(b, count, coordinates, values));
}

// The first row of a rank, of `rows` in blocks.
static int first_of(int rows, int rank, int ranks) {
    const int first = rank * ((rows + ranks - 1) / ranks);
    return first < rows ? first : rows;
}

static int first_row(int rank, int ranks) {
    return first_of(N, rank, ranks);
}

static void check_levels(distal_context *d, distal_tensor *b, int rank, int ranks) {
    distal_level_arrays levels[2];
    void *values;
    int64_t count, expected = 0;
    OK(distal_tensor_levels(b, levels, &values, &count));
    const int64_t *pos = levels[1].pos;
    const int32_t *crd = levels[1].crd;
    for (int i = first_row(rank, ranks); i < first_row(rank + 1, ranks); i++)
        for (int j = 0; j < M; j++) {
            if (entry_value(i, j) == 0)
                continue;
            const int64_t row = i - levels[0].first;
            CHECK(row < levels[0].count && pos[row] <= expected && expected < pos[row + 1],
                  "entry %d is in another row", (int)expected);
            CHECK(crd[expected] == j && ((double *)values)[expected] == entry_value(i, j), "(%d, %d)", i, j);
            expected++;
        }
    CHECK(count == expected, "%d entries, not %d", (int)count, (int)expected);
}

static void test_placed(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture = {.rank = rank};
    distal_context *d = fixture.d = context_on(comm);
    distal_param(d, "n", N);
    distal_param(d, "m", M);
    const int64_t all[] = {ranks};
    OK(distal_machine_grid(d, "M", 1, all));
    OK(distal_tensor_declare(d, "B(n, m): f64, csr", "B(i, j) -> M(i)", &fixture.b));
    OK(distal_tensor_declare(d, "x(m): f64", "x(j) -> M(j)", &fixture.x));
    OK(distal_tensor_declare(d, "y(n): f64", "y(i) -> M(i)", &fixture.y));
    fixture.product = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    OK(distal_tensor_fill(fixture.x, "random:3"));
    give_entries(d, fixture.b, rank, ranks);
    check_levels(d, fixture.b, rank, ranks);
    OK(distal_tensor_gather(fixture.b, fixture.dense_b));
    OK(distal_tensor_gather(fixture.x, fixture.dense_x));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            CHECK(fixture.dense_b[i * M + j] == entry_value(i, j), "B(%d, %d) is %g", i, j,
                  fixture.dense_b[i * M + j]);
    check_product(&fixture);
    fill(&fixture, "random:4:0.4");
    check_product(&fixture);
    distal_plan_free(fixture.product);
    distal_free(d);
}

// `result`, of the extents of B, is to be `factor` times B.
static void check_scaled(const Fixture *fixture, distal_tensor *result, double factor) {
    distal_context *d = fixture->d;
    double a[N * M];
    OK(distal_tensor_gather(result, a));
    for (int e = 0; e < N * M; e++)
        CHECK(near(a[e], factor * fixture->dense_b[e]), "element %d is %g, not %g", e, a[e],
              factor * fixture->dense_b[e]);
}

// A replicated operand, whose rows are known to need nothing of other ranks in one structure and not in the
// next: its entries are on the diagonal of the rows of the first rank, then in all rows.
static void test_other_rows(MPI_Comm comm, int rank, int ranks) {
    enum { SIDE = 24 };
    distal_context *d = context_on(comm);
    const int64_t all[] = {ranks};
    OK(distal_machine_grid(d, "M", 1, all));
    distal_tensor *b = declare(d, "B(24, 24): f64, csr", "B(i, j) -> M(*)"),
                  *x = declare(d, "x(24): f64", "x(j) -> M(j)"),
                  *y = declare(d, "y(24): f64", "y(i) -> M(i)");
    distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    OK(distal_tensor_fill(x, "iota"));
    for (int round = 0; round < 4; round++) {
        int64_t rows[2 * SIDE], columns[2 * SIDE], count = 0;
        double values[2 * SIDE], expected[SIDE] = {0}, result[SIDE];
        for (int i = 0; i < (round % 2 ? SIDE : first_of(SIDE, 1, ranks)); i++)
            for (int e = 0; e <= round % 2; e++) {
                rows[count] = i;
                columns[count] = (i + 13 * e) % SIDE;
                values[count] = 1 + round + e;
                expected[i] += values[count] * (double)columns[count];
                count++;
            }
        const int64_t *const coordinates[] = {rows, columns};
        OK(distal_tensor_entries(b, rank == 0 ? count : 0, coordinates, values));
        OK(distal_execute(plan));
        OK(distal_tensor_gather(y, result));
        for (int i = 0; i < SIDE; i++)
            CHECK(result[i] == expected[i], "round %d: y[%d] is %g, not %g", round, i, result[i],
                  expected[i]);
    }
    distal_free(d);
}

// Results whose entries are found and computed on other ranks than those that have them at home, in a context
// whose other tensors were declared before.
static void test_computed_elsewhere(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture = {.rank = rank};
    distal_context *d = fixture.d = context_on(comm);
    const int64_t all[] = {ranks};
    distal_param(d, "n", N);
    distal_param(d, "m", M);
    OK(distal_machine_grid(d, "M", 1, all));
    fixture.x = declare(d, "x(m): f64", "x(j) -> M(j)");
    fixture.b = declare(d, "B(n, m): f64, csr", "B(i, j) -> M(j)");
    distal_tensor *everywhere = declare(d, "A(n, m): f64, csr", "A(i, j) -> M(*)");
    distal_tensor *by_rows = declare(d, "C(n, m): f64, dcsr", "C(i, j) -> M(i)");
    distal_plan *plans[] = {
        planned(d, "A(i, j) = B(i, j)", NULL),
        planned(d, "A(i, j) += B(i, j) + B(i, j)", NULL),
        planned(d, "C(i, j) = B(i, j) + B(i, j)", "distribute({j}, {jo}, {ji}, M)"),
        planned(d, "C(i, j) = C(i, j) * 3", "distribute({j}, {jo}, {ji}, M)"),
    };
    for (int source = 0; source < 2; source++) {
        fill(&fixture, source ? "random:5:0.4" : "random:6:0.2");
        for (int p = 0; p < 4; p++) {
            OK(distal_execute(plans[p]));
            check_figures(d, plans[p], rank);
            check_scaled(&fixture, p < 2 ? everywhere : by_rows, (double[]){1, 3, 2, 6}[p]);
        }
    }
    for (int p = 0; p < 4; p++)
        distal_plan_free(plans[p]);
    distal_free(d);
}

// Pointers to the rows of a rank only, with an entry in each; those of fewer rows are refused.
static void check_own_rows(MPI_Comm comm, int n, int rank, int ranks) {
    distal_context *d = context_on(comm);
    const int64_t all[] = {ranks};
    const int first = first_of(n, rank, ranks), count = first_of(n, rank + 1, ranks) - first;
    distal_tensor *b;
    distal_param(d, "n", n);
    OK(distal_machine_grid(d, "M", 1, all));
    OK(distal_tensor_declare(d, "B(n, n): f64, csr", "B(i, j) -> M(i)", &b));
    int64_t pos[N + 1];
    int32_t crd[N];
    double values[N], dense[N * N], y[N];
    for (int i = 0; i < count; i++) {
        pos[i] = i;
        crd[i] = (first + i) * 7 % n;
        values[i] = first + i + 1;
    }
    pos[count] = count;
    // A rank without rows has none from the end on.
    const distal_level_arrays levels[] = {{.first = first, .count = count}, {.pos = pos, .crd = crd}};
    OK(distal_tensor_attach_levels(b, levels, values));
    OK(distal_tensor_gather(b, dense));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            CHECK(dense[i * n + j] == (j == i * 7 % n ? i + 1 : 0), "(%d, %d)", i, j);
    distal_level_arrays shown[2];
    OK(distal_tensor_levels(b, shown, NULL, NULL));
    CHECK(shown[1].pos == pos || count == 0, "pointers are copied");
    Fixture fixture = {.d = d};
    OK(distal_tensor_declare(d, "y(n): f64", "y(i) -> M(i)", &fixture.y));
    distal_plan *plan = planned(d, "y(i) = B(i, j)", NULL);
    OK(distal_execute(plan));
    OK(distal_tensor_gather(fixture.y, y));
    for (int i = 0; i < n; i++)
        CHECK(y[i] == i + 1, "row %d", i);
    const distal_level_arrays fewer[] = {{.first = first, .count = count - (rank == 0)},
                                         {.pos = pos, .crd = crd}};
    if (first_of(n, 1, ranks) > 1) {
        CHECK(distal_tensor_attach_levels(b, fewer, values) == DISTAL_INVALID, "attached fewer rows");
        CHECK(strstr(distal_error(d), "leave out coordinates that rank "), "%s", distal_error(d));
    }
    const distal_level_arrays beyond[] = {{.first = first, .count = n + 1}, {.pos = pos, .crd = crd}};
    CHECK(distal_tensor_attach_levels(b, beyond, values) == DISTAL_INVALID, "attached more rows");
    CHECK(strstr(distal_error(d), " go beyond its "), "%s", distal_error(d));
    const distal_level_arrays below[] = {{0}, {.first = 1, .count = 1, .pos = pos, .crd = crd}};
    CHECK(distal_tensor_attach_levels(b, below, values) == DISTAL_INVALID, "attached a part of a list");
    CHECK(strstr(distal_error(d), "are set, and only a dense level that is the first one"), "%s",
          distal_error(d));
    distal_plan_free(plan);
    distal_free(d);
}

// As many rows as each rank has some, and two, which most of four ranks have none of.
static void test_own_rows(MPI_Comm comm, int rank, int ranks) {
    check_own_rows(comm, N, rank, ranks);
    check_own_rows(comm, 2, rank, ranks);
}

// Two rows that are stored in full, of which each rank has the columns that are its own; fewer are refused.
static void test_own_columns(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    const int64_t all[] = {ranks};
    const int first = first_row(rank, ranks), count = first_row(rank + 1, ranks) - first;
    distal_tensor *b;
    distal_param(d, "n", N);
    OK(distal_machine_grid(d, "M", 1, all));
    OK(distal_tensor_declare(d, "B(n, n): f64, {compressed, dense}", "B(i, j) -> M(j)", &b));
    static const int32_t rows[] = {1, N - 1};
    static const int64_t pos[] = {0, 2};
    double values[2 * N], dense[N * N], y[N];
    for (int p = 0; p < 2; p++)
        for (int j = 0; j < count; j++)
            values[p * count + j] = p * N + first + j + 1;
    const distal_level_arrays levels[] = {{.pos = pos, .crd = rows}, {.first = first, .count = count}};
    OK(distal_tensor_attach_levels(b, levels, values));
    OK(distal_tensor_gather(b, dense));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(dense[i * N + j] == (i == 1 ? j + 1 : i == N - 1 ? N + j + 1 : 0), "(%d, %d)", i, j);
    distal_level_arrays shown[2];
    OK(distal_tensor_levels(b, shown, NULL, NULL));
    CHECK(count == 0 || (shown[1].first == first && shown[1].count == count), "other columns are shown");
    Fixture fixture = {.d = d};
    OK(distal_tensor_declare(d, "y(n): f64", NULL, &fixture.y));
    distal_plan *plan = planned(d, "y(j) = B(i, j)", NULL);
    OK(distal_execute(plan));
    OK(distal_tensor_gather(fixture.y, y));
    for (int j = 0; j < N; j++)
        CHECK(y[j] == N + 2 * j + 2, "column %d", j);
    const distal_level_arrays fewer[] = {{.pos = pos, .crd = rows},
                                         {.first = first, .count = count - (rank == 0)}};
    if (first_row(1, ranks) > 1) { // 0 of them would mean all
        CHECK(distal_tensor_attach_levels(b, fewer, values) == DISTAL_INVALID, "attached fewer columns");
        CHECK(strstr(distal_error(d), "leave out coordinates that rank "), "%s", distal_error(d));
    }
    distal_plan_free(plan);
    distal_free(d);
}

// Arrays of the caller with an entry in the first of its rows. Others are refused on all ranks, also where
// they are wrong on one rank only, and then the tensor stays as it is: with an entry in a row that is at home
// elsewhere, and with a column beyond the extent.
static void test_placed_arrays(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    const int64_t all[] = {ranks};
    distal_tensor *b;
    distal_param(d, "n", N);
    OK(distal_machine_grid(d, "M", 1, all));
    OK(distal_tensor_declare(d, "B(n, n): f64, csr", "B(i, j) -> M(i)", &b));
    static const char *const errors[] = {"", ", which is at home on rank ",
                                         "tensor 'B' cannot have such arrays"};
    static int64_t pos[3][N + 1];
    static int32_t crd[3][1];
    static double values[3][1], dense[N * N];
    Fixture fixture = {.d = d};
    OK(distal_tensor_declare(d, "s: f64", NULL, &fixture.y));
    distal_plan *plan = planned(d, "s = B(i, j)", NULL);
    int last = ranks - 1; // of the ranks that have rows
    while (first_row(last, ranks) == N)
        last--;
    for (int wrong = 0; wrong < 3; wrong++) {
        const bool elsewhere = wrong == 1 && rank == last, beyond = wrong == 2 && rank == last;
        const int row = (first_row(rank, ranks) + (elsewhere ? N - 1 : 0)) % N;
        for (int i = 0; i <= N; i++)
            pos[wrong][i] = i > row;
        crd[wrong][0] = beyond ? N : 5;
        values[wrong][0] = rank + 1;
        const distal_level_arrays levels[] = {{0}, {.pos = pos[wrong], .crd = crd[wrong]}};
        if (wrong == 0) {
            OK(distal_tensor_attach_levels(b, levels, values[wrong]));
        } else if (ranks > 1 || wrong == 2) {
            CHECK(distal_tensor_attach_levels(b, levels, values[wrong]) == DISTAL_INVALID, "attached");
            CHECK(strstr(distal_error(d), errors[wrong]), "%s", distal_error(d));
        }
        OK(distal_execute(plan));
        double sum;
        OK(distal_tensor_gather(fixture.y, &sum));
        CHECK(sum == (last + 1) * (last + 2) / 2, "the sum is %g", sum);
        OK(distal_tensor_gather(b, dense));
        for (int r = 0; r <= last; r++)
            CHECK(dense[first_row(r, ranks) * N + 5] == r + 1, "of rank %d", r);
    }
    distal_plan_free(plan);
    distal_free(d);
}

static void test_kernel(distal_execution *execution, const int64_t *params) {
    (void)execution, (void)params;
}

static void test_refused(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    distal_context *d = context_on(comm);
    distal_tensor *b = NULL;
    double nothing;
    OK(distal_tensor_declare(d, "B(4611686018427387904, 4611686018427387904): f64, dcsr", NULL, &b));
    CHECK(distal_tensor_gather(b, &nothing) == DISTAL_INVALID, "gathered");
    CHECK(strstr(distal_error(d), "has more elements than an array can have"), "%s", distal_error(d));
    CHECK(distal_tensor_fill(b, "iota") == DISTAL_FAILED, "filled");
    distal_tensor *a = NULL;
    distal_statement *statement = NULL;
    OK(distal_tensor_declare(d, "A(4611686018427387904): f64, {compressed}", NULL, &a));
    OK(distal_statement_create(d, "A(j) = B(i, j)", &statement));
    CHECK(distal_use_kernel(statement, test_kernel, NULL, "?") == DISTAL_INVALID, "used");
    CHECK(strstr(distal_error(d), "by a second function, distal_kernel_0_structure, which is NULL here"),
          "%s", distal_error(d));
    distal_tensor *c = NULL;
    OK(distal_tensor_declare(d, "C(2, 3): f64, csr", NULL, &c));
    const int64_t pos[] = {0, 1, 2}, crd[] = {2, INT64_C(1) << 40};
    const distal_level_arrays levels[] = {{0}, {.pos = pos, .crd = crd, .crd_bits = 64}};
    double values[] = {1, 2};
    const distal_status status = distal_tensor_attach_levels(c, levels, values);
    CHECK(status == DISTAL_INVALID, "attached");
    CHECK(strstr(distal_error(d),
                 "element 1 of crd of level 1 of tensor 'C' is 1099511627776, which does not fit"),
          "%s", distal_error(d));
    distal_free(d);
}

int main(int argument_count, char **arguments) {
    static const ReportCase cases[] = {
        {"sparse product", test_product},
        {"structure of a result", test_structure},
        {"sparse result that is added to", test_added},
        {"converted operand", test_converted},
        {"sparse tensor without a plan", test_without_plan},
        {"placed sparse tensor", test_placed},
        {"rows of another structure", test_other_rows},
        {"sparse results computed elsewhere", test_computed_elsewhere},
        {"arrays of a placed sparse tensor", test_placed_arrays},
        {"arrays with the rows of a rank", test_own_rows},
        {"arrays with the columns of a rank", test_own_columns},
        {"sparse tensor refused", test_refused},
        {NULL, NULL},
    };
    return report_all(argument_count, arguments, cases);
}
