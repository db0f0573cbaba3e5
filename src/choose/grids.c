// SPDX-License-Identifier: BSD-3-Clause
#include "choose/grids.h"

#include "base/integer.h"
#include "choose/estimate.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_IDLE = 128, MOST_BEST = 40, MOST_OF_ORDER = 12, MOST_PERMUTED = 4 };
static const double idle_share = 0.03;

// A candidate whose machine is not known yet.
typedef struct {
    Candidate candidate;
    int64_t number; // in the order in which they were made
} Draft;
typedef Array(Draft) DraftArray;

typedef struct {
    Search *search;
    SearchStatement *statement;
    DraftArray drafts;
} Finding;

static void add(Finding *finding, const Candidate *candidate) {
    Draft draft = {*candidate, finding->drafts.count};
    estimate_candidate(finding->search, finding->statement, &draft.candidate);
    array_push(finding->search->arena, finding->drafts, draft);
}

static void factorize(Finding *finding, Candidate *candidate, int var, int64_t left);

// Divides `var` in `size` parts and others after it, if it is long enough, so that there are `left` times as
// many parts.
static void divide(Finding *finding, Candidate *candidate, int var, int64_t left, int64_t size) {
    if (size == 1 || size > finding->statement->extents[var])
        return;
    candidate->vars[candidate->count] = var;
    candidate->sizes[candidate->count++] = size;
    factorize(finding, candidate, var + 1, left / size);
    candidate->count--;
}

// Divides variables from `var` on, in increasing order, so that there are `left` times as many parts.
static void factorize(Finding *finding, Candidate *candidate, int var, int64_t left) {
    if (left == 1) {
        if (candidate->count > 0)
            add(finding, candidate);
        return;
    }
    for (; candidate->count < GRID_DIMS && var < finding->statement->cin->var_count; var++) {
        if (!(finding->statement->distributable >> var & 1))
            continue;
        if (candidate->count == GRID_DIMS - 1) {
            divide(finding, candidate, var, left, left);
            continue;
        }
        for (int64_t size = 1; size <= left / size; size++) {
            if (left % size != 0)
                continue;
            divide(finding, candidate, var, left, size);
            if (size != left / size)
                divide(finding, candidate, var, left, left / size);
        }
    }
}

// Of the numbers of processors that are looked at: at most 3% of them, or one, stay idle.
static int64_t fewest_processors(int64_t processors) {
    const int64_t idle = max_i64(1, (int64_t)(idle_share * (double)processors));
    return max_i64(1, processors - min_i64(idle, MOST_IDLE));
}

static void assign_kept(Finding *finding, Candidate *candidate) {
    const Grid *grid = &finding->search->machines.items[0].grid;
    if (candidate->count == grid->order) {
        add(finding, candidate);
        return;
    }
    for (int var = 0; var < finding->statement->cin->var_count; var++) {
        bool usable = finding->statement->distributable >> var & 1;
        for (int d = 0; d < candidate->count; d++)
            usable = usable && candidate->vars[d] != var;
        if (!usable)
            continue;
        candidate->sizes[candidate->count] = grid->extents[candidate->count];
        candidate->vars[candidate->count++] = var;
        assign_kept(finding, candidate);
        candidate->count--;
    }
}

static int by_score(const void *a, const void *b) {
    const Draft *x = a, *y = b;
    if (x->candidate.score != y->candidate.score)
        return x->candidate.score < y->candidate.score ? -1 : 1;
    if (x->candidate.count != y->candidate.count)
        return x->candidate.count - y->candidate.count;
    return (x->number > y->number) - (x->number < y->number);
}

// In all orders of its dimensions, where placements may suit one of them.
static void keep(Finding *finding, const Candidate *candidate, bool permute) {
    int order[GRID_DIMS] = {0, 1, 2};
    static const int orders[6][GRID_DIMS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int order_counts[GRID_DIMS + 1] = {1, 1, 2, 6};
    const bool many = permute && candidate->count <= GRID_DIMS && !finding->search->kept;
    for (int o = 0; o < (many ? order_counts[candidate->count] : 1); o++) {
        Candidate permuted = *candidate;
        if (many)
            memcpy(order, orders[candidate->count == 2 ? 2 * o : o], sizeof order);
        for (int d = 0; many && d < candidate->count; d++) {
            permuted.vars[d] = candidate->vars[order[d]];
            permuted.sizes[d] = candidate->sizes[order[d]];
        }
        permuted.machine = search_grid(finding->search, permuted.count, permuted.sizes);
        array_push(finding->search->arena, finding->statement->candidates, permuted);
    }
}

// Whether some tensor that the statement uses lies on a grid with several dimensions.
static bool has_placed(const SearchStatement *statement) {
    for (int a = 0; a < statement->access_count; a++) {
        const Placement *placement = statement->accesses[a].access->tensor->placement;
        if (placement && placement->machine->order > 1)
            return true;
    }
    return false;
}

// Index of the draft with which least moves.
static int64_t least_volume(const Finding *finding) {
    int64_t least = 0;
    for (int64_t i = 0; i < finding->drafts.count; i++) {
        const Candidate *a = &finding->drafts.items[i].candidate;
        const Candidate *b = &finding->drafts.items[least].candidate;
        if (a->score - a->flop_seconds < b->score - b->flop_seconds)
            least = i;
    }
    return least;
}

// One processor, for its loops over tiles.
static void add_single(Finding *finding) {
    const VarSet distributable = finding->statement->distributable;
    if (distributable)
        add(finding, &(Candidate){.count = 1, .vars[0] = __builtin_ctzll(distributable), .sizes[0] = 1});
}

void grids_find(Search *search, SearchStatement *statement) {
    Finding finding = {.search = search, .statement = statement};
    Candidate candidate = {0};
    if (search->kept)
        assign_kept(&finding, &candidate);
    const bool free_grid = finding.drafts.count == 0;
    const int64_t processors = search->kept && free_grid ? search->ranks : search->processors;
    int64_t count = processors;
    // With fewer where these are more than there are parts.
    for (; free_grid && count >= 1 && (count >= fewest_processors(processors) || finding.drafts.count == 0);
         count--) {
        candidate.count = 0;
        if (count > 1)
            factorize(&finding, &candidate, 0, count);
    }
    if (statement->tiled && processors == 1)
        add_single(&finding);
    if (finding.drafts.count == 0)
        return;
    qsort(finding.drafts.items, (size_t)finding.drafts.count, sizeof(Draft), by_score);
    const bool placed = free_grid && has_placed(statement);
    const int64_t least = least_volume(&finding);
    int of_order[MOST_DIMS + 1] = {0};
    for (int64_t i = 0; i < finding.drafts.count; i++) {
        const Candidate *at = &finding.drafts.items[i].candidate;
        int64_t size = 1;
        for (int d = 0; d < at->count; d++)
            size *= at->sizes[d];
        if (i >= MOST_BEST && i != least && (of_order[at->count] >= MOST_OF_ORDER || size < processors))
            continue;
        of_order[at->count]++;
        keep(&finding, at, placed || (free_grid && i < MOST_PERMUTED && at->count == GRID_DIMS));
    }
}
