// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/predict.h"
#include "cli/report.h"
#include "cli/run.h"
#include "plan/structures.h"
#include "plan/transfer_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The sparse inputs that --in gives, by tensor id, until the plan is made; `is_given` false: others.
typedef struct {
    bool is_given;
    Entries entries;
} Given;

typedef struct {
    Session *session;
    const Bindings *bindings;
    Given *given;
    int64_t limit;
} Inputs;

static bool refuse(const Inputs *inputs, const Tensor *tensor, const char *why) {
    return !why || diagnostics_error(inputs->session->diagnostics, (Span){0},
                                     "tensor %s cannot be stored: %s", tensor->name, why);
}

// Reads the entries of a sparse input that --in gives, once; `is_given` stays false of another tensor. Dense
// inputs say nothing that a plan depends on.
static bool read_given(const Inputs *inputs, const Tensor *tensor) {
    Given *given = &inputs->given[tensor->id];
    if (given->is_given)
        return true;
    const bool read =
        session_given_entries(inputs->session, inputs->bindings, tensor, inputs->limit, &given->entries);
    given->is_given = given->entries.order > 0;
    return read;
}

static bool divide_given(void *context, const BalanceTask *task, const BoundariesArray *known,
                         const Boundaries **boundaries) {
    const Inputs *inputs = context;
    const Given *given = &inputs->given[task->tensor->id];
    if (!read_given(inputs, task->tensor))
        return false;
    return !given->is_given ||
           refuse(inputs, task->tensor,
                  balance_whole(&task->division, known, &given->entries, inputs->session->arena, boundaries));
}

// After how many executions what ranks request once, to receive elements at entries only, is less than what
// they would receive more of whole footprints.
static void print_amortization(const StatementPlan *plan, int transfer, const EntryFigures *moved,
                               const int64_t *requested) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    const TransferFigures whole = transfer_figures(plan, transfer);
    int64_t requests = 0, saved = 0;
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        requests = saturated_add(requests, requested[rank]);
        saved = saturated_add(saved, whole.bytes[rank] - moved->elements[rank] * size);
    }
    if (requests == 0)
        return;
    const int64_t executions = saved > 0 ? ceil_div(requests, saved) : 0;
    fprintf(stderr, "distal: %s: requests of %" PRId64 " B, once, save ", tensor->name, requests);
    if (saved > 0)
        fprintf(stderr,
                "%" PRId64 " B of the footprint in each execution: amortized after %" PRId64 " execution%s\n",
                saved, executions, executions == 1 ? "" : "s");
    else
        fprintf(stderr, "nothing of the footprint\n");
}

static bool count_statement(const Inputs *inputs, Structures *structures, int statement) {
    Plan *whole = inputs->session->pipeline->plan;
    const StatementPlan *plan = whole->statements[statement];
    const Tensor *tensor;
    structures_estimate(structures, whole, statement, true);
    const char *why = structures_count(structures, whole, statement, &tensor);
    if (why)
        return refuse(inputs, tensor, why);
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const EntryFigures *moved = structures_moved(structures, t);
        const int64_t *requests = structures_requests(structures, t);
        if (moved && requests && inputs->session->options->verbose)
            print_amortization(plan, t, moved, requests);
    }
    return true;
}

static bool count_structures(const Inputs *inputs, Structures *structures) {
    const Pipeline *pipeline = inputs->session->pipeline;
    Plan *plan = pipeline->plan;
    for (int t = 0; t < pipeline->program->tensor_count; t++) {
        Given *given = &inputs->given[t];
        if (!read_given(inputs, plan->tensors[t]) ||
            (given->is_given &&
             !refuse(inputs, plan->tensors[t], structures_put(structures, t, &given->entries))))
            return false;
    }
    for (int s = 0; s < plan->statement_count; s++)
        if (!count_statement(inputs, structures, s))
            return false;
    structures_count_stored(structures, plan);
    return true;
}

// Ranks that follow each other are on a node.
static void place_on_nodes(const Session *session) {
    const Options *options = session->options;
    const int64_t ranks = pipeline_ranks(session->pipeline);
    const int64_t each = options->node_ranks ? options->node_ranks : ranks;
    if (options->shared_memory != SHARED_MEMORY_ON || ranks > PLAN_MAX_RANKS)
        return;
    int64_t *nodes = arena_array(session->arena, int64_t, ranks);
    for (int64_t rank = 0; rank < ranks; rank++)
        nodes[rank] = rank / each;
    session->pipeline->plan_options.nodes = nodes;
    session->pipeline->plan_options.gpu_nodes = true;
}

// Reads what --in gives, and makes the plan.
static bool plan_given(Session *session, const Bindings *bindings) {
    const Pipeline *pipeline = session->pipeline;
    // Workspaces have an id after those of the program.
    const int64_t count = pipeline->program->tensor_count + pipeline->scheduler.workspaces.count;
    const int64_t limit = session->options->memory_limit;
    const Inputs inputs = {.session = session,
                           .bindings = bindings,
                           .given = arena_array(session->arena, Given, count),
                           .limit = limit > 0 ? limit : INT64_MAX};
    bool ok = session_balance(session, divide_given, (void *)&inputs) && session_compile(session, PASS_PLAN);
    if (ok) {
        memory_fit_defaults(session);
        Structures *structures = structures_create(pipeline->plan, inputs.limit, session->arena);
        ok = count_structures(&inputs, structures);
        structures_free(structures);
        session->failed = !ok;
    }
    for (int64_t t = 0; t < count; t++)
        entries_free(&inputs.given[t].entries);
    return ok;
}

static ExitStatus plan(Session *session) {
    Bindings bindings;
    if (!session_compile(session, PASS_C) || !bindings_create(session, &bindings) ||
        !session_choose_gpu_messages(session, false))
        return session_failure(session);
    place_on_nodes(session);
    if (!plan_given(session, &bindings) || !session_warn(session))
        return session_failure(session);
    memory_fit_pipeline(session);
    const ModelRanks *machine = session->options->machine ? predict_machine(session) : NULL;
    if (session->options->machine && !machine)
        return EXIT_WRONG;
    Text text = text_create(session->arena);
    if (session->options->stats == STATS_JSON)
        report_json(session->pipeline, NULL, machine, &text);
    else
        report_table(session->pipeline, NULL, machine, &text);
    const ExitStatus status = session_print(session, &text);
    return status == EXIT_FINE && !memory_within_limit(session, true) ? EXIT_FAILED : status;
}

const Subcommand subcommand_plan = {
    .name = "plan",
    .arguments = "FILE",
    .summary = "print messages and memory of each rank, without data and without MPI",
    .text =
        "Lists for each tensor the pattern of its communication, the loop at which it is communicated, the "
        "number of steps, the bytes and messages that a rank receives (for reductions: sends), and the bytes "
        "at home and in buffers; for each statement, flop and the peak memory of a rank. With --threads N "
        "the memory includes the copies of results that N threads add to (`parallelize` with `reduction`). "
        "What a sparse tensor stores is known where --in gives it; inputs of dense tensors are not read. "
        "With "
        "--machine FILE it predicts for each statement how long a described machine takes, of which "
        "computing, memory, network and disk, and gives a lower bound of what has to move.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_THREADS | 1u << OPTION_IN | 1u << OPTION_IN_PLACE |
               1u << OPTION_STATS | 1u << OPTION_MEMORY_LIMIT | 1u << OPTION_GPU_MEMORY_LIMIT |
               1u << OPTION_PIPELINE | 1u << OPTION_SHARED_MEMORY | 1u << OPTION_WARNING |
               1u << OPTION_MACHINE,
    .run = plan,
};
