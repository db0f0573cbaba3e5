// SPDX-License-Identifier: BSD-3-Clause
#include "index/provenance_data.h"

#include "base/integer.h"
#include "relation/balance.h"

#include <string.h>

bool provenance_division(const Cin *cin, const Relation *relation, const int64_t *params, Arena *arena,
                         Division *division) {
    const StoredAccess *access = relation->access;
    *division = (Division){.tensor = access->name};
    if (!cin_positions_are_distributed(cin, relation))
        return false;
    int var = relation->child[0];
    const Relation *by = cin_replaced_by(cin, var);
    if (by->kind->balanced)
        return balance_division(by->balanced, params, arena, division);
    const int count = access->last_level + 1;
    int64_t parts;
    memcpy(division->modes, access->modes, sizeof(int) * (size_t)count);
    for (; by && by->kind->divides && division->depth < MAX_DEPTH &&
           cin_directive(cin, DIRECTIVE_DISTRIBUTE, by->child[0]) &&
           int_eval(by->numbers[0], params, NULL, &parts) && parts > 0;
         by = cin_replaced_by(cin, var)) {
        division_add(division, BALANCE_STORED, count, parts);
        var = by->child[1];
    }
    return division->depth > 0;
}

static const Boundaries *find_boundaries(const Division *division, const int64_t *extents,
                                         const BoundariesArray *known, Arena *arena) {
    const Boundaries *found = boundaries_find(known, division);
    return found ? found : boundaries_even(division, extents, arena);
}

// What entries determine of a relation, before the extents of its children are known.
static bool find_boundaries_of(const Provenance *provenance, const Cin *cin, const int64_t *params,
                               const BoundariesArray *known, NumericRelation *numeric, Arena *arena) {
    const Relation *relation = &numeric->relation;
    Division division;
    int64_t extents[MAX_ORDER];
    for (int l = 0; relation->kind->stored && l <= relation->access->last_level; l++) {
        const int mode = relation->access->modes[l];
        extents[l] = provenance->extents[relation->access->vars[mode]];
        rect_set_mode(&numeric->stored, mode, interval(0, extents[l]));
    }
    numeric->boundaries = relation->stored;
    if (relation->kind->stored && !relation->stored &&
        provenance_division(cin, relation, params, arena, &division)) {
        if (division.cell_levels > 0) { // the mode of cells comes first
            memmove(extents + 1, extents, sizeof *extents * (size_t)(division.mode_count - 1));
            extents[0] = division_cell_count(&division);
        }
        numeric->boundaries = find_boundaries(&division, extents, known, arena);
    }
    if (!relation->kind->balanced)
        return true;
    if (!balance_division(relation->balanced, params, arena, &division))
        return false;
    if (relation->added && !int_eval(relation->added, params, NULL, &numeric->added))
        return false;
    int source = relation->parent[0];
    const Relation *by;
    while ((by = cin_made_by(cin, source)) && !by->kind->stored)
        source = by->parent[0];
    extents[0] = provenance->extents[source] - numeric->added;
    if (!by)
        numeric->boundaries = find_boundaries(&division, extents, known, arena);
    for (int i = 0; i < provenance->relation_count && by; i++)
        if (cin->relations.items[i] == by) // that has made the positions
            numeric->boundaries = provenance->relations[i].boundaries;
    return true;
}

// Sets the value of a variable that is known with entries. Where it is not known, it stands for its own
// extent, which is the most that it can be.
static void find_number(const NumericRelation *numeric, int var, int64_t *value) {
    const Relation *relation = &numeric->relation;
    if (relation->kind->stored && relation->count == var && numeric->boundaries)
        *value = numeric->boundaries->total;
    if (relation->kind->balanced && relation->longest == var)
        *value = balance_longest(numeric);
}

// The first variable that a relation has made; they follow those of the relations before it.
static int first_var(const Relation *relation) {
    return relation->kind->stored     ? relation->count
           : relation->kind->balanced ? relation->longest
                                      : relation->child[0];
}

// Those of the coordinates that are stored at positions.
static VarSet stored_vars(const StoredAccess *access) {
    VarSet vars = 0;
    for (int l = access->first_level; l <= access->last_level; l++)
        vars |= (VarSet)1 << access->vars[access->modes[l]];
    return vars;
}

// The variables whose extents count what a tensor may store, which is no more than MOST_STORED.
static VarSet counting_vars(const Cin *cin) {
    VarSet vars = 0;
    for (int64_t r = cin->relations.count - 1; r >= 0; r--) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind->stored)
            vars |= (VarSet)1 << relation->count | (VarSet)1 << relation->begin | (VarSet)1 << relation->end |
                    relation_parents(relation);
        else if (vars & relation_children(relation))
            vars |= relation_parents(relation);
    }
    for (int v = 0; v < cin->var_count; v++)
        vars &= ~((VarSet)cin->vars[v].source << v);
    return vars;
}

static bool find_extents(Provenance *provenance, const Cin *cin, const int64_t *params,
                         const BoundariesArray *known, Arena *arena, Diagnostics *diagnostics) {
    const VarSet counting = counting_vars(cin);
    int next = 0;
    while (next < provenance->relation_count && cin->relations.items[next]->kind->children == 0)
        next++;
    for (int v = 0; v < cin->var_count; v++) {
        const IndexVar *var = &cin->vars[v];
        int64_t *extent = &provenance->extents[v];
        bool ok = true;
        if (next < provenance->relation_count && first_var(cin->relations.items[next]) == v)
            ok = find_boundaries_of(provenance, cin, params, known, &provenance->relations[next++], arena);
        const bool fits = int_eval(var->extent, params, provenance->extents, extent);
        if (counting >> v & 1)
            *extent = fits ? min_i64(*extent, MOST_STORED) : MOST_STORED;
        else
            ok = ok && fits;
        if (!ok || *extent < 0)
            return diagnostics_error(diagnostics, var->span,
                                     "the extent of '%s' is negative or does not fit into 64 bits",
                                     var->name);
        if (next > 0)
            find_number(&provenance->relations[next - 1], v, extent);
    }
    return true;
}

static void put_in_index(const AffineIndex *index, const int64_t *params, NumericAffine *affine) {
    if (!index || !int_eval(index->constant, params, NULL, &affine->constant))
        return;
    for (int i = 0; i < index->count; i++)
        if (!int_eval(index->coefficients[i], params, NULL, &affine->coefficients[i]))
            affine->coefficients[i] = 1; // the program has been refused
}

static bool put_in_numbers(Provenance *provenance, const Cin *cin, const int64_t *params,
                           NumericRelation *numeric, Arena *arena, Diagnostics *diagnostics) {
    const Relation *relation = &numeric->relation;
    numeric->takes = relation_children(relation) | relation_operands(relation);
    numeric->gives = relation->kind->stored ? stored_vars(relation->access) : relation_parents(relation);
    for (int p = 0; p < relation->kind->parents; p++)
        numeric->parent[p] = provenance->extents[relation->parent[p]];
    for (int c = 0; c < relation->kind->children; c++)
        numeric->child[c] = provenance->extents[relation->child[c]];
    for (int n = 0; n < relation->kind->numbers; n++)
        if (!int_eval(relation->numbers[n], params, NULL, &numeric->numbers[n]))
            numeric->numbers[n] = 0; // the extents have refused it, or the relation does
    numeric->child_may_be_periodic = relation->kind->children > 0 && provenance->derives[relation->child[0]];
    put_in_index(relation->affine, params, &numeric->affine);
    const char *wrong = relation->kind->invalid ? relation->kind->invalid(numeric, arena) : NULL;
    if (wrong)
        return diagnostics_error(diagnostics, relation->span, "%s", wrong);
    int64_t end; // of all blocks, the last of which may extend beyond the parent; balanced parts do not
    if (relation->kind->partitions && !relation->kind->balanced &&
        !checked_mul(numeric->child[0], numeric->child[1], &end))
        return diagnostics_error(diagnostics, relation->span, "the blocks of '%s' reach beyond 64 bits",
                                 cin->vars[relation->parent[0]].name);
    return true;
}

// The values of variables that all indices of one variable allow.
static void find_windows(Provenance *provenance) {
    PositionSet *windows = provenance->windows;
    for (int v = 0; v < provenance->var_count; v++)
        windows[v] = interval(0, provenance->extents[v]);
    for (int i = 0; i < provenance->relation_count; i++) {
        const NumericRelation *relation = &provenance->relations[i];
        if (!relation->relation.affine || relation->relation.operand_count != 1)
            continue;
        PositionSet *window = &windows[relation->relation.operands[0]];
        const PositionSet own = relation->relation.kind->window(relation);
        *window = positions_clip(*window, own.lo, own.hi);
    }
    for (int i = 0; i < provenance->relation_count; i++) {
        NumericRelation *relation = &provenance->relations[i];
        for (int o = 0; relation->relation.affine && o < relation->relation.operand_count; o++) {
            relation->affine.lo[o] = windows[relation->relation.operands[o]].lo;
            relation->affine.hi[o] = windows[relation->relation.operands[o]].hi;
        }
    }
}

Provenance *provenance_create(const Cin *cin, const int64_t *params, const BoundariesArray *known,
                              Arena *arena, Diagnostics *diagnostics) {
    Provenance *provenance = arena_new(arena, Provenance);
    provenance->var_count = cin->var_count;
    provenance->relation_count = (int)cin->relations.count;
    provenance->relations = arena_array(arena, NumericRelation, cin->relations.count);
    for (int i = 0; i < provenance->relation_count; i++)
        provenance->relations[i].relation = *cin->relations.items[i];
    if (!find_extents(provenance, cin, params, known, arena, diagnostics))
        return NULL;
    for (int i = 0; i < provenance->relation_count; i++)
        for (int v = 0; v < cin->var_count; v++)
            provenance->derives[v] |= relation_parents(cin->relations.items[i]) >> v & 1;
    for (int i = 0; i < provenance->relation_count; i++)
        if (!put_in_numbers(provenance, cin, params, &provenance->relations[i], arena, diagnostics))
            return NULL;
    find_windows(provenance);
    return provenance;
}

Provenance *provenance_copy(const Provenance *provenance, Arena *arena) {
    Provenance *copy = arena_copy(arena, provenance, sizeof *provenance);
    copy->relations = arena_copy(arena, provenance->relations,
                                 sizeof *copy->relations * (size_t)provenance->relation_count);
    for (int i = 0; i < copy->relation_count; i++) {
        NumericRelation *relation = &copy->relations[i];
        if (relation->boundaries)
            relation->boundaries = boundaries_copy(relation->boundaries, arena);
    }
    return copy;
}

const NumericRelation *provenance_relation(const Provenance *provenance, int64_t index) {
    return &provenance->relations[index];
}

int64_t provenance_extent(const Provenance *provenance, int var) {
    return provenance->extents[var];
}

PositionSet provenance_window(const Provenance *provenance, int var) {
    return provenance->windows[var];
}

void provenance_ranges(const Provenance *provenance, LoopRanges *ranges) {
    for (int v = 0; v < provenance->var_count; v++)
        ranges_restrict(ranges, v, 0, provenance->extents[v]);
    ranges->requested = ~(VarSet)0;
}

bool provenance_is_active(const Relation *relation, const bool *active) {
    bool all = relation->kind->children == 0 || active[relation->child[0]];
    for (int i = 0; i < relation->operand_count && relation->kind->children == 0; i++)
        all = all && active[relation->operands[i]];
    return all;
}

void provenance_active(const Provenance *provenance, const int *loops, int loop_count, bool *active) {
    memset(active, 0, sizeof(bool) * MAX_VARS);
    for (int i = 0; i < loop_count; i++)
        active[loops[i]] = true;
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const Relation *relation = &provenance->relations[i].relation;
        for (int p = 0; provenance_is_active(relation, active) && p < relation->kind->parents; p++)
            active[relation->parent[p]] = true;
    }
}

// Whether every combination of values of the children gives values of the parents.
static bool is_total(const NumericRelation *relation) {
    const RelationKind *kind = relation->relation.kind;
    const int64_t most = MOST_STORED;
    if (kind->children == 0)
        return false;
    if (kind->balanced && relation->relation.operand_count > 0)
        return false; // parts around have different lengths
    return min_i64(saturated_mul(relation->child[0], kind->children == 2 ? relation->child[1] : 1), most) ==
           min_i64(saturated_mul(relation->parent[0], kind->parents == 2 ? relation->parent[1] : 1), most);
}

// The relations, as a set of bits, through which the coordinates of the access, or the existence of an
// iteration, depend on the loops. Others determine variables that are not requested. In order of derivation,
// as older relations use what newer ones determine.
static uint64_t relations_of(const Provenance *provenance, const bool *active, VarSet requested) {
    uint64_t relations = 0;
    for (int i = 0; i < provenance->relation_count; i++) {
        const NumericRelation *relation = &provenance->relations[i];
        if (!provenance_is_active(&relation->relation, active) ||
            (is_total(relation) && !(relation->gives & requested)))
            continue;
        requested |= relation->takes;
        relations |= UINT64_C(1) << i;
    }
    return relations;
}

// What `vars` depend on, directly or through relations.
static VarSet connected(const Provenance *provenance, const bool *active, VarSet vars,
                        bool through_rotations) {
    VarSet found = vars;
    const uint64_t relations = relations_of(provenance, active, found);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < provenance->relation_count; i++) {
            const NumericRelation *relation = &provenance->relations[i];
            VarSet of = relation->takes | relation->gives;
            if (relation->relation.kind->rotates && !through_rotations)
                of &= ~relation_operands(&relation->relation);
            if (!(relations >> i & 1) || !(of & found) || !(of & ~found))
                continue;
            found |= of;
            grown = true;
        }
    }
    return found;
}

void provenance_related(const Provenance *provenance, const bool *active, const Access *access,
                        bool *related) {
    const VarSet found = connected(provenance, active, access_coordinates(access), true);
    for (int v = 0; v < MAX_VARS; v++)
        related[v] = found >> v & 1;
}

void provenance_located(const Provenance *provenance, const bool *active, VarSet vars, bool *located) {
    const VarSet found = connected(provenance, active, vars, false);
    for (int v = 0; v < MAX_VARS; v++)
        located[v] = found >> v & 1;
}

const Relation *provenance_rotation(const Provenance *provenance, const bool *active) {
    const Relation *found = NULL;
    for (int i = 0; i < provenance->relation_count; i++) {
        const Relation *relation = &provenance->relations[i].relation;
        if (!relation->kind->rotates || !provenance_is_active(relation, active))
            continue;
        if (found)
            return NULL;
        found = relation;
    }
    return found;
}

// Sets the values of the active loops, which are `known` then; false if one has none.
static bool start(const Provenance *provenance, const bool *active, const LoopRanges *ranges, Box *box,
                  VarSet *known) {
    *known = 0;
    for (int v = 0; v < provenance->var_count; v++) {
        if (!active[v] || provenance->derives[v])
            continue;
        box->values[v] = interval(ranges->lo[v], min_i64(ranges->hi[v], provenance->extents[v]));
        if (box->values[v].lo >= box->values[v].hi)
            return false;
        *known |= (VarSet)1 << v;
    }
    return true;
}

// The loops whose values are used by one relation only and are not requested.
static VarSet used_once(const Provenance *provenance, VarSet loops, VarSet requested) {
    VarSet once = 0, more = requested;
    for (int i = 0; i < provenance->relation_count; i++) {
        more |= once & provenance->relations[i].takes;
        once |= provenance->relations[i].takes;
    }
    return loops & once & ~more;
}

// Applies the relations, from the last to the first, to the first box in the list. Returns the first
// relation, in this order, at which the list was full, or -1.
static int make_boxes(const Provenance *provenance, VarSet *known, int64_t first, BoxList *list) {
    BoxArray *boxes = list->boxes;
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const NumericRelation *relation = &provenance->relations[i];
        if (relation->takes & ~*known)
            continue;
        *known |= relation->gives;
        int64_t count = boxes->count; // boxes that the relation itself adds have their values already
        for (int64_t at = first; at < count;) {
            if (relation->relation.kind->boxes(relation, list, at)) {
                at++;
                continue;
            }
            boxes->items[at] = boxes->items[count - 1];
            boxes->items[count - 1] = boxes->items[boxes->count - 1];
            boxes->count--;
            count--;
        }
        if (list->full)
            return i;
    }
    return -1;
}

// An index of several variables limits these, and with that others that were found before: all are found
// again, until nothing changes, or a few times. False where there are no iterations.
static bool limit_box(const Provenance *provenance, VarSet known, BoxList *list, int64_t at) {
    enum { MOST_ROUNDS = 8 };
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bool changed = false;
        for (int i = 0; i < provenance->relation_count; i++) {
            const NumericRelation *relation = &provenance->relations[i];
            const Box before = list->boxes->items[at];
            if (!relation->relation.affine || relation->takes & ~known)
                continue;
            if (!relation->relation.kind->boxes(relation, list, at))
                return false;
            for (int o = 0; o < relation->relation.operand_count; o++) {
                const int v = relation->relation.operands[o];
                const PositionSet *now = &list->boxes->items[at].values[v];
                changed |= now->lo != before.values[v].lo || now->hi != before.values[v].hi;
            }
        }
        if (!changed)
            return true;
    }
    return true;
}

static void limit_boxes(const Provenance *provenance, VarSet known, int64_t first, BoxList *list) {
    BoxArray *boxes = list->boxes;
    bool several = false;
    for (int i = 0; i < provenance->relation_count; i++) {
        const Relation *relation = &provenance->relations[i].relation;
        several |= relation->affine && relation->operand_count > 1;
    }
    for (int64_t at = first; several && at < boxes->count;)
        if (limit_box(provenance, known, list, at))
            at++;
        else
            boxes->items[at] = boxes->items[--boxes->count];
}

void provenance_boxes(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                      Arena *arena, BoxArray *boxes) {
    const int64_t first = boxes->count;
    BoxList list = {.arena = arena, .boxes = boxes, .limit = INT64_MAX};
    array_push(arena, *boxes, (Box){0});
    VarSet known;
    const bool any = start(provenance, active, ranges, &boxes->items[first], &known);
    list.used_once = used_once(provenance, known, ranges->requested);
    if (any) {
        make_boxes(provenance, &known, first, &list);
        limit_boxes(provenance, known, first, &list);
    } else {
        boxes->count = first;
    }
}

bool provenance_check(const Provenance *provenance, const Cin *cin, const Nest *nest, const Access *access,
                      VarSet fixed, Diagnostics *diagnostics) {
    bool active[MAX_VARS], related[MAX_VARS];
    LoopRanges ranges;
    Arena *scratch = arena_create_within(cin->arena);
    BoxArray boxes = {0};
    BoxList list = {.arena = scratch, .boxes = &boxes, .limit = MAX_BOXES};
    int relation = -1;
    provenance_active(provenance, nest->loops, nest->loop_count, active);
    provenance_related(provenance, active, access, related);
    provenance_ranges(provenance, &ranges);
    for (int v = 0; v < provenance->var_count; v++)
        if (fixed >> v & 1)
            ranges_fix(&ranges, v, 0);
    ranges.requested = access_coordinates(access);
    array_push(scratch, boxes, (Box){0});
    VarSet known;
    const bool any = start(provenance, related, &ranges, &boxes.items[0], &known);
    list.used_once = used_once(provenance, known, ranges.requested);
    if (any)
        relation = make_boxes(provenance, &known, 0, &list);
    arena_free(scratch);
    if (relation < 0)
        return true;
    const Relation *own = &provenance->relations[relation].relation;
    return diagnostics_error(diagnostics, own->span,
                             "what one step uses of '%s' is in more than %d parts, because '%s' is %s; "
                             "communicate '%s' at a loop further inside",
                             access->tensor->name, MAX_BOXES, cin->vars[own->parent[0]].name, own->kind->done,
                             access->tensor->name);
}

bool provenance_bounding_box(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                             BoundingBox *bounds) {
    VarSet known;
    if (!start(provenance, active, ranges, &bounds->box, &known))
        return false;
    for (int i = provenance->relation_count - 1; i >= 0; i--) {
        const NumericRelation *relation = &provenance->relations[i];
        if (relation->takes & ~known)
            continue;
        known |= relation->gives;
        if (!relation->relation.kind->bound(relation, bounds))
            return false;
    }
    return true;
}

PositionSet provenance_image(const Provenance *provenance, const Box *box, int var, int inner,
                             PositionSet values, Arena *arena) {
    if (var == inner)
        return values;
    const NumericRelation *relation = provenance->relations;
    while (relation->relation.parent[0] != var)
        relation++;
    const Relation *own = &relation->relation;
    const PositionSet part = provenance_image(provenance, box, own->child[1], inner, values, arena);
    return positions_clip(own->kind->part(relation, box, part, arena), 0, provenance->extents[var]);
}
