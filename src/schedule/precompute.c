// SPDX-License-Identifier: BSD-3-Clause
// precompute: a part of the right side is computed before the rest, into a workspace that takes its place.
#include "format/level_list.h"
#include "index/presence.h"
#include "index/subexpression.h"
#include "index/summation.h"
#include "schedule/arguments.h"
#include "schedule/commands.h"

#include <string.h>

// The arguments, resolved.
typedef struct {
    const Expr *expr; // with the variables of the statement
    int order;
    int kept[MAX_ORDER];   // variables that index the workspace where it is read
    int filled[MAX_ORDER]; // and where it is filled: the same, or ids of new variables
    int new_count;
    SourceVar new_vars[MAX_ORDER];
    const Arg *name;
    LevelType levels[MAX_ORDER]; // dense ones unless the command says others
    int mode_order[MAX_ORDER];
} Hoist;

static bool comes_first(const Application *application) {
    const Cin *cin = application->cin;
    const Span span = application->command->name_span;
    const SourceVar *window = assignment_window(cin->assignment);
    if (window)
        return refuse(application, span, "statements with %s such as '%s' have no workspaces",
                      window->first ? "ranges" : "indices", window->name);
    if (cin->relations.count > 0 || cin->directives.count > 0) {
        Text text = text_create(cin->arena);
        if (cin->directives.count == 0 || cin->directives.items[0]->at_relations > 0)
            cin_print_relation(cin, cin->relations.items[0], application->scheduler->symbols.params, &text);
        else
            cin_print_directive(cin, cin->directives.items[0], application->scheduler->symbols.params, &text);
        return refuse(application, span, "%s was applied before; precompute comes first in a schedule",
                      text_string(&text));
    }
    for (int v = 0; v < cin->var_count; v++)
        if (cin->ordered[v])
            return refuse(application, span,
                          "'%s' was reordered before; precompute comes first in a schedule",
                          cin->vars[v].name);
    return true;
}

static bool resolve_expression(const Application *application, Hoist *hoist) {
    const Cin *cin = application->cin;
    const Arg *arg = &application->command->args[0];
    const Assignment *written = arg->expression;
    int ids[MAX_VARS];
    if (!written)
        return refuse(application, arg->span, "expected a tensor expression");
    if (expr_reduction(written->rhs))
        return refuse(application, arg->span,
                      "an explicit reduction is computed ahead of the rest without a command");
    for (int v = 0; v < written->var_count; v++) {
        ids[v] = cin_var(cin, written->vars[v].name);
        if (ids[v] < 0)
            return refuse(application, written->vars[v].span,
                          "'%s' is not a variable of this statement (variables: %s)", written->vars[v].name,
                          loop_list(cin));
    }
    hoist->expr = expr_with_vars(cin->arena, written->rhs, ids);
    return true;
}

// A list of names, which may be empty.
static bool resolve_list(const Application *application, const Arg *arg, const Arg **items, int *count) {
    *count = 0;
    if (arg->kind == ARG_LIST && arg->item_count == 0)
        return true;
    if (!argument_names(application, arg, items, count))
        return false;
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp((*items)[i].name, (*items)[k].name) == 0)
                return refuse(application, (*items)[i].span, "'%s' appears twice in the list",
                              (*items)[i].name);
    return *count <= MAX_ORDER || refuse(application, arg->span, "a tensor has at most %d modes", MAX_ORDER);
}

static bool resolve_kept(const Application *application, Hoist *hoist) {
    const Cin *cin = application->cin;
    const Arg *items;
    if (!resolve_list(application, &application->command->args[1], &items, &hoist->order))
        return false;
    for (int i = 0; i < hoist->order; i++) {
        hoist->kept[i] = cin_var(cin, items[i].name);
        if (hoist->kept[i] < 0 || !(expr_vars(hoist->expr) & (VarSet)1 << hoist->kept[i]))
            return refuse(application, items[i].span, "the expression has no variable '%s'", items[i].name);
    }
    return true;
}

static bool resolve_filled(const Application *application, Hoist *hoist) {
    const Cin *cin = application->cin;
    const Arg *arg = &application->command->args[2], *items;
    int count;
    if (!resolve_list(application, arg, &items, &count))
        return false;
    if (count != hoist->order)
        return refuse(application, arg->span, "%d name%s for %d variable%s of the workspace", count,
                      count == 1 ? "" : "s", hoist->order, hoist->order == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        hoist->filled[i] = hoist->kept[i];
        const char *old = cin->vars[hoist->kept[i]].name;
        if (strcmp(items[i].name, old) == 0)
            continue;
        if (cin_var(cin, items[i].name) >= 0)
            return refuse(application, items[i].span,
                          "'%s' is another variable of this statement: write '%s' again, or a new name",
                          items[i].name, old);
        hoist->filled[i] = cin->var_count + hoist->new_count;
        hoist->new_vars[hoist->new_count++] = (SourceVar){
            .name = items[i].name, .span = items[i].span, .extent = cin->vars[hoist->kept[i]].extent};
    }
    return cin->var_count + hoist->new_count <= MAX_VARS ||
           refuse(application, application->command->span, TOO_MANY_VARS, MAX_VARS);
}

static bool resolve_name(const Application *application, Hoist *hoist) {
    hoist->name = &application->command->args[3];
    if (hoist->name->kind != ARG_NAME || hoist->name->level)
        return refuse(application, hoist->name->span, "expected a name for the workspace");
    const char *taken = name_taken_by(application->scheduler, hoist->name->name);
    return !taken ||
           refuse(application, hoist->name->span, "'%s' is already %s; choose another name for the workspace",
                  hoist->name->name, taken);
}

static bool resolve_format(const Application *application, const Arg *arg, Hoist *hoist) {
    int64_t count;
    const char *const *names = tensor_format_names(&count);
    const TensorFormat *format = tensor_format(arg->name);
    if (!format)
        return refuse(application, arg->span, "unknown format '%s'%s", arg->name,
                      did_you_mean(application->cin->arena, arg->name, "formats", names, count));
    if (hoist->order == 0)
        return refuse(application, arg->span, "a scalar has no format: leave '%s' out", arg->name);
    if (hoist->order < format->least || hoist->order > format->most)
        return refuse(application, arg->span,
                      "'%s' does not store a tensor of %d mode%s: write a list of %d level%s", arg->name,
                      hoist->order, hoist->order == 1 ? "" : "s", hoist->order, hoist->order == 1 ? "" : "s");
    tensor_format_levels(format, hoist->order, hoist->levels, hoist->mode_order);
    return true;
}

static bool resolve_level_list(const Application *application, const Arg *items, int count, Hoist *hoist) {
    Arena *arena = application->cin->arena;
    int64_t name_count;
    const char *const *names = level_format_names(&name_count);
    if (count != hoist->order)
        return refuse(application, application->command->args[4].span,
                      "%d level%s for %d variable%s of the workspace", count, count == 1 ? "" : "s",
                      hoist->order, hoist->order == 1 ? "" : "s");
    for (int l = 0; l < count; l++) {
        hoist->levels[l].format = level_format(items[l].name);
        if (!hoist->levels[l].format)
            return refuse(application, items[l].span, "unknown storage level '%s'%s", items[l].name,
                          did_you_mean(arena, items[l].name, "levels", names, name_count));
    }
    // Levels above a singleton one store coordinates several times, which is said nowhere here.
    for (int l = 0; l + 1 < count; l++)
        hoist->levels[l].nonunique =
            hoist->levels[l + 1].format->branchless && level_can_repeat(hoist->levels[l].format);
    int at;
    const char *why = level_list_refuse(arena, count, hoist->levels, &at);
    return !why || refuse(application, items[at].span, "%s", why);
}

// How the workspace is stored: in a format or in levels, as a tensor is declared.
static bool resolve_levels(const Application *application, Hoist *hoist) {
    const Command *command = application->command;
    const Arg *items;
    int count;
    for (int l = 0; l < hoist->order; l++) {
        hoist->levels[l] = level_type_dense();
        hoist->mode_order[l] = l;
    }
    if (command->arg_count < 5)
        return true;
    if (!argument_names(application, &command->args[4], &items, &count))
        return false;
    return count == 1 && !level_format(items[0].name) ? resolve_format(application, &items[0], hoist)
                                                      : resolve_level_list(application, items, count, hoist);
}

// Of the type that the statement computes in, but real if the expression is real.
static ElementType workspace_type(const Cin *cin, const Expr *expr) {
    const ElementType type = assignment_type(cin->assignment);
    return type_info(expr_type(expr))->is_complex ? type : type_component(type);
}

typedef struct {
    int var;
    bool fits;
} Width;

static void find_narrow(void *context, const Access *access) {
    Width *width = context;
    const Tensor *tensor = access->tensor;
    for (int l = 0; l < tensor->order; l++)
        width->fits = width->fits || (access->vars[tensor->mode_order[l]] == width->var &&
                                      level_can_repeat(tensor->levels[l].format) && !tensor->levels[l].wide);
}

// Whether coordinates take 64 bits: where no tensor has a list with coordinates of the mode in 32.
static bool is_wide(const Application *application, int var) {
    const Cin *cin = application->cin;
    Width width = {.var = var};
    for (int p = 0; p < cin->part_count; p++) {
        find_narrow(&width, cin->parts[p]->lhs);
        expr_accesses(cin->parts[p]->rhs, find_narrow, &width);
    }
    return !width.fits;
}

static void add_stored_vars(void *vars, const Access *access) {
    if (tensor_is_sparse(access->tensor) || access->tensor->partial)
        *(VarSet *)vars |= access_vars(access);
}

// Whether the workspace has elements where the expression has no value. Below a stored position it has every
// coordinate of its last levels, at all of which there is a value, unless they index a sparse operand.
static bool stores_zeros(const Hoist *hoist, const Tensor *workspace, ElementType type) {
    VarSet stored = 0;
    if (expr_is_always_present(hoist->expr, type))
        return false;
    expr_accesses(hoist->expr, add_stored_vars, &stored);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each level has a format
    for (int l = hoist->order - 1; l >= 0 && workspace->levels[l].format->full; l--)
        if (stored >> hoist->kept[workspace->mode_order[l]] & 1)
            return true;
    return !tensor_is_sparse(workspace);
}

static Tensor *make_workspace(const Application *application, const Hoist *hoist) {
    const Cin *cin = application->cin;
    const Scheduler *scheduler = application->scheduler;
    Tensor *workspace = arena_new(cin->arena, Tensor);
    *workspace = (Tensor){.id = scheduler->symbols.tensor_count + (int)scheduler->workspaces.count,
                          .name = hoist->name->name,
                          .span = hoist->name->span,
                          .type = workspace_type(cin, hoist->expr),
                          .order = hoist->order};
    for (int m = 0; m < hoist->order; m++) {
        workspace->extents[m] = cin->vars[hoist->kept[m]].extent;
        workspace->extent_spans[m] = hoist->name->span;
        workspace->levels[m] = hoist->levels[m];
        workspace->mode_order[m] = hoist->mode_order[m];
    }
    for (int l = 0; l < hoist->order; l++)
        workspace->levels[l].wide = level_can_repeat(workspace->levels[l].format) &&
                                    is_wide(application, hoist->kept[workspace->mode_order[l]]);
    workspace->partial = stores_zeros(hoist, workspace, assignment_type(cin->assignment));
    return workspace;
}

static const Access *make_access(const Application *application, const Tensor *workspace, const int *vars,
                                 Span span) {
    Access *access = arena_new(application->cin->arena, Access);
    access->tensor = workspace;
    access->span = span;
    for (int m = 0; m < workspace->order; m++) {
        access->vars[m] = vars[m];
        access->var_spans[m] = span;
    }
    return access;
}

static const Expr *access_expr(Arena *arena, const Access *access) {
    Expr *expr = arena_new(arena, Expr);
    *expr = (Expr){.kind = EXPR_ACCESS, .span = access->span, .access = access};
    return expr;
}

// The assignment with all variables of the statement, new ones included.
static const Assignment *make_part(const Application *application, const Hoist *hoist, Assignment part) {
    const Cin *cin = application->cin;
    part.var_count = cin->var_count + hoist->new_count;
    for (int v = 0; v < part.var_count; v++) {
        const IndexVar *var = &cin->vars[v];
        part.vars[v] = v < cin->var_count
                           ? (SourceVar){.name = var->name, .span = var->span, .extent = var->extent}
                           : hoist->new_vars[v - cin->var_count];
    }
    return arena_copy(cin->arena, &part, sizeof part);
}

static const Assignment *filling_part(const Application *application, const Hoist *hoist,
                                      const Tensor *workspace) {
    int ids[MAX_VARS];
    for (int v = 0; v < MAX_VARS; v++)
        ids[v] = v;
    for (int m = 0; m < hoist->order; m++)
        ids[hoist->kept[m]] = hoist->filled[m];
    const Assignment part = {
        .lhs = make_access(application, workspace, hoist->filled, hoist->name->span),
        .rhs = expr_with_vars(application->cin->arena, hoist->expr, ids),
        .span = application->command->span,
    };
    return make_part(application, hoist, part);
}

static bool refuse_replacement(const Application *application, VarSet partly) {
    const Span span = application->command->args[0].span;
    if (partly)
        return refuse(application, span,
                      "some of its terms are summed over '%s' and others are not: precompute them one by one",
                      application->cin->vars[__builtin_ctzll(partly)].name);
    return refuse(application, span,
                  "the right side has no such part (a whole operand, or some of the factors of a product)");
}

// False with a diagnostic if the workspace has been summed over a variable that other addends of its sum
// have.
static bool has_like_addends(const Application *application, const Assignment *const *parts, int count) {
    for (int p = 0; p < count; p++) {
        const Expr *sum = expr_mixed_sum(parts[p]->rhs, access_vars(parts[p]->lhs), NULL);
        if (!sum || parts[p]->whole)
            continue;
        const char *names[MAX_VARS];
        for (int v = 0; v < parts[p]->var_count; v++)
            names[v] = parts[p]->vars[v].name;
        Text text = text_create(application->scheduler->arena);
        expr_print(sum, names, &text);
        return refuse(
            application, application->command->args[0].span,
            "the addends of '%.200s' would be summed over different variables: precompute the whole "
            "sum",
            text_string(&text));
    }
    return true;
}

// The parts of the statement with the workspace in place of the expression, and the part that fills it before
// the first that reads it: as many as there were where nothing was replaced.
static int replace_in_parts(const Application *application, const Hoist *hoist, const Tensor *workspace,
                            Replacement *replacement, const Assignment **parts) {
    const Cin *cin = application->cin;
    const Access *by = make_access(application, workspace, hoist->kept, application->command->args[0].span);
    VarSet outside = 0, partly = 0;
    int count = 0;
    *replacement = (Replacement){.arena = cin->arena,
                                 .part = hoist->expr,
                                 .by = access_expr(cin->arena, by),
                                 .kept = access_vars(by),
                                 .truncates = type_info(assignment_type(cin->assignment))->is_integer};
    for (int p = 0; p < cin->part_count; p++) {
        Assignment part = *cin->parts[p];
        replacement->left = access_vars(part.lhs);
        replacement->whole = part.whole;
        part.rhs = expr_replace(replacement, part.rhs);
        outside |= replacement->outside;
        partly |= replacement->partly;
        if (replacement->count > 0 && count == p)
            parts[count++] = filling_part(application, hoist, workspace);
        parts[count++] = make_part(application, hoist, part);
    }
    replacement->outside = outside;
    replacement->partly = partly;
    return count;
}

static bool refuse_levels(const Application *application, const Tensor *workspace) {
    const Arg *arg = &application->command->args[4];
    if (workspace->around) {
        const char *around = application->cin->vars[__builtin_ctzll(workspace->around)].name;
        return refuse(
            application, arg->span,
            "'%s' cannot be summed over '%s' ahead, so it is a row, which stores all of its elements: "
            "leave the format out, or add '%s' to both lists",
            workspace->name, around, around);
    }
    return refuse(
        application, arg->span,
        "'%s' has a value everywhere, so that a workspace for it stores every element: leave the format out",
        application->command->args[0].name);
}

// A row has the variables around it that the workspace cannot be summed over ahead. NULL after a diagnostic.
static const Assignment *const *make_parts(const Application *application, const Hoist *hoist,
                                           Tensor *workspace) {
    const Cin *cin = application->cin;
    const Assignment **parts = arena_array(cin->arena, const Assignment *, cin->part_count + 1);
    Replacement replacement;
    int count;
    do {
        count = replace_in_parts(application, hoist, workspace, &replacement, parts);
        workspace->around |= replacement.outside;
    } while (replacement.outside);
    if (tensor_is_sparse(workspace) &&
        (workspace->around || expr_is_always_present(hoist->expr, assignment_type(cin->assignment)))) {
        refuse_levels(application, workspace);
        return NULL;
    }
    if (count > cin->part_count)
        return has_like_addends(application, parts, count) ? parts : NULL;
    refuse_replacement(application, replacement.partly);
    return NULL;
}

static const Cin *precompute(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    Hoist hoist = {0};
    if (!comes_first(&application) || !resolve_expression(&application, &hoist) ||
        !resolve_kept(&application, &hoist) || !resolve_filled(&application, &hoist) ||
        !resolve_name(&application, &hoist) || !resolve_levels(&application, &hoist))
        return NULL;
    Tensor *workspace = make_workspace(&application, &hoist);
    const Assignment *const *parts = make_parts(&application, &hoist, workspace);
    if (!parts)
        return NULL;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(scheduler->arena, scheduler->workspaces, workspace);
    return cin_create_parts(cin->arena, cin->assignment, parts, cin->part_count + 1);
}

const ScheduleCommand command_precompute = {
    .name = "precompute",
    .synopsis = "precompute(EXPR, {i, ...}, {w, ...}, W[, FORMAT])",
    .summary =
        "EXPR, an operand or factors of a product, is computed ahead into a workspace W(i, ...), in loops "
        "w, ...; its other variables are summed there; FORMAT, such as csr, is how its entries are stored",
    .example =
        "# W is B times D, a library call over j, l and k for each i; what is left does not loop over k.\n"
        "tensor A(500, 400): f64\n"
        "tensor B(500, 600, 300): f64\n"
        "tensor C(600, 400): f64\n"
        "tensor D(300, 400): f64\n"
        "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)\n"
        "schedule A {\n"
        "  precompute(B(i, j, k) * D(k, l), {i, j, l}, {i, j, l}, W)\n"
        "  substitute({j, l, k}, gemm)\n"
        "}\n",
    .forms = {{"distal_precompute",
               5,
               {{"the expression", TAKES_EXPRESSION, false},
                {"the list of variables", TAKES_VARIABLES, false},
                {"the list of variables of the workspace", TAKES_VARIABLES, false},
                {"the workspace", TAKES_WORKSPACE, false},
                {"its format", TAKES_NAMES, true}}}},
    .apply = precompute,
};
