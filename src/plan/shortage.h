// SPDX-License-Identifier: BSD-3-Clause
// Diagnostics where a plan needs more memory of the host or of a GPU than a rank has, and what takes it.
#ifndef DISTAL_PLAN_SHORTAGE_H
#define DISTAL_PLAN_SHORTAGE_H

#include "plan/plan.h"

// Add an error: the bytes that a rank needs at most, and the limit, or what is free, which is less.
void shortage_of_limit(Diagnostics *diagnostics, MemoryId kind, int64_t rank, int64_t needed, int64_t limit);
void shortage_of_free(Diagnostics *diagnostics, MemoryId kind, int64_t rank, int64_t needed, int64_t free);

// What a rank has in memory of a kind while the statement is executed, without what depends on entries that
// are not known: "B 1.9 MiB at home; C 1.9 MiB at home, 3.8 MiB in buffers". Lives in the arena.
Text shortage_list(const StatementPlan *plan, MemoryId kind, int64_t rank, Arena *arena);
// Adds to the list, unless `bytes` is 0: "8.0 MiB for WHAT".
void shortage_add(Text *list, int64_t bytes, const char *what);
// Adds the list to the last diagnostic, as what the rank has while it computes the statement.
void shortage_note(Diagnostics *diagnostics, const StatementPlan *plan, int64_t rank, const Text *list);

#endif
