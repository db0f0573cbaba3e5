// SPDX-License-Identifier: BSD-3-Clause
#include "choose/choosing.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/known.h"
#include "choose/outside.h"
#include "choose/tiling.h"

#include <math.h>
#include <stdlib.h>

// Of one statement: candidates for each choice of places, plans in all. Steps of all ranks that plans may
// have together, as each takes a microsecond.
enum {
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
    for (int64_t c = 0; !statement->kept && !placing->as_given && c < statement->candidates.count; c++) {
        const double seconds = sequence_cost(statement, c, places->places);
        if (seconds < INFINITY)
            array_push(search->arena, ordered, (Trial){.candidate = c, .estimate = seconds});
    }
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
    choosing->distributed[statement->index] |= trial->planned && trial->candidate >= 0;
    if (trial->planned)
        return;
    choosing->failure = choosing->failure ? choosing->failure : diagnostics;
    if (trial->candidate >= 0 && !choosing->why[statement->index] && diagnostics->list.count > 0)
        choosing->why[statement->index] = diagnostics->list.items[0].message;
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

int choosing_best_of(const Search *search, const Alternative *const *all, int count) {
    const double tolerance = search->model.core_share < 1 ? shared_tolerance : time_tolerance;
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

// `takes_unknown`: the default, which comes last, if only its time is not known.
static void choose_trial(Choosing *choosing, Placing *placing, const SearchStatement *statement,
                         bool takes_unknown) {
    const TrialArray *trials = &placing->trials[statement->index];
    const Alternative **planned = arena_array(choosing->search.arena, const Alternative *, trials->count);
    for (int64_t i = 0; i < trials->count; i++)
        planned[i] = trials->items[i].planned ? &trials->items[i].figures : NULL;
    int best = choosing_best_of(&choosing->search, planned, (int)trials->count);
    if (best < 0 && takes_unknown && trials->items[trials->count - 1].unknown) {
        best = (int)trials->count - 1;
        planned[best] = &trials->items[best].figures;
    }
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
    int round; // of a sparse statement: how many plans of its candidate come before
} Task;
typedef Array(Task) TaskArray;

static int by_task(const void *a, const void *b) {
    const Task *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
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

// Formulas know less of sparse statements: each candidate is planned once before any is for the second time.
// `tasks` are in order.
static void set_rounds(Choosing *choosing, const SearchStatement *statement, TaskArray *tasks) {
    int *plans = arena_array(choosing->search.arena, int, statement->candidates.count);
    for (int64_t i = 0; i < tasks->count; i++) {
        const Task *task = &tasks->items[i];
        const Trial *trial = &choosing->placings[task->placing].trials[statement->index].items[task->trial];
        tasks->items[i].round = plans[trial->candidate]++;
    }
    if (tasks->count > 1)
        qsort(tasks->items, (size_t)tasks->count, sizeof(Task), by_task);
}

// Plans that look at all entries, which takes a microsecond each, about.
static int most_plans(const Search *search, const SearchStatement *statement) {
    enum { MOST_ENTRIES = 2000000, LEAST_SPARSE_PLANS = 8 };
    if (!statement->sparse)
        return statement->tiled ? MOST_PLANS_OF_TILES : MOST_PLANS;
    const int64_t plans = MOST_ENTRIES / max_i64(1, known_count(search));
    return (int)max_i64(LEAST_SPARSE_PLANS, min_i64(MOST_PLANS, plans));
}

void choosing_plan_statement(Choosing *choosing, const SearchStatement *statement) {
    Search *search = &choosing->search;
    TaskArray tasks = {0};
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
                                  next++, 0});
    }
    if (tasks.count > 1)
        qsort(tasks.items, (size_t)tasks.count, sizeof(Task), by_task);
    if (statement->sparse)
        set_rounds(choosing, statement, &tasks);
    const int most = most_plans(search, statement);
    int64_t steps = 0;
    int planned = 0, too_large = 0;
    for (int64_t i = 0; i < tasks.count && planned < most; i++) {
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
    bool any_known = false;
    for (int p = 0; p < choosing->choice_count; p++) {
        const Placing *placing = &choosing->placings[p];
        TrialArray *trials = &placing->trials[statement->index];
        bool any = false;
        for (int64_t i = 0; i < trials->count; i++)
            any = any || trials->items[i].planned;
        if (!any || (p == 0 && !statement->sparse))
            plan_fitting(choosing, placing->places, statement, &trials->items[trials->count - 1]);
        any_known = any_known || any || trials->items[trials->count - 1].planned;
    }
    for (int p = 0; p < choosing->choice_count; p++)
        choose_trial(choosing, &choosing->placings[p], statement, !any_known);
}
