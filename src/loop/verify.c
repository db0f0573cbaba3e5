// SPDX-License-Identifier: BSD-3-Clause
#include "loop/loop.h"

#include <string.h>

typedef enum { TRANSFER_CLOSED, TRANSFER_STARTED, TRANSFER_OPEN } TransferState;

typedef struct {
    const LoopKernel *kernel;
    const char *why;     // NULL while all is well
    bool *vars, *arrays; // that are bound here
    TransferState *transfers;
    bool in_leaf, in_vector, launched, in_launch, in_threads; // `launched`: the leaf has launches;
                                                              // in_threads: of a block
    const LoopNode *node;                                     // the current one
} Verifier;

static void fail(Verifier *verifier, const char *what, const char *name) {
    if (!verifier->why)
        verifier->why = arena_printf(verifier->kernel->arena, "%s: %s%s%s",
                                     loop_kind(verifier->node->kind)->name, what, *name ? ": " : "", name);
}

static const char *var_name(const Verifier *verifier, int64_t var) {
    return verifier->kernel->vars.items[var].name;
}

static bool is_var(const Verifier *verifier, int64_t var) {
    return var >= 0 && var < verifier->kernel->vars.count;
}

static bool is_array(const Verifier *verifier, int array) {
    return array >= 0 && array < verifier->kernel->arrays.count;
}

static void use_var(Verifier *verifier, int64_t var, int type) {
    if (!is_var(verifier, var))
        fail(verifier, "a variable that does not exist", "");
    else if (!verifier->vars[var])
        fail(verifier, "a variable is used where it has no value", var_name(verifier, var));
    else if (verifier->kernel->vars.items[var].type != type)
        fail(verifier, "a variable is used as one of another type", var_name(verifier, var));
}

static void verify_int(Verifier *verifier, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        use_var(verifier, expr->value, VALUE_TYPE_INDEX);
    if (expr->op == INT_PARAM && (expr->value < 0 || expr->value >= verifier->kernel->param_count))
        fail(verifier, "a param that does not exist", "");
    if (expr->left)
        verify_int(verifier, expr->left);
    if (expr->right)
        verify_int(verifier, expr->right);
}

// A scalar has no position, everything else has one.
static void use_array(Verifier *verifier, int id, const IntExpr *position, bool has_position,
                      LoopGrowth growth) {
    if (!is_array(verifier, id)) {
        fail(verifier, "an array that does not exist", "");
        return;
    }
    const LoopArray *array = &verifier->kernel->arrays.items[id];
    if (!verifier->arrays[id])
        fail(verifier, "an array is used where it is not there", array->name);
    if (array->growth != growth)
        fail(verifier, "an array is used as one of another kind", array->name);
    if (has_position && array->scalar != !position)
        fail(verifier, array->scalar ? "a scalar with a position" : "an array without a position",
             array->name);
    if (position)
        verify_int(verifier, position);
}

static bool is_list(const Verifier *verifier, int array) {
    return is_array(verifier, array) && verifier->kernel->arrays.items[array].growth == LOOP_LIST;
}

static bool is_element_type(int type) {
    return type >= 0 && type < TYPE_COUNT;
}

static void verify_operands(Verifier *verifier, const Value *value) {
    static const struct {
        int count; // -1: any
        bool elements;
    } rules[] = {[VALUE_NEG] = {1, true},    [VALUE_CONVERT] = {1, false},     [VALUE_ADD] = {2, true},
                 [VALUE_SUB] = {2, true},    [VALUE_MUL] = {2, true},          [VALUE_DIV] = {2, true},
                 [VALUE_LESS] = {2, false},  [VALUE_AND] = {-1, false},        [VALUE_EQUAL] = {2, false},
                 [VALUE_OR] = {-1, false},   [VALUE_SELECT] = {3, false},      [VALUE_CALL] = {-1, false},
                 [VALUE_ROWS] = {-1, false}, [VALUE_COORDINATES] = {-1, false}};
    const int count = value->kind <= VALUE_SPACE ? 0 : rules[value->kind].count;
    if (count >= 0 && value->operand_count != count) {
        fail(verifier, "a value with another number of operands than it takes", "");
        return;
    }
    for (int i = 0; i < value->operand_count; i++) {
        const int type = value->operands[i]->type;
        if (rules[value->kind].elements && !is_element_type(type))
            fail(verifier, "arithmetic on what is no element", "");
        // A real operand of a complex operation has the type of its parts.
        if (rules[value->kind].elements && type != value->type &&
            (!is_element_type(value->type) || type != (int)type_component((ElementType)value->type)))
            fail(verifier, "operands of different types", "");
        if ((value->kind == VALUE_AND || value->kind == VALUE_OR ||
             (value->kind == VALUE_SELECT && i == 0)) &&
            type != VALUE_TYPE_CONDITION)
            fail(verifier, "a condition made of what is none", "");
        if (value->kind == VALUE_ROWS && type != VALUE_TYPE_INDEX)
            fail(verifier, "a loop of a contraction with what is no number", "");
        if (value->kind == VALUE_COORDINATES && type != VALUE_TYPE_INDEX)
            fail(verifier, "a coordinate that is none", "");
    }
    if (value->kind == VALUE_ROWS && value->operand_count % 4 != 0)
        fail(verifier, "loops of a contraction without four numbers each", "");
    if (value->kind == VALUE_SELECT && value->operands[1]->type != value->type)
        fail(verifier, "a choice of another type than what it is made of", "");
    if ((value->kind == VALUE_LESS || value->kind == VALUE_EQUAL) &&
        value->operands[0]->type != value->operands[1]->type)
        fail(verifier, "a comparison of different types", "");
}

static void verify_value(Verifier *verifier, const Value *value) {
    switch (value->kind) {
    case VALUE_INDEX:
        verify_int(verifier, value->index);
        break;
    case VALUE_VAR:
        use_var(verifier, value->var, value->type);
        break;
    case VALUE_LOAD:
    case VALUE_ADDRESS:
    case VALUE_PRESENT:
        use_array(verifier, value->array, value->index, value->kind != VALUE_PRESENT, LOOP_FIXED);
        if (value->kind == VALUE_LOAD && is_array(verifier, value->array) &&
            (int)verifier->kernel->arrays.items[value->array].type != value->type)
            fail(verifier, "a load of another type than its array",
                 verifier->kernel->arrays.items[value->array].name);
        break;
    case VALUE_UNITS:
    case VALUE_SPAN:
        use_array(verifier, value->array, NULL, false, LOOP_FIXED);
        break;
    case VALUE_COUNT:
    case VALUE_SET:
        use_array(verifier, value->array, NULL, false,
                  value->kind == VALUE_SET || !is_list(verifier, value->array) ? LOOP_SET : LOOP_LIST);
        break;
    default:
        break;
    }
    verify_operands(verifier, value);
    for (int i = 0; i < value->operand_count; i++)
        verify_value(verifier, value->operands[i]);
}

static void bind_var(Verifier *verifier, int var) {
    if (!is_var(verifier, var)) {
        fail(verifier, "a variable that does not exist", "");
        return;
    }
    if (verifier->vars[var])
        fail(verifier, "a variable is bound twice", var_name(verifier, var));
    verifier->vars[var] = true;
}

static void bind_array(Verifier *verifier, int array) {
    if (!is_array(verifier, array)) {
        fail(verifier, "an array that does not exist", "");
        return;
    }
    if (verifier->arrays[array])
        fail(verifier, "an array is bound twice", verifier->kernel->arrays.items[array].name);
    verifier->arrays[array] = true;
}

// Loops that threads share as one have nothing between them.
static void verify_collapsed(Verifier *verifier, const LoopNode *node) {
    for (int i = 1; i < node->execution.collapsed; i++) {
        const LoopNode *outer = node;
        node = outer->body.count == 1 ? outer->body.items[0] : NULL;
        if (!node || node->kind != LOOP_FOR) {
            fail(verifier, "loops that are one to threads are not perfectly nested", "");
            return;
        }
        if (loop_mentions(node->lower, outer->var) || loop_mentions(node->upper, outer->var))
            fail(verifier, "bounds of a loop depend on another that is one with it to threads", "");
    }
}

// A scalar, or elements that a thread has for itself, and lanes of vectors would share.
static void verify_workspace(Verifier *verifier, const LoopArray *array) {
    if (array->scalar == (array->extent != NULL))
        fail(verifier, "a workspace that is neither a scalar nor has an extent", array->name);
    if (array->extent && array->local && !int_is_closed(array->extent))
        fail(verifier, "the extent of a local workspace depends on variables", array->name);
    if (array->extent)
        verify_int(verifier, array->extent);
    if (array->extent && verifier->in_vector)
        fail(verifier, "a workspace that lanes of vectors share", array->name);
}

// The fields that its kind has are there, and no others.
static void verify_fields(Verifier *verifier, const LoopNode *node) {
    const int fields = loop_kind(node->kind)->fields;
    const struct {
        int field;
        bool there;
        const char *name;
    } checks[] = {
        {HAS_BOUNDS, node->lower && node->upper, "bounds"},
        {HAS_VALUE, node->value, "value"},
        {HAS_TRANSFER, node->transfer >= 0, "transfer"},
        {HAS_TEXT, node->text, "text"},
        {BINDS_VAR, node->var >= 0, "variable"},
        {BINDS_ARRAY | USES_ARRAY, node->array >= 0, "array"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].there != ((fields & checks[i].field) != 0))
            fail(verifier, checks[i].there ? "has what its kind does not have" : "lacks what its kind has",
                 checks[i].name);
    if (node->body.count > 0 && !(fields & HAS_BODY))
        fail(verifier, "has what its kind does not have", "body");
    if (node->transfer >= verifier->kernel->transfer_count)
        fail(verifier, "a transfer that does not exist", "");
    if (fields & COMMUNICATES && verifier->in_leaf)
        fail(verifier, "communication inside a leaf", "");
    if (node->kind == LOOP_LAUNCH &&
        (!verifier->in_leaf || verifier->in_launch || !node->blocks[0] || !node->threads[0]))
        fail(verifier, "a launch outside of a leaf, inside of another, or without blocks and threads", "");
    // Before there are launches, loops have the units that commands gave them.
    if (node->execution.unit != GPU_NONE && verifier->launched && !verifier->in_launch)
        fail(verifier, "blocks or threads outside of a launch", "");
    if (node->execution.unit == GPU_BLOCK && verifier->in_threads)
        fail(verifier, "blocks inside of threads", "");
    if (verifier->in_launch && !verifier->in_threads &&
        (node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE))
        fail(verifier, "all threads of a block make one update", "");
    if (node->kind == LOOP_FOR)
        verify_collapsed(verifier, node);
    if (node->kind == LOOP_WORKSPACE && is_array(verifier, node->array))
        verify_workspace(verifier, &verifier->kernel->arrays.items[node->array]);
    if (node->step < 1)
        fail(verifier, "a step that is not positive", "");
}

static void verify_transfer(Verifier *verifier, const LoopNode *node) {
    static const struct {
        TransferState before, after;
        const char *otherwise;
    } rules[LOOP_KIND_COUNT] = {
        [LOOP_START] = {TRANSFER_CLOSED, TRANSFER_STARTED, "a transfer is started twice"},
        [LOOP_WAIT] = {TRANSFER_STARTED, TRANSFER_OPEN, "a transfer is waited for that has not started"},
        [LOOP_VIEW] = {TRANSFER_STARTED, TRANSFER_OPEN, "a transfer is viewed that has not started"},
        [LOOP_ROWS] = {TRANSFER_OPEN, TRANSFER_OPEN, "rows wait for a transfer that has no view"},
        [LOOP_FETCH] = {TRANSFER_CLOSED, TRANSFER_OPEN, "a transfer is fetched that has been started"},
        [LOOP_AHEAD] = {TRANSFER_OPEN, TRANSFER_OPEN, "the next step starts of a transfer that is not open"},
        [LOOP_OPEN] = {TRANSFER_CLOSED, TRANSFER_OPEN, "a transfer is opened twice"},
        [LOOP_REDUCE] = {TRANSFER_OPEN, TRANSFER_CLOSED, "a transfer is reduced that is not open"},
        [LOOP_RELEASE] = {TRANSFER_OPEN, TRANSFER_CLOSED, "a transfer is released that is not open"},
    };
    TransferState *state = &verifier->transfers[node->transfer];
    if (*state != rules[node->kind].before)
        fail(verifier, rules[node->kind].otherwise, verifier->kernel->transfers[node->transfer].name);
    *state = rules[node->kind].after;
}

static void verify_body(Verifier *verifier, const LoopBody *body);

static bool has_launch(const LoopBody *body) {
    bool found = false;
    for (int64_t i = 0; i < body->count && !found; i++)
        found = body->items[i]->kind == LOOP_LAUNCH || has_launch(&body->items[i]->body);
    return found;
}

static void verify_inside(Verifier *verifier, const LoopNode *node) {
    const bool leaf = verifier->in_leaf, vector = verifier->in_vector;
    const bool launch = verifier->in_launch, threads = verifier->in_threads;
    verifier->in_leaf = leaf || node->kind == LOOP_LEAF;
    if (node->kind == LOOP_LEAF)
        verifier->launched = has_launch(&node->body);
    verifier->in_launch = launch || node->kind == LOOP_LAUNCH;
    verifier->in_threads = threads || node->execution.unit == GPU_THREAD || node->execution.unit == GPU_GRID;
    verifier->in_vector = vector || node->execution.vector;
    verify_body(verifier, &node->body);
    verifier->in_leaf = leaf;
    verifier->in_vector = vector;
    verifier->in_launch = launch;
    verifier->in_threads = threads;
    if (loop_kind(node->kind)->fields & BINDS_INSIDE)
        verifier->vars[node->var] = false;
    for (int f = 0; f < node->field_count; f++)
        verifier->vars[node->fields[f].var] = false;
    for (int d = 0; d < node->dim_count; d++)
        if (node->coordinates[d] >= 0)
            verifier->vars[node->coordinates[d]] = false;
}

static bool has_position(LoopKind kind) {
    return kind == LOOP_STORE || kind == LOOP_ACCUMULATE;
}

static void verify_races(Verifier *verifier, const LoopNode *launch) {
    int array;
    const char *what = loop_verify_launch(verifier->kernel, launch, &array);
    verifier->node = launch;
    if (what)
        fail(verifier, what, array < 0 ? "" : verifier->kernel->arrays.items[array].name);
}

static void verify_node(Verifier *verifier, const LoopNode *node) {
    verifier->node = node;
    const LoopKindInfo *kind = loop_kind(node->kind);
    verify_fields(verifier, node);
    if (verifier->why)
        return;
    const IntExpr *const ints[] = {node->lower,         node->upper,          node->stride,
                                   node->count,         node->execution.work, node->execution.each,
                                   node->execution.call};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (ints[i])
            verify_int(verifier, ints[i]);
    for (int d = 0; d < GPU_DIMS; d++) {
        if (node->blocks[d])
            verify_int(verifier, node->blocks[d]);
        if (node->threads[d])
            verify_int(verifier, node->threads[d]);
    }
    if (node->value) {
        verify_value(verifier, node->value);
        if (kind->value_type != VALUE_TYPE_NONE && node->value->type != kind->value_type)
            fail(verifier, "a condition is of another type", "");
    }
    if (kind->fields & USES_ARRAY) {
        use_array(verifier, node->array, node->position, has_position(node->kind),
                  node->kind == LOOP_PUSH     ? LOOP_LIST
                  : node->kind == LOOP_INSERT ? LOOP_SET
                                              : LOOP_FIXED);
        if (!verifier->why && !verifier->kernel->arrays.items[node->array].written)
            fail(verifier, "an array is written that is only read",
                 verifier->kernel->arrays.items[node->array].name);
    }
    if (node->kind == LOOP_LET && is_var(verifier, node->var) &&
        verifier->kernel->vars.items[node->var].type != node->value->type)
        fail(verifier, "a value of another type than the variable", var_name(verifier, node->var));
    for (int s = 0; s < node->execution.sum_count; s++)
        use_array(verifier, node->execution.sums[s], NULL, true, LOOP_FIXED);
    for (int d = 0; d < node->dim_count; d++) {
        if (node->coordinates[d] >= 0)
            bind_var(verifier, node->coordinates[d]);
        else
            verify_int(verifier, node->fixed[d]);
    }
    if (kind->fields & BINDS_VAR)
        bind_var(verifier, node->var);
    if (kind->fields & BINDS_ARRAY)
        bind_array(verifier, node->array);
    if (node->kind == LOOP_TEAM)
        bind_array(verifier, node->own);
    for (int f = 0; f < node->field_count; f++)
        bind_var(verifier, node->fields[f].var);
    for (int a = 0; a < node->view_array_count; a++)
        bind_array(verifier, node->view_arrays[a].array);
    if (verifier->why)
        return;
    if (kind->fields & COMMUNICATES && node->transfer >= 0)
        verify_transfer(verifier, node);
    if (kind->fields & HAS_BODY)
        verify_inside(verifier, node);
    if (node->kind == LOOP_LAUNCH && !verifier->why)
        verify_races(verifier, node);
}

// What is bound in a body is not known after it; transfers are where they were before.
static void verify_body(Verifier *verifier, const LoopBody *body) {
    if (body->count <= 0)
        return;
    Arena *arena = verifier->kernel->arena;
    const size_t vars = (size_t)verifier->kernel->vars.count * sizeof(bool);
    const size_t arrays = (size_t)verifier->kernel->arrays.count * sizeof(bool);
    const size_t transfers = (size_t)verifier->kernel->transfer_count * sizeof(TransferState);
    const bool *outer_vars = arena_copy(arena, verifier->vars, vars);
    const bool *outer_arrays = arena_copy(arena, verifier->arrays, arrays);
    const TransferState *outer = arena_copy(arena, verifier->transfers, transfers);
    for (int64_t i = 0; i < body->count && !verifier->why; i++)
        verify_node(verifier, body->items[i]);
    if (!verifier->why && memcmp(outer, verifier->transfers, transfers) != 0)
        fail(verifier, "a transfer is not closed where it was opened", "");
    memcpy(verifier->vars, outer_vars, vars);
    memcpy(verifier->arrays, outer_arrays, arrays);
    memcpy(verifier->transfers, outer, transfers);
}

bool loop_verify(const LoopKernel *kernel, const char **why) {
    Verifier verifier = {.kernel = kernel};
    verifier.vars = arena_array(kernel->arena, bool, kernel->vars.count + 1);
    verifier.arrays = arena_array(kernel->arena, bool, kernel->arrays.count + 1);
    verifier.transfers = arena_array(kernel->arena, TransferState, kernel->transfer_count + 1);
    verify_body(&verifier, &kernel->body);
    *why = verifier.why;
    return !verifier.why;
}
