// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run.h"

#include "base/integer.h"
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/memory.h"
#include "cli/schedule.h"
#include "cli/start.h"
#include "memory/gpu.h"
#include "runtime/divide_entries.h"
#include "runtime/gpu_ranks.h"
#include "runtime/gpu_sums.h"
#include "runtime/load.h"
#include "runtime/wait.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// Rank 0 reads the program; the others get its text. Collective.
static bool share_program(Session *session) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool ok = rank != 0 || (session_load(session) && schedule_take(session, session->ranks));
    // What is wrong with a program that the first rank alone has looked at.
    Diagnostics *diagnostics =
        !ok && session->pipeline ? session->pipeline->diagnostics : session->diagnostics;
    if (!agree_on(MPI_COMM_WORLD, ok, diagnostics))
        return false;
    int64_t length = rank == 0 ? (int64_t)strlen(session->source.text) : 0;
    broadcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (length > INT_MAX - 1)
        return diagnostics_error(session->diagnostics, (Span){0}, "the program is too long");
    char *text = arena_alloc(session->arena, (size_t)length + 1);
    if (rank == 0)
        memcpy(text, session->source.text, (size_t)length);
    broadcast(text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD);
    session->source = (Source){session_source_name(session->options), text};
    return true;
}

static ExitStatus compute(Run *run) {
    ExitStatus status = EXIT_FAILED;
    if (bindings_writable(run) && run_prepare(run) && run_load_inputs(run)) {
        const bool ok = run_statements(run);
        bool right = true;
        for (int i = 0; ok && i < run->pipeline->program->statement_count; i++)
            right = right && (!run->statements[i].report.checked || run->statements[i].report.check_ok);
        if (ok && run_finish(run, right) && right)
            status = EXIT_FINE;
    }
    run_release(run);
    return status;
}

// In the shares that the ranks read, which then go to their homes. Without --in, generators give the inputs;
// a tensor that no statement reads has no entries, and parts of equal length are assumed.
static bool divide_share(void *context, const BalanceTask *task, const BoundariesArray *known,
                         const Boundaries **boundaries) {
    const Run *run = context;
    Session *session = run->session;
    const Tensor *tensor = task->tensor;
    Entries *share = &run->shares[tensor->id];
    const int64_t limit = session->options->memory_limit > 0 ? session->options->memory_limit : INT64_MAX;
    if (!program_is_input(run->pipeline->program, tensor))
        return true;
    if (share->order == 0) {
        *share = session_no_entries(session, tensor);
        if (!load_share(&run->bindings.sources[tensor->id], tensor->name, false, limit, share, MPI_COMM_WORLD,
                        session->diagnostics))
            return false;
    }
    *boundaries = divide_entries(&task->division, known, tensor->name, share, MPI_COMM_WORLD, session->arena,
                                 session->diagnostics);
    return *boundaries != NULL;
}

// Before the plan is made, which says what neighbours read.
static void find_neighbours(Run *run) {
    const Options *options = run->session->options;
    PlanOptions *plan = &run->session->pipeline->plan_options;
    if (options->shared_memory == SHARED_MEMORY_OFF || run->ranks == 1)
        return;
    run->neighbours = neighbours_create(MPI_COMM_WORLD, options->node_ranks);
    if (!run->neighbours)
        return;
    plan->nodes = neighbours_nodes(run->neighbours);
    if (pipeline_uses_gpu_memory(run->session->pipeline))
        neighbours_try_gpus(run->neighbours);
    plan->gpu_nodes = neighbours_open_gpus(run->neighbours);
}

// After GPU-aware MPI has been chosen, and before the plan is made.
static bool choose_gpu_sums(Run *run) {
    Diagnostics *diagnostics = run->session->diagnostics;
    PlanOptions *plan = &run->session->pipeline->plan_options;
    if (!pipeline_uses_gpu_memory(run->session->pipeline))
        return true;
    const bool ok = gpu_ranks_count(MPI_COMM_WORLD, &run->gpus, diagnostics) &&
                    gpu_sums_choose(MPI_COMM_WORLD, plan->gpu_messages, run->gpus, &plan->gpu_sums,
                                    &run->no_gpu_sums, diagnostics);
    run->session->failed = run->session->failed || !ok;
    return ok;
}

static void find_node(Run *run) {
    int rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, run->rank, MPI_INFO_NULL, &run->node);
    MPI_Comm_rank(run->node, &rank);
    gpu_set_rank_on_node(rank);
}

// Between MPI_Init and MPI_Finalize. All ranks return the same.
static ExitStatus run_ranks(Session *session) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Run run = {.session = session, .node = MPI_COMM_NULL, .rank = rank, .ranks = ranks};
    bool ok = true;
    if (session->options->ranks > 0 && session->options->ranks != ranks)
        ok = diagnostics_error(session->diagnostics, (Span){0},
                               "--ranks %lld, but the launcher has started %d process%s",
                               (long long)session->options->ranks, ranks, ranks == 1 ? "" : "es");
    session->ranks = ranks;
    ok = ok && (session->source.text || share_program(session));
    ok = ok && session_compile(session, PASS_C);
    run.pipeline = session->pipeline;
    ok = ok && bindings_create(session, &run.bindings);
    if (agree(MPI_COMM_WORLD, ok)) {
        run.shares = arena_array(session->arena, Entries, run.pipeline->program->tensor_count);
        ok = session_balance(session, divide_share, &run);
        find_node(&run);
        ok = session_choose_gpu_messages(session, true) && choose_gpu_sums(&run) && ok;
        find_neighbours(&run);
    }
    ok = ok && session_compile(session, PASS_PLAN) && (rank > 0 || session_warn(session));
    ExitStatus status = ok ? EXIT_FINE : session_failure(session);
    if (agree(MPI_COMM_WORLD, ok))
        status = compute(&run);
    else if (ok)
        status = EXIT_FAILED;
    for (int t = 0; run.shares && t < run.pipeline->program->tensor_count; t++)
        entries_free(&run.shares[t]);
    neighbours_free(run.neighbours);
    if (run.node != MPI_COMM_NULL)
        MPI_Comm_free(&run.node);
    // Before any rank ends, as a launcher may end the others then.
    if (rank == 0)
        session_report(session);
    session->reported = true;
    fflush(NULL);
    return status;
}

// Whether ranks read entries before they plan, as parts are balanced by these.
static bool is_balanced(const Session *session) {
    BalanceTaskArray tasks = {0};
    pipeline_balance_tasks(session->pipeline, session->arena, &tasks);
    return tasks.count > 0;
}

// What ranks need, where that is known before they have read anything.
static bool may_fit(Session *session) {
    if (is_balanced(session))
        return true;
    memory_fit_defaults(session);
    return memory_within_limit(session, true);
}

static ExitStatus run(Session *session) {
    if (session->options->machine && !session->options->automatic) {
        diagnostics_error(
            session->diagnostics, (Span){0},
            "--machine is for predictions: give --auto as well, or use 'distal plan' or 'distal "
            "schedule'");
        return EXIT_WRONG;
    }
    start_prepare(session);
    if (launch_is_inside())
        return start_here(session, run_ranks);
    // Mistakes are found before anything is launched.
    Bindings bindings;
    if (!schedule_take(session, session->ranks) || !session_compile(session, PASS_C) ||
        !launch_fits(session) || !bindings_create(session, &bindings) ||
        !session_choose_gpu_messages(session, false) || !session_compile(session, PASS_PLAN) ||
        !session_warn(session))
        return session_failure(session);
    if (!may_fit(session))
        return EXIT_FAILED;
    return start(session, session->pipeline->ranks, run_ranks);
}

const Subcommand subcommand_run = {
    .name = "run",
    .arguments = "FILE",
    .summary = "compile, launch, read inputs, compute, write outputs",
    .text =
        "Starts its own processes through `mpirun`, or through what DISTAL_MPIRUN names (a launcher with its "
        "options, to which -n N is added), unless it is already running under an MPI launcher. Prints scalar "
        "outputs that --out does not name. Other environment variables: DISTAL_CC and DISTAL_CFLAGS (the C "
        "compiler and its flags), DISTAL_CC_TIMEOUT (the seconds that it may take, 300), XDG_CACHE_HOME "
        "(compiled kernels are kept there, under distal/).",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_IN | 1u << OPTION_OUT |
               1u << OPTION_IN_PLACE | 1u << OPTION_PRINT | 1u << OPTION_CHECK | 1u << OPTION_REPEAT |
               1u << OPTION_WARMUP | 1u << OPTION_MEMORY_LIMIT | 1u << OPTION_GPU_MEMORY_LIMIT |
               1u << OPTION_SCRATCH | 1u << OPTION_DIRECT | 1u << OPTION_PIPELINE |
               1u << OPTION_SHARED_MEMORY | 1u << OPTION_AUTO | 1u << OPTION_MACHINE |
               1u << OPTION_OVERSUBSCRIBE | 1u << OPTION_STATS | 1u << OPTION_WARNING,
    .run = run,
};
