// SPDX-License-Identifier: BSD-3-Clause
// pos: a loop over coordinates that a tensor stores becomes one over its positions (Senanayake et al. 2020).
#include "schedule/commands.h"
#include "schedule/positions.h"
#include "schedule/transform.h"

#include <string.h>

typedef struct {
    const Cin *cin;
    const Arg *arg;
    const Access *found;
} Search;

static void compare_access(void *context, const Access *access) {
    Search *search = context;
    const Tensor *tensor = access->tensor;
    bool same = (strcmp(tensor->name, search->arg->name) == 0 ||
                 strcmp(tensor_resolve_old(tensor)->name, search->arg->name) == 0) &&
                tensor->order == search->arg->item_count;
    for (int m = 0; same && m < access->tensor->order; m++)
        same = search->arg->items[m].kind == ARG_NAME && !search->arg->items[m].level &&
               strcmp(search->arg->items[m].name, search->cin->vars[access->vars[m]].name) == 0;
    if (same)
        search->found = access;
}

// The access of this text in every nest that has the loop.
static const Access *find_access(const Application *application, const Arg *arg, int loop) {
    const Cin *cin = application->cin;
    Search search = {.cin = cin, .arg = arg};
    if (arg->kind != ARG_ACCESS) {
        refuse(application, arg->span, "expected an access, such as B(i, j)");
        return NULL;
    }
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        if (!nest_has(&nest, loop))
            continue;
        search.found = NULL;
        expr_accesses(nest.assign->rhs, compare_access, &search);
        if (!search.found) {
            refuse(application, arg->span,
                   "what is computed inside of loop '%s' does not read '%s' with these variables; give an "
                   "access of the right side, as it is written there",
                   cin->vars[loop].name, arg->name);
            return NULL;
        }
    }
    return search.found;
}

// The consecutive levels that store the coordinates of these variables.
static bool find_levels(const Application *application, Span span, const Access *access, const int *vars,
                        int count, StoredAccess *stored) {
    const Tensor *tensor = access->tensor;
    const Cin *cin = application->cin;
    const char *names[MAX_ORDER], *own[MAX_VARS];
    for (int l = 0; l < tensor->order; l++)
        names[l] = cin->vars[access->vars[tensor->mode_order[l]]].name;
    for (int v = 0; v < count; v++)
        own[v] = cin->vars[vars[v]].name;
    int level;
    switch (positions_fit(access, vars, count, stored, &level)) {
    case POSITIONS_FIT:
        return true;
    case POSITIONS_IN_ANOTHER_ORDER:
        return refuse(application, span,
                      "'%s' stores %s in this order, so that its positions are not those of %s; reorder and "
                      "collapse loops as it stores them",
                      tensor->name, enumeration(cin->arena, names, tensor->order),
                      enumeration(cin->arena, own, count));
    case POSITIONS_ARE_COORDINATES:
        return refuse(application, span,
                      "'%s' stores every coordinate of '%s', whose positions are the coordinates; split or "
                      "parallelize '%s' itself",
                      tensor->name, names[level], names[level]);
    default:
        return refuse(application, span,
                      "the level of '%s' with '%s' has no list of positions; '%s' can be iterated over by "
                      "coordinates only",
                      tensor->name, names[level], names[level]);
    }
}

static const Cin *pos(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args, *name = &args[1];
    Relation relation = {.kind = &relation_pos, .span = command->span};
    NewVar var;
    if (!argument_loop(&application, &args[0], &relation.parent[0]) ||
        !loop_is_derivable(&application, args[0].span, relation.parent[0]) ||
        !argument_new_vars(&application, &name, 1, &var))
        return NULL;
    const Access *access = find_access(&application, &args[2], relation.parent[0]);
    if (!access)
        return NULL;
    int vars[MAX_VARS], count = 0;
    if (!positions_collapsed_from(cin, relation.parent[0], vars, &count)) {
        refuse(&application, args[0].span,
               "'%s' is a part of a loop; apply pos to the whole loop, and split its positions",
               args[0].name);
        return NULL;
    }
    if (cin->var_count + POSITION_VARS > MAX_VARS) {
        refuse(&application, command->span, TOO_MANY_VARS, MAX_VARS);
        return NULL;
    }
    StoredAccess *stored = arena_new(cin->arena, StoredAccess);
    if (!find_levels(&application, args[2].span, access, vars, count, stored))
        return NULL;
    relation.access = stored;
    Cin *result = cin_copy(cin);
    transform_derive(result, &relation, &var);
    return result;
}

const ScheduleCommand command_pos = {
    .name = "pos",
    .verb = "iterate over positions",
    .synopsis = "pos(i, p, B(i, ...))",
    .summary = "i becomes p, the positions at which B stores entries: parts of p have as many entries each",
    .example = "# Each of eight threads gets as many entries of B, however long its rows are.\n"
               "tensor A(1000): f64\n"
               "tensor B(1000, 5000): f64, csr\n"
               "tensor c(5000): f64\n"
               "A(i) = B(i, j) * c(j)\n"
               "schedule A {\n"
               "  collapse(i, j, f)\n"
               "  pos(f, p, B(i, j))\n"
               "  divide(p, po, pi, 8)\n"
               "  parallelize(po, cpu_thread, atomic)\n"
               "}\n",
    .forms = {{"distal_pos",
               3,
               {{"the loop", TAKES_LOOP, false},
                {"the new loop", TAKES_NEW_LOOP, false},
                {"the access", TAKES_ACCESS, false}}}},
    .apply = pos,
};
