// SPDX-License-Identifier: BSD-3-Clause
// Reduce: partial results for the same rectangle, from however many ranks, are added up at all of its owners.
#include "plan/pattern.h"
#include "plan/ranks.h"

#include <stdlib.h>

typedef struct {
    Rect rect;
    int64_t contributor, owner;
} Contribution;

typedef struct {
    Arena *arena;
    int64_t contributor, owner;
    Array(Contribution) list;
} Contributions;

static void add_part(void *context, const Rect *part) {
    Contributions *all = context;
    array_push(all->arena, all->list, (Contribution){*part, all->contributor, all->owner});
}

static int compare(const void *left, const void *right) {
    const Contribution *a = left, *b = right;
    int rects = rect_compare(&a->rect, &b->rect);
    if (rects != 0)
        return rects;
    return a->contributor < b->contributor ? -1 : a->contributor > b->contributor;
}

// Who takes part: with one owner that one and the others that contribute (its own part it adds by itself).
static int64_t group_of(StatementPlan *plan, const Combination *combination, Arena *arena) {
    int64_t count = combination->contributor_count + combination->owner_count,
            members = combination->owner_count;
    int64_t *ranks = arena_array(arena, int64_t, count);
    for (int64_t i = 0; i < combination->owner_count; i++)
        ranks[i] = combination->owners[i];
    for (int64_t i = 0; i < combination->contributor_count; i++)
        if (!ranks_contain(ranks, combination->owner_count, combination->contributors[i]))
            ranks[members++] = combination->contributors[i];
    if (combination->owner_count == 1 && members <= 2)
        return -1;
    ranks_sort(ranks, members);
    return plan_group(plan, ranks, members);
}

void combine(Walk *walk, const Home *home, Arena *arena) {
    const int64_t limit = walk->plan->options.message_limit / (int64_t)type_info(home->tensor->type)->size;
    Contributions all = {.arena = arena};
    HolderArray holders = {0};
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++) {
        const Need *need = &walk->needs[rank];
        if (need->piece >= 0)
            continue;
        for (int64_t i = 0; i < need->demand->region.rects.count; i++) {
            holders.count = 0;
            home_holders(home, &need->demand->region.rects.items[i], -1, arena, &holders);
            for (int64_t k = 0; k < holders.count; k++) {
                all.contributor = rank;
                all.owner = holders.items[k].rank;
                rect_cut(&holders.items[k].part, limit, add_part, &all);
            }
        }
    }
    if (all.list.count)
        qsort(all.list.items, (size_t)all.list.count, sizeof(Contribution), compare);
    for (int64_t first = 0, end; first < all.list.count; first = end) {
        const Contribution *one = &all.list.items[first];
        for (end = first + 1; end < all.list.count && rect_equal(&all.list.items[end].rect, &one->rect);)
            end++;
        Combination combination = {.rect = one->rect, .contributor_count = end - first};
        int64_t *contributors = arena_array(arena, int64_t, end - first);
        for (int64_t i = first; i < end; i++)
            contributors[i - first] = all.list.items[i].contributor;
        combination.contributors = contributors;
        RankArray owners = {0};
        if (home->replicated)
            home_replicas(home, &one->rect, arena, &owners);
        else
            array_push(arena, owners, one->owner);
        combination.owners = owners.items;
        combination.owner_count = owners.count;
        combination.group = group_of(walk->plan, &combination, arena);
        array_push(arena, walk->combinations, combination);
    }
}
