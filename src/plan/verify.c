// SPDX-License-Identifier: BSD-3-Clause
// The verifier of plans. It makes the parts of all ranks, each of which was planned for itself, and looks
// whether they fit together: each rank gets exactly what it uses, from ranks that have it; both ends of a
// message, and all members of a group, agree; figures are what the parts add up to.
#include "plan/verify.h"

#include "base/integer.h"
#include "plan/indexed.h"
#include "plan/planner.h"
#include "plan/ranks.h"

#include <inttypes.h>

typedef struct {
    StatementPlan *plan;
    Planner planner;
    const RankTransfer **parts; // by rank
    Region *homes;              // by rank
    int64_t step;
    Footprint *now, *before; // by rank: footprints of this step and the one before
    Arena *arena;            // of one step
    const char **why;
} Verifier;

static bool fail(const Verifier *verifier, const char *what, int64_t rank) {
    const Transfer *transfer = verifier->planner.transfer;
    *verifier->why =
        arena_printf(verifier->plan->arena, "transfer %d of %s, step %" PRId64 ", rank %" PRId64 ": %s",
                     transfer->id, transfer->access->tensor->name, verifier->step, rank, what);
    return false;
}

static const RankStep *step_of(const Verifier *verifier, int64_t rank) {
    return &verifier->parts[rank]->steps[verifier->step];
}

// The operations of a rank in the step.
static const RankOperation *operations_of(const Verifier *verifier, int64_t rank, int64_t *count) {
    const RankStep *step = step_of(verifier, rank);
    *count = step->operation_count;
    return *count ? verifier->parts[rank]->operations + step->first_operation : NULL;
}

static const Rect *operation_rect(const RankOperation *operation) {
    return operation->send_count ? &operation->sends[0].rect : &operation->receives[0].rect;
}

static bool verify_view(const Verifier *verifier, int64_t rank) {
    const RankStep *step = step_of(verifier, rank);
    const RectArray *rects = &verifier->now[rank].region.rects;
    if (step->empty != (rects->count == 0))
        return fail(verifier, "has a view without a footprint, or the reverse", rank);
    for (int64_t i = 0; i < rects->count; i++)
        if (!rect_contains(&step->view, &rects->items[i]))
            return fail(verifier, "uses what its view has no room for", rank);
    if (step->kept && (verifier->step == 0 ||
                       !footprint_equal(&verifier->now[rank], &verifier->before[rank]) || step->piece >= 0))
        return fail(verifier, "keeps what it did not have in its buffer", rank);
    return true;
}

static bool verify_source(const Verifier *verifier, int64_t rank, const Part *part) {
    if (rect_is_empty(&part->rect))
        return true;
    if (part->previous)
        return region_contains(&verifier->before[rank].region, &part->rect) ||
               fail(verifier, "passes on what it did not use in the step before", rank);
    return (part->piece >= 0 && part->piece < verifier->homes[rank].rects.count &&
            rect_contains(&verifier->homes[rank].rects.items[part->piece], &part->rect)) ||
           fail(verifier, "sends or adds to what it has in no piece of its home", rank);
}

// Takes a part out of what is still expected; false where it was not.
static bool take(const Verifier *verifier, Region *expected, const Rect *rect) {
    if (rect_is_empty(rect))
        return true;
    for (int64_t i = 0; i < expected->rects.count; i++)
        if (rect_equal(&expected->rects.items[i], rect)) {
            expected->rects.items[i] = expected->rects.items[--expected->rects.count];
            return true;
        }
    if (!region_contains(expected, rect))
        return false;
    region_subtract(expected, rect, verifier->arena);
    return true;
}

static bool verify_fetch(const Verifier *verifier, int64_t rank) {
    const RankStep *step = step_of(verifier, rank);
    Region expected = {0};
    int64_t count;
    const RankOperation *all = operations_of(verifier, rank, &count);
    if (step->piece < 0 && !step->kept)
        expected = region_copy(&verifier->now[rank].region, verifier->arena);
    else if (step->piece >= 0 &&
             !rect_contains(&verifier->homes[rank].rects.items[step->piece], &verifier->now[rank].bounds))
        return fail(verifier, "works in a home piece that has not all of its footprint", rank);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < all[i].send_count; k++)
            if (!verify_source(verifier, rank, &all[i].sends[k]))
                return false;
        for (int64_t k = 0; k < all[i].receive_count; k++) {
            const Part *part = &all[i].receives[k];
            if (!take(verifier, &expected, &part->rect))
                return fail(verifier, "gets what it does not lack", rank);
            if (part->previous || (part->piece >= 0) != (all[i].operation->id == OPERATION_LOCAL))
                return fail(verifier, "gets it elsewhere than into its view", rank);
        }
    }
    return expected.rects.count == 0 || fail(verifier, "does not get all that it uses", rank);
}

static bool is_same_sum(const RankOperation *a, const RankOperation *b) {
    return a->group == b->group && a->operation == b->operation &&
           rect_equal(operation_rect(a), operation_rect(b));
}

// Of an operation of a group, the members with a partial result. Of several of the same rectangle, which
// classes with the same footprint have, members have one each in the same order.
static int64_t contributor_count(const Verifier *verifier, int64_t rank, const RankOperation *operation) {
    const Group *group = &verifier->plan->groups.items[operation->group];
    int64_t count, before = 0, contributors = 0;
    for (const RankOperation *at = operations_of(verifier, rank, &count); at < operation; at++)
        before += is_same_sum(at, operation);
    for (int64_t m = 0; m < group->count; m++) {
        const RankOperation *all = operations_of(verifier, group->ranks[m], &count);
        int64_t same = 0;
        for (int64_t i = 0; i < count; i++)
            if (is_same_sum(&all[i], operation) && same++ == before)
                contributors += all[i].contributes;
    }
    return contributors;
}

// Partial results that reach the home of a rank, in elements.
static bool verify_sums(const Verifier *verifier, int64_t rank) {
    int64_t expected = 0, arriving = 0, count;
    for (int64_t other = 0; other < verifier->plan->ranks; other++) {
        const RectArray *used = &verifier->now[other].region.rects;
        for (int64_t i = 0; i < used->count && step_of(verifier, other)->piece < 0; i++)
            for (int64_t k = 0; k < verifier->homes[rank].rects.count; k++)
                expected += rect_common(&verifier->homes[rank].rects.items[k], &used->items[i]);
    }
    const RankOperation *all = operations_of(verifier, rank, &count);
    for (int64_t i = 0; i < count; i++) {
        const bool scatters = all[i].operation->shape == SHAPE_MEMBERS;
        const int64_t times = all[i].group < 0 ? 1
                              : scatters       ? all[i].send_count
                                               : contributor_count(verifier, rank, &all[i]);
        for (int64_t k = 0; k < all[i].receive_count; k++) {
            if (!verify_source(verifier, rank, &all[i].receives[k]))
                return false;
            arriving += times * rect_volume(&all[i].receives[k].rect);
        }
    }
    return expected == arriving ||
           fail(verifier, "does not get the partial results of its home exactly once", rank);
}

// What a local operation adds to the file is in no stage of the step, which is written later.
static bool verify_stages(const Verifier *verifier, int64_t rank, const RankOperation *local) {
    const RankStep *step = step_of(verifier, rank);
    const DiskStage *stages = verifier->parts[rank]->stages + step->first_stage;
    for (int64_t k = 0; k < local->receive_count; k++)
        for (int64_t s = 0; s < step->stage_count && local->receives[k].stage == STAGE_FILE; s++)
            if (rect_common(&stages[s].rect, &local->receives[k].rect) > 0)
                return fail(verifier, "adds to a file what it has in a stage", rank);
    return true;
}

// Each element of the footprint goes to its owners once: messages to several owners are the same part.
static bool verify_reduce(const Verifier *verifier, int64_t rank) {
    Region expected = {0};
    int64_t count;
    const RankOperation *all = operations_of(verifier, rank, &count);
    if (step_of(verifier, rank)->piece < 0)
        expected = region_copy(&verifier->now[rank].region, verifier->arena);
    for (int64_t i = 0; i < count; i++) {
        const bool local = all[i].operation->id == OPERATION_LOCAL;
        const Part *parts = local ? all[i].receives : all[i].sends;
        const int64_t part_count = local ? all[i].receive_count : all[i].send_count;
        if (local && !verify_stages(verifier, rank, &all[i]))
            return false;
        for (int64_t k = 0; k < part_count; k++)
            if (!take(verifier, &expected, &parts[k].rect) &&
                !(all[i].group < 0 && verifier->planner.home->replicated))
                return fail(verifier, "contributes what it has not computed", rank);
    }
    if (expected.rects.count)
        return fail(verifier, "does not contribute all that it has computed", rank);
    return verify_sums(verifier, rank);
}

// The part of the same message at the other end, `index`-th between the two.
static const Part *other_end(const Verifier *verifier, int64_t rank, int64_t peer, OperationId id,
                             int64_t index) {
    int64_t count;
    const RankOperation *all = operations_of(verifier, peer, &count);
    for (int64_t i = 0; i < count; i++) {
        if (all[i].operation->id != id)
            continue;
        for (int64_t k = 0; k < all[i].receive_count; k++)
            if (all[i].receives[k].peer == rank && index-- == 0)
                return &all[i].receives[k];
    }
    return NULL;
}

static bool verify_messages(const Verifier *verifier, int64_t rank, const RankOperation *operation) {
    int64_t index = 0;
    for (int64_t k = 0; k < operation->send_count; k++) {
        const Part *part = &operation->sends[k];
        index = k > 0 && operation->sends[k - 1].peer == part->peer ? index + 1 : 0;
        const Part *other = other_end(verifier, rank, part->peer, operation->operation->id, index);
        if (part->peer == rank || !other || !rect_equal(&other->rect, &part->rect))
            return fail(verifier, "sends what its peer does not expect", rank);
        const bool last = k + 1 == operation->send_count || operation->sends[k + 1].peer != part->peer;
        if (last && other_end(verifier, rank, part->peer, operation->operation->id, index + 1))
            return fail(verifier, "sends less than its peer expects", rank);
    }
    for (int64_t k = 0; k < operation->receive_count && operation->operation->id != OPERATION_LOCAL; k++) {
        const int64_t peer = operation->receives[k].peer;
        int64_t count, sent = 0;
        const RankOperation *all = operations_of(verifier, peer, &count);
        for (int64_t i = 0; i < count; i++)
            for (int64_t n = 0; n < all[i].send_count && all[i].operation == operation->operation; n++)
                sent += all[i].sends[n].peer == rank;
        if (sent == 0)
            return fail(verifier, "expects what its peer does not send", rank);
    }
    return true;
}

static bool is_member(const Verifier *verifier, const RankOperation *operation, int64_t rank) {
    if (operation->group < 0)
        return false;
    const Group *group = &verifier->plan->groups.items[operation->group];
    return ranks_contain(group->ranks, group->count, rank);
}

static bool same_collective(const RankOperation *a, const RankOperation *b) {
    if (a->operation != b->operation || a->group != b->group || a->root != b->root ||
        a->exclusive != b->exclusive)
        return false;
    if (a->operation->shape == SHAPE_MESSAGES)
        return true;
    if (a->operation->shape == SHAPE_PART)
        return rect_equal(operation_rect(a), operation_rect(b));
    const bool gathers = a->operation->kind == TRANSFER_FETCH;
    const int64_t count = gathers ? a->receive_count : a->send_count;
    if (count != (gathers ? b->receive_count : b->send_count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        const Rect *left = gathers ? &a->receives[i].rect : &a->sends[i].rect;
        const Rect *right = gathers ? &b->receives[i].rect : &b->sends[i].rect;
        if (!rect_equal(left, right))
            return false;
    }
    return true;
}

// Two ranks execute the collective operations that both take part in, in the same order.
static bool verify_order(const Verifier *verifier, int64_t a, int64_t b) {
    int64_t a_count, b_count, k = 0;
    const RankOperation *of_a = operations_of(verifier, a, &a_count);
    const RankOperation *of_b = operations_of(verifier, b, &b_count);
    for (int64_t i = 0; i < a_count; i++) {
        if (!is_member(verifier, &of_a[i], b))
            continue;
        while (k < b_count && !is_member(verifier, &of_b[k], a))
            k++;
        if (k == b_count || !same_collective(&of_a[i], &of_b[k]))
            return fail(verifier, "disagrees with another member of a group", a);
        k++;
    }
    while (k < b_count && !is_member(verifier, &of_b[k], a))
        k++;
    return k == b_count || fail(verifier, "leaves out an operation of a group", a);
}

static bool verify_step(Verifier *verifier) {
    const bool fetches = verifier->planner.transfer->kind == TRANSFER_FETCH;
    for (int64_t rank = 0; rank < verifier->plan->ranks; rank++) {
        int64_t count;
        const RankOperation *all = operations_of(verifier, rank, &count);
        if (!verify_view(verifier, rank) ||
            !(fetches ? verify_fetch(verifier, rank) : verify_reduce(verifier, rank)))
            return false;
        for (int64_t i = 0; i < count; i++)
            if (all[i].operation->shape == SHAPE_MESSAGES && !verify_messages(verifier, rank, &all[i]))
                return false;
            else if (all[i].group >= 0 && !is_member(verifier, &all[i], rank))
                return fail(verifier, "takes part in a group of others", rank);
        for (int64_t other = 0; other < rank; other++)
            if (!verify_order(verifier, other, rank))
                return false;
    }
    return true;
}

// What the parts of all ranks add up to.
static bool verify_figures(Verifier *verifier) {
    const TransferFigures *figures = &plan_figures(verifier->plan)->transfers[verifier->planner.transfer->id];
    for (int64_t rank = 0; rank < verifier->plan->ranks; rank++) {
        const RankTransfer *part = verifier->parts[rank];
        int64_t bytes = 0, messages = 0;
        for (int64_t i = 0; i < part->operation_count; i++) {
            bytes = saturated_add(bytes, part->operations[i].bytes);
            messages += part->operations[i].messages;
        }
        const int64_t buffers = rank_buffer_bytes(part);
        const char *what = bytes != figures->bytes[rank]                                        ? "bytes"
                           : messages != figures->messages[rank]                                ? "messages"
                           : buffers != figures->buffer_bytes[rank]                             ? "buffers"
                           : rank_copy_bytes(verifier->plan, part) != figures->copy_bytes[rank] ? "copies"
                                                                                                : NULL;
        if (what)
            return fail(verifier,
                        arena_printf(verifier->plan->arena,
                                     "%s differ from the figures: %" PRId64 " bytes, %" PRId64
                                     " messages, %" PRId64 " of buffers; figures %" PRId64 ", %" PRId64
                                     ", %" PRId64,
                                     what, bytes, messages, buffers, figures->bytes[rank],
                                     figures->messages[rank], figures->buffer_bytes[rank]),
                        rank);
    }
    return true;
}

// The parts that home_owners gives to a rank are exactly its home pieces.
static bool verify_pieces(const Verifier *verifier, const HoldingArray *owners, int64_t rank) {
    const Region pieces = home_pieces(verifier->planner.home, rank, verifier->arena);
    Region rest = region_copy(&pieces, verifier->arena);
    for (int64_t k = 0; k < owners->count; k++) {
        if (!holding_has(&owners->items[k], rank))
            continue;
        Region part = {0};
        array_push(verifier->arena, part.rects, owners->items[k].rect);
        region_subtract_all(&rest, &part, verifier->arena);
        region_subtract_all(&part, &pieces, verifier->arena);
        if (part.rects.count)
            return fail(verifier, "has no piece for a part of its home", rank);
    }
    return rest.rects.count == 0 || fail(verifier, "has a piece of what is not its home", rank);
}

// Every coordinate has an owner, and one only but where there are replicas.
static bool verify_home(Verifier *verifier, int transfer) {
    verifier->arena = arena_create_within(verifier->plan->arena);
    verifier->planner = planner_create(verifier->plan, transfer, verifier->arena);
    const Home *home = verifier->planner.home;
    const Rect whole = rect_whole(home->order, home->extents);
    HoldingArray owners = {0};
    Region rest = {0};
    bool fine = true;
    if (!rect_is_empty(&whole)) {
        array_push(verifier->arena, rest.rects, whole);
        home_owners(home, &whole, verifier->arena, &owners);
    }
    for (int64_t k = 0; k < owners.count && fine; k++) {
        const Rect *rect = &owners.items[k].rect;
        Region taken = {0}; // of the rectangle
        array_push(verifier->arena, taken.rects, *rect);
        for (int64_t i = 0; i < rest.rects.count && taken.rects.count; i++)
            region_subtract(&taken, &rest.rects.items[i], verifier->arena);
        region_subtract(&rest, rect, verifier->arena);
        fine = (home->replicated || owners.items[k].holder_count == 1) && taken.rects.count == 0;
        if (!fine)
            fail(verifier, "has at home what another rank has as well", owners.items[k].rank);
    }
    if (fine && rest.rects.count)
        fine = fail(verifier, "coordinates have no home, on this rank nor on any other", 0);
    for (int64_t rank = 0; rank < verifier->plan->ranks && fine; rank++)
        fine = verify_pieces(verifier, &owners, rank);
    arena_free(verifier->arena);
    return fine;
}

static bool verify_transfer(Verifier *verifier, int transfer) {
    Arena *arena = arena_create_within(verifier->plan->arena);
    Arena *footprints[] = {arena_create_within(arena), arena_create_within(arena)};
    const int64_t ranks = verifier->plan->ranks;
    verifier->planner = planner_create(verifier->plan, transfer, arena);
    verifier->arena = arena_create_within(arena);
    verifier->parts = arena_array(arena, const RankTransfer *, ranks);
    verifier->homes = arena_array(arena, Region, ranks);
    verifier->now = arena_array(arena, Footprint, ranks);
    verifier->before = arena_array(arena, Footprint, ranks);
    for (int64_t rank = 0; rank < ranks; rank++) {
        verifier->parts[rank] = plan_rank_transfer(verifier->plan, transfer, rank);
        verifier->homes[rank] = home_pieces(verifier->planner.home, rank, arena);
    }
    bool fine = true;
    for (int64_t s = 0; s < verifier->planner.footprints->steps && fine; s++) {
        Footprint *before = verifier->before;
        verifier->before = verifier->now;
        verifier->now = before;
        verifier->step = s;
        arena_reset(verifier->arena);
        arena_reset(footprints[s % 2]);
        for (int64_t rank = 0; rank < ranks; rank++) {
            Worker worker;
            footprint_of_rank(verifier->planner.footprints, rank, s, footprints[s % 2], &worker,
                              &verifier->now[rank]);
        }
        fine = verify_step(verifier);
    }
    fine = fine && verify_figures(verifier);
    arena_free(arena);
    return fine;
}

bool plan_verify(StatementPlan *plan, const char **why) {
    Verifier verifier = {.plan = plan, .why = why};
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        if (!verify_home(&verifier, t) ||
            (!tensor_is_sparse(plan->spmd->transfers[t].access->tensor) && transfer_indexed_by(plan, t) < 0 &&
             !verify_transfer(&verifier, t)))
            return false;
    return true;
}

bool plan_verify_is_quick(const StatementPlan *plan) {
    enum { MOST_PAIRS = 20000 }; // of ranks, over all steps
    int64_t pairs = 0;
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        pairs = saturated_add(
            pairs, saturated_mul(plan->footprints[t]->steps, saturated_mul(plan->ranks, plan->ranks)));
    return pairs <= MOST_PAIRS;
}
