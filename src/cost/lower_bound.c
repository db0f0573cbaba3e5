// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds of what moves. For a product C(I, J) = sum over K of A(I, K) * B(J, K): a rank that multiplies
// I J K / P pairs reads or writes at least 2 I J K / (P sqrt(S)) + S elements where it has memory for S
// (Irony, Toledo, Tiskin 2004; with these constants Smith et al. 2017 and Kwasniewski et al. 2019), and with
// any memory the elements of the sides of the smallest block of I J K / P products (Al Daas et al. 2022).
// What it has at home in memory need not move.
#include "base/integer.h"
#include "cost/predict.h"

#include <math.h>

// The products I, J, K of the extents of the groups of indices; false where the statement is no product of
// two dense operands.
static bool find_groups(const StatementPlan *plan, double *i, double *j, double *k) {
    const Assignment *assignment = plan->spmd->cin->assignment;
    const Expr *rhs = assignment->rhs;
    if (rhs->kind != EXPR_MUL || rhs->left->kind != EXPR_ACCESS || rhs->right->kind != EXPR_ACCESS ||
        assignment_sparse(assignment) || assignment->reducer != REDUCER_SUM || assignment_window(assignment))
        return false;
    const VarSet left = access_vars(rhs->left->access), right = access_vars(rhs->right->access),
                 result = access_vars(assignment->lhs);
    *i = *j = *k = 1;
    for (int v = 0; v < assignment->var_count; v++) {
        const VarSet var = (VarSet)1 << v;
        double *group = left & right & result & var ? NULL
                        : left & right & var        ? k
                        : left & result & var       ? i
                        : right & result & var      ? j
                                                    : NULL;
        if (!group)
            return false;
        *group *= (double)provenance_extent(plan->provenance, v);
    }
    return true;
}

// Elements of the sides of the smallest block of m * n * k / P products, m >= n >= k, that fits.
static double product_elements(double m, double n, double k, double ranks) {
    double sorted[3] = {m, n, k};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2 - a; b++)
            if (sorted[b] < sorted[b + 1]) {
                const double smaller = sorted[b];
                sorted[b] = sorted[b + 1];
                sorted[b + 1] = smaller;
            }
    m = sorted[0];
    n = sorted[1];
    k = sorted[2];
    if (ranks * n <= m)
        return (m * n + m * k) / ranks + n * k;
    if (ranks * k * k <= m * n)
        return 2 * sqrt(m * n * k * k / ranks) + m * n / ranks;
    return 3 * cbrt(m * n * k / ranks * (m * n * k / ranks));
}

LowerBound predict_lower_bound(const StatementPlan *plan, double memory) {
    const StatementFigures *figures = plan_figures(plan);
    const double ranks = (double)min_i64(plan->ranks, plan->processors);
    LowerBound bound = {.kind = BOUND_SIZES};
    double all = 0, home = 0, size = 1;
    for (int64_t r = 0; r < plan->ranks; r++) {
        int64_t moved = 0, own = 0, disk = 0;
        for (int t = 0; t < figures->tensor_count; t++) {
            const TensorFigures *of = &figures->tensors[t];
            moved = saturated_add(moved, of->bytes_received[r]);
            if (of->io)
                disk = saturated_add(disk, saturated_add(of->io[r].bytes_read, of->io[r].bytes_written));
            else
                own = saturated_add(own, of->home_bytes[r]);
        }
        bound.moved_bytes = max_i64(bound.moved_bytes, moved);
        bound.disk_bytes = max_i64(bound.disk_bytes, disk);
        home = fmax(home, (double)own);
    }
    for (int t = 0; t < figures->tensor_count; t++) {
        const Tensor *tensor = figures->tensors[t].tensor;
        double bytes = (double)type_info(tensor->type)->size;
        size = fmax(size, bytes);
        for (int m = 0; m < tensor->order; m++) {
            int64_t extent;
            bytes *= int_eval(tensor->extents[m], plan->params, NULL, &extent) ? (double)extent : 0;
        }
        all += bytes;
        if (figures->tensors[t].unknown || tensor_is_sparse(tensor)) {
            bound.kind = BOUND_NONE;
            bound.moved_bytes = figures->tensors[t].unknown ? -1 : bound.moved_bytes;
        }
    }
    if (bound.kind == BOUND_NONE)
        return bound;
    double needed = all / ranks;
    if (find_groups(plan, &bound.i, &bound.j, &bound.k)) {
        const double points = bound.i * bound.j * bound.k / ranks;
        bound.memory = memory / size;
        // With more memory than that a block fits as a whole.
        const bool is_limited = bound.memory < cbrt(points * points);
        bound.kind = is_limited ? BOUND_MEMORY : BOUND_PRODUCT;
        needed = size * (is_limited ? 2 * points / sqrt(bound.memory) + bound.memory
                                    : product_elements(bound.i, bound.j, bound.k, ranks));
    }
    bound.bytes = fmax(0, needed - home);
    return bound;
}
