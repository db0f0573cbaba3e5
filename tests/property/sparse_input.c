// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_input.h"

#include "random.h"

enum { MOST = 1 << 16, TRIES = 40, SPREAD = 6 };

// The number of elements, if it is not more than MOST; else 0. *empty: there are none.
static int64_t few_elements(const Entries *entries, bool *empty) {
    int64_t product = 1;
    *empty = false;
    for (int d = 0; d < entries->order; d++)
        *empty |= entries->extents[d] == 0;
    for (int d = 0; d < entries->order; d++) {
        if (*empty || entries->extents[d] > MOST / product)
            return 0;
        product *= entries->extents[d];
    }
    return product;
}

static void set_coordinates(Entries *entries, int64_t position) {
    for (int d = entries->order - 1; d >= 0; d--) {
        entries->coordinates[d][entries->count] = position % entries->extents[d];
        position /= entries->extents[d];
    }
    entries->count++;
}

static bool takes(Fill fill, Random *random, int64_t row, int64_t chosen_row) {
    static const int percents[] = {[FILL_FEW] = 3, [FILL_TENTH] = 10, [FILL_HALF] = 50, [FILL_ALL] = 100};
    return fill == FILL_ROW ? row == chosen_row : random_chance(random, percents[fill]);
}

static void draw_by_element(Entries *entries, int64_t elements, Fill fill, Random *random) {
    const int64_t rows = entries->extents[0];
    const int64_t chosen = (int64_t)(random_next(random) % (uint64_t)(fill == FILL_ROW ? rows : elements));
    if (fill == FILL_ONE) {
        set_coordinates(entries, chosen);
        return;
    }
    for (int64_t p = 0; p < elements; p++)
        if (takes(fill, random, p / (elements / rows), chosen))
            set_coordinates(entries, p);
}

// One of a few coordinates of a mode, so that tensors have some in common: those at its ends among them.
static int64_t draw_coordinate(int64_t extent, Random *random) {
    const uint64_t which = random_next(random) % SPREAD;
    return which == 0 ? 0 : (int64_t)(((uint64_t)extent - 1) / (SPREAD - 1) * which);
}

static bool is_there(const Entries *entries, int64_t entry) {
    for (int64_t e = 0; e < entry; e++) {
        bool equal = true;
        for (int d = 0; d < entries->order; d++)
            equal &= entries->coordinates[d][e] == entries->coordinates[d][entry];
        if (equal)
            return true;
    }
    return false;
}

static void draw_by_entry(Entries *entries, Fill fill, Random *random) {
    static const int tries[] = {[FILL_ONE] = 1,    [FILL_ROW] = 8,   [FILL_FEW] = 4,
                                [FILL_TENTH] = 12, [FILL_HALF] = 25, [FILL_ALL] = TRIES};
    const int64_t row = draw_coordinate(entries->extents[0], random);
    for (int i = 0; i < tries[fill]; i++) {
        for (int d = 0; d < entries->order; d++)
            entries->coordinates[d][entries->count] =
                d == 0 && fill == FILL_ROW ? row : draw_coordinate(entries->extents[d], random);
        entries->count += !is_there(entries, entries->count);
    }
}

bool draw_entries(Entries *entries, Fill fill, uint64_t seed) {
    Random random = random_stream(seed, 17);
    bool empty;
    const int64_t elements = few_elements(entries, &empty);
    entries->count = elements ? elements : TRIES;
    if (entries_allocate(entries))
        return false;
    entries->count = 0;
    if (empty || fill == FILL_NONE)
        return true;
    if (elements)
        draw_by_element(entries, elements, fill, &random);
    else
        draw_by_entry(entries, fill, &random);
    // In any order.
    for (int64_t e = entries->count - 1; e > 0; e--) {
        const int64_t other = random_below(&random, (int)e + 1);
        for (int d = 0; d < entries->order; d++) {
            const int64_t kept = entries->coordinates[d][e];
            entries->coordinates[d][e] = entries->coordinates[d][other];
            entries->coordinates[d][other] = kept;
        }
    }
    return true;
}
