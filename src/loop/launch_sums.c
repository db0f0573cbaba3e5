// SPDX-License-Identifier: BSD-3-Clause
// Launches in which several threads sum parts of an element: iterations of the innermost loop of a sum that
// follow each other are those of neighbouring threads. What threads have found is then added in memory of the
// block.
#include "loop/launches.h"

// A block computes up to BLOCK_ELEMENTS elements, one for every ELEMENTS_OF_PLACE elements of the launch; the
// innermost loop of a single sum is divided into pieces of PIECE iterations.
enum { BLOCK_ELEMENTS = 8, ELEMENTS_OF_PLACE = 1024, PIECE = 4096, SUM_PARTS = 16, TERMS = 16 };

// How threads share the elements of a block, and the terms of each.
typedef struct {
    const Launches *launches;
    const LoopNode *update;
    const IntExpr *x, *y; // threads of an element: along the innermost loop of its sum, and for other ones
    const IntExpr *count; // of these together
    int parts;            // the array of what each thread of the block has found
} SumThreads;

static const IntExpr *number(const Launches *launches, int64_t value) {
    return launch_number(launches, value);
}

static const IntExpr *op(const Launches *launches, IntOp kind, const IntExpr *left, const IntExpr *right) {
    return launch_op(launches, kind, left, right);
}

// An array of a value for each thread of a block, or for each block of a launch.
static int add_parts(const Launches *launches, ElementType type, int count, bool shared, LoopBody *to) {
    LoopNode *workspace = loop_node(launches->arena, LOOP_WORKSPACE);
    workspace->array = loop_add_array(launches->kernel, (LoopArray){.name = shared ? "parts" : "partial",
                                                                    .type = type,
                                                                    .written = true,
                                                                    .extent = number(launches, count),
                                                                    .local = shared,
                                                                    .shared = shared,
                                                                    .scratch = !shared});
    workspace->stored = true;
    loop_append(launches->arena, to, workspace);
    return workspace->array;
}

int launch_parts(const Launches *launches, ElementType type, LoopBody *to) {
    return add_parts(launches, type, GPU_THREADS, true, to);
}

static const Value *load(const SumThreads *threads, int array, const IntExpr *position) {
    return value_element(threads->launches->arena, VALUE_LOAD, threads->update->value->type, array, position);
}

// Sums, in scalars of a thread each, elements of `from` at `first` and `step` apart, before `end`.
static int append_sum_of(const SumThreads *threads, int from, const IntExpr *first, int64_t step,
                         const IntExpr *end, LoopBody *to) {
    const int sum = launch_sum(threads->launches, threads->update, to);
    LoopNode *each = launch_loop(threads->launches, "part", first, end, GPU_NONE, 0);
    each->step = step;
    loop_append(threads->launches->arena, &each->body,
                loop_update(threads->launches->arena, LOOP_ACCUMULATE, sum, NULL,
                            load(threads, from, launch_var(threads->launches, each))));
    loop_append(threads->launches->arena, to, each);
    return sum;
}

// Those threads that are not among `x` do nothing: loops over them have one iteration.
static LoopNode *one_row(const Launches *launches) {
    return launch_loop(launches, "row", number(launches, 0), number(launches, 1), GPU_THREAD, 1);
}

// Threads sum SUM_PARTS parts of an element each, of those from `base` on, and keep the sum in the first one.
static const LoopNode *first_sums(const SumThreads *threads, const IntExpr *base) {
    const Launches *launches = threads->launches;
    LoopNode *row = one_row(launches);
    const IntExpr *most = number(launches, SUM_PARTS);
    LoopNode *thread = launch_loop(launches, "thread", number(launches, 0),
                                   op(launches, INT_CEIL_DIV, threads->count, most), GPU_THREAD, 0);
    const IntExpr *first = op(launches, INT_MUL, launch_var(launches, thread), most);
    const IntExpr *end = op(launches, INT_MIN, threads->count, op(launches, INT_ADD, first, most));
    const IntExpr *at = op(launches, INT_ADD, base, first);
    const int sum =
        append_sum_of(threads, threads->parts, at, 1, op(launches, INT_ADD, base, end), &thread->body);
    loop_append(launches->arena, &thread->body,
                loop_update(launches->arena, LOOP_STORE, threads->parts, at, load(threads, sum, NULL)));
    loop_append(launches->arena, &row->body, thread);
    return row;
}

// One thread sums these, and makes `last` of it.
static const LoopNode *last_sum(const SumThreads *threads, const IntExpr *base, const LoopNode *last) {
    const Launches *launches = threads->launches;
    LoopNode *row = one_row(launches);
    LoopNode *thread =
        launch_loop(launches, "thread", number(launches, 0), number(launches, 1), GPU_THREAD, 0);
    const int sum = append_sum_of(threads, threads->parts, base, SUM_PARTS,
                                  op(launches, INT_ADD, base, threads->count), &thread->body);
    LoopNode *store = arena_copy(launches->arena, last, sizeof *store);
    store->value = load(threads, sum, NULL);
    loop_append(launches->arena, &thread->body, store);
    loop_append(launches->arena, &row->body, thread);
    return row;
}

// How many threads an element has, up to `most`: along the innermost loop of its sum as many warps as have
// TERMS iterations for each thread, or one, of which a short sum has a part; and others for the loops around
// it.
static void share_terms(SumThreads *threads, const Chain *sums, const IntExpr *most, LoopBody *to) {
    const Launches *launches = threads->launches;
    const IntExpr *one = number(launches, 1);
    const IntExpr *terms = launch_extent(launches, sums->loops[sums->count - 1]);
    const IntExpr *lanes = number(launches, GPU_LANES);
    const IntExpr *wanted =
        op(launches, INT_MIN, most, op(launches, INT_FLOOR_DIV, terms, number(launches, TERMS)));
    const IntExpr *warps = op(launches, INT_MAX, one, op(launches, INT_FLOOR_DIV, wanted, lanes));
    const IntExpr *x =
        op(launches, INT_MAX, one, op(launches, INT_MIN, terms, op(launches, INT_MUL, warps, lanes)));
    threads->x = launch_let(launches, to, "threads_x", x);
    threads->y = one;
    if (sums->count > 1) {
        const IntExpr *rows = launch_extents(launches, sums, sums->count - 1);
        const IntExpr *y = op(launches, INT_MIN, rows, op(launches, INT_FLOOR_DIV, most, threads->x));
        threads->y = launch_let(launches, to, "threads_y", op(launches, INT_MAX, one, y));
    }
    threads->count = op(launches, INT_MUL, threads->x, threads->y);
}

// Which iterations of all loops but the innermost one a thread has: those from `first` on, `stride` apart.
typedef struct {
    const IntExpr *first, *stride;
    const IntExpr *pieces; // of the innermost loop, which count as such iterations; NULL: it is not cut
} SumRows;

static LoopNode *strided_loop(const Launches *launches, int var, const IntExpr *first, const IntExpr *end,
                              const IntExpr *stride) {
    LoopNode *loop = loop_node(launches->arena, LOOP_FOR);
    loop->var = var;
    loop->lower = first;
    loop->upper = end;
    loop->stride = stride;
    return loop;
}

// All threads of an element sum their terms, and store what they have found from `base` on.
static LoopNode *threads_sum(const SumThreads *threads, const Chain *sums, const LoopBody *body, SumRows rows,
                             const IntExpr *base) {
    const Launches *launches = threads->launches;
    Arena *arena = launches->arena;
    const LoopNode *innermost = sums->loops[sums->count - 1];
    LoopNode *y = launch_loop(launches, "thread_y", number(launches, 0), threads->y, GPU_THREAD, 1);
    LoopNode *x = launch_loop(launches, "thread_x", number(launches, 0), threads->x, GPU_THREAD, 0);
    const int sum = launch_sum(launches, threads->update, &x->body);
    Place places[CHAIN_LOOPS] = {0};
    const IntExpr *begin = innermost->lower, *end = innermost->upper;
    LoopNode *row = NULL;
    if (sums->count > 1 || rows.pieces) {
        const IntExpr *total = launch_extents(launches, sums, sums->count - 1);
        if (rows.pieces)
            total = op(launches, INT_MUL, total, rows.pieces);
        row = strided_loop(launches, loop_add_index(launches->kernel, "row", -1),
                           op(launches, INT_ADD, rows.first, launch_var(launches, y)), total, rows.stride);
        const IntExpr *linear = launch_var(launches, row);
        if (rows.pieces) {
            const IntExpr *length = number(launches, PIECE);
            const IntExpr *piece = op(launches, INT_MOD, linear, rows.pieces);
            begin = launch_let(launches, &row->body, "begin",
                               op(launches, INT_ADD, begin, op(launches, INT_MUL, piece, length)));
            end = op(launches, INT_MIN, end, op(launches, INT_ADD, begin, length));
            linear =
                launch_let(launches, &row->body, "outer", op(launches, INT_FLOOR_DIV, linear, rows.pieces));
        }
        launch_coordinates(launches, sums, sums->count - 1, linear, places);
    }
    places[sums->count - 1].loop =
        strided_loop(launches, loop_add_index(launches->kernel, "first", -1),
                     op(launches, INT_ADD, begin, launch_first(launches, launch_var(launches, x))), end,
                     op(launches, INT_MUL, threads->x, number(launches, LAUNCH_EACH)));
    const LoopBody redirected = launch_redirect(launches, sums->inside, threads->update->array, sum);
    const LoopBody inside = launch_each(launches, innermost->var,
                                        launch_var(launches, places[sums->count - 1].loop), end, &redirected);
    const LoopBody nest = launch_body(launches, sums, body, places, &inside);
    loop_append_all(arena, row ? &row->body : &x->body, nest);
    if (row)
        loop_append(arena, &x->body, row);
    const IntExpr *at = op(launches, INT_ADD, base,
                           op(launches, INT_ADD, op(launches, INT_MUL, launch_var(launches, y), threads->x),
                              launch_var(launches, x)));
    loop_append(arena, &x->body,
                loop_update(arena, LOOP_STORE, threads->parts, at, load(threads, sum, NULL)));
    loop_append(arena, &y->body, x);
    launches->summed[threads->update->array] = true;
    return y;
}

// Definitions and conditions of a body before its loop `first`, in place of which is `with`.
static LoopBody in_place_of(const Launches *launches, const LoopBody *body, const LoopNode *first,
                            const LoopNode *with) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_IF && i + 1 == body->count)
            node = loop_with_body(launches->arena, node, in_place_of(launches, &node->body, first, with));
        loop_append(launches->arena, &result, node == first ? with : node);
    }
    return result;
}

// Only the loops of a sum, which definitions and conditions may be before.
static LoopBody loops_of(const Launches *launches, const Chain *sums) {
    LoopBody loops = {0};
    loop_append(launches->arena, &loops, sums->loops[0]);
    return loops;
}

// What the threads of a block do for each of its elements; all wait for each other after it.
static LoopNode *for_elements(const Launches *launches, const IntExpr *begin, const IntExpr *end) {
    LoopNode *element = launch_loop(launches, "element", begin, end, GPU_THREAD, GPU_DIMS - 1);
    element->execution.barrier = true;
    return element;
}

void launch_sums(const Launches *launches, const Chain *elements, const Chain *sums, const LoopNode *update,
                 const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    const ElementType type = (ElementType)update->value->type;
    const IntExpr *zero = number(launches, 0), *one = number(launches, 1);
    const IntExpr *total =
        launch_let(launches, to, "elements", launch_extents(launches, elements, elements->count));
    const IntExpr *places_wanted = op(launches, INT_FLOOR_DIV, total, number(launches, ELEMENTS_OF_PLACE));
    const IntExpr *each = launch_let(
        launches, to, "places",
        op(launches, INT_MAX, one, op(launches, INT_MIN, number(launches, BLOCK_ELEMENTS), places_wanted)));
    const IntExpr *most = op(launches, INT_FLOOR_DIV, number(launches, GPU_THREADS), each);
    SumThreads threads = {.launches = launches, .update = update};
    share_terms(&threads, sums, most, to);

    LoopNode *launch = launch_create(launches, op(launches, INT_CEIL_DIV, total, each), 1);
    launch->threads[0] = threads.x;
    launch->threads[1] = threads.y;
    launch->threads[2] = each;
    threads.parts = launch_parts(launches, type, &launch->body);
    LoopNode *block = launch_loop(launches, "block", zero, launch->blocks[0], GPU_BLOCK, 0);
    const IntExpr *begin =
        launch_let(launches, &block->body, "begin", op(launches, INT_MUL, launch_var(launches, block), each));
    const IntExpr *end = launch_let(launches, &block->body, "end",
                                    op(launches, INT_MIN, total, op(launches, INT_ADD, begin, each)));
    for (int step = 0; step < 3; step++) {
        LoopNode *element = for_elements(launches, begin, end);
        const IntExpr *linear = launch_var(launches, element);
        const IntExpr *base = op(launches, INT_MUL, op(launches, INT_SUB, linear, begin), threads.count);
        const LoopBody loops = loops_of(launches, sums);
        Place places[CHAIN_LOOPS] = {0};
        launch_coordinates(launches, elements, elements->count, linear, places);
        const LoopNode *what =
            step == 0   ? threads_sum(&threads, sums, &loops, (SumRows){zero, threads.y, NULL}, base)
            : step == 1 ? first_sums(&threads, base)
                        : last_sum(&threads, base, update);
        const LoopBody inside = in_place_of(launches, elements->inside, sums->loops[0], what);
        element->body = launch_body(launches, elements, body, places, &inside);
        loop_append(arena, &block->body, element);
    }
    loop_append(arena, &launch->body, block);
    loop_append(arena, to, launch);
}

// Barriers after the loops over threads of a single element.
static void append_with_barrier(const Launches *launches, const LoopNode *row, LoopBody *to) {
    LoopNode *copy = arena_copy(launches->arena, row, sizeof *copy);
    copy->execution.barrier = true;
    loop_append(launches->arena, to, copy);
}

void launch_block_sum(const Launches *launches, const Chain *sums, const LoopNode *update, int parts,
                      const IntExpr *threads, const LoopBody *body, LoopBody *to) {
    const IntExpr *zero = number(launches, 0), *one = number(launches, 1);
    const SumThreads of = {
        .launches = launches, .update = update, .x = threads, .y = one, .count = threads, .parts = parts};
    append_with_barrier(launches, threads_sum(&of, sums, body, (SumRows){zero, one, NULL}, zero), to);
    append_with_barrier(launches, first_sums(&of, zero), to);
    append_with_barrier(launches, last_sum(&of, zero, update), to);
}

void launch_one_sum(const Launches *launches, const Chain *sums, const LoopNode *update, const LoopBody *body,
                    LoopBody *to) {
    Arena *arena = launches->arena;
    const ElementType type = (ElementType)update->value->type;
    const IntExpr *zero = number(launches, 0), *one = number(launches, 1),
                  *blocks = number(launches, GPU_BLOCKS);
    const int partial = add_parts(launches, type, GPU_BLOCKS, false, to);
    SumThreads threads = {.launches = launches, .update = update};
    share_terms(&threads, sums, number(launches, GPU_THREADS), to);
    const IntExpr *pieces =
        launch_let(launches, to, "pieces",
                   op(launches, INT_CEIL_DIV, launch_extent(launches, sums->loops[sums->count - 1]),
                      number(launches, PIECE)));

    LoopNode *launch = launch_create(launches, blocks, 1);
    launch->threads[0] = threads.x;
    launch->threads[1] = threads.y;
    threads.parts = launch_parts(launches, type, &launch->body);
    LoopNode *block = launch_loop(launches, "block", zero, blocks, GPU_BLOCK, 0);
    const IntExpr *number_of_block = launch_var(launches, block);
    const SumRows rows = {op(launches, INT_MUL, number_of_block, threads.y),
                          op(launches, INT_MUL, blocks, threads.y), pieces};
    append_with_barrier(launches, threads_sum(&threads, sums, body, rows, zero), &block->body);
    append_with_barrier(launches, first_sums(&threads, zero), &block->body);
    append_with_barrier(
        launches,
        last_sum(&threads, zero, loop_update(arena, LOOP_STORE, partial, number_of_block, update->value)),
        &block->body);
    loop_append(arena, &launch->body, block);
    loop_append(arena, to, launch);

    launch = launch_create(launches, one, GPU_THREADS);
    threads.x = threads.count = number(launches, GPU_THREADS);
    threads.parts = launch_parts(launches, type, &launch->body);
    LoopNode *thread = launch_loop(launches, "thread", zero, threads.x, GPU_THREAD, 0);
    const int sum =
        append_sum_of(&threads, partial, launch_var(launches, thread), GPU_THREADS, blocks, &thread->body);
    loop_append(arena, &thread->body,
                loop_update(arena, LOOP_STORE, threads.parts, launch_var(launches, thread),
                            load(&threads, sum, NULL)));
    append_with_barrier(launches, thread, &launch->body);
    append_with_barrier(launches, first_sums(&threads, zero), &launch->body);
    append_with_barrier(launches, last_sum(&threads, zero, update), &launch->body);
    loop_append(arena, to, launch);
}
