// SPDX-License-Identifier: BSD-3-Clause
// Races for the workspaces of a launch: none in one whose threads wait and whose blocks have their own, and
// each way to make one is found.
#include "loop/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 10 };

// A launch of w(k) = 0, A(k) = w(COLUMNS - k) for k over threads, in each iteration of loops around.
typedef struct {
    LoopKernel kernel;
    LoopNode *launch, *block, *iteration, *copy, *fill, *store, *read, *use;
    int row, result;
} Sample;

static LoopNode *writable(const LoopNode *node) {
    return (LoopNode *)(uintptr_t)node;
}

static const IntExpr *number(Sample *sample, int64_t value) {
    return int_const(sample->kernel.arena, value);
}

static LoopNode *make_loop(Sample *sample, const char *name, GpuUnit unit) {
    LoopNode *loop = loop_node(sample->kernel.arena, LOOP_FOR);
    loop->var = loop_add_index(&sample->kernel, name, -1);
    loop->lower = number(sample, 0);
    loop->upper = number(sample, COLUMNS);
    loop->execution.unit = unit;
    return loop;
}

static const IntExpr *op(Sample *sample, IntOp kind, const IntExpr *left, const IntExpr *right) {
    return int_op(sample->kernel.arena, kind, left, right);
}

static const IntExpr *var_of(Sample *sample, const LoopNode *node) {
    return int_var(sample->kernel.arena, node->var);
}

static void put(Sample *sample, LoopNode *around, const LoopNode *node) {
    loop_append(sample->kernel.arena, &around->body, node);
}

static Sample *sample_create(Arena *arena) {
    Sample *sample = arena_new(arena, Sample);
    sample->kernel.arena = arena;
    sample->result =
        loop_add_array(&sample->kernel, (LoopArray){.name = "A", .type = TYPE_F64, .written = true});
    sample->row = loop_add_array(
        &sample->kernel,
        (LoopArray){.name = "w", .type = TYPE_F64, .written = true, .extent = number(sample, COLUMNS)});
    sample->launch = loop_node(arena, LOOP_LAUNCH);
    sample->block = make_loop(sample, "block", GPU_BLOCK);
    sample->iteration = make_loop(sample, "iteration", GPU_NONE);
    const int copy = loop_add_index(&sample->kernel, "copy", -1);
    sample->copy = writable(loop_let(
        arena, copy,
        value_index(arena, op(sample, INT_MUL, var_of(sample, sample->block), number(sample, COLUMNS)))));
    sample->fill = make_loop(sample, "fill", GPU_THREAD);
    sample->read = make_loop(sample, "read", GPU_THREAD);
    sample->fill->execution.barrier = sample->read->execution.barrier = true;
    const IntExpr *begin = var_of(sample, sample->copy);
    sample->store = writable(loop_update(arena, LOOP_STORE, sample->row,
                                         op(sample, INT_ADD, begin, var_of(sample, sample->fill)),
                                         value_zero(arena, TYPE_F64)));
    const IntExpr *from = op(sample, INT_SUB, number(sample, COLUMNS), var_of(sample, sample->read));
    sample->use = writable(loop_update(
        arena, LOOP_ACCUMULATE, sample->result, var_of(sample, sample->read),
        value_element(arena, VALUE_LOAD, TYPE_F64, sample->row, op(sample, INT_ADD, begin, from))));
    put(sample, sample->launch, sample->block);
    put(sample, sample->block, sample->copy);
    put(sample, sample->block, sample->iteration);
    put(sample, sample->iteration, sample->fill);
    put(sample, sample->iteration, sample->read);
    put(sample, sample->fill, sample->store);
    put(sample, sample->read, sample->use);
    return sample;
}

static void nothing(Sample *sample) {
    (void)sample;
}
static void in_memory_of_block(Sample *sample) {
    LoopArray *row = &sample->kernel.arrays.items[sample->row];
    row->local = row->shared = true;
    sample->copy->value = value_index(sample->kernel.arena, number(sample, 0));
}
static void only_filled(Sample *sample) {
    sample->iteration->body.count = 1;
    sample->copy->value = value_index(sample->kernel.arena, number(sample, 0));
}
// All blocks fill it together.
static void filled_by_blocks(Sample *sample) {
    only_filled(sample);
    sample->fill->execution.barrier = false;
    sample->store->position = var_of(sample, sample->block);
    sample->block->body = sample->iteration->body;
}
static void filled_again(Sample *sample) {
    only_filled(sample);
    sample->fill->execution.barrier = false;
}
static void no_barrier_between(Sample *sample) {
    sample->fill->execution.barrier = false;
}
// The next iteration fills what some threads still read.
static void no_barrier_after(Sample *sample) {
    sample->read->execution.barrier = false;
}
// The same where blocks have several iterations.
static void no_barrier_of_block(Sample *sample) {
    no_barrier_after(sample);
    sample->block->body = (LoopBody){0};
    put(sample, sample->block, sample->copy);
    put(sample, sample->block, sample->fill);
    put(sample, sample->block, sample->read);
}
// What would wait is not always executed.
static void barrier_in_condition(Sample *sample) {
    LoopNode *condition = loop_node(sample->kernel.arena, LOOP_IF);
    LoopNode *waits = make_loop(sample, "waits", GPU_THREAD);
    no_barrier_between(sample);
    waits->execution.barrier = true;
    put(sample, condition, waits);
    sample->iteration->body = (LoopBody){0};
    put(sample, sample->iteration, sample->fill);
    put(sample, sample->iteration, condition);
    put(sample, sample->iteration, sample->read);
}
static void filled_twice(Sample *sample) {
    sample->iteration->body.items[1] = sample->fill;
    no_barrier_between(sample);
}
static void barrier_in_threads(Sample *sample) {
    LoopNode *warp = make_loop(sample, "warp", GPU_WARP);
    warp->execution.barrier = true;
    put(sample, warp, sample->fill);
    sample->iteration->body.items[0] = warp;
}
static void one_copy(Sample *sample) {
    sample->copy->value = value_index(sample->kernel.arena, number(sample, 0));
}
static void copy_of_iteration(Sample *sample) {
    sample->store->position = op(sample, INT_MUL, var_of(sample, sample->iteration), number(sample, COLUMNS));
}

static void test_launches(void **state) {
    (void)state;
    static const char waits[] = "threads do not wait for each other between uses of a workspace",
                      shared[] = "blocks share a workspace that they write and read",
                      inside[] = "threads wait for each other in iterations of some of them";
    static const struct {
        void (*make)(Sample *sample);
        const char *what, *array; // NULL: nothing, or none
    } cases[] = {
        {nothing, NULL, NULL},
        {in_memory_of_block, NULL, NULL},
        {only_filled, NULL, NULL},
        {filled_by_blocks, NULL, NULL},
        {filled_again, waits, "w"},
        {no_barrier_between, waits, "w"},
        {no_barrier_after, waits, "w"},
        {no_barrier_of_block, waits, "w"},
        {barrier_in_condition, waits, "w"},
        {filled_twice, waits, "w"},
        {barrier_in_threads, inside, NULL},
        {one_copy, shared, "w"},
        {copy_of_iteration, shared, "w"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_create();
        Sample *sample = sample_create(arena);
        cases[i].make(sample);
        int array;
        const char *what = loop_verify_launch(&sample->kernel, sample->launch, &array);
        if (!what != !cases[i].what || (what && strcmp(what, cases[i].what) != 0))
            fail_msg("launch %zu: %s", i, what ? what : "nothing is found");
        assert_int_equal(array, cases[i].array ? sample->row : -1);
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches)};
    return cmocka_run_group_tests_name("verify_launch", tests, NULL, NULL);
}
