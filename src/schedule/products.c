// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/products.h"

#include "schedule/arguments.h"
#include "schedule/distribution.h"
#include "schedule/nesting.h"

#include <string.h>

static const double worth = 0.75; // of the steps of one nest: more is not worth a workspace

// The products of a statement, of which each term has one, and the commands so far, after which the statement
// is `product.cin`.
typedef struct {
    Product product;
    Scheduler *scheduler;
    const Assignment *assignment;  // that has the products, as it is without these commands
    double least_steps;            // as schedule_products has them
    ProductOperations *operations; // to be counted; NULL: not
    DefaultSteps *steps;
} Splitting;

static const char *fresh_name(const Splitting *splitting) {
    const char *name = "W";
    for (int number = 2;
         name_taken_by(splitting->scheduler, name) || cin_var(splitting->product.cin, name) >= 0; number++)
        name = arena_printf(splitting->scheduler->arena, "W%d", number);
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
static int workspace_modes(const Cin *cin, const Expr *expr, VarSet vars, int *modes) {
    Contiguous contiguous = {{0}};
    expr_accesses(expr, count_contiguous, &contiguous);
    count_contiguous(&contiguous, cin->assignment->lhs);
    int count = 0, last = 0;
    for (int v = 0; v < cin->var_count; v++)
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

static Arg list_of(Arena *arena, const Cin *cin, Span span, const int *vars, int count) {
    Arg *items = arena_array(arena, Arg, count + 1);
    for (int i = 0; i < count; i++)
        items[i] = (Arg){.kind = ARG_NAME, .span = span, .name = cin->vars[vars[i]].name};
    return (Arg){.kind = ARG_LIST, .span = span, .item_count = count, .items = items};
}

// precompute(EXPR, {vars}, {vars}, NAME), with levels where the workspace is sparse.
static Command precompute_command(const Splitting *splitting, FactorSet part, const Expr *expr, VarSet vars) {
    Arena *arena = splitting->scheduler->arena;
    const Cin *cin = splitting->product.cin;
    const Assignment *statement = cin->assignment;
    const Span span = statement->span;
    Assignment *expression = arena_copy(arena, statement, sizeof *statement);
    expression->rhs = expr;
    Text text = text_create(arena);
    expr_print(expr, cin_names(cin), &text);
    int modes[MAX_VARS];
    int count = workspace_modes(cin, expr, vars, modes);
    const bool sparse = part & splitting->product.partial;
    Arg *levels = arena_array(arena, Arg, MAX_VARS);
    if (sparse) {
        const SparseLevels chosen = nesting_levels(&splitting->product, part);
        count = chosen.count;
        memcpy(modes, chosen.modes, sizeof modes);
        for (int l = 0; l < count; l++)
            levels[l] = (Arg){.kind = ARG_NAME, .span = span, .name = chosen.levels[l]};
    }
    const Arg args[] = {
        {.kind = ARG_EXPRESSION, .span = span, .name = text_string(&text), .expression = expression},
        list_of(arena, cin, span, modes, count),
        list_of(arena, cin, span, modes, count),
        {.kind = ARG_NAME, .span = span, .name = fresh_name(splitting)},
        {.kind = ARG_LIST, .span = span, .item_count = count, .items = levels}};
    return (Command){.name = "precompute",
                     .span = span,
                     .name_span = span,
                     .arg_count = sparse ? 5 : 4,
                     .args = arena_copy(arena, args, sizeof args)};
}

// The access that stands for the latest workspace.
static const Expr *latest_access(const Splitting *splitting, const Command *command) {
    Arena *arena = splitting->scheduler->arena;
    const int64_t count = splitting->scheduler->workspaces.count;
    Access *access = arena_new(arena, Access);
    access->tensor = splitting->scheduler->workspaces.items[count - 1];
    access->span = command->span;
    for (int m = 0; m < access->tensor->order; m++)
        access->vars[m] = cin_var(splitting->product.cin, command->args[1].items[m].name);
    Expr *expr = arena_new(arena, Expr);
    *expr = (Expr){.kind = EXPR_ACCESS, .span = command->span, .access = access};
    return expr;
}

// Makes the workspaces of a set, and returns what the set is a product of then; NULL if a command is refused.
static const Expr *apply_nesting(Splitting *splitting, FactorSet set, int around) {
    Product *product = &splitting->product;
    Arena *arena = splitting->scheduler->arena;
    const Nesting nesting = *nesting_best(product, set, around);
    const Expr *all = NULL;
    for (int p = 0; p < nesting.part_count; p++) {
        const FactorSet part = nesting.parts[p];
        const Expr *factor = product->factors[__builtin_ctz(part)];
        if (part & (part - 1)) {
            const Expr *expr = apply_nesting(splitting, part, nesting.enclosing[p]);
            if (!expr)
                return NULL;
            const VarSet vars = nesting_kept(product, part) & ~product->enclosing[nesting.enclosing[p]];
            const Command command = precompute_command(splitting, part, expr, vars);
            const Cin *next = schedule_apply(splitting->scheduler, &command, product->cin);
            if (!next)
                return NULL;
            array_push(arena, *splitting->steps, (DefaultStep){command, next});
            product->cin = next;
            factor = latest_access(splitting, &command);
        }
        Expr *both = arena_new(arena, Expr);
        *both = (Expr){.kind = EXPR_MUL, .span = factor->span, .left = all, .right = factor};
        all = all ? both : factor;
    }
    return all;
}

// A product that is an additive term of the statement.
static const Cin *split_product(Splitting splitting, const Expr *expr) {
    Product *product = &splitting.product;
    if (!nesting_add_factors(product, expr) || product->factor_count < 3)
        return product->cin;
    nesting_begin(product, splitting.assignment);
    const FactorSet all = (1U << product->factor_count) - 1;
    const double steps_of_one = nesting_fused_steps(product);
    ProductOperations unused = {0}, *operations = splitting.operations ? splitting.operations : &unused;
    operations->fused += steps_of_one;
    if (steps_of_one < splitting.least_steps || nesting_best(product, all, 0)->steps > worth * steps_of_one) {
        operations->ordered += steps_of_one;
        return product->cin;
    }
    // A command may be refused, for terms that have some of the factors in another way: then none is applied.
    Scheduler *scheduler = splitting.scheduler;
    Diagnostics *diagnostics = scheduler->diagnostics;
    const Cin *before = product->cin;
    const int64_t workspaces = scheduler->workspaces.count, applied = splitting.steps->count;
    scheduler->diagnostics = diagnostics_create(scheduler->arena, (Source){0});
    const bool done = apply_nesting(&splitting, all, 0) != NULL;
    scheduler->diagnostics = diagnostics;
    operations->ordered += done ? nesting_ordered_steps(product, all, 0) : steps_of_one;
    if (done)
        return product->cin;
    scheduler->workspaces.count = workspaces;
    splitting.steps->count = applied;
    return before;
}

static const Cin *split_terms(Splitting splitting, const Expr *expr) {
    if (expr->kind != EXPR_ADD && expr->kind != EXPR_SUB && expr->kind != EXPR_NEG)
        return split_product(splitting, expr);
    splitting.product.cin = split_terms(splitting, expr->left);
    return expr->right ? split_terms(splitting, expr->right) : splitting.product.cin;
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
static void split_statement(Splitting *splitting, const int64_t *params) {
    Product *product = &splitting->product;
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
    splitting->assignment = assignment;
    split_terms(*splitting, assignment->rhs);
}

static Splitting splitting_of(Scheduler *scheduler, const Cin *cin, double least_steps, DefaultSteps *steps) {
    return (Splitting){
        .product = {.arena = scheduler->arena, .cin = cin, .left = access_vars(cin->assignment->lhs)},
        .scheduler = scheduler,
        .least_steps = least_steps,
        .steps = steps};
}

void schedule_products(Scheduler *scheduler, const Cin *cin, const int64_t *params, double least_steps,
                       double most_elements, DefaultSteps *steps) {
    Splitting splitting = splitting_of(scheduler, cin, least_steps, steps);
    splitting.product.most_elements = most_elements;
    splitting.product.only_whole = tensor_is_sparse(cin->assignment->lhs->tensor) || cin_is_on_gpu(cin);
    if (find_placed(&splitting.product, params))
        split_statement(&splitting, params);
}

ProductOperations schedule_order(Scheduler *scheduler, const Cin *cin, const int64_t *params,
                                 double least_steps, DefaultSteps *steps) {
    ProductOperations operations = {0};
    Splitting splitting = splitting_of(scheduler, cin, least_steps, steps);
    splitting.product.only_whole = true;
    splitting.operations = &operations;
    split_statement(&splitting, params);
    return operations;
}
