// SPDX-License-Identifier: BSD-3-Clause
#include "choose/tiling.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COARSE = 9000, COARSER = 4000, LEAST_POINTS = 32, PRODUCT_GROUPS = 3 };
static const double finer = 1.02;     // numbers of tiles that are looked at differ by this factor at least
static const double all_tiles = 1e15; // more of them are not counted exactly

// What moves of an access.
typedef struct {
    VarSet groups;
    double size;  // bytes of an element
    double users; // ranks that use the same part
    bool is_result, in_disk, moves;
    double part;          // bytes of the disk of a rank that are read or written in one pass
    double moved_seconds; // of one pass
} Moved;

// One way to divide a group into tiles: its variables before `split` have tiles of one coordinate, those
// after it are not divided.
typedef struct {
    int split;
    int64_t length;
    double size, count; // coordinates of a tile, and tiles
} TilePart;
typedef Array(TilePart) TilePartArray;

typedef struct {
    int var_count;
    int vars[MAX_VARS]; // in the order in which they are stored
    VarSet accesses;
    double extent;
    TilePartArray parts; // with increasing numbers of tiles
} VarGroup;

typedef struct {
    Search *search;
    const SearchStatement *statement;
    const Candidate *candidate;
    int rotated;
    int64_t steps;
    uint64_t outside;
    double memory, once; // seconds of copies that are made before
    int group_count;
    VarGroup groups[MAX_VARS];
    int rotated_group;
    int moved_count;
    Moved moved[MOST_ACCESSES];
} Finding;

// A point of the search: an order of the groups, and a part of each.
typedef struct {
    int order[MOST_GROUPS];
    int64_t parts[MOST_GROUPS]; // by group
} Point;

typedef struct {
    double seconds, bytes; // bytes of buffers
} Estimate;

// Coordinates of a variable that a processor has, at most; 1 where there are none.
static int64_t block_of(const Finding *finding, int var) {
    int64_t parts = var == finding->rotated ? finding->steps : 1;
    for (int d = 0; var != finding->rotated && d < finding->candidate->count; d++)
        if (finding->candidate->vars[d] == var)
            parts = finding->candidate->sizes[d];
    return max_i64(1, ceil_div(finding->statement->extents[var], parts));
}

// The mode that a variable indexes in some access, the first one that has it.
static int mode_of(const SearchStatement *statement, int var) {
    for (int a = 0; a < statement->access_count; a++)
        for (int m = 0; m < statement->accesses[a].access->tensor->order; m++)
            if (access_mode_var(statement->accesses[a].access, m) == var)
                return m;
    return 0;
}

static void add_variable(Finding *finding, int var) {
    VarSet accesses = 0;
    int g = 0;
    for (int a = 0; a < finding->statement->access_count; a++)
        accesses |= (finding->statement->accesses[a].vars >> var & 1) << a;
    // Parts that are shifted are a group of their own.
    while (g < finding->group_count &&
           (finding->groups[g].accesses != accesses ||
            (finding->rotated >= 0 && finding->groups[g].vars[0] == finding->rotated) ||
            var == finding->rotated))
        g++;
    VarGroup *group = &finding->groups[g];
    if (g == finding->group_count)
        finding->groups[finding->group_count++] = (VarGroup){.accesses = accesses, .extent = 1};
    int at = group->var_count++;
    for (; at > 0 && mode_of(finding->statement, group->vars[at - 1]) > mode_of(finding->statement, var);
         at--)
        group->vars[at] = group->vars[at - 1];
    group->vars[at] = var;
    group->extent *= (double)block_of(finding, var);
}

static int by_extent(const void *a, const void *b) {
    const VarGroup *x = a, *y = b;
    return x->extent != y->extent ? (x->extent > y->extent ? -1 : 1) : x->vars[0] - y->vars[0];
}

// With numbers of tiles from one to all coordinates, the last variable divided first.
static void divide_group(const Finding *finding, VarGroup *group) {
    double inner = 1, outer = group->extent;
    for (int v = group->var_count - 1; v >= 0; v--) {
        const int64_t block = block_of(finding, group->vars[v]);
        outer /= (double)block;
        // Of other variables than the last, one coordinate is all of those after it.
        for (int64_t count = 1, length = block; outer < all_tiles;) {
            if (length < block || v == group->var_count - 1 || block == 1)
                array_push(
                    finding->search->arena, group->parts,
                    (TilePart){v, length, inner * (double)length, outer * (double)ceil_div(block, length)});
            if (length == 1)
                break;
            count = max_i64(count + 1, (int64_t)((double)count * finer));
            const int64_t next = ceil_div(block, count);
            length = next < length ? next : length - 1;
            count = max_i64(count, ceil_div(block, length));
        }
        inner *= (double)block;
    }
}

static int by_count(const void *a, const void *b) {
    const TilePart *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? -1 : 1) : (x->size < y->size) - (x->size > y->size);
}

static void find_groups(Finding *finding) {
    const VarSet loops = finding->statement->nests[0].loops;
    for (int v = 0; v < finding->statement->cin->var_count; v++)
        if (loops >> v & 1)
            add_variable(finding, v);
    qsort(finding->groups, (size_t)finding->group_count, sizeof(VarGroup), by_extent);
    finding->group_count = (int)min_i64(finding->group_count, MOST_GROUPS);
    finding->rotated_group = -1;
    for (int g = 0; g < finding->group_count; g++) {
        VarGroup *group = &finding->groups[g];
        divide_group(finding, group);
        qsort(group->parts.items, (size_t)group->parts.count, sizeof(TilePart), by_count);
        if (finding->rotated >= 0 && group->vars[0] == finding->rotated)
            finding->rotated_group = g;
    }
}

static double users_of(const Candidate *candidate, const UsedAccess *used) {
    double users = 1;
    for (int d = 0; d < candidate->count; d++)
        users *= used->vars >> candidate->vars[d] & 1 ? 1 : (double)candidate->sizes[d];
    return users;
}

// To bring a block to the disk where it is used, of which `part` is read in each rank.
static double copy_seconds(const Search *search, double moved_seconds, double part, double block) {
    const double large = 1 << 30;
    return moved_seconds + part / model_disk_rate(&search->model, false, large) +
           block / model_disk_rate(&search->model, true, large);
}

static void find_moved(Finding *finding, const unsigned char *places) {
    Search *search = finding->search;
    const SearchStatement *statement = finding->statement;
    finding->moved_count = (int)min_i64(statement->access_count, MOST_ACCESSES);
    for (int a = 0; a < finding->moved_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const SearchTensor *tensor = &search->tensors[used->access->tensor->id];
        const Place *place = places && places[used->access->tensor->id] != NO_PLACE
                                 ? tensor->places[places[used->access->tensor->id]]
                                 : NULL;
        Moved *moved = &finding->moved[a];
        *moved = (Moved){.size = (double)type_info(tensor->tensor->type)->size,
                         .users = users_of(finding->candidate, used),
                         .is_result = used->is_result,
                         .in_disk = place ? place->in_disk : tensor->in_disk};
        const double block = moved->size * estimate_elements(statement, finding->candidate, used);
        moved->moved_seconds = place ? estimate_moved(search, statement, finding->candidate, used, place)
                                     : (1 - 1 / moved->users) * block / search->rates.bandwidth;
        if (finding->outside >> a & 1) {
            const double part = place ? fmin(block, (double)place->bytes) : block / moved->users;
            finding->once += copy_seconds(search, moved->moved_seconds, part, block);
            moved->moved_seconds = 0;
            moved->part = block;
            moved->users = 1;
        } else {
            moved->part = !moved->in_disk ? 0
                          : place         ? fmin(block, (double)place->bytes)
                                          : block / moved->users;
        }
        moved->moves = moved->moved_seconds > 0;
        for (int g = 0; g < finding->group_count; g++)
            moved->groups |= (finding->groups[g].accesses >> a & 1) << g;
    }
}

static const TilePart *part_at(const Finding *finding, const Point *point, int group) {
    return &finding->groups[group].parts.items[point->parts[group]];
}

// Coordinates of a tile along a variable.
static int64_t length_of(const Finding *finding, const Point *point, int var) {
    for (int g = 0; g < finding->group_count; g++) {
        const TilePart *part = part_at(finding, point, g);
        for (int v = 0; v < finding->groups[g].var_count; v++)
            if (finding->groups[g].vars[v] == var)
                return v < part->split ? 1 : v == part->split ? part->length : block_of(finding, var);
    }
    return block_of(finding, var);
}

// Elements of an access that a tile uses.
static double tile_elements(const Finding *finding, const Point *point, int access) {
    const Access *of = finding->statement->accesses[access].access;
    double elements = 1;
    for (int m = 0; m < of->tensor->order; m++) {
        double length = 1;
        const int var = access_mode_var(of, m);
        if (var >= 0)
            length = (double)length_of(finding, point, var);
        else
            for (VarSet vars = access_mode_vars(of, m); vars; vars &= vars - 1)
                length += (double)length_of(finding, point, __builtin_ctzll(vars)) - 1;
        elements *= length;
    }
    return elements;
}

// The position in the order of the innermost group that an access has and whose loop is there, -1: none; how
// often all of it is brought; and in how many steps.
static int innermost(const Finding *finding, const Point *point, int access, double *passes, double *steps) {
    const Moved *moved = &finding->moved[access];
    const bool shifted = finding->rotated_group >= 0 && moved->moves && !moved->is_result &&
                         moved->groups >> finding->rotated_group & 1;
    int last = -1;
    for (int q = 0; q < finding->group_count; q++)
        if (shifted ||
            (moved->groups >> point->order[q] & 1 && part_at(finding, point, point->order[q])->count > 1))
            last = q;
    *passes = *steps = 1;
    for (int q = 0; q <= last; q++) {
        const double count = part_at(finding, point, point->order[q])->count;
        *steps *= count;
        *passes *= moved->groups >> point->order[q] & 1 ? 1 : count;
    }
    *steps *= shifted ? (double)finding->steps : 1;
    return shifted ? finding->group_count : last;
}

static double passed_bytes(const Moved *moved, double passes) {
    return moved->part * (moved->is_result ? 2 * passes - 1 : passes);
}

// With the exact rates of requests and products only where the time could be below `limit`.
static Estimate evaluate(const Finding *finding, const Point *point, double limit) {
    const ModelRanks *model = &finding->search->model;
    const CostRates *rates = &finding->search->rates;
    double leaves = (double)(finding->rotated >= 0 ? finding->steps : 1), inverse = 0;
    Estimate value = {0};
    for (int g = 0; g < finding->group_count; g++) {
        leaves *= part_at(finding, point, g)->count;
        inverse += 1 / part_at(finding, point, g)->size;
    }
    value.seconds = finding->once + finding->candidate->flop_seconds + leaves * model->machine->overhead;
    double requests[MOST_ACCESSES], on_disk[MOST_ACCESSES];
    for (int a = 0; a < finding->moved_count; a++) {
        const Moved *moved = &finding->moved[a];
        double passes, steps;
        on_disk[a] = requests[a] = 0;
        if (!moved->in_disk && !moved->moves)
            continue;
        const bool shifted = innermost(finding, point, a, &passes, &steps) == finding->group_count;
        const double tile = moved->size * tile_elements(finding, point, a);
        // Beside the buffer, the next one where it is passed on, and what is read to be sent.
        value.bytes += tile * (1 + shifted + (moved->in_disk && moved->moves));
        value.seconds += passes * moved->moved_seconds + (moved->moves ? steps * rates->latency : 0);
        on_disk[a] = passed_bytes(moved, passes);
        requests[a] = tile / (moved->moves ? moved->users : 1);
        value.seconds += on_disk[a] / rates->disk;
    }
    if (value.seconds >= limit || value.bytes > finding->memory)
        return value;
    for (int a = 0; a < finding->moved_count; a++)
        if (on_disk[a] > 0)
            value.seconds +=
                on_disk[a] / model_disk_rate(model, finding->moved[a].is_result, fmax(1, requests[a])) -
                on_disk[a] / rates->disk;
    // Products of small tiles are slow.
    if (finding->group_count >= PRODUCT_GROUPS) {
        const double mean = fmax(1, finding->group_count / inverse);
        const double rate = model_rate(model, MODEL_GEMM, mean, 8);
        value.seconds += finding->candidate->flop_seconds * fmax(0, rates->flop_rate / rate - 1);
    }
    return value;
}

// Whether one is better: faster, if both fit, else smaller.
static bool is_better(const Finding *finding, Estimate a, Estimate b) {
    const bool a_fits = a.bytes <= finding->memory, b_fits = b.bytes <= finding->memory;
    if (a_fits != b_fits)
        return a_fits;
    return a_fits ? a.seconds < b.seconds : a.bytes < b.bytes;
}

static void try_point(const Finding *finding, const Point *point, Point *best, Estimate *least) {
    const bool fits = least->bytes <= finding->memory;
    const Estimate value = evaluate(finding, point, fits ? least->seconds : INFINITY);
    if (is_better(finding, value, *least)) {
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

static void search_coarsely(const Finding *finding, double points, Point *best, Estimate *least) {
    double ratios[MOST_GROUPS];
    Point point = *best;
    double all = 1;
    for (int g = 0; g < finding->group_count; g++)
        all *= (double)finding->groups[g].parts.count;
    for (int g = 0; g < finding->group_count; g++) {
        const TilePartArray *parts = &finding->groups[g].parts;
        const double values = pow(points, 1.0 / finding->group_count);
        ratios[g] = all <= points
                        ? 1
                        : fmax(finer, pow(parts->items[parts->count - 1].count, 1 / fmax(1, values - 1)));
        point.parts[g] = 0;
    }
    for (int g = 0; g < finding->group_count;) {
        try_point(finding, &point, best, least);
        for (g = 0; g < finding->group_count; g++) {
            point.parts[g] = next_part(&finding->groups[g], point.parts[g], ratios[g]);
            if (point.parts[g] < finding->groups[g].parts.count)
                break;
            point.parts[g] = 0;
        }
    }
}

// To neighbours: of one group, or of two, by smaller and smaller steps.
static void refine(const Finding *finding, Point *best, Estimate *least) {
    enum { FIRST = 32, MOST_MOVES = 8 };
    for (int64_t step = FIRST; step > 0; step /= 2)
        for (int moves = 0; moves < MOST_MOVES; moves++) {
            const Point from = *best;
            const double before = least->seconds, bytes = least->bytes;
            for (int pair = 0; pair < finding->group_count * finding->group_count; pair++)
                for (int signs = 0; signs < 4; signs++) {
                    const int g = pair / finding->group_count, h = pair % finding->group_count;
                    Point point = from;
                    point.parts[g] += signs & 1 ? step : -step;
                    if (g != h)
                        point.parts[h] += signs & 2 ? step : -step;
                    if (point.parts[g] >= 0 && point.parts[g] < finding->groups[g].parts.count &&
                        point.parts[h] >= 0 && point.parts[h] < finding->groups[h].parts.count)
                        try_point(finding, &point, best, least);
                }
            if (least->seconds == before && least->bytes == bytes)
                break;
        }
}

static Tiling tiling_of(const Finding *finding, const Point *point, Estimate value) {
    Tiling tiling = {.outside = finding->outside,
                     .rotated = finding->rotated,
                     .steps = finding->steps,
                     .seconds = value.seconds,
                     .fits = value.bytes <= finding->memory};
    int last[MOST_GROUPS + 1] = {0}; // the last loop of the groups up to here
    memcpy(tiling.order, point->order, sizeof tiling.order);
    for (int v = 0; v < finding->statement->cin->var_count; v++)
        tiling.lengths[v] = length_of(finding, point, v);
    for (int q = 0; q < finding->group_count; q++) {
        const VarGroup *group = &finding->groups[point->order[q]];
        for (int v = 0; v < group->var_count; v++)
            if (tiling.lengths[group->vars[v]] < block_of(finding, group->vars[v]))
                tiling.loops[tiling.loop_count++] = group->vars[v];
        last[q] = tiling.loop_count - 1;
    }
    for (int a = 0; a < finding->moved_count; a++) {
        const Moved *moved = &finding->moved[a];
        double steps;
        const int at = innermost(finding, point, a, &tiling.passes[a], &steps);
        tiling.at[a] = at < 0 || (!moved->in_disk && !moved->moves) ? NOWHERE
                       : at == finding->group_count                 ? tiling.loop_count
                                                                    : last[at];
        tiling.requests[a] =
            moved->size * tile_elements(finding, point, a) / (moved->moves ? moved->users : 1);
    }
    // Accesses of one tensor move in one loop.
    for (int a = 0; a < finding->moved_count; a++)
        for (int b = 0; b < finding->moved_count; b++)
            if (finding->statement->accesses[a].access->tensor ==
                    finding->statement->accesses[b].access->tensor &&
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

static Tiling best_in_order(const Finding *finding, double points, bool refined, const Point *start) {
    Point best = *start;
    Estimate least = {INFINITY, INFINITY};
    search_coarsely(finding, points, &best, &least);
    if (refined)
        refine(finding, &best, &least);
    return tiling_of(finding, &best, evaluate(finding, &best, INFINITY));
}

Tiling tiling_resize(Search *search, const SearchStatement *statement, const Candidate *candidate,
                     const unsigned char *places, double memory, const Tiling *like) {
    Search inner = *search;
    inner.arena = arena_create_within(search->arena);
    Finding finding = {.search = &inner,
                       .statement = statement,
                       .candidate = candidate,
                       .rotated = like->rotated,
                       .steps = like->steps,
                       .outside = like->outside,
                       .memory = memory};
    find_groups(&finding);
    find_moved(&finding, places);
    Point start = {0};
    memcpy(start.order, like->order, sizeof start.order);
    const Tiling tiling = best_in_order(&finding, COARSE, true, &start);
    arena_free(inner.arena);
    return tiling;
}

int tiling_find(Search *search, const SearchStatement *statement, const Candidate *candidate,
                const unsigned char *places, double memory, int rotated, int64_t steps, uint64_t outside,
                Tiling *found, int most) {
    Search inner = *search;
    inner.arena = arena_create_within(search->arena);
    Finding finding = {.search = &inner,
                       .statement = statement,
                       .candidate = candidate,
                       .rotated = rotated,
                       .steps = steps,
                       .outside = outside,
                       .memory = memory};
    find_groups(&finding);
    find_moved(&finding, places);
    Point first = {0};
    int count = 0;
    double points = places ? COARSE : COARSER;
    for (int g = 0; g < finding.group_count; g++) {
        first.order[g] = g;
        points /= g + 1; // for each order
    }
    points = fmax(points, LEAST_POINTS);
    const Estimate at_once = evaluate(&finding, &first, INFINITY);
    if (at_once.bytes <= memory) { // nothing is brought twice
        found[0] = tiling_of(&finding, &first, at_once);
        arena_free(inner.arena);
        return 1;
    }
    do {
        const Tiling tiling = best_in_order(&finding, points, places != NULL, &first);
        count = keep(found, count, most, &tiling);
    } while (next_order(first.order, finding.group_count));
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

double tiling_cost(Search *search, const SearchStatement *statement, const Candidate *candidate, int access,
                   const Place *place) {
    const UsedAccess *used = &statement->accesses[access];
    const Tiling *tiling = candidate->tiling;
    double seconds = estimate_moved(search, statement, candidate, used, place);
    if (!tiling || access >= MOST_ACCESSES)
        return seconds;
    const double block =
        estimate_elements(statement, candidate, used) * (double)type_info(used->access->tensor->type)->size;
    if (tiling->outside >> access & 1 && place->in_disk)
        return copy_seconds(search, seconds, fmin(block, (double)place->bytes), block) +
               block * tiling->passes[access] /
                   model_disk_rate(&search->model, false, fmax(1, tiling->requests[access]));
    seconds *= tiling->passes[access];
    if (!place->in_disk)
        return seconds;
    const Moved moved = {.is_result = used->is_result, .part = fmin(block, (double)place->bytes)};
    return seconds + passed_bytes(&moved, tiling->passes[access]) /
                         model_disk_rate(&search->model, used->is_result, fmax(1, tiling->requests[access]));
}
