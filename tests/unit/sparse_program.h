// SPDX-License-Identifier: BSD-3-Clause
// For test_sparse: a runtime of one process, in which programs with sparse tensors are compiled and executed,
// and compared with plain loops over all coordinates of their nests.
#ifndef DISTAL_TESTS_UNIT_SPARSE_PROGRAM_H
#define DISTAL_TESTS_UNIT_SPARSE_PROGRAM_H

#include "distal_kernel.h"
#include "format/stored.h"
#include "jit/jit.h"
#include "pipeline/pipeline.h"
#include "runtime/appender.h"
#include "runtime/portions.h"
#include "runtime/ranges.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_TENSORS = 1024, MAX_TRANSFERS = 32, THREADS = 3 };

// A tensor: its elements, row-major in the order of its modes, and as it is stored.
typedef struct {
    const Tensor *tensor;
    int64_t extents[MAX_ORDER], strides[MAX_ORDER]; // strides of `dense`, by mode
    int64_t count;
    double *dense;
    bool *entries; // of a sparse tensor: which elements are stored
    bool sparse;
    StoredTensor stored;
    double *values; // of a dense tensor, in the order of storage
    int64_t value_strides[MAX_ORDER];
} Whole;

struct distal_execution {
    const Spmd *spmd;
    Whole *tensors; // by id
    distal_view views[MAX_TRANSFERS];
    StoredTensor converted[MAX_TRANSFERS]; // copies that are stored as the transfers say
    Arena *arena;
    double *copies[THREADS];
    bool *appended;     // by element of the result
    Appender *appender; // of entries in the order of storage
};

int64_t distal_processor_count(const distal_execution *execution) {
    (void)execution;
    return 1;
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    (void)execution;
    return index == 0;
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    (void)execution, (void)index;
    fail_msg("nothing is distributed");
    return NULL;
}

static const StoredTensor *convert(distal_execution *execution, int transfer, const Whole *whole) {
    const Tensor *tensor = execution->spmd->transfers[transfer].access->tensor;
    StoredTensor *copy = &execution->converted[transfer];
    Entries entries;
    if (tensor == whole->tensor)
        return &whole->stored;
    stored_free(copy);
    *copy = whole->stored;
    memcpy(copy->levels, tensor->levels, sizeof copy->levels);
    memcpy(copy->mode_order, tensor->mode_order, sizeof copy->mode_order);
    assert_null(stored_unpack(&whole->stored, &entries, INT64_MAX, execution->arena));
    assert_null(stored_pack(copy, &entries, INT64_MAX, execution->arena));
    entries_free(&entries);
    return copy;
}

static const distal_view *view_of(distal_execution *execution, int transfer) {
    const Whole *whole = &execution->tensors[execution->spmd->transfers[transfer].access->tensor->id];
    distal_view *view = &execution->views[transfer];
    memset(view, 0, sizeof *view);
    if (whole->sparse) {
        const StoredTensor *stored = convert(execution, transfer, whole);
        view->values = stored->values;
        for (int l = 0; l < whole->tensor->order; l++) {
            view->extent[stored->mode_order[l]] = stored->arrays[l].extent;
            for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
                view->levels[l].arrays[a] = stored->arrays[l].arrays[a];
        }
        return view;
    }
    view->values = whole->count ? whole->values : NULL;
    for (int m = 0; m < whole->tensor->order; m++)
        view->stride[m] = whole->value_strides[m];
    return view;
}

void distal_start(distal_execution *execution, int transfer) {
    (void)execution, (void)transfer;
}

void distal_start_next(distal_execution *execution, int transfer) {
    (void)execution, (void)transfer;
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    return view_of(execution, transfer);
}

const distal_view *distal_fetch(distal_execution *execution, int transfer) {
    return view_of(execution, transfer);
}

const distal_view *distal_accumulate(distal_execution *execution, int transfer) {
    return view_of(execution, transfer);
}

void distal_reduce(distal_execution *execution, int transfer) {
    (void)execution, (void)transfer;
}

distal_contraction_space distal_space(const distal_execution *execution, int thread, int team) {
    (void)execution, (void)thread, (void)team;
    fail_msg("nothing is contracted");
    return (distal_contraction_space){0};
}

int64_t distal_prefetch_end_i32(const int32_t *coordinates, int64_t count, int64_t bytes, int64_t distance) {
    (void)coordinates;
    assert_true(bytes > 0);
    return count - distance;
}

int distal_thread_count(const distal_execution *execution, int transfer, int64_t work) {
    (void)execution, (void)transfer;
    return work > 0 ? THREADS : 1;
}

static Whole *written(const distal_execution *execution, int transfer) {
    return &execution->tensors[execution->spmd->transfers[transfer].access->tensor->id];
}

void *distal_thread_copy(distal_execution *execution, int transfer, int thread) {
    const Whole *whole = written(execution, transfer);
    if (thread == 0)
        return whole->values;
    return execution->copies[thread] = calloc((size_t)whole->count, sizeof(double));
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    const Whole *whole = written(execution, transfer);
    for (int t = 1; t < THREADS; t++) {
        for (int64_t i = 0; execution->copies[t] && i < whole->count; i++)
            whole->values[i] += execution->copies[t][i];
        free(execution->copies[t]);
        execution->copies[t] = NULL;
    }
}

void distal_append(distal_execution *execution, int transfer, const int64_t *coordinates) {
    const Whole *whole = written(execution, transfer);
    int64_t at = 0;
    for (int m = 0; m < whole->tensor->order; m++) {
        assert_true(coordinates[m] >= 0 && coordinates[m] < whole->extents[m]);
        at += coordinates[m] * whole->strides[m];
    }
    execution->appended[at] = true;
}

distal_list *distal_begin_portion(distal_execution *execution, int transfer, int64_t portion) {
    (void)transfer;
    return appender_begin(execution->appender, portion);
}

void distal_end_portion(distal_execution *execution, int transfer, int64_t portion) {
    (void)transfer;
    appender_end(execution->appender, portion);
}

distal_index_set *distal_row_set(distal_execution *execution, int transfer) {
    (void)transfer;
    return appender_set(execution->appender);
}

static uint64_t seed = 1;

static uint64_t draw(uint64_t below) {
    seed += 0x9E3779B97F4A7C15U;
    uint64_t z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return (z ^ z >> 31) % below;
}

// Coordinates of element `at`, in the order of modes.
static void coordinates_of(const Whole *whole, int64_t at, int64_t *coordinates) {
    for (int m = whole->tensor->order - 1; m >= 0; m--) {
        coordinates[m] = at % whole->extents[m];
        at /= whole->extents[m];
    }
}

static void copy_values(const Whole *whole, bool to_dense) {
    for (int64_t at = 0; at < whole->count; at++) {
        int64_t coordinates[MAX_ORDER], position = 0;
        coordinates_of(whole, at, coordinates);
        for (int m = 0; m < whole->tensor->order; m++)
            position += coordinates[m] * whole->value_strides[m];
        if (to_dense)
            whole->dense[at] = whole->values[position];
        else
            whole->values[position] = whole->dense[at];
    }
}

// How full sparse tensors are: empty, nearly so, and up to full.
static bool is_entry(int fill) {
    static const int percent[] = {0, 4, 20, 50, 100};
    return (int)draw(100) < percent[fill];
}

// Full levels that have no other level below them store all of their coordinates.
static void fill_levels(const Whole *whole, bool *entries) {
    const Tensor *tensor = whole->tensor;
    for (int l = tensor->order - 1; l >= 0 && tensor->levels[l].format->full; l--) {
        const int mode = tensor->mode_order[l];
        for (int64_t at = 0; at < whole->count; at++) {
            const int64_t x = at / whole->strides[mode] % whole->extents[mode];
            const int64_t first = at - x * whole->strides[mode];
            for (int64_t y = 0; entries[at] && y < whole->extents[mode]; y++)
                entries[first + y * whole->strides[mode]] = true;
        }
    }
}

static void pack(Whole *whole, Arena *arena) {
    const Tensor *tensor = whole->tensor;
    Entries entries = {.type = tensor->type, .order = tensor->order};
    StoredTensor *stored = &whole->stored;
    *stored = (StoredTensor){.type = tensor->type, .order = tensor->order};
    for (int64_t at = 0; at < whole->count; at++)
        entries.count += whole->entries[at];
    for (int m = 0; m < tensor->order; m++) {
        entries.extents[m] = stored->extents[m] = whole->extents[m];
        stored->levels[m] = tensor->levels[m];
        stored->mode_order[m] = tensor->mode_order[m];
    }
    assert_null(entries_allocate(&entries));
    int64_t count = 0;
    for (int64_t at = 0; at < whole->count; at++) {
        if (!whole->entries[at])
            continue;
        int64_t coordinates[MAX_ORDER];
        coordinates_of(whole, at, coordinates);
        for (int m = 0; m < tensor->order; m++)
            entries.coordinates[m][count] = coordinates[m];
        ((double *)entries.values)[count++] = whole->dense[at];
    }
    assert_null(stored_pack(stored, &entries, INT64_MAX, arena));
    entries_free(&entries);
    fill_levels(whole, whole->entries);
}

static Whole create_whole(const Tensor *tensor, const int64_t *params, Arena *arena) {
    Whole whole = {.tensor = tensor, .count = 1, .sparse = tensor_is_sparse(tensor)};
    assert_int_equal(tensor->type, TYPE_F64);
    for (int m = tensor->order - 1; m >= 0; m--) {
        assert_true(int_eval(tensor->extents[m], params, NULL, &whole.extents[m]));
        whole.strides[m] = whole.count;
        whole.count *= whole.extents[m];
    }
    int64_t stride = 1;
    for (int l = tensor->order - 1; l >= 0; l--) {
        whole.value_strides[tensor->mode_order[l]] = stride;
        stride *= whole.extents[tensor->mode_order[l]];
    }
    whole.dense = arena_array(arena, double, whole.count + 1);
    whole.entries = arena_array(arena, bool, whole.count + 1);
    whole.values = arena_array(arena, double, whole.count + 1);
    const int fill = (int)draw(5);
    for (int64_t at = 0; at < whole.count; at++) {
        whole.entries[at] = !whole.sparse || is_entry(fill);
        whole.dense[at] = whole.entries[at] ? (double)(1 + draw(15)) / 4 - 2 : 0;
    }
    if (whole.sparse)
        pack(&whole, arena);
    else
        copy_values(&whole, false);
    return whole;
}

// Plain loops.
typedef struct {
    const Whole *tensors;
    const Nest *nest;
    int64_t extents[MAX_VARS], vars[MAX_VARS];
    double *result;
    bool *present; // elements that a point with a value contributes to
} Plain;

static int64_t element(const Plain *plain, const Access *access) {
    const Whole *whole = &plain->tensors[access->tensor->id];
    int64_t at = 0;
    for (int m = 0; m < access->tensor->order; m++)
        at += plain->vars[access->vars[m]] * whole->strides[m];
    return at;
}

static double value_of(const Plain *plain, const Expr *expr) {
    const double left = expr->left ? value_of(plain, expr->left) : 0;
    const double right = expr->right ? value_of(plain, expr->right) : 0;
    switch (expr->kind) {
    case EXPR_ACCESS:
        return plain->tensors[expr->access->tensor->id].dense[element(plain, expr->access)];
    case EXPR_NUMBER:
        return expr->number_is_integer ? (double)expr->integer : expr->number;
    case EXPR_ADD:
        return left + right;
    case EXPR_SUB:
        return left - right;
    case EXPR_MUL:
        return left * right;
    case EXPR_DIV:
        return left / right;
    case EXPR_NEG:
        return -left;
    default:
        return expr->right ? expr->function->real_of_two(left, right) : expr->function->real(left);
    }
}

// Whether an expression is present; functions here are zero where their arguments are, and divisors are not
// sparse.
static bool is_present(const Plain *plain, const Expr *expr) {
    switch (expr->kind) {
    case EXPR_ACCESS:
        return plain->tensors[expr->access->tensor->id].entries[element(plain, expr->access)];
    case EXPR_NUMBER:
        return true;
    case EXPR_MUL:
        return is_present(plain, expr->left) && is_present(plain, expr->right);
    case EXPR_DIV:
    case EXPR_NEG:
        return is_present(plain, expr->left);
    default:
        return is_present(plain, expr->left) || (expr->right && is_present(plain, expr->right));
    }
}

static void run_plain(Plain *plain, int depth) {
    if (depth == plain->nest->loop_count) {
        if (is_present(plain, plain->nest->assign->rhs))
            plain->present[element(plain, plain->nest->assign->lhs)] = true;
        plain->result[element(plain, plain->nest->assign->lhs)] += value_of(plain, plain->nest->assign->rhs);
        return;
    }
    const int var = plain->nest->loops[depth];
    for (plain->vars[var] = 0; plain->vars[var] < plain->extents[var]; plain->vars[var]++)
        run_plain(plain, depth + 1);
}

// Takes what has been appended in order as it is; the values are zero, as the kernel stores to or adds to
// each.
static void join(distal_execution *execution, Whole *left, Arena *arena) {
    Entries entries;
    assert_null(appender_join(execution->appender, &left->stored, arena));
    memset(left->stored.values, 0, sizeof(double) * (size_t)left->stored.value_count);
    assert_null(stored_check(&left->stored, arena));
    assert_null(stored_unpack(&left->stored, &entries, INT64_MAX, arena));
    for (int64_t e = 0; e < entries.count; e++) {
        int64_t at = 0;
        for (int m = 0; m < left->tensor->order; m++)
            at += entries.coordinates[m][e] * left->strides[m];
        left->entries[at] = true;
    }
    entries_free(&entries);
}

// Calls the function that appends the entries. Whether they have come in order.
static bool append_entries(Pipeline *pipeline, const KernelFunctions *functions, distal_execution *execution,
                           Whole *left) {
    memset(left->entries, 0, (size_t)left->count);
    execution->appended = left->entries;
    assert_non_null(functions->structure);
    if (append_lists(left->stored.order, left->stored.levels).count > 0) {
        execution->appender = appender_create(&left->stored, omp_get_max_threads(), INT64_MAX);
        assert_non_null(execution->appender);
    }
    functions->structure(execution, pipeline->params);
    const bool ordered = execution->appender && appender_is_used(execution->appender);
    if (ordered)
        join(execution, left, pipeline->arena);
    appender_free(execution->appender);
    return ordered;
}

// Gives a sparse result its levels, with values of zero.
static void assemble(Pipeline *pipeline, const StatementPasses *passes, const KernelFunctions *functions,
                     distal_execution *execution, Whole *left) {
    const Spmd *spmd = passes->spmd;
    stored_free(&left->stored);
    memset(left->dense, 0, sizeof(double) * (size_t)left->count);
    if (spmd->stages[0].result == RESULT_SHARED) {
        memcpy(left->entries, execution->tensors[spmd->stages[0].shared->tensor->id].entries,
               (size_t)left->count);
    } else if (append_entries(pipeline, functions, execution, left)) {
        return;
    }
    pack(left, pipeline->arena);
}

// The values of a sparse result; what has one.
static void unpack(Whole *left, Arena *arena) {
    Entries entries;
    assert_null(stored_unpack(&left->stored, &entries, INT64_MAX, arena));
    memset(left->dense, 0, sizeof(double) * (size_t)left->count);
    for (int64_t e = 0; e < entries.count; e++) {
        int64_t at = 0;
        for (int m = 0; m < left->tensor->order; m++)
            at += entries.coordinates[m][e] * left->strides[m];
        left->dense[at] = ((double *)entries.values)[e];
    }
    entries_free(&entries);
}

static void check_statement(Pipeline *pipeline, const StatementPasses *passes, Whole *tensors) {
    Arena *arena = pipeline->arena;
    const Cin *cin = passes->cin;
    Whole *left = &tensors[cin->assignment->lhs->tensor->id];
    Plain plain = {.tensors = tensors,
                   .result = arena_array(arena, double, left->count + 1),
                   .present = arena_array(arena, bool, left->count + 1)};
    for (int v = 0; v < cin->var_count; v++)
        assert_true(int_eval(cin->vars[v].extent, pipeline->params, NULL, &plain.extents[v]));
    if (cin->assignment->accumulate)
        memcpy(plain.result, left->dense, sizeof(double) * (size_t)left->count);
    else
        memset(left->values, 0, sizeof(double) * (size_t)left->count);
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        plain.nest = &nest;
        run_plain(&plain, 0);
    }
    fill_levels(left, plain.present);
    distal_execution execution = {.spmd = passes->spmd, .tensors = tensors, .arena = arena};
    assert_true(passes->spmd->transfer_count <= MAX_TRANSFERS);
    Kernel kernel;
    KernelFunctions functions;
    if (!jit_load(pipeline->c_source, 1, &passes->function, &kernel, &functions, pipeline->diagnostics)) {
        Text text = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &text);
        fail_msg("%s", text_string(&text));
    }
    if (left->sparse)
        assemble(pipeline, passes, &functions, &execution, left);
    functions.function(&execution, pipeline->params);
    jit_unload(&kernel);
    for (int t = 0; t < passes->spmd->transfer_count; t++)
        stored_free(&execution.converted[t]);
    if (left->sparse)
        unpack(left, arena);
    else
        copy_values(left, true);
    for (int64_t at = 0; at < left->count; at++) {
        if (left->sparse && left->entries[at] != plain.present[at]) {
            Text text = text_create(arena);
            assignment_print(cin->assignment, &text);
            text_append(&text, "\n");
            loop_print(passes->structure ? passes->structure : passes->loops, &text);
            fail_msg("element %d should %sbe stored:\n%s", (int)at, plain.present[at] ? "" : "not ",
                     text_string(&text));
        }
        const double got = left->dense[at], wanted = plain.result[at];
        if (fabs(got - wanted) <= 1e-12 * (1 + fabs(wanted)) || (isnan(got) && isnan(wanted)))
            continue;
        Text text = text_create(arena);
        assignment_print(cin->assignment, &text);
        text_append(&text, "\n");
        loop_print(passes->loops, &text);
        fail_msg("element %d is %g, and should be %g:\n%s", (int)at, got, wanted, text_string(&text));
    }
}

static void check_program(const char *text) {
    Arena *arena = arena_create();
    Pipeline *pipeline = pipeline_create(arena, (Source){"test", text}, NULL, 0, 1);
    if (!pipeline_run(pipeline, PASS_C)) {
        Text why = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &why);
        fail_msg("%s\n%s", text_string(&why), text);
    }
    const Program *program = pipeline->program;
    assert_true(program->tensor_count <= MAX_TENSORS);
    Whole *tensors = arena_array(arena, Whole, program->tensor_count);
    for (int t = 0; t < program->tensor_count; t++)
        tensors[t] = create_whole(program->tensors[t], pipeline->params, arena);
    for (int s = 0; s < program->statement_count; s++)
        check_statement(pipeline, &pipeline->statements[s], tensors);
    for (int t = 0; t < program->tensor_count; t++)
        if (tensors[t].sparse)
            stored_free(&tensors[t].stored);
    arena_free(arena);
}

#endif
