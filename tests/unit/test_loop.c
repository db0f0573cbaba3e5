// SPDX-License-Identifier: BSD-3-Clause
// The loop IR: a kernel made by hand is well formed, and each way to break it is found.
#include "emit/emit.h"
#include "loop/passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { VAR_P, VAR_ACTIVE, VAR_LO, VAR_I, VAR_X, VAR_LO_A, VAR_COUNT };
enum { ARRAY_A, ARRAY_B, ARRAY_SUM };

// A(i) += B(i) * 2, with every node within reach.
typedef struct {
    LoopKernel kernel;
    LoopNode *processors, *start, *wait, *open, *leaf, *let, *loop, *workspace, *update, *add, *reduce,
        *release;
    Value *load, *product, *number;
    int coordinate;
    LoopField fields[2];
} Sample;

static Value *writable(const Value *value) {
    return (Value *)(uintptr_t)value;
}

static const IntExpr *var(Sample *sample, int id) {
    return int_var(sample->kernel.arena, id);
}

static void put(Sample *sample, LoopBody *body, const LoopNode *node) {
    loop_append(sample->kernel.arena, body, node);
}

static void make_values(Sample *sample) {
    Arena *arena = sample->kernel.arena;
    const IntExpr *position = int_op(arena, INT_SUB, var(sample, VAR_I), var(sample, VAR_LO));
    sample->load = writable(value_element(arena, VALUE_LOAD, TYPE_F64, ARRAY_B, position));
    sample->number = arena_copy(arena, sample->load, sizeof(Value));
    *sample->number = (Value){
        .kind = VALUE_NUMBER, .type = TYPE_F64, .var = -1, .array = -1, .integer = 2, .is_integer = true};
    sample->product = writable(value_op(arena, VALUE_MUL, TYPE_F64, sample->load, sample->number));
}

static void make_nodes(Sample *sample) {
    Arena *arena = sample->kernel.arena;
    LoopNode **const nodes[] = {&sample->processors, &sample->start,   &sample->wait,
                                &sample->open,       &sample->leaf,    &sample->loop,
                                &sample->reduce,     &sample->release, &sample->workspace};
    static const LoopKind kinds[] = {LOOP_PROCESSORS, LOOP_START,  LOOP_WAIT,    LOOP_OPEN,     LOOP_LEAF,
                                     LOOP_FOR,        LOOP_REDUCE, LOOP_RELEASE, LOOP_WORKSPACE};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        *nodes[i] = loop_node(arena, kinds[i]);
    sample->processors->var = VAR_ACTIVE;
    sample->processors->dim_count = 1;
    sample->coordinate = VAR_P;
    sample->processors->coordinates = &sample->coordinate;
    sample->processors->fixed = arena_array(arena, const IntExpr *, 1);
    *(const IntExpr **)(uintptr_t)sample->processors->fixed = int_const(arena, 0);
    sample->start->transfer = sample->wait->transfer = sample->release->transfer = 1;
    sample->open->transfer = sample->reduce->transfer = 0;
    sample->fields[0] = (LoopField){VAR_LO, "lo", 0};
    sample->fields[1] = (LoopField){VAR_LO_A, "lo", 0};
    sample->wait->array = ARRAY_B;
    sample->wait->field_count = 1;
    sample->wait->fields = &sample->fields[0];
    sample->open->array = ARRAY_A;
    sample->open->field_count = 1;
    sample->open->fields = &sample->fields[1];
    sample->leaf->text = "loops";
    sample->leaf->value = value_var(arena, VALUE_TYPE_CONDITION, VAR_ACTIVE);
    sample->let = (LoopNode *)(uintptr_t)loop_let(arena, VAR_X, value_index(arena, int_param(arena, 0)));
    sample->loop->var = VAR_I;
    sample->loop->lower = int_const(arena, 0);
    sample->loop->upper = var(sample, VAR_X);
    sample->workspace->array = ARRAY_SUM;
    sample->update =
        (LoopNode *)(uintptr_t)loop_update(arena, LOOP_ACCUMULATE, ARRAY_SUM, NULL, sample->product);
    sample->add = (LoopNode *)(uintptr_t)loop_update(
        arena, LOOP_ACCUMULATE, ARRAY_A, int_op(arena, INT_SUB, var(sample, VAR_X), var(sample, VAR_LO_A)),
        value_element(arena, VALUE_LOAD, TYPE_F64, ARRAY_SUM, NULL));
}

static void assemble(Sample *sample) {
    LoopNode *const bodies[] = {sample->loop, sample->leaf, sample->processors};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        bodies[i]->body = (LoopBody){0};
    sample->kernel.body = (LoopBody){0};
    put(sample, &sample->loop->body, sample->update);
    LoopNode *const leaf[] = {sample->let, sample->workspace, sample->loop, sample->add};
    for (size_t i = 0; i < sizeof leaf / sizeof *leaf; i++)
        put(sample, &sample->leaf->body, leaf[i]);
    LoopNode *const nodes[] = {sample->start, sample->wait,   sample->open,
                               sample->leaf,  sample->reduce, sample->release};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        put(sample, &sample->processors->body, nodes[i]);
    put(sample, &sample->kernel.body, sample->processors);
}

static Sample *sample_create(Arena *arena) {
    static const char *const params[] = {"n"};
    static const LoopTransfer transfers[] = {{"REDUCE_A", "reduce A[:]"}, {"FETCH_B", "fetch B[:]"}};
    Sample *sample = arena_new(arena, Sample);
    sample->kernel = (LoopKernel){
        .arena = arena, .params = params, .param_count = 1, .transfers = transfers, .transfer_count = 2};
    static const char *const names[] = {"p", "active", "B_lo0", "i", "x", "A_lo0"};
    for (int v = 0; v < VAR_COUNT; v++)
        loop_add_var(&sample->kernel,
                     (LoopVar){.name = names[v],
                               .type = v == VAR_ACTIVE ? VALUE_TYPE_CONDITION : VALUE_TYPE_INDEX,
                               .stem_array = -1,
                               .stem_var = -1});
    loop_add_array(&sample->kernel, (LoopArray){.name = "A", .type = TYPE_F64, .written = true});
    loop_add_array(&sample->kernel, (LoopArray){.name = "B", .type = TYPE_F64});
    loop_add_array(&sample->kernel,
                   (LoopArray){.name = "sum", .type = TYPE_F64, .written = true, .scalar = true});
    make_values(sample);
    make_nodes(sample);
    assemble(sample);
    return sample;
}

static void test_printed(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const Sample *sample = sample_create(arena);
    const char *why = NULL;
    if (!loop_verify(&sample->kernel, &why))
        fail_msg("%s", why);
    Text text = text_create(arena);
    loop_print(&sample->kernel, &text);
    assert_string_equal(text_string(&text), "# REDUCE_A: reduce A[:]\n"
                                            "# FETCH_B: fetch B[:]\n"
                                            "for each processor (p), active:\n"
                                            "    start FETCH_B\n"
                                            "    B = wait FETCH_B with B_lo0 = lo[0]\n"
                                            "    A = open REDUCE_A with A_lo0 = lo[0]\n"
                                            "    leaf where active:  # loops\n"
                                            "        let x = n\n"
                                            "        workspace sum\n"
                                            "        for i in 0 .. x:\n"
                                            "            sum += B[i - B_lo0] * 2.0\n"
                                            "        A[x - A_lo0] += sum\n"
                                            "    reduce REDUCE_A\n"
                                            "    release FETCH_B\n");
    arena_free(arena);
}

// What sparse operands need: a loop with a condition, and a coordinate that is loaded.
static void test_while(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Sample *sample = sample_create(arena);
    LoopNode *loop = loop_node(arena, LOOP_WHILE);
    loop->value = value_op(arena, VALUE_LESS, VALUE_TYPE_CONDITION, value_index(arena, var(sample, VAR_X)),
                           value_index(arena, int_param(arena, 0)));
    put(sample, &loop->body, sample->add);
    sample->leaf->body.items[3] = loop;
    const char *pass, *why = NULL;
    const LoopKernel *kernel = loop_run_passes(&sample->kernel, loop_pass_count(), &pass, &why);
    if (!kernel)
        fail_msg("%s: %s", pass, why);
    Text text = text_create(arena), code = text_create(arena);
    loop_print(kernel, &text);
    assert_non_null(strstr(text_string(&text), "        while x < n:\n            A[A_at] += sum\n"));
    const EmitOptions options = {.function = "f"};
    emit_function(kernel, &options, &code);
    assert_non_null(strstr(text_string(&code), "while (x < n) {\n"));
    arena_free(arena);
}

// Each breaks the sample in one way.

static void unknown_var(Sample *sample) {
    sample->loop->upper = var(sample, VAR_COUNT);
}
static void unbound_var(Sample *sample) {
    sample->loop->upper = var(sample, VAR_I);
}
static void var_of_another_type(Sample *sample) {
    sample->loop->upper = var(sample, VAR_ACTIVE);
}
static void unknown_param(Sample *sample) {
    sample->loop->upper = int_param(sample->kernel.arena, 1);
}
static void unknown_array(Sample *sample) {
    sample->load->array = 3;
}
static void unbound_array(Sample *sample) {
    sample->load->array = ARRAY_A;
    sample->load->index = int_const(sample->kernel.arena, 0);
    sample->open->array = ARRAY_B;
    sample->wait->array = ARRAY_SUM;
    sample->workspace->array = ARRAY_A;
    sample->kernel.arrays.items[ARRAY_A].scalar = true;
    LoopBody body = {0};
    put(sample, &body, sample->let);
    put(sample, &body, sample->loop);
    sample->leaf->body = body;
}
static void scalar_with_position(Sample *sample) {
    sample->update->position = int_const(sample->kernel.arena, 0);
}
static void array_without_position(Sample *sample) {
    sample->load->index = NULL;
}
static void one_operand(Sample *sample) {
    sample->product->operand_count = 1;
}
static void product_of_indices(Sample *sample) {
    sample->product->operands = arena_array(sample->kernel.arena, const Value *, 2);
    const Value **operands = (const Value **)(uintptr_t)sample->product->operands;
    operands[0] = sample->load;
    operands[1] = value_index(sample->kernel.arena, var(sample, VAR_I));
}
static void product_of_types(Sample *sample) {
    sample->number->type = TYPE_F32;
}
static void conjunction(Sample *sample) {
    const Value *operands[] = {sample->leaf->value,
                               value_index(sample->kernel.arena, int_const(sample->kernel.arena, 1))};
    sample->leaf->value =
        value_list(sample->kernel.arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, 2, operands);
}
static void comparison(Sample *sample) {
    sample->leaf->value = value_op(sample->kernel.arena, VALUE_LESS, VALUE_TYPE_CONDITION, sample->number,
                                   value_index(sample->kernel.arena, int_const(sample->kernel.arena, 1)));
}
static void rows(Sample *sample, const Value *row, int count) {
    const Value *operands[] = {row, row, row, row};
    const Value *list = value_list(sample->kernel.arena, VALUE_ROWS, VALUE_TYPE_NONE, NULL, count, operands);
    sample->update->kind = LOOP_CALL;
    sample->update->array = -1;
    sample->update->value = value_list(sample->kernel.arena, VALUE_CALL, VALUE_TYPE_NONE, "f", 1, &list);
}
static void rows_of_elements(Sample *sample) {
    rows(sample, sample->number, 4);
}
static void rows_of_three(Sample *sample) {
    rows(sample, value_index(sample->kernel.arena, int_const(sample->kernel.arena, 1)), 3);
}
static void load_of_another_type(Sample *sample) {
    sample->load->type = sample->number->type = sample->product->type = TYPE_F32;
}
static void binds_unknown_var(Sample *sample) {
    sample->loop->var = VAR_COUNT;
}
static void binds_var_twice(Sample *sample) {
    sample->loop->var = VAR_X;
}
static void binds_unknown_array(Sample *sample) {
    sample->workspace->array = 3;
}
static void binds_array_twice(Sample *sample) {
    sample->kernel.arrays.items[ARRAY_A].scalar = true;
    sample->workspace->array = ARRAY_A;
}
static void workspace_of_many(Sample *sample) {
    sample->kernel.arrays.items[ARRAY_SUM].scalar = false;
}
static void loop_with_value(Sample *sample) {
    sample->loop->value = sample->number;
}
static void loop_without_bounds(Sample *sample) {
    sample->loop->upper = NULL;
}
static void let_with_body(Sample *sample) {
    put(sample, &sample->let->body, sample->add);
}
static void unknown_transfer(Sample *sample) {
    sample->start->transfer = 2;
}
static void fetch_in_leaf(Sample *sample) {
    put(sample, &sample->leaf->body, sample->reduce);
}
static void no_step(Sample *sample) {
    sample->loop->step = 0;
}
static void collapsed_alone(Sample *sample) {
    sample->loop->execution.collapsed = 2;
}
static void collapsed_triangle(Sample *sample) {
    LoopNode *inner = arena_copy(sample->kernel.arena, sample->loop, sizeof *inner);
    inner->var = VAR_LO_A;
    inner->upper = var(sample, VAR_I);
    sample->loop->body = (LoopBody){0};
    put(sample, &sample->loop->body, inner);
    sample->loop->execution.collapsed = 2;
}
static void started_twice(Sample *sample) {
    sample->wait->kind = LOOP_START;
    sample->wait->array = -1;
}
static void not_started(Sample *sample) {
    sample->start->kind = LOOP_COMMENT;
    sample->start->transfer = -1;
    sample->start->text = "nothing";
}
static void opened_twice(Sample *sample) {
    sample->reduce->kind = LOOP_OPEN;
    sample->reduce->array = ARRAY_SUM;
}
static void reduced_twice(Sample *sample) {
    sample->release->kind = LOOP_REDUCE;
    sample->release->transfer = 0;
}
static void released_twice(Sample *sample) {
    put(sample, &sample->processors->body, sample->release);
}
static void fetched_late(Sample *sample) {
    sample->wait->kind = LOOP_FETCH;
}
static void next_before_wait(Sample *sample) {
    LoopNode *next = loop_node(sample->kernel.arena, LOOP_AHEAD);
    next->transfer = sample->start->transfer;
    sample->processors->body.items[0] = next;
}
static void not_released(Sample *sample) {
    sample->processors->body.count--;
}
static void leaf_of_element(Sample *sample) {
    sample->leaf->value = sample->number;
}
static void writes_input(Sample *sample) {
    sample->add->array = ARRAY_B;
}
static void let_of_element(Sample *sample) {
    sample->let->value = sample->number;
}

static void test_verifier_finds(void **state) {
    (void)state;
    static const struct {
        void (*make)(Sample *sample);
        const char *why;
    } broken[] = {
        {unknown_var, "for: a variable that does not exist"},
        {unbound_var, "for: a variable is used where it has no value: i"},
        {var_of_another_type, "for: a variable is used as one of another type: active"},
        {unknown_param, "for: a param that does not exist"},
        {unknown_array, "accumulate: an array that does not exist"},
        {unbound_array, "accumulate: an array is used where it is not there: A"},
        {scalar_with_position, "accumulate: a scalar with a position: sum"},
        {array_without_position, "accumulate: an array without a position: B"},
        {one_operand, "accumulate: a value with another number of operands than it takes"},
        {product_of_indices, "accumulate: arithmetic on what is no element"},
        {product_of_types, "accumulate: operands of different types"},
        {conjunction, "leaf: a condition made of what is none"},
        {comparison, "leaf: a comparison of different types"},
        {rows_of_elements, "call: a loop of a contraction with what is no number"},
        {rows_of_three, "call: loops of a contraction without four numbers each"},
        {load_of_another_type, "accumulate: a load of another type than its array: B"},
        {binds_unknown_var, "for: a variable that does not exist"},
        {binds_var_twice, "for: a variable is bound twice: x"},
        {binds_unknown_array, "workspace: an array that does not exist"},
        {binds_array_twice, "workspace: an array is bound twice: A"},
        {workspace_of_many, "workspace: a workspace that is neither a scalar nor has an extent: sum"},
        {loop_with_value, "for: has what its kind does not have: value"},
        {loop_without_bounds, "for: lacks what its kind has: bounds"},
        {let_with_body, "let: has what its kind does not have: body"},
        {unknown_transfer, "start: a transfer that does not exist"},
        {fetch_in_leaf, "reduce: communication inside a leaf"},
        {no_step, "for: a step that is not positive"},
        {collapsed_alone, "for: loops that are one to threads are not perfectly nested"},
        {collapsed_triangle, "for: bounds of a loop depend on another that is one with it to threads"},
        {started_twice, "start: a transfer is started twice: FETCH_B"},
        {not_started, "wait: a transfer is waited for that has not started: FETCH_B"},
        {opened_twice, "open: a transfer is opened twice: REDUCE_A"},
        {reduced_twice, "reduce: a transfer is reduced that is not open: REDUCE_A"},
        {released_twice, "release: a transfer is released that is not open: FETCH_B"},
        {fetched_late, "fetch: a transfer is fetched that has been started: FETCH_B"},
        {next_before_wait, "ahead: the next step starts of a transfer that is not open: FETCH_B"},
        {not_released, "reduce: a transfer is not closed where it was opened"},
        {leaf_of_element, "leaf: a condition is of another type"},
        {writes_input, "accumulate: an array is written that is only read: B"},
        {let_of_element, "let: a value of another type than the variable: x"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        Arena *arena = arena_create();
        Sample *sample = sample_create(arena);
        broken[i].make(sample);
        const char *why = NULL;
        assert_false(loop_verify(&sample->kernel, &why));
        assert_string_equal(why, broken[i].why);
        // The passes do not begin.
        const char *pass;
        assert_null(loop_run_passes(&sample->kernel, loop_pass_count(), &pass, &why));
        assert_string_equal(pass, "lowering");
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_while),
        cmocka_unit_test(test_verifier_finds),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
