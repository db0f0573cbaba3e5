// SPDX-License-Identifier: BSD-3-Clause
#include "choose/grids.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/natural.h"
#include "lang/check_balance.h"
#include "schedule/positions.h"

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

// If entries can balance its placements: where each coordinate has equally many, blocks do.
static void add_candidate(Search *search, SearchStatement *statement, Candidate *candidate) {
    Diagnostics *unused = diagnostics_create(search->arena, search->program->source);
    bool fits = true;
    candidate->machine = search_grid(search, candidate->count, candidate->sizes);
    for (int a = 0; a < statement->access_count && fits; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const Placement *natural[MOST_NATURAL];
        natural_placements(search, statement, candidate, used, natural);
        fits = check_balance(unused, used->access->tensor, natural[0]);
    }
    estimate_candidate(search, statement, candidate);
    if (fits)
        array_push(search->arena, statement->candidates, *candidate);
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

// The first sparse operand decides where a statement without a schedule is computed, after a sparse result.
static const UsedAccess *first_sparse(const Search *search, const SearchStatement *statement) {
    for (int a = 0; a < statement->access_count; a++) {
        const Tensor *tensor = statement->accesses[a].access->tensor;
        if (!statement->accesses[a].is_result && tensor_is_sparse(tensor))
            return search->tensors[tensor->id].free ? &statement->accesses[a] : NULL;
    }
    return NULL;
}

// Whether entries of the access can be divided, in its first levels, by a statement that has values at these
// only; and whether a sparse result has the same entries.
static bool divides_entries(const SearchStatement *statement, const Access *access, int levels) {
    const Assignment *assignment = statement->cin->assignment;
    const Access *left = assignment->lhs;
    int vars[MAX_ORDER], level;
    StoredAccess stored;
    for (int l = 0; l < levels; l++)
        vars[l] = access->vars[access->tensor->mode_order[l]];
    bool fits = statement->nest_count == 1 &&
                positions_fit(access, vars, levels, &stored, &level) == POSITIONS_FIT && !stored.repeats &&
                positions_required(assignment->rhs, assignment_type(assignment), access);
    for (int m = 0; fits && tensor_is_sparse(left->tensor) && m < left->tensor->order; m++)
        fits = left->tensor->order == access->tensor->order && left->vars[m] == access->vars[m] &&
               left->tensor->mode_order[m] == access->tensor->mode_order[m];
    return fits;
}

// One dimension by whose coordinates or entries those of a sparse operand are balanced.
static void add_balanced(Search *search, SearchStatement *statement) {
    const UsedAccess *by = first_sparse(search, statement);
    const Access *left = statement->cin->assignment->lhs;
    const bool sparse_result = tensor_is_sparse(left->tensor);
    if (!by || search->kept || search->processors < 2 ||
        (sparse_result && left->tensor->id < search->program->tensor_count &&
         !search->tensors[left->tensor->id].free))
        return;
    const Tensor *tensor = by->access->tensor;
    Candidate candidate = {
        .count = 1, .sizes[0] = search->processors, .by = by, .balance = BALANCE_WEIGHTED, .levels = 1};
    for (int m = 0; m < tensor->order; m++) {
        const int var = access_mode_var(by->access, m);
        if (var < 0 || !(statement->distributable >> var & 1) ||
            statement->extents[var] < search->processors ||
            (sparse_result && !(access_vars(left) >> var & 1)))
            continue;
        candidate.vars[0] = var;
        add_candidate(search, statement, &candidate);
    }
    candidate.balance = BALANCE_STORED;
    candidate.vars[0] = access_mode_var(by->access, tensor->mode_order[0]);
    for (candidate.levels = 2; candidate.levels <= tensor->order; candidate.levels++)
        if (candidate.vars[0] >= 0 && divides_entries(statement, by->access, candidate.levels))
            add_candidate(search, statement, &candidate);
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
    if (statement->sparse)
        add_balanced(search, statement);
}
