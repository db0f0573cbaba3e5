// SPDX-License-Identifier: BSD-3-Clause
// Placements and loops that entries balance, in the library: boundaries follow from the entries that a tensor
// has, other tensors lie by them, and all follow when it gets others. ranks: 4
#include "api.h"

#include <math.h>
#include <stdlib.h>

enum { N = 17, M = 13 };

typedef struct {
    distal_context *d;
    int rank, ranks;
    distal_tensor *b, *x, *y;
    double dense_b[N * M], dense_x[M];
} Fixture;

static void create(Fixture *fixture, MPI_Comm comm, const char *levels, const char *placement,
                   const char *of_y) {
    distal_context *d = fixture->d = context_on(comm);
    MPI_Comm_rank(comm, &fixture->rank);
    MPI_Comm_size(comm, &fixture->ranks);
    char text[64];
    distal_param(d, "n", N);
    distal_param(d, "m", M);
    OK(distal_machine_grid(d, "P", 1, (int64_t[]){fixture->ranks}));
    snprintf(text, sizeof text, "B(n, m): f64, %s", levels);
    fixture->b = declare(d, text, placement);
    fixture->x = declare(d, "x(m): f64", "x(j) -> P(j)");
    fixture->y = declare(d, "y(n): f64", of_y);
    OK(distal_tensor_fill(fixture->x, "random:3"));
}

// Rows get more and more entries, or fewer and fewer; every rank brings some of them.
static void give(Fixture *fixture, bool more) {
    distal_context *d = fixture->d;
    int64_t rows[N * M], columns[N * M], count = 0;
    double values[N * M];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            if (j * N < (more ? i : N - i) * M && (i * M + j) % fixture->ranks == fixture->rank) {
                rows[count] = i;
                columns[count] = j;
                values[count++] = 1 + i + 100 * j;
            }
    OK(distal_tensor_entries(fixture->b, count, (const int64_t *const[]){rows, columns}, values));
}

static void check_product(Fixture *fixture, distal_plan *plan) {
    distal_context *d = fixture->d;
    double y[N];
    OK(distal_tensor_gather(fixture->b, fixture->dense_b));
    OK(distal_tensor_gather(fixture->x, fixture->dense_x));
    OK(distal_execute(plan));
    OK(distal_tensor_gather(fixture->y, y));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < M; j++)
            sum += fixture->dense_b[i * M + j] * fixture->dense_x[j];
        CHECK(y[i] - sum < 1e-9 && sum - y[i] < 1e-9, "y(%d) is %g, not %g", i, y[i], sum);
    }
    check_figures(d, plan, fixture->rank);
}

// Of B, how many entries this rank has, and of all ranks the most.
static int64_t most_entries(Fixture *fixture, MPI_Comm comm) {
    distal_context *d = fixture->d;
    distal_level_arrays levels[2];
    int64_t count;
    OK(distal_tensor_levels(fixture->b, levels, NULL, &count));
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_MAX, comm);
    return count;
}

static int64_t all_entries(const Fixture *fixture) {
    int64_t count = 0;
    for (int p = 0; p < N * M; p++)
        count += fixture->dense_b[p] != 0;
    return count;
}

// The least that the rank with the most entries can have, of whole rows: by trying all last parts.
static int64_t least_load(const Fixture *fixture) {
    int64_t before[N + 1] = {0}, least[N + 1], next[N + 1];
    for (int i = 0; i < N; i++) {
        before[i + 1] = before[i];
        for (int j = 0; j < M; j++)
            before[i + 1] += fixture->dense_b[i * M + j] != 0;
    }
    memcpy(least, before, sizeof least);
    for (int part = 1; part < fixture->ranks; part++) {
        for (int last = 0; last <= N; last++) {
            next[last] = INT64_MAX;
            for (int first = 0; first <= last; first++) {
                const int64_t load = before[last] - before[first],
                              most = load > least[first] ? load : least[first];
                next[last] = most < next[last] ? most : next[last];
            }
        }
        memcpy(least, next, sizeof least);
    }
    return least[N];
}

static void test_weighted(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(weighted(i))", "y(i) -> P(weighted(i, B))");
    distal_context *d = fixture.d;
    give(&fixture, true);
    distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    for (int again = 0; again < 3; again++) {
        if (again > 0)
            give(&fixture, again == 2);
        check_product(&fixture, plan);
        CHECK(most_entries(&fixture, comm) == least_load(&fixture), "a rank has %lld entries, not %lld",
              (long long)most_entries(&fixture, comm), (long long)least_load(&fixture));
    }
    OK(distal_tensor_fill(fixture.b, "random:5:0.3"));
    check_product(&fixture, plan);
    OK(distal_tensor_fill(fixture.b, "zeros"));
    check_product(&fixture, plan);
    distal_free(d);
}

// A plan that is made, and executed, before there are entries.
static void test_before_entries(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture = {0};
    create(&fixture, comm, "dcsr", "B(i, j) -> P(~i)", "y(i) -> P(weighted(i, B))");
    distal_plan *plan = planned(fixture.d, "y(i) = B(i, j) * x(j)", NULL);
    check_product(&fixture, plan);
    give(&fixture, false);
    check_product(&fixture, plan);
    distal_free(fixture.d);
}

static void test_entries(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(~fuse(i, j))", "y(i) -> P(i)");
    distal_context *d = fixture.d;
    distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    for (int again = 0; again < 3; again++) {
        give(&fixture, again == 1);
        check_product(&fixture, plan);
        const int64_t all = all_entries(&fixture);
        CHECK(most_entries(&fixture, comm) == (all + ranks - 1) / ranks, "a rank has %lld of %lld entries",
              (long long)most_entries(&fixture, comm), (long long)all);
    }
    distal_free(d);
}

// Loops over positions divide the entries of a tensor that is placed by coordinates.
static void test_positions(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(i)", "y(i) -> P(i)");
    char schedule[128];
    snprintf(schedule, sizeof schedule,
             "collapse(i, j, f); pos(f, p, B(i, j)); divide(p, po, pi, %d); distribute(po)", ranks);
    give(&fixture, true);
    distal_plan *plan = planned(fixture.d, "y(i) = B(i, j) * x(j)", schedule);
    for (int again = 0; again < 3; again++) {
        check_product(&fixture, plan);
        give(&fixture, again == 1);
    }
    distal_free(fixture.d);
}

// A result with the structure of the operand follows it; so do elements that are there.
static void test_followers(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(weighted(i))", "y(i) -> P(weighted(i, B))");
    distal_context *d = fixture.d;
    distal_tensor *a = declare(d, "A(n, m): f64, csr", "A(i, j) -> P(weighted(i))");
    distal_tensor *c = declare(d, "C(n, 3): f64, {dense, compressed}", "C(i, k) -> P(weighted(i, B))");
    give(&fixture, true);
    distal_plan *scaled = planned(d, "A(i, j) = B(i, j) * x(j)", NULL);
    distal_plan *reader = planned(d, "y(i) = A(i, j)", NULL);
    double y[N], dense_a[N * M], dense_c[N * 3], dense_other[N * 3];
    OK(distal_tensor_fill(c, "random:9:0.5"));
    OK(distal_tensor_gather(c, dense_c));
    for (int again = 0; again < 3; again++) {
        distal_piece piece;
        OK(distal_tensor_fill(fixture.y, "iota"));
        OK(distal_tensor_local(fixture.y, &piece));
        for (int64_t i = 0; i < piece.extent[0]; i++)
            ((double *)piece.data)[i] *= -1;
        give(&fixture, again == 1);
        OK(distal_tensor_gather(fixture.y, y));
        for (int i = 0; i < N; i++)
            CHECK(y[i] == -i && signbit(y[i]), "y(%d) became %g", i, y[i]);
        OK(distal_tensor_gather(c, dense_other));
        CHECK(memcmp(dense_c, dense_other, sizeof dense_c) == 0, "C has other elements");
        OK(distal_execute(scaled));
        OK(distal_execute(reader));
        OK(distal_tensor_gather(a, dense_a));
        OK(distal_tensor_gather(fixture.b, fixture.dense_b));
        OK(distal_tensor_gather(fixture.x, fixture.dense_x));
        OK(distal_tensor_gather(fixture.y, y));
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < M; j++) {
                const double value = fixture.dense_b[i * M + j] * fixture.dense_x[j];
                CHECK(dense_a[i * M + j] == value, "A(%d, %d) is %g", i, j, dense_a[i * M + j]);
                sum += value;
            }
            CHECK(y[i] - sum < 1e-9 && sum - y[i] < 1e-9, "the sum of row %d is %g, not %g", i, y[i], sum);
        }
    }
    distal_free(d);
}

// A tensor that is declared when there are entries already, and one in memory of the caller.
static void test_declared_later(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(weighted(i))", "y(i) -> P(weighted(i, B))");
    distal_context *d = fixture.d;
    give(&fixture, true);
    distal_tensor *later = declare(d, "later(n): f64", "later(i) -> P(weighted(i, B))");
    distal_piece piece, of_y;
    OK(distal_tensor_local(fixture.y, &of_y));
    OK(distal_tensor_fill(later, "ones"));
    OK(distal_tensor_local(later, &piece));
    CHECK(piece.lo[0] == of_y.lo[0] && piece.hi[0] == of_y.hi[0], "not where y is");
    double memory[N];
    OK(distal_tensor_attach(later, memory, NULL));
    int64_t none = 0;
    const distal_status status =
        distal_tensor_entries(fixture.b, none, (const int64_t *const[]){&none, &none}, memory);
    CHECK((status == DISTAL_OK) == (ranks == 1), "entries moved what is in memory of the caller");
    CHECK(ranks == 1 || strstr(distal_error(d), "is in memory of the caller and would move"), "%s",
          distal_error(d));
    distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    check_product(&fixture, plan);
    CHECK(ranks == 1 || all_entries(&fixture) > 0, "entries were lost");
    distal_tensor_free(later);
    give(&fixture, false);
    check_product(&fixture, plan);
    distal_free(d);
}

// Divisions of a tensor that are wanted when it has entries already, and a plan that cannot be made again.
static int64_t sums; // over all ranks, that have been begun

int MPI_Iallreduce(const void *values, void *sum, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
    sums++;
    return PMPI_Iallreduce(values, sum, count, type, op, comm, request);
}

static int64_t sums_to_give(Fixture *fixture) {
    const int64_t before = sums;
    give(fixture, true);
    return sums - before;
}

// Entries are divided for loops of statements and plans that there are, and not for those that were freed.
static void test_freed(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(i)", "y(i) -> P(i)");
    distal_context *d = fixture.d;
    char schedule[128];
    snprintf(schedule, sizeof schedule,
             "collapse(i, j, f); pos(f, p, B(i, j)); divide(p, po, pi, %d); distribute(po)", ranks);
    const int64_t undivided = sums_to_give(&fixture);
    distal_statement *statement = statement_of(d, "y(i) = B(i, j) * x(j)");
    OK(distal_schedule(statement, schedule));
    distal_plan *plan = plan_of(d, statement);
    const int64_t divided = sums_to_give(&fixture);
    check_product(&fixture, plan);
    distal_statement_free(statement);
    const int64_t planned = sums_to_give(&fixture);
    check_product(&fixture, plan);
    distal_plan_free(plan);
    const int64_t freed = sums_to_give(&fixture);
    CHECK(undivided < divided && divided == planned && freed == undivided,
          "%lld sums, %lld with a plan, %lld without its statement, %lld without both", (long long)undivided,
          (long long)divided, (long long)planned, (long long)freed);
    distal_free(d);
}

static void test_refused(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(weighted(i))", "y(i) -> P(weighted(i, B))");
    distal_context *d = fixture.d;
    give(&fixture, true);
    OK(distal_machine_grid(d, "Q", 1, (int64_t[]){2 * ranks}));
    distal_tensor *finer = declare(d, "finer(n): f64", "finer(i) -> Q(weighted(i, B))");
    int64_t count;
    CHECK(distal_tensor_piece_count(finer, &count) == DISTAL_INVALID, "has a home");
    CHECK(strstr(distal_error(d), "follows from entries that have been given before it was declared"), "%s",
          distal_error(d));
    OK(distal_tensor_fill(finer, "ones"));
    OK(distal_tensor_piece_count(finer, &count));

    distal_statement *statement;
    distal_plan *plan;
    OK(distal_statement_create(d, "y(i) = B(i, j) * x(j)", &statement));
    OK(distal_plan_create(statement, &plan));
    OK(distal_schedule(statement, "split(i, io, ii, 2)"));
    OK(distal_compile(statement));
    check_product(&fixture, plan);
    give(&fixture, false);
    const distal_status status = distal_execute(plan);
    CHECK(status == DISTAL_INVALID, "executed with another schedule");
    CHECK(strstr(distal_error(d), "has changed since its plan was made"), "%s", distal_error(d));
    distal_tensor_free(fixture.x);
    CHECK(distal_execute(plan) == DISTAL_INVALID, "executed without x");
    CHECK(strstr(distal_error(d), "tensor 'x' of the plan has been freed"), "%s", distal_error(d));
    distal_free(d);
}

// The caller's arrays, cut where entries are divided.
static void test_arrays(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture = {0};
    create(&fixture, comm, "csr", "B(i, j) -> P(~fuse(i, j))", "y(i) -> P(i)");
    distal_context *d = fixture.d;
    enum { COUNT = 31 };
    int64_t pos[N + 1] = {0};
    int32_t crd[COUNT];
    double values[COUNT];
    const int size = (COUNT + ranks - 1) / ranks;
    int own = 0;
    for (int e = rank * size; e < COUNT && e < (rank + 1) * size; e++) {
        pos[e / 2 + 1]++; // two in each row
        crd[own] = e % 2 + e / 10;
        values[own++] = 1 + e;
    }
    for (int i = 0; i < N; i++)
        pos[i + 1] += pos[i];
    const distal_level_arrays levels[] = {{0}, {.pos = pos, .crd = crd}};
    OK(distal_tensor_attach_levels(fixture.b, levels, values));
    distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    check_product(&fixture, plan);
    CHECK(all_entries(&fixture) == COUNT, "%lld entries", (long long)all_entries(&fixture));
    for (int e = 0; e < own; e++)
        values[e] *= 2;
    check_product(&fixture, plan);

    // Arrays of entries that other ranks have to give: the tensor keeps what it has where it stays where it
    // is, and has nothing where it moves. In either case boundaries are those of what it has.
    for (int more = 0; more <= 1; more++) {
        int64_t other_pos[N + 1] = {0};
        int32_t other_crd[COUNT];
        double other_values[COUNT];
        int others = 0;
        const int all = more ? COUNT : COUNT - 8, share = (all + ranks - 1) / ranks, giver = ranks - 1 - rank;
        for (int e = giver * share; e < all && e < (giver + 1) * share; e++) {
            other_pos[e / 2 + 1]++;
            other_crd[others] = e % 2 + e / 10;
            other_values[others++] = e;
        }
        for (int i = 0; i < N; i++)
            other_pos[i + 1] += other_pos[i];
        const distal_level_arrays wrong[] = {{0}, {.pos = other_pos, .crd = other_crd}};
        const distal_status status = distal_tensor_attach_levels(fixture.b, wrong, other_values);
        CHECK((status == DISTAL_OK) == (ranks == 1), "attached what is at home elsewhere");
        check_product(&fixture, plan);
        if (ranks == 1)
            OK(distal_tensor_attach_levels(fixture.b, levels, values));
    }
    distal_free(d);
}

// Ranks that have no part of the tensor attach no arrays. One that gets a part with the new boundaries has
// to.
static void test_no_arrays(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    const int across = ranks % 2 ? 1 : 2;
    OK(distal_machine_grid(d, "P", 2, (int64_t[]){ranks / across, across}));
    distal_tensor *b = declare(d, "B(9, 2): f64, dcsr", "B(i, j) -> P(~i, j)");
    double one = 1, whole[9 * 2];
    const int64_t zero = 0, none[] = {0, 0}, some[] = {0, 1};
    const int32_t row = rank / across, column = 0;
    const distal_level_arrays entry[] = {{.pos = some, .crd = &row}, {.pos = some, .crd = &column}},
                              empty[] = {{.pos = none}, {.pos = none}};
    distal_level_arrays nothing[2];
    OK(distal_tensor_entries(b, rank == 0, (const int64_t *const[]){&zero, &zero}, &one));
    OK(distal_tensor_levels(b, nothing, NULL, NULL));
    CHECK(!nothing[0].pos == (rank >= across), "%s part", nothing[0].pos ? "a" : "no");
    OK(distal_tensor_attach_levels(b, rank == 0 ? entry : rank < across ? empty : nothing, &one));
    OK(distal_tensor_gather(b, whole));
    for (int e = 0; e < 9 * 2; e++)
        CHECK(whole[e] == (e == 0), "element %d is %g", e, whole[e]);
    if (ranks == 4) {
        // Rows 0 and 1 are on ranks 0 and 2. Ranks 1 and 3 have parts of them without entries.
        const distal_status status = distal_tensor_attach_levels(b,
                                                                 rank % 2 == 0 ? entry
                                                                 : rank == 1   ? empty
                                                                               : nothing,
                                                                 &one);
        CHECK(status == DISTAL_INVALID, "attached nothing on rank 3");
        CHECK(strstr(distal_error(d), "the levels of tensor 'B' are NULL on rank 3, which has a part of it"),
              "%s", distal_error(d));
        OK(distal_tensor_attach_levels(b, rank % 2 == 0 ? entry : empty, &one));
        OK(distal_tensor_gather(b, whole));
        for (int e = 0; e < 9 * 2; e++)
            CHECK(whole[e] == (e == 0 || e == 2), "element %d is %g", e, whole[e]);
    }
    distal_free(d);
}

int main(int argument_count, char **arguments) {
    static const ReportCase cases[] = {
        {"weighted rows", test_weighted},
        {"plan before entries", test_before_entries},
        {"entries divided evenly", test_entries},
        {"product over positions", test_positions},
        {"tensors that follow entries", test_followers},
        {"placed by entries that are there", test_declared_later},
        {"divisions of what was freed", test_freed},
        {"what entries divide refused", test_refused},
        {"arrays of the caller, divided evenly", test_arrays},
        {"arrays of ranks without a part", test_no_arrays},
        {NULL, NULL},
    };
    return report_all(argument_count, arguments, cases);
}
