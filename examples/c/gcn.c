// SPDX-License-Identifier: BSD-3-Clause
// Two layers of a graph neural network (Kipf and Welling 2017; weights of edges as in Velickovic et al.
// 2018): each edge of a random graph gets the product of the features of its ends as a factor, the features
// of each vertex become the sum of those of its neighbours with these weights, times a small matrix, and of
// what is negative a hundredth is left. Graph and features are distributed by vertices, so that the ranks
// have as equal a number of edges as they can: each gets the features of the vertices that its edges name,
// and no others. Plain loops compute the first layer as well, to compare. mpirun -n 4 gcn [scale [features]]:
// 2^scale vertices
#include <distal.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static distal_context *d;

static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fputs(distal_error(d), stderr);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static distal_tensor *declare(const char *text, const char *placement, const char *source) {
    distal_tensor *tensor;
    ok(distal_tensor_declare(d, text, placement, &tensor));
    if (source)
        ok(distal_tensor_fill(tensor, source));
    return tensor;
}

static distal_plan *plan(const char *text) {
    distal_statement *statement;
    distal_plan *result;
    ok(distal_statement_create(d, text, &statement));
    ok(distal_plan_create(statement, &result));
    return result;
}

static distal_piece local(distal_tensor *tensor) {
    distal_piece piece;
    ok(distal_tensor_local(tensor, &piece));
    return piece;
}

// The features that one layer makes of `all`, those of all vertices, compared with those in `mine`: the
// largest difference on this rank.
static double compare(distal_tensor *graph, const double *all, const double *weights,
                      const distal_piece *mine) {
    distal_level_arrays levels[2];
    void *values;
    int64_t count;
    ok(distal_tensor_levels(graph, levels, &values, &count));
    const int64_t first = levels[0].first; // the row whose entries begin at pos[0]
    const int64_t *pos = levels[1].pos, k = mine->extent[1];
    const int32_t *crd = levels[1].crd;
    double *sum = malloc(sizeof(double) * (size_t)k), largest = 0;
    for (int64_t i = mine->lo[0]; i < mine->hi[0]; i++) {
        for (int64_t f = 0; f < k; f++)
            sum[f] = 0;
        for (int64_t p = pos[i - first]; p < pos[i - first + 1]; p++) {
            double weight = 0;
            for (int64_t f = 0; f < k; f++)
                weight += all[i * k + f] * all[crd[p] * k + f];
            for (int64_t f = 0; f < k; f++)
                sum[f] += ((double *)values)[p] * weight * all[crd[p] * k + f];
        }
        for (int64_t f = 0; f < k; f++) {
            double feature = 0;
            for (int64_t g = 0; g < k; g++)
                feature += sum[g] * weights[g * k + f];
            const double *row = (double *)mine->data + (i - mine->lo[0]) * mine->stride[0];
            largest = fmax(largest, fabs(row[f * mine->stride[1]] - fmax(feature, 0.01 * feature)));
        }
    }
    free(sum);
    return largest;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int64_t scale = argc > 1 ? atoll(argv[1]) : 10, features = argc > 2 ? atoll(argv[2]) : 16;
    const int64_t n = (int64_t)1 << scale;
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_machine(d, "P", "grid(ranks)"));
    ok(distal_param(d, "n", n));
    ok(distal_param(d, "k", features));
    char edges[64];
    snprintf(edges, sizeof edges, "rmat:1:%lld:%lld", (long long)scale, 8 * (long long)n);
    distal_tensor *graph = declare("S(n, n): f64, csr", "S(i, j) -> P(weighted(i))", edges);
    declare("E(n, n): f64, csr", "E(i, j) -> P(weighted(i, S))", NULL); // with the structure of S
    distal_tensor *X = declare("X(n, k): f64", "X(i, f) -> P(weighted(i, S))", "random:2");
    declare("H(n, k): f64", "H(i, f) -> P(weighted(i, S))", NULL);
    declare("Z(n, k): f64", "Z(i, f) -> P(weighted(i, S))", NULL);
    distal_tensor *W = declare("W(k, k): f64", "W(f, g) -> P(*)", "random:3");
    distal_tensor *all = declare("all(n, k): f64", "all(i, f) -> P(*)", NULL);
    distal_tensor *norm = declare("norm: f64", "norm() -> P(*)", NULL);

    double *weights = local(W).data;
    for (int64_t e = 0; e < features * features; e++)
        weights[e] -= 0.5; // on every rank alike

    distal_plan *gather = plan("all(i, f) = X(i, f)");
    distal_plan *layer[] = {plan("E(i, j) = S(i, j) * X(i, f) * X(j, f)"),
                            plan("H(i, f) = E(i, j) * X(j, f)"), plan("Z(i, f) = H(i, g) * W(g, f)"),
                            plan("X(i, f) = max(Z(i, f), 0.01 * Z(i, f))")};
    distal_plan *square = plan("norm = X(i, f) * X(i, f)");
    ok(distal_execute(gather));
    double difference = 0;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int l = 0; l < 2; l++) {
        for (int s = 0; s < 4; s++)
            ok(distal_execute(layer[s]));
        ok(distal_execute(square));
        const double size = sqrt(*(double *)local(norm).data / (double)(n * features));
        const distal_piece mine = local(X);
        if (l == 0)
            difference = compare(graph, local(all).data, weights, &mine) / (size > 0 ? size : 1);
        // Features of size 1 again.
        for (int64_t e = 0; e < mine.extent[0] * mine.extent[1]; e++)
            ((double *)mine.data)[e] /= size > 0 ? size : 1;
        if (rank == 0)
            printf("layer %d: root mean square of the features %.6e\n", l + 1, size);
    }
    MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(difference < 1e-12 ? "the first layer is right" : "the first layer is wrong");
    distal_free(d);
    MPI_Finalize();
    return !(difference < 1e-12);
}
