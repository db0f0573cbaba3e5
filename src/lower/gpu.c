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

// What is around a leaf.
typedef struct {
    const Cin *cin;
    Diagnostics *diagnostics;
    RowWorkspace *rows;
    bool commanded;       // some loop has a unit
    VarSet blocks;        // loops that blocks share
    const LeafLoop *loop; // around a row, whose iterations are those of one block, warp or thread; NULL: none
    const Tensor *row;    // inside of it
} Placing;

static bool has_units(const Leaf *leaf) {
    bool units = leaf->reader && has_units(leaf->reader);
    for (int l = 0; l < leaf->loop_count; l++)
        units = units || leaf->loops[l].unit != GPU_NONE;
    for (int f = 0; f < leaf->fill_count; f++)
        units = units || has_units(leaf->fills[f]);
    return units;
}

static bool is_scalar(const RowWorkspace *row) {
    for (int m = 0; m < row->tensor->order; m++)
        if (row->extents[m]->op != INT_CONST || row->extents[m]->value != 1)
            return false;
    return true;
}

// Inside of a row of a block, its threads share loops; a row of a thread is a scalar, and a thread is alone.
static bool check_inside(const Placing *placing, const LeafLoop *loop) {
    if (!placing->loop || loop->unit == GPU_NONE ||
        (placing->loop->unit == GPU_BLOCK && loop->unit != GPU_BLOCK))
        return true;
    const Directive *directive = cin_directive(placing->cin, DIRECTIVE_PARALLELIZE, loop->var);
    const Directive *around = cin_directive(placing->cin, DIRECTIVE_PARALLELIZE, placing->loop->var);
    return diagnostics_error(
        placing->diagnostics, directive->span,
        "cannot parallelize '%s' onto %s: on a GPU, the workspace '%s' is filled and read by one "
        "%s, as iterations of '%s' are shared onto %s",
        placing->cin->vars[loop->var].name, parallel_unit_names[directive->unit], placing->row->name,
        around->unit == UNIT_GPU_BLOCK ? "block" : "thread", placing->cin->vars[placing->loop->var].name,
        parallel_unit_names[around->unit]);
}

static bool check_around(const Placing *placing, const LeafLoop *loop, const RowWorkspace *row) {
    const Directive *directive = cin_directive(placing->cin, DIRECTIVE_PARALLELIZE, loop->var);
    return loop->unit == GPU_BLOCK || is_scalar(row) ||
           diagnostics_error(
               placing->diagnostics, directive->span,
               "cannot parallelize '%s' onto %s: on a GPU, the workspace '%s' is no scalar, and filled in "
               "each of its iterations (gpu_block gives each block one of its own)",
               placing->cin->vars[loop->var].name, parallel_unit_names[directive->unit], row->tensor->name);
}

static bool place_rows(Placing placing, const Leaf *leaf) {
    const LeafLoop *innermost = placing.loop;
    for (int l = 0; l < leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->loops[l];
        if (!check_inside(&placing, loop))
            return false;
        if (placing.commanded ? loop->unit == GPU_BLOCK : loop->distinct)
            placing.blocks |= (VarSet)1 << loop->var;
        innermost = loop->unit != GPU_NONE ? loop : innermost;
    }
    if (leaf->row < 0)
        return true;
    placing.loop = innermost;
    placing.row = placing.rows[leaf->row].tensor;
    placing.rows[leaf->row].blocks = placing.blocks;
    bool ok = !innermost || check_around(&placing, innermost, &placing.rows[leaf->row]);
    for (int f = 0; ok && f < leaf->fill_count; f++)
        ok = place_rows(placing, leaf->fills[f]);
    return ok && place_rows(placing, leaf->reader);
}

bool gpu_place_rows(const Cin *cin, const Leaf *leaf, RowWorkspace *rows, Diagnostics *diagnostics) {
    return place_rows(
        (Placing){.cin = cin, .diagnostics = diagnostics, .rows = rows, .commanded = has_units(leaf)}, leaf);
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

bool gpu_takes_call(const LeafSite *site, const BlasCall *call, const char **reason) {
    if (site->inner)
        *reason = "a workspace is filled and read in each iteration of the loops around them";
    else if (!is_number(call->alpha))
        *reason = "a factor of the product is no number";
    else
        return true;
    return false;
}

const BlasCall *gpu_gemm(const LeafSite *site, const char **reason) {
    const BlasCall *call = blas_fit_contraction(site);
    if (!call)
        blas_fit(site, KERNEL_GEMM, site->loops, site->loop_count, reason);
    return call && gpu_takes_call(site, call, reason) ? call : NULL;
}
