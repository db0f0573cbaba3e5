// SPDX-License-Identifier: BSD-3-Clause
// The plan of one rank in a transfer, step by step.
#include "plan/rank_plan.h"

#include "base/integer.h"
#include "plan/indexed.h"
#include "plan/neighbours.h"
#include "plan/rank_entries.h"
#include "plan/rank_step.h"
#include "plan/ranks.h"
#include "plan/scratch.h"
#include "plan/selection.h"
#include "plan/staging.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_ranks(const int64_t *ranks, int64_t count) {
    uint64_t hash = (uint64_t)count;
    for (int64_t i = 0; i < count; i++)
        hash = (hash ^ (uint64_t)ranks[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

// Slots hold the index of a group + 1; 0: free. There are at least twice as many as groups.
static int64_t *find_slot(const StatementPlan *plan, uint64_t hash, const int64_t *ranks, int64_t count) {
    uint64_t at = hash & (uint64_t)(plan->group_slots - 1);
    for (; plan->group_index[at]; at = (at + 1) & (uint64_t)(plan->group_slots - 1)) {
        const Group *group = &plan->groups.items[plan->group_index[at] - 1];
        if (ranks_compare(group->ranks, group->count, ranks, count) == 0)
            break;
    }
    return &plan->group_index[at];
}

static void grow_index(StatementPlan *plan) {
    plan->group_slots = max_i64(16, 4 * plan->groups.count);
    while (plan->group_slots & (plan->group_slots - 1))
        plan->group_slots &= plan->group_slots - 1; // a power of two
    plan->group_index = arena_array(plan->arena, int64_t, plan->group_slots);
    for (int64_t g = 0; g < plan->groups.count; g++) {
        const Group *group = &plan->groups.items[g];
        *find_slot(plan, hash_ranks(group->ranks, group->count), group->ranks, group->count) = g + 1;
    }
}

int64_t rank_group(StatementPlan *plan, const int64_t *members, int64_t count) {
    if (2 * plan->groups.count >= plan->group_slots)
        grow_index(plan);
    int64_t *slot = find_slot(plan, hash_ranks(members, count), members, count);
    if (*slot == 0) {
        const Group group = {count, arena_copy(plan->arena, members, sizeof *members * (size_t)count)};
        array_push(plan->arena, plan->groups, group);
        *slot = plan->groups.count;
    }
    return *slot - 1;
}

int part_compare(const void *left, const void *right) {
    const Part *a = left, *b = right;
    return part_order(a->peer, &a->rect, b->peer, &b->rect);
}

static void sort_parts(PartArray *parts) {
    bool sorted = true;
    for (int64_t i = 1; i < parts->count && sorted; i++)
        sorted = part_compare(&parts->items[i - 1], &parts->items[i]) <= 0;
    if (!sorted)
        qsort(parts->items, (size_t)parts->count, sizeof(Part), part_compare);
}

typedef Array(RankOperation) OperationArray;

static void add_messages(RankPlanner *rank, OperationId id, OperationArray *all) {
    const bool reduces = rank->planner->transfer->kind == TRANSFER_REDUCE;
    Share *share = &rank->messages[id];
    if (share->view.count + share->home.count == 0 && rank->groups[id] < 0)
        return;
    if (rank->planner->indexed && id != OPERATION_LOCAL)
        return; // found when structures are known
    sort_parts(&share->view);
    sort_parts(&share->home);
    const PartArray *sends = reduces ? &share->view : &share->home,
                    *receives = reduces ? &share->home : &share->view;
    const RankOperation operation = {.operation = operations[id],
                                     .group = rank->groups[id],
                                     .root = -1,
                                     .send_count = sends->count,
                                     .receive_count = receives->count,
                                     .sends = sends->items,
                                     .receives = receives->items,
                                     .bytes = share->cost.elements * rank->planner->element_size,
                                     .messages = share->cost.messages};
    array_push(rank->kept_arena, *all, operation);
}

static int compare_collectives(const void *left, const void *right) {
    const Collective *a = left, *b = right;
    if (a->class_key != b->class_key)
        return a->class_key < b->class_key ? -1 : 1;
    return rect_compare(&a->rect, &b->rect);
}

static void finish_operations(RankPlanner *rank, OperationArray *all) {
    for (int id = 0; id < OPERATION_COUNT; id++)
        add_messages(rank, (OperationId)id, all);
    if (rank->collectives.count > 1)
        qsort(rank->collectives.items, (size_t)rank->collectives.count, sizeof(Collective),
              compare_collectives);
    for (int64_t i = 0; i < rank->collectives.count; i++)
        array_push(rank->kept_arena, *all, rank->collectives.items[i].operation);
}

// Forgets what belongs to the step before.
static void begin_step(RankPlanner *rank, int64_t step, Arena *arena) {
    const Planner *planner = rank->planner;
    rank->step = step;
    rank->kept = false;
    rank->piece = -1;
    rank->neighbour.piece = -1;
    memset(&rank->collectives, 0, sizeof rank->collectives);
    memset(rank->messages, 0, sizeof rank->messages);
    rank->takes_part =
        footprint_of_rank(planner->footprints, rank->rank, step, arena, &rank->worker, &rank->footprint);
    if (rank->takes_part)
        rank->piece = planner_piece(planner, &rank->own, &rank->footprint);
    if (rank->takes_part && rank->piece < 0)
        neighbour_in_place(rank->planner, rank->rank, &rank->footprint, &rank->neighbour);
}

// The number of the neighbour's piece that the step is in place in, 0: it is in none.
static int64_t number_neighbour(RankPlanner *rank) {
    const NeighbourPiece *now = &rank->neighbour;
    if (now->piece < 0)
        return 0;
    for (int64_t i = 0; i < rank->neighbours.count; i++)
        if (rank->neighbours.items[i].rank == now->rank && rank->neighbours.items[i].piece == now->piece)
            return i + 1;
    array_push(rank->kept_arena, rank->neighbours,
               (NeighbourPiece){now->rank, now->piece, rect_copy(&now->rect, rank->kept_arena)});
    return rank->neighbours.count;
}

// Whether neighbours read from each other all that an operation moves.
static bool is_read(const RankPlanner *rank, const RankOperation *operation) {
    if (operation->operation->kind == TRANSFER_REDUCE)
        return rank->planner->reads_neighbours;
    if (operation->group < 0 || operation->operation->shape != SHAPE_MEMBERS)
        return false;
    const Group *group = &rank->plan->groups.items[operation->group];
    return planner_reads_all(rank->planner,
                             &(RankArray){(int64_t *)group->ranks, group->count, group->count});
}

// Whether the rank passes on what others do not read from neighbours of theirs.
static bool passes_on(const RankPlanner *rank) {
    const PartArray *parts = &rank->messages[OPERATION_SHIFT].home;
    for (int64_t i = 0; i < parts->count; i++)
        if (!planner_reads_part(rank->planner, &parts->items[i].rect, true, rank->rank, parts->items[i].peer))
            return true;
    return false;
}

static void set_view(const RankPlanner *rank, RankStep *step) {
    const Rect *bounds = &rank->footprint.bounds;
    step->view = step->piece >= 0      ? rank->own.rects.items[step->piece]
                 : step->neighbour > 0 ? rank->neighbours.items[step->neighbour - 1].rect
                                       : rect_copy(bounds, rank->kept_arena);
    for (int m = 0; m < bounds->order; m++)
        step->first[m] = rank->footprint.first[m] - positions_index(rect_mode(&step->view, m), bounds->lo[m]);
}

static RankStep finish_step(RankPlanner *rank, RankTransfer *result, OperationArray *all) {
    RankStep step = {.empty = !rank->takes_part,
                     .piece = rank->piece,
                     .neighbour = number_neighbour(rank),
                     .first_operation = all->count};
    if (passes_on(rank))
        result->buffer_count = 2;
    finish_operations(rank, all);
    step.kept = rank->kept;
    step.operation_count = all->count - step.first_operation;
    RankOperation *own = all->items ? &all->items[step.first_operation] : NULL;
    stage_step(rank, &step, result, own);
    if (!step.empty) {
        set_view(rank, &step);
        if (step_is_buffered(&step))
            result->buffer_elements = max_i64(result->buffer_elements, rank->footprint.volume);
    }
    const PackedMemory memory = {&step.view, rank->own.rects.items, rank->stages.items,
                                 tensor_levels(rank->planner->home->tensor), rank->planner->message_memory};
    int64_t scratch = 0;
    for (int64_t i = 0; own && i < step.operation_count; i++)
        if (!is_read(rank, &own[i]))
            scratch = saturated_add(scratch, operation_scratch(&own[i], &memory));
    result->scratch_elements = max_i64(result->scratch_elements, scratch);
    return step;
}

// Groups for the messages that are collective operations of all ranks.
static void find_groups(RankPlanner *rank) {
    Planner *planner = rank->planner;
    for (int id = 0; id < OPERATION_COUNT; id++) {
        const Operation *operation = operations[id];
        rank->groups[id] = -1;
        if (operation->kind != planner->transfer->kind || !operation->is_collective ||
            !planner_uses(planner, (OperationId)id) || !operation->is_collective(planner))
            continue;
        int64_t *all = arena_array(planner->arena, int64_t, rank->plan->ranks);
        for (int64_t r = 0; r < rank->plan->ranks; r++)
            all[r] = r;
        rank->groups[id] = rank_group(rank->plan, all, rank->plan->ranks);
    }
}

// Copies between memory of the host and of a GPU are, unless it is switched off.
bool plan_pipelines(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Pipelining option = plan->options.pipelined;
    const MemoryId home = plan->homes[of->access->tensor->id].memory;
    const bool copies = plan->spmd->on_gpu && home == MEMORY_HOST && option != PIPELINE_OFF;
    if (plan->footprints[transfer]->steps <= 1)
        return false;
    if (of->kind == TRANSFER_REDUCE)
        return copies || (option == PIPELINE_ON && home == MEMORY_DISK);
    return (copies || option == PIPELINE_ON) && of->ahead && transfer_indexed_by(plan, transfer) < 0;
}

// A fetch may pass on in a step what it has got in the one before; of a home on the host, stage_finish says
// whether it does.
static bool goes_through_host(const Planner *planner) {
    const MemoryId home = planner->home->memory;
    return planner->plan->spmd->on_gpu && planner->message_memory == MEMORY_HOST &&
           (planner->transfer->kind == TRANSFER_FETCH ? planner_may_pass_on(planner) || home == MEMORY_DISK
                                                      : home != MEMORY_GPU);
}

// Elements of a copy of the largest view: a buffer, or a piece at home.
static int64_t copy_elements(const RankTransfer *transfer, const Region *own) {
    int64_t elements = transfer->buffer_count > 0 ? transfer->buffer_elements : 0;
    for (int64_t s = 0; s < transfer->step_count; s++)
        if (!transfer->steps[s].empty && transfer->steps[s].piece >= 0)
            elements = max_i64(elements, rect_volume(&own->rects.items[transfer->steps[s].piece]));
    return elements;
}

static const RankTransfer *plan_part(StatementPlan *plan, int transfer, int64_t rank_number) {
    Arena *arena = plan->arena;
    RankTransfer *result = arena_new(arena, RankTransfer);
    Planner planner = planner_create(plan, transfer, arena);
    Arena *step_arena = arena_create_within(arena);
    // The footprint of a step is needed in the one after it.
    Arena *footprints[] = {arena_create_within(arena), arena_create_within(arena)};
    *result = (RankTransfer){.rank = rank_number,
                             .transfer = planner.transfer,
                             .step_count = planner.footprints->steps,
                             .pipelined = plan_pipelines(plan, transfer),
                             .message_memory = planner.message_memory,
                             .through_host = goes_through_host(&planner),
                             .buffer_count = plan_pipelines(plan, transfer) ? 2 : 1};
    RankPlanner rank = {.planner = &planner,
                        .plan = plan,
                        .rank = rank_number,
                        .own = home_pieces(planner.home, rank_number, arena),
                        .through_host = result->through_host,
                        .kept_arena = arena,
                        .step_arena = step_arena};
    find_groups(&rank);
    RankStep *steps = arena_array(arena, RankStep, result->step_count);
    OperationArray all = {0};
    for (int64_t step = 0; step < result->step_count; step++) {
        const Footprint previous = rank.footprint;
        arena_reset(footprints[step % 2]);
        arena_reset(planner.arena);
        arena_reset(step_arena);
        arena_reset(planner.scratch);
        begin_step(&rank, step, footprints[step % 2]);
        rank_step(&rank, &previous);
        steps[step] = finish_step(&rank, result, &all);
    }
    if (result->buffer_elements == 0)
        result->buffer_count = 0;
    result->steps = steps;
    result->operation_count = all.count;
    result->operations = all.items;
    result->neighbours = rank.neighbours.items;
    result->neighbour_count = rank.neighbours.count;
    stage_finish(&rank, result);
    if (planner.transfer->partial_loop_count > 0) {
        result->gpu_partial_elements = copy_elements(result, &rank.own);
        result->gpu_partial_count = plan_gpu_partials(plan, planner.transfer, result->gpu_partial_elements);
    }
    arena_free(step_arena);
    arena_free(footprints[0]);
    arena_free(footprints[1]);
    planner_free(&planner);
    return result;
}

RankTransfer plan_part_figures(const StatementPlan *plan, int transfer, int64_t rank, Arena *arena) {
    StatementPlan own = *plan;
    own.arena = arena;
    memset(&own.groups, 0, sizeof own.groups);
    own.group_index = NULL;
    own.group_slots = 0;
    return *plan_part(&own, transfer, rank);
}

const RankTransfer *plan_rank_transfer(StatementPlan *plan, int transfer, int64_t rank) {
    if (plan->own_rank != rank) {
        plan->own_parts = arena_array(plan->arena, const RankTransfer *, plan->spmd->transfer_count);
        plan->own_rank = rank;
    }
    if (!plan->own_parts[transfer])
        plan->own_parts[transfer] = tensor_is_sparse(plan->spmd->transfers[transfer].access->tensor) ||
                                            transfer_indexed_by(plan, transfer) >= 0
                                        ? rank_entries(plan, transfer, rank)
                                        : plan_part(plan, transfer, rank);
    return plan->own_parts[transfer];
}

int64_t plan_rank_peak(StatementPlan *plan, int64_t rank) {
    int64_t bytes = plan_home_bytes(plan->plan, rank);
    bytes = saturated_add(bytes, plan->spmd->on_gpu ? 0 : plan_rows_bytes(plan));
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const RankTransfer *part = plan_rank_transfer(plan, t, rank);
        bytes = saturated_add(bytes, rank_buffer_bytes(part));
        bytes = saturated_add(
            bytes, transfer_copies_bytes(part->transfer, rank_copy_bytes(plan, part), plan->options.threads));
    }
    return bytes;
}

int64_t plan_rank_gpu_peak(StatementPlan *plan, int64_t rank) {
    int64_t bytes = plan_gpu_workspace_bytes(plan);
    for (int t = 0; t < plan->plan->tensor_count; t++)
        if (plan->homes[t].known && plan->homes[t].memory == MEMORY_GPU)
            bytes = saturated_add(bytes, home_bytes(&plan->homes[t], rank));
    for (int t = 0; t < plan->spmd->transfer_count && plan->spmd->on_gpu; t++)
        bytes = saturated_add(bytes, rank_gpu_buffer_bytes(plan_rank_transfer(plan, t, rank)));
    return bytes;
}

int64_t rank_gpu_buffer_bytes(const RankTransfer *transfer) {
    const int64_t size = (int64_t)type_info(transfer->transfer->access->tensor->type)->size;
    const int64_t buffers = saturated_mul(transfer->buffer_count, transfer->buffer_elements);
    const int64_t scratch = transfer->message_memory == MEMORY_GPU ? transfer->scratch_elements : 0;
    const int64_t partials = saturated_mul(transfer->gpu_partial_count ? transfer->gpu_partial_count + 1 : 0,
                                           transfer->gpu_partial_elements);
    return saturated_mul(saturated_add(saturated_add(buffers, scratch), partials), size);
}

int64_t rank_buffer_bytes(const RankTransfer *transfer) {
    const int64_t size = (int64_t)type_info(transfer->transfer->access->tensor->type)->size;
    const int64_t buffers = saturated_mul(transfer->buffer_count, transfer->buffer_elements);
    const int64_t of_messages = saturated_add(buffers, transfer->scratch_elements);
    const int64_t on_host = transfer->message_memory == MEMORY_HOST ? of_messages : 0;
    return saturated_mul(saturated_add(on_host, transfer->stage_elements), size);
}

int64_t transfer_copy_bytes(const Transfer *transfer, int64_t bytes) {
    enum { CACHE_LINE = 64 };
    return bytes > transfer->copy_limit ? 0 : saturated_mul(ceil_div(bytes, CACHE_LINE), CACHE_LINE);
}

int64_t transfer_copy_count(const Transfer *transfer, int64_t bytes, int64_t threads) {
    return bytes > 0 ? min_i64(threads - 1, transfer->copy_limit / bytes) : 0;
}

int64_t transfer_copies_bytes(const Transfer *transfer, int64_t bytes, int64_t threads) {
    return saturated_mul(transfer_copy_count(transfer, bytes, threads), bytes);
}

int64_t rank_copy_bytes(const StatementPlan *plan, const RankTransfer *transfer) {
    const Tensor *tensor = transfer->transfer->access->tensor;
    const int64_t size = (int64_t)type_info(tensor->type)->size;
    if (transfer->transfer->copy_limit == 0)
        return 0;
    if (tensor_is_sparse(tensor)) {
        const int64_t *entries = plan->homes[tensor->id].stored_entries;
        return entries ? transfer_copy_bytes(transfer->transfer, saturated_mul(entries[transfer->rank], size))
                       : 0;
    }
    Arena *scratch = arena_create_within(plan->arena);
    const Region own = home_pieces(&plan->homes[tensor->id], transfer->rank, scratch);
    const int64_t elements = copy_elements(transfer, &own);
    arena_free(scratch);
    return transfer_copy_bytes(transfer->transfer, saturated_mul(elements, size));
}
