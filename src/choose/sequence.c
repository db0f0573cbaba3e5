// SPDX-License-Identifier: BSD-3-Clause
#include "choose/sequence.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/natural.h"
#include "choose/outside.h"
#include "choose/tiling.h"
#include "choose/tiling_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 64, MOST_CANDIDATES = 32, PLACED_CANDIDATES = 12, TRIED_HERE = 4, TRIED_ELSEWHERE = 4 };

static SearchTensor *tensor_of(const Search *search, const UsedAccess *used) {
    return &search->tensors[used->access->tensor->id];
}

// With each tensor where it suits this candidate best, or where it is.
static double own_cost(Search *search, const SearchStatement *statement, const Candidate *candidate) {
    double seconds = candidate->flop_seconds;
    for (int a = 0; a < statement->access_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const SearchTensor *tensor = tensor_of(search, used);
        const Placement *natural[MOST_NATURAL];
        double least = INFINITY;
        if (!tensor->free) {
            seconds += tiling_cost(search, statement, candidate, a, tensor->places[0]);
            continue;
        }
        const int count = natural_placements(search, statement, candidate, used, natural);
        for (int n = 0; n < count; n++)
            least = fmin(least, tiling_cost(search, statement, candidate, a,
                                            estimate_place(search, tensor, natural[n])));
        seconds += least;
    }
    return seconds;
}

static int by_score(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

// Before places are known: with communication inside of the loops, or outside for some operands.
static const Tiling *best_tiling(Search *search, const SearchStatement *statement,
                                 const Candidate *candidate) {
    Tiling *best = arena_new(search->arena, Tiling);
    const double memory = tiling_memory(search, NULL);
    const uint64_t possible = outside_possible(search, statement, NULL);
    tiling_find(search, statement, candidate, NULL, memory, -1, 1, 0, best, 1);
    for (uint64_t set = possible; set && best->loop_count > 0; set = (set - 1) & possible) {
        Tiling tiling;
        if (!outside_fits(search, statement, candidate, NULL, set, 0))
            continue;
        tiling_find(search, statement, candidate, NULL, memory, -1, 1, set, &tiling, 1);
        if (tiling.fits && (!best->fits || tiling.seconds < best->seconds))
            *best = tiling;
    }
    return best;
}

// The best by what really moves, in a stable order.
static void rank_candidates(Search *search, SearchStatement *statement) {
    CandidateArray *candidates = &statement->candidates;
    for (int64_t c = 0; c < candidates->count; c++) {
        if (statement->tiled) {
            candidates->items[c].tiling = best_tiling(search, statement, &candidates->items[c]);
        }
        // Differences too small to matter keep the order that there was.
        const double seconds = own_cost(search, statement, &candidates->items[c]);
        candidates->items[c].score = seconds * (1 + 1e-9 * (double)c);
    }
    if (candidates->count > 1)
        qsort(candidates->items, (size_t)candidates->count, sizeof(Candidate), by_score);
    candidates->count = min_i64(candidates->count, MOST_CANDIDATES);
}

static void add_place(Search *search, SearchTensor *tensor, const Placement *placement) {
    for (int p = 0; p < tensor->place_count; p++)
        if (placement_equal(tensor->places[p]->placement, placement))
            return;
    if (tensor->place_count < MOST_PLACES)
        tensor->places[tensor->place_count++] = estimate_place(search, tensor, placement);
}

static void add_natural(Search *search, const SearchStatement *statement, int64_t candidate) {
    if (candidate >= statement->candidates.count)
        return;
    for (int a = 0; a < statement->access_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const Placement *natural[MOST_NATURAL];
        if (!tensor_of(search, used)->free)
            continue;
        const int count =
            natural_placements(search, statement, &statement->candidates.items[candidate], used, natural);
        for (int n = 0; n < count; n++)
            add_place(search, tensor_of(search, used), natural[n]);
    }
}

// Estimates know nothing of entries, by which parts are balanced in one of both only: then something moves.
static double place_cost(Search *search, const SearchStatement *statement, const Candidate *candidate,
                         int access, const Place *place) {
    const UsedAccess *used = &statement->accesses[access];
    if (!natural_suits(candidate, used, place->placement))
        return INFINITY;
    return tiling_cost(search, statement, candidate, access, place) +
           (natural_is_aligned(candidate, used, place->placement) ? 0 : search->rates.latency);
}

static void find_costs(Search *search, SearchStatement *statement) {
    statement->costs = arena_array(search->arena, double *, statement->candidates.count);
    for (int64_t c = 0; c < statement->candidates.count; c++) {
        statement->costs[c] = arena_array(search->arena, double, statement->access_count *MOST_PLACES);
        for (int a = 0; a < statement->access_count; a++) {
            const UsedAccess *used = &statement->accesses[a];
            const SearchTensor *tensor = tensor_of(search, used);
            for (int p = 0; p < tensor->place_count; p++)
                statement->costs[c][a * MOST_PLACES + p] =
                    place_cost(search, statement, &statement->candidates.items[c], a, tensor->places[p]);
        }
    }
}

void sequence_prepare(Search *search) {
    const int count = search->program->statement_count;
    for (int t = 0; t < search->program->tensor_count; t++)
        if (!search->tensors[t].free)
            add_place(search, &search->tensors[t], search->tensors[t].tensor->placement);
    for (int s = 0; s < count; s++)
        rank_candidates(search, &search->statements[s]);
    for (int64_t c = 0; c < PLACED_CANDIDATES; c++)
        for (int s = 0; s < count; s++)
            add_natural(search, &search->statements[s], c);
    for (int s = 0; s < count; s++)
        for (int64_t c = 0; c < search->statements[s].candidates.count; c++)
            if (search->statements[s].candidates.items[c].by)
                add_natural(search, &search->statements[s], c);
    for (int t = 0; t < search->program->tensor_count; t++)
        if (search->tensors[t].place_count == 0)
            add_place(search, &search->tensors[t], NULL);
    for (int s = 0; s < count; s++)
        find_costs(search, &search->statements[s]);
}

// Of all accesses of a tensor in a statement.
static double tensor_cost(const SearchStatement *statement, int64_t candidate, int tensor, int place) {
    double seconds = 0;
    for (int a = 0; a < statement->access_count; a++)
        if (statement->accesses[a].access->tensor->id == tensor)
            seconds += statement->costs[candidate][a * MOST_PLACES + place];
    return seconds;
}

double sequence_cost(const SearchStatement *statement, int64_t candidate, const unsigned char *places) {
    double seconds = statement->candidates.items[candidate].flop_seconds;
    for (int a = 0; a < statement->access_count; a++) {
        const int place = places[statement->accesses[a].access->tensor->id];
        if (place != NO_PLACE)
            seconds += statement->costs[candidate][a * MOST_PLACES + place];
    }
    return seconds;
}

typedef struct {
    Search *search;
    int tensor_count;
    double *elsewhere; // [tensor * MOST_PLACES + place]: seconds in all statements, each at its best
    Array(Places) states;
} Sequence;

static void find_elsewhere(Sequence *sequence) {
    Search *search = sequence->search;
    sequence->elsewhere = arena_array(search->arena, double, sequence->tensor_count *MOST_PLACES);
    for (int s = 0; s < search->program->statement_count; s++) {
        const SearchStatement *statement = &search->statements[s];
        for (int t = 0; t < sequence->tensor_count; t++)
            for (int p = 0; p < search->tensors[t].place_count; p++) {
                double least = INFINITY;
                for (int64_t c = 0; c < statement->candidates.count; c++)
                    least = fmin(least, statement->candidates.items[c].flop_seconds +
                                            tensor_cost(statement, c, t, p));
                if (least < INFINITY)
                    sequence->elsewhere[t * MOST_PLACES + p] += statement->executions * least;
            }
    }
}

// Whether a place is better than another one: it costs less; or as much and it is on the machine of the
// statement, as the parts of ranks coincide there; or as much with a smaller largest part.
static bool is_better(const SearchTensor *tensor, const double *costs, const Machine *machine, int place,
                      int other) {
    const Place *a = tensor->places[place], *b = tensor->places[other];
    if (costs[place] != costs[other])
        return costs[place] < costs[other];
    const bool a_there = a->placement && a->placement->machine == machine;
    const bool b_there = b->placement && b->placement->machine == machine;
    return a_there != b_there ? a_there : a->bytes < b->bytes;
}

// Index of the best place that is not among those found; -1 where there is none. `machine` NULL: any.
static int next_place(const SearchTensor *tensor, const double *costs, const Machine *machine,
                      const int *found, int count) {
    int best = -1;
    for (int p = 0; p < tensor->place_count; p++) {
        bool is_found = false;
        for (int f = 0; f < count; f++)
            is_found = is_found || found[f] == p;
        if (!is_found && (best < 0 || is_better(tensor, costs, machine, p, best)))
            best = p;
    }
    return best;
}

// The places that are tried for a tensor whose place is not decided when a statement uses it: the best one
// where no other statement does.
static int places_to_try(const Sequence *sequence, const SearchStatement *statement, int64_t candidate,
                         int tensor, int *tried) {
    const Search *search = sequence->search;
    const SearchTensor *at = &search->tensors[tensor];
    const Machine *machine = search->machines.items[statement->candidates.items[candidate].machine].machine;
    double here[MOST_PLACES];
    int count = 0;
    for (int p = 0; p < at->place_count; p++)
        here[p] = tensor_cost(statement, candidate, tensor, p);
    const bool only_here = at->last_use == statement->index;
    for (int i = 0; i < (only_here ? 1 : TRIED_HERE) && count < at->place_count; i++, count++)
        tried[count] = next_place(at, here, machine, tried, count);
    for (int i = 0; !only_here && i < TRIED_ELSEWHERE && count < at->place_count; i++, count++)
        tried[count] = next_place(at, &sequence->elsewhere[tensor * MOST_PLACES], NULL, tried, count);
    return count;
}

// Whether the tensor by whose entries a placement is balanced has the parts that it refers to. `is_last`: one
// whose place is not decided stays without.
static bool refers_well(const Search *search, const Placement *placement, const unsigned char *places,
                        bool is_last) {
    for (int d = 0; placement && d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        int by = 0;
        while (entry->by && strcmp(search->program->tensors[by]->name, entry->by) != 0)
            by++;
        const SearchTensor *tensor = &search->tensors[by];
        if (!entry->by || (places[by] == NO_PLACE && !is_last))
            continue;
        const Placement *other = places[by] == NO_PLACE ? NULL : tensor->places[places[by]]->placement;
        bool found = false;
        for (int o = 0; other && o < other->machine->order; o++)
            found = found || (other->entries[o].balance == entry->balance && !other->entries[o].by &&
                              other->entries[o].mode_count == 1 && other->entries[o].mode == entry->modes[0]);
        if (!found)
            return false;
    }
    return true;
}

static bool all_refer_well(const Search *search, const unsigned char *places, bool is_last) {
    bool well = true;
    for (int t = 0; search->any_sparse && well && t < search->program->tensor_count; t++)
        if (search->tensors[t].free && places[t] != NO_PLACE)
            well = refers_well(search, search->tensors[t].places[places[t]]->placement, places, is_last);
    return well;
}

static void push_state(Sequence *sequence, const unsigned char *places, double seconds) {
    Arena *arena = sequence->search->arena;
    Places state = {.places = arena_copy(arena, places, (size_t)sequence->tensor_count),
                    .seconds = seconds,
                    .number = sequence->states.count};
    for (int t = 0; t < sequence->tensor_count; t++)
        if (places[t] != NO_PLACE && !sequence->search->tensors[t].places[places[t]]->in_disk)
            state.bytes = saturated_add(state.bytes, sequence->search->tensors[t].places[places[t]]->bytes);
    array_push(arena, sequence->states, state);
}

// Decides the places of the statement's tensors from access `access` on.
static void extend(Sequence *sequence, const SearchStatement *statement, int64_t candidate, int access,
                   unsigned char *places, double before) {
    int tried[MOST_PLACES];
    while (access < statement->access_count &&
           places[statement->accesses[access].access->tensor->id] != NO_PLACE)
        access++;
    if (access == statement->access_count) {
        const double seconds = sequence_cost(statement, candidate, places);
        if (seconds == INFINITY || !all_refer_well(sequence->search, places, false))
            return;
        push_state(sequence, places, before + statement->executions * seconds);
        return;
    }
    const int tensor = statement->accesses[access].access->tensor->id;
    const int count = places_to_try(sequence, statement, candidate, tensor, tried);
    for (int i = 0; i < count; i++) {
        places[tensor] = (unsigned char)tried[i];
        extend(sequence, statement, candidate, access + 1, places, before);
    }
    places[tensor] = NO_PLACE;
}

static int by_seconds(const void *a, const void *b) {
    const Places *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

// Keeps the best states that differ in a tensor that statements from `next` on use, or of the last statement
// in any tensor.
static void prune(Sequence *sequence, int next) {
    const Search *search = sequence->search;
    const bool is_last = next == search->program->statement_count;
    int64_t kept = 0;
    if (sequence->states.count > 1)
        qsort(sequence->states.items, (size_t)sequence->states.count, sizeof(Places), by_seconds);
    for (int64_t i = 0; i < sequence->states.count && kept < MOST_STATES; i++) {
        const Places state = sequence->states.items[i];
        bool is_new = true;
        for (int64_t k = 0; k < kept && is_new; k++) {
            bool same = true;
            for (int t = 0; t < sequence->tensor_count; t++)
                same = same && ((!is_last && search->tensors[t].last_use < next) ||
                                state.places[t] == sequence->states.items[k].places[t]);
            is_new = !same;
        }
        if (is_new)
            sequence->states.items[kept++] = state;
    }
    sequence->states.count = kept;
}

int sequence_find(Search *search, int most, Places *found) {
    Sequence sequence = {.search = search, .tensor_count = search->program->tensor_count};
    unsigned char *places =
        (unsigned char *)arena_array(search->arena, char, max_i64(1, sequence.tensor_count));
    memset(places, NO_PLACE, (size_t)sequence.tensor_count);
    find_elsewhere(&sequence);
    for (int t = 0; t < sequence.tensor_count; t++)
        if (!search->tensors[t].free)
            places[t] = 0;
    push_state(&sequence, places, 0);
    for (int s = 0; s < search->program->statement_count; s++) {
        const SearchStatement *statement = &search->statements[s];
        if (statement->kept || statement->candidates.count == 0)
            continue;
        const int64_t count = sequence.states.count;
        const Places *states = sequence.states.items;
        sequence.states.items = NULL;
        sequence.states.count = sequence.states.capacity = 0;
        for (int64_t i = 0; i < count; i++)
            for (int64_t c = 0; c < statement->candidates.count; c++) {
                memcpy(places, states[i].places, (size_t)sequence.tensor_count);
                extend(&sequence, statement, c, 0, places, states[i].seconds);
            }
        prune(&sequence, s + 1);
    }
    int count = 0;
    for (int64_t i = 0; i < sequence.states.count && count < most; i++)
        if (all_refer_well(search, sequence.states.items[i].places, true))
            found[count++] = sequence.states.items[i];
    return count;
}
