// SPDX-License-Identifier: BSD-3-Clause
// What the sparse tensors of a search store: entries that are given, those of the operand whose structure a
// result has, else entries that are assumed. With them plans of sparse statements have all their figures.
#ifndef DISTAL_CHOOSE_KNOWN_H
#define DISTAL_CHOOSE_KNOWN_H

#include "choose/search.h"

// Of tensors whose entries are not known, as many are assumed for each coordinate of the longest mode, up to
// that number in all.
enum { ASSUMED_PER_COORDINATE = 10, MOST_ASSUMED = 1 << 18 };

// Sets entries of the sparse tensors of the search, as the statements of the pipeline, which has PASS_SPMD,
// use them. False with a diagnostic. known_free follows in any case.
bool known_create(Search *search, const Pipeline *pipeline, Diagnostics *diagnostics);
void known_free(Search *search);

// Entries of all sparse tensors together.
int64_t known_count(const Search *search);

// Plans a program of the search, whose pipeline has PASS_SPMD, with what its tensors store: the parts that
// entries balance, what each rank stores, and what moves. NULL with a diagnostic.
Plan *known_plan(const Search *search, Pipeline *pipeline, PlanOptions options, Diagnostics *diagnostics);

// The share of the points of loops at which the expression has a value, 1 where that is all of them, if
// entries are independent of each other.
double known_share(Search *search, const Expr *expr, ElementType type);

// By how many times more points an assignment has than if they were (plan/joint.h).
double known_correlation(const Search *search, const Spmd *spmd, const Stmt *assign);

#endif
