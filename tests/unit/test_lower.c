// SPDX-License-Identifier: BSD-3-Clause
// Lowering, checked by walking: for drawn schedules, every point of the iteration space is reached exactly
// once over all processors, within the boxes that provenance gives for the transfers around it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "index/provenance.h"
#include "lower/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t state;
} Random;

static int64_t draw(Random *random, int64_t count) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)count);
}

// Statements over at most four variables, as tables: the left side, then the factors or addends.
typedef struct {
    char op; // between the operands: '*', '+'; 'm': first + second * third
    int operand_count;
    const char *accesses[4]; // the left side first; a letter a mode
} Form;

static const Form forms[] = {
    {'*', 2, {"ij", "ik", "kj"}},
    {'*', 2, {"ijl", "ijk", "kl"}},
    {'*', 3, {"il", "ijk", "jl", "kl"}},
    {'*', 2, {"ij", "ijk", "k"}},
    {'*', 2, {"", "ij", "ij"}},
    {'+', 2, {"ij", "ij", "ji"}},
    {'*', 2, {"ij", "i", "j"}},
    {'m', 3, {"i", "i", "ij", "j"}},
    {'*', 2, {"i", "ii", "i"}},
    {'+', 3, {"ijk", "jik", "kij", "i"}},
    {'*', 1, {"i", "ijkl"}},
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

static const Access *make_access(Arena *arena, Assignment *assignment, const char *letters,
                                 const int64_t *extents, int id) {
    static const char *const names[] = {"A", "B", "C", "D"};
    Tensor *tensor = arena_new(arena, Tensor);
    Access *access = arena_new(arena, Access);
    tensor->id = id;
    tensor->name = names[id];
    tensor->type = TYPE_F64;
    tensor->order = (int)strlen(letters);
    for (int m = 0; m < tensor->order; m++) {
        const char *name = arena_string(arena, &letters[m], 1);
        int var = 0;
        while (var < assignment->var_count && strcmp(assignment->vars[var].name, name) != 0)
            var++;
        const IntExpr *extent = int_const(arena, extents[var]);
        if (var == assignment->var_count)
            assignment->vars[assignment->var_count++] = (SourceVar){.name = name, .extent = extent};
        tensor->extents[m] = extent;
        tensor->levels[m] = level_format_dense();
        tensor->mode_order[m] = m;
        access->vars[m] = var;
    }
    access->tensor = tensor;
    return access;
}

static const Expr *make_expr(Arena *arena, ExprKind kind, const Expr *left, const Expr *right) {
    Expr *expr = arena_new(arena, Expr);
    *expr = (Expr){.kind = kind, .left = left, .right = right};
    return expr;
}

static const Assignment *make_assignment(Arena *arena, const Form *form, const int64_t *extents) {
    Assignment *assignment = arena_new(arena, Assignment);
    const Expr *operands[3] = {0};
    assignment->lhs = make_access(arena, assignment, form->accesses[0], extents, 0);
    for (int i = 0; i < form->operand_count; i++) {
        Expr *operand = arena_new(arena, Expr);
        *operand = (Expr){.kind = EXPR_ACCESS,
                          .access = make_access(arena, assignment, form->accesses[i + 1], extents, i + 1)};
        operands[i] = operand;
    }
    if (form->op == 'm') {
        assignment->rhs =
            make_expr(arena, EXPR_ADD, operands[0], make_expr(arena, EXPR_MUL, operands[1], operands[2]));
        return assignment;
    }
    assignment->rhs = operands[0];
    for (int i = 1; i < form->operand_count; i++)
        assignment->rhs =
            make_expr(arena, form->op == '+' ? EXPR_ADD : EXPR_MUL, assignment->rhs, operands[i]);
    return assignment;
}

// A drawn schedule, made by hand so that it may be wilder than what the commands allow.

static const char *fresh_name(const Cin *cin) {
    return arena_printf(cin->arena, "v%d", cin->var_count);
}

// In every nest, puts `with` in the place of loop `var`.
static void replace_loop(Cin *cin, int var, const int *with, int with_count) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n), result = {.assign = nest.assign};
        for (int i = 0; i < nest.loop_count; i++)
            for (int w = 0; w < (nest.loops[i] == var ? with_count : 1); w++)
                result.loops[result.loop_count++] = nest.loops[i] == var ? with[w] : nest.loops[i];
        cin_set_nest(cin, n, &result);
    }
}

static void apply_split(Cin *cin, int var, RelationKind kind, int64_t factor) {
    Arena *arena = cin->arena;
    const IntExpr *by = int_const(arena, factor);
    const IntExpr *rest = int_op(arena, INT_CEIL_DIV, cin->vars[var].extent, by);
    int children[2];
    children[0] = cin_add_var(cin, fresh_name(cin), (Span){0}, kind == REL_SPLIT ? rest : by);
    children[1] = cin_add_var(cin, fresh_name(cin), (Span){0}, kind == REL_SPLIT ? by : rest);
    cin_add_relation(
        cin,
        (Relation){.kind = kind, .parent = {var, -1}, .child = {children[0], children[1]}, .factor = by});
    replace_loop(cin, var, children, 2);
}

static void apply_cyclic(Cin *cin, int var, int64_t size, int64_t block) {
    Arena *arena = cin->arena;
    const IntExpr *length = int_const(arena, block), *round = int_const(arena, size * block);
    const IntExpr *rounds = int_op(arena, INT_CEIL_DIV, cin->vars[var].extent, round);
    int children[2];
    children[0] = cin_add_var(cin, fresh_name(cin), (Span){0}, int_const(arena, size));
    children[1] = cin_add_var(cin, fresh_name(cin), (Span){0}, int_op(arena, INT_MUL, rounds, length));
    cin_add_relation(cin, (Relation){.kind = REL_CYCLIC,
                                     .parent = {var, -1},
                                     .child = {children[0], children[1]},
                                     .factor = length});
    replace_loop(cin, var, children, 2);
}

static void apply_collapse(Cin *cin, int first, int second) {
    const IntExpr *extent = int_op(cin->arena, INT_MUL, cin->vars[first].extent, cin->vars[second].extent);
    int fused = cin_add_var(cin, fresh_name(cin), (Span){0}, extent);
    cin_add_relation(cin, (Relation){.kind = REL_COLLAPSE, .parent = {first, second}, .child = {fused, -1}});
    replace_loop(cin, first, &fused, 1);
    replace_loop(cin, second, NULL, 0);
}

static void apply_rotate(Cin *cin, int var, const int *shifts, int shift_count) {
    int rotated = cin_add_var(cin, fresh_name(cin), (Span){0}, cin->vars[var].extent);
    Relation relation = {
        .kind = REL_ROTATE, .parent = {var, -1}, .child = {rotated, -1}, .var_count = shift_count};
    memcpy(relation.vars, shifts, sizeof *shifts * (size_t)shift_count);
    cin_add_relation(cin, relation);
    replace_loop(cin, var, &rotated, 1);
}

static bool every_nest_has(const Cin *cin, int var) {
    bool all = true;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        bool has = false;
        for (int i = 0; i < nest.loop_count; i++)
            has = has || nest.loops[i] == var;
        all = all && has;
    }
    return all;
}

static void draw_transform(Random *random, Cin *cin) {
    // The last nest has the most loops.
    Nest nest = cin_nest(cin, cin_nest_count(cin) - 1);
    if (nest.loop_count == 0)
        return;
    int at = (int)draw(random, nest.loop_count), var = nest.loops[at];
    switch (draw(random, 6)) {
    case 0:
        apply_split(cin, var, REL_SPLIT, 1 + draw(random, 4));
        return;
    case 1:
        apply_split(cin, var, REL_DIVIDE, 1 + draw(random, 4));
        return;
    case 4:
        apply_cyclic(cin, var, 1 + draw(random, 3), 1 + draw(random, 3));
        return;
    case 2:
        if (at + 1 < nest.loop_count && every_nest_has(cin, var) == every_nest_has(cin, nest.loops[at + 1]))
            apply_collapse(cin, var, nest.loops[at + 1]);
        return;
    case 3: {
        int shifts[MAX_VARS], count = 0;
        for (int i = 0; i < nest.loop_count; i++)
            if (i != at && (every_nest_has(cin, nest.loops[i]) || !every_nest_has(cin, var)) &&
                draw(random, 2))
                shifts[count++] = nest.loops[i];
        if (count > 0)
            apply_rotate(cin, var, shifts, count);
        return;
    }
    default: {
        Nest other = nest;
        int with = (int)draw(random, nest.loop_count);
        other.loops[at] = nest.loops[with];
        other.loops[with] = var;
        cin_set_nest(cin, cin_nest_count(cin) - 1, &other);
    }
    }
}

static void draw_schedule(Random *random, Cin *cin) {
    int64_t transforms = draw(random, 9);
    for (int64_t i = 0; i < transforms && cin->var_count < MAX_VARS / 2; i++)
        draw_transform(random, cin);
    Nest nest = cin_nest(cin, cin_nest_count(cin) - 1);
    int64_t distributed = 0;
    for (int i = 0; i < nest.loop_count && distributed < 3; i++)
        if (draw(random, 3) == 0) {
            cin_add_relation(cin,
                             (Relation){.kind = REL_DISTRIBUTE, .var_count = 1, .vars = {nest.loops[i]}});
            distributed++;
        }
    for (int64_t i = draw(random, 3); i > 0 && nest.loop_count > 0; i--) {
        Relation relation = {
            .kind = REL_COMMUNICATE, .var_count = 1, .vars = {nest.loops[draw(random, nest.loop_count)]}};
        const Expr *rhs = cin->assignment->rhs;
        while (rhs->kind != EXPR_ACCESS)
            rhs = draw(random, 2) ? rhs->left : rhs->right;
        relation.tensor = draw(random, 3) ? rhs->access->tensor : cin->assignment->lhs->tensor;
        cin_add_relation(cin, relation);
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

// The value of a variable by its relations, from the loops: what the definitions have to agree with.
static int64_t recover(const Walker *walker, const bool *loops, int var) {
    const Cin *cin = walker->spmd->cin;
    const Relation *relation = loops[var] ? NULL : cin_replaced_by(cin, var);
    if (!relation)
        return walker->values[var];
    int64_t first = recover(walker, loops, relation->child[0]);
    if (relation->kind == REL_SPLIT || relation->kind == REL_DIVIDE)
        return first * provenance_extent(walker->provenance, relation->child[1]) +
               recover(walker, loops, relation->child[1]);
    if (relation->kind == REL_CYCLIC) {
        int64_t block = relation->factor->value, position = recover(walker, loops, relation->child[1]);
        return (position / block * provenance_extent(walker->provenance, relation->child[0]) + first) *
                   block +
               position % block;
    }
    if (relation->kind == REL_COLLAPSE) {
        int64_t inner = provenance_extent(walker->provenance, relation->parent[1]);
        return var == relation->parent[0] ? first / inner : first % inner;
    }
    for (int i = 0; i < relation->var_count; i++)
        first += recover(walker, loops, relation->vars[i]);
    return first % provenance_extent(walker->provenance, var);
}

typedef struct {
    Walker *walker;
    const bool *loops;
} PointCheck;

static void check_access(void *context, const Access *access) {
    PointCheck *check = context;
    for (int m = 0; m < access->tensor->order; m++) {
        int var = access->vars[m];
        if (check->walker->values[var] != recover(check->walker, check->loops, var))
            check->walker->wrong = "a definition is wrong";
    }
}

static PositionSet values_in(const Box *box, int var) {
    return (PositionSet){box->lo[var], box->hi[var], box->periodic[var]};
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
            if (positions_index(image, walker->values[var]) != recover(walker, loops, by))
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
            walker->values[v] = recover(walker, loops, v);
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
            inside = inside &&
                     (!walker->active[v] || is_in(values_in(&walker->boxes.items[b], v), walker->values[v]));
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

// A turn of a loop that a call replaces moves the source variable by one, and no other.
static void check_call_turn(Walker *walker, const Leaf *leaf, int var, const int64_t *before) {
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
        walker->wrong = "a bound lies beyond the extent";
    loops[loop->var] = true;
    int64_t before[MAX_VARS];
    for (int64_t i = 0; i < upper && !walker->wrong; i++) {
        walker->values[loop->var] = i;
        bool exists =
            define(walker, loop->definitions, loop->definition_count, loop->guards, loop->guard_count);
        if (leaf->call && depth >= leaf->loop_count - leaf->call_loops && i > 0)
            check_call_turn(walker, leaf, loop->var, before);
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
    provenance_boxes(walker->provenance, walker->active, walker->fixed, walker->values, walker->scratch,
                     &walker->boxes);
    walker->reached = 0;
    if (define(walker, leaf->definitions, leaf->definition_count, leaf->guards, leaf->guard_count))
        walk_leaf(walker, leaf, 0, loops);
    int64_t volume = 0;
    for (int64_t b = 0; b < walker->boxes.count; b++) {
        int64_t points = 1;
        for (int v = 0; v < cin->assignment->var_count; v++)
            if (walker->active[v])
                points *= positions_count(values_in(&walker->boxes.items[b], v));
        volume += points;
    }
    // A rotation by a loop of the leaf ties two variables together, which a box cannot say.
    bool rotated = false;
    for (int64_t r = 0; r < cin->relations.count; r++)
        rotated = rotated || cin->relations.items[r]->kind == REL_ROTATE;
    if ((rotated ? volume < walker->reached : volume != walker->reached) && !walker->wrong)
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
        walker->provenance = provenance_create(cin, NULL, arena, diagnostics);
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
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 0};
    Random random = {seed};
    int64_t extents[4];
    for (int v = 0; v < 4; v++)
        extents[v] = sizes[draw(&random, draw(&random, 20) ? 5 : 6)];
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"drawn", ""});
    const Form *form = &forms[draw(&random, FORM_COUNT)];
    const Cin *plain = cin_create(arena, make_assignment(arena, form, extents), diagnostics);
    if (!plain)
        return "no CIN";
    Cin *cin = cin_copy(plain);
    draw_schedule(&random, cin);
    cin_print(cin, NULL, shown);
    const char *why;
    if (!cin_verify(cin, &why))
        return why;
    const Spmd *spmd = lower(cin, diagnostics);
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
