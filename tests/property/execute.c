// SPDX-License-Identifier: BSD-3-Clause
// Executing a trial: every way to plan it, several times with different inputs.
#include "base/integer.h"
#include "entry_figures.h"
#include "hashes.h"
#include "library.h"
#include "model.h"
#include "plan/verify.h"
#include "reference.h"
#include "runtime/chunks.h"
#include "runtime/condition.h"
#include "runtime/copies.h"
#include "runtime/exchange_entries.h"
#include "runtime/execution.h"
#include "runtime/load_sparse.h"
#include "runtime/neighbours.h"
#include "runtime/portions.h"
#include "runtime/prefetch.h"
#include "runtime/ranges.h"
#include "runtime/wait.h"
#include "sparse_reference.h"

#include <fcntl.h>
#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A way to execute a program. The result is the same in all of them.
typedef struct {
    const char *name;
    unsigned without; // as PlanOptions
    int64_t message_limit, row_limit;
    int rounds;
    bool pipelined;
    int64_t node; // ranks that read each other's homes; 0: all; -1: none
    bool gpu_messages, gpu_sums;
} Way;

// "without shift, all-gather": with these operations switched off.
static Way way_without(Trial *trial, unsigned without) {
    Text name = text_create(trial->arena);
    for (int i = 0; i < OPERATION_COUNT; i++)
        if (without & OPERATION_BIT(i))
            text_printf(&name, "%s %s", name.length ? "," : "without", operations[i]->name);
    return (Way){.name = text_string(&name), .without = without, .rounds = 2};
}

enum { WAY_COUNT = 5 };

// As planned; with drawn operations switched off, and with the others; with the most general operations and
// with all of them, where messages are short, and few blocks of a GPU have rows. Every second trial is
// pipelined as planned; the other ways are, and are not, in turn.
static void find_ways(Trial *trial, Way ways[WAY_COUNT]) {
    const unsigned all = (1u << OPERATION_COUNT) - 1;
    const unsigned drawn = (unsigned)((trial->draft.input_seed * 0x9E3779B97F4A7C15u) >> 40) & all;
    ways[0] = (Way){.name = "as planned", .rounds = 3};
    ways[1] = way_without(trial, drawn);
    ways[2] = way_without(trial, all & ~drawn);
    ways[3] = (Way){.name = "with general operations and short messages",
                    .without = all,
                    .message_limit = 64,
                    .row_limit = 1,
                    .rounds = 1};
    ways[4] = (Way){.name = "with short messages", .message_limit = 64, .row_limit = 3, .rounds = 2};
    const bool pipelined = trial_pipelines(&trial->draft);
    ways[1].pipelined = ways[3].pipelined = !pipelined;
    ways[2].pipelined = ways[4].pipelined = pipelined;
    static const int64_t nodes[] = {0, 2, -1, 3};
    for (int w = 0; w < WAY_COUNT; w++) {
        ways[w].node = nodes[(trial->draft.index + w) % 4];
        ways[w].gpu_messages = (trial->draft.index / 4 + w) % 2;
        ways[w].gpu_sums = ways[w].gpu_messages && (trial->draft.index / 8 + w / 2) % 2 &&
                           strcmp(getenv("DISTAL_GPU"), "emulated") == 0;
    }
}

typedef struct {
    Trial *trial;
    const Way *way;
    bool as_planned; // by the pipeline
    MPI_Comm comm;
    Communicators *communicators;
    Neighbours *neighbours; // NULL: none
    int rank;
    Plan *plan;
    Storage **storages;            // by tensor id
    distal_execution **executions; // by statement: programs with chosen placements have more than were drawn
    Whole whole;                   // first rank only
    uint64_t seed;                 // of the inputs in this round
    bool inputs_missing;           // dense ones have no values yet
    EntryFiguresCheck figures;     // of the round
    Condition *conditions[DRAFT_REPETITIONS]; // NULL where there is none
    uint64_t *hashes;                         // by statement: of the result of round 0
} Run;

static const Program *program_of(const Run *run) {
    return run->trial->pipeline->program;
}

static Plan *make_plan(Run *run, Diagnostics *diagnostics) {
    const Program *program = program_of(run);
    Pipeline *pipeline = run->trial->pipeline;
    PlanOptions options = {.ranks = pipeline->ranks,
                           .largest = pipeline->plan->largest,
                           .message_limit = run->way->message_limit,
                           .row_limit = run->way->row_limit,
                           .partial_limit = run->way->row_limit,
                           .without = run->way->without,
                           .pipelined = run->way->pipelined ? PIPELINE_ON : PIPELINE_OFF,
                           .nodes = run->neighbours ? neighbours_nodes(run->neighbours) : NULL,
                           .gpu_nodes = neighbours_open_gpus(run->neighbours),
                           .gpu_messages = run->way->gpu_messages,
                           .gpu_sums = run->way->gpu_sums,
                           .files = pipeline->plan->options.files,
                           .boundaries = pipeline->plan_options.boundaries};
    const Spmd **spmds = arena_array(pipeline->arena, const Spmd *, program->statement_count);
    for (int s = 0; s < program->statement_count; s++)
        spmds[s] = pipeline->statements[s].spmd;
    return plan_create(pipeline->arena, pipeline->plan->tensor_count, pipeline->plan->tensors,
                       program->statement_count, spmds, pipeline->params, options, diagnostics);
}

// In a file without a name, with bytes before the elements; NULL where it cannot be created.
static Storage *create_in_shared_file(const Home *home, int rank, MPI_Comm comm) {
    enum { OFFSET = 80 };
    char name[64] = "/tmp/distal-property-XXXXXX";
    const Rect whole = rect_whole(home->order, home->extents);
    const int64_t bytes = rect_volume(&whole) * (int64_t)type_info(home->tensor->type)->size;
    int fd = rank == 0 ? mkstemp(name) : -1;
    bool ok = rank > 0 || (fd >= 0 && ftruncate(fd, OFFSET + bytes) == 0);
    broadcast(name, sizeof name, MPI_CHAR, 0, comm);
    if (rank > 0)
        fd = open(name, O_RDWR);
    ok = agree(comm, ok && fd >= 0);
    if (rank == 0)
        unlink(name);
    Storage *storage = ok ? storage_create_in_file(home, rank, fd, OFFSET) : NULL;
    if (fd >= 0)
        close(fd);
    return storage;
}

static bool prepare(Run *run, Diagnostics *diagnostics) {
    const Program *program = program_of(run);
    run->plan =
        run->as_planned && !run->neighbours ? run->trial->pipeline->plan : make_plan(run, diagnostics);
    if (!run->plan)
        return false;
    neighbours_share(run->neighbours, run->plan);
    run->storages = arena_array(run->trial->arena, Storage *, run->plan->tensor_count);
    for (int t = 0; t < run->plan->tensor_count; t++) {
        if (!run->plan->homes[t].known)
            continue;
        const Home *home = &run->plan->homes[t];
        run->storages[t] = home->file == FILE_OF_RANK
                               ? storage_create(home, run->rank, false, (Scratch){0}, diagnostics)
                               : create_in_shared_file(home, run->rank, run->comm);
        if (!run->storages[t])
            return false;
    }
    for (int s = 0; s < program->statement_count; s++) {
        run->executions[s] =
            execution_create(run->plan->statements[s], run->storages, run->communicators, diagnostics);
        if (!run->executions[s])
            return false;
    }
    return run->rank > 0 || whole_create(&run->whole, run->plan);
}

static void release(Run *run) {
    const Program *program = program_of(run);
    for (int s = 0; s < program->statement_count; s++)
        if (run->executions[s])
            execution_free(run->executions[s]);
    for (int t = 0; run->storages && t < run->plan->tensor_count; t++)
        storage_free(run->storages[t]);
    if (run->rank == 0)
        whole_free(&run->whole);
}

// What each thread but the first takes for its copies.
static int64_t copy_bytes(const Run *run, const RankTransfer *own) {
    const Tensor *tensor = own->transfer->access->tensor;
    int64_t elements = 0;
    for (int64_t s = 0; s < own->step_count && own->transfer->copy_limit > 0; s++) {
        const RankStep *step = &own->steps[s];
        if (step->empty)
            continue;
        int64_t span = own->buffer_elements;
        if (step->piece >= 0) {
            const Frame home = piece_frame(&run->storages[tensor->id]->pieces[step->piece]);
            span = frame_span(&home);
        }
        elements = max_i64(elements, span);
    }
    return transfer_copy_bytes(own->transfer, elements * (int64_t)type_info(tensor->type)->size);
}

static void check_buffers(Run *run, int statement) {
    StatementPlan *plan = run->plan->statements[statement];
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const RankTransfer *own = plan_rank_transfer(plan, t, run->rank);
        const Tensor *tensor = own->transfer->access->tensor;
        int64_t bytes = ((own->message_memory == MEMORY_GPU
                              ? 0
                              : own->buffer_count * own->buffer_elements + own->scratch_elements) +
                         own->stage_elements) *
                        (int64_t)type_info(tensor->type)->size;
        if (bytes > plan_figures(plan)->transfers[t].buffer_bytes[run->rank])
            trial_fail(run->trial, TRIAL_BUFFER,
                       "transfer %d of %s has %" PRId64 " bytes of buffers on rank %d, planned %" PRId64
                       ", %s",
                       t, tensor->name, bytes, run->rank,
                       plan_figures(plan)->transfers[t].buffer_bytes[run->rank], run->way->name);
        if (tensor_is_sparse(tensor))
            continue; // copies are as large as what it stores, which is not known yet
        const int64_t copy = copy_bytes(run, own),
                      planned = plan_figures(plan)->transfers[t].copy_bytes[run->rank];
        if (copy > planned || planned - copy >= 64)
            trial_fail(run->trial, TRIAL_BUFFER,
                       "transfer %d of %s has %" PRId64
                       " bytes in the copy of a thread on rank %d, planned %" PRId64 ", %s",
                       t, tensor->name, copy, run->rank, planned, run->way->name);
    }
}

static void check_counters(Run *run, int statement) {
    const StatementPlan *plan = run->plan->statements[statement];
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const TransferFigures *planned = &plan_figures(plan)->transfers[t];
        int64_t bytes = execution_bytes(run->executions[statement], t);
        int64_t messages = execution_messages(run->executions[statement], t);
        const int64_t structure = execution_structure_bytes(run->executions[statement], t);
        if (planned->structure_bytes && structure != planned->structure_bytes[run->rank])
            trial_fail(run->trial, TRIAL_COUNTED,
                       "transfer %d of %s moved %" PRId64 " bytes of structure on rank %d, planned %" PRId64
                       ", %s",
                       t, planned->transfer->access->tensor->name, structure, run->rank,
                       planned->structure_bytes[run->rank], run->way->name);
        if (bytes != planned->bytes[run->rank] || messages != planned->messages[run->rank])
            trial_fail(run->trial, TRIAL_COUNTED,
                       "transfer %d of %s moved %" PRId64 " bytes in %" PRId64
                       " messages on rank %d, planned %" PRId64 " in %" PRId64 ", %s",
                       t, planned->transfer->access->tensor->name, bytes, messages, run->rank,
                       planned->bytes[run->rank], planned->messages[run->rank], run->way->name);
    }
}

// What was read and written of tensors in disk, and copied between memory of the host and of GPUs.
static void check_io(Run *run, int statement) {
    const StatementPlan *plan = run->plan->statements[statement];
    const StatementFigures *figures = plan_figures(plan);
    for (int i = 0; i < figures->tensor_count; i++) {
        const TensorFigures *of = &figures->tensors[i];
        IoCounts sum = {0};
        for (int t = 0; t < plan->spmd->transfer_count; t++) {
            if (plan->spmd->transfers[t].access->tensor == of->tensor)
                sum = io_counts_add(sum, execution_io(run->executions[statement], t));
        }
        DeviceCounts copied = {0};
        for (int t = 0; t < plan->spmd->transfer_count; t++)
            if (plan->spmd->transfers[t].access->tensor == of->tensor)
                copied = device_counts_add(copied, execution_copied(run->executions[statement], t));
        const DeviceCounts expected = of->copied ? of->copied[run->rank] : (DeviceCounts){0};
        if (copied.to_device != expected.to_device || copied.from_device != expected.from_device)
            trial_fail(run->trial, TRIAL_COUNTED,
                       "of %s %" PRId64 " bytes were copied to the GPU of rank %d and %" PRId64
                       " from it, planned %" PRId64 " and %" PRId64 ", %s",
                       of->tensor->name, copied.to_device, run->rank, copied.from_device, expected.to_device,
                       expected.from_device, run->way->name);
        const IoCounts none = {0}, *planned = of->io ? &of->io[run->rank] : &none;
        if (!io_counts_equal(sum, *planned))
            trial_fail(
                run->trial, TRIAL_COUNTED,
                "of %s %" PRId64 " bytes in %" PRId64 " runs were read on rank %d and %" PRId64 " in %" PRId64
                " written, planned %" PRId64 " in %" PRId64 " and %" PRId64 " in %" PRId64 ", %s",
                of->tensor->name, sum.bytes_read, sum.reads, run->rank, sum.bytes_written, sum.writes,
                planned->bytes_read, planned->reads, planned->bytes_written, planned->writes, run->way->name);
    }
}

static void find_sparse(void *context, const Access *access) {
    *(bool *)context |= tensor_is_sparse(access->tensor);
}

static bool is_sparse_statement(const Assignment *assignment) {
    bool sparse = false;
    find_sparse(&sparse, assignment->lhs);
    expr_accesses(assignment->rhs, find_sparse, &sparse);
    return sparse;
}

// One rank after the other does this, as it needs none of the others.
static void check_plan(Run *run) {
    int ranks;
    MPI_Comm_size(run->comm, &ranks);
    if (run->rank != run->trial->draft.index % ranks)
        return;
    for (int s = 0; s < program_of(run)->statement_count; s++) {
        const char *why = NULL;
        // What moves of sparse operands, or is indexed by them, is not counted by elements of the whole.
        if (!is_sparse_statement(program_of(run)->statements[s].assignment))
            why = model_check(run->plan->statements[s], run->trial->arena);
        if (!why)
            plan_verify(run->plan->statements[s], &why);
        if (why)
            trial_fail(run->trial, TRIAL_PLANNED, "%s, %s", why, run->way->name);
    }
}

static void fail_sparse(Run *run, const Tensor *tensor, const char *what) {
    trial_fail(run->trial, TRIAL_PREPARED, "the sparse input %s %s, %s", tensor->name, what, run->way->name);
}

// Entries of its own, of which each rank gives some: they have to be stored.
static void put_sparse_input(Run *run, const Tensor *tensor, uint64_t seed) {
    Storage *storage = run->storages[tensor->id];
    Diagnostics *diagnostics = diagnostics_create(run->trial->arena, run->trial->pipeline->source);
    Entries entries, own = {0};
    if (!trial_sparse_input(run->trial, tensor, seed, &entries))
        fail_sparse(run, tensor, "cannot be made");
    const Entries given = entries_share(&entries, run->trial->draft.ranks, run->rank);
    if (!send_entries_home(storage, &given, &own, run->comm, diagnostics) ||
        !agree(run->comm, sparse_put_entries(storage, &own, diagnostics)))
        fail_sparse(run, tensor, "cannot be stored");
    else
        sparse_take_input(run->trial, &run->whole, storage, tensor, &entries, run->comm, run->way->name);
    entries_free(&entries);
    entries_free(&own);
}

// Other values in place, with the structure that it has.
static void change_sparse_values(Run *run, const Tensor *tensor, uint64_t seed) {
    Storage *storage = run->storages[tensor->id];
    Diagnostics *diagnostics = diagnostics_create(run->trial->arena, run->trial->pipeline->source);
    Entries stored;
    if (!sparse_entries(storage, &stored, diagnostics))
        fail_sparse(run, tensor, "cannot be read");
    sparse_input_values(tensor, seed, &stored);
    if (stored.count > 0)
        memcpy(storage->stored.values, stored.values, (size_t)stored.count * type_info(tensor->type)->size);
    entries_free(&stored);
    if (!gather_entries(storage, &stored, run->comm, diagnostics))
        fail_sparse(run, tensor, "cannot be gathered");
    whole_keep_entries(&run->whole, tensor->id, &stored);
}

// Every other program keeps the structure of its inputs in round 1, where each position has an entry.
static void set_sparse_input(Run *run, const Tensor *tensor, uint64_t seed) {
    const Storage *storage = run->storages[tensor->id];
    const bool keeps = run->trial->draft.index % 2 && seed != run->trial->draft.input_seed;
    const bool full = storage->structure && (storage->piece_count == 0 ||
                                             stored_count(&storage->stored) == storage->stored.value_count);
    if (agree(run->comm, full) && keeps)
        change_sparse_values(run, tensor, seed);
    else
        put_sparse_input(run, tensor, seed);
}

// Whether some statements are never executed. What reads their results finds zeros.
static bool skips_statements(const Draft *draft) {
    for (int r = 0; r < draft->repetition_count; r++)
        if (draft->sizes[draft->repetitions[r].count].value == 0)
            return true;
    return false;
}

static void set_zero(Run *run, const Tensor *tensor) {
    Storage *storage = run->storages[tensor->id];
    Diagnostics *diagnostics = diagnostics_create(run->trial->arena, run->trial->pipeline->source);
    if (!storage)
        return;
    if (!tensor_is_sparse(tensor)) {
        storage_zero(storage);
        storage_wait(storage); // others read it
        const Piece whole = run->rank == 0 ? whole_piece(&run->whole, tensor->id) : (Piece){0};
        if (run->rank == 0)
            memset(whole.data, 0, (size_t)rect_volume(&whole.rect) * type_info(tensor->type)->size);
        return;
    }
    if (!agree(run->comm, storage->structure || sparse_put_nothing(storage, diagnostics)))
        fail_sparse(run, tensor, "cannot be emptied");
    Entries none = storage_no_entries(storage);
    whole_keep_entries(&run->whole, tensor->id, &none);
}

typedef struct {
    const Tensor *tensor;
    const int64_t *extents;
    uint64_t seed;
    bool unchanged;
} Inputs;

static bool check_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    Inputs *inputs = context;
    inputs->unchanged &= is_input(&part->piece, inputs->tensor, inputs->extents, inputs->seed);
    return true;
}

static void set_dense_input(Run *run, int tensor) {
    const Home *home = &run->plan->homes[tensor];
    fill_storage_input(run->trial, run->storages[tensor], home->tensor, run->seed);
    whole_fill_input(&run->whole, home->tensor, run->seed);
}

// Dense inputs get their values when a rank is about to execute the first statement: others may then be
// reading those that it has at home.
static void set_dense_inputs(Run *run) {
    for (int t = 0; run->inputs_missing && t < run->plan->tensor_count; t++) {
        const Tensor *tensor = run->plan->homes[t].tensor;
        if (run->storages[t] && program_is_input(program_of(run), tensor) && !tensor_is_sparse(tensor))
            set_dense_input(run, t);
    }
    run->inputs_missing = false;
}

// Sparse inputs get their values, results, and for now dense inputs, what they must not keep.
static void set_tensors(Run *run, uint64_t seed) {
    run->seed = seed;
    run->inputs_missing = true;
    const bool zero = skips_statements(&run->trial->draft);
    const Program *program = program_of(run);
    for (int t = 0; t < run->plan->tensor_count; t++) {
        const Tensor *tensor = run->plan->homes[t].tensor;
        const bool input = program_is_input(program, tensor);
        if (zero && !input) {
            set_zero(run, tensor);
            continue;
        }
        if (tensor_is_sparse(tensor)) {
            if (input && run->storages[t])
                set_sparse_input(run, tensor, seed);
            continue;
        }
        if (run->storages[t])
            fill_storage_poison(run->trial, run->storages[t]);
    }
}

static void check_sparse_input(Run *run, const Tensor *tensor) {
    Diagnostics *diagnostics = diagnostics_create(run->trial->arena, run->trial->pipeline->source);
    Entries stored;
    if (!gather_entries(run->storages[tensor->id], &stored, run->comm, diagnostics) ||
        (run->rank == 0 && (stored.count != run->whole.entries[tensor->id].count ||
                            hash_entries(&stored) != hash_entries(&run->whole.entries[tensor->id]))))
        trial_fail(run->trial, TRIAL_CHANGED, "the input %s was changed, %s", tensor->name, run->way->name);
    entries_free(&stored);
}

static void check_inputs(Run *run, uint64_t seed) {
    const Program *program = program_of(run);
    for (int t = 0; t < program->tensor_count; t++) {
        const Tensor *tensor = program->tensors[t];
        if (!run->storages[t] || program_is_output(program, tensor))
            continue;
        if (tensor_is_sparse(tensor)) {
            check_sparse_input(run, tensor);
            continue;
        }
        Inputs inputs = {tensor, run->plan->homes[t].extents, seed, true};
        chunks_visit_pieces(run->storages[t], CHUNKS_READ, check_chunk, &inputs,
                            diagnostics_create(run->trial->arena, run->trial->pipeline->source));
        if (!inputs.unchanged)
            trial_fail(run->trial, TRIAL_CHANGED, "the input %s was changed on rank %d, %s", tensor->name,
                       run->rank, run->way->name);
    }
}

// One rank is late: those that do not wait for it would read what it has not computed yet.
static void delay(const Run *run, int statement) {
    enum { MICROSECONDS = 300 };
    const int64_t late = (run->trial->draft.index + statement) % run->trial->draft.ranks;
    if (run->neighbours && run->rank == late)
        usleep(MICROSECONDS);
}

static void run_statement(Run *run, int statement) {
    Trial *trial = run->trial;
    const Assignment *assignment = program_of(run)->statements[statement].assignment;
    Diagnostics *diagnostics = diagnostics_create(trial->arena, trial->pipeline->source);
    distal_execution *execution = run->executions[statement];
    if (!execution_is_structured(execution) &&
        !execution_structure(execution, trial->kernels[statement].structure, trial->pipeline->params,
                             diagnostics))
        trial_fail(trial, TRIAL_PREPARED, "%s has no structure, %s", assignment->lhs->tensor->name,
                   run->way->name);
    entry_figures_compare(&run->figures, statement, execution);
    execution_count_entries(execution, run->plan->statements[statement], trial->arena);
    delay(run, statement);
    set_dense_inputs(run);
    execution_run(execution, trial->kernels[statement].function, trial->pipeline->params);
    check_counters(run, statement);
    check_io(run, statement);
    if (!execution_check(execution, diagnostics))
        trial_fail(trial, TRIAL_COUNTED, "disk fails, %s", run->way->name);
    reference_compare(trial, run->plan->statements[statement], assignment,
                      run->storages[assignment->lhs->tensor->id], &run->whole, run->comm, run->way->name);
    entry_figures_finish(&run->figures, statement);
}

// Of round 0 kept, of round 2 compared with that.
static void compare_hash(Run *run, int round, int statement) {
    Trial *trial = run->trial;
    const Tensor *target = program_of(run)->statements[statement].assignment->lhs->tensor;
    if (omp_get_max_threads() > 1)
        return; // threads add up in any order
    uint64_t hash =
        hash_storage(run->storages[target->id], diagnostics_create(trial->arena, trial->pipeline->source));
    if (round == 0)
        run->hashes[statement] = hash;
    else if (round == 2 && hash != run->hashes[statement])
        trial_fail(trial, TRIAL_UNSTABLE, "%s differs on rank %d when it is computed once more, %s",
                   target->name, run->rank, run->way->name);
}

// From what the first rank has of the scalar.
static bool is_met(const Run *run, const DraftRepetition *repetition) {
    const Program *program = program_of(run);
    int id = 0;
    while (strcmp(program->tensors[id]->name, run->trial->draft.tensors[repetition->scalar].name) != 0)
        id++;
    return reference_is_met(repetition, program->tensors[id], run->whole.arrays[id]);
}

static bool ends(Run *run, int index) {
    const DraftRepetition *repetition = &run->trial->draft.repetitions[index];
    Diagnostics *diagnostics = diagnostics_create(run->trial->arena, run->trial->pipeline->source);
    bool holds = false;
    if (repetition->scalar < 0)
        return false;
    set_dense_inputs(run); // where a repetition of no round has executed nothing
    if (!condition_holds(run->conditions[index], &holds, diagnostics))
        trial_fail(run->trial, TRIAL_PREPARED, "there is no memory for a condition, %s", run->way->name);
    if (run->rank == 0 && holds != is_met(run, repetition))
        trial_fail(run->trial, TRIAL_WRONG, "the condition of repetition %d is wrong, %s", index,
                   run->way->name);
    return holds;
}

// Statements first .. last - 1, with repetitions from `repetition` on around some of them.
static void run_statements(Run *run, int first, int last, int repetition) {
    const Draft *draft = &run->trial->draft;
    for (int s = first; s < last;) {
        const DraftRepetition *inner =
            repetition < draft->repetition_count ? &draft->repetitions[repetition] : NULL;
        if (!inner || inner->first != s) {
            run_statement(run, s++);
            continue;
        }
        for (int64_t round = 0; round < draft->sizes[inner->count].value; round++) {
            run_statements(run, inner->first, inner->last, repetition + 1);
            if (ends(run, repetition))
                break;
        }
        s = inner->last;
        repetition = draft->repetition_count;
    }
}

// Rounds 0 and 2 have the same inputs, round 1 others: what a buffer has kept shows.
static void run_round(Run *run, int round) {
    Trial *trial = run->trial;
    const int count = program_of(run)->statement_count;
    const uint64_t seed = trial->draft.input_seed + (uint64_t)(round & 1);
    // Ranks write and read the same elements of an input in a file of all.
    barrier(run->comm);
    set_tensors(run, seed);
    barrier(run->comm);
    run->figures =
        entry_figures_begin(trial, run->way->name, run->plan, run->storages, &run->whole, run->comm);
    run_statements(run, 0, count, 0);
    set_dense_inputs(run);
    for (int s = 0; s < count; s++)
        compare_hash(run, round, s);
    entry_figures_end(&run->figures);
    check_inputs(run, seed);
}

static void create_conditions(Run *run) {
    const Program *program = program_of(run);
    for (int r = 0; r < program->repetition_count; r++) {
        const Repetition *repetition = &program->repetitions[r];
        if (repetition->until)
            run->conditions[r] =
                condition_create(repetition->until, repetition_limit(repetition), program->tensor_count,
                                 run->storages, run->trial->pipeline->params, run->comm, run->trial->arena);
    }
}

static void execute_way(Trial *trial, const Way *way, bool as_planned, MPI_Comm comm) {
    Run run = {.trial = trial,
               .way = way,
               .as_planned = as_planned,
               .comm = comm,
               .communicators = communicators_create(comm)};
    MPI_Comm_rank(comm, &run.rank);
    run.executions = arena_array(trial->arena, distal_execution *, program_of(&run)->statement_count);
    run.hashes = arena_array(trial->arena, uint64_t, program_of(&run)->statement_count);
    communicators_set_progress(run.communicators, true); // where it is pipelined
    if (way->node >= 0) {
        run.neighbours = neighbours_create(comm, way->node);
        communicators_set_neighbours(run.communicators, run.neighbours);
        if (pipeline_uses_gpu_memory(trial->pipeline))
            neighbours_try_gpus(run.neighbours);
    }
    Diagnostics *diagnostics = diagnostics_create(trial->arena, trial->pipeline->source);
    bool ready = prepare(&run, diagnostics);
    if (!ready) {
        Text text = text_create(trial->arena);
        diagnostics_print(diagnostics, &text);
        trial_fail(trial, TRIAL_PREPARED, "%s: %s", way->name, text_string(&text));
    }
    if (agree(comm, ready)) {
        check_plan(&run);
        for (int s = 0; s < program_of(&run)->statement_count; s++)
            check_buffers(&run, s);
        create_conditions(&run);
        for (int round = 0; round < way->rounds; round++)
            run_round(&run, round);
    }
    release(&run);
    communicators_free(run.communicators);
    neighbours_free(run.neighbours);
}

void trial_execute(Trial *trial, bool thorough) {
    MPI_Comm comm = trial_comms[trial->draft.ranks];
    if (comm == MPI_COMM_NULL)
        return;
    static const int threads[] = {1, 2, 1, 3};
    omp_set_num_threads(threads[trial->draft.index % 4]);
    prefetch_always(trial->draft.index % 4 < 2);
    portions_short(trial->draft.index % 3 < 2);
    ranges_always(trial->draft.index % 5 < 3);
    Way ways[WAY_COUNT];
    find_ways(trial, ways);
    for (int w = 0; w < (thorough ? WAY_COUNT : 1); w++)
        execute_way(trial, &ways[w], w == 0, comm);
    if (thorough && trial->draft.index % 2 == 0)
        library_execute(trial, comm);
}
