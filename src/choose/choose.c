// SPDX-License-Identifier: BSD-3-Clause
#include "choose/choose.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/grids.h"
#include "choose/outside.h"
#include "choose/pairs.h"
#include "choose/settle.h"
#include "choose/tiling.h"
#include "choose/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of one statement: places, plans for each of them, candidates for each of these, plans in all. Steps of all
// ranks that plans may have together, as each takes a microsecond.
enum {
    MOST_PLACINGS = 12,
    MOST_PLACINGS_OF_SEVERAL = 4,
    MOST_OF_PLACING = 4,
    MOST_PLANS = 40,
    MOST_PLANS_OF_TILES = 16,
    MOST_TOO_LARGE = 2,
    MOST_STEPS = 600000,
    MOST_STEPS_OF_TILES = 4 * MOST_STEPS // or the tiles are not worth looking at
};
// Times as long counts as equally fast: where each rank has its cores, and where they are shared, so that
// ranks wait until others let them compute.
static const double time_tolerance = 1.02, shared_tolerance = 1.1;
static const double pruned_above = 2.5; // times as long as the best by formula is not planned

// What was found for one choice of places.
typedef struct {
    const Places *places;
    TrialArray *trials; // by statement
    int *best;          // by statement: index of the chosen trial, -1: none could be planned
    Alternative total;  // of all statements in all their executions
    double copied;      // bytes of the disk of a rank that copies of the statements so far take
    bool planned;
} Placing;

typedef struct {
    Search search;
    int choice_count;
    Placing *placings;
    Diagnostics *failure; // of the first plan that could not be made
} Choosing;

static int by_estimate(const void *a, const void *b) {
    const Trial *x = a, *y = b;
    if (x->estimate != y->estimate)
        return x->estimate < y->estimate ? -1 : 1;
    if (x->candidate != y->candidate)
        return (x->candidate > y->candidate) - (x->candidate < y->candidate);
    return 2 * ((int)x->form.kind - (int)y->form.kind) + (x->form.fused - y->form.fused);
}

// The candidates that are fastest with these places, in all their forms, and the default.
static void collect_trials(Search *search, const Placing *placing, const SearchStatement *statement,
                           TrialArray *trials) {
    const Places *places = placing->places;
    TrialArray ordered = {0};
    for (int64_t c = 0; !statement->kept && c < statement->candidates.count; c++)
        array_push(search->arena, ordered,
                   (Trial){.candidate = c, .estimate = sequence_cost(statement, c, places->places)});
    if (ordered.count > 1)
        qsort(ordered.items, (size_t)ordered.count, sizeof(Trial), by_estimate);
    for (int64_t i = 0; i < ordered.count && i < MOST_OF_PLACING; i++)
        if (ordered.items[i].estimate <= pruned_above * ordered.items[0].estimate)
            trial_forms(search, places, placing->copied, statement, ordered.items[i].candidate, trials);
    array_push(search->arena, *trials, (Trial){.candidate = -1, .form = {.kind = FORM_DEFAULT}});
}

static void plan_trial(Choosing *choosing, const Places *places, const SearchStatement *statement,
                       Trial *trial) {
    Diagnostics *diagnostics = diagnostics_create(choosing->search.arena, choosing->search.program->source);
    trial_plan(&choosing->search, places->places, statement, trial, diagnostics);
    if (!trial->planned && !choosing->failure)
        choosing->failure = diagnostics;
}

// Tiles that need as much memory as there is, which the plan says exactly: smaller ones until they fit,
// larger ones where much is left, if these are faster. Returns how many plans were made.
static int plan_tiles(Choosing *choosing, const Places *places, const SearchStatement *statement,
                      Trial *trial) {
    enum { MOST_TRIED = 4 };
    static const double enough = 0.85, margin = 0.98;
    Search *search = &choosing->search;
    const double limit = (double)search->limit, at_rest = limit - tiling_memory(search, places->places);
    plan_trial(choosing, places, statement, trial);
    int plans = 1;
    for (int tried = 0; tried < MOST_TRIED && trial->planned && limit > at_rest; tried++) {
        const double used = fmax(1, (double)trial->figures.peak_bytes - at_rest) / (limit - at_rest);
        if (trial->figures.fits && used > enough)
            break;
        const Trial before = *trial;
        if (!trial_retile(search, places, statement, margin / used, trial))
            continue;
        plan_trial(choosing, places, statement, trial);
        plans++;
        if (before.figures.fits &&
            (!trial->planned || !trial->figures.fits || trial->figures.seconds > before.figures.seconds)) {
            *trial = before;
            break;
        }
    }
    return plans;
}

// Shorter chunks until it fits, a few times. Returns how many plans were made.
static int plan_fitting(Choosing *choosing, const Places *places, const SearchStatement *statement,
                        Trial *trial) {
    enum { MOST_HALVINGS = 4 };
    if (trial->form.kind == FORM_TILES)
        return plan_tiles(choosing, places, statement, trial);
    for (int plans = 1;; plans++) {
        plan_trial(choosing, places, statement, trial);
        if (!trial->planned || trial->figures.fits || trial->form.kind != FORM_CHUNKS ||
            trial->form.size < 2 || plans > MOST_HALVINGS)
            return plans;
        trial->form.size = ceil_div(trial->form.size, 2);
    }
}

// Those that fit come first, and of these the ones whose loops the compiler may order.
static bool is_preferred(const Alternative *a, const Alternative *b) {
    return a->fits != b->fits ? a->fits : a->fits && !a->pinned && b->pinned;
}

static int64_t moved(const Alternative *alternative) {
    return saturated_add(alternative->bytes, alternative->disk_bytes);
}

// The best of what could be planned (others are NULL); -1: nothing. Of those that take at most
// `tolerance` times as long as the fastest of the preferred ones, the one that moves least, then in
// fewest messages, then with least memory; where none fits, the one with least memory.
static int best_of(const Alternative *const *all, int count, double tolerance) {
    const Alternative *fastest = NULL;
    int best = -1;
    for (int i = 0; i < count; i++)
        if (all[i] && (!fastest || is_preferred(all[i], fastest) ||
                       (!is_preferred(fastest, all[i]) && all[i]->seconds < fastest->seconds)))
            fastest = all[i];
    for (int i = 0; i < count; i++) {
        const Alternative *a = all[i], *b = best < 0 ? NULL : all[best];
        if (!a || is_preferred(fastest, a) || (a->fits && a->seconds > fastest->seconds * tolerance))
            continue;
        const bool less = !b || (a->fits && moved(a) != moved(b)         ? moved(a) < moved(b)
                                 : a->fits && a->messages != b->messages ? a->messages < b->messages
                                 : a->peak_bytes != b->peak_bytes        ? a->peak_bytes < b->peak_bytes
                                                                         : a->seconds < b->seconds);
        best = less ? i : best;
    }
    return best;
}

static double tolerance_of(const Search *search) {
    return search->model.core_share < 1 ? shared_tolerance : time_tolerance;
}

static void choose_trial(Choosing *choosing, Placing *placing, const SearchStatement *statement) {
    const TrialArray *trials = &placing->trials[statement->index];
    const Alternative **planned = arena_array(choosing->search.arena, const Alternative *, trials->count);
    for (int64_t i = 0; i < trials->count; i++)
        planned[i] = trials->items[i].planned ? &trials->items[i].figures : NULL;
    const int best = best_of(planned, (int)trials->count, tolerance_of(&choosing->search));
    placing->best[statement->index] = best;
    placing->planned = placing->planned && best >= 0;
    if (best < 0)
        return;
    const Trial *trial = &trials->items[best];
    if (trial->form.kind == FORM_TILES)
        placing->copied += outside_space(statement, &statement->candidates.items[trial->candidate],
                                         trial->form.tiling->outside);
    const int64_t times = (int64_t)fmin(statement->executions, 1e18);
    const Alternative *figures = planned[best];
    Alternative *total = &placing->total;
    total->seconds += statement->executions * figures->seconds;
    total->bytes = saturated_add(total->bytes, saturated_mul(times, figures->bytes));
    total->disk_bytes = saturated_add(total->disk_bytes, saturated_mul(times, figures->disk_bytes));
    total->messages = saturated_add(total->messages, saturated_mul(times, figures->messages));
    total->peak_bytes = max_i64(total->peak_bytes, figures->peak_bytes);
    total->fits = total->fits && figures->fits;
}

// A plan that is to be made.
typedef struct {
    int placing;
    int64_t trial;
    double estimate;
    int64_t number;
} Task;

static int by_task(const void *a, const void *b) {
    const Task *x = a, *y = b;
    if (x->estimate != y->estimate)
        return x->estimate < y->estimate ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

// Steps of all ranks; what they read and write is counted one by one.
static int64_t steps_of(const Search *search, const SearchStatement *statement, const Trial *trial) {
    enum { OF_DISK = 8 };
    if (trial->form.kind == FORM_TILES) {
        const Tiling *tiling = trial->form.tiling;
        const int64_t ranks = search->ranks > PLAN_UNSAMPLED_RANKS ? 2 * PLAN_SAMPLED_RANKS : search->ranks;
        int64_t steps = saturated_mul(OF_DISK * ranks, tiling->steps);
        for (int l = 0; l < tiling->loop_count; l++)
            steps = saturated_mul(
                steps, ceil_div(estimate_block(statement, &statement->candidates.items[trial->candidate],
                                               tiling->loops[l]),
                                tiling->lengths[tiling->loops[l]]));
        return steps;
    }
    const int64_t extent = trial->candidate < 0 ? 1 : statement->extents[trial->form.var];
    int64_t steps = 1;
    if (trial->form.kind == FORM_ROTATE)
        steps = trial->form.size;
    else if (trial->form.kind == FORM_CHUNKS)
        steps = ceil_div(extent, trial->form.size);
    return saturated_mul(steps, search->ranks);
}

// Plans trials of a statement, the most promising ones of all placings first, as far as time allows; the
// default and the first of each placing in any case.
static void plan_statement(Choosing *choosing, const SearchStatement *statement) {
    Search *search = &choosing->search;
    Array(Task) tasks = {0};
    int64_t next = 0;
    for (int p = 0; p < choosing->choice_count; p++) {
        TrialArray *trials = &choosing->placings[p].trials[statement->index];
        collect_trials(search, &choosing->placings[p], statement, trials);
        for (int64_t i = 0; i < trials->count; i++)
            if (trials->items[i].candidate >= 0)
                array_push(search->arena, tasks,
                           (Task){p, i,
                                  choosing->placings[p].places->seconds -
                                      choosing->placings[0].places->seconds + trials->items[i].estimate,
                                  next++});
    }
    if (tasks.count > 1)
        qsort(tasks.items, (size_t)tasks.count, sizeof(Task), by_task);
    int64_t steps = 0;
    int planned = 0, too_large = 0;
    for (int64_t i = 0; i < tasks.count && planned < (statement->tiled ? MOST_PLANS_OF_TILES : MOST_PLANS);
         i++) {
        Placing *placing = &choosing->placings[tasks.items[i].placing];
        Trial *trial = &placing->trials[statement->index].items[tasks.items[i].trial];
        const int64_t more = steps_of(search, statement, trial);
        const bool tiles = trial->form.kind == FORM_TILES;
        // Formulas say that even the smallest tiles do not fit.
        const bool pruned = tiles && !trial->form.tiling->fits && too_large++ >= MOST_TOO_LARGE;
        if (pruned || (tiles && more > MOST_STEPS_OF_TILES) ||
            (planned > 0 && saturated_add(steps, more) > MOST_STEPS && more > 2 * search->ranks))
            continue;
        const int plans = plan_fitting(choosing, placing->places, statement, trial);
        steps = saturated_add(steps, saturated_mul(plans, more));
        planned++;
    }
    for (int p = 0; p < choosing->choice_count; p++) {
        Placing *placing = &choosing->placings[p];
        TrialArray *trials = &placing->trials[statement->index];
        bool any = false;
        for (int64_t i = 0; i < trials->count; i++)
            any = any || trials->items[i].planned;
        if (!any || p == 0)
            plan_fitting(choosing, placing->places, statement, &trials->items[trials->count - 1]);
        choose_trial(choosing, placing, statement);
    }
}

static const Placing *best_placing(const Choosing *choosing) {
    const Alternative **planned =
        arena_array(choosing->search.arena, const Alternative *, choosing->choice_count);
    for (int p = 0; p < choosing->choice_count; p++)
        planned[p] = choosing->placings[p].planned ? &choosing->placings[p].total : NULL;
    const int best = best_of(planned, choosing->choice_count, tolerance_of(&choosing->search));
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

static Chosen *finish(Choosing *choosing, const Placing *best) {
    Search *search = &choosing->search;
    Arena *arena = search->arena;
    const int count = search->program->statement_count;
    int *of_search = arena_array(arena, int, count);
    const Program *program = settle(choosing, best, of_search);
    AlternativeArray *alternatives = arena_array(arena, AlternativeArray, program->statement_count);
    int *copies = arena_array(arena, int, program->statement_count);
    for (int s = 0, at = 0; s < count; s++, at++) {
        at += of_search[s];
        copies[at] = of_search[s];
        if (!search->statements[s].kept)
            list_alternatives(choosing, best, s, &alternatives[at]);
    }
    Chosen *chosen = arena_new(arena, Chosen);
    *chosen = (Chosen){.program = program,
                       .ranks = search->ranks,
                       .alternatives = alternatives,
                       .copies = copies,
                       .seconds = best->total.seconds,
                       .spilled = search->spills};
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
    const Plan *plan = pipeline_plan(pipeline, search->arena, pipeline->params, options, diagnostics);
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
    diagnostics_error(diagnostics, search->program->statements[statement].assignment->span,
                      "no schedule was found that keeps a rank within %" PRId64
                      " bytes of memory: this statement needs %" PRId64 " on %" PRId64 " rank%s",
                      search->limit, peak, search->ranks, search->ranks == 1 ? "" : "s");
    const Tensor *in_memory = NULL; // the largest
    for (int t = 0; t < search->program->tensor_count; t++) {
        const Tensor *tensor = search->program->tensors[t];
        if (tensor->placement && tensor->placement->memory == MEMORY_HOST && tensor->order > 0 &&
            (!in_memory || search->tensors[t].bytes > search->tensors[in_memory->id].bytes))
            in_memory = tensor;
    }
    if (in_memory)
        diagnostics_note(diagnostics, in_memory->placement->span,
                         "of a tensor in disk, 'place %s(...) -> %s(...) in disk', only parts are in memory",
                         in_memory->name, in_memory->placement->machine->name);
    diagnostics_note(diagnostics, (Span){0}, "more ranks need less memory each");
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
    Places *choices = arena_array(search->arena, Places, MOST_PLACINGS);
    choosing->choice_count =
        sequence_find(search, count > 1 ? MOST_PLACINGS_OF_SEVERAL : MOST_PLACINGS, choices);
    choosing->placings = arena_array(search->arena, Placing, choosing->choice_count);
    for (int p = 0; p < choosing->choice_count; p++)
        choosing->placings[p] = (Placing){.places = &choices[p],
                                          .trials = arena_array(search->arena, TrialArray, count),
                                          .best = arena_array(search->arena, int, count),
                                          .planned = true,
                                          .total.fits = true};
    for (int s = 0; s < count; s++)
        plan_statement(choosing, &search->statements[s]);
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
    if (!chosen || *fits)
        return chosen;
    int64_t least = chosen->peak_bytes;
    const Chosen *spilled = find_spilled(&choosing, &least);
    *fits = spilled;
    if (!spilled)
        refuse_limit(&choosing.search, least, largest, diagnostics);
    return spilled;
}
