// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/run.h"
#include "format/cut.h"
#include "format/sub_tree.h"
#include "io/source_entries.h"
#include "plan/indexed.h"
#include "plan/transfer_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The sparse inputs that --in gives, by tensor id, whole; `is_given` false: others. They are entries, and
// then stored with the levels of the tensor.
typedef struct {
    bool is_given;
    Entries entries;
    StoredTensor stored;
    Cutter cutter; // of it
} Given;

typedef struct {
    Session *session;
    const Bindings *bindings;
    const Plan *plan; // NULL until it is made
    Given *given;
    int64_t limit;
    Arena *scratch; // of one rank
} Structures;

static const Rect **list_rects(const RectArray *of, Arena *arena) {
    const Rect **rects = arena_array(arena, const Rect *, of->count);
    for (int64_t i = 0; i < of->count; i++)
        rects[i] = &of->items[i];
    return rects;
}

// The entries in disjoint rectangles; entries_free follows in any case.
static const char *entries_in(const Structures *structures, Given *given, int64_t count,
                              const Rect *const *rects, Entries *entries) {
    SliceArray slices = {0};
    *entries = (Entries){0};
    const char *why = cutter_prepare(&given->cutter, count, rects, structures->limit, structures->scratch);
    if (why)
        return why;
    cutter_cut(&given->cutter, count, rects, structures->scratch, &slices);
    return stored_unpack_slices(&given->stored, &slices, entries);
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
    IndexedPoints points = {0};
    IndexedUse used;
    if (by < 0)
        return indexed_use(plan, transfer, rank, NULL, arena, use);
    const char *why = find_use(structures, plan, by, rank, &used);
    if (!why) {
        const RectArray rects = selection_rects(&used.parts, arena);
        why = entries_in(structures, given_for(structures, plan, by), rects.count, list_rects(&rects, arena),
                         &entries);
    }
    if (!why)
        why = indexed_points(plan, transfer, rank, &entries, &points);
    entries_free(&entries);
    if (!why)
        why = indexed_use(plan, transfer, rank, &points, arena, use);
    entries_free(&points.points);
    return why;
}

// What a transfer moves, by rank.
typedef struct {
    int64_t *elements, *messages, *structure, *buffers;
    int64_t *requests; // bytes that a rank sends once to request what it lacks of a dense tensor
} Counts;

// The entries of each part, and the bytes of structure that come with those of other ranks.
static const char *count_entries(const Structures *structures, Given *given, int64_t rank,
                                 const Selection *used, int64_t *elements, int64_t *structure) {
    Arena *arena = structures->scratch;
    const RectArray all = selection_rects(used, arena);
    const Rect **rects = list_rects(&all, arena);
    SubTreeLevel levels[MAX_ORDER];
    const char *why = cutter_prepare(&given->cutter, all.count, rects, structures->limit, arena);
    for (int64_t i = 0; i < used->parts.count && !why;) {
        const int64_t peer = used->parts.items[i].peer;
        SliceArray slices = {0};
        int64_t count = 0;
        for (; i < used->parts.count && used->parts.items[i].peer == peer; i++)
            count += part_rect_count(&used->parts.items[i]);
        elements[peer] = cutter_cut(&given->cutter, count, rects, arena, &slices);
        rects += count;
        sub_tree_measure(&given->stored, slices.count, slices.items, levels);
        *structure += peer == rank ? 0 : sub_tree_bytes(&given->stored, levels);
    }
    return why;
}

// Elements of a dense operand that are copied where they leave or where they arrive.
static void count_copied(const StatementPlan *plan, int transfer, int64_t rank, const IndexedUse *use,
                         const int64_t *elements, int64_t size, int64_t *buffers) {
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].access->tensor->id];
    const Selection *parts = &use->parts;
    for (int64_t i = 0, end; i < parts->parts.count; i = end) {
        const int64_t peer = parts->parts.items[i].peer;
        for (end = i; end < parts->parts.count && parts->parts.items[end].peer == peer;)
            end++;
        buffers[peer] += indexed_leaves_home(parts, home, i, end - i) ? 0 : elements[peer] * size;
        buffers[rank] += indexed_arrives_in_view(use, home->tensor, i, end - i) ? 0 : elements[peer] * size;
    }
}

static const char *count_rank(const Structures *structures, const StatementPlan *plan, int transfer,
                              int64_t rank, const Counts *counts) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    int64_t *elements = arena_array(structures->scratch, int64_t, plan->ranks);
    IndexedUse use;
    const char *why = find_use(structures, plan, transfer, rank, &use);
    if (!why && tensor_is_sparse(tensor))
        why = count_entries(structures, given_for(structures, plan, transfer), rank, &use.parts, elements,
                            &counts->structure[rank]);
    else
        for (int64_t i = 0; !why && i < use.parts.parts.count; i++) {
            const SelectedPart *part = &use.parts.parts.items[i];
            elements[part->peer] += part_volume(&use.parts, part);
            counts->requests[rank] += part_numbers(&use.parts, part) * (int64_t)sizeof(int64_t);
        }
    for (int64_t peer = 0; !why && tensor_is_sparse(tensor) && peer < plan->ranks; peer++) {
        counts->buffers[peer] += elements[peer] * size;
        counts->buffers[rank] += elements[peer] * size;
    }
    if (!why && !tensor_is_sparse(tensor))
        count_copied(plan, transfer, rank, &use, elements, size, counts->buffers);
    if (!why && !tensor_is_sparse(tensor))
        counts->buffers[rank] += indexed_buffer(&use) * size + indexed_number_bytes(plan, transfer, &use);
    const Cost cost = indexed_cost(plan, transfer, rank, elements);
    counts->elements[rank] = cost.elements;
    counts->messages[rank] = cost.messages;
    return why;
}

// After how many executions what ranks request once, to receive elements at entries only, is less than what
// they would receive more of whole footprints.
static void print_amortization(const StatementPlan *plan, int transfer, const Counts *counts) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    const TransferFigures whole = transfer_figures(plan, transfer);
    int64_t requests = 0, saved = 0;
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        requests = saturated_add(requests, counts->requests[rank]);
        saved = saturated_add(saved, whole.bytes[rank] - counts->elements[rank] * size);
    }
    if (requests == 0)
        return;
    const int64_t executions = saved > 0 ? ceil_div(requests, saved) : 0;
    fprintf(stderr, "distal: %s: requests of %" PRId64 " B, once, save ", tensor->name, requests);
    if (saved > 0)
        fprintf(stderr,
                "%" PRId64 " B of the footprint in each execution: amortized after %" PRId64 " execution%s\n",
                saved, executions, executions == 1 ? "" : "s");
    else
        fprintf(stderr, "nothing of the footprint\n");
}

static const char *count_transfer(const Structures *structures, StatementPlan *plan, int transfer) {
    Arena *arena = structures->session->arena;
    Counts counts = {0};
    int64_t **const all[] = {&counts.elements, &counts.messages, &counts.structure, &counts.buffers,
                             &counts.requests};
    for (size_t c = 0; c < sizeof all / sizeof *all; c++)
        *all[c] = arena_array(arena, int64_t, plan->ranks);
    const char *why = NULL;
    for (int64_t rank = 0; !why && rank < plan->ranks; rank++) {
        arena_reset(structures->scratch);
        why = count_rank(structures, plan, transfer, rank, &counts);
    }
    if (!why)
        plan_count_entries(
            plan, transfer,
            (EntryFigures){counts.elements, counts.messages, counts.structure, counts.buffers});
    if (!why && structures->session->options->verbose &&
        !tensor_is_sparse(plan->spmd->transfers[transfer].access->tensor))
        print_amortization(plan, transfer, &counts);
    return why;
}

// Stores a tensor, and finds what each rank stores of it.
static const char *count_stored(const Structures *structures, const Home *home) {
    Given *given = &structures->given[home->tensor->id];
    Arena *arena = structures->session->arena, *scratch = structures->scratch;
    int64_t *counts = arena_array(arena, int64_t, home->ranks),
            *bytes = arena_array(arena, int64_t, home->ranks);
    given->stored = storage_empty(home);
    given->cutter.tensor = &given->stored;
    int64_t left = structures->limit - entries_bytes(&given->entries, given->entries.count);
    const char *why = stored_pack(&given->stored, &given->entries, left, arena);
    entries_free(&given->entries);
    left = structures->limit - stored_bytes(&given->stored);
    for (int64_t rank = 0; !why && rank < home->ranks; rank++) {
        StoredTensor stored = storage_empty(home);
        Entries own;
        arena_reset(scratch);
        const Region pieces = home_pieces(home, rank, scratch);
        if (pieces.rects.count == 0)
            continue;
        stored_restrict(&stored, pieces.rects.count, pieces.rects.items);
        why = entries_in(structures, given, pieces.rects.count, list_rects(&pieces.rects, scratch), &own);
        if (!why)
            why = stored_pack(&stored, &own, left, arena);
        if (!why) {
            counts[rank] = own.count;
            bytes[rank] = stored_bytes(&stored);
            stored_free(&stored);
        }
        entries_free(&own);
    }
    if (!why)
        plan_count_stored(structures->session->pipeline->plan, home->tensor->id, counts, bytes);
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
    bool ok = session_balance(session, divide_given, &structures) && session_compile(session, PASS_PLAN);
    if (ok) {
        ok = count_structures(&structures);
        session->failed = !ok;
    }
    for (int64_t t = 0; t < count; t++) {
        entries_free(&structures.given[t].entries);
        cutter_free(&structures.given[t].cutter);
        stored_free(&structures.given[t].stored);
    }
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
        "the memory includes the copies of results that N threads add to (`parallelize` with `reduction`). "
        "What a sparse tensor stores is known where --in gives it; inputs of dense tensors are not read.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_IN | 1u << OPTION_STATS |
               1u << OPTION_MEMORY_LIMIT,
    .run = plan,
};
