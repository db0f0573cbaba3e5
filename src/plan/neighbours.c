// SPDX-License-Identifier: BSD-3-Clause
#include "plan/neighbours.h"

#include "plan/indexed.h"
#include "plan/ranks.h"
#include "plan/shared_parts.h"

// Whether the statement writes the tensor before it fetches it, and not after that.
static bool is_written_before(const StatementPlan *plan, const Transfer *fetch) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        if (transfer->kind == TRANSFER_REDUCE && transfer->access->tensor == fetch->access->tensor &&
            (transfer->nest >= fetch->nest || transfer->access->tensor == plan->target || plan->per_rank > 1))
            return false;
    }
    return true;
}

static bool is_one_node(const StatementPlan *plan) {
    const int64_t *nodes = plan->options.nodes;
    for (int64_t r = 1; r < plan->ranks; r++)
        if (nodes[r] != nodes[0])
            return false;
    return true;
}

static bool reads_homes(const StatementPlan *plan, const Transfer *of) {
    const Tensor *tensor = of->access->tensor;
    const Home *home = &plan->homes[tensor->id];
    return !(plan->options.unshared && plan->options.unshared[tensor->id]) &&
           !(home->replicated && (home->kind != HOME_LAYOUT || home->per_rank > 1)) &&
           is_written_before(plan, of);
}

// Of a leaf on a GPU all that moves is read then, in memory of GPUs, and nothing goes through the host.
bool neighbours_read(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Home *home = &plan->homes[of->access->tensor->id];
    const bool on_gpu = plan->spmd->on_gpu, reduces = of->kind == TRANSFER_REDUCE;
    return plan->options.nodes && !tensor_is_sparse(of->access->tensor) &&
           home->memory == (on_gpu ? MEMORY_GPU : MEMORY_HOST) && (!on_gpu || plan->options.gpu_nodes) &&
           home->kind != HOME_EVERYWHERE && transfer_indexed_by(plan, transfer) < 0 &&
           (!(on_gpu || reduces) || is_one_node(plan)) &&
           (reduces ? !home->replicated : reads_homes(plan, of));
}

bool neighbours_gather(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Tensor *tensor = of->access->tensor;
    return plan->options.nodes && of->kind == TRANSFER_FETCH && !tensor_is_sparse(tensor) &&
           plan->homes[tensor->id].memory == MEMORY_HOST && transfer_indexed_by(plan, transfer) >= 0;
}

static bool gathers_from_homes(const StatementPlan *plan, int transfer) {
    return neighbours_gather(plan, transfer) && reads_homes(plan, &plan->spmd->transfers[transfer]);
}

bool neighbours_gather_from(const StatementPlan *plan, int transfer, int64_t rank, int64_t owner) {
    return gathers_from_homes(plan, transfer) && rank != owner &&
           plan->options.nodes[rank] == plan->options.nodes[owner];
}

static bool is_neighbour(const Planner *planner, int64_t a, int64_t b) {
    const int64_t *nodes = planner->plan->options.nodes;
    return nodes[a] == nodes[b];
}

// Whether `rank` reads what `owner` has at home.
static bool planner_reads(const Planner *planner, int64_t rank, int64_t owner) {
    return planner->reads_neighbours && is_neighbour(planner, rank, owner);
}

bool planner_reads_all(const Planner *planner, const RankArray *ranks) {
    for (int64_t i = 1; i < ranks->count; i++)
        if (!planner_reads(planner, ranks->items[0], ranks->items[i]))
            return false;
    return planner->reads_neighbours;
}

static HoldingArray holdings_for(Planner *planner, const Rect *rect, int64_t taker) {
    HoldingArray found = {0};
    planner_find(planner, rect, home_choice(planner->home, taker), planner->arena, &found);
    return found;
}

bool planner_reads_part(Planner *planner, const Rect *rect, bool previous, int64_t source, int64_t taker) {
    if (!planner->reads_neighbours || rect_is_empty(rect))
        return false;
    if (!previous)
        return is_neighbour(planner, taker, source);
    const HoldingArray found = holdings_for(planner, rect, taker);
    for (int64_t i = 0; i < found.count; i++)
        if (!is_neighbour(planner, taker, found.items[i].rank))
            return false;
    return true;
}

bool neighbour_in_place(Planner *planner, int64_t rank, const Footprint *footprint, NeighbourPiece *found) {
    if (!planner->reads_neighbours || planner->transfer->kind == TRANSFER_REDUCE ||
        !planner_in_place(planner, footprint))
        return false;
    Rect corner = footprint->bounds;
    for (int m = 0; m < corner.order; m++)
        rect_set_mode(&corner, m, (PositionSet){corner.lo[m], corner.lo[m] + 1, NULL});
    const HoldingArray first = holdings_for(planner, &corner, rank);
    const int64_t owner = first.count > 0 ? first.items[0].rank : rank;
    if (owner == rank || !is_neighbour(planner, rank, owner))
        return false;
    const Region pieces = planner_pieces(planner, owner);
    const int64_t piece = pieces_in_place(&pieces, &footprint->bounds);
    if (piece >= 0)
        *found = (NeighbourPiece){owner, piece, pieces.rects.items[piece]};
    return piece >= 0;
}

// A part while operations are taken out of it.
typedef struct {
    StatementPlan *plan;
    Planner planner;
    int64_t rank;
    Array(NeighbourPiece) pieces;
    Array(NeighbourCopy) copies;
    Array(int64_t) owners;
    int64_t first_piece; // of those that the step may use: a reduction has other views in each step
} Diversion;

static int64_t number_of(Diversion *diversion, int64_t rank, int64_t piece, const Rect *rect) {
    for (int64_t i = diversion->first_piece; i < diversion->pieces.count; i++)
        if (diversion->pieces.items[i].rank == rank && diversion->pieces.items[i].piece == piece)
            return i;
    array_push(diversion->plan->arena, diversion->pieces,
               (NeighbourPiece){rank, piece, rect_copy(rect, diversion->plan->arena)});
    return diversion->pieces.count - 1;
}

static void add_copy(Diversion *diversion, const Rect *rect, int64_t owner) {
    Arena *arena = diversion->plan->arena;
    const Region pieces = planner_pieces(&diversion->planner, owner);
    const int64_t piece = pieces_with(&pieces, rect);
    const NeighbourCopy copy = {.rect = rect_copy(rect, arena),
                                .from = number_of(diversion, owner, piece, &pieces.rects.items[piece])};
    array_push(arena, diversion->copies, copy);
}

// What this rank gets in a part that it reads.
static void read_part(Diversion *diversion, const RankStep *step, const Part *part, bool previous) {
    if (step->neighbour > 0 || rect_is_empty(&part->rect))
        return;
    if (!previous) {
        add_copy(diversion, &part->rect, part->peer);
        return;
    }
    // What is at home is copied anyway.
    const HoldingArray found = holdings_for(&diversion->planner, &part->rect, diversion->rank);
    for (int64_t i = 0; i < found.count; i++)
        if (found.items[i].rank != diversion->rank)
            add_copy(diversion, &found.items[i].rect, found.items[i].rank);
}

static bool are_neighbours(const Diversion *diversion, int64_t group) {
    const Group *of = &diversion->plan->groups.items[group];
    const RankArray ranks = {(int64_t *)of->ranks, of->count, of->count};
    return planner_reads_all(&diversion->planner, &ranks);
}

static void divert_messages(Diversion *diversion, const RankStep *step, RankOperation *operation) {
    Arena *arena = diversion->plan->arena;
    const bool previous = operation->operation->id == OPERATION_SHIFT;
    PartArray sends = {0}, receives = {0};
    for (int64_t i = 0; i < operation->send_count; i++) {
        const Part *part = &operation->sends[i];
        if (!planner_reads_part(&diversion->planner, &part->rect, previous, diversion->rank, part->peer))
            array_push(arena, sends, *part);
    }
    for (int64_t i = 0; i < operation->receive_count; i++) {
        const Part *part = &operation->receives[i];
        if (planner_reads_part(&diversion->planner, &part->rect, previous, part->peer, diversion->rank))
            read_part(diversion, step, part, previous);
        else
            array_push(arena, receives, *part);
    }
    operation->sends = sends.items;
    operation->send_count = sends.count;
    operation->receives = receives.items;
    operation->receive_count = receives.count;
    if (operation->group >= 0 && are_neighbours(diversion, operation->group))
        operation->group = -1;
}

static void count_only(RankOperation *operation) {
    operation->read = true;
    operation->group = -1;
    operation->send_count = operation->receive_count = 0;
}

// The members that are no neighbours of the root get the part from it, and the others read it there.
static void divert_broadcast(Diversion *diversion, const RankStep *step, RankOperation *operation) {
    const Group group = diversion->plan->groups.items[operation->group];
    RankArray rest = {0};
    for (int64_t i = 0; i < group.count; i++)
        if (group.ranks[i] == operation->root ||
            !is_neighbour(&diversion->planner, group.ranks[i], operation->root))
            array_push(diversion->planner.arena, rest, group.ranks[i]);
    if (!ranks_contain(rest.items, rest.count, diversion->rank)) {
        read_part(diversion, step, &operation->receives[0], false);
        count_only(operation);
    } else if (rest.count == 1) {
        count_only(operation);
    } else if (rest.count < group.count) {
        operation->group = rank_group(diversion->plan, rest.items, rest.count);
    }
}

static void divert_members(Diversion *diversion, const RankStep *step, RankOperation *operation) {
    if (!are_neighbours(diversion, operation->group))
        return;
    for (int64_t i = 0; i < operation->receive_count; i++)
        read_part(diversion, step, &operation->receives[i], false);
    count_only(operation);
}

// Adds the part of a rank's view to its home.
static void take_part(Diversion *diversion, int64_t step, const Part *part, int64_t contributor) {
    Arena *arena = diversion->plan->arena;
    const Planner *planner = &diversion->planner;
    Worker worker;
    Footprint footprint;
    if (!footprint_of_rank(planner->footprints, contributor, step, planner->arena, &worker, &footprint))
        return;
    const NeighbourCopy copy = {.rect = rect_copy(&part->rect, arena),
                                .from = number_of(diversion, contributor, 0, &footprint.bounds),
                                .piece = part->piece};
    array_push(arena, diversion->copies, copy);
}

// Takes the part from all members that contribute to it, in their order.
static void take_from_group(Diversion *diversion, int64_t step, const RankOperation *operation,
                            const Part *part) {
    const Group *group = &diversion->plan->groups.items[operation->group];
    for (int64_t i = 0; i < group->count; i++)
        if (group->ranks[i] != diversion->rank || operation->contributes)
            take_part(diversion, step, part, group->ranks[i]);
}

static void add_owner(Diversion *diversion, const RankStep *step, int64_t owner) {
    for (int64_t i = step->first_owner; i < diversion->owners.count; i++)
        if (diversion->owners.items[i] == owner)
            return;
    if (owner != diversion->rank)
        array_push(diversion->plan->arena, diversion->owners, owner);
}

// Owners take what messages, or the members of a group, would send.
static void divert_reduction(Diversion *diversion, int64_t s, const RankStep *step,
                             RankOperation *operation) {
    if (operation->operation->id == OPERATION_LOCAL)
        return;
    for (int64_t i = 0; i < operation->send_count; i++)
        if (!rect_is_empty(&operation->sends[i].rect))
            add_owner(diversion, step, operation->sends[i].peer);
    for (int64_t i = 0; i < operation->receive_count; i++) {
        const Part *part = &operation->receives[i];
        if (rect_is_empty(&part->rect))
            continue;
        if (operation->operation->shape == SHAPE_MESSAGES)
            take_part(diversion, s, part, part->peer);
        else
            take_from_group(diversion, s, operation, part);
    }
    count_only(operation);
}

static void divert_operation(Diversion *diversion, const RankStep *step, RankOperation *operation) {
    if (operation->operation->id == OPERATION_LOCAL)
        operation->receive_count = step->neighbour > 0 ? 0 : operation->receive_count;
    else if (operation->operation->shape == SHAPE_MESSAGES)
        divert_messages(diversion, step, operation);
    else if (operation->operation->shape == SHAPE_PART)
        divert_broadcast(diversion, step, operation);
    else
        divert_members(diversion, step, operation);
}

// Any piece of a neighbour may have elements that this rank uses. Those of a sparse tensor are not read
// there.
static const RankTransfer *divert_gathered(StatementPlan *plan, int transfer, const RankTransfer *part) {
    const Home *home = &plan->homes[part->transfer->access->tensor->id];
    Array(NeighbourPiece) pieces = {0};
    const Nodes *nodes = plan->plan->nodes;
    const int64_t members = nodes_count_members(nodes, part->rank);
    const bool reads = gathers_from_homes(plan, transfer);
    for (int64_t m = 0; reads && m < members; m++) {
        const int64_t owner = nodes_member(nodes, part->rank, m);
        if (owner == part->rank)
            continue;
        const Region own = home_pieces(home, owner, plan->arena);
        for (int64_t i = 0; i < own.rects.count; i++)
            array_push(plan->arena, pieces, (NeighbourPiece){owner, i, own.rects.items[i]});
    }
    RankTransfer *listed = arena_new(plan->arena, RankTransfer);
    *listed = *part;
    listed->reads = reads;
    listed->shares = transfer_shares_parts(plan, transfer) && members > 1;
    listed->neighbours = pieces.items;
    listed->neighbour_count = pieces.count;
    return listed;
}

const RankTransfer *neighbours_divert(StatementPlan *plan, int transfer, const RankTransfer *part) {
    Arena *arena = plan->arena;
    if (neighbours_gather(plan, transfer) || transfer_shares_parts(plan, transfer))
        return divert_gathered(plan, transfer, part);
    if (!neighbours_read(plan, transfer))
        return part;
    Diversion diversion = {
        .plan = plan, .planner = planner_create(plan, transfer, arena), .rank = part->rank};
    const bool reduces = part->transfer->kind == TRANSFER_REDUCE;
    RankStep *steps = arena_copy(arena, part->steps, sizeof *steps * (size_t)part->step_count);
    RankOperation *all = arena_copy(arena, part->operations, sizeof *all * (size_t)part->operation_count);
    for (int64_t i = 0; i < part->neighbour_count; i++)
        array_push(arena, diversion.pieces, part->neighbours[i]);
    for (int64_t s = 0; s < part->step_count; s++) {
        arena_reset(diversion.planner.arena);
        steps[s].first_copy = diversion.copies.count;
        steps[s].first_owner = diversion.owners.count;
        diversion.first_piece = reduces ? diversion.pieces.count : 0;
        for (int64_t i = 0; i < steps[s].operation_count; i++) {
            RankOperation *operation = &all[steps[s].first_operation + i];
            if (reduces)
                divert_reduction(&diversion, s, &steps[s], operation);
            else
                divert_operation(&diversion, &steps[s], operation);
        }
        steps[s].copy_count = diversion.copies.count - steps[s].first_copy;
        steps[s].owner_count = diversion.owners.count - steps[s].first_owner;
    }
    planner_free(&diversion.planner);
    RankTransfer *diverted = arena_new(arena, RankTransfer);
    *diverted = *part;
    diverted->steps = steps;
    diverted->operations = all;
    diverted->reads = true;
    diverted->neighbours = diversion.pieces.items;
    diverted->neighbour_count = diversion.pieces.count;
    diverted->copies = diversion.copies.items;
    diverted->owners = diversion.owners.items;
    return diverted;
}

bool neighbours_reads_others(const RankTransfer *part) {
    for (int64_t i = 0; i < part->neighbour_count; i++)
        if (part->neighbours[i].rank != part->rank)
            return true;
    return false;
}

int64_t neighbours_owner_count(const RankTransfer *part) {
    const RankStep *last = part->step_count > 0 ? &part->steps[part->step_count - 1] : NULL;
    return last ? last->first_owner + last->owner_count : 0;
}
