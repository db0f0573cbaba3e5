// SPDX-License-Identifier: BSD-3-Clause
// For test_emit: a runtime of one process, in which programs are compiled and executed, and compared with the
// reference evaluator.
#ifndef DISTAL_TESTS_UNIT_EMITTED_H
#define DISTAL_TESTS_UNIT_EMITTED_H

#include "index/evaluate.h"
#include "io/piece.h"
#include "jit/jit.h"
#include "loop/names.h"
#include "pipeline/pipeline.h"
#include "runtime/contraction.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// A runtime of one process that holds whole tensors, spread out in memory: rows are padded, and views begin
// at coordinate 1, as any part of a tensor would.
enum { PADDING = 3, MAX_TENSORS = 64, MAX_TRANSFERS = 16, THREADS = 3 };

typedef struct {
    const Tensor *tensor;
    int64_t extents[MAX_ORDER], strides[MAX_ORDER]; // by mode
    int64_t count, padded_count;
    char *data;  // with padding
    char *dense; // row-major in the order of the modes, for the evaluator
} Whole;

struct distal_execution {
    const Spmd *spmd;
    Grid grid;
    const Whole *tensors; // by id
    int64_t coordinates[MAX_MACHINE_ORDER];
    bool started[MAX_TRANSFERS];
    char *copies[MAX_TRANSFERS][THREADS]; // of the threads that are at work, whole tensors; the first is NULL
    distal_view views[MAX_TRANSFERS];
    char *rows[MAX_TRANSFERS]; // row workspaces, THREADS of each
    void *space;               // for contractions
};

// One more than there are, which takes no part.
int64_t distal_processor_count(const distal_execution *execution) {
    return grid_size(&execution->grid) + 1;
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    return index < grid_size(&execution->grid);
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    distal_execution *changed = (distal_execution *)(uintptr_t)execution;
    if (distal_takes_part(execution, index))
        grid_coordinates(&execution->grid, index, changed->coordinates);
    else
        memset(changed->coordinates, 77, sizeof changed->coordinates);
    return execution->coordinates;
}

static const distal_view *view_of(distal_execution *execution, int transfer) {
    const Whole *whole = &execution->tensors[execution->spmd->transfers[transfer].access->tensor->id];
    distal_view *view = &execution->views[transfer];
    *view = (distal_view){.values = whole->count ? whole->data : NULL};
    for (int m = 0; m < whole->tensor->order && view->values; m++) {
        view->lo[m] = 1;
        view->stride[m] = whole->strides[m];
        view->values =
            (char *)view->values + whole->strides[m] * (int64_t)type_info(whole->tensor->type)->size;
    }
    return view;
}

void distal_start(distal_execution *execution, int transfer) {
    assert_false(execution->started[transfer]);
    execution->started[transfer] = true;
}

void distal_start_next(distal_execution *execution, int transfer) {
    assert_false(execution->started[transfer]);
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    assert_true(execution->started[transfer]);
    execution->started[transfer] = false;
    return view_of(execution, transfer);
}

const distal_view *distal_fetch(distal_execution *execution, int transfer) {
    assert_false(execution->started[transfer]);
    return view_of(execution, transfer);
}

const distal_view *distal_accumulate(distal_execution *execution, int transfer) {
    return view_of(execution, transfer);
}

void distal_reduce(distal_execution *execution, int transfer) {
    assert_int_equal(execution->spmd->transfers[transfer].kind, TRANSFER_REDUCE);
}

distal_contraction_space distal_space(const distal_execution *execution, int thread, int team) {
    assert_non_null(execution);
    return contraction_part(execution->space, THREADS, thread, team);
}

static size_t row_size(const distal_execution *execution, int workspace) {
    const Whole *row = &execution->tensors[execution->spmd->rows[workspace].tensor->id];
    return (size_t)row->count * type_info(row->tensor->type)->size;
}

int distal_workspace_threads(const distal_execution *execution) {
    (void)execution;
    return THREADS;
}

void *distal_workspace(const distal_execution *execution, int workspace, int thread) {
    assert_in_range(workspace, 0, execution->spmd->row_count - 1);
    assert_in_range(thread, 0, THREADS - 1);
    return execution->rows[workspace] + (size_t)thread * row_size(execution, workspace);
}

int distal_thread_count(const distal_execution *execution, int transfer, int64_t work) {
    assert_int_equal(execution->spmd->transfers[transfer].kind, TRANSFER_REDUCE);
    assert_true(execution->spmd->transfers[transfer].copy_limit > 0);
    return work > 0 ? THREADS : 1;
}

static const Whole *written(const distal_execution *execution, int transfer) {
    return &execution->tensors[execution->spmd->transfers[transfer].access->tensor->id];
}

void *distal_thread_copy(distal_execution *execution, int transfer, int thread) {
    const Whole *whole = written(execution, transfer);
    char *data = execution->views[transfer].values;
    if (thread == 0)
        return data;
    char *copy = calloc((size_t)whole->padded_count, type_info(whole->tensor->type)->size);
    execution->copies[transfer][thread] = copy;
    return copy + (data - whole->data);
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    const Whole *whole = written(execution, transfer);
    const Piece to = {.rect = {.order = 1, .hi = {whole->padded_count}},
                      .stride = {1},
                      .type = whole->tensor->type,
                      .data = whole->data};
    for (int t = 1; t < THREADS; t++) {
        Piece from = to;
        from.data = execution->copies[transfer][t];
        if (from.data)
            piece_reduce(REDUCER_SUM, &to, &from, &to.rect);
        free(from.data);
        execution->copies[transfer][t] = NULL;
    }
}

static double random_unit(uint64_t *seed) {
    *seed += 0x9E3779B97F4A7C15U;
    uint64_t z = (*seed ^ *seed >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void set_element(void *element, ElementType type, double re, double im) {
    switch (type) {
    case TYPE_I32: // with zeros among them, and large enough for products to wrap around
        *(int32_t *)element = re < 0.1 ? 0 : (int32_t)((re - 0.5) * 4e9);
        return;
    case TYPE_I64:
        *(int64_t *)element = re < 0.1 ? 0 : (int64_t)((re - 0.5) * 1.8e19);
        return;
    case TYPE_F32:
        *(float *)element = (float)(re + 0.25);
        return;
    case TYPE_F64:
        *(double *)element = re + 0.25;
        return;
    case TYPE_C64:
        ((float *)element)[0] = (float)(re + 0.25), ((float *)element)[1] = (float)im;
        return;
    case TYPE_C128:
        ((double *)element)[0] = re + 0.25, ((double *)element)[1] = im;
        return;
    }
}

// Copies between the padded and the dense form of a tensor.
static void copy_elements(const Whole *whole, bool to_dense) {
    size_t size = type_info(whole->tensor->type)->size;
    for (int64_t p = 0; p < whole->count; p++) {
        int64_t rest = p, position = 0;
        for (int m = whole->tensor->order - 1; m >= 0; m--) {
            position += rest % whole->extents[m] * whole->strides[m];
            rest /= whole->extents[m];
        }
        char *padded = whole->data + (size_t)position * size, *dense = whole->dense + (size_t)p * size;
        memcpy(to_dense ? dense : padded, to_dense ? padded : dense, size);
    }
}

static Whole create_whole(const Tensor *tensor, const int64_t *params, Arena *arena) {
    Whole whole = {.tensor = tensor, .count = 1, .padded_count = 1};
    for (int m = 0; m < tensor->order; m++) {
        assert_true(int_eval(tensor->extents[m], params, NULL, &whole.extents[m]));
        whole.count *= whole.extents[m];
    }
    for (int l = tensor->order - 1; l >= 0; l--) {
        int m = tensor->mode_order[l];
        whole.strides[m] = whole.padded_count;
        whole.padded_count *= whole.extents[m] + PADDING;
    }
    size_t size = type_info(tensor->type)->size;
    whole.data = arena_alloc(arena, (size_t)whole.padded_count * size);
    whole.dense = arena_alloc(arena, (size_t)(whole.count + 1) * size);
    uint64_t seed = (uint64_t)tensor->id;
    for (int64_t p = 0; p < whole.count; p++) {
        double re = random_unit(&seed);
        set_element(whole.dense + (size_t)p * size, tensor->type, re, random_unit(&seed));
    }
    copy_elements(&whole, false);
    return whole;
}

static void check_statement(Pipeline *pipeline, const StatementPasses *passes, Whole *tensors) {
    Arena *arena = pipeline->arena;
    const Assignment *assignment = passes->statement->assignment;
    Whole *left = &tensors[assignment->lhs->tensor->id];
    Evaluator *evaluator =
        evaluator_create(arena, assignment, pipeline_reorders_products(passes), pipeline->params);
    const void *arrays[MAX_TENSORS];
    for (int t = 0; t < pipeline->program->tensor_count; t++)
        arrays[t] = tensors[t].dense;
    int64_t count = evaluator_count(evaluator);
    void *values = arena_alloc(arena, evaluator_value_size(evaluator) * (size_t)(count + 1));
    double *magnitudes = arena_array(arena, double, count + 1);
    assert_true(evaluator_run(evaluator, arrays, 0, count, values, magnitudes));

    if (!assignment->accumulate)
        memset(left->data, 0, (size_t)left->padded_count * type_info(left->tensor->type)->size);
    for (int64_t w = 0; w < pipeline->scheduler.workspaces.count; w++) {
        const Whole *workspace = &tensors[pipeline->scheduler.workspaces.items[w]->id];
        memset(workspace->data, 0,
               (size_t)workspace->padded_count * type_info(workspace->tensor->type)->size);
    }
    distal_execution execution = {
        .spmd = passes->spmd, .tensors = tensors, .space = malloc((size_t)contraction_space(THREADS))};
    execution.grid.order = passes->spmd->dim_count;
    for (int d = 0; d < passes->spmd->dim_count; d++)
        assert_true(
            int_eval(passes->spmd->dims[d].extent, pipeline->params, NULL, &execution.grid.extents[d]));
    assert_true(passes->spmd->transfer_count <= MAX_TRANSFERS);
    assert_true(passes->spmd->row_count <= MAX_TRANSFERS);
    for (int r = 0; r < passes->spmd->row_count; r++)
        execution.rows[r] = malloc(THREADS * row_size(&execution, r));
    Kernel kernel;
    KernelFunctions functions;
    if (!jit_load(pipeline->c_source, 1, &passes->function, &kernel, &functions, pipeline->diagnostics)) {
        Text text = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &text);
        fail_msg("%s", text_string(&text));
    }
    functions.function(&execution, pipeline->params);
    jit_unload(&kernel);
    free(execution.space);
    for (int r = 0; r < passes->spmd->row_count; r++)
        free(execution.rows[r]);
    copy_elements(left, true);
    double error = evaluator_error(evaluator, left->dense, values, magnitudes, count);
    if (!(error <= evaluator_tolerance(evaluator)))
        fail_msg("'%s' is wrong by %g in:\n%s", left->tensor->name, error, pipeline->c_source);
}

static const char *compilers[2];
static int compiler_count;

// The program computed with code of every compiler; what was emitted for it, which the caller frees.
static char *check_program(const char *text, const ParamOverride *overrides, int override_count) {
    Arena *arena = arena_create();
    Pipeline *pipeline = pipeline_create(arena, (Source){"test", text}, overrides, override_count, 1);
    if (!pipeline_run(pipeline, PASS_C)) {
        Text why = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &why);
        fail_msg("%s", text_string(&why));
    }
    const Program *program = pipeline->program;
    const int workspaces = (int)pipeline->scheduler.workspaces.count;
    assert_true(program->tensor_count + workspaces <= MAX_TENSORS);
    for (int c = 0; c < compiler_count; c++) {
        setenv("DISTAL_CC", compilers[c], 1);
#ifdef __SANITIZE_ADDRESS__
        // LeakSanitizer does not survive a second OpenMP in the process.
        bool hit;
        double seconds;
        if (strcmp(compilers[c], "clang") == 0) {
            assert_true(jit_compile(pipeline->c_source, &hit, &seconds, pipeline->diagnostics));
            continue;
        }
#endif
        Whole tensors[MAX_TENSORS];
        for (int t = 0; t < program->tensor_count; t++)
            tensors[t] = create_whole(program->tensors[t], pipeline->params, arena);
        for (int w = 0; w < workspaces; w++)
            tensors[program->tensor_count + w] =
                create_whole(pipeline->scheduler.workspaces.items[w], pipeline->params, arena);
        for (int s = 0; s < pipeline->program->statement_count; s++)
            check_statement(pipeline, &pipeline->statements[s], tensors);
    }
    char *source = strdup(pipeline->c_source);
    arena_free(arena);
    return source;
}

// The same code with extents that divide nothing, that are smaller than the grid, and none at all. `n`, `m`,
// `k`, `l` are params of the program.
static void check_sizes(const char *text) {
    static const int64_t sizes[][4] = {{7, 5, 11, 3},  {8, 8, 8, 8}, {1, 2, 1, 1},
                                       {65, 3, 33, 2}, {0, 4, 3, 2}, {4, 3, 0, 2}};
    char *first = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const ParamOverride overrides[] = {
            {"n", sizes[i][0]}, {"m", sizes[i][1]}, {"nk", sizes[i][2]}, {"nl", sizes[i][3]}};
        char *source = check_program(text, overrides, 4);
        if (first)
            assert_string_equal(source, first);
        else
            first = strdup(source);
        free(source);
    }
    free(first);
}

static void check_once(const char *text) {
    free(check_program(text, NULL, 0));
}

#endif
