// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pattern.h"

#include "base/integer.h"

#include <string.h>

const char *const pattern_names[] = {"none", "local", "gather", "broadcast", "shift", "reduce"};

void patterns_serve(Exchange *exchange) {
#define POINTER(name) &pattern_##name,
    static const Pattern *const patterns[] = {PATTERNS(POINTER) NULL};
    for (int i = 0; patterns[i]; i++) {
        exchange->pattern = patterns[i]->name;
        patterns[i]->serve(exchange);
    }
}

static void cut(const Rect *rect, int64_t limit, void (*visit)(void *context, const Rect *part),
                void *context) {
    if (rect_volume(rect) <= limit || limit < 1) {
        visit(context, rect);
        return;
    }
    // Halve the outermost mode that has more than one coordinate, so that the parts stay contiguous where the
    // whole was.
    int mode = 0;
    while (rect_count(rect, mode) == 1)
        mode++;
    const PositionSet all = rect_mode(rect, mode);
    const int64_t count = positions_count(all), middle = (count + 1) / 2;
    Rect half = *rect;
    rect_set_mode(&half, mode, positions_slice(all, 0, middle));
    cut(&half, limit, visit, context);
    rect_set_mode(&half, mode, positions_slice(all, middle, count));
    cut(&half, limit, visit, context);
}

// What has more parts of the usual message limit than this, no process holds; it can be planned all the same.
enum { MAX_PARTS = 1 << 12 };

void rect_cut(const Rect *rect, int64_t limit, void (*visit)(void *context, const Rect *part),
              void *context) {
    cut(rect, limit < 1 ? limit : max_i64(limit, rect_volume(rect) / MAX_PARTS), visit, context);
}

typedef struct {
    Exchange *exchange;
    int64_t source, target;
    bool from_view;
} Sending;

static void send_part(void *context, const Rect *part) {
    const Sending *sending = context;
    Arena *arena = sending->exchange->arena;
    Delivery delivery = {.source = sending->source,
                         .pattern = sending->exchange->pattern,
                         .from_view = sending->from_view,
                         .group = -1,
                         .rect = *part};
    array_push(arena, delivery.targets, sending->target);
    array_push(arena, sending->exchange->walk->deliveries, delivery);
}

void exchange_send(Exchange *exchange, int64_t source, int64_t target, bool from_view, const Rect *rect) {
    int64_t size = (int64_t)type_info(exchange->home->tensor->type)->size;
    Sending sending = {exchange, source, target, from_view};
    rect_cut(rect, exchange->walk->plan->options.message_limit / size, send_part, &sending);
}

PatternName walk_pattern(const Walk *walk) {
    PatternName pattern = PATTERN_LOCAL;
    if (walk->combinations.count > 0) {
        for (int64_t i = 0; i < walk->combinations.count; i++) {
            const Combination *combination = &walk->combinations.items[i];
            if (combination->owner_count > 1 || combination->contributor_count > 1 ||
                combination->contributors[0] != combination->owners[0])
                pattern = PATTERN_REDUCE;
        }
        return pattern;
    }
    for (int64_t i = 0; i < walk->deliveries.count; i++)
        if (walk->deliveries.items[i].pattern > pattern)
            pattern = walk->deliveries.items[i].pattern;
    return pattern;
}

int64_t plan_group(StatementPlan *plan, const int64_t *ranks, int64_t count) {
    for (int64_t i = plan->groups.count - 1; i >= 0; i--)
        if (plan->groups.items[i].count == count &&
            memcmp(plan->groups.items[i].ranks, ranks, sizeof(int64_t) * (size_t)count) == 0)
            return i;
    Group group = {count, arena_copy(plan->arena, ranks, sizeof(int64_t) * (size_t)count)};
    array_push(plan->arena, plan->groups, group);
    return plan->groups.count - 1;
}
