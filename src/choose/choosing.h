// SPDX-License-Identifier: BSD-3-Clause
// The last step of a search: which trials of a statement are planned, for each choice of places, and which of
// what was planned is the best.
#ifndef DISTAL_CHOOSE_CHOOSING_H
#define DISTAL_CHOOSE_CHOOSING_H

#include "choose/trial.h"

// What was found for one choice of places.
typedef struct {
    const Places *places;
    TrialArray *trials; // by statement
    int *best;          // by statement: index of the chosen trial, -1: none could be planned
    Alternative total;  // of all statements in all their executions
    bool as_given;      // no place is found for any tensor: those without one lie where they are used
    double copied;      // bytes of the disk of a rank that copies of the statements so far take
    bool planned;
} Placing;

typedef struct {
    Search search;
    int choice_count;
    Placing *placings;
    Diagnostics *failure; // of the first plan that could not be made
    bool *distributed;    // by statement: some plan of a candidate was made
    const char **why;     // else what is wrong with the first one
} Choosing;

// Plans trials of a statement, the most promising ones of all placings first, as far as time allows; the
// default and the first of each placing in any case. Adds the best of each placing to its total.
void choosing_plan_statement(Choosing *choosing, const SearchStatement *statement);

// The best of what could be planned (others are NULL); -1: nothing. Of those that take about as long as the
// fastest of the preferred ones, the one that moves least, then in fewest messages, then with least memory;
// where none fits, the one with least memory.
int choosing_best_of(const Search *search, const Alternative *const *all, int count);

#endif
