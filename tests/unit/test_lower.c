// SPDX-License-Identifier: BSD-3-Clause
// Lowering, checked by walking: for drawn schedules, every point of the iteration space is reached exactly
// once over all processors, within the boxes that provenance gives for the transfers around it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "drawn.h"
#include "lower/lower.h"

#include <stdio.h>
#include <stdlib.h>

static void draw_schedule(Random *random, Cin *cin) {
    draw_transforms(random, cin, false);
    Nest nest = cin_nest(cin, cin_nest_count(cin) - 1);
    int64_t distributed = 0;
    for (int i = 0; i < nest.loop_count && distributed < 3; i++)
        if (draw(random, 3) == 0) {
            cin_add_directive(
                cin, (Directive){.kind = DIRECTIVE_DISTRIBUTE, .loop_count = 1, .loops = {nest.loops[i]}});
            distributed++;
        }
    for (int64_t i = draw(random, 3); i > 0 && nest.loop_count > 0; i--) {
        Directive directive = {.kind = DIRECTIVE_COMMUNICATE,
                               .loop_count = 1,
                               .loops = {nest.loops[draw(random, nest.loop_count)]}};
        const Expr *rhs = cin->assignment->rhs;
        while (rhs->kind != EXPR_ACCESS)
            rhs = draw(random, 2) ? rhs->left : rhs->right;
        directive.tensor = draw(random, 3) ? rhs->access->tensor : cin->assignment->lhs->tensor;
        cin_add_directive(cin, directive);
    }
}

// The walker.

enum { MAX_POINTS = 7 * 7 * 7 * 7 };

typedef struct {
    const Spmd *spmd;
    const SpmdNest *nest;
    const Provenance *provenance;
    Arena *scratch;
    bool active[MAX_VARS]; // variables of the nest
    int64_t values[MAX_VARS];
    bool fixed[MAX_VARS]; // coordinates and loops around transfers
    int visits[MAX_POINTS];
    int64_t reached; // points of the leaf in hand
    BoxArray boxes;
    const char *wrong;
} Walker;

static int64_t evaluate(Walker *walker, const IntExpr *expr) {
    int64_t value = 0;
    if (!int_eval(expr, NULL, walker->values, &value))
        walker->wrong = "an expression cannot be evaluated";
    return value;
}

static int64_t value_of(const Walker *walker, const bool *loops, int var) {
    return recover(walker->spmd->cin, walker->provenance, loops, walker->values, var);
}

typedef struct {
    Walker *walker;
    const bool *loops;
} PointCheck;

static void check_access(void *context, const Access *access) {
    PointCheck *check = context;
    for (int m = 0; m < access->tensor->order; m++) {
        int var = access->vars[m];
        if (check->walker->values[var] != value_of(check->walker, check->loops, var))
            check->walker->wrong = "a definition is wrong";
    }
}

static bool is_in(PositionSet set, int64_t value) {
    const PositionSet run = positions_run(set, value);
    return run.lo == value && run.lo < run.hi;
}

// What the leaf finds an element by counts the coordinates of what is communicated.
static void check_positions(Walker *walker, const bool *loops) {
    for (int t = 0; t < walker->spmd->transfer_count; t++) {
        const Transfer *transfer = &walker->spmd->transfers[t];
        const Box *box = walker->boxes.items;
        if (&walker->spmd->nests[transfer->nest] != walker->nest)
            continue;
        for (int m = 0; m < transfer->access->tensor->order; m++) {
            const int var = transfer->statement_access->vars[m], by = transfer->access->vars[m];
            const PositionSet values = {0, provenance_extent(walker->provenance, by), NULL};
            const PositionSet image =
                provenance_image(walker->provenance, box, var, by, values, walker->scratch);
            if (positions_index(image, walker->values[var]) != value_of(walker, loops, by))
                walker->wrong = "an element is not found";
        }
    }
}

static void visit_point(Walker *walker, const Leaf *leaf, const bool *loops) {
    const Cin *cin = walker->spmd->cin;
    PointCheck check = {walker, loops};
    check_access(&check, leaf->assign->lhs);
    expr_accesses(leaf->assign->rhs, check_access, &check);
    for (int v = 0; v < cin->assignment->var_count; v++)
        if (walker->active[v])
            walker->values[v] = value_of(walker, loops, v);
    check_positions(walker, loops);
    int64_t index = 0;
    bool in_boxes = false;
    for (int v = 0; v < cin->assignment->var_count; v++) {
        int64_t extent = walker->active[v] ? provenance_extent(walker->provenance, v) : 1;
        int64_t value = walker->active[v] ? walker->values[v] : 0;
        if (value < 0 || value >= extent)
            walker->wrong = "a point outside of the iteration space is reached";
        index = index * extent + value;
    }
    for (int64_t b = 0; b < walker->boxes.count; b++) {
        bool inside = true;
        for (int v = 0; v < cin->assignment->var_count; v++)
            inside =
                inside && (!walker->active[v] || is_in(walker->boxes.items[b].values[v], walker->values[v]));
        in_boxes = in_boxes || inside;
    }
    if (!in_boxes)
        walker->wrong = "a point outside of what is communicated is reached";
    if (!walker->wrong)
        walker->visits[index]++;
    walker->reached++;
}

static bool define(Walker *walker, const Definition *definitions, int definition_count, const Guard *guards,
                   int guard_count) {
    for (int i = 0; i < definition_count; i++)
        walker->values[definitions[i].var] = evaluate(walker, definitions[i].value);
    for (int i = 0; i < guard_count; i++)
        if (evaluate(walker, guards[i].less) >= evaluate(walker, guards[i].than))
            return false;
    return true;
}

// An iteration of a loop that a call replaces adds one to the source variable, and changes no other.
static void check_call_iteration(Walker *walker, const Leaf *leaf, int var, const int64_t *before) {
    const CallDim *const dims[] = {&leaf->call->m, &leaf->call->n, &leaf->call->k};
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < dims[d]->count; i++) {
            const int source = dims[d]->sources[i];
            if (dims[d]->loops[i] == var && source != var &&
                walker->values[source] != before[source] + (walker->values[var] > 0))
                walker->wrong = "a loop of a call does not move its variable by one";
        }
}

static void walk_leaf(Walker *walker, const Leaf *leaf, int depth, bool *loops) {
    if (depth == leaf->loop_count) {
        visit_point(walker, leaf, loops);
        return;
    }
    const LeafLoop *loop = &leaf->loops[depth];
    int64_t upper = evaluate(walker, loop->upper);
    if (upper > provenance_extent(walker->provenance, loop->var))
        walker->wrong = "a bound is beyond the extent";
    loops[loop->var] = true;
    int64_t before[MAX_VARS];
    for (int64_t i = 0; i < upper && !walker->wrong; i++) {
        walker->values[loop->var] = i;
        bool exists =
            define(walker, loop->definitions, loop->definition_count, loop->guards, loop->guard_count);
        if (leaf->call && depth >= leaf->loop_count - leaf->call_loops && i > 0)
            check_call_iteration(walker, leaf, loop->var, before);
        memcpy(before, walker->values, sizeof before);
        if (exists)
            walk_leaf(walker, leaf, depth + 1, loops);
    }
    loops[loop->var] = false;
}

static void visit_leaf(Walker *walker, const Leaf *leaf) {
    const Cin *cin = walker->spmd->cin;
    bool loops[MAX_VARS];
    memcpy(loops, walker->fixed, sizeof loops);
    walker->boxes = (BoxArray){0};
    LoopRanges ranges;
    provenance_ranges(walker->provenance, &ranges);
    for (int v = 0; v < cin->var_count; v++)
        if (walker->fixed[v])
            ranges_fix(&ranges, v, walker->values[v]);
    provenance_boxes(walker->provenance, walker->active, &ranges, walker->scratch, &walker->boxes);
    walker->reached = 0;
    if (define(walker, leaf->definitions, leaf->definition_count, leaf->guards, leaf->guard_count))
        walk_leaf(walker, leaf, 0, loops);
    int64_t volume = 0;
    for (int64_t b = 0; b < walker->boxes.count; b++) {
        int64_t points = 1;
        for (int v = 0; v < cin->assignment->var_count; v++)
            if (walker->active[v])
                points *= positions_count(walker->boxes.items[b].values[v]);
        volume += points;
    }
    if (volume != walker->reached && !walker->wrong)
        walker->wrong = "a leaf does not reach all that is communicated";
}

static void walk_sequence(Walker *walker, const SpmdNode *node) {
    for (; node && !walker->wrong; node = node->next) {
        if (node->kind == SPMD_LEAF)
            visit_leaf(walker, node->leaf);
        if (node->kind != SPMD_LOOP)
            continue;
        int64_t extent = evaluate(walker, node->extent);
        walker->fixed[node->var] = true;
        for (int64_t i = 0; i < extent && !walker->wrong; i++) {
            walker->values[node->var] = i;
            walk_sequence(walker, node->body);
        }
        walker->fixed[node->var] = false;
    }
}

// All processors, one after the other.
static void walk_nest(Walker *walker) {
    const Spmd *spmd = walker->spmd;
    int64_t coordinates[MAX_MACHINE_ORDER] = {0};
    for (int d = 0; d < spmd->dim_count; d++)
        if (evaluate(walker, spmd->dims[d].extent) == 0)
            return; // distributed over an empty range: no processors
    for (;;) {
        bool takes_part = true;
        for (int d = 0; d < spmd->dim_count; d++) {
            int var = walker->nest->coordinates[d];
            if (var >= 0) {
                walker->values[var] = coordinates[d];
                walker->fixed[var] = true;
            } else {
                takes_part = takes_part && coordinates[d] == evaluate(walker, walker->nest->fixed[d]);
            }
        }
        if (takes_part)
            walk_sequence(walker, walker->nest->body);
        int d = spmd->dim_count - 1;
        while (d >= 0 && ++coordinates[d] >= evaluate(walker, spmd->dims[d].extent))
            coordinates[d--] = 0;
        if (d < 0 || walker->wrong)
            return;
    }
}

// NULL when each point of each nest is reached once.
static const char *walk(const Spmd *spmd, Arena *arena, Diagnostics *diagnostics) {
    const Cin *cin = spmd->cin;
    for (int n = 0; n < spmd->nest_count; n++) {
        Walker *walker = arena_new(arena, Walker);
        walker->spmd = spmd;
        walker->nest = &spmd->nests[n];
        walker->scratch = arena;
        walker->provenance = provenance_create(cin, NULL, NULL, arena, diagnostics);
        if (!walker->provenance)
            return "no provenance";
        Nest nest = cin_nest(cin, n);
        provenance_active(walker->provenance, nest.loops, nest.loop_count, walker->active);
        walk_nest(walker);
        if (walker->wrong)
            return walker->wrong;
        int64_t wanted = 1, once = 0, more = 0;
        for (int v = 0; v < cin->assignment->var_count; v++)
            wanted *= walker->active[v] ? provenance_extent(walker->provenance, v) : 1;
        for (int p = 0; p < MAX_POINTS; p++) {
            once += walker->visits[p] == 1;
            more += walker->visits[p] > 1;
        }
        if (more > 0)
            return "a point is reached more than once";
        if (once != wanted)
            return "a point is not reached";
    }
    return NULL;
}

static const char *check_seed(Arena *arena, uint64_t seed, Text *shown) {
    Random random = {seed};
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"drawn", ""});
    const Cin *plain = draw_statement(&random, arena);
    if (!plain)
        return "no CIN";
    Cin *cin = cin_copy(plain);
    draw_schedule(&random, cin);
    cin_print(cin, NULL, shown);
    const char *why;
    if (!cin_verify(cin, &why))
        return why;
    const Spmd *spmd = lower(cin, NULL, diagnostics);
    if (!spmd) {
        diagnostics_print(diagnostics, shown);
        return "lowering failed";
    }
    spmd_print(spmd, NULL, shown);
    if (!spmd_verify(spmd, &why))
        return why;
    return walk(spmd, arena, diagnostics);
}

static void test_drawn_schedules(void **state) {
    (void)state;
    const char *first = getenv("SEED"), *count = getenv("COUNT");
    uint64_t start = first ? strtoull(first, NULL, 10) : 1;
    uint64_t end = start + (count ? strtoull(count, NULL, 10) : 3000);
    Arena *arena = arena_create();
    for (uint64_t seed = start; seed < end; seed++) {
        Text shown = text_create(arena);
        const char *wrong = check_seed(arena, seed, &shown);
        if (wrong) {
            fprintf(stderr, "%s", text_string(&shown));
            fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
        }
        arena_reset(arena);
    }
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn_schedules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
