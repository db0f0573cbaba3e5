// SPDX-License-Identifier: BSD-3-Clause
// Sets of ranks: lists in increasing order, as the members of a group, those that take a message, or owners.
#ifndef DISTAL_PLAN_RANKS_H
#define DISTAL_PLAN_RANKS_H

#include <stdbool.h>
#include <stdint.h>

// Index of `rank` in the list, -1 where it is not there.
int64_t ranks_position(const int64_t *ranks, int64_t count, int64_t rank);
bool ranks_contain(const int64_t *ranks, int64_t count, int64_t rank);

// Negative, 0 or positive: lexicographic order of two lists.
int ranks_compare(const int64_t *a, int64_t a_count, const int64_t *b, int64_t b_count);

// Puts a list into increasing order.
void ranks_sort(int64_t *ranks, int64_t count);
// Takes out repetitions from a list in order; the number of ranks that are left.
int64_t ranks_unique(int64_t *ranks, int64_t count);

#endif
