// SPDX-License-Identifier: BSD-3-Clause
// What leaves on a GPU can be.
#include "lower/leaf.h"

typedef struct {
    Diagnostics *diagnostics;
    bool ok;
} GpuCheck;

static void check_gpu_access(void *context, const Access *access) {
    GpuCheck *check = context;
    const Tensor *tensor = access->tensor;
    if (check->ok && tensor_is_sparse(tensor))
        check->ok = diagnostics_error(check->diagnostics, access->span,
                                      "'%s' is sparse, which is not supported in statements on a GPU yet",
                                      tensor->name);
}

bool gpu_check(const Cin *cin, Diagnostics *diagnostics) {
    GpuCheck check = {diagnostics, true};
    check_gpu_access(&check, cin->assignment->lhs);
    expr_accesses(cin->assignment->rhs, check_gpu_access, &check);
    for (int64_t d = 0; check.ok && d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (directive->kind == DIRECTIVE_PARALLELIZE && !unit_is_of_gpu(directive->unit))
            check.ok = diagnostics_error(
                diagnostics, directive->span,
                "cannot parallelize onto %s: the statement is executed on a GPU (gpu_block, "
                "gpu_warp or gpu_thread)",
                parallel_unit_names[directive->unit]);
    }
    return check.ok;
}

static void count_access(void *context, const Access *access) {
    (void)access;
    ++*(int *)context;
}

static bool is_number(const Expr *alpha) {
    int accesses = 0;
    if (alpha)
        expr_accesses(alpha, count_access, &accesses);
    return accesses == 0;
}

bool gpu_takes_call(const LeafSite *site, const BlasCall *call) {
    return call->kernel == KERNEL_GEMM && !site->inner && is_number(call->alpha);
}

const BlasCall *gpu_gemm(const LeafSite *site, const char **reason) {
    const BlasCall *call = blas_fit_contraction(site);
    if (!call)
        blas_fit(site, KERNEL_GEMM, site->loops, site->loop_count, reason);
    if (!call || gpu_takes_call(site, call))
        return call;
    *reason = "a factor of the product is no number";
    return NULL;
}
