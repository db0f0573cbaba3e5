// SPDX-License-Identifier: BSD-3-Clause
// Generators of entries: drawn coordinates, graphs as those of Graph500, and stencils on grids.
#include "base/random.h"
#include "io/generators.h"

#include "base/integer.h"
#include "io/piece.h"

#include <math.h>

static void set_value(Entries *entries, int64_t at, double value) {
    const TypeInfo *info = type_info(entries->type);
    const int64_t integer = (int64_t)value;
    const Conversion store = type_conversion(info->is_integer ? TYPE_I64 : TYPE_F64, entries->type);
    store((char *)entries->values + at * (int64_t)info->size, 1,
          info->is_integer ? (const void *)&integer : (const void *)&value, 1, 1);
}

// A drawn value of tensors of this type: as those of `random`.
static void set_random(Entries *entries, int64_t at, uint64_t seed, int64_t e) {
    const TypeInfo *info = type_info(entries->type);
    if (info->is_complex) {
        const double parts[] = {random_fraction(seed, e), random_fraction(seed + IMAGINARY_SEED, e)};
        type_conversion(TYPE_C128, entries->type)((char *)entries->values + at * (int64_t)info->size, 1,
                                                  parts, 1, 1);
        return;
    }
    set_value(entries, at, random_fraction(seed, e) * (info->is_integer ? 1024 : 1));
}

static int64_t count_one_each(const Generator *generator, const GeneratorValues *values, const Entries *shape,
                              int64_t first, int64_t last) {
    (void)generator, (void)values, (void)shape;
    return last - first;
}

// Entry e has in mode d the coordinate floor(extent[d] * value(SEED, e * order + d)).
static const char *check_sparse(const GeneratorValues *values, const Entries *shape, int64_t *units,
                                Arena *arena) {
    (void)arena;
    *units = values->count;
    for (int d = 0; d < shape->order; d++)
        if (shape->extents[d] == 0)
            *units = 0;
    return NULL;
}

static void fill_sparse(const Generator *generator, const GeneratorValues *values, Entries *entries,
                        int64_t first, int64_t last, int64_t at) {
    (void)generator;
    for (int64_t e = first; e < last; e++, at++) {
        for (int d = 0; d < entries->order; d++) {
            const int64_t extent = entries->extents[d];
            const double x = (double)extent * random_fraction(values->seed, e * entries->order + d);
            entries->coordinates[d][at] = min_i64((int64_t)x, extent - 1); // an extent may be rounded up
        }
        set_random(entries, at, values->seed + 1, e);
    }
}

const EntryGenerator entry_generator_sparse = {check_sparse, count_one_each, fill_sparse};

// Edge e chooses, for the bits of row and column from the highest one, one of four quadrants.
static const char *check_rmat(const GeneratorValues *values, const Entries *shape, int64_t *units,
                              Arena *arena) {
    const int64_t vertices = INT64_C(1) << values->scale;
    *units = values->count;
    if (shape->order != 2 || shape->extents[0] < vertices || shape->extents[1] < vertices)
        return arena_printf(arena, "it needs a matrix with at least %lld rows and columns",
                            (long long)vertices);
    return NULL;
}

static void fill_rmat(const Generator *generator, const GeneratorValues *values, Entries *entries,
                      int64_t first, int64_t last, int64_t at) {
    (void)generator;
    for (int64_t e = first; e < last; e++, at++) {
        int64_t row = 0, column = 0;
        for (int b = 0; b < values->scale; b++) {
            const double x = random_fraction(values->seed, e * values->scale + b);
            row = 2 * row + (x >= 0.57 + 0.19);
            column = 2 * column + ((x >= 0.57 && x < 0.57 + 0.19) || x >= 0.57 + 0.19 + 0.19);
        }
        entries->coordinates[0][at] = row;
        entries->coordinates[1][at] = column;
        set_random(entries, at, values->seed + 1, e);
    }
}

const EntryGenerator entry_generator_rmat = {check_rmat, count_one_each, fill_rmat};

// A stencil, by its number of points: how many dimensions it has, and whether its points are a cube or a
// star.
typedef struct {
    int points, dimensions;
    bool star;
} Stencil;
static const Stencil stencils[] = {{3, 1, false}, {5, 2, true}, {9, 2, false}, {7, 3, true}, {27, 3, false}};
enum { STENCILS = sizeof stencils / sizeof *stencils };

static const Stencil *stencil_of(const GeneratorValues *values) {
    for (int i = 0; i < STENCILS; i++)
        if (stencils[i].points == values->count)
            return &stencils[i];
    return NULL;
}

bool stencil_exists(int64_t points) {
    return stencil_of(&(GeneratorValues){.count = points}) != NULL;
}

static int64_t power(int64_t base, int exponent) {
    int64_t result = 1;
    for (int i = 0; i < exponent; i++)
        result = saturated_mul(result, base);
    return result;
}

// The side of a grid with this number of points, rounded down: its power is not `points` where there is none.
static int64_t side_of(int64_t points, int dimensions) {
    int64_t side = (int64_t)llround(pow((double)points, 1.0 / dimensions));
    while (side > 0 && power(side, dimensions) > points)
        side--;
    while (power(side + 1, dimensions) <= points)
        side++;
    return side;
}

static const char *check_stencil(const GeneratorValues *values, const Entries *shape, int64_t *units,
                                 Arena *arena) {
    const Stencil *stencil = stencil_of(values);
    if (shape->order != 2 || shape->extents[0] != shape->extents[1] || shape->extents[0] > INT64_C(1) << 53 ||
        power(side_of(shape->extents[0], stencil->dimensions), stencil->dimensions) != shape->extents[0])
        return arena_printf(arena, "it needs a square matrix%s",
                            stencil->dimensions == 1 ? ""
                            : stencil->dimensions == 2
                                ? " whose number of rows is a square, as 100 = 10 * 10"
                                : " whose number of rows is a cube, as 1000 = 10 * 10 * 10");
    *units = shape->extents[0];
    return NULL;
}

// The neighbours of a point that are on the grid, in increasing order; their number.
static int neighbours(const Stencil *stencil, int64_t side, int64_t point, int64_t to[27]) {
    int count = 0;
    int64_t x[3] = {0};
    for (int d = stencil->dimensions - 1; d >= 0; d--) {
        x[d] = point % side;
        point /= side;
    }
    for (int n = 0; n < (int)power(3, stencil->dimensions); n++) {
        int64_t neighbour = 0, stride = 1;
        int apart = 0, rest = n;
        bool inside = true;
        for (int d = stencil->dimensions - 1; d >= 0; d--, rest /= 3, stride *= side) {
            const int step = rest % 3 - 1;
            apart += step != 0;
            inside = inside && x[d] + step >= 0 && x[d] + step < side;
            neighbour += (x[d] + step) * stride;
        }
        if (inside && (apart <= 1 || !stencil->star))
            to[count++] = neighbour;
    }
    return count;
}

static int64_t count_stencil(const Generator *generator, const GeneratorValues *values, const Entries *shape,
                             int64_t first, int64_t last) {
    (void)generator;
    const Stencil *stencil = stencil_of(values);
    const int64_t side = side_of(shape->extents[0], stencil->dimensions);
    int64_t count = 0, to[27];
    for (int64_t point = first; point < last; point++)
        count += neighbours(stencil, side, point, to);
    return count;
}

static void fill_stencil(const Generator *generator, const GeneratorValues *values, Entries *entries,
                         int64_t first, int64_t last, int64_t at) {
    (void)generator;
    const Stencil *stencil = stencil_of(values);
    const int64_t side = side_of(entries->extents[0], stencil->dimensions);
    for (int64_t point = first; point < last; point++) {
        int64_t to[27];
        const int count = neighbours(stencil, side, point, to);
        for (int n = 0; n < count; n++, at++) {
            entries->coordinates[0][at] = point;
            entries->coordinates[1][at] = to[n];
            set_value(entries, at, to[n] == point ? stencil->points - 1 : -1);
        }
    }
}

const EntryGenerator entry_generator_stencil = {check_stencil, count_stencil, fill_stencil};
