// SPDX-License-Identifier: BSD-3-Clause
// Patterns: how the data that ranks lack in one step reaches them. Each pattern is one file with one function
// that serves what it can and leaves the rest, or works on what those before it have made: a new one is a new
// file, a line in the list below, and its name in PatternName. The gather serves everything that is left, so
// the others are optimizations that can be switched off.
#ifndef DISTAL_PLAN_PATTERN_H
#define DISTAL_PLAN_PATTERN_H

#include "plan/plan.h"

// One step of a fetch while its messages are being found.
typedef struct {
    Walk *walk;
    const Home *home;
    PatternName pattern; // in hand
    Region *missing;     // by rank: what it needs and does not hold; served parts are taken out
    Arena *arena;        // for this step
} Exchange;

typedef struct {
    PatternName name;
    void (*serve)(Exchange *exchange);
} Pattern;

// Of fetches, in the order in which they are asked.
#define PATTERNS(ENTRY)                                                                                      \
    ENTRY(shift)                                                                                             \
    ENTRY(gather)                                                                                            \
    ENTRY(broadcast)

#define DECLARE_PATTERN(name) extern const Pattern pattern_##name;
PATTERNS(DECLARE_PATTERN)
#undef DECLARE_PATTERN

// Asks all of them.
void patterns_serve(Exchange *exchange);

// Adds a delivery of `rect` by the pattern in hand, cut into several where it is longer than the limit.
void exchange_send(Exchange *exchange, int64_t source, int64_t target, bool from_view, const Rect *rect);

// What the messages of a step look like to a reader.
PatternName walk_pattern(const Walk *walk);

// The partial results of a step, combined at their owners.
void combine(Walk *walk, const Home *home, Arena *arena);

// Calls `visit` with parts of `rect` of at most `limit` elements each.
void rect_cut(const Rect *rect, int64_t limit, void (*visit)(void *context, const Rect *part), void *context);

// The group of these ranks (in increasing order), registered in the plan where it is new.
int64_t plan_group(StatementPlan *plan, const int64_t *ranks, int64_t count);

#endif
