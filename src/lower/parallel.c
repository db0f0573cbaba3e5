// SPDX-License-Identifier: BSD-3-Clause
// Which loops of a leaf are threaded, vectorized and unrolled, without races.
#include "lower/bounds.h"
#include "lower/leaf.h"

#include "distal_kernel.h"

typedef struct {
    const LeafSite *site;
    LeafLoop *loops;
    int loop_count;  // those that a call replaces included
    int plain_count; // those that it does not
} Analysis;

// In order of derivation, as a variable may be derived from another in very many ways.
bool leaf_determines(const LeafSite *site, int var, VarSet around) {
    const Cin *cin = site->cin;
    VarSet determined = access_vars(site->assign->lhs) | around;
    for (int v = 0; v < cin->var_count; v++)
        determined |= (VarSet)site->outside[v] << v;
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (!((relation_parents(relation) | relation_operands(relation)) & ~determined) &&
            !(relation->access && relation->access->repeats))
            determined |= relation_children(relation);
    }
    return determined >> var & 1;
}

// Whether iterations of the loop at `depth` write different elements, as those of an assignment that sums
// nothing do: all of its variables index the left side, also those of an operand that repeats coordinates.
static bool writes_distinct(const Analysis *analysis, int depth) {
    if (!analysis->site->assign->accumulate)
        return true;
    VarSet around = 0;
    for (int i = 0; i < depth; i++)
        around |= (VarSet)1 << analysis->loops[i].var;
    const int var = analysis->loops[depth].var;
    return leaf_determines(analysis->site, var, around) && !leaf_repeats(analysis->site, var, around);
}

// Whether loops from `depth` inwards all update the same element.
static bool updates_one_element(const Analysis *analysis, int depth) {
    const Access *lhs = analysis->site->assign->lhs;
    for (int i = depth; i < analysis->loop_count; i++)
        for (int m = 0; m < lhs->tensor->order; m++)
            if (bounds_depends(analysis->site->cin, lhs->vars[m], analysis->loops[i].var))
                return false;
    return !analysis->site->row; // a leaf with a row workspace updates that as well
}

// Whether iterations are parts of positions whose outermost coordinate indexes the element that is written.
// As these coordinates increase, two parts update the same elements only where the one ends and the other
// begins.
static bool races_at_edges(const Analysis *analysis, int depth) {
    const Cin *cin = analysis->site->cin;
    const VarSet written = access_vars(analysis->site->assign->lhs);
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind->stored && bounds_depends(cin, relation->child[0], analysis->loops[depth].var))
            return written >> relation->access->outermost & 1;
    }
    return false;
}

static bool apply_thread(const Analysis *analysis, int depth, const Directive *directive) {
    const LeafSite *site = analysis->site;
    LeafLoop *loop = &analysis->loops[depth];
    const char *name = site->cin->vars[loop->var].name;
    const Tensor *left = site->assign->lhs->tensor;
    if (writes_distinct(analysis, depth)) {
        loop->thread = true;
        return true;
    }
    const bool at_edges = directive->race == RACE_REDUCTION && races_at_edges(analysis, depth);
    switch (at_edges ? RACE_ATOMIC : directive->race) {
    case RACE_NONE:
        return diagnostics_error(
            site->diagnostics, directive->span,
            "cannot parallelize '%s': its iterations update the same elements of '%s' (name a "
            "race strategy: atomic, reduction or temporary)",
            name, left->name);
    case RACE_ATOMIC:
        if (analysis->plain_count < analysis->loop_count)
            return diagnostics_error(site->diagnostics, directive->span,
                                     "cannot parallelize '%s': the updates of a library call are not atomic",
                                     name);
        loop->thread = loop->atomic = true;
        return true;
    default:
        loop->thread_reduces = updates_one_element(analysis, depth);
        loop->partials = !loop->thread_reduces;
        loop->copy_limit = loop->partials ? INT64_MAX : 0;
        return !loop->partials || !site->inner ||
               diagnostics_error(
                   site->diagnostics, directive->span,
                   "cannot parallelize '%s': threads would have copies of '%s' in each iteration "
                   "that fills a workspace (parallelize a loop outside of it, or use atomic)",
                   name, left->name);
    }
}

static bool may_be_vector(const Analysis *analysis, int depth) {
    return writes_distinct(analysis, depth) ||
           (depth == analysis->plain_count - 1 && updates_one_element(analysis, depth));
}

// Whether the schedule says that updates inside of the loop are atomic.
static bool is_atomic(const Cin *cin, int var) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->race == RACE_ATOMIC &&
            directive_is_about(cin->directives.items[d], var))
            return true;
    return false;
}

static bool refuse_vector_inside(const LeafSite *site, const Directive *directive, const char *name,
                                 int outer) {
    return diagnostics_error(site->diagnostics, directive->span,
                             "cannot vectorize '%s': updates inside '%s' are atomic", name,
                             site->cin->vars[outer].name);
}

static bool apply_vector(const Analysis *analysis, int depth, const Directive *directive) {
    const LeafSite *site = analysis->site;
    const char *name = site->cin->vars[analysis->loops[depth].var].name;
    if (site->row)
        return diagnostics_error(
            site->diagnostics, directive->span,
            "cannot vectorize '%s': the workspace '%s' is filled in each of its iterations", name,
            site->row->name);
    if (!may_be_vector(analysis, depth))
        return diagnostics_error(site->diagnostics, directive->span,
                                 "cannot vectorize '%s': its iterations update the same elements of '%s'",
                                 name, site->assign->lhs->tensor->name);
    for (int v = 0; v < site->cin->var_count; v++)
        if (site->enclosing[v] && site->atomic && is_atomic(site->cin, v))
            return refuse_vector_inside(site, directive, name, v);
    for (int i = 0; i < depth; i++)
        if (analysis->loops[i].atomic)
            return refuse_vector_inside(site, directive, name, analysis->loops[i].var);
    analysis->loops[depth].vector = true;
    return true;
}

static bool apply_gpu_unit(const Analysis *analysis, int depth, const Directive *directive) {
    static const GpuUnit units[PARALLEL_UNIT_COUNT] = {
        [UNIT_GPU_BLOCK] = GPU_BLOCK, [UNIT_GPU_WARP] = GPU_WARP, [UNIT_GPU_THREAD] = GPU_THREAD};
    LeafLoop *loop = &analysis->loops[depth];
    if (analysis->plain_count < analysis->loop_count)
        return diagnostics_error(
            analysis->site->diagnostics, directive->span,
            "cannot parallelize '%s' onto %s: on a GPU, the library call inside of it is made by the host",
            analysis->site->cin->vars[loop->var].name, parallel_unit_names[directive->unit]);
    const LeafSite *site = analysis->site;
    const bool races = !writes_distinct(analysis, depth);
    loop->unit = units[directive->unit];
    loop->atomic = races && directive->race == RACE_ATOMIC;
    loop->partials = races && directive->race > RACE_ATOMIC;
    return !loop->partials || (!site->inner && !site->row) ||
           diagnostics_error(
               site->diagnostics, directive->span,
               "cannot parallelize '%s' onto %s: on a GPU, there are no partial results of '%s' in each "
               "iteration that fills a workspace (use atomic)",
               site->cin->vars[loop->var].name, parallel_unit_names[directive->unit],
               site->assign->lhs->tensor->name);
}

// Blocks are outside of warps, and these outside of threads; each unit has as many dimensions as CUDA gives
// it.
static bool check_gpu_units(const Analysis *analysis) {
    static const int most[] = {[GPU_BLOCK] = GPU_DIMS, [GPU_WARP] = 1, [GPU_THREAD] = GPU_DIMS};
    const LeafSite *site = analysis->site;
    int counts[GPU_THREAD + 1] = {0};
    for (int i = 0; i < analysis->loop_count; i++) {
        const GpuUnit unit = analysis->loops[i].unit;
        if (unit == GPU_NONE)
            continue;
        const Directive *directive = cin_directive(site->cin, DIRECTIVE_PARALLELIZE, analysis->loops[i].var);
        const char *name = site->cin->vars[analysis->loops[i].var].name;
        for (int inner = (int)unit + 1; inner <= GPU_THREAD; inner++)
            if (counts[inner])
                return diagnostics_error(
                    site->diagnostics, directive->span,
                    "cannot parallelize '%s': blocks of a GPU are outside of its warps, and "
                    "these outside of threads (reorder puts it there)",
                    name);
        if (++counts[unit] > (unit == GPU_THREAD && counts[GPU_WARP] ? 1 : most[unit]))
            return diagnostics_error(site->diagnostics, directive->span,
                                     "cannot parallelize '%s': too many loops onto %s", name,
                                     parallel_unit_names[directive->unit]);
    }
    return true;
}

static bool apply_command(const Analysis *analysis, int depth, const Directive *directive) {
    const LeafSite *site = analysis->site;
    if (depth >= analysis->plain_count)
        return diagnostics_error(site->diagnostics, directive->span,
                                 "cannot %s '%s': a library call replaces it",
                                 directive->kind == DIRECTIVE_UNROLL ? "unroll" : "parallelize",
                                 site->cin->vars[directive->loops[0]].name);
    if (directive->kind == DIRECTIVE_UNROLL) {
        analysis->loops[depth].unroll = directive->number->value;
        return true;
    }
    if (unit_is_of_gpu(directive->unit))
        return apply_gpu_unit(analysis, depth, directive);
    return directive->unit == UNIT_CPU_THREAD ? apply_thread(analysis, depth, directive)
                                              : apply_vector(analysis, depth, directive);
}

// Commands about loops of the nest; those about loops outside of the leaf cannot be carried out.
static bool apply_commands(const Analysis *analysis) {
    const LeafSite *site = analysis->site;
    bool ok = true;
    for (int64_t r = 0; r < site->cin->directives.count; r++) {
        const Directive *directive = site->cin->directives.items[r];
        if (directive->kind != DIRECTIVE_PARALLELIZE && directive->kind != DIRECTIVE_UNROLL)
            continue;
        const char *what = directive->kind == DIRECTIVE_UNROLL ? "unroll" : "parallelize";
        const char *name = site->cin->vars[directive->loops[0]].name;
        if (site->outside[directive->loops[0]] && !site->inner)
            ok = diagnostics_error(site->diagnostics, directive->span, "cannot %s '%s': %s", what, name,
                                   cin_directive(site->cin, DIRECTIVE_DISTRIBUTE, directive->loops[0])
                                       ? "it is distributed"
                                       : "data moves inside it (communicate at a loop outside of it)");
        for (int i = 0; i < analysis->loop_count; i++)
            if (analysis->loops[i].var == directive->loops[0])
                ok = apply_command(analysis, i, directive) && ok;
    }
    return ok;
}

static bool has_threads(const LeafLoop *loop) {
    return loop->thread || loop->thread_reduces || loop->partials;
}

static bool check_vector_outside_threads(const Analysis *analysis) {
    const LeafSite *site = analysis->site;
    for (int i = 0; i < analysis->loop_count; i++)
        for (int j = i + 1; j < analysis->loop_count; j++)
            if (analysis->loops[i].vector && has_threads(&analysis->loops[j]))
                return diagnostics_error(
                    site->diagnostics,
                    cin_directive(site->cin, DIRECTIVE_PARALLELIZE, analysis->loops[i].var)->span,
                    "cannot vectorize '%s': threads work inside it, on '%s'",
                    site->cin->vars[analysis->loops[i].var].name,
                    site->cin->vars[analysis->loops[j].var].name);
    return true;
}

static bool has_commands(const Analysis *analysis) {
    const Cin *cin = analysis->site->cin;
    for (int i = 0; i < analysis->loop_count; i++)
        if (cin_directive(cin, DIRECTIVE_PARALLELIZE, analysis->loops[i].var) ||
            cin_directive(cin, DIRECTIVE_UNROLL, analysis->loops[i].var))
            return true;
    return false;
}

// Whether threads can take parts of the outermost loop of a sparse leaf: not of a merge loop, unless it is
// one because coordinates of its own are repeated, and not over the coordinates of a processor.
static bool is_divisible(const LeafSite *site, int loop) {
    return !leaf_merges(site, loop, 0) &&
           (site->cin->vars[loop].source || !leaf_joins_repeated(site, loop, 0));
}

// Whether iterations of one of the first loops up to the first that writes distinct elements are those of
// entries: what is inside of them is reached by the entries of a slice, which are too few for a team.
static bool has_few_entries(const Analysis *analysis, int distinct) {
    int order[MAX_VARS];
    for (int i = 0; i < analysis->loop_count; i++)
        order[i] = analysis->loops[i].var;
    const VarSet bounded = leaf_bounded(analysis->site, order);
    for (int i = 0; i <= distinct && i < analysis->loop_count; i++)
        if (bounded >> order[i] & 1)
            return true;
    return false;
}

// Whether the loops from `depth` inwards have too few iterations for a team of threads each time, as far as
// the extents are known.
static bool has_few_iterations(const Analysis *analysis, int depth) {
    const LeafSite *site = analysis->site;
    double count = 1;
    for (int i = depth; i < analysis->loop_count; i++) {
        int64_t extent;
        const IntExpr *of_var = site->cin->vars[analysis->loops[i].var].extent;
        if (!site->params || !int_is_closed(of_var) || !int_eval(of_var, site->params, NULL, &extent))
            return false;
        count *= (double)extent;
    }
    return count <= DISTAL_PARALLEL_WORK;
}

// Whether threads share the outermost loop of a leaf and add to copies, where no command says how its loops
// are executed: they would race there, and a loop that writes distinct elements is too short to be shared
// each time, as in y(j) = B(i, j) * x(i) with B sparse by rows, or where rows are short. Threads cannot take
// parts of merge loops that have coordinates of a processor.
static bool copies_by_default(const Analysis *analysis) {
    const LeafSite *site = analysis->site;
    int distinct = 0;
    if (analysis->loop_count == 0 || analysis->plain_count < analysis->loop_count || site->row ||
        site->inner || tensor_is_sparse(site->assign->lhs->tensor) || has_commands(analysis) ||
        updates_one_element(analysis, 0) || leaf_determines(site, analysis->loops[0].var, 0))
        return false;
    while (distinct < analysis->loop_count && !analysis->loops[distinct].distinct)
        distinct++;
    if (leaf_sparse_tensor(site))
        return is_divisible(site, analysis->loops[0].var) && has_few_entries(analysis, distinct);
    return !cin_is_on_gpu(site->cin) && has_few_iterations(analysis, distinct);
}

// By default, of all copies of a rank. More threads would take more memory than users expect.
enum { DEFAULT_COPY_BYTES = 64 << 20 };

bool leaf_parallelize(const LeafSite *site, LeafLoop *loops, int loop_count, const BlasCall *call) {
    Analysis analysis = {.site = site, .loops = loops, .loop_count = loop_count};
    analysis.plain_count = loop_count - (call ? blas_call_loops(call) : 0);
    const bool open = !site->row && leaf_is_open(site);
    for (int i = 0; i < loop_count; i++) {
        loops[i].distinct = writes_distinct(&analysis, i);
        loops[i].permutable = open && loops[i].distinct == leaf_determines(site, loops[i].var, 0);
    }
    if (call && site->atomic) {
        const int at = loops[loop_count - 1].var;
        return diagnostics_error(
            site->diagnostics, cin_directive(site->cin, DIRECTIVE_SUBSTITUTE, at)->span,
            "cannot substitute '%s': updates of a loop around it are atomic, those of a library "
            "call are not",
            site->cin->vars[at].name);
    }
    if (copies_by_default(&analysis)) {
        loops[0].partials = true;
        loops[0].copy_limit = DEFAULT_COPY_BYTES;
    }
    return apply_commands(&analysis) && check_vector_outside_threads(&analysis) && check_gpu_units(&analysis);
}
