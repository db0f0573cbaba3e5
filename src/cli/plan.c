// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/run.h"
#include "io/source_entries.h"
#include "plan/named.h"

#include <math.h>
#include <string.h>

// The mode by which the pieces of a home divide entries best: that of which the first rank has the least
// part.
static int divided_mode(const Home *home, Arena *arena) {
    const Region pieces = home_pieces(home, 0, arena);
    int best = 0;
    double least = 1;
    for (int m = 0; m < home->order && pieces.rects.count > 0; m++) {
        const double part = (double)rect_count(&pieces.rects.items[0], m) / fmax(1, (double)home->extents[m]);
        if (part < least) {
            best = m;
            least = part;
        }
    }
    return best;
}

// The first of the entries, which are sorted by `mode` first, whose coordinate is not less than `coordinate`.
static int64_t find_coordinate(const Entries *entries, int mode, int64_t coordinate) {
    int64_t first = 0, last = entries->count;
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        if (entries->coordinates[mode][middle] < coordinate)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static const char *append_range(Entries *to, const Entries *from, int64_t first, int64_t last) {
    Entries grown = {.type = to->type, .order = to->order, .count = to->count + last - first};
    memcpy(grown.extents, to->extents, sizeof grown.extents);
    const size_t size = type_info(to->type)->size, more = (size_t)(last - first);
    const char *why = entries_allocate(&grown);
    if (!why && to->count > 0) {
        for (int d = 0; d < to->order; d++)
            memcpy(grown.coordinates[d], to->coordinates[d], (size_t)to->count * sizeof(int64_t));
        memcpy(grown.values, to->values, (size_t)to->count * size);
    }
    if (!why && more > 0) {
        for (int d = 0; d < to->order; d++)
            memcpy(grown.coordinates[d] + to->count, from->coordinates[d] + first, more * sizeof(int64_t));
        memcpy((char *)grown.values + (size_t)to->count * size, (char *)from->values + (size_t)first * size,
               more * size);
    }
    entries_free(to);
    *to = grown;
    return why;
}

// The entries that a rank has at home.
static const char *entries_of_rank(const Home *home, int64_t rank, const Entries *all, int mode, Entries *own,
                                   Arena *arena) {
    const Region pieces = home_pieces(home, rank, arena);
    const char *why = NULL;
    *own = (Entries){.type = all->type, .order = all->order};
    memcpy(own->extents, all->extents, sizeof own->extents);
    for (int64_t i = 0; !why && i < pieces.rects.count; i++) {
        const Rect *rect = &pieces.rects.items[i];
        Region region = {0};
        Entries part = *own;
        part.count = 0;
        memset(part.coordinates, 0, sizeof part.coordinates);
        part.values = NULL;
        array_push(arena, region.rects, *rect);
        const bool any = home->order > 0;
        why = append_range(&part, all, any ? find_coordinate(all, mode, rect->lo[mode]) : 0,
                           any ? find_coordinate(all, mode, rect->hi[mode]) : all->count);
        if (!why)
            why = entries_keep_within(&part, &region);
        if (!why)
            why = append_range(own, &part, 0, part.count);
        entries_free(&part);
    }
    return why;
}

// What the entries of a rank name of dense operands.
typedef struct {
    StatementPlan *plan;
    int transfer;
    int64_t *elements, *messages, *buffers; // by rank
} NamedCount;
typedef Array(NamedCount) NamedCounts;

static NamedCounts named_by(const Session *session, const Tensor *tensor) {
    const Plan *plan = session->pipeline->plan;
    Arena *arena = session->arena;
    NamedCounts counts = {0};
    for (int s = 0; s < plan->statement_count; s++) {
        StatementPlan *statement = plan->statements[s];
        for (int t = 0; t < statement->spmd->transfer_count; t++)
            if (transfer_is_named(statement, t) && statement->spmd->transfers[t].named_by->tensor == tensor)
                array_push(arena, counts,
                           (NamedCount){statement, t, arena_array(arena, int64_t, statement->ranks),
                                        arena_array(arena, int64_t, statement->ranks),
                                        arena_array(arena, int64_t, statement->ranks)});
    }
    return counts;
}

static const char *count_named(const NamedCounts *counts, int64_t rank, const Entries *own, Arena *arena) {
    const char *why = NULL;
    for (int64_t i = 0; !why && i < counts->count; i++) {
        const NamedCount *count = &counts->items[i];
        NamedParts parts;
        Entries entries = {.type = own->type, .order = own->order};
        memcpy(entries.extents, own->extents, sizeof entries.extents);
        why = append_range(&entries, own, 0, own->count);
        if (!why)
            why = named_parts(count->plan, count->transfer, rank, &entries, arena, &parts);
        entries_free(&entries);
        if (why)
            return why;
        const Cost cost = named_cost(count->plan, count->transfer, &parts, count->buffers);
        count->elements[rank] = cost.elements;
        count->messages[rank] = cost.messages;
        count->buffers[rank] += cost.elements;
    }
    return why;
}

// What each rank stores of a tensor.
static const char *count_by_rank(Session *session, const Home *home, Entries *all, int64_t limit) {
    const Tensor *tensor = home->tensor;
    Arena *arena = session->arena, *scratch = arena_create_within(arena);
    int64_t *entries = arena_array(arena, int64_t, home->ranks),
            *bytes = arena_array(arena, int64_t, home->ranks);
    const NamedCounts named = named_by(session, tensor);
    const int mode = divided_mode(home, arena);
    int order[MAX_ORDER] = {mode};
    for (int m = 0, count = 1; m < home->order; m++)
        if (m != mode)
            order[count++] = m;
    const char *why = entries_sort(all, order);
    if (!why)
        why = entries_sum_duplicates(all);
    for (int64_t rank = 0; !why && rank < home->ranks; rank++) {
        StoredTensor stored = {.type = tensor->type, .order = tensor->order};
        memcpy(stored.extents, home->extents, sizeof stored.extents);
        memcpy(stored.levels, tensor->levels, sizeof stored.levels);
        memcpy(stored.mode_order, tensor->mode_order, sizeof stored.mode_order);
        Entries own = {0};
        arena_reset(scratch);
        if (home_pieces(home, rank, scratch).rects.count == 0)
            continue; // and uses nothing
        why = entries_of_rank(home, rank, all, mode, &own, scratch);
        if (!why)
            why = stored_pack(&stored, &own, limit, arena);
        if (!why) {
            entries[rank] = stored_count(&stored);
            bytes[rank] = stored_bytes(&stored);
            stored_free(&stored);
        }
        if (!why)
            why = count_named(&named, rank, &own, scratch);
        entries_free(&own);
    }
    arena_free(scratch);
    if (!why)
        plan_count_stored(session->pipeline->plan, tensor->id, entries, bytes);
    for (int64_t i = 0; !why && i < named.count; i++)
        plan_count_named(
            named.items[i].plan, named.items[i].transfer,
            (NamedFigures){named.items[i].elements, named.items[i].messages, named.items[i].buffers});
    return why;
}

// What a sparse tensor stores when it is read from this source; its values are not kept.
static bool count_stored(Session *session, const Home *home, const SourceSpec *source) {
    const Tensor *tensor = home->tensor;
    Entries entries = {0};
    const int64_t limit = session->options->memory_limit > 0 ? session->options->memory_limit : INT64_MAX;
    bool ok = source_entries(source, tensor->name, tensor->type, tensor->order, home->extents, limit,
                             &entries, session->diagnostics);
    const char *why =
        ok ? count_by_rank(session, home, &entries, limit - entries_bytes(&entries, entries.count)) : NULL;
    if (why)
        ok = diagnostics_error(session->diagnostics, (Span){0}, "tensor %s cannot be stored: %s",
                               tensor->name, why);
    entries_free(&entries);
    return ok;
}

// Reads the sparse inputs that --in gives; dense ones say nothing that a plan depends on.
static bool read_structures(Session *session) {
    Bindings bindings;
    if (!bindings_create(session, &bindings))
        return false;
    const Plan *plan = session->pipeline->plan;
    for (int64_t i = 0; i < session->options->inputs.count; i++)
        for (int t = 0; t < session->pipeline->program->tensor_count; t++)
            if (tensor_is_sparse(plan->tensors[t]) &&
                strcmp(plan->tensors[t]->name, session->options->inputs.items[i].tensor) == 0 &&
                !count_stored(session, &plan->homes[t], &bindings.sources[t]))
                return false;
    return true;
}

static ExitStatus plan(Session *session) {
    if (!session_compile(session, PASS_PLAN) || !read_structures(session))
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
