// SPDX-License-Identifier: BSD-3-Clause
// The rectangles that an access reaches in boxes of its variables. The coordinates of its modes may depend on
// each other, or have gaps: then values of a variable are fixed until they do not.
#include "index/provenance_data.h"

#include "base/integer.h"
#include "relation/affine.h"

static Rect access_rect(const Box *box, const Access *access) {
    Rect rect = {.order = access->tensor->order};
    for (int d = 0; d < rect.order; d++)
        rect_set_mode(&rect, d, box->values[access->vars[d]]);
    return rect;
}

// Whether no other mode has one of the variables of an index, which then says all about these.
static bool is_alone(const Access *access, VarSet operands) {
    int modes = 0;
    for (int m = 0; m < access->tensor->order; m++)
        modes += (access_mode_vars(access, m) & operands) != 0;
    return modes == 1;
}

// The variable with the fewest values, of those with several, that has to be fixed so that the coordinates of
// the modes do not depend on each other, and have no gaps; -1: there is none.
static int dependent_var(const Provenance *provenance, const bool *active, const Access *access,
                         const Box *box) {
    VarSet seen = 0, dependent = 0;
    for (int m = 0; m < access->tensor->order; m++) {
        const VarSet vars = access_mode_vars(access, m);
        dependent |= seen & vars;
        seen |= vars;
    }
    for (int i = 0; i < provenance->relation_count; i++) {
        const NumericRelation *relation = &provenance->relations[i];
        if (!relation->relation.affine || !provenance_is_active(&relation->relation, active))
            continue;
        const VarSet operands = relation_operands(&relation->relation);
        const bool indexes = access_coordinates(access) >> relation->relation.parent[0] & 1;
        const VarSet limited = operands & access_vars(access);
        if (indexes && affine_has_gaps(relation, box))
            dependent |= operands;
        else if (limited & (limited - 1) && !(indexes && is_alone(access, operands)) &&
                 affine_limits_together(relation, box))
            dependent |= limited;
    }
    int fewest = -1;
    for (VarSet left = dependent; left; left &= left - 1) {
        const int v = __builtin_ctzll(left);
        if (box->values[v].hi - box->values[v].lo > 1 &&
            (fewest < 0 || positions_count(box->values[v]) < positions_count(box->values[fewest])))
            fewest = v;
    }
    return fewest;
}

// The box with these values of a variable, and what follows for all indices; false where it has no
// iterations.
static bool fix_values(const Provenance *provenance, const bool *active, Box *box, int var,
                       PositionSet values, Arena *arena) {
    BoxArray boxes = {.items = box, .count = 1, .capacity = 1};
    BoxList list = {.arena = arena, .boxes = &boxes, .limit = INT64_MAX};
    box->values[var] = values;
    // Once more, as an index that comes later may keep the variables of one before.
    for (int i = 0; i < 2 * provenance->relation_count; i++) {
        const NumericRelation *relation = &provenance->relations[i % provenance->relation_count];
        if (relation->relation.affine && provenance_is_active(&relation->relation, active) &&
            !relation->relation.kind->boxes(relation, &list, 0))
            return false;
    }
    return true;
}

// False where there are more than `most`.
static bool add_rects(const Provenance *provenance, const bool *active, const Box *box, const Access *access,
                      int64_t most, Arena *arena, RectArray *rects) {
    const int var = dependent_var(provenance, active, access, box);
    if (var < 0) {
        array_push(arena, *rects, access_rect(box, access));
        return rects->count <= most;
    }
    const PositionSet values = box->values[var];
    const int64_t count = positions_count(values);
    for (int64_t i = 0; i < count && count <= most; i++) {
        Box fixed = *box;
        if (fix_values(provenance, active, &fixed, var, positions_slice(values, i, i + 1), arena) &&
            !add_rects(provenance, active, &fixed, access, most, arena, rects))
            return false;
    }
    return count <= most;
}

// Rectangles around equal parts of the values of a variable.
static void add_parts(const Provenance *provenance, const bool *active, const Box *box, const Access *access,
                      int64_t parts, Arena *arena, RectArray *rects) {
    const int var = dependent_var(provenance, active, access, box);
    const PositionSet values = box->values[var];
    const int64_t count = positions_count(values), size = ceil_div(count, parts);
    for (int64_t i = 0; i < count; i += size) {
        Box fixed = *box;
        const PositionSet part = positions_slice(values, i, min_i64(i + size, count));
        if (fix_values(provenance, active, &fixed, var, part, arena))
            array_push(arena, *rects, access_rect(&fixed, access));
    }
}

void provenance_rects(const Provenance *provenance, const bool *active, const BoxArray *boxes,
                      const Access *access, int64_t most, Arena *arena, RectArray *rects) {
    for (int64_t i = 0; i < boxes->count; i++) {
        const Box *box = &boxes->items[i];
        const int64_t before = rects->count;
        if (most == 0) {
            array_push(arena, *rects, access_rect(box, access));
        } else if (!add_rects(provenance, active, box, access, saturated_add(before, most), arena, rects)) {
            rects->count = before;
            add_parts(provenance, active, box, access, most, arena, rects);
        }
    }
}

// As if all values of a variable left as many of the others as the first one does.
int64_t provenance_rect_count(const Provenance *provenance, const bool *active, const BoxArray *boxes,
                              const Access *access, Arena *arena) {
    int64_t all = 0;
    for (int64_t i = 0; i < boxes->count; i++) {
        Box fixed = boxes->items[i];
        int64_t count = 1;
        for (int var; (var = dependent_var(provenance, active, access, &fixed)) >= 0;) {
            const PositionSet values = fixed.values[var];
            count = saturated_mul(count, positions_count(values));
            if (!fix_values(provenance, active, &fixed, var, positions_slice(values, 0, 1), arena))
                break;
        }
        all = saturated_add(all, count);
    }
    return all;
}
