// SPDX-License-Identifier: BSD-3-Clause
// Ranks that read each other's tensors, while these are written by the next statement, in several contexts,
// and replaced. ranks: 6
#include "api.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 37 };

// Each of two matrices becomes the transpose of the other one and ones.
typedef struct {
    distal_context *d;
    distal_tensor *a, *b, *ones;
    distal_statement *to_a, *to_b;
    distal_plan *plans[2];
} Exchange;

static unsigned random_state;

static void delay(void) {
    if (rand_r(&random_state) % 2 == 0)
        usleep((useconds_t)rand_r(&random_state) % 300);
}

static void set(distal_context *d, distal_tensor *tensor, double value, double by_row) {
    distal_piece piece;
    OK(distal_tensor_local(tensor, &piece));
    for (int64_t i = 0; i < piece.extent[0]; i++)
        for (int64_t j = 0; piece.data && j < N; j++)
            ((double *)piece.data)[i * piece.stride[0] + j] = value + by_row * (double)(piece.lo[0] + i);
}

static distal_statement *by_rows(distal_context *d, const char *text, const char *result) {
    distal_statement *made = statement_of(d, text);
    OK(distal_distribute_onto(made, "i", "io", "ii", result));
    return made;
}

static void create(Exchange *exchange, MPI_Comm comm) {
    distal_context *d = exchange->d = context_on(comm);
    OK(distal_param(d, "n", N));
    OK(distal_machine(d, "M", "grid(ranks)"));
    exchange->a = declare(d, "A(n, n): f64", "A(x, y) -> M(x)");
    exchange->b = declare(d, "B(n, n): f64", "B(x, y) -> M(x)");
    exchange->ones = declare(d, "E(n, n): f64", "E(x, y) -> M(x)");
    exchange->to_a = by_rows(d, "A(i, j) = B(j, i) + E(i, j)", "A");
    exchange->to_b = by_rows(d, "B(i, j) = A(j, i) + E(i, j)", "B");
    set(d, exchange->b, 0, 1);
    set(d, exchange->ones, 1, 0);
    exchange->plans[0] = plan_of(d, exchange->to_a);
    exchange->plans[1] = plan_of(d, exchange->to_b);
}

static void run(const Exchange *exchange, int plan) {
    delay();
    CHECK(distal_execute(exchange->plans[plan]) == DISTAL_OK, "%s", distal_error(exchange->d));
}

// The values of B after `statements` statements, one after the other, the last of which assigned B.
static void check(const Exchange *exchange, int statements) {
    double b[N * N];
    CHECK(distal_tensor_gather(exchange->b, b) == DISTAL_OK, "%s", distal_error(exchange->d));
    for (int at = 0; at < N * N; at++)
        CHECK(b[at] == at / N + statements, "B(%d, %d) is %g, not %d", at / N, at % N, b[at],
              at / N + statements);
}

static void test_written_next(MPI_Comm comm, int rank, int ranks) {
    enum { ROUNDS = 200 };
    (void)ranks;
    Exchange exchange;
    random_state = (unsigned)rank + 1;
    create(&exchange, comm);
    for (int round = 0; round < ROUNDS; round++) {
        run(&exchange, 0);
        run(&exchange, 1);
    }
    check(&exchange, 2 * ROUNDS);
    distal_free(exchange.d);
}

// The ranks of one have the order of the other one reversed, and a third one has every second rank.
static void test_several_contexts(MPI_Comm comm, int rank, int ranks) {
    enum { CONTEXTS = 3, ROUNDS = 50 };
    MPI_Comm comms[CONTEXTS] = {comm};
    Exchange exchanges[CONTEXTS];
    random_state = (unsigned)rank + 1;
    MPI_Comm_split(comm, 0, ranks - rank, &comms[1]);
    MPI_Comm_split(comm, rank % 2, rank, &comms[2]);
    for (int c = 0; c < CONTEXTS; c++)
        create(&exchanges[c], comms[c]);
    for (int round = 0; round < ROUNDS; round++)
        for (int half = 0; half < 2; half++)
            for (int c = 0; c < CONTEXTS; c++)
                run(&exchanges[c], half);
    for (int c = 0; c < CONTEXTS; c++)
        check(&exchanges[c], 2 * ROUNDS);
    for (int c = 0; c < CONTEXTS; c++)
        distal_free(exchanges[c].d);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
}

// Plans are freed in any order, and refuse tensors that have other memory; what is freed is not read.
static void test_replaced(MPI_Comm comm, int rank, int ranks) {
    Exchange exchange;
    random_state = (unsigned)rank + 1;
    create(&exchange, comm);
    distal_context *d = exchange.d;
    distal_plan *first = exchange.plans[0];
    exchange.plans[0] = plan_of(d, exchange.to_a);
    run(&exchange, 0);
    distal_plan_free(exchange.plans[0]);
    exchange.plans[0] = first;
    run(&exchange, 1);
    run(&exchange, 0);
    run(&exchange, 1);
    check(&exchange, 4);
    double *own = calloc((size_t)N * (size_t)(N / ranks + 1), sizeof *own);
    OK(distal_tensor_attach(exchange.b, own, NULL));
    CHECK(distal_execute(first) == DISTAL_INVALID, "a plan reads memory that was replaced");
    exchange.plans[0] = plan_of(d, exchange.to_a);
    distal_plan_free(exchange.plans[1]);
    exchange.plans[1] = plan_of(d, exchange.to_b);
    distal_plan_free(first);
    set(d, exchange.b, 0, 1);
    for (int half = 0; half < 6; half++)
        run(&exchange, half % 2);
    check(&exchange, 6);
    distal_free(d);
    free(own);
}

int main(int argc, char **argv) {
    static const ReportCase cases[] = {{"written by the next statement", test_written_next},
                                       {"several contexts", test_several_contexts},
                                       {"replaced", test_replaced},
                                       {NULL, NULL}};
    return report_all(argc, argv, cases);
}
