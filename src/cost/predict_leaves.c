// SPDX-License-Identifier: BSD-3-Clause
// Leaves: the kernels that a rank executes, each as often as the loops around it say and of the size that its
// first processor has in its first step, where parts are largest. A matrix product takes what products of its
// size take, and what its operands take longer to read and write than theirs; all else takes the longer of
// its operations and of what it reads and writes in memory.
#include "cost/predict_data.h"
#include "index/presence.h"

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
    BoundingBox bounds = {0}; // variables of fused loops and of positions get no values
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

// The product of the counts of the source variables, but for some: points of the loops of the nest.
static double nest_points(const StatementPlan *plan, int nest, const double counts[MAX_VARS],
                          VarSet without) {
    const Cin *cin = plan->spmd->cin;
    const Nest loops = cin_nest(cin, nest);
    bool active[MAX_VARS];
    double points = 1;
    provenance_active(plan->provenance, loops.loops, loops.loop_count, active);
    for (int v = 0; v < cin->var_count; v++)
        if (cin->vars[v].source && active[v] && !plan_is_index(cin, v) && !(without >> v & 1))
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
            if (!stored) // a result that is assembled
                most = fmax(0, plan_estimated_bytes(plan, tensor)) / (double)plan->ranks;
            for (int64_t r = 0; stored && r < plan->ranks; r++)
                most = fmax(most, (double)stored[r]);
            bytes = fmin(bytes, most);
        }
        *visible += bytes;
        *traffic += transfer->kind == TRANSFER_REDUCE ? 2 * bytes : bytes;
    }
}

// Entries of an operand that the busiest rank uses: those of its copy, else those that it has at home. -1:
// not known.
static double most_entries(const StatementPlan *plan, int nest, const Tensor *tensor) {
    const int64_t *used = plan->homes[tensor->id].stored_entries;
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        if (plan->spmd->transfers[t].nest == nest && plan->entries[t] && plan->entries[t]->used &&
            plan->spmd->transfers[t].statement_access->tensor == tensor)
            used = plan->entries[t]->used;
    double most = used ? 0 : -1;
    for (int64_t r = 0; used && r < plan->ranks; r++)
        most = fmax(most, (double)used[r]);
    return most;
}

typedef struct {
    const StatementPlan *plan;
    const Leaf *leaf;
    const double *counts; // of each variable
} Processor;

// The share of the elements of a sparse operand that its entries are, of those that a processor uses. -1: not
// known.
static double entries_share(void *context, const Access *access) {
    const Processor *of = context;
    if (!tensor_is_sparse(access->tensor))
        return 1; // a workspace that some points give a value
    const double entries = most_entries(of->plan, of->leaf->nest, access->tensor);
    const double elements = access_elements(access, of->counts);
    return entries < 0 ? -1 : elements > 0 ? fmin(1, entries / elements) : 0;
}

// The sparse operands of a leaf that store coordinates of the same variables.
typedef struct {
    const Processor *processor;
    VarSet sparse;         // variables of sparse operands
    VarSet listed, merged; // variables with a list of coordinates in one operand; in several
    bool once;             // each entry of what is merged is visited once
    int operands;          // that are merged
    double entries;        // of them
} Merging;

static VarSet listed_vars(const Access *access) {
    VarSet vars = 0;
    for (int l = 0; l < access->tensor->order; l++)
        if (!access->tensor->levels[l].format->full)
            vars |= (VarSet)1 << access->vars[access->tensor->mode_order[l]];
    return vars;
}

static void find_merged(void *context, const Access *access) {
    Merging *merging = context;
    const VarSet vars = listed_vars(access);
    merging->merged |= merging->listed & vars;
    merging->listed |= vars;
}

static void add_entries(void *context, const Access *access) {
    Merging *merging = context;
    if (!(listed_vars(access) & merging->merged))
        return;
    merging->once = merging->once && access_vars(access) == merging->sparse;
    merging->operands++;
    merging->entries +=
        fmax(0, most_entries(merging->processor->plan, merging->processor->leaf->nest, access->tensor));
}

// Comparisons of coordinates in loops that merge sparse operands with the same variables: each entry is
// compared with one of each other operand. 0: no loop merges any.
static double merge_comparisons(const Processor *processor, VarSet sparse) {
    Merging merging = {.processor = processor, .sparse = sparse, .once = true};
    expr_accesses(processor->leaf->assign->rhs, find_merged, &merging);
    expr_accesses(processor->leaf->assign->rhs, add_entries, &merging);
    return merging.once && merging.operands > 1 ? merging.entries * (merging.operands - 1) : 0;
}

// A kernel at work: the operations of all of its points; calls of the BLAS, and the extents of each; and
// bytes that one step uses, and reads and writes.
typedef struct {
    double flop, calls, m, n, k;
    double compared; // coordinates, in loops that merge sparse operands
    double visible, traffic;
    double inside; // points of the dense loops inside of those over entries; 1 where there are none
    int real_bytes;
} Work;

// Whether the loops of a dimension walk along consecutive modes of the access, so that they are one dimension
// of a matrix.
static bool is_merged(const CallDim *dim, const Access *access) {
    int before = -1;
    for (int i = 0; i < dim->count; i++)
        for (int l = 0; l < access->tensor->order; l++)
            if (access->vars[access->tensor->mode_order[l]] == dim->sources[i]) {
                if (before >= 0 && l != before + 1)
                    return false;
                before = l;
            }
    return true;
}

static bool is_matrix_product(const BlasCall *call, const Access *result) {
    const Access *accesses[] = {result, call->a, call->b};
    for (int i = 0; i < 3; i++)
        if (!is_merged(&call->m, accesses[i]) || !is_merged(&call->n, accesses[i]) ||
            !is_merged(&call->k, accesses[i]))
            return false;
    return true;
}

// Seconds in which one call reads and writes its operands as fast as a cube of the harmonic mean of the
// extents, which has as many elements for each operation: part of what its operations take.
static double included_memory(const Visit *visit, const double extents[3], double size) {
    const double m = extents[0], n = extents[1], k = extents[2], edge = 3 / (1 / m + 1 / n + 1 / k);
    return (m * k + k * n + 2 * m * n) * size / model_copy_rate(visit->machine, 3 * edge * edge * size);
}

// How the call is executed. Columns are along what is contiguous in the result.
static ModelKernel kernel_of(const Leaf *leaf, const Work *work, bool stores) {
    const BlasCall *call = leaf->call;
    if (!is_matrix_product(call, leaf->assign->lhs))
        return MODEL_CONTRACTION;
    const int last = access_contiguous_var(leaf->assign->lhs);
    bool of_m = false;
    for (int i = 0; i < call->m.count; i++)
        of_m = of_m || call->m.sources[i] == last;
    const double rows = of_m ? work->n : work->m, cols = of_m ? work->m : work->n;
    const bool is_integer = type_info(leaf->assign->lhs->tensor->type)->is_integer;
    return call->contraction && (is_integer || multiplies_in_panels(rows, cols, work->k, stores))
               ? MODEL_PANELS
               : MODEL_GEMM;
}

static void add_product(Visit *visit, const Leaf *leaf, const Work *work, double steps) {
    const double extents[] = {work->m, work->n, work->k};
    const double size = (double)type_info(leaf->assign->lhs->tensor->type)->size;
    const bool stores = visit->plan->spmd->nests[leaf->nest].zero_depth == 0;
    const ModelKernel kernel = kernel_of(leaf, work, stores);
    visit->seconds.computing +=
        work->flop / model_product_rate(visit->machine, kernel, extents, work->real_bytes) +
        work->calls * visit->machine->machine->overhead;
    if (kernel != MODEL_GEMM) // tiles are in the cache when they are copied
        return;
    visit->seconds.memory += fmax(0, steps * work->traffic / model_copy_rate(visit->machine, work->visible) -
                                         work->calls * included_memory(visit, extents, size));
}

static void add_loops(Visit *visit, const Leaf *leaf, const Work *work, double steps) {
    const ModelKernel kernel = leaf->sparse ? MODEL_SPARSE : leaf->call ? MODEL_VECTOR : MODEL_LOOPS;
    const double elements = work->visible / work->real_bytes;
    const double size = leaf->call ? work->flop / work->calls : work->flop / steps / elements;
    const double rate = model_rate(visit->machine, kernel, size, work->real_bytes);
    // Dense loops inside of those over entries are as fast as others.
    const double dense = fmax(rate, model_rate(visit->machine, MODEL_LOOPS, size, work->real_bytes));
    const double first = work->flop / work->inside;
    const double merging = work->compared / model_rate(visit->machine, MODEL_MERGE, 1, work->real_bytes);
    const double computing = fmax(first / rate, merging) + (work->flop - first) / dense +
                             steps * visit->machine->machine->overhead;
    const double memory = steps * work->traffic / model_copy_rate(visit->machine, work->visible);
    visit->seconds.computing += computing;
    visit->seconds.memory += memory;
    visit->seconds.overlapped += fmin(computing, memory);
}

static void add_sparse_vars(void *context, const Access *access) {
    if (tensor_is_sparse(access->tensor))
        *(VarSet *)context |= access_vars(access);
}

static void visit_kernel(Visit *visit, const Leaf *leaf, const Around *around) {
    const StatementPlan *plan = visit->plan;
    const Around none = {.steps = 1};
    Around of_call = *around;
    double whole[MAX_VARS], step[MAX_VARS], counts[MAX_VARS];
    for (int l = 0; l < leaf->loop_count - leaf->call_loops; l++)
        of_call.loops[of_call.count++] = leaf->loops[l].var;
    if (!nest_counts(plan, leaf->nest, visit->processor, &none, whole) ||
        !nest_counts(plan, leaf->nest, visit->processor, around, step) ||
        !nest_counts(plan, leaf->nest, visit->processor, &of_call, counts))
        return;
    const TypeInfo *type = type_info(leaf->assign->lhs->tensor->type);
    Work work = {.inside = 1, .real_bytes = (int)(type->is_complex ? type->size / 2 : type->size)};
    double points = nest_points(plan, leaf->nest, whole, 0);
    if (leaf->sparse) {
        Processor processor = {plan, leaf, whole};
        const double share = expr_share(leaf->assign->rhs, assignment_type(plan->spmd->cin->assignment),
                                        entries_share, &processor);
        points *= share * (plan->joint ? plan->joint[leaf->nest].correlation : 1);
        VarSet sparse = 0;
        expr_accesses(leaf->assign->rhs, add_sparse_vars, &sparse);
        work.inside = fmax(1, nest_points(plan, leaf->nest, whole, sparse));
        work.compared = merge_comparisons(&processor, sparse);
        visit->seconds.known = visit->seconds.known && share >= 0;
    }
    // An operation on complex numbers is about four of real ones.
    work.flop = points * (double)plan_point_flop(leaf->assign) * (type->is_complex ? 4 : 1);
    if (work.flop <= 0 || !visit->seconds.known)
        return;
    step_bytes(plan, leaf->nest, step, &work.visible, &work.traffic);
    if (leaf->call) {
        work.m = dim_size(&leaf->call->m, counts);
        work.n = dim_size(&leaf->call->n, counts);
        work.k = dim_size(&leaf->call->k, counts);
        work.calls = points / (work.m * work.n * work.k);
    }
    if (leaf->call && leaf->call->kernel == KERNEL_GEMM)
        add_product(visit, leaf, &work, around->steps);
    else
        add_loops(visit, leaf, &work, around->steps);
}

static void visit_leaf(Visit *visit, const Leaf *leaf, Around around) {
    for (int i = 0; i < leaf->fill_count; i++)
        visit_leaf(visit, leaf->fills[i], around);
    if (leaf->reader)
        visit_leaf(visit, leaf->reader, around);
    if (leaf->row < 0)
        visit_kernel(visit, leaf, &around);
}

static void visit_nodes(Visit *visit, const SpmdNode *node, Around around) {
    for (; node; node = node->next) {
        if (node->kind == SPMD_LEAF)
            visit_leaf(visit, node->leaf, around);
        if (node->kind != SPMD_LOOP)
            continue;
        Around inside = around;
        inside.loops[inside.count++] = node->var;
        inside.steps *= (double)provenance_extent(visit->plan->provenance, node->var);
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
