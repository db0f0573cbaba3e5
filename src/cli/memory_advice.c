// SPDX-License-Identifier: BSD-3-Clause
// Suggests changes with which a program would fit into memory: no --check, one thread, smaller values of a
// param that only the schedule uses, greater values of params that give the machine its size. Each is tried
// by planning the program again, and suggested only if that plan fits.
#include "base/clock.h"
#include "base/integer.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "pipeline/peaks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Planning for many more ranks or steps takes long, so advice has a time limit.
static const double MAX_SECONDS = 3;
enum { MAX_HALVINGS = 40, MAX_DOUBLINGS = 10 };

// What depends on a param of the program.
typedef enum { ROLE_SIZE, ROLE_MACHINE, ROLE_SCHEDULE } Role;

typedef struct {
    const Session *session;
    MemoryId kind;
    int64_t limit, ranks_of_node, threads;
    double deadline, slowest;    // seconds: when to stop; what one plan has taken at most
    Array(ParamOverride) params; // of the plan that is tried
} Advice;

static void set(Advice *advice, const char *name, int64_t value) {
    for (int64_t i = 0; i < advice->params.count; i++)
        if (strcmp(advice->params.items[i].name, name) == 0) {
            advice->params.items[i].value = value;
            return;
        }
    array_push(advice->session->arena, advice->params, ((ParamOverride){name, value}));
}

static void reset(Advice *advice) {
    advice->params.count = 0;
    const Options *options = advice->session->options;
    for (int64_t i = 0; i < options->params.count; i++)
        set(advice, options->params.items[i].name, options->params.items[i].value);
}

static bool same_extents(int count, const IntExpr *const *a, const int64_t *a_params, const IntExpr *const *b,
                         const int64_t *b_params) {
    for (int i = 0; i < count; i++) {
        int64_t x, y;
        if (!int_eval(a[i], a_params, NULL, &x) || !int_eval(b[i], b_params, NULL, &y) || x != y)
            return false;
    }
    return true;
}

// The role of a param, from the program with another value of it.
static Role role_in(const Pipeline *changed, const Session *session) {
    const Program *now = session->pipeline->program, *then = changed->program;
    const int64_t *a = program_param_values(now, session->arena);
    const int64_t *b = program_param_values(then, session->arena);
    for (int t = 0; t < now->tensor_count; t++)
        if (!same_extents(now->tensors[t]->order, now->tensors[t]->extents, a, then->tensors[t]->extents, b))
            return ROLE_SIZE;
    for (int m = 0; m < now->machine_count; m++)
        if (!same_extents(now->machines[m]->order, now->machines[m]->extents, a, then->machines[m]->extents,
                          b))
            return ROLE_MACHINE;
    return ROLE_SCHEDULE;
}

// Runs the passes up to `last` on the program with the params that are set; NULL where that fails. It lives
// in `arena`.
static Pipeline *compile(const Advice *advice, int64_t ranks, Pass last, Arena *arena) {
    Pipeline *pipeline = pipeline_create(arena, advice->session->source, advice->params.items,
                                         (int)advice->params.count, ranks);
    pipeline_take_options(pipeline, advice->session->pipeline);
    pipeline->plan_options.threads = advice->threads;
    return pipeline_run(pipeline, last) ? pipeline : NULL;
}

// `follows` is set for the params that change with it.
static Role role_of(Advice *advice, int index, bool *follows) {
    const Program *program = advice->session->pipeline->program;
    const Param *param = &program->params[index];
    int64_t other;
    if (param->value < 1 || !checked_mul(param->value, 2, &other))
        return ROLE_SIZE;
    reset(advice);
    set(advice, param->name, other);
    Arena *arena = arena_create_within(advice->session->arena);
    const Pipeline *changed = compile(advice, advice->session->pipeline->ranks, PASS_PROGRAM, arena);
    const Role role = changed ? role_in(changed, advice->session) : ROLE_SIZE;
    for (int i = 0; role == ROLE_MACHINE && i < program->param_count; i++)
        follows[i] |= i != index && changed->program->params[i].value != program->params[i].value;
    arena_free(arena);
    return role;
}

// What the rank with the largest peak needs with the params that are set, -1 if there is no such plan. *ranks
// is set to the number of ranks, where it is 0 (as many as the machine has).
static int64_t try_plan(Advice *advice, const Options *options, int64_t *ranks) {
    int64_t most = -1;
    const double start = clock_seconds();
    Arena *arena = arena_create_within(advice->session->arena);
    const Pipeline *pipeline = compile(advice, *ranks, PASS_PLAN, arena);
    if (pipeline) {
        most = memory_peak(pipeline, options, advice->kind, -1).bytes;
        *ranks = pipeline->ranks;
    }
    arena_free(arena);
    advice->slowest = fmax(advice->slowest, clock_seconds() - start);
    return most;
}

static bool fits(const Advice *advice, int64_t bytes) {
    return bytes >= 0 && bytes <= advice->limit;
}

// The next plan may take twice as long as those before.
static bool is_late(const Advice *advice) {
    return clock_seconds() + 2 * advice->slowest > advice->deadline;
}

static void add_note(const Advice *advice, const char *change, int64_t bytes) {
    diagnostics_note(advice->session->diagnostics, (Span){0}, "%s, no rank would need more than %s", change,
                     report_bytes(bytes, advice->session->arena));
}

// Buffers on a rank of the statements that are executed together.
static int64_t buffers_together(const Advice *advice, int first, int last, int64_t rank) {
    const Pipeline *pipeline = advice->session->pipeline;
    int64_t bytes = 0;
    for (int s = first; s < last; s++) {
        const StatementPlan *plan = pipeline->plan->statements[s];
        const StatementFigures *figures = plan_figures(plan);
        for (int t = 0; t < figures->tensor_count; t++)
            bytes = saturated_add(bytes, advice->kind == MEMORY_GPU
                                             ? figures->tensors[t].gpu_buffer_bytes[rank]
                                             : figures->tensors[t].known_buffer_bytes[rank]);
        if (advice->kind == MEMORY_GPU && plan->spmd->on_gpu) // on the host they are among the buffers
            bytes = saturated_add(bytes, plan_rows_bytes(plan));
    }
    return bytes;
}

// The number of times that buffers have to be halved at least before every rank fits.
static int halvings_needed(const Advice *advice) {
    const Pipeline *pipeline = advice->session->pipeline;
    int most = 0;
    int first, last;
    for (int next = 0; next < pipeline->program->statement_count; next = last) {
        peaks_together(pipeline, next, &first, &last);
        for (int64_t rank = 0; rank < pipeline->ranks; rank++) {
            const int64_t buffers = buffers_together(advice, first, last, rank);
            const int64_t all =
                memory_peak_together(pipeline, advice->session->options, first, last, advice->kind, rank)
                    .bytes;
            int count = 0;
            for (int64_t left = buffers; all - buffers + left > advice->limit && count <= MAX_HALVINGS;
                 count++)
                left /= 2;
            most = count > most ? count : most;
        }
    }
    return most;
}

static bool try_smaller_pieces(Advice *advice, const Param *param) {
    int64_t value = param->value;
    const int least = halvings_needed(advice);
    for (int i = 1; i <= MAX_HALVINGS && value > 1 && !is_late(advice); i++) {
        value = ceil_div(value, 2);
        if (i < least)
            continue;
        reset(advice);
        set(advice, param->name, value);
        int64_t ranks = advice->session->pipeline->ranks;
        const int64_t bytes = try_plan(advice, advice->session->options, &ranks);
        if (fits(advice, bytes)) {
            add_note(advice, arena_printf(advice->session->arena, "with -p %s=%" PRId64, param->name, value),
                     bytes);
            return true;
        }
    }
    return false;
}

// Doubles the params one after the other until it fits; without params, the number of ranks.
static bool try_more_ranks(Advice *advice, const Param *const *params, int count) {
    const Session *session = advice->session;
    int64_t *values = arena_array(session->arena, int64_t, count), ranks = session->pipeline->ranks;
    for (int i = 0; i < count; i++)
        values[i] = params[i]->value;
    for (int step = 0; step < MAX_DOUBLINGS && !is_late(advice); step++) {
        int64_t tried = 0;
        if (count == 0)
            tried = ranks *= 2;
        else
            values[step % count] *= 2;
        reset(advice);
        Text change = text_create(session->arena);
        text_append(&change, "with");
        for (int i = 0; i < count; i++) {
            if (values[i] == params[i]->value)
                continue;
            set(advice, params[i]->name, values[i]);
            text_printf(&change, " -p %s=%" PRId64, params[i]->name, values[i]);
        }
        const int64_t bytes = try_plan(advice, session->options, &tried);
        if (fits(advice, bytes)) {
            if (count == 0)
                text_printf(&change, " -n %" PRId64, tried);
            else
                text_printf(&change, " on %" PRId64 " ranks", tried);
            if (advice->ranks_of_node > 0)
                text_printf(&change, ", still %" PRId64 " on each node", advice->ranks_of_node);
            add_note(advice, text_string(&change), bytes);
            return true;
        }
    }
    return false;
}

static bool try_without_check(Advice *advice) {
    if (!advice->session->options->check || advice->kind != MEMORY_HOST)
        return false;
    Options options = *advice->session->options;
    options.check = CHECK_NONE;
    const int64_t most = memory_peak(advice->session->pipeline, &options, MEMORY_HOST, -1).bytes;
    if (fits(advice, most))
        add_note(advice, "without --check", most);
    return fits(advice, most);
}

// With one thread there are no copies of results, and workspaces of one thread only.
static bool try_one_thread(Advice *advice) {
    int64_t ranks = advice->session->pipeline->ranks;
    if (advice->threads == 1 || advice->kind != MEMORY_HOST || is_late(advice))
        return false;
    const int64_t threads = advice->threads;
    reset(advice);
    advice->threads = 1;
    const int64_t bytes = try_plan(advice, advice->session->options, &ranks);
    advice->threads = threads;
    if (fits(advice, bytes))
        add_note(advice, "with --threads 1", bytes);
    return fits(advice, bytes);
}

void memory_advise(Session *session, MemoryId kind, int64_t limit, int64_t ranks_of_node) {
    Advice advice = {.session = session,
                     .kind = kind,
                     .limit = limit,
                     .ranks_of_node = ranks_of_node,
                     .threads = session->pipeline->plan->options.threads,
                     .deadline = clock_seconds() + MAX_SECONDS};
    const Program *program = session->pipeline->program;
    const int count = program->param_count;
    bool *follows = arena_array(session->arena, bool, count);
    Role *roles = arena_array(session->arena, Role, count);
    const Param **machine = arena_array(session->arena, const Param *, count);
    int machine_count = 0;
    bool found = try_without_check(&advice);
    found |= try_one_thread(&advice);
    for (int i = 1; i < count; i++) { // params[0] is the number of ranks
        roles[i] = role_of(&advice, i, follows);
        if (roles[i] == ROLE_SCHEDULE)
            found |= try_smaller_pieces(&advice, &program->params[i]);
    }
    for (int i = 1; i < count; i++)
        if (roles[i] == ROLE_MACHINE && !follows[i])
            machine[machine_count++] = &program->params[i];
    if (machine_count > 0 || program_uses_ranks(program, session->arena))
        found |= try_more_ranks(&advice, machine, machine_count);
    if (!found)
        diagnostics_note(session->diagnostics, (Span){0},
                         "less memory is needed if tensors are placed on more ranks, or are communicated in "
                         "smaller pieces (split a loop and communicate inside it)");
}
