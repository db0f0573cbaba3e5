// SPDX-License-Identifier: BSD-3-Clause
// Leaves: the kernels that a rank executes, each as often as the loops around it say and of the size that its
// first processor has in its first step, where parts are largest. A matrix product takes what products of its
// size take; all else takes the longer of its operations and of what it reads and writes in memory.
#include "cost/predict_data.h"

#include "base/integer.h"

#include <math.h>

typedef struct {
    const StatementPlan *plan;
    const ModelRanks *machine;
    int64_t processor;
    LeafSeconds seconds; // of this processor
} Visit;

bool nest_counts(const StatementPlan *plan, int nest, int64_t processor, const Around *around,
                 double counts[MAX_VARS]) {
    const SpmdNest *spmd_nest = &plan->spmd->nests[nest];
    const Cin *cin = plan->spmd->cin;
    const Nest loops = cin_nest(cin, nest);
    int64_t coordinates[MAX_MACHINE_ORDER], fixed;
    bool active[MAX_VARS];
    LoopRanges ranges;
    BoundingBox bounds;
    grid_coordinates(&plan->grid, processor, coordinates);
    provenance_active(plan->provenance, loops.loops, loops.loop_count, active);
    provenance_ranges(plan->provenance, &ranges);
    for (int l = 0; l < around->count; l++)
        if (active[around->loops[l]])
            ranges_fix(&ranges, around->loops[l], 0);
    for (int d = 0; d < plan->grid.order; d++) {
        const int var = spmd_nest->coordinates[d];
        if (var >= 0)
            ranges_fix(&ranges, var, coordinates[d]);
        else if (!int_eval(spmd_nest->fixed[d], plan->params, NULL, &fixed) || fixed != coordinates[d])
            return false;
    }
    if (!provenance_bounding_box(plan->provenance, active, &ranges, &bounds))
        return false;
    for (int v = 0; v < MAX_VARS; v++)
        counts[v] = v < cin->var_count && active[v] ? (double)positions_count(bounds.box.values[v]) : 1;
    return true;
}

double nest_points(const StatementPlan *plan, int nest, const double counts[MAX_VARS]) {
    const Cin *cin = plan->spmd->cin;
    const Nest loops = cin_nest(cin, nest);
    bool active[MAX_VARS];
    double points = 1;
    provenance_active(plan->provenance, loops.loops, loops.loop_count, active);
    for (int v = 0; v < cin->var_count; v++)
        if (cin->vars[v].source && active[v] && !plan_is_index(cin, v))
            points *= fmin(counts[v], (double)positions_count(provenance_window(plan->provenance, v)));
    return points;
}

double access_elements(const Access *access, const double counts[MAX_VARS]) {
    double elements = 1;
    for (int m = 0; m < access->tensor->order; m++)
        elements *= counts[access->vars[m]];
    return elements;
}

static double dim_size(const CallDim *dim, const double counts[MAX_VARS]) {
    double size = 1;
    for (int i = 0; i < dim->count; i++)
        size *= counts[dim->sources[i]];
    return size;
}

// Bytes that the transfers of a nest make visible in one step, and of these what is read and written.
static void step_bytes(const StatementPlan *plan, int nest, const double counts[MAX_VARS], double *visible,
                       double *traffic) {
    *visible = *traffic = 0;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        const Tensor *tensor = transfer->statement_access->tensor;
        if (transfer->nest != nest)
            continue;
        const double size = (double)type_info(tensor->type)->size;
        double bytes = access_elements(transfer->statement_access, counts) * size;
        if (tensor_is_sparse(tensor)) {
            const int64_t *stored = plan->homes[tensor->id].stored_bytes;
            double most = 0;
            for (int64_t r = 0; stored && r < plan->ranks; r++)
                most = fmax(most, (double)stored[r]);
            bytes = fmin(bytes, most);
        }
        *visible += bytes;
        *traffic += transfer->kind == TRANSFER_REDUCE ? 2 * bytes : bytes;
    }
}

static int sparse_factors(const Expr *expr, const Access **sparse) {
    if (!expr)
        return 0;
    if (expr->kind == EXPR_ACCESS && tensor_is_sparse(expr->access->tensor)) {
        *sparse = expr->access;
        return 1;
    }
    return expr->kind == EXPR_ACCESS
               ? 0
               : sparse_factors(expr->left, sparse) + sparse_factors(expr->right, sparse);
}

// Points of loops over what one sparse operand stores: of each entry those of the other loops. -1: not known.
static double sparse_points(const StatementPlan *plan, const Leaf *leaf, const double counts[MAX_VARS],
                            double points) {
    const Access *sparse = NULL;
    if (sparse_factors(leaf->assign->rhs, &sparse) != 1 || !plan->homes[sparse->tensor->id].stored_entries)
        return -1;
    const int64_t *stored = plan->homes[sparse->tensor->id].stored_entries;
    double entries = 0;
    for (int64_t r = 0; r < plan->ranks; r++)
        entries = fmax(entries, (double)stored[r]);
    const double elements = access_elements(sparse, counts);
    return elements > 0 ? points / elements * fmin(entries, elements) : 0;
}

// A matrix product, with what each call takes.
static double gemm_seconds(const Visit *visit, const BlasCall *call, const double counts[MAX_VARS],
                           double flop, double points, int real_bytes) {
    const double m = dim_size(&call->m, counts), n = dim_size(&call->n, counts),
                 k = dim_size(&call->k, counts);
    const double size = 3 / (1 / m + 1 / n + 1 / k), calls = points / (m * n * k);
    return flop / model_rate(visit->machine, MODEL_GEMM, size, real_bytes) +
           calls * visit->machine->machine->overhead;
}

static void visit_kernel(Visit *visit, const Leaf *leaf, const Around *around) {
    const StatementPlan *plan = visit->plan;
    const Around none = {.steps = 1};
    double whole[MAX_VARS], counts[MAX_VARS];
    if (!nest_counts(plan, leaf->nest, visit->processor, &none, whole) ||
        !nest_counts(plan, leaf->nest, visit->processor, around, counts))
        return;
    const TypeInfo *type = type_info(leaf->assign->lhs->tensor->type);
    const int real_bytes = (int)(type->is_complex ? type->size / 2 : type->size);
    double points = nest_points(plan, leaf->nest, whole), visible, traffic;
    if (leaf->sparse) {
        points = sparse_points(plan, leaf, whole, points);
        visit->seconds.known = visit->seconds.known && points >= 0;
    }
    // An operation on complex numbers is about four of real ones.
    const double flop = points * (double)plan_point_flop(leaf->assign) * (type->is_complex ? 4 : 1);
    if (flop <= 0 || !visit->seconds.known)
        return;
    if (leaf->call && leaf->call->kernel == KERNEL_GEMM) {
        visit->seconds.computing += gemm_seconds(visit, leaf->call, counts, flop, points, real_bytes);
        return;
    }
    const ModelKernel kernel = leaf->sparse ? MODEL_SPARSE : leaf->call ? MODEL_VECTOR : MODEL_LOOPS;
    step_bytes(plan, leaf->nest, counts, &visible, &traffic);
    const double computing = flop / model_rate(visit->machine, kernel, flop / around->steps, real_bytes) +
                             around->steps * visit->machine->machine->overhead;
    const double memory = around->steps * traffic / model_copy_rate(visit->machine, visible);
    visit->seconds.computing += computing;
    visit->seconds.memory += memory;
    visit->seconds.overlapped += fmin(computing, memory);
}

static void visit_leaf(Visit *visit, const Leaf *leaf, Around around) {
    const int loops = leaf->loop_count - leaf->call_loops;
    for (int i = 0; i < leaf->fill_count; i++)
        visit_leaf(visit, leaf->fills[i], around);
    if (leaf->reader)
        visit_leaf(visit, leaf->reader, around);
    if (leaf->row >= 0)
        return;
    for (int l = 0; leaf->call && l < loops; l++)
        around.loops[around.count++] = leaf->loops[l].var;
    visit_kernel(visit, leaf, &around);
}

static void visit_nodes(Visit *visit, const SpmdNode *node, Around around) {
    for (; node; node = node->next) {
        int64_t extent;
        if (node->kind == SPMD_LEAF)
            visit_leaf(visit, node->leaf, around);
        if (node->kind != SPMD_LOOP || !int_eval(node->extent, visit->plan->params, NULL, &extent))
            continue;
        Around inside = around;
        inside.loops[inside.count++] = node->var;
        inside.steps *= (double)extent;
        visit_nodes(visit, node->body, inside);
    }
}

LeafSeconds predict_leaves(const StatementPlan *plan, const ModelRanks *machine, int64_t rank) {
    Visit visit = {.plan = plan, .machine = machine, .seconds = {.known = true}};
    const Around none = {.steps = 1};
    for (int64_t local = 0; local < plan->per_rank; local++) {
        visit.processor = rank * plan->per_rank + local;
        if (visit.processor >= plan->processors)
            break;
        for (int n = 0; n < plan->spmd->nest_count; n++)
            visit_nodes(&visit, plan->spmd->nests[n].body, none);
    }
    return visit.seconds;
}
