// SPDX-License-Identifier: BSD-3-Clause
// Homes induced by the schedule: a tensor without a placement is at home where it is used first. The step and
// the ranks of that use are found by searching the footprints of all uses in order of time.
#include "plan/home.h"

#include "base/integer.h"
#include "plan/ranks.h"
#include "plan/search.h"

#include <stdlib.h>

// What a use reaches in all of its steps together.
static Region everything(const Footprints *use, Arena *arena) {
    LoopRanges ranges;
    BoxArray boxes = {0};
    Region region = {0};
    provenance_ranges(use->provenance, &ranges);
    provenance_boxes(use->provenance, use->others, &ranges, arena, &boxes);
    if (boxes.count == 0)
        return region;
    boxes.count = 0;
    ranges.requested = footprints_coordinates(use);
    provenance_boxes(use->provenance, use->related, &ranges, arena, &boxes);
    footprints_region(use, &boxes, arena, &region);
    return region;
}

static Region whole_region(const Home *home, Arena *arena) {
    Region rest = {0};
    const Rect whole = rect_whole(home->order, home->extents);
    if (!rect_is_empty(&whole))
        array_push(arena, rest.rects, whole);
    return rest;
}

typedef struct {
    int64_t rank;
    bool any;
} FirstMember;

static bool take_first(void *context, const Worker *member) {
    FirstMember *first = context;
    first->rank = member->index;
    first->any = true;
    return false;
}

// The first rank that runs a member of the class as its number `local`; -1: there is none.
static int64_t first_rank(const Footprints *use, const Worker *worker, int64_t local, int64_t iteration,
                          Arena *scratch) {
    FirstMember first = {0};
    class_members(use, worker, local, iteration, scratch, take_first, &first);
    return first.any ? first.rank / use->per_rank : -1;
}

// Takes out of `rest` what other ranks have used before.
typedef struct {
    const Footprints *use;
    int64_t first_local, last_local; // as which they run it
    int64_t below;                   // only ranks below this one
    Footprint rest;
    Arena *arena, *scratch;
} Before;

static bool subtract_used(void *context, const Worker *worker, int64_t iteration, const Footprint *used) {
    Before *before = context;
    bool counts = false;
    for (int64_t local = before->first_local; local < before->last_local && !counts; local++) {
        const int64_t rank = first_rank(before->use, worker, local, iteration, before->scratch);
        counts = rank >= 0 && rank < before->below;
    }
    if (counts)
        for (int64_t i = 0; i < used->region.rects.count; i++) {
            const Rect rect = rect_copy(&used->region.rects.items[i], before->arena);
            region_subtract(&before->rest.region, &rect, before->arena);
        }
    return before->rest.region.rects.count > 0;
}

static void search_before(Before *before, int64_t first, int64_t last, int64_t first_local,
                          int64_t last_local, int64_t below) {
    before->first_local = first_local;
    before->last_local = last_local;
    before->below = below;
    if (first_local < last_local && before->use->steps > 0 && before->rest.region.rects.count)
        search_classes(before->use, first, last, SEARCH_OVERLAPPING, &before->rest, before->scratch,
                       subtract_used, before);
}

// Takes out what a use reaches in any step; nothing where a loop around it has no iterations.
static void subtract_everything(const Footprints *use, Region *rest, Arena *arena) {
    if (use->steps == 0)
        return;
    if (use->exact) {
        const Region reached = everything(use, arena);
        region_subtract_all(rest, &reached, arena);
        return;
    }
    Before before = {.use = use, .rest.region = *rest, .arena = arena, .scratch = arena_create_within(arena)};
    search_before(&before, 0, use->iterations, 0, use->per_rank, use->ranks);
    *rest = before.rest.region;
    arena_free(before.scratch);
}

static const Region *copy_unused(const Region *unused, int use_count, Arena *arena) {
    Region *copy = arena_array(arena, Region, use_count + 1);
    for (int u = 0; u <= use_count; u++)
        copy[u] = region_copy(&unused[u], arena);
    return copy;
}

void induced_copy_unused(Home *home, Arena *arena) {
    home->unused = copy_unused(home->unused, home->use_count, arena);
}

void induced_find_unused(Home *home) {
    Arena *scratch = arena_create_within(home->arena);
    Region *unused = arena_array(scratch, Region, home->use_count + 1);
    bool read = false;
    unused[0] = whole_region(home, scratch);
    for (int u = 0; u < home->use_count; u++) {
        // What results leave no part of cannot be read first.
        read |= unused[u].rects.count && home->uses[u]->kind == TRANSFER_FETCH;
        unused[u + 1] = unused[u];
        subtract_everything(home->uses[u], &unused[u + 1], scratch);
    }
    home->unused = copy_unused(unused, home->use_count, home->arena);
    home->replicated = read && home->ranks > 1;
    arena_free(scratch);
}

// Of what `rank` uses in a step, what no rank has used in a step before, nor, of a result, a rank below it in
// the same step.
static Region first_used(const Footprints *use, int64_t rank, int64_t step, const Footprint *used,
                         const Region *rest, Arena *arena, Arena *scratch) {
    Before before = {.use = use, .arena = arena, .scratch = scratch};
    for (int64_t i = 0; i < used->region.rects.count; i++)
        for (int64_t k = 0; k < rest->rects.count; k++) {
            Rect part;
            if (rect_intersect(&used->region.rects.items[i], &rest->rects.items[k], arena, &part))
                array_push(arena, before.rest.region.rects, part);
        }
    const int64_t local = step_local(use, step), iteration = step_iteration(use, step);
    search_before(&before, 0, iteration, 0, local + 1, use->ranks);
    search_before(&before, iteration, use->iterations, 0, local, use->ranks);
    if (use->kind == TRANSFER_REDUCE)
        search_before(&before, iteration, iteration + 1, local, local + 1, rank);
    return before.rest.region;
}

// A list of rectangles that are joined each time that there are twice as many, as it takes quadratic time.
typedef struct {
    Region region;
    int64_t most;
} Growing;

static void add_region(Growing *growing, const Region *region, Arena *arena) {
    enum { FEW = 8 };
    for (int64_t i = 0; i < region->rects.count; i++)
        array_push(arena, growing->region.rects, rect_copy(&region->rects.items[i], arena));
    if (growing->region.rects.count <= max_i64(FEW, growing->most))
        return;
    region_coalesce(&growing->region);
    growing->most = 2 * growing->region.rects.count;
}

Region induced_pieces(const Home *home, int64_t rank, Arena *arena) {
    Growing pieces = {0};
    Arena *step_arena = arena_create_within(arena), *scratch = arena_create_within(arena);
    for (int u = 0; u < home->use_count && home->unused[u].rects.count; u++) {
        const Footprints *use = home->uses[u];
        for (int64_t step = 0; step < use->steps; step++) {
            Worker worker;
            Footprint used;
            arena_reset(step_arena);
            if (!footprint_of_rank(use, rank, step, step_arena, &worker, &used))
                continue;
            const Region own = first_used(use, rank, step, &used, &home->unused[u], step_arena, scratch);
            add_region(&pieces, &own, arena);
        }
    }
    arena_free(step_arena);
    arena_free(scratch);
    if (rank == 0)
        add_region(&pieces, &home->unused[home->use_count], arena);
    region_coalesce(&pieces.region);
    return pieces.region;
}

// A class that uses part of what is looked for, in the current iteration.
typedef struct {
    Worker worker;
    Footprint footprint;
    int64_t first; // rank of its first member
} User;

typedef struct {
    const Footprints *use;
    int64_t local;
    int64_t iteration;
    const Region *unused; // what no use before this one has reached
    Array(User) users;
    Footprint rest; // of what is looked for
    Arena *arena, *step_arena, *scratch;
    HoldingArray *found;
} Owners;

typedef struct {
    const Footprints *use;
    Arena *arena;
    Array(int64_t) ranks;
} Members;

static bool add_member(void *context, const Worker *member) {
    Members *members = context;
    array_push(members->arena, members->ranks, member->index / members->use->per_rank);
    return true;
}

// A result has one owner.
static void add_first(const Owners *owners, Holding *holding, const User *user) {
    if (holding->holder_count > 0)
        return;
    holding->rank = user->first;
    holding->holder_count = 1;
    holding->holders = arena_copy(owners->arena, &user->first, sizeof user->first);
}

static void add_holders(const Owners *owners, Holding *holding, const User *user) {
    if (owners->use->kind == TRANSFER_REDUCE) {
        add_first(owners, holding, user);
        return;
    }
    Members members = {.use = owners->use, .arena = owners->arena};
    for (int64_t i = 0; i < holding->holder_count; i++)
        array_push(owners->arena, members.ranks, holding->holders[i]);
    class_members(owners->use, &user->worker, owners->local, owners->iteration, owners->scratch, add_member,
                  &members);
    ranks_sort(members.ranks.items, members.ranks.count);
    holding->holder_count = ranks_unique(members.ranks.items, members.ranks.count);
    holding->holders = members.ranks.items;
    holding->rank = members.ranks.items[0];
}

// Splits the parts of this iteration, from `first` on, where the footprint of a user ends.
static void split_parts(Owners *owners, int64_t first, const User *user) {
    const int64_t count = owners->found->count;
    for (int64_t i = first; i < count; i++) {
        Region outside = {0};
        array_push(owners->arena, outside.rects, owners->found->items[i].rect);
        Region inside = {0};
        for (int64_t k = 0; k < user->footprint.region.rects.count; k++) {
            const Rect used = rect_copy(&user->footprint.region.rects.items[k], owners->arena);
            Rect part;
            if (!rect_intersect(&owners->found->items[i].rect, &used, owners->arena, &part))
                continue;
            array_push(owners->arena, inside.rects, part);
            region_subtract(&outside, &used, owners->arena);
        }
        if (inside.rects.count == 0)
            continue;
        const Holding before = owners->found->items[i];
        Holding with = before;
        add_holders(owners, &with, user);
        for (int64_t k = 0; k < inside.rects.count + outside.rects.count; k++) {
            const bool is_inside = k < inside.rects.count;
            Holding part = is_inside ? with : before;
            part.rect = is_inside ? inside.rects.items[k] : outside.rects.items[k - inside.rects.count];
            if (k == 0)
                owners->found->items[i] = part;
            else
                array_push(owners->arena, *owners->found, part);
        }
    }
}

static int compare_users(const void *left, const void *right) {
    const User *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

// What the users of one iteration have for the first time.
static void finish_iteration(Owners *owners) {
    const int64_t first = owners->found->count;
    if (owners->users.count == 0)
        return;
    qsort(owners->users.items, (size_t)owners->users.count, sizeof(User), compare_users);
    for (int64_t i = 0; i < owners->rest.region.rects.count; i++)
        array_push(owners->arena, *owners->found, (Holding){.rect = owners->rest.region.rects.items[i]});
    for (int64_t u = 0; u < owners->users.count; u++)
        split_parts(owners, first, &owners->users.items[u]);
    // What has no user yet stays for later.
    owners->rest.region = (Region){0};
    int64_t kept = first;
    for (int64_t i = first; i < owners->found->count; i++) {
        Holding *holding = &owners->found->items[i];
        if (holding->holder_count == 0) {
            array_push(owners->arena, owners->rest.region.rects, holding->rect);
            continue;
        }
        owners->found->items[kept++] = *holding;
    }
    owners->found->count = kept;
    owners->users.items = NULL;
    owners->users.count = owners->users.capacity = 0;
    arena_reset(owners->step_arena);
}

static bool add_user(void *context, const Worker *worker, int64_t iteration, const Footprint *footprint) {
    Owners *owners = context;
    if (iteration != owners->iteration)
        finish_iteration(owners);
    owners->iteration = iteration;
    const int64_t first = first_rank(owners->use, worker, owners->local, iteration, owners->scratch);
    if (first >= 0) {
        // Cut as the pieces of the rank are, so that each part is in one of them.
        User user = {*worker, footprint_copy(footprint, owners->step_arena), first};
        const int64_t step = owners->local * owners->use->iterations + iteration;
        user.footprint.region = first_used(owners->use, first, step, &user.footprint, owners->unused,
                                           owners->step_arena, owners->scratch);
        array_push(owners->step_arena, owners->users, user);
    }
    return owners->rest.region.rects.count > 0;
}

static void search_use(Owners *owners, const Footprints *use) {
    owners->use = use;
    for (owners->local = 0; owners->local < use->per_rank && owners->rest.region.rects.count;
         owners->local++) {
        owners->iteration = -1;
        search_classes(use, 0, use->steps ? use->iterations : 0, SEARCH_OVERLAPPING, &owners->rest,
                       owners->scratch, add_user, owners);
        finish_iteration(owners);
    }
}

void induced_owners(const Home *home, const Rect *rect, Arena *arena, HoldingArray *found) {
    Owners owners = {.arena = arena,
                     .step_arena = arena_create_within(arena),
                     .scratch = arena_create_within(arena),
                     .found = found};
    array_push(arena, owners.rest.region.rects, *rect);
    for (int u = 0; u < home->use_count && owners.rest.region.rects.count; u++) {
        owners.unused = &home->unused[u];
        search_use(&owners, home->uses[u]);
    }
    // What no iteration uses is on the first rank.
    static const int64_t first_rank_only[] = {0};
    const Region *unused = &home->unused[home->use_count];
    for (int64_t i = 0; i < unused->rects.count; i++) {
        Rect part;
        if (owners.rest.region.rects.count && rect_intersect(&unused->rects.items[i], rect, arena, &part))
            array_push(arena, *found, (Holding){part, 0, 1, first_rank_only});
    }
    arena_free(owners.step_arena);
    arena_free(owners.scratch);
}
