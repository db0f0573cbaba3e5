// SPDX-License-Identifier: BSD-3-Clause
#include "choose/estimate.h"

#include "base/integer.h"
#include "choose/spans.h"

#include <math.h>

// Of two placements with which the busiest rank takes as long, that is better with which others are faster.
static const double others_matter = 1e-3;

// The dimension along which a variable is distributed, -1: none.
static int dim_of(const Candidate *candidate, int var) {
    for (int d = 0; d < candidate->count; d++)
        if (candidate->vars[d] == var)
            return d;
    return -1;
}

int64_t estimate_block(const SearchStatement *statement, const Candidate *candidate, int var) {
    const int dim = dim_of(candidate, var);
    const int64_t extent = statement->extents[var];
    return dim < 0 ? extent : ceil_div(extent, candidate->sizes[dim]);
}

double estimate_elements_of(const Access *access, VarLength length, const void *context) {
    double elements = 1;
    for (int m = 0; m < access->tensor->order; m++) {
        const int var = access_mode_var(access, m);
        double values = 1;
        if (var >= 0)
            values = (double)length(context, var);
        else
            for (VarSet vars = access_mode_vars(access, m); vars; vars &= vars - 1)
                values += (double)length(context, __builtin_ctzll(vars)) - 1;
        elements *= values;
    }
    return elements;
}

typedef struct {
    const SearchStatement *statement;
    const Candidate *candidate;
} Blocks;

static int64_t block_length(const void *context, int var) {
    const Blocks *blocks = context;
    return estimate_block(blocks->statement, blocks->candidate, var);
}

double estimate_elements(const SearchStatement *statement, const Candidate *candidate,
                         const UsedAccess *used) {
    return estimate_elements_of(used->access, block_length, &(Blocks){statement, candidate});
}

double estimate_users(const Candidate *candidate, const UsedAccess *used) {
    double users = 1;
    for (int d = 0; d < candidate->count; d++)
        users *= used->vars >> candidate->vars[d] & 1 ? 1 : (double)candidate->sizes[d];
    return users;
}

// Of the elements of an access that a processor reaches, or of those in `rect` where it is not NULL, the
// share that it uses: what is stored, and of a dense operand those at coordinates that entries have, if these
// are spread evenly.
static double used_share(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                         const UsedAccess *used, const Rect *rect) {
    const SearchTensor *tensor = &search->tensors[used->access->tensor->id];
    double share = tensor->share;
    if (!(used->vars & statement->sparse) || used->is_result || tensor_is_sparse(tensor->tensor))
        return share;
    for (int m = 0; m < used->access->tensor->order; m++) {
        const int var = access_mode_var(used->access, m);
        double entries = INFINITY;
        for (int a = 0; a < statement->access_count && var >= 0; a++) {
            const UsedAccess *other = &statement->accesses[a];
            if (other->nest == used->nest && !other->is_result && other->vars >> var & 1 &&
                tensor_is_sparse(other->access->tensor))
                entries = fmin(entries, search->tensors[other->access->tensor->id].share *
                                            estimate_elements(statement, candidate, other));
        }
        if (entries < INFINITY)
            share *= 1 - exp(-entries / (double)(rect ? rect->hi[m] - rect->lo[m]
                                                      : estimate_block(statement, candidate, var)));
    }
    return share;
}

void estimate_candidate(const Search *search, const SearchStatement *statement, Candidate *candidate) {
    const CostRates *rates = &search->rates;
    double flop = 0, bytes = 0;
    for (int n = 0; n < statement->nest_count; n++) {
        double points = statement->nests[n].operations;
        for (VarSet loops = statement->nests[n].loops; loops; loops &= loops - 1)
            points *= (double)estimate_block(statement, candidate, __builtin_ctzll(loops));
        flop += points;
    }
    for (int a = 0; a < statement->access_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const int size = (int)type_info(used->access->tensor->type)->size;
        bytes += (1 - 1 / estimate_users(candidate, used)) * size *
                 used_share(search, statement, candidate, used, NULL) *
                 estimate_elements(statement, candidate, used);
    }
    candidate->flop_seconds = flop / (statement->sparse ? rates->sparse_rate : rates->flop_rate);
    candidate->score = candidate->flop_seconds + bytes / rates->bandwidth;
}

// The values of a variable on a processor.
static void values_of(const SearchStatement *statement, const Candidate *candidate,
                      const int64_t *coordinates, int var, int64_t *lo, int64_t *hi) {
    const int dim = dim_of(candidate, var);
    *lo = 0;
    *hi = statement->extents[var];
    if (dim < 0)
        return;
    const int64_t length = ceil_div(*hi, candidate->sizes[dim]);
    *lo = min_i64(*hi, coordinates[dim] * length);
    *hi = min_i64(*hi, *lo + length);
}

// The values of a variable at which a processor uses a dense operand: those that its entries have.
static void values_used(const SearchStatement *statement, const Candidate *candidate,
                        const int64_t *coordinates, const UsedAccess *used, int var, int64_t *lo,
                        int64_t *hi) {
    values_of(statement, candidate, coordinates, var, lo, hi);
    if (used->is_result || tensor_is_sparse(used->access->tensor))
        return;
    for (int d = 0; d < candidate->count; d++) {
        int64_t by_lo, by_hi;
        if (candidate->vars[d] == var)
            continue;
        values_of(statement, candidate, coordinates, candidate->vars[d], &by_lo, &by_hi);
        spans_narrow(statement, used->nest, candidate->vars[d], by_lo, by_hi, var, lo, hi);
    }
}

// The values of an index in a mode with this extent.
static void index_values(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                         const int64_t *coordinates, const AffineIndex *index, int64_t *lo, int64_t *hi) {
    int64_t first = 0, last = 0;
    if (index->constant)
        int_eval(index->constant, search->params, NULL, &first);
    last = first;
    for (int t = 0; t < index->count; t++) {
        int64_t begin, end, factor = 1;
        values_of(statement, candidate, coordinates, index->vars[t], &begin, &end);
        int_eval(index->coefficients[t], search->params, NULL, &factor);
        first = saturated_add(first, saturated_mul(factor, factor > 0 ? begin : end - 1));
        last = saturated_add(last, saturated_mul(factor, factor > 0 ? end - 1 : begin));
    }
    *lo = max_i64(first, 0);
    *hi = saturated_add(last, 1);
}

bool estimate_footprint(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                        const UsedAccess *used, int64_t processor, Rect *rect) {
    const Access *access = used->access;
    const SearchTensor *tensor = &search->tensors[access->tensor->id];
    const Grid *grid = &search->machines.items[candidate->machine].grid;
    int64_t coordinates[MAX_MACHINE_ORDER];
    if (processor >= grid_size(grid))
        return false;
    grid_coordinates(grid, processor, coordinates);
    for (int d = 0; d < grid->order; d++) {
        const bool has = d < candidate->count && statement->nests[used->nest].loops >> candidate->vars[d] & 1;
        if (!has && coordinates[d] > 0)
            return false; // executed at coordinate 0
    }
    *rect = (Rect){.order = access->tensor->order};
    for (int d = 0; d < candidate->count; d++) {
        int64_t lo, hi;
        values_of(statement, candidate, coordinates, candidate->vars[d], &lo, &hi);
        if (lo >= hi)
            return false;
    }
    for (int m = 0; m < access->tensor->order; m++) {
        if (access->indices[m])
            index_values(search, statement, candidate, coordinates, access->indices[m], &rect->lo[m],
                         &rect->hi[m]);
        else
            values_used(statement, candidate, coordinates, used, access->vars[m], &rect->lo[m], &rect->hi[m]);
        rect->hi[m] = min_i64(rect->hi[m], tensor->extents[m]);
        if (rect->lo[m] >= rect->hi[m])
            return false;
    }
    return true;
}

double estimate_moved(Search *search, const SearchStatement *statement, const Candidate *candidate,
                      const UsedAccess *used, const Place *place) {
    double most = 0, sum = 0;
    if (!place->known)
        return 0;
    const double size = (double)type_info(used->access->tensor->type)->size;
    for (int i = 0; i < search->sample_count; i++) {
        Rect rect;
        if (!estimate_footprint(search, statement, candidate, used, search->samples[i], &rect))
            continue;
        const Rect *part = &place->parts[i];
        const int64_t own = part->order < 0 ? 0 : rect_common(&rect, part), all = rect_volume(&rect);
        if (own == all)
            continue;
        const int64_t owners = layout_part_count(&place->layout, &rect, search->arena) - (own > 0);
        const double bytes =
            size * used_share(search, statement, candidate, used, &rect) * (double)(all - own);
        const double seconds = bytes / search->rates.bandwidth + search->rates.latency * (double)owners;
        most = fmax(most, seconds);
        sum += seconds;
    }
    return most + others_matter * sum / search->sample_count;
}

// The share of a tensor's elements.
static double part_of(const SearchTensor *tensor, int64_t elements) {
    double all = 1;
    for (int m = 0; m < tensor->tensor->order; m++)
        all *= (double)tensor->extents[m];
    return (double)elements / all;
}

Place *estimate_place(Search *search, const SearchTensor *tensor, const Placement *placement) {
    Place *place = arena_new(search->arena, Place);
    place->placement = placement;
    place->in_disk = placement && placement->memory == MEMORY_DISK;
    Grid grid;
    int bad;
    place->known =
        placement && machine_grid(placement->machine, search->params, &grid) &&
        layout_create(placement, tensor->tensor->name, &grid, search->params, tensor->tensor->order,
                      tensor->extents, NULL, search->arena, &place->layout, &bad);
    for (int i = 0; i < search->sample_count; i++) {
        place->parts[i].order = -1;
        if (!place->known || search->samples[i] >= grid_size(&grid))
            continue;
        int64_t coordinates[MAX_MACHINE_ORDER];
        RectArray rects = {0};
        grid_coordinates(&grid, search->samples[i], coordinates);
        layout_rects(&place->layout, coordinates, search->arena, &rects);
        if (rects.count == 0)
            continue;
        place->parts[i] = rects.items[0];
        const int64_t elements = rect_volume(&rects.items[0]);
        const int64_t size = (int64_t)type_info(tensor->tensor->type)->size;
        place->bytes = max_i64(place->bytes, tensor_is_sparse(tensor->tensor)
                                                 ? (int64_t)(tensor->bytes * part_of(tensor, elements))
                                                 : saturated_mul(elements, size));
    }
    return place;
}
