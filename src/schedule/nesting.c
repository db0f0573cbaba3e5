// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/nesting.h"

#include "index/presence.h"

#include <math.h>

enum { MOST_TRIED = 100000 };

// What the estimate is made of, in steps of an innermost loop.
static const double entries_below = 16; // coordinates that a level stores below a position, a guess
static const double cache_elements = 1 << 17;
static const double memory_access = 4;       // of an element of a workspace that is larger than that
static const double matrix_product = 1. / 8; // a step of a library call
static const double matrix_vector = 1. / 2;
static const double many_elements = 1 << 22; // of a workspace, unless some tensor is larger
// Of a sparse workspace: the steps of a nest are made for entries and for values, which takes 2 to 4 times as
// long as values alone; products that add to an entry of their own, 0.2 (stencils) to 1 (random matrices).
static const double assembly = 2;
static const double distinct = 0.5;

static double elements(const Product *product, VarSet vars) {
    double count = 1;
    for (; vars; vars &= vars - 1)
        count *= product->extents[__builtin_ctzll(vars)];
    return count;
}

// Distinct coordinates in `vars` that an access is expected to store.
static double stored_coordinates(const Product *product, const Access *access, VarSet vars) {
    const Tensor *tensor = access->tensor;
    double all = 1, prefix = 1;
    bool is_prefix = true;
    VarSet seen = 0;
    for (int l = 0; l < tensor->order; l++) {
        const int var = access->vars[tensor->mode_order[l]];
        const LevelFormat *format = tensor->levels[l].format;
        const double extent = product->extents[var];
        double below = format->full || (l == 0 && !format->branchless) ? extent : fmin(extent, entries_below);
        below = format->branchless ? 1 : below;
        all *= below * (tensor->levels[l].nonunique ? fmin(extent, entries_below) : 1);
        is_prefix = is_prefix && vars >> var & 1;
        prefix *= is_prefix ? below : 1;
        seen |= is_prefix ? (VarSet)1 << var : 0;
    }
    vars &= access_vars(access);
    return fmin(elements(product, vars), (seen & vars) == vars ? prefix : all);
}

// The fraction of the coordinates in `vars` for which an expression has a value.
static double expr_density(const Product *product, const Expr *expr, VarSet vars) {
    switch (expr->kind) {
    case EXPR_ACCESS:
        vars &= access_vars(expr->access);
        return stored_coordinates(product, expr->access, vars) / fmax(1, elements(product, vars));
    case EXPR_MUL:
        return expr_density(product, expr->left, vars) * expr_density(product, expr->right, vars);
    case EXPR_ADD:
    case EXPR_SUB:
        return fmin(1, expr_density(product, expr->left, vars) + expr_density(product, expr->right, vars));
    case EXPR_NEG:
    case EXPR_DIV:
        return expr_density(product, expr->left, vars);
    default:
        return 1;
    }
}

static VarSet set_vars(const Product *product, FactorSet set) {
    VarSet vars = 0;
    for (int f = 0; f < product->factor_count; f++)
        if (set >> f & 1)
            vars |= expr_vars(product->factors[f]);
    return vars;
}

VarSet nesting_kept(const Product *product, FactorSet set) {
    const FactorSet all = (1U << product->factor_count) - 1;
    return set_vars(product, set) & (product->left | set_vars(product, all & ~set));
}

// The fraction of the coordinates in `vars` for which the product of a set has a value, as if entries were
// independent of each other.
static double density(const Product *product, FactorSet set, VarSet vars) {
    const VarSet own = set_vars(product, set);
    double projected = 1, whole = elements(product, own & ~vars);
    for (int f = 0; f < product->factor_count; f++)
        if (set >> f & 1) {
            projected *= expr_density(product, product->factors[f], vars);
            whole *= expr_density(product, product->factors[f], own);
        }
    return fmin(projected, whole);
}

// Whether workspaces can live in iterations of loops over `around`. These are over dimensions that operands
// store in full: loops over entries possibly have one entry inside of each iteration, which is less work than
// to fill and read a workspace. No operand stores coordinates of theirs below those of another loop, and none
// of them would repeat loops over entries, as no entry depends on it.
static bool can_be_around(const Product *product, FactorSet set, VarSet around) {
    VarSet stored = 0;
    bool entries_inside = false;
    for (int f = 0; f < product->factor_count; f++) {
        if (!(set >> f & 1) || !expr_sparse(product->factors[f]))
            continue;
        if (product->factors[f]->kind != EXPR_ACCESS)
            return false;
        const Access *access = product->factors[f]->access;
        stored |= access_vars(access);
        for (int l = 0; l < access->tensor->order; l++) {
            const bool is_around = around >> access->vars[access->tensor->mode_order[l]] & 1;
            const bool full = access->tensor->levels[l].format->full;
            if (is_around && !full)
                return false;
            entries_inside = entries_inside || (!is_around && !full);
        }
    }
    return !entries_inside || !(around & ~stored);
}

typedef struct {
    int depth[MAX_VARS]; // by variable: the least level of a sparse operand that stores it; MAX_ORDER: none
    bool full[MAX_VARS]; // that level stores every coordinate
} Storage;

static void find_storage(void *context, const Access *access) {
    Storage *storage = context;
    for (int l = 0; tensor_is_sparse(access->tensor) && l < access->tensor->order; l++) {
        const int var = access->vars[access->tensor->mode_order[l]];
        if (l >= storage->depth[var])
            continue;
        storage->depth[var] = l;
        storage->full[var] = access->tensor->levels[l].format->full;
    }
}

// How the product of `part` is stored as a sparse tensor: below coordinates of the modes that decide where it
// has a value, which are in the order of the operands' levels, in full. The first level is as in an operand.
// Without such modes it has a value everywhere or nowhere, and there is no list for that.
SparseLevels nesting_levels(const Product *product, FactorSet part) {
    const VarSet kept = nesting_kept(product, part);
    Storage storage;
    SparseLevels levels = {.count = 0};
    int last = -1;
    for (int v = 0; v < MAX_VARS; v++)
        storage.depth[v] = MAX_ORDER;
    for (int f = 0; f < product->factor_count; f++)
        if (part >> f & 1)
            expr_accesses(product->factors[f], find_storage, &storage);
    for (int depth = 0; depth <= MAX_ORDER; depth++)
        for (int v = 0; v < product->cin->var_count; v++) {
            if (!(kept >> v & 1) || storage.depth[v] != depth)
                continue;
            const bool full = depth == MAX_ORDER || (depth == 0 && levels.count == 0 && storage.full[v]);
            last = depth < MAX_ORDER ? levels.count : last;
            levels.levels[levels.count] = full ? "dense" : "compressed";
            levels.modes[levels.count++] = v;
        }
    if (last >= 0)
        levels.levels[last] = "compressed";
    if (last < 0 || levels.count > MAX_ORDER)
        levels.count = 0;
    return levels;
}

// Whether a workspace may have `count` elements, where by default it may have `usual`. An estimate below 1 is
// taken as 1, so that a limit below 1 permits no workspace.
static bool is_small(const Product *product, double count, double usual) {
    return fmax(1, count) <= (product->most_elements > 0 ? product->most_elements : usual);
}

// Whether the product of `part`, of the factors in `set`, can be a workspace inside of loops over `around`,
// where the loops `outside` are around the set.
static bool can_be_workspace(const Product *product, FactorSet part, FactorSet set, VarSet outside,
                             VarSet around) {
    const VarSet kept = nesting_kept(product, part);
    // The number of entries of a sparse workspace is not known yet: only a limit below 1 rules it out.
    if (part & product->partial)
        return !around && !(product->placed & ~kept) && nesting_levels(product, part).count > 0 &&
               is_small(product, 1, 1);
    // Of dense factors that a sparse one indexes, only elements at its entries move where it is.
    if (product->placed && product->partial)
        return false;
    // Loops that are distributed are outside of those in which a workspace lives.
    if (around && (product->only_whole || product->placed & ~around))
        return false;
    if (around & ~kept || (around && outside & ~around) || !can_be_around(product, set, around))
        return false;
    const double usual = fmax(many_elements, around ? 0 : product->largest);
    return is_small(product, elements(product, kept & ~around), usual);
}

// Of the processors that compute the statement, those along loops that a workspace has not, but one: they are
// idle while it is filled.
static double idle_factor(const Product *product, VarSet kept) {
    double factor = 1;
    for (VarSet vars = product->placed & ~kept; vars; vars &= vars - 1)
        factor *= fmax(1, product->sizes[__builtin_ctzll(vars)]);
    return factor;
}

// A way to form the product of a set, part by part.
typedef struct {
    FactorSet set;
    VarSet outside; // loops around it
    Nesting nesting;
    VarSet vars, enclosing; // of all parts; of those that are workspaces
    double density, steps;
    bool sparse;
} Search;

// The variables of a part as a nest reads it.
static VarSet part_vars(const Product *product, FactorSet part) {
    return part & (part - 1) ? nesting_kept(product, part) : set_vars(product, part);
}

// Whether every factor among the parts, of order 2 or more, is contiguous along a loop in `inner`. Otherwise
// its matrix in one iteration of the other loops has no unit stride.
static bool has_unit_strides(const Product *product, const Nesting *nesting, VarSet inner) {
    for (int p = 0; p < nesting->part_count; p++) {
        const FactorSet part = nesting->parts[p];
        const Expr *factor = product->factors[__builtin_ctz(part)];
        if (part & (part - 1) || factor->kind != EXPR_ACCESS || factor->access->tensor->order < 2)
            continue;
        const int last = access_contiguous_var(factor->access);
        if (last < 0 || !(inner >> last & 1))
            return false;
    }
    return true;
}

// What a library call in place of the innermost loops saves: the steps of a nest are multiplied by it.
static double call_factor(const Product *product, const Search *search) {
    const VarSet inner = search->vars & ~(search->outside | search->enclosing);
    const VarSet summed = inner & ~nesting_kept(product, search->set);
    if (search->nesting.part_count != 2 || search->sparse || !summed || inner == summed ||
        !has_unit_strides(product, &search->nesting, inner))
        return 1;
    const VarSet left = part_vars(product, search->nesting.parts[0]) & inner & ~summed;
    const VarSet right = part_vars(product, search->nesting.parts[1]) & inner & ~summed;
    return left && right ? matrix_product : matrix_vector;
}

// Steps of a nest over the parts, and of what fills them.
static double nest_steps(const Product *product, const Search *search) {
    return search->steps + search->nesting.part_count * call_factor(product, search) *
                               elements(product, search->vars) * search->density;
}

static void add_part(Product *product, Search search, FactorSet rest, FactorSet part, int around,
                     Nesting *best);

// Divides `rest` into parts in all ways and keeps the best.
static void search_parts(Product *product, const Search *search, FactorSet rest, Nesting *best) {
    if (!rest) {
        const double steps = nest_steps(product, search);
        if (search->nesting.part_count > 1 && (best->steps < 0 || steps < best->steps)) {
            *best = search->nesting;
            best->steps = steps;
        }
        return;
    }
    // Steps only grow with further parts.
    if (best->steps >= 0 && search->steps >= best->steps)
        return;
    const FactorSet first = rest & -rest, others = rest & ~first;
    add_part(product, *search, others, first, 0, best);
    // All sets of factors with the first one, but the whole set, as long as there are parts to be tried:
    // their number grows faster than exponentially with the factors.
    for (FactorSet with = others; with && product->tried < MOST_TRIED; with = (with - 1) & others) {
        const FactorSet part = first | with;
        for (int a = 0; part != search->set && a < product->enclosing_count; a++)
            if (can_be_workspace(product, part, search->set, search->outside, product->enclosing[a]))
                add_part(product, *search, rest & ~part, part, a, best);
    }
}

static void add_part(Product *product, Search search, FactorSet rest, FactorSet part, int around,
                     Nesting *best) {
    Nesting *nesting = &search.nesting;
    product->tried++;
    nesting->parts[nesting->part_count] = part;
    nesting->enclosing[nesting->part_count++] = around;
    if (part & (part - 1)) {
        const VarSet kept = nesting_kept(product, part), loops = product->enclosing[around];
        const bool sparse = part & product->partial;
        const double filled =
            sparse ? distinct * density(product, part, kept) : density(product, part, loops);
        const double size = elements(product, kept & ~loops) * (sparse ? filled : 1);
        const double steps = nesting_best(product, part, around)->steps;
        search.vars |= kept;
        search.enclosing |= loops;
        search.density *= filled;
        search.sparse = search.sparse || sparse;
        // Loops around it leave out what the other factors do not store, in what fills it as well.
        search.steps +=
            sparse
                ? assembly * steps + memory_access * size
                : density(product, search.set & ~part, loops) *
                      (idle_factor(product, kept) * steps + elements(product, loops) * filled * size *
                                                                (size > cache_elements ? memory_access : 1));
    } else {
        const Expr *factor = product->factors[__builtin_ctz(part)];
        search.vars |= expr_vars(factor);
        search.density *= expr_density(product, factor, expr_vars(factor));
        search.sparse = search.sparse || factor->kind != EXPR_ACCESS || expr_sparse(factor);
    }
    search_parts(product, &search, rest, best);
}

const Nesting *nesting_best(Product *product, FactorSet set, int around) {
    Nesting *best = &product->best[set * (unsigned)product->enclosing_count + (unsigned)around];
    if (best->steps < 0) {
        const Search search = {.set = set, .outside = product->enclosing[around], .density = 1};
        search_parts(product, &search, set, best);
    }
    return best;
}

double nesting_fused_steps(const Product *product) {
    const FactorSet all = (1U << product->factor_count) - 1;
    const VarSet vars = set_vars(product, all);
    return product->factor_count * elements(product, vars) * density(product, all, vars);
}

double nesting_ordered_steps(Product *product, FactorSet set, int around) {
    const Nesting *nesting = nesting_best(product, set, around);
    VarSet vars = 0;
    double before = 0, filled = 1;
    for (int p = 0; p < nesting->part_count; p++) {
        const FactorSet part = nesting->parts[p];
        const bool is_workspace = part & (part - 1);
        const VarSet own = part_vars(product, part);
        vars |= own;
        filled *= (part & product->partial && is_workspace ? distinct : 1) * density(product, part, own);
        before += is_workspace ? nesting_ordered_steps(product, part, nesting->enclosing[p]) : 0;
    }
    return before + nesting->part_count * elements(product, vars) * filled;
}

static void add_candidate(Product *product, VarSet around) {
    for (int a = 0; a < product->enclosing_count; a++)
        if (product->enclosing[a] == around)
            return;
    if (product->enclosing_count < MAX_ENCLOSING)
        product->enclosing[product->enclosing_count++] = around;
}

// Candidates for loops around workspaces: over the first variables of the statement, and those over the
// outermost levels of an operand.
static void add_candidates(Product *product) {
    add_candidate(product, 0);
    VarSet around = 0;
    for (int v = 0; v < product->cin->var_count; v++)
        add_candidate(product, around |= (VarSet)1 << v);
    for (int f = 0; f < product->factor_count; f++) {
        const Access *access = expr_sparse(product->factors[f]);
        around = 0;
        for (int l = 0; access && l < access->tensor->order; l++)
            add_candidate(product, around |= (VarSet)1 << access->vars[access->tensor->mode_order[l]]);
    }
}

static void find_largest(void *context, const Access *access) {
    Product *product = context;
    if (!tensor_is_sparse(access->tensor))
        product->largest = fmax(product->largest, elements(product, access_vars(access)));
}

bool nesting_add_factors(Product *product, const Expr *expr) {
    if (expr->kind == EXPR_MUL)
        return nesting_add_factors(product, expr->left) && nesting_add_factors(product, expr->right);
    if (expr->kind == EXPR_NUMBER)
        return true;
    if (product->factor_count == MAX_FACTORS)
        return false;
    if (!expr_is_always_present(expr, assignment_type(product->cin->assignment)))
        product->partial |= 1U << product->factor_count;
    product->factors[product->factor_count++] = expr;
    return true;
}

void nesting_begin(Product *product, const Assignment *assignment) {
    find_largest(product, assignment->lhs);
    expr_accesses(assignment->rhs, find_largest, product);
    add_candidates(product);
    const int count = product->enclosing_count << product->factor_count;
    product->best = arena_array(product->arena, Nesting, count);
    for (int i = 0; i < count; i++)
        product->best[i].steps = -1;
}
