// SPDX-License-Identifier: BSD-3-Clause
// What ranks on several nodes use of a dense or sparse operand at the coordinates of entries of another one:
// every element of another node that some rank of a node uses comes to that node once, as the messages that
// are sent say. ranks: 6
#include "api.h"

#include <stdlib.h>

enum { N = 60, COLUMNS = 4, BLOCK = 3 };

// Bytes that this rank has sent to each rank of the communicator of the case.
static MPI_Comm watched = MPI_COMM_NULL;
static int64_t sent[REPORT_MAX_RANKS];

static void count_sent(int64_t bytes, int to, MPI_Comm comm) {
    int rank = MPI_UNDEFINED;
    MPI_Group from, all;
    MPI_Comm_group(comm, &from);
    MPI_Comm_group(watched, &all);
    MPI_Group_translate_ranks(from, 1, &to, all, &rank);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
    if (rank != MPI_UNDEFINED)
        sent[rank] += bytes;
}

// In place of that of the MPI library, which the library under test calls.
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    int size;
    MPI_Type_size(type, &size);
    if (watched != MPI_COMM_NULL)
        count_sent((int64_t)count * size, to, comm);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

// A(i, j) = B(i, k) * C(k, j) with A and B in blocks of rows: the place of C, and which rank has an element.
typedef struct {
    const char *name, *place;
    int64_t (*owner)(int64_t k, int64_t j, int ranks);
} Layout;

static int64_t by_blocks(int64_t k, int64_t j, int ranks) {
    (void)j;
    return k / ((N + ranks - 1) / ranks);
}

static int64_t by_cyclic_blocks(int64_t k, int64_t j, int ranks) {
    (void)j;
    return k / BLOCK % ranks;
}

static int64_t by_columns(int64_t k, int64_t j, int ranks) {
    (void)k;
    return j / ((COLUMNS + ranks - 1) / ranks);
}

static int64_t on_first_rank(int64_t k, int64_t j, int ranks) {
    (void)k;
    (void)j;
    (void)ranks;
    return 0;
}

static const Layout layouts[] = {{"blocks", "C(x, y) -> M(x)", by_blocks},
                                 {"cyclic", "C(x, y) -> M(cyclic(x, 3))", by_cyclic_blocks},
                                 {"columns", "C(x, y) -> M(y)", by_columns},
                                 {"first rank", "C(x, y) -> M(0)", on_first_rank}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

// What A and C are declared as, and what is put into C in turn. Zeros of a sparse one are not stored.
typedef struct {
    const char *a, *c;
    bool is_sparse;
    const char *sources[2];
} Operands;

static const Operands operands[] = {
    {"A(n, r): f64", "C(n, r): f64", false, {"random:7", "random:8"}},
    {"A(n, r): f64, csr", "C(n, r): f64, csr", true, {"sparse:7:90", "sparse:8:150"}},
    {"A(n, r): f64", "C(n, r): f64, csc", true, {"sparse:7:90", "sparse:8:3"}},
};
enum { OPERANDS = sizeof operands / sizeof *operands };

// Elements of C of other nodes that the ranks of a node use, each once.
static int64_t used_by_node(const Layout *layout, const Operands *of, const double *b, const double *c,
                            int node, int members, int ranks) {
    int64_t elements = 0;
    for (int k = 0; k < N; k++) {
        bool used = false;
        for (int i = 0; i < N; i++)
            used = used || (b[i * N + k] != 0 && by_blocks(i, 0, ranks) / members == node);
        for (int j = 0; j < COLUMNS; j++)
            elements += used && (!of->is_sparse || c[k * COLUMNS + j] != 0) &&
                        layout->owner(k, j, ranks) / members != node;
    }
    return elements;
}

static void check_product(distal_context *d, distal_tensor *a, const double *b, const double *c) {
    double result[N * COLUMNS];
    OK(distal_tensor_gather(a, result));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += b[i * N + k] * c[k * COLUMNS + j];
            const double off = result[i * COLUMNS + j] - sum;
            CHECK(off < 1e-12 && off > -1e-12, "A(%d, %d) is %g, not %g", i, j, result[i * COLUMNS + j], sum);
        }
}

static void check_messages(const Layout *layout, const Operands *of, const char *source, const double *b,
                           const double *c, MPI_Comm comm, int members) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int node = 0; node * members < ranks; node++) {
        int64_t to_node = 0;
        for (int to = node * members; to < ranks && to < (node + 1) * members; to++)
            to_node += rank / members == node ? 0 : sent[to];
        all_reduce(&to_node, 1, MPI_INT64_T, MPI_SUM, comm);
        const int64_t expected = 8 * used_by_node(layout, of, b, c, node, members, ranks);
        CHECK(to_node == expected, "%s, %s, %s, %d ranks a node: %lld bytes to node %d, not %lld", of->c,
              layout->name, source, members, (long long)to_node, node, (long long)expected);
    }
}

// Gives what this rank has of C other values, with the same structure.
static void change_values(distal_context *d, distal_tensor *c, const Operands *of) {
    distal_level_arrays levels[2];
    void *values = NULL;
    int64_t count = 0;
    if (!of->is_sparse) {
        OK(distal_tensor_fill(c, "random:9"));
        return;
    }
    OK(distal_tensor_levels(c, levels, &values, &count));
    for (int64_t i = 0; i < count; i++)
        ((double *)values)[i] *= 3 + (double)i;
}

// Executes with each structure of B and the next one of C, which is found first, and once more with other
// values, while messages are counted.
static void check_operands(distal_context *d, const Layout *layout, const Operands *of, MPI_Comm comm,
                           int members) {
    static double b[N * N], c[N * COLUMNS];
    static const char *const sources[] = {"sparse:1:150", "sparse:2:1200", "sparse:3:1"};
    int rank;
    MPI_Comm_rank(comm, &rank);
    distal_tensor *a_tensor = declare(d, of->a, "A(x, y) -> M(x)");
    distal_tensor *b_tensor = declare(d, "B(n, n): f64, csr", "B(x, y) -> M(x)");
    distal_tensor *c_tensor = declare(d, of->c, layout->place);
    distal_plan *plan = planned(d, "A(i, j) = B(i, k) * C(k, j)", NULL);
    for (int s = 0; s < 3; s++) {
        OK(distal_tensor_fill(b_tensor, sources[s]));
        OK(distal_tensor_fill(c_tensor, of->sources[s % 2]));
        OK(distal_execute(plan));
        change_values(d, c_tensor, of);
        memset(sent, 0, sizeof sent);
        watched = comm;
        OK(distal_execute(plan));
        watched = MPI_COMM_NULL;
        OK(distal_tensor_gather(b_tensor, b));
        OK(distal_tensor_gather(c_tensor, c));
        check_product(d, a_tensor, b, c);
        check_figures(d, plan, rank);
        check_messages(layout, of, sources[s], b, c, comm, members);
    }
    distal_plan_free(plan);
}

static void test_once(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    for (int members = 1; members < ranks || members == 1; members++)
        for (int l = 0; l < LAYOUTS * OPERANDS; l++) {
            char text[16];
            snprintf(text, sizeof text, "%d", members);
            setenv("DISTAL_SHARED_MEMORY", text, 1);
            distal_context *d = context_on(comm);
            OK(distal_param(d, "n", N));
            OK(distal_param(d, "r", COLUMNS));
            OK(distal_machine(d, "M", "grid(ranks)"));
            check_operands(d, &layouts[l % LAYOUTS], &operands[l / LAYOUTS], comm, members);
            distal_free(d);
        }
    unsetenv("DISTAL_SHARED_MEMORY");
}

int main(int argc, char **argv) {
    static const ReportCase cases[] = {{"each element once to a node", test_once}, {NULL, NULL}};
    return report_all(argc, argv, cases);
}
