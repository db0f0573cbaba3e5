// SPDX-License-Identifier: BSD-3-Clause
#include "choose/known.h"

#include "base/integer.h"
#include "base/random.h"
#include "index/presence.h"
#include "plan/balance.h"
#include "plan/joint.h"
#include "plan/structures.h"

#include <math.h>
#include <string.h>

// For each mode of a result: a sparse operand with the same variable, and its mode there; NULL: there is
// none.
typedef struct {
    const Search *search;
    const Access *result;
    const SearchTensor *operands[MAX_ORDER];
    int modes[MAX_ORDER];
} ModeSources;

static void find_mode_sources(void *context, const Access *access) {
    ModeSources *sources = context;
    const int id = tensor_resolve_old(access->tensor)->id;
    if (id >= sources->search->program->tensor_count || !tensor_is_sparse(access->tensor) ||
        sources->search->tensors[id].entries.count == 0)
        return;
    for (int m = 0; m < sources->result->tensor->order; m++) {
        const int var = access_mode_var(sources->result, m);
        for (int of = 0; of < access->tensor->order && !sources->operands[m] && var >= 0; of++)
            if (access_mode_var(access, of) == var) {
                sources->operands[m] = &sources->search->tensors[id];
                sources->modes[m] = of;
            }
    }
}

// The coordinate of a random entry of the operand, the same entry for all modes that are taken from it; else
// uniformly random.
static int64_t assumed_coordinate(const ModeSources *sources, int64_t entry, int mode, int64_t extent) {
    const SearchTensor *operand = sources->operands[mode];
    if (!operand)
        return (int64_t)(random_fraction(0, entry * MAX_ORDER + mode) * (double)extent);
    const double drawn = random_fraction(1 + (uint64_t)operand->tensor->id, entry);
    return operand->entries
        .coordinates[sources->modes[mode]][(int64_t)(drawn * (double)operand->entries.count)];
}

static bool refuse(const Tensor *tensor, const char *why, Diagnostics *diagnostics) {
    return !why ||
           diagnostics_error(diagnostics, (Span){0}, "tensor %s cannot be stored: %s", tensor->name, why);
}

// What the tensors of the program store, by their ids; those that are not known yet are NULL.
static const StoredTensor **list_stored(const Search *search) {
    const StoredTensor **stored =
        arena_array(search->arena, const StoredTensor *, search->program->tensor_count);
    for (int t = 0; t < search->program->tensor_count; t++)
        if (search->tensors[t].stored.order > 0)
            stored[t] = &search->tensors[t].stored;
    return stored;
}

// About how many entries a statement gives a tensor. -1: not known.
static double estimate_entries(const Search *search, const Spmd *spmd, const Tensor *tensor) {
    const StoredTensor **stored = list_stored(search);
    double sum = 0;
    for (int n = 0; n < spmd->nest_count; n++) {
        const Stmt *assign = spmd->nests[n].assign;
        if (assign->lhs->tensor != tensor)
            continue;
        const JointEntries joint = joint_entries(spmd, assign, search->program->tensor_count, stored, true,
                                                 INT64_MAX, search->arena);
        if (joint.coordinates < 0)
            return -1;
        sum += joint.coordinates;
    }
    return sum;
}

static const char *assume(const ModeSources *sources, SearchTensor *tensor, Entries *entries) {
    int64_t longest = 1;
    double elements = 1;
    for (int m = 0; m < entries->order; m++) {
        longest = max_i64(longest, entries->extents[m]);
        elements *= (double)entries->extents[m];
    }
    if (!tensor->estimated)
        tensor->entry_count = (double)min_i64(saturated_mul(longest, ASSUMED_PER_COORDINATE), MOST_ASSUMED);
    tensor->entry_count = fmin(tensor->entry_count, elements);
    entries->count = (int64_t)fmin(tensor->entry_count, MOST_ASSUMED);
    const char *why = entries_allocate(entries);
    for (int m = 0; !why && m < entries->order; m++)
        for (int64_t e = 0; e < entries->count; e++)
            entries->coordinates[m][e] = assumed_coordinate(sources, e, m, entries->extents[m]);
    if (!why && entries->count > 0)
        memset(entries->values, 0, type_info(tensor->tensor->type)->size * (size_t)entries->count);
    return why;
}

// The entries of an operand with the modes of the result that has its structure.
static bool share_entries(const Search *search, const Access *result, const Access *operand,
                          Entries *entries) {
    const SearchTensor *from = &search->tensors[operand->tensor->id];
    if (operand->tensor->id >= search->program->tensor_count || from->entries.order != entries->order)
        return false;
    for (int m = 0; m < entries->order; m++) {
        int of = 0;
        while (of < entries->order && operand->vars[of] != result->vars[m])
            of++;
        if (of == entries->order)
            return false;
        entries->coordinates[m] = from->entries.coordinates[of];
    }
    entries->count = from->entries.count;
    entries->values = from->entries.values;
    return true;
}

// Whether a statement gives the tensor the structure of an operand, whose entries it then has.
static bool find_shared(const Search *search, const Spmd *spmd, SearchTensor *tensor) {
    for (int g = 0; g < spmd->stage_count; g++)
        if (spmd->stages[g].target == tensor->tensor && spmd->stages[g].result == RESULT_SHARED)
            return share_entries(search, spmd->cin->assignment->lhs, spmd->stages[g].shared,
                                 &tensor->entries);
    return false;
}

// `spmd`: of the statement that computes the tensor; NULL: none does.
static const char *find_entries(const Search *search, const Spmd *spmd, SearchTensor *tensor) {
    const Entries *given = search->options->entries ? &search->options->entries[tensor->tensor->id] : NULL;
    tensor->entries = (Entries){.type = tensor->tensor->type, .order = tensor->tensor->order};
    memcpy(tensor->entries.extents, tensor->extents, sizeof tensor->entries.extents);
    if (given && given->order > 0) {
        tensor->entries = *given;
        return NULL;
    }
    if (spmd && find_shared(search, spmd, tensor))
        return NULL;
    tensor->assumed = true;
    const double estimate = spmd ? estimate_entries(search, spmd, tensor->tensor) : -1;
    tensor->estimated = estimate >= 0;
    if (tensor->estimated)
        tensor->entry_count = estimate;
    ModeSources sources = {.search = search};
    if (spmd && tensor->estimated) {
        sources.result = spmd->cin->assignment->lhs;
        expr_accesses(spmd->cin->assignment->rhs, find_mode_sources, &sources);
    }
    return assume(&sources, tensor, &tensor->entries);
}

static const char *store(const Search *search, SearchTensor *tensor) {
    tensor->stored = (StoredTensor){.type = tensor->tensor->type, .order = tensor->tensor->order};
    memcpy(tensor->stored.extents, tensor->extents, sizeof tensor->stored.extents);
    memcpy(tensor->stored.levels, tensor->tensor->levels, sizeof tensor->stored.levels);
    memcpy(tensor->stored.mode_order, tensor->tensor->mode_order, sizeof tensor->stored.mode_order);
    return stored_pack(&tensor->stored, &tensor->entries, INT64_MAX, search->arena);
}

static bool know(const Search *search, const Spmd *spmd, SearchTensor *tensor, Diagnostics *diagnostics) {
    if (!tensor_is_sparse(tensor->tensor) || tensor->entries.order > 0)
        return true;
    const double elements = tensor->bytes / (double)type_info(tensor->tensor->type)->size;
    const char *why = find_entries(search, spmd, tensor);
    if (!why)
        why = store(search, tensor);
    if (why)
        return refuse(tensor->tensor, why, diagnostics);
    // Those that have repeated coordinates are one.
    const double stored = (double)stored_count(&tensor->stored);
    const double times = tensor->estimated && stored > 0 ? tensor->entry_count / stored : 1;
    if (!tensor->estimated)
        tensor->entry_count = stored;
    tensor->share = elements > 0 ? fmin(1, times * stored / elements) : 0;
    tensor->bytes = times * (double)stored_bytes(&tensor->stored);
    return true;
}

bool known_create(Search *search, const Pipeline *pipeline, Diagnostics *diagnostics) {
    const Program *program = search->program;
    bool ok = true;
    for (int t = 0; t < program->tensor_count && ok; t++)
        if (!program_is_output(program, program->tensors[t]))
            ok = know(search, NULL, &search->tensors[t], diagnostics);
    for (int s = 0; s < program->statement_count && ok; s++) {
        const Assignment *assignment = program->statements[s].assignment;
        // One that it reads has entries before its first statement.
        const Spmd *spmd = assignment_reads_target(assignment) ? NULL : pipeline->statements[s].spmd;
        ok = know(search, spmd, &search->tensors[assignment->lhs->tensor->id], diagnostics);
    }
    return ok;
}

void known_free(Search *search) {
    for (int t = 0; search->tensors && t < search->program->tensor_count; t++) {
        stored_free(&search->tensors[t].stored);
        if (search->tensors[t].assumed)
            entries_free(&search->tensors[t].entries);
    }
}

int64_t known_count(const Search *search) {
    int64_t count = 0;
    for (int t = 0; t < search->program->tensor_count; t++)
        count = saturated_add(count, search->tensors[t].entries.count);
    return count;
}

// The parts that entries balance.
static const char *find_boundaries(const Search *search, Pipeline *pipeline, BoundariesArray *known,
                                   const Tensor **tensor) {
    BalanceTaskArray tasks = {0};
    const char *why = NULL;
    pipeline_balance_tasks(pipeline, search->arena, &tasks);
    for (int64_t i = 0; i < tasks.count && !why; i++) {
        const BalanceTask *task = &tasks.items[i];
        const Boundaries *boundaries;
        if (task->tensor->id >= search->program->tensor_count)
            continue; // a workspace, whose parts are as long as each other
        *tensor = task->tensor;
        why = balance_whole(&task->division, known, &search->tensors[task->tensor->id].entries, search->arena,
                            &boundaries);
        if (!why)
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(search->arena, *known, boundaries);
    }
    return why;
}

// How many entries each of those stands for that are assumed of a tensor.
static double entries_for_each(const Search *search, const Tensor *tensor) {
    const Tensor *of = tensor_resolve_old(tensor);
    if (of->id >= search->program->tensor_count || !search->tensors[of->id].estimated)
        return 1;
    const SearchTensor *known = &search->tensors[of->id];
    return fmax(1, known->entry_count / fmax(1, (double)stored_count(&known->stored)));
}

static const int64_t *times(const Search *search, int64_t ranks, const int64_t *figures, double factor) {
    int64_t *scaled = figures ? arena_array(search->arena, int64_t, ranks) : NULL;
    for (int64_t rank = 0; figures && rank < ranks; rank++)
        scaled[rank] = saturated_from(factor * (double)figures[rank]);
    return scaled;
}

// What moves of the entries that others stand for.
static void scale_moved(const Search *search, StatementPlan *plan) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const double each = entries_for_each(search, plan->spmd->transfers[t].statement_access->tensor);
        const EntryFigures *moved = plan->entries[t];
        if (each == 1 || !moved)
            continue;
        const int64_t *figures[] = {moved->elements, moved->structure_bytes, moved->buffer_bytes,
                                    moved->used};
        for (int i = 0; i < 4; i++)
            figures[i] = times(search, plan->ranks, figures[i], each);
        plan_count_entries(plan, t,
                           (EntryFigures){figures[0], moved->messages, figures[1], figures[2], figures[3]});
    }
}

// And what is stored of them.
static void scale_stored(const Search *search, Plan *plan) {
    for (int t = 0; t < plan->tensor_count; t++) {
        const double each = entries_for_each(search, plan->tensors[t]);
        const Home *home = &plan->homes[t];
        if (each == 1 || !home->stored_entries)
            continue;
        const int64_t size = plan_entry_bytes(plan->tensors[t]);
        const int64_t *entries = times(search, home->ranks, home->stored_entries, each);
        int64_t *bytes = arena_array(search->arena, int64_t, home->ranks);
        for (int64_t rank = 0; rank < home->ranks; rank++)
            bytes[rank] = saturated_add(home->stored_bytes[rank],
                                        saturated_mul(entries[rank] - home->stored_entries[rank], size));
        plan_count_stored(plan, t, entries, bytes);
    }
}

// Lends a tensor the entries that the search has of it, where nothing says which it has.
static const char *lend(const Search *search, Structures *structures, const Tensor *tensor) {
    return tensor->id < search->program->tensor_count && tensor_is_sparse(tensor) &&
                   !structures_stored(structures, tensor->id).entries
               ? structures_lend(structures, tensor->id, &search->tensors[tensor->id].stored)
               : NULL;
}

// Lends what a statement reads, and assigns, and counts what it moves.
static const char *count_statement(const Search *search, Structures *structures, Plan *plan, int statement,
                                   const Tensor **tensor) {
    StatementPlan *of = plan->statements[statement];
    const Spmd *spmd = of->spmd;
    const char *why = NULL;
    for (int t = 0; t < spmd->transfer_count && !why; t++) {
        *tensor = tensor_resolve_old(spmd->transfers[t].statement_access->tensor);
        if (spmd->transfers[t].kind == TRANSFER_FETCH)
            why = lend(search, structures, *tensor);
    }
    if (why)
        return why;
    structures_estimate(structures, plan, statement, false);
    why = structures_count(structures, plan, statement, tensor);
    if (why)
        return why;
    scale_moved(search, of);
    *tensor = of->target;
    return lend(search, structures, of->target);
}

Plan *known_plan(const Search *search, Pipeline *pipeline, PlanOptions options, Diagnostics *diagnostics) {
    BoundariesArray *known = arena_new(search->arena, BoundariesArray);
    const Tensor *tensor = NULL;
    if (!search->any_sparse)
        return pipeline_plan(pipeline, search->arena, pipeline->params, options, diagnostics);
    const char *why = find_boundaries(search, pipeline, known, &tensor);
    options.boundaries = known;
    Plan *plan = refuse(tensor, why, diagnostics)
                     ? pipeline_plan(pipeline, search->arena, pipeline->params, options, diagnostics)
                     : NULL;
    if (!plan)
        return NULL;
    Structures *structures = structures_create(plan, INT64_MAX, search->arena);
    for (int s = 0; s < plan->statement_count && !why; s++)
        why = count_statement(search, structures, plan, s, &tensor);
    structures_count_stored(structures, plan);
    scale_stored(search, plan);
    structures_free(structures);
    return refuse(tensor, why, diagnostics) ? plan : NULL;
}

double known_correlation(const Search *search, const Spmd *spmd, const Stmt *assign) {
    return joint_entries(spmd, assign, search->program->tensor_count, list_stored(search), false, INT64_MAX,
                         search->arena)
        .correlation;
}

static double stored_share(void *context, const Access *access) {
    const Search *search = context;
    const int id = tensor_resolve_old(access->tensor)->id;
    return id < search->program->tensor_count ? search->tensors[id].share : 1;
}

double known_share(Search *search, const Expr *expr, ElementType type) {
    return expr_share(expr, type, stored_share, search);
}
