// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: messages that carry the same piece from the same owner in the same step become one collective
// operation of the owner and its takers.
#include "plan/pattern.h"

#include <stdlib.h>

// More groups than this stay single messages: every group costs its members a communicator.
enum { MOST_GROUPS = 1024 };

static int compare(const void *left, const void *right) {
    const Message *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->from_view != b->from_view)
        return a->from_view ? 1 : -1;
    for (int d = 0; d < a->rect.order; d++) {
        if (a->rect.lo[d] != b->rect.lo[d])
            return a->rect.lo[d] < b->rect.lo[d] ? -1 : 1;
        if (a->rect.hi[d] != b->rect.hi[d])
            return a->rect.hi[d] < b->rect.hi[d] ? -1 : 1;
    }
    return a->target < b->target ? -1 : a->target > b->target;
}

static void serve(Exchange *exchange) {
    Walk *walk = exchange->walk;
    StatementPlan *plan = walk->plan;
    const int64_t count = walk->messages.count;
    Message *messages = walk->messages.items;
    if (count == 0)
        return;
    qsort(messages, (size_t)count, sizeof(Message), compare);
    int64_t *ranks = arena_array(exchange->arena, int64_t, plan->ranks);
    for (int64_t first = 0, end; first < count; first = end) {
        const Message *piece = &messages[first];
        for (end = first + 1; end < count && messages[end].source == piece->source &&
                              messages[end].from_view == piece->from_view &&
                              rect_equal(&messages[end].rect, &piece->rect);)
            end++;
        if (end - first < 2 || piece->from_view || plan->options.no_broadcast ||
            plan->groups.count >= MOST_GROUPS)
            continue;
        int64_t members = 0;
        for (int64_t i = first; i < end; i++) {
            if (piece->source < messages[i].target && (i == first || piece->source > messages[i - 1].target))
                ranks[members++] = piece->source;
            ranks[members++] = messages[i].target;
        }
        if (piece->source > messages[end - 1].target)
            ranks[members++] = piece->source;
        int64_t group = plan_group(plan, ranks, members);
        for (int64_t i = first; i < end; i++)
            messages[i].group = group;
    }
}

const Pattern pattern_broadcast = {PATTERN_BROADCAST, serve};
