// SPDX-License-Identifier: BSD-3-Clause
// Many plans over one machine: one after the other and at once. They share communicators, and those like one
// before share how they were planned, as long as nothing changes. ranks: 6
#include "api/planned.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    distal_context *d;
    distal_tensor *a, *b, *c;
    distal_statement *s;
} Product;

// A matrix product in steps, whose blocks are broadcast in rows and columns of the machine.
static void create(Product *product, MPI_Comm comm, int ranks) {
    const int64_t extents[] = {6, 6};
    CHECK(distal_create(comm, &product->d) == DISTAL_OK, "distal_create");
    distal_context *d = product->d;
    distal_param(d, "gx", ranks % 2 == 0 ? 2 : 1);
    distal_param(d, "gy", ranks % 2 == 0 ? ranks / 2 : ranks);
    distal_param(d, "chunk", 3);
    CHECK(distal_machine(d, "M", "grid(gx, gy)") == DISTAL_OK, "%s", distal_error(d));
    distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "A(x, y) -> M(x, y)", &product->a);
    distal_tensor_create(d, "B", DISTAL_F64, 2, extents, "B(x, y) -> M(x, y)", &product->b);
    distal_tensor_create(d, "C", DISTAL_F64, 2, extents, NULL, &product->c);
    CHECK(distal_statement_create(d, "A(i, j) = B(i, k) * C(k, j)", &product->s) == DISTAL_OK, "%s",
          distal_error(d));
    distal_distribute_onto(product->s, "i, j", "io, jo", "ii, ji", "A");
    distal_split(product->s, "k", "ko", "ki", "chunk");
    distal_reorder(product->s, "ko, ii, ji, ki");
    CHECK(distal_communicate(product->s, "B, C", "ko") == DISTAL_OK, "%s", distal_error(d));
}

static void fill(const Product *product) {
    CHECK(distal_tensor_fill(product->b, "iota") == DISTAL_OK &&
              distal_tensor_fill(product->c, "iota") == DISTAL_OK,
          "%s", distal_error(product->d));
}

static void check(const Product *product, distal_plan *plan) {
    double a[36];
    CHECK(distal_execute(plan) == DISTAL_OK, "%s", distal_error(product->d));
    CHECK(distal_tensor_gather(product->a, a) == DISTAL_OK, "%s", distal_error(product->d));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double sum = 0;
            for (int k = 0; k < 6; k++)
                sum += (6 * i + k) * (6 * k + j);
            CHECK(a[6 * i + j] == sum, "A(%d, %d) is %g, not %g", i, j, a[6 * i + j], sum);
        }
}

static distal_plan *plan(const Product *product) {
    distal_plan *made = NULL;
    CHECK(distal_plan_create(product->s, &made) == DISTAL_OK, "%s", distal_error(product->d));
    return made;
}

static int64_t communicators(const Product *product) {
    return communicators_count(product->d->communicators);
}

// 10,000 on one number of ranks.
static void test_one_after_the_other(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Product product;
    create(&product, comm, ranks);
    distal_plan *first = plan(&product);
    fill(&product);
    check(&product, first);
    distal_plan_free(first);
    const int64_t count = communicators(&product);
    const PlannedProgram *planned = product.s->planned;
    for (int i = 0; i < (ranks == 4 ? 10000 : 100) && !report_failure[0]; i++) {
        distal_plan *next = plan(&product);
        if (i % 100 == 0 && next)
            check(&product, next);
        distal_plan_free(next);
    }
    CHECK(communicators(&product) == count, "%lld communicators", (long long)communicators(&product));
    CHECK(planned && product.s->planned == planned && planned->references == 1, "planned again");
    distal_free(product.d);
}

// 1,000 on one number of ranks: half of them share how they were planned, the other half is of statements of
// their own.
static void test_at_once(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    const int count = ranks == 4 ? 1000 : 20;
    Product product;
    create(&product, comm, ranks);
    distal_plan **plans = calloc((size_t)count, sizeof *plans);
    int64_t made = 0;
    for (int i = 0; i < count && !report_failure[0]; i++) {
        Product own = product;
        if (i % 20 == 1) {
            CHECK(distal_statement_create(product.d, "A(i, j) = B(i, k) * C(k, j)", &own.s) == DISTAL_OK,
                  "%s", distal_error(product.d));
            distal_distribute_onto(own.s, "i, j", "io, jo", "ii, ji", "A");
            distal_split(own.s, "k", "ko", "ki", "chunk");
            distal_reorder(own.s, "ko, ii, ji, ki");
            distal_communicate(own.s, "B, C", "ko");
        }
        plans[i] = plan(&own);
        if (i == 0) {
            fill(&product);
            made = communicators(&product);
        }
    }
    CHECK(communicators(&product) == made, "%lld communicators", (long long)communicators(&product));
    for (int i = 0; i < count && !report_failure[0]; i += count / 10)
        check(&product, plans[i]);
    free(plans);
    distal_free(product.d); // and with it the plans
}

// Whatever changes is planned again.
static void test_changes(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    Product product;
    create(&product, comm, ranks);
    distal_plan *before = plan(&product), *same = plan(&product);
    fill(&product);
    if (report_failure[0]) {
        distal_free(product.d);
        return;
    }
    CHECK(product.s->planned->references == 3, "not shared");
    distal_param(product.d, "chunk", 2);
    distal_plan *other = plan(&product);
    distal_figures figures, other_figures;
    distal_plan_figures(before, &figures);
    distal_plan_figures(other, &other_figures);
    CHECK(figures.tensors[1].steps == 2 && other_figures.tensors[1].steps == 3, "steps of another chunk");
    check(&product, other);
    check(&product, same);
    distal_plan_free(before);
    // Another tensor of the same name; where it lies is found anew.
    const int64_t extents[] = {6, 6};
    distal_tensor_free(product.c);
    CHECK(distal_tensor_create(product.d, "C", DISTAL_F64, 2, extents, NULL, &product.c) == DISTAL_OK, "%s",
          distal_error(product.d));
    CHECK(distal_execute(same) == DISTAL_INVALID, "a plan of a tensor that has been freed");
    distal_plan *last = plan(&product);
    fill(&product);
    check(&product, last);
    distal_statement_free(product.s);
    check(&product, last);
    distal_free(product.d);
}

// A product with a sparse workspace by default, which a command takes away.
static void test_schedule_after(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    distal_context *d;
    distal_tensor *a, *b;
    distal_statement *s;
    distal_plan *before, *after;
    double first = 0, second = 0;
    CHECK(distal_create(comm, &d) == DISTAL_OK, "distal_create");
    distal_tensor_declare(d, "A(30, 4, 4): f64", NULL, &a);
    distal_tensor_declare(d, "B(30, 20, 25): f64, csf", NULL, &b);
    distal_tensor_fill(b, "sparse:1:900");
    distal_tensor_declare(d, "C(20, 4): f64", NULL, &b);
    distal_tensor_fill(b, "random:2");
    distal_tensor_declare(d, "D(25, 4): f64", NULL, &b);
    distal_tensor_fill(b, "random:3");
    CHECK(distal_statement_create(d, "A(i, l, m) = B(i, j, k) * C(j, l) * D(k, m)", &s) == DISTAL_OK, "%s",
          distal_error(d));
    CHECK(distal_plan_create(s, &before) == DISTAL_OK && distal_execute(before) == DISTAL_OK, "%s",
          distal_error(d));
    distal_figures figures;
    distal_plan_figures(before, &figures);
    CHECK(figures.tensor_count == 5, "no workspace by default");
    distal_norm(a, &first);
    CHECK(distal_reorder(s, "i, j, k, l, m") == DISTAL_OK, "%s", distal_error(d));
    CHECK(distal_plan_create(s, &after) == DISTAL_OK && distal_execute(after) == DISTAL_OK, "%s",
          distal_error(d));
    distal_plan_figures(after, &figures);
    CHECK(figures.tensor_count == 4, "a workspace besides the schedule");
    distal_norm(a, &second);
    CHECK(first > 0 && fabs(first - second) < 1e-12 * first, "%g is not %g", second, first);
    CHECK(distal_execute(before) == DISTAL_OK, "%s", distal_error(d));
    distal_free(d);
}

int main(int argument_count, char **arguments) {
    static const ReportCase cases[] = {
        {"plans one after the other", test_one_after_the_other},
        {"plans at once", test_at_once},
        {"plans after changes", test_changes},
        {"plans after a command", test_schedule_after},
        {NULL, NULL},
    };
    return report_all(argument_count, arguments, cases);
}
