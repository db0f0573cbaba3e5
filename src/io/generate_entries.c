// SPDX-License-Identifier: BSD-3-Clause
#include "io/generate_entries.h"

#include "base/integer.h"
#include "io/piece.h"

// Positions that are looked at one by one.
static const int64_t most_positions = 10000000000;

static int64_t position_count(const int64_t *extents, int order) {
    int64_t count = 1;
    for (int d = 0; d < order; d++)
        count = extents[d] == 0 ? 0 : saturated_mul(count, extents[d]);
    return count;
}

static const char *check_positions(const GeneratorValues *values, const Entries *shape, int64_t *units,
                                   Arena *arena) {
    (void)values;
    *units = position_count(shape->extents, shape->order);
    return *units <= most_positions
               ? NULL
               : arena_printf(arena, "it looks at every position, and %lld are the most that it can",
                              (long long)most_positions);
}

static int64_t fill_block(const Generator *generator, const GeneratorValues *values, ElementType generated,
                          int64_t first, int64_t last, GeneratedBlock *block) {
    const int64_t count = min_i64(GENERATED_BLOCK, last - first);
    generator_fill(generator, values, generated, first, 1, count, block);
    return count;
}

static bool is_zero(const GeneratedBlock *block, ElementType generated, int64_t i) {
    return generated == TYPE_I64    ? block->integers[i] == 0
           : generated == TYPE_C128 ? block->parts[i][0] == 0 && block->parts[i][1] == 0
                                    : block->reals[i] == 0;
}

static int64_t count_positions(const Generator *generator, const GeneratorValues *values,
                               const Entries *shape, int64_t first, int64_t last) {
    const ElementType generated = generated_type(generator, shape->type);
    GeneratedBlock block;
    int64_t found = 0;
    for (int64_t p = first, count; p < last; p += count) {
        count = fill_block(generator, values, generated, p, last, &block);
        for (int64_t i = 0; i < count; i++)
            found += !is_zero(&block, generated, i);
    }
    return found;
}

static void fill_positions(const Generator *generator, const GeneratorValues *values, Entries *entries,
                           int64_t first, int64_t last, int64_t at) {
    const ElementType type = entries->type, generated = generated_type(generator, type);
    const Conversion store = type_conversion(generated, type);
    const size_t size = type_info(type)->size, from = type_info(generated)->size;
    GeneratedBlock block;
    for (int64_t p = first, count; p < last; p += count) {
        count = fill_block(generator, values, generated, p, last, &block);
        for (int64_t i = 0; i < count; i++) {
            if (is_zero(&block, generated, i))
                continue;
            int64_t rest = p + i;
            for (int d = entries->order - 1; d >= 0; d--) {
                entries->coordinates[d][at] = rest % entries->extents[d];
                rest /= entries->extents[d];
            }
            store((char *)entries->values + (size_t)at * size, 1, (const char *)&block + (size_t)i * from, 1,
                  1);
            at++;
        }
    }
}

static const EntryGenerator all_positions = {check_positions, count_positions, fill_positions};

enum { PARTS = 256 };

const char *generate_entries(const Generator *generator, const GeneratorValues *values, int share, int shares,
                             int64_t limit, Entries *entries, Arena *arena) {
    const EntryGenerator *by = generator->entries ? generator->entries : &all_positions;
    int64_t units = 0, starts[PARTS + 1] = {0};
    const char *why = generator_is_zero(generator, values) ? NULL : by->check(values, entries, &units, arena);
    if (why)
        // cppcheck-suppress returnDanglingLifetime // texts are in the arena or static
        return why;
    const int64_t first = part_begin(units, shares, share);
    units = part_begin(units, shares, share + 1) - first;
#pragma omp parallel for schedule(dynamic, 1) num_threads(entries_team(units))
    for (int p = 0; p < PARTS; p++)
        starts[p + 1] = by->count(generator, values, entries, first + part_begin(units, PARTS, p),
                                  first + part_begin(units, PARTS, p + 1));
    for (int p = 0; p < PARTS; p++)
        starts[p + 1] += starts[p];
    entries->count = starts[PARTS];
    why = entries_allocate_within(entries, limit, arena);
    if (why)
        return why;
#pragma omp parallel for schedule(dynamic, 1) num_threads(entries_team(units))
    for (int p = 0; p < PARTS; p++)
        by->fill(generator, values, entries, first + part_begin(units, PARTS, p),
                 first + part_begin(units, PARTS, p + 1), starts[p]);
    return NULL;
}
