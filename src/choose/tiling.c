// SPDX-License-Identifier: BSD-3-Clause
#include "choose/tiling.h"

#include "choose/sequence.h"
#include "choose/tiling_cost.h"

#include <math.h>
#include <string.h>

enum { COARSE = 9000, COARSER = 4000, LEAST_POINTS = 32 };

// Whether one is better: faster, if both fit, else smaller.
static bool is_better(const TilingProblem *problem, TilingEstimate a, TilingEstimate b) {
    const bool a_fits = a.bytes <= problem->memory, b_fits = b.bytes <= problem->memory;
    if (a_fits != b_fits)
        return a_fits;
    return a_fits ? a.seconds < b.seconds : a.bytes < b.bytes;
}

static void try_point(const TilingProblem *problem, const TilingPoint *point, TilingPoint *best,
                      TilingEstimate *least) {
    const bool fits = least->bytes <= problem->memory;
    const TilingEstimate value = tiling_evaluate(problem, point, fits ? least->seconds : INFINITY);
    if (is_better(problem, value, *least)) {
        *least = value;
        *best = *point;
    }
}

// The next part of a group with at least `ratio` times as many tiles; the last one in any case.
static int64_t next_part(const VarGroup *group, int64_t part, double ratio) {
    const double count = group->parts.items[part].count * ratio;
    int64_t next = part + 1;
    while (next + 1 < group->parts.count && group->parts.items[next].count < count)
        next++;
    return next;
}

static void search_coarsely(const TilingProblem *problem, double points, TilingPoint *best,
                            TilingEstimate *least) {
    double ratios[MOST_GROUPS];
    TilingPoint point = *best;
    double all = 1;
    for (int g = 0; g < problem->group_count; g++)
        all *= (double)problem->groups[g].parts.count;
    for (int g = 0; g < problem->group_count; g++) {
        const TilePartArray *parts = &problem->groups[g].parts;
        const double values = pow(points, 1.0 / problem->group_count);
        ratios[g] = all <= points ? 1
                                  : fmax(tile_count_ratio,
                                         pow(parts->items[parts->count - 1].count, 1 / fmax(1, values - 1)));
        point.parts[g] = 0;
    }
    for (int g = 0; g < problem->group_count;) {
        try_point(problem, &point, best, least);
        for (g = 0; g < problem->group_count; g++) {
            point.parts[g] = next_part(&problem->groups[g], point.parts[g], ratios[g]);
            if (point.parts[g] < problem->groups[g].parts.count)
                break;
            point.parts[g] = 0;
        }
    }
}

// To neighbours: of one group, or of two, by smaller and smaller steps.
static void refine(const TilingProblem *problem, TilingPoint *best, TilingEstimate *least) {
    enum { FIRST = 32, MOST_MOVES = 8 };
    for (int64_t step = FIRST; step > 0; step /= 2)
        for (int moves = 0; moves < MOST_MOVES; moves++) {
            const TilingPoint from = *best;
            const double before = least->seconds, bytes = least->bytes;
            for (int pair = 0; pair < problem->group_count * problem->group_count; pair++)
                for (int signs = 0; signs < 4; signs++) {
                    const int g = pair / problem->group_count, h = pair % problem->group_count;
                    TilingPoint point = from;
                    point.parts[g] += signs & 1 ? step : -step;
                    if (g != h)
                        point.parts[h] += signs & 2 ? step : -step;
                    if (point.parts[g] >= 0 && point.parts[g] < problem->groups[g].parts.count &&
                        point.parts[h] >= 0 && point.parts[h] < problem->groups[h].parts.count)
                        try_point(problem, &point, best, least);
                }
            if (least->seconds == before && least->bytes == bytes)
                break;
        }
}

static Tiling tiling_of(const TilingProblem *problem, const TilingPoint *point, TilingEstimate value) {
    Tiling tiling = {.outside = problem->outside,
                     .rotated = problem->rotated,
                     .steps = problem->steps,
                     .seconds = value.seconds,
                     .fits = value.bytes <= problem->memory};
    int last[MOST_GROUPS + 1] = {0}; // the last loop of the groups up to here
    memcpy(tiling.order, point->order, sizeof tiling.order);
    for (int v = 0; v < problem->statement->cin->var_count; v++)
        tiling.lengths[v] = tiling_length(problem, point, v);
    for (int q = 0; q < problem->group_count; q++) {
        const VarGroup *group = &problem->groups[point->order[q]];
        for (int v = 0; v < group->var_count; v++)
            if (tiling.lengths[group->vars[v]] < tiling_block(problem, group->vars[v]))
                tiling.loops[tiling.loop_count++] = group->vars[v];
        last[q] = tiling.loop_count - 1;
    }
    for (int a = 0; a < problem->moved_count; a++) {
        const MovedAccess *moved = &problem->moved[a];
        double steps;
        const int at = tiling_innermost(problem, point, a, &tiling.passes[a], &steps);
        tiling.at[a] = at < 0 || (!moved->in_disk && !moved->moves) ? NOWHERE
                       : at == problem->group_count                 ? tiling.loop_count
                                                                    : last[at];
        tiling.requests[a] =
            moved->size * tiling_elements(problem, point, a) / (moved->moves ? moved->users : 1);
    }
    // Accesses of one tensor move in one loop.
    for (int a = 0; a < problem->moved_count; a++)
        for (int b = 0; b < problem->moved_count; b++)
            if (problem->statement->accesses[a].access->tensor ==
                    problem->statement->accesses[b].access->tensor &&
                tiling.at[b] > tiling.at[a])
                tiling.at[a] = tiling.at[b];
    return tiling;
}

static bool same_loops(const Tiling *a, const Tiling *b) {
    return a->loop_count == b->loop_count &&
           memcmp(a->loops, b->loops, sizeof(int) * (size_t)a->loop_count) == 0;
}

static bool precedes(const Tiling *a, const Tiling *b) {
    return a->fits != b->fits ? a->fits : a->seconds < b->seconds;
}

// Keeps the best, sorted, each with other loops.
static int keep(Tiling *found, int count, int most, const Tiling *tiling) {
    int same = 0;
    while (same < count && !same_loops(&found[same], tiling))
        same++;
    if (same < count) {
        if (!precedes(tiling, &found[same]))
            return count;
        memmove(&found[same], &found[same + 1], sizeof(Tiling) * (size_t)(count - same - 1));
        count--;
    }
    int at = count;
    while (at > 0 && precedes(tiling, &found[at - 1]))
        at--;
    if (at == most)
        return count;
    count = count < most ? count + 1 : most;
    memmove(&found[at + 1], &found[at], sizeof(Tiling) * (size_t)(count - at - 1));
    found[at] = *tiling;
    return count;
}

// The next permutation in lexicographic order; false after the last one.
static bool next_order(int *order, int count) {
    int i = count - 2, j = count - 1;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[j] < order[i])
        j--;
    const int swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
    for (int lo = i + 1, hi = count - 1; lo < hi; lo++, hi--) {
        const int end = order[lo];
        order[lo] = order[hi];
        order[hi] = end;
    }
    return true;
}

static Tiling best_in_order(const TilingProblem *problem, double points, bool refined,
                            const TilingPoint *start) {
    TilingPoint best = *start;
    TilingEstimate least = {INFINITY, INFINITY};
    search_coarsely(problem, points, &best, &least);
    if (refined)
        refine(problem, &best, &least);
    return tiling_of(problem, &best, tiling_evaluate(problem, &best, INFINITY));
}

Tiling tiling_resize(Search *search, const SearchStatement *statement, const Candidate *candidate,
                     const unsigned char *places, double memory, const Tiling *like) {
    Search inner = *search;
    inner.arena = arena_create_within(search->arena);
    TilingProblem problem = {.search = &inner,
                             .statement = statement,
                             .candidate = candidate,
                             .rotated = like->rotated,
                             .steps = like->steps,
                             .outside = like->outside,
                             .memory = memory};
    tiling_prepare(&problem, places);
    TilingPoint start = {0};
    memcpy(start.order, like->order, sizeof start.order);
    const Tiling tiling = best_in_order(&problem, COARSE, true, &start);
    arena_free(inner.arena);
    return tiling;
}

int tiling_find(Search *search, const SearchStatement *statement, const Candidate *candidate,
                const unsigned char *places, double memory, int rotated, int64_t steps, uint64_t outside,
                Tiling *found, int most) {
    Search inner = *search;
    inner.arena = arena_create_within(search->arena);
    TilingProblem problem = {.search = &inner,
                             .statement = statement,
                             .candidate = candidate,
                             .rotated = rotated,
                             .steps = steps,
                             .outside = outside,
                             .memory = memory};
    tiling_prepare(&problem, places);
    TilingPoint first = {0};
    int count = 0;
    double points = places ? COARSE : COARSER;
    for (int g = 0; g < problem.group_count; g++) {
        first.order[g] = g;
        points /= g + 1; // for each order
    }
    points = fmax(points, LEAST_POINTS);
    const TilingEstimate at_once = tiling_evaluate(&problem, &first, INFINITY);
    if (at_once.bytes <= memory) { // nothing is brought twice
        found[0] = tiling_of(&problem, &first, at_once);
        arena_free(inner.arena);
        return 1;
    }
    do {
        const Tiling tiling = best_in_order(&problem, points, places != NULL, &first);
        count = keep(found, count, most, &tiling);
    } while (next_order(first.order, problem.group_count));
    arena_free(inner.arena);
    return count;
}

double tiling_memory(const Search *search, const unsigned char *places) {
    double left = search->limit > 0 ? (double)search->limit : INFINITY;
    for (int t = 0; t < search->program->tensor_count; t++) {
        const SearchTensor *tensor = &search->tensors[t];
        const bool known = places && places[t] != NO_PLACE;
        if (known && !tensor->places[places[t]]->in_disk)
            left -= (double)tensor->places[places[t]]->bytes;
        else if (!known && !tensor->in_disk)
            left -= tensor->bytes / (double)search->ranks;
    }
    return fmax(left, 0);
}
