// SPDX-License-Identifier: BSD-3-Clause
// Entries: a tensor as a list of coordinates, each with a value, in any order. Files and generators give it,
// and stored tensors are made from it.
#ifndef DISTAL_FORMAT_ENTRIES_H
#define DISTAL_FORMAT_ENTRIES_H

#include "base/arena.h"
#include "base/type.h"
#include "machine/rect.h"

typedef struct {
    ElementType type;
    int order;
    int64_t extents[MAX_ORDER];
    int64_t count;
    int64_t *coordinates[MAX_ORDER]; // by mode
    void *values;
} Entries;

// All functions that can fail return NULL on success, else the reason (allocated in `arena` or static).

// Allocates memory for entries->count entries of its type and order, not initialized. Freed with
// entries_free, also after a failure.
const char *entries_allocate(Entries *entries);
// The same; a reason, without an allocation, where they take more than `limit` bytes.
const char *entries_allocate_within(Entries *entries, int64_t limit, Arena *arena);
void entries_free(Entries *entries);
// Bytes that the coordinates and values of `count` entries take; INT64_MAX where that overflows.
int64_t entries_bytes(const Entries *entries, int64_t count);

// Whether the coordinates of a mode need 64 bits; else they are stored and sent in 32.
static inline bool coordinate_is_wide(int64_t extent) {
    return extent - 1 > INT32_MAX;
}

// Whether all coordinates are within the extents; a reason names the first entry with one that is not.
const char *entries_check(const Entries *entries, Arena *arena);

// Sorts by the modes mode_order[0] (which differs least often) to mode_order[order - 1], or 0 to order - 1
// where that is NULL; entries with the same coordinates stay in their order. The coordinates are within the
// extents. The result does not depend on the number of threads.
const char *entries_sort(Entries *entries, const int *mode_order);

// Of entries that are sorted in this way, the first whose coordinates, in the order of the modes that sort,
// are not before `key`, or, for the upper bound, after it; their number where there is none.
int64_t entries_lower_bound(const Entries *entries, const int *mode_order, const int64_t *key);
int64_t entries_upper_bound(const Entries *entries, const int *mode_order, const int64_t *key);

// Makes one entry of those with the same coordinates, with the sum of their values in the order of the list.
// Entries with the same coordinates follow each other. A sum of zero stays an entry.
const char *entries_sum_duplicates(Entries *entries);

// The distinct coordinates that entries have in these modes, in order, as `points` with values that mean
// nothing; entries_free follows in any case.
const char *entries_distinct(const Entries *entries, int mode_count, const int *modes, Entries *points);

// The same of a list of `count` coordinates of one mode, in 64 bits if `wide`, else in 32.
const char *coordinates_distinct(const void *list, bool wide, int64_t count, int64_t extent, Entries *points);

// Removes the entries for which `keep` is 0.
const char *entries_keep(Entries *entries, const uint8_t *keep);
// Whether the coordinates of entry `e` are in the rectangle.
bool entries_is_within(const Entries *entries, int64_t e, const Rect *rect);
// Removes the entries outside of the region.
const char *entries_keep_within(Entries *entries, const Region *region);

// The order of modes in which entries should be sorted so that those in rectangles like these are found with
// the least search: first the modes of which they have the smallest part. `stored` is the order among equal
// ones.
void entries_mode_order(int order, const int64_t *extents, int64_t count, const Rect *const *rects,
                        const int *stored, int *mode_order);

// The number of threads that are worth starting for `count` items.
int entries_team(int64_t count);

#endif
