// SPDX-License-Identifier: BSD-3-Clause
#include "choose/search.h"

#include "base/integer.h"
#include "choose/known.h"
#include "choose/spans.h"
#include "choose/workspaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int search_grid(Search *search, int count, const int64_t *sizes) {
    for (int64_t m = 0; m < search->machines.count; m++) {
        const SearchMachine *machine = &search->machines.items[m];
        if (machine->grid.order == count && machine->machine->level_count == 1 &&
            memcmp(machine->grid.extents, sizes, sizeof(int64_t) * (size_t)count) == 0)
            return (int)m;
    }
    Machine *machine = arena_new(search->arena, Machine);
    machine->name = arena_printf(search->arena, "M%d", (int)search->machines.count + 1);
    machine->level_count = 1;
    machine->levels[0] = (MachineLevel){.name = "", .order = count};
    machine->order = count;
    SearchMachine added = {.machine = machine, .own = machine, .grid = {.order = count}};
    for (int d = 0; d < count; d++) {
        machine->extents[d] = int_const(search->arena, sizes[d]);
        added.grid.extents[d] = sizes[d];
    }
    array_push(search->arena, search->machines, added);
    return (int)search->machines.count - 1;
}

typedef struct {
    Search *search;
    int nest;
    bool is_result;
    Array(UsedAccess) found;
} Collecting;

static void collect(void *context, const Access *access) {
    Collecting *collecting = context;
    if (access->tensor->id >= collecting->search->program->tensor_count)
        return; // a workspace lies where it is used
    array_push(collecting->search->arena, collecting->found,
               (UsedAccess){access, access_vars(access), collecting->nest, collecting->is_result});
}

// Variables that index a mode alone somewhere, and so divide something.
static void find_distributable(const Cin *cin, SearchStatement *statement) {
    for (int v = 0; v < cin->var_count; v++)
        if (cin->vars[v].source && cin_is_loop(cin, v) && statement->extents[v] > 1)
            statement->distributable |= (VarSet)1 << v;
}

static void read_nests(Search *search, SearchStatement *statement, const Spmd *spmd) {
    const Cin *cin = statement->cin;
    statement->nest_count = cin_nest_count(cin);
    SearchNest *nests = arena_array(search->arena, SearchNest, statement->nest_count);
    Collecting collecting = {.search = search};
    for (int n = 0; n < statement->nest_count; n++) {
        const Nest nest = cin_nest(cin, n);
        for (int l = 0; l < nest.loop_count; l++)
            nests[n].loops |= (VarSet)1 << nest.loops[l];
        nests[n].operations = fmax(1, (double)plan_point_flop(nest.assign)) *
                              known_share(search, nest.assign->rhs, assignment_type(cin->assignment));
        if (search->any_sparse)
            nests[n].operations *= known_correlation(search, spmd, nest.assign);
        collecting.nest = n;
        collecting.is_result = true;
        collect(&collecting, nest.assign->lhs);
        collecting.is_result = false;
        expr_accesses(nest.assign->rhs, collect, &collecting);
    }
    statement->nests = nests;
    statement->access_count = (int)collecting.found.count;
    statement->accesses = collecting.found.items;
    for (int v = 0; v < cin->var_count; v++)
        int_eval(cin->vars[v].extent, search->params, NULL, &statement->extents[v]);
    find_distributable(cin, statement);
    for (int a = 0; a < statement->access_count; a++) {
        SearchTensor *tensor = &search->tensors[statement->accesses[a].access->tensor->id];
        tensor->last_use = statement->index;
        tensor->used_by_kept = tensor->used_by_kept || statement->kept;
        tensor->input = tensor->input && !statement->accesses[a].is_result;
        if (tensor_is_sparse(tensor->tensor))
            statement->sparse |= statement->accesses[a].vars;
    }
}

typedef struct {
    double bytes;
    int id; // of the tensor
} Sized;

static int by_bytes(const void *a, const void *b) {
    const Sized *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->id - y->id;
}

// The smallest stay in memory, a few of them even if each rank has them whole.
static void spill_tensors(Search *search) {
    const double kept = (double)search->limit / 8;
    const int count = search->program->tensor_count;
    Sized *order = arena_array(search->arena, Sized, count);
    double bytes = 0;
    for (int t = 0; t < count; t++)
        order[t] = (Sized){search->tensors[t].bytes, t};
    if (count > 1)
        qsort(order, (size_t)count, sizeof *order, by_bytes);
    for (int t = 0; t < count; t++) {
        SearchTensor *tensor = &search->tensors[order[t].id];
        bytes += tensor->free ? tensor->bytes : 0;
        tensor->in_disk = tensor->in_disk || (tensor->free && bytes > kept);
    }
}

static void read_tensors(Search *search) {
    const Program *program = search->program;
    search->tensors = arena_array(search->arena, SearchTensor, program->tensor_count);
    for (int t = 0; t < program->tensor_count; t++) {
        SearchTensor *tensor = &search->tensors[t];
        *tensor = (SearchTensor){.tensor = program->tensors[t], .input = true, .share = 1};
        search->any_sparse = search->any_sparse || tensor_is_sparse(tensor->tensor);
        tensor->bytes = (double)type_info(tensor->tensor->type)->size;
        for (int m = 0; m < tensor->tensor->order; m++) {
            int_eval(tensor->tensor->extents[m], search->params, NULL, &tensor->extents[m]);
            tensor->bytes *= (double)tensor->extents[m];
        }
        tensor->free = !tensor->tensor->placement && tensor->tensor->order > 0;
        tensor->in_disk = tensor->tensor->placement && tensor->tensor->placement->memory == MEMORY_DISK;
    }
    if (search->spills)
        spill_tensors(search);
}

static bool check_program(const Program *program, Diagnostics *diagnostics) {
    bool ok = true;
    for (int t = 0; t < program->tensor_count; t++) {
        const Placement *placement = program->tensors[t]->placement;
        if (placement && placement->memory == MEMORY_GPU)
            ok = diagnostics_error(
                diagnostics, placement->span,
                "no schedule is looked for where a tensor is in GPU memory, as '%s' is: write "
                "one for the statements that use it",
                program->tensors[t]->name);
    }
    return ok;
}

// Processors of the largest machine.
static int64_t most_processors(const Search *search) {
    int64_t most = 0;
    Grid grid;
    for (int m = 0; m < search->program->machine_count; m++)
        if (machine_grid(search->program->machines[m], search->params, &grid))
            most = max_i64(most, grid_size(&grid));
    return most;
}

// Ranks, of which the sizes of machines may be made, and then how many processors there are.
static void read_machines(Search *search, int64_t *params) {
    const Program *program = search->program;
    const int64_t most = most_processors(search);
    search->ranks = search->options->ranks > 0 ? search->options->ranks
                    : most > 0                 ? most
                                               : max_i64(search->options->processes, 1);
    params[0] = search->ranks;
    bool kept = program->machine_count == 1;
    for (int m = 0; m < program->machine_count; m++) {
        SearchMachine machine = {.machine = program->machines[m]};
        if (!machine_grid(program->machines[m], params, &machine.grid)) {
            kept = false;
            continue;
        }
        array_push(search->arena, search->machines, machine);
        kept = kept && machine.machine->level_count == 1 && machine.grid.order > 1 &&
               machine.grid.order <= MOST_DIMS;
    }
    search->kept = kept ? program->machines[0] : NULL;
    search->processors = kept ? most_processors(search) : search->ranks;
}

// Evenly over all processors, the first and the last among them.
static void choose_samples(Search *search) {
    const int64_t count = min_i64(search->processors, MOST_SAMPLES);
    for (int64_t i = 0; i < count; i++)
        search->samples[i] = count == search->processors ? i : i * (search->processors - 1) / (count - 1);
    search->sample_count = (int)count;
}

Pipeline *search_pipeline(const Search *search, const Program *program, Diagnostics *diagnostics) {
    Pipeline *pipeline = pipeline_of(search->arena, program, search->ranks);
    pipeline->diagnostics = pipeline->scheduler.diagnostics = diagnostics;
    if (search->options->least_steps > 0)
        pipeline->least_steps = search->options->least_steps;
    return pipeline;
}

// As its default is: with the workspaces of products.
static bool read_statements(Search *search, Diagnostics *diagnostics) {
    const Program *program = search->program;
    Pipeline *pipeline = search_pipeline(search, program, diagnostics);
    if (!pipeline_run(pipeline, search->any_sparse ? PASS_SPMD : PASS_SCHEDULE) ||
        (search->any_sparse && !known_create(search, pipeline, diagnostics)))
        return false;
    search->statements = arena_array(search->arena, SearchStatement, program->statement_count);
    for (int s = 0; s < program->statement_count; s++) {
        const StatementPasses *passes = &pipeline->statements[s];
        SearchStatement *statement = &search->statements[s];
        statement->statement = &program->statements[s];
        statement->index = s;
        statement->kept = program->statements[s].command_count > 0;
        statement->executions = (double)program_executions(program, s, search->params);
        if (!search->fused)
            workspaces_write(search, statement, &passes->defaults);
        const int count = statement->default_count;
        statement->cin = count > 0 ? passes->defaults.items[count - 1].cin : passes->cin;
        read_nests(search, statement, passes->spmd);
        spans_find(search, statement);
        for (int a = 0; a < statement->access_count; a++)
            statement->tiled |= search->tensors[statement->accesses[a].access->tensor->id].in_disk;
        statement->tiled = statement->tiled && statement->nest_count == 1 && count == 0 && !statement->sparse;
    }
    return true;
}

// Those of a matrix product of some hundred rows, and of messages of a megabyte between all ranks.
static void take_rates(Search *search) {
    enum { ROWS = 256, REAL_BYTES = 8, MESSAGE = 1 << 20, LARGE = 1 << 30 };
    const ModelRanks *model = &search->model;
    int level = 0;
    while (level + 1 < model->machine->level_count && model->in_unit[level] >= (double)search->ranks)
        level++;
    search->rates = (CostRates){
        model_rate(model, MODEL_GEMM, ROWS, REAL_BYTES), model_rate(model, MODEL_SPARSE, 1, REAL_BYTES),
        MESSAGE / model_message_seconds(model, level, 1, MESSAGE),
        model->machine->levels[level].latency + model->machine->overhead,
        fmax(model_disk_rate(model, false, LARGE), model_disk_rate(model, true, LARGE))};
}

bool search_create(Search *search, Diagnostics *diagnostics) {
    if (!check_program(search->program, diagnostics))
        return false;
    int64_t *params = program_param_values(search->program, search->arena);
    search->params = params;
    read_machines(search, params);
    search->model = model_ranks(search->options->model, search->ranks, search->options->threads);
    take_rates(search);
    search->limit = search->options->memory_limit;
    if (search->limit <= 0 && search->options->model_limits && search->model.memory < (double)INT64_MAX)
        search->limit = (int64_t)search->model.memory;
    search->disk = search->model.disk;
    choose_samples(search);
    read_tensors(search);
    return read_statements(search, diagnostics);
}
