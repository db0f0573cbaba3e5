// SPDX-License-Identifier: BSD-3-Clause
#include "plan/joint.h"

#include "base/integer.h"
#include "base/random.h"
#include "format/cut.h"
#include "index/presence.h"

#include <math.h>
#include <string.h>

enum {
    MAX_TERMS = 16,
    MAX_FACTORS = 16,
    WALKS = 8192,           // of each term
    SLICES = 64,            // of the result
    SLICE_POINTS = 1 << 20, // the most that are listed of one slice
    MOST_VISITED = 1 << 23, // entries that are visited to list the points of all slices
};

// An operand whose entries are looked up by the values of some variables.
typedef struct {
    const Access *access;
    VarSet bound;
    Cutter cutter;
} Operand;

// A product of operands, in the order of walks. It is present where all of them have an entry.
typedef struct {
    int count;
    const Access *factors[MAX_FACTORS];
    const Operand *operands[MAX_FACTORS]; // of the factors; NULL: it is not looked up
    VarSet vars;                          // of all factors
} Term;

typedef struct {
    const Spmd *spmd;
    int stored_count;
    const StoredTensor *const *stored;
    ElementType type;
    int64_t limit; // bytes that sorted operands still may take
    Arena *arena, *scratch;
    Arena *levels[MAX_FACTORS]; // by factor: of what is found of it at the moment
    double extents[MAX_VARS];   // of the variables that index sparse operands
    int row;                    // the variable of slices of the result; -1: there is none
    bool failed;                // memory ran out
    int term_count;
    Term terms[MAX_TERMS]; // the right side is present where one of them is
    Array(Operand *) operands;
} Joint;

// What the tensor of an access stores: where it is a copy of another tensor, what that one stores. NULL: that
// is not known.
static const StoredTensor *find_stored(const Joint *joint, const Access *access) {
    const Spmd *spmd = joint->spmd;
    const Tensor *tensor = access->tensor;
    for (int t = 0; t < spmd->transfer_count; t++)
        if (spmd->transfers[t].kind == TRANSFER_FETCH && spmd->transfers[t].access->tensor == tensor)
            tensor = spmd->transfers[t].statement_access->tensor;
    tensor = tensor_resolve_old(tensor);
    return tensor->id < joint->stored_count ? joint->stored[tensor->id] : NULL;
}

// Whether each mode has a variable of its own, and nothing else says which element it is.
static bool is_plain(const Access *access) {
    VarSet seen = 0;
    for (int m = 0; m < access->tensor->order; m++) {
        const int var = access_mode_var(access, m);
        if (var < 0 || access->indices[m] || seen >> var & 1)
            return false;
        seen |= (VarSet)1 << var;
    }
    return access_vars(access) == seen;
}

// Products of which the expression is a sum, as far as where it is present goes; more than MAX_TERMS: too
// many, or it is not known what some tensor stores.
static int count_terms(const Joint *joint, const Expr *expr) {
    const Presence presence = expr_presence(expr, joint->type);
    if (presence == PRESENT_ALWAYS)
        return 1;
    if (presence == PRESENT_STORED)
        return tensor_is_sparse(expr->access->tensor) && find_stored(joint, expr->access) &&
                       is_plain(expr->access)
                   ? 1
                   : MAX_TERMS + 1;
    if (presence == PRESENT_LEFT || presence == PRESENT_RIGHT)
        return count_terms(joint, presence == PRESENT_LEFT ? expr->left : expr->right);
    const int left = count_terms(joint, expr->left);
    const int right = left > MAX_TERMS ? left : count_terms(joint, expr->right);
    return left > MAX_TERMS || right > MAX_TERMS ? MAX_TERMS + 1
           : presence == PRESENT_EITHER          ? left + right
                                                 : left * right;
}

static bool append_factor(Joint *joint, Term *term, const Access *access) {
    const StoredTensor *stored = find_stored(joint, access);
    if (term->count == MAX_FACTORS)
        return false;
    term->factors[term->count++] = access;
    term->vars |= access_vars(access);
    for (int m = 0; m < access->tensor->order; m++)
        joint->extents[access_mode_var(access, m)] = (double)stored->extents[m];
    return true;
}

// Multiplies each of the terms from `first` on, of which there are `count`, by the products of the
// expression, and appends what results. False where a product has too many factors.
static bool multiply_terms(Joint *joint, const Expr *expr, const Term *terms, int count) {
    const Presence presence = expr_presence(expr, joint->type);
    if (presence == PRESENT_LEFT || presence == PRESENT_RIGHT)
        return multiply_terms(joint, presence == PRESENT_LEFT ? expr->left : expr->right, terms, count);
    if (presence == PRESENT_EITHER)
        return multiply_terms(joint, expr->left, terms, count) &&
               multiply_terms(joint, expr->right, terms, count);
    const int first = joint->term_count;
    if (presence == PRESENT_BOTH) {
        if (!multiply_terms(joint, expr->left, terms, count))
            return false;
        const int left = joint->term_count - first;
        const Term *products = arena_copy(joint->arena, joint->terms + first, sizeof(Term) * (size_t)left);
        joint->term_count = first;
        return multiply_terms(joint, expr->right, products, left);
    }
    for (int t = 0; t < count; t++) {
        if (joint->term_count == MAX_TERMS)
            return false;
        Term *term = &joint->terms[joint->term_count++];
        *term = terms[t];
        if (presence == PRESENT_STORED && !append_factor(joint, term, expr->access))
            return false;
    }
    return true;
}

static double stored_share(void *context, const Access *access) {
    const StoredTensor *stored = find_stored(context, access);
    double elements = 1;
    for (int m = 0; m < stored->order; m++)
        elements *= (double)stored->extents[m];
    return elements > 0 ? fmin(1, (double)stored_count(stored) / elements) : 0;
}

static double volume(const Joint *joint, VarSet vars) {
    double points = 1;
    for (; vars; vars &= vars - 1)
        points *= joint->extents[__builtin_ctzll(vars)];
    return points;
}

// Whether a walk goes on to factor `access` rather than to `than`: it has more variables that are bound, or
// else more entries. The first factor of all is one with the variable of slices.
static bool is_better(const Joint *joint, VarSet bound, const Access *access, const Access *than) {
    const VarSet row = bound || joint->row < 0 ? 0 : (VarSet)1 << joint->row;
    const int a = __builtin_popcountll(access_vars(access) & (bound | row));
    const int b = __builtin_popcountll(access_vars(than) & (bound | row));
    return a != b ? a > b : stored_count(find_stored(joint, access)) > stored_count(find_stored(joint, than));
}

static void order_factors(const Joint *joint, Term *term) {
    VarSet bound = 0;
    for (int f = 0; f < term->count; f++) {
        int best = f;
        for (int other = f + 1; other < term->count; other++)
            if (is_better(joint, bound, term->factors[other], term->factors[best]))
                best = other;
        const Access *next = term->factors[best];
        term->factors[best] = term->factors[f];
        term->factors[f] = next;
        bound |= access_vars(next);
    }
}

// Which entries of an operand have the values of the variables that are bound.
static Rect rect_of(const Access *access, const StoredTensor *stored, VarSet bound, const int64_t *values) {
    Rect rect = rect_whole(stored->order, stored->extents);
    for (int m = 0; m < rect.order; m++) {
        const int var = access_mode_var(access, m);
        if (bound >> var & 1)
            rect_set_mode(&rect, m, (PositionSet){values[var], values[var] + 1, NULL});
    }
    return rect;
}

// The operand of an access, sorted so that entries are found by the values of these variables.
static const Operand *find_operand(Joint *joint, const Access *access, VarSet bound) {
    const int64_t zeros[MAX_VARS] = {0};
    const StoredTensor *stored = find_stored(joint, access);
    bound &= access_vars(access);
    for (int64_t i = 0; i < joint->operands.count; i++)
        if (access_equal(joint->operands.items[i]->access, access) &&
            joint->operands.items[i]->bound == bound)
            return joint->operands.items[i];
    Operand *operand = arena_new(joint->arena, Operand);
    *operand = (Operand){.access = access, .bound = bound, .cutter = {.tensor = stored, .often = true}};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(joint->arena, joint->operands, operand);
    const Rect rect = rect_of(access, stored, bound, zeros), *only = &rect;
    if (stored_count(stored) > 0)
        joint->failed =
            cutter_prepare(&operand->cutter, 1, &only, joint->limit, joint->scratch) || joint->failed;
    if (operand->cutter.reordered)
        joint->limit -= stored_bytes(&operand->cutter.structure) + entry_map_bytes(&operand->cutter.map);
    return operand;
}

// `lists`: the points of slices are listed as well.
static void prepare(Joint *joint, Term *term, bool lists) {
    VarSet bound = joint->row < 0 ? 0 : (VarSet)1 << joint->row;
    order_factors(joint, term);
    for (int f = 0; f < term->count; f++) {
        if (f > 0 || lists)
            term->operands[f] = find_operand(joint, term->factors[f], bound);
        bound |= access_vars(term->factors[f]);
    }
}

static void bind(const Access *access, const Entries *entries, int64_t e, int64_t *values) {
    for (int m = 0; m < entries->order; m++)
        values[access_mode_var(access, m)] = entries->coordinates[m][e];
}

// A place in a list of slices.
typedef struct {
    int64_t slice, before; // entries in those before it
} Place;

// The entry with a number among those in slices, which is not less than the last one that was looked for.
static Slice find_entry(const SliceArray *slices, int64_t number, Place *place) {
    while (number - place->before >= slices->items[place->slice].count)
        place->before += slices->items[place->slice++].count;
    return (Slice){slices->items[place->slice].first + number - place->before, 1};
}

// Takes the entries in slices; there are none where memory runs out.
static Entries unpack(Joint *joint, const Access *access, const SliceArray *slices) {
    Entries entries;
    if (stored_unpack_slices(find_stored(joint, access), slices, &entries)) {
        joint->failed = true;
        entries.count = 0;
    }
    return entries;
}

// The points that a walk stands for from this factor on, one over the probability with which it is taken.
static double walk_on(Joint *joint, const Term *term, int f, int64_t *values, int64_t walk) {
    if (f == term->count)
        return 1;
    const Operand *operand = term->operands[f];
    const Rect rect = rect_of(operand->access, operand->cutter.tensor, operand->bound, values), *only = &rect;
    if (f == term->count - 1)
        return (double)cutter_count(&operand->cutter, &rect);
    SliceArray slices = {0}, one = {0};
    Place begin = {0};
    const int64_t found = cutter_cut(&operand->cutter, 1, &only, joint->scratch, &slices);
    if (found == 0)
        return 0;
    const uint64_t drawn = random_number((uint64_t)f, walk) % (uint64_t)found;
    array_push(joint->scratch, one, find_entry(&slices, (int64_t)drawn, &begin));
    Entries entry = unpack(joint, term->factors[f], &one);
    if (entry.count > 0)
        bind(term->factors[f], &entry, 0, values);
    const double on = entry.count > 0 ? walk_on(joint, term, f + 1, values, walk) : 0;
    entries_free(&entry);
    return (double)found * on;
}

// A walk that has been taken: its slice of the result, and the points that it stands for.
typedef struct {
    int64_t row;
    double points;
} Walk;
typedef Array(Walk) WalkArray;

// Entries of the first factor of walks, evenly spread among all of them.
static Entries first_entries(Joint *joint, const Access *access) {
    const StoredTensor *stored = find_stored(joint, access);
    const Cutter whole = {.tensor = stored};
    const Rect rect = rect_whole(stored->order, stored->extents), *only = &rect;
    SliceArray slices = {0}, chosen = {0};
    Place place = {0};
    const int64_t count = cutter_cut(&whole, 1, &only, joint->scratch, &slices);
    const int64_t walks = min_i64(count, WALKS);
    for (int64_t w = 0; w < walks; w++) {
        const int64_t number = (int64_t)(((double)w + 0.5) * (double)count / (double)walks);
        array_push(joint->scratch, chosen, find_entry(&slices, number, &place));
    }
    return unpack(joint, access, &chosen);
}

static bool any_is_empty(const Joint *joint, const Term *term) {
    for (int f = 0; f < term->count; f++)
        if (stored_count(find_stored(joint, term->factors[f])) == 0)
            return true;
    return false;
}

// The points of a term; its walks are appended.
static double term_points(Joint *joint, const Term *term, WalkArray *walks) {
    if (term->count == 0 || any_is_empty(joint, term))
        return term->count == 0 ? 1 : 0;
    int64_t values[MAX_VARS] = {0};
    double points = 0;
    Entries entries = first_entries(joint, term->factors[0]);
    const double all = (double)stored_count(find_stored(joint, term->factors[0]));
    const double each = entries.count > 0 ? all / (double)entries.count : 0;
    for (int64_t e = 0; e < entries.count; e++) {
        arena_reset(joint->scratch);
        bind(term->factors[0], &entries, e, values);
        const Walk walk = {joint->row < 0 ? 0 : values[joint->row],
                           each * walk_on(joint, term, 1, values, e)};
        points += walk.points;
        array_push(joint->arena, *walks, walk);
    }
    entries_free(&entries);
    return points == 0 && each > 1 ? each / 2 : points; // fewer than one walk finds
}

// The points of a slice of the result, as the coordinates that they have there.
typedef struct {
    const Access *result;
    Entries found; // with room for SLICE_POINTS
    int64_t left;  // entries that may be visited
} Listed;

// The first ones of the entries in slices.
static void keep_first(SliceArray *slices, int64_t count) {
    int64_t s = 0;
    for (; s < slices->count && count > 0; count -= slices->items[s++].count)
        slices->items[s].count = min_i64(slices->items[s].count, count);
    slices->count = s;
}

// Lists the points of a term from this factor on, as far as there is room.
static void list_points(Joint *joint, const Term *term, int f, int64_t *values, Listed *listed) {
    Entries *found = &listed->found;
    if (found->count == SLICE_POINTS || listed->left <= 0)
        return;
    if (f == term->count) {
        for (int m = 0; m < found->order; m++)
            found->coordinates[m][found->count] = values[access_mode_var(listed->result, m)];
        found->count++;
        return;
    }
    const Operand *operand = term->operands[f];
    const Rect rect = rect_of(operand->access, operand->cutter.tensor, operand->bound, values), *only = &rect;
    SliceArray slices = {0};
    arena_reset(joint->levels[f]);
    cutter_cut(&operand->cutter, 1, &only, joint->levels[f], &slices);
    keep_first(&slices, min_i64(listed->left, SLICE_POINTS));
    Entries entries = unpack(joint, term->factors[f], &slices);
    listed->left -= entries.count + 1;
    for (int64_t e = 0; e < entries.count; e++) {
        bind(term->factors[f], &entries, e, values);
        list_points(joint, term, f + 1, values, listed);
    }
    entries_free(&entries);
}

// The share of the points of a slice that have coordinates of their own.
static double distinct_share(Joint *joint, int64_t row, Listed *listed) {
    int64_t values[MAX_VARS] = {0};
    int modes[MAX_ORDER];
    Entries distinct;
    listed->found.count = 0;
    for (int m = 0; m < listed->found.order; m++)
        modes[m] = m;
    for (int t = 0; t < joint->term_count; t++) {
        values[joint->row] = row;
        list_points(joint, &joint->terms[t], 0, values, listed);
    }
    joint->failed = entries_distinct(&listed->found, listed->found.order, modes, &distinct) || joint->failed;
    const double share = listed->found.count > 0 ? (double)distinct.count / (double)listed->found.count : 1;
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

// The average share in slices that are drawn in proportion to the points that walks stand for in them.
static double average_share(Joint *joint, const WalkArray *walks, Listed *listed) {
    double points = 0, shares = 0;
    int count = 0;
    for (int64_t w = 0; w < walks->count; w++)
        points += walks->items[w].points;
    for (int i = 0; i < SLICES && listed->left > 0 && walks->count > 0 && points > 0; i++) {
        const double target = (spread(i) + 0.5) / SLICES * points;
        double before = 0;
        int64_t w = 0;
        while (w < walks->count - 1 && before + walks->items[w].points <= target)
            before += walks->items[w++].points;
        shares += distinct_share(joint, walks->items[w].row, listed);
        count++;
    }
    return count > 0 ? shares / count : 1;
}

// Coordinates that the result has an entry at, as it has at those of `points` points.
static double count_coordinates(Joint *joint, const Access *result, double points, const WalkArray *walks) {
    Listed listed = {.result = result,
                     .found = {.type = TYPE_F64, .order = result->tensor->order, .count = SLICE_POINTS},
                     .left = MOST_VISITED};
    double share = 1;
    if (joint->term_count > 1 || joint->terms[0].vars != access_vars(result)) {
        for (int m = 0; m < listed.found.order; m++)
            listed.found.extents[m] = (int64_t)joint->extents[access_mode_var(result, m)];
        if (entries_allocate_within(&listed.found, joint->limit, joint->arena))
            joint->failed = true;
        else
            share = average_share(joint, walks, &listed);
        entries_free(&listed.found);
    }
    return round(fmin(points * share, volume(joint, access_vars(result))));
}

// The variable of a mode of the result, of which slices are drawn. -1: there is none, or some term has not
// all variables of the result.
static int find_row(const Joint *joint, const Access *result) {
    if (!is_plain(result) || result->tensor->order == 0)
        return -1;
    for (int t = 0; t < joint->term_count; t++)
        if (access_vars(result) & ~joint->terms[t].vars)
            return -1;
    return access_mode_var(result, result->tensor->mode_order[0]);
}

static JointEntries count_joint(Joint *joint, const Stmt *assign, bool counts_coordinates) {
    const JointEntries unknown = {.correlation = 1, .coordinates = -1};
    JointEntries entries = unknown;
    WalkArray walks = {0};
    VarSet vars = 0;
    double points = 0, listed = 0; // without the variables that terms lack, and so the result
    for (int t = 0; t < joint->term_count; t++)
        vars |= joint->terms[t].vars;
    joint->row = find_row(joint, assign->lhs);
    for (int t = 0; t < joint->term_count && !joint->failed; t++) {
        prepare(joint, &joint->terms[t], joint->row >= 0 && counts_coordinates);
        const double of_term = joint->failed ? 0 : term_points(joint, &joint->terms[t], &walks);
        points += of_term * volume(joint, vars & ~joint->terms[t].vars);
        listed += of_term;
    }
    const double independent =
        volume(joint, vars) * expr_share(assign->rhs, joint->type, stored_share, joint);
    if (independent > 0)
        entries.correlation = fmin(points, volume(joint, vars)) / independent;
    if (joint->row >= 0 && counts_coordinates && !joint->failed)
        entries.coordinates = count_coordinates(joint, assign->lhs, listed, &walks);
    return joint->failed ? unknown : entries;
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
                     .arena = own,
                     .scratch = arena_create_within(own)};
    for (int f = 0; f < MAX_FACTORS; f++)
        joint->levels[f] = arena_create_within(own);
    const Term one = {0};
    if (!assignment_window(spmd->cin->assignment) && count_terms(joint, assign->rhs) <= MAX_TERMS &&
        multiply_terms(joint, assign->rhs, &one, 1))
        entries = count_joint(joint, assign, counts_coordinates);
    for (int64_t i = 0; i < joint->operands.count; i++)
        cutter_free(&joint->operands.items[i]->cutter);
    arena_free(own);
    return entries;
}
