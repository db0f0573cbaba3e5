// SPDX-License-Identifier: BSD-3-Clause
#include "plan/joint.h"

#include "base/integer.h"
#include "format/cut.h"
#include "index/presence.h"

#include <math.h>
#include <string.h>

enum {
    MAX_TERMS = 16, // products of which a sum is one
    MAX_FACTORS = 16,
    WALKS = 8192,            // of each term
    SLICES = 64,             // of the result
    SLICE_POINTS = 1 << 20,  // the most that are listed of one
    LISTED_POINTS = 1 << 23, // and of all
};

// An operand, which entries are looked up in.
typedef struct {
    const Access *access;
    const StoredTensor *stored;
    Cutter cutter;
} Factor;

// A product of operands, in the order of a walk. An empty one has a value everywhere.
typedef struct {
    int count;
    Factor factors[MAX_FACTORS];
    VarSet vars; // that index them
} Term;

typedef struct {
    const Spmd *spmd;
    int stored_count;
    const StoredTensor *const *stored;
    ElementType type;
    int64_t limit;
    Arena *scratch;
    double extents[MAX_VARS]; // of the variables that index sparse operands
    int row;                  // the variable of slices of the result; -1: none are counted
    int term_count;
    Term terms[MAX_TERMS];
} Joint;

// The tensor that a copy of an operand has the entries of.
static const StoredTensor *find_stored(const Joint *joint, const Tensor *tensor) {
    const Spmd *spmd = joint->spmd;
    for (int t = 0; t < spmd->transfer_count; t++)
        if (spmd->transfers[t].kind == TRANSFER_FETCH && spmd->transfers[t].access->tensor == tensor)
            tensor = spmd->transfers[t].statement_access->tensor;
    tensor = tensor_as_given(tensor);
    return tensor->id < joint->stored_count ? joint->stored[tensor->id] : NULL;
}

// Whether each mode has a variable of its own.
static bool is_plain(const Access *access) {
    VarSet seen = 0;
    for (int m = 0; m < access->tensor->order; m++) {
        const int var = access_mode_var(access, m);
        if (var < 0 || access->indices[m] || seen >> var & 1)
            return false;
        seen |= (VarSet)1 << var;
    }
    return access_vars(access) == seen; // nothing around a row workspace
}

static bool append_product(Joint *joint, const Term *left, const Term *right) {
    if (joint->term_count == MAX_TERMS || left->count + right->count > MAX_FACTORS)
        return false;
    Term *term = &joint->terms[joint->term_count++];
    *term = *left;
    term->vars |= right->vars;
    for (int f = 0; f < right->count; f++)
        term->factors[term->count++] = right->factors[f];
    return true;
}

// Appends the products that a sum of them has a value with. False where it is not known where.
static bool append_terms(Joint *joint, const Expr *expr) {
    const Presence presence = expr_presence(expr, joint->type);
    const int first = joint->term_count;
    Term term = {0};
    if (presence == PRESENT_STORED) {
        const Access *access = expr->access;
        const StoredTensor *stored = find_stored(joint, access->tensor);
        if (!tensor_is_sparse(access->tensor) || !stored || !is_plain(access))
            return false;
        term = (Term){1,
                      {{.access = access, .stored = stored, .cutter = {.tensor = stored, .often = true}}},
                      access_vars(access)};
        for (int m = 0; m < access->tensor->order; m++)
            joint->extents[access_mode_var(access, m)] = (double)stored->extents[m];
    }
    if (presence == PRESENT_STORED || presence == PRESENT_ALWAYS)
        return append_product(joint, &term, &(Term){0});
    if (presence != PRESENT_RIGHT && !append_terms(joint, expr->left))
        return false;
    const int middle = joint->term_count;
    if (presence != PRESENT_LEFT && !append_terms(joint, expr->right))
        return false;
    if (presence != PRESENT_BOTH)
        return true;
    Term *products = arena_array(joint->scratch, Term, MAX_TERMS);
    const int left_count = middle - first, right_count = joint->term_count - middle;
    memcpy(products, joint->terms + first, sizeof(Term) * (size_t)(left_count + right_count));
    joint->term_count = first;
    for (int l = 0; l < left_count; l++)
        for (int r = 0; r < right_count; r++)
            if (!append_product(joint, &products[l], &products[left_count + r]))
                return false;
    return true;
}

// The share of all points if entries of operands are independent of each other.
static double independent_share(const Joint *joint, const Expr *expr) {
    const Presence presence = expr_presence(expr, joint->type);
    if (presence == PRESENT_ALWAYS)
        return 1;
    if (presence == PRESENT_STORED) {
        const StoredTensor *stored = find_stored(joint, expr->access->tensor);
        double elements = 1;
        for (int m = 0; m < stored->order; m++)
            elements *= (double)stored->extents[m];
        return elements > 0 ? fmin(1, (double)stored_count(stored) / elements) : 0;
    }
    const double left = presence == PRESENT_RIGHT ? 1 : independent_share(joint, expr->left);
    const double right = presence == PRESENT_LEFT ? 1 : independent_share(joint, expr->right);
    return presence == PRESENT_EITHER ? fmin(1, left + right) : left * right;
}

static double volume(const Joint *joint, VarSet vars) {
    double points = 1;
    for (; vars; vars &= vars - 1)
        points *= joint->extents[__builtin_ctzll(vars)];
    return points;
}

// Whether a walk goes on to the first factor rather than to the second one: it has more variables that are
// bound, or else more entries. The first operand of all is one with the variable of slices.
static bool is_better(const Joint *joint, VarSet bound, const Factor *factor, const Factor *than) {
    const VarSet row = bound || joint->row < 0 ? 0 : (VarSet)1 << joint->row;
    const int a = __builtin_popcountll(access_vars(factor->access) & (bound | row));
    const int b = __builtin_popcountll(access_vars(than->access) & (bound | row));
    return a != b ? a > b : stored_count(factor->stored) > stored_count(than->stored);
}

// Which entries of an operand have the values of these variables.
static Rect rect_of(const Factor *factor, VarSet bound, const int64_t *values) {
    Rect rect = rect_whole(factor->stored->order, factor->stored->extents);
    for (int m = 0; m < rect.order; m++) {
        const int var = access_mode_var(factor->access, m);
        if (bound >> var & 1)
            rect_set_mode(&rect, m, (PositionSet){values[var], values[var] + 1, NULL});
    }
    return rect;
}

static void order_factors(const Joint *joint, Term *term) {
    VarSet bound = 0;
    for (int f = 0; f < term->count; f++) {
        int best = f;
        for (int other = f + 1; other < term->count; other++)
            if (is_better(joint, bound, &term->factors[other], &term->factors[best]))
                best = other;
        const Factor next = term->factors[best];
        term->factors[best] = term->factors[f];
        term->factors[f] = next;
        bound |= access_vars(next.access);
    }
}

// Prepares operands to be looked up in with the variables that walks have bound before.
static const char *prepare(Joint *joint, Term *term) {
    const int64_t zeros[MAX_VARS] = {0};
    VarSet bound = joint->row < 0 ? 0 : (VarSet)1 << joint->row;
    const char *why = NULL;
    for (int f = 0; f < term->count && !why; f++) {
        Factor *factor = &term->factors[f];
        const Rect rect = rect_of(factor, bound, zeros), *only = &rect;
        if (stored_count(factor->stored) > 0)
            why = cutter_prepare(&factor->cutter, 1, &only, joint->limit, joint->scratch);
        bound |= access_vars(factor->access);
    }
    return why;
}

static void bind(const Factor *factor, const Entries *entries, int64_t e, int64_t *values) {
    for (int m = 0; m < entries->order; m++)
        values[access_mode_var(factor->access, m)] = entries->coordinates[m][e];
}

// The entry with this number among those in slices.
static Slice slice_of(const SliceArray *slices, int64_t number) {
    int64_t s = 0;
    while (number >= slices->items[s].count)
        number -= slices->items[s++].count;
    return (Slice){slices->items[s].first + number, 1};
}

static uint64_t next_random(uint64_t *state) { // SplitMix64
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

// The points that the walk stands for from this factor on, one over the probability with which it is taken.
static double walk_on(const Joint *joint, const Term *term, int f, VarSet bound, int64_t *values,
                      uint64_t *state) {
    if (f == term->count)
        return 1;
    const Factor *factor = &term->factors[f];
    const Rect rect = rect_of(factor, bound, values), *only = &rect;
    SliceArray slices = {0}, one = {0};
    const int64_t found = cutter_cut(&factor->cutter, 1, &only, joint->scratch, &slices);
    if (found == 0 || f == term->count - 1)
        return (double)found;
    Entries entry;
    array_push(joint->scratch, one, slice_of(&slices, (int64_t)(next_random(state) % (uint64_t)found)));
    const char *why = stored_unpack_slices(factor->stored, &one, &entry);
    if (!why)
        bind(factor, &entry, 0, values);
    entries_free(&entry);
    return why ? 0
               : (double)found *
                     walk_on(joint, term, f + 1, bound | access_vars(factor->access), values, state);
}

// A walk that has been taken: its slice of the result, and the points that it stands for.
typedef struct {
    int64_t row;
    double points;
} Walk;
typedef Array(Walk) WalkArray;

// Entries of the first operand of a walk, evenly spread among all of them.
static const char *first_entries(const Joint *joint, const Factor *factor, Entries *entries) {
    const Cutter whole = {.tensor = factor->stored};
    const Rect rect = rect_whole(factor->stored->order, factor->stored->extents), *only = &rect;
    SliceArray slices = {0}, chosen = {0};
    const int64_t count = cutter_cut(&whole, 1, &only, joint->scratch, &slices);
    const int64_t walks = min_i64(count, WALKS);
    int64_t s = 0, before = 0; // entries in the slices before s
    for (int64_t w = 0; w < walks; w++) {
        const int64_t number = (int64_t)(((double)w + 0.5) * (double)count / (double)walks);
        while (number - before >= slices.items[s].count)
            before += slices.items[s++].count;
        const Slice slice = {slices.items[s].first + number - before, 1};
        array_push(joint->scratch, chosen, slice);
    }
    return stored_unpack_slices(factor->stored, &chosen, entries);
}

// The points of a term; its walks are appended.
static double term_points(Joint *joint, const Term *term, WalkArray *walks, Arena *arena) {
    if (term->count == 0)
        return 1;
    const Factor *first = &term->factors[0];
    int64_t values[MAX_VARS] = {0};
    uint64_t state = 0;
    double points = 0;
    Entries entries;
    const char *why = first_entries(joint, first, &entries);
    const double each = entries.count > 0 ? (double)stored_count(first->stored) / (double)entries.count : 0;
    for (int64_t e = 0; !why && e < entries.count; e++) {
        arena_reset(joint->scratch);
        bind(first, &entries, e, values);
        const Walk walk = {joint->row < 0 ? 0 : values[joint->row],
                           each * walk_on(joint, term, 1, access_vars(first->access), values, &state)};
        points += walk.points;
        array_push(arena, *walks, walk);
    }
    entries_free(&entries);
    return points;
}

// The points of a slice of the result, with the coordinates that they have there.
typedef struct {
    const Access *result;
    Entries found; // with room for SLICE_POINTS
} Listed;

// Lists the points of a term from this factor on, as far as there is room.
static void list_points(const Joint *joint, const Term *term, int f, VarSet bound, int64_t *values,
                        Listed *listed) {
    Entries *found = &listed->found;
    if (found->count == SLICE_POINTS)
        return;
    if (f == term->count) {
        for (int m = 0; m < found->order; m++)
            found->coordinates[m][found->count] = values[access_mode_var(listed->result, m)];
        found->count++;
        return;
    }
    const Factor *factor = &term->factors[f];
    const Rect rect = rect_of(factor, bound, values), *only = &rect;
    SliceArray slices = {0};
    Entries entries;
    cutter_cut(&factor->cutter, 1, &only, joint->scratch, &slices);
    if (stored_unpack_slices(factor->stored, &slices, &entries))
        entries.count = 0;
    for (int64_t e = 0; e < entries.count; e++) {
        bind(factor, &entries, e, values);
        list_points(joint, term, f + 1, bound | access_vars(factor->access), values, listed);
    }
    entries_free(&entries);
}

// How many of the points of a slice have coordinates of their own: a share of them.
static double distinct_share(const Joint *joint, int64_t row, Listed *listed, int64_t *left) {
    int64_t values[MAX_VARS] = {0};
    int modes[MAX_ORDER];
    Entries distinct;
    listed->found.count = 0;
    for (int m = 0; m < listed->found.order; m++)
        modes[m] = m;
    for (int t = 0; t < joint->term_count; t++) {
        arena_reset(joint->scratch);
        values[joint->row] = row;
        list_points(joint, &joint->terms[t], 0, (VarSet)1 << joint->row, values, listed);
    }
    *left -= listed->found.count;
    const char *why = entries_distinct(&listed->found, listed->found.order, modes, &distinct);
    const double share =
        why || listed->found.count == 0 ? 1 : (double)distinct.count / (double)listed->found.count;
    entries_free(&distinct);
    return share;
}

// Number i of SLICES with its bits reversed, so that the first ones are spread evenly, too.
static int spread(int i) {
    int reversed = 0;
    for (int bit = 1; bit < SLICES; bit *= 2, i /= 2)
        reversed = 2 * reversed + i % 2;
    return reversed;
}

// Coordinates of the result that some of the points have. -1: not known.
static double count_coordinates(const Joint *joint, const Access *result, double points,
                                const WalkArray *walks) {
    Listed listed = {.result = result, .found = {.type = TYPE_F64, .order = result->tensor->order}};
    int64_t left = LISTED_POINTS;
    double shares = 0;
    int count = 0;
    if (joint->term_count == 1 && joint->terms[0].vars == access_vars(result))
        return points;
    for (int m = 0; m < listed.found.order; m++)
        listed.found.extents[m] = (int64_t)joint->extents[access_mode_var(result, m)];
    listed.found.count = SLICE_POINTS;
    if (entries_allocate_within(&listed.found, joint->limit, joint->scratch)) {
        entries_free(&listed.found);
        return -1;
    }
    for (int i = 0; i < SLICES && left > 0 && walks->count > 0 && points > 0; i++) {
        const double target = (spread(i) + 0.5) / SLICES * points;
        double before = 0;
        int64_t w = 0;
        while (w < walks->count - 1 && before + walks->items[w].points <= target)
            before += walks->items[w++].points;
        shares += distinct_share(joint, walks->items[w].row, &listed, &left);
        count++;
    }
    entries_free(&listed.found);
    return count > 0 ? fmin(points * shares / count, volume(joint, access_vars(result))) : 0;
}

// The variable of a mode of the result that each term has, of which slices are drawn. -1: there is none, or
// some term has not all variables of the result.
static int find_row(const Joint *joint, const Access *result) {
    if (!is_plain(result) || result->tensor->order == 0)
        return -1;
    for (int t = 0; t < joint->term_count; t++)
        if (access_vars(result) & ~joint->terms[t].vars)
            return -1;
    return access_mode_var(result, result->tensor->mode_order[0]);
}

static void count_joint(Joint *joint, const Stmt *assign, bool counts_coordinates, JointEntries *entries,
                        Arena *arena) {
    WalkArray walks = {0};
    VarSet vars = 0;
    double points = 0;
    for (int t = 0; t < joint->term_count; t++)
        vars |= joint->terms[t].vars;
    joint->row = counts_coordinates ? find_row(joint, assign->lhs) : -1;
    for (int t = 0; t < joint->term_count; t++) {
        Term *term = &joint->terms[t];
        order_factors(joint, term);
        if (prepare(joint, term))
            return;
        points += term_points(joint, term, &walks, arena) * volume(joint, vars & ~term->vars);
    }
    const double independent = volume(joint, vars) * independent_share(joint, assign->rhs);
    if (independent > 0)
        entries->correlation = fmin(points, volume(joint, vars)) / independent;
    if (joint->row >= 0)
        entries->coordinates = count_coordinates(joint, assign->lhs, points, &walks);
}

JointEntries joint_entries(const Spmd *spmd, const Stmt *assign, int count, const StoredTensor *const *stored,
                           bool counts_coordinates, int64_t limit, Arena *arena) {
    Arena *own = arena_create_within(arena);
    Joint *joint = arena_new(own, Joint);
    JointEntries entries = {.correlation = 1, .coordinates = -1};
    *joint = (Joint){.spmd = spmd,
                     .stored_count = count,
                     .stored = stored,
                     .type = assignment_type(spmd->cin->assignment),
                     .limit = limit,
                     .scratch = arena_create_within(own)};
    if (!assignment_window(spmd->cin->assignment) && append_terms(joint, assign->rhs))
        count_joint(joint, assign, counts_coordinates, &entries, own);
    for (int t = 0; t < joint->term_count; t++)
        for (int f = 0; f < joint->terms[t].count; f++)
            cutter_free(&joint->terms[t].factors[f].cutter);
    arena_free(joint->scratch);
    arena_free(own);
    return entries;
}
