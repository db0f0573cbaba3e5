// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/warn.h"

#include "plan/figures.h"
#include "schedule/distribution.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 10000, LEAST_GAIN = 10, LEAST_FLOP = 1 << 14 };

static bool has_workspace(const Statement *statement) {
    for (int c = 0; c < statement->command_count; c++)
        if (strcmp(statement->commands[c].name, "precompute") == 0)
            return true;
    return false;
}

// Whether the schedule can be applied after these commands.
static bool can_begin(const DefaultSteps *steps, const Statement *statement, Scheduler *scheduler) {
    const Cin *cin = steps->items[steps->count - 1].cin;
    for (int c = 0; cin && c < statement->command_count; c++)
        cin = schedule_apply(scheduler, &statement->commands[c], cin);
    return cin != NULL;
}

// A scheduled statement whose factors are multiplied all at once.
static void warn_of_fused(const Pipeline *pipeline, const StatementPasses *passes, const Plan *plan,
                          Diagnostics *diagnostics) {
    const Statement *statement = passes->statement;
    if (statement->command_count == 0 || has_workspace(statement))
        return;
    // On a copy, of which nothing is kept.
    Scheduler scheduler = pipeline->scheduler;
    scheduler.arena = diagnostics->arena;
    scheduler.diagnostics = diagnostics_create(diagnostics->arena, (Source){0});
    memset(&scheduler.workspaces, 0, sizeof scheduler.workspaces);
    for (int64_t w = 0; w < pipeline->scheduler.workspaces.count; w++)
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(scheduler.arena, scheduler.workspaces, pipeline->scheduler.workspaces.items[w]);
    DefaultSteps steps = {0};
    Cin cin = *passes->cin;
    cin.arena = scheduler.arena;
    const ProductOperations counts =
        schedule_order(&scheduler, &cin, plan->statements[0]->params, LEAST_FLOP, &steps);
    if (steps.count == 0 || counts.fused < LEAST_GAIN * counts.ordered ||
        !diagnostics_warning(
            diagnostics, WARNING_FUSED_PRODUCT, statement->assignment->span,
            "this product takes %.2g operations in one loop nest, and %.2g with fewer factors at a time",
            counts.fused, counts.ordered))
        return;
    Text lines = text_create(diagnostics->arena);
    for (int64_t i = 0; i < steps.count; i++) {
        text_append(&lines, i > 0 ? "; " : "");
        command_print(pipeline->program, &steps.items[i].command, &lines);
    }
    diagnostics_note(diagnostics, statement->assignment->span, "%s: %s",
                     can_begin(&steps, statement, &scheduler) ? "begin its schedule with"
                                                              : "begin its schedule, adapted to that, with",
                     text_string(&lines));
}

static void warn_of_steps(const StatementPlan *plan, Diagnostics *diagnostics) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Access *access = plan->spmd->transfers[t].statement_access;
        if (plan->ranks == 1 || plan->footprints[t]->steps <= MOST_STEPS)
            continue;
        const TransferFigures *figures = &plan_figures(plan)->transfers[t];
        int64_t messages = figures->unknown;
        for (int64_t rank = 0; !figures->unknown && rank < plan->ranks; rank++)
            messages += figures->messages[rank];
        if (messages > 0)
            diagnostics_warning(diagnostics, WARNING_MANY_STEPS, access->span,
                                "'%s' is communicated in %" PRId64
                                " steps; communicate it at a loop further outside, or split that loop",
                                access->tensor->name, figures->steps);
    }
}

// Work that is worth more than one processor.
static bool has_work(const StatementPlan *plan) {
    return plan->flop < 0 || plan->flop >= LEAST_FLOP;
}

static void find_placeable(void *context, const Access *access) {
    const Access **found = context;
    if (!*found && access->tensor->order > 0)
        *found = access;
}

static void warn_of_idle(const Program *program, const Plan *plan, Diagnostics *diagnostics) {
    if (plan->options.ranks == 1 || program->machine_count > 0)
        return;
    int s = 0;
    while (s < plan->statement_count && !has_work(plan->statements[s]))
        s++;
    if (s == plan->statement_count)
        return;
    const Cin *cin = plan->statements[s]->spmd->cin;
    const Assignment *assignment = cin->assignment;
    const Access *access = assignment->lhs->tensor->order > 0 ? assignment->lhs : NULL;
    expr_accesses(assignment->rhs, find_placeable, &access);
    if (!diagnostics_warning(diagnostics, WARNING_ONE_COMPUTES, assignment->span,
                             "one of %" PRId64
                             " ranks computes all of '%s', as nothing says where tensors live",
                             plan->options.ranks, assignment->lhs->tensor->name) ||
        !access)
        return;
    Text place = text_create(diagnostics->arena);
    access_print(access, cin_names(cin), &place);
    diagnostics_note(diagnostics, access->span,
                     "'machine M = grid(ranks)' and 'place %s -> M(%s)' divide the work among the ranks",
                     text_string(&place), cin->vars[access->vars[0]].name);
}

// In parentheses, the loops of a distribution onto the placement of the access: "{j}, {jo}, {ji}, A".
static void print_distribution(const Cin *cin, const Access *access, Text *to) {
    static const char *const suffixes[] = {"", "o", "i"};
    int modes[MAX_MACHINE_ORDER], dims[MAX_MACHINE_ORDER];
    const int count = distribution_modes(access, modes, dims);
    for (int s = 0; s < 3; s++) {
        text_append(to, s > 0 ? ", {" : "({");
        for (int i = 0; i < count; i++)
            text_printf(to, "%s%s%s", i > 0 ? ", " : "", cin->vars[access_mode_var(access, modes[i])].name,
                        suffixes[s]);
        text_append(to, "}");
    }
    text_printf(to, ", %s)", access->tensor->name);
}

// A schedule that leaves the statement where it is by default, and far more moves there than elsewhere.
static void warn_of_place(const StatementPasses *passes, Diagnostics *diagnostics) {
    const PlaceChoice *place = &passes->place;
    const Statement *statement = passes->statement;
    if (!place->best || statement->command_count == 0 ||
        !diagnostics_warning(diagnostics, WARNING_COSTLY_PLACE, statement->assignment->span,
                             "by default this is computed where '%s' lies, and %" PRId64
                             " bytes move in each execution; where '%s' lies, %" PRId64 " would",
                             place->first->tensor->name, place->first_bytes, place->best->tensor->name,
                             place->best_bytes))
        return;
    Text loops = text_create(diagnostics->arena);
    print_distribution(passes->cin, place->best, &loops);
    diagnostics_note(diagnostics, place->best->span, "in its schedule, write 'distribute%s'",
                     text_string(&loops));
}

static bool has_empty_range(const StatementPlan *plan, int var) {
    const Assignment *assignment = plan->spmd->cin->assignment;
    for (int v = 0; v < assignment->var_count; v++)
        if (assignment->vars[v].first && index_vars(assignment->vars[v].index) >> var & 1 &&
            provenance_extent(plan->provenance, v) <= 0)
            return true;
    return false;
}

// An index such as i + 20 that is outside of its mode for all values of its variable.
static void warn_of_outside(const StatementPlan *plan, Diagnostics *diagnostics) {
    const Assignment *assignment = plan->spmd->cin->assignment;
    for (int v = 0; v < assignment->var_count; v++) {
        const SourceVar *var = &assignment->vars[v];
        const int64_t extent = provenance_extent(plan->provenance, v);
        const PositionSet window = provenance_window(plan->provenance, v);
        if (!var->index && extent > 0 && positions_count(window) == 0 && !has_empty_range(plan, v))
            diagnostics_warning(
                diagnostics, WARNING_OUTSIDE, var->span,
                "for none of the %" PRId64
                " values of '%s' are all indices inside of their modes, so nothing is computed",
                extent, var->name);
    }
}

// How many modes each variable indexes.
typedef struct {
    int counts[MAX_VARS];
} Occurrences;

static void count_modes(void *context, const Access *access) {
    Occurrences *occurrences = context;
    for (int m = 0; m < access->tensor->order; m++)
        occurrences->counts[access->vars[m]]++;
}

// The first of `vars` with this extent that stands once; -1 where there is none.
static int single_of_extent(const StatementPlan *plan, VarSet vars, const Occurrences *occurrences,
                            int64_t extent) {
    for (VarSet left = vars; left; left &= left - 1) {
        const int v = __builtin_ctzll(left);
        if (occurrences->counts[v] == 1 && provenance_extent(plan->provenance, v) == extent)
            return v;
    }
    return -1;
}

// `A(i, j) = B(i, k)`, where one of j and k may be meant to be the other.
static void warn_of_unmatched(const StatementPlan *plan, Diagnostics *diagnostics) {
    const Assignment *assignment = plan->spmd->cin->assignment;
    const VarSet left = access_vars(assignment->lhs), right = expr_vars(assignment->rhs);
    Occurrences occurrences = {{0}};
    if (assignment->reducer != REDUCER_SUM || assignment_window(assignment))
        return;
    expr_accesses(assignment->rhs, count_modes, &occurrences);
    int broadcast = -1, summed = -1;
    for (VarSet unread = left & ~right; unread && summed < 0; unread &= unread - 1) {
        broadcast = __builtin_ctzll(unread);
        const int64_t extent = provenance_extent(plan->provenance, broadcast);
        if (extent > 1)
            summed = single_of_extent(plan, right & ~left, &occurrences, extent);
    }
    if (summed >= 0 &&
        diagnostics_warning(diagnostics, WARNING_UNMATCHED_INDEX, assignment->vars[summed].span,
                            "the sum over '%s' is broadcast along '%s', which has the same extent and "
                            "stands on the left side only",
                            assignment->vars[summed].name, assignment->vars[broadcast].name))
        diagnostics_note(diagnostics, assignment->vars[broadcast].span,
                         "if this is meant, write the sum as 'sum({%s}, ...)'",
                         assignment->vars[summed].name);
}

void pipeline_warn(const Pipeline *pipeline, const Plan *plan, Diagnostics *diagnostics) {
    warn_of_idle(pipeline->program, plan, diagnostics);
    for (int s = 0; s < plan->statement_count; s++) {
        warn_of_fused(pipeline, &pipeline->statements[s], plan, diagnostics);
        warn_of_steps(plan->statements[s], diagnostics);
        warn_of_outside(plan->statements[s], diagnostics);
        warn_of_unmatched(plan->statements[s], diagnostics);
        warn_of_place(&pipeline->statements[s], diagnostics);
    }
}
