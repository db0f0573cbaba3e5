// SPDX-License-Identifier: BSD-3-Clause
// A message is the arrays of groups of levels, one after the other. The coordinates of all levels of a group
// are sent with each item, a coordinate or a run of the last of them: an array for each level, and one of the
// lengths of runs. Before them are the counts of a group: its items below each coordinate of the last level
// of the group above.
#include "format/sub_tree.h"

#include "base/integer.h"
#include "format/entry_reader.h"

#include <string.h>

// Numbers of 4 or 8 bytes, at any address.
typedef struct {
    char *at;
    bool wide;
} Column;

typedef struct {
    int first, last; // levels
    bool runs;
    int64_t items;
    Column counts; // of the first group, none
    Column coordinates[MAX_ORDER], lengths;
} Group;

typedef struct {
    int count;
    Group groups[MAX_ORDER];
    int64_t bytes;
} Layout;

static inline int64_t get(Column column, int64_t i) {
    int64_t wide;
    uint32_t narrow;
    if (column.wide) {
        memcpy(&wide, column.at + i * 8, 8);
        return wide;
    }
    memcpy(&narrow, column.at + i * 4, 4);
    return narrow;
}

static inline void put(Column column, int64_t i, int64_t x) {
    const uint32_t narrow = (uint32_t)x;
    if (column.wide)
        memcpy(column.at + i * 8, &x, 8);
    else
        memcpy(column.at + i * 4, &narrow, 4);
}

static int64_t width(bool wide) {
    return wide ? 8 : 4;
}

static bool level_is_wide(const StoredTensor *tensor, int l) {
    return coordinate_is_wide(tensor->extents[tensor->mode_order[l]]);
}

// The group of levels `first` to `last`, and its bytes.
static Group group_of(const StoredTensor *tensor, const SubTreeLevel *levels, int first, int last, bool runs,
                      int64_t *bytes) {
    Group group = {.first = first,
                   .last = last,
                   .runs = runs,
                   .items = runs ? levels[last].runs : levels[last].nodes,
                   .lengths = {.wide = level_is_wide(tensor, last)}};
    group.counts.wide = group.items > UINT32_MAX;
    int64_t item = runs ? width(group.lengths.wide) : 0;
    for (int l = first; l <= last; l++) {
        group.coordinates[l].wide = level_is_wide(tensor, l);
        item += width(group.coordinates[l].wide);
    }
    *bytes = saturated_mul(group.items, item);
    if (first > 0)
        *bytes = saturated_add(*bytes, saturated_mul(levels[first - 1].nodes, width(group.counts.wide)));
    return group;
}

// The groups that take the fewest bytes, by the best ones of the levels up to each level.
static Layout choose(const StoredTensor *tensor, const SubTreeLevel *levels) {
    Layout layout = {0};
    Group best[MAX_ORDER] = {0};
    int64_t least[MAX_ORDER] = {0};
    for (int last = 0; last < tensor->order; last++) {
        least[last] = INT64_MAX;
        for (int first = 0; first <= last; first++)
            for (int runs = 0; runs < 2; runs++) {
                int64_t bytes;
                const Group group = group_of(tensor, levels, first, last, runs, &bytes);
                bytes = saturated_add(bytes, first > 0 ? least[first - 1] : 0);
                if (bytes < least[last]) {
                    least[last] = bytes;
                    best[last] = group;
                }
            }
    }
    for (int last = tensor->order - 1; last >= 0; last = best[last].first - 1)
        layout.count++;
    int g = layout.count;
    for (int last = tensor->order - 1; last >= 0; last = best[last].first - 1)
        layout.groups[--g] = best[last];
    layout.bytes = tensor->order > 0 ? least[tensor->order - 1] : 0;
    return layout;
}

static void place(Column *column, int64_t count, char **at) {
    column->at = *at;
    *at += count * width(column->wide);
}

static Layout layout_at(const StoredTensor *tensor, const SubTreeLevel *levels, char *at) {
    Layout layout = choose(tensor, levels);
    for (int g = 0; g < layout.count; g++) {
        Group *group = &layout.groups[g];
        if (g > 0)
            place(&group->counts, levels[group->first - 1].nodes, &at);
        for (int l = group->first; l <= group->last; l++)
            place(&group->coordinates[l], group->items, &at);
        if (group->runs)
            place(&group->lengths, group->items, &at);
    }
    return layout;
}

int64_t sub_tree_bytes(const StoredTensor *tensor, const SubTreeLevel *levels) {
    return choose(tensor, levels).bytes;
}

// Entries in order, each with the first level in which it differs from the one before it.
typedef struct {
    EntryReader reader;
    SliceCursor cursor;
    EntryBlock block;
    int next;                  // of the block
    int64_t before[MAX_ORDER]; // coordinates of the entry before
    int64_t x[MAX_ORDER];      // and of this one
    int differs;
    bool any; // there is one before
} Walk;

static void walk_begin(Walk *walk, const StoredTensor *tensor, int64_t count, const Slice *slices) {
    walk->reader = reader_of_stored(tensor, tensor->mode_order);
    walk->cursor = (SliceCursor){slices, count, 0};
    walk->block.count = walk->next = 0;
    walk->any = false;
    memset(walk->x, 0, sizeof walk->x);
}

static bool walk_next(Walk *walk) {
    const int order = walk->reader.order;
    if (walk->next == walk->block.count) {
        reader_read_slices(&walk->reader, &walk->cursor, &walk->block);
        walk->next = 0;
        if (walk->block.count == 0)
            return false;
    }
    memcpy(walk->before, walk->x, sizeof *walk->x * (size_t)order);
    walk->differs = walk->any ? order : 0;
    for (int l = order - 1; l >= 0; l--) {
        walk->x[l] = walk->block.coordinates[l][walk->next];
        if (walk->any && walk->x[l] != walk->before[l])
            walk->differs = l;
    }
    walk->next++;
    walk->any = true;
    return true;
}

// Whether the coordinate in level l, which is new there, continues a run.
static inline bool walk_continues(const Walk *walk, int l) {
    return walk->differs == l && walk->x[l] == walk->before[l] + 1;
}

void sub_tree_measure(const StoredTensor *tensor, int64_t count, const Slice *slices, SubTreeLevel *levels) {
    Walk walk;
    memset(levels, 0, sizeof *levels * (size_t)tensor->order);
    for (walk_begin(&walk, tensor, count, slices); walk_next(&walk);)
        for (int l = walk.differs; l < tensor->order; l++) {
            levels[l].nodes++;
            levels[l].runs += !(levels[l].nodes > 1 && walk_continues(&walk, l));
        }
}

void sub_tree_write(const StoredTensor *tensor, int64_t count, const Slice *slices,
                    const SubTreeLevel *levels, char *to) {
    const Layout layout = layout_at(tensor, levels, to);
    int64_t items[MAX_ORDER] = {0}, nodes[MAX_ORDER] = {0}; // so far, by group
    Walk walk;
    for (walk_begin(&walk, tensor, count, slices); walk_next(&walk);)
        for (int g = 0; g < layout.count; g++) {
            const Group *group = &layout.groups[g];
            if (walk.differs > group->last)
                continue;
            const int64_t item = items[g];
            if (group->runs && item > 0 && walk_continues(&walk, group->last)) {
                put(group->lengths, item - 1, get(group->lengths, item - 1) + 1);
            } else {
                for (int l = group->first; l <= group->last; l++)
                    put(group->coordinates[l], item, walk.x[l]);
                if (group->runs)
                    put(group->lengths, item, 1);
                if (g > 0)
                    put(group->counts, nodes[g - 1] - 1, get(group->counts, nodes[g - 1] - 1) + 1);
                items[g]++;
            }
            nodes[g]++;
            if (g + 1 < layout.count)
                put(layout.groups[g + 1].counts, nodes[g] - 1, 0);
        }
}

// The next items of each group, and the entries that were made of them.
typedef struct {
    Layout layout;
    const int *mode_order;
    int64_t items[MAX_ORDER], nodes[MAX_ORDER];
    int64_t x[MAX_ORDER]; // coordinates by level
    Entries *entries;
    int64_t next;
} Reading;

// Reads `count` items of a group and what is below them.
static void read_items(Reading *reading, int g, int64_t count) {
    const Group *group = &reading->layout.groups[g];
    for (int64_t i = 0; i < count; i++) {
        const int64_t item = reading->items[g]++;
        for (int l = group->first; l <= group->last; l++)
            reading->x[l] = get(group->coordinates[l], item);
        const int64_t length = group->runs ? get(group->lengths, item) : 1;
        for (int64_t n = 0; n < length; n++, reading->x[group->last]++)
            if (g + 1 < reading->layout.count) {
                read_items(reading, g + 1, get(group[1].counts, reading->nodes[g]++));
            } else {
                for (int l = 0; l <= group->last; l++)
                    reading->entries->coordinates[reading->mode_order[l]][reading->next] = reading->x[l];
                reading->next++;
            }
    }
}

void sub_tree_read(const StoredTensor *tensor, const SubTreeLevel *levels, char *from, Entries *entries,
                   int64_t first) {
    Reading reading = {.layout = layout_at(tensor, levels, from),
                       .mode_order = tensor->mode_order,
                       .entries = entries,
                       .next = first};
    read_items(&reading, 0, reading.layout.groups[0].items);
}
