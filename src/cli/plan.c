// SPDX-License-Identifier: BSD-3-Clause
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/run.h"
#include "io/source_entries.h"
#include "plan/indexed.h"

#include <string.h>

// The sparse inputs that --in gives, by tensor id; `is_given` false: others. Each is sorted by `mode_order`.
typedef struct {
    bool is_given;
    Entries entries;
    int mode_order[MAX_ORDER];
} Given;

typedef struct {
    Session *session;
    const Bindings *bindings;
    const Plan *plan; // NULL until it is made
    Given *given;
    int64_t limit;
    Arena *scratch; // of one rank
} Structures;

// Copies the entries that are in a rectangle to the end of `to`; without `to`, counts them.
static int64_t take_entries(const Given *given, const Rect *rect, Entries *to) {
    int64_t first, last, count = 0;
    const Entries *from = &given->entries;
    const size_t size = type_info(from->type)->size;
    entries_range(from, given->mode_order, rect, &first, &last);
    for (int64_t e = first; e < last; e++) {
        if (!entries_is_within(from, e, rect))
            continue;
        count++;
        if (!to)
            continue;
        for (int d = 0; d < from->order; d++)
            to->coordinates[d][to->count] = from->coordinates[d][e];
        memcpy((char *)to->values + (size_t)to->count * size, (const char *)from->values + (size_t)e * size,
               size);
        to->count++;
    }
    return count;
}

// The entries in disjoint rectangles.
static const char *entries_in(const Given *given, int64_t count, const Rect *const *rects, Entries *to) {
    *to = given->entries;
    to->count = 0;
    for (int64_t i = 0; i < count; i++)
        to->count += take_entries(given, rects[i], NULL);
    const char *why = entries_allocate(to);
    to->count = 0;
    for (int64_t i = 0; !why && i < count; i++)
        take_entries(given, rects[i], to);
    return why;
}

static const Rect **rects_of_parts(const IndexedParts *parts, Arena *arena) {
    const Rect **rects = arena_array(arena, const Rect *, parts->count);
    for (int64_t i = 0; i < parts->count; i++)
        rects[i] = &parts->items[i].rect;
    return rects;
}

static const Rect **rects_of_region(const Region *region, Arena *arena) {
    const Rect **rects = arena_array(arena, const Rect *, region->rects.count);
    for (int64_t i = 0; i < region->rects.count; i++)
        rects[i] = &region->rects.items[i];
    return rects;
}

static Given *given_for(const Structures *structures, const StatementPlan *plan, int transfer) {
    return &structures->given[plan->spmd->transfers[transfer].statement_access->tensor->id];
}

// Whether what the transfer moves depends on entries, which are all given.
static bool is_known(const Structures *structures, const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const bool sparse = tensor_is_sparse(of->statement_access->tensor);
    const int by = transfer_indexed_by(plan, transfer);
    return of->kind == TRANSFER_FETCH && (by >= 0 || (sparse && plan->moves[transfer])) &&
           (!sparse || given_for(structures, plan, transfer)->is_given) &&
           (by < 0 || given_for(structures, plan, by)->is_given);
}

// What a rank uses of an operand, by the entries that it uses of the one that indexes it.
static const char *find_use(const Structures *structures, const StatementPlan *plan, int transfer,
                            int64_t rank, IndexedUse *use) {
    Arena *arena = structures->scratch;
    const int by = transfer_indexed_by(plan, transfer);
    Entries entries = {0};
    IndexedUse used;
    if (by < 0)
        return indexed_use(plan, transfer, rank, NULL, arena, use);
    const char *why = find_use(structures, plan, by, rank, &used);
    if (!why)
        why = entries_in(given_for(structures, plan, by), used.parts.count,
                         rects_of_parts(&used.parts, arena), &entries);
    if (!why)
        why = indexed_use(plan, transfer, rank, &entries, arena, use);
    entries_free(&entries);
    return why;
}

// What a transfer moves, by rank.
typedef struct {
    int64_t *elements, *messages, *structure, *buffers;
} Counts;

static const char *count_rank(const Structures *structures, const StatementPlan *plan, int transfer,
                              int64_t rank, const Counts *counts) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    const Given *given = given_for(structures, plan, transfer);
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    int64_t *elements = arena_array(structures->scratch, int64_t, plan->ranks);
    IndexedUse use;
    const char *why = find_use(structures, plan, transfer, rank, &use);
    for (int64_t i = 0; !why && i < use.parts.count; i++) {
        const Part *part = &use.parts.items[i];
        const int64_t count =
            tensor_is_sparse(tensor) ? take_entries(given, &part->rect, NULL) : rect_volume(&part->rect);
        elements[part->peer] += count;
        counts->buffers[part->peer] += count * size;
        counts->buffers[rank] += count * size;
    }
    if (!why && !tensor_is_sparse(tensor))
        counts->buffers[rank] += indexed_buffer(&use) * size + indexed_number_bytes(plan, transfer, &use);
    const Cost cost = indexed_cost(plan, transfer, rank, elements);
    counts->elements[rank] = cost.elements;
    counts->messages[rank] = cost.messages;
    if (tensor_is_sparse(tensor))
        counts->structure[rank] = entries_coordinate_bytes(&given->entries, cost.elements);
    return why;
}

// Sorts the entries so that what ranks need of them is found fast.
static const char *sort_given(const Structures *structures, const StatementPlan *plan, int transfer) {
    Given *given = given_for(structures, plan, transfer);
    int mode_order[MAX_ORDER];
    IndexedUse use = {0};
    const char *why = NULL;
    for (int64_t rank = 0; !why && rank < plan->ranks && use.parts.count == 0; rank++)
        why = find_use(structures, plan, transfer, rank, &use);
    if (why)
        return why;
    entries_mode_order(&given->entries, use.parts.count, rects_of_parts(&use.parts, structures->scratch),
                       given->mode_order, mode_order);
    if (memcmp(mode_order, given->mode_order, sizeof(int) * (size_t)given->entries.order) == 0)
        return NULL;
    memcpy(given->mode_order, mode_order, sizeof mode_order);
    return entries_sort(&given->entries, mode_order);
}

static const char *count_transfer(const Structures *structures, StatementPlan *plan, int transfer) {
    Arena *arena = structures->session->arena;
    Counts counts = {0};
    int64_t **const all[] = {&counts.elements, &counts.messages, &counts.structure, &counts.buffers};
    for (int c = 0; c < 4; c++)
        *all[c] = arena_array(arena, int64_t, plan->ranks);
    const char *why = NULL;
    if (tensor_is_sparse(plan->spmd->transfers[transfer].access->tensor))
        why = sort_given(structures, plan, transfer);
    for (int64_t rank = 0; !why && rank < plan->ranks; rank++) {
        arena_reset(structures->scratch);
        why = count_rank(structures, plan, transfer, rank, &counts);
    }
    if (!why)
        plan_count_entries(
            plan, transfer,
            (EntryFigures){counts.elements, counts.messages, counts.structure, counts.buffers});
    return why;
}

static StoredTensor empty_tensor(const Home *home) {
    const Tensor *tensor = home->tensor;
    StoredTensor empty = {.type = tensor->type, .order = tensor->order};
    memcpy(empty.extents, home->extents, sizeof empty.extents);
    memcpy(empty.levels, tensor->levels, sizeof empty.levels);
    memcpy(empty.mode_order, tensor->mode_order, sizeof empty.mode_order);
    return empty;
}

// A last level that stores every coordinate has entries that are not given.
static const char *fill_up(const Home *home, Entries *entries, int64_t limit, Arena *arena) {
    StoredTensor stored = empty_tensor(home);
    if (!stored.levels[stored.order - 1].format->full)
        return NULL;
    const char *why = stored_pack(&stored, entries, limit, arena);
    if (why)
        return why;
    entries_free(entries);
    why = stored_unpack(&stored, entries, limit, arena);
    stored_free(&stored);
    return why;
}

// What each rank stores of a tensor.
static const char *count_stored(const Structures *structures, const Home *home) {
    const Tensor *tensor = home->tensor;
    Given *given = &structures->given[tensor->id];
    Arena *arena = structures->session->arena, *scratch = structures->scratch;
    int64_t *entries = arena_array(arena, int64_t, home->ranks),
            *bytes = arena_array(arena, int64_t, home->ranks);
    const int64_t limit = structures->limit - entries_bytes(&given->entries, given->entries.count);
    const Region first = home_pieces(home, 0, arena);
    entries_mode_order(&given->entries, first.rects.count, rects_of_region(&first, arena), tensor->mode_order,
                       given->mode_order);
    const char *why = fill_up(home, &given->entries, limit, arena);
    if (!why)
        why = entries_sort(&given->entries, given->mode_order);
    if (!why)
        why = entries_sum_duplicates(&given->entries);
    for (int64_t rank = 0; !why && rank < home->ranks; rank++) {
        StoredTensor stored = empty_tensor(home);
        Entries own;
        arena_reset(scratch);
        const Region pieces = home_pieces(home, rank, scratch);
        if (pieces.rects.count == 0)
            continue;
        why = entries_in(given, pieces.rects.count, rects_of_region(&pieces, scratch), &own);
        if (!why)
            why = stored_pack(&stored, &own, limit, arena);
        if (!why) {
            entries[rank] = stored_count(&stored);
            bytes[rank] = stored_bytes(&stored);
            stored_free(&stored);
        }
        entries_free(&own);
    }
    if (!why)
        plan_count_stored(structures->session->pipeline->plan, tensor->id, entries, bytes);
    return why;
}

static bool refuse(const Structures *structures, const Tensor *tensor, const char *why) {
    return !why || diagnostics_error(structures->session->diagnostics, (Span){0},
                                     "tensor %s cannot be stored: %s", tensor->name, why);
}

static bool count_moved(const Structures *structures) {
    for (int s = 0; s < structures->plan->statement_count; s++) {
        StatementPlan *plan = structures->plan->statements[s];
        for (int t = 0; t < plan->spmd->transfer_count; t++)
            if (is_known(structures, plan, t) && !refuse(structures, plan->spmd->transfers[t].access->tensor,
                                                         count_transfer(structures, plan, t)))
                return false;
    }
    return true;
}

// Reads the entries of a sparse input that --in gives, once; `is_given` stays false of another tensor. Dense
// inputs say nothing that a plan depends on.
static bool read_given(const Structures *structures, const Tensor *tensor) {
    const Session *session = structures->session;
    Given *given = &structures->given[tensor->id];
    for (int64_t i = 0; i < session->options->inputs.count && tensor_is_sparse(tensor); i++) {
        if (given->is_given || strcmp(tensor->name, session->options->inputs.items[i].tensor) != 0)
            continue;
        const Entries none = session_no_entries(session, tensor);
        given->is_given = true;
        if (!source_entries(&structures->bindings->sources[tensor->id], tensor->name, tensor->type,
                            tensor->order, none.extents, structures->limit, &given->entries,
                            session->diagnostics))
            return false;
    }
    return true;
}

static bool divide_given(void *context, const BalanceTask *task, const Boundaries **boundaries) {
    const Structures *structures = context;
    const Given *given = &structures->given[task->tensor->id];
    if (!read_given(structures, task->tensor))
        return false;
    return !given->is_given ||
           refuse(structures, task->tensor,
                  balance_whole(&task->division, &given->entries, structures->session->arena, boundaries));
}

static bool count_structures(Structures *structures) {
    const Plan *plan = structures->plan = structures->session->pipeline->plan;
    for (int t = 0; t < structures->session->pipeline->program->tensor_count; t++)
        if (!read_given(structures, plan->tensors[t]) ||
            (structures->given[t].is_given &&
             !refuse(structures, plan->tensors[t], count_stored(structures, &plan->homes[t]))))
            return false;
    return count_moved(structures);
}

// Reads what --in gives, and makes the plan.
static bool plan_given(Session *session, const Bindings *bindings) {
    const Pipeline *pipeline = session->pipeline;
    const int64_t limit = session->options->memory_limit;
    // Workspaces have an id after those of the program.
    const int64_t count = pipeline->program->tensor_count + pipeline->scheduler.workspaces.count;
    Structures structures = {.session = session,
                             .bindings = bindings,
                             .given = arena_array(session->arena, Given, count),
                             .limit = limit > 0 ? limit : INT64_MAX,
                             .scratch = arena_create_within(session->arena)};
    const bool ok = session_balance(session, divide_given, &structures) &&
                    session_compile(session, PASS_PLAN) && count_structures(&structures);
    for (int64_t t = 0; t < count; t++)
        entries_free(&structures.given[t].entries);
    arena_free(structures.scratch);
    return ok;
}

static ExitStatus plan(Session *session) {
    Bindings bindings;
    if (!session_compile(session, PASS_C) || !bindings_create(session, &bindings) ||
        !plan_given(session, &bindings))
        return session_failure(session);
    Text text = text_create(session->arena);
    if (session->options->stats == STATS_JSON)
        report_json(session->pipeline, NULL, &text);
    else
        report_table(session->pipeline, NULL, &text);
    const ExitStatus status = session_print(session, &text);
    return status == EXIT_FINE && !memory_within_limit(session, true) ? EXIT_FAILED : status;
}

const Subcommand subcommand_plan = {
    .name = "plan",
    .arguments = "FILE",
    .summary = "print messages and memory of each rank, without data and without MPI",
    .text =
        "Lists for each tensor the pattern of its communication, the loop at which it is communicated, the "
        "number of steps, the bytes and messages that a rank receives (for reductions: sends), and the bytes "
        "at home and in buffers; for each statement, flop and the peak memory of a rank. With --threads N "
        "the "
        "memory includes the copies of results that N threads add to (`parallelize` with `reduction`). What "
        "a sparse tensor stores is known where --in gives it; inputs of dense tensors are not read.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_IN | 1u << OPTION_STATS |
               1u << OPTION_MEMORY_LIMIT,
    .run = plan,
};
