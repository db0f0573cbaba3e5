// SPDX-License-Identifier: BSD-3-Clause
// Plans: a statement with values of params and tensors in memory, ready to be executed.
#include "api/plan.h"

#include "api/file.h"

#include "base/integer.h"
#include "memory/gpu.h"
#include "plan/shortage.h"
#include "runtime/contraction.h"
#include "runtime/gpu_messages.h"
#include "runtime/gpu_ranks.h"
#include "runtime/gpu_sums.h"
#include "runtime/wait.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

// Bytes that a rank needs in GPU memory: all that the plan has there, compared with a limit, or what is not
// there yet, compared with what is free.
typedef struct {
    int64_t needed, available, present;
    bool limited;
} GpuShortage;

typedef struct {
    distal_statement *statement;
    distal_plan *plan;
    const int64_t *params; // values by index
    TensorArray balancing;
    double seconds;
    int64_t threads; // the largest number of a rank
    bool ready;
    GpuShortage shortage; // of this rank, and then of the first one with the largest
    int short_rank;       // that one; -1: none
    PlannedProgram *made; // for a plan that is made again, until the plan has it
    bool replaced;        // the plan has it
    distal_plan **place;  // of the result
} PlanCall;

static distal_plan *plan_new(distal_context *context) {
    Arena *arena = arena_create_within(context->arena);
    distal_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        arena_free(arena);
        return NULL;
    }
    plan->context = context;
    plan->arena = arena;
    plan->next = context->plans;
    context->plans = plan;
    return plan;
}

// What does not depend on entries.
static distal_status begin_plan(distal_context *context, void *arguments) {
    PlanCall *call = arguments;
    if (!call->place)
        return invalid(context, "the place for the plan is NULL");
    distal_plan *plan = call->plan = plan_new(context);
    if (!plan)
        return out_of_memory(context);
    distal_statement *statement = call->statement;
    const distal_status status = statement_compile(statement);
    if (status != DISTAL_OK)
        return status;
    const distal_status changes = file_check_change(context, context_tensor(context, statement->target));
    if (changes != DISTAL_OK)
        return changes;
    call->params = context->build.param_values.items;
    plan->function = statement->function;
    plan->structure = statement->assembly;
    if (plan->function && strcmp(statement->function_id, statement->pipeline->statements[0].id) != 0)
        return invalid(context,
                       "the schedule of '%.60s' or the params have changed since distal_use_kernel: emit the "
                       "function again",
                       statement->text);
    balance_tensors(context, statement, call->params, context->scratch, &call->balancing);
    return DISTAL_OK;
}

// Collective where placements or loops are balanced by entries.
static distal_status find_boundaries(distal_context *context, void *arguments) {
    const PlanCall *call = arguments;
    return balance_statement(context, call->statement, call->params, call->balancing.count,
                             call->balancing.items);
}

static distal_status take_program(distal_context *context, void *arguments) {
    const PlanCall *call = arguments;
    (void)context;
    return planned_take(call->statement, &call->plan->program);
}

static bool take_tensor(distal_plan *plan, int id) {
    distal_tensor *tensor =
        context_tensor(plan->context, plan->program->statement->program.tensors[id]->name);
    Use *use = &plan->uses[id];
    use->tensor = tensor;
    tensor->references++;
    if (tensor->tensor->placement && tensor_check_home(plan->context, tensor) != DISTAL_OK)
        return false;
    if (!tensor->home.known) {
        use->placed_here = true;
        // The tensor may outlive the plan.
        tensor->home = home_copy(&plan->program->plan->homes[id], tensor->tensor, tensor->arena);
        tensor->home_changes++;
    }
    if (!tensor->storage) {
        if (!tensor_allocate(tensor, plan->context->diagnostics))
            return false;
        use->allocated_here = true;
    }
    plan->storages[id] = tensor->storage;
    use->memory = tensor->memory;
    if (tensor->spread)
        plan->storages[id] = use->copy =
            storage_create(&tensor->home, plan->context->rank, true, plan->context->scratch_files,
                           plan->context->diagnostics);
    return plan->storages[id] != NULL;
}

static bool take_workspace(distal_plan *plan, int id) {
    const Neighbours *neighbours = plan->context->neighbours;
    plan->program->plan->homes[id].shared = neighbours && neighbours_are_there(neighbours);
    plan->storages[id] = storage_create(&plan->program->plan->homes[id], plan->context->rank, true,
                                        plan->context->scratch_files, plan->context->diagnostics);
    return plan->storages[id] != NULL;
}

static distal_status prepare(distal_context *context, void *arguments) {
    const PlanCall *call = arguments;
    distal_plan *plan = call->plan;
    const Spmd *spmd = plan->statement->spmd;
    plan->tensor_count = plan->program->plan->tensor_count;
    plan->uses = arena_array(plan->arena, Use, plan->tensor_count);
    plan->storages = arena_array(plan->arena, Storage *, plan->tensor_count);
    for (int t = 0; t < spmd->transfer_count; t++) {
        const int id = spmd->transfers[t].access->tensor->id;
        const bool is_workspace = id >= plan->program->statement->tensors.count;
        if (!plan->storages[id] && !(is_workspace ? take_workspace(plan, id) : take_tensor(plan, id)))
            return DISTAL_FAILED;
    }
    PlannedProgram *program = plan->program;
    if (!program->has_parts)
        program->parts = execution_parts(plan->program->plan->statements[0], context->rank);
    program->has_parts = true;
    plan->parts = program->parts;
    execution_bind(&plan->parts, plan->statement, plan->storages, plan->arena);
    plan_prepare_entries(plan);
    return DISTAL_OK;
}

// Collective; includes an agreement on failures.
static distal_status assemble(distal_context *context, void *arguments) {
    const PlanCall *call = arguments;
    call->plan->execution = execution_assemble(call->ready ? &call->plan->parts : NULL,
                                               context->communicators, context->diagnostics);
    return call->plan->execution ? DISTAL_OK : DISTAL_FAILED;
}

// Returns tensors to their state before the plan, which all ranks do alike.
static void undo(const distal_plan *plan) {
    for (int t = 0; plan->uses && t < plan->tensor_count; t++) {
        const Use *use = &plan->uses[t];
        if (use->allocated_here)
            tensor_free_memory(use->tensor);
        if (use->placed_here) {
            use->tensor->home.known = false;
            use->tensor->home_changes++;
        }
    }
}

// Whether the plan has to allocate the home of a tensor: it has no memory yet, or only memory with strides
// that kernels do not support, or it is a workspace, which is no tensor of the context.
static bool is_missing(const distal_plan *plan, const Tensor *tensor) {
    const distal_tensor *own = context_tensor(plan->context, tensor->name);
    return !own || !own->storage || own->spread;
}

// Bytes of memory of the host that the plan needs on this rank: its buffers, and homes that are missing.
static int64_t missing_bytes(const distal_plan *plan) {
    StatementPlan *statement = plan->program->plan->statements[0];
    const int64_t rank = plan->context->rank, threads = statement->options.threads;
    int64_t bytes = statement->spmd->contracts ? contraction_space(threads) : 0;
    bool *used = arena_array(plan->arena, bool, plan->program->plan->tensor_count);
    for (int t = 0; t < statement->spmd->transfer_count; t++) {
        const Tensor *tensor = statement->spmd->transfers[t].statement_access->tensor;
        const RankTransfer *part = plan_rank_transfer(statement, t, rank);
        bytes = saturated_add(bytes, rank_buffer_bytes(part));
        bytes = saturated_add(
            bytes, transfer_copies_bytes(part->transfer, rank_copy_bytes(statement, part), threads));
        if (!used[tensor->id] && is_missing(plan, tensor))
            bytes = saturated_add(bytes, home_missing_bytes(plan->context, &statement->homes[tensor->id]));
        used[tensor->id] = true;
    }
    return bytes;
}

// Figures are the same on all ranks, so they are for the largest number of threads of a rank.
static distal_status count_threads(distal_context *context, void *arguments) {
    (void)context;
    const PlanCall *call = arguments;
    distal_plan *plan = call->plan;
    const distal_status status = planned_count_threads(call->statement, call->threads, &plan->program);
    if (status != DISTAL_OK)
        return status;
    plan->statement = plan->program->plan->statements[0];
    plan->missing = missing_bytes(plan);
    plan->figures = arena_new(plan->arena, distal_figures);
    return DISTAL_OK;
}

// Collective if the program has no function yet.
static distal_status provide_function(distal_context *context, PlanCall *call) {
    PlannedProgram *program = call->plan->program;
    distal_status status = DISTAL_OK;
    if (!program->functions)
        status = kernel_provide(context, program->c_source, &program->functions, &call->seconds);
    if (status != DISTAL_OK)
        return status;
    call->plan->function = program->functions->function;
    call->plan->structure = program->functions->structure;
    return DISTAL_OK;
}

// What this rank lacks of the limit of GPU memory or, where that is more, of what is free there.
static distal_status find_gpu_shortage(distal_context *context, void *arguments) {
    PlanCall *call = arguments;
    const distal_plan *plan = call->plan;
    StatementPlan *statement = plan->program->plan->statements[0];
    const Device *device = gpu_device(context->diagnostics);
    if (!device || !device_check(context->diagnostics))
        return DISTAL_FAILED;
    const int64_t all = plan_rank_gpu_peak(statement, context->rank), available = device->free_bytes();
    int64_t present = 0;
    for (int t = 0; t < plan->program->plan->tensor_count; t++) {
        const Home *home = &statement->homes[t];
        if (home->known && home->memory == MEMORY_GPU && !is_missing(plan, home->tensor))
            present += home_bytes(home, context->rank);
    }
    const bool limited = all - context->gpu_memory_limit > all - present - available;
    call->shortage = limited ? (GpuShortage){all, context->gpu_memory_limit, 0, true}
                             : (GpuShortage){all - present, available, present, false};
    return DISTAL_OK;
}

// The program of the plan without fetches that start a step ahead, which take less GPU memory.
static distal_status stop_pipelining(distal_context *context, void *arguments) {
    (void)context;
    PlanCall *call = arguments;
    const distal_status status = planned_stop_pipelining(call->statement, &call->plan->program);
    if (status != DISTAL_OK)
        return status;
    call->plan->statement = call->plan->program->plan->statements[0];
    return DISTAL_OK;
}

static distal_status report_gpu_shortage(distal_context *context, void *arguments) {
    const PlanCall *call = arguments;
    const GpuShortage *shortage = &call->shortage;
    Text list = shortage_list(call->plan->statement, MEMORY_GPU, call->short_rank, context->scratch);
    shortage_add(&list, shortage->present, "of this is already allocated");
    (shortage->limited ? shortage_of_limit : shortage_of_free)(
        context->diagnostics, MEMORY_GPU, call->short_rank, shortage->needed, shortage->available);
    shortage_note(context->diagnostics, call->plan->statement, call->short_rank, &list);
    return DISTAL_FAILED;
}

typedef struct {
    distal_context *context;
    PlanCall *call;
    distal_status status; // the same on all ranks
} GpuFit;

static double gpu_shortage(void *arguments) {
    GpuFit *fit = arguments;
    fit->status = call_agree(fit->context, call_continue(fit->context, find_gpu_shortage, fit->call));
    const GpuShortage *shortage = &fit->call->shortage;
    return fit->status == DISTAL_OK ? (double)(shortage->needed - shortage->available) : 0;
}

static bool try_without_pipelining(void *arguments) {
    GpuFit *fit = arguments;
    if (!plan_is_pipelined(fit->call->plan->program->plan))
        return false;
    fit->status = call_agree(fit->context, call_continue(fit->context, stop_pipelining, fit->call));
    return fit->status == DISTAL_OK;
}

// Whether the memory of each GPU has what the plan needs there, within the limit, if need be without
// pipelining. Ranks that share a GPU may still take it from each other. Collective.
static distal_status fits_gpu(distal_context *context, PlanCall *call) {
    GpuFit fit = {context, call, DISTAL_OK};
    call->short_rank = agree_on_fit(context->comm, gpu_shortage, try_without_pipelining, &fit);
    if (fit.status != DISTAL_OK || call->short_rank < 0)
        return fit.status;
    broadcast(&call->shortage, sizeof call->shortage, MPI_BYTE, call->short_rank, context->comm);
    return call_agree(context, call_continue(context, report_gpu_shortage, call));
}

// From the planned program on, which is taken with `status`.
static distal_status build_plan(distal_context *context, PlanCall *call, distal_status status) {
    if (status == DISTAL_OK)
        status = call_continue(context, count_threads, call);
    status = call_fits(context, status, call->plan->missing, "the plan");
    if (status == DISTAL_OK && pipeline_uses_gpu_memory(call->statement->pipeline))
        status = fits_gpu(context, call);
    if (status == DISTAL_OK && !call->plan->function)
        status = provide_function(context, call);
    if (status != DISTAL_OK)
        return status;
    // A failure here is part of the agreement of `assemble`.
    call->ready = call_continue(context, prepare, call) == DISTAL_OK;
    status = call_continue(context, assemble, call);
    return call_end(context, call->plan->execution ? status : DISTAL_FAILED);
}

// Before the first plan that uses GPUs is made: how ranks get what others have there. Collective.
static distal_status prepare_gpus(distal_context *context, void *arguments) {
    bool messages;
    int gpus;
    (void)arguments;
    neighbours_try_gpus(context->neighbours);
    const char *why;
    if (!gpu_messages_choose(context->comm, &messages, context->diagnostics) ||
        !gpu_ranks_count(context->comm, &gpus, context->diagnostics) ||
        !gpu_sums_choose(context->comm, messages, gpus, &context->gpu_sums, &why, context->diagnostics))
        return DISTAL_FAILED;
    context->gpu_messages = messages ? GPU_MESSAGES_ON : GPU_MESSAGES_OFF;
    return DISTAL_OK;
}

static distal_status run_passes(distal_context *context, PlanCall *call) {
    distal_status status = call_local(context, "distal_plan_create", begin_plan, call);
    Hash hash = hash_create();
    if (status == DISTAL_OK) {
        const distal_statement *statement = call->statement;
        hash_string(&hash, statement->pipeline->c_source);
        hash_bytes(&hash, call->params, sizeof(int64_t) * (size_t)context->build.params.count);
        for (int64_t i = 0; i < statement->tensors.count; i++)
            tensor_fingerprint(context_tensor(context, statement->tensors.items[i].tensor->name), &hash);
        hash_string(&hash, call->plan->function ? "function" : "");
    }
    call->threads = omp_get_max_threads();
    status = call_agree_most(context, status, &hash, &call->threads);
    if (status == DISTAL_OK && call->balancing.count > 0)
        status = call_agree(context, call_continue(context, find_boundaries, call));
    if (status == DISTAL_OK && context->gpu_messages == GPU_MESSAGES_UNTRIED &&
        pipeline_uses_gpu_memory(call->statement->pipeline))
        status = call_agree(context, call_continue(context, prepare_gpus, call));
    if (status != DISTAL_OK)
        return status;
    return build_plan(context, call, call_continue(context, take_program, call));
}

// Those that have been filled before they had a home, which is here.
static distal_status fill_tensors(const distal_plan *plan) {
    distal_status status = DISTAL_OK;
    for (int t = 0; status == DISTAL_OK && t < plan->tensor_count; t++)
        if (plan->uses[t].placed_here && plan->uses[t].tensor->pending)
            status = tensor_fill_pending(plan->uses[t].tensor);
    for (int t = 0; status == DISTAL_OK && t < plan->tensor_count; t++)
        if (plan->uses[t].placed_here)
            plan->uses[t].tensor->pending = NULL;
    return status;
}

distal_status distal_plan_create(distal_statement *statement, distal_plan **plan) {
    if (plan)
        *plan = NULL;
    if (!statement)
        return missing_argument(NULL, "distal_plan_create", "the statement");
    PlanCall call = {.statement = statement, .place = plan};
    distal_status status = run_passes(statement->context, &call);
    if (status == DISTAL_OK)
        status = fill_tensors(call.plan);
    if (status != DISTAL_OK || !plan) { // run_passes refuses NULL
        if (call.plan)
            undo(call.plan);
        distal_plan_free(call.plan);
        return status;
    }
    planned_keep(statement, call.plan->program);
    call.plan->compile_seconds = call.seconds;
    *plan = call.plan;
    return DISTAL_OK;
}

// What depends on the planned program.
static void release_parts(distal_plan *plan) {
    execution_free(plan->execution);
    plan_release_entries(plan);
    for (int t = 0; plan->uses && t < plan->tensor_count; t++) {
        if (plan->uses[t].tensor)
            tensor_release(plan->uses[t].tensor);
        else if (plan->storages)
            storage_free(plan->storages[t]);
        storage_free(plan->uses[t].copy);
    }
    planned_release(plan->program);
    arena_free(plan->arena);
    plan->execution = NULL;
    plan->program = NULL;
    plan->arena = NULL;
    plan->uses = NULL;
    plan->storages = NULL;
    plan->figures = NULL;
    plan->figures_arena = NULL;
}

void distal_plan_free(distal_plan *plan) {
    if (!plan)
        return;
    distal_plan **at = &plan->context->plans;
    while (*at != plan)
        at = &(*at)->next;
    *at = plan->next;
    release_parts(plan);
    free(plan);
}

static distal_status update_balance(distal_context *context, void *arguments) {
    const TensorArray *balancing = &((const distal_plan *)arguments)->program->balancing;
    return balance_update(context, balancing->count, balancing->items);
}

// The program of the plan for the entries that there are now, with the kernel that it has.
static distal_status plan_again(distal_context *context, void *arguments) {
    PlanCall *call = arguments;
    const PlannedProgram *program = call->plan->program;
    distal_statement *statement = program->statement;
    if (statement->pipeline->statements[0].spmd != program->spmd)
        return invalid(context,
                       "the schedule of '%.60s' has changed since its plan was made, and the plan has to be "
                       "made again for new entries: create a new plan",
                       statement->text);
    int64_t *params = arena_copy(context->scratch, context->build.param_values.items,
                                 sizeof(int64_t) * (size_t)context->build.params.count);
    memcpy(params, program->params, sizeof(int64_t) * (size_t)program->param_count);
    call->statement = statement;
    call->params = params;
    call->balancing = program->balancing;
    call->threads = program->threads;
    return DISTAL_OK;
}

// The plan has its old program, or the new one and nothing made from it yet. Allocates before it releases.
static distal_status replace_program(distal_context *context, void *arguments) {
    PlanCall *call = arguments;
    distal_plan *plan = call->plan;
    const distal_status status = planned_create(context, call->statement, call->params, &call->made);
    if (status != DISTAL_OK)
        return status;
    call->made->functions = plan->program->functions;
    call->made->threads = call->threads;
    plan_count_threads(call->made->plan, call->threads);
    Arena *arena = arena_create_within(context->arena);
    release_parts(plan);
    plan->program = call->made;
    plan->arena = arena;
    call->made = NULL;
    call->replaced = true;
    return DISTAL_OK;
}

distal_status plan_refuse(distal_context *context, void *arguments) {
    const distal_tensor *tensor = arguments;
    return tensor->context
               ? invalid(context,
                         "the memory of tensor '%s' has changed since the plan was made: make a new plan",
                         tensor->name)
               : invalid(context, "tensor '%s' of the plan has been freed", tensor->name);
}

distal_status plan_follow_entries(distal_plan *plan) {
    distal_context *context = plan->context;
    const PlannedProgram *program = plan->program;
    const TensorArray *balancing = &program->balancing;
    distal_status status = DISTAL_OK;
    for (int i = 0; i < program->tensor_count; i++)
        if (!program->tensors[i].tensor->context)
            return call_end(context,
                            call_local(context, "distal_execute", plan_refuse, program->tensors[i].tensor));
    if (!balance_is_settled(balancing->count, balancing->items)) {
        status = call_begin(context, "distal_execute", NULL);
        if (status == DISTAL_OK)
            status = call_agree(context, call_continue(context, update_balance, plan));
    }
    if (status != DISTAL_OK ||
        (plan->execution && balance_version(balancing->count, balancing->items) == program->balance_version))
        return status;
    PlanCall call = {.plan = plan};
    status = call_agree(context, call_local(context, "distal_execute", plan_again, &call));
    if (status == DISTAL_OK)
        status = call_agree(context, call_continue(context, find_boundaries, &call));
    if (status == DISTAL_OK)
        status = build_plan(context, &call, call_continue(context, replace_program, &call));
    planned_release(call.made);
    if (status != DISTAL_OK && call.replaced)
        undo(plan);
    return status;
}
