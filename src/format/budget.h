// SPDX-License-Identifier: BSD-3-Clause
// Memory of the host within a limit: what would exceed it is not allocated.
#ifndef DISTAL_FORMAT_BUDGET_H
#define DISTAL_FORMAT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t left; // bytes
} Budget;

// `count` items of `size` bytes, zero or not initialized; NULL where they exceed what is left, or there is no
// memory. Freed with budget_release; what outlives the budget, with memory_release.
void *budget_take(Budget *budget, int64_t count, int64_t size, bool zero);
void budget_release(Budget *budget, void *memory, int64_t count, int64_t size); // which may be NULL

#endif
