// SPDX-License-Identifier: BSD-3-Clause
#include "choose/tiling_cost.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/sequence.h"

#include <math.h>
#include <stdlib.h>

enum { PRODUCT_GROUPS = 3 };
static const double all_tiles = 1e15; // more of them are not counted exactly

int64_t tiling_block(const TilingProblem *problem, int var) {
    return max_i64(1, var == problem->rotated ? ceil_div(problem->statement->extents[var], problem->steps)
                                              : estimate_block(problem->statement, problem->candidate, var));
}

// The mode that a variable indexes in some access, the first one that has it.
static int mode_of(const SearchStatement *statement, int var) {
    for (int a = 0; a < statement->access_count; a++)
        for (int m = 0; m < statement->accesses[a].access->tensor->order; m++)
            if (access_mode_var(statement->accesses[a].access, m) == var)
                return m;
    return 0;
}

static void add_variable(TilingProblem *problem, int var) {
    VarSet accesses = 0;
    int g = 0;
    for (int a = 0; a < problem->statement->access_count; a++)
        accesses |= (problem->statement->accesses[a].vars >> var & 1) << a;
    // Parts that are shifted are a group of their own.
    while (g < problem->group_count &&
           (problem->groups[g].accesses != accesses ||
            (problem->rotated >= 0 && problem->groups[g].vars[0] == problem->rotated) ||
            var == problem->rotated))
        g++;
    VarGroup *group = &problem->groups[g];
    if (g == problem->group_count)
        problem->groups[problem->group_count++] = (VarGroup){.accesses = accesses, .extent = 1};
    int at = group->var_count++;
    for (; at > 0 && mode_of(problem->statement, group->vars[at - 1]) > mode_of(problem->statement, var);
         at--)
        group->vars[at] = group->vars[at - 1];
    group->vars[at] = var;
    group->extent *= (double)tiling_block(problem, var);
}

static int by_extent(const void *a, const void *b) {
    const VarGroup *x = a, *y = b;
    return x->extent != y->extent ? (x->extent > y->extent ? -1 : 1) : x->vars[0] - y->vars[0];
}

// With numbers of tiles from one to all coordinates, the last variable divided first.
static void divide_group(const TilingProblem *problem, VarGroup *group) {
    double inner = 1, outer = group->extent;
    for (int v = group->var_count - 1; v >= 0; v--) {
        const int64_t block = tiling_block(problem, group->vars[v]);
        outer /= (double)block;
        // Of other variables than the last, one coordinate is all of those after it.
        for (int64_t count = 1, length = block; outer < all_tiles;) {
            if (length < block || v == group->var_count - 1 || block == 1)
                array_push(
                    problem->search->arena, group->parts,
                    (TilePart){v, length, inner * (double)length, outer * (double)ceil_div(block, length)});
            if (length == 1)
                break;
            count = max_i64(count + 1, (int64_t)((double)count * tile_count_ratio));
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

static void find_groups(TilingProblem *problem) {
    const VarSet loops = problem->statement->nests[0].loops;
    for (int v = 0; v < problem->statement->cin->var_count; v++)
        if (loops >> v & 1)
            add_variable(problem, v);
    qsort(problem->groups, (size_t)problem->group_count, sizeof(VarGroup), by_extent);
    problem->group_count = (int)min_i64(problem->group_count, MOST_GROUPS);
    problem->rotated_group = -1;
    for (int g = 0; g < problem->group_count; g++) {
        VarGroup *group = &problem->groups[g];
        divide_group(problem, group);
        qsort(group->parts.items, (size_t)group->parts.count, sizeof(TilePart), by_count);
        if (problem->rotated >= 0 && group->vars[0] == problem->rotated)
            problem->rotated_group = g;
    }
}

// To bring a block to the disk where it is used, of which `part` is read in each rank.
static double copy_seconds(const Search *search, double moved_seconds, double part, double block) {
    const double large = 1 << 30;
    return moved_seconds + part / model_disk_rate(&search->model, false, large) +
           block / model_disk_rate(&search->model, true, large);
}

static void find_moved(TilingProblem *problem, const unsigned char *places) {
    Search *search = problem->search;
    const SearchStatement *statement = problem->statement;
    problem->moved_count = (int)min_i64(statement->access_count, MOST_ACCESSES);
    for (int a = 0; a < problem->moved_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const SearchTensor *tensor = &search->tensors[used->access->tensor->id];
        const Place *place = places && places[used->access->tensor->id] != NO_PLACE
                                 ? tensor->places[places[used->access->tensor->id]]
                                 : NULL;
        MovedAccess *moved = &problem->moved[a];
        *moved = (MovedAccess){.size = (double)type_info(tensor->tensor->type)->size,
                               .users = estimate_users(problem->candidate, used),
                               .is_result = used->is_result,
                               .in_disk = place ? place->in_disk : tensor->in_disk};
        const double block = moved->size * estimate_elements(statement, problem->candidate, used);
        moved->moved_seconds = place ? estimate_moved(search, statement, problem->candidate, used, place)
                                     : (1 - 1 / moved->users) * block / search->rates.bandwidth;
        if (problem->outside >> a & 1) {
            const double part = place ? fmin(block, (double)place->bytes) : block / moved->users;
            problem->once += copy_seconds(search, moved->moved_seconds, part, block);
            moved->moved_seconds = 0;
            moved->part = block;
            moved->users = 1;
        } else {
            moved->part = !moved->in_disk ? 0
                          : place         ? fmin(block, (double)place->bytes)
                                          : block / moved->users;
        }
        moved->moves = moved->moved_seconds > 0;
        for (int g = 0; g < problem->group_count; g++)
            moved->groups |= (problem->groups[g].accesses >> a & 1) << g;
    }
}

void tiling_prepare(TilingProblem *problem, const unsigned char *places) {
    find_groups(problem);
    find_moved(problem, places);
}

// The part of a group that the point has.
static const TilePart *tiling_part(const TilingProblem *problem, const TilingPoint *point, int group) {
    return &problem->groups[group].parts.items[point->parts[group]];
}

int64_t tiling_length(const TilingProblem *problem, const TilingPoint *point, int var) {
    for (int g = 0; g < problem->group_count; g++) {
        const TilePart *part = tiling_part(problem, point, g);
        for (int v = 0; v < problem->groups[g].var_count; v++)
            if (problem->groups[g].vars[v] == var)
                return v < part->split ? 1 : v == part->split ? part->length : tiling_block(problem, var);
    }
    return tiling_block(problem, var);
}

typedef struct {
    const TilingProblem *problem;
    const TilingPoint *point;
} Tiles;

static int64_t tile_length(const void *context, int var) {
    const Tiles *tiles = context;
    return tiling_length(tiles->problem, tiles->point, var);
}

double tiling_elements(const TilingProblem *problem, const TilingPoint *point, int access) {
    return estimate_elements_of(problem->statement->accesses[access].access, tile_length,
                                &(Tiles){problem, point});
}

int tiling_innermost(const TilingProblem *problem, const TilingPoint *point, int access, double *passes,
                     double *steps) {
    const MovedAccess *moved = &problem->moved[access];
    const bool shifted = problem->rotated_group >= 0 && moved->moves && !moved->is_result &&
                         moved->groups >> problem->rotated_group & 1;
    int last = -1;
    for (int q = 0; q < problem->group_count; q++)
        if (shifted ||
            (moved->groups >> point->order[q] & 1 && tiling_part(problem, point, point->order[q])->count > 1))
            last = q;
    *passes = *steps = 1;
    for (int q = 0; q <= last; q++) {
        const double count = tiling_part(problem, point, point->order[q])->count;
        *steps *= count;
        *passes *= moved->groups >> point->order[q] & 1 ? 1 : count;
    }
    *steps *= shifted ? (double)problem->steps : 1;
    return shifted ? problem->group_count : last;
}

static double passed_bytes(const MovedAccess *moved, double passes) {
    return moved->part * (moved->is_result ? 2 * passes - 1 : passes);
}

TilingEstimate tiling_evaluate(const TilingProblem *problem, const TilingPoint *point, double limit) {
    const ModelRanks *model = &problem->search->model;
    const CostRates *rates = &problem->search->rates;
    double leaves = (double)(problem->rotated >= 0 ? problem->steps : 1), inverse = 0;
    TilingEstimate value = {0};
    for (int g = 0; g < problem->group_count; g++) {
        leaves *= tiling_part(problem, point, g)->count;
        inverse += 1 / tiling_part(problem, point, g)->size;
    }
    value.seconds = problem->once + problem->candidate->flop_seconds + leaves * model->machine->overhead;
    double requests[MOST_ACCESSES], on_disk[MOST_ACCESSES];
    for (int a = 0; a < problem->moved_count; a++) {
        const MovedAccess *moved = &problem->moved[a];
        double passes, steps;
        on_disk[a] = requests[a] = 0;
        if (!moved->in_disk && !moved->moves)
            continue;
        const bool shifted = tiling_innermost(problem, point, a, &passes, &steps) == problem->group_count;
        const double tile = moved->size * tiling_elements(problem, point, a);
        // Beside the buffer, the next one where it is passed on, and what is read to be sent.
        value.bytes += tile * (1 + shifted + (moved->in_disk && moved->moves));
        value.seconds += passes * moved->moved_seconds + (moved->moves ? steps * rates->latency : 0);
        on_disk[a] = passed_bytes(moved, passes);
        requests[a] = tile / (moved->moves ? moved->users : 1);
        value.seconds += on_disk[a] / rates->disk;
    }
    if (value.seconds >= limit || value.bytes > problem->memory)
        return value;
    for (int a = 0; a < problem->moved_count; a++)
        if (on_disk[a] > 0)
            value.seconds +=
                on_disk[a] / model_disk_rate(model, problem->moved[a].is_result, fmax(1, requests[a])) -
                on_disk[a] / rates->disk;
    // Products of small tiles are slow.
    if (problem->group_count >= PRODUCT_GROUPS) {
        const double mean = fmax(1, problem->group_count / inverse);
        const double rate = model_rate(model, MODEL_GEMM, mean, 8);
        value.seconds += problem->candidate->flop_seconds * fmax(0, rates->flop_rate / rate - 1);
    }
    return value;
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
    const MovedAccess moved = {.is_result = used->is_result, .part = fmin(block, (double)place->bytes)};
    return seconds + passed_bytes(&moved, tiling->passes[access]) /
                         model_disk_rate(&search->model, used->is_result, fmax(1, tiling->requests[access]));
}
