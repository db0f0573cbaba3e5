// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"
#include "base/integer.h"
#include "memory/device.h"
#include "plan/indexed.h"
#include "plan/rank_entries.h"
#include "plan/transfer_figures.h"

#include <math.h>

// Adds to a figure, of which only that it is too large matters where it is.
static void increase(int64_t *figure, int64_t by) {
    *figure = saturated_add(*figure, by);
}

// Once all homes are known: the same for all statements, as each tensor is at home while any of them is
// executed.
static const HomeFigures *home_figures(const Plan *plan) {
    HomeFigures *figures = plan->home_figures;
    if (figures->total)
        return figures;
    const int64_t ranks = plan->options.ranks;
    figures->none = arena_array(plan->arena, int64_t, ranks);
    figures->bytes = arena_array(plan->arena, int64_t *, plan->tensor_count);
    figures->stored = arena_array(plan->arena, int64_t *, plan->tensor_count);
    int64_t *total = arena_array(plan->arena, int64_t, ranks), *gpu = NULL;
    for (int t = 0; t < plan->tensor_count; t++) {
        figures->bytes[t] = arena_array(plan->arena, int64_t, ranks);
        if (tensor_is_sparse(plan->tensors[t]))
            figures->stored[t] = arena_array(plan->arena, int64_t, ranks);
        for (int64_t rank = 0; rank < ranks && plan->homes[t].known; rank++) {
            figures->bytes[t][rank] = home_bytes(&plan->homes[t], rank);
            if (figures->stored[t])
                figures->stored[t][rank] =
                    plan->homes[t].stored_entries ? plan->homes[t].stored_entries[rank] : -1;
            if (plan->homes[t].memory == MEMORY_GPU && !gpu)
                gpu = arena_array(plan->arena, int64_t, ranks);
            if (plan->homes[t].memory != MEMORY_DISK)
                increase(plan->homes[t].memory == MEMORY_GPU ? &gpu[rank] : &total[rank],
                         figures->bytes[t][rank]);
        }
    }
    figures->total = total;
    figures->gpu = gpu;
    return figures;
}

int64_t plan_home_bytes(const Plan *plan, int64_t rank) {
    HomeFigures *figures = plan->home_figures;
    if (figures->total)
        return figures->total[rank];
    if (!figures->has_rank || figures->rank != rank) {
        figures->has_rank = true;
        figures->rank = rank;
        figures->rank_bytes = 0;
        for (int t = 0; t < plan->tensor_count; t++)
            if (plan->homes[t].known)
                increase(&figures->rank_bytes, home_memory_bytes(&plan->homes[t], rank));
    }
    return figures->rank_bytes;
}

static const int64_t *add_bytes(const StatementPlan *plan, const int64_t *sum, const int64_t *own) {
    int64_t *bytes = arena_array(plan->arena, int64_t, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++)
        bytes[rank] = saturated_add(sum[rank], own[rank]);
    return bytes;
}

static const IoCounts *add_io(const StatementPlan *plan, const IoCounts *sum, const IoCounts *own) {
    IoCounts *io = arena_array(plan->arena, IoCounts, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++)
        io[rank] = sum ? io_counts_add(sum[rank], own[rank]) : own[rank];
    return io;
}

static const DeviceCounts *add_copied(const StatementPlan *plan, const DeviceCounts *sum,
                                      const DeviceCounts *own) {
    DeviceCounts *copied = arena_array(plan->arena, DeviceCounts, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++)
        copied[rank] = sum ? device_counts_add(sum[rank], own[rank]) : own[rank];
    return copied;
}

// Adds what one transfer of its tensor moves and takes.
static void add_transfer(const StatementPlan *plan, const TransferFigures *own, TensorFigures *figures) {
    Arena *arena = plan->arena;
    const size_t size = sizeof(int64_t) * (size_t)plan->ranks;
    int64_t *bytes = arena_copy(arena, figures->bytes_received, size);
    int64_t *messages = arena_copy(arena, figures->messages_received, size);
    int64_t *buffer = arena_copy(arena, figures->buffer_bytes, size);
    int64_t *known = arena_copy(arena, figures->known_buffer_bytes, size);
    int64_t *structure = arena_copy(arena, figures->structure_received, size);
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        increase(&bytes[rank], own->bytes[rank]);
        messages[rank] += own->messages[rank];
        if (own->structure_bytes)
            increase(&structure[rank], own->structure_bytes[rank]);
        const int64_t copies =
            transfer_copies_bytes(own->transfer, own->copy_bytes[rank], plan->options.threads);
        increase(&buffer[rank], saturated_add(own->buffer_bytes[rank], copies));
        increase(&known[rank], saturated_add(own->depends_on_entries ? 0 : own->buffer_bytes[rank], copies));
    }
    figures->bytes_received = bytes;
    figures->messages_received = messages;
    figures->buffer_bytes = buffer;
    figures->known_buffer_bytes = known;
    figures->structure_received = structure;
    if (own->gpu_bytes)
        figures->gpu_buffer_bytes = add_bytes(plan, figures->gpu_buffer_bytes, own->gpu_bytes);
    if (own->io)
        figures->io = add_io(plan, figures->io, own->io);
    if (own->copied)
        figures->copied = add_copied(plan, figures->copied, own->copied);
    figures->unknown |= own->unknown;
    figures->steps = max_i64(figures->steps, own->steps);
}

// Adds the memory of a row workspace on all threads of each rank, if it is on the host.
static void add_row(const StatementPlan *plan, const RowWorkspace *row, TensorFigures *figures) {
    const int64_t bytes =
        plan->spmd->on_gpu ? 0 : saturated_mul(plan_row_bytes(plan, row), plan_row_count(plan, row));
    const size_t size = sizeof(int64_t) * (size_t)plan->ranks;
    int64_t *buffer = arena_copy(plan->arena, figures->buffer_bytes, size);
    int64_t *known = arena_copy(plan->arena, figures->known_buffer_bytes, size);
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        increase(&buffer[rank], bytes);
        increase(&known[rank], bytes);
    }
    figures->buffer_bytes = buffer;
    figures->known_buffer_bytes = known;
    if (!row->where)
        return; // what is said of the tensor is how it moves
    figures->pattern = "row";
}

// Of a tensor that no transfer moves.
static TensorFigures unmoved(const StatementPlan *plan, int tensor) {
    const HomeFigures *home = home_figures(plan->plan);
    return (TensorFigures){.tensor = plan->plan->tensors[tensor],
                           .pattern = "none",
                           .at = "",
                           .bytes_received = home->none,
                           .messages_received = home->none,
                           .home_bytes = home->bytes[tensor],
                           .buffer_bytes = home->none,
                           .known_buffer_bytes = home->none,
                           .gpu_buffer_bytes = home->none,
                           .structure_received = home->none,
                           .stored = home->stored[tensor]};
}

// The first of `count` figures, which are in order of ids, of a tensor with this id or a greater one.
static int lower_bound(const TensorFigures *tensors, int count, int tensor) {
    int at = 0;
    while (at < count && tensors[at].tensor->id < tensor)
        at++;
    return at;
}

// What all tensors of the plan take at home, and those of the statement in buffers.
static void add_peaks(const StatementPlan *plan, StatementFigures *figures) {
    const size_t size = sizeof(int64_t) * (size_t)plan->ranks;
    const int64_t *homes = home_figures(plan->plan)->total;
    int64_t *peak = arena_copy(plan->arena, homes, size), *known = arena_copy(plan->arena, homes, size);
    for (int t = 0; t < figures->tensor_count; t++)
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            increase(&peak[rank], figures->tensors[t].buffer_bytes[rank]);
            increase(&known[rank], figures->tensors[t].known_buffer_bytes[rank]);
        }
    figures->peak_bytes = peak;
    figures->known_peak_bytes = known;
}

static void add_gpu_peaks(const StatementPlan *plan, StatementFigures *figures) {
    const int64_t *homes = home_figures(plan->plan)->gpu;
    if (!homes && !plan->spmd->on_gpu)
        return;
    int64_t *peak = arena_array(plan->arena, int64_t, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        peak[rank] = homes ? homes[rank] : 0;
        for (int t = 0; t < figures->tensor_count; t++)
            increase(&peak[rank], figures->tensors[t].gpu_buffer_bytes[rank]);
        increase(&peak[rank], plan_gpu_workspace_bytes(plan));
    }
    figures->gpu_peak_bytes = peak;
}

static const char *loop_name(const Spmd *spmd, int var) {
    return var < 0 ? "" : spmd->cin->vars[var].name;
}

// The variable of the loop of the first transfer of the tensor, or of its row; "" outside of all loops.
static const char *loop_of(const Spmd *spmd, const Tensor *tensor) {
    for (int t = 0; t < spmd->transfer_count; t++)
        if (spmd->transfers[t].statement_access->tensor == tensor)
            return loop_name(spmd, spmd->transfers[t].at);
    for (int r = 0; r < spmd->row_count; r++)
        if (spmd->rows[r].tensor == tensor)
            return loop_name(spmd, spmd->rows[r].at);
    return "";
}

static void sum_statement(const StatementPlan *plan, StatementFigures *figures) {
    const Spmd *spmd = plan->spmd;
    const int most = spmd->transfer_count + spmd->row_count;
    TensorFigures *tensors = arena_array(plan->arena, TensorFigures, most);
    OperationId *patterns = arena_array(plan->arena, OperationId, most);
    const Tensor **used = arena_array(plan->arena, const Tensor *, most);
    const int count = spmd_tensors(spmd, used);
    for (int i = 0; i < count; i++) {
        tensors[i] = unmoved(plan, used[i]->id);
        tensors[i].at = loop_of(spmd, used[i]);
    }
    for (int i = 0; i < count; i++)
        patterns[i] = OPERATION_LOCAL;
    for (int t = 0; t < spmd->transfer_count; t++) {
        const TransferFigures *own = &figures->transfers[t];
        const int at = lower_bound(tensors, count, own->transfer->access->tensor->id);
        add_transfer(plan, own, &tensors[at]);
        patterns[at] = own->pattern > patterns[at] ? own->pattern : patterns[at];
        tensors[at].pattern = operations[patterns[at]]->name;
    }
    for (int r = 0; r < spmd->row_count; r++)
        add_row(plan, &spmd->rows[r], &tensors[lower_bound(tensors, count, spmd->rows[r].tensor->id)]);
    figures->tensor_count = count;
    figures->tensors = tensors;
    add_peaks(plan, figures);
    add_gpu_peaks(plan, figures);
}

// What is moved for entries, in place of what would be for all of the footprint.
static void set_entries(const StatementPlan *plan, const EntryFigures *known, TransferFigures *figures) {
    const int64_t size = (int64_t)type_info(figures->transfer->access->tensor->type)->size;
    int64_t *bytes = arena_array(plan->arena, int64_t, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++)
        bytes[rank] = saturated_mul(known->elements[rank], size);
    figures->unknown = figures->depends_on_entries = false;
    figures->bytes = bytes;
    figures->messages = known->messages;
    figures->structure_bytes = known->structure_bytes;
    figures->buffer_bytes = known->buffer_bytes;
}

static void make_transfers(const StatementPlan *plan, StatementFigures *figures) {
    const double start = clock_seconds();
    const int count = plan->spmd->transfer_count;
    TransferFigures *transfers = arena_array(plan->arena, TransferFigures, count);
    for (int t = 0; t < count; t++) {
        transfers[t] = tensor_is_sparse(plan->spmd->transfers[t].access->tensor) ? entries_figures(plan, t)
                                                                                 : transfer_figures(plan, t);
        transfers[t].depends_on_entries = transfer_indexed_by(plan, t) >= 0;
        if (plan->entries[t])
            set_entries(plan, plan->entries[t], &transfers[t]);
    }
    figures->transfers = transfers;
    figures->summed = false;
    figures->seconds = clock_seconds() - start;
}

const TransferFigures *plan_transfer_figures(const StatementPlan *plan) {
    StatementFigures *figures = plan->figures;
    if (!figures->made)
        make_transfers(plan, figures);
    figures->made = true;
    return figures->transfers;
}

const StatementFigures *plan_figures(const StatementPlan *plan) {
    StatementFigures *figures = plan->figures;
    plan_transfer_figures(plan);
    if (!figures->summed)
        sum_statement(plan, figures);
    figures->summed = true;
    return figures;
}

TensorFigures plan_tensor_figures(const StatementPlan *plan, int tensor) {
    const StatementFigures *figures = plan_figures(plan);
    const int at = lower_bound(figures->tensors, figures->tensor_count, tensor);
    const bool used = at < figures->tensor_count && figures->tensors[at].tensor->id == tensor;
    return used ? figures->tensors[at] : unmoved(plan, tensor);
}

const StatementFigures *plan_figures_with(const StatementPlan *plan, const EntryFigures **moved,
                                          const StoredFigures *stored, Arena *arena) {
    Plan whole = *plan->plan;
    StatementPlan own = *plan;
    whole.arena = own.arena = arena;
    whole.home_figures = arena_new(arena, HomeFigures);
    whole.homes = arena_copy(arena, whole.homes, sizeof(Home) * (size_t)whole.tensor_count);
    for (int t = 0; t < whole.tensor_count; t++) {
        whole.homes[t].stored_entries = stored[t].entries;
        whole.homes[t].stored_bytes = stored[t].bytes;
    }
    own.plan = &whole;
    own.homes = whole.homes;
    own.entries = moved;
    own.figures = arena_new(arena, StatementFigures);
    return plan_figures(&own);
}

double plan_estimated_entries(const StatementPlan *plan, const Tensor *tensor) {
    double entries = -1;
    for (int n = 0; plan->joint && n < plan->spmd->nest_count; n++)
        if (plan->spmd->nests[n].assign->lhs->tensor == tensor) {
            if (plan->joint[n].coordinates < 0)
                return -1;
            entries = fmax(entries, 0) + plan->joint[n].coordinates; // those of two terms are rarely the same
        }
    return entries;
}

int64_t plan_entry_bytes(const Tensor *tensor) {
    int64_t bytes = (int64_t)type_info(tensor->type)->size;
    // The levels at the end that have a position for each entry.
    for (int l = tensor->order - 1; l >= 0; l--) {
        const LevelType *level = &tensor->levels[l];
        if (!level->format->full)
            bytes += level->wide ? (int64_t)sizeof(int64_t) : (int64_t)sizeof(int32_t);
        if (!level->format->branchless)
            break;
    }
    return bytes;
}

double plan_estimated_bytes(const StatementPlan *plan, const Tensor *tensor) {
    const double entries = plan_estimated_entries(plan, tensor);
    return entries < 0 ? entries : entries * (double)plan_entry_bytes(tensor);
}

void plan_count_entries(StatementPlan *plan, int transfer, EntryFigures figures) {
    const size_t size = sizeof(int64_t) * (size_t)plan->ranks;
    EntryFigures *known = arena_new(plan->arena, EntryFigures);
    *known = (EntryFigures){arena_copy(plan->arena, figures.elements, size),
                            arena_copy(plan->arena, figures.messages, size),
                            arena_copy(plan->arena, figures.structure_bytes, size),
                            arena_copy(plan->arena, figures.buffer_bytes, size),
                            figures.used ? arena_copy(plan->arena, figures.used, size) : NULL};
    plan->entries[transfer] = known;
    plan->figures->made = false;
}

// The next call of plan_figures makes sums.
static void forget_sums(Plan *plan) {
    for (int s = 0; s < plan->statement_count; s++)
        plan->statements[s]->figures->summed = false;
}

void plan_set_pipelined(Plan *plan, Pipelining pipelined) {
    plan->options.pipelined = pipelined;
    for (int s = 0; s < plan->statement_count; s++) {
        plan->statements[s]->options.pipelined = pipelined;
        plan->statements[s]->figures->made = false;
        plan->statements[s]->own_rank = -1;
    }
}

bool plan_is_pipelined(const Plan *plan) {
    bool pipelined = false;
    for (int s = 0; s < plan->statement_count; s++)
        for (int t = 0; t < plan->statements[s]->spmd->transfer_count; t++)
            pipelined = pipelined || plan_pipelines(plan->statements[s], t);
    return pipelined;
}

bool plan_stop_pipelining(Plan *plan) {
    const bool pipelined = plan_is_pipelined(plan);
    if (pipelined)
        plan_set_pipelined(plan, PIPELINE_OFF);
    return pipelined;
}

void plan_count_threads(Plan *plan, int64_t threads) {
    plan->options.threads = threads;
    for (int s = 0; s < plan->statement_count; s++)
        plan->statements[s]->options.threads = threads;
    forget_sums(plan);
}

void plan_count_stored(Plan *plan, int tensor, const int64_t *entries, const int64_t *bytes) {
    const size_t size = sizeof(int64_t) * (size_t)plan->options.ranks;
    plan->homes[tensor].stored_entries = arena_copy(plan->arena, entries, size);
    plan->homes[tensor].stored_bytes = arena_copy(plan->arena, bytes, size);
    *plan->home_figures = (HomeFigures){0};
    forget_sums(plan);
}
