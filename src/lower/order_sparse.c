// SPDX-License-Identifier: BSD-3-Clause
// The order of a leaf's loops where some tensor is sparse. A level can be iterated over only below a known
// position of the level above, so loops over the levels of a tensor run in the order of storage, and all
// other loops inside of them (Kjolstad et al. 2017, section 4.2). A loop over a dense level is further
// outside only where a level below it needs that.
#include "lower/bounds.h"
#include "lower/lattice.h"
#include "lower/leaf.h"

typedef struct {
    const LeafSite *site;
    VarSet before[MAX_VARS];        // by variable of a loop: those that have to be outside of it
    const Access *access[MAX_VARS]; // that requires this
    VarSet stored; // loops over levels that do not store every coordinate, and over those above
    // A loop over entries in an index of several variables that is not the last one in the statement's order,
    // but inside of that one; -1: none.
    int inside, around;
    const Access *moved; // that has the index
} Constraints;

// The loops from which the value of a variable follows.
static VarSet loops_of(const LeafSite *site, int var) {
    VarSet loops = 0;
    for (int i = 0; i < site->loop_count; i++)
        if (bounds_depends(site->cin, var, site->loops[i]))
            loops |= (VarSet)1 << site->loops[i];
    return loops;
}

// The loop that iterates over a level: of those from which its coordinate follows, the last one in the
// statement's own order, as a loop over blocks is outside of the loop within a block.
static int last_of(const LeafSite *site, VarSet loops) {
    int last = -1;
    for (int i = 0; i < site->loop_count; i++)
        if (loops >> site->loops[i] & 1)
            last = site->loops[i];
    return last;
}

// The loops placed around the current one.
typedef struct {
    const LeafSite *site;
    int loop;
    VarSet placed;
    bool repeats; // a level that the loop iterates over may store a coordinate several times
    int count;    // of accesses over whose levels it iterates
} Place;

// Whether the loop iterates over a level of the access, as the coordinates of all levels above are known.
static int iterated_access(void *context, const Access *access) {
    Place *place = context;
    const Tensor *tensor = access->tensor;
    for (int l = 0; l < tensor->order; l++) {
        const VarSet missing = loops_of(place->site, access->vars[tensor->mode_order[l]]) & ~place->placed;
        if (!missing)
            continue;
        if (missing != (VarSet)1 << place->loop || !tensor->levels[l].format->range)
            return -1;
        place->repeats = place->repeats || tensor->levels[l].nonunique;
        return 0;
    }
    return -1;
}

// The set of coordinates that the loop iterates over.
static const Set *iterated_set(Place *place) {
    const Cin *cin = place->site->cin;
    return set_of(cin->arena, place->site->assign->rhs, assignment_type(cin->assignment), iterated_access,
                  place);
}

// Whether a loop iterates over what is stored, not over its whole extent.
static bool is_bounded(const LeafSite *site, int loop, VarSet placed) {
    Place place = {.site = site, .loop = loop, .placed = placed};
    return iterated_set(&place)->kind != SET_ALL;
}

typedef struct {
    int var;
    bool stored;
} FullLevel;

static void find_full(void *context, const Access *access) {
    FullLevel *full = context;
    const Tensor *tensor = access->tensor;
    for (int l = 0; l < tensor->order; l++)
        full->stored |= access->vars[tensor->mode_order[l]] == full->var && !tensor->levels[l].format->range;
}

// What a loop outside of the one that follows an index visits: coordinates of entries, where an operand
// bounds it, elements of what stores them all, or an extent that may be greater than any memory.
enum { VISITS_ENTRIES, VISITS_ELEMENTS, VISITS_EXTENT };

// `of_index`: the loops of all variables of the index.
static int visits(const LeafSite *site, int var, VarSet of_index) {
    const int loop = last_of(site, loops_of(site, var));
    FullLevel full = {.var = var};
    if (loop >= 0 && is_bounded(site, loop, (~of_index | loops_of(site, var)) & ~((VarSet)1 << loop)))
        return VISITS_ENTRIES;
    find_full(&full, site->assign->lhs);
    expr_accesses(site->assign->rhs, find_full, &full);
    return full.stored ? VISITS_ELEMENTS : VISITS_EXTENT;
}

// The loop that iterates over a level with these loops. An index of several variables, such as i + j, can be
// followed by a loop over any that is added to the others: the one that visits the most otherwise.
static int innermost_of(const LeafSite *site, int var, VarSet loops) {
    const AffineIndex *index = cin_is_index(site->cin, var) ? cin_replaced_by(site->cin, var)->affine : NULL;
    int innermost = -1, most = -1;
    for (int i = 0; index && index->count > 1 && !leaf_is_ordered(site) && i < index->count; i++) {
        const int last = last_of(site, loops_of(site, index->vars[i]));
        if (last < 0 || index->coefficients[i]->op != INT_CONST || index->coefficients[i]->value != 1)
            continue;
        const int number = visits(site, index->vars[i], loops);
        if (number > most ||
            (number == most && last == last_of(site, (VarSet)1 << last | (VarSet)1 << innermost)))
            innermost = last;
        most = number > most ? number : most;
    }
    return innermost >= 0 ? innermost : last_of(site, loops);
}

static void constrain(void *context, const Access *access) {
    Constraints *constraints = context;
    const Tensor *tensor = access->tensor;
    VarSet above = 0;
    for (int l = 0; l < tensor->order; l++) {
        const VarSet own = loops_of(constraints->site, access->vars[tensor->mode_order[l]]);
        if (tensor->levels[l].format->range) {
            const int last = innermost_of(constraints->site, access->vars[tensor->mode_order[l]], own);
            const int usual = last_of(constraints->site, own);
            if (last != usual) {
                constraints->inside = last;
                constraints->around = usual;
                constraints->moved = access;
            }
            if (last >= 0) {
                constraints->before[last] |= (above | own) & ~((VarSet)1 << last);
                constraints->access[last] = access;
            }
            constraints->stored |= above | own;
        }
        above |= own;
    }
}

static Constraints constraints_of(const LeafSite *site) {
    Constraints constraints = {.site = site, .inside = -1, .around = -1};
    expr_accesses(site->assign->rhs, constrain, &constraints);
    return constraints;
}

bool leaf_repeats(const LeafSite *site, int loop, VarSet around) {
    Place place = {.site = site, .loop = loop, .placed = around};
    return iterated_set(&place)->kind != SET_ALL && place.repeats;
}

static void count_iterated(void *context, const Access *access) {
    Place *place = context;
    place->count += iterated_access(place, access) == 0;
}

bool leaf_merges(const LeafSite *site, int loop, VarSet around) {
    Place place = {.site = site, .loop = loop, .placed = around};
    expr_accesses(site->assign->rhs, count_iterated, &place);
    return place.count > 1;
}

static void count_sparse(void *context, const Access *access) {
    *(int *)context += tensor_is_sparse(access->tensor);
}

bool leaf_joins_repeated(const LeafSite *site, int loop, VarSet around) {
    int count = 0;
    expr_accesses(site->assign->rhs, count_sparse, &count);
    return count > 1 && leaf_repeats(site, loop, around);
}

// Whether a loop would iterate over what is stored only if more loops were placed around it first.
static bool is_premature(const LeafSite *site, int loop, VarSet placed) {
    return !is_bounded(site, loop, placed) && is_bounded(site, loop, ~((VarSet)1 << loop));
}

void leaf_order_sparse(const LeafSite *site, int *loops) {
    const Constraints constraints = constraints_of(site);
    int open[MAX_VARS];
    VarSet placed = 0;
    leaf_order(site, open);
    for (int count = 0; count < site->loop_count; count++) {
        // First the loops over what is stored, in the statement's order. Where none fits the order of
        // storage, one is placed nevertheless, and an operand is looked up. Then the others.
        enum { STORED_FITS = 2, STORED = 4, PASSES };
        int next = -1;
        for (int pass = 0; pass < PASSES && next < 0; pass++) {
            const int *from = pass < STORED ? site->loops : open;
            for (int i = 0; i < site->loop_count && next < 0; i++) {
                const int loop = from[i];
                const bool stored = constraints.stored >> loop & 1 || pass >= STORED;
                const bool fits = !(constraints.before[loop] & ~placed) || pass >= STORED_FITS;
                if (!(placed >> loop & 1) && stored && fits &&
                    (pass % 2 == 1 || !is_premature(site, loop, placed)))
                    next = loop;
            }
        }
        for (int i = 0; next < 0; i++)
            next = placed >> open[i] & 1 ? -1 : open[i];
        placed |= (VarSet)1 << next;
        loops[count] = next;
    }
}

VarSet leaf_bounded(const LeafSite *site, const int *loops) {
    VarSet placed = 0, bounded = 0;
    for (int i = 0; i < site->loop_count; i++) {
        if (is_bounded(site, loops[i], placed))
            bounded |= (VarSet)1 << loops[i];
        placed |= (VarSet)1 << loops[i];
    }
    return bounded;
}

bool leaf_fits(const LeafSite *site, const int *loops, const Access *access) {
    Constraints constraints = {.site = site};
    VarSet placed = 0;
    constrain(&constraints, access);
    for (int i = 0; i < site->loop_count; i++) {
        if (constraints.before[loops[i]] & ~placed)
            return false;
        placed |= (VarSet)1 << loops[i];
    }
    return true;
}

const Tensor *leaf_searched(const LeafSite *site, const int *loops) {
    const Constraints constraints = constraints_of(site);
    VarSet placed = 0;
    for (int i = 0; i < site->loop_count; i++) {
        if (constraints.before[loops[i]] & ~placed)
            return constraints.access[loops[i]]->tensor;
        placed |= (VarSet)1 << loops[i];
    }
    return NULL;
}

const char *leaf_order_text(const LeafSite *site) {
    const Constraints constraints = constraints_of(site);
    return constraints.inside < 0
               ? ""
               : arena_printf(site->cin->arena,
                              "; '%s' is inside of '%s', as entries of '%s' then give its values",
                              site->cin->vars[constraints.inside].name,
                              site->cin->vars[constraints.around].name, constraints.moved->tensor->name);
}

bool leaf_check_order(const LeafSite *site, const int *loops) {
    const Constraints constraints = constraints_of(site);
    VarSet placed = 0;
    for (int i = 0; i < site->loop_count; i++) {
        const VarSet missing = constraints.before[loops[i]] & ~placed;
        placed |= (VarSet)1 << loops[i];
        if (!missing)
            continue;
        const int outer = __builtin_ctzll(missing);
        const Access *access = constraints.access[loops[i]];
        return diagnostics_error(
            site->diagnostics, access->span,
            "loop '%s' cannot run outside of '%s': '%s' stores its coordinates below those of "
            "'%s'; reorder the loops, or store '%s' in another order of modes",
            site->cin->vars[loops[i]].name, site->cin->vars[outer].name, access->tensor->name,
            site->cin->vars[outer].name, access->tensor->name);
    }
    return true;
}

static void find_sparse(void *context, const Access *access) {
    const Tensor **sparse = context;
    if (!*sparse && tensor_is_sparse(access->tensor))
        *sparse = access->tensor;
}

const Tensor *leaf_sparse_tensor(const LeafSite *site) {
    const Tensor *sparse = NULL;
    find_sparse(&sparse, site->assign->lhs);
    expr_accesses(site->assign->rhs, find_sparse, &sparse);
    return sparse;
}
