// SPDX-License-Identifier: BSD-3-Clause
#include "plan/planner.h"

#include "base/integer.h"
#include "plan/indexed.h"
#include "plan/neighbours.h"
#include "plan/ranks.h"
#include "plan/search.h"

#include <stdlib.h>
#include <string.h>

static bool several_take(const Footprints *footprints) {
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->vars[d] >= 0 && footprints->grid.extents[d] > 1)
            return footprints->ranks > 1;
    return false;
}

static bool several_own(const Home *home) {
    if (home->kind != HOME_LAYOUT)
        return home->ranks > 1;
    for (int d = 0; d < home->layout.grid.order; d++)
        if (home->layout.dims[d].kind != PLACE_FIX && home->layout.grid.extents[d] > 1)
            return home->ranks > 1;
    return false;
}

// GPU memory where nothing goes through the host: what neighbours read, and what GPU-aware MPI sends. As MPI
// libraries combine partial results on the host, it sends these where another library combines them.
static MemoryId find_message_memory(const Planner *planner) {
    const bool on_gpu = planner->plan->spmd->on_gpu && planner->home->memory == MEMORY_GPU;
    const PlanOptions *options = &planner->plan->options;
    const bool combines = options->gpu_sums && device_sums_take(planner->transfer->reducer,
                                                                planner->transfer->access->tensor->type);
    const bool sends = options->gpu_messages && (planner->transfer->kind == TRANSFER_FETCH || combines);
    return on_gpu && (sends || planner->reads_neighbours) ? MEMORY_GPU : MEMORY_HOST;
}

Planner planner_create(const StatementPlan *plan, int transfer, Arena *arena) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    Planner planner = {.plan = plan,
                       .transfer = &plan->spmd->transfers[transfer],
                       .footprints = plan->footprints[transfer],
                       .home = &plan->homes[tensor->id],
                       .element_size = (int64_t)type_info(tensor->type)->size,
                       .arena = arena_create_within(arena),
                       .scratch = arena_create_within(arena),
                       .lasting = arena_create_within(arena)};
    planner.indexed = transfer_indexed_by(plan, transfer) >= 0;
    planner.reads_neighbours = neighbours_read(plan, transfer);
    planner.message_memory = find_message_memory(&planner);
    planner.message_elements = plan->options.message_limit / planner.element_size;
    planner.many_to_many = several_take(planner.footprints) && several_own(planner.home);
    return planner;
}

void planner_free(Planner *planner) {
    arena_free(planner->arena);
    arena_free(planner->scratch);
    arena_free(planner->lasting);
}

struct KnownPieces {
    int64_t rank; // -1: free
    Region pieces;
};

static struct KnownPieces *find_known(const Planner *planner, int64_t rank) {
    int64_t at = (int64_t)((uint64_t)rank * 0x9e3779b97f4a7c15u >> 20) & (planner->known_slots - 1);
    while (planner->known[at].rank >= 0 && planner->known[at].rank != rank)
        at = (at + 1) & (planner->known_slots - 1);
    return &planner->known[at];
}

static void grow_known(Planner *planner) {
    struct KnownPieces *before = planner->known;
    const int64_t count = planner->known_slots;
    planner->known_slots = count ? 2 * count : 16;
    planner->known = arena_array(planner->lasting, struct KnownPieces, planner->known_slots);
    for (int64_t i = 0; i < planner->known_slots; i++)
        planner->known[i].rank = -1;
    for (int64_t i = 0; i < count; i++)
        if (before[i].rank >= 0)
            *find_known(planner, before[i].rank) = before[i];
}

Region planner_pieces(Planner *planner, int64_t rank) {
    if (planner->home->kind != HOME_INDUCED && planner->home->per_rank == 1)
        return home_pieces(planner->home, rank, planner->arena);
    if (2 * planner->known_count >= planner->known_slots)
        grow_known(planner);
    struct KnownPieces *known = find_known(planner, rank);
    if (known->rank < 0) {
        *known = (struct KnownPieces){rank, home_pieces(planner->home, rank, planner->lasting)};
        planner->known_count++;
    }
    return known->pieces;
}

void planner_find(Planner *planner, const Rect *rect, int64_t choice, Arena *arena, HoldingArray *found) {
    const Home *home = planner->home;
    if (home->per_rank == 1 || !home_is_local(home)) {
        home_find(home, rect, choice, arena, found);
        return;
    }
    int64_t count, *ranks;
    home_ranks(home, rect, arena, &count, &ranks);
    for (int64_t i = 0; i < count; i++) {
        const Region pieces = planner_pieces(planner, ranks[i]);
        pieces_find(&pieces, ranks[i], rect, arena, found);
    }
}

bool planner_uses(const Planner *planner, OperationId operation) {
    return operations[operation]->serves_all ||
           (!planner->indexed && !(planner->plan->options.without & OPERATION_BIT(operation)));
}

typedef struct {
    WorkerArray *users;
    Arena *arena;
} Users;

static bool add_user(void *context, const Worker *worker, int64_t iteration, const Footprint *footprint) {
    (void)iteration;
    (void)footprint;
    Users *users = context;
    array_push(users->arena, *users->users, *worker);
    return true;
}

Reuse reuse_find(const Planner *planner, const Footprint *footprint, int64_t step, Arena *arena) {
    Reuse reuse = {.step = step};
    if (step == 0)
        return reuse;
    search_step(planner->footprints, step - 1, SEARCH_EQUAL, footprint, planner->scratch, add_user,
                &(Users){&reuse.users, arena});
    return reuse;
}

// How many levels of a hierarchical machine two ranks share, from the outermost on: ranks of one node are at
// a smaller distance than ranks of different ones.
static int shared_levels(const StatementPlan *plan, int64_t a, int64_t b) {
    const Machine *machine = plan->spmd->dim_count ? plan->spmd->dims[0].machine : NULL;
    int64_t part = plan->processors; // in numbers that follow each other
    int shared = 0;
    for (int l = 0; machine && l + 1 < machine->level_count; l++, shared++) {
        for (int d = 0; d < machine->levels[l].order; d++)
            part /= plan->grid.extents[machine->levels[l].first + d];
        if (a * plan->per_rank / part != b * plan->per_rank / part)
            break;
    }
    return shared;
}

static bool is_nearer(const StatementPlan *plan, int64_t target, int64_t rank, int64_t than) {
    const int shared = shared_levels(plan, rank, target), shared_than = shared_levels(plan, than, target);
    if (shared != shared_than)
        return shared > shared_than;
    return floor_mod(rank - target, plan->ranks) < floor_mod(than - target, plan->ranks);
}

Worker worker_with_class(const Footprints *footprints, const Worker *worker, const Worker *to) {
    Worker moved = *worker;
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->related_dims[d])
            moved.coordinates[d] = to->coordinates[d];
    worker_locate(footprints, &moved);
    return moved;
}

static bool is_kept(const Planner *planner, const Reuse *reuse, int64_t rank, int64_t local,
                    int64_t iteration) {
    Worker before;
    if (!footprints_worker(planner->footprints, rank, local, &before))
        return false;
    for (int64_t i = 0; i < reuse->users.count; i++)
        if (reuse->users.items[i].class_key == before.class_key)
            return footprint_exists(planner->footprints, before.coordinates, iteration, planner->scratch);
    return false;
}

ReuseKind reuse_of(const Planner *planner, const Reuse *reuse, const Worker *member, int64_t *source) {
    const Footprints *footprints = planner->footprints;
    if (reuse->users.count == 0)
        return REUSE_NONE;
    const int64_t rank = member->index / footprints->per_rank;
    const int64_t local = step_local(footprints, reuse->step - 1),
                  iteration = step_iteration(footprints, reuse->step - 1);
    *source = -1;
    if (is_kept(planner, reuse, rank, local, iteration))
        return REUSE_KEPT;
    if (!planner_uses(planner, OPERATION_SHIFT))
        return REUSE_NONE;
    for (int64_t i = 0; i < reuse->users.count; i++) {
        const Worker user = worker_with_class(footprints, member, &reuse->users.items[i]);
        const int64_t candidate = user.index / footprints->per_rank;
        if (user.index % footprints->per_rank == local && candidate != rank &&
            footprint_exists(footprints, user.coordinates, iteration, planner->scratch) &&
            (*source < 0 || is_nearer(planner->plan, rank, candidate, *source)))
            *source = candidate;
    }
    return *source < 0 ? REUSE_NONE : REUSE_SHIFT;
}

SortedReuse reuse_sort(const Planner *planner, const Reuse *reuse, const Worker *member, Arena *arena) {
    const Footprints *footprints = planner->footprints;
    const int64_t local = step_local(footprints, reuse->step - 1),
                  iteration = step_iteration(footprints, reuse->step - 1);
    SortedReuse sorted = {.step = reuse->step};
    for (int64_t i = 0; i < reuse->users.count; i++) {
        const Worker user = worker_with_class(footprints, member, &reuse->users.items[i]);
        array_push(arena, sorted.classes, user.class_key);
        if (user.index % footprints->per_rank == local &&
            footprint_exists(footprints, user.coordinates, iteration, planner->scratch))
            array_push(arena, sorted.sources, user.index / footprints->per_rank);
    }
    ranks_sort(sorted.classes.items, sorted.classes.count);
    ranks_sort(sorted.sources.items, sorted.sources.count);
    sorted.sources.count = ranks_unique(sorted.sources.items, sorted.sources.count);
    return sorted;
}

// The first index of a list in increasing order with at least this rank.
static int64_t first_from(const RankArray *ranks, int64_t rank) {
    int64_t lo = 0, hi = ranks->count;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (ranks->items[middle] < rank)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

// Ranks of one part of the machine follow each other: that which shares most levels with `target` is next to
// it, and in its part the nearest one is the next, or else the first. `target` is not in the list.
static int64_t nearest_rank(const StatementPlan *plan, const RankArray *ranks, int64_t target) {
    const int64_t next = first_from(ranks, target);
    if (next == 0)
        return ranks->items[0];
    int64_t lo = 0, hi = next - 1;
    const int shared = shared_levels(plan, ranks->items[hi], target);
    if (next < ranks->count && shared_levels(plan, ranks->items[next], target) >= shared)
        return ranks->items[next];
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (shared_levels(plan, ranks->items[middle], target) < shared)
            lo = middle + 1;
        else
            hi = middle;
    }
    return ranks->items[lo];
}

ReuseKind reuse_of_sorted(const Planner *planner, const SortedReuse *reuse, const Worker *member,
                          int64_t *source) {
    const Footprints *footprints = planner->footprints;
    const int64_t rank = member->index / footprints->per_rank;
    const int64_t local = step_local(footprints, reuse->step - 1),
                  iteration = step_iteration(footprints, reuse->step - 1);
    Worker before;
    *source = -1;
    if (footprints_worker(footprints, rank, local, &before) &&
        ranks_contain(reuse->classes.items, reuse->classes.count, before.class_key) &&
        footprint_exists(footprints, before.coordinates, iteration, planner->scratch))
        return REUSE_KEPT;
    if (!planner_uses(planner, OPERATION_SHIFT) || reuse->sources.count == 0)
        return REUSE_NONE;
    *source = nearest_rank(planner->plan, &reuse->sources, rank);
    return REUSE_SHIFT;
}

static bool find_user(void *context, const Worker *worker, int64_t iteration, const Footprint *footprint) {
    (void)worker;
    (void)iteration;
    (void)footprint;
    *(bool *)context = true;
    return false;
}

bool reuse_by_all(const Planner *planner, const Footprint *footprint, int64_t step) {
    const Footprints *footprints = planner->footprints;
    bool found = false;
    if (step == 0 || footprints->per_rank > 1 || !footprints->existence ||
        !planner_uses(planner, OPERATION_SHIFT))
        return false;
    const int64_t iteration = step_iteration(footprints, step - 1);
    search_classes(footprints, iteration, iteration + 1, SEARCH_EQUAL, footprint, planner->scratch, find_user,
                   &found);
    return found;
}

typedef struct {
    const Planner *planner;
    const Reuse *reuse; // NULL: all ranks, of any choice
    int64_t choice;
    Arena *arena;
    RankArray ranks;
} Members;

static bool add_member(void *context, const Worker *member) {
    Members *members = context;
    int64_t source;
    const int64_t rank = member->index / members->planner->footprints->per_rank;
    if (!members->reuse || (home_choice(members->planner->home, rank) == members->choice &&
                            reuse_of(members->planner, members->reuse, member, &source) == REUSE_NONE))
        array_push(members->arena, members->ranks, rank);
    return true;
}

RankArray lacking_ranks(const Planner *planner, const Worker *worker, const Reuse *reuse, int64_t step,
                        int64_t choice, Arena *arena) {
    const Footprints *footprints = planner->footprints;
    Members members = {.planner = planner, .reuse = reuse, .choice = choice, .arena = arena};
    int64_t only[MAX_MACHINE_ORDER];
    if (footprints->per_rank == 1)
        home_choice_coordinates(planner->home, choice, &footprints->grid, only);
    else
        memset(only, -1, sizeof only);
    class_members_at(footprints, worker, only, step_local(footprints, step), step_iteration(footprints, step),
                     planner->scratch, add_member, &members);
    return members.ranks;
}

RankArray existing_ranks(const Planner *planner, const Worker *worker, int64_t step, Arena *arena) {
    const Footprints *footprints = planner->footprints;
    Members members = {.planner = planner, .arena = arena};
    class_members(footprints, worker, step_local(footprints, step), step_iteration(footprints, step),
                  planner->scratch, add_member, &members);
    return members.ranks;
}

static int compare_holdings(const void *left, const void *right) {
    const Holding *a = left, *b = right;
    return rect_compare(&a->rect, &b->rect);
}

static void cut(const Holding *holding, int64_t limit, HoldingArray *parts, Arena *arena) {
    if (rect_volume(&holding->rect) <= limit) {
        array_push(arena, *parts, *holding);
        return;
    }
    // Halve the outermost mode that has more than one coordinate, so that the parts stay contiguous where the
    // whole was.
    int mode = 0;
    while (rect_count(&holding->rect, mode) == 1)
        mode++;
    const PositionSet all = rect_mode(&holding->rect, mode);
    const int64_t count = positions_count(all), middle = (count + 1) / 2;
    Holding half = *holding;
    rect_set_mode(&half.rect, mode, positions_slice(all, 0, middle));
    cut(&half, limit, parts, arena);
    rect_set_mode(&half.rect, mode, positions_slice(all, middle, count));
    cut(&half, limit, parts, arena);
}

// What has more parts of the usual message limit than this, no process holds; it can be planned all the same.
enum { MAX_PARTS = 1 << 12 };

void holding_cut(const Planner *planner, const Holding *holding, Arena *arena, HoldingArray *parts) {
    const int64_t least = max_i64(1, rect_volume(&holding->rect) / MAX_PARTS);
    cut(holding, max_i64(least, planner->message_elements), parts, arena);
}

static void sort_holdings(HoldingArray *parts) {
    bool sorted = true;
    for (int64_t i = 1; i < parts->count && sorted; i++)
        sorted = compare_holdings(&parts->items[i - 1], &parts->items[i]) <= 0;
    if (!sorted)
        qsort(parts->items, (size_t)parts->count, sizeof(Holding), compare_holdings);
}

HoldingArray holdings_of(Planner *planner, const Region *region, int64_t choice, bool reduced, Arena *arena) {
    HoldingArray found = {0}, parts = {0};
    bool fits = true;
    for (int64_t i = 0; i < region->rects.count; i++)
        if (reduced)
            home_owners(planner->home, &region->rects.items[i], arena, &found);
        else
            planner_find(planner, &region->rects.items[i], choice, arena, &found);
    for (int64_t i = 0; i < found.count && fits; i++)
        fits = rect_volume(&found.items[i].rect) <= planner->message_elements;
    for (int64_t i = 0; i < found.count && !fits; i++)
        holding_cut(planner, &found.items[i], arena, &parts);
    if (fits)
        parts = found;
    sort_holdings(&parts);
    return parts;
}

static bool gives(const Holding *holding, int64_t rank, bool reduced) {
    return holding->rank == rank || (reduced && holding_has(holding, rank));
}

HoldingArray holdings_by(Planner *planner, const Region *region, int64_t rank, const Region *pieces,
                         bool reduced, Arena *arena) {
    HoldingArray parts = {0};
    if (!home_is_local(planner->home) || (reduced && planner->home->replicated)) {
        const HoldingArray all = holdings_of(planner, region, 0, reduced, arena);
        for (int64_t i = 0; i < all.count; i++)
            if (gives(&all.items[i], rank, reduced))
                array_push(arena, parts, all.items[i]);
        return parts;
    }
    for (int64_t i = 0; i < region->rects.count; i++)
        for (int64_t k = 0; k < pieces->rects.count; k++) {
            Holding own = {.rank = rank, .holder_count = 1};
            if (rect_intersect(&pieces->rects.items[k], &region->rects.items[i], arena, &own.rect))
                holding_cut(planner, &own, arena, &parts);
        }
    sort_holdings(&parts);
    return parts;
}

bool planner_may_pass_on(const Planner *planner) {
    return planner->footprints->steps > 1 && planner->plan->ranks > 1 && !planner->reads_neighbours &&
           planner_uses(planner, OPERATION_SHIFT);
}

bool planner_in_place(const Planner *planner, const Footprint *footprint) {
    const int64_t count = footprint->region.rects.count;
    const bool on_gpu = planner->plan->spmd->on_gpu;
    if (planner->home->memory != (on_gpu ? MEMORY_GPU : MEMORY_HOST))
        return false;
    // Where a coordinate has several homes, all of them get the sum.
    if (planner->transfer->kind == TRANSFER_REDUCE && planner->home->replicated)
        return false;
    // What is passed on from a view is sent from its copy on the host, which a home has not.
    if (on_gpu && planner->message_memory == MEMORY_HOST && planner->transfer->kind == TRANSFER_FETCH &&
        planner_may_pass_on(planner))
        return false;
    return count == 1 || (count > 1 && planner->transfer->kind == TRANSFER_FETCH);
}

int64_t planner_piece(const Planner *planner, const Region *pieces, const Footprint *footprint) {
    return planner_in_place(planner, footprint) ? pieces_in_place(pieces, &footprint->bounds) : -1;
}

int64_t rank_in_place(Planner *planner, const Footprint *footprint, const HoldingArray *parts,
                      const RankArray *members) {
    const int64_t owner = parts->count > 0 ? parts->items[0].rank : -1;
    if (!planner_in_place(planner, footprint) || !ranks_contain(members->items, members->count, owner))
        return -1;
    const Region pieces = planner_pieces(planner, owner);
    return planner_piece(planner, &pieces, footprint) >= 0 ? owner : -1;
}

RankArray ranks_without(const RankArray *ranks, int64_t rank, Arena *arena) {
    RankArray rest = {0};
    if (rank < 0)
        return *ranks;
    for (int64_t i = 0; i < ranks->count; i++)
        if (ranks->items[i] != rank)
            array_push(arena, rest, ranks->items[i]);
    return rest;
}
