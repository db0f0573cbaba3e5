// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: deliveries of the same piece from the same owner in the same step become one, and where it has
// several takers, a collective operation of them and the owner.
#include "plan/pattern.h"
#include "plan/ranks.h"

#include <stdlib.h>

// More groups than this stay single messages: every group costs its members a communicator.
enum { MOST_GROUPS = 1024 };

static int compare_pieces(const Delivery *a, const Delivery *b) {
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->from_view != b->from_view)
        return a->from_view ? 1 : -1;
    return rect_compare(&a->rect, &b->rect);
}

static int compare(const void *left, const void *right) {
    const Delivery *a = left, *b = right;
    int pieces = compare_pieces(a, b);
    if (pieces != 0)
        return pieces;
    return a->targets.items[0] < b->targets.items[0] ? -1 : a->targets.items[0] > b->targets.items[0];
}

// Deliveries of the same piece become one.
static void join(Walk *walk, Arena *arena) {
    Delivery *all = walk->deliveries.items;
    int64_t joined = 0;
    qsort(all, (size_t)walk->deliveries.count, sizeof(Delivery), compare);
    for (int64_t first = 0, end; first < walk->deliveries.count; first = end) {
        Delivery *to = &all[joined++];
        *to = all[first];
        for (end = first + 1; end < walk->deliveries.count && compare_pieces(&all[end], to) == 0; end++)
            for (int64_t k = 0; k < all[end].targets.count; k++)
                array_push(arena, to->targets, all[end].targets.items[k]);
        if (end - first > 1)
            ranks_sort(to->targets.items, to->targets.count);
    }
    walk->deliveries.count = joined;
}

// Whether several ranks use the piece, be it only its owner and one other.
static bool is_shared(const Walk *walk, const Delivery *delivery) {
    return delivery->targets.count > 1 ||
           region_contains(&walk->needs[delivery->source].demand->region, &delivery->rect);
}

static void serve(Exchange *exchange) {
    Walk *walk = exchange->walk;
    StatementPlan *plan = walk->plan;
    if (walk->deliveries.count == 0)
        return;
    join(walk, exchange->arena);
    int64_t *ranks = arena_array(exchange->arena, int64_t, plan->ranks);
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        Delivery *delivery = &walk->deliveries.items[i];
        if (delivery->from_view || !is_shared(walk, delivery))
            continue;
        delivery->pattern = PATTERN_BROADCAST;
        if (delivery->targets.count < 2 || (plan->options.without & OPERATION_BIT(OPERATION_BROADCAST)) ||
            plan->groups.count >= MOST_GROUPS)
            continue;
        int64_t members = 0;
        for (int64_t k = 0; k < delivery->targets.count; k++) {
            int64_t target = delivery->targets.items[k];
            if (members == k && delivery->source < target)
                ranks[members++] = delivery->source;
            ranks[members++] = target;
        }
        if (members == delivery->targets.count)
            ranks[members++] = delivery->source;
        delivery->group = plan_group(plan, ranks, members);
    }
}

const Pattern pattern_broadcast = {PATTERN_BROADCAST, serve};
