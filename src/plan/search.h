// SPDX-License-Identifier: BSD-3-Clause
// Search for the classes whose footprints intersect given elements: the inverse of the footprint function, by
// bisection of the ranges of loops and coordinates. The bounds of a range (provenance_bounding_box) prune the
// search, so it costs what it finds, times the logarithm of the number of ranks.
#ifndef DISTAL_PLAN_SEARCH_H
#define DISTAL_PLAN_SEARCH_H

#include "plan/footprint.h"

typedef enum {
    SEARCH_OVERLAPPING, // footprints that have an element of `target`
    SEARCH_EQUAL,       // footprints that are `target`
} SearchKind;

// Called for each class and iteration found, in increasing order of iteration; false ends the search.
// `footprint` holds until it returns. With SEARCH_OVERLAPPING it may make the region of `target` smaller.
typedef bool (*SearchVisit)(void *context, const Worker *worker, int64_t iteration,
                            const Footprint *footprint);

// Iterations first <= iteration < last of the loops. Of each class one worker is given, with coordinate 0 in
// the dimensions that are not related: its members are found by class_members. False where `visit` has ended
// the search.
bool search_classes(const Footprints *footprints, int64_t first, int64_t last, SearchKind kind,
                    const Footprint *target, Arena *scratch, SearchVisit visit, void *context);

// The same for the iteration of one step, of classes that have members among the processors which ranks run
// in it; others may be given, too. Costs less where ranks have more processors than there are ranks.
bool search_step(const Footprints *footprints, int64_t step, SearchKind kind, const Footprint *target,
                 Arena *scratch, SearchVisit visit, void *context);

#endif
