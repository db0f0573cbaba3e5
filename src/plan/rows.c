// SPDX-License-Identifier: BSD-3-Clause
// The memory of row workspaces: on the host each thread has one of each, on a GPU each block that fills its
// own, or there is one that all of them fill together. And partial results of blocks, warps and threads.
#include "base/integer.h"
#include "memory/device.h"
#include "plan/plan.h"

int64_t plan_row_bytes(const StatementPlan *plan, const RowWorkspace *row) {
    int64_t bytes = (int64_t)type_info(row->tensor->type)->size, extent, numbers[MAX_VARS];
    bool scalar = !plan->spmd->on_gpu; // a local variable
    // Parts of different lengths are as long as the longest one.
    for (int v = 0; v < plan->spmd->cin->var_count; v++)
        numbers[v] = provenance_extent(plan->provenance, v);
    for (int m = 0; m < row->tensor->order; m++) {
        scalar = scalar && row->extents[m]->op == INT_CONST && row->extents[m]->value == 1;
        if (!int_eval(row->extents[m], plan->params, numbers, &extent))
            extent = INT64_MAX;
        bytes = saturated_mul(bytes, extent);
    }
    return scalar ? 0 : saturated_mul(ceil_div(bytes, 64), 64);
}

int64_t plan_row_count(const StatementPlan *plan, const RowWorkspace *row) {
    if (!plan->spmd->on_gpu)
        return plan->options.threads;
    const int64_t bytes = max_i64(1, plan_row_bytes(plan, row));
    int64_t count = 1;
    for (int v = 0; v < plan->spmd->cin->var_count; v++)
        if (row->blocks >> v & 1)
            count = saturated_mul(count, max_i64(1, provenance_extent(plan->provenance, v)));
    return min_i64(count, max_i64(1, min_i64(plan->options.row_limit, DEVICE_ROW_BYTES / bytes)));
}

int64_t plan_gpu_partials(const StatementPlan *plan, const Transfer *transfer, int64_t elements) {
    const int64_t size = (int64_t)type_info(transfer->access->tensor->type)->size;
    if (elements == 0)
        return 0;
    int64_t count = 1, blocks = GPU_BLOCKS;
    int64_t left = min_i64(plan->options.partial_limit, DEVICE_ROW_BYTES / saturated_mul(elements, size));
    for (int l = transfer->partial_loop_count - 1; l >= 0; l--) {
        const PartialLoop *loop = &transfer->partial_loops[l];
        const bool is_block = loop->unit == GPU_BLOCK;
        const int64_t extent = provenance_extent(plan->provenance, loop->var);
        const int64_t most = min_i64(is_block ? blocks : loop->threads, left);
        const int64_t units = max_i64(1, min_i64(most, extent));
        count *= units;
        left /= units;
        blocks = is_block ? blocks / units : blocks;
    }
    return count;
}

int64_t plan_rows_bytes(const StatementPlan *plan) {
    int64_t bytes = 0;
    for (int r = 0; r < plan->spmd->row_count; r++) {
        const RowWorkspace *row = &plan->spmd->rows[r];
        bytes = saturated_add(bytes, saturated_mul(plan_row_bytes(plan, row), plan_row_count(plan, row)));
    }
    return bytes;
}

int64_t plan_gpu_workspace_bytes(const StatementPlan *plan) {
    if (!plan->spmd->on_gpu)
        return 0;
    return saturated_add(plan_rows_bytes(plan),
                         DEVICE_SCRATCH + (plan->spmd->gpu_contracts ? DEVICE_SPACE : 0));
}
