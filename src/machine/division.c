// SPDX-License-Identifier: BSD-3-Clause
#include "machine/division.h"

#include "base/integer.h"

#include <string.h>

void division_add(Division *division, Balance balance, int mode_count, int64_t parts) {
    division->mode_count = mode_count;
    division->levels[division->depth++] =
        (DivisionLevel){.balance = balance, .mode_count = mode_count, .parts = parts};
}

static bool same_starts(const DivisionLevel *a, const DivisionLevel *b) {
    return !a->starts == !b->starts &&
           (!a->starts || memcmp(a->starts, b->starts, sizeof(int64_t) * (size_t)(a->parts + 1)) == 0);
}

bool division_equal(const Division *a, const Division *b) {
    bool equal = strcmp(a->tensor, b->tensor) == 0 && a->mode_count == b->mode_count &&
                 memcmp(a->modes, b->modes, sizeof(int) * (size_t)a->mode_count) == 0 &&
                 a->depth == b->depth && a->cell_levels == b->cell_levels;
    for (int l = 0; equal && l < a->cell_levels; l++)
        equal = a->cells[l].mode == b->cells[l].mode && a->cells[l].block == b->cells[l].block;
    for (int l = 0; equal && l < a->depth; l++)
        equal = a->levels[l].balance == b->levels[l].balance &&
                a->levels[l].mode_count == b->levels[l].mode_count &&
                a->levels[l].parts == b->levels[l].parts && same_starts(&a->levels[l], &b->levels[l]);
    return equal;
}

bool division_is_by_entries(const Division *division) {
    return balance_is_by_entries(division->levels[division->depth - 1].balance);
}

int64_t division_parts(const Division *division) {
    int64_t parts = 1;
    for (int l = 0; l < division->depth; l++)
        parts = saturated_mul(parts, division->levels[l].parts);
    return parts;
}

int division_last_run(const Division *division) {
    int first = division->depth - 1;
    while (first > 0 && division->levels[first].balance == BALANCE_STORED &&
           division->levels[first - 1].balance == BALANCE_STORED &&
           division->levels[first - 1].mode_count == division->mode_count)
        first--;
    return first;
}

bool division_base(const Division *division, Division *base) {
    *base = *division;
    base->depth = division_last_run(division);
    while (base->depth > 0 && base->levels[base->depth - 1].balance == BALANCE_NONE)
        base->depth--;
    if (base->depth > 0)
        base->mode_count = base->levels[base->depth - 1].mode_count;
    return base->depth > 0;
}

void division_positions(const Division *division, int64_t total, int64_t *positions) {
    const int first = division_last_run(division);
    int64_t count = 1;
    for (int l = first; l < division->depth; l++)
        count *= division->levels[l].parts;
    for (int64_t q = 0; q < count; q++) {
        int64_t rest = q, inner = count, length = total, start = 0, end = total;
        for (int l = first; l < division->depth; l++) {
            inner /= division->levels[l].parts;
            length = ceil_div(length, division->levels[l].parts);
            start = min_i64(start + rest / inner * length, end);
            end = min_i64(start + length, end);
            rest %= inner;
        }
        positions[q] = start;
    }
    positions[count] = total;
}

int64_t division_cell_count(const Division *division) {
    int64_t count = 1;
    for (int l = 0; l < division->cell_levels; l++)
        count = saturated_mul(count, division->levels[l].parts);
    return count;
}

void division_extents(const Division *division, const int64_t *tensor_extents, int64_t *extents) {
    for (int m = 0; m < division->mode_count; m++)
        extents[m] = division->modes[m] == CELL_MODE ? division_cell_count(division)
                                                     : tensor_extents[division->modes[m]];
}

// The length of the blocks of a level that divides `length` coordinates, and of what it leaves to a part.
static int64_t cell_block(const Division *division, int level, int64_t *length) {
    const int64_t parts = division->levels[level].parts, block = division->cells[level].block;
    if (block > 0) {
        *length = ceil_div(ceil_div(*length, block), parts) * block;
        return block;
    }
    return *length = ceil_div(*length, parts);
}

int64_t division_cell(const Division *division, const int64_t *extents, const int64_t *coordinates) {
    int64_t rest[MAX_ORDER], length[MAX_ORDER], cell = 0;
    memcpy(rest, coordinates, sizeof *rest * (size_t)division->mode_count);
    memcpy(length, extents, sizeof *length * (size_t)division->mode_count);
    for (int l = 0; l < division->cell_levels; l++) {
        const int m = division->cells[l].mode;
        const int64_t parts = division->levels[l].parts, block = cell_block(division, l, &length[m]);
        const int64_t number = rest[m] / block, round = division->cells[l].block > 0 ? number / parts : 0;
        cell = cell * parts + number - round * parts;
        rest[m] = round * block + rest[m] % block;
    }
    return cell;
}

PositionSet division_cell_part(const Division *division, const int64_t *extents, int64_t cell, int mode,
                               Arena *arena) {
    int64_t lengths[MAX_DEPTH] = {0}, left = extents[mode]; // of what each level divides
    for (int l = 0; l < division->cell_levels; l++)
        if (division->cells[l].mode == mode) {
            lengths[l] = left;
            cell_block(division, l, &left);
        }
    PositionSet set = {0, extents[mode], NULL};
    for (int l = division->cell_levels - 1; l >= 0; l--) {
        const int64_t parts = division->levels[l].parts, part = cell % parts;
        const int64_t block = division->cells[l].block, contiguous = ceil_div(lengths[l], parts);
        cell /= parts;
        if (division->cells[l].mode != mode)
            continue;
        if (block > 0) {
            const int64_t rounds = ceil_div(ceil_div(lengths[l], block), parts);
            set = positions_cyclic(positions_clip(set, 0, rounds * block), block, parts, part, arena);
        } else {
            set = positions_shift(positions_clip(set, 0, contiguous), part * contiguous, arena);
        }
        set = positions_clip(set, 0, lengths[l]);
    }
    return set;
}
