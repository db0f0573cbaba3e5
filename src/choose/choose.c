// SPDX-License-Identifier: BSD-3-Clause
#include "choose/choose.h"

#include "base/integer.h"
#include "choose/choosing.h"
#include "choose/grids.h"
#include "choose/known.h"
#include "choose/pairs.h"
#include "choose/settle.h"
#include "choose/trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Choices of places for which plans are made.
enum { MOST_PLACINGS = 12, MOST_PLACINGS_OF_SEVERAL = 4 };

static const Placing *best_placing(const Choosing *choosing) {
    const Alternative **planned =
        arena_array(choosing->search.arena, const Alternative *, choosing->choice_count);
    for (int p = 0; p < choosing->choice_count; p++)
        planned[p] = choosing->placings[p].planned ? &choosing->placings[p].total : NULL;
    const int best = choosing_best_of(&choosing->search, planned, choosing->choice_count);
    return best < 0 ? NULL : &choosing->placings[best];
}

static int by_alternative(const void *a, const void *b) {
    const Alternative *x = a, *y = b;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? -1 : 1;
    const int where = strcmp(x->where, y->where);
    return where != 0 ? where : strcmp(x->how, y->how);
}

// The chosen one, then the others by time, each once.
static void list_alternatives(const Choosing *choosing, const Placing *best, int statement,
                              AlternativeArray *list) {
    Arena *arena = choosing->search.arena;
    AlternativeArray others = {0};
    const Alternative *chosen = &best->trials[statement].items[best->best[statement]].figures;
    for (int p = 0; p < choosing->choice_count; p++) {
        const TrialArray *trials = &choosing->placings[p].trials[statement];
        if (choosing->search.program->statement_count > 1 && &choosing->placings[p] != best)
            continue;
        for (int64_t i = 0; i < trials->count; i++)
            if (trials->items[i].planned && &trials->items[i].figures != chosen)
                array_push(arena, others, trials->items[i].figures);
    }
    if (others.count > 1)
        qsort(others.items, (size_t)others.count, sizeof(Alternative), by_alternative);
    array_push(arena, *list, *chosen);
    for (int64_t i = 0; i < others.count; i++) {
        bool is_new = true;
        for (int64_t k = 0; k < list->count; k++)
            is_new = is_new && (strcmp(list->items[k].where, others.items[i].where) != 0 ||
                                strcmp(list->items[k].how, others.items[i].how) != 0);
        if (is_new)
            array_push(arena, *list, others.items[i]);
    }
}

// With the machines that it needs, named, and the schedules of the chosen trials. `copies`: by statement of
// the search, those that are before it in the program.
static const Program *settle(Choosing *choosing, const Placing *best, int *copies) {
    Search *search = &choosing->search;
    const int count = search->program->statement_count;
    const Candidate **candidates = arena_array(search->arena, const Candidate *, count);
    for (int s = 0; s < count; s++) {
        const int64_t candidate = best->trials[s].items[best->best[s]].candidate;
        candidates[s] = candidate < 0 ? NULL : &search->statements[s].candidates.items[candidate];
    }
    const bool *used = settle_machines(search, best->places->places, candidates);
    Built built = {0};
    for (int s = 0; s < count; s++) {
        const int64_t before = built.statements.count;
        trial_build(search, best->places->places, &search->statements[s], candidates[s],
                    &best->trials[s].items[best->best[s]].form, &built);
        copies[s] = (int)(built.statements.count - before) - 1;
    }
    Program program = trial_program(search, best->places->places, &built);
    const Machine **machines = arena_array(search->arena, const Machine *, search->machines.count);
    program.machine_count = 0;
    for (int64_t m = 0; m < search->machines.count; m++)
        if (used[m])
            machines[program.machine_count++] = search->machines.items[m].machine;
    program.machines = machines;
    return arena_copy(search->arena, &program, sizeof program);
}

static void list_assumed(const Search *search, Chosen *chosen) {
    const int count = search->program->tensor_count;
    int64_t *counts = arena_array(search->arena, int64_t, count);
    bool *estimated = arena_array(search->arena, bool, count);
    for (int t = 0; t < count; t++) {
        counts[t] = search->tensors[t].assumed ? saturated_from(search->tensors[t].entry_count) : -1;
        estimated[t] = search->tensors[t].estimated;
    }
    chosen->assumed = counts;
    chosen->estimated = estimated;
}

static Chosen *finish(Choosing *choosing, const Placing *best) {
    Search *search = &choosing->search;
    Arena *arena = search->arena;
    const int count = search->program->statement_count;
    int *of_search = arena_array(arena, int, count);
    const Program *program = settle(choosing, best, of_search);
    AlternativeArray *alternatives = arena_array(arena, AlternativeArray, program->statement_count);
    int *copies = arena_array(arena, int, program->statement_count);
    const char **why = arena_array(arena, const char *, program->statement_count);
    for (int s = 0, at = 0; s < count; s++, at++) {
        at += of_search[s];
        copies[at] = of_search[s];
        if (!search->statements[s].kept)
            list_alternatives(choosing, best, s, &alternatives[at]);
        const bool alone = best->trials[s].items[best->best[s]].alone;
        why[at] = alone && !choosing->distributed[s] ? choosing->why[s] : NULL;
    }
    Chosen *chosen = arena_new(arena, Chosen);
    *chosen = (Chosen){.program = program,
                       .ranks = search->ranks,
                       .alternatives = alternatives,
                       .copies = copies,
                       .seconds = best->total.seconds,
                       .why = why,
                       .spilled = search->spills};
    list_assumed(search, chosen);
    return chosen;
}

// The statement in which a rank has most memory: of all together, as each tensor is at home all the time.
static bool find_peak(const Search *search, Chosen *chosen, int *statement, Diagnostics *diagnostics) {
    Pipeline *pipeline = search_pipeline(search, chosen->program, diagnostics);
    if (!pipeline_run(pipeline, PASS_SPMD))
        return false;
    pipeline->params[0] = search->ranks;
    const PlanOptions options = {
        .ranks = search->ranks, .sampled = true, .threads = search->options->threads};
    const Plan *plan = known_plan(search, pipeline, options, diagnostics);
    for (int s = 0; plan && s < chosen->program->statement_count; s++) {
        const int64_t *peaks = plan_figures(plan->statements[s])->peak_bytes;
        for (int64_t rank = 0; rank < search->ranks; rank++)
            if (peaks[rank] > chosen->peak_bytes) {
                chosen->peak_bytes = peaks[rank];
                *statement = s;
            }
    }
    return plan != NULL;
}

// `peak`: the least that was found.
static void refuse_limit(const Search *search, int64_t peak, int statement, Diagnostics *diagnostics) {
    Text limit = text_create(diagnostics->arena), needed = text_create(diagnostics->arena);
    text_append_bytes(&limit, search->limit);
    text_append_bytes(&needed, peak);
    diagnostics_error(
        diagnostics, search->program->statements[statement].assignment->span,
        "no schedule was found that keeps a rank within %s of memory: this statement needs %s on "
        "%" PRId64 " rank%s",
        text_string(&limit), text_string(&needed), search->ranks, search->ranks == 1 ? "" : "s");
    const Tensor *in_memory = NULL; // the largest
    for (int t = 0; t < search->program->tensor_count; t++) {
        const Tensor *tensor = search->program->tensors[t];
        if (tensor->placement && tensor->placement->memory == MEMORY_HOST && tensor->order > 0 &&
            (!in_memory || search->tensors[t].bytes > search->tensors[in_memory->id].bytes))
            in_memory = tensor;
    }
    if (in_memory && !search->any_sparse)
        diagnostics_note(diagnostics, in_memory->placement->span,
                         "of a tensor in disk, 'place %s(...) -> %s(...) in disk', only parts are in memory",
                         in_memory->name, in_memory->placement->machine->name);
    diagnostics_note(diagnostics, (Span){0}, "more ranks need less memory each");
}

// Tensors have the places of the program only.
static Places places_given(const Search *search, double seconds) {
    const int count = search->program->tensor_count;
    unsigned char *places = (unsigned char *)arena_array(search->arena, char, max_i64(1, count));
    for (int t = 0; t < count; t++)
        places[t] = search->tensors[t].free ? NO_PLACE : 0;
    return (Places){.places = places, .seconds = seconds};
}

// False with diagnostics: nothing can be looked for.
static bool find_and_plan(Choosing *choosing, Diagnostics *diagnostics) {
    Search *search = &choosing->search;
    const int count = search->program->statement_count;
    if (!search_create(search, diagnostics))
        return false;
    for (int s = 0; s < count; s++)
        if (!search->statements[s].kept)
            grids_find(search, &search->statements[s]);
    sequence_prepare(search);
    Places *choices = arena_array(search->arena, Places, MOST_PLACINGS + 1);
    // Where little is computed, one rank may be faster, or those where tensors are that have a place.
    const int given = search->any_sparse;
    choosing->choice_count =
        given + sequence_find(search, count > 1 ? MOST_PLACINGS_OF_SEVERAL : MOST_PLACINGS, choices + given);
    if (given)
        choices[0] = places_given(search, choosing->choice_count > 1 ? choices[1].seconds : 0);
    choosing->why = arena_array(search->arena, const char *, count);
    choosing->distributed = arena_array(search->arena, bool, count);
    choosing->placings = arena_array(search->arena, Placing, choosing->choice_count);
    for (int p = 0; p < choosing->choice_count; p++)
        choosing->placings[p] = (Placing){.places = &choices[p],
                                          .trials = arena_array(search->arena, TrialArray, count),
                                          .best = arena_array(search->arena, int, count),
                                          .planned = true,
                                          .as_given = p < given,
                                          .total.fits = true};
    for (int s = 0; s < count; s++)
        choosing_plan_statement(choosing, &search->statements[s]);
    return true;
}

// Looks for placements and schedules of all statements; NULL with diagnostics. *fits: within the limit; else
// *largest is the statement that needs most.
static Chosen *find_all(Choosing *choosing, bool *fits, int *largest, Diagnostics *diagnostics) {
    const Search *search = &choosing->search;
    *fits = true;
    if (!find_and_plan(choosing, diagnostics))
        return NULL;
    const Placing *best = best_placing(choosing);
    if (!best) {
        for (int64_t i = 0; choosing->failure && i < choosing->failure->list.count; i++)
            diagnostics_repeat_error(diagnostics, choosing->failure->list.items[i].span,
                                     choosing->failure->list.items[i].message);
        return NULL;
    }
    Chosen *chosen = finish(choosing, best);
    *largest = 0;
    if (!find_peak(search, chosen, largest, diagnostics))
        return NULL;
    *fits = search->limit <= 0 || chosen->peak_bytes <= search->limit;
    return chosen;
}

// With fewer operands replicated, of a program with sparse tensors. NULL where nothing fits; then *least is
// the smallest peak, and *largest the statement that has it.
static const Chosen *find_sparing(const Choosing *generous, int64_t *least, int *largest) {
    const Search *search = &generous->search;
    Choosing choosing = {
        .search = {
            .arena = search->arena, .program = search->program, .options = search->options, .spares = true}};
    bool fits;
    int of_chosen;
    // As that of the first attempt, the plan of the program as it is given can be made.
    const Chosen *chosen =
        find_all(&choosing, &fits, &of_chosen, diagnostics_create(search->arena, search->program->source));
    known_free(&choosing.search);
    if (chosen && chosen->peak_bytes < *least) {
        *least = chosen->peak_bytes;
        *largest = of_chosen;
    }
    return chosen && fits ? chosen : NULL;
}

// Whether a product of several factors gets workspaces.
static bool has_workspaces(const Search *search) {
    for (int s = 0; s < search->program->statement_count; s++)
        if (search->statements[s].default_count > 0)
            return true;
    return false;
}

// With tensors in disk, which a limit demands. Products of several factors are divided into pairs, where
// statements may be added, or all of them are multiplied in one nest, whatever is faster. NULL where nothing
// fits; then *least is the smallest peak.
static const Chosen *find_spilled(const Choosing *in_memory, int64_t *least) {
    const Search *search = &in_memory->search;
    const Chosen *best = NULL;
    const bool several = has_workspaces(search);
    const bool divides = several && !search->options->keeps_statements;
    for (int fused = 0; fused < (several ? 2 : 1); fused++) {
        const Program *program = divides && !fused ? pairs_divide(search) : search->program;
        Choosing choosing = {.search = {.arena = search->arena,
                                        .program = program,
                                        .options = search->options,
                                        .spills = true,
                                        .fused = fused}};
        bool fits;
        int largest;
        if (!program)
            continue;
        // What is wrong with that attempt is of no interest: the one in memory could be planned.
        const Chosen *chosen =
            find_all(&choosing, &fits, &largest, diagnostics_create(search->arena, program->source));
        if (chosen)
            *least = min_i64(*least, chosen->peak_bytes);
        if (chosen && fits && (!best || chosen->seconds < best->seconds))
            best = chosen;
    }
    return best;
}

const Chosen *choose(Arena *arena, const Program *program, const ChooseOptions *options, bool *fits,
                     Diagnostics *diagnostics) {
    Choosing choosing = {.search = {.arena = arena, .program = program, .options = options}};
    int largest;
    const Chosen *chosen = find_all(&choosing, fits, &largest, diagnostics);
    known_free(&choosing.search);
    if (!chosen || *fits)
        return chosen;
    // Entries of sparse tensors say which elements of others are used, which those in disk are not made for.
    int64_t least = chosen->peak_bytes;
    const Chosen *other = choosing.search.any_sparse ? find_sparing(&choosing, &least, &largest)
                                                     : find_spilled(&choosing, &least);
    *fits = other;
    if (!other)
        refuse_limit(&choosing.search, least, largest, diagnostics);
    return other;
}
