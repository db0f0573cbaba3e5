// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/products.h"

#include "index/presence.h"
#include "schedule/arguments.h"
#include "schedule/distribution.h"

#include <math.h>
#include <string.h>

typedef unsigned FactorSet; // bit f: factor f of the product

enum { MAX_FACTORS = 8, MAX_ENCLOSING = 64, MOST_TRIED = 100000 };

// What the estimate is made of, in steps of an innermost loop.
static const double entries_below = 16; // coordinates that a level stores below a position, a guess
static const double cache_elements = 1 << 17;
static const double memory_access = 4;       // of an element of a workspace that is larger than that
static const double matrix_product = 1. / 8; // a step of a library call
static const double matrix_vector = 1. / 2;
static const double many_elements = 1 << 22; // of a workspace, unless some tensor is larger
static const double worth = 0.75;            // of the steps of one nest: more is not worth a workspace
// Of a sparse workspace: the steps of a nest are made for entries and for values, which takes 2 to 4 times as
// long as values alone; products that add to an entry of their own, 0.2 (stencils) to 1 (random matrices).
static const double assembly = 2;
static const double distinct = 0.5;

// How the product of a set of factors is formed: it is a product of parts, which are single factors and
// workspaces. A workspace lives in an iteration of loops over variables `around`; none: it is a whole tensor.
// One that does not have a value everywhere is a sparse tensor, as a zero in place of no value would become
// NaN beside an infinity.
typedef struct {
    double steps; // negative: not known yet
    int part_count;
    FactorSet parts[MAX_FACTORS];
    int enclosing[MAX_FACTORS]; // by part, index into the candidates
} Nesting;

typedef struct {
    Scheduler *scheduler;
    const Cin *cin;
    VarSet left; // variables of the left side
    double extents[MAX_VARS];
    double least_steps, most_elements; // as schedule_products has them
    double largest;                    // elements of the largest tensor that stores all of them
    int factor_count;
    const Expr *factors[MAX_FACTORS];
    FactorSet partial;      // those that do not have a value everywhere
    bool only_whole;        // no workspace is a row
    VarSet placed;          // variables whose loops are distributed: a sparse workspace has all of these
    double sizes[MAX_VARS]; // by variable: processors along its loop; 0 and 1: one
    VarSet beside;          // variables of factors that are numbers or do not fit; kept by all workspaces
    int enclosing_count;
    VarSet enclosing[MAX_ENCLOSING]; // candidates; the first is empty
    Nesting *best;                   // by set of factors and candidate around it
    int64_t tried;                   // parts that nestings were tried with
    ProductOperations *operations;   // to be counted; NULL: not
} Product;

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

// The variables of the product of a set that something outside of it has; it is summed over the others.
static VarSet kept_vars(const Product *product, FactorSet set) {
    const FactorSet all = (1U << product->factor_count) - 1;
    return set_vars(product, set) & (product->left | product->beside | set_vars(product, all & ~set));
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
    int modes[MAX_VARS], count; // variables, in the order of storage
    const char *levels[MAX_VARS];
} SparseLevels;

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
static SparseLevels sparse_levels(const Product *product, FactorSet part) {
    const VarSet kept = kept_vars(product, part);
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

// Whether the product of `part`, of the factors in `set`, can be a workspace inside of loops over `around`,
// where the loops `outside` are around the set.
static bool can_be_workspace(const Product *product, FactorSet part, FactorSet set, VarSet outside,
                             VarSet around) {
    const VarSet kept = kept_vars(product, part);
    if (part & product->partial)
        return !around && !(product->placed & ~kept) && sparse_levels(product, part).count > 0;
    // Of dense factors that a sparse one indexes, only elements at its entries move where it is.
    if (product->placed && product->partial)
        return false;
    // Loops that are distributed are outside of those in which a workspace lives.
    if (around && (product->only_whole || product->placed & ~around))
        return false;
    if (around & ~kept || (around && outside & ~around) || !can_be_around(product, set, around))
        return false;
    const double usual = fmax(many_elements, around ? 0 : product->largest);
    return elements(product, kept & ~around) <= (product->most_elements > 0 ? product->most_elements : usual);
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

static const Nesting *best_nesting(Product *product, FactorSet set, int around);

// The variables of a part as a nest reads it.
static VarSet part_vars(const Product *product, FactorSet part) {
    return part & (part - 1) ? kept_vars(product, part) : set_vars(product, part);
}

// What a library call in place of the innermost loops saves: the steps of a nest are multiplied by it.
static double call_factor(const Product *product, const Search *search) {
    const VarSet inner = search->vars & ~(search->outside | search->enclosing);
    const VarSet summed = inner & ~kept_vars(product, search->set);
    if (search->nesting.part_count != 2 || search->sparse || !summed || inner == summed)
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
        const VarSet kept = kept_vars(product, part), loops = product->enclosing[around];
        const bool sparse = part & product->partial;
        const double filled =
            sparse ? distinct * density(product, part, kept) : density(product, part, loops);
        const double size = elements(product, kept & ~loops) * (sparse ? filled : 1);
        const double steps = best_nesting(product, part, around)->steps;
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

static const Nesting *best_nesting(Product *product, FactorSet set, int around) {
    Nesting *best = &product->best[set * (unsigned)product->enclosing_count + (unsigned)around];
    if (best->steps < 0) {
        const Search search = {.set = set, .outside = product->enclosing[around], .density = 1};
        search_parts(product, &search, set, best);
    }
    return best;
}

// The steps of one nest over all factors.
static double one_nest(const Product *product) {
    const FactorSet all = (1U << product->factor_count) - 1;
    const VarSet vars = set_vars(product, all);
    return product->factor_count * elements(product, vars) * density(product, all, vars);
}

// Those of the order that was chosen for a set, and of what fills its workspaces.
static double ordered_operations(Product *product, FactorSet set, int around) {
    const Nesting *nesting = best_nesting(product, set, around);
    VarSet vars = 0;
    double before = 0, filled = 1;
    for (int p = 0; p < nesting->part_count; p++) {
        const FactorSet part = nesting->parts[p];
        const bool is_workspace = part & (part - 1);
        const VarSet own = part_vars(product, part);
        vars |= own;
        filled *= (part & product->partial && is_workspace ? distinct : 1) * density(product, part, own);
        before += is_workspace ? ordered_operations(product, part, nesting->enclosing[p]) : 0;
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

// False where there are less than three factors, or more than an exhaustive search can do.
static bool add_factors(Product *product, const Expr *expr) {
    if (expr->kind == EXPR_MUL)
        return add_factors(product, expr->left) && add_factors(product, expr->right);
    if (expr->kind == EXPR_NUMBER)
        return true;
    if (product->factor_count == MAX_FACTORS)
        return false;
    if (!expr_is_always_present(expr, assignment_type(product->cin->assignment)))
        product->partial |= 1U << product->factor_count;
    product->factors[product->factor_count++] = expr;
    return true;
}

static const char *fresh_name(const Product *product) {
    const char *name = "W";
    for (int number = 2; name_taken_by(product->scheduler, name) || cin_var(product->cin, name) >= 0;
         number++)
        name = arena_printf(product->scheduler->arena, "W%d", number);
    return name;
}

typedef struct {
    int votes[MAX_VARS];
} Contiguous;

static void count_contiguous(void *context, const Access *access) {
    const int var = access_contiguous_var(access);
    if (var >= 0)
        ((Contiguous *)context)->votes[var]++;
}

// The modes of a workspace: in the order of the variables, but last the one that is contiguous in most
// operands.
static int workspace_modes(const Product *product, const Expr *expr, VarSet vars, int *modes) {
    Contiguous contiguous = {{0}};
    expr_accesses(expr, count_contiguous, &contiguous);
    count_contiguous(&contiguous, product->cin->assignment->lhs);
    int count = 0, last = 0;
    for (int v = 0; v < product->cin->var_count; v++)
        if (vars >> v & 1) {
            modes[count] = v;
            last = contiguous.votes[modes[count]] > contiguous.votes[modes[last]] ? count : last;
            count++;
        }
    for (int i = last; i + 1 < count; i++) {
        const int next = modes[i];
        modes[i] = modes[i + 1];
        modes[i + 1] = next;
    }
    return count;
}

static Arg list_of(const Product *product, Span span, const int *vars, int count) {
    Arg *items = arena_array(product->scheduler->arena, Arg, count + 1);
    for (int i = 0; i < count; i++)
        items[i] = (Arg){.kind = ARG_NAME, .span = span, .name = product->cin->vars[vars[i]].name};
    return (Arg){.kind = ARG_LIST, .span = span, .item_count = count, .items = items};
}

// precompute(EXPR, {vars}, {vars}, NAME), with levels where the workspace is sparse.
static Command precompute_command(const Product *product, FactorSet part, const Expr *expr, VarSet vars) {
    Arena *arena = product->scheduler->arena;
    const Assignment *statement = product->cin->assignment;
    const Span span = statement->span;
    Assignment *expression = arena_copy(arena, statement, sizeof *statement);
    expression->rhs = expr;
    Text text = text_create(arena);
    expr_print(expr, cin_names(product->cin), &text);
    int modes[MAX_VARS];
    int count = workspace_modes(product, expr, vars, modes);
    const bool sparse = part & product->partial;
    Arg *levels = arena_array(arena, Arg, MAX_VARS);
    if (sparse) {
        const SparseLevels chosen = sparse_levels(product, part);
        count = chosen.count;
        memcpy(modes, chosen.modes, sizeof modes);
        for (int l = 0; l < count; l++)
            levels[l] = (Arg){.kind = ARG_NAME, .span = span, .name = chosen.levels[l]};
    }
    const Arg args[] = {
        {.kind = ARG_EXPRESSION, .span = span, .name = text_string(&text), .expression = expression},
        list_of(product, span, modes, count),
        list_of(product, span, modes, count),
        {.kind = ARG_NAME, .span = span, .name = fresh_name(product)},
        {.kind = ARG_LIST, .span = span, .item_count = count, .items = levels}};
    return (Command){.name = "precompute",
                     .span = span,
                     .name_span = span,
                     .arg_count = sparse ? 5 : 4,
                     .args = arena_copy(arena, args, sizeof args)};
}

// The access that stands for the latest workspace.
static const Expr *latest_access(const Product *product, const Command *command) {
    Arena *arena = product->scheduler->arena;
    const int64_t count = product->scheduler->workspaces.count;
    Access *access = arena_new(arena, Access);
    access->tensor = product->scheduler->workspaces.items[count - 1];
    access->span = command->span;
    for (int m = 0; m < access->tensor->order; m++)
        access->vars[m] = cin_var(product->cin, command->args[1].items[m].name);
    Expr *expr = arena_new(arena, Expr);
    *expr = (Expr){.kind = EXPR_ACCESS, .span = command->span, .access = access};
    return expr;
}

// Makes the workspaces of a set, and returns what the set is a product of then; NULL if a command is refused.
static const Expr *apply_nesting(Product *product, FactorSet set, int around, DefaultSteps *steps) {
    Arena *arena = product->scheduler->arena;
    const Nesting nesting = *best_nesting(product, set, around);
    const Expr *all = NULL;
    for (int p = 0; p < nesting.part_count; p++) {
        const FactorSet part = nesting.parts[p];
        const Expr *factor = product->factors[__builtin_ctz(part)];
        if (part & (part - 1)) {
            const Expr *expr = apply_nesting(product, part, nesting.enclosing[p], steps);
            if (!expr)
                return NULL;
            const VarSet vars = kept_vars(product, part) & ~product->enclosing[nesting.enclosing[p]];
            const Command command = precompute_command(product, part, expr, vars);
            const Cin *next = schedule_apply(product->scheduler, &command, product->cin);
            if (!next)
                return NULL;
            array_push(arena, *steps, (DefaultStep){command, next});
            product->cin = next;
            factor = latest_access(product, &command);
        }
        Expr *both = arena_new(arena, Expr);
        *both = (Expr){.kind = EXPR_MUL, .span = factor->span, .left = all, .right = factor};
        all = all ? both : factor;
    }
    return all;
}

// A product that is an additive term of the statement.
static const Cin *split_product(Product product, const Expr *expr, DefaultSteps *steps) {
    if (!add_factors(&product, expr) || product.factor_count < 3)
        return product.cin;
    add_candidates(&product);
    const int count = product.enclosing_count << product.factor_count;
    product.best = arena_array(product.scheduler->arena, Nesting, count);
    for (int i = 0; i < count; i++)
        product.best[i].steps = -1;
    const FactorSet all = (1U << product.factor_count) - 1;
    const double steps_of_one = one_nest(&product);
    ProductOperations *operations = product.operations;
    if (operations)
        operations->fused += steps_of_one;
    if (steps_of_one < product.least_steps || best_nesting(&product, all, 0)->steps > worth * steps_of_one) {
        if (operations)
            operations->ordered += steps_of_one;
        return product.cin;
    }
    // A command may be refused, for terms that have some of the factors in another way: then none is applied.
    Scheduler *scheduler = product.scheduler;
    Diagnostics *diagnostics = scheduler->diagnostics;
    const Cin *before = product.cin;
    const int64_t workspaces = scheduler->workspaces.count, applied = steps->count;
    scheduler->diagnostics = diagnostics_create(scheduler->arena, (Source){0});
    const bool done = apply_nesting(&product, all, 0, steps) != NULL;
    scheduler->diagnostics = diagnostics;
    if (operations)
        operations->ordered += done ? ordered_operations(&product, all, 0) : steps_of_one;
    if (done)
        return product.cin;
    scheduler->workspaces.count = workspaces;
    steps->count = applied;
    return before;
}

static const Cin *split_terms(Product product, const Expr *expr, DefaultSteps *steps) {
    if (expr->kind != EXPR_ADD && expr->kind != EXPR_SUB && expr->kind != EXPR_NEG)
        return split_product(product, expr, steps);
    product.cin = split_terms(product, expr->left, steps);
    return expr->right ? split_terms(product, expr->right, steps) : product.cin;
}

// The variables that the placement by which the statement is distributed divides, and among how many
// processors. False where it divides entries: one nest is distributed so, not several.
static bool find_placed(Product *product, const int64_t *params) {
    const Access *access = schedule_placed(product->cin->assignment);
    int modes[MAX_MACHINE_ORDER], dims[MAX_MACHINE_ORDER];
    if (!access)
        return true;
    const int count = distribution_modes(access, modes, dims);
    for (int i = 0; i < count; i++) {
        const int var = access->vars[modes[i]];
        int64_t size;
        if (!int_eval(access->tensor->placement->machine->extents[dims[i]], params, NULL, &size))
            return false;
        product->sizes[var] = (double)size * (product->placed >> var & 1 ? product->sizes[var] : 1);
        product->placed |= (VarSet)1 << var;
    }
    return count > 0 && distribution_fused(access->tensor->placement) < 0;
}

// Splits the products of a statement whose placement has been looked at.
static void split_statement(Product *product, const int64_t *params, DefaultSteps *steps) {
    const Cin *cin = product->cin;
    const Assignment *assignment = cin->parts[cin->part_count - 1];
    if (cin->part_count > 1 || assignment->whole || assignment_window(cin->assignment))
        return; // what explicit reductions and indices say is left as it is
    for (int v = 0; v < cin->var_count; v++) {
        int64_t extent;
        // Of sums without summands nothing is saved, and zeros in their place would be NaN beside an
        // infinity.
        if (!int_eval(cin->vars[v].extent, params, NULL, &extent) || extent == 0)
            return;
        product->extents[v] = (double)extent;
    }
    find_largest(product, assignment->lhs);
    expr_accesses(assignment->rhs, find_largest, product);
    split_terms(*product, assignment->rhs, steps);
}

void schedule_products(Scheduler *scheduler, const Cin *cin, const int64_t *params, double least_steps,
                       double most_elements, DefaultSteps *steps) {
    Product product = {.scheduler = scheduler,
                       .cin = cin,
                       .left = access_vars(cin->assignment->lhs),
                       .least_steps = least_steps,
                       .most_elements = most_elements,
                       .only_whole = tensor_is_sparse(cin->assignment->lhs->tensor) || cin_is_on_gpu(cin)};
    if (find_placed(&product, params))
        split_statement(&product, params, steps);
}

ProductOperations schedule_order(Scheduler *scheduler, const Cin *cin, const int64_t *params,
                                 double least_steps, DefaultSteps *steps) {
    ProductOperations operations = {0};
    Product product = {.scheduler = scheduler,
                       .cin = cin,
                       .left = access_vars(cin->assignment->lhs),
                       .least_steps = least_steps,
                       .only_whole = true,
                       .operations = &operations};
    split_statement(&product, params, steps);
    return operations;
}
