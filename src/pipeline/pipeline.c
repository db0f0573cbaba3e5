// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/pipeline.h"

#include "distal_kernel.h"
#include "emit/emit.h"
#include "jit/hash.h"
#include "loop/passes.h"
#include "lower/loops.h"
#include "lower/lower.h"
#include "pipeline/place.h"
#include "plan/verify.h"
#include "schedule/positions.h"
#include "schedule/reductions.h"

#include <inttypes.h>

const char *const pass_names[] = {"program", "cin", "schedule", "spmd", "loops", "c", "plan"};

static bool internal_error(Diagnostics *diagnostics, Span span, Pass pass, const char *why) {
    return diagnostics_error(diagnostics, span,
                             "internal error: '%s' made something that is not well formed: %s",
                             pass_names[pass], why);
}

static void take_program(Pipeline *pipeline) {
    const int count = pipeline->program->statement_count;
    pipeline->scheduler = (Scheduler){.arena = pipeline->arena,
                                      .diagnostics = pipeline->diagnostics,
                                      .symbols = program_symbols(pipeline->program)};
    pipeline->params = program_param_values(pipeline->program, pipeline->arena);
    pipeline->statements = arena_array(pipeline->arena, StatementPasses, count);
    for (int i = 0; i < count; i++) {
        pipeline->statements[i].statement = &pipeline->program->statements[i];
        pipeline->statements[i].function = arena_printf(pipeline->arena, "distal_kernel_%d", i);
    }
}

static bool parse(Pipeline *pipeline) {
    pipeline->program = program_parse(pipeline->arena, pipeline->source, pipeline->overrides,
                                      pipeline->override_count, pipeline->ranks, pipeline->diagnostics);
    if (pipeline->program)
        take_program(pipeline);
    return pipeline->program != NULL;
}

static bool create_cin(Pipeline *pipeline, StatementPasses *passes) {
    const Assignment *assignment = passes->statement->assignment;
    passes->cin = schedule_reductions(&pipeline->scheduler, assignment);
    const char *why;
    if (!passes->cin)
        return false;
    pipeline->reduction_count = pipeline->scheduler.workspaces.count;
    return cin_verify(passes->cin, &why) ||
           internal_error(pipeline->diagnostics, assignment->span, PASS_CIN, why);
}

static bool schedule(Pipeline *pipeline, StatementPasses *passes) {
    const Statement *statement = passes->statement;
    const int done = (int)passes->stages.count;
    const Cin *cin = done ? passes->stages.items[done - 1] : passes->cin;
    const char *why;
    for (int i = done; i < statement->command_count; i++) {
        const Command *command = &statement->commands[i];
        cin = schedule_apply(&pipeline->scheduler, command, cin);
        if (!cin)
            return false;
        if (!cin_verify(cin, &why))
            return internal_error(pipeline->diagnostics, command->span, PASS_SCHEDULE, why);
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(pipeline->arena, passes->stages, cin);
    }
    if (statement->command_count == 0)
        schedule_products(&pipeline->scheduler, cin, pipeline->params, pipeline->least_steps,
                          pipeline->most_elements, &passes->defaults);
    if (passes->defaults.count > 0)
        cin = passes->defaults.items[passes->defaults.count - 1].cin;
    passes->place = place_choose(pipeline, cin);
    passes->scheduled = NULL;
    if (passes->place.best && statement->command_count == 0)
        passes->scheduled = schedule_at(cin, passes->place.best);
    if (!passes->scheduled)
        passes->scheduled = schedule_defaults(schedule_positions(cin));
    if (passes->scheduled && !cin_verify(passes->scheduled, &why))
        return internal_error(pipeline->diagnostics, statement->assignment->span, PASS_SCHEDULE, why);
    return passes->scheduled != NULL;
}

static bool make_spmd(Pipeline *pipeline, StatementPasses *passes) {
    passes->spmd = lower(passes->scheduled, pipeline->params, pipeline->diagnostics);
    const char *why;
    if (passes->spmd && !spmd_verify(passes->spmd, &why))
        return internal_error(pipeline->diagnostics, passes->statement->assignment->span, PASS_SPMD, why);
    return passes->spmd != NULL;
}

static bool make_loops(Pipeline *pipeline, StatementPasses *passes) {
    const Program *program = pipeline->program;
    const char *why, *pass;
    passes->lowered =
        lower_loops(passes->spmd, program->param_names, program->param_count, pipeline->diagnostics);
    if (!passes->lowered ||
        !lower_structure(passes->spmd, program->param_names, program->param_count, pipeline->params,
                         pipeline->diagnostics, &passes->lowered_structure))
        return false;
    passes->structure = NULL; // of another schedule
    passes->loops = loop_run_passes(passes->lowered, loop_pass_count(), &pass, &why);
    if (passes->loops && passes->lowered_structure)
        passes->structure = loop_run_passes(passes->lowered_structure, loop_pass_count(), &pass, &why);
    return (passes->loops && !passes->lowered_structure == !passes->structure) ||
           internal_error(pipeline->diagnostics, passes->statement->assignment->span, PASS_LOOPS,
                          arena_printf(pipeline->arena, "%s: %s", pass, why));
}

static const Spmd *const *spmds(const Pipeline *pipeline) {
    const Spmd **list = arena_array(pipeline->arena, const Spmd *, pipeline->program->statement_count);
    for (int i = 0; i < pipeline->program->statement_count; i++)
        list[i] = pipeline->statements[i].spmd;
    return list;
}

static bool uses_gpu(const Pipeline *pipeline) {
    bool gpu = false;
    for (int i = 0; i < pipeline->program->statement_count; i++)
        gpu = gpu || pipeline->statements[i].spmd->on_gpu;
    return gpu;
}

bool pipeline_uses_gpu_memory(const Pipeline *pipeline) {
    bool uses = uses_gpu(pipeline);
    for (int t = 0; t < pipeline->program->tensor_count; t++) {
        const Placement *placement = pipeline->program->tensors[t]->placement;
        uses = uses || (placement && placement->memory == MEMORY_GPU);
    }
    return uses;
}

static void emit_named(Pipeline *pipeline, const StatementPasses *passes, const char *function, Text *to) {
    const Program *program = pipeline->program;
    Text title = text_create(pipeline->arena);
    statement_print(program, passes->statement, &title);
    EmitOptions options = {function, text_string(&title), uses_gpu(pipeline)};
    emit_function(passes->loops, &options, to);
    if (!passes->structure)
        return;
    options.function = arena_printf(pipeline->arena, "%s_structure", function);
    options.title = "The entries of the result.";
    emit_function(passes->structure, &options, to);
}

// A hash of the code of a function under a fixed name, by which a function compiled by the user is
// recognized.
static const char *function_id(Pipeline *pipeline, const StatementPasses *passes) {
    Text code = text_create(pipeline->arena);
    emit_named(pipeline, passes, "kernel", &code);
    const int abi = DISTAL_KERNEL_ABI;
    Hash hash = hash_create();
    hash_bytes(&hash, &abi, sizeof abi);
    hash_string(&hash, text_string(&code));
    return arena_printf(pipeline->arena, "%016" PRIx64 "%016" PRIx64, hash.lanes[0], hash.lanes[1]);
}

// What distal_use takes besides the function.
static void emit_compiled(const StatementPasses *passes, bool gpu, Text *to) {
    const char *name = passes->function;
    text_append(to, gpu ? "#ifndef __CUDACC__\n" : "");
    text_printf(to, "extern const distal_kernel_function %s_assembly;\n", name);
    if (passes->structure)
        text_printf(to, "const distal_kernel_function %s_assembly = %s_structure;\n", name, name);
    else
        text_printf(to, "const distal_kernel_function %s_assembly = 0; // none is needed\n", name);
    text_printf(to, "extern const char %s_id[];\nconst char %s_id[] = \"%s\";\n", name, name, passes->id);
    text_append(to, gpu ? "#endif\n" : "");
}

static bool emit(Pipeline *pipeline) {
    const Program *program = pipeline->program;
    Text text = text_create(pipeline->arena);
    emit_prelude(uses_gpu(pipeline), &text);
    for (int i = 0; i < program->statement_count; i++) {
        StatementPasses *passes = &pipeline->statements[i];
        passes->id = function_id(pipeline, passes);
        text_append(&text, "\n");
        emit_named(pipeline, passes, passes->function, &text);
        emit_compiled(passes, uses_gpu(pipeline), &text);
    }
    pipeline->c_source = text_string(&text);
    return true;
}

// As many ranks as the machines and statements have processors.
static int64_t natural_ranks(const Pipeline *pipeline) {
    const Program *program = pipeline->program;
    return plan_natural_ranks(program->machine_count, program->machines, program->statement_count,
                              spmds(pipeline), pipeline->params);
}

bool pipeline_reorders_products(const StatementPasses *passes) {
    return passes->scheduled->part_count > 1 || passes->spmd->scales_sums;
}

int64_t pipeline_ranks(const Pipeline *pipeline) {
    if (pipeline->ranks > 0)
        return pipeline->ranks;
    return program_uses_ranks(pipeline->program, pipeline->arena) ? 1 : natural_ranks(pipeline);
}

int64_t pipeline_fewer_ranks(const Pipeline *pipeline, int64_t most) {
    return plan_fewer_ranks(most, pipeline->program->machine_count, pipeline->program->machines,
                            pipeline->params);
}

static bool verify_statements(Plan *plan, Diagnostics *diagnostics) {
    for (int s = 0; s < plan->statement_count; s++) {
        StatementPlan *statement = plan->statements[s];
        const char *why;
        if (plan_verify_is_quick(statement) && !plan_verify(statement, &why))
            return internal_error(diagnostics, statement->spmd->cin->assignment->span, PASS_PLAN, why);
    }
    return true;
}

const Tensor *const *pipeline_tensors(const Pipeline *pipeline, Arena *arena, int *count) {
    const Program *program = pipeline->program;
    const int workspaces = (int)pipeline->scheduler.workspaces.count;
    *count = program->tensor_count + workspaces;
    const Tensor **tensors = arena_array(arena, const Tensor *, *count);
    for (int t = 0; t < program->tensor_count; t++)
        tensors[t] = program->tensors[t];
    for (int w = 0; w < workspaces; w++)
        tensors[program->tensor_count + w] = pipeline->scheduler.workspaces.items[w];
    return tensors;
}

Plan *pipeline_plan(const Pipeline *pipeline, Arena *arena, const int64_t *params, PlanOptions options,
                    Diagnostics *diagnostics) {
    const Program *program = pipeline->program;
    int count;
    const Tensor *const *tensors = pipeline_tensors(pipeline, arena, &count);
    const Spmd **list = arena_array(arena, const Spmd *, program->statement_count);
    for (int i = 0; i < program->statement_count; i++)
        list[i] = pipeline->statements[i].spmd;
    // Workspaces have no homes yet.
    Home *homes = arena_array(arena, Home, count);
    HomeFile *files = arena_array(arena, HomeFile, count);
    for (int t = 0; t < program->tensor_count; t++) {
        if (options.homes)
            homes[t] = options.homes[t];
        if (options.files)
            files[t] = options.files[t];
    }
    options.homes = homes;
    options.files = files;
    options.param_names = program->param_names;
    // Machines that no statement uses count as well.
    const int64_t natural =
        plan_natural_ranks(program->machine_count, program->machines, program->statement_count, list, params);
    options.largest = options.largest > natural ? options.largest : natural;
    Plan *plan =
        plan_create(arena, count, tensors, program->statement_count, list, params, options, diagnostics);
    if (!plan || !DISTAL_VERIFY_PLANS || pipeline->verified)
        return plan;
    // The verifier makes the parts of all ranks, of which an execution has only its own.
    Arena *scratch = arena_create_within(arena);
    Plan *same =
        plan_create(scratch, count, tensors, program->statement_count, list, params, options, diagnostics);
    const bool fine = verify_statements(same, diagnostics);
    arena_free(scratch);
    return fine ? plan : NULL;
}

void pipeline_balance_tasks(Pipeline *pipeline, Arena *arena, BalanceTaskArray *tasks) {
    const Program *program = pipeline->program;
    pipeline->params[0] = pipeline_ranks(pipeline);
    balance_tasks(program->tensor_count, program->tensors, program->statement_count, spmds(pipeline),
                  pipeline->params, arena, tasks);
}

static bool make_plan(Pipeline *pipeline) {
    pipeline->ranks = pipeline_ranks(pipeline);
    pipeline->params[0] = pipeline->ranks;
    PlanOptions options = pipeline->plan_options;
    options.ranks = pipeline->ranks;
    pipeline->plan =
        pipeline_plan(pipeline, pipeline->arena, pipeline->params, options, pipeline->diagnostics);
    return pipeline->plan != NULL;
}

// A pass over the whole program, or over each statement; in the latter case mistakes in all of them are
// found.
typedef struct {
    bool (*whole)(Pipeline *pipeline);
    bool (*each)(Pipeline *pipeline, StatementPasses *passes);
} PassFunction;

static const PassFunction passes[PASS_COUNT] = {
    [PASS_PROGRAM] = {.whole = parse},    [PASS_CIN] = {.each = create_cin},
    [PASS_SCHEDULE] = {.each = schedule}, [PASS_SPMD] = {.each = make_spmd},
    [PASS_LOOPS] = {.each = make_loops},  [PASS_C] = {.whole = emit},
    [PASS_PLAN] = {.whole = make_plan},
};

static bool run_pass(Pipeline *pipeline, Pass pass) {
    if (passes[pass].whole)
        return passes[pass].whole(pipeline);
    bool all = true;
    for (int i = 0; i < pipeline->program->statement_count; i++)
        all &= passes[pass].each(pipeline, &pipeline->statements[i]);
    return all;
}

static Pipeline *new_pipeline(Arena *arena, Source source, int64_t ranks) {
    Pipeline *pipeline = arena_new(arena, Pipeline);
    pipeline->arena = arena;
    pipeline->source = source;
    pipeline->ranks = ranks;
    pipeline->least_steps = 1 << 14;
    pipeline->least_bytes = 1 << 14;
    pipeline->no_memory = diagnostics_create(arena, source);
    diagnostics_error(pipeline->no_memory, (Span){0}, "out of memory while compiling");
    return pipeline;
}

Pipeline *pipeline_create(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                          int64_t ranks) {
    Pipeline *pipeline = new_pipeline(arena, source, ranks);
    pipeline->overrides = overrides;
    pipeline->override_count = override_count;
    pipeline->diagnostics = diagnostics_create(arena, source);
    return pipeline;
}

Pipeline *pipeline_of(Arena *arena, const Program *program, int64_t ranks) {
    Pipeline *pipeline = new_pipeline(arena, program->source, ranks);
    pipeline->program = program;
    take_program(pipeline);
    pipeline->next = PASS_CIN;
    return pipeline;
}

// Forgets what has been scheduled, as workspaces that were added by default are removed.
static void schedule_again(Pipeline *pipeline) {
    pipeline->scheduler.workspaces.count = pipeline->reduction_count;
    for (int i = 0; i < pipeline->program->statement_count; i++)
        pipeline->statements[i].stages.count = pipeline->statements[i].defaults.count = 0;
}

void pipeline_take_options(Pipeline *pipeline, const Pipeline *from) {
    PlanOptions options = from->plan->options;
    if (pipeline->ranks != from->ranks) {
        options.nodes = NULL;
        options.gpu_nodes = false;
    }
    options.ranks = options.largest = 0;
    options.param_names = NULL;
    options.boundaries = NULL;
    options.unshared = NULL;
    options.homes = NULL;
    pipeline->plan_options = options;
}

bool pipeline_take_less(Pipeline *pipeline) {
    enum { FIRST_ELEMENTS = 1 << 22, FEWER = 8 };
    bool any = false;
    for (int i = 0; i < pipeline->program->statement_count; i++) {
        const StatementPasses *at = &pipeline->statements[i];
        any = any || at->defaults.count > 0 || (at->place.best && at->statement->command_count == 0);
    }
    // Parts that entries balance were found for the loops of now.
    const PlanOptions *now = &pipeline->plan->options;
    if (!any || (now->boundaries && now->boundaries->count > 0))
        return false;
    pipeline->plan_options.threads = now->threads; // which may have changed since the plan was made
    pipeline->plan_options.pipelined = now->pipelined;
    pipeline->least_bytes = INT64_MAX;
    pipeline->most_elements =
        (pipeline->most_elements > 0 ? pipeline->most_elements : FIRST_ELEMENTS) / FEWER;
    schedule_again(pipeline);
    pipeline->next = PASS_SCHEDULE;
    return pipeline_run(pipeline, PASS_PLAN);
}

void pipeline_extend(Pipeline *pipeline, const Program *program) {
    pipeline->program = program;
    pipeline->scheduler.symbols = program_symbols(program);
    for (int i = 0; i < program->statement_count; i++) {
        StatementPasses *at = &pipeline->statements[i];
        at->statement = &program->statements[i];
        if (at->defaults.count > 0 && at->statement->command_count > 0)
            schedule_again(pipeline);
        if (at->stages.count < at->statement->command_count && pipeline->next > PASS_SCHEDULE)
            pipeline->next = PASS_SCHEDULE;
    }
}

typedef struct {
    Pipeline *pipeline;
    Pass last;
    bool ok;
} PassesUpTo;

static void run_passes(void *arguments) {
    PassesUpTo *up_to = arguments;
    Pipeline *pipeline = up_to->pipeline;
    pipeline->scheduler.diagnostics = pipeline->diagnostics;
    for (; pipeline->next <= up_to->last; pipeline->next++) {
        up_to->ok = run_pass(pipeline, pipeline->next);
        if (!up_to->ok)
            return;
    }
}

bool pipeline_run(Pipeline *pipeline, Pass last) {
    PassesUpTo up_to = {pipeline, last, true};
    if (arena_attempt(pipeline->arena, run_passes, &up_to))
        return up_to.ok;
    pipeline->diagnostics = pipeline->no_memory;
    return false;
}
