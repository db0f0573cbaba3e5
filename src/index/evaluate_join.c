// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate_join.h"

#include "base/integer.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

// A term and its operands, in the order in which its variables are given values.
typedef struct {
    const Evaluator *evaluator;
    const Term *term;
    const EvaluatorInput *inputs;
    const Evaluated *reductions; // by number
    bool every_element;          // of the left side, also those that no iteration writes
    // Variables that an index determines, and that get their values before the one variable of the index,
    // which follows.
    VarSet before;
    int loop_count;
    int loops[MAX_VARS];
    int depth[MAX_VARS];   // by variable: the number of its loop; of those that have none, loop_count
    SortedEntries *sorted; // by operand; of sparse ones
} Join;

// Points whose values are computed together.
typedef struct {
    int count;
    int64_t coordinates[BLOCK][MAX_ORDER]; // of the left side
    bool empty[BLOCK];                     // nothing is added up to the element
    Lanes *lanes;                          // by operand
    char *values;                          // by operand, then by point, VALUE_SIZE bytes each
    double *magnitudes;                    // of reductions: by operand, then by point
    bool *present;                         // by operand, then by point
    Register *stack;
} Batch;
enum { VALUE_SIZE = 16 };

// The state of one thread: the variables that have values, and the entries that are left of each operand.
typedef struct {
    const Join *join;
    Batch batch;
    Totals *totals;
    int64_t at[MAX_VARS];
    int *bound;       // by operand: how many of its keys have a value
    int64_t *lo, *hi; // by operand: the entries with these values
    bool empty;       // a variable that the sum goes over has no values
    bool out_of_memory;
} Walk;

enum { OPERAND_NONE = -1 };
static const int64_t NO_VALUE = INT64_MAX;

static bool is_sparse_operand(const Join *join, int operand) {
    return tensor_is_sparse(join->term->operands[operand].access->tensor);
}

// Whether `var` is the next variable of a sparse operand.
static bool is_next(const Walk *walk, int operand, int var) {
    const SortedEntries *sorted = &walk->join->sorted[operand];
    const int bound = walk->bound[operand];
    return is_sparse_operand(walk->join, operand) && bound < sorted->key_count && sorted->vars[bound] == var;
}

// Whether the next variable of a sparse operand is an index that is a positive number of times `var` plus
// what is known where `var` is chosen: *factor * var + *offset.
static bool is_next_index(const Walk *walk, int operand, int var, int64_t *factor, int64_t *offset) {
    const Join *join = walk->join;
    const SortedEntries *sorted = &join->sorted[operand];
    const int bound = walk->bound[operand];
    if (join->every_element || !is_sparse_operand(join, operand) || bound == sorted->key_count)
        return false;
    const IndexNumbers *index = join->evaluator->indices[sorted->vars[bound]];
    if (!index || join->before >> sorted->vars[bound] & 1)
        return false;
    *factor = 0;
    *offset = index->constant;
    for (int i = 0; i < index->count; i++) {
        if (index->vars[i] == var)
            *factor = index->coefficients[i];
        else if (join->depth[index->vars[i]] < join->depth[var])
            *offset += index->coefficients[i] * walk->at[index->vars[i]];
        else
            return false;
    }
    return *factor > 0;
}

// The least value of `var` from `value` on at which the expression may be present.
static int64_t next_value(const Walk *walk, const PresenceNode *node, int var, int64_t value) {
    switch (node->presence) {
    case PRESENT_STORED: {
        const int o = node->operand;
        const int64_t lo = walk->lo[o], hi = walk->hi[o];
        if (lo == hi)
            return NO_VALUE;
        int64_t factor = 1, offset = 0;
        if (!is_next(walk, o, var) && !is_next_index(walk, o, var, &factor, &offset))
            return value;
        const SortedEntries *sorted = &walk->join->sorted[o];
        const int64_t found = sorted_entries_find(sorted, walk->bound[o], lo, hi, factor * value + offset);
        return found == hi ? NO_VALUE : ceil_div(sorted->keys[walk->bound[o]][found] - offset, factor);
    }
    case PRESENT_LEFT:
        return next_value(walk, node->left, var, value);
    case PRESENT_RIGHT:
        return next_value(walk, node->right, var, value);
    case PRESENT_BOTH:
        while (true) {
            const int64_t left = next_value(walk, node->left, var, value);
            if (left == NO_VALUE)
                return NO_VALUE;
            value = next_value(walk, node->right, var, left);
            if (value == left || value == NO_VALUE)
                return value;
        }
    case PRESENT_EITHER:
        return min_i64(next_value(walk, node->left, var, value), next_value(walk, node->right, var, value));
    default:
        return value;
    }
}

static void flush(Walk *walk) {
    Batch *batch = &walk->batch;
    if (batch->count > 0)
        block_run(&walk->join->term->program, batch->lanes, batch->count, batch->stack);
    for (int i = 0; i < batch->count && !walk->out_of_memory; i++)
        walk->out_of_memory =
            !totals_add(walk->totals, batch->coordinates[i], batch->empty[i] ? NULL : batch->stack, i);
    batch->count = 0;
}

// What a reduction gives is of the kind of its evaluator.
static ElementType operand_type(const Join *join, const Operand *operand) {
    return operand->reduction < 0 ? operand->access->tensor->type
                                  : evaluator_type(join->evaluator->reduction_evaluators[operand->reduction]);
}

static void load_operand(Walk *walk, int o) {
    const Join *join = walk->join;
    const Operand *operand = &join->term->operands[o];
    const Tensor *tensor = operand->access->tensor;
    const Evaluated *reduction = operand->reduction < 0 ? NULL : &join->reductions[operand->reduction];
    const size_t size = type_info(operand_type(join, operand))->size;
    const char *from = reduction ? reduction->values : join->inputs[tensor->id].values;
    Batch *batch = &walk->batch;
    char *to = batch->values + ((size_t)o * BLOCK * VALUE_SIZE) + (size_t)batch->count * size;
    bool *present = &batch->present[o * BLOCK + batch->count];
    int64_t position = operand->offset;
    *present = !walk->empty;
    if (tensor_is_sparse(tensor)) {
        *present = *present && walk->lo[o] < walk->hi[o];
        position = *present ? join->sorted[o].positions[walk->lo[o]] : 0;
    } else {
        for (int v = 0; v < MAX_VARS; v++)
            position += walk->at[v] * operand->strides[v];
    }
    if (*present)
        memcpy(to, from + (size_t)position * size, size);
    else
        memset(to, 0, size);
    if (reduction)
        batch->magnitudes[o * BLOCK + batch->count] = *present ? reduction->magnitudes[position] : 0;
}

static void add_point(Walk *walk) {
    const Join *join = walk->join;
    const Access *lhs = join->evaluator->assignment->lhs;
    Batch *batch = &walk->batch;
    for (int o = 0; o < join->term->operand_count; o++)
        load_operand(walk, o);
    for (int d = 0; d < lhs->tensor->order; d++)
        batch->coordinates[batch->count][d] = walk->at[lhs->vars[d]];
    batch->empty[batch->count] = walk->empty;
    if (++batch->count == BLOCK)
        flush(walk);
}

static void visit(Walk *walk, int depth, int64_t first, int64_t end);

// Gives the variable of this loop a value, and goes on with what is left of the operands.
static void visit_value(Walk *walk, int depth, int64_t value) {
    const Join *join = walk->join;
    const int var = join->loops[depth], operands = join->term->operand_count;
    int64_t *lo = walk->lo, *hi = walk->hi;
    int64_t kept_lo[operands + 1], kept_hi[operands + 1];
    bool narrowed[operands + 1];
    for (int o = 0; o < operands; o++) {
        kept_lo[o] = lo[o];
        kept_hi[o] = hi[o];
        narrowed[o] = is_next(walk, o, var);
        if (!narrowed[o])
            continue;
        const int key = walk->bound[o]++;
        lo[o] = sorted_entries_find(&join->sorted[o], key, lo[o], hi[o], value);
        hi[o] = sorted_entries_find(&join->sorted[o], key, lo[o], hi[o], value + 1);
    }
    walk->at[var] = value;
    visit(walk, depth + 1, 0, INT64_MAX);
    for (int o = 0; o < operands; o++) {
        lo[o] = kept_lo[o];
        hi[o] = kept_hi[o];
        walk->bound[o] -= narrowed[o];
    }
}

// Whether a variable without values leaves entries of a sparse left side in place.
static bool does_not_matter(const Join *join, int var) {
    const Access *lhs = join->evaluator->assignment->lhs;
    if (join->evaluator->extents[var] > 0 || !tensor_is_sparse(lhs->tensor) || access_vars(lhs) >> var & 1)
        return false;
    for (int o = 0; o < join->term->operand_count; o++)
        if (is_sparse_operand(join, o) && access_vars(join->term->operands[o].access) >> var & 1)
            return false;
    return true;
}

static int64_t extent_of(const Join *join, int var) {
    const IndexNumbers *index = join->evaluator->indices[var];
    return index ? index->extent : join->evaluator->extents[var];
}

// Whether the variable of this loop has one value, which those around give: an index that of its variables,
// or the other way round.
static bool has_one_value(const Walk *walk, int depth, int64_t *value) {
    const Join *join = walk->join;
    const int var = join->loops[depth], around = depth > 0 ? join->loops[depth - 1] : -1;
    const IndexNumbers *index = join->evaluator->indices[var];
    if (around >= 0 && join->before >> around & 1) {
        index = join->evaluator->indices[around];
        const int64_t product = walk->at[around] - index->constant;
        *value = product % index->coefficients[0] == 0 ? product / index->coefficients[0] : -1;
        return true;
    }
    if (!index || join->before >> var & 1 || join->every_element)
        return false;
    *value = index->constant;
    for (int i = 0; i < index->count; i++)
        *value += index->coefficients[i] * walk->at[index->vars[i]];
    return true;
}

// Values first .. end - 1 of the variable of this loop.
static void visit(Walk *walk, int depth, int64_t first, int64_t end) {
    const Join *join = walk->join;
    if (depth == join->loop_count) {
        add_point(walk);
        return;
    }
    const int var = join->loops[depth];
    const PresenceNode *root = join->term->presence;
    int64_t one;
    end = min_i64(end, extent_of(join, var));
    if (has_one_value(walk, depth, &one)) {
        if (one >= first && one < end && next_value(walk, root, var, one) == one)
            visit_value(walk, depth, one);
        return;
    }
    if (does_not_matter(join, var)) {
        const bool was_empty = walk->empty;
        walk->empty = true;
        walk->at[var] = 0;
        visit(walk, depth + 1, 0, INT64_MAX);
        walk->empty = was_empty;
        return;
    }
    for (int64_t value = next_value(walk, root, var, first); value < end && !walk->out_of_memory;
         value = next_value(walk, root, var, value + 1))
        visit_value(walk, depth, value);
}

static bool walk_create(const Join *join, Totals *totals, Walk *walk) {
    const size_t operands = (size_t)join->term->operand_count + 1;
    Batch *batch = &walk->batch;
    walk->join = join;
    walk->totals = totals;
    walk->bound = calloc(operands, sizeof *walk->bound);
    walk->lo = calloc(operands, sizeof *walk->lo);
    walk->hi = calloc(operands, sizeof *walk->hi);
    batch->lanes = calloc(operands, sizeof *batch->lanes);
    batch->values = malloc(operands * BLOCK * VALUE_SIZE);
    batch->magnitudes = malloc(operands * BLOCK * sizeof *batch->magnitudes);
    batch->present = malloc(operands * BLOCK * sizeof *batch->present);
    batch->stack = malloc(sizeof *batch->stack * (size_t)(join->evaluator->max_steps + 1));
    if (!walk->bound || !walk->lo || !walk->hi || !batch->lanes || !batch->values || !batch->magnitudes ||
        !batch->present || !batch->stack)
        return false;
    for (int o = 0; o < join->term->operand_count; o++) {
        walk->hi[o] = join->sorted[o].count;
        const Operand *operand = &join->term->operands[o];
        batch->lanes[o] = (Lanes){.type = operand_type(join, operand),
                                  .magnitudes = operand->reduction < 0 ? NULL : &batch->magnitudes[o * BLOCK],
                                  .data = batch->values + ((size_t)o * BLOCK * VALUE_SIZE),
                                  .present = &batch->present[o * BLOCK],
                                  .stride = 1};
    }
    return true;
}

static void walk_free(Walk *walk) {
    free(walk->bound);
    free(walk->lo);
    free(walk->hi);
    free(walk->batch.lanes);
    free(walk->batch.values);
    free(walk->batch.magnitudes);
    free(walk->batch.present);
    free(walk->batch.stack);
    free(walk);
}

// Whether a variable of the access is `var`, or an index whose other variables have been chosen.
static bool follows(const Join *join, int index, int var, VarSet bound) {
    const IndexNumbers *numbers = join->evaluator->indices[index];
    bool found = index == var;
    for (int i = 0; numbers && !join->every_element && i < numbers->count; i++) {
        if (numbers->vars[i] == var)
            found = numbers->coefficients[i] > 0;
        else if (!(bound >> numbers->vars[i] & 1))
            return index == var;
    }
    return found;
}

// How many values of `var` there are about, where those of `bound` have been chosen: INFINITY where no sparse
// operand says so.
static double estimate(const Join *join, const PresenceNode *node, int var, VarSet bound) {
    switch (node->presence) {
    case PRESENT_STORED: {
        const Access *access = join->term->operands[node->operand].access;
        const double entries = (double)join->inputs[access->tensor->id].count;
        double chosen = 1;
        bool indexes = false;
        for (int d = 0; d < access->tensor->order; d++) {
            indexes |= follows(join, access->vars[d], var, bound);
            if (bound >> access->vars[d] & 1)
                chosen *= (double)join->evaluator->extents[access->vars[d]];
        }
        return indexes ? fmin(entries / fmax(fmin(chosen, entries), 1), (double)join->evaluator->extents[var])
                       : INFINITY;
    }
    case PRESENT_LEFT:
        return estimate(join, node->left, var, bound);
    case PRESENT_RIGHT:
        return estimate(join, node->right, var, bound);
    case PRESENT_BOTH:
        return fmin(estimate(join, node->left, var, bound), estimate(join, node->right, var, bound));
    case PRESENT_EITHER:
        return estimate(join, node->left, var, bound) + estimate(join, node->right, var, bound);
    default:
        return INFINITY;
    }
}

// Adds the variables that indices of those chosen before determine.
static VarSet add_indices(Join *join, VarSet bound) {
    const Evaluator *evaluator = join->evaluator;
    for (int v = 0; v < evaluator->assignment->var_count && !join->every_element; v++) {
        const SourceVar *var = &evaluator->assignment->vars[v];
        if (!var->index || bound >> v & 1 || index_vars(var->index) & ~bound)
            continue;
        bound |= (VarSet)1 << v;
        join->loops[join->loop_count++] = v;
    }
    return bound;
}

// Whether `var` is to get values before `other`, where no entries bound either: a sparse operand has an index
// of both, which bounds the other one then, and it has fewer values.
static bool goes_before(const Join *join, int var, int other) {
    bool together = false;
    for (int o = 0; o < join->term->operand_count; o++) {
        const Access *access = join->term->operands[o].access;
        for (int d = 0; is_sparse_operand(join, o) && d < access->tensor->order; d++) {
            const AffineIndex *index = join->evaluator->assignment->vars[access->vars[d]].index;
            together |= index && index_vars(index) >> var & 1 && index_vars(index) >> other & 1;
        }
    }
    return together && join->evaluator->extents[var] < join->evaluator->extents[other];
}

// The variables, next always the one that seems to have the fewest values; of equal ones, those of the left
// side first. In place of a variable, an index of it alone may be chosen, which the variable follows.
static void order_loops(Join *join) {
    VarSet bound = 0, left = join->term->vars;
    while (left) {
        int best = __builtin_ctzll(left);
        double fewest = INFINITY;
        for (int v = 0; v < join->evaluator->assignment->var_count; v++) {
            const IndexNumbers *index = join->evaluator->indices[v];
            const bool stands_for_one =
                index && !join->every_element && index->count == 1 && left >> index->vars[0] & 1;
            if (!(left >> v & 1) && !stands_for_one)
                continue;
            const double values = estimate(join, join->term->presence, v, bound);
            if (values < fewest || (isinf(values) && isinf(fewest) && goes_before(join, v, best))) {
                best = v;
                fewest = values;
            }
        }
        const IndexNumbers *index = join->evaluator->indices[best];
        join->loops[join->loop_count++] = best;
        bound |= (VarSet)1 << best;
        if (index) {
            join->before |= (VarSet)1 << best;
            best = index->vars[0];
            join->loops[join->loop_count++] = best;
            bound |= (VarSet)1 << best;
        }
        left &= ~((VarSet)1 << best);
        bound = add_indices(join, bound);
    }
    add_indices(join, bound); // of a term without variables
}

// The longest operand whose entries are sorted by the outermost variable first; OPERAND_NONE where none is.
static int longest_operand(const Join *join) {
    int longest = OPERAND_NONE;
    for (int o = 0; o < join->term->operand_count; o++)
        if (join->sorted[o].key_count > 0 && join->sorted[o].vars[0] == join->loops[0] &&
            (longest < 0 || join->sorted[o].count > join->sorted[longest].count))
            longest = o;
    return longest;
}

enum { PARTS = 64 };

// Where part `part` of PARTS of the values of the outermost variable begins.
static int64_t first_value(const Join *join, int part) {
    const int64_t extent = extent_of(join, join->loops[0]);
    const int operand = longest_operand(join);
    if (part == 0 || part == PARTS)
        return part ? extent : 0;
    if (operand == OPERAND_NONE)
        return extent / PARTS * part;
    const SortedEntries *sorted = &join->sorted[operand];
    return sorted->count ? sorted->keys[0][sorted->count / PARTS * part] : extent;
}

// Whether threads can share the values of the outermost variable: they never add to the same sum.
static bool can_share(const Join *join) {
    const Access *lhs = join->evaluator->assignment->lhs;
    return join->loop_count > 0 &&
           (tensor_is_sparse(lhs->tensor) || access_vars(lhs) >> join->loops[0] & 1) &&
           !does_not_matter(join, join->loops[0]);
}

// The first thread reports the progress of all.
static void finish_part(const Join *join, int *done) {
    const Evaluator *evaluator = join->evaluator;
    int finished;
#pragma omp atomic capture
    finished = ++*done;
    if (evaluator->progress && omp_get_thread_num() == 0)
        evaluator->progress(evaluator->progress_context, finished, PARTS);
}

static void visit_part(Walk *walk, int part, int *done) {
    visit(walk, 0, first_value(walk->join, part), first_value(walk->join, part + 1));
    finish_part(walk->join, done);
}

static bool run_alone(const Join *join, Totals *totals) {
    Walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return false;
    const bool created = walk_create(join, totals, walk);
    const bool whole = join->loop_count == 0 || does_not_matter(join, join->loops[0]);
    int done = 0;
    if (created && whole)
        visit(walk, 0, 0, INT64_MAX);
    for (int part = 0; created && !whole && part < PARTS; part++)
        visit_part(walk, part, &done);
    if (created)
        flush(walk);
    const bool ok = created && !walk->out_of_memory;
    walk_free(walk);
    return ok;
}

// One thread of a team: parts of the outermost variable, added up in a list of its own.
static bool run_in_team(const Join *join, Totals *totals, int *done) {
    Totals own = *totals;
    Walk *walk = calloc(1, sizeof *walk);
    bool ok =
        walk && (!totals->sparse || totals_create(join->evaluator, &own)) && walk_create(join, &own, walk);
#pragma omp for schedule(dynamic)
    for (int part = 0; part < PARTS; part++)
        if (ok)
            visit_part(walk, part, done);
    if (ok) {
        flush(walk);
        ok = !walk->out_of_memory;
    }
    if (totals->sparse) {
#pragma omp critical
        ok = ok && totals_append(totals, &own);
        totals_free(&own);
    }
    if (walk)
        walk_free(walk);
    return ok;
}

static bool run_term(const Join *join, Totals *totals) {
    if (!can_share(join))
        return run_alone(join, totals);
    bool all = true;
    int done = 0;
#pragma omp parallel
    {
        const bool ok = run_in_team(join, totals, &done);
#pragma omp atomic
        all &= ok;
    }
    return all;
}

bool evaluate_join(const Evaluator *evaluator, const Term *term, const EvaluatorInput *inputs,
                   const Evaluated *reductions, bool every_element, Totals *totals) {
    Join join = {.evaluator = evaluator,
                 .term = term,
                 .inputs = inputs,
                 .reductions = reductions,
                 .every_element = every_element};
    join.sorted = calloc((size_t)term->operand_count + 1, sizeof *join.sorted);
    bool ok = join.sorted != NULL;
    if (ok)
        order_loops(&join);
    for (int v = 0; v < MAX_VARS; v++)
        join.depth[v] = join.loop_count;
    for (int l = 0; l < join.loop_count; l++)
        join.depth[join.loops[l]] = l;
    for (int o = 0; ok && o < term->operand_count; o++) {
        const Access *access = term->operands[o].access;
        if (tensor_is_sparse(access->tensor))
            ok = sorted_entries_create(access, &inputs[access->tensor->id], join.loops, join.loop_count,
                                       &join.sorted[o]);
    }
    ok = ok && run_term(&join, totals);
    for (int o = 0; join.sorted && o < term->operand_count; o++)
        sorted_entries_free(&join.sorted[o]);
    free(join.sorted);
    return ok;
}
